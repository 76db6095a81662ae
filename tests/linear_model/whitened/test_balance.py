"""The intercept of two classes makes up for slopes that were cut."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit

from skdp.linear_model import DPLogisticRegression
from tests._loops import for_each
from tests.door import Whitening, balance, whitened_base_module as _estimators

BIAS, HIDDEN = 0.5, 0.2
PLACES = np.arange(6000)
W = np.array([[0.7, -1.2, -4.0]])


def rows(rng, n_rows=400_000):
    X = rng.standard_normal((n_rows, 2)) @ [[1.0, 0.4], [0.0, 0.8]] + [0.3, -0.2]
    return np.column_stack([X, np.full(n_rows, BIAS)])


def solved(Z, clip, bias=BIAS, has_moment=True, alpha=0.0, noise=0.0):
    """Steps that stopped, and their plan, whose mapped rows fill two columns."""
    moment = Z.T @ Z / len(Z) + HIDDEN * np.eye(3) if has_moment else None
    white = Whitening(np.eye(3), np.full(3, 2.0 / 3.0), np.ones(3), HIDDEN, 1.0, moment)
    weights = {"typical_weight": 1.0, "wanted_weight": 1.0}
    plan = SimpleNamespace(
        problem=SimpleNamespace(bias=bias, alpha=alpha, **weights),
        budget=SimpleNamespace(of_groups=False),
        clipping_norm="auto",
        max_iter="auto",
        step_size="auto",
    )
    return SimpleNamespace(clip=clip, white=white, noise=noise), plan


@pytest.mark.parametrize("w", [W, -W, 0.2 * W, W * [[1.0, 1.0, 0.1]]], ids=str)
@pytest.mark.parametrize("clip", [0.1, 0.5, 1.2])
@pytest.mark.parametrize(("alpha", "noise"), [(0.0, 0.0), (0.003, 0.0), (0.0, 0.2), (0.0, 0.6)])
def test_cut_slopes_add_up_to_0_if_the_balanced_risk_is_true(w, clip, alpha, noise, rng):
    Z = rows(rng)
    theta, largest = (Z @ w.T)[:, 0], clip / np.sqrt(2.0)

    def mean_slope(d):
        q, p = expit(theta + d), expit(theta)
        slopes = np.minimum(p, largest) * (1.0 - q) - np.minimum(1.0 - p, largest) * q
        return slopes.mean() + alpha * w[0, -1] / BIAS

    d = brentq(mean_slope, -20.0, 20.0)
    balanced = balance(w, *solved(Z, clip, alpha=alpha, noise=noise))
    np.testing.assert_array_equal(balanced[:, :-1], w[:, :-1])
    assert BIAS * (balanced - w)[0, -1] == pytest.approx(d * max(0.0, 1.0 - 2.0 * noise), abs=0.02)


def test_nothing_moves_where_no_slope_is_cut_or_nothing_is_known(rng):
    Z = rows(rng, 1000)
    assert balance(W, *solved(Z, 1.5)) is W
    assert balance(W, *solved(Z, 0.1, bias=0.0)) is W
    assert balance(W, *solved(Z, 0.1, has_moment=False)) is W
    # No intercept has as large a mean slope as a penalty that is so strong.
    assert balance(W, *solved(Z, 0.1, alpha=1.0)) is W
    assert balance(W, *solved(Z, 0.1)) is not W


@pytest.mark.parametrize("size", [1e3, 1e150, 1e300])
def test_weights_of_any_size_have_finite_intercepts(size, rng):
    for w in (size * W, size * W * [[1.0, 1.0, 0.0]], size * W * [[0.0, 0.0, 1.0]]):
        balanced = balance(w, *solved(rows(rng, 1000), 0.1))
        assert np.isfinite(balanced).all()
        assert abs(balanced - w).max() <= (1.0 + np.log(np.sqrt(2.0) / 0.1)) / BIAS


@pytest.fixture(scope="module")
def rare():
    """Records of which one in thirty is a case."""
    generator = np.random.default_rng(5)
    X = generator.uniform(-1.0, 1.0, (PLACES.size, 4))
    return X, (generator.random(PLACES.size) < expit(X[:, 0] - X[:, 1] - 3.6)).astype(int)


@pytest.mark.long
def test_the_mean_risk_is_nearer_to_the_share_of_cases(rare, monkeypatch):
    """Over the share: .88 in the mean of nine fits, and .76 without, with deviations of .04, .03.

    A mean with and one without are of the same seeds.
    """
    X, cases = rare

    def share_missed():
        fits = (DPLogisticRegression(epsilon=0.3, classes=[0, 1], random_state=s) for s in range(9))
        risks = [model.fit(X, cases).predict_proba(X)[:, 1] for model in fits]
        return 1.0 - np.mean(risks) / cases.mean()

    missed = share_missed()
    monkeypatch.setattr(_estimators, "balance", lambda coefs, steps, plan: coefs)
    assert abs(missed) < 0.7 * share_missed()


@pytest.mark.long
@for_each(
    "settings, given, is_balanced",
    [
        ({}, {}, True),
        ({"fit_intercept": False}, {}, False),
        ({"class_weight": {1: 10.0}}, {}, False),
        ({"class_weight": {0: 0.5, 1: 2.0}}, {}, False),
        ({"inference": True}, {}, False),
        ({"clipping_norm": 0.1}, {}, False),
        ({"max_iter": 5}, {}, False),
        ({"step_size": 1.0}, {}, False),
        ({"classes": [0, 1, 2]}, {}, False),
        ({"moment_budget": 0.0}, {}, False),
        ({"epsilon": np.inf}, {}, False),
        ({}, {"groups": PLACES // 2}, False),
        ({}, {"public_weight": 1.0 + PLACES % 2}, False),
    ],
)
def test_only_rows_that_count_1_are_balanced(settings, given, is_balanced, rare, monkeypatch):
    """Weights and groups are cut at other lengths, and of more classes there is no such rule."""
    how = {"epsilon": 0.2, "classes": [0, 1], "random_state": 0, **settings}
    as_it_is = DPLogisticRegression(**how).fit(*rare, **given)
    monkeypatch.setattr(_estimators, "balance", lambda coefs, *_: coefs)
    without = DPLogisticRegression(**how).fit(*rare, **given)
    np.testing.assert_array_equal(as_it_is.coef_, without.coef_)
    assert (as_it_is.intercept_ != without.intercept_).any() == is_balanced
