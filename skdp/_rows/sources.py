"""Columns of data frames, arrays and lists: what their types say, and their entries, fast."""

import datetime
import importlib.util
from typing import NamedTuple

import narwhals as nw
import numpy as np

from skdp._rows.kinds import BOOLEAN, DATE, NUMERIC, UNTYPED, WORD
from skdp._sklearn import quietly

_MICROSECONDS_OF_DAY = 8.64e10
_EPOCH = datetime.datetime(1970, 1, 1)
# What a column that can't be read is told, by its type.
_NESTED = "holds lists or records: give each of their fields a column"
_TIMES = "holds times of day: give them as numbers, such as hours since midnight"
_BYTES = "holds bytes: decode them to text"
_COMPLEX = "holds complex numbers: give their real and imaginary parts, or sizes, as columns"
_INTERVALS = (
    "holds intervals, whose ends were read from records: give the numbers themselves, or texts for "
    "ranges that are public, such as pandas.cut(..., bins=[...], labels=[...])"
)
_UNREADABLE = "column {!r} of type {} {}."


class Entries(NamedTuple):
    """Entries of a column, each once where that is fast, and which of them each row has."""

    entries: list
    codes: np.ndarray

    @classmethod
    def of(cls, entries):
        """Return a list of entries, texts each once."""
        if set(map(type, entries)) <= {str, type(None)}:
            places = {}
            codes = [places.setdefault(entry, len(places)) for entry in entries]
            return cls(list(places), np.array(codes, dtype=np.int64))
        return cls(entries, np.arange(len(entries)))

    @classmethod
    def of_used(cls, entries, codes):
        """Return those entries that a row has; a gap has a code beyond the last or below 0."""
        used, codes = np.unique(codes, return_inverse=True)
        known = range(len(entries))
        return cls([entries[place] if place in known else None for place in used.tolist()], codes)

    def read(self, reader):
        """Return for each row what a function makes of its entry, as floats."""
        return np.array([reader(entry) for entry in self.entries], dtype=np.float64)[self.codes]


class ColumnOfFrame:
    """A column of a data frame."""

    def __init__(self, series, name):
        self._series, self._name = series, name
        self._native = series.to_native()
        self._dtype = series.dtype

    @property
    def kind(self):
        """The kind that the type says.

        Raises
        ------
        TypeError
            If such a type can't be read.
        """
        if reason := self._why_unreadable():
            dtype = getattr(self._native, "dtype", getattr(self._native, "type", self._dtype))
            raise TypeError(_UNREADABLE.format(self._name, dtype, reason))
        return self._kind()

    def _kind(self):
        dtype = self._dtype
        if dtype == nw.Boolean or self._categories_are(bool):
            return BOOLEAN
        if dtype.is_numeric() or dtype == nw.Duration:
            return NUMERIC
        if dtype.is_temporal() or self._is_of_pandas("PeriodDtype"):
            return DATE
        return WORD if dtype in (nw.Categorical, nw.Enum) else UNTYPED

    def _why_unreadable(self):
        dtype = self._dtype
        if dtype.is_nested():
            return _NESTED
        if dtype == nw.Time:
            return _TIMES
        if dtype == nw.Binary:
            return _BYTES
        if self._is_of_pandas("IntervalDtype") or "Interval" in self._type_of_categories():
            return _INTERVALS
        is_complex = getattr(getattr(self._native, "dtype", None), "kind", "") == "c"
        return _COMPLEX if is_complex else None

    def _is_of_pandas(self, name):
        return type(getattr(self._native, "dtype", None)).__name__ == name

    def _type_of_categories(self):
        categories = getattr(getattr(self._native, "dtype", None), "categories", None)
        return type(getattr(categories, "dtype", None)).__name__

    def _categories_are(self, kind):
        categories = getattr(getattr(self._native, "dtype", None), "categories", None)
        if categories is None or not self._is_of_pandas("CategoricalDtype"):
            return False
        return len(categories) > 0 and all(type(entry) is kind for entry in categories.tolist())

    def floats(self, kind):
        """Return numbers or days since 1970 as floats, NaN for gaps; None if the type holds others.

        False and True are 0 and 1.
        """
        return quietly(self._floats, kind)

    def _floats(self, kind):
        dtype, series = self._dtype, self._series
        if kind == DATE:
            if self._is_of_pandas("PeriodDtype"):
                series = nw.from_native(self._native.dt.start_time, series_only=True)
            elif not (dtype.is_temporal() and dtype != nw.Duration):
                return None
            return series.dt.timestamp("us").cast(nw.Float64).to_numpy() / _MICROSECONDS_OF_DAY
        if dtype == nw.Duration:
            microseconds = series.dt.total_microseconds()
            return microseconds.cast(nw.Float64).to_numpy() / _MICROSECONDS_OF_DAY
        if not dtype.is_numeric() and dtype != nw.Boolean:
            return None
        try:
            return series.cast(nw.Float64).to_numpy()
        except ValueError:
            # Arrow refuses a whole number that no float is; one by one they are rounded.
            return None

    def entries(self):
        """Return the `Entries`."""
        return quietly(self._entries)

    def _entries(self):
        if self._is_of_pandas("CategoricalDtype"):
            codes = self._native.cat.codes.to_numpy().astype(np.int64)
            return Entries.of_used(self._native.cat.categories.tolist(), codes)
        kind = self._kind()
        if (floats := self._floats(kind)) is not None:
            return _of_floats(floats, kind)
        if self._is_in_arrow():
            return _of_arrow(self._series.to_arrow())
        return Entries.of(self._series.to_list())

    def _is_in_arrow(self):
        """Return whether a column of text lies in memory as Arrow has it.

        What pandas holds in Python, it takes for equal where texts differ, up to a null character.
        """
        is_text = self._dtype in (nw.String, nw.Categorical, nw.Enum)
        if not is_text or importlib.util.find_spec("pyarrow") is None:
            return False
        if not self._series.implementation.is_pandas_like():
            return True
        dtype = self._native.dtype
        return getattr(dtype, "storage", None) == "pyarrow" or hasattr(dtype, "pyarrow_dtype")


