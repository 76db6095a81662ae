"""Bins of numbers: how many entries lie between ends, or at one, and what follows from that.

Of sorted ends e_0 < ... < e_m there are the bins below e_0, at e_0, between e_0 and e_1, at e_1 and
so on to the one above e_m, and a last one for gaps. So values that many entries share, such as
whole numbers, are told from what lies beside them.
"""

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


def count_bins(x, ends):
    """Return how many entries are in each bin of such ends, gaps in the last."""
    below = np.searchsorted(ends, x)
    is_end = np.append(ends, np.nan)[below] == x
    bins = np.where(np.isnan(x), 2 * ends.size + 1, 2 * below + is_end)
    return np.bincount(bins, minlength=2 * ends.size + 2).astype(np.float64)


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


def find_shares(ends, counts, shares):
    """Return the numbers below which given shares of the counts lie, gaps left out.

    Entries between two ends are taken to be spread evenly, and those beyond all to be at an end.
    """
    # Each bin has two: where it begins and where it ends.
    starts = np.concatenate([ends[:1], np.repeat(ends, 2)])
    stops = np.concatenate([np.repeat(ends, 2), ends[-1:]])
    is_held = counts[:-1] > 0.0
    reached = np.cumsum(counts[:-1][is_held])
    places = np.stack([starts[is_held], stops[is_held]], axis=1).ravel()
    at = np.stack([np.append(0.0, reached[:-1]), reached], axis=1).ravel() / reached[-1]
    return np.interp(shares, at, places)


def middles(ends):
    """Return a number in each bin, NaN for gaps."""
    if ends.size == 0:
        return np.array([0.0, np.nan])
    between = 0.5 * ends[:-1] + 0.5 * ends[1:]
    inner = np.stack([ends, np.append(between, ends[-1])], axis=1).ravel()
    return np.concatenate([ends[:1], inner, [np.nan]])
