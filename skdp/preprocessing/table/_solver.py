"""What a table's columns become: terms, learnt from noisy counts of their bins and words."""

from dataclasses import dataclass
from itertools import chain

import numpy as np
from scipy.special import ndtri

from skdp._rows.columns import as_array
from skdp._rows.kinds import DATE
from skdp.preprocessing._solver import release_counts, release_together
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

# Standard deviations of noise that counts must exceed to be taken for any, by stage.
_SHOWN = {RANGES: 4.0, FIRST_COUNTS: 3.0, COUNTS: 4.0}
# The same for gaps to have a column of their own, and for rare words to be there at all.
_SHOWN_GAPS, _SHOWN_RARE = 4.0, 4.0
# Where numbers are narrow, a record has such a part in each of three bins, of three sizes: a whole
# number of sixteenths, whose square is less than a third. The chance that any bin shows that is
# noise: it may be very far from the others.
_SIXTEENTHS = 16.0
_PART_OF_NARROW, _SHOWN_BY_CHANCE = 9.0 / _SIXTEENTHS, 0.001
# A number that holds such a share of a column is a spike, if the rest is more than so many standard
# deviations of noise. Where few numbers hold all but such a share of the rest, there are no others.
_SPIKE, _REST, _BETWEEN = 0.25, 10.0, 0.1
# Shares of the records beyond the outermost knots, and beyond each end of a line.
_BEYOND, _BEYOND_LINE = 0.002, 0.005


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
    found = release_counts(tables, [None] * len(tables), plan=plan, run=run, name=WORDS)
    warn_of_words(given, found)
    for j, (categories, counts) in zip(given.words, found, strict=True):
        rare = 0.0 if n_there is None else n_there - counts.sum()
        # What is left has the noise of all counts.
        rare = rare if rare > _SHOWN_RARE * noise * len(counts) ** 0.5 else 0.0
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
                if is_last and (found := find_narrow(ends[k], shown, of_bin)) is not None:
                    parts, *narrow[k] = narrow_ends(found)
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
    grid = mechanism.grid * _SIXTEENTHS if narrow else mechanism.grid
    places = [*range(len(ends)), *(k for k, smaller in narrow.items() for _ in smaller)]
    all_ends = [*ends, *chain.from_iterable(narrow.values())]
    columns = ([of_all[k] for k in places] for of_all in (numeric, bounds))
    parts = [_PART_OF_NARROW if k in narrow else 1.0 for k in places]
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
    return -float(ndtri(_SHOWN_BY_CHANCE / counts.size)) * std


def _make_term(given, place, histogram, plan):
    """Return the term of the column of numbers in a place."""
    bounds = given.bounds[place]
    ends, counts, noise = histogram.ends, histogram.counts, histogram.noise
    shown = histogram.shown
    shown[-1] = max(counts[-1], 0.0)
    is_kept = np.append(shown[:-1] > 0.0, True)
    fields = {
        "name": given.names[place],
        "feature": place,
        "holds_dates": given.kinds[place] == DATE,
        "has_gap": bool(counts[-1] > _SHOWN_GAPS * noise),
        "points": middles(ends)[is_kept],
        "counts": shown[is_kept],
        "bounds": bounds if plan.budget.is_private else None,
    }
    shown[-1] = 0.0
    if ends.size == 0 or not shown.any():
        knots = np.array([0.0] if bounds is None else bounds)
        return _shape(0, knots)(knots=knots, **fields)
    n_knots = plan.knots_for(shown.sum())
    largest = _largest(shown)
    others = shown.sum() - shown[largest]
    if others <= _REST * noise:
        return HatsTerm(knots=numbers_in(ends, [largest]), **fields)
    if shown[largest] >= _SPIKE * shown.sum() and _find_values(shown, max(n_knots, 2)) is None:
        fields["spike"], shown[largest] = float(ends[largest // 2]), 0.0
        n_knots = plan.knots_for(others)
    knots = _find_knots(ends, shown, n_knots)
    return _shape(n_knots, knots)(knots=knots, **fields)


def _shape(n_knots, knots):
    """Return the class of a term with such knots: of one knot there is no line."""
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
    held = counts[is_value]
    others = counts.sum() - held.max(initial=0.0)
    is_all = held.sum() - held.max(initial=0.0) >= (1.0 - _BETWEEN) * others
    return np.flatnonzero(is_value) if is_all and held.size <= n_knots else None


def _find_knots(ends, counts, n_knots):
    if n_knots == 0:
        return numbers_at(ends, counts, [_BEYOND_LINE, 1.0 - _BEYOND_LINE])
    values = _find_values(counts, n_knots)
    if values is not None:
        return numbers_in(ends, values)
    shares = np.linspace(0.0, 1.0, n_knots)
    shares[0], shares[-1] = _BEYOND, 1.0 - _BEYOND
    return numbers_at(ends, counts, shares)
