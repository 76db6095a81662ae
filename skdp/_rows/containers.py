"""What rows can't be read from, told by types alone, with what to give instead.

Messages name columns and types, which are public, and no value. Libraries are known by the names of
their types, because they needn't be installed.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import partial
from io import IOBase
from itertools import chain
from operator import attrgetter
from os import PathLike

import numpy as np
from sklearn import get_config

from skdp._rows.entry_types import (
    BOOLEANS,
    DATES,
    GAPS_OF_PANDAS,
    NUMBERS,
    PERIOD_OF_PANDAS,
    SPANS,
)

_LOADED = ": give the table that it stands for, X.{}."
_ONE_COLUMN = ", a single column: give {}."
# By the library and the name of a type, or of one that it inherits from.
_REMEDIES = {
    ("polars", "LazyFrame"): _LOADED.format("collect()"),
    ("pyarrow", "RecordBatch"): ": give pyarrow.Table.from_batches([X]).",
    ("pyarrow", "RecordBatchReader"): _LOADED.format("read_all()"),
    ("pyarrow", "Dataset"): _LOADED.format("to_table()"),
    ("pyspark", "DataFrame"): _LOADED.format("toPandas()"),
    ("duckdb", "DuckDBPyRelation"): _LOADED.format("df()"),
    ("_duckdb", "DuckDBPyRelation"): _LOADED.format("df()"),
    ("numpy", "matrix"): ": give numpy.asarray(X).",
    ("numpy", "MaskedArray"): ", whose mask isn't read: give X.filled(numpy.nan).",
    ("pandas", "DataFrameGroupBy"): ": give the data frame itself, and ids of groups as groups=.",
    ("pandas", "Series"): _ONE_COLUMN.format("X.to_frame()"),
    ("polars", "Series"): _ONE_COLUMN.format("X.to_frame()"),
    ("pyarrow", "Array"): _ONE_COLUMN.format('pyarrow.table({"name": X})'),
    ("pyarrow", "ChunkedArray"): _ONE_COLUMN.format('pyarrow.table({"name": X})'),
}
_RECORDS = "X is an array of records: give their fields as columns, pandas.DataFrame(X)."
_TABLE_OF = "X is a {}: give a data frame, such as pandas.DataFrame(X)."
_FILE = "X is a {}: read the file first, such as by pandas.read_csv, and give the data frame."
_ONCE = "X is an iterator ({}), which can be read only once: give list(X)."
_UNORDERED = "X is a {}, which has no order: give a list of rows."
_NO_ROWS = (
    "Expected 2D array, got scalar array instead: X is of type {}, and must be an array, a data "
    "frame or a list of rows."
)
_TWICE = "two columns of X have the same name {!r}: give each column a name of its own."

_FIELDS = "give each of their fields a column."
_BYTES = "decode them, such as by .str.decode('utf-8'), where they are text."
_COMPLEX = "give their real and their imaginary part a column each."
_CLOCK = "give them as numbers, such as hours since midnight."
_INTERVALS = (
    "give the number itself, which is then binned privately, or cut it at public edges and name "
    "the bins: pandas.cut(x, bins=[...], labels=[...]). Edges that were read from the data are not "
    "private."
)
_DATES = (
    "give days as a number, such as (X[name] - pandas.Timestamp('2000-01-01')).dt.days, or take "
    "what reads dates: models of skdp.additive, or DPTableVectorizer."
)
_SPANS = (
    "give spans as a number, such as X[name] / pandas.Timedelta(days=1), or take what reads them: "
    "models of skdp.additive, or DPTableVectorizer."
)
# It begins as Python's own error does, which scikit-learn's checks look for.
_NO_NUMBER = "float() argument must be a string or a real number, not {!r} (column {!r}): {}"
_NO_ENTRY = "column {!r} holds entries of type {}: {}"
_OTHER = "only text, numbers, booleans, dates and gaps can be read."

# Types of columns begin so, whatever the library. Beside it stands what such columns hold, and what
# to do about them.
_UNREADABLE = (
    (r"interval", "intervals", _INTERVALS),
    (r"binary|large_binary|fixed_size_binary|\|s\d|bytes", "bytes", _BYTES),
    (r"complex", "complex numbers", _COMPLEX),
    (r"time(32|64)?(\[|$)", "times of day", _CLOCK),
    (r"(fixed_size_|large_)?list|array|struct|map<|\w+_union|\|v\d", "nested entries", _FIELDS),
)
# Those that are no numbers to who reads numbers alone.
_TEMPORAL = (
    (r"date|timestamp|period", "dates or times", _DATES),
    (r"duration|timedelta", "spans of time", _SPANS),
)
# By the names of types of Python, for columns of objects.
_UNREADABLE_ENTRIES = {
    "Interval": _INTERVALS,
    "complex": _COMPLEX,
    "complex64": _COMPLEX,
    "complex128": _COMPLEX,
    "time": _CLOCK,
    **dict.fromkeys(("bytes", "bytes_", "bytearray", "memoryview"), _BYTES),
    **dict.fromkeys(("list", "tuple", "dict", "set", "frozenset", "ndarray", "Series"), _FIELDS),
    **dict.fromkeys(("date", "datetime", "Timestamp", "datetime64", "Period"), _DATES),
    **dict.fromkeys(("timedelta", "Timedelta", "timedelta64"), _SPANS),
}
_TIMES = (*DATES, *SPANS)
_GAPS = frozenset(("NoneType", *GAPS_OF_PANDAS))
_NUMBERS_AND_TEXT = (str, *NUMBERS, *BOOLEANS)


class RefusedInput(Exception):
    """Rows are refused in words that quote no entry of them, so that anyone may see these."""


class RefusedTypeError(RefusedInput, TypeError):
    """Rows, or entries of them, are of a type that isn't read."""


