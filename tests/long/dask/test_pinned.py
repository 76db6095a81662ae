"""Long tests beside the quick ones of `tests/dask/test_pinned.py`."""

import os
import signal

import numpy as np
import pytest
from scipy.sparse import csr_array

pytest.importorskip("distributed", reason="needs the extra dask")
from distributed import Client, LocalCluster

from skdp.dask import DaskDPLogisticRegression, DaskDPRidge
from tests.dask.test_pinned import RIDGE, client, cluster, data, in_parts, learnt
from tests.door import fit_module
from tests.door_dask import pinned_module as _pinned


@pytest.mark.parametrize("epsilon", [4.0, float("inf")])
@pytest.mark.parametrize("as_kind", [np.array, csr_array])
def test_the_bits_are_those_of_rows_that_are_read_in_each_pass(
    as_kind, epsilon, data, client, monkeypatch
):
    X, y = in_parts(*data, as_kind)
    model = DaskDPRidge(**{**RIDGE, "epsilon": epsilon})
    here = learnt(model.fit(X, y))
    model.set_params(client=client)
    np.testing.assert_array_equal(learnt(model.fit(X, y)), here)
    np.testing.assert_array_equal(learnt(model.fit(*client.persist([X, y]))), here)
    monkeypatch.setattr(_pinned, "_SHARE", 0.0)
    np.testing.assert_array_equal(learnt(model.fit(X, y)), here)


def test_workers_that_die_cost_time_only(data, monkeypatch):
    place_in_ball = fit_module.place_in_ball

    def killing(*args):
        kill()
        placed = place_in_ball(*args)
        kill()
        return placed

    def kill():
        client.wait_for_workers(2)
        os.kill(max(client.run(os.getpid, on_error="ignore").values()), signal.SIGKILL)

    X, y = in_parts(data[0], (data[1] > 0.0).astype(int), np.array)
    shared = {"classes": [0, 1], **RIDGE}
    expected = learnt(DaskDPLogisticRegression(**shared).fit(X, y))
    options = {"threads_per_worker": 2, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        monkeypatch.setattr(fit_module, "place_in_ball", killing)
        model = DaskDPLogisticRegression(**shared)
        np.testing.assert_array_equal(learnt(model.fit(X, y)), expected)
