"""What a table's columns become: terms, learnt from noisy counts of their bins and words."""

import numpy as np

from skdp._rows.columns import as_array, is_gap
from skdp.exceptions import warn_user
from skdp.preprocessing._solver import release_counts, release_together
from skdp.preprocessing.table._bins import (
    coarse_ends,
    find_heavy,
    heavy_ends,
    middles,
    numbers_at,
    numbers_in,
    public_ends,
    show_counts,
    split_bins,
)
from skdp.preprocessing.table._terms import HatsTerm, LineTerm, WordsTerm

# Standard deviations of noise that counts must exceed to be taken for any, by stage.
_SHOWN = {"coarse": 4.0, "middle": 3.0, "fine": 4.0}
# The same for gaps to have a column of their own, and for rare words to be there at all.
_SHOWN_GAPS, _SHOWN_RARE = 4.0, 4.0
# A number that holds such a share of a column is a spike, if the rest is more than so many standard
# deviations of noise. Where few numbers hold all but such a share of the rest, there are no others.
_SPIKE, _REST, _BETWEEN = 0.25, 10.0, 0.1
# Shares of the records beyond the outermost knots, and beyond each end of a line.
_BEYOND, _BEYOND_LINE = 0.002, 0.005
_LOST = (
    "No word stands out of the noise in the columns {}: nothing is learnt from them but gaps. "
    "Words that differ in nearly all rows, such as ids, names and dates, are of no use. Leave them "
    "out, and give dates as numbers: days since one."
)


def learn_table(frame, given, *, plan, noise, n_there):
    """Return a term for each column of a table, in their order.

    Parameters
    ----------
    frame : Frame
        Or what else has its `bins`, `words` and `distinct`.
    given : Given
    plan : TablePlan
    noise : stream or None
        None where nothing is to be learnt.
    n_there : int or None
        How many records the frame has, None if that isn't public: then rare words aren't counted.
    """
    terms = {}
    for j, (knots, categories) in enumerate(zip(given.knots, given.categories, strict=True)):
        if knots is not None:
            shape = LineTerm if plan.basis == "linear" else HatsTerm
            terms[j] = shape(name=given.names[j], feature=j, knots=knots, has_gap=True)
        if categories is not None:
            terms[j] = WordsTerm(
                name=given.names[j],
                feature=j,
                categories=as_array(categories),
                counts=given.counts[j],
            )
    terms |= _learn_numbers(frame, given, plan, noise) if given.numeric else {}
    terms |= find_words(frame, given, plan, noise, n_there) if given.words else {}
    return tuple(terms[j] for j in range(len(given.names)))


def find_words(frame, given, plan, noise, n_there):
    """Return a term for each column of words without a list, by its place; see `learn_table`."""
    tables = frame.words(given.words)
    found = release_counts(tables, [None] * len(tables), plan=plan, noise=noise)
    terms, noise = {}, plan.mechanisms["counts"].noise_std
    each = zip(given.words, found, strict=True)
    if lost := [repr(given.names[j]) for j, (words, _) in each if all(map(is_gap, words))]:
        warn_user(_LOST.format(", ".join(lost)))
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


def _learn_numbers(frame, given, plan, noise):
    histograms, least = find_bins(frame, given, plan, noise)
    return {
        j: _make_term(given.names[j], j, *histogram, least, given.bounds[j], plan)
        for j, histogram in zip(given.numeric, histograms, strict=True)
    }


def find_bins(frame, given, plan, noise):
    """Return ends and counts of the bins of columns without knots, and the noise of a count."""
    find = _release_bins if plan.budget.is_private else _exact_bins
    return find(frame, given, plan, noise)


def _exact_bins(frame, given, plan, noise):
    """Return what `_release_bins` does without noise, of bins at all numbers that there are."""
    ends, mechanism = frame.distinct(given.numeric), plan.mechanisms["fine"]
    exact = frame.bins(given.numeric, [None] * len(ends), ends, mechanism.grid)
    return list(zip(ends, release_together(exact, mechanism, noise), strict=True)), 0.0


def _release_bins(frame, given, plan, noise):
    """Release ever finer counts, and return the last by column with their ends, and their noise."""
    bounds = [given.bounds[j] for j in given.numeric]
    ends = [coarse_ends() if b is None else public_ends(*b) for b in bounds]

    def release(stage, places):
        chosen = ([of_all[k] for k in places] for of_all in (given.numeric, bounds, ends))
        mechanism = plan.mechanisms[stage]
        return release_together(frame.bins(*chosen, mechanism.grid), mechanism, noise)

    located = [k for k, b in enumerate(bounds) if b is None]
    for stage, following in (("coarse", "middle"), ("middle", "fine")):
        places = located if stage == "coarse" else range(len(ends))
        if stage in plan.mechanisms:
            least = _SHOWN[stage] * plan.mechanisms[stage].noise_std
            for k, counts in zip(places, release(stage, places), strict=True):
                shown = show_counts(ends[k], counts, least)
                of_bin = plan.least_of_bin(following)
                finer = split_bins(ends[k], shown, of_bin)
                sharper = heavy_ends(ends[k], shown, of_bin) if following == "fine" else finer
                ends[k] = np.union1d(finer, sharper)
    counts = release("fine", range(len(ends)))
    return list(zip(ends, counts, strict=True)), plan.mechanisms["fine"].noise_std


def show_fine(ends, counts, noise):
    """Return the last counts of a column where they stand out of noise so large, elsewhere 0."""
    return show_counts(ends, counts, _SHOWN["fine"] * noise)


def _make_term(name, feature, ends, counts, noise, bounds, plan):
    """Return the term of a column of numbers by counts whose noise is so large."""
    shown = show_fine(ends, counts, noise)
    shown[-1] = max(counts[-1], 0.0)
    is_kept = np.append(shown[:-1] > 0.0, True)
    fields = {
        "name": name,
        "feature": feature,
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
    place = _largest(shown)
    others = shown.sum() - shown[place]
    if others <= _REST * noise:
        return HatsTerm(knots=numbers_in(ends, [place]), **fields)
    if shown[place] >= _SPIKE * shown.sum() and _find_values(shown, max(n_knots, 2)) is None:
        fields["spike"], shown[place] = float(ends[place // 2]), 0.0
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
