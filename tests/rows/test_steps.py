"""Encoders, imputers, scalers and pipelines read entries alike in columns of all types."""

import datetime
import math
import re
from decimal import Decimal
from numbers import Real

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer

from skdp.linear_model import DPRidge
from skdp.pipeline import DPPipeline
from skdp.preprocessing import BoundsScaler, DPOneHotEncoder, DPSimpleImputer, DPTableVectorizer
from tests._loops import for_each
from tests.door import InfiniteEntryError, as_category, as_floats, as_number, is_gap_entry
from tests.rows._grid import COLUMNS, OF_OBJECTS, grid, make
from tests.rows.test_containers import NOT_MADE

INF = float("inf")
GRID = [case for case in grid() if case not in NOT_MADE]
# One of each package and kind: what is between them doesn't matter to steps.
HANDED = {
    *("pandas object", "numpy object", "lists", "pandas category", "pandas str", "numpy text"),
    *("polars string", "arrow string", "pandas arrow dictionary", "numpy float", "pandas sparse"),
    *("pandas nullable int", "polars float", "arrow double", "pandas bool", "polars bool"),
    *("pandas times", "pandas times of a zone", "polars times of a zone", "arrow dates"),
    *("polars dates", "numpy times", "polars spans", "pandas spans, ns", "arrow decimal"),
}
# Types of booleans and categories are not handed on, and of gaps alone a table warns.
NOT_BEHIND = "booleans", "booleans, gaps", "gaps"
OF_CATEGORIES = "pandas category", "pandas arrow dictionary"
BEHIND = [
    (name, container)
    for name, container in GRID
    if container in HANDED.difference(OF_CATEGORIES) and name not in NOT_BEHIND
]
HANDED_ON = [case for case in GRID if case[1] in HANDED]
NESTINGS = {
    "nothing": "passthrough",
    "function": FunctionTransformer(),
    "columns": ColumnTransformer([("in", "passthrough", [0])]),
    "union": FeatureUnion([("in", "passthrough")]),
    "deep": ColumnTransformer(
        [("in", Pipeline([("in", FeatureUnion([("in", FunctionTransformer())]))]), [0])]
    ),
}


def entries_of(name):
    return {**COLUMNS, **OF_OBJECTS}[name]


def plain(values):
    """Return values in which gaps are equal."""
    return [None if value != value else value for value in values]


def categories_of(entries):
    """Return entries as categories, each by itself, None if one is refused."""
    try:
        return plain(map(as_category, entries))
    except InfiniteEntryError:
        return None


def numbers_of(entries, container):
    """Return entries as numbers, each by itself, None if one is refused, or the column's type."""
    if re.search("times|dates|periods|spans", container) or any(map(is_too_large, entries)):
        return None
    numbers = list(map(as_number, entries))
    for entry, number in zip(entries, numbers, strict=True):
        is_other = not (math.isfinite(number) or is_gap_entry(entry))
        if is_other or isinstance(entry, datetime.timedelta | np.timedelta64 | np.datetime64):
            return None
    return plain(numbers)


def is_too_large(entry):
    if isinstance(entry, str):
        return math.isinf(as_number(entry))
    is_nan = entry.is_nan() if isinstance(entry, Decimal) else entry != entry
    return isinstance(entry, Real | Decimal) and not (is_nan or math.isfinite(as_number(entry)))


def columns_of(encoder, X):
    """Return what an encoder makes of rows, by category, None for those that are none of these."""
    encoded = encoder.transform(X)
    known = [*plain(encoder.categories_[0].tolist()), "infrequent"]
    return [known[place] for place in encoded.argmax(axis=1)]


@pytest.mark.long
@for_each("name, container", GRID, parts=4)
def test_encoders_read_columns_of_all_types_alike(name, container):
    entries, X = make(name, container)
    expected = categories_of(entries)
    encoder = DPOneHotEncoder(epsilon=INF)
    if expected is None:
        with pytest.raises(ValueError, match="infinit"):
            encoder.fit(X)
        return
    assert columns_of(encoder.fit(X), X) == expected
    assert set(plain(encoder.categories_[0].tolist())) == set(expected)


