"""Sums over rows in fixed blocks and in row order."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import copy_context

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csc_array, issparse

from skdp._rows.coded_rows import CodedRows, is_sparse
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
_CHUNK, _ROWS_PER_COLUMN, _MOST_PER_CHUNK = 8, 8, 2**14
_UNIT_ROUNDOFF = 2.0**-53


def block_rows(n_columns):
    """Return how many rows a block has: a function of their length alone."""
    return max(_LEAST_ROWS, min(_MOST_ROWS, _BLOCK_BYTES // (8 * n_columns)))


def _blocks_of_chunk(n_columns, size):
    """Return how many blocks of so many rows are added up: a function of shapes alone."""
    return max(_CHUNK, min(_ROWS_PER_COLUMN * n_columns, _MOST_PER_CHUNK) // size)


def rounding_slack(n_rows, n_columns, n_outputs):
    """Return a relative bound on what rounding adds to the sensitivity of a sum over all rows.

    Sums of chunks are rounded to a grid and then add up exactly, so only the chunk of the record
    that changes counts, however many rows there are. Within it, m terms that are added in blocks
    are off by at most ``u (block + blocks + 2)`` times the sum of their sizes (Higham 2002, section
    4.2), and a map of the sum, or of a row, by ``u p^1.5`` times the sizes that go in. Two sums are
    compared. A map that makes one direction longer than another makes it so many times as much.
    """
    # Sparse blocks are the longer ones, and of others there are more in a chunk.
    dense = block_rows(n_columns)
    sparse = max(dense, LEAST_SPARSE_ROWS)
    blocks = _blocks_of_chunk(n_columns, dense)
    per_sum = sparse + blocks + 2.0 + n_columns**1.5
    per_record = 2.0 * n_columns**1.5 + n_outputs + 8.0
    longest = max(blocks * dense, _blocks_of_chunk(n_columns, sparse) * sparse)
    per_chunk = per_sum * min(n_rows, longest) + per_record
    return 2.0 * _UNIT_ROUNDOFF * per_chunk


def _rows_of(X, start, stop):
    """Return rows of a CSR array, and their transpose, that lie in its memory."""
    shape, first, last = (stop - start, X.shape[1]), X.indptr[start], X.indptr[stop]
    rows_and_transpose = type(X)(shape, dtype=X.dtype), csc_array(shape[::-1], dtype=X.dtype)
    for one in rows_and_transpose:
        # Their constructors would make copies.
        one.data, one.indices = X.data[first:last], X.indices[first:last]
        one.indptr = X.indptr[start : stop + 1] - first
    return rows_and_transpose


def scaled_rows(x, factors):
    """Return rows of float64 times a factor each."""
    if not issparse(x):
        return x * factors[:, np.newaxis]
    data = x.data * np.repeat(factors, np.diff(x.indptr))
    return type(x)((data, x.indices, x.indptr), shape=x.shape)


def places(bins, lengths):
    """Return the bins that lengths over their unit are in; infinite ones are in the last."""
    bin_of_row = np.abs(lengths).view(np.int64)
    bin_of_row >>= bins.shift
    bin_of_row -= bins.first
    return np.clip(bin_of_row, 0, bins.n_bins - 1, out=bin_of_row)


def _without_warnings(add, job):
    with np.errstate(all="ignore"):
        return add(job)


class BlockRows:
    """Rows in memory, n of p columns, that answer queries by sums over their blocks.

    Blocks are added in row order within chunks of blocks, whose sums are rounded to the grid of
    the mechanism that will release the whole. Numbers on a grid add up exactly: the result is the
    same to the last bit for every `n_jobs`, and rounding errors don't grow with the number of
    chunks. `kernels` has compiled sums, where they are used.
    """

    # Factors of rows, of shape (n,), where there are any.
    scale = None
    # The number of rows isn't public where records are groups of rows. Threads follow `n_jobs`
    # alone then.
    n_rows_is_public = True

    def __init__(self, X, n_columns, n_jobs=None, kernels=None):
        self.kernels = kernels
        self.X, self.n_columns, self.n_rows = X, n_columns, X.shape[0]
        self.block_size = min(block_rows(n_columns), self.n_rows)
        # Those of sparse rows are longer.
        least = LEAST_SPARSE_ROWS if is_sparse(X) else 0
        self.rows_of_block = max(self.block_size, least)
        self._chunk = _blocks_of_chunk(n_columns, self.rows_of_block) * self.rows_of_block
        most_threads = _MOST_THREADS
        if self.n_rows_is_public:
            n_chunks = -(-self.n_rows // self._chunk)
            most_threads = min(n_chunks, _MOST_THREADS) if kernels is None else n_chunks
            most_threads = most_threads if self.n_rows * n_columns >= WORTHWHILE_ENTRIES else 1
        self._n_workers = max(1, min(effective_n_jobs(n_jobs), most_threads))
        self._helpers, self._sparse_blocks = None, {}

    def ask(self, query):
        """Return the answer to a `Query`."""
        return query.total(self)

    @contextmanager
    def at_work(self):
        """Hold BLAS to one thread, and threads of our own ready, while queries are asked."""
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

    def read(self, block):
        """Return the rows of a slice as float64."""
        if is_sparse(self.X):
            return self.sparse_block(block)[0].astype(np.float64, copy=False)
        x = self.X[block]
        # NumPy may multiply rows that don't lie side by side in another order than their copies,
        # and whether there are copies may hang on a record elsewhere.
        return np.ascontiguousarray(x, dtype=np.float64)

    def blocks(self):
        """Give slices of the rows of each block."""
        for first in range(0, self.n_rows, self.rows_of_block):
            yield slice(first, min(first + self.rows_of_block, self.n_rows))

    def sparse_block(self, block):
        """Return rows of a slice and their transpose: to make them takes longer than a product."""
        if isinstance(self.X, CodedRows):
            # These are made from the codes, and take several times as much memory.
            rows = self.X[block]
            return rows, rows.T
        place = block.indices(self.n_rows)[:2]
        if place not in self._sparse_blocks:
            self._sparse_blocks[place] = _rows_of(self.X, *place)
        return self._sparse_blocks[place]

    def sum_blocks(self, add, shape, finish, *args):
        """Return the sum over chunks of what `finish` makes of what `add` adds up to."""

        def add_chunk(chunk, total):
            for first in range(chunk.start, chunk.stop, self.rows_of_block):
                block = slice(first, min(first + self.rows_of_block, chunk.stop))
                scale = None if self.scale is None else self.scale[block]
                add(block, self.read(block), scale, total, *args)

        return self.sum_chunks(add_chunk, shape, finish)

    def sum_chunks(self, add_chunk, shape, finish, *args):
        """Return the sum over chunks of what `finish` makes of what is added of each."""

        def sum_chunk(start):
            total = np.zeros(shape)
            add_chunk(slice(start, min(start + self._chunk, self.n_rows)), total, *args)
            return finish(total)

        return self.sum_over(sum_chunk, range(0, self.n_rows, self._chunk))

    def sum_over(self, add, jobs):
        """Return the sum of what `add` makes of each job."""
        caller = copy_context()

        def quietly(job):
            # A thread has a context of its own, in which nothing would say whether sums are
            # compiled; see `skdp._rows.fused`.
            return caller.copy().run(_without_warnings, add, job)

        each = map if self._helpers is None else self._helpers.map
        return sum_in_order(each(quietly, jobs))
