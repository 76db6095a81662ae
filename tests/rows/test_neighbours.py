"""No reading of a record depends on what another one holds."""

import datetime
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from skdp.preprocessing import DPTableVectorizer
from tests._loops import for_each
from tests._runs import NO_NOISE
from tests.door import (
    BOOLEAN,
    CLASSES,
    DATE_KIND as DATE,
    NUMERIC,
    UNTYPED,
    WORD,
    WORD_OF_NUMBERS,
    CountsByClass,
    Entries,
    Frame,
    Untyped,
    holds_numbers,
    read_frame,
)
from tests.rows._grid import ANY, COLUMNS, OF_OBJECTS, PAYLOADS, TYPED, make

pytest.importorskip("polars")
pytest.importorskip("pyarrow")

KINDS = [UNTYPED, NUMERIC, DATE, WORD, BOOLEAN, WORD_OF_NUMBERS]
# What another record may hold, each in a column of objects.
NEIGHBOURS = {
    "None": None,
    "NaN": np.nan,
    "payload": float(PAYLOADS[0]),
    "NA": pd.NA,
    "NaT": pd.NaT,
    "no date": np.datetime64("NaT", "us"),
    "no span": np.timedelta64("NaT", "ns"),
    "quiet": Decimal("NaN"),
    "signaling": Decimal("sNaN"),
    "mark": "?",
    "nan": "nan",
    "empty": "",
    "blank": "  ",
    "word": "nurse",
    "capitals": "NURSE",
    "accent": "e\u0301",
    "null": "a\0",
    "surrogate": "\ud800",
    "NumPy text": np.str_("nurse"),
    "long": "x" * 10_000,
    "number": 7,
    "negative zero": -0.0,
    "float": 0.1,
    "single": np.float32(0.1),
    "denormal": 5e-324,
    "huge": 10**400,
    "huge decimal": Decimal("1e999"),
    "large": 2**63,
    "infinite": np.inf,
    "minus infinite": -np.inf,
    "fraction": Fraction(1, 3),
    "true": True,
    "NumPy true": np.bool_(True),
    "text of a number": "1.0",
    "decimal comma": "1,5",
    "code": "01067",
    "date": datetime.date(2024, 1, 31),
    "moment": datetime.datetime(1, 1, 1),
    "zone": datetime.datetime(2024, 1, 31, tzinfo=datetime.timezone(datetime.timedelta(hours=9))),
    "nanoseconds": pd.Timestamp(1),
    "far": np.datetime64("30000-01-01"),
    "period": pd.Period("2024-01", "M"),
    "span": datetime.timedelta(days=1),
    "text of a date": "2024-01-31",
}
REFUSED = {
    "bytes": b"nurse",
    "bytes of NumPy": np.bytes_(b"nurse"),
    "tuple": (1, 2),
    "list": [1],
    "dict": {"a": 1},
    "complex": 1j,
    "interval": pd.Interval(0, 1),
    "time": datetime.time(12),
    "object": object(),
    "type": int,
}
OBJECTS = ("pandas object", "numpy object", "lists", "polars object")
COLUMNS_OF_OBJECTS = [(name, container) for name in COLUMNS | OF_OBJECTS for container in OBJECTS]
# What a column of a type may hold in another record: more of its own, or a gap.
OF_TYPE = {
    "whole numbers, gaps": [None, 2**53 + 1, -(2**62)],
    "numbers, gaps": [None, np.inf, 1e308, -0.0],
    "booleans, gaps": [None, True, False],
    "dates, gaps": [None, datetime.date(1, 1, 1), datetime.date.max],
    "times, far": [None, datetime.datetime.max, datetime.datetime(1, 1, 1)],
    "spans, gaps": [None, datetime.timedelta(days=10**5)],
    "decimals, gaps": [None, Decimal("0.0001"), Decimal("9999999999999999")],
    "texts of numbers, gaps": [None, "", "?", "nurse", "01", "a\0", "x" * 10_000, "\U0001f600"],
}


