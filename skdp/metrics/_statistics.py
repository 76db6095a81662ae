"""What noisy counts say: scores and their intervals. Nothing here sees a record.

A statistic takes the noisy shares of a grid's cells, and gives a score and the ends of its
interval: value, low and high. To first order the error of a score is its gradient times the error
of the shares, which is that of a multinomial sample plus noise of known variance: the interval has
both.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, xlogy

from skdp.metrics import _tuned as tuned


class Shares(NamedTuple):
    """Shares of the records in each cell, from noisy counts that add up to n but for the noise.

    Attributes
    ----------
    values : ndarray
        Unbiased, and so negative at times.
    n_rows : float
        How many rows were counted.
    noise_variance : float
        Of a share, before the shares were made to add up to 1.
    rows_per_group : int
        How many of them may be of one record; where it is more than 1, `n_rows` is an estimate.
    """

    values: np.ndarray
    n_rows: float
    noise_variance: float
    rows_per_group: int = 1

    @classmethod
    def of(cls, counts, n_rows, noise_std):
        """Return shares of counts, of which all cells together have `n_rows`.

        What is missing goes to all cells alike, which takes the noise of a sum of all cells away.
        """
        missing = (n_rows - counts.sum()) / counts.size
        return cls((counts + missing) / n_rows, n_rows, (noise_std / n_rows) ** 2)

    @classmethod
    def of_groups(cls, counts, n_groups, noise_std, rows_per_group):
        """Return shares of rows of groups, whose number is private and follows from the counts.

        Of each group one row is counted at least, and `rows_per_group` at most.
        """
        n_rows = float(np.clip(counts.sum(), n_groups, rows_per_group * n_groups))
        return cls.of(counts, n_rows, noise_std)._replace(rows_per_group=rows_per_group)

    @property
    def n_independent(self):
        """How many independent rows tell at least as much: those of a record may be all alike."""
        return self.n_rows / self.rows_per_group

    def variance(self, gradient):
        """Return the variance of a sum of shares times `gradient`, of sample and noise."""
        return self.of_sample(gradient) + self.of_noise(gradient)

    def of_sample(self, gradient):
        """Return the part of the variance that the sample has, at most."""
        mean = (self.values * gradient).sum()
        return max((self.values * gradient**2).sum() - mean**2, 0.0) / self.n_independent

    def of_noise(self, gradient):
        """Return the part of the variance that the noise has.

        The noise of a known sum is spread over all cells; shares of an estimated sum have its own.
        """
        if self.rows_per_group == 1:
            return self.noise_variance * ((gradient - gradient.mean()) ** 2).sum()
        mean = (self.values * gradient).sum()
        return self.noise_variance * ((gradient - mean) ** 2).sum()

    def of_classes(self):
        """Return the shares of the rows' classes, to divide by: of one record at least."""
        return np.maximum(self.values.sum(axis=1), 1.0 / self.n_rows)


def _within(value, variance, level, lowest, highest):
    """Return value, low and high within the range that a score may have."""
    # A variance that overflowed is as good as no knowledge.
    reach = _quantile(level) * math.sqrt(variance) if variance < math.inf else math.inf
    return tuple(np.clip([value, value - reach, value + reach], lowest, highest).tolist())


def _quantile(level):
    """Return how many standard deviations hold a share of a normal distribution."""
    return float(ndtri(0.5 + 0.5 * level))


def proportion_interval(share, size, noise_variance, level):
    """Return the ends of an interval for a proportion, by inverting its test (Wilson 1927).

    The variance is that of the proportion that is tested and not of the one that was seen, so that
    the interval holds at the ends, too: ``(share - p)^2 <= z^2 (p (1 - p) / size + noise)``.
    """
    squared = _quantile(level) ** 2
    widening = squared / size
    middle = (share + 0.5 * widening) / (1.0 + widening)
    constant = (share**2 - squared * noise_variance) / (1.0 + widening)
    reach = math.sqrt(max(middle**2 - constant, 0.0))
    return tuple(np.clip([middle - reach, middle + reach], 0.0, 1.0).tolist())


def accuracy(shares, *, is_right, level):
    """Give the share of cells that are right, which `is_right` marks."""
    # The noise of all cells that are right is in the sum, so that each cell needs a mark.
    is_right = np.broadcast_to(is_right, shares.values.shape)
    right = (shares.values * is_right).sum()
    ends = proportion_interval(right, shares.n_independent, shares.of_noise(is_right), level)
    return float(np.clip(right, 0.0, 1.0)), *ends


