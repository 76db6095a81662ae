"""Rows that lie in parts: what is kept of each part, and sums over it."""

from typing import NamedTuple

import numpy as np

from skdp._bounds import BoundedRows
from skdp._solvers._row_sums import RowSums
from skdp.utils._sklearn import validate_arrays

# How many rows of a part are compared with what they were.
_COMPARED = 256
# Rounding of their norms may hang on how they lie in memory.
_ALIKE = 1e-9
_OTHER_SIZE = "a partition has another number of rows than the collection states."
CHANGED = (
    "a partition gave other rows than it did before. A fit reads all rows many times, and what "
    "bounds them holds for the rows that it was made for: persist the collection, or read it from "
    "something that doesn't change."
)
FLOATS = [np.float64, np.float32]


class Refusal(NamedTuple):
    """Why a part can't be used, in words that quote no entry."""

    message: str


class Kept(NamedTuple):
    """What is kept of the rows of a part from one pass to the next, besides the rows.

    Attributes
    ----------
    targets : ndarray of shape (m, k)
    scale, bias, norm
        See `skdp._bounds.BoundedRows`.
    lengths : ndarray of shape (m,) or None
        Of mapped rows, see `RowSums.bound_slopes`.
    """

    targets: np.ndarray
    scale: np.ndarray | None
    bias: float
    norm: np.ndarray
    lengths: np.ndarray | None = None


def read_part(reader, size, X, y):
    """Return what is kept of a part, or a `Refusal`.

    An error would be logged by the worker together with what it was computing.

    Parameters
    ----------
    reader : estimator
        One of those in `skdp.dask`, without a ledger, a seed or a client.
    size : int
        Number of rows that there should be.
    X, y : array-like
    """
    try:
        X, y, _ = validate_arrays(
            type(reader).__name__, X, y, dtype=FLOATS, **reader._checks_of_targets
        )
        if len(X) != size:
            return Refusal(_OTHER_SIZE)
        targets = reader._as_targets(y)
    except (TypeError, ValueError) as error:
        return Refusal(str(error))
    rows = reader._certified_rows(X)
    return Kept(targets, rows.scale, rows.bias, rows.norm)


def measure_part(reader, n_threads, X, kept, A, bound):
    """Return what is kept of a part, lengths of mapped rows included."""
    with _sums(reader, n_threads, X, kept).at_work() as sums:
        return kept._replace(lengths=sums.bound_slopes(A, bound))


def part_moment(reader, n_threads, X, kept, mechanism):
    """Return the second moment of a part, see `RowSums.moment`."""
    with _sums(reader, n_threads, X, kept).at_work() as sums:
        return sums.moment(mechanism)


def part_slopes(reader, n_threads, X, kept, A, bound, w, mechanism):
    """Return the sum of slopes of a part, see `RowSums.slopes`."""
    with _sums(reader, n_threads, X, kept).at_work() as sums:
        sums.bound_slopes(A, bound, kept.lengths)
        return sums.slopes(w, mechanism)


def _sums(reader, n_threads, X, kept):
    X = _as_floats(X)
    if len(X) != len(kept.norm):
        raise ValueError(CHANGED)
    some = slice(None, None, -(-len(X) // _COMPARED))
    seen, ones = reader._certified_rows(X[some]), np.ones(len(X[some]))
    scale = ones if kept.scale is None else kept.scale[some]
    pairs = [(seen.norm, kept.norm[some]), (ones if seen.scale is None else seen.scale, scale)]
    if not all(np.allclose(*pair, rtol=_ALIKE, atol=0.0) for pair in pairs):
        raise ValueError(CHANGED)
    rows = BoundedRows(X, kept.scale, kept.bias, kept.norm)
    return RowSums(rows, kept.targets, reader._loss(kept.targets.shape[1]), n_threads)


def _as_floats(X):
    X = np.asarray(X)
    dtype = X.dtype if X.dtype in FLOATS else np.float64
    return np.require(X, dtype=dtype, requirements="CA")
