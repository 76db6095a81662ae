"""What no private area under a curve can do, against the best mechanisms of small problems."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog


def least_misses(n_positive, epsilon, within):
    """Return the bound of doc/theory/scores.rst."""
    half = math.ceil((math.floor(2 * within * n_positive) + 1) / 2)
    found = 0.0
    for margin in range(1, n_positive):
        odds = -math.expm1(-epsilon * margin) / math.expm1(epsilon * half)
        edges = 1 - 2 * (margin + 2 * half) / (n_positive + 1)
        found = max(found, odds / (1 + odds) * edges)
    return found


def fewest_misses(n_positive, epsilon, within):
    """Return the smallest mean probability of a miss, of all private mechanisms on a chain.

    Outputs are cells, each of which is near enough to the same areas: those of whole and half
    steps.
    """
    steps = np.arange(n_positive + 1)
    outputs = np.arange(-1, 2 * n_positive + 2) / 2.0
    misses = np.abs(outputs - steps[:, np.newaxis]) > within * n_positive + 1e-9
    shape = misses.shape
    places = np.arange(misses.size).reshape(shape)
    private = []
    for one, other in ((places[1:], places[:-1]), (places[:-1], places[1:])):
        rows = np.zeros((one.size, misses.size))
        rows[np.arange(one.size), one.ravel()] = 1.0
        rows[np.arange(one.size), other.ravel()] = -math.exp(epsilon)
        private.append(rows)
    private = np.vstack(private)
    sums = np.kron(np.eye(shape[0]), np.ones(shape[1]))
    found = linprog(
        misses.ravel() / shape[0], private, np.zeros(len(private)), sums, np.ones(shape[0])
    )
    return found.fun


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
@pytest.mark.parametrize("within", [0.03, 0.05, 0.09])
def test_no_mechanism_misses_less_than_the_bound(within, epsilon):
    bound, best = least_misses(24, epsilon, within), fewest_misses(24, epsilon, within)
    assert 0.0 < bound <= best
    # A chain this short is mostly ends.
    assert best < 5.0 * bound
