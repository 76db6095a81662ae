"""Sums over rows that lie in parts, here or on the workers of a cluster."""

import os
import tempfile
from abc import ABC, abstractmethod
from itertools import chain, repeat
from uuid import uuid4

import dask
import numpy as np
from distributed import get_worker

from skdp._solvers._parallel import sum_in_order
from skdp.dask._parts import (
    CHANGED,
    Refusal,
    measure_part,
    part_by_label,
    part_moment,
    part_of_rows,
    part_slopes,
    read_part,
)

# Numbers kept of rows, above which they lie in a file.
_MOST_IN_MEMORY = 2**24
# Sums of parts that come here as they are, and how many of more one task adds up.
_MOST_GATHERED, _BRANCHES = 64, 16
_FAILED = (
    "a task failed on the workers with {}. What it says may quote an entry, and is left to their "
    "logs. Nothing was published."
)


class PartedSums(ABC):
    """What `solve_whitened` asks of rows, summed over parts.

    The sum of a part is on the grid of the mechanism that will release the whole. So parts may be
    added in any order, and a part that was computed twice counts as it did before. Without noise
    there is no grid: sums are then added in the order of parts.

    Parameters
    ----------
    table : Table
    reader : Reader
    on_pass : callable
        Called at the end of every pass over the rows.
    """

    def __init__(self, table, reader, on_pass):
        self._table, self._reader, self._on_pass = table, reader, on_pass
        self._A = self._bound = None

    def moment(self, mechanism):
        """See `RowSums.moment`."""
        return self._total("moment", part_moment, mechanism, grid=mechanism.grid)

    def bound_slopes(self, A, bound):
        """See `RowSums.bound_slopes`."""
        self._A, self._bound = A, bound
        self._measure()
        self._on_pass()

    def slopes(self, w, mechanism):
        """See `RowSums.slopes`."""
        args = self._A, self._bound, w, mechanism
        return self._total("slopes", part_slopes, *args, grid=mechanism.grid)

    def by_label(self, mechanism):
        """Return the sum of the rows of each class, see `part_by_label`."""
        return self._total("labels", part_by_label, mechanism, grid=mechanism.grid)

    def of_rows(self):
        """Return the sum of the rows, of shape (p,)."""
        return self._total("rows", part_of_rows)

    def _total(self, name, function, *args, grid=0.0):
        total = sum_in_order(self._sums(name, function, args, is_exact=grid > 0.0))
        self._on_pass()
        return total

    @abstractmethod
    def read(self):
        """Read all parts once, and keep what is kept of them.

        Raises
        ------
        ValueError
            If a part can't be used; the message quotes no entry.
        """

    @abstractmethod
    def _measure(self):
        """Keep the lengths of mapped rows, too."""

    @abstractmethod
    def _sums(self, name, function, args, is_exact):
        """Give sums that add up to the whole: in the order of parts where they aren't exact."""


class LocalSums(PartedSums):
    """Parts that are read in order by this process, one at a time.

    What is kept of many rows lies in a file without a name, where temporary files are.
    """

    def read(self):
        self._kept = self._stored(self._read())
        self._on_pass()

    def _read(self):
        table = self._table
        for size, *pair in zip(table.sizes, table.rows, table.targets, strict=True):
            kept = read_part(self._reader, size, *_computed(*pair))
            _refuse_if_any([kept])
            yield kept

    def _measure(self):
        self._kept = self._stored(self._each(measure_part, (self._A, self._bound)))

    def _sums(self, name, function, args, is_exact):
        return self._each(function, args)

    def _each(self, function, args):
        n_threads = self._reader.n_jobs
        for rows, kept in zip(self._table.rows, self._kept, strict=True):
            (X,) = _computed(rows)
            yield function(self._reader, n_threads, X, kept, *args)

    def _stored(self, kept):
        """Return what is kept of all parts, moved to a file where it is much."""
        if self._table.n_rows <= _MOST_IN_MEMORY:
            return list(kept)
        with tempfile.TemporaryFile() as file:
            return [_in_file(part, file) for part in kept]


def _computed(*collections):
    """Return partitions as this process computes them, one at a time."""
    try:
        return dask.compute(*collections, scheduler="synchronous")
    except Exception as error:
        name = type(error).__name__
    raise RuntimeError(_FAILED.format(name))


