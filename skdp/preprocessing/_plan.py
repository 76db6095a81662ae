"""Plan of an encoder: a release of what categories there are in columns where nobody said."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from numbers import Integral
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import ndtri

from skdp._checks import check_count, check_real
from skdp._plans._base import (
    ENCODER_KEY,
    IMPUTER_KEY,
    NORM_KEY,
    QUANTILE_KEY,
    SCALER_KEY,
    Plan,
)
from skdp._plans._release import Release
from skdp.accountant import ErasureEvent

# Thresholds of a grid: noise grows with the logarithm of their number only.
N_THRESHOLDS = 1023
# A logarithmic grid halves what is left of a range so many times.
_OCTAVES = 40
# Standard deviations of its noise up to which a share of records is taken for none.
_SEEN = 1.0
# However much that is, the middle half of the records is looked for.
_MOST_HIDDEN = 0.25
# Share of a scaler's budget that finds where records are; the rest buys means and squares.
_LOCATION_SHARE = 0.7
# Share of records that may lie beyond each end of where they are found to be.
_TAIL = 0.01
# Contributions to means are whole numbers of steps so long, whose sums are exact in any order.
CONTRIBUTION_STEP = 2.0**-26
_UNIT_ROUNDOFF = 2.0**-53
# More than distances of columns are off by.
_DISTANCE_ROUNDING = 1e-11
# Share of delta for categories of a single record. A ledger keeps 2 % of its delta for erasures, so
# that twenty discoveries of the ledger's delta fit in. More would lower the threshold by 9 %.
_SHARE = 1e-3
# Of a smaller delta nothing, or a number of few digits, would be left for that share.
_LEAST_DELTA = 1e-300
# Quantiles are accurate to a few units in the last place.
_ROUNDING = 1e-9
# Halvings of a range in search of its median: a 4096th of it, which is fine enough where bounds are
# ten times too wide, and each one more costs 4 % of noise.
_N_HALVINGS = 12
_STRATEGIES = ("mean", "median", "most_frequent", "constant")


@dataclass(frozen=True, eq=False, kw_only=True)
class TransformerPlan(Plan):
    """The releases of a private transformer, all on full batches.

    Parameters
    ----------
    budget, n_rows
        See `Plan`.
    releases : dict of str to Release
        By what is released; empty where nothing is learnt, which costs nothing.
    erasure : float, default=0.0
        Probability that a release gives away what a threshold is to hide.
    """

    releases: dict
    erasure: float = 0.0

    @cached_property
    def mechanisms(self):
        """What adds noise, by what is released."""
        return {name: release.mechanism for name, release in self.releases.items()}

    @property
    def events(self):
        """The releases that running this makes; none where nothing is learnt."""
        erasure = (ErasureEvent(self.erasure),) if self.erasure > 0.0 else ()
        return tuple(release.event for release in self.releases.values()) + erasure

    def start(self, random_state):
        """Return the stream of a run, None where nothing is learnt: that is charged nowhere."""
        return super().start(random_state) if self.events else None

    def report(self, **facts):
        """Return the report of a run, None where nothing is learnt; see `Plan.report`."""
        return super().report(**facts) if self.events else None


@lru_cache(maxsize=1)
def root_weights():
    """Return the weights r of the square root of a running sum, an array that isn't to be written.

    The lower triangular Toeplitz matrix R of them has ``R @ R`` equal to that of ones: the j-th is
    the coefficient of ``z**j`` in ``(1 - z) ** -0.5``.
    """
    j = np.arange(1, N_THRESHOLDS)
    weights = np.concatenate([[1.0], np.cumprod((2.0 * j - 1.0) / (2.0 * j))])
    weights.flags.writeable = False
    return weights


@lru_cache(maxsize=1)
def _root_norm():
    return float(np.linalg.norm(root_weights()))


@lru_cache(maxsize=1)
def _root_distance():
    """Return how far two columns of the root are apart at most, of which the first is one.

    Others, moved up, are the first entries of such a pair.
    """
    weights = root_weights()
    products = np.correlate(weights, weights, mode="full")[N_THRESHOLDS - 1 :]
    squares = np.cumsum(weights**2)
    # A column that is j entries further down is cut off after so many.
    apart = math.sqrt((squares[-1] + squares[::-1] - 2.0 * products).max())
    return apart * (1.0 + _DISTANCE_ROUNDING)


@dataclass(frozen=True, eq=False, kw_only=True)
class DistributionPlan(TransformerPlan):
    """A release of the columns' distribution functions at public thresholds.

    Parameters
    ----------
    budget, n_rows, releases
        See `TransformerPlan`; that of the functions is "distribution".
    grid : function
        Gives thresholds between the ends of ranges.
    bounds : tuple of two ndarrays of shape (n_columns,)
        The ends.
    """

    grid: Callable
    bounds: tuple

    @cached_property
    def edges(self):
        """Thresholds of each column and the ends, of shape (n_columns, N_THRESHOLDS + 2)."""
        return self.grid(*self.bounds)

    @cached_property
    def hidden_share(self):
        """Share of the records that noise may hide, of those below or above any threshold."""
        spread = self.mechanisms["distribution"].noise_std * _root_norm() / self.n_rows
        return min(_SEEN * spread, _MOST_HIDDEN)


@dataclass(frozen=True, eq=False, kw_only=True)
class ScalerPlan(DistributionPlan):
    """Releases of where the records are, and of means and squares of what is clipped to it.

    Parameters
    ----------
    budget, n_rows, releases, grid, bounds
        See `DistributionPlan`; that of means and squares is "moments".
    """

    stream_key: ClassVar = (SCALER_KEY,)

    @property
    def tail(self):
        """Share of the records that may lie beyond each end of where records are."""
        return max(_TAIL, self.hidden_share)


@dataclass(frozen=True, eq=False, kw_only=True)
class QuantilePlan(DistributionPlan):
    """See `DistributionPlan`."""

    stream_key: ClassVar = (QUANTILE_KEY,)


@dataclass(frozen=True, eq=False, kw_only=True)
class NormPlan(DistributionPlan):
    """See `DistributionPlan`; the one column has the rows' lengths."""

    stream_key: ClassVar = (NORM_KEY,)


