"""Privacy profiles: what a list of releases costs, as epsilon, delta or attack power.

A profile is built from scalars only and answers three questions: ``epsilon(delta)``,
``delta(epsilon)`` and ``tpr(fpr)``. Each answer is an upper bound.
"""

import functools
import math
from dataclasses import replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from skdp.accountant._divergences import bisected, upper_gaussian_log_delta
from skdp.accountant._events import GaussianEvent, joint_erasure, total
from skdp.accountant._loss_distribution import PLDProfile, smallest_pld_delta
from skdp.accountant._pure import PureProfile
from skdp.accountant._renyi import RDPProfile
from skdp.accountant._selection_event import SelectionEvent, checked_releases
from skdp.accountant._selection_profile import LargestProfile, SelectionProfile

ADJACENCIES = ("zero_out", "replace_one", "replace_label")

# Sampled events beyond these are taken for less private ones, which double precision can compute.
SMALLEST_RATE = 1e-12
_SMALLEST_NOISE, _LARGEST_NOISE = 1e-3, 1e10
# Epsilon is more than half the square of this.
_LARGEST_MU = 1e8
# The quantile and the tail beyond it are computed to a few units in the last place, which is up to
# the squared quantile (some 1,400) times that in the power.
_ROUNDING_OF_POWER = 1 + 1e-11


class GaussianProfile:
    """Profile of mu-Gaussian privacy (Dong, Roth and Su 2022), exact up to rounding."""

    def __init__(self, mu):
        self.mu = mu

    def epsilon(self, delta):
        if self.mu == 0:
            return 0.0
        if self.mu > _LARGEST_MU or delta == 0:
            return math.inf
        log_delta = math.log(delta)

        def excess(epsilon):
            return upper_gaussian_log_delta(epsilon, self.mu) - log_delta

        if excess(0.0) <= 0:
            return 0.0
        # delta(epsilon) <= Phi(mu / 2 - epsilon / mu)
        upper = max(self.mu * (self.mu / 2 - float(ndtri(delta))), self.mu) * (1 + 1e-9)
        root, nudge = brentq(excess, 0.0, upper, xtol=1e-300, rtol=1e-13), 1e-13
        # The search may end on either side.
        while excess(root) > 0:
            root *= 1 + nudge
            nudge *= 2
        return root

    def delta(self, epsilon):
        if self.mu == 0:
            return max(-math.expm1(epsilon), 0.0) if epsilon < 0 else 0.0
        if math.isinf(self.mu):
            return 1.0
        delta = math.exp(min(upper_gaussian_log_delta(epsilon, self.mu), 0.0))
        # The least positive number is added for what underflows.
        return min(delta * (1 + 1e-15) + math.ulp(0.0), 1.0)

    def tpr(self, fpr):
        if self.mu == 0:
            return fpr
        power = float(ndtr(ndtri(fpr) + self.mu)) if fpr > 0 or self.mu < math.inf else 1.0
        return min(power * _ROUNDING_OF_POWER, 1.0)


class ErasureProfile:
    """Profile of releases beside which everything is revealed with some probability."""

    def __init__(self, erasure, others):
        self._erasure = erasure
        self._others = others

    def delta(self, epsilon):
        delta = self._others.delta(epsilon)
        return min(self._erasure + (1 - self._erasure) * delta * (1 + 1e-12), 1.0)

    def epsilon(self, delta):
        if delta < self._erasure or self._erasure == 1:
            return math.inf
        left = (delta - self._erasure) / (1 - self._erasure)
        return self._others.epsilon(left * (1 - 1e-15))

    def tpr(self, fpr):
        if fpr >= 1 - self._erasure:
            return 1.0
        power = self._others.tpr(fpr / (1 - self._erasure))
        return min(self._erasure + (1 - self._erasure) * power * _ROUNDING_OF_POWER, 1.0)


def group_epsilon(profile, delta, group_size):
    """Epsilon for a group by the triangle inequality over chains of neighbours.

    ``delta_k(k e) <= delta(e) (exp(k e) - 1) / (exp(e) - 1)`` for every e; the smallest ``k e``
    that is found to bring the right side down to delta.
    """

    def excess(step):
        delta_of_step = profile.delta(step)
        if delta_of_step == 0:
            return -math.inf
        growth = (group_size - 1) * step
        growth += math.log(math.expm1(-group_size * step) / math.expm1(-step))
        return math.log(delta_of_step) + growth - math.log(delta)

    if delta == 0:
        return math.inf
    if group_size * profile.delta(0.0) <= delta:
        return 0.0
    # The factor is at least the size of the group.
    below = profile.epsilon(delta / group_size)
    grid = np.geomspace(1e-4, 1e4, 161)
    for above in grid[grid > below].tolist():
        if excess(above) <= 0:
            break
        below = above
    else:
        return math.inf
    return group_size * bisected(lambda step: excess(step) <= 0, below, above, 1e-4, 1e-12)