@pytest.mark.long
@for_each("name, container", GRID, parts=4)
def test_imputers_of_words_read_columns_of_all_types_alike(name, container):
    entries, X = make(name, container)
    expected = categories_of(entries)
    imputer = DPSimpleImputer(strategy="constant", fill_value="gap", add_indicator=True)
    if expected is None:
        with pytest.raises(ValueError, match="infinit"):
            imputer.fit(X)
        return
    filled = imputer.fit(X).transform(X)
    assert filled[:, 0].tolist() == ["gap" if one is None else one for one in expected]
    assert filled[:, 1].tolist() == [one is None for one in expected]
    most = DPSimpleImputer(strategy="most_frequent", epsilon=INF).fit(X).transform(X)
    assert {type(one) for one in most[:, 0].tolist()} <= {str, float}


@pytest.mark.long
@for_each("name, container", GRID, parts=4)
def test_readers_of_numbers_read_columns_of_all_types_alike(name, container):
    entries, X = make(name, container)
    expected = numbers_of(entries, container)
    imputer = DPSimpleImputer(epsilon=INF, add_indicator=True)
    scaler = BoundsScaler(feature_bounds=(-9, 99))
    if expected is None:
        for reader in (imputer, scaler):
            with pytest.raises((TypeError, ValueError)):
                reader.fit(X)
        return
    gaps = [one is None for one in expected]
    filled = imputer.fit(X).transform(X)
    assert filled.dtype == np.float64
    assert filled[:, 1].tolist() == gaps
    known = [one for one in expected if one is not None]
    assert filled[~np.array(gaps), 0].tolist() == known
    if any(gaps):
        with pytest.raises(ValueError, match="contains NaN"):
            scaler.fit(X)
        return
    of_floats = scaler.fit_transform(np.array(expected)[:, np.newaxis])
    np.testing.assert_array_equal(scaler.fit_transform(X), of_floats)


@pytest.mark.long
@pytest.mark.parametrize("nesting", NESTINGS)
@for_each("name, container", HANDED_ON, parts=2)
def test_steps_hand_on_what_entries_are(nesting, name, container):
    entries, X = make(name, container)
    expected = categories_of(entries)
    if expected is None:
        return
    steps = [("before", NESTINGS[nesting]), ("last", DPOneHotEncoder(epsilon=1.0))]
    pipeline = DPPipeline(steps, epsilon=INF).fit(X)
    assert columns_of(pipeline[-1], pipeline[:-1].transform(X)) == expected
    np.testing.assert_array_equal(
        pipeline.transform(X), DPOneHotEncoder(epsilon=INF).fit_transform(X)
    )


@pytest.mark.long
@pytest.mark.parametrize("nesting", NESTINGS)
@for_each("name, container", BEHIND, parts=2)
def test_tables_behind_steps_are_those_in_front(nesting, name, container):
    X = make(name, container)[1]
    table = DPTableVectorizer(epsilon=INF)
    steps = [("before", NESTINGS[nesting]), ("last", DPTableVectorizer())]
    pipeline = DPPipeline(steps, epsilon=INF).fit(X)
    assert pipeline[-1]._kinds == table.fit(X)._kinds
    np.testing.assert_array_equal(pipeline.transform(X), table.transform(X))


SAME = {
    "booleans": [
        [True, False],
        [1, 0],
        [1.0, -0.0],
        ["True", "False"],
        ["true", "FALSE"],
        ["1", "0"],
        ["1.0", "0.0"],
        [np.True_, np.int8(0)],
        [datetime.timedelta(days=1), datetime.timedelta(0)],
    ],
    "numbers": [[1.5, 2], ["1.5", "2"], [" 1.50", "2.0"], [np.float32(1.5), np.uint8(2)]],
    "texts of numbers": [["1", "0"], [1, 0], [1.0, 0.0], [True, False]],
    "texts of booleans": [["True", "False"], [True, False], [1, 0], [1.0, 0.0]],
    "dates": [
        ["2024-01-31", "1969-07-20"],
        [datetime.date(2024, 1, 31), datetime.date(1969, 7, 20)],
        [pd.Timestamp("2024-01-31"), np.datetime64("1969-07-20")],
    ],
}


