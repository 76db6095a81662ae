"""Passes over the rows of a table, where they are computed."""

from contextlib import contextmanager

from skdp._solvers._parallel import single_threaded_blas
from skdp.dask._sums import ClusterSums, LocalSums


@contextmanager
def passes(table, reader, *, client=None, verbose=0):
    """Give sums over the rows of a table, which were read once.

    Parameters
    ----------
    table : Table
    reader : estimator
        See `skdp.dask._parts.read_part`.
    client : distributed.Client, default=None
        None takes this process.
    verbose : int, default=0
        Whether to show how many passes were made.
    """
    with _bar(verbose) as on_pass, single_threaded_blas:
        if client is None:
            sums = LocalSums(table, reader, on_pass)
        else:
            sums = ClusterSums(table, reader, on_pass, client)
        sums.read()
        yield sums


@contextmanager
def _bar(verbose):
    """Give a function to call after each pass, which shows a bar where that is asked for."""
    if not verbose:
        yield lambda: None
        return
    from tqdm import tqdm

    with tqdm(desc="passes over the rows", unit=" pass") as bar:
        yield bar.update
