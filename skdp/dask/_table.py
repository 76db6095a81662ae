"""Collections of Dask as rows in parts, and what a function makes of these, lazily."""

from contextlib import nullcontext
from functools import partial
from operator import itemgetter
from typing import NamedTuple
from uuid import uuid4

import dask
import dask.array
import numpy as np
import pandas as pd
from dask.base import is_dask_collection
from dask.callbacks import Callback
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from skdp._progress import progress
from skdp._rows.entry_types import is_of_numbers
from skdp._rows.private_rows import private_rows
from skdp.dask._beside import beside
from skdp.dask._clients import call_client, call_locally, gathered
from skdp.ledger._account import ALREADY_CHARGED
from skdp.preprocessing import BoundsScaler, NormClipper

_NO_COLLECTION = "{} must be a Dask array or data frame, whose partitions are rows."
_UNKNOWN = (
    "the number of rows in a partition of {0} is not known. It is public: have it computed by "
    "compute_chunk_sizes=True, of an array by {0}.compute_chunk_sizes(), or of a data frame by "
    "{0}.to_dask_array(lengths=True)."
)
_OTHER_PARTS = (
    "X and {0} have other numbers of rows in their partitions; of arrays take "
    "{0}.rechunk({{0: X.chunks[0]}})."
)
# Keys of tasks that count the rows of a part begin so.
_COUNT = "skdp-count-"
# Stands for zeros.
NO_TARGETS = object()
# They learn nothing, and are fitted to know the number of columns.
_LEARN_NOTHING = (BoundsScaler, NormClipper)
_NOT_FOR_WORKERS = {"random_state": None, "ledger": ALREADY_CHARGED}


class Table(NamedTuple):
    """Delayed rows and targets in parts, none of which is empty, and their public sizes.

    Targets are parts of `Beside` where rows have more than these.
    """

    rows: list
    targets: list
    sizes: list
    n_features: int
    # Names of the columns, where X is a data frame.
    names: list | None
    # None where y has one axis.
    n_targets: int | None

    @property
    def n_rows(self):
        """Number of rows in all parts."""
        return sum(self.sizes)

    @property
    def n_entries(self):
        """Number of entries of all rows."""
        return self.n_rows * self.n_features

    @property
    def feature_names(self):
        """Names of the columns as a tuple, or None where they aren't all strings."""
        if self.names is None or not all(isinstance(name, str) for name in self.names):
            return None
        return tuple(self.names)


def read_table(X, y, groups=None, exposure=None, *, compute_chunk_sizes=False, client=None):
    """Return the parts of collections with entries for each row, as a `Table`.

    Sizes that aren't known are computed if asked for, by the client's workers or in this process.

    Raises
    ------
    RuntimeError
        If a partition fails whose rows are counted.
    TypeError
        If they are no such collections.
    ValueError
        If sizes aren't known or don't fit.
    """
    read_beside = {"groups": groups, "exposure": exposure}
    read_beside = {name: one for name, one in read_beside.items() if one is not None}
    named = {"X": X} | ({} if y is NO_TARGETS else {"y": y}) | read_beside
    for name, collection in named.items():
        _check_collection(collection, name)
    check_rows(X)
    for name, collection in read_beside.items():
        if collection.ndim != 1:
            raise ValueError(f"{name} must have one dimension: an entry for each row.")
    read = _parts_and_sizes(named, compute_chunk_sizes, client)
    n_rows = read["X"].sizes
    for name, one in read.items():
        if one.sizes != n_rows:
            raise ValueError(_OTHER_PARTS.format(name))
    if not sum(n_rows):
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    if y is NO_TARGETS:
        y = dask.array.zeros(sum(n_rows), chunks=(tuple(n_rows),))
        read["y"] = _partitions(y, "y", compute_chunk_sizes, client)
    targets = read["y"].parts
    others = {name: read[name].parts for name in read_beside}
    if others:
        targets = beside(targets, **others)
    parts = [part for part in zip(read["X"].parts, targets, n_rows, strict=True) if part[2]]
    names = list(X.columns) if hasattr(X, "columns") else None
    # A series has columns, too.
    n_targets = None if y.ndim == 1 else y.shape[1]
    return Table(*map(list, zip(*parts, strict=True)), X.shape[1], names, n_targets)


def set_columns(estimator, table):
    """Publish the number and names of a table's columns, or forget names of a fit before."""
    estimator.n_features_in_ = table.n_features
    vars(estimator).pop("feature_names_in_", None)
    if table.feature_names is not None:
        estimator.feature_names_in_ = np.array(table.feature_names, dtype=object)


class _Parts(NamedTuple):
    """Delayed partitions of a collection, and their numbers of rows."""

    parts: list
    sizes: list


