"""Sums over all certified rows, in fixed blocks and in row order."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from math import isinf

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csc_array, issparse

from skdp._families.weights import joint_weights
from skdp._release.mechanisms import as_vector
from skdp._rows.batches import squeezed
from skdp._rows.bounds import SMALLEST_NORM, row_norms
from skdp._rows.clipping import clip_contributions
from skdp._rows.fused import kernels_for, units_of
from skdp._rows.threads import WORTHWHILE_ENTRIES, single_threaded_blas, sum_in_order

# Rows of a sparse block at least: fewer cost more to slice than to add up.
LEAST_SPARSE_ROWS = 2048


# Bytes of a block as float64: both of a sum's products read it from the processor's caches.
_BLOCK_BYTES = 2**20
_LEAST_ROWS, _MOST_ROWS = 64, 8192
# More threads were slower where sums aren't compiled: 8 take 541 ms for a pass that 2 make in
# 183 ms.
_MOST_THREADS = 2
# Blocks that one thread adds up before their sum is mapped and goes to a grid, at least. More where
# rows are long, so that the map doesn't cost more than the products: rows for each column, at most.
_GROUP, _ROWS_PER_COLUMN, _MOST_PER_GROUP = 8, 8, 2**14
_UNIT_ROUNDOFF = 2.0**-53


def block_rows(n_columns):
    """Return how many rows a block has: a function of their length alone."""
    return max(_LEAST_ROWS, min(_MOST_ROWS, _BLOCK_BYTES // (8 * n_columns)))


def _blocks_of_group(n_columns, size):
    """Return how many blocks of so many rows are added up: a function of shapes alone."""
    return max(_GROUP, min(_ROWS_PER_COLUMN * n_columns, _MOST_PER_GROUP) // size)


def rounding_slack(n_rows, n_columns, n_outputs):
    """Return a relative bound on what rounding adds to the sensitivity of a sum over all rows.

    Sums of groups are rounded to a grid and then add up exactly, so only the group of the record
    that changes counts, however many rows there are. Within it, m terms that are added in blocks
    are off by at most ``u (block + blocks + 2)`` times the sum of their sizes (Higham 2002, section
    4.2), and a map of the sum, or of a row, by ``u p^1.5`` times the sizes that go in. Two sums are
    compared. A map that makes one direction longer than another makes it so many times as much.
    """
    # Sparse blocks are the longer ones, and of others there are more in a group.
    dense = block_rows(n_columns)
    sparse = max(dense, LEAST_SPARSE_ROWS)
    blocks = _blocks_of_group(n_columns, dense)
    per_sum = sparse + blocks + 2.0 + n_columns**1.5
    per_record = 2.0 * n_columns**1.5 + n_outputs + 8.0
    longest = max(blocks * dense, _blocks_of_group(n_columns, sparse) * sparse)
    per_group = per_sum * min(n_rows, longest) + per_record
    return 2.0 * _UNIT_ROUNDOFF * per_group


def scaled_rows(x, factors):
    """Return rows of float64 times a factor each."""
    if not issparse(x):
        return x * factors[:, np.newaxis]
    data = x.data * np.repeat(factors, np.diff(x.indptr))
    return type(x)((data, x.indices, x.indptr), shape=x.shape)


def _rows_of(X, start, stop):
    """Return rows of a CSR array, and their transpose, that lie in its memory."""
    shape, first, last = (stop - start, X.shape[1]), X.indptr[start], X.indptr[stop]
    rows_and_transpose = type(X)(shape, dtype=X.dtype), csc_array(shape[::-1], dtype=X.dtype)
    for one in rows_and_transpose:
        # Their constructors would make copies.
        one.data, one.indices = X.data[first:last], X.indices[first:last]
        one.indptr = X.indptr[start : stop + 1] - first
    return rows_and_transpose


def _add_products(x, weighted, total):
    """Add the sum of rows' outer products with the same rows, weighted.

    Terms of sparse rows that are 0 are left out, which changes no sum; others are added by row.
    """
    if not issparse(x):
        total += x.T @ weighted
        return
    products = (x.T @ weighted).tocoo()
    total[products.row, products.col] += products.data


def places(bins, lengths):
    """Return the bins that lengths over their unit are in; infinite ones are in the last."""
    bin_of_row = np.abs(lengths).view(np.int64)
    bin_of_row >>= bins.shift
    bin_of_row -= bins.first
    return np.clip(bin_of_row, 0, bins.n_bins - 1, out=bin_of_row)


def _without_warnings(add, job):
    with np.errstate(all="ignore"):
        return add(job)


class BlockSums:
    """Sums over n rows of p columns.

    Blocks are added in row order within groups of blocks, whose sums are rounded to the grid of
    the mechanism that will release the whole. Numbers on a grid add up exactly: the result is the
    same to the last bit for every `n_jobs`, and rounding errors don't grow with the number of
    groups. `kernels` has compiled sums, where they are used.
    """

    # Factors of rows, of shape (n,), where there are any.
    _scale = None
    # The number of rows isn't public where records are groups of rows. Threads follow `n_jobs`
    # alone then.
    _n_rows_is_public = True

    def __init__(self, X, n_columns, n_jobs=None, kernels=None):
        self._kernels = kernels
        self._X, self.n_columns, self._n_rows = X, n_columns, X.shape[0]
        self._size = min(block_rows(n_columns), self._n_rows)
        self._block = max(self._size, LEAST_SPARSE_ROWS) if issparse(X) else self._size
        self._group = _blocks_of_group(n_columns, self._block) * self._block
        most_threads = _MOST_THREADS
        if self._n_rows_is_public:
            n_groups = -(-self._n_rows // self._group)
            most_threads = min(n_groups, _MOST_THREADS) if kernels is None else n_groups
            most_threads = most_threads if self._n_rows * n_columns >= WORTHWHILE_ENTRIES else 1
        self._n_workers = max(1, min(effective_n_jobs(n_jobs), most_threads))
        self._helpers, self._sparse_blocks = None, {}

    @contextmanager
    def at_work(self):
        """Hold BLAS to one thread, and threads of our own ready, while sums are asked for."""
        with ExitStack() as stack:
            stack.enter_context(single_threaded_blas)
            if self._n_workers > 1:
                # Some builds of BLAS count threads for each of ours.
                helpers = ThreadPoolExecutor(
                    self._n_workers, initializer=single_threaded_blas.limit
                )
                self._helpers = stack.enter_context(helpers)
            try:
                yield self
            finally:
                self._helpers = None

    def _read(self, block):
        """Return the rows of a slice as float64."""
        if issparse(self._X):
            return self._sparse(block)[0].astype(np.float64, copy=False)
        x = self._X[block]
        # NumPy may multiply rows that don't lie side by side in another order than their copies,
        # and whether there are copies may hang on a record elsewhere.
        return np.ascontiguousarray(x, dtype=np.float64)

    def _sparse(self, block):
        """Return rows of a slice and their transpose: to make them takes longer than a product."""
        place = block.indices(self._n_rows)[:2]
        if place not in self._sparse_blocks:
            self._sparse_blocks[place] = _rows_of(self._X, *place)
        return self._sparse_blocks[place]

    def _sum(self, add, shape, finish, *args):
        """Return the sum over groups of what `finish` makes of what `add` adds up to."""

        def add_group(group, total):
            for first in range(group.start, group.stop, self._block):
                block = slice(first, min(first + self._block, group.stop))
                scale = None if self._scale is None else self._scale[block]
                add(block, self._read(block), scale, total, *args)

        return self._sum_groups(add_group, shape, finish)

    def _sum_groups(self, add_group, shape, finish, *args):
        """Return the sum over groups of what `finish` makes of what is added of each."""

        def sum_group(start):
            total = np.zeros(shape)
            add_group(slice(start, min(start + self._group, self._n_rows)), total, *args)
            return finish(total)

        return self._over(sum_group, range(0, self._n_rows, self._group))

    def _over(self, add, jobs):
        """Return the sum of what `add` makes of each job."""
        caller = copy_context()

        def quietly(job):
            # A thread has a context of its own, in which nothing would say whether sums are
            # compiled; see `skdp._rows.fused`.
            return caller.copy().run(_without_warnings, add, job)

        each = map if self._helpers is None else self._helpers.map
        return sum_in_order(each(quietly, jobs))


class RowSums(BlockSums):
    """Sums over n certified rows z of p columns, the intercept's included.

    A row's clipping factor multiplies what is computed from the row, not its entries. Null records,
    whose norm is 0, add nothing. Weights, of shape (n,), are what records count.
    """

    def __init__(self, rows, targets, loss, n_jobs=None, weights=None):
        kernels = kernels_for(rows.X) if targets.shape[1] == 1 else None
        if kernels is not None and loss.name not in kernels.LOSSES:
            kernels = None
        X = rows.X if kernels is not None else getattr(rows.X, "in_memory", rows.X)
        super().__init__(X, rows.n_columns, n_jobs, kernels=kernels)
        self._scale, self._bias, norm = rows.scale, rows.bias, rows.norm
        self._targets, self._loss, self._counted = squeezed(targets), loss, weights
        self._weight, self._shift = rows.weight, rows.shift
        self._weights = joint_weights(weights, rows.weight)
        self._is_null = norm == 0.0 if np.count_nonzero(norm) < norm.size else None
        self._A, self._lengths, self._bound = None, norm, np.inf
        self.n_outputs = targets.shape[1]

    def moment(self, mechanism):
        """Return the sum of the rows' outer products with themselves, by `as_vector`.

        Each times its weight, cut to 1 where there is a bound: no weight moves the bound. The sums
        of groups are rounded to the grid of the mechanism.
        """
        weights = self._counted
        if weights is not None and not isinf(mechanism.contribution_bound):
            weights = np.minimum(weights, 1.0)
        return self._sum_of_squares(self._add_moment, mechanism, weights)

    def bound_slopes(self, A, bound, lengths=None):
        """Have the slopes of a row z cut so that ``||A z||`` times their length is within a bound.

        A, of shape (p, p), is symmetric; diagonal where it is sparse. Returns ``||A z||`` of each
        row, with an infinite bound anything, and takes it from an earlier call for the same. Of a
        row that is too short to be measured it is 0, so that the row adds nothing.
        """
        self._A, self._bound = A, np.array(bound)
        if isinf(bound):
            return self._lengths
        if lengths is not None:
            self._lengths = lengths
            return lengths
        if issparse(A):
            # Rows get no longer than the largest entry makes them.
            self._lengths = self._lengths * np.abs(A.diagonal()).max()
        else:
            self._lengths = np.empty(self._lengths.shape)
            if self._kernels is None:
                self._sum(self._set_lengths, (), float, A)
            else:
                self._sum_groups(self._measure, (), float, np.ascontiguousarray(A))
            if self._is_null is not None:
                self._lengths[self._is_null] = 0.0
        self._lengths[self._lengths < SMALLEST_NORM] = 0.0
        return self._lengths

    def slopes(self, w, mechanism):
        """Return the sum of the outer products of mapped rows ``A z`` and slopes, of shape (p, k).

        At weights w of mapped rows; sums of groups are rounded to the grid of the mechanism.
        """

        def finish(total):
            return mechanism.rounded(self._A @ self._shifted(total))

        # NumPy is faster on one axis than on two of which one has length 1.
        weights = self._A @ w
        weights = weights[:, 0] if self.n_outputs == 1 else weights
        if self._kernels is None or isinf(self._bound):
            total = self._sum(self._add_slopes, weights.shape, finish, weights)
        else:
            total = self._sum_groups(self._add_fused, weights.shape, finish, weights)
        return total.reshape(w.shape)

    def _add_fused(self, group, total, w):
        """Add the slopes of a group of rows, as `_add_slopes` does by block."""
        d, bias = self._X.shape[1], self._bias
        of_rows = self._scale, self._targets, self._lengths, self._weights
        of_rows = (each if each is None else each[group] for each in of_rows)
        units = units_of(self._X, group)
        kind, constant = self._kernels.LOSSES[self._loss.name], bias * w[-1] if bias else 0.0
        part, w = np.zeros(d + 1), np.ascontiguousarray(w[:d])
        self._kernels.add_slopes(
            kind, self._size, units, *of_rows, float(self._bound), w, constant, part
        )
        total[:d] += part[:d]
        if bias:
            total[d] += bias * part[d]

    def _add_moment(self, block, x, scale, total, weights):
        d, bias = x.shape[1], self._bias
        if scale is not None:
            x = scaled_rows(x, scale)
        counted = np.ones(x.shape[0]) if weights is None else weights[block]
        ones = None
        if self._weight is not None:
            # Never squares of weights times rows: those of long rows have no digits.
            ones = self._weight[block]
            x = scaled_rows(x, ones)
        if self._is_null is not None:
            x = scaled_rows(x, ~self._is_null[block])
            counted = counted * ~self._is_null[block]
        weighted = x if weights is None else scaled_rows(x, counted)
        _add_products(x, weighted, total[:d, :d])
        if bias:
            sums = bias * (weighted.sum(axis=0) if ones is None else weighted.T @ ones)
            total[:d, d] += sums
            total[d, :d] += sums
            if ones is not None:
                counted = counted * ones**2
            total[d, d] += bias**2 * counted.sum()

    def _set_lengths(self, block, x, scale, total, A):
        self._lengths[block] = row_norms(self._products(x, scale, A))

    def _measure(self, group, total, A):
        """Put what `_set_lengths` does, of a group of rows."""
        lengths = self._lengths[group]
        scale = np.ones(lengths.size) if self._scale is None else self._scale[group]
        self._kernels.set_mapped_lengths(units_of(self._X, group), scale, self._bias, A, lengths)

    def _add_slopes(self, block, x, scale, total, w):
        slopes = self._loss.gradient(self._targets[block], self._products(x, scale, w))
        weights = None if self._weights is None else self._weights[block]
        clip_contributions(slopes, self._lengths[block], self._bound, weights)
        d = x.shape[1]
        if self._bias:
            total[d] += self._bias * slopes.sum(axis=0)
        if scale is not None:
            slopes = slopes * (scale if slopes.ndim == 1 else scale[:, np.newaxis])
        columns = self._sparse(block)[1] if issparse(x) else x.T
        total[:d] += columns @ slopes

    def _products(self, x, scale, w):
        """Return the rows of a block times w."""
        products = x @ w[: x.shape[1]]
        if scale is not None:
            products *= scale if products.ndim == 1 else scale[:, np.newaxis]
        if self._bias:
            products += self._bias * w[-1]
        if self._shift is not None:
            products -= self._shift @ w[: x.shape[1]]
        return products

    def _shifted(self, total):
        """Return a sum over rows, augmented, as if what is to be taken off of them had been."""
        if self._shift is not None:
            total[:-1] -= np.multiply.outer(self._shift, total[-1] / self._bias)
        return total

    def _sum_of_squares(self, add, mechanism, *args):
        """Return the sum over groups of symmetric matrices, by `as_vector`."""
        shape = self.n_columns, self.n_columns

        def finish(total):
            return mechanism.rounded(as_vector(self._shifted(self._shifted(total).T)))

        return self._sum(add, shape, finish, *args)


# Squares of smaller lengths have few digits.
_SHORTEST = 1e-150
# Weights near the end of double precision have few, too.
_LEAST_WEIGHT = 1e-290
# A loss of a row by clipping counts up to this share of the bound.
LOST = 0.25


class InferenceSums(RowSums):
    """Sums over rows of one output, and those of their weights, by a model of `MODELS`.

    What is asked of weights is asked at slopes that `bound_slopes` has cut.
    """

    def __init__(self, model, rows, targets, loss, n_jobs=None, weights=None):
        super().__init__(rows, targets, loss, n_jobs, weights)
        self._model = model
        if self._weights is not None:
            # As in the moment, which is then that of the curvature.
            self._weights = self._weights**2

    def lengths(self, bins, mechanism):
        """Return how many rows count as rows of a mapped length in each bin, null ones in none."""
        bin_of_row = places(bins, self._weight * self._lengths / bins.unit)
        counts = np.bincount(bin_of_row[self._lengths > 0.0], minlength=bins.n_bins)
        return mechanism.rounded(counts.astype(np.float64))

    def shorten(self, longest):
        """Have no row count as one whose mapped length is more."""
        lengths = np.fmax(self._weight * self._lengths, longest)
        self._weights = self._weights * np.square(longest / lengths)

    def means(self, w, mechanism):
        """Return the sums of two numbers in [0, 1]: of rows' shares, and of what clipping took.

        The second is over `LOST` times the bound, and 1 from there on. The mechanism is of two
        numbers, or of the first alone.
        """

        def finish(sums):
            return mechanism.rounded(sums[: mechanism.size])

        return self._sum(self._add_means, (2,), finish, w)

    def matrix(self, w, bound, mechanism):
        """Return the sum of weights times outer products of mapped rows, by `as_vector`.

        A row's weight is cut so that its term's trace is within a bound.
        """
        return self._sum_of_squares(self._add_matrix, mechanism, w, bound)

    def _weigh(self, block, x, scale, w):
        """Return a block's slopes as they are, and weights at cut ones; null records have none."""
        predictions = self._products(x, scale, (self._A @ w)[:, 0])
        slopes = self._loss.gradient(self._targets[block], predictions)
        if self._weights is not None:
            slopes *= self._weights[block]
        cut = clip_contributions(slopes.copy(), self._lengths[block], self._bound)
        counted = 1.0 if self._weights is None else self._weights[block]
        weights = self._model.weights(cut, predictions, counted)
        weights[(self._lengths[block] == 0.0) | ~np.isfinite(weights)] = 0.0
        return slopes, weights

    def _add_means(self, block, x, scale, total, w):
        slopes, weights = self._weigh(block, x, scale, w)
        lengths = self._lengths[block]
        shares = self._model.shares(weights, lengths, 1.0 if isinf(self._bound) else self._bound)
        # A share that overflowed to no number counts as the most.
        total[0] += np.fmin(shares, 1.0).sum()
        lost = (np.abs(slopes) * lengths / self._bound - 1.0) / LOST
        total[1] += np.fmin(np.maximum(lost, 0.0), 1.0)[lengths > 0.0].sum()

    def _add_matrix(self, block, x, scale, total, w, bound):
        weights = self._weigh(block, x, scale, w)[1]
        mapped = self._products(x, scale, self._A)
        lengths = row_norms(mapped)
        if not isinf(bound):
            largest_weights = bound / np.maximum(lengths, _SHORTEST) ** 2
            # Rows that overflow, or whose weight has few digits, add nothing.
            lost = ~(largest_weights > _LEAST_WEIGHT)
            np.minimum(weights, largest_weights, out=weights)
            mapped[lost], weights[lost] = 0.0, 0.0
        mapped *= np.sqrt(weights)[:, np.newaxis]
        total += mapped.T @ mapped
