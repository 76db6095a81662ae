import os

# One thread per BLAS call from the start: tests share two cores with each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import functools
import hashlib
import importlib
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

from skdp import _random

# scikit-learn reads a class's signature whenever parameters are asked for: a fifth of a small fit.
# No test changes the signature of a class that has been read.
BaseEstimator._get_param_names = classmethod(
    functools.lru_cache(maxsize=None)(BaseEstimator._get_param_names.__func__)
)
BENCHMARKS = Path(__file__).parents[1] / "benchmarks"

# Of scikit-learn's checks those that no parameter has a say in. A check that isn't named here, as
# those of versions to come, is made on every instance in both tiers.
CHECKS_OF_A_CLASS = {
    # Of the constructor, tags, signatures and what is asked before a fit.
    "check_classifiers_one_label_sample_weights",
    "check_do_not_raise_errors_in_init_or_set_param",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_get_tags_default_keys",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_estimators_unfitted",
    "check_fit_score_takes_y",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_param_validation",
    "check_parameters_default_constructible",
    "check_regressors_no_decision_function",
    "check_set_params",
    "check_transformers_unfitted",
    "check_transformers_unfitted_stateless",
    "check_valid_tag_types",
    # Of tables: `validate_data` reads them, and names columns, before a parameter is looked at.
    "check_array_api_input",
    "check_classifiers_regression_target",
    "check_complex_data",
    "check_dataframe_column_names_consistency",
    "check_dtype_object",
    "check_estimators_empty_data_messages",
    "check_estimators_nan_inf",
    "check_fit1d",
    "check_global_output_transform_pandas",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_positive_only_tag_during_fit",
    "check_requires_y_none",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_supervised_y_no_nan",
    # Of containers and formats, from all of which `validate_data` makes what fits take.
    "check_classifier_data_not_an_array",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimator_sparse_tag",
    "check_f_contiguous_array_estimator",
    "check_regressor_data_not_an_array",
    "check_supervised_y_2d",
    "check_transformer_data_not_an_array",
    # check_classifiers_train and check_regressors_train have rows that can't be written to, too.
    "check_readonly_memmap_input",
    # Of what all fits of a class end with, and of what predicts after them.
    "check_classifiers_one_label",
    "check_estimators_fit_returns_self",
    "check_estimators_partial_fit_n_features",
    "check_fit2d_predict1d",
    "check_fit_check_is_fitted",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_pipeline_consistency",
    # A thousand passes, over all of which weights are taken as over one.
    "check_class_weight_classifiers",
}


class _Entropy:
    """Bytes for fits without a seed: each test has its own, the same in every run.

    A forked process has the operating system's, as its parent's would be its own again.
    """

    def __init__(self):
        self.start("")

    def start(self, name):
        """Begin the bytes of a test or a shared fixture."""
        seed = int.from_bytes(hashlib.sha256(name.encode()).digest(), "little")
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


def pytest_collection_modifyitems(items):
    """A check of a class is made of its first instance, the default; of others in the long tier."""
    seen = set()
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        if {"estimator", "check"} <= parameters.keys():
            check = getattr(parameters["check"], "func", parameters["check"])
            name = getattr(check, "__name__", check)
            asked = item.function, type(parameters["estimator"]), name
            if name in CHECKS_OF_A_CLASS and asked in seen:
                item.add_marker(pytest.mark.long)
            seen.add(asked)


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
