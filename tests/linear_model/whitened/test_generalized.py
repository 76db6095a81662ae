"""Counts and amounts by a log link."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import GammaRegressor, PoissonRegressor, TweedieRegressor
from sklearn.metrics import d2_tweedie_score, mean_tweedie_deviance

from skdp.inspection import preview
from skdp.linear_model import DPGammaRegressor, DPPoissonRegressor, DPRidge, DPTweedieRegressor
from tests._loops import for_each
from tests._runs import run_of
from tests.door import (
    Budget,
    RawRows,
    Tweedie,
    learn_sizes,
    plan_targets,
    rounding_slack,
)

COEF = np.array([0.5, -0.4, 0.3, 0.0])


def counts(n_rows, rate, seed=0):
    """Features far from 0 and of uneven size, and how often something happened."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n_rows, 4))
    return 3.0 + Z * [1.0, 10.0, 0.1, 1.0], rng.poisson(rate * np.exp(Z @ COEF)).astype(float)


def amounts(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n_rows, 4))
    return 3.0 + Z * [1.0, 10.0, 0.1, 1.0], rng.gamma(1.5, 1000.0 * np.exp(Z @ COEF))


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0, 3.0])
def test_the_loss_is_half_the_deviance_but_for_a_constant(power):
    loss, y = Tweedie(power), np.array([0.3, 1.0, 4.0])
    m = np.linspace(-1.0, 1.0, 7)[:, np.newaxis]
    deviance = np.array(
        [[mean_tweedie_deviance([t], [np.exp(p)], power=power) for t in y] for p in m[:, 0]]
    )
    apart = 0.5 * deviance - loss.value(y, m)
    np.testing.assert_allclose(apart, np.broadcast_to(apart[:1], apart.shape), atol=1e-12)
    slope = (loss.value(y, m + 1e-6) - loss.value(y, m - 1e-6)) / 2e-6
    np.testing.assert_allclose(loss.gradient(y, m), slope, rtol=1e-5, atol=1e-8)


def test_predictions_beyond_the_reach_have_its_slope():
    loss = Tweedie(1.0, reach=7.0)
    far = loss.gradient(np.array([1.0, 2.0]), np.array([1e4, -1e4]))
    np.testing.assert_allclose(far, [np.exp(7.0) - 1.0, np.exp(-7.0) - 2.0])


@pytest.mark.long
@pytest.mark.parametrize(
    ("model", "peer", "power"),
    [
        (DPPoissonRegressor(), PoissonRegressor(), 1.0),
        (DPGammaRegressor(), GammaRegressor(), 2.0),
        (DPTweedieRegressor(power=1.5), TweedieRegressor(power=1.5), 1.5),
    ],
)
@pytest.mark.parametrize("alpha", [1e-4, 0.1])
def test_without_privacy_it_is_scikit_learns(model, peer, power, alpha):
    """Of columns over their roots of mean squares; the units of y are those of a mean of 1."""
    X, y = counts(500, 2.0)
    X, y = X - 3.0, y + 0.1
    how = {"epsilon": np.inf, "fit_intercept": False, "max_iter": 3000, "average": False}
    ours = model.set_params(alpha=alpha, **how).fit(X, y)
    theirs = peer.set_params(alpha=alpha, fit_intercept=False, tol=1e-10, max_iter=10_000)
    theirs.fit(X / ours.scale_, y)
    np.testing.assert_allclose(ours.coef_ * ours.scale_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X / ours.scale_), rtol=1e-4)
    assert ours.score(X, y) == pytest.approx(d2_tweedie_score(y, ours.predict(X), power=power))


