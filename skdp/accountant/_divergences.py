"""Divergences of the Gaussian mechanism and of its Poisson-subsampled version, as formulas.

One record's contribution is bounded by 1 and the noise has standard deviation ``sigma``. A
direction names the pair of distributions that dominates one step: "remove" (mixture from null),
"add" (null from mixture) or "replace" (mixture with +1 from mixture with -1: the factor two of
replace-one is here). See Zhu, Dong and Wang (2022), section 4.
"""

import functools
import math

import numpy as np
from scipy.special import erfcx, gammaln, log_ndtr, ndtr

# Below this mu, Mills ratios a distance of mu apart have too many digits in common.
_SMALL_MU = 1e-3


def gaussian_log_delta(epsilon, mu):
    """Logarithm of the hockey-stick divergence of N(mu, 1) from N(0, 1), any real epsilon.

    Balle and Wang (2018), theorem 8, written with the Mills ratio so that nothing cancels
    where delta is small. What double precision leaves of an error is at most that of a relative
    change of epsilon by 1e-14, and 1e-11 of the logarithm; see :func:`upper_gaussian_log_delta`.
    """
    epsilon = np.asarray(epsilon, dtype=float)
    if mu < _SMALL_MU:
        return _small_mu_log_delta(epsilon, mu)
    root = math.sqrt(2)
    with np.errstate(all="ignore"):
        low = epsilon / mu - mu / 2
        high = epsilon / mu + mu / 2
        tail = np.maximum(low, 0)
        gap = np.maximum(erfcx(tail / root) - erfcx(np.maximum(high, tail) / root), 0)
        by_mills = np.log(gap) - tail**2 / 2 - math.log(2)
        first = log_ndtr(-low)
        by_logs = first + np.log(-np.expm1(np.minimum(epsilon + log_ndtr(-high) - first, 0)))
    return np.where(low > 0, by_mills, by_logs)


@np.errstate(all="ignore")
def _small_mu_log_delta(epsilon, mu):
    """Evaluate `gaussian_log_delta` where mu is small.

    With the Mills ratio m of the standard Gaussian and its density phi, delta is ``phi(low)`` times
    the integral of ``-m'(x) = 1 - x m(x)`` from low to high. All even derivatives of ``-m'``, the
    Laplace transform of ``t exp(-t^2 / 2)``, are positive, so that Simpson's rule is never below
    the integral; it is above by at most ``mu^4 / 300``, relatively. A negative epsilon is mirrored:
    ``delta(-e) = 1 - exp(-e) + exp(-e) delta(e)``, both terms positive.
    """
    centre = np.abs(epsilon) / mu
    low, high = centre - mu / 2, centre + mu / 2
    mean = (_mills_slope(low) + 4 * _mills_slope(centre) + _mills_slope(high)) / 6
    log_delta = np.log(mu) + np.log(mean) - low**2 / 2 - math.log(2 * math.pi) / 2
    mirrored = np.log(np.exp(log_delta + epsilon) - np.expm1(np.minimum(epsilon, 0)))
    return np.where(epsilon < 0, mirrored, log_delta)


def _mills_slope(x):
    """Return minus the derivative of the Mills ratio, to a few units in the last place of 1."""
    return np.fmax(1 - x * math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2)), 0)


def upper_gaussian_log_delta(epsilon, mu):
    """Certified upper bound on `gaussian_log_delta` of one epsilon, rounding errors included.

    Of a negative epsilon it is one up to a few units in the last place of delta, which is near 1.
    With the unit roundoff u = 1.1e-16 and x = epsilon / mu - mu / 2, computed errors are

    - of mu, 3 u (a root, a quotient, a sum of squares), and of ``epsilon / mu``, u: less than a
      change of epsilon by 16 u, but where epsilon is nearly 0; there a change of mu by 3 u adds
      ``3 u (1 + x^2)`` to the logarithm;
    - of ``-m'``, 4 u absolutely, which is ``4 u (2 + x^2)`` relatively; of the Mills ratios from
      mu = 1e-3 on, 4 u each, ``8 u (1 + x) / mu`` of their difference;
    - ``u x^2`` of the exponent.

    Where mu is below 1 the logarithm is at least ``x^2 / 2 + log(1 / mu)`` in size, so that the
    terms with x are less than 3e-12 of it. The margins are several times as large.
    """
    log_delta = float(gaussian_log_delta(epsilon - 1e-14 * abs(epsilon), mu))
    return log_delta * (1 - 1e-11)


