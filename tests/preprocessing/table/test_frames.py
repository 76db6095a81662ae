"""What is read of a table: kinds by declaration or type, gaps, words."""

import datetime
import decimal

import narwhals
import numpy as np
import pandas as pd
import pytest

from skdp.preprocessing import DPTableVectorizer
from tests.door import Entries, Untyped, read_frame

NAN = np.nan
COLUMNS = {
    "age": [31, 40, 52],
    "pay": [1.5, NAN, np.inf],
    "job": ["nurse", None, "clerk"],
    "paid": [True, False, True],
}


def read(X, **declared):
    return read_frame(DPTableVectorizer(**declared), X, reset=True)


def entries(frame, place):
    """The entries of a column as a list, None for gaps; of one without a kind as words."""
    if place in frame.untyped:
        frame = frame.decided({place: "word"})
    column = frame.columns[place]
    if frame.kinds[place] in ("numeric", "date"):
        return [None if np.isnan(x) else x for x in column.tolist()]
    return [None if word != word else word for word in np.array(column.known, object)[column.codes]]


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_frames_of_all_packages_are_read_alike(package):
    pytest.importorskip(package)
    pay = COLUMNS["pay"] if package == "pandas" else [1.5, None, np.inf]
    X = narwhals.from_dict(COLUMNS | {"pay": pay}, backend=package).to_native()
    frame = read(X)
    assert frame.names == tuple(COLUMNS)
    assert frame.kinds == ("numeric", "numeric", "untyped", "boolean")
    assert frame.typed == ("age", "pay", "paid")
    assert entries(frame, 0) == [31.0, 40.0, 52.0]
    assert entries(frame, 1) == [1.5, None, None]
    assert entries(frame, 2) == ["nurse", None, "clerk"]
    assert entries(frame, 3) == ["True", "False", "True"]


# Of one column, the same records in types that a gap, or who wrote the file, may have chosen.
NUMBERS = [
    pd.Series([1, 2, 1]),
    pd.Series([1.0, 2.0, 1.0]),
    pd.Series([1, 2, 1], dtype="Int64"),
    pd.Series([1, 2, 1], dtype="uint8"),
    pd.Series([1, 2, 1], dtype="float32"),
    pd.Series([1.0, 2.0, 1.0], dtype="Sparse[float64]"),
    pd.Series([1, 2, 1], dtype="Sparse[int64]"),
]
WORDS = [
    pd.Series(["a", "b", "a"]),
    pd.Series(["a", "b", "a"], dtype=object),
    pd.Series(["a", "b", "a"], dtype="category"),
    pd.Series(pd.Categorical(["a", "b", "a"], categories=["secret", "b", "a"], ordered=True)),
]


@pytest.mark.parametrize("column", NUMBERS, ids=lambda column: str(column.dtype))
def test_all_types_of_numbers_are_one_kind(column):
    frame = read(pd.DataFrame({"x": column}))
    assert frame.kinds == ("numeric",)
    assert entries(frame, 0) == [1.0, 2.0, 1.0]
    words = read(pd.DataFrame({"x": column}), categorical_features=["x"])
    assert entries(words, 0) == ["1", "2", "1"]
    assert words.typed == ()


@pytest.mark.parametrize("last", [3, None])
@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow", "pandas with pyarrow"])
def test_whole_numbers_that_no_float_is_are_rounded(package, last):
    """Arrow refuses a column for one of them, which would be the only entry that tells."""
    pytest.importorskip("polars" if package == "polars" else "pyarrow")
    column = [1, 2**53 + 1, last]
    if package.startswith("pandas"):
        kind = "int64[pyarrow]" if package.endswith("pyarrow") else "Int64"
        X = pd.DataFrame({"x": pd.array(column, dtype=kind)})
    else:
        X = narwhals.from_dict({"x": column}, backend=package).to_native()
    frame = read(X)
    assert frame.kinds == ("numeric",)
    assert entries(frame, 0) == [1.0, 2.0**53, last]


@pytest.mark.parametrize("column", WORDS, ids=lambda column: str(column.dtype))
def test_all_types_of_words_are_one_kind(column):
    frame = read(pd.DataFrame({"x": column}), categorical_features=["x"])
    assert frame.kinds == ("word",)
    assert set(frame.columns[0].known) == {"a", "b"}
    assert entries(frame, 0) == ["a", "b", "a"]


