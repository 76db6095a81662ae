"""Long tests beside the quick ones of `tests/ledger/test_escapes.py`."""

import os
import pickle
import pkgutil
import subprocess
import sys
from importlib import import_module
from inspect import signature

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold, cross_validate
from sklearn.pipeline import make_pipeline

import skdp
from skdp.calibration import (
    DPCalibratedClassifier,
    DPConformalClassifier,
    DPConformalRegressor,
)
from skdp.linear_model import DPLogisticRegression, DPRidge
from skdp.preprocessing import NormClipper
from tests.ledger._fits import charges_of
from tests.ledger.test_escapes import FIT, data, ledger


@pytest.mark.parametrize("late", ["pickle", "loky"])
def test_workers_that_were_there_before_the_variable(late, ledger, data, monkeypatch):
    model = DPLogisticRegression(**FIT)
    if late == "loky":
        joblib.Parallel(n_jobs=2)(joblib.delayed(os.getpid)() for _ in range(2))
        monkeypatch.setenv("SKDP_LEDGER", ledger.path)
        cross_validate(model, *data, cv=KFold(2), n_jobs=2, error_score="raise")
        assert len(charges_of(ledger)) == 2
        return
    monkeypatch.setenv("SKDP_LEDGER", ledger.path)
    sent = pickle.dumps(model)
    monkeypatch.delenv("SKDP_LEDGER")
    pickle.loads(sent).fit(*data)
    assert len(charges_of(ledger)) == 1
    assert pickle.loads(pickle.dumps(model)).ledger is None


PACKAGES = [
    import_module(found.name)
    for found in pkgutil.iter_modules(skdp.__path__, "skdp.")
    if found.ispkg
]
BUNDLING = [
    member
    for package in PACKAGES
    for member in vars(package).values()
    if isinstance(member, type) and {"estimator", "ledger"} <= {*signature(member).parameters}
]


def bundle(cls):
    """Return one with a pipeline in it, if it takes that."""
    inner = DPLogisticRegression(classes=[0, 1])
    if cls is DPConformalRegressor:
        return cls(DPRidge(target_bounds=(0, 1)), epsilon=0.5, delta=1e-7)
    if cls in (DPCalibratedClassifier, DPConformalClassifier):
        return cls(inner, epsilon=0.5, delta=1e-7)
    settings = {"dplogisticregression__alpha": np.geomspace(1e-3, 1e-2, 10).tolist()}
    return cls(make_pipeline(NormClipper(), inner), settings, delta=1e-7)


def estimators_in(value):
    """Give all estimators in an attribute, those in their parameters and attributes included."""
    if isinstance(value, BaseEstimator):
        yield value
        inside = [*value.get_params().values(), *vars(value).values()]
    else:
        inside = value if isinstance(value, (list, tuple)) else []
    for one in inside:
        yield from estimators_in(one)


@pytest.mark.parametrize("cls", BUNDLING)
def test_what_a_bundle_publishes_charges_when_it_is_fitted_again(cls, ledger, data, monkeypatch):
    assert len(BUNDLING) >= 3
    model = bundle(cls).fit(*data)
    found = [one for one in estimators_in(model) if "ledger" in one.get_params()]
    assert len(found) >= 3
    assert all(one.ledger is None for one in found)
    monkeypatch.setenv("SKDP_LEDGER", ledger.path)
    published = getattr(model, "estimator_", None) or model.best_estimator_
    for copied in (published, clone(published), pickle.loads(pickle.dumps(published))):
        copied.fit(*data)
    assert len(charges_of(ledger)) == 3


def test_sqlite_is_imported_by_those_who_keep_a_ledger():
    program = (
        "import sys, numpy as np; from skdp.linear_model import DPRidge; "
        "DPRidge(target_bounds=(0, 1)).fit(np.eye(300, 3), np.zeros(300)); "
        "sys.exit('sqlite3' in sys.modules or 'skdp.ledger._ledger' in sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("SKDP_LEDGER", None)
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
