"""Rule 8 (CONTRIBUTING.rst): with groups the number of rows is private, and chooses no code.

Compiled sums and NumPy's have other last bits, in the parts of everybody. So one more row, if it
chose between them, would move sums by more than is accounted for. Everything public that takes
groups is found by its signature.
"""

import inspect
import math
import pkgutil
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier, is_regressor

import skdp
from skdp.additive import DPAdditiveRegressor
from skdp.calibration import (
    DPCalibratedClassifier,
    DPConformalClassifier,
    DPConformalRegressor,
)
from skdp.linear_model import (
    DPCDLasso,
    DPHuberRegressor,
    DPLogisticRegression,
    DPQuantileRegressor,
    DPRidge,
    DPTweedieRegressor,
)
from skdp.metrics import private_score
from skdp.model_selection import DPGridSearch, DPRandomizedSearch
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import DPSimpleImputer, DPStandardScaler, NormClipper
from skdp.utils.discovery import all_estimators
from tests.door import (
    DiscreteLaplaceMechanism,
    blocks_module as _blocks,
    clip_rows,
    fused_module as _fused,
    mechanisms_module,
    null_records,
    require_groups,
    threads_module as _threads,
)
from tests.statistical._transcripts import recorded_releases

N_PEOPLE, N_FEATURES = 60, 4
# What is split into parts, whose rows have other indices there.
SPLIT = ("DPGridSearch", "DPRandomizedSearch", "Dask")
# Sizes from which on other code is worth its start.
SIZES = (
    (_fused, "WORTHWHILE_ENTRIES"),
    (_fused, "WORTHWHILE_SLOPES"),
    (_blocks, "WORTHWHILE_ENTRIES"),
    (_threads, "WORTHWHILE_ENTRIES"),
)
SEED = {"random_state": 0}
BINARY = DPLogisticRegression(classes=[0, 1])
CLIPPED = {"ball_budget": 0, "data_norm": 1.0}
# Of classes that need arguments, or have more than one way to sum.
MADE = {
    "DPCalibratedClassifier": [DPCalibratedClassifier(BINARY, **SEED)],
    "DPConformalClassifier": [DPConformalClassifier(BINARY, **SEED)],
    "DPConformalRegressor": [DPConformalRegressor(DPRidge(target_bounds=(-1, 1)), **SEED)],
    "DPGridSearch": [
        DPGridSearch(BINARY, {"alpha": [0.1, 1.0]}, **SEED),
        DPGridSearch(DPQuantileRegressor(target_bounds=(-1, 1)), {"alpha": [0.1, 1.0]}, **SEED),
    ],
    "DPRandomizedSearch": [DPRandomizedSearch(BINARY, {"alpha": [0.1, 1.0]}, n_trials=2, **SEED)],
    "DPPipeline": [
        make_private_pipeline(NormClipper(1.0), DPStandardScaler(), BINARY, **SEED),
        make_private_pipeline(DPSimpleImputer(), DPHuberRegressor(), **SEED),
        make_private_pipeline(NormClipper(1.0), DPAdditiveRegressor(), **SEED),
    ],
    "DPLogisticRegression": [BINARY, DPLogisticRegression(classes=[0, 1], **CLIPPED)],
    "DPRidge": [DPRidge(), DPRidge(target_bounds=(-1, 1), **CLIPPED)],
    "DPHuberRegressor": [DPHuberRegressor(), DPHuberRegressor(**CLIPPED)],
    "DPQuantileRegressor": [
        DPQuantileRegressor(quantile=0.9),
        DPQuantileRegressor(target_bounds=(-1, 1), fit_intercept=False, **CLIPPED),
    ],
    "DPTweedieRegressor": [DPTweedieRegressor(power=1.5)],
}


def with_groups():
    """Give all public classes and functions that take groups, by name."""
    found = {}
    for module in pkgutil.walk_packages(skdp.__path__, "skdp."):
        parts = module.name.split(".")
        if any(part.startswith("_") for part in parts):
            continue
        if "dask" in parts:
            pytest.importorskip("dask")
        package = import_module(module.name)
        for name in getattr(package, "__all__", ()):
            one = getattr(package, name)
            call = getattr(one, "fit", None) if inspect.isclass(one) else one
            if inspect.isfunction(call) and "groups" in inspect.signature(call).parameters:
                found[name] = one
    return found


PUBLIC = with_groups()


def cases():
    for name, one in PUBLIC.items():
        if not inspect.isclass(one):
            yield name, None
            continue
        for i, made in enumerate(MADE.get(name) or [one()]):
            yield f"{name}-{i}", made


