"""From raw rows and targets to rows with certified norms and targets in a public range.

Nothing is changed in place and no copy of the data is made: a row's clipping factor is kept beside
it and applied to the rows of a batch as they are gathered.
"""

from contextlib import contextmanager
from contextvars import ContextVar
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from skdp._checks import check_finite_input
from skdp._rows import fused, sparse
from skdp._rows.coded_rows import CodedRows
from skdp._rows.threads import for_each_block

_UNIT_ROUNDOFF = 2.0**-53
_NORM_BLOCK, _PIECE = 1024, 4096
_SMALLEST_REACH, _LARGEST_LENGTH = 1e-30, 1e100
# Squares of smaller numbers and factors below this lose digits to underflow.
SMALLEST_NORM = 1e-150
# The intercept's column over the bound of a row: longer costs noise, shorter makes it slow.
_INTERCEPT = 1.0 / 3.0
_null_rows = ContextVar("null_rows", default=None)


@contextmanager
def null_records(indices):
    """Make null records of the rows with these indices, for tests and audits only.

    In the block, `clip_rows` gives them the norm 0, so that no release gets anything of them, the
    intercept included, and `present_records` leaves them out. It holds for the thread that enters
    it, and for every call of these; an inner block replaces an outer one. What the block is given
    tells afterwards, as `consulted`, whether there was such a call. Indices are those of rows of
    each array given to one of them; negative ones count from the end.
    """
    request = SimpleNamespace(indices=list(indices), consulted=False)
    token = _null_rows.set(request)
    try:
        yield request
    finally:
        _null_rows.reset(token)


@contextmanager
def void_records(is_void):
    """Make null records of rows, by an array of booleans or None, besides those that are such.

    In the block they add nothing to any release: that is all that a row is which says nothing.
    """
    if is_void is None or not is_void.any():
        yield
        return
    outer = _null_rows.get()
    indices = np.flatnonzero(is_void)
    if outer is not None:
        # These may count from the end.
        indices = np.union1d(indices, np.arange(len(is_void))[outer.indices])
    with null_records(indices) as request:
        yield
    if outer is not None:
        outer.consulted |= request.consulted


@contextmanager
def null_records_among(places, n_rows):
    """Have null records stay what they are where an array has only some of the rows.

    `places` has the place of each of its rows among so many.
    """
    null = _null_rows.get()
    if null is None:
        yield
        return
    null.consulted = True
    is_null = np.zeros(n_rows, dtype=bool)
    is_null[null.indices] = True
    with null_records(np.flatnonzero(is_null[places]).tolist()):
        yield


class BoundedRows(NamedTuple):
    """Rows together with what makes them bounded.

    The i-th certified row is ``(scale[i] * X[i], bias)``, whose L2 norm is ``norm[i]``; its last
    entry is there only if `bias` is nonzero. A record of norm 0 contributes the zero vector to
    every release, its intercept included: that is the null record of zero-out adjacency.

    Attributes
    ----------
    X : ndarray, csr_array or CodedRows of shape (n, d), float32 or float64
        The caller's rows, not copied if aligned; C-contiguous for solvers that gather rows. Sparse
        ones have one entry for each place, in order.
    scale : ndarray of shape (n,) or None
        Clipping factors in [0, 1], 1 for rows that aren't clipped. None where a learnt ball weighs
        rows instead, and without privacy: whatever the rows are.
    bias : float
        Constant of the intercept column, 0.0 if there is none.
    norm : ndarray of shape (n,)
        Norms of the certified rows.
    weight : ndarray of shape (n,) or None
        What rows of a learnt ball count: they are whole, and their norms times this are certified.
    shift : ndarray of shape (d,) or None
        What is still to be taken off each row, where rows are sparse.
    """

    X: np.ndarray
    scale: np.ndarray | None
    bias: float
    norm: np.ndarray
    weight: np.ndarray | None = None
    shift: np.ndarray | None = None

    @property
    def n_columns(self):
        """Number of columns, the intercept's included."""
        return self.X.shape[1] + (self.bias != 0.0)

    @property
    def stretch(self):
        """By how much cancellation in sums makes rounding errors larger, relative to a row."""
        return 1.0 if self.shift is None else stretch_of(self.shift, self.bias)

    def take(self, indices, out):
        """Write the chosen rows, scaled, without the intercept column, to `out` (float64)."""
        if issparse(self.X):
            out[...] = self.X[indices].toarray()
        else:
            out[...] = self.X.take(indices, axis=0, mode="clip")
        if self.scale is not None:
            out *= self.scale.take(indices)[:, np.newaxis]
        return out

    def augmented(self, indices):
        """Return the chosen certified rows in full, a new array; null records are rows of 0."""
        out = np.empty((len(indices), self.n_columns))
        out[:, -1] = self.bias
        n_features = self.X.shape[1]
        out[:, :n_features] = self.take(indices, np.empty((len(indices), n_features)))
        out[self.norm[indices] == 0.0] = 0.0
        return out


