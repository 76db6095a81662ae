"""Columns of data frames, arrays and lists: what their types say, and their entries, fast."""

import datetime
import importlib.util
from contextlib import suppress
from typing import NamedTuple

import narwhals as nw
import numpy as np

from skdp._rows.entries import (
    CLASSES,
    GAP_ENTRY,
    NUMBER_ENTRY,
    as_day,
    as_number,
    class_of,
    days_of_microseconds,
    moment_of,
)
from skdp._rows.entry_types import GAPS_OF_PANDAS, NUMBER_LETTERS, PLAIN_FLOATS, READ_ALIKE
from skdp._rows.kinds import BOOLEAN, DATE, NUMERIC, UNTYPED, WORD, declared_word
from skdp._sklearn import quietly

_FIRST_MOMENT, _LAST_MOMENT = map(np.datetime64, (datetime.datetime.min, datetime.datetime.max))
# Dates in these units and years that Python has fit into microseconds.
_FINE_UNITS = ("us", "ns", "ps", "fs", "as")


class Entries(NamedTuple):
    """Entries of a column, each once where that is fast, and which of them each row has.

    `numbers` has each as a float if all are numbers or gaps.
    """

    entries: list
    codes: np.ndarray
    numbers: np.ndarray | None = None

    @classmethod
    def of(cls, entries):
        """Return a list of entries; those that are equal are one where they are read alike.

        How an entry is read never depends on what is beside it: only how fast it is.
        """
        types = set(map(type, entries))
        if types <= PLAIN_FLOATS and (floats := _as_floats(entries)) is not None:
            return cls.of_floats(floats)
        if types <= {str, type(None)}:
            places = {}
            codes = [places.setdefault(entry, len(places)) for entry in entries]
            return cls(list(places), np.array(codes, dtype=np.int64))
        if all(kind in READ_ALIKE or kind.__name__ in GAPS_OF_PANDAS for kind in types):
            with suppress(TypeError):
                return cls._each_once(entries)
        # A Decimal may be a gap that nothing is equal to, which has no hash.
        return cls(entries, np.arange(len(entries)))

    @classmethod
    def _each_once(cls, entries):
        # True, 1 and 1.0 are equal, and not read alike.
        places, keys = {}, zip(map(type, entries), entries, strict=True)
        codes = [places.setdefault(key, len(places)) for key in keys]
        return cls([entry for _, entry in places], np.array(codes, dtype=np.int64))

    @classmethod
    def of_floats(cls, floats):
        """Return entries that are floats, NaN for gaps."""
        distinct, codes = np.unique(floats, return_inverse=True)
        return cls(distinct.tolist(), codes, distinct + 0.0)

    @classmethod
    def of_days(cls, days):
        """Return entries that are days since 1970, NaN for gaps."""
        distinct, codes = np.unique(days, return_inverse=True)
        return cls([None if day != day else moment_of(day) for day in distinct.tolist()], codes)

    @classmethod
    def of_booleans(cls, floats):
        """Return entries that are False and True as 0 and 1, NaN for gaps."""
        codes = np.where(np.isnan(floats), 2.0, floats).astype(np.int64)
        return cls.of_used([False, True], codes)

    @classmethod
    def of_used(cls, entries, codes):
        """Return those entries that a row has; a gap has the code -1, or one beyond the last."""
        codes = np.where(codes < 0, len(entries), codes)
        is_used = np.bincount(codes, minlength=len(entries) + 1) > 0
        used = [entry for entry, kept in zip([*entries, None], is_used, strict=True) if kept]
        return cls(used, (np.cumsum(is_used) - 1)[codes])

    def read(self, reader):
        """Return for each row what a function makes of its entry, as floats."""
        if self.numbers is not None and reader is as_number:
            return self.numbers[self.codes]
        return np.array([reader(entry) for entry in self.entries], dtype=np.float64)[self.codes]

    def classes(self):
        """Return which of `CLASSES` each entry is, as places in it."""
        places = {name: place for place, name in enumerate(CLASSES)}
        if self.numbers is not None:
            is_number = np.isfinite(self.numbers)
            return np.where(is_number, places[NUMBER_ENTRY], places[GAP_ENTRY]).astype(np.int8)
        return np.array([places[class_of(entry)] for entry in self.entries], dtype=np.int8)

    def take(self, is_kept):
        """Return the entries of some rows."""
        return self._replace(codes=self.codes[is_kept])


