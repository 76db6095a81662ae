"""What the DP-SGD estimators share: constraints, planning, solving and streams."""

from dataclasses import dataclass, replace
from numbers import Integral, Real
from secrets import token_hex

import numpy as np

from skdp._checks import (
    check_finite,
    check_n_jobs,
    check_positive,
    check_sample_epsilon,
    check_word,
)
from skdp._estimator import is_private
from skdp._families.penalties import make_penalty
from skdp._rows.bounds import augmented_norm, summation_slack
from skdp._rows.threads import BLOCK_ROWS
from skdp._sklearn import Interval, StrOptions, _fit_context
from skdp.linear_model._base import (
    BALL_CONSTRAINTS,
    BATCH_CONSTRAINTS,
    POSITIVE,
    weights_public,
)
from skdp.linear_model._fit import BaseLinear
from skdp.linear_model._plan import LARGEST_NORM
from skdp.linear_model.dpsgd import _tuned as tuned
from skdp.linear_model.dpsgd._plan import (
    DPSGDProblem,
    StepSizes,
    plan_dpsgd,
    plan_dpsgd_laplace,
    plan_dpsgd_stream,
)
from skdp.linear_model.dpsgd._solver import solve_dpsgd

BUDGETS_STATED = "the epsilons that the records stated (sample_epsilon)"
APART = "that no record was shown to two calls of partial_fit"

CONSTRAINTS = {
    **BATCH_CONSTRAINTS,
    **BALL_CONSTRAINTS,
    "penalty": [StrOptions({"l2", "l1", "elasticnet"})],
    "l1_ratio": [Interval(Real, 0, 1, closed="both")],
    "mechanism": [StrOptions({"gaussian", "laplace"})],
    "max_iter": [Interval(Integral, 1, 10**9, closed="both"), StrOptions({"auto"})],
    "learning_rate": [StrOptions({"constant", "invscaling", "inv_alpha"})],
    "eta0": [POSITIVE, StrOptions({"auto"})],
    "power_t": [Interval(Real, 0, 10, closed="both")],
}


@dataclass(frozen=True, eq=False)
class _Stream:
    """What calls of `partial_fit` leave to the next one, made of releases.

    `settings` must not change between calls, `weights` and `mean`, of shape (k, d), are the last
    iterate and the average of all, and the report and what was assumed public are those of all
    calls together. `name` is what a ledger calls this state if a charge there covers the next call
    from here. It covers one such call, whichever copy makes it: records of later calls are others',
    so that they cost no more, but those of a second next call may be the same.
    """

    settings: tuple
    weights: np.ndarray
    mean: np.ndarray
    n_calls: int = 0
    report: object = None
    also_public: tuple = ()
    name: str | None = None


