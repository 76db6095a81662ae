import os

# One thread per BLAS call from the start: tests share two cores with each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")
# To import all that a worker needs takes it longer than most tests.
os.environ.setdefault("DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD", "forkserver")

import functools
import gc
import hashlib
import importlib
import inspect
import sys
from pathlib import Path
from types import SimpleNamespace

# To compile the tests takes longer than to import them. Where Python may not keep what it
# compiles, each worker and each process of each run would do it again.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

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
LONG = Path(__file__).parent / "long"


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


def pytest_addoption(parser):
    """Add the options that have more tests collected than every change needs."""
    parser.addoption("--all-cases", action="store_true", help="all tests, with all their cases")
    parser.addoption(
        "--first-cases",
        action="store_true",
        help="all tests, with the first case of each list, or all with the marker `every`",
    )


def _has_long_tests(config):
    return config.getoption("all_cases") or config.getoption("first_cases")


def pytest_ignore_collect(collection_path, config):
    """Leave out tests that not every change needs, but where they are named or all are asked for.

    pytest asks this of nothing that the command names. `pytest tests tests/long` names tests alone:
    pytest leaves out a path within another.
    """
    return True if collection_path == LONG and not _has_long_tests(config) else None


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector, name, obj):
    """Leave out a test that has the marker `long`, but where it is named or all are asked for.

    pytest goes on with an empty list as with a file without the test.
    """
    config = collector.config
    if _has_long_tests(config) or collector.path.is_relative_to(LONG):
        return None
    if not inspect.isfunction(obj) or any(f"::{name}" in argument for argument in config.args):
        return None
    return [] if _is_long(getattr(obj, "pytestmark", ())) else None


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc):
    """Leave out the cases of a test that not every change needs.

    A test has the first case of each of its lists, or all with the marker `every`, but for cases
    with the marker `long`. Those in tests/long have all cases where they are named. With
    `--first-cases` they have the first as all tests do, and a list of long cases has its first.
    """
    config = metafunc.config
    has_first = config.getoption("first_cases")
    if config.getoption("all_cases"):
        return
    if not has_first and metafunc.definition.path.is_relative_to(LONG):
        return
    has_all = metafunc.definition.get_closest_marker("every")
    parametrize = metafunc.parametrize

    def parametrize_with_few(names, values, *others, ids=None, **options):
        values = list(values)
        kept = [
            place for place, value in enumerate(values) if not _is_long(getattr(value, "marks", ()))
        ]
        if not kept and has_first:
            kept = list(range(len(values)))[:1]
        kept = kept if has_all else kept[:1]
        if ids is not None and not callable(ids):
            ids = list(ids)
            ids = [ids[place] for place in kept]
        parametrize(names, [values[place] for place in kept], *others, ids=ids, **options)

    metafunc.parametrize = parametrize_with_few


def _is_long(marks):
    return any(mark.name == "long" for mark in marks)


@pytest.hookimpl(tryfirst=True)
def pytest_collection():
    """Search for no garbage among what stays: modules, and what they define."""
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish():
    """Search among what tests make alone."""
    gc.freeze()
    gc.enable()


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
    """Whether all cases are asked for, and not only what every change needs."""
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