def gaussian_delta(epsilon, mu):
    """Hockey-stick divergence of N(mu, 1) from N(0, 1)."""
    return np.exp(gaussian_log_delta(epsilon, mu))


def subsampled_delta(epsilons, sigma, q, direction):
    """Hockey-stick divergence of one step of the Poisson-subsampled Gaussian."""
    epsilons = np.asarray(epsilons, dtype=float)
    if sigma * _SMALL_MU > 1:
        return _much_noise_delta(epsilons, sigma, q, direction)
    if direction == "replace":
        return _replace_delta(epsilons, sigma, q)
    if q == 1:
        return gaussian_delta(epsilons, 1 / sigma)
    if direction == "add":
        # Null minus exp(epsilon) times the mixture is again a pair of Gaussians, scaled; beyond
        # the largest loss, -log(1 - q), nothing is left.
        inside = epsilons + math.log1p(-q) < 0
        scale = -np.expm1(epsilons[inside] + math.log1p(-q))
        inner = epsilons[inside] + math.log(q) - np.log(scale)
        result = np.zeros_like(epsilons)
        result[inside] = scale * gaussian_delta(inner, 1 / sigma)
        return np.clip(result, 0, 1)
    # The mixture minus exp(epsilon) times the null is q times a pair of Gaussians.
    inside = epsilons - math.log1p(-q) > 0
    result = -np.expm1(np.minimum(epsilons, 0))
    result[inside] = q * gaussian_delta(unamplified_epsilon(epsilons[inside], q), 1 / sigma)
    return np.clip(result, 0, 1)


@np.errstate(over="ignore")
def _much_noise_delta(epsilons, sigma, q, direction):
    """Evaluate `subsampled_delta` where the terms of its other forms have too many equal digits.

    It is above the exact value, by a factor of at most 1 + 2e-9 for deltas from 1e-12 on.
    """
    epsilons = np.clip(epsilons, -700, 700)
    growth = np.expm1(epsilons)
    if direction == "remove":
        inside = growth > -q
        result = -np.expm1(np.minimum(epsilons, 0))
        result[inside] = q * gaussian_delta(np.log1p(growth[inside] / q), 1 / sigma)
    elif direction == "add":
        inside = np.expm1(-epsilons) > -q
        result = np.zeros_like(epsilons)
        inner = -np.log1p(np.expm1(-epsilons[inside]) / q)
        result[inside] = (q - (1 - q) * growth[inside]) * gaussian_delta(inner, 1 / sigma)
    else:
        # The loss is epsilon there; an error in x hardly moves delta, which is largest at x.
        scaled = math.exp(0.5 / sigma**2) * (1 - q) / q
        x = sigma * (epsilons / 2 + np.arcsinh(np.sinh(epsilons / 2) * scaled))
        density = [np.exp(-((x + shift) ** 2) / 2) for shift in (-1 / sigma, 0, 1 / sigma)]
        between = (density[0] + 4 * density[1] + density[2]) / (3 * sigma * math.sqrt(2 * math.pi))
        beyond = q * ndtr(-x - 1 / sigma) + (1 - q) * ndtr(-x)
        result = q * between - growth * beyond
    return np.clip(result * (1 + 1e-9), 0, 1)


def unamplified_epsilon(epsilon, q):
    """The e with ``exp(epsilon) = 1 - q + q exp(e)``: what sampling at rate q starts from."""
    if q == 1:
        return epsilon
    return epsilon - math.log(q) + np.log(-np.expm1(math.log1p(-q) - epsilon))


