"""Greedy selection: what is chosen, what is reached without privacy, and what is refused."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array
from sklearn.linear_model import ElasticNet, Lasso
from sklearn.metrics import roc_auc_score

from skdp.linear_model import DPCDClassifier, DPCDElasticNet, DPCDLasso
from tests.door import LOSSES, ExponentialChoice, Problem, auto_steps, make_stream

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")

GREEDY = {"selection": "greedy", "random_state": 0}
EXACT = {"epsilon": math.inf, "max_iter": 3000, **GREEDY}


def regression(rng, n_columns=6):
    X = rng.standard_normal((200, n_columns)) * np.geomspace(1.0, 0.1, n_columns)
    return X, X @ rng.standard_normal(n_columns) + 0.1 * rng.standard_normal(200)


@pytest.fixture(scope="module")
def words():
    """Rows of 30 words out of 3,000, and labels by four of them."""
    rng = np.random.default_rng(0)
    places = rng.choice(3000, (12_000, 30), p=(p := 1.0 / np.arange(5.0, 3005.0)) / p.sum())
    X = csr_array((np.ones(places.size), places.ravel(), np.arange(0, places.size + 1, 30)))
    X.sum_duplicates()
    X.data[:] = 1.0
    scores = X[:, [3, 7, 20, 40]] @ [2.0, -2.0, 2.0, -2.0]
    return X, (rng.random(12_000) < 1.0 / (1.0 + np.exp(-scores))).astype(int)


@pytest.mark.long
@pytest.mark.parametrize("places", [slice(None), [0, 1]])
@pytest.mark.parametrize(
    ("model", "reference"),
    [
        (DPCDLasso(alpha=0.02), Lasso(alpha=0.02)),
        (DPCDLasso(alpha=0.02, positive=True), Lasso(alpha=0.02, positive=True)),
        (DPCDElasticNet(alpha=0.3, l1_ratio=0.3), ElasticNet(alpha=0.3, l1_ratio=0.3)),
    ],
    ids=str,
)
def test_without_privacy_scikit_learns_optimum_is_reached(model, reference, places):
    X, y = regression(np.random.default_rng(0))
    found = model.set_params(fit_intercept=False, **EXACT).fit(X[:, places], y)
    reference.set_params(fit_intercept=False, tol=1e-12).fit(X[:, places], y)
    np.testing.assert_allclose(found.coef_, reference.coef_, atol=1e-8)


@pytest.mark.long
def test_without_privacy_several_targets_and_weights_reach_the_optimum():
    X, y = regression(np.random.default_rng(1))
    both, weight = np.column_stack([y, -2.0 * y + X[:, 0]]), np.linspace(0.1, 3.0, 200)
    model = DPCDElasticNet(alpha=1e-9, l1_ratio=0.0, fit_intercept=False, **EXACT)
    model.fit(X, both, public_weight=weight)
    root = np.sqrt(weight)[:, np.newaxis]
    optimum = np.linalg.lstsq(root * X, root * both, rcond=None)[0].T
    np.testing.assert_allclose(model.coef_, optimum, atol=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_without_privacy_the_gradient_of_a_classifier_vanishes(penalty):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((300, 5))
    y = (X @ [2.0, -1.0, 0.0, 0.5, 0.0] + rng.logistic(size=300) > 0.5).astype(int)
    model = DPCDClassifier(penalty=penalty, alpha=0.05, classes=[0, 1], **EXACT).fit(X, y)
    slopes = LOSSES["log_loss"].gradient(2.0 * y - 1.0, model.decision_function(X))
    gradient, w = X.T @ slopes / 300, model.coef_[0]
    if penalty == "l2":
        np.testing.assert_allclose(gradient, -0.05 * w, atol=1e-8)
    else:
        assert (np.abs(gradient) <= 0.05 + 1e-8).all()
        np.testing.assert_allclose(gradient[w != 0.0], -0.05 * np.sign(w[w != 0.0]), atol=1e-8)
    # The intercept is penalised through a column of a third.
    if penalty == "l2":
        assert slopes.mean() / 3.0 == pytest.approx(-0.05 * 3.0 * model.intercept_[0], abs=1e-8)
    else:
        assert model.intercept_ == 0.0
        assert abs(slopes.mean() / 3.0) <= 0.05


@pytest.mark.long
def test_words_that_matter_are_found(words):
    X, y = words
    how = {"classes": [0, 1], "feature_bounds": (0, 1), "delta": 1e-6, "random_state": 0}
    train, test = slice(0, 8000), slice(8000, None)
    greedy = DPCDClassifier(selection="greedy", **how).fit(X[train], y[train])
    chosen = np.flatnonzero(greedy.coef_)
    assert chosen.size <= greedy.n_iter_ < 100
    assert {3, 7, 20, 40} <= set(chosen.tolist())
    assert (np.sign(greedy.coef_[0, [3, 7, 20, 40]]) == [1, -1, 1, -1]).all()
    assert roc_auc_score(y[test], greedy.decision_function(X[test])) > 0.8


def test_sparse_and_dense_rows_give_the_same_model():
    rng = np.random.default_rng(3)
    X = csr_array(np.where(rng.random((400, 30)) < 0.2, rng.random((400, 30)), 0.0))
    y = X @ rng.standard_normal(30)
    model = DPCDLasso(epsilon=5.0, feature_bounds=(0.1, 1.0), **GREEDY)
    sparse = model.fit(csr_array(X), y).coef_
    np.testing.assert_array_equal(sparse, model.fit(X.toarray(), y).coef_)
    np.testing.assert_array_equal(sparse, model.fit(X.toarray(), y).coef_)


@pytest.mark.long
def test_a_rare_class_keeps_its_rate():
    """Slopes are scaled by what doesn't know the label."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, (50_000, 20)).astype(float)
    y = (rng.random(50_000) < 0.05).astype(int)
    model = DPCDClassifier(epsilon=5.0, classes=[0, 1], feature_bounds=(0, 1), **GREEDY).fit(X, y)
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(0.05, abs=0.005)