class RefusedValueError(RefusedInput, ValueError):
    """Rows have a shape, names or entries that aren't read."""


class WordOrGapError(RefusedValueError):
    """There is a word or a gap where numbers alone are read."""


def refuse_unreadable(X, dtype="numeric", reset=True, skip_check_array=False, **_checks):
    """Refuse what no rows are read from, and types that a reader hasn't."""
    refuse_rows(X)
    refuse_equal_names(X)
    if skip_check_array:
        return
    numbers_alone = dtype not in (None, object)
    refuse_columns(X, numbers_alone=numbers_alone)
    # To what encodes words any other entry is an unknown one, once it is fitted.
    if numbers_alone or reset:
        refuse_entries(X, numbers_alone=numbers_alone)


def refuse_rows(X):
    """Refuse what isn't in memory, and what no rows are read from."""
    refuse_foreign(X, "X")
    refuse_container(X)


def refuse_foreign(array, name):
    """Refuse what scikit-learn would load as a whole unasked, or leave in its own library.

    Looks at types and not for packages, which needn't be installed.
    """
    kind = type(array)
    package = kind.__module__.partition(".")[0]
    # xarray has the protocol, too, and None where it holds no Dask array.
    graph = getattr(kind, "__dask_graph__", None)
    if package == "dask" or (graph is not None and graph(array) is not None):
        raise RefusedTypeError(
            f"{name} is a Dask collection, and only arrays in memory are read here: call "
            ".compute() first, or to fit take an estimator of skdp.dask, whose transform maps what "
            "was fitted on rows in memory."
        )
    if isinstance(array, np.ndarray | np.generic) or not get_config()["array_api_dispatch"]:
        return
    # PyTorch's tensors lack the protocol's method.
    if package == "torch" or hasattr(kind, "__array_namespace__"):
        raise RefusedTypeError(
            f"{name} is an array of {package}, and array_api_dispatch=True asks to compute with it "
            "as it is, which this estimator can't: convert it by numpy.asarray (a PyTorch tensor "
            "by .numpy()), or set array_api_dispatch=False."
        )


def refuse_container(X):
    """Refuse what no rows are read from, whoever reads them."""
    name = type(X).__name__
    bases = ((base.__module__.partition(".")[0], base.__name__) for base in type(X).__mro__)
    known = next((base for base in bases if base in _REMEDIES), None)
    if known is not None:
        text = f"X is a {name} of {known[0].lstrip('_')}{_REMEDIES[known]}"
        raise RefusedTypeError(text) if known[1] != "Series" else RefusedValueError(text)
    if getattr(getattr(X, "dtype", None), "names", None) is not None:
        raise RefusedTypeError(_RECORDS)
    # One kind of SciPy's sparse arrays is a dict, and has a shape.
    if isinstance(X, Mapping) and not hasattr(X, "shape"):
        raise RefusedTypeError(_TABLE_OF.format(name))
    if isinstance(X, list | tuple) and any(issubclass(row, Mapping) for row in set(map(type, X))):
        raise RefusedTypeError(_TABLE_OF.format(f"{name} of dicts"))
    if isinstance(X, str | bytes | PathLike | IOBase):
        raise RefusedTypeError(_FILE.format(name))
    if isinstance(X, Iterator):
        raise RefusedTypeError(_ONCE.format(name))
    if isinstance(X, Set):
        raise RefusedTypeError(_UNORDERED.format(name))
    is_table = any(map(partial(hasattr, X), ("__len__", "__array__", "shape", "to_pandas")))
    if isinstance(X, type) or not is_table or getattr(X, "shape", None) == ():
        raise RefusedValueError(_NO_ROWS.format(name))


