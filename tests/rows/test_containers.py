"""The same entries in columns of all types are read alike, each as it is by itself."""

import datetime
import warnings
from decimal import Decimal
from fractions import Fraction

import narwhals
import numpy as np
import pandas as pd
import pytest

from skdp.preprocessing import DPTableVectorizer
from tests._loops import for_each
from tests.door import (
    BOOLEAN,
    DATE_KIND as DATE,
    NUMERIC,
    UNTYPED,
    WORD,
    WORD_OF_NUMBERS,
    ColumnOfArray,
    ColumnOfFrame,
    declared_word,
    dense,
    holds_numbers,
    read_frame,
    reader_of,
)
from tests.rows._grid import COLUMNS, OF_OBJECTS, TYPED, grid, make

pytest.importorskip("polars")
pytest.importorskip("pyarrow")

KINDS = [NUMERIC, DATE, WORD, BOOLEAN, WORD_OF_NUMBERS]
# pandas makes one category of equal entries, refuses what has no hash or isn't Unicode, and Arrow
# what floats don't hold.
NOT_MADE = {
    *(("every gap", "pandas category"), ("texts without a pair", "pandas category")),
    *(("mixed", "pandas category"), ("words and numbers", "pandas category")),
    ("numbers of all types", "pandas category"),
    *(("numbers beyond floats", "pandas arrow double"), ("numbers beyond floats", "arrow double")),
}
GRID = [case for case in grid() if case not in NOT_MADE]


def reread(X, kind):
    """Return what a later read makes of a column that was of a kind in the fit."""
    table = DPTableVectorizer()
    table.n_features_in_, table._kinds = 1, (kind,)
    if hasattr(X, "columns"):
        table.feature_names_in_ = np.array(["x"], dtype=object)
    column = read_frame(table, X, reset=False).columns[0]
    if holds_numbers(kind):
        return plain(column.tolist())
    return plain(column.known[code] for code in column.codes)


def one_by_one(entries, kind):
    """Return what each entry is by itself."""
    read = list(map(reader_of(kind), entries))
    if holds_numbers(kind):
        return plain(number if np.isfinite(number) else np.nan for number in read)
    return plain(read)


def plain(read):
    """Return entries that are equal only where all bits are, of gaps and of zeros one."""
    return [None if x != x else x if isinstance(x, str) else (x + 0.0).hex() for x in read]


@pytest.mark.long
@for_each("name, container", GRID, parts=4)
def test_entries_are_read_one_by_one_in_all_containers(name, container):
    """What a column was in the fit says how its entries are read, and no type or neighbour does."""
    entries, X = make(name, container)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in KINDS:
            assert reread(X, kind) == one_by_one(entries, kind), kind


KIND_OF = {
    **dict.fromkeys(["booleans", "booleans, gaps"], BOOLEAN),
    **dict.fromkeys([name for name in COLUMNS if name.startswith(("dates", "times"))], DATE),
    **dict.fromkeys([name for name in COLUMNS if name.startswith(("text", "codes"))], UNTYPED),
}
OF_CATEGORIES = ("pandas arrow dictionary", "polars categorical", "polars enum", "arrow dictionary")


@pytest.mark.long
@for_each("name, container", [(n, c) for n, c in GRID if c in TYPED.get(n, ()) and n != "gaps"])
def test_kinds_follow_from_types(name, container):
    _, X = make(name, container)
    read = read_kind(X)
    if container in ("arrow dates, 64", "arrow decimal, 256"):
        # narwhals has no type for these: what they hold is learnt.
        assert read == UNTYPED
    else:
        assert read == (WORD if container in OF_CATEGORIES else KIND_OF.get(name, NUMERIC))


@for_each("name", [*COLUMNS, *OF_OBJECTS])
def test_objects_and_lists_have_no_kind(name):
    for container in ("pandas object", "polars object", "numpy object", "lists"):
        assert read_kind(make(name, container)[1]) == UNTYPED


@for_each("name", [name for name in COLUMNS if name not in ("gaps", "texts without a pair")])
def test_categories_are_words_of_what_they_are(name):
    """So that what was a category of numbers or booleans is found again as these, or as text."""
    entries = [entry for entry in COLUMNS[name] if entry is not None]
    of_entries = pd.DataFrame({"x": pd.Series(entries)})
    of_categories = of_entries.astype("category")
    typed = read_kind(of_entries)
    assert read_kind(of_categories) == (WORD if typed == UNTYPED else declared_word(typed))


def read_kind(X):
    if not hasattr(X, "columns"):
        # A list has no types.
        array = np.array(X, dtype=None if hasattr(X, "dtype") else object)
        return ColumnOfArray(array[:, 0]).kind
    return ColumnOfFrame(narwhals.from_native(dense(X), eager_only=True)[:, 0]).kind


FINE = [-1, 1, 1500, -1500, -999, -1001, 0]


@for_each("type_name", ["datetime64[ns]", "timedelta64[ns]"])
def test_nothing_finer_than_microseconds_is_read(type_name):
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    times = np.array(FINE).astype(type_name)
    of_pandas = pd.Series(times)
    arrow_type = pa.array(times).type
    tables = [
        times[:, None],
        pd.DataFrame({"x": of_pandas}),
        pd.DataFrame({"x": of_pandas.astype(object)}),
        pd.DataFrame({"x": of_pandas.astype(pd.ArrowDtype(arrow_type))}),
        pl.DataFrame({"x": times}),
        pa.table({"x": pa.array(times)}),
    ]
    kind = DATE if "date" in type_name else NUMERIC
    read = [reread(X, kind) for X in tables]
    assert all(column == read[0] for column in read)
    days = list(map(float.fromhex, read[0]))
    np.testing.assert_allclose(np.multiply(days, 8.64e10), [-1, 0, 1, -2, -1, -2, 0], atol=1e-5)


@for_each("year", [-4000, 0, 10_000, 30_000])
def test_years_that_python_does_not_have_are_gaps(year):
    times = np.array([f"{year:05d}-01-01", "2024-01-31"], dtype="datetime64[s]")
    of_pandas = pd.Series(times)
    tables = [times[:, None], pd.DataFrame({"x": of_pandas})]
    tables += [pd.DataFrame({"x": of_pandas.astype(object)}), [[times[0]], [times[1]]]]
    for X in tables:
        assert reread(X, DATE) == plain([np.nan, 19753.0])
        assert reread(X, WORD) == [None, "2024-01-31"]


# What True and 1 are in the types that a row may have later.
ONES = [True, 1, 1.0, np.int8(1), np.float32(1), np.bool_(True), np.uint64(1)]
ONES += [Decimal(1), Decimal("1.000"), Fraction(1), datetime.timedelta(days=1)]
ONES += ["1", "1.0", "True", " 1 ", "TRUE", "1e0", np.str_("1")]


@for_each("entry", ONES)
def test_one_value_has_one_reading_where_numbers_or_booleans_were_fitted(entry):
    X = np.empty((2, 1), dtype=object)
    X[:, 0] = [entry, 0]
    assert reread(X, NUMERIC) == plain([1.0, 0.0])
    assert reread(X, BOOLEAN) == ["True", "False"]
    assert reread(X, WORD_OF_NUMBERS) == ["1", "0"]