def balanced_accuracy(shares, *, is_right, level):
    """Give the mean of the classes' recalls, from cells by class of which some are right."""
    sizes = shares.of_classes()[:, np.newaxis]
    recall = (shares.values * is_right).sum(axis=1, keepdims=True) / sizes
    # For a class of very few records noise dominates, and would dominate the mean.
    recall = np.clip(recall, 0.0, 1.0)
    gradient = (is_right - recall) / (sizes * len(sizes))
    return _within(recall.mean(), shares.variance(gradient), level, 0.0, 1.0)


def of_label(shares, *, true, taken, labels, level):
    """Give the mean over labels of how many records are right, over a mean of two numbers.

    They are how many have the label, which counts `true`, and how many are taken for it, which
    counts `taken`: recall, precision, and half of each for F1. The cells are of a confusion matrix.
    """
    value, gradient = 0.0, np.zeros_like(shares.values)
    for label in labels:
        counts = np.zeros_like(shares.values)
        counts[label] += true
        counts[:, label] += taken
        size = max((shares.values * counts).sum(), 1.0 / shares.n_rows)
        # For a label of very few records noise dominates, and would dominate the mean.
        value_of_label = min(max(shares.values[label, label] / size, 0.0), 1.0)
        counts *= -value_of_label
        counts[label, label] += 1.0
        value += value_of_label / len(labels)
        gradient += counts / (size * len(labels))
    return _within(value, shares.variance(gradient), level, 0.0, 1.0)


def roc_auc(shares, *, level):
    """Give the area under the ROC curve, from bins of the score by class."""
    value, of_sample, of_noise, binning = _area(shares)
    return _within(value, of_sample + of_noise + binning**2, level, 0.0, 1.0)


def one_vs_rest_auc(*shares, level):
    """Give the mean of the areas of each class against the others, from a histogram for each.

    The areas have one sample, and how they vary together isn't known: their standard deviations
    add up, which is the most that they can. Noise is independent.
    """
    value, of_sample, of_noise, binning = np.array([_area(one) for one in shares]).T
    variance = np.sqrt(of_sample).mean() ** 2 + binning.mean() ** 2
    variance += of_noise.mean() / len(shares)
    return _within(value.mean(), variance, level, 0.0, 1.0)


def _area(shares):
    """Return the area, variances of its sample and noise, and a size of the bins' error.

    Of records in one bin nothing tells who is ahead. Half of the pairs would be right if both
    classes had flat densities there; sloping ones, told from the bins beside it, put a twelfth of
    the pairs between neighbouring bins on the same side again. Two fifths of what this comes to
    are taken for the standard deviation of the error that binning leaves.
    """
    negative, positive = shares.values
    n_negative, n_positive = shares.of_classes()
    n_bins = negative.size
    # Score of a positive record against a negative one, by the bins of both.
    slope = (np.eye(n_bins, k=-1) - np.eye(n_bins, k=1)) / 12.0
    weights = np.tri(n_bins, k=-1) + 0.5 * np.eye(n_bins) + slope
    value = positive @ weights @ negative / (n_positive * n_negative)
    of_negative = (positive @ weights / n_positive - value) / n_negative
    of_positive = (weights @ negative / n_negative - value) / n_positive
    gradient = np.stack([of_negative, of_positive])
    pairs = (shares.noise_variance / (n_positive * n_negative) * np.linalg.norm(weights)) ** 2
    binning = positive @ slope @ negative / (n_positive * n_negative)
    of_noise = shares.of_noise(gradient) + pairs
    return value, shares.of_sample(gradient), of_noise, abs(tuned.UNEVEN_PART * binning)


def negative_mean_loss(shares, *, largest, level):
    """Give minus the mean of losses that were rounded to the nodes of a public range."""
    losses = _graded_nodes(shares.values.size, largest)
    value = -(shares.values * losses).sum()
    return _within(value, shares.variance(-losses), level, -largest, 0.0)


