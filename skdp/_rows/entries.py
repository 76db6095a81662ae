"""What one entry of a table is, and its value as a number, a day or a word.

All follows from the entry alone, so that no record decides how another is read.
"""

import datetime
import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from skdp._rows.containers import remedy_for
from skdp._rows.entry_types import BOOLEANS, GAPS_OF_PANDAS, NUMBERS, PERIOD_OF_PANDAS
from skdp._rows.naming import number_in_words

# An entry of a column without a type is the first of these that it can be. A code is a text of
# digits that begins with 0, which a number would lose.
NUMBER_ENTRY, DATE_ENTRY, CODE_ENTRY, TEXT_ENTRY, GAP_ENTRY = (
    "number",
    "date",
    "code",
    "text",
    "gap",
)
CLASSES = (NUMBER_ENTRY, DATE_ENTRY, CODE_ENTRY, TEXT_ENTRY, GAP_ENTRY)
# Texts that stand for a gap, in small letters.
GAP_MARKS = frozenset(
    (
        "",
        "?",
        "-",
        "--",
        ".",
        "*",
        "#n/a",
        "+nan",
        "-nan",
        "<na>",
        "n/a",
        "na",
        "nan",
        "nat",
        "none",
        "null",
    )
)
# The numbers that these words stand for, in small letters.
_NUMBERS_IN_LETTERS = {
    "true": 1.0,
    "false": 0.0,
    "inf": math.inf,
    "infinity": math.inf,
}
_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECONDS_OF_DAY = 86_400_000_000
_UNREADABLE = "holds entries of type {}: {}"


class UnreadableEntryError(TypeError):
    """An entry has a type that can't be read; only that is named."""


class _Family(NamedTuple):
    """Types of entries that are read alike, as a number and as a day."""

    is_text: bool = False
    is_boolean: bool = False
    number: Callable | None = None
    day: Callable | None = None


def class_of(entry):
    """Return which of `CLASSES` an entry is.

    Raises
    ------
    UnreadableEntryError
        If its type can't be read.
    """
    family = _readable(entry)
    if family.is_text:
        return _class_of_text(str.strip(entry))
    if math.isfinite(_value(entry, family.number)):
        return NUMBER_ENTRY
    return DATE_ENTRY if math.isfinite(_value(entry, family.day)) else GAP_ENTRY


def _class_of_text(text):
    number = _number_in(text)
    if math.isfinite(number):
        return CODE_ENTRY if len(text) > 1 and text[0] == "0" and text.isdigit() else NUMBER_ENTRY
    # Infinite and missing numbers are gaps, whatever their type.
    if math.isinf(number) or is_gap_mark(text):
        return GAP_ENTRY
    return DATE_ENTRY if math.isfinite(_day_in(text)) else TEXT_ENTRY


def is_gap_entry(entry):
    """Return whether an entry is a gap, or a text that stands for one."""
    return _family_of(type(entry)) is not None and class_of(entry) == GAP_ENTRY


def is_gap_mark(text):
    """Return whether a text stands for a gap, such as "?"."""
    return str.strip(text).casefold() in GAP_MARKS


def as_number(entry):
    """Return an entry as a float; NaN if it is neither a number nor the text of one.

    True and False are 1 and 0, and a span of time is a number of days. Of two zeros, which are
    equal, there is one, so that it doesn't matter which came first.
    """
    family = _family_of(type(entry))
    return np.nan if family is None else _value(entry, family.number)


def as_day(entry):
    """Return a date as the days since 1970 began in UTC, or NaN if it is none, nor the text of one.

    A period is its first moment.
    """
    family = _family_of(type(entry))
    return np.nan if family is None else _value(entry, family.day)


def are_dates(values):
    """Return whether any of a list is a date, or the text of one."""
    return any(math.isfinite(as_day(value)) for value in values)


def as_word(entry):
    """Return an entry as a text, or NaN for a gap; numbers of any type that are equal have one.

    Booleans are "False" and "True", as in text; `same_word` tells which numbers these are.

    Raises
    ------
    UnreadableEntryError
        If its type can't be read.
    """
    if type(entry) is str:
        return entry
    family = _readable(entry)
    if family.is_text:
        return plain_text(entry)
    if family.is_boolean:
        return str(bool(entry))
    number = _value(entry, family.number)
    if math.isfinite(number):
        return number_in_words(number)
    day = _value(entry, family.day)
    return day_in_words(day) if math.isfinite(day) else np.nan


def plain_text(text):
    """Return a text as what it holds, whatever its own type makes of it."""
    return str.__str__(text)


# Columns of booleans may come as numbers, and the other way round.
_BOOLEAN_OF_NUMBER = {"0": "False", "1": "True"}
_SAME_WORDS = _BOOLEAN_OF_NUMBER | {word: number for number, word in _BOOLEAN_OF_NUMBER.items()}


def same_word(word):
    """Return the other word of False or True as a boolean and as a number, None for all others."""
    return _SAME_WORDS.get(word)


