"""What the DP-CD estimators share."""

from dataclasses import replace
from numbers import Integral, Real
from types import NoneType

import numpy as np

from skdp._checks import read_numbers, read_pair
from skdp._estimator import is_private
from skdp._families.penalties import make_penalty
from skdp._rows.bounds import (
    clip_columns,
    divide_columns,
    norm_in_units,
    norm_of_ranges,
    summation_slack,
    uncentred,
)
from skdp._sklearn import Interval, StrOptions
from skdp.linear_model._base import (
    BALL_CONSTRAINTS,
    COMMON_CONSTRAINTS,
    POSITIVE,
    public_feature_bounds,
)
from skdp.linear_model._fit import BaseLinear
from skdp.linear_model._plan import Problem
from skdp.linear_model.dpcd._plan import DPCDProblem, plan_dpcd
from skdp.linear_model.dpcd._solver import SUM_BLOCK, feature_moments, solve_dpcd
from skdp.linear_model.dpcd.greedy._plan import plan_greedy
from skdp.linear_model.dpcd.greedy._solver import solve_greedy

_COUNT = Interval(Integral, 1, 10**9, closed="both")
_SMALLEST_SQUARE, _LARGEST_SQUARE = 1e-60, 1e200
# These parameters are for passes over all coordinates, which greedy selection doesn't make. Their
# values here ask for nothing.
_NEUTRAL_FOR_PASSES = {
    "smoothness_budget": (0.1,),
    "clip_by": ("row",),
    "smoothness": ("private",),
    "average_every": ("auto", None),
    "shrinkage": ("auto", 0.0),
}

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


def check_mean_squares(squares, n_features):
    """Return public guesses of the features' mean squares as float64 of shape (n_features,)."""
    problem = f"smoothness must be an array of shape (n_features,) = ({n_features},)."
    squares = read_numbers(squares, problem)
    if squares.shape != (n_features,):
        raise ValueError(problem)
    if not ((squares >= _SMALLEST_SQUARE) & (squares <= _LARGEST_SQUARE)).all():
        raise ValueError("smoothness must be positive and finite, within 1e-60 and 1e200.")
    return squares


