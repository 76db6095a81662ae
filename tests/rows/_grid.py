"""Columns of the same entries in the types of all packages, and what each entry is read as."""

import datetime
import importlib
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd

NAN = np.nan
DAY, HALF = datetime.datetime(2024, 1, 31), datetime.datetime(1969, 7, 20, 20, 17, 40, 123457)
FAR, LAST = datetime.datetime(1, 1, 1), datetime.datetime.max
EAST = datetime.timezone(datetime.timedelta(hours=9))
ZONED = [DAY.replace(tzinfo=datetime.UTC), HALF.replace(tzinfo=datetime.UTC), None]
PAYLOADS = np.array([0x7FF8_0000_0000_0BAD, 0xFFF8_0000_0000_0001], dtype=np.uint64).view(float)
TEXTS = ["nurse", "clerk", "nurse", "", "\u00e9", "e\u0301", "a\0b", "a", " a ", "TRUE"]

# Entries of one column each, as Python has them; None stands for a gap.
COLUMNS = {
    "whole numbers": [3, -1, 0, 1, 255, 2**31, 3],
    "whole numbers, gaps": [3, None, 0, 1, -128, None, 3],
    "numbers": [1.5, -0.0, 0.0, 0.1, 1e22, 5e-324, 1.0],
    "numbers, gaps": [1.5, None, 0.0, 0.1, 1e300, None, 1.0],
    "numbers beyond floats": [1, 2**53 + 1, 2**62, 0, None],
    "numbers, infinite": [1.5, np.inf, -np.inf, NAN, 2.0],
    "booleans": [True, False, True, True],
    "booleans, gaps": [True, None, False, True],
    "dates": [datetime.date(2024, 1, 31), datetime.date(1969, 7, 20), datetime.date(1970, 1, 1)],
    "dates, gaps": [datetime.date(2024, 1, 31), None, datetime.date(1600, 2, 29)],
    "times": [DAY, HALF, datetime.datetime(1970, 1, 1), DAY],
    "times, gaps": [DAY, None, HALF],
    "times, far": [
        FAR,
        datetime.datetime(1600, 2, 29, 12),
        None,
        LAST,
        datetime.datetime(2300, 1, 1),
    ],
    "times of a zone": ZONED,
    "times of an eastern zone": [None if t is None else t.astimezone(EAST) for t in ZONED],
    "spans": [datetime.timedelta(days=1, hours=6), datetime.timedelta(microseconds=-1)],
    "spans, gaps": [datetime.timedelta(days=-2, microseconds=7), None],
    "decimals": [Decimal("1.50"), Decimal("-0.1"), Decimal("0.7"), Decimal(3), Decimal("1234.57")],
    "decimals, gaps": [Decimal("1.50"), None, Decimal("0.3")],
    "texts": TEXTS,
    "texts, gaps": [*TEXTS, None, "?", "NaN", "n/a", None],
    "texts of numbers": ["1", "1.0", " 2 ", "-1e3", "3", "1_000", "1,5", "0x1", "\u0661"],
    "texts of numbers, gaps": ["1", None, "?", "2.5", "inf", "-", "nan", "1e999"],
    "texts of booleans": ["True", "False", "true", " TRUE", "0", "1"],
    "texts of dates": ["2024-01-31", "1969-07-20T20:17:40", "2024-01-31 12:30:00Z", "31.1.2024"],
    "codes": ["01067", "00", "0", "94109", "007 ", "0.5", "-01"],
    "gaps": [None, None, None],
}
OF_OBJECTS = {
    "numbers of all types": [1, 1.0, True, Decimal(1), np.int8(1), np.float32(1), np.bool_(True)],
    "fractions": [Fraction(1, 3), Fraction(2), None, 0.5],
    "every gap": [None, NAN, pd.NA, pd.NaT, *PAYLOADS, np.float32(NAN), Decimal("sNaN")],
    "gaps of time": [
        np.datetime64("NaT", "us"),
        np.timedelta64("NaT", "ns"),
        Decimal("NaN"),
        None,
        np.inf,
    ],
    "huge": [10**400, -(10**400), 1, Decimal("1e999"), 2**1023],
    "times of all types": [
        DAY,
        pd.Timestamp(HALF),
        np.datetime64("2024-01-31"),
        np.datetime64("2024-01-31T12", "h"),
        datetime.date(2024, 1, 31),
        pd.Period("2024-01", "M"),
        ZONED[0],
    ],
    "spans of all types": [
        datetime.timedelta(hours=36),
        pd.Timedelta(hours=36),
        np.timedelta64(36, "h"),
        np.timedelta64(1, "D"),
    ],
    "mixed": [
        "nurse",
        1,
        1.5,
        None,
        True,
        "1",
        "01",
        "?",
        DAY,
        NAN,
        "2024-01-31",
        np.str_("nurse"),
    ],
    "words and numbers": ["1", 1, 1.0, "1.0", True, "True", "x", None, "x", 2, 2.0, "2"],
    "texts without a pair": ["\ud800", "a", "\udfff", None],
}


