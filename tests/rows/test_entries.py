"""What one entry is: a class each, and readings that agree."""

import datetime
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, strategies as st

from skdp.preprocessing import DPOneHotEncoder, DPSimpleImputer, DPTableVectorizer
from tests._loops import for_each
from tests.door import (
    BOOLEAN,
    CLASSES,
    CODE_ENTRY,
    DATE_ENTRY,
    DATE_KIND,
    GAP_ENTRY,
    GAP_MARKS,
    NUMBER_ENTRY,
    NUMERIC,
    TEXT_ENTRY,
    WORD,
    WORD_OF_NUMBERS,
    Entries,
    UnreadableEntryError,
    Untyped,
    as_day,
    as_number,
    as_word,
    class_of,
    days_of_dates,
    moment_of,
    read_frame,
    reader_of,
)

KINDS = [NUMERIC, DATE_KIND, WORD, BOOLEAN, WORD_OF_NUMBERS]
DIGITS = st.text(st.sampled_from("0123456789.-+eE_ \0?x"), max_size=8)
DATE_TEXTS = st.one_of(
    st.dates().map(str), st.datetimes().map(str), st.datetimes().map(datetime.datetime.isoformat)
)
ZONES = st.timedeltas(datetime.timedelta(hours=-23), datetime.timedelta(hours=23)).map(
    datetime.timezone
)
TEXTS = st.one_of(
    DIGITS,
    DATE_TEXTS,
    st.sampled_from(sorted(GAP_MARKS)),
    st.sampled_from(
        ["inf", "-Infinity", "1e999", "True", "false", "01", "00", "0", "+nan", "\ud800"]
    ),
    st.text(st.characters(codec=None), max_size=6),
)
NUMBERS = st.one_of(
    st.integers(),
    st.floats(),
    st.booleans(),
    st.decimals(),
    st.fractions(),
    st.floats(width=32).map(np.float32),
    st.integers(-(2**31), 2**31 - 1).map(np.int32),
    st.integers(-(10**15), 10**15).map(lambda count: np.timedelta64(count, "us")),
    st.timedeltas(),
    st.sampled_from(
        [10**400, Decimal("1e999"), Fraction(10**400), Decimal("sNaN"), np.longdouble(1)]
    ),
)
DATES = st.one_of(
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=ZONES),
    st.datetimes(datetime.datetime(1800, 1, 1), datetime.datetime(2200, 1, 1)).map(pd.Timestamp),
    st.datetimes().map(np.datetime64),
    st.dates(datetime.date(1700, 1, 1), datetime.date(2200, 1, 1)).map(
        lambda day: pd.Period(day, "M")
    ),
)
GAPS = st.sampled_from(
    [
        None,
        math.nan,
        pd.NA,
        pd.NaT,
        np.datetime64("NaT", "us"),
        np.timedelta64("NaT", "ns"),
        Decimal("NaN"),
    ]
)
ENTRIES = st.one_of(TEXTS, NUMBERS, DATES, GAPS)


def read(entry, kind):
    value = reader_of(kind)(entry)
    # What isn't finite is a gap in a column.
    return None if value != value or value in (math.inf, -math.inf) else value


@pytest.mark.long
@given(ENTRIES)
def test_an_entry_is_of_one_class_and_its_readings_agree(entry):
    found = class_of(entry)
    number, day, word = as_number(entry), as_day(entry), as_word(entry)
    assert found in CLASSES
    assert math.isfinite(number) == (found in (NUMBER_ENTRY, CODE_ENTRY))
    assert not (math.isfinite(number) and math.isfinite(day))
    assert math.isfinite(day) == (found == DATE_ENTRY)
    # A mark of a gap may be a word of its own where a column holds words.
    assert isinstance(word, str) == (isinstance(entry, str) or found != GAP_ENTRY)
    assert found not in (CODE_ENTRY, TEXT_ENTRY) or isinstance(entry, str)


@pytest.mark.long
@given(st.lists(ENTRIES, min_size=1, max_size=12), st.randoms())
def test_no_entry_decides_how_another_is_read(entries, random):
    """In a column of all, in another order, and of each alone."""
    order = random.sample(range(len(entries)), len(entries))
    columns = [Entries.of(entries), Entries.of([entries[place] for place in order])]
    untyped = list(map(Untyped.of, columns))
    assert [CLASSES[c] for c in untyped[0].classes[untyped[0].codes]] == list(
        map(class_of, entries)
    )
    for kind in KINDS:
        alone = [read(entry, kind) for entry in entries]
        if kind in (NUMERIC, DATE_KIND):
            alone = [None if x is None else x.hex() for x in alone]
        whole, moved = (column_as_list(column.read_as(kind)) for column in untyped)
        assert whole == alone
        assert moved == [alone[place] for place in order]


def test_equal_entries_of_several_types_are_read_each_as_what_it_is():
    entries = [True, 1, 1.0, np.True_, False, 0, Decimal(1), "1"]
    for order in (entries, entries[::-1]):
        words = column_as_list(Untyped.of(Entries.of(order)).read_as(WORD))
        assert words == [read(entry, WORD) for entry in order]
    assert {read(entry, WORD) for entry in entries} == {"True", "False", "0", "1"}


@pytest.mark.long
@given(st.lists(ENTRIES, min_size=2, max_size=12), st.data())
def test_rows_that_are_taken_are_read_as_before(entries, data):
    kept = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(entries), max_size=len(entries)))
    )
    assume(kept.any())
    column = Entries.of(entries)
    some = [entry for entry, is_kept in zip(entries, kept, strict=True) if is_kept]
    taken = Untyped.of(column.take(kept)).read_as(WORD)
    assert column_as_list(taken) == [read(entry, WORD) for entry in some]


