"""Averaging of iterates: post-processing, so it costs no privacy."""

import math

import numpy as np
from scipy.sparse import csr_array, issparse

# Rows up to which NumPy gathers sparse ones faster than SciPy.
_FEW_ROWS = 200


def squeezed(values):
    """Return an array of shape (n, 1) as one of shape (n,), which NumPy is faster on."""
    return values[:, 0] if values.shape[1] == 1 else values


def gathered_rows(rows, size):
    """Return certified rows, dense or sparse, ready to be gathered so many at a time."""
    return (SparseGatheredRows if issparse(rows.X) else GatheredRows)(rows, size)


class GatheredRows:
    """Certified rows, gathered into buffers that are used again and again.

    A row's clipping factor multiplies what is computed from the row, not its d entries, and what is
    to be taken off sparse rows is taken off that. Weights w have shape (d,) or (k, d), and what
    belongs to m rows (m,) or (m, k): one output or k.
    """

    def __init__(self, rows, size):
        self._X, self._bias = rows.X, rows.bias
        self._all_scales, self._all_norms, self._shift = rows.scale, rows.norm, rows.shift
        self._n_features, self._n_columns = rows.X.shape[1], rows.n_columns
        self._ones = np.ones(size)
        self._x = self._scale = None
        self._make_buffers(size)

    def _make_buffers(self, size):
        self._float64 = self._gathered = np.empty((size, self._n_features))
        if self._X.dtype != np.float64:
            self._gathered = np.empty(self._float64.shape, self._X.dtype)

    def load(self, indices):
        """Gather the rows with these indices and return their norms."""
        self._x = self._gather(indices)
        if self._all_scales is not None:
            self._scale = self._all_scales.take(indices)
        return self._all_norms.take(indices)

    def _gather(self, indices):
        """Return rows as float64, without factors and the intercept's column."""
        size = indices.size
        self._X.take(indices, axis=0, out=self._gathered[:size], mode="clip")
        if self._gathered is not self._float64:
            self._float64[:size] = self._gathered[:size]
        return self._float64[:size]

    def predict(self, w):
        """Return the rows times `w`."""
        by_column = w.T
        predictions = self._x.dot(by_column[: self._n_features])
        if self._shift is not None:
            predictions -= self._shift @ by_column[: self._n_features]
        if self._scale is not None:
            predictions *= self._scale if w.ndim == 1 else self._scale[:, np.newaxis]
        if self._bias:
            predictions += self._bias * by_column[self._n_features]
        return predictions

    def sum(self, contributions):
        """Return the sum of the rows, each times what it contributes, in the shape of w."""
        factors = contributions.T
        total = np.empty((*factors.shape[:-1], self._n_columns))
        if self._bias:
            ones = self._ones[: contributions.shape[0]]
            total[..., self._n_features] = self._bias * factors.dot(ones)
        if self._scale is not None:
            factors = factors * self._scale
        total[..., : self._n_features] = self._times_rows(factors)
        if self._shift is not None:
            total[..., : self._n_features] -= np.multiply.outer(factors.sum(axis=-1), self._shift)
        return total

    def _times_rows(self, factors):
        return factors.dot(self._x)


class SparseGatheredRows(GatheredRows):
    """Certified rows that are sparse.

    What a batch costs depends on how many entries its rows have; what is computed from it doesn't.
    """

    def _make_buffers(self, size):
        """Make none: rows of a batch have no common size."""

    def _gather(self, indices):
        x = self._few(indices) if indices.size <= _FEW_ROWS else self._X[indices]
        return x.astype(np.float64, copy=False)

    def _few(self, indices):
        X = self._X
        starts = X.indptr.take(indices)
        lengths = X.indptr.take(indices + 1) - starts
        pointers = np.zeros(indices.size + 1, X.indptr.dtype)
        lengths.cumsum(out=pointers[1:])
        entries = np.arange(pointers[-1]) + np.repeat(starts - pointers[:-1], lengths)
        parts = X.data.take(entries), X.indices.take(entries), pointers
        return csr_array(parts, shape=(indices.size, self._n_features))

    def _times_rows(self, factors):
        return (self._x.T @ factors.T).T


class TailAverage:
    """The mean of the last of `n_steps` iterates, less a share that is skipped, or the last one."""

    def __init__(self, shape, n_steps, average, skipped=0.5):
        self._skipped = math.floor(skipped * n_steps) if average else n_steps - 1
        self._n_steps = n_steps
        self._seen = 0
        self._total = np.zeros(shape)

    def add(self, iterate):
        """Take in the next iterate."""
        if self._seen >= self._skipped:
            self._total += iterate
        self._seen += 1

    def value(self):
        """Return the mean of those that count."""
        return self._total / (self._n_steps - self._skipped)


class CoordinateMean:
    """The mean of iterates that change in one coordinate at a time, at the cost of a coordinate."""

    def __init__(self, n_outputs, n_columns):
        self.total = [[0.0] * n_columns for _ in range(n_outputs)]
        self._counted = [0] * n_columns

    def uncounted(self, j, n_iterates):
        """Return for how many of the first `n_iterates` coordinate `j` has yet to be counted.

        The caller adds so many times its value to ``total[output][j]``, before it changes.
        """
        times = n_iterates - self._counted[j]
        self._counted[j] = n_iterates
        return times

    def value(self, w, n_iterates):
        """Return the mean of all `n_iterates`, the last of which is `w`."""
        uncounted = n_iterates - np.array(self._counted)
        return (np.array(self.total) + np.array(w) * uncounted) / n_iterates
