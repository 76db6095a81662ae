"""DP-SGD and DP-SCD on rows of a learnt ball."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier

from skdp.linear_model import DPSCDClassifier, DPSCDRegressor, DPSGDClassifier, DPSGDRegressor
from tests.linear_model.ball._far_rows import CENTRE, UNIT, far_rows, target

INF = float("inf")
COMMON = {"random_state": 0, "alpha": 0.01, "epsilon": 20.0, "max_iter": 3}
MODELS = [
    DPSGDClassifier(classes=[0, 1], **COMMON),
    DPSGDRegressor(target_bounds=(-9, 9), adjacency="replace_one", **COMMON),
    DPSCDClassifier(classes=[0, 1], **COMMON),
    DPSCDRegressor(target_bounds=(-9, 9), adjacency="replace_one", **COMMON),
]


@pytest.fixture
def rows(rng):
    return far_rows(rng)


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_ball_is_found_whatever_the_units(model, rows):
    X, Z = rows
    y = target(model, Z)
    found = clone(model).fit(X, y)
    np.testing.assert_allclose(found.center_[[0, 2]], CENTRE[[0, 2]], atol=0.3 * UNIT[0])
    assert (found.scale_ / UNIT > 0.5).all()
    assert (found.scale_ / UNIT < 20.0).all()
    assert found.radius_ > 0.0
    plain = clone(model).set_params(ball_budget=0).fit(X, y)
    assert not hasattr(plain, "radius_")
    assert found.score(X, y) > plain.score(X, y) + 0.1
    assert not hasattr(found.set_params(ball_budget=0).fit(X, y), "radius_")


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_rows_in_a_file_and_sparse_ones_give_the_model_of_dense_ones(model, rows, tmp_path):
    X, Z = rows
    y = target(model, Z)
    dense = clone(model).fit(X, y)
    in_file = np.memmap(tmp_path / "rows", dtype=float, mode="w+", shape=X.shape)
    in_file[:] = X
    mapped = clone(model).fit(in_file, y)
    np.testing.assert_array_equal(mapped.coef_, dense.coef_)
    np.testing.assert_array_equal(mapped.intercept_, dense.intercept_)
    sparse = clone(model).fit(csr_array(X), y)
    np.testing.assert_allclose(sparse.center_, dense.center_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-4)


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS[:2], ids=str)
def test_without_privacy_the_optimum_is_that_of_columns_so_prepared(model, rows):
    """The gradient of the objective is 0, of all rows. Steps are as short as the longest asks."""
    Z = np.clip(rows[1], -1.5, 1.5)
    X = CENTRE + UNIT * Z
    y = target(model, Z)
    model = clone(model).set_params(epsilon=INF, batch_size=len(X), max_iter=3000, average=False)
    model.fit(X, y)
    np.testing.assert_allclose(model.center_, X.mean(axis=0))
    np.testing.assert_allclose(model.scale_, X.std(axis=0))
    prepared = (X - model.center_) / model.scale_
    assert model.radius_ == pytest.approx(np.linalg.norm(prepared, axis=1).max())
    bias = model.radius_ / 3.0
    w = np.ravel(model.coef_) * model.scale_
    constant = np.ravel(model.intercept_)[0] + np.ravel(model.coef_) @ model.center_
    scores = prepared @ w + constant
    slopes = 1.0 / (1.0 + np.exp(-scores)) - y if is_classifier(model) else scores - y
    gradient = prepared.T @ slopes / len(X) + 0.01 * w
    of_bias = bias * slopes.mean() + 0.01 * constant / bias
    assert math.hypot(*gradient, of_bias) < 1e-4


@pytest.mark.parametrize(("data_norm", "epsilon"), [(1e-20, 1.0), (1e30, 20.0)])
def test_rows_of_zeros_are_fitted_whatever_their_bound_was(data_norm, epsilon):
    """The clip follows a radius that is as good as 0, or a bound that is as long as may be."""
    X, y = np.zeros((2000, 60)), np.arange(2000) % 2
    model = DPSCDClassifier(data_norm=data_norm, epsilon=epsilon, max_iter=1, random_state=0)
    assert np.isfinite(model.set_params(classes=[0, 1]).fit(X, y).coef_).all()
