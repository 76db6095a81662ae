"""What the DP-CD estimators share: constraints of parameters, and the method that these make."""

from numbers import Integral, Real

from skdp._sklearn import Interval, StrOptions
from skdp.linear_model._base import BALL_CONSTRAINTS, COMMON_CONSTRAINTS, POSITIVE, is_private
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


def method_of(model, *, l1_ratio, penalty="elasticnet", positive=False):
    """Return the `DPCD` that a model's parameters ask for, with such a penalty."""
    kind = GreedyDPCD if model.selection == "greedy" else CyclicDPCD
    return kind(
        alpha=model.alpha,
        fit_intercept=model.fit_intercept,
        data_norm=model.data_norm,
        ball_budget=model.ball_budget,
        max_iter=model.max_iter,
        clipping_norm=model.clipping_norm,
        is_private=is_private(model),
        penalty=penalty,
        l1_ratio=l1_ratio,
        positive=positive,
        coef_bounds=model.coef_bounds,
        feature_bounds=model.feature_bounds,
        smoothness_budget=model.smoothness_budget,
        clip_by=model.clip_by,
        smoothness=model.smoothness,
        average_every=model.average_every,
        shrinkage=model.shrinkage,
        step_size=model.step_size,
    )
