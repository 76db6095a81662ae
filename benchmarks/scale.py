"""How private whitening grows with rows: from a file larger than memory should be, and on workers.

- "file": `DaskDPLogisticRegression` without a client, on rows of float32 in a file, partition after
  partition; ``read_ratio`` is its time over that of adding the file up as often as it is read,
  ``private_mb`` the peak of private memory above what was there before. ``slope`` is that of
  log time against log rows over all sizes.
- "pass": one sum of slopes on two workers that hold the rows, over the same by `RowSums` with two
  threads, in turns.
- "plan": hours that larger tables take, from what was measured here and a network and a disk that
  are assumed: ``--network`` and ``--disk`` bytes a second of a worker, ``--schedule`` seconds of a
  task a worker.

    python benchmarks/scale.py

``--rows`` are the sizes of the file, in millions; ``--held`` the rows that workers hold, in
millions. ``--scratch`` is where the file is written.
"""

import os
import tempfile
import time
from pathlib import Path

import _common as bench
import dask.array
import numpy as np
import pandas as pd
from _memory import Watcher, status
from distributed import Client, LocalCluster

from skdp._solvers._row_sums import RowSums
from skdp.dask import DaskDPLogisticRegression
from skdp.dask._passes import passes
from skdp.dask._table import read_table
from skdp.dask._whitened import Reader
from skdp.linear_model import DPLogisticRegression
from skdp.linear_model._base import encode_labels

N_FEATURES, PARTITION = 50, 100_000
HELD_FEATURES, HELD_PARTS = 100, 8
MODEL = {"classes": [0, 1], "data_norm": 4.0, "delta": 1e-12}
PLANNED_ROWS, PLANNED_WORKERS = (10**9, 10**10), (1, 32, 256)
NOTE = (
    "At most 3 times the time of reading, 1000 MB of private memory, a slope within .95 and 1.05 "
    "and a pass 1.3 times that of threads are asked for. " + bench.GENERATED
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


def seconds_of(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def fit_file(path, n_rows):
    """Return what a fit of rows in a file takes."""
    X, y = write_rows(path, n_rows)
    parts = dask.array.from_array(X, chunks=(PARTITION, -1))
    labels = dask.array.from_array(y, chunks=PARTITION)
    model, watcher = DaskDPLogisticRegression(**MODEL), Watcher()

    def read():
        for start in range(0, n_rows, PARTITION):
            X[start : start + PARTITION].sum()

    read()
    (before,) = status("RssAnon")
    watcher.start()
    seconds = seconds_of(lambda: model.fit(parts, labels))
    watcher.stop()
    # Norms, the moment and lengths are a pass each.
    n_passes = model.n_iter_ + 3
    reading = np.median([seconds_of(read) for _ in range(3)])
    return {
        "rows": n_rows,
        "passes": n_passes,
        "seconds": seconds,
        "read_ratio": seconds / (n_passes * reading),
        "private_mb": (watcher.peak - before) / 2**20,
        "seconds_a_pass": seconds / n_passes,
    }


def time_passes(n_rows, repeats):
    """Return the seconds of a pass with two threads and on two workers that hold the rows."""
    generator = dask.array.random.default_rng(0)
    size = -(-n_rows // HELD_PARTS)
    X = generator.standard_normal((n_rows, HELD_FEATURES), chunks=(size, -1))
    y = (X[:, 0] > 0.0).astype(int)
    plan = DPLogisticRegression(**MODEL)._plan(n_rows, HELD_FEATURES, 1)
    mechanism = plan.step_mechanism(1.0, 40, 1.0)
    A, w = np.eye(HELD_FEATURES + 1), np.zeros((HELD_FEATURES + 1, 1))
    options = {"threads_per_worker": 1, "dashboard_address": ":0"}
    here, there = [], []
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        held = client.persist([X, y])
        rows, labels = np.asarray(held[0].compute()), np.asarray(held[1].compute())
        local = DPLogisticRegression(n_jobs=2, **MODEL)
        targets = encode_labels(labels, [0, 1])[1]
        alone = RowSums(local._certified_rows(rows), targets, local._loss(1), 2)
        reader = Reader(DaskDPLogisticRegression(**MODEL)._reading(), None)
        with alone.at_work(), passes(read_table(*held), reader, client=client) as shared:
            for sums in (alone, shared):
                sums.bound_slopes(A, 1.0)
                sums.slopes(w, mechanism)
            for _ in range(repeats):
                here.append(seconds_of(lambda: alone.slopes(w, mechanism)))
                there.append(seconds_of(lambda: shared.slopes(w, mechanism)))
    return np.median(here), np.median(there)


def planned(seconds_a_row, row_bytes, n_passes, options):
    """Give the hours of tables that don't fit here, and what takes most of them."""
    for n_rows in PLANNED_ROWS:
        for n_workers in PLANNED_WORKERS:
            parts = {
                "sums": seconds_a_row * n_rows / n_workers,
                "reading": row_bytes * n_rows / n_workers / options.disk,
                "network": 8.0 * (N_FEATURES + 1) ** 2 * n_workers / options.network / n_passes,
                "scheduling": options.schedule,
            }
            hours = n_passes * sum(parts.values()) / 3600.0
            yield n_rows, n_workers, hours, max(parts, key=parts.get)


def main(arguments=None):
    options = bench.read_options(
        __file__,
        __doc__,
        arguments,
        rows=(0.1, 1.0, 20.0),
        held=2.0,
        repeats=15,
        network=1e9,
        disk=5e8,
        schedule=0.04,
        unnamed={"scratch": str},
    )
    found = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        path = Path(folder) / "rows"
        fits = [fit_file(path, round(1e6 * millions)) for millions in options.rows]
    for fit in fits:
        found += [("file", f"{fit['rows']:,} rows", name, value) for name, value in fit.items()]
    if len(fits) > 1:
        sizes, seconds = (
            [np.log(fit[name]) for fit in fits] for name in ("rows", "seconds_a_pass")
        )
        found.append(("file", "all", "slope", np.polyfit(sizes, seconds, 1)[0]))
    threads, workers = time_passes(round(1e6 * options.held), options.repeats)
    size = f"{round(1e6 * options.held):,} x {HELD_FEATURES}"
    found += [
        ("pass", size, "threads_seconds", threads),
        ("pass", size, "workers_seconds", workers),
        ("pass", size, "ratio", workers / threads),
    ]
    last = fits[-1]
    per_row = last["seconds_a_pass"] / last["rows"]
    for n_rows, n_workers, hours, most in planned(per_row, 4 * N_FEATURES, last["passes"], options):
        found.append(
            ("plan", f"{n_rows:,} rows, {n_workers} workers", f"hours, most {most}", hours)
        )
    table = pd.DataFrame(found, columns=["part", "of", "what", "value"])
    bench.write_table(table.round(4), "scale.csv", options, NOTE)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    bench.run_script(__file__)
