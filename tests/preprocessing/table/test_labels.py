"""Labels of what differs differ, and have no more digits than that takes."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from skdp.additive import DPAdditiveClassifier
from skdp.plotting import ShapeFunctionDisplay
from skdp.preprocessing import DPOneHotEncoder, DPTableVectorizer
from skdp.statistics import describe
from tests.door import HatsTerm, LineTerm, WordsTerm, label_beside, texts_apart

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
ODD_WORDS = ["missing", "infrequent", "(missing)", "(infrequent)", "nan", "a_b", "a b", "x" * 90]
ODD_WORDS += ["x" * 89 + "y", None]
INF = float("inf")


@pytest.mark.long
@given(st.lists(FLOATS, min_size=1, max_size=12), st.booleans())
def test_different_numbers_have_different_texts(numbers, holds_dates):
    texts = texts_apart(numbers, holds_dates)
    assert len(texts) == len(numbers)
    assert len(set(texts)) >= len(set(numbers))


@pytest.mark.long
@given(st.floats(-1e300, 1e300), st.integers(1, 60), st.floats(1e-12, 1.0))
def test_neighbours_have_different_texts(number, n_numbers, width):
    numbers = np.unique(number + (abs(number) + 1e-300) * width * np.arange(n_numbers))
    assert len(set(texts_apart(numbers))) == numbers.size


@pytest.mark.parametrize(
    ("numbers", "texts"),
    [
        ([1950, 2000.0], ["1950", "2000"]),
        ([94109, 94112], ["94109", "94112"]),
        ([13.368, 13.371, 13.4], ["13.368", "13.371", "13.4"]),
        ([16000018, 16000024], ["16000018", "16000024"]),
        ([1 / 3, 2 / 3], ["0.3333", "0.6667"]),
        ([123456.0, 5e9], ["123456", "5e+09"]),
        ([-0.0, 0.0, 1e-7], ["0", "0", "1e-07"]),
        ([], []),
    ],
)
def test_numbers_have_as_many_digits_as_tell_them_apart(numbers, texts):
    assert texts_apart(numbers) == texts


def test_labels_of_a_term_differ_with_its_spike_and_gaps():
    one = {"name": "x", "feature": 0, "knots": np.array([94109.0, 94112.0]), "has_gap": True}
    assert HatsTerm(spike=94110.0, **one).labels == [
        *("x_94109", "x_94112", "x_is_94110", "x_missing")
    ]
    line = LineTerm(**one)
    assert line.labels == ["x", "x_missing"]
    assert line.knot_labels == ["x_94109", "x_94112"]


def test_the_labels_of_gaps_and_of_other_words_are_no_words():
    words = np.array(["infrequent", "missing", "(missing)", np.nan], dtype=object)
    term = WordsTerm(name="w", feature=0, categories=words)
    assert term.words == ["infrequent", "missing", "(missing)", "((missing))", "(infrequent)"]
    assert label_beside("missing", ["a"]) == "missing"


def assert_differ(texts, n_texts):
    texts = list(texts)
    assert len(texts) == n_texts
    assert len(set(texts)) == n_texts


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, 4000)
    words = np.array(ODD_WORDS, dtype=object)[np.arange(4000) % len(ODD_WORDS)]
    columns = {"zip": 94100.0 + age / 3, "far": 1.6e7 + age, "w": pd.Categorical(words)}
    return pd.DataFrame(columns), rng.integers(0, 2, 4000)


def test_all_that_is_printed_of_a_table_differs(table):
    X, y = table
    model = DPAdditiveClassifier(classes=[0, 1], interactions=[("far", "w")], epsilon=INF).fit(X, y)
    for term in model.terms_:
        assert_differ(term.labels, len(term.values))
        if term.kind == "words":
            assert {"w_((missing))", "w_((infrequent))", "w_missing"} <= set(term.labels)
    rows = model.to_frame()
    assert not rows.duplicated(["term", "label"]).any()
    lines = model.to_markdown().splitlines()[3:]
    assert_differ([line.split("|")[1:3][0] + line.split("|")[2] for line in lines], len(rows))
    names = DPTableVectorizer(epsilon=INF).fit(X).get_feature_names_out()
    assert_differ(names, names.size)
    assert not any(name.endswith("_") for name in names)


@pytest.mark.long
def test_ticks_of_words_differ(table):
    pytest.importorskip("matplotlib")
    X, y = table
    model = DPAdditiveClassifier(classes=[0, 1], epsilon=INF).fit(X, y)
    (ax,) = ShapeFunctionDisplay.from_estimator(model, terms=["w"]).axes_
    # Without privacy nobody has another word, and none is drawn.
    assert_differ([tick.get_text() for tick in ax.get_xticklabels()], len(ODD_WORDS))
    (ax,) = describe(X[["w"]], epsilon=INF).plot().axes_
    ticks = [tick.get_text() for tick in ax.get_yticklabels()]
    assert_differ(ticks, len(ticks))


def test_all_that_is_printed_of_a_description_differs(table):
    X, _ = table
    found = describe(X, epsilon=INF, crosstabs=[("zip", "w"), ("far", "zip")])
    index = found.histograms_["w"].index
    assert_differ(index, len(ODD_WORDS) + 1)
    assert {"missing", "((missing))", "((infrequent))"} <= set(index)
    for frame in found.crosstabs_.values():
        assert frame.index.is_unique
        assert frame.columns.is_unique
    words = found.categories()["w"]
    assert {word for word in words if word == word} == set(ODD_WORDS[:-1])
    assert sum(word != word for word in words) == 1


def test_names_of_encoded_categories_are_understood(table):
    X, _ = table
    names = DPOneHotEncoder(epsilon=INF).fit(X[["w"]]).get_feature_names_out()
    assert_differ(names, len(ODD_WORDS) + 1)
    assert {"w_nan", "w_(nan)", "w_infrequent", "w_((infrequent))"} <= set(names)


@pytest.mark.parametrize(
    ("days", "texts"),
    [
        ([0, 19753], ["1970-01-01", "2024-01-31"]),
        ([-0.5, 19753.5208333], ["1969-12-31", "2024-01-31"]),
        ([19753, 19753 + 12.5 / 24], ["2024-01-31 00:00", "2024-01-31 12:30"]),
        ([19753, 19753 + 1 / 86400], ["2024-01-31 00:00:00", "2024-01-31 00:00:01"]),
        ([0.0, 1e-6], ["1970-01-01 00:00:00.000000", "1970-01-01 00:00:00.086400"]),
        ([0.0, 1e9], ["0", "1e+09"]),
        ([], []),
    ],
)
def test_days_are_dates_with_a_time_where_that_tells_them_apart(days, texts):
    assert texts_apart(days, holds_dates=True) == texts


@pytest.fixture(scope="module")
def visits():
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 1800, 6000), "D")
    minutes = pd.Timestamp("2024-01-31") + pd.to_timedelta(rng.integers(0, 1440, 6000), "min")
    table = pd.DataFrame({"day": days, "minute": minutes, "age": rng.integers(18, 90, 6000)})
    table.loc[rng.random(6000) < 0.4, "day"] = pd.Timestamp("1970-01-01")
    table.loc[::10, "day"] = pd.NaT
    return table, (rng.random(6000) < 0.5).astype(int)


DATE = r"\d{4}-\d\d-\d\d"


@pytest.mark.long
def test_terms_of_dates_have_dates_for_labels(visits):
    X, y = visits
    parameters = {"classes": [0, 1], "epsilon": 4.0, "random_state": 0}
    model = DPAdditiveClassifier(interactions=[("day", "age")], **parameters).fit(X, y)
    day, minute, age, pair = model.terms_
    assert all(re.fullmatch(f"day_({DATE}|is_1970-01-01|missing)", one) for one in day.labels)
    assert {"day_is_1970-01-01", "day_missing"} <= set(day.labels)
    assert all(re.fullmatch(r"minute_2024-01-31 \d\d:\d\d", one) for one in minute.labels)
    assert [term.holds_dates for term in model.terms_] == [True, True, False, (True, False)]
    assert all(re.fullmatch(r"age_\d\d", one) for one in age.labels)
    assert pair.sides == (day.labels, age.labels)
    given = {"day": [17897.0, 19700.0]}
    for one in (
        DPAdditiveClassifier(knots=given, **parameters),
        DPAdditiveClassifier(monotonic_cst={"day": 1}, **parameters),
    ):
        labels = one.fit(X, y).terms_[0].labels
        assert all(re.fullmatch(f"day_({DATE}|missing)", label) for label in labels)
    names = DPTableVectorizer(basis="linear", random_state=0).fit(X).get_feature_names_out()
    assert names.tolist() == ["day", "day_is_1970-01-01", "day_missing", "minute", "age"]


@pytest.mark.long
def test_terms_of_dates_are_drawn(visits):
    pytest.importorskip("matplotlib")
    X, y = visits
    model = DPAdditiveClassifier(classes=[0, 1], epsilon=4.0, random_state=0).fit(X, y)
    display = ShapeFunctionDisplay.from_estimator(model, ["day", "minute", "age"])
    display.figure_.canvas.draw()
    ticks = [tick.get_text() for tick in display.axes_[1].get_xticklabels()]
    assert any(":" in tick for tick in ticks)
    _, minute, _ = describe(X, epsilon=4.0, random_state=0).plot().axes_
    assert any(":" in tick.get_text() for tick in minute.get_xticklabels())


def test_terms_without_the_field_hold_no_dates():
    """Files of before have none."""
    term = HatsTerm(name="x", feature=0, knots=np.array([1.0, 2.0]), holds_dates=True)
    assert term.labels == ["x_1970-01-02", "x_1970-01-03"]
    del vars(term)["holds_dates"]
    assert term.labels == ["x_1", "x_2"]


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [4.0, INF])
def test_descriptions_of_dates_are_dates(visits, epsilon):
    X, _ = visits
    found = describe(X, epsilon=epsilon, crosstabs=[("day", "minute")], random_state=0)
    frame = found.to_frame()
    times = X["minute"]
    for name, true in (("mean", times.mean()), ("50%", times.quantile(0.5))):
        assert abs(frame.loc["minute", name] - true) < pd.Timedelta(minutes=60)
        low, high = frame.loc["minute", [f"{name}_low", f"{name}_high"]]
        assert low <= frame.loc["minute", name] <= high
    assert abs(frame.loc["minute", "std"] - times.std() / pd.Timedelta(days=1)) < 0.02
    assert frame.loc["minute", "cut_low"] >= pd.Timestamp("2024-01-30")
    assert isinstance(frame.loc["age", "mean"], float)
    index = found.histograms_["minute"].index
    assert index.left[0] >= pd.Timestamp("2024-01-30")
    assert found.histograms_["age"].index.dtype.subtype.kind == "f"
    crosstab = found.crosstabs_["day", "minute"]
    assert crosstab.columns[0].startswith("<= 2024-01-31 ")
    assert re.fullmatch(f"> {DATE}", crosstab.index[-2])
    assert ("2024-01-31 12:" in found._repr_html_()) == (epsilon == 4.0)


def test_descriptions_of_few_dates_say_what_is_unknown():
    X = pd.DataFrame({"day": pd.to_datetime(["2024-01-31", None])})
    found = describe(X, epsilon=1.0, delta=1e-6, random_state=0)
    assert found.to_frame().loc["day"].isna().any() or "mean" not in found.to_frame()
    assert len(found.histograms_["day"]) >= 1
    found._repr_html_()