@pytest.mark.parametrize("model", [DPPoissonRegressor(), DPTweedieRegressor(power=1.5)], ids=str)
def test_without_privacy_a_weight_of_two_is_a_row_that_is_there_twice(model):
    """The mean by which targets are divided, and so the penalty, is that of weighted rows, too."""
    rng = np.random.default_rng(5)
    X, y = rng.uniform(size=(40, 3)), rng.uniform(size=40) * np.repeat([1.0, 5.0], 20)
    weights = np.repeat([2, 1], 20)
    options = {"epsilon": np.inf, "alpha": 0.5, "ball_budget": 0, "data_norm": 2.0, "max_iter": 300}
    weighted = clone(model).set_params(**options).fit(X, y, public_weight=weights)
    twice = np.repeat(np.arange(40), weights)
    repeated = clone(model).set_params(**options).fit(X[twice], y[twice])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-8)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-8)


def test_the_units_of_the_targets_change_nothing_but_the_predictions():
    X, y = amounts(500)
    one, other = (DPGammaRegressor(epsilon=np.inf).fit(X, unit * y) for unit in (1.0, 1e6))
    np.testing.assert_allclose(other.predict(X), 1e6 * one.predict(X), rtol=1e-6)


def test_the_power_0_is_ridge_regression():
    X, y = counts(500, 2.0)
    how = {"target_bounds": (-9, 9), "random_state": 0}
    ours, ridge = DPTweedieRegressor(**how).fit(X, y), DPRidge(**how).fit(X, y)
    np.testing.assert_array_equal(ours.coef_, ridge.coef_)
    np.testing.assert_array_equal(ours.predict(X), ridge.predict(X))
    assert ours.privacy_report_ == ridge.privacy_report_


def test_several_targets_of_the_power_0_have_the_score_of_ridge_regression():
    X, y = amounts(3000)
    Y = np.column_stack([y, -y])
    model, ridge = DPTweedieRegressor(power=0, epsilon=5.0), DPRidge(epsilon=5.0)
    found = [one.set_params(random_state=0).fit(X, Y).score(X, Y) for one in (model, ridge)]
    assert found[0] == found[1]


def test_a_fit_of_the_power_0_has_its_own_momentum():
    X, y = counts(500, 1.0)
    model = DPTweedieRegressor(power=1.5, momentum=0.4).fit(X, y)
    assert model.momentum_ == 0.4
    assert model.set_params(power=0, momentum=0.2).fit(X, y).momentum_ == 0.2


def test_the_scale_of_weights_counts_beside_that_of_targets():
    X, y = counts(500, 1.0)
    model = DPPoissonRegressor(clipping_norm="auto", random_state=0)
    even, uneven = np.ones(len(y)), np.where(np.arange(len(y)) % 50, 1e-6, 1.0)
    assert model.fit(X, y, public_weight=even).clipping_norm_ < 0.5 * (
        model.fit(X, y, public_weight=uneven).clipping_norm_
    )


def test_rows_of_weight_0_have_no_part_in_the_mean():
    X, y = amounts(300)
    weights = np.ones(300)
    weights[:100] = 0.0
    plain = DPGammaRegressor(epsilon=np.inf).fit(X, y, public_weight=weights)
    y[:100] = 1e9
    np.testing.assert_array_equal(
        DPGammaRegressor(epsilon=np.inf).fit(X, y, public_weight=weights).coef_, plain.coef_
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("model", "made", "lost"),
    [
        (DPPoissonRegressor(), counts(30_000, 3.0), 0.004),
        (DPPoissonRegressor(), counts(30_000, 0.1), 0.01),
        (DPGammaRegressor(), amounts(30_000), 0.004),
    ],
    ids=["many", "few", "amounts"],
)
def test_little_is_lost_to_privacy(model, made, lost):
    """Of D2, in the mean of four fits, and predictions are as many in all, within a twentieth."""
    X, y = made
    best = model.set_params(epsilon=np.inf).fit(X, y).score(X, y)
    model.set_params(epsilon=1.0)
    fits = [clone(model).set_params(random_state=seed).fit(X, y) for seed in range(4)]
    assert np.mean([fit.score(X, y) for fit in fits]) > best - lost
    means = [fit.predict(X).mean() for fit in fits]
    assert np.mean(means) == pytest.approx(y.mean(), rel=0.05)


