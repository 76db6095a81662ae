"""Quantiles, and means with outliers."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.linear_model import HuberRegressor, QuantileRegressor
from sklearn.metrics import mean_pinball_loss

from skdp.linear_model import DPHuberRegressor, DPQuantileRegressor, DPRidge
from tests._runs import HandRun
from tests.door import ERROR_EDGES, TARGET_EDGES, RawRows, SmoothPinball, learn_quantiles
from tests.privacy._recorded import record
from tests.statistical._transcripts import recorded_releases

ROBUST = [DPHuberRegressor, DPQuantileRegressor]
COEF = np.array([1.0, -0.1, 0.5, 0.0])


def uneven(n_rows, seed=0, skewed=False):
    """Features far from 0, and targets whose spread is uneven."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n_rows, 4)) * [1.0, 10.0, 1.0, 0.1] + [0.0, 50.0, 0.0, 3.0]
    error = (2.0 + X[:, 2]) * rng.standard_normal(n_rows)
    return X, np.exp(0.3 * error) if skewed else X @ COEF + error


class NoNoise:
    """A mechanism without noise."""

    grid = 0.0

    @staticmethod
    def rounded(total):
        return total

    @staticmethod
    def release(total, stream):
        return total


@pytest.mark.long
@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_the_smooth_loss_is_near_the_pinball_loss(quantile):
    loss, y = SmoothPinball(quantile, 0.03), np.array([[0.3], [-1.0]])
    m = np.linspace(-3.0, 3.0, 101)
    for target, value in zip(y, loss.value(y, m), strict=True):
        plain = [mean_pinball_loss(target, [one], alpha=quantile) for one in m]
        np.testing.assert_allclose(value, plain, atol=0.03 * np.log(2.0))
    slope = (loss.value(y, m + 1e-6) - loss.value(y, m - 1e-6)) / 2e-6
    np.testing.assert_allclose(loss.gradient(y, m), slope, atol=1e-7)
    assert np.abs(loss.gradient(y, m)).max() <= loss.lipschitz
    assert np.diff(loss.gradient(0.0, m)).max() / (m[1] - m[0]) <= loss.smoothness


@pytest.mark.parametrize("edges", [TARGET_EDGES, ERROR_EDGES])
def test_quantiles_of_counts_are_those_of_the_values(edges, rng):
    values, is_null = rng.normal(0.1, 0.2, (50_000, 1)), np.zeros(50_000, dtype=bool)
    is_null[:10_000] = True
    values[:10_000] = 9.0
    wanted = np.array([0.1, 0.5, 0.9])
    sums, run = RawRows(values, is_null), HandRun(NoNoise)
    found = learn_quantiles(sums, run, "spread", edges=edges, wanted=wanted)
    np.testing.assert_allclose(found, np.quantile(values[10_000:], wanted), atol=0.1)
    below = [(values[10_000:] < edge).mean() for edge in found]
    np.testing.assert_allclose(below, wanted, atol=0.06)


@pytest.mark.parametrize("count", [0.0, -1.0, 1e300])
def test_counts_that_are_noise_give_numbers(count):
    class Noise(NoNoise):
        release = staticmethod(lambda total, stream: np.full_like(total, count))

    sums, run = RawRows(np.zeros((5, 1)), np.zeros(5, dtype=bool)), HandRun(Noise)
    wanted = np.array([0.1, 0.9])
    found = learn_quantiles(sums, run, "spread", edges=TARGET_EDGES, wanted=wanted)
    assert np.isfinite(found).all()
    assert (np.abs(found) <= TARGET_EDGES[-1]).all()


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_without_privacy_huber_is_the_optimum_of_its_loss(fit_intercept):
    X, y = uneven(800)
    X = X - X.mean(axis=0)
    y[:40] += 1e4
    model = DPHuberRegressor(epsilon=np.inf, alpha=1e-9, fit_intercept=fit_intercept).fit(X, y)
    spread = np.subtract(*np.quantile(y, [0.75, 0.25], method="inverted_cdf")) / 1.349

    def loss(w):
        error = np.abs(y - X @ w[:4] - w[4] * fit_intercept) / spread
        inner = np.minimum(error, 1.35)
        return (inner * (error - 0.5 * inner)).mean()

    best = minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-9}).x
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), best, atol=5e-3)


@pytest.mark.long
@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_without_privacy_quantiles_are_scikit_learns(quantile):
    X, y = uneven(2000, skewed=True)
    peer = QuantileRegressor(quantile=quantile, alpha=0.0).fit(X, y)
    model = DPQuantileRegressor(quantile=quantile, epsilon=np.inf, alpha=1e-9).fit(X, y)
    ours, theirs = (mean_pinball_loss(y, one.predict(X), alpha=quantile) for one in (model, peer))
    assert theirs * (1.0 - 1e-9) <= ours < 1.003 * theirs
    assert np.mean(y <= model.predict(X)) == pytest.approx(quantile, abs=1e-3)


