"""Queries to certified rows, or to groups of them: their second moment, and sums of slopes."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, issparse

from skdp._release.mechanisms import GaussianMechanism, as_vector
from skdp._rows.blocks import scaled_rows
from skdp._rows.bounds import products_by_row
from skdp._rows.clipping import clip_contributions
from skdp._rows.coded_rows import is_sparse
from skdp._rows.fused import units_of
from skdp._rows.queries import CUT, PLACED, BoundedQuery
from skdp._rows.threads import sum_in_order

# Squared lengths of rows are counted in whole parts of the largest trace of a group.
_TRACE_PARTS = 2.0**30
# Whole numbers below these add up exactly, as floating-point numbers and as integers.
_EXACT_BITS, _INTEGER_BITS = 53, 62
# Compiled sums take it where rows have no scale, or no weights.
_NONE = np.empty(0)


@dataclass(frozen=True, eq=False)
class SecondMoment(BoundedQuery):
    r"""The sum of the rows' outer products with themselves, by `as_vector`.

    Each times its weight, cut to 1 where there is a bound: no weight moves the bound. The moment of
    a group is that of its rows z, scaled down together so that its trace :math:`\sum \|z\|^2` is at
    most `largest_trace`, which is public, and at least that of a single row. Scaled rows are cut
    towards 0 to whole numbers of a step, which doesn't make them longer, and then outer products
    add up exactly.
    """

    mechanism: GaussianMechanism
    # Rows are certified to be within it, and groups are cut to it.
    largest_trace: float | None = None

    view = PLACED

    def record_bound(self, place):
        return self.largest_trace

    def pair_bound(self, place):
        # Positive semidefinite matrices, see `plan_whitened`.
        return math.sqrt(2.0) * self.largest_trace

    def total(self, rows):
        weights = rows.record_weights
        if weights is not None and not math.isinf(self.mechanism.contribution_bound):
            weights = np.minimum(weights, 1.0)

        def add_coded(chunk, total):
            every = np.ones(chunk.stop - chunk.start)
            counted = every if weights is None else weights[chunk]
            if rows.is_null is not None:
                counted = counted * ~rows.is_null[chunk]
            ones = every if rows.ball_weights is None else rows.ball_weights[chunk]
            factors = ones if rows.scale is None else ones * rows.scale[chunk]
            units = units_of(rows.X, chunk)
            of_rows = units, factors, ones, counted
            rows.kernels.add_outer_products(rows.rows_of_block, *of_rows, rows.bias, total)

        if rows.are_coded and rows.kernels is not None:
            return rows.sum_of_coded_squares(add_coded, self.mechanism)

        def add_counted(chunk, total):
            for first in range(chunk.start, chunk.stop, rows.rows_of_block):
                block = slice(first, min(first + rows.rows_of_block, chunk.stop))
                z = rows.counted_rows(block)
                total += z.T @ (z if weights is None else scaled_rows(z, weights[block]))

        if rows.kernels is not None and not is_sparse(rows.X):
            return rows.sum_of_counted_squares(add_counted, self.mechanism)

        def add(block, x, scale, total):
            d, bias = x.shape[1], rows.bias
            if scale is not None:
                x = scaled_rows(x, scale)
            counted = np.ones(x.shape[0]) if weights is None else weights[block]
            ones = None
            if rows.ball_weights is not None:
                # Never squares of weights times rows: those of long rows have no digits.
                ones = rows.ball_weights[block]
                x = scaled_rows(x, ones)
            if rows.is_null is not None:
                x = scaled_rows(x, ~rows.is_null[block])
                counted = counted * ~rows.is_null[block]
            weighted = x if weights is None else scaled_rows(x, counted)
            _add_products(x, weighted, total[:d, :d], rows.kernels)
            if bias:
                sums = bias * (weighted.sum(axis=0) if ones is None else weighted.T @ ones)
                total[:d, d] += sums
                total[d, :d] += sums
                if ones is not None:
                    counted = counted * ones**2
                total[d, d] += bias**2 * counted.sum()

        return rows.sum_of_squares(add, self.mechanism)

    def total_of_groups(self, rows):
        with np.errstate(all="ignore"):
            share = _TRACE_PARTS / self.largest_trace
            norm = rows.norm if rows.ball_weights is None else rows.norm * rows.ball_weights
            parts = np.ceil(norm**2 * share).astype(np.int64)
            traces = np.add.reduceat(parts[rows.order], rows.ends[:-1])
            factors = np.sqrt(np.minimum(_TRACE_PARTS / traces, 1.0))
        # No entry of the sum of a block, or of all, goes beyond the limits.
        n_records = self.mechanism.n_records
        of_block, of_all = (math.ceil(math.log2(n)) for n in (rows.block_size, n_records))
        bits = min(_EXACT_BITS - of_block, _INTEGER_BITS - of_all)
        step = 2.0 ** (math.frexp(math.sqrt(self.largest_trace))[1] - bits // 2)

        def add(job):
            total = np.zeros((rows.n_columns, rows.n_columns), dtype=np.int64)
            for block in rows.blocks_of_job(job):
                chosen = np.arange(block.start, block.stop)
                z = rows.augmented(chosen)
                if rows.ball_weights is not None:
                    z *= rows.ball_weights[chosen, np.newaxis]
                z *= (factors[rows.codes[chosen]] / step)[:, np.newaxis]
                np.trunc(z, out=z)
                total += (z.T @ z).astype(np.int64)
            return total

        total = rows.sum_over(add, rows.jobs_of_rows)
        return self.mechanism.rounded(as_vector(total * step**2))


def _add_products(x, weighted, total, kernels):
    """Add the sum of rows' outer products with the same rows, weighted.

    Terms of sparse rows that are 0 are left out, which changes no sum; others are added by row.
    """
    if not issparse(x):
        total += x.T @ weighted
        return
    if kernels is not None:
        below = np.zeros(total.shape)
        kernels.add_products(x.indptr, x.indices, x.data, weighted.data, below)
        total += below + np.tril(below, -1).T
        return
    products = (x.T @ weighted).tocoo()
    total[products.row, products.col] += products.data


@dataclass(frozen=True, eq=False)
class SumOfSlopes(BoundedQuery):
    """The sum of the outer products of mapped rows ``A z`` and their cut slopes, of shape (p, k).

    Slopes are those at weights `w` of mapped rows, cut as `bound_slopes` said. Of a group the sum
    over its rows is cut instead.
    """

    w: np.ndarray
    mechanism: GaussianMechanism

    view = CUT

    def record_bound(self, place):
        return place.slope_bound

    def total(self, rows):
        def finish(total):
            return self.mechanism.rounded(rows.A @ rows.shifted(total))

        # NumPy is faster on one axis than on two of which one has length 1.
        weights = rows.A @ self.w
        weights = weights[:, 0] if rows.n_outputs == 1 else weights
        if not rows.slopes_are_compiled or math.isinf(rows.bound):
            total = rows.sum_blocks(_adder_of_slopes(rows, weights), weights.shape, finish)
        else:
            total = rows.sum_chunks(_compiled_adder(rows, weights), weights.shape, finish)
        return total.reshape(self.w.shape)

    def total_of_groups(self, rows):
        weights = np.ascontiguousarray(self.w.T)

        def add(blocks):
            return sum_in_order(
                self.mechanism.rounded(cut_parts(parts, rows.bound)).sum(axis=0)
                for parts in (parts_of_groups(rows, first, last, weights) for first, last in blocks)
            )

        return rows.sum_over(add, rows.jobs_of_groups()).reshape(weights.shape).T


def _adder_of_slopes(rows, w):
    """Return what adds the slopes of a block of rows, each times its row, to a total."""

    def add(block, x, scale, total):
        slopes = rows.loss.gradient(rows.targets[block], rows.products(x, scale, w))
        weights = None if rows.slope_weights is None else rows.slope_weights[block]
        clip_contributions(slopes, rows.lengths[block], rows.bound, weights)
        d = x.shape[1]
        if rows.bias:
            total[d] += rows.bias * slopes.sum(axis=0)
        if scale is not None:
            slopes = slopes * (scale if slopes.ndim == 1 else scale[:, np.newaxis])
        columns = rows.sparse_block(block)[1] if issparse(x) else x.T
        total[:d] += columns @ slopes

    return add


def _compiled_adder(rows, w):
    """Return what does the same of a chunk of rows, compiled."""
    d, bias = rows.X.shape[1], rows.bias
    kind, constant = rows.kernels.LOSSES[rows.loss.name], float(rows.constant(w))
    of_features = np.ascontiguousarray(w[:d])

    def add(chunk, total):
        of_rows = rows.scale, rows.targets, rows.lengths, rows.slope_weights
        of_rows = (_NONE if each is None else each[chunk] for each in of_rows)
        units, part = units_of(rows.X, chunk), np.zeros(d + 1)
        rows.kernels.add_slopes(
            kind,
            rows.rows_of_block,
            units,
            *of_rows,
            float(rows.bound),
            of_features,
            constant,
            part,
        )
        total[:d] += part[:d]
        if bias:
            total[d] += bias * part[d]

    return add


def parts_of_groups(rows, first, last, weights):
    """Return the sums of ``A z c`` over the rows of some groups, of shape (groups, k, p)."""
    begin, end = rows.ends[first], rows.ends[last]
    total = np.zeros((last - first, rows.n_outputs, rows.n_columns))
    # More than once for a group that is longer than a block, and then from its own first row.
    for start in range(begin, end, rows.block_size):
        chosen = rows.order[start : min(start + rows.block_size, end)]
        ends = np.clip(rows.ends[first : last + 1] - start, 0, chosen.size)
        z = rows.mapped[start : start + chosen.size]
        # Unlike BLAS, these and the sparse product take all rows in the same way.
        m = np.column_stack([products_by_row(z, w[np.newaxis]) for w in weights])
        c = rows.loss.gradient(rows.targets[chosen], m[:, 0] if rows.n_outputs == 1 else m)
        c = c.reshape(m.shape)
        if rows.ball_weights is not None:
            c *= rows.ball_weights[chosen, np.newaxis]
        if rows.is_null is not None:
            c[rows.is_null[chosen]] = 0.0
        places = np.arange(chosen.size)
        for output in range(rows.n_outputs):
            by_group = csr_array((c[:, output], places, ends), (last - first, chosen.size))
            total[:, output] += by_group @ z
    return total


def cut_parts(parts, bound):
    """Cut what groups add to a bound; what overflowed becomes 0."""
    parts = parts.reshape(len(parts), -1)
    lengths = np.sqrt(products_by_row(parts, parts))
    lost = ~np.isfinite(lengths)
    parts[lost] = lengths[lost] = 0.0
    parts *= (bound / np.maximum(lengths, bound))[:, np.newaxis]
    return parts
