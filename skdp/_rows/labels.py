"""How numbers, dates, gaps and other words are printed, so that what differs looks different."""

import numpy as np

from skdp._rows.naming import number_in_words

MISSING, INFREQUENT = "missing", "infrequent"
# Digits that tell all floats apart.
_MOST_DIGITS = 17
# Numbers with fewer digits before the point are written without a power of ten.
_LARGEST_WRITTEN_OUT = 1e15
# Units of time that dates are printed in, the coarsest first. Microseconds of days farther from
# 1970 than these don't fit into 64 bits.
_UNITS, _MICROSECONDS_OF_DAY, _MOST_DAYS = ("D", "m", "s", "us"), 86_400_000_000, 1e8


def texts_apart(numbers, holds_dates=False):
    """Return numbers in few digits, and in as many more as tell different ones apart.

    Numbers that are days since 1970 are dates, with their time where days don't tell them apart.
    """
    numbers = [float(number) for number in numbers]
    n_different = len(set(numbers))
    ways = [map(_in_short, numbers)]
    ways += [(_in_digits(number, n) for number in numbers) for n in range(5, _MOST_DIGITS + 1)]
    if holds_dates and all(abs(number) < _MOST_DAYS for number in numbers):
        ways = [_dates(as_moments(numbers), unit) for unit in _UNITS] + ways[-1:]
    for texts in map(list, ways):
        if len(set(texts)) >= n_different:
            break
    return texts


def as_moments(days):
    """Return days since 1970 as datetime64, NaT where they aren't finite or too far from then."""
    days = np.asarray(days, dtype=np.float64)
    steps = np.where(np.abs(days) < _MOST_DAYS, days, 0.0) * _MICROSECONDS_OF_DAY
    moments = np.rint(steps).astype(np.int64).astype("datetime64[us]")
    return np.where(np.abs(days) < _MOST_DAYS, moments, np.datetime64("NaT", "us"))


def _in_short(number):
    return number_in_words(float(f"{number:.4g}")) if abs(number) < 1e5 else f"{number:.6g}"


def _in_digits(number, n_digits):
    """Return a number in so many digits; whole ones are written out, as 1000000020 is."""
    text = f"{number:.{n_digits}g}"
    is_long = "e+" in text and abs(number) < _LARGEST_WRITTEN_OUT
    return number_in_words(float(text)) if is_long else text


def _dates(moments, unit):
    texts = np.datetime_as_string(moments.astype(f"datetime64[{unit}]")).tolist()
    return [text.replace("T", " ") for text in texts]


def label_beside(label, words):
    """Return a label that is none of these words: in brackets, if it is one of them."""
    while label in words:
        label = f"({label})"
    return label
