"""Some rows at a time: what they predict, and bounded sums over them."""

import numpy as np


def squeezed(values):
    """Return an array of shape (n, 1) as one of shape (n,), which NumPy is faster on."""
    return values[:, 0] if values.shape[1] == 1 else values


class GatheredRows:
    """Certified rows, gathered into buffers that are used again and again.

    A row's clipping factor multiplies what is computed from the row, not its d entries. Weights w
    have shape (d,) or (k, d), and what belongs to m rows (m,) or (m, k): one output or k.

    Parameters
    ----------
    rows : BoundedRows
    size : int
        How many rows there may be at a time.
    """

    def __init__(self, rows, size):
        self._X, self._bias = rows.X, rows.bias
        self._all_scales, self._all_norms = rows.scale, rows.norm
        self._n_features, self._n_columns = rows.X.shape[1], rows.n_columns
        self._float64 = np.empty((size, self._n_features))
        self._gathered = self._float64
        if rows.X.dtype != np.float64:
            self._gathered = np.empty(self._float64.shape, rows.X.dtype)
        self._ones = np.ones(size)
        self._x = self._scale = None

    def load(self, indices):
        """Gather the rows with these indices and return their norms."""
        size = indices.size
        self._x = self._float64[:size]
        self._X.take(indices, axis=0, out=self._gathered[:size], mode="clip")
        if self._gathered is not self._float64:
            self._x[...] = self._gathered[:size]
        if self._all_scales is not None:
            self._scale = self._all_scales.take(indices)
        return self._all_norms.take(indices)

    def predict(self, w):
        """Return the rows times `w`."""
        by_column = w.T
        predictions = self._x.dot(by_column[: self._n_features])
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
        total[..., : self._n_features] = factors.dot(self._x)
        return total
