"""Copies of rows that workers keep for themselves while a fit runs."""

import contextlib
from collections import defaultdict
from itertools import repeat
from uuid import uuid4

import dask
from distributed import WorkerPlugin, get_worker
from distributed.system import MEMORY_LIMIT
from joblib import effective_n_jobs, parallel_config

from skdp._rows.fused import can_compile
from skdp._rows.threads import map_in_order, single_threaded_blas
from skdp.dask import _parts
from skdp.dask._clients import CHANGED, call_client, gathered
from skdp.dask._partitioned import PartitionedRows, refuse_other, refuse_rejected
from skdp.dask._tables import map_table, of_mapped

# A worker's process may use this part of its memory once a copy is made: Dask writes what it
# manages to disk from .6 or .7 on.
_SHARE = 0.5
# Parts that a pass misses are loaded again so often at most.
_MOST_LOADS = 10
_LOST = "workers lose the rows that they hold faster than they load them. Nothing was published."
_PLUGIN = "skdp-pinned"
# Sums of parts that come here as they are, and how many of more one task adds up.
_MOST_GATHERED, _BRANCHES = 64, 16
# In a worker's process, what is pinned by the key of the task that loaded it. No key of Dask has
# the rows: those may be spilled to disk, or be copied to other workers.
_PINNED: dict = {}


class _Pinned:
    """A private copy of the rows of a part, or None, and what is kept after so many steps."""

    def __init__(self, X, kept, worker):
        self.state, self.worker = (X, kept, 0), worker


class _Unpins(WorkerPlugin):
    """Drops a copy when the task that loaded it is given up: by a fit's end, or by its client's.

    And all copies of a worker that is closed. Workers may share a process.
    """

    def setup(self, worker):
        self._holder = worker.id

    def teardown(self, worker):
        for key in list(_PINNED):
            self._drop(key)

    def transition(self, key, start, finish, **others):
        if finish in ("released", "forgotten"):
            self._drop(key)

    def _drop(self, key):
        pinned = _PINNED.get(key)
        if pinned is not None and pinned.worker.id == self._holder:
            _PINNED.pop(key, None)


class PinnedRows(PartitionedRows):
    """Parts of which each lies in the memory of one worker, as a copy that nothing else refers to.

    All parts are read twice before anything is released: what is pinned is then of one state of the
    collection. From there on a pass is one task a worker, which reads nothing and takes no digest.
    What is kept of a part follows from its copy and from the steps until now, so that a part whose
    worker died is loaded by any other, and is to have the digest that it had. A part for which no
    worker has room is read, and compared, in each pass, by a task of its own.
    """

    def __init__(self, table, reader, client):
        self._client, workers = client, list(call_client(client.nthreads))
        # By tasks: whoever else asks a worker that dies may wait for ever. Workers that come later,
        # and can't, will fail when they are to.
        n_entries = table.n_entries * reader.columns_of_each
        asked = self._submit("compile", [(can_compile, n_entries) for _ in workers], workers)
        can = self._gather(asked)
        # A task that was sent while no worker lived, and prefers a dead one, would never run. So
        # sums wait for this, which any worker does.
        (self._begun,) = self._submit("begin", [(bool,)])
        super().__init__(table, reader, bool(can) and all(can))
        # By place: what was loaded, by whom, and whether it has the rows; and what was kept of all
        # parts, one by one.
        self._loads, self._held, self._steps = {}, {}, []

    def read(self):
        everything = range(len(self._stated))
        self._seen = self._load(everything, "reading")
        refuse_rejected(self._seen)
        again = [(_parts.verdict_of_part, *self._part(place)) for place in everything]
        if self._gather(self._submit("check", again), "checking") != self._seen:
            raise ValueError(CHANGED)
        self._is_sparse = any(is_sparse for _, is_sparse in self._seen)

    def close(self):
        # Workers then drop what they pinned.
        for future in self._loads.values():
            future.release()

    def _part(self, place):
        """Return what a part is read by, and from."""
        rows = self._table.rows[place], self._table.targets[place]
        return self._first_reader, self._stated[place], self._seal, *rows

    def _load(self, places, what=None):
        """Have parts pinned, in the place of what was, and return what they are.

        What is done is shown, where it has a name.
        """
        tasks = [(_load, *self._part(place)) for place in places]
        futures = self._submit("load", tasks)
        self._loads.update(zip(places, futures, strict=True))
        verdicts, workers = zip(*self._gather(futures, what), strict=True)
        self._held.update(zip(places, workers, strict=True))
        return list(verdicts)

    def _keep(self, function, *args):
        # Workers do it when a query is next asked.
        self._steps = [*self._steps, (_kept, function, self._reader, args)]

    def map_table(self, basis):
        self._steps = [*self._steps, (_mapped, map_table, self._reader, (basis,))]

    def _answers(self, name, function, args, join=None):
        answer_of, missing = {}, range(len(self._stated))
        for _ in range(_MOST_LOADS):
            futures = self._ask_workers(
                name, (function, self._reader, join, self._steps), args, missing
            )
            futures = futures if join is None else self._fewer(futures, join)
            answers, missing = _together(self._gather(futures))
            answer_of |= answers
            if not missing:
                return [answer_of[place] for place in sorted(answer_of)]
            # Tasks compare what was loaded with what was seen at first.
            self._load(missing)
        raise RuntimeError(_LOST)

    def _ask_workers(self, name, what, args, places):
        """Return futures of answers of parts, of those together that a worker has pinned.

        What is asked has a function, a reader, what joins answers in any order or None, and steps
        to take before.
        """
        by_task = defaultdict(list)
        for place in places:
            (worker, is_pinned), load = self._held[place], self._loads[place]
            # By its key alone: a task that has a load's result may copy it to another worker, and
            # of copies Dask drops one, as it likes, and with it the rows.
            part = place, load.key, self._seen[place], self._begun
            if is_pinned:
                by_task[worker, None].append((*part, None))
            else:
                by_task[worker, place].append((*part, self._part(place)))
        tasks = [(_ask_pinned, *what, parts, args) for parts in by_task.values()]
        return self._submit(name, tasks, [worker for worker, _ in by_task])

    def _fewer(self, futures, join):
        """Return so few futures of answers that they can come here."""
        while len(futures) > _MOST_GATHERED:
            heaps = [futures[i : i + _BRANCHES] for i in range(0, len(futures), _BRANCHES)]
            futures = self._submit("add", [(_joined, heap, join) for heap in heaps])
        return futures

    def _submit(self, name, tasks, workers=None):
        """Return futures of tasks, each a function and its arguments; and a worker, if told."""
        made = []
        for (function, *args), worker in zip(tasks, workers or repeat(None), strict=False):
            key = f"skdp-{name}-{uuid4().hex}"
            if worker is None:
                place = contextlib.nullcontext()
            else:
                place = dask.annotate(workers=[worker], allow_other_workers=True)
            with place:
                made.append(dask.delayed(function, pure=False)(*args, dask_key_name=key))
        return call_client(self._client.compute, made, optimize_graph=False)

    def _gather(self, futures, what=None):
        return gathered(self._client, futures, what)