def word_of_boolean(word):
    """Return the word of a boolean that is written as a number; all others stay."""
    return _BOOLEAN_OF_NUMBER.get(word, word)


def moment_of(day):
    """Return days since 1970 as a datetime, None if there is none."""
    try:
        return _EPOCH + datetime.timedelta(days=day)
    except OverflowError:
        # The last microseconds are rounded up to the day after them.
        return datetime.datetime.max if day == as_day(datetime.datetime.max) else None


def day_in_words(day):
    """Return days since 1970 as a date, with the time if there is one."""
    moment = moment_of(day)
    if moment is None:
        return number_in_words(day)
    return str(moment.date() if moment.time() == datetime.time() else moment)


def _value(entry, reader):
    """Return what a function makes of an entry, NaN where there is none, or none for this entry."""
    if reader is None:
        return np.nan
    try:
        return reader(entry)
    # pandas has moments of years that Python has not. Types of others may fail in any way, and what
    # they say may be the entry.
    except Exception:
        return np.nan


def _number_of_text(text):
    return _number_in(str.strip(text))


def _number_in(text):
    # Other letters would make an error, which takes Python longer than all else.
    if text[:1].isalpha():
        return _NUMBERS_IN_LETTERS.get(text.lower(), np.nan)
    try:
        # Python's own numbers may have underscores, which no table means.
        return np.nan if "_" in text else float(text) + 0.0
    except ValueError:
        return np.nan


def _number_of_number(number):
    return float(number) + 0.0


def _days_of_span(span):
    # Nothing finer than microseconds is kept.
    return _in_days(span.days, span.seconds * 1_000_000 + span.microseconds)


def _days_of_numpy_span(span):
    return days_of_microseconds(span.astype("timedelta64[us]")).item()


def days_of_microseconds(times):
    """Return times of NumPy, which count microseconds, as days; NaN for gaps."""
    days, rest = np.divmod(times.astype(np.int64), _MICROSECONDS_OF_DAY)
    return np.where(np.isnat(times), np.nan, _in_days(days, rest))


def _in_days(days, microseconds):
    """Return whole days and what is beyond them as floats, which `moment_of` turns back.

    A number of microseconds may be beyond the whole numbers that floats hold.
    """
    return days + microseconds / _MICROSECONDS_OF_DAY


def _day_of_text(text):
    return _day_in(str.strip(text))


def _day_in(text):
    """Return the days of a text such as 2024-01-31 or 2024-01-31T12:30:00Z."""
    # Without the dash, a year and a number of the same digits would look alike.
    if text[4:5] != "-":
        return np.nan
    try:
        return _day_of_moment(datetime.datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return np.nan


def _day_of_moment(moment):
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC)
    # pandas' own moments have nanoseconds.
    return _days_of_span(datetime.datetime.combine(moment.date(), moment.time()) - _EPOCH)


def _day_of_date(date):
    return float(date.toordinal() - _EPOCH.toordinal())


def _day_of_numpy_date(date):
    # Gaps, and years that Python doesn't have, are no dates. As microseconds they would be others.
    if not isinstance(date.astype("datetime64[Y]").item(), datetime.date):
        return np.nan
    return as_day(date.astype("datetime64[us]").item())


def _day_of_period(period):
    return _day_of_moment(period.start_time)


_GAPS = _Family()
# An entry is read as the first of these whose types it is an instance of. NumPy's spans of time
# come before numbers, because they are instances of whole numbers, too.
_FAMILIES = (
    (str, _Family(is_text=True, number=_number_of_text, day=_day_of_text)),
    (type(None), _GAPS),
    (BOOLEANS, _Family(is_boolean=True, number=_number_of_number)),
    (np.timedelta64, _Family(number=_days_of_numpy_span)),
    (datetime.timedelta, _Family(number=_days_of_span)),
    (NUMBERS, _Family(number=_number_of_number)),
    (datetime.datetime, _Family(day=_day_of_moment)),
    (datetime.date, _Family(day=_day_of_date)),
    (np.datetime64, _Family(day=_day_of_numpy_date)),
)
# Those of pandas, which needn't be installed, that are none of these, or not to be taken for it.
_FAMILIES_OF_PANDAS = {name: _GAPS for name in GAPS_OF_PANDAS}
_FAMILIES_OF_PANDAS[PERIOD_OF_PANDAS] = _Family(day=_day_of_period)


@functools.cache
def _family_of(entry_type):
    """Return the `_Family` of a type of entries, None if it can't be read."""
    if entry_type.__name__ in _FAMILIES_OF_PANDAS:
        return _FAMILIES_OF_PANDAS[entry_type.__name__]
    return next((family for types, family in _FAMILIES if issubclass(entry_type, types)), None)


def _readable(entry):
    family = _family_of(type(entry))
    if family is None:
        name = type(entry).__name__
        raise UnreadableEntryError(_UNREADABLE.format(name, remedy_for(name)))
    return family
