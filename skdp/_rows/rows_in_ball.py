"""Rows moved by a centre and divided by a unit for each column, and rows in a ball."""

import math
from mmap import mmap

import numpy as np
from scipy.sparse import issparse

from skdp._rows.bounds import (
    SMALLEST_NORM,
    BoundedRows,
    intercept_constant,
    products_by_row,
    row_norms,
)
from skdp._rows.coded_rows import CodedRows, is_sparse
from skdp._rows.fused import array_of, kernels_for
from skdp._rows.threads import for_each_block

# Rows longer than the radius times this are void: their weights would have few digits.
_FAR = 1e150
_UNIT_ROUNDOFF = 2.0**-53
# Rows that are multiplied at once.
_ROWS = 1024


def moved_rows(x, centre, unit):
    """Return rows in units of columns, their lengths from the centre, and what isn't taken off.

    From sparse rows the centre, in those units, is still to be taken off. Their lengths have the
    bound of their rounding errors added.
    """
    if not issparse(x):
        z = scaled_from(x, centre, 1.0 / unit)
        return z, row_norms(z), 0.0
    z, shift = _divided(x, unit), centre / unit
    return z, lengths_from(shift, z), shift


def scaled_from(x, centre, factors):
    """Return dense rows from a centre, times a factor for each column."""
    if not centre.any():
        return x * factors
    z = x - centre
    z *= factors
    return z


def _divided(x, unit):
    """Return sparse rows in units of columns."""
    return type(x)((x.data / unit[x.indices], x.indices, x.indptr), shape=x.shape)


def _in_units_of_columns(X, unit):
    """Return sparse rows as float64 in units of columns; rows of codes as they are, where it's 1.

    Their bound is known, so that a ball has no other units.
    """
    if isinstance(X, CodedRows):
        return X if (unit == 1.0).all() else _divided(X[:], unit)
    return _divided(X.astype(np.float64, copy=False), unit)


def lengths_from(shift, z):
    """Return distances of sparse rows from a point, with a bound of rounding errors added."""
    if isinstance(z, CodedRows):
        return z.lengths_from(shift)
    norms = row_norms(z)
    if not shift.any():
        return norms
    of_shift = float(np.linalg.norm(shift))
    squares = norms**2 - 2.0 * (z @ shift) + of_shift**2
    slack = 4.0 * _UNIT_ROUNDOFF * (shift.size + 8.0) * (norms + of_shift) ** 2
    return np.sqrt(np.maximum(squares, 0.0) + slack)


def weights_within(lengths, radius):
    """Return what rows are weighted by so that none is longer than the radius, and who is void."""
    factors = radius / np.maximum(lengths, radius)
    is_void = ~(lengths <= _FAR * radius)
    if math.isinf(radius):
        factors, is_void = np.ones(lengths.size), ~np.isfinite(lengths)
    return factors, is_void


def without_rows(z, is_void):
    """Return rows of which those that are void have the entries 0.

    Rows of codes are as they are: they hold nothing but numbers up to 1, which times 0 are 0.
    """
    if isinstance(z, CodedRows):
        return z
    if not issparse(z):
        z[is_void] = 0.0
        return z
    data = np.where(np.repeat(is_void, np.diff(z.indptr)), 0.0, z.data)
    return type(z)((data, z.indices, z.indptr), shape=z.shape)


def long_norms(z, lengths):
    """Return lengths of rows whose squares overflow."""
    z = z.toarray() if issparse(z) else z
    largest = np.abs(z).max(axis=1, initial=0.0)
    with np.errstate(all="ignore"):
        scaled = largest * np.linalg.norm(z / largest[:, np.newaxis], axis=1)
    return np.where(np.isfinite(lengths), lengths, scaled)


def by_row(X, weights):
    """Return products of rows with weights. Where a row lies moves no bit of it, as BLAS may do."""
    if is_sparse(X):
        return X @ weights
    products = np.empty(X.shape[0])
    for start in range(0, products.size, _ROWS):
        block = np.ascontiguousarray(X[start : start + _ROWS], dtype=np.float64)
        products[start : start + _ROWS] = products_by_row(block, weights[np.newaxis])
    return products