@pytest.mark.long
@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_the_share_of_targets_below_is_the_quantile(quantile, skewed):
    """The mean of ten seeds; asked for .01."""
    X, y = uneven(40_000, skewed=skewed)
    covered = []
    for seed in range(10):
        model = DPQuantileRegressor(quantile=quantile, epsilon=1.0, random_state=seed)
        model.fit(X[:20_000], y[:20_000])
        covered.append(np.mean(y[20_000:] <= model.predict(X[20_000:])))
    assert np.mean(covered) == pytest.approx(quantile, abs=0.01)
    assert np.std(covered) < 0.01


@pytest.mark.long
@pytest.mark.parametrize("quantile", [0.005, 0.995])
@pytest.mark.parametrize("target_bounds", [None, (-1e5, 1e5)])
def test_quantiles_far_beyond_most_targets_are_reached(quantile, target_bounds, rng):
    """Asked for .004, of those that lie beyond on the long side."""
    X = rng.uniform(-1.0, 1.0, (60_000, 3))
    y = np.sign(quantile - 0.5) * np.exp(2.0 * rng.standard_normal(60_000) + X[:, 0])
    options = {"quantile": quantile, "target_bounds": target_bounds, "random_state": 0}
    model = DPQuantileRegressor(**options).fit(X, y)
    assert np.mean(y <= model.predict(X)) == pytest.approx(quantile, abs=0.004)


@pytest.mark.parametrize("estimator", ROBUST)
def test_rows_of_zeros_alone_have_a_model_of_zeros(estimator):
    options = {"fit_intercept": False, "ball_budget": 0, "data_norm": 1.0, "epsilon": np.inf}
    model = estimator(**options).fit(np.zeros((20, 2)), np.arange(20.0))
    np.testing.assert_array_equal(model.coef_, 0.0)


@pytest.mark.long
def test_outliers_hardly_move_the_model():
    X, y = uneven(20_000)
    clean = DPHuberRegressor(random_state=0).fit(X, y).coef_
    y[:200] = 1e4
    moved = DPHuberRegressor(random_state=0).fit(X, y).coef_
    np.testing.assert_allclose(moved, clean, atol=0.2)
    ridge = DPRidge(epsilon=np.inf).fit(X, y).coef_
    assert np.abs(ridge - clean).max() > 2.0
    peer = HuberRegressor(max_iter=1000).fit(X[:5000], y[:5000]).coef_
    np.testing.assert_allclose(moved[:3], peer[:3], atol=0.3)


@pytest.mark.long
@pytest.mark.parametrize("estimator", ROBUST)
@pytest.mark.parametrize(
    ("absurd", "target_bounds"),
    [
        (0.002, None),
        (0.0, (-1e4, 1e4)),
        (0.002, (-1e4, 1e4)),
        (0.0, (-1e2, 1e15)),
        (0.0, (-1e99, 1e99)),
    ],
    ids=["absurd targets", "wide bounds", "both", "one bound", "no bounds"],
)
def test_absurd_targets_and_far_too_wide_bounds_cost_little(estimator, absurd, target_bounds):
    X, y = uneven(100_000)
    options = {"target_bounds": target_bounds, "random_state": 0}
    clean = estimator(epsilon=np.inf).fit(X[:20_000], y[:20_000]).coef_
    y[: int(absurd * y.size)] = 5e4
    found = estimator(**options).fit(X, y).coef_
    assert np.linalg.norm((found - clean) * X.std(axis=0)) < 0.06


def test_bounds_of_targets_are_given_or_wider_than_most():
    X, y = uneven(20_000)
    for given in (None, (-100.0, 50.0)):
        model = DPHuberRegressor(target_bounds=given, random_state=0).fit(X, y)
        low, high = model.target_bounds_
        assert (low, high) == given if given else np.mean((low < y) & (y < high)) > 0.999
        assert high - low < 150.1
        found = model.predict(1e9 * (X - X.mean(axis=0)))
        assert low == found.min() < found.max() == high


@pytest.mark.long
@pytest.mark.parametrize("estimator", ROBUST)
def test_where_noise_hides_the_range_of_targets_the_given_one_helps(estimator, rng):
    X, errors = rng.uniform(-1.0, 1.0, (100, 3)), []
    y = 50.0 + 10.0 * X[:, 0] + 4.0 * rng.standard_normal(100)
    for seed in range(40):
        model = estimator(target_bounds=(20, 80), random_state=seed).fit(X, y)
        errors.append(np.abs(y - model.predict(X)).mean())
    assert np.median(errors) < 10.0


