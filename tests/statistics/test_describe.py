import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from skdp.ledger import PrivacyLedger
from skdp.statistics import describe

EXACT = {"epsilon": float("inf")}
QUANTILES = {"5%": 0.05, "25%": 0.25, "50%": 0.5, "75%": 0.75, "95%": 0.95}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(18, 80, 3000).astype(float)})
    X["income"] = np.round(np.exp(rng.normal(8.0, 1.0, 3000)), 2)
    X.loc[rng.random(3000) < 0.1, "income"] = np.nan
    X["job"] = rng.choice(["nurse", "clerk", "cook"], 3000, p=[0.6, 0.3, 0.1])
    X.loc[rng.random(3000) < 0.05, "job"] = None
    X.loc[:2, "job"] = ["king", "queen", "pope"]
    return X


def truth_of(column):
    """What pandas says of a column of numbers."""
    x = column.dropna().to_numpy()
    found = {"count": x.size, "gaps": column.size - x.size, "mean": x.mean(), "std": x.std()}
    return found | {
        name: np.quantile(x, share, method="inverted_cdf") for name, share in QUANTILES.items()
    }


def test_without_privacy_it_says_what_pandas_says(table):
    found = describe(table, crosstabs=[("age", "job"), ("job", "income")], **EXACT)
    frame = found.to_frame(intervals=True)
    for name in ("age", "income"):
        for statistic, expected in truth_of(table[name]).items():
            told = frame.loc[name, statistic].astype(float)
            np.testing.assert_allclose(told, expected, rtol=1e-9)
    words = table["job"].fillna("missing").value_counts()
    assert found.to_frame().loc["job", ["count", "gaps", "top", "freq"]].tolist() == [
        3000 - words["missing"], words["missing"], "nurse", words["nurse"],
    ]  # fmt: skip
    of_words = found.histograms_["job"]["count"]
    assert of_words.to_dict() == words.to_dict() | {"infrequent": 0}
    cells = found.crosstabs_["age", "job"]
    assert cells.index.name == "age"
    assert cells.columns.name == "job"
    np.testing.assert_allclose(cells.sum(), of_words[cells.columns])
    cut = float(re.sub(r"[^\d.]", "", cells.index[0]))
    assert cells.loc[cells.index[0], "cook"] == ((table.age <= cut) & (table.job == "cook")).sum()


def test_bars_hold_what_lies_in_them_and_all_entries(table):
    found = describe(table, **EXACT)
    for name in ("age", "income"):
        bars = found.histograms_[name]
        assert bars["count"].sum() == table[name].count()
        inner = bars.iloc[1:-1]
        expected = [((table[name] > b.left) & (table[name] <= b.right)).sum() for b in inner.index]
        np.testing.assert_allclose(inner["count"], expected)
        assert len(bars) > 10


def test_noise_is_small_on_many_records():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"x": rng.normal(50.0, 3.0, 50_000), "w": rng.choice(list("ab"), 50_000)})
    frame = describe(X, epsilon=1.0, random_state=0).to_frame()
    expected = truth_of(X["x"])
    for name in ("mean", "std", *QUANTILES):
        assert abs(frame.loc["x", name] - expected[name]) < 0.1
    assert abs(frame.loc["w", "freq"] - (X.w == frame.loc["w", "top"]).sum()) < 100


def test_of_a_single_number_mean_and_deviation_are_told_as_they_are():
    X = pd.DataFrame({"x": np.zeros(3000), "z": np.full(3000, 7.0)})
    found = describe(X, epsilon=1.0, random_state=0).to_frame(intervals=True)
    for name, number in (("x", 0.0), ("z", 7.0)):
        assert found.loc[name, "mean"].tolist() == [number] * 3
        assert found.loc[name, "std"].tolist() == [0.0] * 3


