"""Sums over rows that the ball is learnt from: counts of lengths, and moments of cut rows."""

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
    stretch_of,
)
from skdp._rows.fused import kernels_for
from skdp._rows.row_sums import BlockSums, places

# Rows longer than the radius times this are void: their weights would have few digits.
_FAR = 1e150
_UNIT_ROUNDOFF = 2.0**-53
# Rows that are multiplied at once.
_ROWS = 1024


class BallSums(BlockSums):
    """Sums over rows x, moved by a centre and divided by a unit for each column.

    Rows that are marked as null add nothing. With `shares`, of shape (n,), rows count by them:
    where records are groups of rows, a row has a part of 1 of as many as its group has rows.
    """

    def __init__(self, X, is_null, n_jobs=None, shares=None):
        # Contributions of groups are cut to a grid, record by record, which no kernel does.
        self._n_rows_is_public = shares is None
        kernels = kernels_for(X) if shares is None else None
        super().__init__(X, X.shape[1], n_jobs, kernels)
        self._is_null, self._shares = is_null, shares
        # Compiled sums keep the last centre and units, and the lengths that rows have from there.
        self._measured = None, None, None

    def counts(self, bins, centre, unit, mechanism):
        """Return how many records have a length in each bin."""

        def add(block, x, scale, total, lengths=None):
            lengths = _moved(x, centre, unit)[1] if lengths is None else lengths
            if not np.isfinite(lengths).all():
                lengths = _long_norms(_moved(x, centre, unit)[0], lengths)
            self._count(total, places(bins, lengths / bins.unit), block, mechanism)

        if self._kernels is None:
            return self._sum(add, (bins.n_bins,), mechanism.rounded)
        known = self._lengths(centre, unit)

        def add_group(group, total):
            add(group, self._X[group], None, total, known[group])

        return self._sum_groups(add_group, (bins.n_bins,), mechanism.rounded)

    def counts_by_column(self, bins, centre, unit, mechanism):
        """Return how many records have an entry so far from the centre, of shape (d, bins).

        Entries of 0 are in the first bin, wherever the centre is.
        """

        def add(block, x, scale, total):
            z = _scaled(x, centre, per_unit)
            np.copyto(z, 0.0, where=x == 0.0)
            bin_of_entry = places(bins, z)
            bin_of_entry += bins.n_bins * np.arange(x.shape[1])
            self._count(total, bin_of_entry, block, mechanism)

        per_unit, size = 1.0 / (unit * bins.unit), self.n_columns * bins.n_bins
        if issparse(self._X):
            total = mechanism.rounded(self._counts_of_entries(bins, centre, per_unit))
        elif self._kernels is not None:

            def add_group(group, total):
                units = np.asarray(self._X[group]), centre, per_unit, self._is_null[group]
                self._kernels.count_entries(units, bins.shift, bins.first, bins.n_bins, total)

            total = self._sum_groups(add_group, (size,), mechanism.rounded)
        else:
            total = self._sum(add, (size,), mechanism.rounded)
        return total.reshape(-1, bins.n_bins)

    def counts_by_side(self, bins, centre, unit, mechanism):
        """Return how many records have an entry so far below and above the centre.

        The shape is (d, 2, bins). Rows are dense.
        """

        def add(block, x, scale, total):
            z = _scaled(x, centre, per_unit)
            bin_of_entry = places(bins, z)
            bin_of_entry += bins.n_bins * (2 * np.arange(x.shape[1]) + (z > 0.0))
            self._count(total, bin_of_entry, block, mechanism)

        per_unit, size = 1.0 / (unit * bins.unit), 2 * self.n_columns * bins.n_bins
        return self._sum(add, (size,), mechanism.rounded).reshape(-1, 2, bins.n_bins)

    def counts_between(self, edges, mechanism):
        """Return how many records of one column are between edges, below all and above all."""

        def add(block, x, scale, total):
            self._count(total, np.searchsorted(edges, x[:, 0]), block, mechanism)

        return self._sum(add, (edges.size + 1,), mechanism.rounded)

    def _counts_of_entries(self, bins, centre, per_unit):
        """Return what `counts_by_column` does, of sparse rows, by their entries alone."""
        x = self._read(slice(self._n_rows))[~self._is_null]
        z = (x.data - centre[x.indices]) * per_unit[x.indices]
        z[x.data == 0.0] = 0.0
        bin_of_entry = places(bins, z) + bins.n_bins * x.indices.astype(np.int64)
        total = np.bincount(bin_of_entry, minlength=self.n_columns * bins.n_bins).astype(float)
        total[:: bins.n_bins] += x.shape[0] - np.bincount(x.indices, minlength=self.n_columns)
        return total

    def _count(self, total, bins, block, mechanism):
        """Add the records of a block to the bins that they, or their entries, are in."""
        kept = slice(None)
        if self._is_null[block].any():
            kept = ~self._is_null[block]
            bins = bins[kept]
        if self._shares is None:
            total += np.bincount(bins.ravel(), minlength=total.size)
            return
        # Parts are on the grid already: what rows add is exact, and a group's is never more than 1.
        parts = np.floor(self._shares[block][kept] / mechanism.grid) * mechanism.grid
        weights = np.broadcast_to(parts.reshape(-1, *[1] * (bins.ndim - 1)), bins.shape)
        total += np.bincount(bins.ravel(), weights.ravel(), minlength=total.size)

    def moved(self, centre, unit, radius, mechanism):
        """Return the sum of rows that are moved, and cut to a radius."""

        def add(block, x, scale, total):
            z, factors, shift = self._cut(block, x, centre, unit, radius)
            if self._shares is not None:
                total += self._truncated(z * factors[:, np.newaxis], block, mechanism)
                return
            total += z.T @ factors - shift * factors.sum()

        if self._kernels is None or math.isinf(radius):
            return self._sum(add, (self.n_columns,), mechanism.rounded)
        known = self._lengths(centre, unit)

        def add_group(group, total):
            factors, is_void = _factors(known[group], radius)
            factors[is_void | self._is_null[group]] = 0.0
            units = np.asarray(self._X[group]), centre, 1.0 / unit, factors == 0.0
            self._kernels.add_moved(self._size, units, factors, total)

        return self._sum_groups(add_group, (self.n_columns,), mechanism.rounded)

    def squares(self, centre, unit, radius, mechanism):
        """Return the sum of the squares of such rows, by column."""

        def add(block, x, scale, total):
            z, factors, shift = self._cut(block, x, centre, unit, radius)
            if self._shares is not None:
                z *= factors[:, np.newaxis]
                total += self._truncated(z * z, block, mechanism)
                return
            factors *= factors
            squares = z.multiply(z) if issparse(z) else np.square(z)
            total += squares.T @ factors
            if issparse(z):
                total += shift * (shift * factors.sum() - 2.0 * (z.T @ factors))

        return self._sum(add, (self.n_columns,), mechanism.rounded)

    def longest(self, centre, unit):
        """Return the length of the longest row, for fits without privacy."""
        longest = 0.0
        for first in range(0, self._n_rows, self._block):
            block = slice(first, min(first + self._block, self._n_rows))
            lengths = _moved(self._read(block), centre, unit)[1][~self._is_null[block]]
            longest = np.maximum(longest, lengths.max(initial=0.0))
        return float(longest)

    def stretch(self, shift, radius):
        """Return by how much cancellation makes rounding errors of cut rows larger."""
        return stretch_of(shift, radius) if issparse(self._X) else 1.0

    def _lengths(self, centre, unit):
        """Return the lengths of all rows but null ones from a centre, in units of columns.

        By compiled code, and once: two sums in a row ask for the same.
        """
        known = self._measured
        if not (np.array_equal(known[0], centre) and np.array_equal(known[1], unit)):
            lengths = np.empty(self._n_rows)

            def measure(group, total):
                units = np.asarray(self._X[group]), centre, 1.0 / unit, self._is_null[group]
                self._kernels.set_lengths(units, lengths[group])

            self._sum_groups(measure, (), float)
            # Copies: an array that is changed in place stays the same object.
            self._measured = centre.copy(), unit.copy(), lengths
        return self._measured[2]

    def _cut(self, block, x, centre, unit, radius):
        """Return the rows of a block, what they are cut by, and what is still to be taken off."""
        z, lengths, shift = _moved(x, centre, unit)
        factors, is_void = _factors(lengths, radius)
        is_void |= self._is_null[block]
        if is_void.any():
            factors[is_void] = 0.0
            z = _without(z, is_void)
        return z, factors, shift

    def _truncated(self, parts, block, mechanism):
        """Return the sum of rows' parts of shares, cut towards 0 to the grid.

        A part gets no longer by it, so that those of a group have together no more than its bound,
        and numbers on a grid add up exactly: no group's part follows from another's.
        """
        parts *= self._shares[block][:, np.newaxis]
        if mechanism.grid == 0.0:
            return parts.sum(axis=0)
        parts /= mechanism.grid
        return np.trunc(parts, out=parts).sum(axis=0) * mechanism.grid


