"""What estimators of private whitening share."""

from dataclasses import replace
from functools import partial
from numbers import Integral, Real

from skdp._ball._solver import inside
from skdp._checks import check_n_jobs, check_positive
from skdp._rows.blocks import rounding_slack
from skdp._rows.bounds import augmented_norm, intercept_constant
from skdp._rows.grouped_rows import group_rounding_slack
from skdp._sklearn import Interval, StrOptions, _fit_context
from skdp.linear_model._base import (
    BALL_CONSTRAINTS,
    COMMON_CONSTRAINTS,
    POSITIVE,
    is_private,
    weights_public,
)
from skdp.linear_model._fit import BaseLinear
from skdp.linear_model.whitened import _tuned as tuned
from skdp.linear_model.whitened._calibration_solver import calibrated
from skdp.linear_model.whitened._expected_solver import expected_noise, expected_steps
from skdp.linear_model.whitened._inference import MODELS, solve_inference
from skdp.linear_model.whitened._moment import as_users_have_it, check_moment
from skdp.linear_model.whitened._plan import (
    WhitenedProblem,
    plan_inference,
    plan_whitened,
    resolve_rows_per_group,
)
from skdp.linear_model.whitened._solver import solve_whitened

AUTO = StrOptions({"auto"})
NOT_INFERRED = (
    "inference=True takes dense rows, each a record of its own, without groups, public_weight and "
    "class_weight: what errors are made of isn't bounded or true otherwise."
)
_NO_LEARNT_BALL = (
    "ball_budget must be 'auto' or 0 with inference=True and a data_norm: no ball is learnt then, "
    "as rows beyond its radius would count less, and all rows within data_norm count whole."
)
_NOT_FORESEEN = (
    "the noise of a fit with inference=True isn't foreseen: its standard errors tell it. Give the "
    "model without inference."
)
_NO_NORM = (
    "data_norm=None needs a learnt ball: give ball_budget, or a public bound data_norm on the norm "
    "of a row."
)
_MOMENT_STATED = (
    "public_moment, the second moment of public rows (a wrong one costs accuracy, not privacy)"
)
_WEIGHED_GROUPS = "groups go without public_weight and class_weight: a group is cut as a whole."
CONSTRAINTS = {
    **{name: allowed for name, allowed in COMMON_CONSTRAINTS.items() if name != "accountant"},
    "moment_budget": [Interval(Real, 0, 1, closed="left"), AUTO],
    "public_moment": ["array-like", None],
    "data_norm": [POSITIVE, None],
    **BALL_CONSTRAINTS,
    "max_iter": [Interval(Integral, 1, 10**4, closed="both"), AUTO],
    "clipping_norm": [POSITIVE, AUTO],
    "step_size": [POSITIVE, AUTO],
    "average": ["boolean"],
    "rows_per_group": [Interval(Real, 1, 1e30, closed="both"), AUTO],
    "inference": ["boolean"],
    "n_jobs": [Integral, None],
}

# Regressions of other losses than squares have these: their errors aren't inferred.
REGRESSION_CONSTRAINTS = {
    **{name: allowed for name, allowed in CONSTRAINTS.items() if name != "inference"},
    "momentum": [Interval(Real, 0, 1, closed="left"), AUTO],
    "target_bounds": ["array-like", None],
}


def _smoothness(loss, *, is_private):
    """Return what the slope of a loss's derivative is at most, in a mean over rows."""
    return tuned.MEAN_SMOOTHNESS.get(loss.name, loss.smoothness) if is_private else loss.smoothness


