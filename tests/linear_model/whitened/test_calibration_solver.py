"""Probabilities of two classes make up for noise and for slopes that were cut."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit

from skdp.linear_model import DPLogisticRegression
from tests._loops import for_each
from tests.door import WhitenedSteps, Whitening, calibrated, whitened_method_module as _base

BIAS, HIDDEN = 0.5, 0.2
PLACES = np.arange(6000)
W = np.array([[0.7, -1.2, -4.0]])


def rows(rng, n_rows=400_000):
    X = rng.standard_normal((n_rows, 2)) @ [[1.0, 0.4], [0.0, 0.8]] + [0.3, -0.2]
    return np.column_stack([X, np.full(n_rows, BIAS)])


def solved(Z, clip, bias=BIAS, has_moment=True, alpha=0.0, noise=0.0, **settings):
    """Steps that stopped, and their plan, whose mapped rows fill two columns."""
    moment = Z.T @ Z / len(Z) + HIDDEN * np.eye(3) if has_moment else None
    white = Whitening(np.eye(3), np.full(3, 2.0 / 3.0), np.ones(3), HIDDEN, 1.0, moment)
    return steps_on(white, clip, noise=noise), plan_of(bias, alpha, **settings)


def steps_on(white, clip, noise=0.0, variances=None, momentum=0.0):
    variances = np.zeros(len(white.A)) if variances is None else variances
    known = {"noise": noise, "white": white, "variances": variances}
    return WhitenedSteps(n_steps=40, size=4.0, momentum=momentum, first=12, clip=clip, **known)


def plan_of(bias=BIAS, alpha=0.0, max_iter="auto"):
    weights = {"typical_weight": 1.0, "wanted_weight": 1.0}
    return SimpleNamespace(
        problem=SimpleNamespace(bias=bias, alpha=alpha, **weights),
        budget=SimpleNamespace(of_groups=False, is_private=True),
        clipping_norm="auto",
        max_iter=max_iter,
        step_size="auto",
    )


@pytest.mark.long
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
    balanced, _ = calibrated(w, *solved(Z, clip, alpha=alpha, noise=noise))
    np.testing.assert_array_equal(balanced[:, :-1], w[:, :-1])
    assert BIAS * (balanced - w)[0, -1] == pytest.approx(d * max(0.0, 1.0 - 2.0 * noise), abs=0.02)


def test_nothing_moves_where_no_slope_is_cut_or_nothing_is_known(rng):
    Z = rows(rng, 1000)
    assert calibrated(W, *solved(Z, 0.1, bias=0.0))[0] is W
    assert calibrated(W, *solved(Z, 0.1, has_moment=False))[0] is W
    still = {"rtol": 0.0, "atol": 1e-9}
    np.testing.assert_allclose(calibrated(W, *solved(Z, 1.5))[0], W, **still)
    np.testing.assert_allclose(calibrated(W, *solved(Z, 0.1, max_iter=40))[0], W, **still)
    # No intercept has as large a mean slope as a penalty that is so strong.
    np.testing.assert_allclose(calibrated(W, *solved(Z, 0.1, alpha=1.0))[0], W, **still)
    assert abs(calibrated(W, *solved(Z, 0.1))[0] - W).max() > 0.1


@pytest.mark.long
@for_each("max_iter", ["auto", 40])
@for_each("noise", [0.02, 0.3, 3.0])
def test_noise_is_taken_off_about_the_mean(noise, max_iter, rng):
    """The best multiple of noisy predictions about their mean is the share, and so is its noise."""
    n_columns = 9
    root = rng.standard_normal((n_columns, n_columns)) / 3.0
    rows = np.column_stack(
        [rng.standard_normal((4000, n_columns)) @ root + 0.1, np.full(4000, 1.0)]
    )
    moment, p = rows.T @ rows / len(rows), n_columns + 1
    white = Whitening(np.eye(p), np.full(p, 0.9), np.ones(p), 0.1, 1.0, moment + 0.1 * np.eye(p))
    w, variances = np.append(rng.standard_normal(n_columns), -1.0), np.full(p, noise / p)
    true, products, squares, shares = rows @ w, 0.0, 0.0, []
    for _ in range(60):
        noisy = w + np.sqrt(variances) * rng.standard_normal(p)
        steps = steps_on(white, 10.0, noise=noise, variances=variances)
        found, after = calibrated(noisy[np.newaxis], steps, plan_of(1.0, max_iter=max_iter))
        theta = rows @ noisy
        products += np.cov(true, theta)[0, 1]
        squares += theta.var()
        shares.append(float(found[0, 0] / noisy[0]))
        np.testing.assert_allclose(found[0, :-1], shares[-1] * noisy[:-1])
        np.testing.assert_allclose(after.variances, shares[-1] ** 2 * variances)
        assert after.noise == pytest.approx(shares[-1] ** 2 * noise)
        # Predictions of these rows are about normal.
        assert expit(rows @ found[0]).mean() == pytest.approx(expit(theta).mean(), abs=0.01)
    assert np.mean(shares) == pytest.approx(products / squares, abs=0.08)


class KnownRisk:
    """Rows of known risk, the map of them, and the steps without noise on them."""

    def __init__(self, rng, clip, momentum=0.0, size=4.0, noise=0.0):
        n_columns, n_rows = 12, 20_000
        p = n_columns + 1
        self.rows = np.column_stack([rng.standard_normal((n_rows, n_columns)), np.ones(n_rows)])
        moment = self.rows.T @ self.rows / n_rows + 0.4 * np.eye(p)
        signal = np.full(p, 1.0 / 1.4)
        A = np.eye(p) / math.sqrt(1.4)
        white = Whitening(A, signal, np.full(p, 1.4), 0.4, 1.0, moment)
        self.steps = steps_on(
            white,
            clip * math.sqrt(signal.sum()),
            noise=noise,
            variances=np.full(p, 1.4 * noise / p),
            momentum=momentum,
        )._replace(size=size)
        self.true = np.append(np.resize([0.8, -0.8, 0.0], n_columns), -1.5)
        self.risk = expit(self.rows @ self.true)

    def weights(self):
        """Return what the steps lead to, of shape (1, p)."""
        steps, mapped = self.steps, self.rows @ self.steps.white.A
        lengths = np.linalg.norm(mapped, axis=1)
        u, v, total = np.zeros(mapped.shape[1]), 0.0, 0.0
        for t in range(steps.n_steps):
            p, largest = expit(mapped @ u), steps.clip / lengths
            cut = (1.0 - self.risk) * np.minimum(p, largest)
            cut -= self.risk * np.minimum(1.0 - p, largest)
            v = steps.momentum * v + mapped.T @ cut / len(mapped)
            u = u - steps.size * v
            total += u * (t >= steps.first)
        return (steps.white.A @ total)[np.newaxis] / (steps.n_steps - steps.first)

    def spread(self, w):
        """Return the spread of predictions over that of true log-odds."""
        return (self.rows @ w).std() / (self.rows @ self.true).std()


@pytest.mark.long
@for_each("clip, momentum", [(0.45, 0.0), (0.3, 0.0), (0.45, 0.5)])
def test_the_slope_behind_cut_steps_is_found(clip, momentum, rng):
    """The very steps are taken on rows of known risk, without noise: predictions are too sure."""
    known = KnownRisk(rng, clip, momentum)
    w = known.weights()
    found, _ = calibrated(w, known.steps, plan_of(1.0))
    assert known.spread(w[0]) > 1.1
    assert known.spread(found[0]) == pytest.approx(1.0, abs=0.05)
    missed = [abs(expit(known.rows @ x).mean() - known.risk.mean()) for x in (w[0], found[0])]
    assert missed[1] < 0.005 < 0.008 < missed[0]


@pytest.mark.long
@for_each("size, noise", [(2.0, 1.5), (0.5, 0.3), (0.1, 0.2), (0.05, 0.1)])
@for_each("clip", [0.6, 3.0])
def test_steps_that_stop_early_give_a_part_of_the_noise_back(clip, size, noise, rng):
    """Predictions are too near to their mean, and noise takes from them at most its root's part."""
    known = KnownRisk(rng, clip, size=size, noise=noise)
    without_noise = known.weights()
    reached = known.spread(without_noise[0])
    assert 0.05 < reached < 0.95
    # Noise whose predictions have the variance that steps tell, across those without noise.
    added = rng.standard_normal((1, without_noise.size))
    added[0, -1] = 0.0
    added -= (added @ without_noise.T) / (without_noise @ without_noise.T) * without_noise
    added[0, -1] = 0.0
    expected = known.steps.noise * (added.size - 1) / added.size
    w = without_noise + added * math.sqrt(expected) / (known.rows @ added[0]).std()
    kept = 1.0 - expected / (known.rows @ w[0]).var()
    found, _ = calibrated(w, known.steps, plan_of(1.0))
    share = found[0, 0] / w[0, 0]
    assert share == pytest.approx(kept * min(1.0 / reached, kept**-0.5), rel=0.1)
    assert kept < share < 1.0


