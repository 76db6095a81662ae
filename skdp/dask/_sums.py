"""Passes over the rows of a table, where they are computed."""

import os
import tempfile
from collections import defaultdict
from functools import partial
from itertools import chain, repeat
from types import SimpleNamespace
from uuid import uuid4

import dask
import numpy as np
from distributed import get_worker
from joblib import effective_n_jobs, parallel_config

from skdp._bounds import present_records, stretch_of
from skdp._random import random_name
from skdp._sklearn import as_configured_here
from skdp._threads import map_in_order, sum_in_order
from skdp.dask._clients import RowsChangedError, call_client, call_locally, culled
from skdp.dask._parts import (
    KeyedDigest,
    PartitionSpec,
    RejectedPartition,
    measure_part,
    move_targets,
    part_by_label,
    part_moment,
    part_of_ball,
    part_of_rows,
    part_of_targets,
    part_slopes,
    place_part,
    read_part,
)

# Bytes kept of rows, above which they lie in a file.
_MOST_IN_MEMORY = 2**27
# Sums of parts that come here as they are, and how many of more one task adds up.
_MOST_GATHERED, _BRANCHES = 64, 16


class PartedSums:
    """What `learn_ball` and `solve_whitened` ask of rows, summed over parts.

    The sum of a part is on the grid of the mechanism that will release the whole. So parts may be
    added in any order, and a part that was computed twice counts as it did before. Without noise
    there is no grid: sums are then added in the order of parts. `on_pass` is called at the end of
    every pass over the rows; for the reader see `read_part`.

    Subclasses have `read`, which keeps what is kept of all parts (a ValueError that quotes no entry
    if one can't be used) and tells by `_is_sparse` whether the rows of any are sparse, `_keep`,
    which keeps what a function makes of that and the rows, and `_sums`, which gives sums that add
    up to the whole: in the order of parts where they aren't exact.
    """

    def __init__(self, table, reader, on_pass):
        self._table, self._reader, self._on_pass = table, reader, on_pass
        self._seal = KeyedDigest(random_name().encode())
        null_rows = _null_rows_of_parts(table.sizes)
        shape = table.n_features, table.names, table.n_targets
        sizes = zip(table.sizes, null_rows, strict=True)
        self._stated = [PartitionSpec(size, *shape, null) for size, null in sizes]

    def counts(self, *args):
        """See `BallSums.counts`."""
        return self._of_ball("counts", *args)

    def counts_by_column(self, *args):
        """See `BallSums.counts_by_column`."""
        return self._of_ball("counts_by_column", *args)

    def moved(self, *args):
        """See `BallSums.moved`."""
        return self._of_ball("moved", *args)

    def squares(self, *args):
        """See `BallSums.squares`."""
        return self._of_ball("squares", *args)

    def longest(self, *args):
        """See `BallSums.longest`."""
        found = max(self._sums("ball", part_of_ball, ("longest", *args), is_exact=False))
        self._on_pass()
        return found

    def stretch(self, shift, length):
        """See `BallSums.stretch`."""
        return stretch_of(shift, length) if self._is_sparse else 1.0

    def _of_ball(self, name, *args, function=part_of_ball):
        return self._total("ball", function, name, *args, grid=args[-1].grid)

    def of_targets(self):
        """Return what `learn_targets` asks of targets, as rows; see `BallSums`."""
        of_ball = partial(self._of_ball, function=part_of_targets)
        names = "counts_by_side", "moved"
        return SimpleNamespace(**{name: partial(of_ball, name) for name in names})

    def move_targets(self, bounds):
        """Have targets moved to bounds, and mapped as training takes them, from now on."""
        self._keep("targets", move_targets, bounds)
        self._on_pass()

    def place(self, ball):
        """Have rows put into the units of a ball from now on, or clipped where it is None."""
        self._keep("place", place_part, ball)
        self._on_pass()

    def moment(self, mechanism):
        """See `RowSums.moment`."""
        return self._total("moment", part_moment, mechanism, grid=mechanism.grid)

    def bound_slopes(self, A, bound):
        """See `RowSums.bound_slopes`."""
        self._A, self._bound = A, bound
        self._keep("measure", measure_part, A, bound)
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
        total = _sum(self._sums(name, function, args, is_exact=grid > 0.0))
        self._on_pass()
        return total


class LocalSums(PartedSums):
    """Parts that are read in order by this process, as many at a time as it has threads.

    What is kept of many rows lies in a file without a name, where temporary files are.
    """

    def __init__(self, table, reader, on_pass):
        super().__init__(table, reader, on_pass)
        self._rows, self._targets = culled(table.rows), culled(table.targets)
        n_threads = effective_n_jobs(reader.n_jobs)
        self._n_parts = min(n_threads, len(self._rows))
        self._n_threads = n_threads // self._n_parts

    def read(self):
        self._kept = self._stored(self._read())
        self._is_sparse = any(kept.is_sparse for kept in self._kept)
        self._on_pass()

    def _read(self):
        @as_configured_here
        def read(stated, *pair):
            X, y = (call_locally(dask.get, *part) for part in pair)
            return call_locally(read_part, self._reader, stated, self._seal, X, y)

        parts = zip(self._stated, self._rows, self._targets, strict=True)
        for kept in map_in_order(read, parts, self._n_parts):
            _refuse_if_any([kept])
            yield kept

    def _keep(self, name, function, *args):
        self._kept = self._stored(self._each(function, args))

    def _sums(self, name, function, args, is_exact):
        return self._each(function, args)

    def _each(self, function, args):
        @as_configured_here
        def call(part, kept):
            X = call_locally(dask.get, *part)
            return call_locally(function, self._reader, self._n_threads, X, kept, *args)

        return map_in_order(call, zip(self._rows, self._kept, strict=True), self._n_parts)

    def _stored(self, kept):
        """Return what is kept of all parts, moved to a file where it is much."""
        kept = iter(kept)
        first = next(kept)
        if _bytes_of(first) / len(first.norm) * self._table.n_rows <= _MOST_IN_MEMORY:
            return [first, *kept]
        with tempfile.TemporaryFile() as file:
            return [_in_file(part, file) for part in chain([first], kept)]


