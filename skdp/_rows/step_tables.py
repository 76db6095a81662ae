"""What steps of a pipeline get of a table: entries as they came, in columns of their types."""

import narwhals as nw
import numpy as np

from skdp._rows.containers import refuse_equal_names
from skdp._rows.frames import dense
from skdp._rows.gaps import find_gaps
from skdp._rows.kinds import DATE, NUMERIC
from skdp._rows.numbers import columns_of, numbers_of, with_columns
from skdp._sklearn import quietly

# Letters of arrays whose entries are read one by one. Booleans are among them, because one gap
# would make objects of all.
_VALUES = "bOSU"
# Letters of whole numbers. One gap would make floats of all, and steps publish their type.
_INTEGERS = "iu"
_TIMES = "datetime64[us]"
_MICROSECONDS_OF_DAY = 8.64e10


def as_floats(X, *, numbers_alone=False):
    """Return rows whose numbers are floats, as an array, a sparse array or a data frame of pandas.

    Columns of a numeric type become floats, and those of dates and of spans of time hold these. All
    others hold objects: each entry stays what it is by itself, but for gaps, which become NaN.
    So neither a gap nor a word changes how others are read. A list has no types, and holds objects.

    With `numbers_alone` every column but dates becomes floats, or is refused.
    """
    table = quietly(_with_floats, X)
    return numbers_of(table) if numbers_alone else table


def _with_floats(X):
    if hasattr(X, "to_pandas"):
        # polars and pyarrow, whose own types say more than what pandas makes of them.
        refuse_equal_names(X)
        typed = {place: _typed(column) for place, (_, column) in enumerate(columns_of(X))}
        frame = _of_frame(X.to_pandas())
        return with_columns(frame, {p: c for p, c in typed.items() if c is not None})
    if hasattr(X, "isetitem"):
        return _of_frame(X)
    if not hasattr(X, "dtype") or (isinstance(X, np.ndarray) and X.dtype.kind in _VALUES):
        return _entries(X)
    return _of_array(X)


def _of_frame(X):
    X = dense(X)
    read = {place: _column(column) for place, (_, column) in enumerate(columns_of(X))}
    return with_columns(X, {place: column for place, column in read.items() if column is not None})


def _column(source):
    """Return a column of pandas as its type alone says, None if it stays as it is."""
    column, dtype = source.native, source.native.dtype
    has_na = type(getattr(dtype, "na_value", None)).__name__ == "NAType"
    if has_na and source.dtype == nw.Categorical:
        # Arrow's words.
        column = column.astype(object).astype("category")
        dtype = column.dtype
    if getattr(dtype, "categories", None) is not None:
        # The type of all categories depends on which entries were taken for one.
        return column.cat.rename_categories(dtype.categories.astype(object))
    if (typed := _typed(source)) is not None:
        return typed
    is_of_objects = isinstance(dtype, np.dtype) and dtype.kind == "O"
    # scikit-learn's containers refuse pandas.NA in columns of these types.
    if not (is_of_objects or has_na) and dtype.kind != "b":
        return None
    # An array would be searched for a type that suits all entries.
    return type(column)(_entries(column.astype(object)), index=column.index, dtype=object)


def _entries(X):
    """Return an array of objects, of which NaN stands for each gap.

    NumPy alone would make numbers beside words words.
    """
    array = np.asarray(X, dtype=object)
    return np.where(find_gaps(array), np.nan, array)


def _of_array(X):
    if X.dtype.kind in f"b{_INTEGERS}":
        return X.astype(np.float64)
    return X


def _typed(source):
    """Return numbers as floats and dates as such, None where a column stays or holds others."""
    dtype = getattr(source.native, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "fM":
        return None
    kind = source.kind
    # Spans and times of day stay such, which readers refuse.
    if kind not in (NUMERIC, DATE) or source.dtype in (nw.Duration, nw.Time):
        return None
    floats = source.floats(kind)
    return floats if kind == NUMERIC else _as_dates(floats)


def _as_dates(days):
    microseconds = np.rint(np.where(np.isnan(days), 0.0, days) * _MICROSECONDS_OF_DAY)
    dates = microseconds.astype(np.int64).astype(_TIMES)
    return np.where(np.isnan(days), np.array("NaT", dtype=dates.dtype), dates)
