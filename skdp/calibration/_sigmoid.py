"""A sigmoid that turns decision values into log-odds, by noisy counts of bins.

A bin's count doesn't say where within it the records are. With a few bins, whose counts stand out
of the noise, that matters: so the mean place within each is released beside the counts.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from skdp._rows.bounds import clip_scores
from skdp._rows.queries import CELLS, BoundedQuery
from skdp.calibration import _tuned as tuned


class ScoredRows(NamedTuple):
    """Rows as `CountsAndPlaces` has them: an entry for each.

    Attributes
    ----------
    is_positive : ndarray of bool
        Whether the row is of the class.
    bin : ndarray of int
        The row's bin.
    place : ndarray of float
        Where it is in the bin, from 0 to 1: a multiple of a power of 2, so that sums are exact.
    """

    is_positive: np.ndarray
    bin: np.ndarray
    place: np.ndarray

    def ask(self, query):
        """Return the answer to a `Query`."""
        return query.total(self)


class BinnedScores(NamedTuple):
    """How many rows of either class are in each bin, and where in it: an entry for each bin.

    Attributes
    ----------
    negative, positive : ndarray
        Numbers of rows of the class.
    near_low, near_high : ndarray
        Sums of 1 - t and of t over rows in places t: as many as there are rows, if shared between
        both ends of the bin by nearness.
    """

    negative: np.ndarray
    positive: np.ndarray
    near_low: np.ndarray
    near_high: np.ndarray


@dataclass(frozen=True, eq=False)
class CountsAndPlaces(BoundedQuery):
    """How many rows of either class are in each bin, and where in it both are.

    A row in the place t of its bin adds 1 to a count, and beside that `PART_OF_PLACE` times 1 - t
    and t. A record has so many rows at most.
    """

    n_bins: int
    mechanism: object
    rows_of_record: int = 1

    view = CELLS

    @staticmethod
    def size_of(n_bins):
        """Return how many numbers an answer has."""
        return len(BinnedScores._fields) * n_bins

    @staticmethod
    def bound_of_rows(rows_of_record):
        """Return by how much so many rows move the answer at most: 1 - t and t are longest at 1."""
        return rows_of_record * math.hypot(1.0, tuned.PART_OF_PLACE)

    def record_bound(self, place):
        return self.bound_of_rows(self.rows_of_record)

    def pair_bound(self, place):
        # Records add no entries below 0: two of them are at right angles at most.
        return math.sqrt(2.0) * self.record_bound(place)

    def total(self, rows):
        class_and_bin = rows.bin + self.n_bins * rows.is_positive
        counts = np.bincount(class_and_bin, minlength=2 * self.n_bins)
        near_low, near_high = (
            tuned.PART_OF_PLACE * np.bincount(rows.bin, nearness, minlength=self.n_bins)
            for nearness in (1.0 - rows.place, rows.place)
        )
        return np.concatenate([counts, near_low, near_high])

    def by_bin(self, answer):
        """Return an answer as `BinnedScores`."""
        negative, positive, near_low, near_high = np.split(answer, len(BinnedScores._fields))
        part = tuned.PART_OF_PLACE
        return BinnedScores(negative, positive, near_low / part, near_high / part)


def place_scores(values, is_positive, n_bins):
    """Return `ScoredRows`, in bins of one width of the sigmoid of half a decision value."""
    position = n_bins * clip_scores(expit(0.5 * values), 0.0, 1.0)
    bins = np.minimum(position.astype(np.int64), n_bins - 1)
    place = np.rint((position - bins) * tuned.PLACES_IN_BIN) / tuned.PLACES_IN_BIN
    return ScoredRows(is_positive, bins, place)


def typical_values(scores, noise_std):
    """Return the decision value at the mean place of each bin, as far as noise tells.

    Beforehand the mean place is thought to be normal about the middle, with the variance of an even
    spread: a third, in units of half a width. `noise_std` is the noise of a count.
    """
    total = np.maximum(scores.negative + scores.positive, 0.0)
    variance = 2.0 * (noise_std / tuned.PART_OF_PLACE) ** 2
    # From -1 at the low end to 1 at the high one.
    place = total * (scores.near_high - scores.near_low)
    place /= np.maximum(total**2 + 3.0 * variance, tuned.LEAST_VARIANCE)
    place = np.clip(place, -tuned.FARTHEST_PLACE, tuned.FARTHEST_PLACE)
    n_bins = total.size
    return 2.0 * logit((np.arange(n_bins) + 0.5 + 0.5 * place) / n_bins)


def fit_sigmoid(negative, positive, values, noise_std):
    r"""Return the slope and offset that turn the decision values of bins into log-odds.

    In a bin of typical value v, :math:`r = a (1 - p) - c p` has the mean 0 where :math:`p =
    \sigma(s v + o)` is true, of the counts a of the positive and c of the negative class, and also
    with noise on them; its variance is :math:`(a + c) p (1 - p)` of the sample and
    :math:`((1 - p)^2 + p^2)` times that of the noise. The most likely s and o are those of normal
    r, and of the spread that they are thought to have beforehand. The slope is positive: the order
    of records stays.
    """
    total = np.maximum(negative + positive, 0.0)

    def cost(parameters):
        p = expit(math.exp(parameters[0]) * values + parameters[1])
        residual = positive * (1.0 - p) - negative * p
        variance = total * np.maximum(p * (1.0 - p), tuned.LEAST_VARIANCE) + tuned.LEAST_VARIANCE
        variance += noise_std**2 * ((1.0 - p) ** 2 + p**2)
        prior = (parameters[0] / tuned.LOG_SLOPE_SPREAD) ** 2
        prior += (parameters[1] / tuned.OFFSET_SPREAD) ** 2
        return 0.5 * (np.sum(residual**2 / variance + np.log(variance)) + prior)

    limits = 2 * [(-tuned.LARGEST_PARAMETER, tuned.LARGEST_PARAMETER)]
    minima = [minimize(cost, start, method="L-BFGS-B", bounds=limits) for start in tuned.STARTS]
    log_slope, offset = min(minima, key=lambda one: one.fun).x
    return math.exp(log_slope), float(offset)
