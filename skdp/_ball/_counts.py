"""From noisy counts by size to what stands out of the noise, quantiles, and sizes of columns."""

import math

import numpy as np
from scipy.special import ndtri

from skdp._ball import _tuned as tuned

# The middle of a bin of half an octave is this share of its end.
MIDDLE = 0.84


def quantile(counts, noise, bins, share):
    """Return what `seen_quantile` does, or the bins' unit: nothing else is known then."""
    length = seen_quantile(counts, noise, bins, share)
    return bins.unit if length is None else length


def seen_quantile(counts, noise, bins, share):
    """Return the upper end of the bin up to which a share of the records lies.

    Of the bins that don't stand out of the noise, only those near others that do are counted: the
    noise of all would add up. If none stands out, there is None.
    """
    places = np.flatnonzero(standing_out(counts[np.newaxis, np.newaxis], noise))
    if not places.size:
        return None
    first, last = max(places[0] - tuned.BINS_BESIDE, 0), places[-1] + tuned.BINS_BESIDE
    up_to = np.cumsum(np.asarray(counts[first : last + 1], dtype=float))
    return bins.end(first + int(np.argmax(up_to >= share * up_to.max())))


def sizes_of_columns(counts, noise, bins, of_zero, n_records):
    """Return a size for each column, which most of its entries other than 0 don't exceed.

    Returned, too, is the typical size of a column. Zeros don't count, so that a rare category, a
    column of a few ones, isn't taken for a narrow column. They are in the first bin. Where they are
    more than a few, the size is at least theirs, `of_zero`, as they may be far from the centre.
    """
    seen = _seen(counts, noise)
    up_to = np.cumsum(seen, axis=1)
    known = up_to[:, -1] > 0.0
    places = (up_to >= tuned.SHARE_IN_SIZE * up_to[:, -1:]).argmax(axis=1)
    sizes = np.array([bins.end(place) for place in places])
    # Where most entries are one number, their distance from the centre says little of the others.
    likely = np.where(_is_lopsided(seen, n_records), np.maximum(sizes, of_zero), sizes)
    typical = float(np.median(likely[known])) if known.any() else 1.0
    # Nothing is known of columns that are nearly always 0.
    sizes[~known] = typical
    few = (1.0 - tuned.SHARE_IN_SIZE) * counts.sum(axis=1)
    has_zeros = counts[:, 0] > np.maximum(few, loudest(noise, counts.size))
    return np.where(has_zeros, np.maximum(sizes, of_zero), sizes), typical


def sizes_in_units(counts, noise, bins, of_zero, n_records, noise_of_centre):
    """Return sizes of columns in units in which one column's size tells of another's.

    None is narrower than what noise may hide, or than the root mean square of what lies outside of
    the bin of most entries asks for.
    """
    sizes, typical = sizes_of_columns(counts, noise, bins, of_zero, n_records)
    loudness = min(1.0, noise / n_records / tuned.NOISE_OF_SMALLEST_SIZE)
    smallest = tuned.SMALLEST_SIZE * loudness**2
    seen = _seen(counts, noise)
    ends = np.array([bins.end(place) for place in range(bins.n_bins)])
    # Entries that aren't seen are taken to be as far from the centre as those of other columns.
    far = tuned.TYPICAL_ENTRY * typical
    distances = MIDDLE * ends / far
    of_most = distances[seen.argmax(axis=1)]
    is_moved = of_most > tuned.DEVIATIONS_OF_OTHERS * noise_of_centre / far
    squares = _hidden_shares(counts, noise, n_records, np.where(is_moved, of_most, 0.0))
    squares += np.where(ends > sizes[:, np.newaxis], seen, 0.0) @ distances**2 / n_records
    squares[~_is_lopsided(seen, n_records)] = 0.0
    return np.maximum(sizes, typical * np.maximum(smallest, np.sqrt(squares)))


def _seen(counts, noise):
    """Return the counts by column that stand out of the noise, 0 elsewhere and in the first bin."""
    seen = np.where(standing_out(counts[:, np.newaxis], noise)[:, 0], counts, 0.0)
    seen[:, 0] = 0.0
    return seen


def _is_lopsided(seen, n_records):
    """Tell of which columns one bin holds most entries, as no bin of a hill about 0 does."""
    return seen.max(axis=1) > tuned.MOST_IN_ONE_BIN * n_records


def _hidden_shares(counts, noise, n_records, balancing):
    """Return the share of each column's entries that are taken to be in bins that noise hides.

    It is the share that would balance the others about their mean, as far as counts agree: known
    are the bins that stand out of the noise, and those beside, and all have `n_records` together.
    """
    is_known = np.pad(standing_out(counts[:, np.newaxis], noise)[:, 0], [(0, 0), (1, 1)])
    is_known = is_known[:, :-2] | is_known[:, 1:-1] | is_known[:, 2:]
    unseen = 1.0 - np.where(is_known, counts, 0.0).sum(axis=1) / n_records
    doubt = tuned.DEVIATIONS_OF_OTHERS * noise / n_records * np.sqrt(is_known.sum(axis=1))
    least, most = (np.clip(unseen + part, 0.0, 1.0) for part in (-doubt, doubt))
    return np.clip(balancing, least, most)


def standing_out(counts, noise, by_chance=tuned.CHANCE_OF_NOISE):
    """Tell which counts, of shape (n, sides, n_bins), noise alone reaches only by a rare chance.

    There are three ways to stand out: alone; less far, beside a neighbour that does so, too, which
    is a bin of the next size or of the same size on the other side; and where none of the n does
    either, together with others in a row, on one side or on both.
    """
    is_loud = counts > loudest(noise, counts.size, by_chance)
    # A count has fewer than two pairs of neighbours.
    likely = counts > -noise * float(ndtri(math.sqrt(by_chance / (2.0 * counts.size))))
    beside = np.zeros_like(likely)
    beside[..., 1:] |= likely[..., :-1]
    beside[..., :-1] |= likely[..., 1:]
    if counts.shape[1] == 2:
        beside |= likely[:, ::-1]
    is_loud |= likely & beside
    for one in np.flatnonzero(~is_loud.any(axis=(1, 2))):
        is_loud[one] = _together(counts[one], noise, counts.size, by_chance)
    return is_loud


def _together(counts, noise, n_counts, by_chance):
    """Tell which bins in a row, on one side or both, stand out farthest; none if no row does."""
    n_sides, n_bins = counts.shape
    is_loudest = np.zeros(counts.shape, dtype=bool)
    parts = [slice(side, side + 1) for side in range(n_sides)]
    parts += [slice(0, 2)] if n_sides == 2 else []
    n_windows = len(tuned.WIDTHS_TOGETHER) * len(parts) * n_counts
    largest = loudest(noise, n_windows, by_chance)
    for part in parts:
        up_to = np.concatenate([[0.0], np.cumsum(counts[part].sum(axis=0))])
        for width in (1, *tuned.WIDTHS_TOGETHER):
            if width > n_bins:
                continue
            n_summed = width * (part.stop - part.start)
            loudness = (up_to[width:] - up_to[:-width]) / math.sqrt(n_summed)
            place = int(np.argmax(loudness))
            if loudness[place] > largest:
                largest = loudness[place]
                is_loudest[:] = False
                is_loudest[part, place : place + width] = True
    return is_loudest


def loudest(noise, n_counts, by_chance=tuned.CHANCE_OF_NOISE):
    """Return what the largest noise of so many counts exceeds only by a chance."""
    return -noise * float(ndtri(by_chance / n_counts))
