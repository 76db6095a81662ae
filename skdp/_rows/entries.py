"""What one entry of a table is, and its value as a number, a day or a word.

All follows from the entry alone, so that no record decides how another is read.
"""

import datetime
import math
from decimal import Decimal
from numbers import Real

import numpy as np

from skdp._containers import remedy_for
from skdp._rows.columns import is_gap, number_in_words

# What an entry of a column without a type is: the first of these that it can be. A code is a text
# of digits that begins with 0, which a number would lose.
CLASSES = NUMBER, DATE, CODE, TEXT, GAP = "number", "date", "code", "text", "gap"
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
_TRUTH = {"true": 1.0, "false": 0.0}
_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)
_MICROSECONDS_OF_DAY = 8.64e10
# The types of pandas are subclasses of these, but for its periods.
_NUMBERS = (Real, np.bool_, Decimal)
_SPANS = (datetime.timedelta, np.timedelta64)
_DATES = (datetime.date, np.datetime64)
_PERIOD = "Period"
_UNREADABLE = "holds entries of type {}: {}"


class UnreadableEntryError(TypeError):
    """An entry has a type that can't be read; only that is named."""


def class_of(entry):
    """Return which of `CLASSES` an entry is.

    Raises
    ------
    UnreadableEntryError
        If its type can't be read.
    """
    if isinstance(entry, str):
        return _class_of_text(entry.strip())
    if is_gap(entry):
        return GAP
    if math.isfinite(as_number(entry)):
        return NUMBER
    if math.isfinite(as_day(entry)):
        return DATE
    _check_type(entry)
    return GAP


def _class_of_text(text):
    number = _number_in(text)
    if math.isfinite(number):
        return CODE if len(text) > 1 and text[0] == "0" and text.isdigit() else NUMBER
    # What isn't finite is a gap as a number is, whatever its type.
    if math.isinf(number) or is_gap_mark(text):
        return GAP
    return DATE if math.isfinite(_day_in(text)) else TEXT


def is_gap_mark(text):
    """Return whether a text stands for a gap, such as "?"."""
    return text.strip().casefold() in GAP_MARKS


def as_number(entry):
    """Return an entry as a float; NaN if it is neither a number nor the text of one.

    True and False are 1 and 0, and a span of time is a number of days. Of two zeros, which are
    equal, there is one, so that it doesn't matter which came first.
    """
    if isinstance(entry, str):
        return _number_in(entry.strip())
    try:
        if isinstance(entry, _SPANS):
            return _in_days(entry)
        return float(entry) + 0.0 if isinstance(entry, _NUMBERS) else np.nan
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _in_days(span):
    """Return a span of time as days; nothing finer than microseconds is kept, as in columns."""
    if isinstance(span, np.timedelta64):
        span = span.astype("timedelta64[us]")
        return np.nan if np.isnat(span) else span.astype(np.int64).item() / _MICROSECONDS_OF_DAY
    return span // _MICROSECOND / _MICROSECONDS_OF_DAY


def _number_in(text):
    try:
        # Python's own numbers may have underscores, which no table means.
        return np.nan if "_" in text else float(text) + 0.0
    except ValueError:
        return _TRUTH.get(text.casefold(), np.nan)


def as_day(entry):
    """Return a date as the days since 1970 began in UTC, or NaN if it is none, nor the text of one.

    A period is its first moment.
    """
    if isinstance(entry, str):
        return _day_in(entry.strip())
    try:
        if type(entry).__name__ == _PERIOD:
            entry = entry.start_time
        if isinstance(entry, np.datetime64):
            entry = entry.astype("datetime64[us]").item()
        if isinstance(entry, datetime.datetime):
            return _days_of(entry)
        if isinstance(entry, datetime.date):
            return float(entry.toordinal() - _EPOCH.toordinal())
    # pandas has moments of years that Python has not.
    except (TypeError, ValueError, OverflowError, NotImplementedError):
        pass
    return np.nan


def _days_of(moment):
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC)
    return _in_days(datetime.datetime.combine(moment.date(), moment.time()) - _EPOCH)


def _day_in(text):
    """Return the days of a text such as 2024-01-31 or 2024-01-31T12:30:00Z."""
    # Without the dash, a year and a number of the same digits would look alike.
    if text[4:5] != "-":
        return np.nan
    try:
        return _days_of(datetime.datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return np.nan


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
    if isinstance(entry, str):
        return str(entry)
    if isinstance(entry, (bool, np.bool_)):
        return str(bool(entry))
    number = as_number(entry)
    if math.isfinite(number):
        return number_in_words(number)
    day = as_day(entry)
    if math.isfinite(day):
        return day_in_words(day)
    if not is_gap(entry):
        _check_type(entry)
    return np.nan


_SAME_WORDS = {"False": "0", "True": "1", "0": "False", "1": "True"}


def same_word(word):
    """Return the other word of False or True as a boolean and as a number, None for all others."""
    return _SAME_WORDS.get(word)


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


def _check_type(entry):
    if not isinstance(entry, (*_NUMBERS, *_SPANS, *_DATES)) and type(entry).__name__ != _PERIOD:
        name = type(entry).__name__
        raise UnreadableEntryError(_UNREADABLE.format(name, remedy_for(name)))
