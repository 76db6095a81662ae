"""What the DP-SGD estimators share: constraints, fits and streams."""

from dataclasses import dataclass, replace
from numbers import Integral, Real
from secrets import token_hex

import numpy as np

from skdp._checks import check_finite
from skdp._estimator import report_of
from skdp._sklearn import Interval, StrOptions, _fit_context
from skdp.linear_model._base import (
    BALL_CONSTRAINTS,
    BATCH_CONSTRAINTS,
    POSITIVE,
    is_private,
    publish,
    publish_coefs,
    weights_public,
)
from skdp.linear_model._fit import BaseLinear, budget_by, fit_to, publish_ball, read_rows
from skdp.linear_model.dpsgd import _tuned as tuned
from skdp.linear_model.dpsgd._method import DPSGD, sizes_of_steps

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
    """What the DP-SGD estimators share."""

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
        method, family = replace(self._method(), sample_epsilon=sample_epsilon), self._family()
        rows, units = read_rows(self, method, family, X, y, public_weight)
        method = method.bounded_by(rows.records())
        return fit_to(self, method, rows, units, weights_public(public_weight))

    def _method(self):
        return DPSGD(
            alpha=self.alpha,
            fit_intercept=self.fit_intercept,
            data_norm=self.data_norm,
            ball_budget=self.ball_budget,
            max_iter=self.max_iter,
            clipping_norm=self.clipping_norm,
            is_private=is_private(self),
            n_jobs=self.n_jobs,
            mechanism=self.mechanism,
            penalty=self.penalty,
            l1_ratio=self.l1_ratio,
            batch_size=self.batch_size,
            average=self.average,
            learning_rate=self.learning_rate,
            eta0=self.eta0,
            power_t=self.power_t,
        )


def take_in(model, method, rows, units, *, fixed_units, also_public):
    """Make the step of a call of `partial_fit`, and publish what it leads to.

    `units` are how targets were read: `TargetUnits`, or the classes. The numbers `fixed_units`, as
    the settings of the method, must stay the same from call to call.
    """
    (n_rows, n_features, n_outputs), records = rows.sizes, rows.records()
    family, shape = rows.treatment.family, (n_outputs, method.n_columns(n_features))
    norm = float(method.data_norm)
    settings = (*shape, method.fit_intercept, norm, model.adjacency, *fixed_units)
    zero = np.zeros(shape)
    before = model._stream or _Stream(settings, zero, zero)
    if before.settings != settings:
        raise ValueError(
            "fit_intercept, data_norm, target_bounds, adjacency and the numbers of columns and "
            "targets must stay the same in all calls of partial_fit; fit starts afresh."
        )
    budget, name = budget_by(model, method, family, n_rows), before.name
    n_calls = before.n_calls + 1
    if budget.account is not None:
        name = token_hex(16)
        budget = replace(budget, account=budget.account._replace(states=(before.name, name)))
    bias, method = method.row_bounds.bias_in(None), method.bounded_by(records)
    plan = method.plan_call(
        rows.sizes, family, budget, scale=rows.scale, n_calls=n_calls, before=before.report
    )
    run = plan.start(model.random_state)
    coefs = method.descend(plan, family, records, run, average=False, start=before.weights)
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
        model.privacy_report_ = report
    else:
        # It covers the calls before, too.
        model._restate(report)
    model._stream = after
    publish(model, sizes_of_steps(plan, n_calls))
    publish_ball(model, None)
    publish_coefs(model, family, mean if model.average else coefs, bias, units)


def declared_classes(model, classes):
    """Return the classes of a stream, and whether a fit before it read them from y."""
    is_first = model._stream is None
    known = model.classes if is_first else model.classes_
    both = known is not None and classes is not None
    if both and set(np.ravel(classes).tolist()) != set(np.ravel(known).tolist()):
        raise ValueError("classes must be the same in every call of partial_fit.")
    declared = known if classes is None else classes
    if declared is None and not hasattr(model, "classes_"):
        raise ValueError("classes must be given to the first call of partial_fit.")
    report = report_of(model)
    was_read = report is not None and model._classes_read
    if declared is None:
        return model.classes_, was_read
    return declared, was_read and not is_first


def takes_streams(estimator):
    """Return whether there is `partial_fit`."""
    if estimator.mechanism != "laplace":
        raise AttributeError("partial_fit is available for mechanism='laplace' only.")
    return True
