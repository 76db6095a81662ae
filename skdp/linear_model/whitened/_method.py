"""Private whitening as a method: what is planned, solved and published of it."""

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from skdp._ball._solver import inside
from skdp._checks import check_positive
from skdp._rows.blocks import rounding_slack
from skdp._rows.bounds import augmented_norm, intercept_constant
from skdp._rows.grouped_rows import group_rounding_slack
from skdp.linear_model._method import Method
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
from skdp.linear_model.whitened._summary import INFERRED, attributes_of_errors

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


@dataclass(frozen=True, kw_only=True, eq=False)
class Whitened(Method):
    """Full-batch steps on rows that are whitened by their released second moment."""

    sometimes: ClassVar = ("moment_", *INFERRED)
    takes_groups: ClassVar = True

    moment_budget: float | str
    public_moment: object
    step_size: float | str
    # None where there is no such setting: it is "auto", and not published.
    momentum: float | str | None
    average: bool
    rows_per_group: float | str
    inference: bool

    @property
    def assumed(self):
        """What the report of a fit assumes public."""
        is_stated = self.public_moment is not None and self.is_private
        return (_MOMENT_STATED,) if is_stated else ()

    @property
    def takes_sparse(self):
        """Whether rows may be sparse."""
        return not self.inference

    @property
    def learns_ball(self):
        """Whether a ball is learnt where there is a share of the budget for it."""
        # No ball that holds all rows within a public bound has a shorter radius than that bound.
        return not self.inference or self.data_norm is None

    @property
    def share_of_ball(self):
        """The share of the budget that learns the ball and where targets lie, as it was given."""
        if self.ball_budget not in ("auto", 0) and not self.learns_ball:
            raise ValueError(_NO_LEARNT_BALL)
        return self.ball_budget

    @property
    def row_bounds(self):
        """How rows are bounded, as `RowBounds`."""
        bounds = super().row_bounds
        if bounds.norm is None and not bounds.awaits_ball:
            raise ValueError(_NO_NORM)
        return replace(bounds, weigh=self.inference, is_copied=False)

    def treatment(self, family):
        """Return what a fit does with rows, as a `RowTreatment`."""
        return replace(super().treatment(family), infers=self.inference)

    def read_groups(self, groups, n_rows, weights):
        """Return the group of each row, or None, and how many records there are."""
        if self.inference and not (groups is None and weights.of_rows is None):
            raise ValueError(NOT_INFERRED)
        if groups is not None and weights.of_rows is not None:
            raise ValueError(_WEIGHED_GROUPS)
        return super().read_groups(groups, n_rows, weights)

    def plan(self, sizes, family, budget, *, scale=None, alike=False, roughness=None):
        """Return the plan of a fit; for `alike` see `plan_ball`, for `roughness` `WhitenedPlan`."""
        n_records, n_features, n_targets = sizes
        loss, n_outputs = family.loss(n_targets), family.n_outputs(n_targets)
        n_columns = self.n_columns(n_features)
        data_norm = None if self.data_norm is None else check_positive(self.data_norm, "data_norm")
        scale = scale or family.weight_scale(n_outputs)
        moment = self.public_moment
        if moment is not None:
            moment = check_moment(moment, n_features)
        rows_per_group, slack = 1.0, rounding_slack
        target_releases, ball, spent = self.plan_learning(
            sizes,
            family,
            budget,
            data_norm,
            share_within=tuned.SHARE_IN_BALL_OF_INFERENCE if self.inference else None,
            alike=alike,
        )
        if ball is not None:
            data_norm = 1.0
        elif data_norm is None:
            raise ValueError(_NO_NORM)
        if budget.of_groups:
            slack = group_rounding_slack
            rows_per_group = resolve_rows_per_group(
                self.rows_per_group, budget, n_records, n_columns, self.moment_budget
            )
        problem = WhitenedProblem(
            n_records=n_records,
            n_columns=n_columns,
            n_outputs=n_outputs,
            # To the moment all rows of a group are one, whose length is the root of their squares'.
            row_norm=augmented_norm(data_norm, self.fit_intercept) * rows_per_group**0.5,
            bias=intercept_constant(data_norm, self.fit_intercept),
            rounding_slack=slack(n_records, n_columns, n_outputs),
            alpha=check_positive(self.alpha, "alpha"),
            smoothness=_smoothness(loss, is_private=budget.is_private),
            typical_weight=scale.typical,
            wanted_weight=scale.wanted,
            steepest=scale.steepest,
            bounded_targets=target_releases is not None or family.has_bounds,
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
            target_releases=target_releases,
            last=() if target_releases is None else target_releases.last,
            left=1.0 - spent,
            moment_budget=self.moment_budget,
            public_moment=moment,
            clipping_norm=self.clipping_norm,
            max_iter=max_iter,
            step_size=self.step_size,
            momentum="auto" if self.momentum is None else self.momentum,
            average=self.average,
        )

    def solve(self, rows, training, run):
        """Return the coefficients that steps lead to, in the units of the ball, and the steps.

        They are without the errors that released numbers tell of.
        """
        plan, start = training.plan, training.start
        loss = training.family.loss(plan.problem.n_outputs).name
        if self.inference:
            return solve_inference(rows, plan=plan, model=MODELS[loss], run=run)
        rules = rules_of(loss, in_ball=plan.ball is not None, starts=start is not None)
        coefs, steps = solve_whitened(rows, plan=plan, rules=rules, run=run, start=start)
        if loss == "log_loss" and steps is not None:
            return calibrated(coefs, steps, plan, from_zero=start is None)
        return coefs, steps

    def expected_noise(self, sizes, family, budget):
        """Return the `ExpectedNoise` of a fit with such a budget, in the units of training."""
        if self.inference:
            raise ValueError(_NOT_FORESEEN)
        self.check(sizes, family)
        plan = self.plan(sizes, family, budget)
        loss = family.loss(sizes[-1]).name
        rules = rules_of(loss, in_ball=plan.ball is not None)
        return expected_noise([expected_steps(plan, rules)], loss)

    def attributes(self, training, steps, linear):
        """Return what a fit publishes beside the `LinearModel`, by the name of the attribute."""
        found = {
            "n_iter_": steps.n_steps,
            "clipping_norm_": float(steps.clip),
            "step_size_": steps.size,
        }
        if self.momentum is not None:
            found["momentum_"] = steps.momentum
        plan, white, bias = training.plan, steps.white, training.plan.problem.bias
        if plan.moment is not None and bias and white is not None:
            to_rows = partial(inside, training.ball, bias=bias)
            found["moment_"] = as_users_have_it(white.moment, to_rows, bias)
        if steps.errors is not None:
            found |= attributes_of_errors(self, training, steps.errors, linear)
        return found


def rules_of(loss, *, in_ball, starts=False):
    """Return what is automatic for a loss, in a learnt ball, or where steps have a start."""
    rules = tuned.RULES_IN_BALL if in_ball else tuned.RULES
    return (tuned.RULES_FROM_START if starts else rules)[loss]


def _smoothness(loss, *, is_private):
    """Return what the slope of a loss's derivative is at most, in a mean over rows."""
    return tuned.MEAN_SMOOTHNESS.get(loss.name, loss.smoothness) if is_private else loss.smoothness
