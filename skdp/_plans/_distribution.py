"""Plans of what is learnt from noisy distribution functions: ranges, quantiles, scales."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from skdp._mechanisms import GaussianMechanism
from skdp._plans._base import SPLIT_SLACK
from skdp._plans._keys import NORM_KEY, QUANTILE_KEY, SCALER_KEY
from skdp._plans._preprocessing import TransformerPlan
from skdp.accountant import GaussianEvent

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
_ROUNDING = 1e-11


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
    return apart * (1.0 + _ROUNDING)


@dataclass(frozen=True, eq=False, kw_only=True)
class DistributionPlan(TransformerPlan):
    """A release of the columns' distribution functions at public thresholds.

    Parameters
    ----------
    budget, n_rows, mechanisms, releases
        See `TransformerPlan`; the mechanism of the functions is "distribution".
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
    budget, n_rows, mechanisms, releases, grid, bounds
        See `DistributionPlan`; the mechanism of means and squares is "moments".
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
    mechanism, event = _distribution(budget, 1.0, n_rows, bounds[0].size)
    return kind(
        budget=budget,
        n_rows=n_rows,
        mechanisms={"distribution": mechanism},
        releases=(event,),
        grid=grid,
        bounds=bounds,
    )


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
    distribution, event = _distribution(budget, _LOCATION_SHARE, n_rows, n_columns)
    noise = SPLIT_SLACK * budget.calibrate() / math.sqrt(1.0 - _LOCATION_SHARE)
    moments = GaussianMechanism(
        contribution_bound=math.sqrt(n_columns),
        noise_multiplier=noise,
        size=2 * n_columns,
        n_records=n_rows,
        rounding_slack=CONTRIBUTION_STEP + 4.0 * _UNIT_ROUNDOFF * n_rows,
    )
    return ScalerPlan(
        budget=budget,
        n_rows=n_rows,
        mechanisms={"distribution": distribution, "moments": moments},
        releases=(event, GaussianEvent(noise)),
        grid=grid,
        bounds=bounds,
    )


def _distribution(budget, share, n_rows, n_columns):
    """Return the mechanism and event of distribution functions for a share of a budget.

    A record adds to each column's counts, mapped by the root, one column of that or nothing. The
    first is the longest. Under "replace_one" the distance of two counts, and that is a bound of a
    pair.
    """
    pairwise = budget.adjacency == "replace_one"
    distance = _root_distance() if pairwise else _root_norm()
    noise = SPLIT_SLACK * budget.calibrate(pairwise=True) / math.sqrt(share)
    mechanism = GaussianMechanism(
        contribution_bound=math.sqrt(n_columns) * distance,
        noise_multiplier=noise,
        size=n_columns * N_THRESHOLDS,
        n_records=n_rows,
        # Each sum is off by at most so many units of all that is added, and two are compared.
        rounding_slack=2.0 * _UNIT_ROUNDOFF * (N_THRESHOLDS + 2.0) * n_rows,
    )
    return mechanism, GaussianEvent(noise, pairwise=pairwise)
