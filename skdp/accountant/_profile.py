"""Privacy profiles: what a list of releases costs, as epsilon, delta or attack power.

A profile is built from scalars only and answers three questions: ``epsilon(delta)``,
``delta(epsilon)`` and ``tpr(fpr)``. Each answer is an upper bound.
"""

import contextlib
import functools
import logging
import math
from dataclasses import replace

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtr, ndtri

from skdp.accountant._divergences import (
    gaussian_delta,
    gaussian_log_delta,
    privacy_loss,
    privacy_loss_variance,
    subsampled_delta,
    subsampled_log_moments,
)
from skdp.accountant._events import GaussianEvent, total
from skdp.accountant._pure import PureProfile

ADJACENCIES = ("zero_out", "replace_one", "replace_label")

# Grid step of the privacy loss, in standard deviations of the loss of one step. Connecting the
# dots adds at most a sixth of the squared step to the variance of each loss on average, here
# 0.2 %, and half of that to epsilon in relative terms.
_GRID = 0.1
_MAX_GRID_POINTS = 2**16
# Mass of one direction that may be moved to an infinite loss by cutting the tails.
_TAIL_MASS = 1e-17
# Bounds on the rounding error of a composition by FFT, per step: of any delta, and relative to a
# large one. Twice the largest error found against exponentially tilted compositions.
_FFT_ERROR = 2e-16
_FFT_RELATIVE_ERROR = 4e-15
_LARGEST_EPSILON = 1e12
# Compositions take time and memory that grow with the root of the number of steps.
_LARGEST_PLD_STEPS = 4 * 10**6
# Sampled events beyond these are taken for less private ones, which double precision can compute.
SMALLEST_RATE = 1e-12
_SMALLEST_NOISE, _LARGEST_NOISE = 1e-3, 1e10
# Slopes of the lines that bound the power of an attack, as logarithms.
_TPR_GRID = np.geomspace(1e-4, 700.0, 48)
_TPR_GRID = np.concatenate([-_TPR_GRID[_TPR_GRID < 50.0][::-1], [0.0], _TPR_GRID])
# Epsilon is more than half the square of this.
_LARGEST_MU = 1e8
_FRACTIONAL_ORDERS = np.array([1 + x / 10 for x in range(1, 100) if x % 10])
_INTEGER_ORDERS = np.unique(
    np.concatenate([np.arange(2, 65), np.geomspace(65, 1e5, 80).astype(int)])
)


class GaussianProfile:
    """Exact profile of mu-Gaussian differential privacy (Dong, Roth and Su 2022)."""

    def __init__(self, mu):
        self.mu = mu

    def epsilon(self, delta):
        if self.mu == 0:
            return 0.0
        if self.mu > _LARGEST_MU or delta == 0:
            return math.inf
        log_delta = math.log(delta)

        def excess(epsilon):
            return float(gaussian_log_delta(epsilon, self.mu)) - log_delta

        if excess(0.0) <= 0:
            return 0.0
        # delta(epsilon) <= Phi(mu / 2 - epsilon / mu)
        upper = max(self.mu * (self.mu / 2 - float(ndtri(delta))), self.mu) * (1 + 1e-9)
        return brentq(excess, 0.0, upper, xtol=1e-300, rtol=1e-13) * (1 + 1e-12)

    def delta(self, epsilon):
        if self.mu == 0:
            return max(-math.expm1(epsilon), 0.0) if epsilon < 0 else 0.0
        if math.isinf(self.mu):
            return 1.0
        return min(float(gaussian_delta(epsilon, self.mu)) * (1 + 1e-9), 1.0)

    def tpr(self, fpr):
        if self.mu == 0:
            return fpr
        return float(ndtr(ndtri(fpr) + self.mu)) if fpr > 0 or self.mu < math.inf else 1.0


