"""Queries to a raw table: how many records have which numbers, words and classes of entries."""

import math
from collections import Counter
from dataclasses import dataclass
from itertools import chain

import numpy as np

from skdp._release.mechanisms import GaussianMechanism
from skdp._rows.bounds import present_records
from skdp._rows.entries import CLASSES
from skdp._rows.frames import count_bins
from skdp._rows.naming import sort_categories
from skdp._rows.queries import TABLE, CountingQuery, Query


@dataclass(frozen=True, eq=False)
class CountsByBin(CountingQuery):
    """How many records are in each bin of columns of numbers, one after another: see `count_bins`.

    Numbers are clipped to the bounds of their column where these aren't None. For `part_grid` see
    `Frame.parts`. Of each column the counts are multiplied by one of `shares`.
    """

    places: list
    bounds: list
    ends: list
    part_grid: float
    shares: list
    mechanism: GaussianMechanism

    view = TABLE

    def record_bound(self, place):
        return math.sqrt(sum(share**2 for share in self.shares))

    def pair_bound(self, place):
        return math.sqrt(2.0) * self.record_bound(place)

    def total(self, frame):
        parts, columns = frame.parts(self.part_grid), map(frame.numbers, self.places)
        clipped = (
            x if b is None else np.clip(x, *b) for x, b in zip(columns, self.bounds, strict=True)
        )
        counted = zip(clipped, self.ends, self.shares, strict=True)
        return np.concatenate([count_bins(x, ends, parts) * share for x, ends, share in counted])

    def by_column(self, counts):
        """Return an answer by column."""
        return np.split(counts, np.cumsum([2 * ends.size + 2 for ends in self.ends])[:-1])


@dataclass(frozen=True, eq=False)
class CountsByClass(CountingQuery):
    """How many records have an entry of each of `CLASSES`, by column without a kind."""

    places: list
    mechanism: GaussianMechanism

    view = TABLE

    @property
    def n_histograms(self):
        return len(self.places)

    def total(self, frame):
        parts, n_classes = frame.parts(self.mechanism.grid), len(CLASSES)
        entries = (frame.columns[place] for place in self.places)
        classes = (frame.counted(column.classes[column.codes]) for column in entries)
        return np.array(
            [np.bincount(c, parts, minlength=n_classes).astype(np.float64) for c in classes]
        )

    def noisy(self, counts, release):
        return release(counts.ravel()).reshape(counts.shape)


@dataclass(frozen=True, eq=False)
class DistinctNumbers(Query):
    """The numbers that columns hold, each once, sorted; for fits without privacy."""

    places: list

    view, grid = TABLE, 0.0

    def total(self, frame):
        return [np.unique(x[~np.isnan(x)]) for x in map(frame.numbers, self.places)]

    def join(self, answers):
        return [np.unique(np.concatenate(columns)) for columns in zip(*answers, strict=True)]


@dataclass(frozen=True, eq=False)
class CountsOfNames(CountingQuery):
    """How many records are in each category of columns: an answer is a dict for each column.

    A record is in one category of each column at most. What leaves is, of each column, a list of
    categories, and an array with a noisy count for each. Of a column with a list in `listed` it is
    that, and what isn't in it isn't counted. Of others there is None in it: which categories they
    have is as private as the records, and those alone leave, sorted, whose noisy count is above the
    `threshold` (see `skdp.preprocessing._plan.plan_counts`).
    """

    listed: list
    threshold: float
    mechanism: GaussianMechanism

    # Answers of parts are put together in their order.
    grid = 0.0

    @property
    def n_histograms(self):
        return len(self.listed)

    def noisy(self, tables, release):
        names, counts = [], []
        for table, of_list in zip(tables, self.listed, strict=True):
            categories = sort_categories(table) if of_list is None else of_list
            names.append(categories)
            counts.append(np.array([table[category] for category in categories], dtype=np.float64))
        released = release(np.concatenate(counts))
        counted, first = [], 0
        for categories, of_list in zip(names, self.listed, strict=True):
            noisy_counts = released[first : first + len(categories)]
            first += len(categories)
            if of_list is None:
                shown = np.flatnonzero(noisy_counts > self.threshold)
                categories = [categories[place] for place in shown]
                noisy_counts = noisy_counts[shown]
            counted.append((categories, noisy_counts))
        return counted


@dataclass(frozen=True, eq=False)
class CountsByWord(CountsOfNames):
    """How many records have each word, by column: of a group the one of most rows."""

    places: list

    view = TABLE

    def total(self, frame):
        return [_count_words(frame, frame.columns[place]) for place in self.places]

    def join(self, answers):
        totals = [Counter() for _ in self.places]
        for total, counts in chain.from_iterable(
            zip(totals, part, strict=True) for part in answers
        ):
            for word, count in counts.items():
                total[_with_gap(word)] += count
        return totals


def _count_words(frame, column):
    codes = frame.counted(column.codes)
    if frame.groups is not None:
        codes = _most_frequent(codes, present_records(frame.groups), column.known)
    counts, total = np.bincount(codes, minlength=len(column.known)), Counter()
    for code in np.flatnonzero(counts):
        # A word that had two codes would not lose the records of one.
        total[column.known[code]] += int(counts[code])
    return total


def _most_frequent(codes, groups, known):
    """Return for each group the word that most of its rows have, of several the first by text."""
    ranks = {word: rank for rank, word in enumerate(sort_categories(known))}
    rank_of = np.array([ranks[word] for word in known])
    pairs = groups * len(known) + rank_of[codes]
    distinct_pairs, counts = np.unique(pairs, return_counts=True)
    group, rank = np.divmod(distinct_pairs, len(known))
    order = np.lexsort((rank, -counts, group))
    first = np.unique(group[order], return_index=True)[1]
    return np.argsort(rank_of)[rank[order[first]]]


def _with_gap(word):
    # A gap is found by identity, which it loses where it is sent or written.
    return np.nan if word != word else word