def test_early_steps_without_noise_are_left_as_they_are(rng):
    """Weak directions weren't reached, and a stretch of all would be one of them, too."""
    known = KnownRisk(rng, clip=3.0, size=0.1)
    w = known.weights()
    assert known.spread(w[0]) < 0.9
    np.testing.assert_allclose(calibrated(w, known.steps, plan_of(1.0))[0], w, rtol=1e-9)


@pytest.mark.parametrize("size", [1e3, 1e150, 1e300])
def test_weights_of_any_size_have_finite_intercepts(size, rng):
    for w in (size * W, size * W * [[1.0, 1.0, 0.0]], size * W * [[0.0, 0.0, 1.0]]):
        balanced, _ = calibrated(w, *solved(rows(rng, 1000), 0.1))
        assert np.isfinite(balanced).all()
        assert abs(balanced - w).max() <= (1.0 + np.log(np.sqrt(2.0) / 0.1)) / BIAS


@pytest.mark.long
@for_each("size", [0.0, 1e-308, 1.0, 1e150, 1e308])
@for_each("known", [0.0, 1e-300, 1.0, 1e300])
@for_each("noise", [0.0, 1e-308, 1.0, 1e308])
def test_no_release_makes_weights_that_are_not_finite(size, known, noise, rng):
    p = 6
    released = rng.standard_normal((p, p))
    moment = known * (released + released.T)
    white = Whitening(np.eye(p), np.full(p, 0.8), np.ones(p), 0.2, 1.0, moment)
    for w in (np.full((1, p), size), -size * np.abs(rng.standard_normal((1, p)) / 10.0)):
        steps = steps_on(white, 0.4, noise=noise, variances=np.full(p, noise))
        found, after = calibrated(w, steps, plan_of())
        assert np.isfinite(found).all()
        assert np.isfinite(after.variances).all()


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
    monkeypatch.setattr(_base, "calibrated", lambda coefs, steps, plan, from_zero: (coefs, steps))
    assert abs(missed) < 0.7 * share_missed()