def _pandas(kind):
    return lambda entries: pd.DataFrame({"x": pd.Series(entries, dtype=kind)})


def _pandas_arrow(kind):
    def make(entries):
        pa = importlib.import_module("pyarrow")
        return pd.DataFrame({"x": pd.Series(entries, dtype=pd.ArrowDtype(kind(pa)))})

    return make


def _polars(kind):
    def make(entries):
        pl = importlib.import_module("polars")
        return pl.DataFrame({"x": pl.Series(entries, dtype=kind(pl), strict=True)})

    return make


def _arrow(kind):
    def make(entries):
        pa = importlib.import_module("pyarrow")
        # A table may have a column in several pieces.
        pieces = [pa.array(entries[:2], kind(pa)), pa.array(entries[2:], kind(pa))]
        return pa.table({"x": pa.chunked_array(pieces, kind(pa))})

    return make


def _numpy(kind):
    return lambda entries: np.array(entries, dtype=kind)[:, None]


def objects(entries):
    """Return an array of one column of objects, and nothing made of them."""
    column = np.empty((len(entries), 1), dtype=object)
    column[:, 0] = entries
    return column


def _of_enum(pl):
    return pl.Enum(sorted(set(COLUMNS["texts"]) | {"NaN", "?", "n/a", "unused"}))


