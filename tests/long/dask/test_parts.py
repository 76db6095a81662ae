"""Long tests beside the quick ones of `tests/dask/test_parts.py`."""

import asyncio
import os
import signal

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the extra dask")
from distributed import Client, LocalCluster

from skdp.dask import DaskDPRidge, label_aggregate
from tests.dask.test_parts import RIDGE, client, cluster, data, in_parts, unit
from tests.door_dask import CHANGED


def shuffled(block):
    return np.random.default_rng(int.from_bytes(os.urandom(8), "little")).permutation(block)


def test_rows_lost_with_their_worker_that_come_back_as_others_are_noticed(data):
    X, y = in_parts(unit(data[0]), data[1])
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(n_workers=1, **options) as cluster, Client(cluster) as client:
        held = client.persist([X.map_blocks(shuffled, dtype=float), y])
        DaskDPRidge(**RIDGE).fit(*held)
        model = _KillsBeforeSteps(**RIDGE)
        model._client = client
        with pytest.raises(ValueError, match=CHANGED[:40]):
            model.fit(*held)


class _KillsBeforeSteps(DaskDPRidge):
    def _budget(self, *parts, **how):
        # What was kept of the rows is made anew from others, and fits these.
        for pid in self._client.run(os.getpid).values():
            os.kill(pid, signal.SIGKILL)
        return super()._budget(*parts, **how)


def test_clients_that_cannot_be_waited_for_are_refused(cluster, data):
    table = in_parts(*data)
    closed = Client(cluster, set_as_default=False)
    closed.close()
    with pytest.raises(ValueError, match="client is closed"):
        DaskDPRidge(client=closed, **RIDGE).fit(*table)

    async def fit():
        async with Client(cluster.scheduler_address, asynchronous=True) as waiting:
            with pytest.raises(ValueError, match="client is asynchronous"):
                DaskDPRidge(client=waiting, **RIDGE).fit(*table)
            with pytest.raises(ValueError, match="client is asynchronous"):
                label_aggregate(*table, classes=[0, 1], data_norm=1.0, client=waiting)

    asyncio.run(fit())


def test_futures_that_are_gone_are_told(data, client):
    held = client.persist(list(in_parts(*data)))
    client.cancel(held)
    with pytest.raises(RuntimeError, match="what workers held of the collection is gone"):
        DaskDPRidge(client=client, **RIDGE).fit(*held)