@pytest.mark.parametrize(
    "kind", ["object", "str", "string", "string[python]", "string[pyarrow]", "category"]
)
@pytest.mark.parametrize("gap", [None, NAN, pd.NA, "a"])
def test_codes_are_those_of_the_entries_one_by_one(kind, gap):
    """Whether a type holds distinct entries or not."""
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
    column = ["b", "b", gap, "\u00e9", "a", "e\u0301", gap, "b", "", "1", "1.0"]
    typed = read(pd.DataFrame({"x": pd.Series(column).astype(kind)}), categorical_features=[0])
    as_lists = read(np.array([column], dtype=object).T, categorical_features=[0])
    assert entries(typed, 0) == entries(as_lists, 0)
    assert typed.columns[0].codes.dtype == as_lists.columns[0].codes.dtype == np.uint8
    assert len(typed.columns[0].known) == len(set(map(str, column)))


@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary", "string_view"])
def test_gaps_of_arrow_take_no_word_of_another_record(kind):
    """As codes of pandas 2.2 may for gaps of a dictionary, which are the last of its entries."""
    pa = pytest.importorskip("pyarrow")
    of_type = (
        pa.dictionary(pa.int32(), pa.string()) if kind == "dictionary" else getattr(pa, kind)()
    )
    for column in (["b", None, "a", None], [None, None]):
        frame = read(pd.DataFrame({"x": pd.Series(column, dtype=pd.ArrowDtype(of_type))}))
        assert entries(frame, 0) == column


@pytest.mark.parametrize("values", [[2, 0, 2], [2.5, 0.0, 2.5], [True, False, True]], ids=str)
def test_categories_that_are_no_text_have_the_words_of_their_type(values):
    of_categories = read(pd.DataFrame({"x": pd.Categorical(values)}))
    as_they_are = read(pd.DataFrame({"x": values}), categorical_features=["x"])
    assert entries(of_categories, 0) == entries(as_they_are, 0)


@pytest.mark.parametrize("kind", ["object", "str", "string", "category"])
def test_numbers_in_text_are_read_where_they_are_declared(kind):
    column = pd.Series(["2.5", "many", " 3 ", "2.5", None, "-inf"]).astype(kind)
    frame = read(pd.DataFrame({"x": column}), numeric_features=["x"])
    assert entries(frame, 0) == [2.5, None, 3.0, 2.5, None, None]


@pytest.mark.parametrize("kind", ["boolean", "bool", "object", "category"])
def test_booleans_are_words_in_all_types(kind):
    frame = read(pd.DataFrame({"x": pd.Series([True, False, True], dtype=kind)}))
    assert entries(frame, 0) == ["True", "False", "True"]


def test_the_same_word_may_be_text_or_a_number_of_any_type():
    mixed = [1, 1.0, True, "1", "True", np.int8(1), np.bool_(True), np.str_("1")]
    mixed += [decimal.Decimal(1), "1.0", 1.5]
    frame = read(np.array([mixed], dtype=object).T)
    ones = ["1", "1", "True", "1", "True", "1", "True", "1", "1", "1.0", "1.5"]
    assert entries(frame, 0) == ones


def test_words_that_look_alike_stay_apart():
    alike = ["\u00e9", "e\u0301", "E\u0301", "\ud800", "e", "e ", ""]
    assert entries(read(np.array([alike], dtype=object).T), 0) == alike


PAYLOAD = np.array([0x7FF8_0000_0000_0BAD, 0xFFF8_0000_0000_0001], dtype=np.uint64).view(float)


def test_every_kind_of_gap_is_a_gap():
    gaps = [None, NAN, pd.NA, pd.NaT, *PAYLOAD, np.float32(NAN), decimal.Decimal("sNaN")]
    gaps += [np.inf, -np.inf, 10**400]
    X = np.array([gaps, gaps], dtype=object).T
    frame = read(X, numeric_features=[0])
    assert entries(frame, 0) == entries(frame, 1) == [None] * len(gaps)


def test_in_a_column_that_is_declared_numeric_words_are_gaps():
    column = np.array([["2.5", "many", " 3 ", "", 4, "-inf"]], dtype=object).T
    frame = read(column, numeric_features=[0])
    assert entries(frame, 0) == [2.5, None, 3.0, None, 4.0, None]


def test_lists_have_no_types():
    frame = read([[1, "a"], [None, "b"]], categorical_features=[1])
    assert frame.kinds == ("untyped", "word")
    assert frame.decided({0: "numeric"}).columns[0][0] == 1.0


