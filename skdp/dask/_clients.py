"""Where partitions are computed, and what is told when that fails."""

import time
from concurrent.futures import CancelledError

from dask.optimization import cull
from distributed import default_client

from skdp._progress import progress

# Seconds after which it is looked how many tasks are done, where that is shown.
_BETWEEN_LOOKS = 0.05
CHANGED = (
    "a partition gave other rows than it did before, and bounds hold for those: persist the "
    "collection, or read it from something that doesn't change."
)
_FAILED_HERE = (
    "a partition failed in this process with {}. What it says may quote an entry, and is withheld: "
    "compute the partition by itself to see it. Nothing was published."
)
_FAILED_THERE = (
    "a task failed on the workers with {}. What it says may quote an entry, and is left to their "
    "logs. Nothing was published."
)
_CANCELLED = (
    "what workers held of the collection is gone ({}): keep what is persisted while a fit runs; "
    "persist a frame's partitions, as in "
    "dask.dataframe.from_delayed(client.persist(frame.to_delayed(optimize_graph=False))). "
    "Nothing was published."
)


class RowsChangedError(ValueError):
    """Raised where rows are computed, if they aren't those that were read before."""

    def __init__(self):
        super().__init__(CHANGED)

    def __reduce__(self):
        return type(self), ()


def resolve_client(client):
    """Return a client that can be waited for, the current one, or None where there is none."""
    if client is None:
        try:
            client = default_client()
        except ValueError:
            return None
    if client.asynchronous:
        raise ValueError(
            "client is asynchronous, and a fit waits for its sums: give Client(address)."
        )
    if client.status != "running":
        raise ValueError("client is closed: give one that is connected to its scheduler.")
    return client


def culled(parts):
    """Return the graph and key of each part, of which the graph has nothing that isn't needed.

    A collection's has the tasks of all parts, and to go through them for each part of each pass
    takes longer than to read the part.
    """
    graphs = {id(graph): dict(graph) for graph in {id(p.dask): p.dask for p in parts}.values()}
    return [(cull(graphs[id(part.dask)], [part.key])[0], part.key) for part in parts]


def call_locally(function, *args, **options):
    """Return what a function makes of partitions in this process."""
    return _withheld(_FAILED_HERE, function, *args, **options)


def call_client(function, *args, **options):
    """Return what a method of a client gives."""
    return _withheld(_FAILED_THERE, function, *args, **options)


def gathered(client, futures, what=None):
    """Return the results of futures; how many are done is shown, where what they do has a name."""
    shown = progress()
    if what is not None and shown.is_shown:
        call_client(_shown_until_done, futures, shown.counted(what, len(futures)))
    return call_client(client.gather, futures)


def _shown_until_done(futures, one_done):
    pending = list(futures)
    while pending:
        left = [future for future in pending if not future.done()]
        for _ in range(len(pending) - len(left)):
            one_done()
        pending = left
        if pending:
            time.sleep(_BETWEEN_LOOKS)


def _withheld(failed, function, *args, **options):
    """Call a function that computes partitions; no error quotes what it computed.

    An error is raised anew where none is being handled, so that nothing of it is in the context: a
    RuntimeError with the text `failed` and the kind of error, or a ValueError if rows changed.
    """
    try:
        return function(*args, **options)
    except RowsChangedError:
        kind, message = ValueError, CHANGED
    except CancelledError as error:
        kind, message = RuntimeError, _CANCELLED.format(type(error).__name__)
    except Exception as error:
        kind, message = RuntimeError, failed.format(type(error).__name__)
    raise kind(message)
