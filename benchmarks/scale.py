"""How private whitening grows with rows: from a file larger than memory should be, and on workers.

- "file": `DaskDPLogisticRegression` without a client, on rows of float32 in a file, partition after
  partition, with ``--threads`` threads; ``read_ratio`` is its time over that of reading the file as
  often into a buffer, ``sum_ratio`` over that of adding it up as often from a memory map, without a
  copy: both while the file lies in the system's memory. ``cpu_ratio`` is ``sum_ratio`` in
  processor seconds, of all threads. ``private_mb`` is the peak of private memory above what was
  there before. ``slope`` is that of log time against log rows over all sizes.
- "disk": bytes a second of the file when it doesn't lie in the system's memory.
- "pass": one sum of slopes on two workers that pin the rows, over the same by `CertifiedRows` with
  two threads, in turns: ``ratio`` as both are, the median of turns; ``numpy_ratio`` where threads,
  like workers, have no compiled sums. ``start_seconds`` is what pinning takes, once.
- "tasks": seconds of a pass over few rows on two workers that don't pin them, and of each task of a
  pass.
- "plan": hours that larger tables are computed to take whose partitions, of a million rows, are
  read from disks at every pass, and what most of them go to; and the minutes that passes take where
  workers have the memory to pin them. Sums, disk and tasks take what they took here; the
  scheduler's network is assumed to give ``--network`` bytes a second.

    python benchmarks/scale.py

``--rows`` are the sizes of the file, in millions; ``--held`` the rows that workers hold, in
millions. ``--scratch`` is where the file is written.
"""

import os
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import _common as bench
import dask.array
import numpy as np
import pandas as pd
from _memory import Watcher, status
from distributed import Client, LocalCluster

from skdp._rows.certified_rows import CertifiedRows
from skdp._rows.fused import sums_compiled
from skdp._rows.slope_queries import SumOfSlopes
from skdp.dask import DaskDPLogisticRegression, _pinned
from skdp.dask._estimators import reader_of
from skdp.dask._passes import passes
from skdp.dask._table import read_table
from skdp.linear_model import DPLogisticRegression

N_FEATURES, PARTITION = 50, 100_000
HELD_FEATURES, HELD_PARTS = 100, 8
MODEL = {"classes": [0, 1], "data_norm": 4.0, "delta": 1e-12}
PLANNED_ROWS, PLANNED_WORKERS, PLANNED_PARTITION = (10**9, 10**10), (1, 32, 256), 10**6
FEW_TASKS, MANY_TASKS = 2, 512
NOTE = (
    "At most twice the time of reading, 1000 MB of private memory, a slope within .95 and 1.05 "
    "and a pass 1.2 times that of threads are asked for. " + bench.GENERATED
)


def write_rows(path, n_rows):
    """Write rows to a file, and return a map of them and labels."""
    generator = np.random.default_rng(0)
    X = np.memmap(path, np.float32, "w+", shape=(n_rows, N_FEATURES))
    y = np.empty(n_rows, np.int8)
    w = generator.standard_normal(N_FEATURES, np.float32)
    for start in range(0, n_rows, PARTITION):
        part = slice(start, start + PARTITION)
        rows = generator.standard_normal(X[part].shape, np.float32)
        X[part] = rows
        y[part] = rows @ w > generator.logistic(size=len(rows))
    X.flush()
    return np.memmap(path, np.float32, "r", shape=X.shape), y


def seconds_of(call, clock=time.perf_counter):
    start = clock()
    call()
    return clock() - start


def fit_file(path, n_rows, n_threads):
    """Return what a fit of rows in a file takes."""
    X, y = write_rows(path, n_rows)
    parts = dask.array.from_array(X, chunks=(PARTITION, -1))
    labels = dask.array.from_array(y, chunks=PARTITION)
    model, watcher = DaskDPLogisticRegression(n_jobs=n_threads, **MODEL), Watcher()

    def add_up():
        for start in range(0, n_rows, PARTITION):
            X[start : start + PARTITION].sum()

    add_up()
    (before,) = status("RssAnon")
    watcher.start()
    processor = time.process_time()
    seconds = seconds_of(lambda: model.fit(parts, labels))
    processor = time.process_time() - processor
    watcher.stop()
    # Norms, the releases of the ball, weights in it, the moment and lengths are a pass each.
    *of_ball, _, _ = model.privacy_report_.events
    n_passes = model.n_iter_ + 4 + len(of_ball)
    reading = np.median([seconds_of(lambda: read_file(path)) for _ in range(5)])
    adding = np.median([seconds_of(add_up) for _ in range(5)])
    adding_processor = np.median([seconds_of(add_up, time.process_time) for _ in range(5)])
    return {
        "rows": n_rows,
        "passes": n_passes,
        "seconds": seconds,
        "read_ratio": seconds / (n_passes * reading),
        "sum_ratio": seconds / (n_passes * adding),
        "cpu_ratio": processor / (n_passes * adding_processor),
        "private_mb": (watcher.peak - before) / 2**20,
        "seconds_a_pass": seconds / n_passes,
    }


