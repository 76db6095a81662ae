"""What releases cost, worked out from them alone and apart from our accountant.

A fit's report says what its plan meant to spend. Here the releases that were made are counted, with
the noise that they got over the sensitivity that the replay holds them to, and the design by which
a record came to take part.
"""

import math
from collections import Counter
from functools import cache
from typing import NamedTuple

import numpy as np
from dp_accounting import GaussianDpEvent, NeighboringRelation, PoissonSampledDpEvent
from dp_accounting.pld import PLDAccountant
from scipy.optimize import brentq
from scipy.stats import norm

# By which share an epsilon found here may exceed a reported one, for the digits that noise is
# rounded to.
TOLERANCE = 1e-6
# Grid of dp-accounting's losses over the standard deviation of the narrowest one. It adds up to a
# sixth of its square to the variance of a loss, and half of that to epsilon: 0.01 %, which is less
# than calibration leaves. A fixed grid adds much to a small epsilon, and is slow for a large one.
_GRID = 1 / 32
_DIGITS = 9


class Release(NamedTuple):
    """A release that a record takes part in, or may.

    Attributes
    ----------
    noise : float
        Standard deviation of Gaussian noise, or scale of Laplace noise, over the distance that one
        record's contribution moves the value; that of two neighbours' values, if `pairwise`.
    rate : float
        Probability of taking part.
    pairwise, pure : bool
    """

    noise: float
    rate: float = 1.0
    pairwise: bool = False
    pure: bool = False


def exact_reach(mechanism, *values):
    """Return how far a record may move a sum that is about to be released.

    Sums that are on the mechanism's grid already, by groups, were moved there by half a step each.
    """
    reach = mechanism.contribution_bound * (1.0 + mechanism.rounding_slack)
    if mechanism.grid and all(np.array_equal(mechanism.rounded(value), value) for value in values):
        reach += mechanism.grid * math.sqrt(mechanism.size)
    return reach


def epsilon_of(releases, delta, adjacency):
    """Return the epsilon of all releases that a record may take part in.

    Pure ones add their epsilons, Gaussian ones of all rows have a closed form (Balle and Wang 2018,
    theorem 8), and Poisson batches are composed by dp-accounting, with Gaussian ones of all rows
    where there are any before.
    """
    counts = Counter()
    for release, times in Counter(releases).items():
        counts[release._replace(noise=float(f"{release.noise:.{_DIGITS}g}"))] += times
    return _epsilon(tuple(sorted(counts.items())), delta, adjacency)


@cache
def _epsilon(counts, delta, adjacency):
    if any(release.noise == 0.0 for release, _ in counts):
        return math.inf
    replaced = adjacency == "replace_one"
    # How far neighbours' values are apart, over the noise.
    shifts = [
        (2.0 if replaced and not release.pairwise else 1.0) / release.noise for release, _ in counts
    ]
    if all(release.pure for release, _ in counts):
        return sum(times * shift for (_, times), shift in zip(counts, shifts, strict=True))
    if not any(release.pure or release.rate < 1.0 for release, _ in counts):
        squares = [times * shift**2 for (_, times), shift in zip(counts, shifts, strict=True)]
        return _gaussian(math.sqrt(sum(squares)), delta)
    relations = NeighboringRelation
    accountant = PLDAccountant(
        relations.REPLACE_ONE if replaced else relations.ADD_OR_REMOVE_ONE,
        # At least the rate times the shift is the standard deviation of a loss.
        value_discretization_interval=_GRID
        * min(release.rate * shift for (release, _), shift in zip(counts, shifts, strict=True)),
    )
    whole = 0.0
    for (release, times), shift in zip(counts, shifts, strict=True):
        # No method makes pure ones beside them.
        assert not release.pure
        if release.rate == 1.0:
            whole += times * shift**2
            continue
        assert not release.pairwise
        event = PoissonSampledDpEvent(release.rate, GaussianDpEvent(release.noise))
        accountant.compose(event, times)
    if whole > 0.0:
        # Together they are one; what it is doubled by is in their shifts.
        doubled = 2.0 if replaced else 1.0
        accountant.compose(GaussianDpEvent(doubled / math.sqrt(whole)))
    return accountant.get_epsilon(delta)


def _gaussian(mu, delta):
    def excess(epsilon):
        first, second = norm.logcdf([mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu])
        return math.exp(first) - math.exp(epsilon + second) - delta

    if excess(0.0) <= 0.0:
        return 0.0
    # The loss is above this mean and ten of its standard deviations with less than any delta here.
    return brentq(excess, 0.0, mu**2 / 2 + 10.0 * mu, xtol=1e-12)
