"""What the accountant says, on parameters that nobody chose by hand, against simulated losses."""

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from skdp.accountant import (
    GaussianEvent,
    LaplaceEvent,
    PrivacyReport,
    calibrate,
    calibrate_classic,
    calibrate_pure,
    get_epsilon,
)
from tests.door import calibration_module as calibration, epsilon_of
from tests.statistical._transcripts import bounds_of_mean

FEW = settings(max_examples=25, derandomize=True, deadline=None, database=None)
# Seconds of this process, whatever else the machine does; a call takes tens of milliseconds.
TIME_LIMIT = 10.0
# Numerical composition errs on the private side, by up to this share.
ACCURACY = 1e-3


def logarithmic(low, high):
    """Numbers whose logarithms are spread evenly, so that shrinking stays in range."""
    # exp(log(high)) may be above it by a rounding.
    return st.floats(math.log(low), math.log(high)).map(lambda x: min(max(math.exp(x), low), high))


NOISES = logarithmic(0.4, 50.0)
EPSILONS = logarithmic(0.02, 20.0)
DELTAS = logarithmic(1e-9, 0.05)
RATES = st.one_of(st.just(1.0), logarithmic(1e-3, 1.0))
STEPS = logarithmic(1, 2000).map(int)
ADJACENCIES = st.sampled_from(["zero_out", "replace_one"])
FACTORS = logarithmic(1.02, 3.0)


def timed(function, *args, **options):
    """The result of a call that must not take long; what was kept from earlier calls isn't used."""
    for cached in (epsilon_of, calibration._calibrate):
        cached.cache_clear()
    start = time.process_time()
    found = function(*args, **options)
    assert time.process_time() - start < TIME_LIMIT
    return found


@pytest.mark.long
@FEW
@given(NOISES, DELTAS, RATES, STEPS, ADJACENCIES, FACTORS)
def test_epsilon_is_monotone_and_never_negative(noise, delta, rate, n_steps, adjacency, factor):
    design = {"sampling_rate": rate, "n_steps": n_steps, "adjacency": adjacency}
    epsilon = timed(get_epsilon, noise, delta, **design)
    assert 0.0 <= epsilon < math.inf
    better = {
        "more noise": get_epsilon(noise * factor, delta, **design),
        "larger delta": get_epsilon(noise, delta * factor, **design),
        "lower rate": get_epsilon(noise, delta, **(design | {"sampling_rate": rate / factor})),
        "fewer steps": get_epsilon(
            noise, delta, **(design | {"n_steps": max(1, int(n_steps / factor))})
        ),
        "weaker adjacency": get_epsilon(noise, delta, **(design | {"adjacency": "zero_out"})),
    }
    for name, found in better.items():
        assert 0.0 <= found <= epsilon * (1.0 + ACCURACY), name


@pytest.mark.long
@FEW
@given(EPSILONS, DELTAS, RATES, STEPS, ADJACENCIES)
def test_calibrated_noise_keeps_the_target(epsilon, delta, rate, n_steps, adjacency):
    design = {"sampling_rate": rate, "n_steps": n_steps, "adjacency": adjacency}
    noise = timed(calibrate, epsilon, delta, **design)
    assert 0.0 < noise < math.inf
    found = get_epsilon(noise, delta, **design)
    assert found <= epsilon
    # A record of a full batch never has less noise than one of Poisson batches.
    assert noise <= calibrate(epsilon, delta, **(design | {"sampling_rate": 1.0})) * 1.01
    event = GaussianEvent(noise, rate, n_steps)
    report = PrivacyReport(
        epsilon=epsilon,
        delta=delta,
        adjacency=adjacency,
        events=(event,),
        accountant="pld",
        clipping=1.0,
        reproducible=False,
    )
    # The report converts in both directions and never below what it says.
    assert timed(report.epsilon_at, delta) <= epsilon * (1.0 + ACCURACY)
    assert timed(report.delta_at, epsilon) <= delta * (1.0 + 1e-6)
    assert report.epsilon_at(delta, group_size=2) >= report.epsilon_at(delta)
    for fpr in (0.0, 0.1, 0.9):
        assert fpr <= report.tpr_at(fpr) <= math.exp(epsilon) * fpr + delta * (1.0 + 1e-6)


@pytest.mark.parametrize(
    ("epsilon", "delta", "rate", "adjacency"),
    [(1e-3, 1e-9, 0.5, "zero_out"), (1e3, 1e-3, 1e-5, "replace_one")],
)
def test_a_million_steps_are_calibrated_in_time(epsilon, delta, rate, adjacency):
    design = {"sampling_rate": rate, "n_steps": 10**6, "adjacency": adjacency}
    noise = timed(calibrate, epsilon, delta, **design)
    assert get_epsilon(noise, delta, **design) <= epsilon


