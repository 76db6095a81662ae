"""Long tests beside the quick ones of `tests/ledger/test_study.py`."""

import os
import subprocess
import sys

import joblib
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_validate

from skdp.linear_model import DPLogisticRegression, DPRidge
from tests.door import ALREADY_CHARGED
from tests.ledger.test_study import FIT, FOLDS, REGRESSION, charged, data, ledger


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_workers_charge_one_file(backend, ledger, data):
    model = DPRidge(ledger=str(ledger.path), **REGRESSION)
    with joblib.parallel_backend(backend, n_jobs=2):
        joblib.Parallel()(joblib.delayed(clone(model).fit)(*data) for _ in range(6))
    assert charged(ledger) == 6


def test_dask_workers_charge_one_file(ledger, data):
    distributed = pytest.importorskip("distributed")
    model = DPLogisticRegression(ledger=ledger, **FIT)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    cluster = distributed.LocalCluster(**options)
    with cluster, distributed.Client(cluster), joblib.parallel_backend("dask"):
        cross_validate(model, *data, cv=FOLDS)
    assert charged(ledger) == 3


def test_an_environment_variable_names_it(ledger, data, monkeypatch):
    monkeypatch.setenv("SKDP_LEDGER", str(ledger.path))
    DPLogisticRegression(**FIT).fit(*data)
    DPLogisticRegression(ledger=ALREADY_CHARGED, **FIT).fit(*data)
    assert charged(ledger) == 1
    program = (
        "import numpy as np; from skdp.linear_model import DPRidge; "
        "DPRidge(epsilon=.1, target_bounds=(0, 1)).fit(np.eye(300, 3), np.zeros(300))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
    assert charged(ledger) == 2
