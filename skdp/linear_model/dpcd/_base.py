"""What the DP-CD estimators share."""

from numbers import Integral, Real

from skdp._sklearn import Interval, StrOptions
from skdp.linear_model._base import BALL_CONSTRAINTS, COMMON_CONSTRAINTS, POSITIVE, is_private
from skdp.linear_model._fit import BaseLinear
from skdp.linear_model.dpcd._method import CyclicDPCD, GreedyDPCD

_COUNT = Interval(Integral, 1, 10**9, closed="both")

CONSTRAINTS = {
    **COMMON_CONSTRAINTS,
    **BALL_CONSTRAINTS,
    "coef_bounds": ["array-like", None],
    "smoothness_budget": [Interval(Real, 0, 1, closed="neither")],
    "data_norm": [POSITIVE, None],
    "feature_bounds": ["array-like", None],
    "selection": [StrOptions({"cyclic", "greedy"})],
    "max_iter": [_COUNT, StrOptions({"auto"})],
    "clipping_norm": [POSITIVE, StrOptions({"auto"})],
    "clip_by": [StrOptions({"row", "entry"})],
    "step_size": [POSITIVE, StrOptions({"auto"})],
    "smoothness": [StrOptions({"bounds", "private"}), "array-like"],
    "average_every": [_COUNT, StrOptions({"auto"}), None],
    "shrinkage": [Interval(Real, 0, 1e100, closed="both"), StrOptions({"auto"})],
}


class BaseDPCD(BaseLinear):
    """What the DP-CD estimators share."""

    # Parameters of the constructors of subclasses.
    average_every: int | str | None
    ball_budget: float | str
    clip_by: str
    clipping_norm: float | str
    coef_bounds: object
    feature_bounds: object
    l1_ratio: float
    max_iter: int
    selection: str
    shrinkage: float | str
    smoothness: object
    smoothness_budget: float
    step_size: float | str

    # Estimators without these parameters have such a penalty, of coefficients of any sign.
    penalty: str = "elasticnet"
    positive: bool = False

    def _method(self):
        kind = GreedyDPCD if self.selection == "greedy" else CyclicDPCD
        return kind(
            alpha=self.alpha,
            fit_intercept=self.fit_intercept,
            data_norm=self.data_norm,
            ball_budget=self.ball_budget,
            max_iter=self.max_iter,
            clipping_norm=self.clipping_norm,
            is_private=is_private(self),
            penalty=self.penalty,
            l1_ratio=self.l1_ratio,
            positive=self.positive,
            coef_bounds=self.coef_bounds,
            feature_bounds=self.feature_bounds,
            smoothness_budget=self.smoothness_budget,
            clip_by=self.clip_by,
            smoothness=self.smoothness,
            average_every=self.average_every,
            shrinkage=self.shrinkage,
            step_size=self.step_size,
        )
