"""Copies of rows that workers keep for themselves while a fit runs."""

from collections import defaultdict

from distributed import WorkerPlugin, get_worker
from distributed.system import MEMORY_LIMIT

from skdp._threads import map_in_order, single_threaded_blas
from skdp.dask._clients import CHANGED
from skdp.dask._parts import own_part, read_part
from skdp.dask._sums import ClusterSums, _check, _n_threads, _refuse_if_any, _sum, _verdict

# Of a worker's memory, what its process may use once a copy is made: Dask writes what it manages to
# disk from .6 or .7 on.
_SHARE = 0.5
# How often the parts that a pass misses are loaded again.
_MOST_LOADS = 10
_LOST = "workers lose the rows that they hold faster than they load them. Nothing was published."
_PLUGIN = "skdp-pinned"
# In a worker's process, what is pinned by the key of the task that loaded it. No key of Dask has
# the rows: those may be spilled to disk, or be copied to other workers.
_PINNED = {}


class _Pinned:
    """A private copy of the rows of a part, and what is kept of it after so many steps."""

    def __init__(self, X, kept, holder):
        self.X, self.state, self.holder = X, (kept, 0), holder


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
        if pinned is not None and pinned.holder == self._holder:
            _PINNED.pop(key, None)


class PinnedSums(ClusterSums):
    """Parts of which each lies in the memory of one worker, as a copy that nothing else refers to.

    All parts are read twice before anything is released: what is pinned is then of one state of the
    collection. From there on a pass is one task a worker, which reads nothing and takes no digest.
    What is kept of a part follows from its copy and from the steps until now, so that a part whose
    worker died is loaded by any other, and is to have the digest that it had.
    """

    def __init__(self, *args):
        super().__init__(*args)
        # By place: what was loaded, and by whom; and what was kept of all parts, one by one.
        self._loads, self._workers, self._steps = {}, {}, []

    def read(self):
        """Pin all parts, and tell whether workers have room for them."""
        everything = range(len(self._rows))
        self._seen = self._load(everything, is_needed=False)
        _refuse_if_any(self._seen)
        if None in self._workers.values():
            return False
        again = self._submit("check", [(_verdict_of, *part) for part in self._parts(everything)])
        if self._gather(again) != self._seen:
            raise ValueError(CHANGED)
        self._is_sparse = any(is_sparse for _, is_sparse in self._seen)
        self._on_pass()
        return True

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        # Workers then drop what they pinned.
        for future in self._loads.values():
            future.release()

    def _parts(self, places):
        """Give what a part is read from."""
        for place in places:
            rows = self._rows[place], self._table.targets[place]
            yield self._reader, self._stated[place], self._seal, *rows

    def _load(self, places, is_needed):
        """Have parts pinned, in the place of what was, and return what they are."""
        futures = self._submit("load", [(_load, is_needed, *part) for part in self._parts(places)])
        self._loads.update(zip(places, futures, strict=True))
        verdicts, workers = zip(*self._gather(futures), strict=True)
        self._workers.update(zip(places, workers, strict=True))
        return list(verdicts)

    def _keep(self, name, function, *args):
        # Workers do it when a sum is next asked for.
        self._steps = [*self._steps, (function, args)]

    def _sums(self, name, function, args, is_exact):
        found, missing = {}, range(len(self._rows))
        for _ in range(_MOST_LOADS):
            by_worker = defaultdict(list)
            for place in missing:
                load = self._loads[place]
                part = place, load.key, self._seen[place], load
                by_worker[self._workers[place]].append(part)
            how = function, self._reader, is_exact, self._steps
            tasks = [(_sum_pinned, *how, parts, args) for parts in by_worker.values()]
            # They run where their loads ran. Tied to workers, they would wait for dead ones.
            sums = self._submit(name, tasks)
            sums, missing = _joined(self._gather(self._fewer(sums, _added) if is_exact else sums))
            found |= sums
            if not missing:
                return [found[place] for place in sorted(found)]
            if self._load(missing, is_needed=True) != [self._seen[place] for place in missing]:
                raise ValueError(CHANGED)
        raise RuntimeError(_LOST)


def _load(is_needed, *part):
    """Pin a part; return what it is, and the worker, or None if that hasn't the memory for it."""
    worker = get_worker()
    X, kept = own_part(*part)
    if X is not None:
        limit = worker.memory_manager.memory_limit or MEMORY_LIMIT
        if not is_needed and worker.monitor.get_process_memory() > _SHARE * limit:
            return _verdict(kept), None
        if _PLUGIN not in worker.plugins:
            # Before the loop hears that this task has ended.
            worker.loop.add_callback(worker.plugin_add, _Unpins(), _PLUGIN)
        _PINNED[worker.get_current_task()] = _Pinned(X, kept, worker.id)
    return _verdict(kept), worker.address


def _verdict_of(*part):
    return _verdict(read_part(*part))


def _sum_pinned(function, reader, is_exact, steps, parts, args):
    """Return sums over pinned parts, by their place, and the places of those that aren't here.

    One sum over all, unless sums have to be added in the order of parts.
    """

    def of_part(place, key, seen, load):
        pinned = _PINNED.get(key)
        if pinned is None:
            return None
        kept, n_done = pinned.state
        if n_done > len(steps):
            # A task of an earlier pass that was run again elsewhere: nobody waits for it.
            return None
        _check(kept, seen)
        for step, values in steps[n_done:]:
            kept = step(reader, n_threads, pinned.X, kept, *values)
        pinned.state = kept, len(steps)
        return function(reader, n_threads, pinned.X, kept, *args)

    n_threads = _n_threads(reader)
    n_parts = min(n_threads, len(parts))
    n_threads //= n_parts
    sums, lost = {}, []
    with single_threaded_blas:
        for (place, *_), found in zip(parts, map_in_order(of_part, parts, n_parts), strict=True):
            if found is None:
                lost.append(place)
            else:
                sums[place] = found
    return _added([(sums, lost)]) if is_exact else (sums, lost)


def _joined(found):
    """Return sums by place, and lost places, of several workers."""
    sums, lost = {}, []
    for some, others in found:
        sums |= some
        lost += others
    return sums, lost


def _added(found):
    sums, lost = _joined(found)
    return ({min(sums): _sum(sums.values())} if sums else sums), lost
