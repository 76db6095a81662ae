"""Long tests beside the quick ones of `tests/dask/test_inference.py`."""

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the extra dask")
from distributed import Client, LocalCluster

from skdp.dask import DaskDPLogisticRegression
from tests.dask.test_inference import BINARY, ERRORS, data, in_parts, targets_of


def test_the_same_bits_whoever_adds_up(data):
    X, y = in_parts(data[0], targets_of("binary", data[1]))
    here = DaskDPLogisticRegression(**BINARY).fit(X, y)
    options = {"threads_per_worker": 2, "dashboard_address": ":0", "processes": False}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        there = DaskDPLogisticRegression(client=client, **BINARY).fit(X, y)
    for name in ERRORS:
        np.testing.assert_array_equal(getattr(there, name), getattr(here, name))