def test_bars_at_the_ends_hold_what_lies_beyond_them():
    X = pd.DataFrame({"x": np.append(np.arange(1000.0) % 100.0, [1e300] * 3), "z": 1e300})
    found = describe(X, epsilon=100.0, random_state=0).histograms_
    assert found["x"].index[-1].right < 1000.0
    assert abs(found["x"]["count"].sum() - 1003) < 10.0
    # Of numbers so large nothing is known but how many there are.
    (bar,) = found["z"].index
    assert (bar.left, bar.right) == (-np.inf, np.inf)
    assert abs(found["z"]["count"].sum() - 1003) < 10.0


def test_a_list_is_described_as_a_table_whose_columns_have_no_type():
    found = describe([[1.0, "a"], [2.0, "b"]] * 500, epsilon=1.0, random_state=0).to_frame()
    assert found["mean"].notna().tolist() == found["top"].isna().tolist() == [True, False]


def test_all_kinds_of_tables_give_the_same(table):
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    tables = table, pl.from_pandas(table), pa.Table.from_pandas(table)
    found = [describe(one, epsilon=1.0, random_state=0).to_frame() for one in tables]
    for other in found[1:]:
        pd.testing.assert_frame_equal(found[0], other)
    numbers = table[["age", "income"]]
    of_array, of_frame = (
        describe(one, epsilon=1.0, random_state=0).to_frame()
        for one in (numbers.to_numpy(), numbers)
    )
    np.testing.assert_array_equal(of_array, of_frame)
    assert of_array.index.tolist() == ["x0", "x1"]


@pytest.mark.parametrize(
    "X",
    [
        {"x": [1.0]},
        {"x": [np.nan, np.nan]},
        {"w": [None, "a"]},
        {"x": [7.0] * 3000, "w": ["missing"] * 1500 + ["infrequent"] * 1500},
        {"x": [1e150, -1e150] * 2000, "z": [0.0, 1.0] * 2000},
    ],
)
# A column without numbers is named, without noise at once.
@pytest.mark.filterwarnings("ignore:Nearly nothing in the columns")
@pytest.mark.parametrize("epsilon", [1.0, float("inf")])
def test_odd_tables(X, epsilon):
    X = pd.DataFrame(X)
    pairs = [tuple(X)] if len(X.columns) > 1 else []
    found = describe(X, epsilon=epsilon, delta=1e-6, crosstabs=pairs, random_state=0)
    found.to_frame()
    values = found.to_frame(intervals=True).xs("value", axis=1, level=1)
    pd.testing.assert_frame_equal(values, found.to_frame(intervals=False))
    beside = found.to_frame()
    pd.testing.assert_frame_equal(beside[values.columns], values)
    np.testing.assert_array_equal(beside["count_low"], found.to_frame(True)["count", "low"])
    for frame in found.histograms_.values():
        assert frame.index.is_unique
        assert (frame["low"] <= frame["high"]).all()
    for cells in found.crosstabs_.values():
        assert cells.to_numpy().sum() == pytest.approx(len(X), abs=1e-6)
    plt.close(found.plot().figure_)


def test_people_are_described_by_a_row_each(table):
    """Coins choose it: those of many rows count as one, and of other seeds others are chosen."""
    groups = np.repeat(np.arange(1000), 3)
    means = []
    for seed in range(2):
        found = describe(table, groups=groups, random_state=seed, **EXACT)
        counts = found.to_frame()["count"] + found.to_frame()["gaps"]
        assert counts.tolist() == [1000] * 3
        means.append(found.to_frame().loc["age", "mean"])
    assert found.privacy_report_.unit == "one group"
    assert "drawn at random" in found.privacy_report_.to_text()
    assert means[0] != means[1]


def test_it_is_charged_and_told(table, tmp_path):
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=2.0, delta=1e-4)
    found = describe(table, epsilon=1.0, ledger=ledger)
    (charge,) = ledger.to_dict()["charges"]
    assert charge["estimator"] == "describe"
    report = found.privacy_report_
    assert (report.epsilon, report.delta) == (1.0, 1e-5)
    text = report.to_text()
    assert "clipped to ranges" in text
    assert "whether columns hold numbers, dates or words" in text
    assert "every argument of the call" in text