def _check_collection(collection, name):
    if not _is_table(collection):
        raise TypeError(_NO_COLLECTION.format(name))
    if collection.ndim not in (1, 2):
        raise ValueError(f"{name} must have one or two axes.")


def _parts_and_sizes(named, compute_chunk_sizes, client):
    """Return the `_Parts` of collections, by their names.

    Frames are read together, so that each part of a file that they share is read once for all.
    """
    frames = list(named.values())
    are_frames = not any(isinstance(one, dask.array.Array) for one in frames)
    if not are_frames or len({frame.npartitions for frame in frames}) > 1:
        return {
            name: _partitions(one, name, compute_chunk_sizes, client) for name, one in named.items()
        }
    if not compute_chunk_sizes:
        raise ValueError(_UNKNOWN.format("X"))
    numbers = _counted(parts_of_frame(_together(map(_narrow, frames))), "rows", client)
    parts = parts_of_frame(_together(frames))
    return {
        name: _Parts(_picked(parts, place), [int(number[place]) for number in numbers])
        for place, name in enumerate(named)
    }


def _narrow(frame):
    """Return a frame of as many rows of which little has to be read."""
    is_wide = frame.ndim == 2 and frame.shape[1] > 1
    return frame[[frame.columns[0]]] if is_wide else frame


def _together(frames):
    """Return a collection whose partitions are tuples of those of frames, whatever it says.

    Dask reads all columns at once that any of them needs of a file.
    """
    first, *others = frames
    return first.map_partitions(
        _tuple_of, *others, meta=first._meta, enforce_metadata=False, align_dataframes=False
    )


def _tuple_of(*parts):
    return parts


def _picked(tuples, place):
    """Return what has a place in delayed tuples of one graph, delayed in one graph."""
    name = f"skdp-part-{uuid4().hex}"
    layer = {(name, i): (itemgetter(place), part.key) for i, part in enumerate(tuples)}
    graph = HighLevelGraph.from_collections(name, layer, dependencies=tuples[:1])
    return [Delayed(key, graph, layer=name) for key in layer]


def _partitions(collection, name, compute_chunk_sizes, client):
    """Return the `_Parts` of a collection."""
    is_array = isinstance(collection, dask.array.Array)
    if is_array:
        if collection.ndim == 2 and len(collection.chunks[1]) > 1:
            collection = collection.rechunk({1: -1})
        parts = collection.to_delayed(optimize_graph=False).ravel().tolist()
        sizes = collection.chunks[0]
    else:
        parts = parts_of_frame(collection)
        sizes = tuple(np.nan for _ in parts)
    if np.isnan(sizes).any():
        if not compute_chunk_sizes:
            raise ValueError(_UNKNOWN.format(name))
        counted = parts if is_array else parts_of_frame(_narrow(collection))
        sizes = _counted(counted, name, client)
    return _Parts(parts, [int(size) for size in sizes])


def parts_of_frame(frame):
    """Return the partitions of a data frame or series as a list of Delayed.

    They read the columns that are asked for, not all of a file's. Dask's own optimisation would
    also merge partitions that got narrow, of X others than of y.
    """
    simple = type(frame)(frame.expr.simplify())
    kept = simple if simple.npartitions == frame.npartitions else frame
    return kept.to_delayed(optimize_graph=False)


def _counted(parts, what, client):
    count = dask.delayed(_n_rows)
    counts = [count(part, dask_key_name=f"{_COUNT}{uuid4().hex}") for part in parts]
    if client is None:
        with _counts_shown(f"counting {what}", len(parts)):
            return call_locally(dask.compute, *counts, scheduler="synchronous")
    return gathered(
        client, call_client(client.compute, counts, optimize_graph=False), f"counting {what}"
    )


def _counts_shown(what, n_parts):
    """Return a context in which it is shown how many parts are counted."""
    shown = progress()
    if not shown.is_shown:
        return nullcontext()
    one_done = shown.counted(what, n_parts)

    def task_done(key, *_):
        if str(key).startswith(_COUNT):
            one_done()

    return Callback(posttask=task_done)


def _n_rows(part):
    """Return the number of rows of a part, or those of each in a tuple."""
    return tuple(map(_n_rows, part)) if isinstance(part, tuple) else part.shape[0]


def check_rows(X):
    """Raise a TypeError if X is no Dask array or data frame, a ValueError if not of two axes."""
    if not _is_table(X):
        raise TypeError(_NO_COLLECTION.format("X"))
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead.")


def _is_table(collection):
    # A delayed object has any attribute, so that the attribute's type is looked at, too.
    return is_dask_collection(collection) and isinstance(getattr(collection, "ndim", None), int)