CASES = dict(cases())


def one_of_each(names):
    """Parameters: of each class or function the first case, and the others in the long tier."""
    return [
        pytest.param(name, marks=[] if name.endswith("-0") or name in PUBLIC else pytest.mark.long)
        for name in names
    ]


def records(rng, extra=0):
    """Rows of people, each of one to four rows that are alike, and before these rows of one more.

    Which row of a person is drawn makes no difference, and rows lie elsewhere if there are more.
    """
    rows = rng.standard_normal((N_PEOPLE, N_FEATURES))
    labels = np.where(rows[:, 0] + rng.standard_normal(N_PEOPLE) > 0.0, 1, 0)
    sizes = np.append(rng.integers(1, 5, N_PEOPLE - 1), extra)
    people = np.repeat(np.roll(np.arange(N_PEOPLE), 1), np.roll(sizes, 1))
    return rows[people], labels[people], people


@cache
def scored():
    """A model of rows that are no records of people."""
    X = np.random.default_rng(2).standard_normal((40, N_FEATURES))
    return DPLogisticRegression(classes=[0, 1], random_state=0).fit(X, np.arange(40) % 2)


def call(name, case, X, y, groups):
    """Fit or call what a case is; return what was published."""
    if case is None:
        function = PUBLIC[name]
        own = {"epsilon": 1.0, "random_state": 0, "groups": groups}
        if name == "describe":
            return function(pd.DataFrame(X, columns=list("abcd")), **own).to_frame()
        if name == "private_compare":
            return function(scored(), scored(), X, y, **own)
        if name == "private_threshold":
            own["costs"] = {"false_positive": 1.0, "false_negative": 5.0}
        return function(scored(), X, y, **own)
    takes = inspect.signature(type(case).fit).parameters
    if is_regressor(case):
        is_amount = any(word in name for word in ("Gamma", "Poisson", "Tweedie"))
        y = np.abs(X[:, 1]) + 0.5 if is_amount else X[:, 1]
    elif "classes" in case.get_params():
        case.set_params(classes=[0, 1])
    if "Dask" in name:
        import dask.array as da

        X, y, groups = (da.from_array(one, chunks=(-1,) * np.ndim(one)) for one in (X, y, groups))
    own = {"y": y} if "y" in takes else {}
    params = case.get_params(deep=False)
    seeds = {"random_state": 0}
    if "n_jobs" in params and not name.startswith(SPLIT):
        # Threads, which searches and parts don't share with what they fit.
        seeds["n_jobs"] = 2
    return case.set_params(**seeds).fit(X, **own, groups=groups)


@contextmanager
def values_released():
    """Give a list that grows by every value that gets noise meanwhile, in bytes."""
    made, kept = [], DiscreteLaplaceMechanism.release

    def spied(self, counts, stream):
        made.append(np.array(counts).tobytes())
        return kept(self, counts, stream)

    counted = mock.patch.object(DiscreteLaplaceMechanism, "release", spied)
    with counted, recorded_releases() as others:
        yield made
    made.extend(one.value.tobytes() for one in others)


class _Asked:
    """Compiled sums that nobody may ask for."""

    LOSSES = ()

    def __init__(self, asked):
        self._asked = asked

    def __getattr__(self, name):
        self._asked.append(name)
        raise AssertionError(f"compiled {name} of rows whose number is private")


def test_all_that_takes_groups_is_found():
    assert len(CASES) > 30
    assert set(MADE) <= set(PUBLIC)
    assert {"private_score", "describe", "DPNormClipper", "DPAdditiveClassifier"} < set(PUBLIC)


def test_the_refusal_of_groups_names_all_that_take_them():
    """Whoever is refused is told what to take instead."""
    with pytest.raises(ValueError, match="takes no groups") as caught:
        require_groups(DPCDLasso(), "the last step")
    takes, told = {}, str(caught.value).partition("takes no groups")[2]
    for name, estimator in all_estimators("private"):
        takes[name] = "groups" in inspect.signature(estimator.fit).parameters
        is_named = name in told.replace(".", " ").replace(",", " ").split()
        is_named |= estimator.__module__.startswith("skdp.additive") and "additive models" in told
        is_named |= hasattr(estimator, "transform") and "all private transformers" in told
        assert is_named == takes[name], name
    assert any(takes.values())
    assert not all(takes.values())