@FEW
@given(EPSILONS, STEPS, ADJACENCIES)
def test_pure_noise_keeps_the_target(epsilon, n_steps, adjacency):
    noise = timed(calibrate_pure, epsilon, n_steps=n_steps, adjacency=adjacency)
    factor = 2.0 if adjacency == "replace_one" else 1.0
    assert factor * n_steps / noise == pytest.approx(epsilon)
    assert factor * n_steps / noise <= epsilon * (1.0 + 1e-12)
    assert LaplaceEvent(noise, n_steps).n_releases == n_steps


@FEW
@given(logarithmic(0.02, 1.0), DELTAS)
def test_the_classic_formula_is_never_below_the_exact_noise(epsilon, delta):
    noise = timed(calibrate_classic, epsilon, delta)
    assert noise == pytest.approx(math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon)
    assert noise >= calibrate(epsilon, delta)
    assert get_epsilon(noise, delta) <= epsilon


@pytest.mark.parametrize(
    ("noise", "epsilon"),
    # Of N(1, s^2) and N(0, s^2) at epsilon e: Phi(1/2s - e s) - exp(e) Phi(-1/2s - e s).
    [(1.0, 0.0), (1.0, 0.5), (1.0, 1.0), (2.0, 0.0), (0.5, 2.0), (0.5, 4.0)],
)
def test_hand_values_of_one_full_batch(noise, epsilon):
    ends = np.array([0.5, -0.5]) / noise - epsilon * noise
    one, other = stats.norm.cdf(ends)
    delta = one - math.exp(epsilon) * other
    assert get_epsilon(noise, delta) == pytest.approx(epsilon, abs=1e-9)
    # T steps are one with noise s / sqrt(T); replacing doubles.
    assert get_epsilon(3.0 * noise, delta, n_steps=9) == pytest.approx(epsilon, abs=1e-9)
    assert get_epsilon(2.0 * noise, delta, adjacency="replace_one") == pytest.approx(
        epsilon, abs=1e-9
    )


@pytest.mark.parametrize(("noise", "rate"), [(0.5, 0.1), (1.0, 0.3), (2.0, 0.9)])
@pytest.mark.parametrize("epsilon", [0.05, 0.2])
def test_hand_values_of_one_sampled_step(noise, rate, epsilon):
    """A sampled Gaussian at e is the full one at log(1 + (exp(e) - 1) / q), with q times delta."""
    inner = math.log1p(math.expm1(epsilon) / rate)
    ends = np.array([0.5, -0.5]) / noise - inner * noise
    one, other = stats.norm.cdf(ends)
    delta = rate * (one - math.exp(inner) * other)
    found = get_epsilon(noise, delta, sampling_rate=rate)
    # Losses are rounded up to a grid.
    assert epsilon * (1.0 - 1e-6) <= found <= 1.02 * epsilon


# Simulated losses: a lower bound on delta that shares nothing with the accountant.

N_LOSSES = 100_000
DESIGNS = [(0.8, 0.05, 40), (1.5, 0.3, 20), (4.0, 1.0, 10), (0.5, 0.02, 60), (3.0, 0.5, 30)]


def losses(noise, rate, n_steps, pair, rng):
    """Privacy losses of `n_steps` sampled Gaussians, drawn under the first law of a pair.

    The record's sum is at 1, the null record's at 0, another record's at -1.
    """

    def log_mixture(x, shift):
        density = np.log(rate) + (2.0 * shift * x - shift**2) / (2.0 * noise**2)
        return np.logaddexp(np.log1p(-rate), density) if rate < 1.0 else density

    first, second = {"remove": (1.0, 0.0), "add": (0.0, 1.0), "replace": (1.0, -1.0)}[pair]
    total = np.zeros(N_LOSSES)
    for _ in range(n_steps):
        x = noise * rng.standard_normal(N_LOSSES)
        x[rng.random(N_LOSSES) < rate] += first
        total += log_mixture(x, first) - log_mixture(x, second)
    return total


@pytest.mark.parametrize(("noise", "rate", "n_steps"), DESIGNS)
@pytest.mark.parametrize("pair", ["remove", "add", "replace"])
def test_simulated_losses_are_within_what_is_stated(noise, rate, n_steps, pair, rng):
    """Each of 30 comparisons errs less than once in 10**10, and finds an epsilon 15 % too low."""
    found = losses(noise, rate, n_steps, pair, rng)
    adjacency = "replace_one" if pair == "replace" else "zero_out"
    design = {"sampling_rate": rate, "n_steps": n_steps, "adjacency": adjacency}
    for delta in (1e-2, 1e-1):
        epsilon = get_epsilon(noise, delta, **design)
        low, high = bounds_of_mean(-np.expm1(np.minimum(epsilon - found, 0.0)))
        assert low <= delta
        if pair != "add":
            low, _ = bounds_of_mean(-np.expm1(np.minimum(0.85 * epsilon - found, 0.0)))
            assert low > delta
            assert high > 0.5 * delta
