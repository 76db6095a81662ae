"""What a table's columns become: terms, learnt from noisy counts of their bins and words."""

from dataclasses import dataclass
from itertools import chain

import numpy as np
from scipy.special import ndtri

from skdp._rows.kinds import DATE
from skdp._rows.naming import as_array
from skdp.preprocessing._solver import release_counts, release_together
from skdp.preprocessing.table import _tuned as tuned
from skdp.preprocessing.table._bins import (
    coarse_ends,
    find_heavy,
    find_narrow,
    heavy_ends,
    middles,
    narrow_ends,
    numbers_at,
    numbers_in,
    public_ends,
    replace_bins,
    show_counts,
    split_bins,
)
from skdp.preprocessing.table._lost import warn_of_numbers, warn_of_words
from skdp.preprocessing.table._plan import COUNTS, FIRST_COUNTS, RANGES, WORDS
from skdp.preprocessing.table._terms import HatsTerm, LineTerm, WordsTerm

# So many standard deviations of noise must counts exceed to be taken for any, by what is released.
_SHOWN = {
    RANGES: tuned.SHOWN_RANGES,
    FIRST_COUNTS: tuned.SHOWN_FIRST_COUNTS,
    COUNTS: tuned.SHOWN_COUNTS,
}


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


def learn_table(frame, given, *, plan, run, n_there):
    """Return a term for each column of a table, in their order.

    Parameters
    ----------
    frame : Frame
        Or what else has its `bins`, `words` and `distinct`.
    given : Given
    plan : TablePlan
    run : Run or None
        None where nothing is to be learnt.
    n_there : int or None
        How many records the frame has, None if that isn't public: then rare words aren't counted.
    """
    terms = {}
    for j, (knots, categories) in enumerate(zip(given.knots, given.categories, strict=True)):
        if knots is not None:
            shape = LineTerm if plan.basis == "linear" else HatsTerm
            terms[j] = shape(
                name=given.names[j],
                feature=j,
                knots=knots,
                has_gap=True,
                holds_dates=given.kinds[j] == DATE,
            )
        if categories is not None:
            terms[j] = WordsTerm(
                name=given.names[j],
                feature=j,
                categories=as_array(categories),
                counts=given.counts[j],
            )
    terms |= _learn_numbers(frame, given, plan, run) if given.numeric else {}
    terms |= find_words(frame, given, plan, run, n_there) if given.words else {}
    return tuple(terms[j] for j in range(len(given.names)))


def find_words(frame, given, plan, run, n_there):
    """Return a term for each column of words without a list, by its place; see `learn_table`."""
    tables = frame.words(given.words)
    terms, noise = {}, run.mechanism(WORDS).noise_std
    counted_words = release_counts(tables, [None] * len(tables), plan=plan, run=run, name=WORDS)
    warn_of_words(given, counted_words)
    for j, (categories, counts) in zip(given.words, counted_words, strict=True):
        rare = 0.0 if n_there is None else n_there - counts.sum()
        # What is left has the noise of all counts.
        rare = rare if rare > tuned.SHOWN_RARE_WORDS * noise * len(counts) ** 0.5 else 0.0
        terms[j] = WordsTerm(
            name=given.names[j],
            feature=j,
            categories=as_array(categories),
            counts=np.append(counts, rare),
        )
    return terms


def _learn_numbers(frame, given, plan, run):
    return {
        j: _make_term(given, j, histogram, plan)
        for j, histogram in zip(given.numeric, find_bins(frame, given, plan, run), strict=True)
    }


def find_bins(frame, given, plan, run):
    """Return the histogram of each column without knots."""
    find = _release_bins if plan.budget.is_private else _exact_bins
    histograms = find(frame, given, plan, run)
    warn_of_numbers(given, histograms)
    return histograms


def _exact_bins(frame, given, plan, run):
    """Return what `_release_bins` does without noise, of bins at all numbers that there are."""
    ends, mechanism = frame.distinct(given.numeric), run.mechanism(COUNTS)
    exact = frame.bins(given.numeric, [None] * len(ends), ends, mechanism.grid)
    released = release_together(run, COUNTS, exact)
    return [Histogram(*bins, noise=0.0, least=0.0) for bins in zip(ends, released, strict=True)]


def _release_bins(frame, given, plan, run):
    """Release ever finer counts, and return the last by column."""
    bounds, narrow = [given.bounds[j] for j in given.numeric], {}
    ends = [coarse_ends() if b is None else public_ends(*b) for b in bounds]
    located = [k for k, b in enumerate(bounds) if b is None]
    for stage, following in ((RANGES, FIRST_COUNTS), (FIRST_COUNTS, COUNTS)):
        places = located if stage == RANGES else range(len(ends))
        if run.plans(stage):
            mechanism = run.mechanism(stage)
            columns = ([of_all[k] for k in places] for of_all in (given.numeric, bounds, ends))
            exact = frame.bins(*columns, mechanism.grid)
            released = release_together(run, stage, exact)
            for k, counts in zip(places, released, strict=True):
                shown = show_counts(ends[k], counts, _SHOWN[stage] * mechanism.noise_std)
                of_bin, is_last = plan.least_of_bin(following), following == COUNTS
                finer = split_bins(ends[k], shown, of_bin)
                sharper = heavy_ends(ends[k], shown, of_bin) if is_last else finer
                ends_of_narrow = find_narrow(ends[k], shown, of_bin) if is_last else None
                if ends_of_narrow is not None:
                    parts, *narrow[k] = narrow_ends(ends_of_narrow)
                    sharper = np.union1d(sharper, parts)
                ends[k] = np.union1d(finer, sharper)
    return _release_fine(frame, given.numeric, bounds, ends, narrow, run)


