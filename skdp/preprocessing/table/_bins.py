"""Bins of numbers: how many entries lie between ends, or at one, and what follows from that.

Of sorted ends e_0 < ... < e_m there are the bins below e_0, at e_0, between e_0 and e_1, at e_1 and
so on to the one above e_m, and a last one for gaps. So values that many entries share, such as
whole numbers, are told from what lies beside them.
"""

import math

import numpy as np

# Numbers are told apart between 2^-128 and 2^128 in size.
_OCTAVES = 128
# Ends within public bounds, about.
_N_PUBLIC = 64
# The most bins between ends that are about as full as others, and the most parts of one.
_MOST_BINS, _MOST_PARTS = 128, 2**10


def coarse_ends():
    """Return all powers of two, of both signs, and 0."""
    powers = 2.0 ** np.arange(-_OCTAVES, _OCTAVES + 1)
    return np.concatenate([-powers[::-1], [0.0], powers])


def public_ends(low, high):
    """Return the multiples of a power of two within public bounds, and these."""
    step = 2.0 ** np.floor(np.log2(high - low) - np.log2(_N_PUBLIC))
    inner = np.arange(np.ceil(low / step), np.floor(high / step) + 1.0) * step
    return np.unique(np.concatenate([[low], inner[(low < inner) & (inner < high)], [high]]))


def count_bins(x, ends, parts=None):
    """Return how many entries, or parts of such, are in each bin of such ends, gaps in the last."""
    below = np.searchsorted(ends, x)
    is_end = np.append(ends, np.nan)[below] == x
    bins = np.where(np.isnan(x), 2 * ends.size + 1, 2 * below + is_end)
    return np.bincount(bins, parts, minlength=2 * ends.size + 2).astype(np.float64)


def split_bins(ends, counts, least):
    """Return finer ends, so that bins hold like shares of the counts, but no fewer than `least`.

    Bins between two ends are halved as often as their counts ask for. Empty ones are left, and ends
    between two of them are dropped.
    """
    between, at = counts[2:-3:2], counts[1:-1:2]
    share = max(between.sum() / _MOST_BINS, least)
    found = [ends[at > 0.0]]
    for place in np.flatnonzero(between > 0.0):
        parts = 2 ** int(np.ceil(np.log2(max(between[place] / share, 1.0))))
        found.append(np.linspace(ends[place], ends[place + 1], min(parts, _MOST_PARTS) + 1))
    return np.unique(np.concatenate(found))


def find_heavy(counts, n_parts):
    """Return which bins hold more than a part of so many of all entries, gaps left out."""
    return counts * n_parts > counts[:-1].sum()


def numbers_at(ends, counts, shares):
    """Return a number in each bin that given shares of the counts reach to, each number once."""
    reached = np.cumsum(counts[:-1])
    return numbers_in(ends, np.searchsorted(reached, np.asarray(shares) * reached[-1]))


def numbers_in(ends, bins):
    """Return a number in each of some bins, each number once: an end, or the shortest between.

    Where many entries are one number, that is often one of few digits.
    """
    found = []
    for place in bins:
        low, high = ends[max(place - 1, 0) // 2], ends[min(place // 2, ends.size - 1)]
        found.append(low if low == high else _shortest(float(low), float(high)))
    return np.unique(found)


def _shortest(low, high):
    """Return the number of the fewest digits between two, and of these the one in the middle."""
    middle, exponent = 0.5 * low + 0.5 * high, math.floor(math.log10(high - low)) + 1
    for power in range(exponent, exponent - 3, -1):
        number = float(f"{round(middle / 10.0**power)}e{power}")
        if low < number < high:
            return number
    return middle


def middles(ends):
    """Return a number in the middle of each bin, NaN for gaps."""
    if ends.size == 0:
        return np.array([0.0, np.nan])
    between = 0.5 * ends[:-1] + 0.5 * ends[1:]
    inner = np.stack([ends, np.append(between, ends[-1])], axis=1).ravel()
    return np.concatenate([ends[:1], inner, [np.nan]])
