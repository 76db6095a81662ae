"""Divergences of the Gaussian mechanism and of its Poisson-subsampled version, as formulas.

One record's contribution is bounded by 1 and the noise has standard deviation ``sigma``. A
direction names the pair of distributions that dominates one step: "remove" (mixture from null),
"add" (null from mixture) or "replace" (mixture with +1 from mixture with -1: the factor two of
replace-one is here). See Zhu, Dong and Wang (2022), section 4.
"""

import functools
import math

import numpy as np
from scipy.special import erfcx, gammaln, log_ndtr


def gaussian_log_delta(epsilon, mu):
    """Logarithm of the hockey-stick divergence of N(mu, 1) from N(0, 1), any real epsilon.

    Balle and Wang (2018), theorem 8, written with the Mills ratio so that nothing cancels
    where delta is small.
    """
    epsilon = np.asarray(epsilon, dtype=float)
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


def gaussian_delta(epsilon, mu):
    """Hockey-stick divergence of N(mu, 1) from N(0, 1)."""
    return np.exp(gaussian_log_delta(epsilon, mu))


def subsampled_delta(epsilons, sigma, q, direction):
    """Hockey-stick divergence of one step of the Poisson-subsampled Gaussian."""
    epsilons = np.asarray(epsilons, dtype=float)
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