def _moved(x, centre, unit):
    """Return rows in units of columns, their lengths from the centre, and what isn't taken off.

    From sparse rows the centre, in those units, is still to be taken off. Their lengths have the
    bound of their rounding errors added.
    """
    if not issparse(x):
        z = _scaled(x, centre, 1.0 / unit)
        return z, row_norms(z), 0.0
    z, shift = _divided(x, unit), centre / unit
    return z, _lengths_from(shift, z), shift


def _scaled(x, centre, factors):
    """Return dense rows from a centre, times a factor for each column."""
    if not centre.any():
        return x * factors
    z = x - centre
    z *= factors
    return z


def _divided(x, unit):
    """Return sparse rows in units of columns."""
    return type(x)((x.data / unit[x.indices], x.indices, x.indptr), shape=x.shape)


def _lengths_from(shift, z):
    """Return distances of sparse rows from a point, with a bound of rounding errors added."""
    norms = row_norms(z)
    if not shift.any():
        return norms
    of_shift = float(np.linalg.norm(shift))
    squares = norms**2 - 2.0 * (z @ shift) + of_shift**2
    slack = 4.0 * _UNIT_ROUNDOFF * (shift.size + 8.0) * (norms + of_shift) ** 2
    return np.sqrt(np.maximum(squares, 0.0) + slack)


