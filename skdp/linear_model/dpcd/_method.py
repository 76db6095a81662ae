"""DP-CD as two methods, cyclic and greedy: what is planned, solved and published of them."""

from dataclasses import dataclass, replace
from numbers import Real
from types import NoneType
from typing import ClassVar, NamedTuple

import numpy as np

from skdp._checks import read_numbers, read_pair
from skdp._families.penalties import make_penalty
from skdp._rows.bounds import (
    clip_columns,
    divide_columns,
    norm_in_units,
    norm_of_ranges,
    summation_slack,
    uncentred,
)
from skdp.linear_model._method import Method
from skdp.linear_model._plan import Problem
from skdp.linear_model._row_bounds import public_feature_bounds
from skdp.linear_model.dpcd._plan import DPCDProblem, plan_dpcd
from skdp.linear_model.dpcd._queries import BallColumns
from skdp.linear_model.dpcd._solver import SUM_BLOCK, feature_moments, solve_dpcd
from skdp.linear_model.dpcd.greedy._plan import plan_greedy
from skdp.linear_model.dpcd.greedy._solver import solve_greedy

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


def check_mean_squares(squares, n_features):
    """Return public guesses of the features' mean squares as float64 of shape (n_features,)."""
    problem = f"smoothness must be an array of shape (n_features,) = ({n_features},)."
    squares = read_numbers(squares, problem)
    if squares.shape != (n_features,):
        raise ValueError(problem)
    if not ((squares >= _SMALLEST_SQUARE) & (squares <= _LARGEST_SQUARE)).all():
        raise ValueError("smoothness must be positive and finite, within 1e-60 and 1e200.")
    return squares


class CoordinateSteps(NamedTuple):
    """What is published of steps by coordinates."""

    # None where it follows from mean squares that were bought.
    clipping_norm: float | None


