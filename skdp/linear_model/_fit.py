"""The one fit of linear models, whatever the method is and wherever rows are."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from skdp._ball._solver import (
    Ball,
    following,
    learn_ball,
    outside,
    start_inside,
)
from skdp._checks import check_finite
from skdp._estimator import NO_GROUPS
from skdp._rows.numbers import are_many_floats, validate_numbers
from skdp._sklearn import _fit_context
from skdp.linear_model._base import RowPrivateEstimator, weights_public
from skdp.linear_model._memory import MemoryRows
from skdp.linear_model._method import Method, Training

EPSILON_CHANGED = "epsilon was changed while the rows were read: fit again."


class Solution(NamedTuple):
    """What a fit found: coefficients in the units of its ball, and what they were made with."""

    training: Training
    coefs: np.ndarray
    # A method publishes this of its steps.
    steps: object
    # It is added to predictions, in the units of targets in training.
    shift: float = 0.0

    def of_rows(self):
        """Return the coefficients of rows as they are, the shift in the intercept's."""
        training = self.training
        coefs = outside(training.ball, self.coefs, training.bias)
        if self.shift:
            coefs = coefs.copy()
            coefs[0, -1] += self.shift / training.bias
        return coefs


def read_numbers_of(model, family, X, y, **checks):
    """Return X and y as scikit-learn's contract has them."""
    kinds = {"multi_output": family.takes_several, "y_numeric": family.is_numeric}
    return validate_numbers(model, X, y, **kinds, **checks)


def read_rows(model, method, family, X, y, public_weight, groups=None, exposure=None):
    """Return bounded rows in memory, their targets as training takes them, and the units."""
    # The norms of rows tell whether all entries are finite (`clip_rows`): many rows aren't read
    # once more for that. Of people it is private how many there are.
    is_left_to_norms = groups is None and are_many_floats(X)
    checks = {"ensure_all_finite": False} if is_left_to_norms else {}
    X, y = read_numbers_of(model, family, X, y, order=method.order_of(X), **checks)
    family.check_settings()
    targets, units = family.read(y, exposure)
    weights = family.weigh(public_weight, len(targets), units, targets)
    codes, _ = method.records(groups, X.shape[0], weights)
    return MemoryRows(method.treatment(family), X, targets, weights, codes), units


def solve(method, rows, plan, units, run, start=None):
    """Return what a fit to rows finds, as a `Solution`.

    Targets are in `units`. Steps begin at the coefficients `start` of rows as they are, the
    intercept last, or at 0.
    """
    family = rows.treatment.family
    units, slopes = family.learn(rows, units, plan, run)
    if slopes is not None:
        plan = plan.for_slopes(slopes)
    plan, ball = place_in_ball(rows, plan, run)
    bias = rows.treatment.bounds.bias_in(ball)
    training = Training(family, units, plan, ball, bias, start_inside(ball, start, bias))
    coefs, steps = method.solve(rows, training, run)
    of_rows = outside(ball, coefs, bias)
    # Before there is a report: that would be beside the coefficients of a fit before.
    check_finite(of_rows)
    shift = family.finish(rows, of_rows, bias, units, plan, run)
    return Solution(training, coefs, steps, shift)


def place_in_ball(rows, plan, run):
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


def publish(model, attributes, *, sometimes=()):
    """Set attributes of a fit by their names, and forget those that only an earlier fit has.

    `sometimes` are the names of those that not every fit has.
    """
    for name in sometimes:
        vars(model).pop(name, None)
    for name, value in attributes.items():
        setattr(model, name, value)


def publish_ball(model, ball):
    """Publish what was learnt of the rows; None forgets what an earlier fit did."""
    found = {}
    if ball is not None:
        found = {"center_": ball.center, "scale_": ball.scale, "radius_": ball.radius}
    publish(model, found, sometimes=("center_", "scale_", "radius_"))


def published_ball(model):
    """Return the ball of a fit, or None where none was learnt."""
    if not hasattr(model, "radius_"):
        return None
    return Ball(model.center_, model.scale_, model.radius_)


class BaseLinear(RowPrivateEstimator):
    """Linear models that protect rows: what their parameters say, and what a fit of them publishes.

    Subclasses make a `Method` of their parameters. Their `fit` says what it takes.
    """

    _method: Callable[..., Method]

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
        method, family = self._method(), self._family()
        rows, units = read_rows(self, method, family, X, y, public_weight)
        plan = self._plan_for(rows, method)
        return self._fit(method, rows, plan, units, weights_public(public_weight))

    def _takes_sparse(self):
        return self._method().takes_sparse

    def _assumed(self):
        return self._family().assumed + super()._assumed() + self._method().assumed

    def _plan(self, n_records, n_features, n_targets=1, *, by_group=False):
        """Return the plan of a fit to records of such sizes."""
        sizes, family = (n_records, n_features, n_targets), self._family()
        return self._plan_by(self._method(), family, sizes, by_group=by_group)

    def _plan_for(self, rows, method):
        """Return the plan of a fit to rows, by the method that bounds them."""
        return self._plan_by(
            method,
            rows.treatment.family,
            rows.sizes,
            by_group=rows.are_grouped,
            scale=rows.scale,
        )

    def _plan_by(self, method, family, sizes, *, by_group=False, scale=None):
        """Return the plan of a fit by a method, to records whose weights have such a scale."""
        method.check(sizes, family)
        budget = self._budget_for(method, family, sizes[0], by_group)
        return method.plan(sizes, family, budget, scale=scale)

    def _budget_for(self, method, family, n_records, by_group=False):
        """Return the budget of a fit by a method and a family, made before rows were read.

        Whatever read them may have changed parameters since.
        """
        if by_group and not method.takes_groups:
            raise ValueError(NO_GROUPS.format("estimator", type(self).__name__))
        budget = self._budget(n_records, by_group)
        if not budget.is_private == method.is_private == family.is_private:
            raise ValueError(EPSILON_CHANGED)
        return budget

    def _fit(self, method, rows, plan, units, also_public=(), also_not_covered=()):
        """Fit to rows, in memory or in partitions (`MemoryRows`), by a plan, and publish.

        Targets are in `units`. Public is, beside what the parameters say, `also_public`. The report
        comes first: no coefficients are without theirs.
        """
        run = plan.start(self.random_state)
        with rows.at_work():
            solution = solve(method, rows, plan, units, run)
        run.finish()
        training, steps = solution.training, solution.steps
        self.privacy_report_ = method.report(
            training.plan,
            steps,
            reproducible=run.reproducible,
            also_public=training.family.assumed + method.assumed + also_public,
            not_covered=(*plan.budget.not_covered, *also_not_covered),
        )
        publish_ball(self, training.ball)
        linear = self._set_coefs(solution.of_rows(), training.bias, training.units)
        found = method.attributes(training, steps, linear)
        publish(self, found, sometimes=method.sometimes)
        return self
