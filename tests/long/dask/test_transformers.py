"""Long tests beside the quick ones of `tests/dask/test_transformers.py`."""

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the extra dask")
from distributed import Client, LocalCluster

from skdp.dask import fit
from tests.dask.test_transformers import KINDS, X, in_parts, learnt


def test_the_same_bits_whoever_adds_up(X):
    here = learnt(fit(KINDS["scaler"], in_parts(X)))
    options = {"threads_per_worker": 2, "dashboard_address": ":0", "processes": False}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        there = learnt(fit(KINDS["scaler"], in_parts(X), client=client))
    np.testing.assert_array_equal(there, here)
