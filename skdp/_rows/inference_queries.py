"""Queries to certified rows of one output: what standard errors follow from."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from skdp._release.mechanisms import GaussianMechanism
from skdp._rows.blocks import places
from skdp._rows.bounds import row_norms
from skdp._rows.clipping import clip_contributions
from skdp._rows.queries import CUT, BoundedQuery, CountingQuery

# Squares of smaller lengths have few digits.
_SHORTEST = 1e-150
# Weights near the end of double precision have few, too.
_LEAST_WEIGHT = 1e-290
# A loss of a row by clipping counts up to this share of the bound.
LOST = 0.25


@dataclass(frozen=True, eq=False)
class CountsOfMappedLengths(CountingQuery):
    """How many rows count as rows of a mapped length in each bin; null ones are in none."""

    bins: Any
    mechanism: GaussianMechanism

    view = CUT

    def total(self, rows):
        bin_of_row = places(self.bins, rows.ball_weights * rows.lengths / self.bins.unit)
        counts = np.bincount(bin_of_row[rows.lengths > 0.0], minlength=self.bins.n_bins)
        return self.mechanism.rounded(counts.astype(np.float64))


@dataclass(frozen=True, eq=False)
class SharesAndLosses(BoundedQuery):
    """The sums of two numbers in [0, 1]: of rows' shares, and of what clipping took.

    At weights `w` of mapped rows, by a model of `MODELS`. The second is over `LOST` times the
    bound, and 1 from there on. The mechanism is of two numbers, or of the first alone.
    """

    model: Any
    w: np.ndarray
    mechanism: GaussianMechanism

    view = CUT

    def record_bound(self, place):
        return math.sqrt(self.mechanism.size)

    def pair_bound(self, place):
        # Numbers in [0, 1] of two records differ by no more than those of one do from 0.
        return self.record_bound(place)

    def total(self, rows):
        def add(block, x, scale, total):
            slopes, weights = _weigh(self, rows, block, x, scale)
            lengths = rows.lengths[block]
            bound = 1.0 if math.isinf(rows.bound) else rows.bound
            shares = self.model.shares(weights, lengths, bound)
            # A share that overflowed to no number counts as the most.
            total[0] += np.fmin(shares, 1.0).sum()
            lost = (np.abs(slopes) * lengths / rows.bound - 1.0) / LOST
            total[1] += np.fmin(np.maximum(lost, 0.0), 1.0)[lengths > 0.0].sum()

        def finish(sums):
            return self.mechanism.rounded(sums[: self.mechanism.size])

        return rows.sum_blocks(add, (2,), finish)


@dataclass(frozen=True, eq=False)
class SumOfCurvatures(BoundedQuery):
    """The sum of weights times outer products of mapped rows, by `as_vector`.

    Weights are those of a model of `MODELS` at `w`. A row's weight is cut so that its term's trace
    is within a bound.
    """

    model: Any
    w: np.ndarray
    bound: float
    mechanism: GaussianMechanism

    view = CUT

    def record_bound(self, place):
        return self.bound

    def pair_bound(self, place):
        # Positive semidefinite matrices, see `plan_inference`.
        return math.sqrt(2.0) * self.bound

    def total(self, rows):
        def add(block, x, scale, total):
            weights = _weigh(self, rows, block, x, scale)[1]
            mapped = rows.products(x, scale, rows.A)
            lengths = row_norms(mapped)
            if not math.isinf(self.bound):
                largest_weights = self.bound / np.maximum(lengths, _SHORTEST) ** 2
                # Rows that overflow, or whose weight has few digits, add nothing.
                lost = ~(largest_weights > _LEAST_WEIGHT)
                np.minimum(weights, largest_weights, out=weights)
                mapped[lost], weights[lost] = 0.0, 0.0
            mapped *= np.sqrt(weights)[:, np.newaxis]
            total += mapped.T @ mapped

        return rows.sum_of_squares(add, self.mechanism)


def _weigh(query, rows, block, x, scale):
    """Return a block's slopes as they are, and weights at cut ones; null records have none."""
    predictions = rows.products(x, scale, (rows.A @ query.w)[:, 0])
    slopes = rows.loss.gradient(rows.targets[block], predictions)
    if rows.slope_weights is not None:
        slopes *= rows.slope_weights[block]
    cut = clip_contributions(slopes.copy(), rows.lengths[block], rows.bound)
    counted = 1.0 if rows.slope_weights is None else rows.slope_weights[block]
    weights = query.model.weights(cut, predictions, counted)
    weights[(rows.lengths[block] == 0.0) | ~np.isfinite(weights)] = 0.0
    return slopes, weights