def test_delta_follows_from_the_number_of_records():
    X = pd.DataFrame({"w": ["a", "b"] * 50_000})
    assert describe(X, epsilon=1.0, random_state=0).privacy_report_.delta == 1e-6


@pytest.mark.long
def test_displays(table):
    found = describe(table, epsilon=1.0, crosstabs=[(0, 2)], random_state=0)
    assert repr(found) == (
        "PrivateDescription of 3 columns and 1 crosstab, (1, 1e-05)-DP while the seed stays secret"
    )
    html = found._repr_html_()
    assert "<table" in html
    assert "income" in html
    # An interval stands beside each number.
    assert re.search(r">48\.\d+\s\(48\.\d+ to 49\.\d+\)<|>49\.\d+\s\(4\d\.\d+ to 49\.\d+\)<", html)
    display = found.plot()
    assert [one.get_title() for one in display.axes_] == ["age", "income", "job"]
    assert repr(display) == "DescriptionDisplay of 3 columns: age, income, job"
    assert "95 % intervals" in display.figure_.get_supxlabel()
    plt.close(display.figure_)
    ax = plt.figure().add_subplot()
    assert found.plot(ax).figure_ is ax.figure
    plt.close(ax.figure)
    hidden = describe(pd.DataFrame({"x": [1.0]}), epsilon=1.0, delta=1e-6).plot()
    assert "no number stands out" in hidden.axes_[0].texts[0].get_text()
    plt.close(hidden.figure_)


def drawn(X, **settings):
    """Return the only panel of a description."""
    display = describe(X, **settings).plot()
    plt.close(display.figure_)
    (ax,) = display.axes_
    return ax, display.bars[0]


@pytest.mark.long
def test_bars_are_where_numbers_are():
    """Few numbers have a bar each at the number; many are in ranges that have their lower end."""
    rng = np.random.default_rng(0)
    few = pd.DataFrame({"x": rng.poisson(2.0, 3000).clip(max=12)})
    ax, bars = drawn(few, **EXACT)
    assert bars.kind == "numbers"
    n = few["x"].nunique()
    for bar, number in zip(ax.patches, range(n), strict=True):
        assert bar.get_x() + 0.5 * bar.get_width() == pytest.approx(number)
        assert bar.get_height() == (few["x"] == number).sum()
    many = pd.DataFrame({"x": np.append(np.zeros(2000), rng.uniform(0.0, 100.0, 3000).round(3))})
    ax, bars = drawn(many, **EXACT)
    assert bars.kind == "ranges"
    first = ax.patches[0]
    assert first.get_x() == 0.0
    inside = (many["x"] < first.get_width()).sum()
    assert first.get_height() == pytest.approx(inside, rel=0.02)


@pytest.mark.long
def test_numbers_beyond_the_last_end_are_said_and_bars_are_no_narrower_than_whole_numbers():
    """A tail that no end was learnt for isn't hidden by the figure."""
    rng = np.random.default_rng(0)
    counts = pd.DataFrame({"x": rng.geometric(0.55, 6000) - 1})
    told = 0
    for seed in range(8):
        ax, bars = drawn(counts, epsilon=1.0, random_state=seed)
        assert ax.patches[0].get_width() >= 0.8
        for text, count in bars.beyond:
            last = int(text.removeprefix("above "))
            assert abs(count - (counts["x"] > last).sum()) < 150
            assert f"{text}: {count:,.0f}" in ax.get_xlabel()
            told += 1
    assert told > 0


@pytest.mark.long
def test_whole_numbers_fill_ranges_evenly():
    """No bar is higher because its range, or a bin in it, is wider than others."""
    X = pd.DataFrame({"x": np.tile(np.arange(200), 20)})
    ax, _ = drawn(X, **EXACT)
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(widths, widths[0])
    inner = np.array([bar.get_height() for bar in ax.patches[1:-1]])
    np.testing.assert_allclose(inner, 20 * widths[0])
    # What a wide bin holds is shared out over its width.
    far = pd.DataFrame(
        {"x": np.append(np.linspace(0.0, 10.0, 4000), np.linspace(10.0, 200.0, 400))}
    )
    ax, _ = drawn(far, epsilon=1.0, random_state=0)
    heights = [bar.get_height() for bar in ax.patches]
    assert heights[0] == max(heights)
    assert max(heights[2:]) < 0.1 * heights[0]


