"""Targets in a table of one column: what is learnt and predicted has scikit-learn's shapes."""

import warnings

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import Lasso
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skdp.additive import DPAdditiveRegressor
from skdp.dask import DaskDPAdditiveRegressor, DaskDPRidge
from skdp.linear_model import DPRidge
from skdp.metrics import private_score
from skdp.model_selection import DPGridSearch
from skdp.pipeline import DPPipeline
from skdp.utils.discovery import all_estimators

N_ROWS = 300
X = np.random.default_rng(0).uniform(-1.0, 1.0, (N_ROWS, 2))
Y = np.round(np.abs(X @ [1.0, 2.0]) + 0.5, 2)
COLUMNS = {
    "frame": pd.DataFrame({"y": Y}),
    "array": Y[:, np.newaxis],
    "lists": Y[:, np.newaxis].tolist(),
}
REGRESSORS = [
    cls() for _, cls in all_estimators("regressor") if not cls.__module__.startswith("skdp.dask")
]


def fitted(model, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(X, y)


def seeded(model):
    bounds = {"target_bounds": (0.25, 4.0)} if "target_bounds" in model.get_params() else {}
    return clone(model).set_params(random_state=0, **bounds)


@pytest.mark.long
@pytest.mark.every
@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: type(model).__name__)
def test_a_column_of_targets_is_one_target(model):
    model = seeded(model)
    flat = fitted(model, Y)
    takes_several = model.__sklearn_tags__().target_tags.multi_output

    for name in COLUMNS:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = clone(model).fit(X, COLUMNS[name])
        is_warned = any(issubclass(one.category, DataConversionWarning) for one in caught)
        assert is_warned is not takes_several
        np.testing.assert_array_equal(found.predict(X), flat.predict(X), strict=True)
        if hasattr(flat, "coef_"):
            np.testing.assert_array_equal(found.coef_, flat.coef_, strict=True)
        # Of a table scikit-learn's models of several targets have an array of intercepts.
        assert np.shape(found.intercept_) == ((1,) if takes_several else ())
        assert np.ravel(found.intercept_) == np.ravel(flat.intercept_)
        assert found.score(X, COLUMNS[name]) == flat.score(X, Y)
        assert found.privacy_report_.epsilon == flat.privacy_report_.epsilon


def test_scikit_learn_has_these_shapes():
    model = fitted(Lasso(alpha=1e-3), COLUMNS["frame"])
    ours = fitted(seeded(DPRidge()), COLUMNS["frame"])
    for name in ("coef_", "intercept_"):
        assert np.shape(getattr(ours, name)) == np.shape(getattr(model, name))
    assert ours.predict(X).shape == model.predict(X).shape
    two = fitted(seeded(DPRidge()), np.column_stack([Y, Y]))
    assert (two.coef_.shape, two.intercept_.shape) == ((2, 2), (2,))
    assert two.predict(X).shape == (N_ROWS, 2)


@pytest.mark.long
def test_around_a_model():
    """Pipelines, searches and scores give what they give for flat targets."""
    model, grid = seeded(DPRidge()), {"alpha": [1e-3, 1.0]}
    private = {"epsilon": 1.0, "random_state": 0}
    around = [
        make_pipeline(FunctionTransformer(), model),
        DPPipeline([("model", DPRidge(target_bounds=(0.25, 4.0)))], **private),
        GridSearchCV(model, grid, cv=3),
        DPGridSearch(DPRidge(target_bounds=(0.25, 4.0)), grid, **private),
    ]

    for one in around:
        expected = fitted(one, Y).predict(X)
        for y in COLUMNS.values():
            np.testing.assert_array_equal(fitted(one, y).predict(X), expected, strict=True)
    known = {"epsilon": 1.0, "random_state": 0, "target_bounds": (0.0, 4.0), "scoring": "r2"}
    flat = private_score(fitted(model, Y), X, Y, **known)
    for y in COLUMNS.values():
        assert private_score(fitted(model, y), X, y, **known).value == flat.value


@pytest.mark.parametrize("cls", [DaskDPRidge, DaskDPAdditiveRegressor])
def test_on_dask(cls):
    rows, targets = da.from_array(X, chunks=(100, 2)), da.from_array(Y, chunks=100)
    model = cls(target_bounds=(0.25, 4.0), random_state=0)
    flat, column = clone(model).fit(rows, targets), clone(model).fit(rows, targets[:, np.newaxis])
    np.testing.assert_array_equal(column.predict(X), flat.predict(X), strict=True)
    assert (np.shape(flat.intercept_), np.shape(column.intercept_)) == ((), (1,))


def test_a_monotone_curve_of_a_column():
    model = DPAdditiveRegressor(monotonic_cst=[1, 0], target_bounds=(0.25, 4.0), random_state=0)
    expected = fitted(model, Y).predict(X)
    for y in COLUMNS.values():
        found = fitted(model, y)
        np.testing.assert_array_equal(found.predict(X), expected, strict=True)
        assert found.explain(X).shape == (N_ROWS, 2)