def _load(*part):
    """Pin a part; return what it is, and the worker, and whether that had memory for the rows."""
    worker = get_worker()
    X, kept = _parts.own_part(*part)
    if X is not None and not _has_room(worker, kept):
        X, kept = None, _parts.without_rows(kept)
    # Before the loop hears that this task has ended.
    worker.loop.add_callback(_watch, worker)
    _PINNED[worker.get_current_task()] = _Pinned(X, kept, worker)
    return _parts.verdict(kept), (worker.address, X is not None)


def _has_room(worker, kept):
    limit = worker.memory_manager.memory_limit or MEMORY_LIMIT
    return worker.monitor.get_process_memory() <= _SHARE / _parts.copies_of(kept) * limit


def _kept(pinned, X, kept):
    """Return the rows of a part that are held, and what is now kept of it."""
    return X, kept


def _mapped(pinned, X, mapped):
    """The same of rows that are mapped: they are held as such if they were, and have room."""
    columns, kept = mapped
    if X is None or not _has_room(pinned.worker, kept):
        return X, _parts.without_rows(kept)
    return columns, of_mapped(kept)


async def _watch(worker):
    """Have a worker drop what it pinned, once: a second plugin would end the first, with copies."""
    if _PLUGIN not in worker.plugins:
        await worker.plugin_add(_Unpins(), _PLUGIN)


def _ask_pinned(function, reader, join, steps, parts, args):
    """Return answers of pinned parts, by their place, and the places of those that aren't here.

    One answer of all where they may be joined in any order.
    """

    def ask_part(place, key, seen, begun, unpinned):
        pinned = _PINNED.get(key)
        pinned_rows, kept, n_done = (None, None, 0) if pinned is None else pinned.state
        X = pinned_rows
        if X is None:
            if unpinned is None:
                return None
            X, again = (_parts.copy_part if kept else _parts.own_part)(*unpinned)
            refuse_other(again, seen)
            kept = kept or again
        if n_done > len(steps):
            # A task of an earlier pass that was run again elsewhere: nobody waits for it.
            return None
        refuse_other(kept, seen)
        for settle, step, by, values in steps[n_done:]:
            result = _parts.of_part(step, by, n_threads, X, kept, *values)
            pinned_rows, kept = settle(pinned, pinned_rows, result)
            X = X if pinned_rows is None else pinned_rows
        if pinned is not None:
            pinned.state = pinned_rows, kept, len(steps)
        return _parts.of_part(function, reader, n_threads, X, kept, *args)

    n_threads = _n_threads(reader)
    n_parts = min(n_threads, len(parts))
    n_threads //= n_parts
    answer_of, lost = {}, []
    with single_threaded_blas:
        answers = map_in_order(ask_part, parts, n_parts)
        for (place, *_), answer in zip(parts, answers, strict=True):
            if answer is None:
                lost.append(place)
            else:
                answer_of[place] = answer
    return (answer_of, lost) if join is None else _joined([(answer_of, lost)], join)


def _together(answers):
    """Return answers by place, and lost places, of several workers."""
    answer_of, lost = {}, []
    for some, others in answers:
        answer_of |= some
        lost += others
    return answer_of, lost


def _joined(answers, join):
    """Return one answer for all, by the first place, and lost places, of several workers."""
    answer_of, lost = _together(answers)
    return ({min(answer_of): join(answer_of.values())} if answer_of else answer_of), lost


def _n_threads(reader):
    """Return the threads of a worker, unless the estimator says how many."""
    if reader.n_jobs is None:
        return get_worker().state.nthreads
    # joblib would allow a worker a single process.
    with parallel_config("threading"):
        return effective_n_jobs(reader.n_jobs)