@pytest.mark.long
@for_each(
    "settings, given, is_calibrated",
    [
        ({}, {}, True),
        ({"fit_intercept": False}, {}, False),
        ({"class_weight": {1: 10.0}}, {}, False),
        ({"class_weight": {0: 0.5, 1: 2.0}}, {}, False),
        ({"inference": True}, {}, False),
        ({"clipping_norm": 0.1}, {}, True),
        ({"max_iter": 5}, {}, True),
        ({"step_size": 1.0}, {}, True),
        ({"classes": [0, 1, 2]}, {}, False),
        ({"moment_budget": 0.0}, {}, False),
        ({"epsilon": np.inf}, {}, False),
        ({}, {"groups": PLACES // 2}, False),
        ({}, {"public_weight": 1.0 + PLACES % 2}, False),
    ],
)
def test_only_rows_that_count_1_are_calibrated(settings, given, is_calibrated, rare, monkeypatch):
    """Weights and groups are cut at other lengths, and of more classes there is no such rule."""
    how = {"epsilon": 20.0, "classes": [0, 1], "random_state": 0, **settings}
    as_it_is = DPLogisticRegression(**how).fit(*rare, **given)
    monkeypatch.setattr(_base, "calibrated", lambda coefs, steps, *_, **__: (coefs, steps))
    without = DPLogisticRegression(**how).fit(*rare, **given)
    assert (as_it_is.intercept_ != without.intercept_).any() == is_calibrated
    share = np.mean(as_it_is.coef_ / without.coef_)
    np.testing.assert_allclose(as_it_is.coef_, share * without.coef_)
    assert 0.0 < share < 1.0 if is_calibrated else share == 1.0
