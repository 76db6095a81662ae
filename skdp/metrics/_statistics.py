"""What noisy counts say: scores and their intervals. Nothing here sees a record.

A statistic says how a grid is laid out, by public numbers, and computes a score from the noisy
shares of its cells. To first order the error of a score is its gradient times the error of the
shares, which is that of a multinomial sample plus noise of known variance: the interval has both.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri


class Shares(NamedTuple):
    """Shares of the records in each cell, from noisy counts that add up to n but for the noise.

    Attributes
    ----------
    values : ndarray
        Unbiased, and so negative at times.
    n_rows : int
    noise_variance : float
        Of a share, before the shares were made to add up to 1.
    """

    values: np.ndarray
    n_rows: int
    noise_variance: float

    @classmethod
    def of(cls, counts, n_rows, noise_std):
        """Return shares of counts, of which all cells together have `n_rows`.

        What is missing goes to all cells alike, which takes the noise of a sum of all cells away.
        """
        missing = (n_rows - counts.sum()) / counts.size
        return cls((counts + missing) / n_rows, n_rows, (noise_std / n_rows) ** 2)

    def variance(self, gradient):
        """Return the variance of a sum of shares times `gradient`, of sample and noise."""
        return self.of_sample(gradient) + self.of_noise(gradient)

    def of_sample(self, gradient):
        """Return the part of the variance that the sample has."""
        mean = (self.values * gradient).sum()
        return max((self.values * gradient**2).sum() - mean**2, 0.0) / self.n_rows

    def of_noise(self, gradient):
        """Return the part of the variance that the noise has."""
        return self.noise_variance * ((gradient - gradient.mean()) ** 2).sum()


class Estimate(NamedTuple):
    """A score, the range that it may have, and the variance of its error."""

    value: float
    low: float
    high: float
    variance: float

    def interval(self, level):
        """Return value, low and high within the range that a score may have."""
        reach = quantile(level) * math.sqrt(self.variance)
        ends = self.value, self.value - reach, self.value + reach
        return tuple(float(np.clip(end, self.low, self.high)) for end in ends)


def quantile(level):
    """Return how many standard deviations hold a share of a normal distribution."""
    return float(ndtri(0.5 + 0.5 * level))


def proportion_interval(share, size, noise_variance, level):
    """Return the ends of an interval for a proportion, by inverting its test (Wilson 1927).

    The variance is that of the proportion that is tested and not of the one that was seen, so that
    the interval holds at the ends, too: ``(share - p)^2 <= z^2 (p (1 - p) / size + noise)``.
    """
    squared = quantile(level) ** 2
    widening = squared / size
    middle = (share + 0.5 * widening) / (1.0 + widening)
    constant = (share**2 - squared * noise_variance) / (1.0 + widening)
    reach = math.sqrt(max(middle**2 - constant, 0.0))
    return float(np.clip(middle - reach, 0.0, 1.0)), float(np.clip(middle + reach, 0.0, 1.0))


@dataclass(frozen=True)
class Accuracy:
    """Of two cells: wrong and right."""

    shape: tuple = (2,)

    def interval(self, shares, level):
        """Return value, low and high."""
        right = shares.values[1]
        # Right and wrong add up to 1, which halves the noise.
        low, high = proportion_interval(right, shares.n_rows, 0.5 * shares.noise_variance, level)
        return float(np.clip(right, 0.0, 1.0)), low, high


@dataclass(frozen=True)
class BalancedAccuracy:
    """The mean of the classes' recalls, from cells by class of wrong and right."""

    shape: tuple

    def interval(self, shares, level):
        """Return value, low and high."""
        sizes = at_least_one(shares.values.sum(axis=1), shares)
        recall = shares.values[:, 1] / sizes
        gradient = np.stack([-recall, 1.0 - recall], axis=1) / (sizes[:, np.newaxis] * len(sizes))
        estimate = Estimate(recall.mean(), 0.0, 1.0, shares.variance(gradient))
        return estimate.interval(level)


