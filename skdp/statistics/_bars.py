"""Bars of a figure: how many records have a word, a number, or a number in a range."""

import math
from dataclasses import dataclass

import numpy as np

from skdp._rows.labels import texts_apart
from skdp.preprocessing.table._bins import bin_edges, numbers_at
from skdp.statistics import _tuned as tuned

# Edges that are multiples of a width are rounded.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class ColumnBars:
    """The bars of a column, each with the ends of its interval.

    `kind` says what `places` are: "words", "numbers", one for each bar, or "ranges", which are the
    ends of bars of one width. "hidden" has none, because no number stands out of the noise. `gaps`
    is the number of missing entries with its ends where these stand out and have no bar, or None.
    `beyond` has a text and a count for each end beyond which numbers stand out that have no bar.
    """

    name: str
    kind: str
    places: object
    counts: np.ndarray
    low: np.ndarray
    high: np.ndarray
    gaps: tuple | None = None
    beyond: tuple = ()
    holds_dates: bool = False


def bars_of_numbers(column, z):
    """Return the bars of a column of numbers: at its numbers where they are few, or in ranges."""
    gaps = tuple(column.counts.gaps(-1, z)["gaps"].tolist())
    # A count whose interval reaches 0 may be noise.
    gaps = gaps if gaps[1] > 0.0 else None
    kind, places, counts = "hidden", np.zeros(0), np.zeros((3, 0))
    if column.is_seen:
        numbers = _few_numbers(column)
        if numbers is None:
            kind, (places, counts) = "ranges", _in_ranges(column, z)
        else:
            kind, places = "numbers", column.ends[numbers]
            counts = column.counts.within(z)[:, 2 * numbers + 1]
    return ColumnBars(
        name=column.name,
        kind=kind,
        places=places,
        counts=counts[0],
        low=counts[1],
        high=counts[2],
        gaps=gaps,
        beyond=_beyond(column) if column.is_seen else (),
        holds_dates=column.holds_dates,
    )


def bars_of_words(column, z):
    """Return the bars of a column of words, gaps and infrequent words last."""
    words, counts, low, high = column.histogram(z)
    return ColumnBars(
        name=column.name, kind="words", places=words, counts=counts, low=low, high=high
    )


def _few_numbers(column):
    """Return the places of ends at which all numbers between the outer ones are, or None."""
    at, between = column.shown[1:-1:2], column.shown[2:-2:2]
    numbers = np.flatnonzero(at > 0.0)
    is_few = 0 < numbers.size <= tuned.MOST_NUMBERS_WITH_BARS
    return numbers if is_few and not between.any() else None


def _beyond(column):
    """Return texts and counts of the numbers that stand out below the first end or above the last.

    Nobody knows how far out they are.
    """
    below, above = column.shown[0], column.shown[-2]
    first, last = texts_apart(column.ends[[0, -1]], column.holds_dates)
    sides = ((f"below {first}", below), (f"above {last}", above))
    return tuple((text, float(count)) for text, count in sides if count > 0.0)


def _in_ranges(column, z):
    """Return ends of ranges of one width, and how many entries lie in each, with low and high ends.

    A range has its lower end. What lies between two ends of bins is shared out evenly.
    """
    shares = [tuned.SHARE_BEYOND_BARS, 1.0 - tuned.SHARE_BEYOND_BARS]
    outermost = numbers_at(column.ends, column.shown, shares)
    low, high = float(outermost[0]), float(outermost[-1])
    if low == high:
        low, high = column.low, column.high
    width = _round_width((high - low) / tuned.MOST_BARS)
    inner = column.ends[(column.ends >= low) & (column.ends <= high)]
    if (inner == np.round(inner)).all():
        # Between whole numbers narrower bars would be empty.
        width = max(width, 1.0)
    first = math.floor(low / width + _ROUNDING)
    n_bars = math.floor(high / width + _ROUNDING) - first + 1
    ends = width * (first + np.arange(n_bars + 1))
    left, right = bin_edges(column.ends)
    weights = np.zeros((n_bars, left.size))
    is_number = left == right
    bar = np.floor(left[is_number] / width + _ROUNDING) - first
    bin_of_number = np.flatnonzero(is_number)
    is_inside = (bar >= 0) & (bar < n_bars)
    weights[bar[is_inside].astype(int), bin_of_number[is_inside]] = 1.0
    wide = np.flatnonzero(~is_number & np.isfinite(left) & np.isfinite(right))
    overlap = np.minimum.outer(ends[1:], right[wide]) - np.maximum.outer(ends[:-1], left[wide])
    weights[:, wide] = np.maximum(overlap, 0.0) / (right[wide] - left[wide])
    counts = weights @ column.counts.values[:-1]
    squares, totals = np.square(weights).sum(axis=1), weights.sum(axis=1)
    return ends, column.counts.within(z, counts, squares, totals)


def _round_width(least):
    """Return the smallest of 1, 2 and 5 times powers of ten that is no smaller."""
    if least <= 0.0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(f * power for f in (1.0, 2.0, 5.0, 10.0) if f * power >= least * (1.0 - _ROUNDING))