class BaseDPSGD(BaseLinear):
    """Planning, solving and streams of the DP-SGD estimators."""

    # Parameters of the constructors of subclasses.
    average: bool
    batch_size: int | str
    clipping_norm: float | str
    eta0: float | str
    l1_ratio: float
    learning_rate: str
    max_iter: int
    mechanism: str
    penalty: str
    power_t: float

    # Earlier calls of `partial_fit` leave the stream that later ones go on with.
    _stream = None

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_epsilon=None, public_weight=None):
        """Fit the model privately.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Training rows, dense or CSR; float32 and float64 are kept in their precision.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets of a regression, one or more of each row; or labels of any type that can be
            sorted.
        sample_epsilon : array-like of shape (n_samples,), default=None
            For ``mechanism="laplace"``: the epsilon of each record, in (0, `epsilon`]. The smallest
            epsilon in a batch sets its noise, so records of about the same epsilon share batches,
            and batches with more noise take shorter steps. Several passes share a record's epsilon.
            These numbers are assumed public: they must not depend on the records. A Series must
            have the index of X. In a meta-estimator they need metadata routing, see
            ``set_fit_request``. Without them every record has `epsilon`.
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
            If X is of a kind that can't be read.
        """
        rows, units = self._read_rows(X, y, public_weight, order="C")
        n_rows, n_features, n_outputs = rows.sizes
        sample_epsilon = self._check_options(n_rows, sample_epsilon)
        plan = self._plan(
            n_rows,
            n_features,
            n_outputs,
            longest=self._length_of_longest(rows.records()),
            sample_epsilon=sample_epsilon,
            scale=rows.scale,
        )
        stated = () if sample_epsilon is None else (BUDGETS_STATED,)
        return self._fit(rows, plan, units, weights_public(public_weight) + stated)

    def _without_ball(self):
        return None if self.mechanism == "gaussian" else f"mechanism={self.mechanism!r}"

    def _check_options(self, n_rows, sample_epsilon=None):
        """Check parameters against each other; return personal epsilons as an array, or None."""
        check_n_jobs(self.n_jobs)
        if sample_epsilon is None:
            return None
        if self.mechanism != "laplace":
            raise ValueError("sample_epsilon needs mechanism='laplace'.")
        return check_sample_epsilon(sample_epsilon, n_rows, self.epsilon)

    def _penalty(self):
        """Return the penalty for targets divided by their half width.

        The losses scale with its square, as the L2 penalty does, and the L1 penalty with itself.
        """
        penalty = make_penalty(self.penalty, float(self.alpha), float(self.l1_ratio))
        return replace(penalty, l1=penalty.l1 / self._family().half_width)

    def _problem(self, n_rows, n_features, n_outputs, longest=None, scale=None):
        """Return the public numbers that a plan is made of.

        Without privacy rows are not clipped, and only the `longest` of them bounds the others.
        """
        penalty = self._penalty()
        row_norm = augmented_norm(float(self.data_norm), self.fit_intercept)
        if longest is not None:
            row_norm = min(max(longest, 1e-15 * row_norm), LARGEST_NORM)
        n_columns = self._n_columns(n_features)
        return DPSGDProblem(
            n_rows=n_rows,
            n_columns=n_columns,
            n_outputs=n_outputs,
            rounding_slack=summation_slack(n_rows, n_columns, n_outputs, BLOCK_ROWS),
            loss=self._family().loss(n_outputs),
            scale=scale or self._family().weight_scale(n_outputs),
            row_norm=row_norm,
            l1=penalty.l1,
            l2=penalty.l2,
        )

    def _steps(self):
        return StepSizes(self.learning_rate, self.eta0, float(self.power_t), float(self.alpha))

    def _length_of_longest(self, records):
        """Return the length of the longest row, where there is neither privacy nor a ball."""
        if is_private(self) or self._ball_budget() != 0:
            return None
        return float(records.rows.norm.max())

    def _plan(
        self, n_rows, n_features, n_outputs, *, longest=None, sample_epsilon=None, scale=None
    ):
        """Return the plan of a fit."""
        problem = self._problem(n_rows, n_features, n_outputs, longest, scale)
        mechanism = check_word(self.mechanism, "mechanism", ("gaussian", "laplace"))
        budget, data_norm = self._budget(n_rows), check_positive(self.data_norm, "data_norm")
        ranges, ball, _ = self._planned_learning(budget, n_rows, (n_features, n_outputs), data_norm)
        if mechanism == "laplace":
            return plan_dpsgd_laplace(
                problem,
                budget,
                self._steps(),
                max_iter=self.max_iter,
                batch_size=self.batch_size,
                clipping_norm=self.clipping_norm,
                sample_epsilon=sample_epsilon,
            )
        return plan_dpsgd(
            problem,
            budget,
            self._steps(),
            max_iter=self.max_iter,
            batch_size=self.batch_size,
            clipping_norm=self.clipping_norm,
            ranges=ranges,
            ball=ball,
        )

    def _take_steps(self, rows, training, run):
        """Return the coefficients that steps by batches lead to."""
        return self._descend(training.plan, rows.records(), run, average=self.average), None

    def _descend(self, plan, records, run, *, average, start=None):
        """Return the coefficients that a plan leads to, from a public start or from 0."""
        return solve_dpsgd(
            records.rows,
            records.targets,
            plan=plan,
            loss=self._family().loss(records.targets.shape[1]),
            penalty=self._penalty(),
            average=average,
            n_jobs=self.n_jobs,
            run=run,
            start=start,
            weights=records.joint_weights,
        )

    def _take_in(self, rows, settings, also_public=()):
        """Make the step of a call of `partial_fit`, publish it and return the weights to publish.

        `settings` must stay the same from call to call.
        """
        (n_rows, n_features, n_outputs), records = rows.sizes, rows.records()
        shape = (n_outputs, self._n_columns(n_features))
        settings = (*shape, self.fit_intercept, float(self.data_norm), self.adjacency, *settings)
        zero = np.zeros(shape)
        before = self._stream or _Stream(settings, zero, zero)
        if before.settings != settings:
            raise ValueError(
                "fit_intercept, data_norm, target_bounds, adjacency and the numbers of columns and "
                "targets must stay the same in all calls of partial_fit; fit starts afresh."
            )
        budget, name, n_calls = self._budget(n_rows), before.name, before.n_calls + 1
        if budget.account is not None:
            name = token_hex(16)
            budget = replace(budget, account=budget.account._replace(states=(before.name, name)))
        longest = self._length_of_longest(records)
        problem = self._problem(n_rows, n_features, n_outputs, longest, rows.scale)
        plan = plan_dpsgd_stream(
            problem,
            budget,
            self._steps(),
            n_calls=n_calls,
            clipping_norm=self.clipping_norm,
            before=before.report,
        )
        run = plan.start(self.random_state)
        coefs = self._descend(plan, records, run, average=False, start=before.weights)
        check_finite(coefs)
        run.finish()
        seeded = run.reproducible or (before.n_calls > 0 and before.report.reproducible)
        also_public = tuple(dict.fromkeys((*before.also_public, APART, *also_public)))
        report = plan.report(reproducible=seeded, also_public=also_public)
        # With the power p, the t-th of T iterates counts about (p + 1) t**p / T**(p + 1) in it.
        power = tuned.STREAM_AVERAGE_POWER
        share = (power + 1.0) / (n_calls + power)
        mean = (1.0 - share) * before.mean + share * coefs
        after = _Stream(settings, coefs, mean, n_calls, report, also_public, name)
        if n_calls == 1:
            self.privacy_report_ = report
        else:
            # It covers the calls before, too.
            self._restate(report)
        self._set_sizes(plan, n_calls, after)
        return mean if self.average else coefs

    def _set_steps(self, training, steps):
        self._set_sizes(training.plan, training.plan.n_passes, None)

    def _set_sizes(self, plan, n_iter, stream):
        """Publish the sizes of steps; a fit leaves no stream behind."""
        self._stream = stream
        self.n_iter_ = n_iter
        self.batch_size_ = plan.batch_size
        self.clipping_norm_ = plan.clipping_norm
        self.eta0_ = plan.eta0


def takes_streams(estimator):
    """Return whether there is `partial_fit`."""
    if estimator.mechanism != "laplace":
        raise AttributeError("partial_fit is available for mechanism='laplace' only.")
    return True
