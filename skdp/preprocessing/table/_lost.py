"""Warnings of columns that are lost to a fit, which follow from released counts alone."""

import numpy as np

from skdp._rows.entries import CLASSES, CODE_ENTRY, DATE_ENTRY, GAP_ENTRY, NUMBER_ENTRY, TEXT_ENTRY
from skdp._rows.gaps import is_gap
from skdp._rows.kinds import holds_words
from skdp.exceptions import LostDataWarning, warn_user
from skdp.preprocessing.table import _tuned as tuned

_MOSTLY = {
    NUMBER_ENTRY: "numbers",
    DATE_ENTRY: "dates",
    CODE_ENTRY: "codes with a leading zero",
    TEXT_ENTRY: "text",
    GAP_ENTRY: "missing",
}
_CONVERT = "text with a decimal comma by X[name].str.replace(',', '.').astype(float)"
_UNREAD = (
    "Nearly nothing in the columns {} could be read as numbers, by the counts that were released: "
    "what they hold is missing, or text. Numbers have a decimal point, and neither thousands "
    "separators nor units. Convert " + _CONVERT + ", and "
    "dates by pandas.to_datetime(X[name]), or leave the column out."
)
_NO_WORDS = (
    "No word stands out of the noise in the columns {}: nothing is learnt from them but gaps. "
    "Words that differ in nearly all rows are of no use: leave out ids and names. Text may also "
    "mean numbers or dates that can't be read as such: take units off, convert " + _CONVERT + ", "
    "and dates by pandas.to_datetime."
)
_MIXED = (
    "Columns without a type hold numbers or dates beside other entries, by the counts that were "
    "released: {}. Give dates as such, by pandas.to_datetime(X[name], errors='coerce'). Name a "
    "column in numeric_features to have all else in it count as missing, or in "
    "categorical_features if its words are meant."
)


_SET = (
    " Look at the parameters that name these columns, as they do nothing for a column of which "
    "nothing is read: {}."
)
_BEYOND = (
    "Nearly all that was read in the columns {} is at one end of feature_bounds or beyond it, by "
    "the counts that were released, and so nothing is learnt from them. Give bounds in the units "
    "of the column; those of a column of dates are dates."
)


def warn_of_mixtures(specs):
    """Warn of columns of numbers or dates, by a learnt kind, of which many are the other."""
    _warn_of_mixed(
        f"{specs.names[j]!r} (with {_MOSTLY[tally.unsuited]} that count as missing)"
        for j, tally in enumerate(specs.tallies)
        if tally is not None and tally.unsuited is not None and not holds_words(specs.kinds[j])
    )


def _warn_of_mixed(texts):
    if mixed := ", ".join(texts):
        warn_user(_MIXED.format(mixed), LostDataWarning)


def warn_of_numbers(specs, histograms):
    """Warn of columns of numbers, without knots, of which nearly nothing could be read."""
    lost = [
        j
        for j, histogram in zip(specs.numeric, histograms, strict=True)
        if is_unread(histogram.counts, histogram.noise)
    ]
    if lost:
        text = _UNREAD.format(", ".join(repr(specs.names[j]) for j in lost))
        warn_user(text + _settings_of(specs, lost), LostDataWarning)


def warn_of_bounds(specs, histograms, terms):
    """Warn of columns of numbers, without knots, that are constant as all are clipped to a bound.

    Such bounds may be of other units. There is no doubt of it by noise, see `is_unread`. `terms`
    are by place; one with a spike is no constant.
    """
    lost = [
        repr(specs.names[j])
        for (j, term), histogram in zip(terms.items(), histograms, strict=True)
        if term.bounds is not None
        and term.spike is None
        and term.knots.size == 1
        and term.knots[0] in term.bounds
        and _is_at(histogram, term.knots[0])
    ]
    if lost:
        warn_user(_BEYOND.format(", ".join(lost)), LostDataWarning)


def _is_at(histogram, number):
    """Return whether released counts show that nearly all numbers of a column are one."""
    places = 1 + 2 * np.flatnonzero(histogram.ends == number)
    if not places.size:
        return False
    of_numbers = histogram.counts[:-1]
    others = np.delete(of_numbers, places[0])
    return is_unread(np.append(others, of_numbers[places[0]]), histogram.noise)


def _settings_of(specs, lost):
    """Return a sentence on the parameters that name columns in these places, "" if none does."""
    named = [
        f"{name} ({', '.join(repr(specs.names[j]) for j in lost if name in specs.settings[j])})"
        for name in dict.fromkeys(name for j in lost for name in specs.settings[j])
    ]
    return _SET.format(", ".join(named)) if named else ""


def is_unread(counts, noise):
    """Return whether released counts of bins, the last of gaps, show that a column has only gaps.

    `noise` is the standard deviation of each count. Where a fifth or more of a column can be read,
    that is said with a probability of 3e-7 at most, whatever its counts are.
    """
    n_read, n_few = counts[:-1].sum(), tuned.READ_SHARE * counts[-1]
    margin = tuned.DEVIATIONS_OF_LOSS * noise * len(counts) ** 0.5
    return n_read <= n_few and tuned.HEALTHY_FACTOR * n_few - n_read > margin


def warn_of_words(specs, counted_words):
    """Warn of columns of words, without a list, in which no word was found, or numbers are lost.

    `counted_words` has the words of each such column, and their counts.
    """
    each = list(zip(specs.words, counted_words, strict=True))
    if lost := [j for j, (words, _) in each if all(map(is_gap, words))]:
        text = _NO_WORDS.format(", ".join(_described(specs, j) for j in lost))
        warn_user(text + _settings_of(specs, lost), LostDataWarning)
    _warn_of_mixed(
        f"{specs.names[j]!r} (mostly {_MOSTLY[specs.tallies[j].unsuited]}, and so much text that "
        "all are read as words, many of which are infrequent)"
        for j, (words, counts) in each
        if _are_scattered(specs.tallies[j], words, counts)
    )


def _are_scattered(tally, words, counts):
    """Return whether most entries are numbers or dates of which many aren't among the words."""
    if tally is None or tally.unsuited is None:
        return False
    n_known = sum(count for word, count in zip(words, counts, strict=True) if not is_gap(word))
    return n_known < (1.0 - tuned.SCATTERED_SHARE) * tally.counts[:-1].sum()


def _described(specs, place):
    """Return the name of a column, and what it holds mostly where its kind was learnt."""
    name, tally = repr(specs.names[place]), specs.tallies[place]
    if tally is None or tally.counts.max() <= tuned.SHOWN_CONTENT * tally.noise:
        return name
    return f"{name} (mostly {_MOSTLY[CLASSES[int(tally.counts.argmax())]]})"