@dataclass(frozen=True, kw_only=True, eq=False)
class DPCD(Method):
    """Proximal steps by coordinates: what both ways to choose them have in common."""

    clips_rows_as_they_are: ClassVar = True

    penalty: str
    l1_ratio: float
    # Negative coefficients are ruled out.
    positive: bool
    coef_bounds: object
    feature_bounds: object
    smoothness_budget: float
    clip_by: str
    smoothness: object
    average_every: int | str | None
    shrinkage: float | str
    step_size: float | str

    @property
    def row_bounds(self):
        """How rows are bounded, as `RowBounds`."""
        # Values are cut to their ranges, whether rows have a bound or not.
        bounds = super().row_bounds
        return replace(bounds, norm=1.0) if bounds.norm is None else bounds

    def check(self, sizes, family):
        """Refuse settings that can't be used, or don't go together, before anything is spent."""
        super().check(sizes, family)
        _, n_features, _ = sizes
        public_feature_bounds(self, n_features)
        self._coefficient_box(n_features)
        if not isinstance(self.smoothness, str):
            check_mean_squares(self.smoothness, n_features)
        elif self.smoothness not in ("private", "bounds"):
            raise ValueError("smoothness must be 'private', 'bounds' or an array.")

    def linear_model(self, training, coefs):
        """Return the `LinearModel` of coefficients of rows as they are, the intercept's last."""
        linear = super().linear_model(training, coefs)
        box = self._coefficient_box(np.shape(linear.coef)[-1])
        # Units may move a coefficient past the end of its interval by rounding.
        return linear._replace(coef=np.clip(linear.coef, *box))

    def attributes(self, training, steps, linear):
        """Return what a fit publishes beside the `LinearModel`, by the name of the attribute."""
        plan = training.plan
        return {
            "n_iter_": plan.n_passes,
            "clipping_norm_": steps.clipping_norm,
            "step_size_": plan.step_size,
        }

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
        if self.positive:
            low = np.maximum(low, 0.0)
            if not (low <= high).all():
                raise ValueError("coef_bounds leave no coefficient that positive=True allows.")
        return low, high

    def _penalty_in(self, ball, unit, n_features):
        """Return the penalty of coefficients in a ball's units; the intercept's has no bounds.

        With targets divided by a unit, the objective is divided by its square: the L2 part keeps
        its strength, the L1 part loses one power.
        """
        low, high = self._coefficient_box(n_features)
        if ball is not None:
            low, high = low * ball.scale, high * ball.scale
        if self.fit_intercept:
            low, high = np.append(low, -np.inf), np.append(high, np.inf)
        penalty = make_penalty(
            self.penalty,
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
        clip = self.is_private and ball is None
        return clip_columns(rows, low=low, high=high, clip=clip)


@dataclass(frozen=True, kw_only=True, eq=False)
class CyclicDPCD(DPCD):
    """Steps by coordinates in passes over all of them."""

    @property
    def without_ball(self):
        """What no ball is learnt with, in words, or None."""
        is_bought = isinstance(self.smoothness, str) and self.smoothness == "private"
        return None if is_bought else "a smoothness other than 'private'"

    def plan(self, sizes, family, budget, *, scale=None):
        """Return the plan of a fit; without a `scale` records weigh as the family says."""
        n_records, n_features, n_outputs = sizes
        data_norm = np.inf if self.data_norm is None else float(self.data_norm)
        n_columns = self.n_columns(n_features)
        together = n_columns if self.clip_by == "row" else 1
        bounds = public_feature_bounds(self, n_features)
        longest = min(data_norm, norm_of_ranges(*bounds))
        target_releases, ball, spent = self.plan_learning(sizes, family, budget, longest)
        problem = DPCDProblem(
            n_records=n_records,
            n_columns=n_columns,
            n_outputs=n_outputs,
            rounding_slack=summation_slack(n_records, together, n_outputs, SUM_BLOCK),
            loss=family.loss(n_outputs),
            scale=scale or family.weight_scale(n_outputs),
            n_features=n_features,
            # No value of a row that is cut to a radius is larger.
            reach=norm_in_units(*bounds, data_norm) if ball is None else 1.0,
            square_slack=summation_slack(n_records, n_columns, 1, SUM_BLOCK),
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
            target_releases=target_releases,
            ball=ball,
            spent=spent,
        )

    def _buys_squares(self):
        """Return whether the columns' mean squares are released; without privacy they are free."""
        if not isinstance(self.smoothness, str):
            return False
        return self.smoothness == "private" or not self.is_private

    @np.errstate(all="ignore")
    def solve(self, rows, training, run):
        """Return the coefficients that steps by columns lead to, and the steps."""
        plan, ball, bias = training.plan, training.ball, training.bias
        records, problem, n_features = rows.records(), plan.problem, plan.problem.n_features
        bounded, targets, weights = records
        penalty = self._penalty_in(ball, _unit_of(training), n_features)
        coins = run.coins()
        X, reach = self._bounded_columns(bounded, ball)
        bounds, means = reach[:n_features], np.zeros(n_features)
        if plan.squares is not None:
            columns = BallColumns(X, weights.of_rows, bounded.weight)
            squares, means = feature_moments(columns, bounds, plan, run)
        elif isinstance(self.smoothness, str):
            squares = bounds**2
        else:
            squares = check_mean_squares(self.smoothness, n_features)
        weight, constant = plan.weights_of_curvature(weights.expand(len(targets)).mean())
        squares = np.append(weight * squares, constant * reach[n_features:] ** 2)
        squares = np.clip(squares, _SMALLEST_SQUARE, _LARGEST_SQUARE)
        smoothness = problem.loss.smoothness * squares
        column_units, lengths = plan.units(smoothness)
        penalty = replace(penalty, l2=penalty.l2 + plan.shrinkages(smoothness))
        columns = divide_columns(X, column_units, means, bias)
        coefs = solve_dpcd(
            columns,
            targets,
            plan=plan,
            loss=problem.loss,
            penalty=penalty,
            steps=lengths,
            coins=coins,
            run=run,
            bias=bias,
            # Slopes count by the squares of what rows do, as the mean squares of columns do.
            weights=records.joint_weights,
        )
        return uncentred(coefs, means, bias), CoordinateSteps(plan.public_clip(smoothness))


@dataclass(frozen=True, kw_only=True, eq=False)
class GreedyDPCD(DPCD):
    """Steps by the coordinates that are chosen for the size of their slopes."""

    @property
    def without_ball(self):
        """What no ball is learnt with, in words."""
        return "selection='greedy'"

    def check(self, sizes, family):
        """Refuse settings that can't be used, or don't go together, before anything is spent."""
        super().check(sizes, family)
        for name, neutral_values in _NEUTRAL_FOR_PASSES.items():
            value = getattr(self, name)
            if not (isinstance(value, (str, Real, NoneType)) and value in neutral_values):
                raise ValueError(
                    f"{name} belongs to selection='cyclic': leave it out with selection='greedy'."
                )

    def plan(self, sizes, family, budget, *, scale=None):
        """Return the plan of a fit; without a `scale` records weigh as the family says."""
        n_records, n_features, n_outputs = sizes
        problem = Problem(
            n_records=n_records,
            n_columns=self.n_columns(n_features),
            n_outputs=n_outputs,
            # Products add up in any order, those of sparse columns in two parts, one of them twice
            # as long.
            rounding_slack=3.0 * summation_slack(n_records, 1, n_outputs, n_records),
            loss=family.loss(n_outputs),
            scale=scale or family.weight_scale(n_outputs),
        )
        return plan_greedy(
            problem,
            n_features,
            budget,
            max_iter=self.max_iter,
            clipping_norm=self.clipping_norm,
            step_size=self.step_size,
        )

    @np.errstate(all="ignore")
    def solve(self, rows, training, run):
        """Return the coefficients that steps by columns lead to, and the steps."""
        plan, records = training.plan, rows.records()
        bounded = records.rows
        n_features = bounded.X.shape[1]
        X, reach = self._bounded_columns(bounded, None)
        columns = divide_columns(X, reach, np.zeros(n_features), bounded.bias)
        coefs = solve_greedy(
            columns,
            records.targets,
            plan=plan,
            loss=plan.problem.loss,
            penalty=self._penalty_in(None, _unit_of(training), n_features),
            run=run,
            bias=bounded.bias,
            weights=records.joint_weights,
        )
        return coefs, CoordinateSteps(plan.clipping_norm)


def _unit_of(training):
    """Return what targets were divided by: one number for all of them."""
    return np.max(training.family.unit(training.units))
