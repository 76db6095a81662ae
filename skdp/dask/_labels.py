"""Noisy sums by label of Dask collections."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from distributed import Client

from skdp._checks import check_positive
from skdp._families.targets import encode_labels
from skdp._release.plan import resolve_delta
from skdp._rows.bounds import clip_rows, summation_slack
from skdp._sklearn import StrOptions, validate_params
from skdp.dask._clients import resolve_client
from skdp.dask._parts import RowReader
from skdp.dask._passes import passes
from skdp.dask._table import read_table
from skdp.ledger._account import resolve_account
from skdp.linear_model._base import POSITIVE
from skdp.linear_model.walr._noise import ReleasedSums
from skdp.linear_model.walr._plan import SUMS, LabelBudget, plan_walr
from skdp.linear_model.walr._queries import SumOfRows, SumsByLabel
from skdp.linear_model.walr._release import CONSTRAINTS, make_aggregate
from skdp.linear_model.walr._solver import BLOCK
from skdp.linear_model.walr._tuned import INTERCEPT_POWER

_KEPT = ("fit_intercept", "epsilon", "delta", "ledger", "random_state")


@dataclass(frozen=True)
class _Reader(RowReader):
    """What workers get to know; see `skdp.dask._parts.RowReader`."""

    classes: np.ndarray
    data_norm: float
    fit_intercept: bool
    bias: float
    # Without privacy rows aren't clipped.
    clip: bool

    name: ClassVar = "label_aggregate"
    checks_of_targets: ClassVar[dict[str, object]] = {}
    n_jobs: ClassVar = None

    def certified_rows(self, X):
        return clip_rows(
            X,
            data_norm=self.data_norm,
            fit_intercept=self.fit_intercept,
            bias=self.bias,
            clip=self.clip,
        )

    def targets(self, y, exposure=None):
        return encode_labels(y, self.classes)[1]


@validate_params(
    {
        **{name: CONSTRAINTS[name] for name in _KEPT},
        "classes": ["array-like"],
        "data_norm": [POSITIVE],
        "mechanism": [StrOptions({"analytic", "classic"})],
        "client": [Client, None],
        "compute_chunk_sizes": ["boolean"],
    },
    prefer_skip_nested_validation=True,
)
def label_aggregate(
    X,
    y,
    *,
    classes,
    data_norm,
    fit_intercept=True,
    epsilon=1.0,
    delta="auto",
    mechanism="analytic",
    client=None,
    compute_chunk_sizes=False,
    ledger=None,
    random_state=None,
):
    """Release noisy sums of the rows of Dask collections by label.

    The counterpart of :func:`skdp.linear_model.label_aggregate` for Dask, with Gaussian noise that
    is equally large in every column. Flipped labels are not available: they need a coin for each
    row, and a repeated task would throw it again. The sums are (`epsilon`, `delta`)-differentially
    private for the label of one row. The features are public, and not protected.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        Public rows, in partitions.
    y : dask.array.Array or dask.dataframe.Series of shape (n_samples,)
        Private labels, in partitions of as many rows.
    classes : array-like
        The class set.
    data_norm : float
        Bound on the L2 norm of a row.
    fit_intercept : bool, default=True
        Whether models will have intercepts.
    epsilon : float, default=1.0
        Privacy loss, above 0; ``float("inf")`` adds no noise.
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`; "auto" is 1e-5, and ``0.1 / n``
        for more than 10,000 records.
    mechanism : {"analytic", "classic"}, default="analytic"
        How Gaussian noise is calibrated.
    client : distributed.Client, default=None
        Whose workers compute the sums. None takes the current client, and without any reads one
        partition after another in this process.
    compute_chunk_sizes : bool, default=False
        Whether to count the rows of partitions whose number isn't known, such as a data frame's.
    ledger : str, path or PrivacyLedger, default=None
        Budget that the release is charged to, see :class:`skdp.ledger.PrivacyLedger`; None takes
        that of the environment variable ``SKDP_LEDGER``, if there is one.
    random_state : int, RandomState instance or None, default=None
        A seed makes the noise reproducible, and removable by anyone who learns it.

    Returns
    -------
    aggregate : LabelAggregate
        The release, which adds up with those of other holders.

    Raises
    ------
    BudgetExceededError
        If there is a ledger, and too little is left in it.
    RuntimeError
        If a task fails on the workers; what it says isn't repeated.
    TypeError
        If X or y is no Dask collection.
    ValueError
        If a parameter or the input is invalid; no message quotes an entry of the data.

    Examples
    --------
    >>> import dask.array as da
    >>> from skdp.dask import label_aggregate
    >>> X = da.random.default_rng(0).uniform(-1, 1, (10_000, 3), chunks=(2_500, 3))
    >>> label_aggregate(X, X.sum(axis=1) > 0, classes=[False, True], data_norm=2.0)
    LabelAggregate(10000 rows, 2 classes, gaussian, (1, 1e-05)-DP for the label of one row)
    """
    client = resolve_client(client)
    table = read_table(X, y, compute_chunk_sizes=compute_chunk_sizes, client=client)
    data_norm = check_positive(data_norm, "data_norm")
    # With this constant the intercept's noise and the others' cost about the same.
    bias = data_norm / table.n_features**INTERCEPT_POWER if fit_intercept else 0.0
    delta = resolve_delta(delta, table.n_rows)
    parameters = {
        "epsilon": epsilon,
        "delta": delta,
        "mechanism": mechanism,
        "data_norm": data_norm,
        "fit_intercept": fit_intercept,
    }
    account = resolve_account(ledger, "label_aggregate", parameters)
    budget = LabelBudget(epsilon=epsilon, delta=delta, mechanism=mechanism, account=account)
    # Labels of one record have as many columns as those of all.
    classes, targets = encode_labels(np.asarray(classes)[:1], classes)
    reader = _Reader(
        classes=classes,
        data_norm=data_norm,
        fit_intercept=fit_intercept,
        bias=bias,
        clip=budget.is_private,
    )
    n_columns, longest = table.n_features + fit_intercept, float(np.hypot(data_norm, bias))
    (plan,) = plan_walr(
        budget,
        compare=False,
        n_records=table.n_rows,
        n_columns=n_columns,
        n_classes=classes.size,
        rounding_slack=summation_slack(max(table.sizes), n_columns, targets.shape[1], BLOCK),
    )
    with passes(table, reader, client=client) as rows:
        part_sums = rows.ask(SumOfRows())[np.newaxis]
        run = plan.start(random_state)
        noisy = run.bound(SUMS, longest)
        released = ReleasedSums(
            sums=run.ask(SUMS, rows, SumsByLabel(noisy, longest, classes.size)),
            noise_cov=noisy.noise_std**2 * np.eye(n_columns),
            noise_multiplier=plan.noise_multiplier,
            sensitivity=noisy.sensitivity,
        )
    return make_aggregate(
        plan,
        run,
        released,
        classes=classes,
        data_norm=data_norm,
        bias=bias,
        part_sums=part_sums,
        feature_names=table.feature_names,
        classes_read=False,
        norm_read=False,
    )
