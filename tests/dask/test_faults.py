"""Workers that die at any moment, come late or run out of memory: SKDP_NIGHTLY=1."""

import os
import random
import signal
import threading
import time

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the extra dask")

import dask.array
from distributed import Client, LocalCluster

from skdp.dask import DaskDPRidge

NIGHTLY = os.environ.get("SKDP_NIGHTLY") == "1"
N_FITS = 30
N, D = 20_000, 5
RIDGE = {"target_bounds": (-3.0, 3.0), "data_norm": 2.0, "random_state": 3}
QUIET = {"dashboard_address": ":0", "silence_logs": 50, "threads_per_worker": 1}


def records():
    X = dask.array.random.default_rng(0).uniform(-1.0, 1.0, (N, D), chunks=(3_000, D))
    return X, X.sum(axis=1)


@pytest.fixture(scope="module")
def expected():
    return DaskDPRidge(**RIDGE).fit(*records()).coef_


def pids_of(cluster):
    """Return the processes of workers, once all live: one that dies may never answer."""
    for _ in range(300):
        pids = [nanny.pid for nanny in cluster.workers.values()]
        if None not in pids:
            return sorted(pids)
        time.sleep(0.1)
    raise TimeoutError("workers don't come back.")


def kill(pid, delay):
    def act():
        time.sleep(delay)
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            # An earlier one took it.
            return

    thread = threading.Thread(target=act)
    thread.start()
    return thread


@pytest.mark.skipif(not NIGHTLY, reason="takes minutes: SKDP_NIGHTLY=1")
def test_killed_at_any_moment(expected):
    moments = random.Random(0)
    with LocalCluster(n_workers=3, **QUIET) as cluster, Client(cluster) as client:
        start = time.perf_counter()
        DaskDPRidge(**RIDGE).fit(*records())
        usual = time.perf_counter() - start
        for place in range(N_FITS):
            pids = pids_of(cluster)
            table = client.persist(list(records())) if place % 2 else records()
            thread = kill(moments.choice(pids), moments.uniform(0.0, usual))
            assert np.array_equal(DaskDPRidge(**RIDGE).fit(*table).coef_, expected)
            thread.join()


@pytest.mark.skipif(not NIGHTLY, reason="takes a minute: SKDP_NIGHTLY=1")
def test_workers_that_come_late_and_are_slow(expected):
    X, y = records()

    def slowly(block):
        time.sleep(0.05)
        return block

    with LocalCluster(n_workers=1, **QUIET) as cluster, Client(cluster):
        adding = threading.Timer(1.0, cluster.scale, [3])
        adding.start()
        fitted = DaskDPRidge(**RIDGE).fit(X.map_blocks(slowly, dtype=float), y)
        adding.join()
    assert np.array_equal(fitted.coef_, expected)


@pytest.mark.skipif(not NIGHTLY, reason="takes a minute: SKDP_NIGHTLY=1")
def test_rows_that_are_spilled_to_disk(tmp_path):
    X = dask.array.random.default_rng(0).uniform(-1.0, 1.0, (2_000_000, 20), chunks=(50_000, 20))
    y = X.sum(axis=1)
    model = DaskDPRidge(max_iter=3, delta=1e-8, **RIDGE)
    expected = model.fit(X, y).coef_.copy()
    options = {"memory_limit": "700MiB", "local_directory": str(tmp_path), **QUIET}
    with LocalCluster(n_workers=1, **options) as cluster, Client(cluster) as client:
        held = client.persist([X, y])
        assert np.array_equal(model.fit(*held).coef_, expected)