@pytest.mark.parametrize("heavy", [False, True])
def test_sizes_of_targets(heavy, rng):
    """The mean within a fifth, and less than a fiftieth of it cut where there is no noise."""
    y = np.exp((2.0 if heavy else 0.3) * rng.standard_normal((20_000, 1)))
    y[:5000] = 0.0
    budget = Budget(1000.0, 1e-5, "zero_out", "pld")
    slack = rounding_slack(len(y), 1, 1)
    plan, share = plan_targets(
        budget, "auto", n_records=len(y), n_targets=1, slack=slack, of_sizes=True
    )
    assert 0.0 < share < 0.3
    assert len(plan.events) == 2
    with RawRows(y, np.zeros(len(y), dtype=bool)).at_work() as sums:
        run = run_of(plan)
        (mean,), sizes, _ = learn_sizes(sums, plan=plan, run=run, noises=[0.0, 1e-2])
    size, size_with_noise = sizes[0]
    assert mean == pytest.approx(y.mean(), rel=0.2)
    assert np.maximum(y - size, 0.0).mean() < 0.02 * mean
    # Less is cut where noise is dear.
    assert size_with_noise <= size
    assert size_with_noise < (0.7 if heavy else 1.01) * size


# Of a hundred rows hardly anything is learnt.
@pytest.mark.filterwarnings("ignore:the size of the targets")
@pytest.mark.parametrize("wrong", [-17.17, -1e-300])
@pytest.mark.parametrize("kind", [DPPoissonRegressor, DPGammaRegressor])
def test_targets_out_of_the_range_are_refused(kind, wrong):
    X, y = amounts(100)
    y[3] = wrong
    with pytest.raises(ValueError, match="out of the range") as caught:
        kind().fit(X, y)
    assert "17" not in str(caught.value)


def test_zeros_are_amounts_only_where_the_power_is_below_2():
    X, y = amounts(3000)
    y[3] = 0.0
    DPTweedieRegressor(power=1.9).fit(X, y)
    DPPoissonRegressor().fit(X, y)
    for model in (DPTweedieRegressor(power=2.0), DPGammaRegressor()):
        with pytest.raises(ValueError, match="out of the range"):
            model.fit(X, y)


@pytest.mark.parametrize("power", [0.5, 1e-9, 0.999])
@pytest.mark.filterwarnings("ignore:the size of the targets")
def test_powers_that_no_distribution_has(power):
    with pytest.raises(ValueError, match="power must be 0 or at least 1"):
        DPTweedieRegressor(power=power).fit(*amounts(100))
    with pytest.raises(ValueError, match="power must be 0 or at least 1"):
        preview(DPTweedieRegressor(power=power), 100, 3)


@pytest.mark.long
@for_each("kind", [DPPoissonRegressor, DPGammaRegressor])
@for_each("size", [1e-300, 1e-30, 1e30, 1e300])
@for_each("changes", [{}, {"fit_intercept": False}, {"ball_budget": 0, "data_norm": 1.0}])
def test_fits_stay_finite(kind, size, changes):
    X, y = amounts(300)
    model = kind(random_state=0, **changes).fit(X * size if size < 1e200 else X, y * size)
    assert np.isfinite(model.coef_).all()
    assert (model.predict(X) > 0.0).all()


