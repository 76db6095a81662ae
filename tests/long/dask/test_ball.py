"""Long tests beside the quick ones of `tests/dask/test_ball.py`."""

import os
import signal

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the extra dask")
from distributed import Client, LocalCluster

from skdp.dask import DaskDPLogisticRegression
from tests.dask.test_ball import BINARY, KINDS, assert_alike, data, in_parts, learnt, targets_of
from tests.door import fit_module, null_records


# As many threads as parts, and one: it is the caller's.
@pytest.mark.parametrize("n_jobs", [1, 4])
@pytest.mark.parametrize("kind", ["all", "targets learnt", "a radius alone", "nothing", "no noise"])
def test_null_records(kind, n_jobs, data):
    estimator, parameters, _ = KINDS[kind]
    parameters = {"n_jobs": n_jobs, **parameters}
    y, null = targets_of(kind, data[1]), [3, 699, 700, 2500, -1]
    X = data[0].copy()
    for entry in (1e9, 1e200):
        X[null] = entry
        with null_records(null) as asked:
            model = estimator(**parameters).fit(*in_parts(X, y))
            local = estimator._local(**parameters).fit(X, y)
        assert asked.consulted
        assert_alike(model, local)
        X[null] = 0.0
        with null_records(null):
            np.testing.assert_array_equal(
                learnt(estimator(**parameters).fit(*in_parts(X, y))), learnt(model)
            )


def test_the_same_bits_whoever_adds_up_and_when_a_worker_dies(data, monkeypatch):
    place_in_ball, kills = fit_module.place_in_ball, []

    def killing(*args):
        if kills[-1] == "before":
            kill()
        placed = place_in_ball(*args)
        if kills[-1] == "after":
            kill()
        return placed

    def kill():
        # What this worker held of rows, and kept of them in a ball, is made again.
        os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)

    X, y = in_parts(data[0], targets_of("all", data[1]), 300)
    model = DaskDPLogisticRegression(epsilon=4.0, **BINARY)
    here = learnt(model.fit(X, y))
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        np.testing.assert_array_equal(learnt(model.fit(X, y)), here)
        held = client.persist([X, y])
        monkeypatch.setattr(fit_module, "place_in_ball", killing)
        for when in ("before", "after"):
            kills.append(when)
            client.wait_for_workers(2)
            fitted = DaskDPLogisticRegression(epsilon=4.0, **BINARY)
            np.testing.assert_array_equal(learnt(fitted.fit(*held)), here)