def stretch_of(shift, length):
    """Return by how much rounding errors grow if a shift is taken off sums of rows this long."""
    return 1.0 + 2.0 * float(np.linalg.norm(shift)) / length if shift.any() else 1.0


class BoundedColumns(NamedTuple):
    """Columns, the intercept's last, with a public number for each.

    An array is float64 and Fortran-contiguous; sparse rows give SparseColumns. The unit is what no
    value exceeds in size, or what the columns were divided by.
    """

    X: np.ndarray
    unit: np.ndarray


def bound_columns(rows, *, low, high, clip=True):
    """Return clipped columns divided by public bounds of their norms; see `clip_columns`.

    The norm of a column is at most sqrt(n) times what no value exceeds.
    """
    X, reach = clip_columns(rows, low=low, high=high, clip=clip)
    norm = np.sqrt(X.shape[0]) * reach
    with np.errstate(all="ignore"):
        X /= norm
    return BoundedColumns(X, norm)


@np.errstate(all="ignore")
def clip_columns(rows, *, low, high, clip=True):
    """Copy certified rows by column and clip their values to public ranges, one a feature.

    The unit is what no value exceeds in size; null records are rows of 0. Without `clip` values
    stay as they are, for fits without privacy.
    """
    reach = column_reach(low, high, rows.bias)
    if issparse(rows.X):
        ends = (low, high) if clip else (None, None)
        columns = sparse.clipped_columns(rows.X, rows.scale, rows.bias, rows.norm == 0.0, *ends)
        if rows.shift is not None:
            shift = np.pad(rows.shift, (0, rows.n_columns - rows.shift.size))
            columns = columns.moved(shift, np.ones(shift.size))
        return BoundedColumns(columns, reach)
    X = np.empty((rows.n_columns, rows.norm.size)).T
    features = X[:, : low.size]
    for start in range(0, rows.norm.size, _NORM_BLOCK):
        block = slice(start, start + _NORM_BLOCK)
        features[block] = rows.X[block]
        if rows.scale is not None:
            features[block] *= rows.scale[block, np.newaxis]
        if clip:
            np.clip(features[block], low, high, out=features[block])
    X[:, low.size :] = rows.bias
    X[rows.norm == 0.0] = 0.0
    return BoundedColumns(X, reach)


def column_reach(low, high, bias):
    """Return what no value of a column exceeds in size, the intercept's `bias` last if not 0."""
    reach = np.maximum(np.maximum(np.abs(low), np.abs(high)), _SMALLEST_REACH)
    return np.append(reach, bias) if bias else reach


def norm_in_units(low, high, data_norm):
    """Return a bound on the norm of a row, clipped to ranges, in units of what they allow.

    A range without 0 in it moves values away from 0, so that a bound of the row as it was says
    nothing.
    """
    reach = column_reach(low, high, 0.0)
    shortens = (low <= 0.0).all() and (high >= 0.0).all()
    return float(min(np.sqrt(reach.size), data_norm / reach.min() if shortens else np.inf))


def norm_of_ranges(low, high):
    """Return a bound on the norm of a row that is clipped to ranges; a large number, if none."""
    return float(min(np.linalg.norm(column_reach(low, high, 0.0)), _LARGEST_LENGTH))


@np.errstate(all="ignore")
def divide_columns(X, unit, centre, bias):
    """Take multiples of the intercept's column, the last, from the others, and divide all.

    An array, Fortran-contiguous, is changed in place; SparseColumns aren't. `centre` is what
    becomes 0 in each feature, 0 without an intercept. Null records stay rows of 0.
    """
    if not isinstance(X, np.ndarray):
        shift = np.zeros(X.shape[1])
        shift[: centre.size] = centre / bias * bias if bias else 0.0
        return BoundedColumns(X.moved(shift, unit), unit)
    for j in np.flatnonzero(centre):
        X[:, j] -= centre[j] / bias * X[:, -1]
    X /= unit
    return BoundedColumns(X, unit)


@np.errstate(all="ignore")
def uncentred(weights, centre, bias):
    """Return the weights of columns as they were before `divide_columns`, of shape (k, d)."""
    if centre.any():
        weights[:, -1] -= weights[:, : centre.size] @ (centre / bias)
    return weights


def row_norms(X, n_jobs=None):
    """Return the L2 norm of each row in float64; infinite where squares overflow.

    Compiled norms are measured in threads.
    """
    if issparse(X):
        return sparse.row_norms(sparse.canonical(X))
    if isinstance(X, CodedRows):
        return X.lengths_from(np.zeros(X.n_columns))
    norms = np.empty(X.shape[0])
    is_large = norms.size * X.shape[1] >= fused.WORTHWHILE_ENTRIES
    if is_large and (kernels := fused.kernels_for(X)) is not None:

        def measure(block):
            kernels.set_lengths(fused.units_of(X, block), norms[block])

        for_each_block(measure, *X.shape, n_jobs)
        return norms
    for start in range(0, X.shape[0], _NORM_BLOCK):
        block = np.ascontiguousarray(X[start : start + _NORM_BLOCK], dtype=np.float64)
        with np.errstate(over="ignore", under="ignore"):
            norms[start : start + _NORM_BLOCK] = np.sqrt(products_by_row(block, block))
    return norms


