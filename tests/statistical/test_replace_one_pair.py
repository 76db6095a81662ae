r"""The worst pair of one step when a record is replaced by another.

A record moves the released sum by u or, in the other data set, by u', both of length at most C. The
claim, proved in doc/theory/hidden_dual.rst: among all such pairs in any dimension,

    P = (1 - q) N(0, s^2 C^2 I) + q N(u, s^2 C^2 I),   Q = (1 - q) N(0, ...) + q N(u', ...),

the hockey-stick divergence of every order is largest for opposite u and u' of length C, which is
the pair that `skdp.accountant` composes. Only the lengths and the angle matter, so d = 2 is
general. With x = <., u>/|u| and z = <., u'>/|u'|, correlated normals, the divergence is

    E[(q exp(a x - a^2/2) - e^epsilon q exp(b z - b^2/2) - k)_+],   k = (1 - q)(e^epsilon - 1);

given z this is an expectation of a lognormal above a strike, in closed form, and the mean over z
is a sum over a grid, exact to 1e-12 for a smooth integrand with Gaussian tails.
"""

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr

from tests.door import subsampled_delta

RATES = (0.003, 0.1, 0.5, 0.95)
NOISES = (0.4, 1.0, 3.0)
# A negative epsilon is the positive one of the swapped pair, which the loops over lengths contain.
EPSILONS = np.array([0.0, 0.02, 0.1, 0.5, 1.0, 2.0, 4.0])
# Where u is nearly parallel to u', or short, the integrand has a corner that the grid can't see.
LENGTHS = (0.15, 0.4, 0.7, 1.0)
ANGLES = math.pi * np.array([0.1, 0.25, 0.5, 0.7, 0.85, 0.95])

NODES = np.linspace(-11.0, 11.0, 1401)
WEIGHTS = np.exp(-(NODES**2) / 2.0)
WEIGHTS /= WEIGHTS.sum()


def divergence(epsilons, length, other, angle, noise, q):
    """Divergence of P from Q, for each epsilon; u has `length` C and u' has `other` C."""
    a, b, r = length / noise, other / noise, math.cos(angle)
    k = (1.0 - q) * np.expm1(epsilons)
    strike = np.exp(epsilons)[:, np.newaxis] * q * np.exp(b * NODES - b * b / 2.0)
    strike += k[:, np.newaxis]
    mean = q * np.exp(a * r * NODES - (a * r) ** 2 / 2.0)
    return mean_excess(mean, strike, a * math.sin(angle)) @ WEIGHTS


def mean_excess(mean, strike, spread):
    """E[(L - strike)_+] of a lognormal L of this mean; `spread` is that of its logarithm."""
    if spread < 1e-12:
        return np.maximum(mean - strike, 0.0)
    positive = np.where(strike > 0.0, strike, 1.0)
    d = np.log(mean / positive) / spread + spread / 2.0
    return np.where(strike > 0.0, mean * ndtr(d) - strike * ndtr(d - spread), mean - strike)


AXIS = np.linspace(-8.0, 8.0, 641)
PLANE = np.stack(np.meshgrid(AXIS, AXIS, indexing="ij"), axis=-1)


def mixture_density(shifts, weights, noise, q):
    """Density on the plane, in units of the noise, of shifts that come with probability q."""
    density = (1.0 - q) * np.exp(-(PLANE**2).sum(axis=-1) / 2.0)
    for shift, weight in zip(shifts, weights, strict=True):
        moved = PLANE - np.asarray(shift) / noise
        density += q * weight * np.exp(-(moved**2).sum(axis=-1) / 2.0)
    return density / (2.0 * math.pi)


def divergence_on_the_plane(epsilon, p, q):
    """Nothing but the definition: the integral of (p - e^epsilon q)_+."""
    return np.maximum(p - math.exp(epsilon) * q, 0.0).sum() * (AXIS[1] - AXIS[0]) ** 2


