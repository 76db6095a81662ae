"""DP-CD on rows of a learnt ball."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.linear_model import ElasticNet, LogisticRegression

from skdp.linear_model import DPCDClassifier, DPCDElasticNet, DPCDLasso
from tests.linear_model.ball._far_rows import CENTRE, UNIT, far_rows, target

INF = float("inf")
COMMON = {"random_state": 0, "alpha": 0.01, "epsilon": 20.0}
TARGETS = {"target_bounds": (-9, 9)}
MODELS = [
    DPCDClassifier(classes=[0, 1], **COMMON),
    DPCDElasticNet(adjacency="replace_one", **TARGETS, **COMMON),
    DPCDLasso(feature_bounds=(-400, [400, 10, 3]), **TARGETS, **COMMON),
]


@pytest.fixture
def rows(rng):
    return far_rows(rng)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_ball_is_found_whatever_the_units(model, rows):
    X, Z = rows
    y = target(model, Z)
    found = clone(model).fit(X, y)
    np.testing.assert_allclose(found.center_[[0, 2]], CENTRE[[0, 2]], atol=0.3 * UNIT[0])
    assert (found.scale_ / UNIT > 0.5).all()
    assert (found.scale_ / UNIT < 20.0).all()
    assert found.score(X, y) > 0.9
    plain = clone(model).set_params(ball_budget=0).fit(X, y)
    assert found.score(X, y) > plain.score(X, y) + 0.1
    assert not hasattr(found.set_params(ball_budget=0).fit(X, y), "radius_")


@pytest.mark.long
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_rows_in_a_file_and_sparse_ones_give_the_model_of_dense_ones(
    model, fit_intercept, rows, tmp_path
):
    X, Z = rows
    X[:, 1] = np.where(Z[:, 1] == 0.0, 0.0, X[:, 1])
    y = target(model, Z)
    model = clone(model).set_params(fit_intercept=fit_intercept)
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
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_without_privacy_the_optimum_is_scikit_learns_on_columns_so_prepared(model, rows):
    X, Z = rows
    y, alpha = target(model, Z), 0.02
    model = clone(model).set_params(epsilon=INF, max_iter=1500, alpha=alpha).fit(X, y)
    np.testing.assert_allclose(model.center_, X.mean(axis=0))
    np.testing.assert_allclose(model.scale_, X.std(axis=0))
    prepared = (X - model.center_) / model.scale_
    assert model.radius_ == pytest.approx(np.linalg.norm(prepared, axis=1).max())
    bias = model.radius_ / 3.0
    augmented = np.column_stack([prepared, np.full(len(X), bias)])
    if is_classifier(model):
        exact = LogisticRegression(C=1.0 / (len(X) * alpha), fit_intercept=False, tol=1e-10)
    else:
        ratio = getattr(model, "l1_ratio", 1.0)
        exact = ElasticNet(alpha, l1_ratio=ratio, fit_intercept=False, tol=1e-12, max_iter=10**5)
    w = np.ravel(exact.fit(augmented, y).coef_)
    np.testing.assert_allclose(np.ravel(model.coef_) * model.scale_, w[:3], atol=1e-4)
    constant = np.ravel(model.intercept_)[0] + np.ravel(model.coef_) @ model.center_
    assert constant == pytest.approx(bias * w[3], abs=1e-3)


@pytest.mark.parametrize("epsilon", [20.0, INF])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_coefficients_stay_in_a_box_in_units_of_X(model, epsilon, rows):
    X, Z = rows
    low, high = np.array([-1.0, -0.3, 20.0]) / 7.0, np.array([0.03, -0.1, 25.0]) / 7.0
    model = clone(model).set_params(epsilon=epsilon, coef_bounds=(low, high))
    coef = np.ravel(model.fit(X, target(model, Z)).coef_)
    assert (coef >= low).all()
    assert (coef <= high).all()
    # The optimum is beyond these ends.
    assert coef[[0, 2]] == pytest.approx(high[[0, 2]], rel=1e-3)
    assert coef[1] == pytest.approx(low[1], rel=1e-3)


def test_signs_and_zeros_are_those_of_the_units_of_X(rows):
    X, Z = rows
    X = np.column_stack([X, 50.0 + np.random.default_rng(1).standard_normal((3000, 2))])
    y = target(MODELS[2], Z)
    signed = clone(MODELS[2]).set_params(positive=True, feature_bounds=None).fit(X, y)
    assert (signed.coef_ >= 0.0).all()
    assert (signed.coef_[[0, 2]] > 0.0).all()
    assert signed.coef_[1] == 0.0
    free = signed.set_params(positive=False, alpha=0.1).fit(X, y)
    np.testing.assert_array_equal(free.coef_ != 0.0, [True, True, True, False, False])


@pytest.mark.parametrize("clip_by", ["row", "entry"])
def test_a_given_clip_follows_the_radius(clip_by, rows):
    X, Z = rows
    y = target(MODELS[1], Z)
    model = clone(MODELS[1]).set_params(data_norm=400.0, clipping_norm=80.0, clip_by=clip_by)
    assert not hasattr(clone(model).fit(X, y), "radius_")
    model.set_params(ball_budget=0.2).fit(X, y)
    assert model.clipping_norm_ == pytest.approx(80.0 * model.radius_ / 400.0)
    assert model.privacy_report_.clipping is None


@pytest.mark.parametrize("smoothness", ["bounds", [1.0, 2.0, 3.0]])
def test_where_squares_are_given_no_ball_is_learnt(smoothness, rows):
    X, Z = rows
    model = DPCDLasso(smoothness=smoothness, **TARGETS, **COMMON)
    assert not hasattr(model.fit(X, Z[:, 0]), "radius_")
    with pytest.raises(ValueError, match="ball_budget must be 'auto' or 0 with a smoothness"):
        model.set_params(ball_budget=0.1).fit(X, Z[:, 0])


@pytest.mark.parametrize("ball_budget", ["auto", 0.5])
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_the_shares_add_up_to_the_budget(adjacency, ball_budget, rows):
    X, Z = rows
    how = {"adjacency": adjacency, "ball_budget": ball_budget, "smoothness_budget": 0.6}
    report = DPCDLasso(epsilon=0.7, **how, **TARGETS).fit(X, Z[:, 0]).privacy_report_
    assert 0.699 < report.epsilon_at(1e-5) <= 0.7


def test_long_rows_count_less_and_steps_stay_stable():
    rng = np.random.default_rng(0)
    Z = rng.standard_cauchy((8000, 3))
    w = np.array([1.0, -0.5, 2.0])
    X, y = CENTRE + UNIT * Z, (rng.logistic(size=8000) < Z @ w).astype(int)
    for model in (DPCDClassifier(classes=[0, 1], random_state=0), DPCDElasticNet(random_state=0)):
        if not is_classifier(model):
            model.set_params(target_bounds=(-20, 20))
            y = np.clip(Z @ w, -20.0, 20.0)
        model.fit(X, y)
        assert np.corrcoef(np.ravel(model.coef_) * UNIT, w)[0, 1] > 0.95