@pytest.mark.parametrize("power", [1.0, 3.0, 100.0])
@pytest.mark.parametrize("size", [5e-324, 1e-200, 1e300])
def test_any_size_of_targets_is_taken_without_an_intercept(power, size):
    X, y = amounts(3000)[0] - 3.0, np.full(3000, size)
    model = DPTweedieRegressor(power=power, fit_intercept=False, random_state=0)
    assert np.isfinite(model.fit(X, y).coef_).all()


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0, 3.0])
def test_large_targets_without_an_intercept_do_not_throw_steps_far_off(power):
    """The loss is steepest where steps start for some powers, and at the mean for others."""
    Z = np.random.default_rng(0).standard_normal((20_000, 3))
    y = 300.0 * np.exp(0.5 * Z[:, 0])
    model = DPTweedieRegressor(power=power, fit_intercept=False, random_state=0)
    best = TweedieRegressor(power=power, alpha=0.0, fit_intercept=False, link="log").fit(Z, y)
    for epsilon in (np.inf, 1.0):
        found = model.set_params(epsilon=epsilon).fit(Z, y).predict(Z)
        lost = mean_tweedie_deviance(y, found, power=power)
        assert lost < 1.02 * mean_tweedie_deviance(y, best.predict(Z), power=power)


@pytest.mark.filterwarnings("ignore:the size of the targets")
@pytest.mark.parametrize("epsilon", [1.0, np.inf])
@pytest.mark.parametrize("largest", [1e-200, 1.7e308])
def test_no_warning_tells_that_a_target_is_huge(largest, epsilon):
    X, y = amounts(400)
    y *= 1e-200
    y[0] = largest
    with np.errstate(all="raise"):
        DPPoissonRegressor(epsilon=epsilon, random_state=0).fit(X, y)


@pytest.mark.parametrize("model", [DPPoissonRegressor(momentum=0.0), DPRidge(target_bounds=(0, 9))])
def test_a_fit_that_overflows_leaves_the_one_before_as_it_was(model):
    """Of 11 steps the coefficients overflow only in the units of X."""
    rng = np.random.default_rng(0)
    X, y = 1e-30 * rng.standard_normal((3000, 3)), rng.poisson(2.0, 3000)
    model.set_params(epsilon=np.inf).fit(X, y)
    report, coef = model.privacy_report_, model.coef_
    model.set_params(epsilon=1.0, step_size=1e30, max_iter=11, random_state=0)
    with pytest.raises(ValueError, match="The fit overflowed"):
        model.fit(X, y)
    assert model.privacy_report_ is report
    np.testing.assert_array_equal(model.coef_, coef)


def test_predictions_are_cut_to_public_bounds():
    X, y = amounts(3000)
    model = DPGammaRegressor(target_bounds=(500, 800), random_state=0).fit(X, y)
    assert model.target_bounds_ == (500.0, 800.0)
    found = model.predict(100.0 * (X - 3.0))
    assert found.min() == 500.0
    assert found.max() == 800.0


@pytest.mark.parametrize("epsilon", [1.0, np.inf])
def test_bounds_below_which_no_target_is_are_refused(epsilon):
    model = DPPoissonRegressor(epsilon=epsilon, target_bounds=(-5, 0))
    with pytest.raises(ValueError, match="a high above 0"):
        model.fit(*counts(300, 1.0))


@pytest.mark.parametrize("kind", [DPPoissonRegressor, DPGammaRegressor])
def test_rows_may_be_sparse_weighted_or_of_people(kind):
    X, y = amounts(2000)
    dense = kind(random_state=0).fit(X, y)
    sparse = kind(random_state=0).fit(csr_array(X), y)
    np.testing.assert_allclose(sparse.predict(X), dense.predict(X), rtol=1e-6)
    kind(random_state=0).fit(X, y, public_weight=np.linspace(0.0, 2.0, len(y)))
    people = kind(random_state=0).fit(X, y, np.repeat(np.arange(500), 4))
    assert "group" in people.privacy_report_.unit


def test_nothing_but_counts_and_sums_is_released_of_the_targets():
    """Those and the moment and the steps: each event is a release that the fit made."""
    X, y = counts(3000, 2.0)
    report = DPPoissonRegressor(ball_budget=0, data_norm=30.0).fit(X, y).privacy_report_
    assert len(report.events) == 5
    assert report.epsilon <= 1.0
