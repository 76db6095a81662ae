"""DP-SGD as a method: what is planned, solved and published of it."""

from dataclasses import dataclass, replace
from typing import ClassVar

from skdp._checks import check_positive, check_sample_epsilon, check_word
from skdp._families.penalties import make_penalty
from skdp._rows.bounds import augmented_norm, summation_slack
from skdp._rows.threads import BLOCK_ROWS
from skdp.linear_model._method import Method
from skdp.linear_model._plan import LARGEST_NORM
from skdp.linear_model.dpsgd._plan import (
    DPSGDProblem,
    StepSizes,
    plan_dpsgd,
    plan_dpsgd_laplace,
    plan_dpsgd_stream,
)
from skdp.linear_model.dpsgd._solver import solve_dpsgd

_BUDGETS_STATED = "the epsilons that the records stated (sample_epsilon)"


@dataclass(frozen=True, kw_only=True, eq=False)
class DPSGD(Method):
    """Steps by noisy gradients of batches, of random rows or of a partition."""

    mechanism: str
    penalty: str
    l1_ratio: float
    batch_size: int | str
    average: bool
    learning_rate: str
    eta0: float | str
    power_t: float
    # A fit leaves no stream behind.
    sometimes: ClassVar = ("_stream",)

    # Public epsilons of the records, if they stated some, as they were given.
    sample_epsilon: object = None
    # Without privacy rows are not clipped, and only the longest of them bounds the others.
    longest: float | None = None

    @property
    def assumed(self):
        """What the report of a fit assumes public."""
        return () if self.sample_epsilon is None else (_BUDGETS_STATED,)

    @property
    def without_ball(self):
        """What no ball is learnt with, in words, or None."""
        return None if self.mechanism == "gaussian" else f"mechanism={self.mechanism!r}"

    def order_of(self, X):
        """Return the order in memory that rows are read in."""
        return "C"

    def bounded_by(self, records):
        """Return the method for records, of which without privacy and a ball the longest counts."""
        if self.is_private or self.share_of_ball != 0:
            return self
        return replace(self, longest=float(records.rows.norm.max()))

    def plan(self, sizes, family, budget, *, scale=None):
        """Return the plan of a fit; without a `scale` records weigh as the family says."""
        problem = self._problem(sizes, family, scale)
        mechanism = check_word(self.mechanism, "mechanism", ("gaussian", "laplace"))
        data_norm = check_positive(self.data_norm, "data_norm")
        stated = self.sample_epsilon
        if stated is not None:
            if mechanism != "laplace":
                raise ValueError("sample_epsilon needs mechanism='laplace'.")
            stated = check_sample_epsilon(stated, sizes[0], budget.epsilon)
        target_releases, ball, _ = self.plan_learning(sizes, family, budget, data_norm)
        if mechanism == "laplace":
            return plan_dpsgd_laplace(
                problem,
                budget,
                self._step_sizes(),
                max_iter=self.max_iter,
                batch_size=self.batch_size,
                clipping_norm=self.clipping_norm,
                sample_epsilon=stated,
            )
        return plan_dpsgd(
            problem,
            budget,
            self._step_sizes(),
            max_iter=self.max_iter,
            batch_size=self.batch_size,
            clipping_norm=self.clipping_norm,
            target_releases=target_releases,
            ball=ball,
        )

    def plan_call(self, sizes, family, budget, *, scale, n_calls, before):
        """Return the plan of a call of `partial_fit`, the last of `n_calls`.

        `before` is the report of those before.
        """
        return plan_dpsgd_stream(
            self._problem(sizes, family, scale),
            budget,
            self._step_sizes(),
            n_calls=n_calls,
            clipping_norm=self.clipping_norm,
            before=before,
        )

    def solve(self, rows, training, run):
        """Return the coefficients that steps by batches lead to, and nothing of the steps."""
        plan, family = training.plan, training.family
        return self.descend(plan, family, rows.records(), run, average=self.average), None

    def descend(self, plan, family, records, run, *, average, start=None):
        """Return the coefficients that a plan leads to, from a public start or from 0."""
        return solve_dpsgd(
            records.rows,
            records.targets,
            plan=plan,
            loss=family.loss(records.targets.shape[1]),
            penalty=self._penalty_of(family),
            average=average,
            n_jobs=self.n_jobs,
            run=run,
            start=start,
            weights=records.joint_weights,
        )

    def attributes(self, training, steps, linear):
        """Return what a fit publishes beside the `LinearModel`, by the name of the attribute."""
        found = sizes_of_steps(training.plan, training.plan.n_passes)
        if not training.family.is_numeric:
            # A stream may go on from here, and no report is believed.
            found["_classes_read"] = training.family.reads_classes
        return found

    def _penalty_of(self, family):
        """Return the penalty for targets divided by their half width.

        The losses scale with its square, as the L2 penalty does, and the L1 penalty with itself.
        """
        penalty = make_penalty(self.penalty, float(self.alpha), float(self.l1_ratio))
        return replace(penalty, l1=penalty.l1 / family.half_width)

    def _problem(self, sizes, family, scale):
        """Return the public numbers that a plan is made of."""
        n_records, n_features, n_outputs = sizes
        penalty = self._penalty_of(family)
        row_norm = augmented_norm(float(self.data_norm), self.fit_intercept)
        if self.longest is not None:
            row_norm = min(max(self.longest, 1e-15 * row_norm), LARGEST_NORM)
        n_columns = self.n_columns(n_features)
        return DPSGDProblem(
            n_records=n_records,
            n_columns=n_columns,
            n_outputs=n_outputs,
            rounding_slack=summation_slack(n_records, n_columns, n_outputs, BLOCK_ROWS),
            loss=family.loss(n_outputs),
            scale=scale or family.weight_scale(n_outputs),
            row_norm=row_norm,
            l1=penalty.l1,
            l2=penalty.l2,
        )

    def _step_sizes(self):
        return StepSizes(self.learning_rate, self.eta0, float(self.power_t), float(self.alpha))


def sizes_of_steps(plan, n_iter):
    """Return what is published of the sizes of steps, by the name of the attribute."""
    return {
        "n_iter_": n_iter,
        "batch_size_": plan.batch_size,
        "clipping_norm_": plan.clipping_norm,
        "eta0_": plan.eta0,
    }
