"""Fits of private transformers to Dask collections."""

from dataclasses import dataclass
from typing import ClassVar

from skdp._estimator import is_private
from skdp._rows.bounds import clip_rows
from skdp._rows.frames import read_frame
from skdp.dask._clients import resolve_client
from skdp.dask._parts import RowReader
from skdp.dask._passes import NOT_COVERED, PARTITIONS, passes
from skdp.dask._table import NO_TARGETS, read_table, set_columns, typed_row, without_secrets
from skdp.dask._tables import TableReader
from skdp.preprocessing import DPTableVectorizer
from skdp.preprocessing._base import NumberTransformer
from skdp.preprocessing.table._given import specs_of

_NO_SUMS = (
    "transformer must be a DPStandardScaler, DPQuantileClipper, DPNormClipper, or a "
    "DPTableVectorizer, which fills gaps and encodes words, too. Fit others to rows in memory, of "
    "a partition that the model doesn't get."
)
_NO_NOISE = (
    "without noise, epsilon=inf, quantiles aren't sums over partitions: fit to rows in memory."
)


@dataclass(frozen=True)
class _Reader(RowReader):
    """What workers get to know of a transformer; see `skdp.dask._parts.RowReader`."""

    transformer: NumberTransformer

    checks_of_targets: ClassVar = {"accept_sparse": False}
    n_jobs: ClassVar = None

    @property
    def name(self):
        return type(self.transformer).__name__

    def certified_rows(self, X):
        # Counts are bounded where they are made: this tells what isn't finite, and null records.
        return clip_rows(X, data_norm=1.0, fit_intercept=True, clip=False)

    targets = TableReader.targets

    def counted(self, X):
        return self.transformer._counted(X)


def fit(transformer, X, *, client=None, compute_chunk_sizes=False):
    """Fit a private transformer to the partitions of a collection.

    What it learns is what it learns of the same rows in memory, to the last bit.

    Parameters
    ----------
    transformer : DPStandardScaler, DPQuantileClipper, DPNormClipper or DPTableVectorizer
        It is fitted in place. Workers get a copy without its seed and ledger.
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        Rows, in partitions.
    client : distributed.Client, default=None
        Whose workers compute the sums. None takes the current client, and without any reads one
        partition after another in this process.
    compute_chunk_sizes : bool, default=False
        Whether to count the rows of partitions whose number isn't known, such as a data frame's.

    Returns
    -------
    transformer : transformer
        The one that was given.

    Raises
    ------
    BudgetExceededError
        If there is a ledger, and too little is left in it.
    RuntimeError
        If a task fails on the workers; what it says isn't repeated.
    TypeError
        If the transformer is another, or X is no Dask collection.
    ValueError
        If a parameter or the input is invalid; no message quotes an entry of the data.

    Examples
    --------
    >>> import dask.array as da
    >>> from skdp.dask import fit, transform
    >>> from skdp.preprocessing import DPStandardScaler
    >>> X = da.random.default_rng(0).normal(5.0, 2.0, (10_000, 3), chunks=(2_500, 3))
    >>> scaler = fit(DPStandardScaler(feature_bounds=(0, 20)), X)
    >>> transform(scaler, X).shape, scaler.privacy_report_
    ((10000, 3), (1, 1e-05)-DP)
    """
    fit_parts = next((way for kind, way in _WAYS.items() if isinstance(transformer, kind)), None)
    if fit_parts is None:
        raise TypeError(_NO_SUMS)
    transformer._validate_params()
    client = resolve_client(client)
    table = read_table(X, NO_TARGETS, compute_chunk_sizes=compute_chunk_sizes, client=client)
    return fit_parts(transformer, X, table, client)


def _fit_numbers(transformer, X, table, client):
    if not is_private(transformer):
        raise ValueError(_NO_NOISE)
    set_columns(transformer, table)
    with passes(table, _Reader(without_secrets(transformer)), client=client) as columns:

        def start():
            plan = transformer._plan(table.n_rows, table.n_features)
            return plan, plan.start(transformer.random_state), columns

        return transformer._learn(
            start, table.n_features, also_public=(PARTITIONS,), also_not_covered=(NOT_COVERED,)
        )


def _fit_table(transformer, X, table, client):
    frame = read_frame(transformer, typed_row(X), reset=True)
    specs = specs_of(transformer, frame.names, frame.kinds)
    reads = without_secrets(transformer)
    reads._kinds = frame.kinds
    with passes(table, TableReader(reads), client=client) as rows:
        return transformer._learn(
            frame,
            specs,
            rows,
            rows.n_records,
            rows.are_grouped,
            also_public=(PARTITIONS,),
            also_not_covered=(NOT_COVERED,),
        )


_WAYS = {NumberTransformer: _fit_numbers, DPTableVectorizer: _fit_table}