class BaseDPCD(BaseLinear):
    """Bounds, planning and solving of the DP-CD estimators."""

    # Parameters of the constructors of subclasses.
    average_every: int | str | None
    ball_budget: float | str
    clip_by: str
    clipping_norm: float | str
    coef_bounds: object
    l1_ratio: float
    max_iter: int
    selection: str
    shrinkage: float | str
    smoothness: object
    smoothness_budget: float
    step_size: float | str

    def _without_ball(self):
        if self._is_greedy:
            return "selection='greedy'"
        is_bought = isinstance(self.smoothness, str) and self.smoothness == "private"
        return None if is_bought else "a smoothness other than 'private'"

    @property
    def _is_greedy(self):
        return self.selection == "greedy"

    def _ball_budget(self):
        # A clip that was given was chosen for rows as they are.
        is_clip_given = self.clipping_norm != "auto" and self.ball_budget == "auto"
        return 0 if is_clip_given else super()._ball_budget()

    def _check_options(self, n_features):
        """Refuse what can't be used before there is any noise."""
        public_feature_bounds(self, n_features)
        self._coefficient_box(n_features)
        if not isinstance(self.smoothness, str):
            check_mean_squares(self.smoothness, n_features)
        elif self.smoothness not in ("private", "bounds"):
            raise ValueError("smoothness must be 'private', 'bounds' or an array.")
        if self._is_greedy:
            self._refuse_parameters_of_passes()

    def _refuse_parameters_of_passes(self):
        for name, neutral_values in _NEUTRAL_FOR_PASSES.items():
            value = getattr(self, name)
            if not (isinstance(value, (str, Real, NoneType)) and value in neutral_values):
                raise ValueError(
                    f"{name} belongs to selection='cyclic': leave it out with selection='greedy'."
                )

    def _row_bounds(self):
        # Values are cut to their ranges, whether rows have a bound or not.
        bounds = super()._row_bounds()
        return replace(bounds, norm=1.0) if bounds.norm is None else bounds

    def _buys_squares(self):
        """Return whether the columns' mean squares are released; without privacy they are free."""
        if not isinstance(self.smoothness, str):
            return False
        return self.smoothness == "private" or not is_private(self)

    def _only_positive(self):
        """Return whether negative coefficients are ruled out."""
        return False

    def _penalty_name(self):
        return "elasticnet"

    def _coefficient_box(self, n_features):
        """Return the ends of coefficients' intervals in the units of the caller, maybe infinite."""
        problem = (
            "coef_bounds must be a pair (low, high) of numbers or of arrays of shape "
            f"(n_features,) = ({n_features},)."
        )
        bounds = (-np.inf, np.inf) if self.coef_bounds is None else self.coef_bounds
        low, high = read_pair(bounds, "coef_bounds", problem, n_features, may_be_equal=True)
        if not ((low <= high) & (low < np.inf) & (high > -np.inf)).all():
            raise ValueError("coef_bounds must have low <= high and leave a finite number.")
        if self._only_positive():
            low = np.maximum(low, 0.0)
            if not (low <= high).all():
                raise ValueError("coef_bounds leave no coefficient that positive=True allows.")
        return low, high

    def _penalty(self, ball, unit):
        """Return the penalty of coefficients in a ball's units; the intercept's has no bounds.

        With targets divided by a unit, the objective is divided by its square: the L2 part keeps
        its strength, the L1 part loses one power.
        """
        low, high = self._coefficient_box(self.n_features_in_)
        if ball is not None:
            low, high = low * ball.scale, high * ball.scale
        if self.fit_intercept:
            low, high = np.append(low, -np.inf), np.append(high, np.inf)
        penalty = make_penalty(
            self._penalty_name(),
            float(self.alpha),
            self.l1_ratio,
            low=low / unit,
            high=high / unit,
        )
        return replace(penalty, l1=penalty.l1 / unit)

    def _bounded_columns(self, rows, ball):
        """Return the bounded values by column, the intercept's constant last.

        Rows of a ball are whole: times their weights no value is beyond its radius.
        """
        low, high = public_feature_bounds(self, rows.X.shape[1])
        if ball is not None:
            high = np.full(high.size, ball.radius)
            low = -high
        clip = is_private(self) and ball is None
        return clip_columns(rows, low=low, high=high, clip=clip)

    def _plan(self, n_rows, n_features, n_outputs, *, scale=None):
        """Return the plan that the parameters and these public numbers ask for."""
        self._check_options(n_features)
        if self._is_greedy:
            return self._greedy_plan(n_rows, n_features, n_outputs, scale)
        data_norm = np.inf if self.data_norm is None else float(self.data_norm)
        n_columns = self._n_columns(n_features)
        together = n_columns if self.clip_by == "row" else 1
        bounds, budget = public_feature_bounds(self, n_features), self._budget(n_rows)
        longest = min(data_norm, norm_of_ranges(*bounds))
        learning = self._planned_learning(budget, n_rows, (n_features, n_outputs), longest)
        ranges, ball, spent = learning
        problem = DPCDProblem(
            n_rows=n_rows,
            n_columns=n_columns,
            n_outputs=n_outputs,
            rounding_slack=summation_slack(n_rows, together, n_outputs, SUM_BLOCK),
            loss=self._family().loss(n_outputs),
            scale=scale or self._family().weight_scale(n_outputs),
            n_features=n_features,
            # No value of a row that is cut to a radius is larger.
            reach=norm_in_units(*bounds, data_norm) if ball is None else 1.0,
            square_slack=summation_slack(n_rows, n_columns, 1, SUM_BLOCK),
        )
        return plan_dpcd(
            problem,
            budget,
            max_iter=self.max_iter,
            clipping_norm=self.clipping_norm,
            clip_by=self.clip_by,
            step_size=self.step_size,
            average_every=self.average_every,
            shrinkage=self.shrinkage,
            bought_share=float(self.smoothness_budget) if self._buys_squares() else 0.0,
            ranges=ranges,
            ball=ball,
            spent=spent,
        )

    def _greedy_plan(self, n_rows, n_features, n_outputs, scale):
        problem = Problem(
            n_rows=n_rows,
            n_columns=self._n_columns(n_features),
            n_outputs=n_outputs,
            # Products add up in any order, those of sparse columns in two parts, one of them twice
            # as long.
            rounding_slack=3.0 * summation_slack(n_rows, 1, n_outputs, n_rows),
            loss=self._family().loss(n_outputs),
            scale=scale or self._family().weight_scale(n_outputs),
        )
        return plan_greedy(
            problem,
            n_features,
            self._budget(n_rows),
            max_iter=self.max_iter,
            clipping_norm=self.clipping_norm,
            step_size=self.step_size,
        )

    def _solve_greedily(self, records, plan, unit, run):
        """Return coefficients, and the clipping norm."""
        rows = records.rows
        X, reach = self._bounded_columns(rows, None)
        columns = divide_columns(X, reach, np.zeros(self.n_features_in_), rows.bias)
        coefs = solve_greedy(
            columns,
            records.targets,
            plan=plan,
            loss=plan.problem.loss,
            penalty=self._penalty(None, unit),
            run=run,
            bias=rows.bias,
            weights=records.joint_weights,
        )
        return coefs, plan.clipping_norm

    @np.errstate(all="ignore")
    def _take_steps(self, rows, training, run):
        """Return the coefficients that steps by columns lead to, and the clip if it is public."""
        units, plan, ball, bias, _ = training
        records, unit = rows.records(), np.max(self._family().unit(units))
        if self._is_greedy:
            return self._solve_greedily(records, plan, unit, run)
        rows, targets, weights = records
        problem, penalty = plan.problem, self._penalty(ball, unit)
        coins = run.coins()
        X, reach = self._bounded_columns(rows, ball)
        n_features = problem.n_features
        bounds, means = reach[:n_features], np.zeros(n_features)
        if plan.squares is not None:
            squares, means = feature_moments(X, bounds, plan, run, weights.of_rows, rows.weight)
        elif isinstance(self.smoothness, str):
            squares = bounds**2
        else:
            squares = check_mean_squares(self.smoothness, n_features)
        weight, constant = plan.weights_of_curvature(weights.expand(len(targets)).mean())
        squares = np.append(weight * squares, constant * reach[n_features:] ** 2)
        squares = np.clip(squares, _SMALLEST_SQUARE, _LARGEST_SQUARE)
        smoothness = problem.loss.smoothness * squares
        unit, steps = plan.units(smoothness)
        penalty = replace(penalty, l2=penalty.l2 + plan.shrinkages(smoothness))
        columns = divide_columns(X, unit, means, bias)
        coefs = solve_dpcd(
            columns,
            targets,
            plan=plan,
            loss=problem.loss,
            penalty=penalty,
            steps=steps,
            coins=coins,
            run=run,
            bias=bias,
            # Slopes count by the squares of what rows do, as the mean squares of columns do.
            weights=records.joint_weights,
        )
        return uncentred(coefs, means, bias), plan.public_clip(smoothness)

    def _report(self, plan, steps, *, reproducible, also_public, not_covered):
        return plan.report(
            clip=steps, reproducible=reproducible, also_public=also_public, not_covered=not_covered
        )

    def _set_steps(self, training, steps):
        plan, self.clipping_norm_ = training.plan, steps
        # Units may move a coefficient past the end of its interval by rounding.
        self.coef_ = np.clip(self.coef_, *self._coefficient_box(self.n_features_in_))
        self.n_iter_ = plan.n_passes
        self.step_size_ = plan.step_size