class PLDProfile:
    """Profile of composed privacy loss distributions, one for each direction."""

    def __init__(self, pmfs, n_steps):
        self._pmfs = pmfs
        self._n_steps = n_steps
        self._on_grid = {}

    def epsilon(self, delta):
        if delta <= self._delta_floor():
            return math.inf
        if self.delta(0.0) <= delta:
            return 0.0
        log_delta = math.log(delta)

        def excess(epsilon):
            return math.log(self.delta(epsilon)) - log_delta

        upper = 1.0
        while excess(upper) > 0:
            upper *= 2
            if upper > _LARGEST_EPSILON:
                return math.inf
        return brentq(excess, 0.0, upper, xtol=1e-300, rtol=1e-10) * (1 + 1e-10)

    def delta(self, epsilon):
        return max(self._delta(pmf, float(epsilon)) for pmf in self._pmfs)

    def _delta_floor(self):
        return _FFT_ERROR * self._n_steps

    def _delta(self, pmf, epsilon):
        found = max(float(pmf.get_delta_for_epsilon(epsilon)), 0.0)
        found *= 1 + _FFT_RELATIVE_ERROR * self._n_steps
        return min(found + self._delta_floor(), 1.0)

    def tpr(self, fpr):
        return max(self._tpr(pmf, fpr) for pmf in self._pmfs)

    def _tpr(self, pmf, fpr):
        # P(S) <= delta(e) + exp(e) Q(S) for every real e. The right side is convex in exp(e), but
        # flat where delta is 1 to the last digit, so the search starts around the best of a grid.
        if fpr == 0:
            return self._delta(pmf, _LARGEST_EPSILON)

        def line(epsilon):
            return self._delta(pmf, epsilon) + math.exp(epsilon) * fpr

        lines = self._deltas_on_grid(pmf) + np.exp(_TPR_GRID) * fpr
        best = int(lines.argmin())
        bounds = _TPR_GRID[max(best - 1, 0)], _TPR_GRID[min(best + 1, lines.size - 1)]
        found = minimize_scalar(line, bounds=bounds, method="bounded")
        return min(float(found.fun), float(lines[best]), 1.0)

    def _deltas_on_grid(self, pmf):
        if pmf not in self._on_grid:
            self._on_grid[pmf] = np.array([self._delta(pmf, float(e)) for e in _TPR_GRID])
        return self._on_grid[pmf]


class RDPProfile:
    """Profile of Renyi divergences, by the conversion of Canonne, Kamath and Steinke (2020)."""

    def __init__(self, orders, divergences):
        self._orders = orders
        self._divergences = divergences

    def epsilon(self, delta):
        if delta == 0:
            return math.inf
        a = self._orders
        bounds = self._divergences + np.log1p(-1 / a) - (math.log(delta) + np.log(a)) / (a - 1)
        return max(float(bounds.min()), 0.0)

    def delta(self, epsilon):
        a = self._orders
        log_deltas = (a - 1) * (self._divergences - epsilon + np.log1p(-1 / a)) - np.log(a)
        return math.exp(min(float(log_deltas.min()), 0.0))

    def tpr(self, fpr):
        def line(epsilon):
            delta = self.delta(epsilon)
            return min(delta + math.exp(epsilon) * fpr, 1 - math.exp(-epsilon) * (1 - delta - fpr))

        grid = np.concatenate([[0.0], np.geomspace(1e-4, 700.0, 400)])
        return min(1.0, *(line(float(epsilon)) for epsilon in grid))


def group_epsilon(profile, delta, group_size):
    """Epsilon for a group by the triangle inequality over chains of neighbours.

    ``delta_k(k e) <= delta(e) (exp(k e) - 1) / (exp(e) - 1)`` for every e; the smallest ``k e``
    that is found to bring the right side down to delta.
    """

    def excess(step):
        found = profile.delta(step)
        if found == 0:
            return -math.inf
        growth = (group_size - 1) * step
        growth += math.log(math.expm1(-group_size * step) / math.expm1(-step))
        return math.log(found) + growth - math.log(delta)

    if delta == 0:
        return math.inf
    if group_size * profile.delta(0.0) <= delta:
        return 0.0
    below = 0.0
    for above in np.geomspace(1e-4, 1e4, 161):
        if excess(float(above)) <= 0:
            break
        below = float(above)
    else:
        return math.inf
    above = float(above)
    while above - below > max(1e-4 * above, 1e-12):
        middle = (above + below) / 2
        if excess(middle) <= 0:
            above = middle
        else:
            below = middle
    return group_size * above


@contextlib.contextmanager
def quiet():
    """Drop the log lines of dp-accounting while inside."""

    def drop(record):
        return False

    logger = logging.getLogger("absl")
    logger.addFilter(drop)
    try:
        yield
    finally:
        logger.removeFilter(drop)


def smallest_pld_delta(n_steps):
    """Smallest delta of which the rounding errors of the FFT are at most a twentieth.

    Infinite where there are too many steps to compose.
    """
    return max(1e-12, 20 * _FFT_ERROR * n_steps) if n_steps <= _LARGEST_PLD_STEPS else math.inf


def full_batch_mu(events, adjacency):
    """Parameter of Gaussian differential privacy of full-batch Gaussians, None if not all are."""
    if any(event.is_pure or event.sampling_rate < 1 for event in events):
        return None
    return math.hypot(*(event.mu(adjacency) for event in events))


@functools.lru_cache(maxsize=16)
def build_profile(events, adjacency, accountant):
    """Profile of the composition of a tuple of events.

    The accountant is "rdp" or anything else; the latter means exact where possible, else PLD.
    """
    events = tuple(_computable(event) for event in events)
    if any(event.noise_multiplier == 0 for event in events):
        return GaussianProfile(math.inf)
    events = tuple(e for e in events if not math.isinf(e.noise_multiplier))
    pure = total(event.epsilon(adjacency) for event in events if event.is_pure)
    if pure > 0:
        others = tuple(event for event in events if not event.is_pure)
        return PureProfile(pure, build_profile(others, adjacency, accountant))
    if not events:
        return GaussianProfile(0.0)
    if accountant == "rdp":
        return _rdp_profile(events, adjacency)
    mu = full_batch_mu(events, adjacency)
    if mu is not None:
        return GaussianProfile(mu)
    return _pld_profile(events, adjacency)