@pytest.mark.long
@pytest.mark.parametrize("kind", SAME)
def test_the_same_value_in_another_type_has_the_same_category(kind):
    for listed in (False, True):
        first = pd.DataFrame({"x": SAME[kind][0] * 50})
        categories = [SAME[kind][0]] if listed else "auto"
        encoder = DPOneHotEncoder(categories=categories, epsilon=INF).fit(first)
        meant = encoder.transform(first)
        assert meant[:, -1].sum() == 0.0
        for values in SAME[kind]:
            for X in (
                pd.DataFrame({"x": pd.Series(values, dtype=object)}),
                pd.DataFrame({"x": values}),
                pd.DataFrame({"x": pd.Categorical(values)}),
            ):
                np.testing.assert_array_equal(encoder.transform(X), meant[:2])


def test_a_mark_is_a_gap_to_categories_that_are_numbers():
    numbers = DPOneHotEncoder(epsilon=INF).fit(pd.DataFrame({"x": [1.0, 2.0, np.nan]}))
    words = DPOneHotEncoder(epsilon=INF).fit(pd.DataFrame({"x": ["1", "a", None]}))
    mark = pd.DataFrame({"x": ["?", "n/a"]})
    assert columns_of(numbers, mark) == [None, None]
    assert columns_of(words, mark) == ["infrequent", "infrequent"]


@pytest.mark.long
@for_each("entry", [1, 2.5, "1", "x", True, None, "?", datetime.date(2024, 1, 31)])
def test_no_entry_of_a_column_changes_how_others_are_read(entry):
    others = ["x", 1, 0.5, "7", True, None, np.datetime64("2024-01-31"), "2024-01-31"]
    X = pd.DataFrame({"x": pd.Series([*others, entry], dtype=object)})
    encoder = DPOneHotEncoder(epsilon=INF)
    found = columns_of(encoder.fit(X), X)
    assert found[:-1] == ["x", 1.0, 0.5, "7", 1.0, None, "2024-01-31", "2024-01-31"]
    filled = DPSimpleImputer(strategy="constant", fill_value=0).fit(X).transform(X)
    assert filled[:8, 0].tolist() == ["x", 1.0, 0.5, "7", 1.0, 0.0, "2024-01-31", "2024-01-31"]


@pytest.mark.long
def test_models_of_numbers_are_alike_whatever_holds_them(rng):
    """Also behind steps, and in predictions of rows of another type than in the fit."""
    numbers = np.round(rng.uniform(-1, 1, (200, 2)), 3)
    y = numbers.sum(axis=1)
    text = numbers.astype(str)
    forms = [
        numbers,
        pd.DataFrame(numbers),
        pd.DataFrame(numbers).astype(object),
        pd.DataFrame(text),
        text.astype(object),
        text,
        text.tolist(),
        numbers.tolist(),
        pd.DataFrame(text).astype("category"),
    ]
    meant = DPRidge(target_bounds=(-2, 2), random_state=0).fit(numbers, y)
    for form in forms:
        if hasattr(form, "columns"):
            form.columns = ["a", "b"]
        found = DPRidge(target_bounds=(-2, 2), random_state=0).fit(form, y)
        np.testing.assert_array_equal(found.coef_, meant.coef_)
        np.testing.assert_array_equal(found.predict(form), meant.predict(numbers))
        behind = DPPipeline(
            [("before", FunctionTransformer()), ("model", DPRidge(target_bounds=(-2, 2)))],
            random_state=0,
        )
        np.testing.assert_array_equal(
            behind.fit(form, y).predict(form), behind.fit(numbers, y).predict(numbers)
        )


def test_a_mark_is_a_gap_to_readers_of_numbers():
    X = pd.DataFrame({"x": ["1", "?", "n/a", "3"]})
    filled = DPSimpleImputer(epsilon=INF).fit(X).transform(X)
    assert filled[:, 0].tolist() == [1.0, 2.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="could not convert string to float"):
        DPSimpleImputer(epsilon=INF).fit(X.replace("?", "word"))


def test_decimals_and_dates_of_all_packages_are_handed_on_as_such():
    containers = [
        *(("decimals, gaps", c, "float64") for c in ("polars decimal", "arrow decimal")),
        ("decimals, gaps", "pandas arrow decimal", "float64"),
        *(("dates, gaps", c, "datetime64[us]") for c in ("polars dates", "arrow dates")),
        ("dates, gaps", "pandas arrow dates", "datetime64[us]"),
    ]
    for name, container, dtype in containers:
        X = make(name, container)[1]
        assert as_floats(X).dtypes.tolist() == [np.dtype(dtype)], container
