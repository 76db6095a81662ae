"""Warnings of columns that are lost to a fit, which follow from released counts alone."""

from skdp._rows.columns import is_gap
from skdp._rows.entries import CLASSES, CODE, DATE, GAP, NUMBER, TEXT
from skdp._rows.kinds import holds_words
from skdp.exceptions import LostDataWarning, warn_user

# A column of numbers is lost if at most such a share of its gaps could be read. If at least so many
# times as much could, noise hides that once in 3e6 fits, by so many standard deviations.
_READ, _HEALTHY, _SURE = 0.1, 2.5, 5.0
# Numbers or dates among words are lost if such a share of what was read is in no word that was
# found.
_SCATTERED = 0.25
# Standard deviations of noise that a learnt count must exceed to say what a column holds.
_SHOWN = 4.0
_MOSTLY = {
    NUMBER: "numbers",
    DATE: "dates",
    CODE: "codes with a leading zero",
    TEXT: "text",
    GAP: "missing",
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


def warn_of_mixtures(given):
    """Warn of columns of numbers or dates, by a learnt kind, of which many are the other."""
    _warn_of_mixed(
        f"{given.names[j]!r} (with {_MOSTLY[tally.unsuited]} that count as missing)"
        for j, tally in enumerate(given.tallies)
        if tally is not None and tally.unsuited is not None and not holds_words(given.kinds[j])
    )


def _warn_of_mixed(texts):
    if mixed := ", ".join(texts):
        warn_user(_MIXED.format(mixed), LostDataWarning)


def warn_of_numbers(given, histograms):
    """Warn of columns of numbers, without knots, of which nearly nothing could be read."""
    each = zip(given.numeric, histograms, strict=True)
    if lost := [repr(given.names[j]) for j, found in each if is_unread(found.counts, found.noise)]:
        warn_user(_UNREAD.format(", ".join(lost)), LostDataWarning)


def is_unread(counts, noise):
    """Return whether released counts of bins, the last of gaps, show that a column has only gaps.

    `noise` is the standard deviation of each count. Of a column of which a fifth or more can be
    read, that is said with a probability of 3e-7 at most, whatever its counts are.
    """
    n_read, most = counts[:-1].sum(), _READ * counts[-1]
    return n_read <= most and _HEALTHY * most - n_read > _SURE * noise * len(counts) ** 0.5


def warn_of_words(given, found):
    """Warn of columns of words, without a list, of which no word was found, or numbers are lost.

    `found` has the words of each such column, and their counts.
    """
    each = list(zip(given.words, found, strict=True))
    if lost := [_described(given, j) for j, (words, _) in each if all(map(is_gap, words))]:
        warn_user(_NO_WORDS.format(", ".join(lost)), LostDataWarning)
    _warn_of_mixed(
        f"{given.names[j]!r} (mostly {_MOSTLY[given.tallies[j].unsuited]}, and so much text that "
        "all are read as words, many of which are infrequent)"
        for j, (words, counts) in each
        if _are_scattered(given.tallies[j], words, counts)
    )


def _are_scattered(tally, words, counts):
    """Return whether most entries are numbers or dates of which many aren't among the words."""
    if tally is None or tally.unsuited is None:
        return False
    n_known = sum(count for word, count in zip(words, counts, strict=True) if not is_gap(word))
    return n_known < (1.0 - _SCATTERED) * tally.counts[:-1].sum()


def _described(given, place):
    """Return the name of a column, and what it holds mostly where its kind was learnt."""
    name, tally = repr(given.names[place]), given.tallies[place]
    if tally is None or tally.counts.max() <= _SHOWN * tally.noise:
        return name
    return f"{name} (mostly {_MOSTLY[CLASSES[int(tally.counts.argmax())]]})"