@pytest.mark.parametrize("unit", [1.0, 0.1, 1e-7, 1e9])
def test_edges_of_ranges_are_round_and_rounding_moves_no_number(unit):
    X = pd.DataFrame({"x": np.tile(np.arange(60), 50) * unit})
    ax, bars = drawn(X, **EXACT)
    width = ax.patches[0].get_width() / unit
    assert width == pytest.approx(5.0)
    np.testing.assert_allclose(bars.counts, 250.0, rtol=1e-6)


@pytest.mark.long
def test_counts_that_are_drawn_are_no_less_than_0_and_intervals_are_thin(table):
    display = describe(table, epsilon=0.1, random_state=0).plot()
    plt.close(display.figure_)
    for ax, bars in zip(display.axes_, display.bars, strict=True):
        assert bars.kind != "hidden"
        assert (np.array([bars.counts, bars.low, bars.high]) >= 0.0).all()
        low = ax.get_xlim()[0] if bars.kind == "words" else ax.get_ylim()[0]
        assert low == 0.0
        (lines,) = [one for one in ax.collections if hasattr(one, "get_segments")]
        assert lines.get_linewidth() == [1.0]
        along = 0 if bars.kind == "words" else 1
        ends = np.array([np.sort(line[:, along]) for line in lines.get_segments()])
        assert set(ends[:, 0]) <= set(bars.low)
        assert set(ends[:, 1]) <= set(bars.high)


@pytest.mark.long
def test_words_stand_by_their_count_and_gaps_are_said(table):
    display = describe(table, **EXACT).plot()
    plt.close(display.figure_)
    age, income, job = display.axes_
    texts = [tick.get_text() for tick in job.get_yticklabels()]
    # Only words that nobody else has are infrequent, and without privacy there are none.
    assert texts[:3] == ["nurse", "clerk", "cook"]
    assert texts[-1] == "missing"
    assert "infrequent" not in texts
    assert income.get_xlabel() == f"missing: {table['income'].isna().sum():,}"
    assert age.get_xlabel() == ""


def test_cells_have_the_digits_that_are_told(table):
    html = describe(table, epsilon=1.0, random_state=0)._repr_html_()
    counts = re.findall(r"<td>([\d,.]+)\s\([\d,.]+ to [\d,.]+\)</td>", html)
    assert len(counts) >= 3
    assert re.match(r"\d,\d{3}$", counts[0])
    assert not re.search(r"\.\d{5}", html.split("<p>")[0])


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"epsilon": 0.0}, ValueError, "epsilon"),
        ({"delta": 0.0}, ValueError, "delta"),
        ({"level": 1.0}, ValueError, "level"),
        ({"adjacency": "replace_label"}, ValueError, "adjacency"),
        ({"crosstabs": [("age", "nobody")]}, ValueError, "crosstabs names .nobody."),
        ({"crosstabs": [("age", "age")]}, ValueError, "crosstabs must be a list of pairs"),
        ({"crosstabs": [("age", "job"), (2, 0)]}, ValueError, "crosstabs must be a list of pairs"),
        ({"groups": [0, 1]}, ValueError, "groups must have one id for each row"),
    ],
)
def test_refusals(table, settings, error, message):
    with pytest.raises(error, match=message):
        describe(table, **{"epsilon": 1.0} | settings)


def test_sparse_rows_are_refused():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        describe(csr_array(np.eye(3)), epsilon=1.0)


def test_a_column_of_objects_holds_what_its_entries_are(table):
    as_objects = table[["age", "job"]].astype(object)
    found = describe(as_objects, epsilon=1.0, random_state=0)
    assert found.to_frame()["mean"].notna().tolist() == [True, False]
    assert "kind of 'age', 'job': learnt" in found.privacy_report_.to_text()