def readings(X, n_rows, first):
    """Return what is read of rows as every kind, and of which class each entry is."""
    found = {}
    kept = slice(first, first + n_rows)
    for kind in KINDS:
        table = DPTableVectorizer()
        table.n_features_in_, table._kinds = 1, (kind,)
        if hasattr(X, "columns"):
            table.feature_names_in_ = np.array(["x"], dtype=object)
        frame = read_frame(table, X, reset=False)
        column = frame.columns[0]
        if kind == UNTYPED:
            found[kind] = [CLASSES[code] for code in column.classes[column.codes][kept]]
            for decided in KINDS[1:]:
                found["untyped", decided] = entries(column.read_as(decided), decided)[kept]
        else:
            found[kind] = entries(column, kind)[kept]
    return found


def entries(column, kind):
    if holds_numbers(kind):
        return [None if x != x else x.hex() for x in column.tolist()]
    words = [column.known[code] for code in column.codes]
    return [None if word != word else word for word in words]


@pytest.mark.long
@for_each("name, container", COLUMNS_OF_OBJECTS, parts=len(COLUMNS_OF_OBJECTS) // 3)
def test_rows_are_read_alike_beside_any_other(name, container):
    own, X = make(name, container)
    alone = readings(X, len(own), 0)
    for neighbour, entry in NEIGHBOURS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            after = readings(ANY[container]([*own, entry]), len(own), 0)
            before = readings(ANY[container]([entry, *own]), len(own), 1)
        assert after == before == alone, neighbour


@pytest.mark.every
@for_each("name", COLUMNS | OF_OBJECTS)
def test_entries_are_read_alike_beside_any_other(name):
    """As the test above for all containers, without these."""
    own = (COLUMNS | OF_OBJECTS)[name]
    alone = as_objects(own)
    for neighbour, entry in NEIGHBOURS.items():
        after, before = as_objects([*own, entry]), as_objects([entry, *own])
        assert {kind: read[:-1] for kind, read in after.items()} == alone, neighbour
        assert {kind: read[1:] for kind, read in before.items()} == alone, neighbour


def as_objects(column):
    untyped = Untyped.of(Entries.of(column))
    found = {kind: entries(untyped.read_as(kind), kind) for kind in KINDS[1:]}
    return found | {UNTYPED: untyped.classes[untyped.codes].tolist()}


@pytest.mark.long
@pytest.mark.parametrize("name", OF_TYPE)
def test_rows_of_a_type_are_read_alike_beside_any_other(name):
    for container, make_table in TYPED[name].items():
        if container == "polars enum":
            continue
        own, X = make(name, container)
        alone = readings(X, len(own), 0)
        for entry in OF_TYPE[name]:
            try:
                tables = make_table([*own, entry]), make_table([entry, *own])
            except (OverflowError, ValueError, TypeError):
                # Such an entry is beyond the type.
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                beside = readings(tables[0], len(own), 0), readings(tables[1], len(own), 1)
            assert beside == (alone, alone), (container, entry)


@pytest.mark.long
@for_each("neighbour", REFUSED)
def test_what_is_refused_is_refused_beside_all(neighbour):
    """By the type of the entry alone, in one text, which quotes no value."""
    texts = set()
    for name, container in COLUMNS_OF_OBJECTS[:: len(OBJECTS) * 3 + 1]:
        own = (COLUMNS | OF_OBJECTS)[name]
        for column in ([*own, REFUSED[neighbour]], [REFUSED[neighbour], *own]):
            with pytest.raises((TypeError, ValueError)) as refused:
                readings(ANY[container](column), len(own), 0)
            texts.add(str(refused.value).replace("'x0'", "'x'"))
    assert len(texts) <= 2, texts
    assert not any("nurse" in text for text in texts)


def test_counts_are_those_of_entries_one_by_one():
    """A column of all neighbours has a record in the class of each."""
    X = np.empty((len(NEIGHBOURS), 1), dtype=object)
    X[:, 0] = list(NEIGHBOURS.values())
    frame = read_frame(DPTableVectorizer(), X, reset=True)
    assert isinstance(frame, Frame)
    (tally,) = frame.ask(CountsByClass([0], NO_NOISE))
    one_by_one = [
        read_frame(DPTableVectorizer(), X[[row]], reset=True).ask(CountsByClass([0], NO_NOISE))[0]
        for row in range(len(X))
    ]
    np.testing.assert_array_equal(tally, np.sum(one_by_one, axis=0))
    assert tally.sum() == len(X)
