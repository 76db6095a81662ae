"""Transcripts of releases, bounds on privacy losses from them, and planted faults."""

import math
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from types import SimpleNamespace
from unittest import mock

import numpy as np
from scipy.optimize import brentq
from scipy.special import rel_entr

from skdp.linear_model import LabelAggregate
from tests.door import ExponentialChoice, RandomizedResponse, _OnGrid

EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0)
ERROR_RATE = 1e-10
# How far a root that is found may be from the true one, and is moved to be beyond it.
_TOLERANCE = 2e-12


def bounds_of_mean(values, width=1.0):
    """Bounds of a mean of numbers in [0, width], each wrong once in 1 / `ERROR_RATE` times.

    Of the empirical Bernstein bound (Maurer and Pontil 2009, theorem 4), best where numbers vary
    little, and Hoeffding's (1963, theorem 1), best where there are few, the tighter one; each is
    given half of the error.
    """
    n, mean = values.size, values.mean()
    log_term = math.log(4.0 / ERROR_RATE)
    margin = math.sqrt(2.0 * values.var(ddof=1) * log_term / n)
    margin += 7.0 * width * log_term / (3.0 * (n - 1))
    allowed = math.log(2.0 / ERROR_RATE) / n
    low, high = (width * _furthest(mean / width, end, allowed) for end in (0.0, 1.0))
    return max(low, mean - margin), min(high, mean + margin)


def _furthest(mean, end, allowed):
    """Furthest number on the way from a mean to 0 or 1 whose divergence isn't more than allowed.

    Or one a little further, never one before it.
    """

    def excess(q):
        return rel_entr(mean, q) + rel_entr(1.0 - mean, 1.0 - q) - allowed

    if excess(end) <= 0.0:
        return end
    found = brentq(excess, mean, end, xtol=_TOLERANCE / 2.0)
    return min(max(found + math.copysign(_TOLERANCE, end - mean), 0.0), 1.0)


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


@contextmanager
def recorded_releases(script=None):
    """Give a list that grows by every release made meanwhile.

    Each has its mechanism, the value before noise and what was released, which is the script's
    next array if there is one.
    """
    made = []

    def spied(original):
        def release(self, value, stream):
            released = original(self, value, stream) if script is None else script[len(made)]
            made.append(SimpleNamespace(mechanism=self, value=np.array(value), released=released))
            return np.array(released)

        return release

    with ExitStack() as stack:
        for kind in (_OnGrid, RandomizedResponse, ExponentialChoice):
            stack.enter_context(mock.patch.object(kind, "release", spied(kind.release)))
        yield made


@contextmanager
def noise_times(factor):
    """Change the noise of every mechanism, or its flips, by a factor: a planted fault.

    Aggregates would see it by themselves and stop the fit, before a test that is to see it.
    """
    honest = _OnGrid.__dict__["noise_scale"].func
    respond, choose = RandomizedResponse.release, ExponentialChoice.release

    def choose_by(self, value, stream):
        return choose(replace(self, noise_multiplier=factor * self.noise_multiplier), value, stream)

    def flip(self, value, stream):
        return respond(
            replace(self, flip_probability=factor * self.flip_probability), value, stream
        )

    with (
        mock.patch.object(RandomizedResponse, "release", flip),
        mock.patch.object(ExponentialChoice, "release", choose_by),
        mock.patch.object(_OnGrid, "noise_scale", property(lambda self: factor * honest(self))),
        mock.patch.object(LabelAggregate, "_check_noise"),
    ):
        yield