@pytest.mark.every
@pytest.mark.parametrize("name", one_of_each(CASES))
@pytest.mark.filterwarnings("ignore")
def test_no_number_of_rows_chooses_code(name, monkeypatch, rng):
    """Whatever is worth its start, the same is computed, by NumPy and to the last bit."""
    scored()
    X, y, groups = records(rng, extra=3)
    asked, seen, threads = [], [], []
    kept = _blocks.BlockRows.__init__

    def spied(self, *args, **others):
        kept(self, *args, **others)
        threads[-1].append(self._n_workers)

    monkeypatch.setattr(_blocks.BlockRows, "__init__", spied)
    monkeypatch.setattr(_fused, "_compiled", lambda name: _Asked(asked))
    monkeypatch.setattr(_fused, "import_module", lambda name: asked.append(name) or _Asked(asked))
    for size in (0, math.inf):
        for module, constant in SIZES:
            monkeypatch.setattr(module, constant, size)
        threads.append([])
        with values_released() as made:
            call(name, CASES[name], X, y, groups)
        assert made
        seen.append(made)
    assert not asked
    assert seen[0] == seen[1]
    assert threads[0] == threads[1]
    if getattr(CASES[name], "n_jobs", None) == 2:
        assert set(threads[0]) == {2}


@pytest.mark.every
@pytest.mark.parametrize("name", one_of_each(name for name in CASES if not name.startswith(SPLIT)))
@pytest.mark.filterwarnings("ignore")
def test_no_number_of_rows_moves_a_bit_of_others(name, monkeypatch):
    """Rows of a null record add nothing, but all rows of others lie elsewhere.

    On a grid that is so fine that values have all of their digits.
    """
    monkeypatch.setattr(mechanisms_module, "_GRID_BITS", 38)
    monkeypatch.setattr(mechanisms_module, "_EXACT_STEPS", 2.0**48)
    scored()
    seen = []
    for extra in (1, 2, 37, 700):
        X, y, groups = records(np.random.default_rng(1), extra)
        with null_records(range(extra)), values_released() as made:
            call(name, CASES[name], X, y, groups)
        assert made
        seen.append(made)
    assert all(values == seen[0] for values in seen)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_no_long_or_short_row_chooses_how_others_are_summed(fit_intercept, rng):
    """Compiled sums with factors have other last bits than those without."""
    X = rng.uniform(-0.1, 0.1, (200, 5))
    plain = clip_rows(X, data_norm=1.0, fit_intercept=fit_intercept)
    for entry in (1e200, 30.0, 0.0):
        changed = X.copy()
        changed[7] = entry
        other = clip_rows(changed, data_norm=1.0, fit_intercept=fit_intercept)
        assert type(other.scale) is type(plain.scale) is np.ndarray
        np.testing.assert_array_equal(np.delete(other.scale, 7), np.delete(plain.scale, 7))
        np.testing.assert_array_equal(np.delete(other.norm, 7), np.delete(plain.norm, 7))


@pytest.mark.every
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_prediction_hangs_on_no_other_row(dtype, n_classes, rng):
    """To the last bit: at a tie, rows before it would decide, and a score would count many."""
    X = rng.standard_normal((60, 13)).astype(dtype)
    y = np.arange(60) % n_classes
    model = DPLogisticRegression(classes=range(n_classes), random_state=0).fit(X, y)
    ridge = DPRidge(target_bounds=(0, 3), random_state=0).fit(X, y.astype(float))
    alone = [model.decision_function(X[i : i + 1])[0] for i in range(60)]
    targets = [ridge.predict(X[i : i + 1])[0] for i in range(60)]
    for before in (0, 1, 2, 3, 900, 2000):
        rows = np.concatenate([np.ones((before, 13), dtype), X])
        np.testing.assert_array_equal(model.decision_function(rows)[before:], alone)
        np.testing.assert_array_equal(ridge.predict(rows)[before:], targets)
    assert is_classifier(model)


def test_ties_of_all_rows_are_decided_alike(rng):
    """A score of rows that lie on the boundary, of which one person has one more or less."""
    model = DPLogisticRegression(classes=[0, 1], random_state=0).fit(
        rng.standard_normal((60, 13)), np.arange(60) % 2
    )
    row, w = rng.standard_normal(13), model.coef_[0]
    row -= w * (row @ w + model.intercept_[0]) / (w @ w)
    for n_rows in range(1, 40):
        assert len(np.unique(model.decision_function(np.tile(row, (n_rows, 1))))) == 1
    exact = {
        float(private_score(model, np.tile(row, (n, 1)), np.ones(n), epsilon=math.inf))
        for n in range(1, 40)
    }
    assert len(exact) == 1
