"""Plan of noisy counts of categories, and of those that nobody listed: a threshold hides them."""

import math
from dataclasses import dataclass, replace

from scipy.special import ndtri

from skdp._mechanisms import GaussianMechanism
from skdp._plans._base import SPLIT_SLACK
from skdp.accountant import ErasureEvent, GaussianEvent

# Share of delta for categories of a single record. A ledger keeps 2 % of its delta for erasures, so
# that twenty discoveries of the ledger's delta fit in. More would lower the threshold by 9 %.
_SHARE = 1e-3
# Of a smaller delta nothing, or a number of few digits, would be left for that share.
_LEAST_DELTA = 1e-300
# Quantiles are accurate to a few units in the last place.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class CountsPlan:
    """A release of counts of categories in several columns.

    Parameters
    ----------
    mechanism : GaussianMechanism
    threshold : float
        What the noisy count of a category that nobody listed must exceed to be published.
    events : tuple of events
    """

    mechanism: GaussianMechanism
    threshold: float
    events: tuple


def plan_counts(budget, *, n_rows, n_columns, n_discovered, least):
    """Plan a release of counts.

    Parameters
    ----------
    budget : Budget
    n_rows : int
    n_columns : int
        Number of columns that are counted; a record is in one category of each.
    n_discovered : int
        Number of those whose categories nobody listed.
    least : float
        What the count of a category must be at least, if that is more.

    Raises
    ------
    ValueError
        If categories are to be found privately, and delta is below 1e-300.

    Notes
    -----
    A null record is in no category: it moves c counts by one, which is sqrt(c). A record that
    replaces another moves up to 2 c counts, sqrt(2 c), which is a bound of a pair and never
    doubled. Categories that one record alone has are published with a probability of at most
    ``1 - (1 - p)^c``; given that they aren't, the release is that of the others' counts. The proof
    is in the documentation, "theory/categories".
    """
    is_replaced = budget.adjacency == "replace_one"
    is_hidden = n_discovered > 0 and budget.is_private
    if is_hidden and not budget.delta >= _LEAST_DELTA:
        raise ValueError(
            f"delta must be at least {_LEAST_DELTA:g} where categories are to be found: it is the "
            "probability that one of a single record shows. List the categories if it is to be 0."
        )
    erasure = _SHARE * budget.delta if is_hidden else 0.0
    rest = replace(budget, delta=(budget.delta - erasure) / (1.0 - erasure))
    noise = SPLIT_SLACK * rest.calibrate(pairwise=True)
    n_moved = (2 if is_replaced else 1) * n_columns
    mechanism = GaussianMechanism(
        contribution_bound=math.sqrt(n_moved) if budget.is_private else math.inf,
        noise_multiplier=noise,
        # Of all counts, neighbours differ in so many.
        size=n_moved,
        n_records=n_rows,
    )
    events = (GaussianEvent(noise, pairwise=is_replaced),)
    # The largest number that isn't enough.
    threshold = math.nextafter(least, -math.inf)
    if is_hidden:
        events += (ErasureEvent(erasure),)
        threshold = max(hiding_threshold(mechanism, erasure, n_discovered), threshold)
    return CountsPlan(mechanism=mechanism, threshold=threshold, events=events)


def hiding_threshold(mechanism, erasure, n_columns):
    """Return what counts of 1 in so many columns all stay below, but with a probability.

    Parameters
    ----------
    mechanism : GaussianMechanism
        Of the counts.
    erasure : float
        The probability that one of them is above.
    n_columns : int
    """
    each = -math.expm1(math.log1p(-erasure) / n_columns) * (1.0 - _ROUNDING)
    # A release lies on a grid; rounding moves it by half a step at most.
    return 1.0 + mechanism.grid - mechanism.noise_std * float(ndtri(each)) * (1.0 + _ROUNDING)
