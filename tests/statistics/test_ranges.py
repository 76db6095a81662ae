"""What is said of columns of numbers wherever they lie: near the truth, or not at all."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from skdp.statistics import describe
from tests._loops import for_each
from tests.door import Histogram, NumberColumn

# Columns from a generator and a number of records.
KINDS = {
    "years": lambda rng, n: rng.integers(1990, 2021, n).astype(float),
    "ZIP codes": lambda rng, n: rng.integers(94102, 94135, n).astype(float),
    "longitudes": lambda rng, n: 144.5 + 0.12 * rng.standard_normal(n),
    "latitudes": lambda rng, n: -37.8 + 0.05 * rng.standard_normal(n),
    "pressures": lambda rng, n: 1013.0 + 8.0 * rng.standard_normal(n),
    "one number": lambda rng, n: np.full(n, 94110.0),
    "times": lambda rng, n: 1.7e9 + 1e5 * rng.random(n),
    "ages": lambda rng, n: rng.integers(18, 80, n).astype(float),
    "amounts": lambda rng, n: np.exp(10.0 + rng.standard_normal(n)).round(2),
    "mostly zeros": lambda rng, n: np.where(
        rng.random(n) < 0.8, 0.0, np.exp(rng.normal(5, 0.7, n))
    ),
    "a heavy tail": lambda rng, n: rng.standard_t(3.0, n),
    "two far groups": lambda rng, n: np.where(rng.random(n) < 0.9, 20.0, 1e5) + rng.normal(size=n),
    "gaps": lambda rng, n: np.where(rng.random(n) < 0.8, np.nan, rng.normal(1013.0, 8.0, n)),
}


def tables(kind, n, n_columns=1, n_seeds=2):
    """Descriptions of columns of a kind, beside the columns."""
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        table = pd.DataFrame({f"c{j}": KINDS[kind](rng, n) for j in range(n_columns)})
        yield table, describe(table, epsilon=1.0, random_state=seed)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@for_each("n, n_columns", [(40, 1), (300, 1), (1000, 4), (3000, 1), (3000, 6), (20_000, 3)])
def test_deviations_are_near_the_truth_or_not_given(n, n_columns, kind):
    """Noise alone makes one wrong by a factor of 2 in less than one of a million columns.

    What a heavy tail has beyond the range is left out: less than half of what is there here.
    """
    for table, found in tables(kind, n, n_columns):
        frame = found.to_frame()
        for name in table if "std" in frame else ():
            told, truth = frame.loc[name, "std"], table[name].std(ddof=0)
            assert np.isnan(told) or 0.5 * truth <= told <= 2.0 * truth
            # The interval of what isn't given tells no lie, either.
            low, high = frame.loc[name, ["std_low", "std_high"]]
            assert np.isnan(low) == np.isnan(high) == (frame.loc[name, "count"] == 0)
            assert np.isnan(told) or low <= told <= high


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_what_many_records_show_is_given(kind):
    for table, found in tables(kind, 60_000):
        frame, (bars,) = found.to_frame(), found.histograms_.values()
        numbers = table["c0"].dropna()
        spread = numbers.std(ddof=0)
        assert frame["std"].item() == pytest.approx(spread, rel=0.35)
        assert frame["mean"].item() == pytest.approx(numbers.mean(), abs=0.1 * spread + 1e-9)
        for share in (0.05, 0.25, 0.5, 0.75, 0.95):
            truth = np.quantile(numbers, share, method="inverted_cdf")
            told, low, high = found.to_frame(True).loc["c0", f"{100 * share:g}%"]
            # As near as bins are wide.
            assert told == pytest.approx(truth, abs=0.35 * spread + 2.0 * (high - low))
        # The range, bars and cuts are where the numbers are.
        width = max(np.ptp(numbers), 1e-5 * abs(numbers).max())
        for end in (*frame[["cut_low", "cut_high"]].to_numpy().ravel(), *bars.index.right):
            assert numbers.min() - width <= end <= numbers.max() + width


@pytest.mark.parametrize("kind", ["years", "ZIP codes", "longitudes", "times"])
def test_ranges_of_crosstabs_have_names_that_differ_and_say_where_they_are(kind):
    table = next(tables(kind, 20_000))[0].assign(w="a")
    found = describe(table, epsilon=1.0, crosstabs=[("c0", "w")], random_state=0)
    names = found.crosstabs_["c0", "w"].index
    assert names.is_unique
    assert len(names) >= 5
    for text in names[1:-2]:
        low, high = map(float, text.strip("(]").split(","))
        assert low < high
        assert 0.02 < ((table["c0"] > low) & (table["c0"] <= high)).mean() < 0.6


ENDS, NOISE = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 500.0, 501.0]), 10.0


def column_of(between, at=()):
    """A column with counts between ends, and at some of them."""
    counts = np.zeros(2 * ENDS.size + 2)
    counts[2:-3:2] = between
    for place, count in at:
        counts[1 + 2 * place] = count
    return NumberColumn.of("x", Histogram(ENDS, counts, NOISE, 4.0 * NOISE), int(counts.sum()))


def test_one_outer_bin_of_noise_is_no_range():
    bulk = [300.0, 500.0, 500.0, 300.0]
    column = column_of([*bulk, 0.0, 45.0])
    assert (column.low, column.high) == (0.0, 4.0)
    assert column.shown.sum() == 1600.0
    # What is there for sure is in the range, however far.
    assert column_of([*bulk, 0.0, 61.0]).high == 501.0
    assert column_of([*bulk, 0.0, 0.0], [(5, 45.0), (6, 45.0)]).high == 501.0
    # A number that nearly all have has no width.
    column = column_of([0.0, 0.0, 0.0, 0.0, 0.0, 45.0], [(1, 2000.0)])
    assert (column.low, column.high) == (1.0, 1.0)


def test_no_deviation_of_one_number_where_others_are_seen():
    """A flag of few records isn't a column of one number: 0 is given where no others are seen."""
    for share, expected in ((0.0, 0.0), (0.01, np.nan)):
        for seed in range(3):
            numbers = (np.random.default_rng(seed).random(3000) < share).astype(float)
            found = describe(pd.DataFrame({"x": numbers}), epsilon=1.0, random_state=seed)
            std = found.to_frame().loc["x", ["std", "std_low", "std_high"]].tolist()
            np.testing.assert_array_equal(std, [expected, 0.0, np.inf if share else 0.0])
    # Two bins of others, of a range that has a width or not; the noise is 10 a bin.
    beside = [(1, 2000.0), (5, 20.0), (6, 20.0)]
    assert np.isnan(deviation_of(column_of([0.0] * 6, beside)))
    beside[1:] = [(5, 15.0), (6, 15.0)]
    assert deviation_of(column_of([0.0] * 6, beside)) == 0.0