def _as_floats(entries):
    try:
        return np.array(entries, dtype=np.float64)
    except OverflowError:
        # Whole numbers of Python may be larger than any float.
        return None


class ColumnOfFrame:
    """A column of a data frame."""

    def __init__(self, series):
        self._series = series
        self.native = series.to_native()
        self.dtype = series.dtype

    @property
    def kind(self):
        """The kind that the type says, of those that are read."""
        dtype = self.dtype
        if dtype == nw.Boolean:
            return BOOLEAN
        if dtype.is_numeric() or dtype == nw.Duration:
            return NUMERIC
        if dtype.is_temporal() or self._is_of_pandas("PeriodDtype"):
            return DATE
        if dtype in (nw.Categorical, nw.Enum):
            categories = self._categories()
            return WORD if categories is None else declared_word(categories.kind)
        return UNTYPED

    def _categories(self):
        """Return a column of the categories' type, None if they are text or none has them."""
        dtype = getattr(self.native, "dtype", None)
        if self._is_of_pandas("CategoricalDtype"):
            none_of_them = dtype.categories[:0].to_series()
        elif self.dtype == nw.Categorical and self._arrow_type() is not None:
            # Only what holds its columns in Arrow comes here.
            import pyarrow as pa

            none_of_them = pa.chunked_array([], type=self._arrow_type().value_type)
        else:
            return None
        return ColumnOfFrame(nw.from_native(none_of_them, series_only=True))

    def _arrow_type(self):
        dtype = getattr(self.native, "dtype", None)
        return getattr(self.native, "type", getattr(dtype, "pyarrow_dtype", None))

    def _is_of_pandas(self, name):
        return type(getattr(self.native, "dtype", None)).__name__ == name

    def floats(self, kind):
        """Return numbers or days since 1970 as floats, NaN for gaps; None if the type holds others.

        False and True are 0 and 1.
        """
        return quietly(self._floats, kind)

    def _floats(self, kind):
        dtype, series = self.dtype, self._series
        if kind == DATE:
            if self._is_of_pandas("PeriodDtype"):
                return _days_of_periods(self.native)
            if not (dtype.is_temporal() and dtype != nw.Duration):
                return None
            if dtype == nw.Date:
                # pandas makes objects of Arrow's dates, and who makes moments of them fails for all
                # where one is too far.
                return _known_days(series.cast(nw.Int32).to_numpy().astype(np.float64))
            return days_of_dates(series.to_numpy())
        if dtype == nw.Duration:
            return days_of_spans(series.to_numpy())
        if dtype == nw.Boolean:
            return series.cast(nw.Float64).to_numpy()
        if dtype == nw.Decimal:
            # Arrow would round twice.
            return series.cast(nw.String).cast(nw.Float64).to_numpy()
        # Arrow's own casts refuse a column for a whole number that no float is.
        return _in_order(series.to_numpy()) if dtype.is_numeric() else None

    def entries(self):
        """Return the `Entries`."""
        return quietly(self._entries)

    def _entries(self):
        if self._is_of_pandas("CategoricalDtype"):
            codes = self.native.cat.codes.to_numpy().astype(np.int64)
            return Entries.of_used(self.native.cat.categories.tolist(), codes)
        kind = self.kind
        if (floats := self._floats(kind)) is not None:
            return _ENTRIES_OF[kind](floats)
        if self._is_in_arrow():
            return _of_arrow(self._series.to_arrow())
        return Entries.of(self._series.to_list())

    @property
    def objects(self):
        """Entries as an array of objects, None where pandas or NumPy has another type."""
        is_of_objects = getattr(self.native, "dtype", None) == np.dtype(object)
        return self.native.to_numpy() if is_of_objects else None

    def _is_in_arrow(self):
        """Return whether a column of text lies in memory as Arrow has it.

        What pandas holds in Python, it takes for equal where texts differ, up to a null character.
        """
        is_text = self.dtype in (nw.String, nw.Categorical, nw.Enum)
        if not is_text or importlib.util.find_spec("pyarrow") is None:
            return False
        if not self._series.implementation.is_pandas_like():
            return True
        dtype = self.native.dtype
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


