"""Sparse rows and columns, read as the dense ones that they stand for."""

import numpy as np
from scipy.sparse import csc_array

_BLOCK = 4096


def canonical(X):
    """Return sparse rows with one entry for each place, in order of the columns.

    Nothing that the object says of itself is believed, and it stays as it is: what isn't in order
    is put in order in a copy.
    """
    kind = type(X)
    try:
        checked = kind((X.data, X.indices, X.indptr), shape=X.shape)
        checked.check_format(full_check=True)
    except ValueError:
        raise ValueError("Sparse X has indices that don't fit its shape.") from None
    # A new object has no flags that could be out of date.
    if not checked.has_canonical_format:
        checked = checked.copy()
        with np.errstate(all="ignore"):
            checked.sum_duplicates()
        if not np.isfinite(checked.data).all():
            raise ValueError("Input X contains infinity or a value too large for its dtype.")
    return checked


def row_norms(X):
    """Return the L2 norm of each canonical row in float64; infinite where squares overflow."""
    norms = np.empty(X.shape[0])
    for start in range(0, norms.size, _BLOCK):
        pointers = X.indptr[start : start + _BLOCK + 1]
        squares = X.data[pointers[0] : pointers[-1]].astype(np.float64)
        row = np.repeat(np.arange(pointers.size - 1), np.diff(pointers))
        with np.errstate(over="ignore", under="ignore"):
            squares *= squares
            sums = np.bincount(row, weights=squares, minlength=pointers.size - 1)
            norms[start : start + _BLOCK] = np.sqrt(sums)
    return norms


def scaled_rows(X, factors):
    """Return rows times a factor each, with the pattern and type of entries that they have."""
    factors = np.repeat(factors, np.diff(X.indptr))
    # In float32 a small factor may have no digits left.
    with np.errstate(under="ignore"):
        data = (X.data * factors).astype(X.dtype, copy=False)
    return type(X)((data, X.indices.copy(), X.indptr.copy()), shape=X.shape)


class SparseColumns:
    """Columns of values, and of a number each where rows have no entry.

    Stands for an ndarray of shape (n, d) where columns are read one at a time: `T` is a sequence
    of them, and ``X @ w`` predicts. A column is written to one buffer, that of the last one.
    `elsewhere` is what columns hold where there is no entry; null rows have none and are rows of 0.
    """

    def __init__(self, entries, elsewhere, is_null):
        self.shape = entries.shape
        self._entries, self._elsewhere, self._is_null = entries, elsewhere, is_null
        self._any_null = bool(is_null.any())

    @property
    def T(self):
        """The columns."""
        return _Sequence(self)

    def __matmul__(self, w):
        apart = self._of_entries(self._entries.data - self._for_entries(self._elsewhere))
        predictions = apart @ w + self._elsewhere @ w
        predictions[self._is_null] = 0.0
        return predictions

    def sums(self, factors):
        """Return the sums of the rows, each times factors, of shape (d, k) for factors (n, k)."""
        factors = np.where(self._is_null[:, np.newaxis], 0.0, factors)
        apart = self._of_entries(self._entries.data - self._for_entries(self._elsewhere))
        return apart.T @ factors + np.outer(self._elsewhere, factors.sum(axis=0))

    def nonzero(self, j):
        """Return rows with entries and a column's values there; None if it isn't 0 elsewhere."""
        entries = slice(*self._entries.indptr[j : j + 2])
        if self._elsewhere[j] == 0.0:
            return self._entries.indices[entries], self._entries.data[entries]
        return None

    def write(self, j, out):
        """Write a column to an array."""
        entries = slice(*self._entries.indptr[j : j + 2])
        out.fill(self._elsewhere[j])
        out[self._entries.indices[entries]] = self._entries.data[entries]
        if self._any_null:
            out[self._is_null] = 0.0

    def moved(self, shift, unit):
        """Return the columns less a number each, divided by another."""
        data = self._entries.data - self._for_entries(shift)
        data /= self._for_entries(unit)
        elsewhere = (self._elsewhere - shift) / unit
        return SparseColumns(self._of_entries(data), elsewhere, self._is_null)

    def _for_entries(self, values):
        return np.repeat(values, np.diff(self._entries.indptr))

    def _of_entries(self, data):
        parts = data, self._entries.indices, self._entries.indptr
        return csc_array(parts, shape=self.shape)


class _Sequence:
    """Columns, of which the one that was asked for last is there."""

    def __init__(self, columns):
        self._columns, self._last = columns, None
        self._buffer = np.empty(columns.shape[0])

    def __len__(self):
        return self._columns.shape[1]

    def __matmul__(self, factors):
        return self._columns.sums(factors)

    def nonzero(self, j):
        """Return the rows in which a column isn't 0, None for all of them, and its values there."""
        return self._columns.nonzero(j) or (None, self[j])

    def __getitem__(self, j):
        if not 0 <= j < len(self):
            raise IndexError("There are fewer columns.")
        if j != self._last:
            self._columns.write(j, self._buffer)
            self._last = j
        return self._buffer


def nonzero_part(columns, j):
    """Return the rows in which a column isn't 0, None for all of them, and its values there.

    Columns are the transpose of an array, or of SparseColumns.
    """
    return (None, columns[j]) if isinstance(columns, np.ndarray) else columns.nonzero(j)


def clipped_columns(X, scale, bias, is_null, low, high):
    """Return the columns of rows that are scaled and then clipped to ranges, if there are any.

    `bias` is the constant of a further column, if it isn't 0.
    """
    n_rows, n_features = X.shape
    n_columns = n_features + (bias != 0.0)
    data = X.data.astype(np.float64)
    if scale is not None:
        data *= np.repeat(scale, np.diff(X.indptr))
    elsewhere = np.zeros(n_columns)
    elsewhere[n_features:] = bias
    if low is not None:
        np.clip(data, low[X.indices], high[X.indices], out=data)
        elsewhere[:n_features] = np.clip(0.0, low, high)
    data[np.repeat(is_null, np.diff(X.indptr))] = 0.0
    entries = type(X)((data, X.indices, X.indptr), shape=(n_rows, n_columns)).tocsc()
    entries.eliminate_zeros()
    return SparseColumns(entries, elsewhere, is_null)