def mean_difference(shares, *, largest, level):
    """Give the mean of differences that were rounded to nodes, as many below 0 as above.

    Of a few records the sample may have no variance at all: it is that of one record at least.
    """
    above = _graded_nodes(shares.values.size // 2 + 1, largest)
    nodes = np.concatenate([-above[:0:-1], above])
    value = (shares.values * nodes).sum()
    least = (largest / shares.n_independent) ** 2
    variance = max(shares.of_sample(nodes), least) + shares.of_noise(nodes)
    return _within(value, variance, level, -largest, largest)


def r2(shares, *, error_scale, level):
    """Give the coefficient of determination, from squared errors by targets, rounded to nodes.

    Targets are in units of their nodes; `error_scale` is the largest squared error in these.
    """
    n_errors, n_targets = shares.values.shape
    error = _graded_nodes(n_errors, error_scale)[:, np.newaxis]
    # Far from the middle squares would be large, and their noise.
    target = np.arange(n_targets) - 0.5 * (n_targets - 1)
    mean_error, mean = (shares.values * error).sum(), (shares.values * target).sum()
    # Rounding adds a quarter to a square.
    spread = (shares.values * target**2).sum() - 0.25 - mean**2
    gradient = target**2 - 2.0 * mean * target
    return _explained(shares, (mean_error, spread), (error, gradient), level)


def d2(shares, *, largest, targets, power, level):
    """Give the share of the deviance that is explained, from deviances by targets, at nodes.

    With f as below, the mean deviance of targets from their mean is twice what the mean of f is
    above f of the mean. At nodes the mean of f is too large: what it is too large by where targets
    lie evenly between two is taken off, and two fifths of that are taken for the standard deviation
    of the error that is left.
    """
    losses = _graded_nodes(len(shares.values), largest)[:, np.newaxis]
    if power > 1.0:
        f, slope = lambda t: -np.log(t), lambda t: -1.0 / t
        integral = targets - xlogy(targets, targets)
    else:
        f, slope = lambda t: xlogy(t, t), lambda t: 1.0 + np.log(t)
        integral = 0.5 * targets * xlogy(targets, targets) - 0.25 * targets**2
    ends = f(targets)
    excess = 0.5 * (ends[1:] + ends[:-1]) - np.diff(integral) / np.diff(targets)
    excess = 0.5 * (np.append(excess, 0.0) + np.append(0.0, excess))
    ends = ends - excess
    mean = np.clip((shares.values * targets).sum(), targets[1], targets[-1])
    null = 2.0 * ((shares.values * ends).sum() - f(mean))
    parts = (shares.values * losses).sum(), null
    gradients = losses, 2.0 * (ends - slope(mean) * targets)
    rounding = tuned.UNEVEN_PART * 2.0 * (shares.values * excess).sum()
    return _explained(shares, parts, gradients, level, rounding)


def _explained(shares, parts, gradients, level, rounding=0.0):
    """Give 1 less a loss over that of the mean, of which `parts` holds both.

    The interval has the ratios r for which loss - r null is as near to 0 as its error explains
    (Fieller 1954): it is long where the null is hardly told from 0. `rounding` is the standard
    deviation of an error of the null that is in neither sample nor noise.
    """
    loss, null = parts
    of_loss, of_null = np.broadcast_arrays(*gradients)
    squared, both = _quantile(level) ** 2, shares.variance(of_loss + of_null)
    both = 0.5 * (both - shares.variance(of_loss) - shares.variance(of_null))
    square = null**2 - squared * (shares.variance(of_null) + rounding**2)
    product = loss * null - squared * both
    constant = loss**2 - squared * shares.variance(of_loss)
    root = product + math.sqrt(max(product**2 - square * constant, 0.0))
    # Ends that overflowed are as good as no knowledge.
    low = 1.0 - root / square if null > 0.0 and square > 0.0 else -math.inf
    high = 1.0 - constant / root if constant > 0.0 else 1.0
    low, high = min(np.fmax(low, -math.inf), 1.0), np.fmin(high, 1.0)
    value = np.fmin(np.fmax(1.0 - loss / max(null, 1.0 / shares.n_rows), low), high)
    return float(value), float(low), float(high)


def _graded_nodes(size, largest):
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
    wanted = tuned.BINS_FACTOR * (n_rows / noise_std) ** 0.4 if noise_std else math.inf
    return round(np.clip(wanted, tuned.LEAST_BINS, tuned.MOST_BINS))


def auto_nodes(n_rows, noise_std):
    """Return a number of nodes for a mean.

    The noise of a mean grows with the root of their number, and what rounding adds to a sample's
    standard deviation falls with it.
    """
    variance = noise_std**2
    wanted = (n_rows / variance) ** (1.0 / 3.0) if variance else math.inf
    return round(np.clip(wanted, tuned.LEAST_NODES, tuned.MOST_NODES))
