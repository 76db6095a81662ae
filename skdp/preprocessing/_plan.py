"""Plans of private transformers: what they release, all of it on full batches.

Proofs are in the documentation, "theory/preprocessing" and "theory/categories".
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from numbers import Integral

import numpy as np
from scipy.special import ndtri

from skdp._checks import check_count, check_real
from skdp._release.plan import ENCODER_KEY, IMPUTER_KEY, SCALER_KEY, Plan
from skdp._release.release import named
from skdp.preprocessing import _tuned as tuned

# Runs and reports call releases of transformers so.
DISTRIBUTIONS, MOMENTS = "distributions of columns", "means and squares of columns"
MEANS, MEDIANS = "means and gaps of columns", "medians of columns"
COUNTS = "counts of categories"
# Contributions to means are whole numbers of steps so long, whose sums are exact in any order.
CONTRIBUTION_STEP = 2.0**-26
_UNIT_ROUNDOFF = 2.0**-53
# More than distances of columns are off by.
_DISTANCE_ROUNDING = 1e-11
# Quantiles are accurate to a few units in the last place.
_ROUNDING = 1e-9
_STRATEGIES = ("mean", "median", "most_frequent", "constant")


@dataclass(frozen=True, eq=False, kw_only=True)
class TransformerPlan(Plan):
    """The releases of a private transformer, each a `Planned`; none where nothing is learnt."""

    planned: tuple
    # It differs between plans of this class, unlike elsewhere.
    stream_key: tuple  # type: ignore[misc]
    # The noisy count of a category that nobody listed must exceed this to be published.
    threshold: float = math.inf

    @cached_property
    def mechanisms(self):
        """What adds noise, by what is released."""
        return {one.name: one.release.mechanism for one in self.planned if one.release is not None}

    @property
    def releases(self):
        """The releases that running this makes; none where nothing is learnt."""
        return self.planned

    def start(self, random_state):
        """Return a run, None where nothing is learnt: that is charged nowhere."""
        return super().start(random_state) if self.events else None

    def report(self, *, reproducible, also_public=(), also_not_covered=(), open_parts=()):
        """Return the report of a run, None where nothing is learnt; see `Plan.report`."""
        if not self.events:
            return None
        return super().report(
            reproducible=reproducible,
            also_public=also_public,
            also_not_covered=also_not_covered,
            open_parts=open_parts,
        )


@lru_cache(maxsize=1)
def root_weights():
    """Return the weights r of the square root of a running sum, an array that isn't to be written.

    The lower triangular Toeplitz matrix R of them has ``R @ R`` equal to that of ones: the j-th is
    the coefficient of ``z**j`` in ``(1 - z) ** -0.5``.
    """
    j = np.arange(1, tuned.N_THRESHOLDS)
    weights = np.concatenate([[1.0], np.cumprod((2.0 * j - 1.0) / (2.0 * j))])
    weights.flags.writeable = False
    return weights


@lru_cache(maxsize=1)
def root_norm():
    """Return the length of the longest column of the root."""
    return float(np.linalg.norm(root_weights()))


@lru_cache(maxsize=1)
def root_distance():
    """Return how far two columns of the root are apart at most, of which the first is one.

    Others, moved up, are the first entries of such a pair.
    """
    weights = root_weights()
    products = np.correlate(weights, weights, mode="full")[tuned.N_THRESHOLDS - 1 :]
    squares = np.cumsum(weights**2)
    # A column that is j entries further down is cut off after so many.
    apart = math.sqrt((squares[-1] + squares[::-1] - 2.0 * products).max())
    return apart * (1.0 + _DISTANCE_ROUNDING)


@dataclass(frozen=True, eq=False, kw_only=True)
class DistributionPlan(TransformerPlan):
    """A release `DISTRIBUTIONS` of the columns' distribution functions at public thresholds.

    A scaler's has `MOMENTS`, too: means and squares of what is clipped to where records are.
    """

    # Gives thresholds between the ends of ranges.
    grid: Callable
    # The ends, two arrays of shape (n_columns,).
    bounds: tuple

    @cached_property
    def edges(self):
        """Thresholds of each column and the ends, of shape (n_columns, N_THRESHOLDS + 2)."""
        return self.grid(*self.bounds)

    @cached_property
    def hidden_share(self):
        """Share of the records that noise may hide, of those below or above any threshold."""
        spread = self.mechanisms[DISTRIBUTIONS].noise_std * root_norm() / self.n_records
        return min(tuned.HIDDEN_DEVIATIONS * spread, tuned.LARGEST_HIDDEN_SHARE)

    @property
    def tail(self):
        """Share of the records that may lie beyond each end of where a scaler finds them."""
        return max(tuned.TAIL_SHARE, self.hidden_share)


def linear_edges(low, high):
    """Return even thresholds between ends of shape (n_columns,)."""
    return np.linspace(low, high, tuned.N_THRESHOLDS + 2, axis=1)


def logarithmic_edges(low, high):
    """Return thresholds between ends of shape (n_columns,) that are the denser the lower."""
    shares = np.append(0.0, 2.0 ** np.linspace(-tuned.OCTAVES, 0.0, tuned.N_THRESHOLDS + 1))
    return low[:, np.newaxis] + (high - low)[:, np.newaxis] * shares


def geometric_edges(low, high):
    """Return thresholds between positive ends of shape (n_columns,), of one ratio each."""
    return np.geomspace(low, high, tuned.N_THRESHOLDS + 2, axis=1)


def plan_quantiles(budget, *, n_records, grid, bounds, key):
    """Plan a release of distribution functions that spends the whole budget.

    `key` names its stream; see `DistributionPlan` for `grid` and `bounds`.
    """
    return DistributionPlan(
        budget=budget,
        n_records=n_records,
        planned=named(DISTRIBUTIONS, _distribution(budget, 1.0, n_records, bounds[0].size)),
        stream_key=(key,),
        grid=grid,
        bounds=bounds,
    )


def plan_scaler(budget, *, n_records, grid, bounds):
    """Plan the two releases of a scaler."""
    n_columns = bounds[0].size
    moments = moments_release(
        budget, n_records=n_records, n_columns=n_columns, share=1.0 - tuned.LOCATION_SHARE
    )
    distribution = _distribution(budget, tuned.LOCATION_SHARE, n_records, n_columns)
    return DistributionPlan(
        budget=budget,
        n_records=n_records,
        planned=(*named(DISTRIBUTIONS, distribution), *named(MOMENTS, moments)),
        stream_key=(SCALER_KEY,),
        grid=grid,
        bounds=bounds,
    )


def moments_release(budget, *, n_records, n_columns, share):
    """Plan a release of means and squares for a share of a budget.

    A record contributes ``(t, 1 - t**2)`` for each column, with t in [-1, 1]: a vector of norm 1 at
    most, as ``t**2 + (1 - t**2)**2 = 1 - t**2 (1 - t**2)``. So the squares are free. Two records
    may be 2 apart, which is what the accountant makes of 1. Rounding to steps moves each of the two
    numbers by half a step, and their sums are whole numbers of steps, rounded once.
    """
    return budget.release(
        bound=math.sqrt(n_columns),
        share=share,
        n_records=n_records,
        size=2 * n_columns,
        slack=CONTRIBUTION_STEP + 4.0 * _UNIT_ROUNDOFF * n_records,
    )


def _distribution(budget, share, n_records, n_columns):
    """Return the release of distribution functions for a share of a budget.

    A record adds to each column's counts, mapped by the root, one column of that or nothing. The
    first is the longest. Under "replace_one" the distance of two counts, and that is a bound of a
    pair.
    """
    return budget.release(
        bound=math.sqrt(n_columns) * root_norm(),
        pair_bound=math.sqrt(n_columns) * root_distance(),
        share=share,
        n_records=n_records,
        size=n_columns * tuned.N_THRESHOLDS,
        # Each sum is off by at most so many units of all that is added, and two are compared.
        slack=2.0 * _UNIT_ROUNDOFF * (tuned.N_THRESHOLDS + 2.0) * n_records,
    )


def plan_counts(budget, *, n_records, n_columns, n_discovered, least, key):
    """Plan a release of counts of categories.

    A null record is in no category: it moves c counts by one, which is sqrt(c). A record that
    replaces another moves up to 2 c counts, sqrt(2 c), which is a bound of a pair and never
    doubled. Categories that one record alone has are published with a probability of at most
    ``1 - (1 - p)^c``; given that they aren't, the release is that of the others' counts. The proof
    is in the documentation, "theory/categories".

    Parameters
    ----------
    budget : Budget
    n_records : int
    n_columns : int
        Number of columns that are counted; a record is in one category of each.
    n_discovered : int
        Number of those whose categories nobody listed.
    least : float
        What the count of a category must be at least, if that is more.
    key : tuple
        Names the stream.

    Raises
    ------
    ValueError
        If categories are to be found privately, and delta is below 1e-300.
    """
    rest, erasure = hide_categories(budget, n_discovered)
    release = count_release(rest, n_records=n_records, n_columns=n_columns)
    # The largest number that isn't enough.
    threshold = math.nextafter(least, -math.inf)
    if erasure > 0.0:
        threshold = max(hiding_threshold(release.mechanism, erasure, n_discovered), threshold)
    return TransformerPlan(
        budget=budget,
        n_records=n_records,
        planned=named(COUNTS, release, erasure=erasure),
        stream_key=key,
        threshold=threshold,
    )


def hide_categories(budget, n_discovered):
    """Return what is left of a budget where categories are found, and the erasure's probability."""
    if n_discovered == 0 or not budget.is_private:
        return budget, 0.0
    if not budget.delta >= tuned.LEAST_DELTA:
        raise ValueError(
            f"delta must be at least {tuned.LEAST_DELTA:g} where categories are to be found: it is "
            "the probability that one of a single record shows. List the categories if it is to be "
            "0."
        )
    erasure = tuned.ERASURE_SHARE * budget.delta
    return replace(budget, delta=(budget.delta - erasure) / (1.0 - erasure)), erasure