def full_batch_mu(events, adjacency):
    """Parameter of Gaussian differential privacy of full-batch Gaussians, None if not all are."""
    if not all(type(event) is GaussianEvent and event.sampling_rate == 1 for event in events):
        return None
    return math.hypot(*(event.mu(adjacency) for event in events))


def build_profile(events, adjacency, accountant, *, is_coarse=False):
    """Profile of the composition of a tuple of events.

    The accountant is "rdp" or anything else; the latter means exact where possible, else PLD. A
    coarse profile takes less time where it is not exact, and its bounds are looser.
    """
    return _build_profile(events, adjacency, accountant, is_coarse)


@functools.lru_cache(maxsize=16)
def _build_profile(events, adjacency, accountant, is_coarse):
    events = tuple(_computable(event) for event in checked_releases(events))
    erasure = joint_erasure(event.erasure for event in events)
    if erasure > 0:
        others = tuple(event for event in events if not event.erasure)
        return ErasureProfile(erasure, _build_profile(others, adjacency, accountant, is_coarse))
    if any(event.noise_multiplier == 0 for event in events):
        return GaussianProfile(math.inf)
    events = tuple(e for e in events if not math.isinf(e.noise_multiplier))
    pure = total(event.epsilon(adjacency) for event in events if event.is_pure)
    if pure > 0:
        others = tuple(event for event in events if not event.is_pure)
        return PureProfile(pure, _build_profile(others, adjacency, accountant, is_coarse))
    if not events:
        return GaussianProfile(0.0)
    selections = tuple(event for event in events if type(event) is SelectionEvent)
    if selections:
        others = tuple(event for event in events if type(event) is not SelectionEvent)
        return _selection_profile(selections, others, adjacency, accountant, is_coarse)
    if accountant == "rdp":
        return RDPProfile(events, adjacency, is_coarse=is_coarse)
    mu = full_batch_mu(events, adjacency)
    if mu is not None:
        return GaussianProfile(mu)
    return _pld_profile(events, adjacency, is_coarse)


def _pld_profile(events, adjacency, is_coarse, selections=()):
    """Profile of loss distributions, in which Gaussian events with full batches are one."""
    full = tuple(event for event in events if event.sampling_rate == 1)
    if full:
        factor = 2.0 if adjacency == "replace_one" else 1.0
        one = GaussianEvent(factor / full_batch_mu(full, adjacency))
        events = (*(event for event in events if event.sampling_rate < 1), one)
    return PLDProfile(events, adjacency, selections=selections, is_coarse=is_coarse)


def _selection_profile(selections, others, adjacency, accountant, is_coarse):
    """Profile of private selections and Gaussian events.

    Together they are composed as loss distributions, whatever the accountant, which is then that of
    the trials.
    """
    profiles, options = [], (adjacency, accountant, is_coarse)
    for event in selections:
        trials = LargestProfile([_build_profile(one, *options) for one in event.alternatives])
        profiles.append((SelectionProfile(trials, event.repetitions), event.n_steps))
    if not others and len(profiles) == 1 and profiles[0][1] == 1:
        return profiles[0][0]
    if any(profile.reveals_all for profile, _ in profiles):
        return GaussianProfile(math.inf)
    return _pld_profile(others, adjacency, is_coarse, selections=profiles)


@functools.lru_cache(maxsize=1024)
def epsilon_of(events, adjacency, accountant, delta):
    """Epsilon at a delta of the composition of a tuple of events."""
    return build_profile(events, adjacency, accountant).epsilon(delta)


def least_epsilon(events, adjacency, accountant, delta):
    """Epsilon that no report of a tuple of events may go below: an upper bound on what they cost.

    It is that of the accountant. Renyi divergences may be far above what loss distributions give,
    and above sums of epsilons; where loss distributions are reliable, what they give is enough.
    """
    epsilon = epsilon_of(events, adjacency, accountant, delta)
    if accountant != "rdp":
        return epsilon
    is_sampled = any(event.sampling_rate < 1 for event in events)
    if is_sampled and delta < smallest_pld_delta(sum(event.n_steps for event in events)):
        return epsilon
    return min(epsilon, epsilon_of(events, adjacency, "pld", delta))


def _computable(event):
    """Return an event that is no more private, with numbers that can be computed with."""
    if event.sampling_rate == 1 or type(event) is SelectionEvent:
        return event
    noise = event.noise_multiplier
    return replace(
        event,
        noise_multiplier=0.0 if noise < _SMALLEST_NOISE else min(noise, _LARGEST_NOISE),
        sampling_rate=max(event.sampling_rate, SMALLEST_RATE),
    )
