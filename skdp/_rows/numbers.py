"""Rows of numbers alone: an entry of a column without a type is read by itself, or refused."""

from decimal import Decimal

import narwhals as nw
import numpy as np
from sklearn.utils import get_tags

from skdp._rows import fused
from skdp._rows.containers import (
    RefusedTypeError,
    WordOrGapError,
    no_number,
    refuse_rows,
    refuse_unreadable,
)
from skdp._rows.entries import as_number, is_gap_mark
from skdp._rows.entry_types import NUMBERS, SPANS, is_of_numbers
from skdp._rows.frames import dense
from skdp._rows.gaps import is_gap
from skdp._rows.kinds import UNTYPED, holds_words
from skdp._rows.sources import ColumnOfArray, ColumnOfFrame
from skdp._sklearn import NUMBERS_ALONE, quietly, validate_data

_TEXT = f"could not convert string to float in column {{!r}}: {NUMBERS_ALONE}"
# Types of rows that a fit takes as they are.
DTYPES = [np.float64, np.float32]
# Types of arrays that say nothing of what entries are.
_UNTYPED = "OU"
_PLAIN = "biufcmM"
_PLAIN_TYPES = {float, int, bool, type(None)}


def validate_numbers(estimator, X, *y, **checks):
    """Return X as floats, and y if there is one, as `validate_data` checks them.

    Raises
    ------
    TypeError
        If a column without a type has an entry of a type that is no number.
    ValueError
        If a text is neither a number nor a mark for a gap.
    """
    refuse_unreadable(X, dtype=DTYPES)
    if not (get_tags(estimator).input_tags.sparse and _holds_zeros(X)):
        # scikit-learn warns of a frame's sparse columns, or refuses them.
        X = dense(X)
    return validate_data(estimator, numbers_of(X), *y, dtype=DTYPES, **checks)


def _holds_zeros(X):
    """Return whether what a data frame's sparse columns leave out is 0, if it has any."""
    dtypes = getattr(X, "dtypes", ()) if hasattr(X, "isetitem") else ()
    return all(getattr(dtype, "fill_value", 0) == 0 for dtype in dtypes)


def are_many_floats(X):
    """Return whether X is an array of floats that sums are compiled for, by its type and shape."""
    return isinstance(X, np.ndarray) and X.dtype in DTYPES and X.size >= fused.WORTHWHILE_ENTRIES


def are_numbers(X):
    """Return whether all columns are of a numeric type of NumPy, pandas or polars.

    That follows from types alone: a list has none, and a gap among booleans makes objects of them.
    """
    refuse_rows(X)
    dtypes = getattr(X, "dtypes", None)
    if dtypes is None:
        return is_of_numbers(getattr(X, "dtype", None))
    return all(map(is_of_numbers, dtypes))


def numbers_of(X):
    """Return rows of which all columns without a type, or of categories, hold floats.

    Columns of other types stay, and so does what is no array, list or data frame.
    """
    if isinstance(X, np.ndarray) and not (X.dtype.kind in _UNTYPED and X.ndim == 2):
        return X
    return quietly(_numbers_of, X)


def _numbers_of(X):
    if isinstance(X, list | tuple):
        entries = np.asarray(X, dtype=object)
        is_plain = entries.ndim != 2 or set(map(type, entries.flat)) <= {int, float, bool}
        return X if is_plain else _of_array(entries)
    if isinstance(X, np.ndarray):
        return _of_array(X)
    columns = dict(enumerate(columns_of(X)))
    floats = {
        place: numbers_in(source, name)
        for place, (name, source) in columns.items()
        if _is_untyped(source)
    }
    return with_columns(X, floats) if floats else X


def columns_of(X):
    """Yield the names of a data frame's columns, and the columns; names may occur twice."""
    if hasattr(X, "isetitem"):
        series = (X.iloc[:, place] for place in range(X.shape[1]))
        columns = (nw.from_native(one, series_only=True) for one in series)
        yield from ((n, ColumnOfFrame(c)) for n, c in zip(X.columns, columns, strict=True))
        return
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        yield from ((name, ColumnOfFrame(frame[name])) for name in frame.columns)


def with_columns(X, columns):
    """Return a data frame in which some columns, by place, are replaced by arrays."""
    if hasattr(X, "isetitem"):
        replaced = X.copy(deep=False)
        for place, column in columns.items():
            # By place: names may occur twice.
            replaced.isetitem(place, column)
        return replaced
    frame = nw.from_native(X, eager_only=True)
    series = [
        nw.new_series(
            frame.columns[place], np.ascontiguousarray(column), backend=frame.implementation
        )
        for place, column in columns.items()
    ]
    return frame.with_columns(*series).to_native()


def _is_untyped(source):
    # A sparse column has a type, which narwhals doesn't know.
    dtype = getattr(source.native, "dtype", None)
    if hasattr(dtype, "fill_value") or getattr(dtype, "kind", "O") in _PLAIN:
        return False
    return source.kind == UNTYPED or holds_words(source.kind)


def _of_array(X):
    columns = [numbers_in(ColumnOfArray(x), f"x{place}") for place, x in enumerate(X.T)]
    return np.column_stack(columns) if columns else X


def numbers_in(source, name):
    """Return the entries of a column as floats, each by itself, NaN for gaps."""
    if (floats := _plain_floats(source.objects)) is not None:
        return floats
    entries = source.entries()
    if entries.numbers is not None:
        return entries.numbers[entries.codes]
    return entries.read(lambda entry: _number(entry, name))


def _plain_floats(objects):
    """Return objects of types that NumPy reads as they are read one by one, None of others."""
    if objects is None or not set(map(type, objects)) <= _PLAIN_TYPES:
        return None
    try:
        return objects.astype(np.float64)
    except OverflowError:
        return None


def _number(entry, name):
    number = as_number(entry)
    if isinstance(entry, SPANS):
        raise RefusedTypeError(no_number(type(entry).__name__, name))
    if number == number or is_gap(entry):
        return number
    if isinstance(entry, str):
        if is_gap_mark(entry):
            return np.nan
        raise WordOrGapError(_TEXT.format(name))
    if isinstance(entry, Decimal) and entry.is_nan():
        return np.nan
    if isinstance(entry, NUMBERS):
        # Too large for a float, and refused as that.
        return np.inf
    raise RefusedTypeError(no_number(type(entry).__name__, name))
