"""Renyi divergences of a list of Gaussian events, composed by addition, as a privacy profile."""

import contextlib
import logging
import math

import numpy as np

from skdp.accountant._divergences import TabledProfile, subsampled_log_moment

_INTEGER_ORDERS = tuple(
    np.unique(np.concatenate([np.arange(2, 65), np.geomspace(65, 1e5, 80).astype(int)])).tolist()
)
# Below this, orders between the integers help.
_LARGEST_FRACTIONAL_ORDER = 10


class RDPProfile(TabledProfile):
    """Profile of Renyi divergences, by the conversion of Canonne, Kamath and Steinke (2020).

    Every order gives a bound. Divergences are computed for the orders that a search for the best
    one visits: (order - 1) times the divergence is convex in the order, and with it the bounds are
    quasi-convex.
    """

    def __init__(self, events, adjacency, *, is_coarse=False):
        if adjacency != "zero_out" and any(event.sampling_rate < 1 for event in events):
            raise ValueError(f"accountant='rdp' does not support adjacency={adjacency!r}.")
        self._events = events
        self._adjacency = adjacency
        self._is_coarse = is_coarse
        self._divergences = {}

    def epsilon(self, delta):
        if delta == 0:
            return math.inf
        log_delta = math.log(delta)

        def bound(a):
            slack = math.log1p(-1 / a) - (log_delta + math.log(a)) / (a - 1)
            return self._divergence(a) + slack

        return max(self._least(bound), 0.0)

    def delta(self, epsilon):
        return math.exp(min(self._log_delta(epsilon), 0.0))

    def excess(self, epsilon, delta):
        """Positive where delta is too small for epsilon, and smooth."""
        return self._log_delta(epsilon) - math.log(delta)

    def _log_delta(self, epsilon):
        def bound(a):
            return (a - 1) * (self._divergence(a) - epsilon + math.log1p(-1 / a)) - math.log(a)

        return self._least(bound)

    def _least(self, bound):
        """Smallest value of a quasi-convex function of the order."""
        low, high = 0, len(_INTEGER_ORDERS) - 1
        while low < high:
            middle = (low + high) // 2
            if bound(_INTEGER_ORDERS[middle]) <= bound(_INTEGER_ORDERS[middle + 1]):
                high = middle
            else:
                low = middle + 1
        order = _INTEGER_ORDERS[low]
        best = bound(order)
        if self._is_coarse or order > _LARGEST_FRACTIONAL_ORDER:
            return best
        for side in (-1, 1):
            if order == _LARGEST_FRACTIONAL_ORDER and side == 1:
                break
            best_beside = best
            for tenths in range(1, 10):
                value = bound(order + side * tenths / 10)
                if not value < best_beside:
                    break
                best_beside = value
            if best_beside < best:
                return best_beside
        return best

    def _divergence(self, order):
        if order not in self._divergences:
            parts = [self._divergence_of(event, order) for event in self._events]
            n_steps = sum(event.n_steps for event in self._events)
            # The logarithms that they come from carry rounding errors of this size.
            error = n_steps * 1e-14 * math.log(order + 1) * order / (order - 1)
            self._divergences[order] = math.fsum(parts) + error
        return self._divergences[order]

    def _divergence_of(self, event, order):
        sigma, q = event.noise_multiplier, event.sampling_rate
        if q == 1:
            mu = event.mu(self._adjacency)
            return order * (mu * mu / 2)
        if isinstance(order, int):
            one_step = subsampled_log_moment(order, sigma, q) / (order - 1)
        else:
            one_step = _fractional_divergence(order, sigma, q)
        return event.n_steps * max(one_step, 0.0)


@contextlib.contextmanager
def _quiet():
    """Drop the log lines of dp-accounting while inside."""

    def drop(record):
        return False

    logger = logging.getLogger("absl")
    logger.addFilter(drop)
    try:
        yield
    finally:
        logger.removeFilter(drop)


def _fractional_divergence(order, sigma, q):
    from dp_accounting import dp_event
    from dp_accounting.rdp import rdp_privacy_accountant

    accountant = rdp_privacy_accountant.RdpAccountant([order])
    gaussian = dp_event.GaussianDpEvent(sigma)
    with _quiet(), np.errstate(all="ignore"):
        accountant.compose(dp_event.PoissonSampledDpEvent(q, gaussian))
    # It has no public way to the divergences. Orders whose series does not converge are infinite.
    divergence = float(accountant._rdp[0])
    return math.inf if math.isnan(divergence) else divergence
