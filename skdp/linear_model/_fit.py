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
from skdp._estimator import NO_GROUPS, RecordPrivateEstimator, captioned_box
from skdp._families.family import Family
from skdp._rows.numbers import are_many_floats, validate_numbers
from skdp._rows.rows import Rows
from skdp._sklearn import _fit_context
from skdp.linear_model._base import publish, publish_linear, weights_public
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
    return validate_numbers(model, X, y, **family.checks_of_targets, **checks)


def read_rows(model, method, family, X, y, public_weight, groups=None, exposure=None):
    """Return bounded rows in memory, their targets as training takes them, and the units."""
    # The norms of rows tell whether all entries are finite (`clip_rows`): many rows aren't read
    # once more for that. Of people it is private how many there are.
    is_left_to_norms = groups is None and are_many_floats(X)
    X, y = read_numbers_of(
        model,
        family,
        X,
        y,
        order=method.order_of(X),
        ensure_all_finite=not is_left_to_norms,
    )
    family.check_settings()
    targets, units = family.read(y, exposure)
    weights = family.weigh(public_weight, len(targets), units, targets)
    codes, _ = method.read_groups(groups, X.shape[0], weights)
    return MemoryRows(method.treatment(family), X, targets, weights, codes), units


def train(method, rows: Rows, plan, units, run, start=None):
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


def place_in_ball(rows: Rows, plan, run):
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


def fit_to(model, method, rows: Rows, units, also_public=(), also_not_covered=()):
    """Fit a model to rows, wherever they are, and publish: return it.

    Targets are in `units`. `also_public` is assumed public besides what the parameters say. The
    plan is made by the method that bounds the rows. The report comes first: no coefficients are
    without theirs.
    """
    plan = plan_by(
        model,
        method,
        rows.treatment.family,
        rows.sizes,
        by_group=rows.are_grouped,
        scale=rows.scale,
    )
    run = plan.start(model.random_state)
    with rows.at_work():
        solution = train(method, rows, plan, units, run)
    run.finish()
    training, steps = solution.training, solution.steps
    model.privacy_report_ = training.plan.report(
        steps=steps,
        reproducible=run.reproducible,
        also_public=training.family.assumed + method.assumed + also_public,
        also_not_covered=also_not_covered,
    )
    publish_ball(model, training.ball)
    linear = method.linear_model(training, solution.of_rows())
    publish_linear(model, training.family, linear, training.units)
    publish(model, method.attributes(training, steps, linear), sometimes=method.sometimes)
    return model


def plan_by(model, method, family, sizes, *, by_group=False, scale=None):
    """Return the plan of a fit by a method, to records whose weights have such a scale."""
    method.check(sizes, family)
    budget = budget_by(model, method, family, sizes[0], by_group)
    return method.plan(sizes, family, budget, scale=scale)


def budget_by(model, method, family, n_records, by_group=False):
    """Return the budget of a fit by a method and a family.

    These were made before rows were read. What read them may have changed epsilon since.
    """
    if by_group and not method.takes_groups:
        raise ValueError(NO_GROUPS.format("estimator", type(model).__name__))
    budget = model._budget(n_records, by_group)
    if not budget.is_private == method.is_private == family.is_private:
        raise ValueError(EPSILON_CHANGED)
    return budget


class BaseLinear(RecordPrivateEstimator):
    """Linear models that protect rows: what their parameters say in the same way everywhere.

    Subclasses make a `Method` and a `Family` of their parameters. Their `fit` says what it takes.
    """

    # Parameters of the constructors of subclasses; those that lack `classes` are regressors.
    alpha: float
    fit_intercept: bool
    epsilon: float
    adjacency: str
    data_norm: float | None
    classes: object
    # A fit publishes this.
    n_features_in_: int
    # The mixins of regressors and of classifiers make a family of their parameters.
    _family: Callable[..., Family]
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
        return fit_to(self, method, rows, units, weights_public(public_weight))

    @property
    def _uses_feature_bounds(self):
        return self._method().uses_feature_bounds

    def _takes_sparse(self):
        return self._method().takes_sparse

    def _check_targets(self, y):
        self._family().check(y)

    def _assumed(self):
        return self._family().assumed + super()._assumed() + self._method().assumed

    def _plan(self, n_records, n_features, n_targets=1, *, by_group=False):
        """Return the plan of a fit to records of such sizes."""
        sizes = n_records, n_features, n_targets
        return plan_by(self, self._method(), self._family(), sizes, by_group=by_group)

    def _sk_visual_block_(self):
        return captioned_box(self)