def linear_edges(low, high):
    """Return even thresholds between ends of shape (n_columns,)."""
    return np.linspace(low, high, N_THRESHOLDS + 2, axis=1)


def logarithmic_edges(low, high):
    """Return thresholds between ends of shape (n_columns,) that are the denser the lower."""
    shares = 2.0 ** np.linspace(-_OCTAVES, 0.0, N_THRESHOLDS + 1)
    shares = np.concatenate([[0.0], shares])
    return low[:, np.newaxis] + (high - low)[:, np.newaxis] * shares


def geometric_edges(low, high):
    """Return thresholds between positive ends of shape (n_columns,), of one ratio each."""
    return np.geomspace(low, high, N_THRESHOLDS + 2, axis=1)


def plan_quantiles(budget, *, n_rows, grid, bounds, kind):
    """Plan a release of distribution functions that spends the whole budget.

    Parameters
    ----------
    budget : Budget
    n_rows : int
    grid, bounds
        See `DistributionPlan`.
    kind : type
        Of the plan, which names its stream.
    """
    releases = {"distribution": _distribution(budget, 1.0, n_rows, bounds[0].size)}
    return kind(budget=budget, n_rows=n_rows, releases=releases, grid=grid, bounds=bounds)


def plan_scaler(budget, *, n_rows, grid, bounds):
    """Plan the two releases of a scaler.

    Parameters
    ----------
    budget, n_rows, grid, bounds
        See `plan_quantiles`.

    Notes
    -----
    A record contributes ``(t, 1 - t**2)`` for each column, with t in [-1, 1]: a vector of norm 1 at
    most, as ``t**2 + (1 - t**2)**2 = 1 - t**2 (1 - t**2)``. So the squares are free. Two records
    may be 2 apart, which is what the accountant makes of 1. Rounding to steps moves each of the two
    numbers by half a step, and their sums are whole numbers of steps, rounded once.
    """
    n_columns = bounds[0].size
    moments = budget.release(
        bound=math.sqrt(n_columns),
        share=1.0 - _LOCATION_SHARE,
        n_records=n_rows,
        size=2 * n_columns,
        slack=CONTRIBUTION_STEP + 4.0 * _UNIT_ROUNDOFF * n_rows,
    )
    distribution = _distribution(budget, _LOCATION_SHARE, n_rows, n_columns)
    releases = {"distribution": distribution, "moments": moments}
    return ScalerPlan(budget=budget, n_rows=n_rows, releases=releases, grid=grid, bounds=bounds)


def _distribution(budget, share, n_rows, n_columns):
    """Return the release of distribution functions for a share of a budget.

    A record adds to each column's counts, mapped by the root, one column of that or nothing. The
    first is the longest. Under "replace_one" the distance of two counts, and that is a bound of a
    pair.
    """
    return budget.release(
        bound=math.sqrt(n_columns) * _root_norm(),
        pair_bound=math.sqrt(n_columns) * _root_distance(),
        share=share,
        n_records=n_rows,
        size=n_columns * N_THRESHOLDS,
        # Each sum is off by at most so many units of all that is added, and two are compared.
        slack=2.0 * _UNIT_ROUNDOFF * (N_THRESHOLDS + 2.0) * n_rows,
    )


