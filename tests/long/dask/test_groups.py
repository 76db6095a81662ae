"""Long tests beside the quick ones of `tests/dask/test_groups.py`."""

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the extra dask")
from skdp.dask import DaskDPLogisticRegression
from tests.dask.test_groups import BINARY, client, data, fitted, in_parts, learnt, targets_of
from tests.door_dask import pinned_module as _pinned


@pytest.mark.parametrize("share", [0.5, 0.0])
def test_the_same_bits_whoever_adds_up(share, data, client, monkeypatch):
    monkeypatch.setattr(_pinned, "_SHARE", share)
    X, y, ids = in_parts(data[0], targets_of("binary", data[1]), data[2])
    parameters = {"max_iter": 3, **BINARY}
    here = learnt(fitted(DaskDPLogisticRegression(n_jobs=2, **parameters), X, y, ids))
    model = DaskDPLogisticRegression(client=client, **parameters)
    np.testing.assert_array_equal(learnt(fitted(model, X, y, ids)), here)
    np.testing.assert_array_equal(learnt(fitted(model, *client.persist([X, y, ids]))), here)
