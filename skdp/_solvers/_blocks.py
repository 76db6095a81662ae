"""Blocks of rows, dense or sparse, as sums over all rows read them."""

import numpy as np
from scipy.sparse import issparse

# Rows of a sparse block at least: fewer cost more to slice than to add up.
LEAST_SPARSE_ROWS = 512


def blocks_of(X, size):
    """Return what reads blocks of rows, of at most so many if they are dense."""
    return (SparseBlocks if issparse(X) else DenseBlocks)(X, size)


class DenseBlocks:
    """Blocks of an ndarray.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    size : int
        Most rows of a block.
    """

    def __init__(self, X, size):
        self._X, self.size = X, size

    def new_buffer(self):
        """Return what `read` may write to."""
        return np.empty((self.size, self._X.shape[1]))

    def read(self, block, buffer):
        """Return the rows of a slice as float64."""
        x = self._X[block]
        # NumPy may multiply rows that don't lie side by side in another order than their copies,
        # and whether there are copies may hang on a record elsewhere.
        if x.dtype != np.float64 or not x.flags.c_contiguous:
            buffer[: len(x)] = x
            x = buffer[: len(x)]
        return x

    def scaled(self, x, factors):
        """Return rows times a factor each."""
        return x * factors[:, np.newaxis]

    def add_products(self, x, weighted, total):
        """Add the sum of the rows' outer products with the same rows, weighted."""
        total += x.T @ weighted


class SparseBlocks:
    """Blocks of a csr_array with one entry for each place.

    Terms that are 0 are left out of sums, which changes none; the others are added row by row.

    Parameters
    ----------
    X : csr_array of shape (n, d)
    size : int
        Most rows of a dense block.
    """

    def __init__(self, X, size):
        self._X, self.size = X, max(size, LEAST_SPARSE_ROWS)

    def new_buffer(self):
        """Return nothing: blocks are copies."""
        return None

    def read(self, block, buffer):
        """Return the rows of a slice as float64."""
        return self._X[block].astype(np.float64, copy=False)

    def scaled(self, x, factors):
        """Return rows times a factor each."""
        data = x.data * np.repeat(factors, np.diff(x.indptr))
        return type(x)((data, x.indices, x.indptr), shape=x.shape)

    def add_products(self, x, weighted, total):
        """Add the sum of the rows' outer products with the same rows, weighted."""
        products = (x.T @ weighted).tocoo()
        total[products.row, products.col] += products.data