def _replace_delta(epsilons, sigma, q):
    # The loss is increasing in x; its inverse solves a quadratic equation in exp(x / sigma^2).
    log_null = math.log1p(-q) if q < 1 else -math.inf
    half = np.abs(epsilons) / 2
    with np.errstate(divide="ignore"):
        log_sinh = half + np.log(-np.expm1(-2 * half)) - math.log(2)
    log_b = log_sinh + 0.5 / sigma**2 + log_null - math.log(q)
    asinh = np.logaddexp(0.5 * np.logaddexp(0, 2 * log_b), log_b)
    x = np.sign(epsilons) * sigma**2 * (half + asinh)
    near, null, far = (log_ndtr((shift - x) / sigma) for shift in (1, 0, -1))
    upper = np.logaddexp(math.log(q) + near, log_null + null)
    lower = np.logaddexp(math.log(q) + far, log_null + null)
    return np.clip(-np.exp(upper) * np.expm1(np.minimum(epsilons + lower - upper, 0)), 0, 1)


def _log_mixture(q, log_ratio):
    """Logarithm of 1 - q + q exp(log_ratio)."""
    if q == 1:
        return log_ratio
    return np.logaddexp(math.log1p(-q), math.log(q) + log_ratio)


def privacy_loss(x, sigma, q, direction):
    """Privacy loss at x of the pair of a direction; null record at 0, record at 1 (and -1)."""
    shifted = _log_mixture(q, (2 * x - 1) / (2 * sigma**2))
    if direction == "replace":
        return shifted - _log_mixture(q, (-2 * x - 1) / (2 * sigma**2))
    return shifted if direction == "remove" else -shifted


def largest_power(fpr, epsilons, deltas):
    """Bound on the true positive rate of tests whose privacy profile has these points.

    Each point, of an epsilon of at least 0, is two lines above the power of any test against its
    false positive rate.
    """
    slopes = np.exp(epsilons)
    bounds = np.minimum(deltas + slopes * fpr, 1 - (1 - deltas - fpr) / slopes)
    return min(1.0, float(bounds.min()))


class TabledProfile:
    """Profile that bounds the power of an attack by its deltas on a grid."""

    _first_epsilons = (0.0,)

    def tpr(self, fpr):
        return largest_power(fpr, *self._points)

    @functools.cached_property
    def _points(self):
        grid = np.concatenate([self._first_epsilons, np.geomspace(1e-4, 700.0, 400)])
        return grid, np.array([self.delta(float(epsilon)) for epsilon in grid])


def bisected(is_enough, below, above, relative=0.0, absolute=0.0, n_halvings=200):
    """Return about the least number that is enough, where `above` is and `below` may not be."""
    for _ in range(n_halvings):
        middle = (below + above) / 2
        if above - below <= max(relative * above, absolute) or not below < middle < above:
            break
        if is_enough(middle):
            above = middle
        else:
            below = middle
    return above


def privacy_loss_variance(sigma, q, direction):
    """Variance of the loss of one step."""
    nodes = np.linspace(-9, 9, 361)
    weights = np.exp(-(nodes**2) / 2)
    weights /= weights.sum()
    losses = np.concatenate(
        [privacy_loss(sigma * nodes + shift, sigma, q, direction) for shift in (0, 1)]
    )
    weights = np.concatenate([(1 - q) * weights, q * weights])
    mean = weights @ losses
    return float(weights @ (losses - mean) ** 2)


def subsampled_log_moment(order, sigma, q):
    """Logarithm of the Renyi moment E[(mixture / null)^order] under the null, integer orders.

    Mironov, Talwar and Zhang (2019), section 3.3: a binomial sum of positive terms. The other
    direction of the pair is never larger (their theorem 5).
    """
    k = np.arange(order + 1.0)
    log_terms = k * (math.log(q) - math.log1p(-q) + (k - 1) / (2 * sigma**2))
    log_terms += _log_binomials(order)
    largest = log_terms.max()
    log_sum = largest + math.log(np.exp(log_terms - largest).sum())
    return float(log_sum + order * math.log1p(-q))


@functools.lru_cache(maxsize=256)
def _log_binomials(order):
    """Logarithms of the binomial coefficients of an order, which a search needs many times."""
    log_factorials = gammaln(np.arange(1.0, order + 2))
    return log_factorials[-1] - log_factorials - log_factorials[::-1]
