"""Closed forms against 120 digits: answers are upper bounds, and hardly above the exact values."""

import math
from decimal import Context, Decimal, localcontext

import numpy as np
import pytest
from scipy.special import ndtri

from skdp.accountant import calibrate, get_epsilon
from tests._loops import for_each
from tests.door import GaussianProfile, subsampled_delta

MUS = [*np.geomspace(1e-12, 1e4, 33).tolist(), 1e-60, 0.999e-3, 1.001e-3, 7e7]
DELTAS = [*np.geomspace(1e-15, 0.1, 15).tolist(), 0.3, 0.5, 0.9]
PI = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534"
    "2117067982148086513282306647"
)
# Relative excess of a delta that is allowed.
LOOSE = 1e-8


@pytest.fixture(autouse=True)
def digits():
    with localcontext(Context(prec=120, Emin=-(10**17), Emax=10**17)):
        yield


def density(x):
    return (-x * x / 2).exp() / (2 * PI).sqrt()


def mills(x):
    """P(Z > x) over the density at x, for x >= 0: Laplace's continued fraction, or a series."""
    if x > 8:
        found = x
        for k in range(int(8000 / x**2) + 60, 0, -1):
            found = x + k / found
        return 1 / found
    term, sums, k = x, x, 1
    while term > Decimal("1e-130"):
        k += 2
        term *= x * x / k
        sums += term
    return (PI / 2).sqrt() * (x * x / 2).exp() - sums


def tail(x):
    """P(Z > x) of a standard Gaussian Z."""
    return density(x) * mills(x) if x >= 0 else 1 - density(x) * mills(-x)


def exact_delta(epsilon, mu):
    """The two tails of Balle and Wang (2018), theorem 8; exp(epsilon) is in the second density."""
    epsilon, mu = Decimal(epsilon), Decimal(mu)
    low, high = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if high < 0:
        return tail(low) - epsilon.exp() * tail(high)
    return tail(low) - density(low) * mills(high)


def test_the_reference_is_right():
    assert float(tail(Decimal(0))) == 0.5
    for x in (0.1, 1.0, 7.9, 8.1, 30.0):
        assert float(tail(Decimal(x))) == pytest.approx(math.erfc(x / math.sqrt(2)) / 2, rel=1e-13)
    # The two ways to a Mills ratio agree where both go.
    below, above = Decimal("7.999999999"), Decimal("8.000000001")
    slope = (mills(above) - mills(below)) / (above - below)
    assert float(slope) == pytest.approx(float(8 * mills(Decimal(8)) - 1), rel=1e-8)
    assert exact_delta(0.0, 1.0) == pytest.approx(Decimal(math.erf(0.5 / math.sqrt(2))))


@pytest.mark.long
@for_each("mu", MUS)
def test_epsilon_is_never_below_the_exact_one(mu):
    profile = GaussianProfile(mu)
    for delta in DELTAS:
        epsilon = profile.epsilon(delta)
        exact = exact_delta(epsilon, mu)
        assert exact <= Decimal(delta)
        if epsilon > 0:
            # Where mu is large, delta moves much with the last digits of epsilon.
            loose = LOOSE + 1e-13 * mu * (1 + abs(float(ndtri(delta))))
            assert exact > Decimal(delta * (1 - loose))


@pytest.mark.long
@for_each("mu", MUS)
def test_delta_is_never_below_the_exact_one(mu):
    profile = GaussianProfile(mu)
    for scaled in (0.0, 1e-9, 0.01, 0.7, 3.0, 8.0, 37.0):
        for sign in (1, -1):
            epsilon = sign * scaled * mu + (mu * mu / 2 if mu > 1e-3 else 0.0)
            found, exact = profile.delta(epsilon), exact_delta(epsilon, mu)
            assert exact <= Decimal(found)
            loose = LOOSE + 1e-13 * mu * (1 + scaled)
            assert Decimal(found) <= exact * Decimal(1 + loose) + Decimal("1e-323")
    assert profile.delta(60.0 * mu + mu * mu / 2) > 0.0


