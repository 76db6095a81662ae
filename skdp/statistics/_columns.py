"""What is known of a table's columns by noisy counts and sums, with intervals.

An interval is a low and a high end for what the table itself says, without the noise: it has the
level that its `z` gives, of standard deviations of normal noise.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from skdp._rows.labels import MISSING, texts_apart
from skdp.preprocessing.table._bins import bin_edges, numbers_at
from skdp.preprocessing.table._given import CountedWords
from skdp.statistics import _tuned as tuned
from skdp.statistics._bars import bars_of_numbers, bars_of_words

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_SMALLEST_HALF = 1e-100
# Shares of records that differ by less are taken for equal.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Counts:
    """Noisy counts of all records, each in one of the parts: they were made to add up to these.

    `noise` is the standard deviation of each before.
    """

    values: np.ndarray
    noise: float

    @classmethod
    def of(cls, released, n_records, noise):
        """Share out evenly what the released counts lack to all records."""
        return cls(released + (n_records - released.sum()) / released.size, noise)

    def within(self, z, values=None, squares=1.0, totals=1.0):
        """Return sums of weighted counts, of all counts unless given, with low and high ends.

        `squares` and `totals` are the sums of the squared weights and of the weights.
        """
        values = self.values if values is None else values
        margin = z * self.std(squares, totals)
        return np.clip([values, values - margin, values + margin], 0.0, self.values.sum())

    def gaps(self, place, z):
        """Return by name the count that is in a place, and that of all others."""
        gaps = self.within(z)[:, place]
        return {"count": self.values.sum() - gaps[[0, 2, 1]], "gaps": gaps}

    def std(self, squares=1.0, totals=1.0):
        """Return the noise of sums of counts by such weights."""
        return self.noise * np.sqrt(np.maximum(squares - totals**2 / self.values.size, 0.0))


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """The bins of a column of numbers, and its moments in the range of these.

    `shown` are the counts that stand out of the noise, `low` and `high` the range of the numbers
    that they show, and `moments` sums of t and ``1 - t**2`` with their noise, t being the place in
    the range. Numbers may be days since 1970, which are given as dates.
    """

    holds_words: ClassVar = False

    name: str
    ends: np.ndarray
    counts: Counts
    shown: np.ndarray
    low: float
    high: float
    moments: tuple = ()
    holds_dates: bool = False

    @classmethod
    def of(cls, name, histogram, n_records, holds_dates=False):
        """Take a column's released counts, whose last is of gaps."""
        shown, noise = histogram.shown, histogram.noise
        shown[-1] = 0.0
        shown, low, high = _find_range(histogram.ends, shown, noise)
        counts = Counts.of(histogram.counts, n_records, noise)
        return cls(name, histogram.ends, counts, shown, low, high, holds_dates=holds_dates)

    def __setstate__(self, state):
        # In files of skdp 0.3.0 the range is that of all bins.
        ends = state["ends"]
        low, high = (float(ends[0]), float(ends[-1])) if ends.size else (0.0, 0.0)
        vars(self).update({"low": low, "high": high} | state)

    @property
    def is_seen(self):
        """Whether anything of the column stands out of the noise."""
        return self.ends.size > 0 and self.shown.any()

    @property
    def middle_and_half(self):
        """The middle and half the width of the range, to which numbers are cut for means."""
        middle = 0.5 * self.low + 0.5 * self.high
        return middle, max(0.5 * self.high - 0.5 * self.low, _SMALLEST_HALF)

    @property
    def cuts(self):
        """Numbers that cut the column into ranges that hold like shares of it, about."""
        if not self.is_seen:
            return np.zeros(1)
        shares = np.arange(1, tuned.MOST_RANGES) / tuned.MOST_RANGES
        cuts = numbers_at(self.ends, self.shown, shares)
        return cuts[: max(np.searchsorted(cuts, self.ends[-1]), 1)]

    def statistics(self, z, z_of_two):
        """Return by name a value with its interval; `z_of_two` is for intervals that are joint.

        The value is NaN where the noise hides it. Then the interval tells what is known.
        """
        statistics, (middle, half) = self.counts.gaps(-1, z), self.middle_and_half
        if not self.is_seen:
            return statistics
        beyond, noise = self._entries_beyond()
        largest_share_beyond = (max(beyond, 0.0) + noise) / max(self.counts.values[:-1].sum(), 1.0)
        # A single number has no width, and its deviation is 0 if no others are seen.
        has_width = self.high > self.low
        half *= has_width
        mean, std = middle + half * self._ratio(0, z, -1.0), half * self._spread(z_of_two)
        if largest_share_beyond > tuned.MOST_BEYOND["mean"]:
            mean[0] = np.nan
        value, low, high = half * self._spread(tuned.DEVIATIONS_OF_STD)
        factor = tuned.LARGEST_ERROR_OF_STD
        is_loud = high > factor * value or value > factor * low
        if largest_share_beyond > tuned.MOST_BEYOND["std"] or is_loud:
            std[0] = np.nan
        if not has_width and beyond > noise:
            std[:] = np.nan, 0.0, np.inf
        statistics |= {"mean": mean, "std": std, "cut_low": (self.low,), "cut_high": (self.high,)}
        return statistics | {f"{100 * share:g}%": self._quantile(share, z) for share in QUANTILES}

    def _entries_beyond(self):
        """Return how many entries lie beyond the range, and what noise may add to or hide of it."""
        left, right = bin_edges(self.ends)
        is_beyond = (left < self.low) | (right > self.high)
        n_bins = np.count_nonzero(is_beyond)
        entries = float(self.counts.values[:-1][is_beyond].sum())
        return entries, tuned.DEVIATIONS_OF_BEYOND * float(self.counts.std(n_bins, n_bins))

    def _ratio(self, which, z, least):
        """Return a moment over the number of entries, with ends between `least` and 1.

        Noise is in both. The interval has the ratios r for which moment - r entries is as near to 0
        as its noise explains (Fieller).
        """
        total, noise = self.moments[0][which], z * self.moments[1]
        entries, of_entries = self.counts.values[:-1].sum(), z * self.counts.std()
        ends = np.array([least, 1.0])
        square = entries**2 - of_entries**2
        if entries > 0.0 and square > 0.0:
            root = math.sqrt(entries**2 * noise**2 + (total**2 - noise**2) * of_entries**2)
            ends = (total * entries + np.array([-root, root])) / square
        return np.clip([total / max(entries, 1.0), *ends], least, 1.0)

    def _spread(self, z):
        """Return the standard deviation in the range, by means of t and ``1 - t**2``."""
        (mean, *of_mean), (rest, low, high) = self._ratio(0, z, -1.0), self._ratio(1, z, 0.0)
        squares = np.square(of_mean)
        least = 0.0 if np.prod(of_mean) < 0.0 else squares.min()
        variances = [1.0 - rest - mean**2, 1.0 - high - squares.max(), 1.0 - low - least]
        return np.sqrt(np.maximum(variances, 0.0))

    def _quantile(self, share, z):
        """Return a quantile: it lies where a band of the distribution function has the share.

        It is NaN where the band doesn't tell how low or how high it is.
        """
        reached = np.cumsum(self.counts.values[:-1])
        n_below, n_bins = np.arange(1, reached.size + 1), reached.size
        # There are so many more entries up to a bin's end than the share.
        more = reached - share * reached[-1]
        squares = (1.0 - share) ** 2 * n_below + share**2 * (n_bins - n_below)
        margin = z * self.counts.std(squares, n_below - share * n_bins)
        slack = _ROUNDING * self.counts.values.sum()
        may_reach, falls_short = more + margin >= -slack, more - margin < -slack
        left, right = bin_edges(self.ends)
        low = left[np.argmax(may_reach) if may_reach.any() else n_bins - 1]
        high = right[min(np.flatnonzero(falls_short).max(initial=-1) + 1, n_bins - 1)]
        if np.isinf([low, high]).any():
            return np.nan, low, high
        return np.clip(*numbers_at(self.ends, self.shown, [share]), low, high), low, high

    def histogram(self, z):
        """Return the ends of bars and their counts, with low and high ends.

        Bars end where bins do, and have their upper end. The first and last have all that lies
        beyond them, too.
        """
        bars = np.zeros(1)
        if self.is_seen:
            shares = [tuned.SHARE_BEYOND_BARS, 1.0 - tuned.SHARE_BEYOND_BARS]
            outermost = numbers_at(self.ends, self.shown, shares)
            even, width = np.linspace(outermost[0], outermost[-1], tuned.MOST_BARS, retstep=True)
            bars = np.unique(self.ends[np.searchsorted(self.ends, even)])
            bars = bars[np.diff(bars, prepend=-np.inf) > 0.5 * width]
        stops = 2 * np.searchsorted(self.ends, bars, side="right")
        stops[-1] = self.counts.values.size - 1
        reached, n_bins = np.cumsum(self.counts.values), np.diff(stops, prepend=0)
        counts = np.diff(reached[stops - 1], prepend=0.0)
        first = 2.0 * bars[0] - bars[1] if bars.size > 1 else bars[0] - 1.0
        ends = np.append(first, bars) if self.is_seen else np.array([-np.inf, np.inf])
        return ends, *self.counts.within(z, counts, n_bins, n_bins)

    def bars(self, z):
        """Return the bars of a figure."""
        return bars_of_numbers(self, z)