_ENTRIES_OF = {
    NUMERIC: Entries.of_floats,
    DATE: Entries.of_days,
    BOOLEAN: Entries.of_booleans,
}


class ColumnOfArray:
    """A column of an array, which has one type for all, or of a list, which has none."""

    def __init__(self, column):
        self._column = column

    @property
    def kind(self):
        """The kind that the type says; see `ColumnOfFrame.kind`."""
        return _KIND_OF_LETTER.get(self._column.dtype.kind, UNTYPED)

    def floats(self, kind):
        """Return numbers or days as floats; see `ColumnOfFrame.floats`."""
        return quietly(self._floats, kind)

    def _floats(self, kind):
        letter = self._column.dtype.kind
        if letter == "M" and kind == DATE:
            return days_of_dates(self._column)
        if letter == "m" and kind != DATE:
            return days_of_spans(self._column)
        if letter in f"b{NUMBER_LETTERS}" and kind != DATE:
            return self._column.astype(np.float64, copy=False)
        return None

    @property
    def objects(self):
        """Entries as an array of objects; see `ColumnOfFrame.objects`."""
        return self._column if self._column.dtype.kind == "O" else None

    def entries(self):
        """Return the `Entries`."""
        kind = self.kind
        if (floats := self.floats(kind)) is not None:
            return _ENTRIES_OF[kind](floats)
        return quietly(Entries.of, self._column.tolist())


_KIND_OF_LETTER = {"M": DATE, "b": BOOLEAN} | dict.fromkeys(f"{NUMBER_LETTERS}m", NUMERIC)


def _in_order(numbers):
    """Return numbers as floats side by side, as all reads of a column go faster then.

    Those that lie so aren't copied: nothing writes to a column.
    """
    return np.ascontiguousarray(numbers, dtype=np.float64)


def _known_days(days):
    """Return whole days since 1970, NaN for those that Python doesn't have."""
    first, last = (as_day(end.item().date()) for end in (_FIRST_MOMENT, _LAST_MOMENT))
    return np.where((days >= first) & (days <= last), days, np.nan)


def _days_of_periods(periods):
    try:
        return days_of_dates(periods.dt.start_time.to_numpy())
    except ValueError:
        # pandas refuses all of them for one that it has no moment for.
        return np.array([as_day(period) for period in periods], dtype=np.float64)


def days_of_dates(dates):
    """Return an array of dates as days since 1970, NaN for those that Python doesn't have."""
    if np.datetime_data(dates.dtype)[0] not in _FINE_UNITS:
        # As microseconds the farthest would be other dates.
        years = dates.astype("datetime64[Y]")
        is_far = (years < _FIRST_MOMENT.astype(years.dtype)) | (
            years > _LAST_MOMENT.astype(years.dtype)
        )
        dates = np.where(is_far, np.array("NaT", dtype=dates.dtype), dates)
    dates = dates.astype("datetime64[us]")
    is_known = (dates >= _FIRST_MOMENT) & (dates <= _LAST_MOMENT)
    return np.where(is_known, days_of_microseconds(dates), np.nan)


def days_of_spans(spans):
    """Return an array of spans of time as numbers of days."""
    return days_of_microseconds(spans.astype("timedelta64[us]"))