def column_as_list(column):
    if isinstance(column, np.ndarray):
        return [None if x != x else x.hex() for x in column.tolist()]
    words = (column.known[code] for code in column.codes)
    return [None if word != word else word for word in words]


@pytest.mark.long
@given(TEXTS)
def test_texts_of_numbers_are_those_of_python(text):
    text = text.strip()
    try:
        expected = {"true": 1.0, "false": 0.0}.get(text.lower()) or float(text)
    except ValueError:
        expected = 0.0 if text.lower() == "false" else math.nan
    expected = math.nan if "_" in text else expected + 0.0
    np.testing.assert_equal(as_number(text), expected)


@pytest.mark.long
@given(st.datetimes())
def test_days_are_moments(moment):
    day = as_day(moment)
    kept = moment_of(day)
    assert as_day(kept) == day
    # As many digits as floats have for days.
    assert kept == moment or abs(day) > 2**16


@for_each(
    "entry, expected",
    [
        *((text, GAP_ENTRY) for text in (" ", "?", "N/A", "NaN", "inf", "-Infinity", "1e999")),
        ("+nan", GAP_ENTRY),
        *((text, NUMBER_ENTRY) for text in ("1", " 1.5 ", "-0", "0", "0.5", "1e3", "True")),
        ("FALSE", NUMBER_ENTRY),
        *((text, CODE_ENTRY) for text in ("01", "007", " 00 ")),
        *((text, DATE_ENTRY) for text in ("2024-01-31", "2024-01-31T12:00Z")),
        ("2024-01-31 12:00", DATE_ENTRY),
        *((text, TEXT_ENTRY) for text in ("a", "1_000", "1,5", "31.1.2024", "1\0", "2024-13-01")),
        *((entry, GAP_ENTRY) for entry in (math.inf, 10**400, Decimal("sNaN"), Decimal("1e999"))),
    ],
)
def test_classes_of_entries(entry, expected):
    assert class_of(entry) == expected


@for_each("entry", [b"a", (1,), [1], {}, 1j, object(), datetime.time(1), pd.Interval(0, 1), int])
def test_what_is_of_another_type_is_refused_whatever_is_beside_it(entry):
    for beside in ([], ["a"], [1.0], [None], [entry]):
        with pytest.raises(UnreadableEntryError, match=f"type {type(entry).__name__}"):
            Untyped.of(Entries.of([*beside, entry]))
    with pytest.raises(UnreadableEntryError):
        as_word(entry)


class OddNumber(float):
    """A number that can't be converted, and tells itself."""

    def __float__(self):
        raise RuntimeError(f"no float: {self!r}")


class OddText(str):
    """A text whose own methods tell it, or another one."""

    def strip(self, *args):
        raise RuntimeError(f"no strip: {self!r}")

    def __str__(self):
        raise RuntimeError("no text: " + str.__str__(self))


def test_what_entries_do_by_themselves_is_never_told():
    assert class_of(OddNumber(77.5)) == GAP_ENTRY
    assert class_of(OddText(" 77 ")) == NUMBER_ENTRY
    for kind in KINDS:
        reader = reader_of(kind)
        np.testing.assert_equal(reader(OddNumber(77.5)), math.nan)
        for text in ("a", " 77 ", "2024-01-31", "?"):
            found = reader(OddText(text))
            np.testing.assert_equal(found, reader(text))
            assert type(found) is type(reader(text))


def test_readers_of_words_quote_no_entry_that_fails():
    for reader in (DPOneHotEncoder(), DPSimpleImputer(strategy="most_frequent")):
        reader.fit(np.array([["a"], [OddText("77,5")]] * 20, dtype=object))
        with pytest.raises(ValueError, match="too large for a float") as caught:
            reader.fit(np.array([["a"], [OddNumber(77.5)]] * 20, dtype=object))
        assert "77" not in str(caught.value)


def test_dates_that_python_does_not_have_are_gaps_and_change_no_others():
    far = pd.Period(ordinal=10**7, freq="M")
    kept = pd.Period("2024-01", "M")
    columns = [
        pd.Series(np.array([2**62, 1_704_067_200], dtype="datetime64[s]")),
        pd.Series(np.array([2**60, 1_704_067_200_000], dtype="datetime64[ms]")),
        pd.Series(pd.PeriodIndex([far, kept])),
    ]
    for column in columns:
        for dtype in (column.dtype, object):
            frame = read_frame(
                DPTableVectorizer(), pd.DataFrame({"day": column.astype(dtype)}), reset=True
            )
            (days,) = frame.decided(dict.fromkeys(frame.untyped, DATE_KIND)).columns
            np.testing.assert_array_equal(days, [np.nan, 19_723.0])
    assert math.isnan(as_day(np.datetime64(2**62, "s")))
    np.testing.assert_array_equal(
        days_of_dates(np.array([2**62, 54], dtype="datetime64[Y]")), [np.nan, 19_723.0]
    )


@for_each("library", ["pyarrow", "pandas", "polars"])
def test_a_date_that_is_too_far_changes_no_others_in_arrow(library):
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    days = pa.array([2**31 - 1, 19_723, None], pa.int32()).cast(pa.date32())
    X = pa.table({"day": days})
    if library == "pandas":
        X = X.to_pandas(types_mapper=pd.ArrowDtype)
    if library == "polars":
        X = pl.from_arrow(X)
    (found,) = read_frame(DPTableVectorizer(), X, reset=True).columns
    np.testing.assert_array_equal(found, [np.nan, 19_723.0, np.nan])