def _find_range(ends, shown, noise):
    """Return counts that stand out without stray bins of noise, and the ends of their range."""
    if ends.size == 0 or not shown.any():
        return shown, 0.0, 0.0
    shown, (left, right) = shown.copy(), np.clip(bin_edges(ends), ends[0], ends[-1])
    reached = np.cumsum(shown[:-1])
    first, last = np.searchsorted(reached, np.multiply(tuned.MIDDLE_SHARES, reached[-1]))
    beside = tuned.PART_BESIDE_MIDDLE * (right[last] - left[first])
    low, high = left[first] - beside, right[last] + beside
    places = np.flatnonzero(shown[:-1])
    for far in (places[right[places] < low], places[left[places] > high][::-1]):
        # From the outermost on.
        n_bins = np.arange(1, far.size + 1)
        is_told = np.cumsum(shown[far]) > tuned.DEVIATIONS_OF_FAR_BINS * noise * np.sqrt(n_bins)
        shown[far[: np.argmax(is_told) if is_told.any() else far.size]] = 0.0
    places, near = np.flatnonzero(shown[:-1]), ends[(ends >= low) & (ends <= high)]
    low, high = near.min(initial=left[places[0]]), near.max(initial=right[places[-1]])
    return shown, float(low), float(high)


@dataclass(frozen=True, eq=False)
class RangesAxis:
    """A column of numbers in a crosstab: ranges between cuts, and gaps."""

    name: str
    feature: int
    cuts: np.ndarray
    holds_dates: bool = False

    @property
    def words(self):
        """Names of the ranges."""
        texts = texts_apart(self.cuts, self.holds_dates)
        between = [f"({a}, {b}]" for a, b in pairwise(texts)]
        return [f"<= {texts[0]}", *between, f"> {texts[-1]}", MISSING]

    def places(self, frame):
        """Return the range of each of a frame's rows."""
        x = frame.columns[self.feature]
        return np.where(np.isnan(x), self.cuts.size + 1, np.searchsorted(self.cuts, x))


