"""Fixed blocks of a batch, worked on by threads and reduced in block order."""

import threading
from contextlib import ExitStack, contextmanager

from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import ThreadpoolController

BLOCK_ROWS = 2048
# Entries of a batch below which handing work to threads costs more than it saves.
_WORTHWHILE_ENTRIES = 2**21


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
                self._limits = self._controller.limit(limits=1, user_api="blas")
            self._n_inside += 1

    def __exit__(self, *exc_info):
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._limits.restore_original_limits()


single_threaded_blas = _SingleThreadedBlas()


@contextmanager
def block_mapper(n_jobs, expected_entries):
    """Give a function ``map_blocks(update, n_items)`` and the number of workers it may use.

    ``update(start, stop, worker)`` is called once for each block of at most `BLOCK_ROWS` items;
    ``worker`` tells which of the workers' buffers it may use. The results come back in block order,
    so what is computed from them doesn't depend on `n_jobs`.

    Parameters
    ----------
    n_jobs : int or None
        As in joblib. Threads are used only if a step has enough work for them.
    expected_entries : float
        Entries that a step is expected to read, public.
    """
    n_workers = effective_n_jobs(n_jobs) if expected_entries >= _WORTHWHILE_ENTRIES else 1

    def work(update, n_items, worker):
        starts = range(worker * BLOCK_ROWS, n_items, n_workers * BLOCK_ROWS)
        return [update(start, min(start + BLOCK_ROWS, n_items), worker) for start in starts]

    with ExitStack() as stack:
        stack.enter_context(single_threaded_blas)
        if n_workers == 1:
            yield lambda update, n_items: work(update, n_items, 0), 1
            return
        parallel = stack.enter_context(Parallel(n_jobs=n_workers, backend="threading"))

        def map_blocks(update, n_items):
            per_worker = parallel(
                delayed(work)(update, n_items, worker) for worker in range(n_workers)
            )
            n_blocks = sum(map(len, per_worker))
            return [per_worker[block % n_workers][block // n_workers] for block in range(n_blocks)]

        yield map_blocks, n_workers