def read_file(path):
    """Read a file into a buffer, partition after partition."""
    buffer = bytearray(4 * N_FEATURES * PARTITION)
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def disk_speed(path):
    """Return the bytes a second of a file that the system has to read anew."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return path.stat().st_size / seconds_of(lambda: read_file(path))


def time_passes(n_rows, repeats):
    """Return the seconds of passes with two threads and on two workers, and those of tasks.

    Workers pin many rows, or make few, in as many parts as tasks.
    """
    generator = dask.array.random.default_rng(0)
    size = -(-n_rows // HELD_PARTS)
    X = generator.standard_normal((n_rows, HELD_FEATURES), chunks=(size, -1))
    y = (X[:, 0] > 0.0).astype(int)
    plan = DPLogisticRegression(**MODEL)._plan(n_rows, HELD_FEATURES, 1)
    mechanism = plan.steps.split(40).mechanism
    A, w = np.eye(HELD_FEATURES + 1), np.zeros((HELD_FEATURES + 1, 1))
    options = {"threads_per_worker": 1, "dashboard_address": ":0"}
    model = DaskDPLogisticRegression(**MODEL)
    method, family = model._method(), model._family()
    reader = reader_of(model, method, family)
    treatment = reader.treatment
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        held = client.persist([X, y])
        rows, labels = np.asarray(held[0].compute()), np.asarray(held[1].compute())
        given = treatment.bounds.read(rows), family.read(labels, None)[0], family.loss(1), 2
        with ExitStack() as stack:
            start, at_work = time.perf_counter(), stack.enter_context
            kinds = {"workers": at_work(passes(read_table(*held), reader, client=client))}
            found = {"start": [time.perf_counter() - start]}
            kinds["threads"] = at_work(CertifiedRows(*given).at_work())
            with sums_compiled(False):
                kinds["numpy"] = at_work(CertifiedRows(*given).at_work())
            for sums in kinds.values():
                sums.bound_slopes(A, 1.0)
                sums.ask(SumOfSlopes(w, mechanism))
            for _ in range(repeats):
                for name, sums in kinds.items():
                    seconds = seconds_of(lambda sums=sums: sums.ask(SumOfSlopes(w, mechanism)))
                    found.setdefault(name, []).append(seconds)
        per_task = {}
        for n_tasks in (FEW_TASKS, MANY_TASKS):
            few = MANY_TASKS // n_tasks
            X = dask.array.ones((MANY_TASKS, HELD_FEATURES), chunks=(few, -1))
            y = dask.array.ones(MANY_TASKS, chunks=few)
            client.run(leave_no_room)
            with passes(read_table(X, y), reader, client=client) as sums:
                sums.bound_slopes(A, 1.0)
                slopes = partial(sums.ask, SumOfSlopes(w, mechanism))
                slopes()
                per_task[n_tasks] = np.median([seconds_of(slopes) for _ in range(repeats)])
    return {name: np.array(seconds) for name, seconds in found.items()}, per_task


def leave_no_room():
    """Have a worker pin no rows."""
    _pinned._SHARE = 0.0


def planned(seconds_a_row, n_passes, disk, pass_seconds, task_seconds, network):
    """Give the hours of tables that don't fit here, and what takes most of them."""
    for n_rows in PLANNED_ROWS:
        n_tasks = n_rows // PLANNED_PARTITION
        for n_workers in PLANNED_WORKERS:
            parts = {
                "sums": seconds_a_row * n_rows / n_workers,
                "reading": 4.0 * N_FEATURES * n_rows / n_workers / disk,
                # Each task gets the map of the rows.
                "network": 8.0 * (N_FEATURES + 1) ** 2 * n_tasks / network,
                "scheduling": pass_seconds + task_seconds * n_tasks,
            }
            hours = n_passes * sum(parts.values()) / 3600.0
            yield n_rows, n_workers, hours, max(parts, key=parts.get)