def _null_rows_of_parts(sizes):
    """Return the null records of each part, counted within it, or None for each."""
    rows = range(sum(sizes))
    present = present_records(rows)
    if present is rows:
        return [None] * len(sizes)
    null, ends = np.setdiff1d(rows, present), np.cumsum(sizes)
    parts = np.searchsorted(ends, null, side="right")
    starts = ends - sizes
    return [(null[parts == part] - starts[part]).tolist() for part in range(len(sizes))]


def _bytes_of(kept):
    return sum(value.nbytes for value in kept if isinstance(value, np.ndarray))


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
    """

    def __init__(self, table, reader, on_pass, client):
        super().__init__(table, reader, on_pass)
        self._client = client
        self._rows = client.compute(table.rows) if table.held else table.rows

    def read(self):
        parts = zip(self._stated, repeat(self._seal), self._rows, self._table.targets, strict=False)
        self._kept = self._submit("read", [(read_part, self._reader, *part) for part in parts])
        # A part that is read again, targets included, is to be what it was.
        self._seen = self._gather(self._submit("check", [(_verdict, k) for k in self._kept]))
        _refuse_if_any(self._seen)
        self._is_sparse = any(is_sparse for _, is_sparse in self._seen)
        self._on_pass()

    def _keep(self, name, function, *args):
        parts = zip(self._rows, self._kept, self._seen, strict=True)
        tasks = [(_keep_part, function, self._reader, *part, *args) for part in parts]
        # An error is seen when they are asked for.
        self._kept = self._submit(name, tasks)

    def _sums(self, name, function, args, is_exact):
        tasks, workers, places = [], [], []
        for worker, held in self._places():
            kinds = self._rows, self._kept, self._seen
            parts = ([kind[place] for place in held] for kind in kinds)
            tasks.append((_sum_parts, function, self._reader, is_exact, *parts, args))
            workers.append(worker)
            places += held
        sums = self._submit(name, tasks, workers)
        if is_exact:
            sums = self._fewer(sums, _added)
        found = list(chain.from_iterable(self._gather(sums)))
        return found if is_exact else [found[i] for i in np.argsort(places)]

    def _fewer(self, sums, added):
        """Return so few futures of sums that they can come here."""
        while len(sums) > _MOST_GATHERED:
            heaps = [sums[i : i + _BRANCHES] for i in range(0, len(sums), _BRANCHES)]
            sums = self._submit("add", [(added, heap) for heap in heaps])
        return sums

    def _places(self):
        """Give workers, or None, and the places of parts that a task of theirs adds up."""
        if not self._table.held:
            return [(None, [place]) for place in range(len(self._rows))]
        holders = call_client(self._client.who_has, self._rows)
        by_worker = defaultdict(list)
        for place, future in enumerate(self._rows):
            by_worker[min(holders.get(future.key) or (None,), key=str)].append(place)
        return by_worker.items()

    def _submit(self, name, tasks, workers=None):
        """Return futures of tasks, each a function and its arguments."""
        made = []
        for (function, *args), worker in zip(tasks, workers or repeat(None), strict=False):
            options = {"workers": [worker], "allow_other_workers": True} if worker else {}
            key = f"skdp-{name}-{uuid4().hex}"
            with dask.annotate(**options):
                made.append(dask.delayed(function, pure=False)(*args, dask_key_name=key))
        return call_client(self._client.compute, made, optimize_graph=False)

    def _gather(self, futures):
        return call_client(self._client.gather, futures)


def _verdict(kept):
    """Return why a part can't be used, or what it was: its digest, and whether it is sparse."""
    return kept if isinstance(kept, RejectedPartition) else (kept.digest, kept.is_sparse)


def _refuse_if_any(kept):
    for part in kept:
        if isinstance(part, RejectedPartition):
            raise ValueError(part.message)


def _keep_part(function, reader, X, kept, seen, *args):
    _check(kept, seen)
    return function(reader, _n_threads(reader), X, kept, *args)


def _sum_parts(function, reader, is_exact, rows, kept, seen, args):
    """Return the sum over parts, alone in a list, or without a grid all sums."""
    sums, n_threads = [], _n_threads(reader)
    for X, k, first in zip(rows, kept, seen, strict=True):
        _check(k, first)
        sums.append(function(reader, n_threads, X, k, *args))
    return _added([sums]) if is_exact else sums


def _check(kept, seen):
    """Refuse what is kept of a part if that was read again, and is another."""
    if _verdict(kept) != seen:
        raise RowsChangedError


def _added(heaps):
    return [_sum(chain.from_iterable(heaps))]


def _sum(parts):
    """Return the sum of arrays, none of which changes: a task may be run again on the same."""
    parts = iter(parts)
    return sum_in_order(chain([next(parts).copy()], parts))


def _n_threads(reader):
    """Return the threads of a worker, unless the estimator says how many."""
    if reader.n_jobs is None:
        return get_worker().state.nthreads
    # Of processes joblib would allow a worker one alone.
    with parallel_config("threading"):
        return effective_n_jobs(reader.n_jobs)
