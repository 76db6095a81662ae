"""What noisy counts of scores by class say of all thresholds at once. Nothing here sees a record.

A row is taken for the second class where its score is in bin k or above, for k = 0 (all rows) to
the number of bins (none). Each interval is so wide that together they cover all thresholds as often
as the level says. So the one of a threshold holds however it was chosen by the same counts.
"""

import math

import numpy as np
from scipy.special import logit, ndtri

from skdp.metrics import _scorings as scorings, _tuned as tuned


def thresholds_at(scores, estimator):
    """Return ends of bins of scores within 0 and 1 as what the estimator ranks rows by."""
    thresholds = scorings.grade(scores, 1.0 / tuned.GRADE)
    if scorings.ranks_by_probability(estimator):
        return thresholds
    with np.errstate(divide="ignore"):
        return logit(thresholds)


def costs(shares, false_positive, false_negative, level):
    """Give the mean cost of a row at each threshold, and the ends of intervals that hold at once.

    It is linear in the shares. Of a few records the sample may have no variance at all: it is that
    of one record at least.
    """
    n_bins, largest = shares.values.shape[1], max(false_positive, false_negative)
    squared = _quantile_of_all(level, n_bins + 1) ** 2
    found = []
    for k in range(n_bins + 1):
        cost = np.zeros_like(shares.values)
        cost[0, k:], cost[1, :k] = false_positive, false_negative
        of_sample = max(shares.of_sample(cost), (largest / shares.n_independent) ** 2)
        reach = math.sqrt(squared * (of_sample + shares.of_noise(cost)))
        value = (shares.values * cost).sum()
        found.append(np.clip([value, value - reach, value + reach], 0.0, largest))
    return np.array(found).T


def precisions(shares, level):
    """Give the share of the second class among rows at or above each threshold but the last."""
    return np.array([_ratio(shares, k, level, of_taken=True) for k in _some(shares)]).T


def recalls(shares, level):
    """Give the share of rows of the second class that are at or above each threshold."""
    thresholds = [*_some(shares), shares.values.shape[1]]
    return np.array([_ratio(shares, k, level, of_taken=False) for k in thresholds]).T


def _some(shares):
    """Return the thresholds that leave a bin above."""
    return range(shares.values.shape[1])


def _quantile_of_all(level, n_thresholds):
    """Return how many standard deviations hold all of so many normal numbers (Bonferroni)."""
    return float(ndtri(1.0 - 0.5 * (1.0 - level) / n_thresholds))


def _ratio(shares, k, level, *, of_taken):
    """Give a share among those of interest, and an interval by inverting its test.

    The share r is in the interval if ``(part - r whole)^2`` is no larger than z^2 times its
    variance: that of a sample of which so many are of interest, and of the noise.
    """
    part, whole = np.zeros_like(shares.values), np.zeros_like(shares.values)
    part[1, k:] = 1.0
    if of_taken:
        whole[:, k:] = 1.0
    else:
        whole[1] = 1.0
    squared = _quantile_of_all(level, shares.values.shape[1] + 1) ** 2
    a, q = (shares.values * part).sum(), (shares.values * whole).sum()
    of_part, of_whole = shares.of_noise(part), shares.of_noise(whole)
    both = 0.5 * (shares.of_noise(part + whole) - of_part - of_whole)
    of_sample = squared * max(q, 0.0) / shares.n_independent
    square = q**2 + of_sample - squared * of_whole
    if q <= 0.0 or q**2 <= squared * of_whole:
        # Noise hides whether there is anybody of interest.
        return (min(max(a / q, 0.0), 1.0) if q > 0.0 else 0.0), 0.0, 1.0
    middle = (a * q + 0.5 * of_sample - squared * both) / square
    constant = (a**2 - squared * of_part) / square
    reach = math.sqrt(max(middle**2 - constant, 0.0))
    value, low, high = np.clip([a / q, middle - reach, middle + reach], 0.0, 1.0).tolist()
    return value, min(low, value), max(high, value)
