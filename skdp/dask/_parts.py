"""Rows that lie in parts: what is kept of each part, and sums over it."""

from typing import NamedTuple, Protocol

import numpy as np
from scipy.sparse import issparse

from skdp._bounds import BoundedRows
from skdp._solvers._parallel import single_threaded_blas
from skdp._solvers._row_sums import RowSums
from skdp._solvers._walr import PublicRows
from skdp._sparse import canonical
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


class Reader(Protocol):
    """What workers get to know of whoever asks: no seed, ledger or client.

    Attributes
    ----------
    name : str
        Of whom messages are to speak.
    checks_of_targets : dict
        Arguments of `sklearn.utils.check_X_y`.
    n_jobs : int or None
    """

    name: str
    checks_of_targets: dict
    n_jobs: int | None

    def certified_rows(self, X):
        """Return `BoundedRows`."""

    def targets(self, y):
        """Return targets of shape (m, k)."""

    def loss(self, n_outputs):
        """Return the loss, if there is to be one."""


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
    reader : Reader
    size : int
        Number of rows that there should be.
    X, y : array-like
    """
    try:
        checks = {"accept_sparse": "csr", **reader.checks_of_targets}
        X, y, _ = validate_arrays(reader.name, X, y, dtype=FLOATS, **checks)
        if X.shape[0] != size:
            return Refusal(_OTHER_SIZE)
        targets = reader.targets(y)
    except (TypeError, ValueError) as error:
        return Refusal(str(error))
    rows = reader.certified_rows(_as_floats(X))
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


def part_by_label(reader, n_threads, X, kept, mechanism):
    """Return the sum of the rows of each class, of two classes of the second only."""
    public = PublicRows(_rows(reader, X, kept))
    with single_threaded_blas, np.errstate(all="ignore"):
        return mechanism.rounded(public.sums((kept.targets > 0.0).astype(np.float64)))


def part_of_rows(reader, n_threads, X, kept):
    """Return the sum of the rows of a part."""
    with single_threaded_blas, np.errstate(all="ignore"):
        return PublicRows(_rows(reader, X, kept)).total


def _sums(reader, n_threads, X, kept):
    loss = reader.loss(kept.targets.shape[1])
    return RowSums(_rows(reader, X, kept), kept.targets, loss, n_threads)


def _rows(reader, X, kept):
    """Return the rows of a part with what bounds them, if they are those that it was made for."""
    X = _as_floats(X)
    if X.shape[0] != len(kept.norm):
        raise ValueError(CHANGED)
    some = slice(None, None, -(-X.shape[0] // _COMPARED))
    seen, ones = reader.certified_rows(X[some]), np.ones(len(kept.norm[some]))
    scale = ones if kept.scale is None else kept.scale[some]
    pairs = [(seen.norm, kept.norm[some]), (ones if seen.scale is None else seen.scale, scale)]
    if not all(np.allclose(*pair, rtol=_ALIKE, atol=0.0) for pair in pairs):
        raise ValueError(CHANGED)
    return BoundedRows(X, kept.scale, kept.bias, kept.norm)


def _as_floats(X):
    if issparse(X):
        return canonical(X.tocsr())
    X = np.asarray(X)
    dtype = X.dtype if X.dtype in FLOATS else np.float64
    return np.require(X, dtype=dtype, requirements="CA")
