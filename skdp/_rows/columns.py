"""Columns of numbers or strings with gaps, as they come from arrays and data frames."""

import sys
from collections.abc import Collection
from numbers import Real

import numpy as np

from skdp._sklearn import quietly, refuse_rows

# Of pandas, which needn't be installed.
GAP_TYPES = ("NAType", "NaTType")
NOT_CATEGORIES = (
    "a column of categories must hold numbers alone or strings alone, beside missing values "
    "(what it holds is withheld)."
)
_AUTO = "auto"
DTYPES = [np.float64, np.float32]
_TIMES = "Mm"


def find_gaps(X, missing_values=np.nan):
    """Return where entries are missing; NaN stands for None and pandas' NA and NaT, too."""
    if not is_gap(missing_values):
        if X.dtype.kind == "f" and isinstance(missing_values, Real):
            # As rows of fewer digits hold it.
            with np.errstate(all="ignore"):
                missing_values = X.dtype.type(missing_values)
        return quietly(lambda: np.asarray(missing_values == X, dtype=bool) & np.ones(X.shape, bool))
    if X.dtype.kind == "f":
        return np.isnan(X)
    if X.dtype.kind != "O":
        return np.zeros(X.shape, dtype=bool)
    # Where a gap is compared, newer NumPy may warn: of the data.
    return quietly(lambda: np.frompyfunc(is_gap, 1, 1)(X).astype(bool))


def dtype_to_read(X):
    """Return the types to read rows as: floats, object, or None for that of an array.

    Other types would turn numbers into strings, or strings into numbers, as scikit-learn before 1.7
    does it with those of pandas. What is returned follows from types alone: a list has none, and a
    gap among booleans makes objects of them.
    """
    refuse_rows(X)
    if hasattr(X, "dtypes"):
        return DTYPES if all(map(_is_of_numbers, X.dtypes)) else object
    return None if hasattr(X, "dtype") else object


def _is_of_numbers(dtype):
    """Return whether it is a numeric type of NumPy, pandas or polars."""
    of_polars = getattr(dtype, "is_numeric", None)
    return of_polars() if callable(of_polars) else getattr(dtype, "kind", "O") in "iuf"


def read_categories(X, gaps):
    """Return the columns of an array as lists of floats or of strings; gaps are ``np.nan``.

    The type of numbers is not kept: a gap elsewhere may have changed it. Booleans are 0 and 1.
    """
    return [_read_column(column, gap) for column, gap in zip(X.T, gaps.T, strict=True)]


def read_entries(X, gaps):
    """Return what `read_categories` does, each entry by itself; what can't be one is ``None``."""
    if X.dtype.kind in _TIMES:
        raise TypeError(NOT_CATEGORIES)
    return [
        [np.nan if is_missing else _read_entry(value) for value, is_missing in column]
        for column in (
            zip(entries.tolist(), missing, strict=True)
            for entries, missing in zip(X.T, gaps.T, strict=True)
        )
    ]


def check_categories(categories, n_features):
    """Return for each column a sorted list of its declared categories, or None if it has none."""
    if isinstance(categories, str) and categories == _AUTO:
        return [None] * n_features
    if not isinstance(categories, Collection) or isinstance(categories, str):
        raise ValueError("categories must be 'auto' or a list with an entry for each feature.")
    categories = list(categories)
    if len(categories) != n_features:
        sizes = f"{n_features} features, got {len(categories)}"
        raise ValueError(f"categories must have an entry for each of {sizes}.")
    return [_check_declared(declared) for declared in categories]


def as_array(categories):
    """Return a list of categories as an array, whose type follows from them alone.

    So does its pickle: equal strings are one object, whatever records they came from.
    """
    if all(isinstance(value, float) for value in categories):
        return np.array(categories, dtype=np.float64)
    shared = [sys.intern(value) if isinstance(value, str) else value for value in categories]
    return np.array(shared, dtype=object)


def fill_objects(columns, gaps, fills):
    """Return columns without gaps as an array of objects, whether or not all are numbers."""
    return np.where(gaps, fills.astype(object), np.array(columns, dtype=object).T)


def _check_declared(declared):
    if declared is None or (isinstance(declared, str) and declared == _AUTO):
        return None
    # What can be read but once has other categories the next time.
    if isinstance(declared, str) or not isinstance(declared, Collection):
        raise ValueError("an entry of categories must be 'auto' or a list of categories.")
    values = np.empty(len(declared := list(declared)), dtype=object)
    values[:] = declared
    found = _read_column(values, find_gaps(values))
    if not found or len(set(found)) < len(found):
        raise ValueError("a list of categories must hold at least one, and none of them twice.")
    return sort_categories(found)


def _read_column(column, gaps):
    values = column.tolist()
    kinds = {type(values[place]) for place in np.flatnonzero(~gaps)}
    read = [read for read, of in _READERS if all(issubclass(kind, of) for kind in kinds)]
    # NumPy takes times and spans of time for integers in some places.
    is_time = column.dtype.kind in _TIMES or np.timedelta64 in kinds
    if is_time or not read:
        raise TypeError(NOT_CATEGORIES)
    try:
        return [np.nan if gap else read[0](value) for value, gap in zip(values, gaps, strict=True)]
    except OverflowError:
        raise ValueError("a column of categories holds a number too large for a float.") from None


def _as_number(value):
    """Return a float; one of two zeros, which are equal, so that none tells what came first."""
    return float(value) + 0.0


def _read_entry(value):
    """Return an entry as a float or a string, None if it is neither."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, np.timedelta64) or not isinstance(value, (Real, np.bool_)):
        return None
    try:
        return _as_number(value)
    except OverflowError:
        return None


_READERS = ((_as_number, (Real, np.bool_)), (str, str))


def sort_categories(categories):
    """Return numbers or strings as a sorted list, with what stands for a gap last."""
    return sorted(categories, key=lambda value: (value != value, value))


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
    # Most entries, and fast.
    if type(value) is str:
        return False
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    return value is None or type(value).__name__ in GAP_TYPES
