"""Collections of Dask as rows in parts."""

from typing import NamedTuple
from uuid import uuid4

import dask
import dask.array
import numpy as np
from dask.base import is_dask_collection
from distributed import futures_of

from skdp.dask._clients import call_client, call_locally

_NO_COLLECTION = "{} must be a Dask array or data frame, whose partitions are rows."
_UNKNOWN = (
    "the number of rows in a partition of {0} is not known. It is public: have it computed by "
    "compute_chunk_sizes=True, {0}.compute_chunk_sizes() or {0}.to_dask_array(lengths=True)."
)
_OTHER_PARTS = (
    "X and y have other numbers of rows in their partitions: take y.rechunk({0: X.chunks[0]})."
)


class Table(NamedTuple):
    """Delayed rows and targets in parts, none of which is empty, and their public sizes."""

    rows: list
    targets: list
    sizes: list
    n_features: int
    # Of columns, where X is a data frame.
    names: list | None
    # None where y has one axis.
    n_targets: int | None
    # Futures of what workers hold of X; empty where it is computed when it is needed.
    held: list

    @property
    def n_rows(self):
        """Number of rows in all parts."""
        return sum(self.sizes)

    @property
    def feature_names(self):
        """Names of the columns as a tuple, or None where they aren't all strings."""
        if self.names is None or not all(isinstance(name, str) for name in self.names):
            return None
        return tuple(self.names)


def read_table(X, y, *, compute_chunk_sizes=False, client=None):
    """Return the parts of two collections as a `Table`.

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
    rows, n_rows, n_features = _partitions(X, "X", compute_chunk_sizes, client)
    targets, n_targets, width = _partitions(y, "y", compute_chunk_sizes, client)
    check_rows(X)
    if n_rows != n_targets:
        raise ValueError(_OTHER_PARTS)
    if not sum(n_rows):
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    held = futures_of(X)
    parts = [part for part in zip(rows, targets, n_rows, strict=True) if part[2]]
    names = list(X.columns) if hasattr(X, "columns") else None
    held = held if len(held) == len(rows) else []
    return Table(*map(list, zip(*parts, strict=True)), n_features, names, width, held)


def _partitions(collection, name, compute_chunk_sizes, client):
    """Return delayed partitions, their numbers of rows, and that of columns or None."""
    if not _is_table(collection):
        raise TypeError(_NO_COLLECTION.format(name))
    if collection.ndim not in (1, 2):
        raise ValueError(f"{name} must have one or two axes.")
    if isinstance(collection, dask.array.Array):
        if collection.ndim == 2 and len(collection.chunks[1]) > 1:
            collection = collection.rechunk({1: -1})
        parts = collection.to_delayed(optimize_graph=False).ravel().tolist()
        sizes = collection.chunks[0]
    else:
        parts = parts_of_frame(collection)
        sizes = (np.nan,) * len(parts)
    # A series has columns, too.
    width = None if collection.ndim == 1 else collection.shape[1]
    if np.isnan(sizes).any():
        if not compute_chunk_sizes:
            raise ValueError(_UNKNOWN.format(name))
        sizes = _counted(parts, client)
    return parts, [int(size) for size in sizes], width


def parts_of_frame(frame):
    """Return the partitions of a data frame or series as a list of Delayed.

    They read the columns that are asked for, not all of a file's. Dask's own optimisation would
    also merge partitions that got narrow, of X others than of y.
    """
    simple = type(frame)(frame.expr.simplify())
    kept = simple if simple.npartitions == frame.npartitions else frame
    return kept.to_delayed(optimize_graph=False)


def _counted(parts, client):
    count = dask.delayed(_n_rows)
    counts = [count(part, dask_key_name=f"skdp-count-{uuid4().hex}") for part in parts]
    if client is None:
        return call_locally(dask.compute, *counts, scheduler="synchronous")
    return call_client(client.gather, call_client(client.compute, counts, optimize_graph=False))


def _n_rows(part):
    return part.shape[0]


def check_rows(X):
    """Raise a TypeError if X is no Dask array or data frame, a ValueError if not of two axes."""
    if not _is_table(X):
        raise TypeError(_NO_COLLECTION.format("X"))
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead.")


def _is_table(collection):
    # What is delayed has any attribute.
    return is_dask_collection(collection) and isinstance(getattr(collection, "ndim", None), int)