def test_a_report_names_the_selection():
    X, y = regression(np.random.default_rng(5))
    model = DPCDLasso(max_iter=7, **GREEDY).fit(X, y)
    assert "selection='greedy'" in model.privacy_report_.to_text()
    assert [event.n_releases for event in model.privacy_report_.events] == [7, 8]
    assert model.n_iter_ == 7
    assert not hasattr(model, "radius_")
    # It is most of the budget, and no more.
    assert 0.99 < model.privacy_report_.delta_at(1.0) / model.privacy_report_.delta <= 1.0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("smoothness", "bounds"),
        ("smoothness", [1.0] * 6),
        ("smoothness_budget", 0.2),
        ("clip_by", "entry"),
        ("average_every", 2),
        ("shrinkage", 0.1),
        ("ball_budget", 0.1),
    ],
)
def test_what_belongs_to_passes_is_refused(name, value):
    X, y = regression(np.random.default_rng(6))
    with pytest.raises(ValueError, match=f"{name} .*selection='"):
        DPCDElasticNet(**GREEDY, **{name: value}).fit(X, y)


def test_a_selection_that_is_none_is_refused():
    X, y = regression(np.random.default_rng(6))
    with pytest.raises(ValueError, match="selection"):
        DPCDElasticNet(selection="random").fit(X, y)


def problem_of(n_records, n_columns):
    sizes = {"n_records": n_records, "n_columns": n_columns, "n_outputs": 1}
    return Problem(**sizes, rounding_slack=0.0, loss=LOSSES["log_loss"])


def test_steps_grow_with_the_rows_and_fall_with_noise_and_columns():
    base = auto_steps(2.0, problem_of(20_000, 10_000))
    assert 20 < base < 50
    assert auto_steps(2.0, problem_of(200_000, 10_000)) > 3 * base
    assert auto_steps(0.5, problem_of(20_000, 10_000)) > 2 * base
    assert auto_steps(2.0, problem_of(20_000, 100_000)) < base
    assert auto_steps(1e9, problem_of(20_000, 10_000)) == 5
    assert auto_steps(0.0, problem_of(20_000, 20)) == 2000


@pytest.mark.long
def test_choices_without_noise_and_with_too_much():
    scores = np.array([3, 9, 9, 1])
    stream = make_stream(0)
    assert ExponentialChoice(0.0, 1).release(scores, stream) == 1
    many = [int(ExponentialChoice(1e30, 2**20).release(scores, stream)) for _ in range(4000)]
    assert stats.chisquare(np.bincount(many, minlength=4)).pvalue > 1e-7
