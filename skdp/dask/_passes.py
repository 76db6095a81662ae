"""Where the passes of a fit are made: in this process, or by workers."""

from contextlib import closing, contextmanager
from functools import partial

from skdp._rows.threads import single_threaded_blas
from skdp.dask._partitioned import LocalRows
from skdp.dask._pinned import PinnedRows

NOT_COVERED = "workers, scheduler and network, which see records and exact sums and are trusted"
PARTITIONS = "the partitions of the collections, and that how they were cut doesn't follow records"


@contextmanager
def passes(table, reader, *, client=None):
    """Give the rows of a table, which were read and answer queries: by a client, or here."""
    with single_threaded_blas:
        here = LocalRows if client is None else partial(PinnedRows, client=client)
        with closing(here(table, reader)) as rows:
            rows.read()
            yield rows
