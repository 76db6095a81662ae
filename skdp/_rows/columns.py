"""Gaps, and what numbers and strings are called and how they are sorted."""

import sys
from numbers import Real

import numpy as np

from skdp._sklearn import quietly

# Types of pandas, which needn't be installed, are known by their names.
GAP_TYPES = ("NAType", "NaTType")
DTYPES = [np.float64, np.float32]


def find_gaps(X, missing_values=np.nan):
    """Return where entries are missing; NaN stands for None and pandas' NA and NaT, too."""
    if not is_gap(missing_values):
        if X.dtype.kind == "f" and isinstance(missing_values, Real):
            # Rows of float32 hold the nearest float32 to this value, which may differ from it.
            with np.errstate(all="ignore"):
                missing_values = X.dtype.type(missing_values)
        return quietly(lambda: np.asarray(missing_values == X, dtype=bool) & np.ones(X.shape, bool))
    if X.dtype.kind == "f":
        return np.isnan(X)
    if X.dtype.kind != "O":
        return np.zeros(X.shape, dtype=bool)
    # Where a gap is compared, newer NumPy may warn: of the data.
    return quietly(lambda: np.frompyfunc(is_gap, 1, 1)(X).astype(bool))


def as_array(categories):
    """Return a list of categories as an array, whose type follows from them alone.

    So does its pickle: equal strings are one object, whatever records they came from.
    """
    if all(isinstance(value, float) for value in categories):
        return np.array(categories, dtype=np.float64)
    shared = [sys.intern(value) if isinstance(value, str) else value for value in categories]
    return np.array(shared, dtype=object)


def sort_categories(categories):
    """Return a sorted list: numbers, then strings, with what stands for a gap last."""
    return sorted(categories, key=lambda value: (value != value, isinstance(value, str), value))


def make_unique(names):
    """Return names as a list, those that occurred before with underscores."""
    known = {}
    for name in names:
        while name in known:
            name += "_"
        known[name] = None
    return list(known)


def number_in_words(number):
    """Return a float as in a column's name: whole numbers without a point."""
    return str(int(number) if number.is_integer() else number)


def is_gap(value):
    """Return whether a value stands for a gap: NaN, None, or pandas' NA or NaT."""
    # Most entries are of these types, which are never gaps: this is the fast way out.
    kind = type(value)
    if kind is str or kind is bool or kind is int:
        return False
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    return value is None or kind.__name__ in GAP_TYPES