def map_rows(function, X, sizes=None):
    """Return what a function of rows makes of each partition, as a lazy array.

    It is called on one row before, so that columns that don't fit are refused at once. `sizes` are
    the numbers of rows in partitions, None for those that X knows.
    """
    check_rows(X)

    def quiet(rows):
        # They may be those of a fit that follows, and of a row of nothing nothing is lost.
        with private_rows():
            return function(rows)

    made = np.asarray(quiet(_one_row(X)))

    def mapped(part):
        return quiet(part) if part.shape[0] else made[:0]

    names = getattr(X, "columns", None)
    if names is None:
        if len(X.chunks[1]) > 1:
            X = X.rechunk({1: -1})
        sizes = X.chunks[0] if sizes is None else tuple(sizes)
        map_blocks = partial(X.map_blocks, mapped, dtype=made.dtype, meta=made[:0])
        if made.ndim == 1:
            return map_blocks(drop_axis=1)
        return map_blocks(chunks=(sizes, made.shape[1:]))
    parts = [dask.delayed(mapped)(part) for part in parts_of_frame(X)]
    arrays = [
        dask.array.from_delayed(part, (size, *made.shape[1:]), dtype=made.dtype)
        for part, size in zip(parts, sizes or [np.nan] * len(parts), strict=True)
    ]
    return dask.array.concatenate(arrays, allow_unknown_chunksizes=True)


def without_secrets(value):
    """Return a copy of an estimator, and of those in it, without their seeds and ledgers."""
    if isinstance(value, BaseEstimator):
        # Its own way to be copied would warn of the seed.
        made = object.__new__(type(value))
        for name, part in vars(value).items():
            vars(made)[name] = _NOT_FOR_WORKERS.get(name, without_secrets(part))
        return made
    if type(value) in (list, tuple):
        return type(value)(map(without_secrets, value))
    return value


def typed_row(X):
    """Return a row of the types of a collection's columns; what it holds means nothing."""
    if not hasattr(X, "columns"):
        return np.zeros((1, X.shape[1]), X.dtype)
    row = X._meta_nonempty.iloc[:1].copy()
    for place, dtype in enumerate(X.dtypes):
        if dtype.kind == "O":
            # Dask makes up what no table has.
            row.isetitem(place, row.iloc[:, place].where([False], None))
    return row


def _one_row(X):
    """Return a row of nothing in particular, with the names of the columns.

    Its numbers are floats, or objects where the collection holds no numbers: what is made of these
    may be of another type.
    """
    row = np.zeros((1, X.shape[1]))
    if not hasattr(X, "columns"):
        return row if is_of_numbers(X.dtype) else row.astype(object)
    row = pd.DataFrame(row, columns=X.columns)
    for place, dtype in enumerate(X.dtypes):
        if not is_of_numbers(dtype):
            row.isetitem(place, row.iloc[:, place].astype(object))
    return row


def transform(transformer, X, *, client=None, compute_chunk_sizes=False):
    """Transform the partitions of a collection, lazily.

    Parameters
    ----------
    transformer : transformer
        One that takes rows by themselves: of :mod:`skdp.preprocessing`, or a pipeline of such. It
        is fitted before, by `fit` or on rows in memory, unless it learns nothing (``BoundsScaler``,
        ``NormClipper``). Workers get a copy without its seeds and ledgers.
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        Rows, in partitions.
    client : distributed.Client, default=None
        Whose workers count rows. None counts them here.
    compute_chunk_sizes : bool, default=False
        Whether to count the rows of partitions whose number isn't known, such as a data frame's, so
        that ``len`` of what is returned is known, too.

    Returns
    -------
    X_transformed : dask.array.Array of shape (n_samples, n_outputs)
        A lazy array, whose partitions have as many rows.

    Raises
    ------
    NotFittedError
        If the transformer learns from data and isn't fitted.
    TypeError
        If X is no Dask collection.
    ValueError
        If X has one axis, or columns that don't fit the transformer.

    Examples
    --------
    >>> import dask.array as da
    >>> from skdp.dask import transform
    >>> from skdp.preprocessing import BoundsScaler
    >>> X = da.ones((1_000, 2), chunks=(250, 2))
    >>> transform(BoundsScaler(feature_bounds=(0, 10)), X).compute().min()
    np.float64(-0.8)
    """
    check_rows(X)
    if isinstance(transformer, _LEARN_NOTHING):
        transformer = clone(transformer).fit(_one_row(X))
    check_is_fitted(transformer)
    sizes = _partitions(X, "X", True, client).sizes if compute_chunk_sizes else None
    return map_rows(without_secrets(transformer).transform, X, sizes)
