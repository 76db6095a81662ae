"""The curve that fits a column of numbers: its knots and its spike, by noisy counts of bins."""

from dataclasses import dataclass, replace

import numpy as np

from skdp.preprocessing.table import _tuned as tuned
from skdp.preprocessing.table._bins import (
    find_heavy,
    middles,
    numbers_at,
    numbers_in,
    show_counts,
)


@dataclass(frozen=True, eq=False)
class Histogram:
    """The last counts of a column of numbers, in bins with such ends.

    `noise` is the standard deviation of each, and what exceeds `least` stands out.
    """

    ends: np.ndarray
    counts: np.ndarray
    noise: float
    least: float

    @property
    def shown(self):
        """The counts that stand out of the noise, elsewhere 0; see `show_counts`."""
        return show_counts(self.ends, self.counts, self.least)


@dataclass(frozen=True, eq=False, kw_only=True)
class FoundShape:
    """A line through two knots, or hats on knots, and a spike or None.

    `points` are numbers of the column, gaps left out, and `counts` how many records are at each.
    """

    is_line: bool
    knots: np.ndarray
    spike: float | None
    points: np.ndarray
    counts: np.ndarray


def find_shape(histogram, *, bounds, n_there, plan):
    """Return the shape of a column, by counts that stand out of noise, and by how many don't.

    Where nothing stands out, knots are at the bounds, if there are any. `n_there` is how many
    records the column has, gaps included, or None if that isn't public.
    """
    ends, shown = histogram.ends, histogram.shown
    shown[-1] = 0.0
    if ends.size == 0 or not shown.any():
        knots = np.array([0.0] if bounds is None else bounds)
        return _shape_at(ends, shown, knots, is_line=knots.size == 2)
    n_knots, at_end = plan.knots_for(shown.sum()), 1 + 2 * int(np.argmax(shown[1:-1:2]))
    if shown.sum() - shown[at_end] <= tuned.LEAST_REST * histogram.noise:
        if shown[at_end] > 0.0:
            return _shape_beside(histogram, at_end, bounds, n_there)
        return _shape_across(histogram, int(np.argmax(shown)), shown, n_there, None)
    spike, curve = None, shown.copy()
    is_large = shown[at_end] >= tuned.SPIKE_SHARE * shown.sum()
    if is_large and _find_values(shown, max(n_knots, 2)) is None:
        spike, curve[at_end] = float(ends[at_end // 2]), 0.0
        n_knots = plan.knots_for(curve.sum())
    values = _find_values(curve, max(n_knots, 1))
    if values is not None and _are_in_one_bin(values):
        return _shape_across(histogram, int(values[0]), shown, n_there, spike)
    if n_knots == 0:
        shares = [tuned.SHARE_BEYOND_LINE, 1.0 - tuned.SHARE_BEYOND_LINE]
        knots = numbers_at(ends, curve, shares)
        return _shape_at(ends, shown, knots, spike, is_line=knots.size == 2)
    if values is None:
        shares = np.linspace(0.0, 1.0, n_knots)
        shares[0], shares[-1] = tuned.SHARE_BEYOND_KNOTS, 1.0 - tuned.SHARE_BEYOND_KNOTS
        return _shape_at(ends, shown, numbers_at(ends, curve, shares), spike)
    return _shape_on(histogram, values, shown, bounds, plan.most_knots, spike)


def _are_in_one_bin(values):
    """Return whether nearly all entries are in one bin, and not at an end."""
    return values.size == 1 and values[0] % 2 == 0


def _shape_at(ends, shown, knots, spike=None, *, is_line=False):
    """Return a shape whose points are in the bins that hold any."""
    is_kept = shown[:-1] > 0.0
    return FoundShape(
        is_line=is_line,
        knots=knots,
        spike=spike,
        points=middles(ends)[:-1][is_kept],
        counts=shown[:-1][is_kept],
    )


def _shape_beside(histogram, place, bounds, n_there):
    """Return the shape of a column of which no bin stands out, or hardly any, but one at an end.

    All that is known of the others is how many they are. If they are many enough, the one number is
    a spike.
    """
    rest = _rest_of(histogram, place, n_there)
    only, counts = numbers_in(histogram.ends, [place]), histogram.counts[[place]]
    if rest == 0.0:
        return FoundShape(is_line=False, knots=only, spike=None, points=only, counts=counts)
    other = np.array([_number_beside(histogram, place, bounds)])
    points, counts = np.append(only, other), np.append(counts, rest)
    return FoundShape(
        is_line=False, knots=other, spike=float(only[0]), points=points, counts=counts
    )


def _shape_across(histogram, place, shown, n_there, spike):
    """Return a line across the one bin between ends that stands out, or a constant.

    There is a line where others are many enough: these are on both sides, as far as is known.
    """
    ends, rest = histogram.ends, _rest_of(histogram, place, n_there)
    if rest == 0.0 or spike is not None or place in (0, shown.size - 2):
        return _shape_at(ends, shown, numbers_in(ends, [place]), spike)
    points = np.array([ends[place // 2 - 1], numbers_in(ends, [place])[0], ends[place // 2]])
    counts = np.array([0.5 * rest, shown[place], 0.5 * rest])
    return FoundShape(is_line=True, knots=points[[0, 2]], spike=None, points=points, counts=counts)


def _shape_on(histogram, values, shown, bounds, most_knots, spike):
    """Return hats on the bins of some values, and on what lies beyond them, if there is room.

    An open bin is no number, unless there are no others: what it holds lies beyond the outermost.
    """
    closed = values[(values > 0) & (values < shown.size - 2)]
    values = closed if closed.size else values
    room = most_knots - values.size
    knots, shown, points, counts = numbers_in(histogram.ends, values), shown.copy(), [], []
    for is_above in (True, False)[: max(room, 0)]:
        spot = _find_beyond(histogram, values, knots, bounds, is_above=is_above)
        if spot is not None:
            number, total, beyond = spot
            # The counts that stood out there are part of the total.
            shown[beyond] = 0.0
            points, counts = [*points, number], [*counts, total]
    shape = _shape_at(histogram.ends, shown, np.union1d(knots, points), spike)
    return replace(
        shape, points=np.append(shape.points, points), counts=np.append(shape.counts, counts)
    )


def _rest_of(histogram, place, n_there):
    """Return how many records are in no bin but one and that of gaps, 0 where noise may be all."""
    counts = histogram.counts
    if n_there is None:
        rest, n_counts = counts[:-1].sum() - counts[place], counts.size - 2
    else:
        rest, n_counts = n_there - counts[place] - counts[-1], 2
    return rest if rest > tuned.SHOWN_REST * histogram.noise * n_counts**0.5 else 0.0


def _number_beside(histogram, place, bounds):
    """Return a number in the fullest bin but the one at an end, as far as noise tells.

    It stands for all others: one hat is 1 wherever they are.
    """
    ends, others = histogram.ends, histogram.counts[:-1].copy()
    others[place] = -np.inf
    fullest = int(np.argmax(others))
    own = ends[place // 2]
    if fullest not in (0, others.size - 1):
        return float(numbers_in(ends, [fullest])[0])
    number = _beyond(ends[-1 if fullest else 0], own, is_above=fullest > 0)
    if bounds is not None and not bounds[0] <= number <= bounds[1]:
        number = bounds[1] if own == bounds[0] else bounds[0]
    return number


def _find_beyond(histogram, values, knots, bounds, *, is_above):
    """Return a number beyond the outermost of some values, how many records are there, and where.

    They may be in bins that don't stand out by themselves, such as the open one. None if there are
    none, as far as noise tells.
    """
    ends, counts = histogram.ends, histogram.counts
    first, stop = (values[-1] + 1, counts.size - 1) if is_above else (0, values[0])
    total = counts[first:stop].sum()
    if total <= tuned.SHOWN_REST * histogram.noise * (stop - first) ** 0.5:
        return None
    fullest = first + int(np.argmax(counts[first:stop]))
    last, before = (knots[-1], knots[-2:][0]) if is_above else (knots[0], knots[:2][-1])
    if fullest in (0, counts.size - 2):
        number = _beyond(last, before, is_above=is_above)
    else:
        number = float(numbers_in(ends, [fullest])[0])
    if bounds is not None:
        number = float(np.clip(number, *bounds))
    is_beyond = number > last if is_above else number < last
    return (number, total, slice(first, stop)) if is_beyond else None


def _beyond(last, before, *, is_above):
    """Return a number as far beyond the last as that is from the one before, or from 0."""
    step = float(abs(last - before) or abs(last) or 1.0)
    return float(last + step if is_above else last - step)


def _find_values(counts, n_knots):
    """Return the bins of numbers that hold nearly all entries, None if these are more than knots.

    Such are the bins at an end, and others that hold much.
    """
    is_value = find_heavy(counts, n_knots)
    is_value[1:-1:2] |= counts[1:-1:2] > 0.0
    at_values = counts[is_value]
    others = counts.sum() - at_values.max(initial=0.0)
    rest = at_values.sum() - at_values.max(initial=0.0)
    is_all = rest >= (1.0 - tuned.SHARE_BETWEEN) * others
    if not is_all or at_values.size > n_knots:
        return None
    return np.flatnonzero(is_value)
