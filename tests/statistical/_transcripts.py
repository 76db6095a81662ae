"""Bounds on privacy losses from transcripts, and batches that a test chooses."""

import math

import numpy as np

EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0)
ERROR_RATE = 1e-10


def bounds_of_mean(values, width=1.0):
    """Empirical Bernstein bounds of a mean of numbers that lie in an interval of this width."""
    n = values.size
    log_term = math.log(2.0 / ERROR_RATE)
    margin = math.sqrt(2.0 * values.var(ddof=1) * log_term / n)
    margin += 7.0 * width * log_term / (3.0 * (n - 1))
    return values.mean() - margin, values.mean() + margin


def bounds_of_delta(log_ratios, epsilon):
    return bounds_of_mean(-np.expm1(np.minimum(epsilon - log_ratios, 0.0)))


def convicted(log_ratios, report):
    """Epsilons at which delta is certainly above what the report promises."""
    return [e for e in EPSILONS if bounds_of_delta(log_ratios, e)[0] > report.delta_at(e)]


class GivenBatches:
    def __init__(self, sampler, coins):
        self.n_rows, self.rate, self.n_steps = sampler.n_rows, sampler.rate, sampler.n_steps
        self._coins = coins

    def batches(self, stream):
        return (np.flatnonzero(coins) for coins in self._coins)
