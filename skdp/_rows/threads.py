"""Fixed blocks of a batch, worked on by threads and reduced in block order."""

import math
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import reduce
from itertools import starmap
from operator import iadd

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

BLOCK_ROWS = 2048
# Rows that a thread has at a time where each is worked on by itself.
_ROWS_AT_A_TIME = 2**14
# Entries of a batch below which handing work to threads costs more than it saves.
WORTHWHILE_ENTRIES = 2**20


class _SingleThreadedBlas:
    """Holds BLAS to one thread while any solver runs, in whichever Python thread.

    Threaded BLAS splits sums by the number of threads, which would change bits, and is slower on
    small batches. The limit is the process's, so the last solver to leave lifts it.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._n_inside = 0
        self._controller = None
        self._limits = None

    def __enter__(self):
        with self._lock:
            if self._n_inside == 0:
                if self._controller is None:
                    # Looking for libraries takes milliseconds. NumPy's and SciPy's are loaded.
                    self._controller = ThreadpoolController()
                self._limits = self.limit()
            self._n_inside += 1

    def limit(self):
        """Set one thread for BLAS as called from this thread."""
        return self._controller.limit(limits=1, user_api="blas")

    def __exit__(self, *exc_info):
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._limits.restore_original_limits()


single_threaded_blas = _SingleThreadedBlas()


@contextmanager
def block_mapper(n_jobs, expected_size, rows, new_buffers):
    """Give a function ``map_blocks(update, batch, *args)`` that shares a batch among threads.

    ``update(buffers, indices, *args)`` is called for each `BLOCK_ROWS` of the batch's row indices,
    with buffers that nobody else uses meanwhile. The results come back in order, so what is
    computed from them doesn't depend on `n_jobs`. There are no more threads than blocks, and one if
    a step has little work. `new_buffers` is called once for each thread, with `rows` and the
    largest number of them it will be given.
    """
    n_rows, n_features = rows.X.shape
    n_workers = 1
    if expected_size * n_features >= WORTHWHILE_ENTRIES:
        n_workers = max(1, min(effective_n_jobs(n_jobs), _n_blocks(expected_size)))
    buffers = [new_buffers(rows, min(BLOCK_ROWS, n_rows)) for _ in range(n_workers)]

    def work(update, batch, args, worker):
        starts = range(worker * BLOCK_ROWS, batch.size, n_workers * BLOCK_ROWS)
        # A thread has a context of its own.
        with np.errstate(all="ignore"):
            blocks = (batch[start : start + BLOCK_ROWS] for start in starts)
            return [update(buffers[worker], block, *args) for block in blocks]

    def map_alone(update, batch, *args):
        if batch.size <= BLOCK_ROWS:
            return [update(buffers[0], batch, *args)]
        return work(update, batch, args, 0)

    with ExitStack() as stack:
        stack.enter_context(single_threaded_blas)
        if n_workers == 1:
            yield map_alone
            return
        # joblib's threads wait for each other in steps of 10 ms, which is longer than our steps.
        # Some builds of BLAS count threads for each of ours.
        helpers = stack.enter_context(
            ThreadPoolExecutor(n_workers - 1, initializer=single_threaded_blas.limit)
        )

        def map_blocks(update, batch, *args):
            n_used = min(n_workers, _n_blocks(batch.size))
            if n_used <= 1:
                return map_alone(update, batch, *args)
            others = [
                helpers.submit(work, update, batch, args, worker) for worker in range(1, n_used)
            ]
            per_worker = [work(update, batch, args, 0), *(other.result() for other in others)]
            n_blocks = sum(map(len, per_worker))
            return [per_worker[block % n_used][block // n_used] for block in range(n_blocks)]

        yield map_blocks


def for_each_block(work, n_rows, n_columns, n_jobs):
    """Call a function with slices of all rows, in threads where there is enough work.

    What it does with a row must follow from the row alone, so that it doesn't matter which blocks
    there are.
    """
    starts = range(0, n_rows, _ROWS_AT_A_TIME)
    blocks = ((slice(start, min(start + _ROWS_AT_A_TIME, n_rows)),) for start in starts)
    n_threads = 1
    if n_rows * n_columns >= WORTHWHILE_ENTRIES:
        n_threads = max(1, min(effective_n_jobs(n_jobs), len(starts)))

    def quietly(block):
        # A thread has a context of its own.
        with np.errstate(all="ignore"):
            work(block)

    with single_threaded_blas:
        deque(map_in_order(quietly, blocks, n_threads), maxlen=0)


def map_in_order(function, arguments, n_threads):
    """Give what a function makes of tuples of arguments, in their order.

    No more than one result for each thread waits to be asked for.
    """
    if n_threads == 1:
        yield from starmap(function, arguments)
        return
    with ThreadPoolExecutor(n_threads, initializer=single_threaded_blas.limit) as helpers:
        waiting = deque()
        for args in arguments:
            waiting.append(helpers.submit(function, *args))
            if len(waiting) > n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _n_blocks(n_rows):
    return math.ceil(n_rows / BLOCK_ROWS)


def sum_in_order(parts):
    """Return the sum of arrays, added from left to right; the first is overwritten."""
    return reduce(iadd, parts)