def _of_arrow(array):
    # Only what holds its columns in Arrow comes here.
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if not pa.types.is_dictionary(array.type):
        array = pc.dictionary_encode(array)
    if isinstance(array, pa.ChunkedArray):
        array = array.unify_dictionaries().combine_chunks()
    codes = array.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return Entries.of_used(array.dictionary.to_pylist(), codes)


def _of_floats(floats, kind):
    """Return the entries of a column whose type is of numbers, booleans or dates."""
    distinct, codes = np.unique(floats, return_inverse=True)
    make = {BOOLEAN: bool, DATE: _date}.get(kind, float)
    return Entries([None if x != x else make(x) for x in distinct.tolist()], codes)


def _date(day):
    try:
        return _EPOCH + datetime.timedelta(days=day)
    except OverflowError:
        return day


class ColumnOfArray:
    """A column of an array, which has one type for all, or of a list, which has none."""

    def __init__(self, column, name):
        self._column, self._name = column, name

    @property
    def kind(self):
        """The kind that the type says; see `ColumnOfFrame.kind`."""
        letter = self._column.dtype.kind
        if letter in _UNREADABLE_LETTERS:
            reason = _UNREADABLE_LETTERS[letter]
            raise TypeError(_UNREADABLE.format(self._name, self._column.dtype, reason))
        return _KIND_OF_LETTER.get(letter, UNTYPED)

    def floats(self, kind):
        """Return numbers or days as floats; see `ColumnOfFrame.floats`."""
        return quietly(self._floats, kind)

    def _floats(self, kind):
        letter = self._column.dtype.kind
        if letter == "M" and kind == DATE:
            return _in_days(self._column.astype("datetime64[us]"))
        if letter == "m" and kind != DATE:
            return _in_days(self._column.astype("timedelta64[us]"))
        if letter in "biuf" and kind != DATE:
            return self._column.astype(np.float64, copy=False)
        return None

    def entries(self):
        """Return the `Entries`."""
        kind = self.kind
        if (floats := self.floats(kind)) is not None:
            return _of_floats(floats, kind)
        return quietly(Entries.of, self._column.tolist())


_KIND_OF_LETTER = {"M": DATE, "b": BOOLEAN} | dict.fromkeys("iufm", NUMERIC)
_UNREADABLE_LETTERS = {"S": _BYTES, "V": _NESTED, "c": _COMPLEX}


def _in_days(times):
    days = times.astype(np.int64) / _MICROSECONDS_OF_DAY
    return np.where(np.isnat(times), np.nan, days)