def _in_file(kept, file):
    """Return what is kept of a part, its arrays moved to the end of a file."""
    moved = {}
    for name, value in kept._asdict().items():
        if isinstance(value, np.ndarray):
            start = file.seek(0, os.SEEK_END)
            copy = np.memmap(file, dtype=value.dtype, mode="w+", offset=start, shape=value.shape)
            copy[...] = value
            moved[name] = copy
    return kept._replace(**moved)


class ClusterSums(PartedSums):
    """Parts that workers of a cluster hold or read.

    A pass is one task a worker where workers hold the parts, and one task a part otherwise. Tasks
    have no coins and no state, and what they need can be computed again: a worker that dies costs
    time.

    Parameters
    ----------
    table, reader, on_pass
        See `PartedSums`.
    client : distributed.Client
    """

    def __init__(self, table, reader, on_pass, client):
        super().__init__(table, reader, on_pass)
        self._client = client
        self._rows = client.compute(table.rows) if table.held else table.rows
        self._kept = []

    def read(self):
        table = self._table
        parts = zip(table.sizes, self._rows, table.targets, strict=True)
        self._kept = self._submit("read", [(read_part, self._reader, *part) for part in parts])
        refusals = self._submit("check", [(_refusal, kept) for kept in self._kept])
        _refuse_if_any(self._gather(refusals))
        self._on_pass()

    def _measure(self):
        self._kept = self._submit(
            "measure",
            [
                (_work, measure_part, self._reader, X, kept, self._A, self._bound)
                for X, kept in zip(self._rows, self._kept, strict=True)
            ],
        )
        # An error is seen when they are asked for.

    def _sums(self, name, function, args, is_exact):
        tasks, workers, places = [], [], []
        for worker, held in self._places():
            rows, kept = ([kind[place] for place in held] for kind in (self._rows, self._kept))
            tasks.append((_sum_parts, function, self._reader, is_exact, rows, kept, args))
            workers.append(worker)
            places += held
        sums = self._submit(name, tasks, workers)
        while is_exact and len(sums) > _MOST_GATHERED:
            heaps = [sums[i : i + _BRANCHES] for i in range(0, len(sums), _BRANCHES)]
            sums = self._submit("add", [(_added, heap) for heap in heaps])
        found = list(chain.from_iterable(self._gather(sums)))
        return found if is_exact else [found[i] for i in np.argsort(places)]

    def _places(self):
        """Give workers, or None, and the places of parts that a task of theirs adds up."""
        if not self._table.held:
            return [(None, [place]) for place in range(len(self._rows))]
        holders = self._client.who_has(self._rows)
        by_worker = {}
        for place, future in enumerate(self._rows):
            held_by = holders.get(future.key) or (None,)
            by_worker.setdefault(min(held_by, key=str), []).append(place)
        return by_worker.items()

    def _submit(self, name, tasks, workers=None):
        """Return futures of tasks, each a function and its arguments."""
        made = []
        for (function, *args), worker in zip(tasks, workers or repeat(None), strict=False):
            options = {"workers": [worker], "allow_other_workers": True} if worker else {}
            key = f"skdp-{name}-{uuid4().hex}"
            with dask.annotate(**options):
                made.append(dask.delayed(function, pure=False)(*args, dask_key_name=key))
        return self._client.compute(made, optimize_graph=False)

    def _gather(self, futures):
        try:
            return self._client.gather(futures)
        except ValueError as error:
            if str(error) != CHANGED:
                raise RuntimeError(_FAILED.format(type(error).__name__)) from None
        except Exception as error:
            raise RuntimeError(_FAILED.format(type(error).__name__)) from None
        raise ValueError(CHANGED)


def _refusal(kept):
    return kept if isinstance(kept, Refusal) else None


def _refuse_if_any(kept):
    for part in kept:
        if isinstance(part, Refusal):
            raise ValueError(part.message)


def _work(function, reader, X, kept, *args):
    return function(reader, _n_threads(reader), X, kept, *args)


def _sum_parts(function, reader, is_exact, rows, kept, args):
    """Return the sum over parts, alone in a list, or without a grid all sums."""
    n_threads = _n_threads(reader)
    sums = [function(reader, n_threads, X, k, *args) for X, k in zip(rows, kept, strict=True)]
    return _added([sums]) if is_exact else sums


def _added(heaps):
    return [sum_in_order(chain.from_iterable(heaps))]


def _n_threads(reader):
    """Return the threads of a worker, unless the estimator says how many."""
    return get_worker().state.nthreads if reader.n_jobs is None else reader.n_jobs