@pytest.mark.parametrize("estimator", ROBUST)
def test_without_privacy_all_that_the_report_lists_is_made(estimator):
    with recorded_releases() as made:
        report = estimator(epsilon=np.inf).fit(*uneven(40)).privacy_report_
    assert len(made) == sum(event.n_releases for event in report.events)


@pytest.mark.long
@pytest.mark.parametrize("estimator", ROBUST)
def test_without_privacy_units_change_nothing_but_the_predictions(estimator):
    X, y = uneven(500)
    one = estimator(epsilon=np.inf).fit(X, y).predict(X)
    other = estimator(epsilon=np.inf).fit(X, 2.0**-20 * y).predict(X)
    np.testing.assert_allclose(2.0**20 * other, one, rtol=1e-6)


@pytest.mark.parametrize("estimator", ROBUST)
def test_units_of_the_targets_change_nothing_but_the_predictions(estimator):
    X, y = uneven(3000)
    one = estimator(random_state=0).fit(X, y)
    other = estimator(random_state=0).fit(X, 1024.0 * y)
    np.testing.assert_allclose(other.predict(X), 1024.0 * one.predict(X), rtol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("estimator", ROBUST)
def test_rows_may_be_sparse_weighted_or_of_people(estimator):
    X, y = uneven(4000)
    model = estimator(random_state=0)
    predicted = model.fit(X, y).predict(X)
    sparse = model.fit(csr_array(X), y).predict(X)
    assert np.corrcoef(predicted, sparse)[0, 1] > 0.9
    assert model.fit(X, y, groups=np.arange(4000) // 4).privacy_report_.unit == "one group"
    even = model.fit(X, y, public_weight=np.ones(4000)).predict(X)
    np.testing.assert_array_equal(even, predicted)


@pytest.mark.long
def test_weights_are_repetitions_to_a_quantile():
    X, y = uneven(20_000)
    weights = np.where(y > np.median(y), 3.0, 1.0)
    for epsilon in (np.inf, 5.0):
        model = DPQuantileRegressor(quantile=0.5, epsilon=epsilon, random_state=0)
        below = y <= model.fit(X, y, public_weight=weights).predict(X)
        assert np.average(below, weights=weights) == pytest.approx(0.5, abs=0.03)
        assert below.mean() > 0.6


@pytest.mark.parametrize("estimator", ROBUST)
def test_a_record_of_any_weight_moves_releases_within_their_bounds(estimator):
    X, y = uneven(300)
    given = {"public_weight": np.linspace(0.1, 50.0, 300)[::-1]}
    model = estimator(ball_budget=0, data_norm=60.0, target_bounds=(-9, 9))
    _, values, script, mechanisms = record(model, X, y, **given)
    _, others, *_ = record(model, X, y, script=script, null=0, **given)
    for one, other, mechanism in zip(values, others, mechanisms, strict=True):
        moved = np.linalg.norm(one - other)
        assert moved <= mechanism.contribution_bound * (1.0 + 1e-6)


@pytest.mark.parametrize("ball_budget", [0.5, 0.9, 0.95])
@pytest.mark.parametrize("estimator", ROBUST)
@pytest.mark.filterwarnings("ignore:target_bounds=None")
def test_large_shares_for_the_ball_leave_something_for_the_rest(estimator, ball_budget):
    model = estimator(ball_budget=ball_budget, epsilon=20.0, random_state=0).fit(*uneven(500))
    assert 19.0 < model.privacy_report_.epsilon <= 20.0


@pytest.mark.parametrize("size", [5e-324, 1e-200, 1e200, 1e300])
@pytest.mark.parametrize("estimator", ROBUST)
@pytest.mark.filterwarnings("ignore:target_bounds=None")
def test_fits_stay_finite(estimator, size):
    X, y = uneven(300)
    model = estimator(random_state=0).fit(X, np.sign(y) * size)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.predict(1e5 * X)).all()


@pytest.mark.long
@pytest.mark.parametrize("estimator", ROBUST)
def test_targets_that_are_all_alike_have_a_spread(estimator):
    X, _ = uneven(2000)
    for epsilon in (1.0, np.inf):
        model = estimator(epsilon=epsilon, random_state=0).fit(X, np.full(2000, 7.0))
        assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize(
    ("estimator", "changes"),
    [
        (DPHuberRegressor, {"huber_threshold": 0.0}),
        (DPHuberRegressor, {"huber_threshold": np.nan}),
        (DPQuantileRegressor, {"quantile": 0.0}),
        (DPQuantileRegressor, {"quantile": 1.0}),
        (DPQuantileRegressor, {"quantile": 90}),
    ],
)
def test_thresholds_and_quantiles_are_checked(estimator, changes):
    with pytest.raises(ValueError, match=next(iter(changes))):
        estimator(**changes).fit(*uneven(50))
