"""What tests share: fixtures, and the bytes of fits without a seed.

conftest.py registers it where tests run, and not in a process that hands tests out to others, which
needs none of the packages that are imported here.
"""

import functools
import hashlib
import importlib
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from tests.door import random_module as _random

# scikit-learn reads a class's signature whenever parameters are asked for: a fifth of a small fit.
# No test changes the signature of a class that has been read.
BaseEstimator._get_param_names = classmethod(
    functools.lru_cache(maxsize=None)(BaseEstimator._get_param_names.__func__)
)
BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def _digest(name):
    return hashlib.sha256(name.encode()).digest()


class _Entropy:
    """Bytes for fits without a seed: each test has its own, the same in every run.

    A forked process has the operating system's, as its parent's would be its own again.
    """

    def __init__(self):
        self.start("")

    def start(self, name):
        """Begin the bytes of a test or a shared fixture."""
        seed = int.from_bytes(_digest(name), "little")
        self._pid, self._bytes = os.getpid(), np.random.default_rng(seed).bytes

    def urandom(self, size):
        """Return so many bytes."""
        return self._bytes(size) if os.getpid() == self._pid else os.urandom(size)


_ENTROPY = _Entropy()
_random.os = SimpleNamespace(urandom=_ENTROPY.urandom, getpid=os.getpid)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Begin a test's bytes before its fixtures are made."""
    _ENTROPY.test = item.nodeid
    _ENTROPY.start(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request):
    """Make a fixture that tests share from bytes of its own, whichever test is the first."""
    if fixturedef.scope == "function":
        return (yield)
    _ENTROPY.start(f"{fixturedef.baseid}::{fixturedef.argname}[{request.param_index}]")
    made = yield
    _ENTROPY.start(_ENTROPY.test)
    return made


@pytest.fixture(scope="session")
def all_cases(pytestconfig):
    """Whether all cases are asked for, and not only the quick tests."""
    return pytestconfig.getoption("all_cases")


@pytest.fixture
def rng():
    return np.random.default_rng(20210214)


@pytest.fixture(scope="session")
def cancer():
    """Breast-cancer records with rows in the unit ball and an unbalanced two-class label."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    return X / np.linalg.norm(X, axis=1).max(), y


@pytest.fixture(scope="session")
def diabetes():
    """Diabetes records with rows in the unit ball and targets in [-1, 1]."""
    X, y = load_diabetes(return_X_y=True)
    X = X / np.linalg.norm(X, axis=1).max()
    y = y - y.mean()
    return X, y / np.abs(y).max()


@pytest.fixture(scope="session")
def sklearn_optimum():
    """A function that gives scikit-learn's optimum of the same objective, without an intercept."""

    def optimum(loss, X, y, alpha):
        n_rows = len(X)
        if loss == "squared_error":
            return Ridge(alpha=n_rows * alpha, fit_intercept=False, tol=1e-12).fit(X, y).coef_
        shared = {"C": 1.0 / (n_rows * alpha), "fit_intercept": False, "tol": 1e-10}
        if loss == "log_loss":
            return LogisticRegression(max_iter=100_000, **shared).fit(X, y).coef_[0]
        return LinearSVC(loss="hinge", max_iter=10_000_000, **shared).fit(X, y).coef_[0]

    return optimum


@pytest.fixture
def load_script(monkeypatch):
    """A function that imports a benchmark by its path without .py, afresh in each test."""
    if not BENCHMARKS.is_dir():
        pytest.skip("benchmarks are not part of an installed package")
    # Scripts set it. What it is outside is nothing to a test.
    monkeypatch.setenv("SKDP_DATA", "")
    monkeypatch.syspath_prepend(str(BENCHMARKS))

    def load(name):
        path = BENCHMARKS / name
        monkeypatch.syspath_prepend(str(path.parent))
        return importlib.import_module(path.stem)

    yield load
    for script in BENCHMARKS.rglob("*.py"):
        sys.modules.pop(script.stem, None)
