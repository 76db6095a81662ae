"""Sums over groups of rows, such as all rows of a person: what a group adds is bounded."""

import math

import numpy as np
from scipy.sparse import csr_array, issparse

from skdp._release.mechanisms import as_vector
from skdp._rows.bounds import products_by_row
from skdp._rows.row_sums import RowSums, block_rows
from skdp._rows.threads import sum_in_order

# Blocks that one thread adds up.
_JOB = 8
# Squared lengths of rows are counted in whole parts of the largest trace of a group.
_TRACE_PARTS = 2.0**30
# Whole numbers below these add up exactly, as floating-point numbers and as integers.
_EXACT_BITS, _INTEGER_BITS = 53, 62
_UNIT_ROUNDOFF = 2.0**-53


def group_rounding_slack(n_groups, n_columns, n_outputs):
    """Return a relative bound on what rounding adds to the sensitivity of a sum over groups.

    However many rows there are: whole numbers are added, which is exact, so that only a group's own
    bound is computed with an error, of some units per entry. The sum of n_groups is rounded twice
    at the end, and two are compared.
    """
    per_group = 4.0 * (n_columns * n_outputs + 8.0)
    return 2.0 * _UNIT_ROUNDOFF * (per_group + 2.0 * n_groups)


class GroupSums(RowSums):
    """Sums over groups of certified rows; a group's part is cut as a whole, whatever its rows are.

    What a group adds is rounded after it was cut, and whole numbers of grid steps add up exactly.
    And it is computed from the rows of the group alone, to the last bit: by operations that treat
    each row as if there were no other (BLAS doesn't; where it is used below, its products and sums
    are whole numbers, so that its order of work doesn't matter). So a group that has more rows, or
    other ones, moves no other group's part, and neither do threads or the order of the groups.
    Of `codes`, the group of each row, all of 0, 1, ... occur. `largest_trace` is public: what the
    squared lengths of a group's rows may come to in the moment, at least the largest of a row. Sums
    of moments are rounded to the grid, too, so that sums over parts of the groups add up exactly.
    """

    _n_rows_is_public = False

    def __init__(self, rows, targets, loss, n_jobs=None, *, codes, largest_trace):
        super().__init__(rows, targets, loss, n_jobs)
        self._rows, self._codes, self._largest_trace = rows, codes, largest_trace
        sizes = np.bincount(codes)
        # Rows of a group keep their order.
        self._order = np.argsort(codes, kind="stable")
        self._ends = np.concatenate([[0], np.cumsum(sizes)])
        self._n_groups = sizes.size
        self._size = block_rows(self.n_columns * self.n_outputs)

    def moment(self, mechanism):
        r"""Return the sum of groups' second moments, by `as_vector`.

        The moment of a group is that of its rows z, scaled down together so that its trace
        :math:`\sum \|z\|^2` is at most `largest_trace`. Scaled rows are cut towards 0 to whole
        numbers of a step, which doesn't make them longer, and then outer products add up exactly.
        """
        with np.errstate(all="ignore"):
            share = _TRACE_PARTS / self._largest_trace
            norm = self._rows.norm if self._weight is None else self._rows.norm * self._weight
            parts = np.ceil(norm**2 * share).astype(np.int64)
            traces = np.add.reduceat(parts[self._order], self._ends[:-1])
            factors = np.sqrt(np.minimum(_TRACE_PARTS / traces, 1.0))
        # No entry of the sum of a block, or of all, goes beyond the limits.
        of_block, of_all = (math.ceil(math.log2(n)) for n in (self._size, mechanism.n_records))
        bits = min(_EXACT_BITS - of_block, _INTEGER_BITS - of_all)
        step = 2.0 ** (math.frexp(math.sqrt(self._largest_trace))[1] - bits // 2)
        n_rows = len(self._codes)

        def add(start):
            total = np.zeros((self.n_columns, self.n_columns), dtype=np.int64)
            for first in range(start, min(start + _JOB * self._size, n_rows), self._size):
                chosen = np.arange(first, min(first + self._size, n_rows))
                z = self._rows.augmented(chosen)
                if self._weight is not None:
                    z *= self._weight[chosen, np.newaxis]
                z *= (factors[self._codes[chosen]] / step)[:, np.newaxis]
                np.trunc(z, out=z)
                total += (z.T @ z).astype(np.int64)
            return total

        total = self._over(add, range(0, n_rows, _JOB * self._size))
        return mechanism.rounded(as_vector(total * step**2))

    def bound_slopes(self, A, bound, mapped=None):
        """Have the sum of a group's ``A z c``, over its rows z with slopes c, cut to a length.

        Rows are mapped here, once for all steps, and returned with those of a group side by side;
        or they are taken from an earlier call for the same map.
        """
        self._bound, n_rows = bound, len(self._order)
        if mapped is not None:
            self._mapped = mapped
            return mapped
        self._mapped, mapped = np.empty((n_rows, self.n_columns)), map_by(A)

        def fill(start):
            for first in range(start, min(start + _JOB * self._size, n_rows), self._size):
                part = slice(first, first + self._size)
                self._mapped[part] = mapped(self._rows.augmented(self._order[part]))
            return 0.0

        self._over(fill, range(0, n_rows, _JOB * self._size))
        return self._mapped

    def slopes(self, w, mechanism):
        """Return the sum of what groups add, cut and on the mechanism's grid; see `RowSums`."""
        weights = np.ascontiguousarray(w.T)

        def add(blocks):
            return sum_in_order(
                mechanism.rounded(self._cut(self._parts(first, last, weights))).sum(axis=0)
                for first, last in blocks
            )

        return self._over(add, self._jobs()).reshape(weights.shape).T

    def _parts(self, first, last, weights):
        """Return the sums of ``A z c`` over the rows of some groups, of shape (groups, k, p)."""
        begin, end = self._ends[first], self._ends[last]
        total = np.zeros((last - first, self.n_outputs, self.n_columns))
        # More than once for a group that is longer than a block, and then from its own first row.
        for start in range(begin, end, self._size):
            chosen = self._order[start : min(start + self._size, end)]
            ends = np.clip(self._ends[first : last + 1] - start, 0, chosen.size)
            z = self._mapped[start : start + chosen.size]
            # Unlike BLAS, these and the sparse product take all rows in the same way.
            m = np.column_stack([products_by_row(z, w[np.newaxis]) for w in weights])
            c = self._loss.gradient(self._targets[chosen], m[:, 0] if self.n_outputs == 1 else m)
            c = c.reshape(m.shape)
            if self._weight is not None:
                c *= self._weight[chosen, np.newaxis]
            if self._is_null is not None:
                c[self._is_null[chosen]] = 0.0
            places = np.arange(chosen.size)
            for output in range(self.n_outputs):
                by_group = csr_array((c[:, output], places, ends), (last - first, chosen.size))
                total[:, output] += by_group @ z
        return total

    def _cut(self, parts):
        """Cut what groups add; what overflowed becomes 0."""
        parts = parts.reshape(len(parts), -1)
        lengths = np.sqrt(products_by_row(parts, parts))
        lost = ~np.isfinite(lengths)
        parts[lost] = lengths[lost] = 0.0
        parts *= (self._bound / np.maximum(lengths, self._bound))[:, np.newaxis]
        return parts

    def _jobs(self):
        """Give lists of blocks: ranges of groups that fit into a block, or one that doesn't."""
        blocks, first = [], 0
        while first < self._n_groups:
            limit = self._ends[first] + self._size
            last = max(int(np.searchsorted(self._ends, limit, side="right")) - 1, first + 1)
            blocks.append((first, last))
            first = last
        return [blocks[start : start + _JOB] for start in range(0, len(blocks), _JOB)]


def map_by(A):
    """Return a function that maps vectors, of which none moves a bit of another's product.

    The vectors are the rows of an array, and so are the products; the matrix is symmetric, diagonal
    where it is sparse. Vectors and matrix are cut into whole numbers of two sizes, whose products
    add up exactly: BLAS may take them in any order.
    """
    if issparse(A):
        return lambda vectors: vectors * A.diagonal()
    bits = (_EXACT_BITS - 1 - math.ceil(math.log2(len(A)))) // 2
    of_column, columns, rests = _in_parts(A, bits)

    def mapped(vectors):
        of_vector, coarse, fine = _in_parts(vectors, bits)
        products = coarse @ rests.T
        products += fine @ columns.T
        products = np.ldexp(products, -bits, out=products)
        products += coarse @ columns.T
        return np.ldexp(products, of_vector[:, np.newaxis] + of_column, out=products)

    return mapped


def _in_parts(rows, bits):
    """Return exponents and whole numbers n and m: each row is ``2**e (n + 2**-bits m)``, nearly.

    No number is above 2**bits in size, so that an entry is off by 2**-2bits of the largest.
    """
    exponents = np.frexp(np.abs(rows).max(axis=1))[1] - bits
    scaled = np.ldexp(rows, -exponents[:, np.newaxis])
    whole = np.rint(scaled)
    return exponents, whole, np.rint(np.ldexp(scaled - whole, bits))