@pytest.mark.long
@for_each("mu", MUS)
def test_power_is_never_below_the_exact_one(mu):
    profile = GaussianProfile(mu)
    for fpr in (1e-300, 1e-12, 1e-4, 0.3, 0.5, 0.9, 1 - 1e-9):
        quantile = Decimal(float(-ndtri(fpr)))
        for _ in range(4):
            quantile += (tail(quantile) - Decimal(fpr)) / density(quantile)
        exact = tail(quantile - Decimal(mu))
        assert exact <= Decimal(profile.tpr(fpr)) <= exact * Decimal(1 + LOOSE)


@for_each("adjacency, factor", [("zero_out", 1), ("replace_one", 2)])
@for_each("noise", [1e12, 1e10, 3e9, 1e8, 12345.6, 77.7, 3.0, 0.1, 1e-3])
@for_each("n_steps", [1, 3, 10**6])
def test_epsilon_of_noise_is_never_below_the_exact_one(noise, adjacency, factor, n_steps):
    mu = factor * Decimal(n_steps).sqrt() / Decimal(noise)
    for delta in (1e-12, 1e-5):
        epsilon = get_epsilon(noise, delta, n_steps=n_steps, adjacency=adjacency)
        assert exact_delta(epsilon, mu) <= Decimal(delta)


@for_each("epsilon", [1e-7, 1e-5, 1e-3, 1.0, 1e3, 1e6])
@for_each("delta", [1e-15, 1e-9, 1e-3, 0.9])
def test_calibrated_noise_is_never_below_the_exact_one(epsilon, delta):
    noise = Decimal(calibrate(epsilon, delta))
    assert exact_delta(epsilon, 1 / noise) <= Decimal(delta)
    assert exact_delta(epsilon, 1 / (noise * Decimal(1 - 1e-7))) > Decimal(delta)


def exact_sampled_delta(epsilon, sigma, q, direction):
    epsilon, q, mu = Decimal(epsilon), Decimal(q), 1 / Decimal(sigma)
    if direction == "remove":
        inner = (epsilon.exp() - 1) / q + 1
        return q * exact_delta(inner.ln(), mu) if inner > 0 else 1 - epsilon.exp()
    if direction == "add":
        scale = 1 - epsilon.exp() * (1 - q)
        return scale * exact_delta((epsilon.exp() * q / scale).ln(), mu) if scale > 0 else 0
    # The better of all tests by threshold is at a point where the likelihood ratio is exp(epsilon).
    half = epsilon / 2
    scaled = (half.exp() - (-half).exp()) / 2 * (mu * mu / 2).exp() * (1 - q) / q
    x = (half + (scaled + (1 + scaled * scaled).sqrt()).ln()) / mu
    one = (1 - q) * tail(x) + q * tail(x - mu)
    other = (1 - q) * tail(x) + q * tail(x + mu)
    return one - epsilon.exp() * other


@for_each("direction", ["remove", "add", "replace"])
@for_each("sigma", [1.001e3, 1e5, 1e7, 1e10])
@pytest.mark.parametrize("q", [1e-9, 1e-3, 0.5, 0.999, 1.0])
def test_much_noise_on_poisson_batches_is_never_below_the_exact_delta(q, sigma, direction):
    for scaled in (-6.0, -1.0, -0.1, 0.0, 1e-3, 0.1, 1.0, 3.0, 6.0):
        epsilon = scaled * q / sigma
        exact = exact_sampled_delta(epsilon, sigma, q, direction)
        found = Decimal(float(subsampled_delta(np.array([epsilon]), sigma, q, direction)[0]))
        if q < 1 or direction == "replace":
            assert exact <= found
        assert abs(found - exact) <= exact * Decimal(LOOSE)
    far = subsampled_delta(np.array([-800.0, 800.0]), sigma, q, direction)
    assert far.tolist() == [1.0, 0.0]
