"""The one fit of linear models, wherever their rows are: all of it that isn't a method's own."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from skdp._ball._plan import plan_ball
from skdp._ball._solver import (
    Ball,
    following,
    learn_ball,
    outside,
    start_inside,
)
from skdp._checks import check_finite, check_positive
from skdp._estimator import is_private
from skdp._rows.blocks import rounding_slack
from skdp._rows.groups import encode_groups
from skdp._rows.numbers import validate_numbers
from skdp._sklearn import _fit_context
from skdp.linear_model._base import RowPrivateEstimator, weights_public
from skdp.linear_model._memory import MemoryRows
from skdp.linear_model._row_bounds import RowBounds, RowTreatment

_BALL_ATTRIBUTES = "center_", "scale_", "radius_"


class Training(NamedTuple):
    """What steps are taken with: public numbers, and what was released before them."""

    # Units of targets: `TargetUnits`, `RateUnits`, or classes.
    units: object
    # The plan that follows the ball.
    plan: object
    ball: Ball | None
    # The entry of the intercept's column, 0 without one.
    bias: float
    # Coefficients in the units of the ball that steps begin at, or None: at 0.
    start: np.ndarray | None


class Solution(NamedTuple):
    """What a fit found: coefficients in the units of its ball, and what they were made with."""

    training: Training
    coefs: np.ndarray
    # A method publishes this of its steps.
    steps: object
    # It is added to predictions, in the units of targets in training.
    shift: float = 0.0


class BaseLinear(RowPrivateEstimator):
    """The fit of linear models that protect rows.

    Subclasses are methods: they plan, and take steps. `fit` reads rows and makes the plan. Methods
    that take more than weights have their own.
    """

    # Subclasses take steps.
    _plan: Callable
    _take_steps: Callable
    _set_steps: Callable
    # Estimators that use one thread have no such parameter.
    n_jobs = None

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, public_weight=None):
        """Fit the model privately.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Training rows, dense or CSR; float32 and float64 are kept in their precision, but for
            methods by coordinates, which copy them by column as float64.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets of a regression, one or more of each row; or labels of any type that can be
            sorted.
        public_weight : array-like of shape (n_samples,), default=None
            Weight of each record, 0 or more: a weight of 2 is as if the record occurred twice. The
            loss is the weighted mean, so only ratios matter. The contribution of a record to a
            release is clipped to the same bound, whatever its weight. Weights are assumed public,
            and are not published. They must not depend on the records, and keep their positions if
            a record changes. A Series must have the index of X. In a meta-estimator they need
            metadata routing, see ``set_fit_request``. Without weights all records count equally.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        BudgetExceededError
            If there is a ledger, and too little is left in it.
        ValueError
            If a parameter or the input is invalid, if labels have one class, or a class that isn't
            among those declared; no message quotes an entry of the data.
        TypeError
            If X or y is of a kind that can't be read, such as sparse rows for a `solver` without.
        """
        rows, units = self._read_rows(X, y, public_weight, order=self._order(X))
        plan = self._plan(*rows.sizes, scale=rows.scale)
        return self._fit(rows, plan, units, weights_public(public_weight))

    def _order(self, X):
        """Return the order in memory that rows are read in, None for any."""

    def _assumed(self):
        return self._family().assumed + super()._assumed()

    def _treatment(self, family):
        """Return what a fit does with rows, as a `RowTreatment`."""
        return RowTreatment(family, self._row_bounds(), self.n_jobs)

    def _read(self, X, y, **checks):
        """Return X and y as scikit-learn's contract has them."""
        family = self._family()
        kinds = {"multi_output": family.takes_several, "y_numeric": family.is_numeric}
        return validate_numbers(self, X, y, **kinds, **checks)

    def _read_rows(self, X, y, public_weight, groups=None, order=None, exposure=None):
        """Return bounded rows in memory, their targets as training takes them, and the units."""
        X, y = self._read(X, y, order=order)
        family = self._family(has_exposure=exposure is not None)
        family.check_settings()
        targets, units = family.read(y, exposure)
        weights = family.weigh(public_weight, len(targets), units, targets)
        codes, _ = self._records(groups, X, weights)
        return MemoryRows(self._treatment(family), X, targets, weights, codes), units

    def _records(self, groups, X, weights):
        """Return the group of each row, or None, and how many records there are."""
        return encode_groups(groups, X.shape[0])

    def _fit(self, rows, plan, units, also_public=(), also_not_covered=()):
        """Fit to rows, in memory or in partitions (`MemoryRows`), by a plan, and publish.

        Targets are in `units`. Public is, beside what the parameters say, `also_public`.
        """
        run = plan.start(self.random_state)
        with rows.at_work():
            solution = self._solve(rows, plan, units, run)
        return self._publish(solution, run, also_public, also_not_covered)

    def _solve(self, rows, plan, units, run, start=None):
        """Return what a fit to rows finds, as a `Solution`.

        Steps begin at the coefficients `start` of rows as they are, the intercept last, or at 0.
        """
        family = rows.treatment.family
        units, slopes = family.learn(rows, units, plan, run)
        if slopes is not None:
            plan = plan.for_slopes(slopes)
        plan, ball = self._learn_ball(rows, plan, run)
        bias = rows.treatment.bounds.bias_in(ball)
        training = Training(units, plan, ball, bias, start_inside(ball, start, bias))
        coefs, steps = self._take_steps(rows, training, run)
        of_rows = outside(ball, coefs, bias)
        # Before there is a report: that would be beside the coefficients of a fit before.
        check_finite(of_rows)
        coefs, steps = self._mended(coefs, steps, training)
        shift = family.finish(rows, of_rows, bias, units, plan, run)
        return Solution(training, coefs, steps, shift)

    def _learn_ball(self, rows, plan, run):
        """Put rows in a ball that is learnt; return the plan that follows it, and the ball.

        Where there is none it is None, and rows are within a public bound.
        """
        bounds = rows.treatment.bounds
        if not bounds.awaits_ball:
            return plan, None
        if plan.ball is None:
            rows.place(None)
            return plan, None
        ball = learn_ball(rows, plan=plan.ball, run=run)
        rows.place(ball)
        bias = bounds.bias_in(ball)
        stretch = rows.stretch(ball.center / ball.scale, bias)
        return following(plan, ball, stretch, bias, run), ball

    def _mended(self, coefs, steps, training):
        """Return coefficients and steps without errors that released numbers tell of."""
        return coefs, steps

    def _publish(self, solution, run, also_public, also_not_covered=()):
        """Publish what a fit found, first of all its report: no coefficients are without theirs."""
        (units, plan, ball, bias, _), steps = solution.training, solution.steps
        run.finish()
        self.privacy_report_ = self._report(
            plan,
            steps,
            reproducible=run.reproducible,
            also_public=self._assumed() + also_public,
            not_covered=(*plan.budget.not_covered, *also_not_covered),
        )
        self._set_ball(ball)
        coefs = outside(ball, solution.coefs, bias)
        if solution.shift:
            coefs[0, -1] += solution.shift / bias
        self._set_coefs(coefs, bias, units)
        self._set_steps(solution.training, steps)
        return self

    def _report(self, plan, steps, *, reproducible, also_public, not_covered):
        """Return the report of a fit by a plan whose steps are known."""
        return plan.report(
            reproducible=reproducible, also_public=also_public, not_covered=not_covered
        )

    def _without_ball(self):
        """Return what no ball is learnt with, or None."""

    def _learns_ball(self):
        """Return whether a ball is learnt where there is a share of the budget for it."""
        return True

    def _ball_budget(self):
        """Return the share of the budget that learns the ball, 0 where none can be learnt."""
        reason = self._without_ball()
        if reason is None or self.ball_budget == 0:
            return self.ball_budget
        if self.ball_budget != "auto":
            raise ValueError(
                f"ball_budget must be 'auto' or 0 with {reason}: no ball is learnt then, and rows "
                "are clipped to data_norm."
            )
        return 0

    def _planned_learning(
        self, budget, n_records, sizes, data_norm, share_within=None, *, alike=False, family=None
    ):
        """Return plans of what is learnt of targets and of the ball, or None, and their share.

        `sizes` are the numbers of features and of columns of targets. For `share_within` and
        `alike` see `plan_ball`. The share is one of mu^2. The family is by default that of the
        parameters.
        """
        family = family or self._family()
        n_features, n_targets = sizes
        share = self._ball_budget()
        share_of_ball = share if self._learns_ball() else 0
        ranges, spent_on_targets = family.plan(budget, share or "auto", n_records, n_targets)
        ball, spent = plan_ball(
            budget,
            ball_budget=share_of_ball,
            data_norm=data_norm,
            centred=self.fit_intercept,
            n_rows=n_records,
            n_columns=n_features,
            slack=rounding_slack(n_records, n_features, 1),
            share_within=share_within,
            # Targets have a part of a share that was given.
            spent_on_targets=spent_on_targets if share_of_ball else 0.0,
            alike=alike,
        )
        spent = spent_on_targets + spent
        learnt, spent_on_rest = family.plan_rest(budget, ranges, 1.0 - spent, n_records)
        return learnt, ball, spent + spent_on_rest

    def _row_bounds(self):
        """Return how rows are bounded, as `RowBounds`."""
        norm = None if self.data_norm is None else check_positive(self.data_norm, "data_norm")
        return RowBounds(
            norm=norm,
            fit_intercept=self.fit_intercept,
            is_private=is_private(self),
            awaits_ball=self._ball_budget() != 0,
            clip=is_private(self) and norm is not None,
        )

    def _published_ball(self):
        """Return the ball of a fit, or None where none was learnt."""
        if not hasattr(self, "radius_"):
            return None
        return Ball(self.center_, self.scale_, self.radius_)

    def _set_ball(self, ball):
        """Publish what was learnt of the rows; None forgets what an earlier fit did."""
        if ball is None:
            for name in _BALL_ATTRIBUTES:
                vars(self).pop(name, None)
        else:
            self.center_, self.scale_, self.radius_ = ball.center, ball.scale, ball.radius