@dataclass(frozen=True, eq=False)
class WordColumn:
    """The words of a column and how many records have each, gaps and all other words last.

    `words` are texts that differ, and `categories` the words themselves, with NaN for gaps.
    """

    holds_words: ClassVar = True
    holds_dates: ClassVar = False

    name: str
    words: list
    categories: list
    counts: Counts

    def statistics(self, z, _):
        """Return by name a value with its interval, and the most frequent word."""
        statistics = self.counts.gaps(-2, z)
        if len(self.words) > 2:
            top = int(np.argmax(self.counts.values[:-2]))
            statistics |= {"top": (self.words[top],), "freq": (self.counts.within(z)[0, top],)}
        return statistics

    def histogram(self, z):
        """Return the words and their counts, with low and high ends."""
        return self.words, *self.counts.within(z)

    def bars(self, z):
        """Return the bars of a figure."""
        return bars_of_words(self, z)

    def known_words(self):
        """Return the words that stand out of the noise with their counts, as a model takes them."""
        *of_words, of_gaps, of_others = np.maximum(self.counts.values, 0.0).tolist()
        words, least = self.categories[:-1], tuned.DEVIATIONS_OF_REST * self.counts.noise
        # A column of gaps alone has no other place, and of none there is no list.
        if of_gaps > least or not words:
            words, of_words = self.categories, [*of_words, of_gaps]
        return CountedWords(words, [*of_words, of_others if of_others > least else 0.0])