class BaseWhitened(BaseLinear):
    """What the whitened estimators share."""

    # Parameters of the constructors of subclasses.
    average: bool
    ball_budget: float | str
    clipping_norm: float | str
    inference: bool
    max_iter: int | str
    moment_budget: float | str
    rows_per_group: float | str
    step_size: float | str
    # Constraints of these parameters, as scikit-learn checks them.
    _parameter_constraints: dict

    # Estimators without these parameters have their defaults.
    momentum, public_moment = "auto", None

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, groups=None, public_weight=None):
        """Fit the model privately.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Training rows, dense or CSR; float32 and float64 are kept in their precision, in order.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets of a regression, one or more of each row; or labels of any type that can be
            sorted.
        groups : array-like of shape (n_samples,), default=None
            The person, household, ... of each row, as hashable ids. The guarantee is then for one
            group, with all its rows. The number of groups is public; the number of rows of each
            group is not. The number of groups sets `delta`, and divides the sum over all rows in
            the objective. Under "zero_out" a part of a group, such as one of its rows, has the
            guarantee of ``privacy_report_.epsilon_at(delta, group_size=2)``. A Series must have the
            index of X, as ids are matched with rows by their place. With None each row is a record.
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
            If a parameter or the input is invalid, if y has one class, or a class that isn't among
            those declared, or a target outside the range of the loss, or if an id of a group is
            missing; no message quotes an entry of the data.
        TypeError
            If X or y is of a kind that can't be read, X is sparse with `inference`, or an id can't
            be hashed.
        """
        rows, units = self._read_rows(X, y, public_weight, groups)
        plan = self._plan(*rows.sizes, by_group=rows.are_grouped, scale=rows.scale)
        return self._fit(rows, plan, units, weights_public(public_weight))

    def _set_errors(self, errors, bias, half_width, ball):
        """Publish no errors of weights: those that infer some do."""

    def _learns_ball(self):
        # No ball that holds all rows within a public bound has a shorter radius than that bound.
        return not self.inference or self.data_norm is None

    def _ball_budget(self):
        if self.ball_budget not in ("auto", 0) and not self._learns_ball():
            raise ValueError(_NO_LEARNT_BALL)
        return super()._ball_budget()

    def _takes_sparse(self):
        return not self.inference

    def _plan(
        self,
        n_records,
        n_features,
        n_targets,
        *,
        by_group=False,
        scale=None,
        budget=None,
        alike=False,
        roughness=None,
        family=None,
    ):
        """Return the plan of a fit; for `alike` see `plan_ball`, for `roughness` `WhitenedPlan`.

        The family is by default that of the parameters.
        """
        check_n_jobs(self.n_jobs)
        family = family or self._family()
        loss, n_outputs = family.loss(n_targets), family.n_outputs(n_targets)
        n_columns = self._n_columns(n_features)
        data_norm = None if self.data_norm is None else check_positive(self.data_norm, "data_norm")
        scale = scale or family.weight_scale(n_outputs)
        budget = budget or self._budget(n_records, by_group)
        moment = self.public_moment
        if moment is not None:
            moment = check_moment(moment, n_features)
        n_rows, slack = 1.0, rounding_slack
        learnt, ball, spent = self._planned_learning(
            budget,
            n_records,
            (n_features, n_targets),
            data_norm,
            tuned.SHARE_IN_BALL_OF_INFERENCE if self.inference else None,
            alike=alike,
            family=family,
        )
        if ball is not None:
            data_norm = 1.0
        elif data_norm is None:
            raise ValueError(_NO_NORM)
        if by_group:
            slack = group_rounding_slack
            n_rows = resolve_rows_per_group(
                self.rows_per_group, budget, n_records, n_columns, self.moment_budget
            )
        problem = WhitenedProblem(
            n_rows=n_records,
            n_columns=n_columns,
            n_outputs=n_outputs,
            # To the moment all rows of a group are one, whose length is the root of their squares'.
            row_norm=augmented_norm(data_norm, self.fit_intercept) * n_rows**0.5,
            bias=intercept_constant(data_norm, self.fit_intercept),
            rounding_slack=slack(n_records, n_columns, n_outputs),
            alpha=check_positive(self.alpha, "alpha"),
            smoothness=_smoothness(loss, is_private=budget.is_private),
            typical_weight=scale.typical,
            wanted_weight=scale.wanted,
            steepest=scale.steepest,
            bounded_targets=learnt is not None or family.has_bounds,
        )
        max_iter, make_plan = self.max_iter, plan_inference
        if max_iter == "auto" and not budget.is_private:
            max_iter = tuned.STEPS_WITHOUT_PRIVACY.get(loss.name, max_iter)
        if not self.inference:
            make_plan = partial(plan_whitened, roughness=roughness)
        return make_plan(
            problem,
            budget,
            ball=ball,
            ranges=learnt,
            last=family.last_releases(learnt),
            left=1.0 - spent,
            moment_budget=self.moment_budget,
            public_moment=moment,
            clipping_norm=self.clipping_norm,
            max_iter=max_iter,
            step_size=self.step_size,
            momentum=self.momentum,
            average=self.average,
        )

    def _row_bounds(self):
        bounds = super()._row_bounds()
        if bounds.norm is None and not bounds.awaits_ball:
            raise ValueError(_NO_NORM)
        return replace(bounds, weigh=self.inference, is_copied=False)

    def _records(self, groups, X, weights):
        if self.inference and not (groups is None and weights.of_rows is None):
            raise ValueError(NOT_INFERRED)
        if groups is not None and weights.of_rows is not None:
            raise ValueError(_WEIGHED_GROUPS)
        return super()._records(groups, X, weights)

    def _treatment(self, family):
        return replace(super()._treatment(family), infers=self.inference)

    def _take_steps(self, rows, training, run):
        """Return the coefficients that steps lead to, and the steps."""
        plan, start = training.plan, training.start
        n_outputs = plan.problem.n_outputs
        if self.inference:
            model = MODELS[self._family().loss(n_outputs).name]
            return solve_inference(rows, plan=plan, model=model, run=run)
        rules = self._rules(n_outputs, in_ball=plan.ball is not None, starts=start is not None)
        return solve_whitened(rows, plan=plan, rules=rules, run=run, start=start)

    def _mended(self, coefs, steps, training):
        plan, from_zero = training.plan, training.start is None
        if self._family().loss(plan.problem.n_outputs).name != "log_loss" or self.inference:
            return coefs, steps
        return calibrated(coefs, steps, plan, from_zero=from_zero)

    def _rules(self, n_outputs, *, in_ball, starts=False):
        """Return what is automatic for the loss, in a learnt ball, or where steps have a start."""
        rules = tuned.RULES_IN_BALL if in_ball else tuned.RULES
        return (tuned.RULES_FROM_START if starts else rules)[self._family().loss(n_outputs).name]

    def _expected_noise(self, budget, n_rows, n_features, n_outputs):
        """Return the `ExpectedNoise` of a fit with such a budget, in the units of training."""
        if self.inference:
            raise ValueError(_NOT_FORESEEN)
        plan = self._plan(n_rows, n_features, n_outputs, budget=budget)
        rules = self._rules(n_outputs, in_ball=plan.ball is not None)
        return expected_noise([expected_steps(plan, rules)], self._family().loss(n_outputs).name)

    def _assumed(self):
        is_stated = self.public_moment is not None and is_private(self)
        return super()._assumed() + ((_MOMENT_STATED,) if is_stated else ())

    def _report(self, plan, steps, *, reproducible, also_public, not_covered):
        return plan.report(
            n_steps=steps.n_steps,
            reproducible=reproducible,
            also_public=also_public,
            not_covered=not_covered,
        )

    def _set_steps(self, training, steps):
        units, plan, ball, bias, _ = training
        self.n_iter_ = steps.n_steps
        self.clipping_norm_ = float(steps.clip)
        self.step_size_ = steps.size
        if "momentum" in self._parameter_constraints:
            self.momentum_ = steps.momentum
        self._set_moment(plan, steps, ball)
        self._set_errors(steps.errors, bias, self._family().unit(units), ball)

    def _set_moment(self, plan, steps, ball):
        """Publish the moment that was released, or forget that of a fit before."""
        vars(self).pop("moment_", None)
        problem, white = plan.problem, steps.white
        if plan.moment is not None and problem.bias and white is not None:
            to_rows = partial(inside, ball, bias=problem.bias)
            self.moment_ = as_users_have_it(white.moment, to_rows, problem.bias)