def count_release(budget, *, n_records, n_columns, share=1.0):
    """Plan a release of counts for a share of a budget; a record is in one of each column's."""
    return budget.release(
        bound=math.sqrt(n_columns),
        pair_bound=math.sqrt(2 * n_columns),
        share=share,
        n_records=n_records,
        # Neighbours differ in no more of all the counts.
        size=(2 if budget.adjacency == "replace_one" else 1) * n_columns,
    )


def hiding_threshold(mechanism, erasure, n_columns):
    """Return what counts of 1 in so many columns all stay below, but with probability `erasure`."""
    each = -math.expm1(math.log1p(-erasure) / n_columns) * (1.0 - _ROUNDING)
    # A release lies on a grid; rounding moves it by half a step at most.
    return 1.0 + mechanism.grid - mechanism.noise_std * float(ndtri(each)) * (1.0 + _ROUNDING)


def plan_imputer(budget, *, strategy, n_records, n_columns, n_discovered):
    """Plan what fills the gaps of columns, of which so many have no list of categories.

    All columns are released together. Of one column, a record adds to two sums for the mean: an
    entry adds its distance from the middle of the range, in units of half the range, to the first
    and nothing to the second, and a gap adds 1 to the second and nothing to the first. So it moves
    the pair by at most 1, and d pairs by sqrt(d). In the search for medians it adds a sign, or for
    a gap 0, to one sum a column and step. For counts see `plan_counts`.
    """
    # One for each strategy: what they release of the same records isn't to share noise.
    key = IMPUTER_KEY, _STRATEGIES.index(strategy)
    if strategy == "most_frequent":
        return plan_counts(
            budget,
            n_records=n_records,
            n_columns=n_columns,
            n_discovered=n_discovered,
            least=1.0,
            key=key,
        )
    learnt = ()
    if strategy != "constant":
        release = budget.release(
            bound=math.sqrt(n_columns),
            n_records=n_records,
            size=n_columns if strategy == "median" else 2 * n_columns,
            n_steps=tuned.N_HALVINGS if strategy == "median" else 1,
        )
        learnt = named(MEDIANS if strategy == "median" else MEANS, release)
    return TransformerPlan(budget=budget, n_records=n_records, planned=learnt, stream_key=key)


def plan_encoder(budget, *, n_records, n_discovered, min_frequency):
    """Plan the discovery of categories in so many columns; none is free."""
    key = (ENCODER_KEY,)
    if n_discovered == 0:
        return TransformerPlan(budget=budget, n_records=n_records, planned=(), stream_key=key)
    return plan_counts(
        budget,
        n_records=n_records,
        n_columns=n_discovered,
        n_discovered=n_discovered,
        least=_least_count(min_frequency, n_records),
        key=key,
    )


def _least_count(min_frequency, n_records):
    if min_frequency is None:
        return 1
    if isinstance(min_frequency, Integral):
        return check_count(min_frequency, "min_frequency")
    # Parameters may come unvalidated (`sklearn.set_config`).
    share = check_real(min_frequency, "min_frequency")
    if not 0.0 < share < 1.0:
        raise ValueError("min_frequency must be a count of at least 1 or a share in (0, 1).")
    return max(math.ceil(share * n_records), 1)
