"""Bins of numbers: how many entries lie between ends, or at one, and what follows from that.

Of sorted ends e_0 < ... < e_m there are the bins below e_0, at e_0, between e_0 and e_1, at e_1 and
so on to the one above e_m, and a last one for gaps. So values that many entries share, such as
whole numbers, are told from what lies beside them.
"""

import math
from itertools import pairwise

import numpy as np

from skdp.preprocessing.table import _tuned as tuned

# Widths within this share of each other count as equal: ends that aren't multiples of a power of
# two are rounded. Real differences that are so small don't matter to what bins hold.
_ROUNDED_WIDTH = 0.01


def coarse_ends():
    """Return all powers of two, of both signs, and 0."""
    powers = 2.0 ** np.arange(-tuned.OCTAVES, tuned.OCTAVES + 1)
    return np.concatenate([-powers[::-1], [0.0], powers])


def public_ends(low, high):
    """Return the multiples of a power of two within public bounds, and these."""
    step = 2.0 ** np.floor(np.log2(high - low) - np.log2(tuned.N_PUBLIC_ENDS))
    inner = np.arange(np.ceil(low / step), np.floor(high / step) + 1.0) * step
    return np.unique(np.concatenate([[low], inner[(low < inner) & (inner < high)], [high]]))


def bin_edges(ends):
    """Return where each bin begins and where it ends, the one for gaps left out."""
    inner = np.repeat(ends, 2)
    return np.append(-np.inf, inner), np.append(inner, np.inf)


def split_bins(ends, counts, least):
    """Return finer ends, so that bins hold like shares of the counts, but no fewer than `least`.

    Bins between two ends are halved as often as their counts ask for. Empty ones are left, and ends
    between two of them are dropped.
    """
    between, at = counts[2:-3:2], counts[1:-1:2]
    share = max(between.sum() / tuned.MOST_BINS, least)
    finer = [ends[at > 0.0]]
    for place in np.flatnonzero(between > 0.0):
        parts = 2 ** int(np.ceil(np.log2(max(between[place] / share, 1.0))))
        finer.append(np.linspace(ends[place], ends[place + 1], min(parts, tuned.MOST_PARTS) + 1))
    return np.unique(np.concatenate(finer))


def heavy_ends(ends, counts, least):
    """Return many ends within each bin between two that holds much, as if it were one number.

    They are no more than leave the bin's parts together to stand out, if it isn't: the noise of n
    parts is the root of n times that of one, and `least` stands out of that.
    """
    between, finer = counts[2:-3:2], [np.empty(0)]
    for place in np.flatnonzero(find_heavy(counts, tuned.HEAVY_PARTS)[2:-3:2]):
        n_halvings = math.floor(2.0 * math.log2(max(between[place] / least, 1.0)))
        n_parts = min(2**n_halvings, tuned.SHARP_PARTS)
        finer.append(np.linspace(ends[place], ends[place + 1], n_parts + 1))
    return np.concatenate(finer)


def find_narrow(ends, counts, least):
    """Return the ends of the one bin, or two neighbours, that hold nearly all of a column, or None.

    There must be many bins: then numbers lie far from 0 over their width, or from public bounds.
    They must hold so much that as many bins of theirs would hold `least` each.
    """
    between = counts[2:-3:2]
    enough = max((1.0 - tuned.SHARE_ELSEWHERE) * between.sum(), tuned.MANY_BINS * least)
    for n_bins in (1, 2):
        if between.size >= n_bins * tuned.MANY_BINS:
            in_neighbours = np.convolve(between, np.ones(n_bins), mode="valid")
            place = int(np.argmax(in_neighbours))
            if in_neighbours[place] >= enough:
                return ends[place : place + n_bins + 1]
    return None


def narrow_ends(narrow):
    """Return ends within what `find_narrow` returned, thrice, each time more and those before."""
    return [
        np.unique(np.concatenate([np.linspace(*pair, n + 1) for pair in pairwise(narrow)]))
        for n in tuned.NARROW_PARTS
    ]


def replace_bins(ends, counts, small_ends, small_counts, least):
    """Return ends and counts in which small bins stand for the bins where some of them stand out.

    All ends in the range of the small ones must be among these. Where numbers are in many bins,
    none is replaced.
    """
    first, last = np.searchsorted(ends, small_ends[[0, -1]])
    places = np.searchsorted(small_ends, ends[first : last + 1])
    shown = show_counts(small_ends, small_counts, least, most_joined=tuned.MOST_JOINED)
    reached = np.cumsum(shown > 0.0)
    is_replaced = reached[2 * places[1:]] > reached[2 * places[:-1] + 1]
    if np.count_nonzero(is_replaced) > tuned.MOST_REPLACED:
        return ends, counts
    for place in np.flatnonzero(is_replaced)[::-1]:
        start, stop = places[place], places[place + 1]
        within, between = small_counts[2 * start + 2 : 2 * stop + 1], 2 * (first + place) + 2
        counts = np.concatenate([counts[:between], within, counts[between + 1 :]])
        ends = np.insert(ends, first + place + 1, small_ends[start + 1 : stop])
    return ends, counts


def show_counts(ends, counts, least, most_joined=tuned.MOST_PARTS):
    """Return counts that stand out of noise: more than `least`, or 0.

    Of bins between ends some that don't stand out may do so together, each with the end before it:
    neighbours of one width have like shares of what they hold.
    """
    shown = np.where(counts > least, counts, 0.0)
    hidden, inside = np.where(shown > 0.0, 0.0, counts), shown[2:-3:2]
    joint = hidden[1:-3:2] + hidden[2:-3:2]
    widths = np.diff(ends)
    is_first = np.abs(np.diff(widths)) > _ROUNDED_WIDTH * widths[1:]
    firsts = np.flatnonzero(np.append(True, is_first)[: inside.size])
    within = np.arange(inside.size) - np.repeat(firsts, np.diff(firsts, append=inside.size))
    n_joined = 2
    while n_joined <= most_joined:
        block = np.cumsum(within % n_joined == 0) - 1
        is_left = inside == 0.0
        joined = np.bincount(block, np.where(is_left, joint, 0.0))
        n_left = np.maximum(np.bincount(block, is_left), 1.0)
        share = np.where(joined > least * np.sqrt(2.0 * n_left), joined / n_left, 0.0)
        inside[is_left] = share[block][is_left]
        n_joined *= 2
    return shown


def outermost_edges(ends, counts, least):
    """Return the lowest and the highest edge of the bins whose counts are more than `least`."""
    is_more, (left, right) = counts[:-1] > least, bin_edges(ends)
    return left[is_more].min(initial=np.inf), right[is_more].max(initial=-np.inf)


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
    numbers = []
    for place in bins:
        low, high = ends[max(place - 1, 0) // 2], ends[min(place // 2, ends.size - 1)]
        numbers.append(low if low == high else _shortest(float(low), float(high)))
    return np.unique(numbers)


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