def _release_fine(frame, numeric, bounds, ends, narrow, run):
    """Release the last counts; where numbers are narrow, also those of smaller bins.

    A record that has a part in each of three bins moves the counts by no more than one that is
    whole in one bin (doc/theory/table.rst). So the noise is the same, and larger over such parts.
    """
    mechanism = run.mechanism(COUNTS)
    # Parts of people are whole numbers of sixteenths of steps then, so that sums stay exact.
    grid = mechanism.grid * tuned.SIXTEENTHS if narrow else mechanism.grid
    places = [*range(len(ends)), *(k for k, smaller in narrow.items() for _ in smaller)]
    all_ends = [*ends, *chain.from_iterable(narrow.values())]
    columns = ([of_all[k] for k in places] for of_all in (numeric, bounds))
    parts = [tuned.PART_OF_NARROW if k in narrow else 1.0 for k in places]
    exact = zip(frame.bins(*columns, all_ends, grid), parts, strict=True)
    released = release_together(run, COUNTS, [counts * part for counts, part in exact])
    bins = [(e, c / part) for e, c, part in zip(all_ends, released, parts, strict=True)]
    stds = [mechanism.noise_std / part for part in parts]
    least = [_SHOWN[COUNTS] * std for std in stds]
    for k, smaller in zip(places[len(ends) :], bins[len(ends) :], strict=True):
        bins[k] = replace_bins(*bins[k], *smaller, _least_of_all(smaller[1], stds[k]))
        least[k] = max(least[k], _least_of_all(bins[k][1], stds[k]))
    return [Histogram(*bins[k], noise=stds[k], least=least[k]) for k in range(len(ends))]


def _least_of_all(counts, std):
    """Return what none of so many counts exceeds by noise alone, but for a small chance."""
    return -float(ndtri(tuned.SHOWN_BY_CHANCE / counts.size)) * std


def _make_term(given, place, histogram, plan):
    """Return the term of the column of numbers in a place."""
    bounds = given.bounds[place]
    ends, counts, noise = histogram.ends, histogram.counts, histogram.noise
    shown = histogram.shown
    shown[-1] = max(counts[-1], 0.0)
    is_kept = np.append(shown[:-1] > 0.0, True)
    points, counts_of_points = middles(ends)[is_kept], shown[is_kept]
    shown[-1] = 0.0
    shape, knots, spike = _shape_of(ends, shown, bounds, noise, plan)
    return shape(
        name=given.names[place],
        feature=place,
        knots=knots,
        has_gap=bool(counts[-1] > tuned.SHOWN_GAPS * noise),
        spike=spike,
        holds_dates=given.kinds[place] == DATE,
        bounds=bounds if plan.budget.is_private else None,
        points=points,
        counts=counts_of_points,
    )


def _shape_of(ends, shown, bounds, noise, plan):
    """Return a term's class, its knots, and its spike or None, by counts that stand out of noise.

    Where nothing stands out, knots are at the bounds, if there are any.
    """
    if ends.size == 0 or not shown.any():
        knots = np.array([0.0] if bounds is None else bounds)
        return _line_or_hats(0, knots), knots, None
    n_knots = plan.knots_for(shown.sum())
    largest = _largest(shown)
    others = shown.sum() - shown[largest]
    if others <= tuned.LEAST_REST * noise:
        return HatsTerm, numbers_in(ends, [largest]), None
    spike = None
    is_large = shown[largest] >= tuned.SPIKE_SHARE * shown.sum()
    if is_large and _find_values(shown, max(n_knots, 2)) is None:
        spike, shown[largest] = float(ends[largest // 2]), 0.0
        n_knots = plan.knots_for(others)
    knots = _find_knots(ends, shown, n_knots)
    return _line_or_hats(n_knots, knots), knots, spike


def _line_or_hats(n_knots, knots):
    """Return the class of a term with such knots: there is no line through one knot."""
    return LineTerm if n_knots == 0 and knots.size == 2 else HatsTerm


def _largest(counts):
    """Return the fullest of the bins at an end."""
    return 1 + 2 * int(np.argmax(counts[1:-1:2]))


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
    return np.flatnonzero(is_value) if is_all and at_values.size <= n_knots else None


def _find_knots(ends, counts, n_knots):
    if n_knots == 0:
        return numbers_at(ends, counts, [tuned.SHARE_BEYOND_LINE, 1.0 - tuned.SHARE_BEYOND_LINE])
    values = _find_values(counts, n_knots)
    if values is not None:
        return numbers_in(ends, values)
    shares = np.linspace(0.0, 1.0, n_knots)
    shares[0], shares[-1] = tuned.SHARE_BEYOND_KNOTS, 1.0 - tuned.SHARE_BEYOND_KNOTS
    return numbers_at(ends, counts, shares)