@pytest.mark.parametrize(
    ("column", "match"),
    [
        (pd.cut([2020.0, 2021.0], 2), "'when' of type category holds intervals"),
        (pd.Series([2020j, 1.0]), "'when' of type complex128 holds complex numbers"),
        ([b"secret"] * 2, "'when' holds entries of type bytes"),
        ([datetime.time(20, 20)] * 2, "'when' holds entries of type time"),
        ([("secret",)] * 2, "'when' holds entries of type tuple"),
    ],
)
def test_what_cannot_be_read_is_refused_without_a_value(column, match):
    with pytest.raises((TypeError, ValueError), match=match) as caught:
        read(pd.DataFrame({"when": column}))
    assert "secret" not in str(caught.value)
    assert "2020" not in str(caught.value)


WHEN = ["2020-01-01", "2020-01-02 12:00", None]
MOMENTS = pd.Series(pd.to_datetime(WHEN, format="mixed"))
DAYS = [18262.0, 18263.5, None]


@pytest.mark.parametrize(
    "column",
    [
        MOMENTS,
        MOMENTS.dt.tz_localize("UTC"),
        MOMENTS.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
        pd.Series(pd.PeriodIndex(WHEN, freq="h")),
        MOMENTS.astype("timestamp[us][pyarrow]"),
    ],
    ids=lambda column: str(column.dtype),
)
def test_dates_are_days_since_1970(column):
    frame = read(pd.DataFrame({"when": column}))
    assert frame.kinds == ("date",)
    assert entries(frame, 0) == DAYS
    declared = read(pd.DataFrame({"when": column}), numeric_features=["when"])
    assert entries(declared, 0) == DAYS
    as_objects = Untyped.of(Entries.of(column.astype(object).tolist()))
    np.testing.assert_array_equal(as_objects.read_as("date"), np.array(DAYS, dtype=float))
    of_array = read(MOMENTS.to_numpy()[:, None])
    assert entries(of_array, 0) == DAYS
    words = read(pd.DataFrame({"when": column}), categorical_features=["when"])
    assert entries(words, 0) == ["2020-01-01", "2020-01-02 12:00:00", None]


def test_spans_of_time_are_numbers_of_days():
    spans = pd.Series(pd.to_timedelta([36.0, None, -12.0], unit="h"))
    for column in (spans, spans.dt.total_seconds() / 86400.0):
        frame = read(pd.DataFrame({"stay": column}))
        assert frame.kinds == ("numeric",)
        assert entries(frame, 0) == [1.5, None, -0.5]


@pytest.mark.parametrize(
    "declared",
    [
        {"numeric_features": ["nobody"]},
        {"numeric_features": [7]},
        {"numeric_features": ["age"], "categorical_features": ["age"]},
        {"categorical_features": ["job", 2]},
    ],
)
def test_declarations_name_columns_once(declared):
    with pytest.raises(ValueError, match="names or places of columns"):
        read(pd.DataFrame(COLUMNS), **declared)


@pytest.mark.parametrize("shape", [(0, 2), (2, 0)])
def test_empty_frames_are_refused(shape):
    with pytest.raises(ValueError, match="at least one row and one column"):
        read(pd.DataFrame(np.zeros(shape)))


def test_names_of_columns_differ():
    with pytest.raises(ValueError, match="the same name"):
        read(pd.DataFrame(np.ones((2, 2)), columns=["a", "a"]))
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match="the same name"):
        read(pyarrow.table([[1, 2], ["a", "b"]], names=["a", "a"]))


class ArrayByItself:
    """What NumPy makes an array of, and has no type that one could ask for."""

    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self._array, dtype=dtype)


def test_what_becomes_an_array_by_itself_has_the_type_of_that():
    for array, kind in ((np.eye(2), "numeric"), (np.eye(2) > 0.5, "boolean")):
        frame = read_frame(DPTableVectorizer(), ArrayByItself(array), reset=True)
        assert frame.kinds == (kind, kind)


def test_subclasses_of_dates_and_spans_are_read():
    """Other libraries have their own, such as those of databases."""

    class Moment(datetime.datetime):
        pass

    class Span(datetime.timedelta):
        pass

    X = pd.DataFrame({"day": [Moment(2024, 1, 31)], "span": [Span(days=2)]}, dtype=object)
    for table in (X, X.to_numpy(), X.to_numpy().tolist()):
        frame = read_frame(DPTableVectorizer(numeric_features=[1]), table, reset=True)
        assert frame.columns[0].read_as("date").tolist() == [19753.0]
        assert frame.numbers(1).tolist() == [2.0]