@dataclass(frozen=True)
class RocAuc:
    """The area under the ROC curve, from bins of the score by class.

    Of records in one bin nothing tells who is ahead. Half of the pairs would be right if both
    classes had flat densities there; sloping ones, told from the bins beside it, put a twelfth of
    the pairs between neighbouring bins on the same side again. Two fifths of what this comes to
    are taken for the standard deviation of the error that binning leaves.
    """

    shape: tuple

    def interval(self, shares, level):
        """Return value, low and high."""
        value, of_sample, of_noise, binning = self.parts(shares)
        return Estimate(value, 0.0, 1.0, of_sample + of_noise + binning**2).interval(level)

    def parts(self, shares):
        """Return the area, variances of its sample and noise, and a size of the bins' error."""
        negative, positive = shares.values
        n_negative, n_positive = at_least_one(shares.values.sum(axis=1), shares)
        ahead, slope = _pair_weights(self.shape[1])
        weights = ahead + slope
        value = positive @ weights @ negative / (n_positive * n_negative)
        gradient = np.stack(
            [
                (positive @ weights / n_positive - value) / n_negative,
                (weights @ negative / n_negative - value) / n_positive,
            ]
        )
        pairs = (shares.noise_variance / (n_positive * n_negative) * np.linalg.norm(weights)) ** 2
        binning = positive @ slope @ negative / (n_positive * n_negative)
        of_noise = shares.of_noise(gradient) + pairs
        return value, shares.of_sample(gradient), of_noise, abs(0.4 * binning)


@dataclass(frozen=True)
class OneVsRestAuc:
    """The mean of the areas of each class against the others, from a histogram for each.

    The areas have one sample, and how they vary together isn't known: their standard deviations
    add up, which is the most that they can. Noise is independent.
    """

    shape: tuple

    def interval(self, *shares, level):
        """Return value, low and high."""
        parts = np.array([RocAuc(self.shape).parts(one) for one in shares])
        value, of_sample, of_noise, binning = parts.T
        variance = np.sqrt(of_sample).mean() ** 2 + binning.mean() ** 2
        variance += of_noise.mean() / len(shares)
        return Estimate(value.mean(), 0.0, 1.0, variance).interval(level)


def _pair_weights(n_bins):
    """Return what a positive record gets over a negative one, by the bins of both, in two parts."""
    ahead = np.tri(n_bins, k=-1) + 0.5 * np.eye(n_bins)
    slope = (np.eye(n_bins, k=-1) - np.eye(n_bins, k=1)) / 12.0
    return ahead, slope


@dataclass(frozen=True)
class NegativeMeanLoss:
    """Minus the mean of losses that were rounded to the nodes of a public range."""

    shape: tuple
    largest: float

    def interval(self, shares, level):
        """Return value, low and high."""
        losses = graded_nodes(self.shape[0], self.largest)
        value = -(shares.values * losses).sum()
        return Estimate(value, -self.largest, 0.0, shares.variance(-losses)).interval(level)


@dataclass(frozen=True)
class R2:
    """The coefficient of determination, from squared errors by targets, both rounded to nodes.

    Targets are in units of their nodes; `error_scale` is the largest squared error in these.
    """

    shape: tuple
    error_scale: float

    def interval(self, shares, level):
        """Return value, low and high."""
        error = graded_nodes(self.shape[0], self.error_scale)[:, np.newaxis]
        # Far from the middle squares would be large, and their noise.
        target = np.arange(self.shape[1]) - 0.5 * (self.shape[1] - 1)
        mean_error, mean = (shares.values * error).sum(), (shares.values * target).sum()
        # The quarter is what rounding adds to a square.
        spread = (shares.values * target**2).sum() - 0.25 - mean**2
        spread = max(spread, 1.0 / shares.n_rows)
        value = 1.0 - mean_error / spread
        gradient = ((1.0 - value) * (target**2 - 2.0 * mean * target) - error) / spread
        return Estimate(value, -math.inf, 1.0, shares.variance(gradient)).interval(level)


def at_least_one(sizes, shares):
    """Return shares of classes that are divided by: those of one record at least."""
    return np.maximum(sizes, 1.0 / shares.n_rows)


def graded_nodes(size, largest):
    """Return nodes from 0 to `largest` that lie closer together near 0, where losses are."""
    return largest * (np.arange(size) / (size - 1.0)) ** 2


def graded_positions(fraction, size):
    """Return where fractions of the largest loss lie between the nodes, whose squares are even."""
    steps = np.sqrt(fraction) * (size - 1.0)
    below = np.minimum(np.floor(steps), size - 2.0)
    return below + (steps**2 - below**2) / (2.0 * below + 1.0)


def auto_bins(n_rows, noise_std):
    """Return a number of bins for an area under a curve.

    The noise of an area grows with the root of their number, and the error of binning falls with
    its square: with constants of usual scores, n / noise to the power of 2 / 5 balances them.
    """
    return _within(0.72 * (n_rows / noise_std) ** 0.4 if noise_std else math.inf, 4, 512)


def auto_nodes(n_rows, noise_std):
    """Return a number of nodes for a mean.

    The noise of a mean grows with the root of their number, and what rounding adds to a sample's
    standard deviation falls with it.
    """
    return _within((n_rows / noise_std**2) ** (1.0 / 3.0) if noise_std else math.inf, 3, 1024)


def _within(value, least, most):
    return round(min(max(value, least), most))
