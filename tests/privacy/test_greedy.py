"""Greedy selection: a Gaussian tells at least as much as a choice, by numbers and an attack."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import log_softmax

from tests.door import ExponentialChoice

EPSILONS = np.linspace(-3.0, 3.0, 25)
BOUND = 1000


def log_law(mechanism, scores):
    """Logarithms of the probabilities of places."""
    scale = math.ceil(math.sqrt(math.pi / 2.0) * mechanism.noise_std)
    return log_softmax(np.asarray(scores) / scale)


def deltas(one, two, epsilons):
    return np.maximum(np.exp(one) - np.exp(epsilons)[:, np.newaxis] * np.exp(two), 0.0).sum(axis=1)


def gaussian_deltas(epsilons, mu):
    return stats.norm.cdf(mu / 2 - epsilons / mu) - np.exp(epsilons) * stats.norm.cdf(
        -mu / 2 - epsilons / mu
    )


@pytest.mark.parametrize("noise", [0.3, 1.0, 4.0, 50.0])
def test_no_two_neighbouring_laws_are_further_apart_than_the_gaussian(noise):
    mechanism = ExponentialChoice(noise, BOUND)
    rng = np.random.default_rng(0)
    epsilons = np.append(EPSILONS / noise, 0.0)
    allowed, worst = gaussian_deltas(epsilons, 1.0 / noise), 0.0
    for n_scores in (2, 2, 3, 10, 100):
        for _ in range(200):
            scores = rng.integers(0, rng.choice([1, 10, 100]) * BOUND + 1, n_scores)
            moves = BOUND * rng.choice([-1, 1], n_scores)
            if n_scores == 2 and rng.random() < 0.2:
                # The farthest apart that there are: each of two leads by the bound.
                scores, moves = np.array([BOUND, 0]), np.array([-BOUND, BOUND])
            one, two = log_law(mechanism, scores), log_law(mechanism, scores + moves)
            found = deltas(one, two, epsilons)
            assert (found <= allowed + 1e-12).all()
            worst = max(worst, found[-1] / allowed[-1])
    # The constant is the least for little told at a time.
    assert worst <= 1.0
    assert worst > (0.998 if noise >= 4.0 else 0.8)