def products_by_row(x, y):
    """Return products of rows, to the last bit wherever they lie: einsum splits no short pieces."""
    starts = range(0, x.shape[1], _PIECE)
    return sum(np.einsum("ij,ij->i", x[:, i : i + _PIECE], y[:, i : i + _PIECE]) for i in starts)


def _in_form(X):
    """Return rows in a form that solvers take."""
    if isinstance(X, CodedRows):
        return X
    # Where entries aren't aligned, as in some memory maps, NumPy gathers rows from a copy of all.
    return csr_array(sparse.canonical(X)) if issparse(X) else np.require(X, requirements="A")


@np.errstate(all="ignore")
def clip_rows(X, *, data_norm, fit_intercept, clip=True, bias=None, norm=None, n_jobs=None):
    """Bound every row by a public norm and append the intercept's constant.

    A row x becomes ``x * min(1, data_norm / ||x||)``; with an intercept, a column equal to a third
    of `data_norm` follows, and the norm is at most ``augmented_norm(data_norm, fit_intercept)``.
    Rows so long or short (1e150 times the bound, 1e-150) that double precision couldn't certify
    the result become zeros. An entry that isn't finite is a ValueError.

    Without `clip` the rows stay as they are, for fits without privacy. `bias` is another constant
    for the intercept's column than a third of `data_norm`, and `norm` what `row_norms` gives for X,
    where it is known; it is measured in threads by `n_jobs`.
    """
    data_norm = float(data_norm)
    X = _in_form(X)
    norm = row_norms(X, n_jobs) if norm is None else norm
    # Squares of finite entries may overflow, too.
    check_finite_input(X[~np.isfinite(norm)], "X")
    scale = None
    if clip:
        lost = (norm < SMALLEST_NORM) | (norm * SMALLEST_NORM > data_norm)
        # Rows that aren't clipped have a factor of 1, too: compiled sums without factors have
        # other last bits, and one long row would decide which of them all rows get.
        scale = data_norm / np.maximum(norm, data_norm)
        scale[lost] = 0.0
        norm = np.where(lost, 0.0, np.minimum(norm, data_norm))
    if bias is None or not fit_intercept:
        bias = intercept_constant(data_norm, fit_intercept)
    if fit_intercept:
        norm = np.hypot(norm, bias)
    if null := _null_rows.get():
        null.consulted = True
        norm[null.indices] = 0.0
    return BoundedRows(X, scale, bias, norm)


def intercept_constant(data_norm, fit_intercept):
    """Return the entry of the intercept's column, 0 if there is none."""
    return _INTERCEPT * data_norm if fit_intercept else 0.0


def augmented_norm(data_norm, fit_intercept):
    """Return the public bound of a certified row's norm: R, or sqrt(10) / 3 R with an intercept."""
    return data_norm * (np.hypot(1.0, _INTERCEPT) if fit_intercept else 1.0)


@np.errstate(all="ignore")
def clip_scores(scores, low, high):
    """Map scores from a public range to [0, 1]; what lies beyond goes to the ends, NaN to 0."""
    scores = np.asarray(scores, dtype=np.float64)
    positions = (np.clip(scores, low, high) - low) / (high - low)
    return np.where(np.isnan(positions), 0.0, positions)


def present_records(records):
    """Return rows of an array without those of null records."""
    if null := _null_rows.get():
        null.consulted = True
        return np.delete(records, null.indices, axis=0)
    return records


def counted_rows(X, codes, stream, rows_per_group=1):
    """Return an index of the rows of X that a release counts: those of each record but null ones.

    Of a group as many rows as `rows_per_group` are drawn, or all that it has, by coins that know
    nothing of the rows, so that a group moves at most what so many rows do. They are of a stream of
    their own: no noise follows from how many there are.
    """
    n_rows = len(X)
    present = present_records(np.arange(n_rows))
    if codes is None:
        return present if present.size < n_rows else slice(None)
    (coins,) = stream.spawn(1)
    shuffled = present[np.lexsort((coins.uniform(n_rows)[present], codes[present]))]
    first = np.searchsorted(codes[shuffled], codes[shuffled], side="left")
    return shuffled[np.arange(shuffled.size) - first < rows_per_group]


def summation_slack(n_rows, n_columns, n_outputs, block_size):
    """Return a relative bound on what rounding adds to the sensitivity of a batch sum.

    A sum of m terms, added within blocks and then over blocks, is off by at most
    ``u (block_size + n_rows / block_size)`` times the sum of the terms' sizes (Higham 2002,
    section 4.2), which is at most ``n_rows`` times the bound of one; two neighbouring sums are
    compared, each with its own exact value: rows that are sparse may add up other terms in
    another order, or fewer. The norm and the clipping factor of one record add a few units per
    entry.
    """
    per_sum = block_size + n_rows / block_size + 2.0
    per_record = n_columns + n_outputs + 8.0
    return 2.0 * _UNIT_ROUNDOFF * (min(per_sum, n_rows + 2.0) * n_rows + per_record)