def refuse_equal_names(X):
    """Refuse a table in which a name doesn't tell which column is meant."""
    names = getattr(X, "column_names", getattr(X, "columns", ()))
    counts = Counter(names) if isinstance(names, Iterable) else {}
    for name, count in counts.items():
        if count > 1:
            raise RefusedValueError(_TWICE.format(name))


def refuse_columns(X, *, numbers_alone=False):
    """Refuse columns of types that nobody reads, or that aren't numbers where these alone are."""
    patterns = _UNREADABLE + (_TEMPORAL if numbers_alone else ())
    for name, dtype in _typed_columns(X):
        text = _text_of(dtype)
        for pattern, content, remedy in patterns:
            if re.match(pattern, text.lower()):
                what = f"{_whole_or_column(name)} of type {dtype} holds {content}: {remedy}"
                if content == "complex numbers":
                    # scikit-learn's kind of error, and how it begins.
                    raise RefusedValueError(f"Complex data not supported: {what}")
                raise RefusedTypeError(what)


def refuse_entries(X, *, numbers_alone=False):
    """Refuse what objects of Python, and entries of a list, are by themselves, by their types."""
    for name, entries in _columns_of_objects(X):
        for kind in sorted(set(map(type, entries)), key=attrgetter("__name__")):
            _refuse_entry(name, kind, numbers_alone)


def _typed_columns(X):
    """Yield names and types of columns; of an array, which has one type, no name."""
    if isinstance(X, np.ndarray):
        yield None, X.dtype
        return
    if not isinstance(getattr(X, "dtypes", None), Iterable):
        # Arrow has its types in a schema, because columns of its tables hold entries.
        names = getattr(X, "column_names", ())
        dtypes = getattr(getattr(X, "schema", None), "types", ())
    else:
        names, dtypes = X.columns, X.dtypes
    yield from zip(names, dtypes, strict=False)


def _whole_or_column(name):
    return "X" if name is None else f"column {name!r}"


def _text_of(dtype):
    """Return how a type of a column is written, of categories that of what they are."""
    of_categories = getattr(getattr(dtype, "categories", None), "dtype", None)
    if of_categories is not None:
        return str(of_categories)
    dtype = getattr(dtype, "pyarrow_dtype", dtype)
    text = str(dtype)
    return str(dtype.value_type) if text.startswith("dictionary<") else text


def _columns_of_objects(X):
    """Yield names and entries of columns that hold objects of Python."""
    if isinstance(X, np.ndarray):
        if X.dtype.kind == "O" and X.ndim == 2:
            yield from ((f"x{place}", column.tolist()) for place, column in enumerate(X.T))
    elif isinstance(X, list | tuple):
        if all(issubclass(row, list | tuple) for row in set(map(type, X))):
            yield from _columns_of_rows(X)
    else:
        for name, dtype in _typed_columns(X):
            categories = getattr(dtype, "categories", None)
            if str(getattr(categories, "dtype", dtype)).lower() == "object":
                entries = X[name] if categories is None else categories
                yield name, np.asarray(entries, dtype=object).tolist()


def _columns_of_rows(rows):
    """Yield what `_columns_of_objects` does, unless all entries are numbers, text or None."""
    kinds = set(map(type, chain.from_iterable(rows)))
    if not all(issubclass(kind, (*_NUMBERS_AND_TEXT, type(None))) for kind in kinds):
        columns = zip(*rows, strict=False)
        yield from ((f"x{place}", column) for place, column in enumerate(columns))


def _refuse_entry(column, kind, numbers_alone):
    name = kind.__name__
    if issubclass(kind, _NUMBERS_AND_TEXT) or name in _GAPS:
        return
    if not numbers_alone and (issubclass(kind, _TIMES) or name == PERIOD_OF_PANDAS):
        return
    if numbers_alone and hasattr(kind, "__float__") and name not in _UNREADABLE_ENTRIES:
        return
    if numbers_alone:
        raise RefusedTypeError(no_number(name, column))
    raise RefusedTypeError(_NO_ENTRY.format(column, name, remedy_for(name)))


def no_number(name, column):
    """Return what is told of an entry in a column of numbers whose type has this name."""
    return _NO_NUMBER.format(name, column, remedy_for(name))


def remedy_for(name):
    """Return what to do about entries of a type of this name, which can't be read."""
    return _UNREADABLE_ENTRIES.get(name, _OTHER)