def _factors(lengths, radius):
    """Return what rows are weighted by so that none is longer than the radius, and who is void."""
    factors = radius / np.maximum(lengths, radius)
    is_void = ~(lengths <= _FAR * radius)
    if math.isinf(radius):
        factors, is_void = np.ones(lengths.size), ~np.isfinite(lengths)
    return factors, is_void


def _without(z, is_void):
    """Return rows of which those that are void have the entries 0."""
    if not issparse(z):
        z[is_void] = 0.0
        return z
    data = np.where(np.repeat(is_void, np.diff(z.indptr)), 0.0, z.data)
    return type(z)((data, z.indices, z.indptr), shape=z.shape)


def _long_norms(z, lengths):
    """Return lengths of rows whose squares overflow."""
    z = z.toarray() if issparse(z) else z
    largest = np.abs(z).max(axis=1, initial=0.0)
    with np.errstate(all="ignore"):
        scaled = largest * np.linalg.norm(z / largest[:, np.newaxis], axis=1)
    return np.where(np.isfinite(lengths), lengths, scaled)


def by_row(X, weights):
    """Return products of rows with weights. Where a row lies moves no bit of it, as BLAS may do."""
    if issparse(X):
        return X @ weights
    products = np.empty(X.shape[0])
    for start in range(0, products.size, _ROWS):
        block = np.ascontiguousarray(X[start : start + _ROWS], dtype=np.float64)
        products[start : start + _ROWS] = products_by_row(block, weights[np.newaxis])
    return products


@np.errstate(all="ignore")
def rows_in_ball(X, ball, is_null, *, fit_intercept, clip=True, is_copied=True):
    """Return rows in the ball's units, weighted so that no weighted row is longer than its radius.

    They are a copy of X, of its type; of a memory map, and of rows whose sums are compiled where
    that needs no copy, copies of what is asked for. Sparse ones aren't moved: that is left to the
    sums. Rows too short to be measured are null records.
    """
    bias = intercept_constant(ball.radius, fit_intercept)
    by_part = _is_mapped(X) or not (is_copied or kernels_for(X) is None)
    Z, shift = (RowsInUnits(X, ball, is_null), None) if by_part else in_units(X, ball)
    lengths = row_norms(Z) if shift is None else _lengths_from(shift, Z)
    weight, is_void = _factors(lengths, ball.radius if clip else math.inf)
    is_void |= is_null
    norm = np.hypot(lengths, bias)
    if clip:
        norm[norm < SMALLEST_NORM] = 0.0
    if is_void.any():
        Z = RowsInUnits(X, ball, is_void) if by_part else _without(Z, is_void)
        norm = np.where(is_void, 0.0, norm)
        weight[is_void] = 0.0
    return BoundedRows(Z, None, bias, norm, weight, shift)


@np.errstate(all="ignore")
def in_units(X, ball, is_void=None):
    """Return a copy of rows in a ball's units, and what is still to be taken off, or None.

    Rows that are void have the entries 0.
    """
    if issparse(X):
        Z, shift = _divided(X.astype(np.float64), ball.scale), ball.center / ball.scale
        shift = shift if shift.any() else None
    else:
        Z, shift = np.subtract(X, ball.center, dtype=X.dtype, casting="same_kind", order="C"), None
        Z *= (1.0 / ball.scale).astype(X.dtype)
    return Z if is_void is None or not is_void.any() else _without(Z, is_void), shift


def _is_mapped(X):
    """Tell whether an array lies in a file that is mapped."""
    while isinstance(X, np.ndarray):
        X = X.base
    return isinstance(X, mmap)


class RowsInUnits:
    """Dense rows that can be asked for in a ball's units, as copies.

    Those that are void have the entries 0. The source is the rows as they are.
    """

    def __init__(self, X, ball, is_void):
        self.source, self._ball, self._is_void, self.shape = X, ball, is_void, X.shape

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
        centre, factors = (
            each.astype(self.dtype) for each in (self._ball.center, 1.0 / self._ball.scale)
        )
        return np.asarray(self.source[block]), centre, factors, self._is_void[block]

    def __getitem__(self, block):
        if (kernels := kernels_for(self)) is not None:
            units = self.units(block)
            rows = np.empty(units[0].shape, self.dtype)
            kernels.put_rows(units, rows)
            return rows
        return in_units(self.source[block], self._ball, self._is_void[block])[0]

    @np.errstate(all="ignore")
    def take(self, indices, axis=0, out=None, mode="raise"):
        """Return chosen rows, as an array does."""
        rows = self.source.take(indices, axis=axis, mode=mode)
        rows = in_units(rows, self._ball, self._is_void.take(indices, mode=mode))[0]
        if out is not None:
            out[...] = rows
        return rows