class Counts(NamedTuple):
    """A release of counts of categories in several columns, and what it may give away.

    Parameters
    ----------
    release : Release
    erasure : float
        Probability that a category of one record shows.
    threshold : float
        What the noisy count of a category that nobody listed must exceed to be published.
    """

    release: Release
    erasure: float
    threshold: float


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
    is_hidden = n_discovered > 0 and budget.is_private
    if is_hidden and not budget.delta >= _LEAST_DELTA:
        raise ValueError(
            f"delta must be at least {_LEAST_DELTA:g} where categories are to be found: it is the "
            "probability that one of a single record shows. List the categories if it is to be 0."
        )
    erasure = _SHARE * budget.delta if is_hidden else 0.0
    rest = replace(budget, delta=(budget.delta - erasure) / (1.0 - erasure))
    release = rest.release(
        bound=math.sqrt(n_columns),
        pair_bound=math.sqrt(2 * n_columns),
        share=1.0,
        n_records=n_rows,
        # Of all counts, neighbours differ in so many.
        size=(2 if budget.adjacency == "replace_one" else 1) * n_columns,
    )
    # The largest number that isn't enough.
    threshold = math.nextafter(least, -math.inf)
    if is_hidden:
        hiding = hiding_threshold(release.mechanism, erasure, n_discovered)
        threshold = max(hiding, threshold)
    return Counts(release, erasure, threshold)


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


@dataclass(frozen=True, eq=False, kw_only=True)
class ImputerPlan(TransformerPlan):
    """The releases of an imputer; see `TransformerPlan`.

    Parameters
    ----------
    strategy : {"mean", "median", "most_frequent", "constant"}
    threshold : float
        What a category's noisy count must exceed, where categories are discovered.
    """

    strategy: str
    threshold: float = math.inf

    @property
    def stream_key(self):
        """That of a strategy: what they release of the same records isn't to share noise."""
        return IMPUTER_KEY, _STRATEGIES.index(self.strategy)


def plan_imputer(budget, *, strategy, n_rows, n_columns, n_discovered):
    """Plan what fills the gaps of columns.

    Parameters
    ----------
    budget : Budget
    strategy : {"mean", "median", "most_frequent", "constant"}
    n_rows, n_columns : int
    n_discovered : int
        Number of columns whose categories aren't given, of use for "most_frequent" only.

    Notes
    -----
    All columns are released together. Of one column, a record adds to two sums for the mean: an
    entry adds its distance from the middle of the range, in units of half the range, to the first
    and nothing to the second, and a gap adds 1 to the second and nothing to the first. So it moves
    the pair by at most 1, and d pairs by sqrt(d). In the search for medians it adds a sign, or for
    a gap 0, to one sum a column and step. For counts see `plan_counts`.
    """
    common = {"budget": budget, "n_rows": n_rows, "strategy": strategy}
    if strategy == "constant":
        return ImputerPlan(releases={}, **common)
    if strategy == "most_frequent":
        counts = plan_counts(
            budget, n_rows=n_rows, n_columns=n_columns, n_discovered=n_discovered, least=1.0
        )
        return ImputerPlan(
            releases={"counts": counts.release},
            erasure=counts.erasure,
            threshold=counts.threshold,
            **common,
        )
    n_steps = _N_HALVINGS if strategy == "median" else 1
    release = budget.release(
        bound=math.sqrt(n_columns),
        n_records=n_rows,
        size=n_columns if strategy == "median" else 2 * n_columns,
        n_steps=n_steps,
    )
    return ImputerPlan(releases={strategy: release}, **common)


@dataclass(frozen=True, eq=False, kw_only=True)
class EncoderPlan(TransformerPlan):
    """The release of an encoder; see `TransformerPlan`.

    Parameters
    ----------
    threshold : float
        What a category's noisy count must exceed.
    most : int or None
        Number of categories of a column that are kept at most.
    """

    threshold: float = math.inf
    most: int | None = None

    stream_key: ClassVar = (ENCODER_KEY,)


def plan_encoder(budget, *, n_rows, n_discovered, min_frequency, most):
    """Plan the discovery of categories in so many columns; none is free.

    Parameters
    ----------
    budget : Budget
    n_rows, n_discovered : int
    min_frequency : None, int or float
        Of records, or a share of them.
    most : int or None
        See `EncoderPlan`.
    """
    common = {"budget": budget, "n_rows": n_rows, "most": most}
    if n_discovered == 0:
        return EncoderPlan(releases={}, **common)
    counts = plan_counts(
        budget,
        n_rows=n_rows,
        n_columns=n_discovered,
        n_discovered=n_discovered,
        least=_least_count(min_frequency, n_rows),
    )
    return EncoderPlan(
        releases={"counts": counts.release},
        erasure=counts.erasure,
        threshold=counts.threshold,
        **common,
    )


def _least_count(min_frequency, n_rows):
    if min_frequency is None:
        return 1
    if isinstance(min_frequency, Integral):
        return check_count(min_frequency, "min_frequency")
    # Parameters may come unvalidated (`sklearn.set_config`).
    share = check_real(min_frequency, "min_frequency")
    if not 0.0 < share < 1.0:
        raise ValueError("min_frequency must be a count of at least 1 or a share in (0, 1).")
    return max(math.ceil(share * n_rows), 1)