@pytest.mark.parametrize(
    ("length", "other", "angle", "noise", "q"),
    [(1.0, 1.0, 2.0, 1.0, 0.3), (0.3, 1.0, 1.0, 0.6, 0.05), (1.0, 0.0, 1.5, 0.8, 0.9)],
)
def test_the_formula_is_the_definition(length, other, angle, noise, q):
    p = mixture_density([(length * math.cos(angle), length * math.sin(angle))], [1.0], noise, q)
    p_prime = mixture_density([(other, 0.0)], [1.0], noise, q)
    found = divergence(EPSILONS, length, other, angle, noise, q)
    expected = [divergence_on_the_plane(epsilon, p, p_prime) for epsilon in EPSILONS]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize(("q", "noise"), itertools.product(RATES, NOISES))
def test_opposite_vectors_of_full_length_are_the_worst(q, noise):
    """Over angles and lengths; swapping the lengths swaps P and Q."""
    worst = subsampled_delta(EPSILONS, noise, q, "replace")
    for length, other, angle in itertools.product(LENGTHS, LENGTHS, ANGLES):
        found = divergence(EPSILONS, length, other, angle, noise, q)
        assert (found <= worst * (1.0 + 1e-9) + 1e-13).all()


@pytest.mark.parametrize(("q", "noise"), itertools.product(RATES, NOISES))
def test_each_step_of_the_proof(q, noise):
    """The divergence grows with the angle at fixed lengths, and with either length at a fixed
    inner product.
    """

    def grows(values):
        steps = np.diff(values, axis=0)
        return (steps >= -1e-13 - 1e-9 * np.abs(values[1:])).all()

    for length, other in itertools.product(LENGTHS[1:], repeat=2):
        by_angle = [divergence(EPSILONS, length, other, x, noise, q) for x in ANGLES]
        assert grows(np.array(by_angle))
    for inner, kept in itertools.product((-0.5, 0.0, 0.3), (0.6, 1.0)):
        lengths = np.array([0.9, 0.95, 1.0])
        angles = np.arccos(inner / (lengths * kept))
        pairs = list(zip(lengths, angles, strict=True))
        first = [divergence(EPSILONS, x, kept, angle, noise, q) for x, angle in pairs]
        second = [divergence(EPSILONS, kept, x, angle, noise, q) for x, angle in pairs]
        assert grows(np.array(first))
        assert grows(np.array(second))


@pytest.mark.parametrize(("q", "noise"), itertools.product(RATES, NOISES))
def test_the_bound_is_reached_at_opposite_vectors_and_passed_by_longer_ones(q, noise):
    worst = subsampled_delta(EPSILONS, noise, q, "replace")
    nearly = divergence(EPSILONS, 1.0, 1.0, 0.97 * math.pi, noise, q)
    seen = worst > 1e-9
    assert seen.any()
    assert (nearly[seen] >= 0.85 * worst[seen]).all()
    longer = divergence(EPSILONS, 1.1, 1.1, 0.97 * math.pi, noise, q)
    assert (longer[seen] > worst[seen]).all()


@pytest.mark.long
def test_hidden_histories_are_no_worse_than_the_worst_pair(rng):
    """Mixtures over different numbers of hidden states, with weights of their own."""
    q, noise = 0.4, 0.9
    worst = subsampled_delta(EPSILONS, noise, q, "replace")
    largest = np.zeros_like(worst)
    for n_states, n_others in ((2, 3), (4, 2), (1, 5)):
        densities = []
        for n in (n_states, n_others):
            angles = rng.uniform(0.0, 2.0 * math.pi, n)
            lengths = rng.uniform(0.5, 1.0, n)
            shifts = np.column_stack([lengths * np.cos(angles), lengths * np.sin(angles)])
            densities.append(mixture_density(shifts, rng.dirichlet(np.ones(n)), noise, q))
        for p, p_prime in (densities, densities[::-1]):
            found = [divergence_on_the_plane(epsilon, p, p_prime) for epsilon in EPSILONS]
            largest = np.maximum(largest, found)
    assert (largest <= worst + 1e-6).all()
    assert largest[0] > 0.05 * worst[0]