def deviation_of(column):
    column = NumberColumn(**{**vars(column), "moments": (np.array([0.0, 2000.0]), 1.0)})
    return column.statistics(2.0, 2.3)["std"][0]


def test_no_mean_or_deviation_of_a_few_that_show():
    """Where most entries may be anywhere else, it is as if nothing showed."""
    beyond = np.zeros(2 * ENDS.size + 2)
    beyond[[0, 4, 6, 8, 10, 12, 14]] = 35.0
    counts = beyond.copy()
    counts[3] = 80.0
    column = NumberColumn.of("x", Histogram(ENDS, counts, NOISE, 4.0 * NOISE), int(counts.sum()))
    column = NumberColumn(**{**vars(column), "moments": (np.zeros(2), 1.0)})
    found = column.statistics(2.0, 2.3)
    assert np.isnan(found["std"][0])
    assert np.isnan(found["mean"][0])
    assert np.isnan(found["5%"][0])


def test_what_is_unknown_says_so():
    table = pd.DataFrame({"x": np.random.default_rng(0).normal(1e6, 1.0, 400), "w": "a"})
    found = describe(table, epsilon=1.0, random_state=0)
    frame = found.to_frame()
    assert np.isnan(frame.loc["x", "std"])
    assert frame.loc["x", "std_high"] > 0.0
    html = found._repr_html_()
    assert "unknown\n(" in html
    assert "nan" not in html.lower()


def test_a_file_of_0_3_0_has_the_range_of_all_bins():
    table = pd.DataFrame({"x": np.random.default_rng(0).normal(50.0, 3.0, 5000)})
    found = describe(table, epsilon=1.0, random_state=0)
    (column,) = found.columns
    state = vars(column).copy()
    del state["low"], state["high"]
    column = NumberColumn.__new__(NumberColumn)
    column.__setstate__(state)
    stored = replace(found, columns=(column,))
    frame = stored.to_frame()
    ends = frame.loc["x", ["cut_low", "cut_high"]].tolist()
    assert ends == [column.ends[0], column.ends[-1]]
    assert "nan" not in stored._repr_html_().lower()