def _computable(event):
    """Return an event that is no more private, with numbers that can be computed with."""
    if event.sampling_rate == 1:
        return event
    noise = event.noise_multiplier
    return replace(
        event,
        noise_multiplier=0.0 if noise < _SMALLEST_NOISE else min(noise, _LARGEST_NOISE),
        sampling_rate=max(event.sampling_rate, SMALLEST_RATE),
    )


def _rdp_profile(events, adjacency):
    orders = np.concatenate([_FRACTIONAL_ORDERS, _INTEGER_ORDERS]).astype(float)
    divergences = np.zeros_like(orders)
    n_steps = sum(event.n_steps for event in events)
    for event in events:
        sigma, q = event.noise_multiplier, event.sampling_rate
        if q == 1:
            mu = event.mu(adjacency)
            divergences += orders * (mu * mu / 2)
            continue
        if adjacency != "zero_out":
            raise ValueError(f"accountant='rdp' does not support adjacency={adjacency!r}.")
        moments = subsampled_log_moments(_INTEGER_ORDERS, sigma, q) / (_INTEGER_ORDERS - 1)
        one_step = np.concatenate([_fractional_divergences(sigma, q), moments])
        divergences += event.n_steps * np.maximum(one_step, 0)
    # The logarithms above carry rounding errors of this size.
    divergences += n_steps * 1e-14 * np.log(orders + 1) * orders / (orders - 1)
    return RDPProfile(orders, divergences)


def _fractional_divergences(sigma, q):
    from dp_accounting import dp_event
    from dp_accounting.rdp import rdp_privacy_accountant

    accountant = rdp_privacy_accountant.RdpAccountant(list(_FRACTIONAL_ORDERS))
    gaussian = dp_event.GaussianDpEvent(sigma)
    with quiet(), np.errstate(all="ignore"):
        accountant.compose(dp_event.PoissonSampledDpEvent(q, gaussian))
    # It has no public way to the divergences. Orders whose series does not converge are infinite.
    return np.nan_to_num(np.asarray(accountant._rdp, dtype=float), nan=np.inf, posinf=np.inf)


@np.errstate(over="ignore")
def _pld_profile(events, adjacency):
    subsampled = [event for event in events if event.sampling_rate < 1]
    full = tuple(event for event in events if event.sampling_rate == 1)
    if full:
        factor = 2.0 if adjacency == "replace_one" else 1.0
        subsampled.append(GaussianEvent(factor / full_batch_mu(full, adjacency)))
    n_steps = sum(event.n_steps for event in subsampled)
    directions = ("replace",) if adjacency == "replace_one" else ("remove", "add")
    variance = sum(
        e.n_steps * privacy_loss_variance(e.noise_multiplier, e.sampling_rate, directions[0])
        for e in subsampled
    )
    # With little noise the loss has two modes; the inner spread of the far one counts too.
    spread = min(1 / event.noise_multiplier for event in subsampled)
    step = _GRID * min(math.sqrt(variance / n_steps), spread)
    for event in subsampled:
        for direction in directions:
            low, high = _loss_range(event, direction)
            step = max(step, (high - low) / _MAX_GRID_POINTS)
    pmfs = []
    for direction in directions:
        parts = [
            _loss_pmf(event, direction, step).self_compose(event.n_steps) for event in subsampled
        ]
        pmfs.append(functools.reduce(lambda one, other: one.compose(other, 1e-15), parts))
    return PLDProfile(tuple(pmfs), n_steps)


def _loss_range(event, direction):
    """Losses between which all but a negligible mass lies."""
    sigma, q = event.noise_multiplier, event.sampling_rate
    width = -float(ndtri(_TAIL_MASS / event.n_steps)) * sigma
    ends = np.array([-width, width if direction == "add" else width + 1])
    return tuple(sorted(privacy_loss(ends, sigma, q, direction).tolist()))


def _loss_pmf(event, direction, step):
    """Dominating discrete privacy loss of one step (Doroshenko et al. 2022, algorithm 1)."""
    from dp_accounting.pld import pld_pmf

    low, high = _loss_range(event, direction)
    first, last = math.floor(low / step), math.ceil(high / step)
    grid = np.arange(first, last + 1) * step
    deltas = subsampled_delta(grid, event.noise_multiplier, event.sampling_rate, direction)
    pmf = pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(
        step, first, last, np.minimum.accumulate(deltas)
    )
    return pmf.to_dense_pmf()
