"""What a table's columns become: terms, learnt from noisy counts of their bins and words."""

from itertools import chain

import numpy as np
from scipy.special import ndtri

from skdp._rows.kinds import DATE
from skdp._rows.naming import as_array
from skdp._rows.table_queries import CountsByBin, CountsByWord, DistinctNumbers
from skdp.preprocessing.table import _tuned as tuned
from skdp.preprocessing.table._bins import (
    coarse_ends,
    find_narrow,
    heavy_ends,
    hide_strays,
    narrow_ends,
    outermost_edges,
    public_ends,
    replace_bins,
    show_counts,
    split_bins,
)
from skdp.preprocessing.table._knots import Histogram, find_shape
from skdp.preprocessing.table._lost import warn_of_bounds, warn_of_numbers, warn_of_words
from skdp.preprocessing.table._plan import COUNTS, FIRST_COUNTS, RANGES, WORDS
from skdp.preprocessing.table._terms import HatsTerm, LineTerm, WordsTerm

# So many standard deviations of noise must counts exceed to be taken for any, by what is released.
_SHOWN = {
    RANGES: tuned.SHOWN_RANGES,
    FIRST_COUNTS: tuned.SHOWN_FIRST_COUNTS,
    COUNTS: tuned.SHOWN_COUNTS,
}


def learn_table(frame, specs, *, plan, run, n_there):
    """Return a term for each column of a table, in their order.

    Parameters
    ----------
    frame : Frame
        Or tables in partitions, which answer the same queries.
    specs : ColumnSpecs
    plan : TablePlan
    run : Run or None
        None where nothing is to be learnt.
    n_there : int or None
        How many records the frame has, None if that isn't public: then rare words aren't counted,
        and of numbers those alone that bins show.
    """
    terms = {}
    for j, (knots, categories) in enumerate(zip(specs.knots, specs.categories, strict=True)):
        if knots is not None:
            shape = LineTerm if plan.basis == "linear" else HatsTerm
            terms[j] = shape(
                name=specs.names[j],
                feature=j,
                knots=knots,
                has_gap=True,
                holds_dates=specs.kinds[j] == DATE,
            )
        if categories is not None:
            terms[j] = WordsTerm(
                name=specs.names[j],
                feature=j,
                categories=as_array(categories),
                counts=specs.counts[j],
            )
    terms |= _learn_numbers(frame, specs, plan, run, n_there) if specs.numeric else {}
    terms |= find_words(frame, specs, plan, run, n_there) if specs.words else {}
    return tuple(terms[j] for j in range(len(specs.names)))


def find_words(frame, specs, plan, run, n_there):
    """Return a term for each column of words without a list, by its place; see `learn_table`."""
    terms, mechanism = {}, run.mechanism(WORDS)
    hidden = tuned.SHOWN_RARE_WORDS * mechanism.noise_std
    query = CountsByWord([None] * len(specs.words), plan.threshold, mechanism, specs.words)
    counted_words = run.ask(WORDS, frame, query)
    warn_of_words(specs, counted_words)
    for j, (categories, counts) in zip(specs.words, counted_words, strict=True):
        rare = 0.0 if n_there is None else n_there - counts.sum()
        # The rest, a difference, has the noise of all counts.
        rare = rare if rare > hidden * len(counts) ** 0.5 else 0.0
        terms[j] = WordsTerm(
            name=specs.names[j],
            feature=j,
            categories=as_array(categories),
            counts=np.append(counts, rare),
        )
    return terms


def _learn_numbers(frame, specs, plan, run, n_there):
    histograms = find_bins(frame, specs, plan, run)
    terms = {
        j: _make_term(specs, j, histogram, plan, n_there)
        for j, histogram in zip(specs.numeric, histograms, strict=True)
    }
    warn_of_bounds(specs, histograms, terms)
    return terms


def find_bins(frame, specs, plan, run):
    """Return the histogram of each column without knots."""
    find = _release_bins if plan.budget.is_private else _exact_bins
    histograms = find(frame, specs, plan, run)
    warn_of_numbers(specs, histograms)
    return histograms


def _exact_bins(frame, specs, plan, run):
    """Return what `_release_bins` does without noise, of bins at all numbers that there are."""
    ends, mechanism = frame.ask(DistinctNumbers(specs.numeric)), run.mechanism(COUNTS)
    query = _counts_of_whole(specs.numeric, [None] * len(ends), ends, mechanism)
    released = query.by_column(run.ask(COUNTS, frame, query))
    return [Histogram(*bins, noise=0.0, least=0.0) for bins in zip(ends, released, strict=True)]


def _counts_of_whole(places, bounds, ends, mechanism):
    """Return a query to columns of numbers in which each record counts as one."""
    return CountsByBin(places, bounds, ends, mechanism.grid, [1.0] * len(places), mechanism)


def _release_bins(frame, specs, plan, run):
    """Release ever finer counts, and return the last by column."""
    bounds, narrow = [specs.bounds[j] for j in specs.numeric], {}
    coarse = [coarse_ends() if b is None else public_ends(*b) for b in bounds]
    ends, certain = coarse.copy(), [(np.inf, -np.inf)] * len(coarse)
    located = [k for k, b in enumerate(bounds) if b is None]
    for stage, following in ((RANGES, FIRST_COUNTS), (FIRST_COUNTS, COUNTS)):
        places = located if stage == RANGES else range(len(ends))
        if run.plans(stage):
            mechanism = run.mechanism(stage)
            columns = ([of_all[k] for k in places] for of_all in (specs.numeric, bounds, ends))
            query = _counts_of_whole(*columns, mechanism)
            released = query.by_column(run.ask(stage, frame, query))
            for k, counts in zip(places, released, strict=True):
                noise = mechanism.noise_std
                shown = show_counts(ends[k], counts, _SHOWN[stage] * noise)
                if stage == RANGES:
                    certain[k] = outermost_edges(ends[k], counts, tuned.CERTAIN_RANGES * noise)
                else:
                    least = tuned.SHOWN_FAR * noise
                    shown = hide_strays(ends[k], counts, shown, coarse[k], certain[k], least)
                of_bin, is_last = plan.least_of_bin(following), following == COUNTS
                finer = split_bins(ends[k], shown, of_bin)
                sharper = heavy_ends(ends[k], shown, of_bin) if is_last else finer
                ends_of_narrow = find_narrow(ends[k], shown, of_bin) if is_last else None
                if ends_of_narrow is not None:
                    parts, *narrow[k] = narrow_ends(ends_of_narrow)
                    sharper = np.union1d(sharper, parts)
                ends[k] = np.union1d(finer, sharper)
    return _release_fine(frame, specs.numeric, bounds, ends, narrow, run)


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
    query = CountsByBin(*columns, all_ends, grid, parts, mechanism)
    released = query.by_column(run.ask(COUNTS, frame, query))
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


def _make_term(specs, place, histogram, plan, n_there):
    """Return the term of the column of numbers in a place."""
    bounds = specs.bounds[place]
    shape = find_shape(histogram, bounds=bounds, n_there=n_there, plan=plan)
    has_gap = bool(histogram.counts[-1] > tuned.SHOWN_GAPS * histogram.noise)
    term_class = LineTerm if shape.is_line else HatsTerm
    return term_class(
        name=specs.names[place],
        feature=place,
        knots=shape.knots,
        has_gap=has_gap,
        spike=shape.spike,
        holds_dates=specs.kinds[place] == DATE,
        bounds=bounds if plan.budget.is_private else None,
        points=np.append(shape.points, np.nan),
        counts=np.append(shape.counts, max(histogram.counts[-1], 0.0)),
    )
