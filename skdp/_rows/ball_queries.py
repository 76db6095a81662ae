"""Queries to rows as they were read, or to targets as rows: balls and ranges follow from these."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from skdp._release.mechanisms import GaussianMechanism
from skdp._rows.blocks import places
from skdp._rows.coded_rows import is_sparse
from skdp._rows.queries import BoundedQuery, CountingQuery, Query
from skdp._rows.rows_in_ball import (
    long_norms,
    moved_rows,
    scaled_from,
    weights_within,
    without_rows,
)


@dataclass(frozen=True, eq=False)
class CountsOfLengths(CountingQuery):
    """How many records have a length in each bin, from a centre and in units of columns."""

    bins: Any
    centre: np.ndarray
    unit: np.ndarray
    mechanism: GaussianMechanism

    def total(self, rows):
        shape, rounded = (self.bins.n_bins,), self.mechanism.rounded
        lengths = rows.compiled_lengths(self.centre, self.unit)
        if lengths is None:

            def add_block(block, x, scale, total):
                self._add(rows, block, moved_rows(x, self.centre, self.unit)[1], total)

            return rows.sum_blocks(add_block, shape, rounded)

        def add_chunk(chunk, total):
            self._add(rows, chunk, lengths[chunk], total)

        return rows.sum_chunks(add_chunk, shape, rounded)

    def _add(self, rows, block, lengths, total):
        if not np.isfinite(lengths).all():
            z = moved_rows(rows.read(block), self.centre, self.unit)[0]
            lengths = long_norms(z, lengths)
        bin_of_row = places(self.bins, lengths / self.bins.unit)
        _count(rows, total, bin_of_row, block, self.mechanism)


@dataclass(frozen=True, eq=False)
class CountsByColumn(CountingQuery):
    """How many records have an entry so far from the centre, of shape (d, bins).

    Entries of 0 are in the first bin, wherever the centre is.
    """

    bins: Any
    centre: np.ndarray
    unit: np.ndarray
    mechanism: GaussianMechanism

    @property
    def n_histograms(self):
        return len(self.unit)

    def total(self, rows):
        bins, rounded = self.bins, self.mechanism.rounded
        per_unit, size = 1.0 / (self.unit * bins.unit), rows.n_columns * bins.n_bins

        def add_block(block, x, scale, total):
            z = scaled_from(x, self.centre, per_unit)
            np.copyto(z, 0.0, where=x == 0.0)
            bin_of_entry = places(bins, z)
            bin_of_entry += bins.n_bins * np.arange(x.shape[1])
            _count(rows, total, bin_of_entry, block, self.mechanism)

        def add_chunk(chunk, total):
            units = np.asarray(rows.X[chunk]), self.centre, per_unit, rows.is_null[chunk]
            rows.kernels.count_entries(units, bins.shift, bins.first, bins.n_bins, total)

        if is_sparse(rows.X):
            total = rounded(self._of_entries(rows, per_unit))
        elif rows.kernels is not None:
            total = rows.sum_chunks(add_chunk, (size,), rounded)
        else:
            total = rows.sum_blocks(add_block, (size,), rounded)
        return total.reshape(-1, bins.n_bins)

    def _of_entries(self, rows, per_unit):
        """Return the counts of sparse rows, by their entries alone."""
        n_bins, x = self.bins.n_bins, rows.read(slice(rows.n_rows))[~rows.is_null]
        z = (x.data - self.centre[x.indices]) * per_unit[x.indices]
        z[x.data == 0.0] = 0.0
        bin_of_entry = places(self.bins, z) + n_bins * x.indices.astype(np.int64)
        total = np.bincount(bin_of_entry, minlength=rows.n_columns * n_bins).astype(float)
        total[::n_bins] += x.shape[0] - np.bincount(x.indices, minlength=rows.n_columns)
        return total


@dataclass(frozen=True, eq=False)
class CountsBySide(CountingQuery):
    """How many records have an entry so far below and above the centre, of shape (d, 2, bins).

    Rows are dense.
    """

    bins: Any
    centre: np.ndarray
    unit: np.ndarray
    mechanism: GaussianMechanism

    @property
    def n_histograms(self):
        return len(self.unit)

    def total(self, rows):
        n_bins, per_unit = self.bins.n_bins, 1.0 / (self.unit * self.bins.unit)

        def add(block, x, scale, total):
            z = scaled_from(x, self.centre, per_unit)
            bin_of_entry = places(self.bins, z)
            bin_of_entry += n_bins * (2 * np.arange(x.shape[1]) + (z > 0.0))
            _count(rows, total, bin_of_entry, block, self.mechanism)

        total = rows.sum_blocks(add, (2 * rows.n_columns * n_bins,), self.mechanism.rounded)
        return total.reshape(-1, 2, n_bins)


@dataclass(frozen=True, eq=False)
class CountsBetween(CountingQuery):
    """How many records of one column are between edges, below all and above all."""

    edges: np.ndarray
    mechanism: GaussianMechanism

    def total(self, rows):
        def add(block, x, scale, total):
            place = np.searchsorted(self.edges, x[:, 0])
            _count(rows, total, place, block, self.mechanism)

        return rows.sum_blocks(add, (self.edges.size + 1,), self.mechanism.rounded)


@dataclass(frozen=True, eq=False)
class SumOfCutRows(BoundedQuery):
    """The sum of rows, from a centre and in units of columns, that are cut to a radius."""

    centre: np.ndarray
    unit: np.ndarray
    radius: float
    mechanism: GaussianMechanism

    def record_bound(self, place):
        return self.radius

    def total(self, rows):
        shape, rounded = (rows.n_columns,), self.mechanism.rounded

        def add_block(block, x, scale, total):
            z, factors, shift = _cut(rows, block, x, self)
            if rows.shares is not None:
                total += _truncated(rows, z * factors[:, np.newaxis], block, self.mechanism)
                return
            total += z.T @ factors - shift * factors.sum()

        is_exact = math.isinf(self.radius)
        lengths = None if is_exact else rows.compiled_lengths(self.centre, self.unit)
        if lengths is None:
            return rows.sum_blocks(add_block, shape, rounded)

        def add_chunk(chunk, total):
            factors, is_void = weights_within(lengths[chunk], self.radius)
            factors[is_void | rows.is_null[chunk]] = 0.0
            rows.add_cut(chunk, self.centre, self.unit, factors, total)

        return rows.sum_chunks(add_chunk, shape, rounded)


@dataclass(frozen=True, eq=False)
class SumOfCutSides(SumOfCutRows):
    """The same of rows without negative entries, of which no two are more than orthogonal."""

    def pair_bound(self, place):
        return math.sqrt(2.0) * self.radius


@dataclass(frozen=True, eq=False)
class SumOfSquares(BoundedQuery):
    """The sum of the squares of such rows, by column."""

    centre: np.ndarray
    unit: np.ndarray
    radius: float
    mechanism: GaussianMechanism

    def record_bound(self, place):
        return self.radius**2

    def total(self, rows):
        def add(block, x, scale, total):
            z, factors, shift = _cut(rows, block, x, self)
            if rows.shares is not None:
                z *= factors[:, np.newaxis]
                total += _truncated(rows, z * z, block, self.mechanism)
                return
            factors *= factors
            squares = z.multiply(z) if issparse(z) else np.square(z)
            total += squares.T @ factors
            if issparse(z):
                total += shift * (shift * factors.sum() - 2.0 * (z.T @ factors))

        return rows.sum_blocks(add, (rows.n_columns,), self.mechanism.rounded)


@dataclass(frozen=True, eq=False)
class LongestLength(Query):
    """The length of the longest row, for fits without privacy."""

    centre: np.ndarray
    unit: np.ndarray

    grid = 0.0

    def total(self, rows):
        longest = 0.0
        for block in rows.blocks():
            lengths = moved_rows(rows.read(block), self.centre, self.unit)[1]
            longest = np.maximum(longest, lengths[~rows.is_null[block]].max(initial=0.0))
        return float(longest)

    def join(self, answers):
        return max(answers)


class MeansOfTargets(Query):
    """The mean of each target, weighted where rows are, for fits without privacy."""

    grid, of_rows_alone = 0.0, True

    def total(self, rows):
        counted = rows.X[~rows.is_null]
        if rows.shares is None:
            return np.append(counted.sum(axis=0), len(counted))
        shares = rows.shares[~rows.is_null]
        return np.append(shares @ counted, shares.sum())

    def means(self, answer):
        """Return the means that an answer tells of, of shape (k,)."""
        return answer[:-1] / answer[-1]


def exact_means(rows):
    """Return the mean of each target of rows, of shape (k,), for fits without privacy."""
    query = MeansOfTargets()
    return query.means(rows.of_targets(weighted=True).ask(query))


@dataclass(frozen=True, eq=False)
class ExactQuantiles(Query):
    """Quantiles of one column, for fits without privacy."""

    wanted: np.ndarray

    grid = 0.0

    def total(self, rows):
        is_there = ~rows.is_null
        return rows.X[is_there, 0], None if rows.shares is None else rows.shares[is_there]

    def join(self, answers):
        values, shares = zip(*answers, strict=True)
        return np.concatenate(values), None if shares[0] is None else np.concatenate(shares)

    def quantiles(self, answer):
        """Return the quantiles that an answer tells of, 0 where there are no records."""
        values, shares = answer
        if not values.size:
            return np.zeros_like(self.wanted)
        return np.quantile(values, self.wanted, method="inverted_cdf", weights=shares)


def _count(rows, total, bins, block, mechanism):
    """Add the records of a block to the bins that they, or their entries, are in."""
    kept = slice(None)
    if rows.is_null[block].any():
        kept = ~rows.is_null[block]
        bins = bins[kept]
    if rows.shares is None:
        total += np.bincount(bins.ravel(), minlength=total.size)
        return
    # Parts are on the grid already: what rows add is exact, and a group's is never more than 1.
    parts = np.floor(rows.shares[block][kept] / mechanism.grid) * mechanism.grid
    weights = np.broadcast_to(parts.reshape(-1, *[1] * (bins.ndim - 1)), bins.shape)
    total += np.bincount(bins.ravel(), weights.ravel(), minlength=total.size)


def _cut(rows, block, x, query):
    """Return the rows of a block, what they are cut by, and what is still to be taken off."""
    z, lengths, shift = moved_rows(x, query.centre, query.unit)
    factors, is_void = weights_within(lengths, query.radius)
    is_void |= rows.is_null[block]
    if is_void.any():
        factors[is_void] = 0.0
        z = without_rows(z, is_void)
    return z, factors, shift


def _truncated(rows, parts, block, mechanism):
    """Return the sum of rows' parts of shares, cut towards 0 to the grid.

    A part gets no longer by it, so that those of a group have together no more than its bound, and
    numbers on a grid add up exactly: no group's part follows from another's.
    """
    parts *= rows.shares[block][:, np.newaxis]
    if mechanism.grid == 0.0:
        return parts.sum(axis=0)
    parts /= mechanism.grid
    return np.trunc(parts, out=parts).sum(axis=0) * mechanism.grid
