"""What a table's columns become: terms, learnt from noisy counts of their bins and words."""

import numpy as np
from scipy.special import ndtri

from skdp._rows.kinds import DATE
from skdp._rows.naming import as_array
from skdp._rows.table_queries import CountsByBin, CountsByWord, DistinctNumbers
from skdp.preprocessing.table import _tuned as tuned
from skdp.preprocessing.table._bins import replace_bins
from skdp.preprocessing.table._knots import Histogram, find_shape
from skdp.preprocessing.table._lost import warn_of_bounds, warn_of_numbers, warn_of_words
from skdp.preprocessing.table._plan import COUNTS, FIRST_COUNTS, RANGES, WORDS
from skdp.preprocessing.table._search import ColumnSearch
from skdp.preprocessing.table._terms import HatsTerm, LineTerm, WordsTerm


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
    numbers = frame.ask(DistinctNumbers(specs.numeric))
    released = _release_histograms(
        COUNTS, specs.numeric, [None] * len(numbers), numbers, frame, run
    )
    return [
        Histogram(ends, counts, noise=0.0, least=0.0)
        for ends, counts in zip(numbers, released, strict=True)
    ]


def _release_histograms(stage, columns, bounds, ends, frame, run):
    """Release how many records are in each bin, and return that by column."""
    mechanism = run.mechanism(stage)
    query = CountsByBin(
        places=columns,
        bounds=bounds,
        ends=ends,
        part_grid=mechanism.grid,
        shares=[1.0] * len(columns),
        mechanism=mechanism,
    )
    return query.by_column(run.ask(stage, frame, query))


def _release_searched(stage, searches, frame, run):
    """Release how many records are in each bin that searches are at, and return that by column."""
    columns = [search.column for search in searches]
    bounds, ends = [search.bounds for search in searches], [search.ends for search in searches]
    return _release_histograms(stage, columns, bounds, ends, frame, run)


def _release_bins(frame, specs, plan, run):
    """Release ever finer counts, and return the last by column."""
    searches = [ColumnSearch.begin(column, specs.bounds[column]) for column in specs.numeric]
    located = [search for search in searches if search.bounds is None]
    if located:
        noise = run.mechanism(RANGES).noise_std
        released = _release_searched(RANGES, located, frame, run)
        for search, counts in zip(located, released, strict=True):
            search.learn_ranges(counts, noise, plan.least_of_bin(FIRST_COUNTS))
    noise = run.mechanism(FIRST_COUNTS).noise_std
    released = _release_searched(FIRST_COUNTS, searches, frame, run)
    for search, counts in zip(searches, released, strict=True):
        search.learn_first_counts(counts, noise, plan.least_of_bin(COUNTS))
    return _release_fine(searches, frame, run)


def _release_fine(searches, frame, run):
    """Release the last counts; where numbers are narrow, also those of smaller bins.

    A record that has a part in each of three bins moves the counts by no more than one that is
    whole in one bin (doc/theory/table.rst). So the noise is the same, and larger over such parts.
    """
    mechanism = run.mechanism(COUNTS)
    parts = [tuned.PART_OF_NARROW if search.smaller else 1.0 for search in searches]
    # Parts of people are whole numbers of sixteenths of steps then, so that sums stay exact.
    grid = mechanism.grid * (1.0 if min(parts) == 1.0 else tuned.SIXTEENTHS)
    counted = [(k, search.ends) for k, search in enumerate(searches)]
    counted += [(k, ends) for k, search in enumerate(searches) for ends in search.smaller]
    query = CountsByBin(
        places=[searches[k].column for k, _ in counted],
        bounds=[searches[k].bounds for k, _ in counted],
        ends=[ends for _, ends in counted],
        part_grid=grid,
        shares=[parts[k] for k, _ in counted],
        mechanism=mechanism,
    )
    released = query.by_column(run.ask(COUNTS, frame, query))
    bins = [[] for _ in searches]
    for (k, ends), counts in zip(counted, released, strict=True):
        bins[k].append((ends, counts / parts[k]))
    return [
        _join(of_column, mechanism.noise_std / part)
        for of_column, part in zip(bins, parts, strict=True)
    ]


def _join(bins, std):
    """Return the histogram of a column from its bins, the largest first, each with its counts."""
    (ends, counts), *smaller_bins = bins
    least = tuned.SHOWN_COUNTS * std
    for smaller_ends, smaller in smaller_bins:
        least_of_smaller = _least_of_all(smaller, std)
        ends, counts = replace_bins(ends, counts, smaller_ends, smaller, least_of_smaller)
        least = max(least, _least_of_all(counts, std))
    return Histogram(ends, counts, noise=std, least=least)


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