@np.errstate(all="ignore")
def rows_in_ball(X, ball, is_null, *, fit_intercept, clip=True, is_copied=True, n_jobs=None):
    """Return rows in the ball's units, weighted so that no weighted row is longer than its radius.

    They are a copy of X, of its type; of a memory map, and of rows whose sums are compiled where
    that needs no copy, copies of what is asked for. Sparse ones aren't moved: that is left to the
    sums. Rows too short to be measured are null records.
    """
    bias = intercept_constant(ball.radius, fit_intercept)
    by_part = _is_mapped(X) or not (is_copied or kernels_for(X) is None)
    Z, shift = (RowsInUnits(X, ball, is_null), None) if by_part else in_units(X, ball)
    norm = row_norms(Z, n_jobs) if shift is None else lengths_from(shift, Z)
    weight, is_void = np.empty(norm.shape), np.empty(norm.shape, dtype=bool)

    def certify(block):
        lengths = norm[block]
        weights, are_void = weights_within(lengths, ball.radius if clip else math.inf)
        are_void |= is_null[block]
        lengths[:] = np.hypot(lengths, bias)
        if clip:
            lengths[lengths < SMALLEST_NORM] = 0.0
        lengths[are_void] = weights[are_void] = 0.0
        weight[block], is_void[block] = weights, are_void

    for_each_block(certify, *X.shape, n_jobs)
    if is_void.any():
        Z = RowsInUnits(X, ball, is_void) if by_part else without_rows(Z, is_void)
    return BoundedRows(Z, None, bias, norm, weight, shift)


@np.errstate(all="ignore")
def in_units(X, ball, is_void=None):
    """Return a copy of rows in a ball's units, and what is still to be taken off, or None.

    Rows that are void have the entries 0.
    """
    if is_sparse(X):
        Z, shift = _in_units_of_columns(X, ball.scale), ball.center / ball.scale
        shift = shift if shift.any() else None
    else:
        Z, shift = np.subtract(X, ball.center, dtype=X.dtype, casting="same_kind", order="C"), None
        Z *= (1.0 / ball.scale).astype(X.dtype)
    return Z if is_void is None or not is_void.any() else without_rows(Z, is_void), shift


def _is_mapped(X):
    """Tell whether an array lies in a file that is mapped."""
    X = array_of(X)
    while isinstance(X, np.ndarray):
        X = X.base
    return isinstance(X, mmap)


def some_rows(X, places, n_jobs=None):
    """Return the rows at some places. Threads copy those of an array.

    Those of a file that is mapped are read when they are asked for.
    """
    if not isinstance(X, np.ndarray):
        return X.some(places, n_jobs) if hasattr(X, "some") else X[places]
    if _is_mapped(X):
        return ChosenRows(X, places)
    copied = np.empty((len(places), X.shape[1]), X.dtype)

    def copy(block):
        X.take(places[block], axis=0, out=copied[block], mode="clip")

    for_each_block(copy, *copied.shape, n_jobs)
    return copied


def some_bounded_rows(rows, places, n_jobs=None):
    """Return some of the rows, as `some_rows` does, with what bounds them."""
    return rows._replace(
        X=some_rows(rows.X, places, n_jobs),
        scale=None if rows.scale is None else rows.scale[places],
        norm=rows.norm[places],
        weight=None if rows.weight is None else rows.weight[places],
    )


class ChosenRows:
    """Rows of an array by their places, as copies of what is asked for.

    A copy of all of them would need the room that a file was mapped to save.
    """

    def __init__(self, source, places):
        self.source, self._places = source, places
        self.shape, self.dtype = (len(places), *source.shape[1:]), source.dtype

    def __getitem__(self, rows):
        return self.source[self._places[rows]]


class RowsInUnits:
    """Dense rows that can be asked for in a ball's units, as copies.

    Those that are void have the entries 0. The source is the rows as they are.
    """

    def __init__(self, X, ball, is_void):
        self.source, self._ball, self._is_void, self.shape = X, ball, is_void, X.shape
        # Numbers of the precision of the rows, as NumPy's operations on these take them.
        self._centre, self._factors = (
            each.astype(X.dtype) for each in (ball.center, 1.0 / ball.scale)
        )

    @property
    def dtype(self):
        """Type of the numbers."""
        return self.source.dtype

    @property
    def in_memory(self):
        """A copy of all rows in units, of those that lie in memory and wait for compiled sums."""
        if _is_mapped(self.source) or kernels_for(self) is None:
            return self
        return in_units(self.source, self._ball, self._is_void)[0]

    def units(self, block):
        """Return rows as compiled sums take them, which make the numbers that `in_units` does."""
        rows, is_void = np.asarray(self.source[block]), self._is_void[block]
        return rows, self._centre, self._factors, is_void

    def __getitem__(self, block):
        if (kernels := kernels_for(self)) is not None:
            units = self.units(block)
            rows = np.empty(units[0].shape, self.dtype)
            kernels.put_rows(units, rows)
            return rows
        return in_units(self.source[block], self._ball, self._is_void[block])[0]

    def some(self, places, n_jobs=None):
        """Return some of the rows, as `some_rows` does."""
        return RowsInUnits(
            some_rows(self.source, places, n_jobs), self._ball, self._is_void[places]
        )

    @np.errstate(all="ignore")
    def take(self, indices, axis=0, out=None, mode="raise"):
        """Return chosen rows, as an array does."""
        rows = self.source.take(indices, axis=axis, mode=mode)
        rows = in_units(rows, self._ball, self._is_void.take(indices, mode=mode))[0]
        if out is not None:
            out[...] = rows
        return rows