def planned_pins(seconds_a_row, n_passes, pass_seconds, task_seconds, network):
    """Give the minutes that passes take over tables that workers pin, and what takes most."""
    for n_rows in PLANNED_ROWS:
        for n_workers in PLANNED_WORKERS[1:]:
            parts = {
                "sums": seconds_a_row * n_rows / n_workers,
                "network": 8.0 * (N_FEATURES + 1) ** 2 * n_workers / network,
                "scheduling": pass_seconds + task_seconds * n_workers,
            }
            minutes = n_passes * sum(parts.values()) / 60.0
            yield n_rows, n_workers, minutes, max(parts, key=parts.get)


def file_rows(fits, who):
    """Give what was found of fits of a file, and how they grow with rows."""
    for fit in fits:
        for name, value in fit.items():
            yield "file", f"{fit['rows']:,} rows, {who}", name, value
    if len(fits) > 1:
        sizes, seconds = (
            [np.log(fit[name]) for fit in fits] for name in ("rows", "seconds_a_pass")
        )
        yield "file", f"all, {who}", "slope", np.polyfit(sizes, seconds, 1)[0]


def pass_rows(seconds, size):
    """Give what was found of passes on workers and by threads, in turns."""
    for name, of_kind in seconds.items():
        yield "pass", size, f"{name}_seconds", np.median(of_kind)
    for ratio, name in (("ratio", "threads"), ("numpy_ratio", "numpy")):
        yield "pass", size, ratio, np.median(seconds["workers"] / seconds[name])


def main(arguments=None):
    options = bench.read_options(
        __file__,
        __doc__,
        arguments,
        rows=(0.1, 1.0, 20.0),
        held=2.0,
        repeats=15,
        threads=(1, 2),
        network=1e9,
        unnamed={"scratch": str},
    )
    found, largest = [], {}
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        path = Path(folder) / "rows"
        for n_threads in options.threads:
            fits = [fit_file(path, round(1e6 * size), n_threads) for size in options.rows]
            found += file_rows(fits, f"{n_threads} threads")
            largest[n_threads] = fits[-1]
        disk = disk_speed(path)
    # Planned workers have as few threads as are tried.
    alone = largest[min(largest)]
    found.append(("disk", f"{alone['rows']:,} rows", "bytes_a_second", disk))
    of_passes, of_tasks = time_passes(round(1e6 * options.held), options.repeats)
    found += pass_rows(of_passes, f"{round(1e6 * options.held):,} x {HELD_FEATURES}")
    least, more = of_tasks[FEW_TASKS], of_tasks[MANY_TASKS]
    a_task = (more - least) / (MANY_TASKS - FEW_TASKS)
    found += [
        ("tasks", f"{FEW_TASKS} tasks", "seconds_a_pass", least),
        ("tasks", f"{MANY_TASKS} tasks", "seconds_a_pass", more),
        ("tasks", "one more", "seconds_a_pass", a_task),
    ]
    a_row = alone["seconds_a_pass"] / alone["rows"]
    hours_of = planned(a_row, alone["passes"], disk, least, a_task, options.network)
    for n_rows, n_workers, hours, most in hours_of:
        found.append(
            ("plan", f"{n_rows:,} rows, {n_workers} workers", f"hours, most {most}", hours)
        )
    # Of two workers, by entry.
    pinned_row = 2.0 * np.median(of_passes["workers"]) / (1e6 * options.held)
    pinned_row *= N_FEATURES / HELD_FEATURES
    minutes_of = planned_pins(pinned_row, alone["passes"], least, a_task, options.network)
    for n_rows, n_workers, minutes, most in minutes_of:
        what = f"minutes of passes over pinned rows, most {most}"
        found.append(("plan", f"{n_rows:,} rows, {n_workers} workers", what, minutes))
    table = pd.DataFrame(found, columns=["part", "of", "what", "value"])
    bench.write_table(table.round(4), "scale.csv", options, NOTE)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    bench.run_script(__file__)
