"""The search for where the numbers of a column lie, by ever finer counts of bins."""

from dataclasses import dataclass

import numpy as np

from skdp.preprocessing.table import _tuned as tuned
from skdp.preprocessing.table._bins import (
    coarse_ends,
    find_narrow,
    heavy_ends,
    narrow_ends,
    outermost_edges,
    public_ends,
    show_counts,
    split_bins,
)


@dataclass(eq=False, kw_only=True)
class ColumnSearch:
    """A column of numbers, and the bins in which its entries are counted next.

    Counts are noisy, and `noise` is the standard deviation of each.

    Attributes
    ----------
    column : int
        The column's place in its table.
    bounds : pair of float or None
        Public bounds.
    ends : ndarray
        What the next bins lie between; see `skdp.preprocessing.table._bins`.
    coarse : ndarray
        The ends that the search began with.
    certain : pair of float
        The outermost edges of bins that hold something for certain. None do where the first is
        larger than the second.
    smaller : tuple of ndarray
        Ends of smaller bins, twice, if nearly all numbers lie in one bin; else empty.
    """

    column: int
    bounds: tuple | None
    ends: np.ndarray
    coarse: np.ndarray
    certain: tuple = (np.inf, -np.inf)
    smaller: tuple = ()

    @classmethod
    def begin(cls, column, bounds):
        """Return a search within public bounds, or among numbers of all sizes."""
        ends = coarse_ends() if bounds is None else public_ends(*bounds)
        return cls(column=column, bounds=bounds, ends=ends, coarse=ends)

    def learn_ranges(self, counts, noise, least_of_bin):
        """Leave out coarse bins that seem empty, and divide those that hold much.

        A finer bin is to hold `least_of_bin`.
        """
        self.certain = outermost_edges(self.ends, counts, tuned.CERTAIN_RANGES * noise)
        shown = show_counts(self.ends, counts, tuned.SHOWN_RANGES * noise)
        self.ends = split_bins(self.ends, shown, least_of_bin)

    def learn_first_counts(self, counts, noise, least_of_bin):
        """Do so again, and find numbers that many entries share, and narrow columns."""
        all_shown = show_counts(self.ends, counts, tuned.SHOWN_FIRST_COUNTS * noise)
        shown = self.hide_strays(counts, all_shown, tuned.SHOWN_FAR * noise)
        if all_shown[1:-2].any() and not shown[1:-2].any():
            # Without ends the column would be lost. What coarse bins hold is counted once more.
            is_within = (self.ends[0] <= self.coarse) & (self.coarse <= self.ends[-1])
            self.ends = self.coarse[is_within]
            return
        finer = split_bins(self.ends, shown, least_of_bin)
        heavy = heavy_ends(self.ends, shown, least_of_bin)
        narrow = find_narrow(self.ends, shown, least_of_bin)
        first_parts = np.empty(0)
        if narrow is not None:
            first_parts, *smaller = narrow_ends(narrow)
            self.smaller = tuple(smaller)
        self.ends = np.unique(np.concatenate([finer, heavy, first_parts]))

    def hide_strays(self, counts, shown, least):
        """Return shown counts, with 0 for outer bins that may be noise.

        Where coarse counts showed nothing, ends are dropped, and one wide bin lies across the gap:
        it holds some of the coarse ends. The m bins that are shown beyond it may all be noise if
        they add up to no more than ``least * sqrt(m)``, and if what bins hold for certain doesn't
        reach there. Then they and the wide bin become 0, and what they hold is in the open bin
        beyond the ends that remain.
        """
        kept = shown.copy()
        n_ends_within = np.searchsorted(self.coarse, self.ends[1:])
        n_ends_within -= np.searchsorted(self.coarse, self.ends[:-1], side="right")
        wide = np.flatnonzero(n_ends_within > 0)
        lowest, highest = self.certain
        for bins, is_above in ((wide[::-1], True), (wide, False)):
            for k in bins:
                place = 2 * k + 2
                beyond = slice(place + 1, kept.size - 1) if is_above else slice(place)
                is_certain = highest >= self.ends[k + 1] if is_above else lowest <= self.ends[k]
                counts_beyond = counts[beyond][kept[beyond] > 0.0]
                if is_certain or counts_beyond.sum() > least * np.sqrt(counts_beyond.size):
                    break
                kept[beyond] = kept[place] = 0.0
        return kept
