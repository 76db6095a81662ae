"""The release that ends a fit of counts or amounts: predictions come to what was counted."""

import math

import numpy as np
import pytest

from skdp.accountant import compose
from skdp.linear_model import DPGammaRegressor, DPPoissonRegressor, DPTweedieRegressor
from tests.door import Sides, Tweedie, TweedieRate, ball_tuned, log_of_quotient

NAME = "amounts and what is expected"


def rates(n_rows=20_000, seed=0):
    """Return rows, counts of rare events, and how long rows were seen."""
    rng = np.random.default_rng(seed)
    X, seen = rng.standard_normal((n_rows, 12)), rng.uniform(0.0, 2.0, n_rows)
    return X, rng.poisson(0.05 * seen * np.exp(0.5 * X[:, 0])).astype(float), seen


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("has_exposure", [False, True])
def test_the_quotient_of_both_sides_makes_derivatives_add_up_to_zero(power, has_exposure, rng):
    X, coefs, bias = rng.standard_normal((500, 3)), rng.standard_normal((1, 4)), 0.7
    targets = rng.gamma(1.0, size=(500, 1))
    if has_exposure:
        targets = np.column_stack([targets, rng.uniform(0.0, 2.0, 500)])
    loss = (TweedieRate if has_exposure else Tweedie)(power, 50.0)
    amounts, expected = Sides(coefs, bias, loss).of(X, targets).sum(axis=0)
    shifted = X @ coefs[0, :3] + bias * coefs[0, 3] + math.log(amounts / expected)
    slopes = loss.gradient(targets if has_exposure else targets[:, 0], shifted)
    assert abs(slopes.sum()) < 1e-9 * np.abs(slopes).sum()


@pytest.mark.long
def test_predictions_come_to_what_was_counted(monkeypatch):
    X, y, seen = rates()

    def found():
        models = [DPPoissonRegressor(random_state=seed) for seed in range(4)]
        fits = [model.fit(X, y, exposure=seen) for model in models]
        return np.mean([fit.predict(X, exposure=seen).sum() for fit in fits]) / y.sum()

    mended = found()
    monkeypatch.setattr(ball_tuned, "LARGEST_QUOTIENT", 0.0)
    assert found() < 0.92
    assert mended == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize(
    "model",
    [
        DPPoissonRegressor(random_state=0),
        DPGammaRegressor(adjacency="replace_one", random_state=0),
        DPTweedieRegressor(power=1.5, ball_budget=0, data_norm=4.0, random_state=0),
    ],
    ids=["poisson", "gamma", "tweedie"],
)
def test_it_is_the_last_release_and_is_paid_for(model):
    X, y, _ = rates(2000)
    report = model.fit(X, y + 1.0).privacy_report_
    assert report.names[-1] == NAME
    assert report.epsilon_at(report.delta) == pytest.approx(1.0, rel=1e-6)
    assert compose([report]).epsilon <= 1.0 + 1e-6


@pytest.mark.parametrize(
    "options", [{"fit_intercept": False}, {"epsilon": math.inf}], ids=["no intercept", "no privacy"]
)
def test_there_is_none_without_an_intercept_or_privacy(options):
    X, y, _ = rates(2000)
    assert NAME not in DPPoissonRegressor(random_state=0, **options).fit(X, y).privacy_report_.names


def test_noise_is_not_believed():
    assert log_of_quotient(np.array([100.0, 100.0]), 1.0) == 0.0
    assert log_of_quotient(np.array([110.0, 100.0]), 1e-3) == pytest.approx(math.log(1.1), rel=1e-3)
    assert 0.0 < log_of_quotient(np.array([110.0, 100.0]), 20.0) < 0.07
    assert log_of_quotient(np.array([-5.0, 2.0]), 10.0) == 0.0
    assert log_of_quotient(np.array([1e30, 1e-30]), 1e-40) == 1.0
    assert log_of_quotient(np.array([0.0, 1.0]), 1e-40) == -1.0