ANY = {
    "pandas object": lambda entries: pd.DataFrame({"x": pd.Series(entries, dtype=object)}),
    "pandas category": lambda entries: pd.DataFrame(
        {"x": pd.Series(entries, dtype=object).astype("category")}
    ),
    "numpy object": objects,
    "lists": lambda entries: [[entry] for entry in entries],
    "polars object": _polars(lambda pl: pl.Object),
}
TEXT = {
    "pandas str": _pandas("str"),
    "pandas string, python": _pandas("string[python]"),
    "pandas string, pyarrow": _pandas("string[pyarrow]"),
    "pandas arrow string": _pandas_arrow(lambda pa: pa.string()),
    "pandas arrow large string": _pandas_arrow(lambda pa: pa.large_string()),
    "pandas arrow dictionary": _pandas_arrow(lambda pa: pa.dictionary(pa.int8(), pa.string())),
    "polars string": _polars(lambda pl: pl.String),
    "polars categorical": _polars(lambda pl: pl.Categorical),
    "arrow string": _arrow(lambda pa: pa.string()),
    "arrow large string": _arrow(lambda pa: pa.large_string()),
    "arrow string view": _arrow(lambda pa: pa.string_view()),
    "arrow dictionary": _arrow(lambda pa: pa.dictionary(pa.int32(), pa.string())),
}
TEXT_WITHOUT_GAPS = {"numpy text": _numpy(str)}
SOME_TEXT = {"polars enum": _polars(_of_enum)}
FLOATS = {
    "pandas float": _pandas("float64"),
    "pandas nullable float": _pandas("Float64"),
    "pandas arrow double": _pandas_arrow(lambda pa: pa.float64()),
    "pandas sparse": _pandas("Sparse[float64]"),
    "polars float": _polars(lambda pl: pl.Float64),
    "arrow double": _arrow(lambda pa: pa.float64()),
    "numpy float": _numpy(float),
}
WHOLE = {
    "pandas nullable int": _pandas("Int64"),
    "pandas arrow int": _pandas_arrow(lambda pa: pa.int64()),
    "polars int": _polars(lambda pl: pl.Int64),
    "arrow int": _arrow(lambda pa: pa.int64()),
}
WHOLE_WITHOUT_GAPS = {"pandas int": _pandas("int64"), "numpy int": _numpy(np.int64)}
BOOLEAN = {
    "pandas nullable bool": _pandas("boolean"),
    "pandas arrow bool": _pandas_arrow(lambda pa: pa.bool_()),
    "polars bool": _polars(lambda pl: pl.Boolean),
    "arrow bool": _arrow(lambda pa: pa.bool_()),
    "arrow dictionary of bool": lambda entries: importlib.import_module("pyarrow").table(
        {"x": importlib.import_module("pyarrow").array(entries).dictionary_encode()}
    ),
}
BOOLEAN_WITHOUT_GAPS = {"pandas bool": _pandas("bool"), "numpy bool": _numpy(bool)}
TIMES = {
    "pandas times": _pandas("datetime64[us]"),
    "pandas arrow times": _pandas_arrow(lambda pa: pa.timestamp("us")),
    "polars times": _polars(lambda pl: pl.Datetime("us")),
    "polars times, ns": _polars(lambda pl: pl.Datetime("ns")),
    "arrow times": _arrow(lambda pa: pa.timestamp("us")),
    "numpy times": _numpy("datetime64[us]"),
}
ZONES = {
    "pandas times of a zone": _pandas("datetime64[us, Asia/Tokyo]"),
    "pandas arrow times of a zone": _pandas_arrow(lambda pa: pa.timestamp("us", "Asia/Tokyo")),
    "polars times of a zone": _polars(lambda pl: pl.Datetime("us", "Asia/Tokyo")),
    "arrow times of a zone": _arrow(lambda pa: pa.timestamp("us", "Asia/Tokyo")),
}
DATES = {
    "pandas arrow dates": _pandas_arrow(lambda pa: pa.date32()),
    "polars dates": _polars(lambda pl: pl.Date),
    "arrow dates": _arrow(lambda pa: pa.date32()),
    "arrow dates, 64": _arrow(lambda pa: pa.date64()),
    "numpy dates": _numpy("datetime64[D]"),
    "pandas times": _pandas("datetime64[s]"),
    "pandas periods": _pandas("period[D]"),
}
SPANS = {
    "pandas spans": _pandas("timedelta64[us]"),
    "pandas spans, ns": _pandas("timedelta64[ns]"),
    "pandas arrow spans": _pandas_arrow(lambda pa: pa.duration("us")),
    "polars spans": _polars(lambda pl: pl.Duration("us")),
    "arrow spans": _arrow(lambda pa: pa.duration("us")),
    "numpy spans": _numpy("timedelta64[us]"),
}
DECIMALS = {
    "pandas arrow decimal": _pandas_arrow(lambda pa: pa.decimal128(20, 4)),
    "polars decimal": _polars(lambda pl: pl.Decimal(20, 4)),
    "arrow decimal": _arrow(lambda pa: pa.decimal128(20, 4)),
    "arrow decimal, 256": _arrow(lambda pa: pa.decimal256(50, 4)),
}
NOTHING = {
    "polars null": _polars(lambda pl: pl.Null),
    "arrow null": _arrow(lambda pa: pa.null()),
    "pandas arrow null": _pandas_arrow(lambda pa: pa.null()),
}
TYPED = {
    "whole numbers": FLOATS | WHOLE | WHOLE_WITHOUT_GAPS,
    "whole numbers, gaps": FLOATS | WHOLE,
    "numbers": FLOATS,
    "numbers, gaps": FLOATS,
    "numbers beyond floats": FLOATS | WHOLE,
    "numbers, infinite": FLOATS,
    "booleans": BOOLEAN | BOOLEAN_WITHOUT_GAPS,
    "booleans, gaps": BOOLEAN,
    "dates": DATES,
    "dates, gaps": DATES,
    "times": TIMES,
    "times, gaps": TIMES,
    "times, far": {name: make for name, make in TIMES.items() if "ns" not in name},
    "times of a zone": ZONES,
    "times of an eastern zone": ZONES,
    "spans": SPANS,
    "spans, gaps": SPANS,
    "decimals": DECIMALS,
    "decimals, gaps": DECIMALS,
    "texts": TEXT | TEXT_WITHOUT_GAPS | SOME_TEXT,
    "texts, gaps": TEXT | SOME_TEXT,
    "texts of numbers": TEXT | TEXT_WITHOUT_GAPS,
    "texts of numbers, gaps": TEXT,
    "texts of booleans": TEXT | TEXT_WITHOUT_GAPS,
    "texts of dates": TEXT | TEXT_WITHOUT_GAPS,
    "codes": TEXT | TEXT_WITHOUT_GAPS,
    "gaps": TEXT | FLOATS | WHOLE | BOOLEAN | TIMES | DATES | SPANS | NOTHING | DECIMALS,
}


# What pandas 2 itself makes of texts with null characters, of whole numbers beyond floats and of
# days before 1677 differs, and narwhals of its time takes decimals of 256 bits for numbers.
_LOST_BY_OLD_PANDAS = (
    "pandas category",
    "pandas arrow dictionary",
    "pandas periods",
    "arrow decimal, 256",
)
if int(pd.__version__.split(".")[0]) < 3:
    for _containers in (ANY, *TYPED.values()):
        for _name in _LOST_BY_OLD_PANDAS:
            _containers.pop(_name, None)


def grid():
    """Return the names of all columns, with each container that can hold them."""
    typed = [(name, container) for name in COLUMNS for container in {**ANY, **TYPED[name]}]
    return typed + [(name, container) for name in OF_OBJECTS for container in ANY]


def make(name, container):
    """Return entries, and a table with these as its column."""
    entries = (COLUMNS | OF_OBJECTS)[name]
    return entries, (ANY | TYPED.get(name, {}))[container](entries)


def objects_of_rows(columns):
    """Return an array of objects of lists by name."""
    array = np.empty((len(next(iter(columns.values()))), len(columns)), dtype=object)
    for place, entries in enumerate(columns.values()):
        array[:, place] = entries
    return array
