"""Curves of columns that are mostly one number or few: the rest is told from these."""

import numpy as np
import pandas as pd
import pytest

from skdp.preprocessing import DPTableVectorizer
from tests.door import Histogram, find_shape

N = 10_000
NOISE = 50.0


class _Plan:
    """How many knots a plan gives to a column."""

    basis = "hats"

    def __init__(self, n_knots=4, most_knots=12):
        self.n_knots, self.most_knots = n_knots, most_knots

    def knots_for(self, n_records):
        return self.n_knots


def shape(ends, counts, *, bounds=None, n_there=N, **of_plan):
    counts = np.array(counts, dtype=float)
    histogram = Histogram(np.array(ends, dtype=float), counts, noise=NOISE, least=4.0 * NOISE)
    return find_shape(histogram, bounds=bounds, n_there=n_there, plan=_Plan(**of_plan))


# Bins: below, at, between and above the ends, and last gaps.
@pytest.mark.parametrize(
    ("counts", "other"),
    [
        ([0, 9700, 300, 0], 1.0),  # seen in the open bin
        ([300, 9700, 0, 0], -1.0),
        ([10, 9700, 20, 0], 1.0),  # seen nowhere
        ([0, 7700, 20, 2000], 1.0),  # beside gaps
    ],
)
def test_a_number_is_told_from_a_small_rest(counts, other):
    found = shape([0.0], counts)
    assert (found.spike, found.is_line, found.knots.tolist()) == (0.0, False, [other])
    assert found.points.tolist() == [0.0, other]
    assert found.counts.tolist() == [counts[1], N - counts[1] - counts[3]]


@pytest.mark.parametrize("counts", [[0, 9800, 0, 0], [90, 7800, 90, 2000]])
def test_a_rest_that_noise_may_be_has_no_column(counts):
    found = shape([0.0], counts)
    assert (found.spike, found.knots.tolist()) == (None, [0.0])
    # What isn't public tells of no rest.
    assert shape([0.0], [0, 5000, 0, 0], n_there=None).spike is None
    assert shape([0.0], [0, 5000, 700, 0], n_there=None).spike == 0.0


def test_a_rest_beside_a_bound_is_within():
    found = shape([0.0, 1.0], [0, 0, 0, 9700, 0, 0], bounds=(0.0, 1.0))
    assert found.spike == 1.0
    assert 0.0 <= found.knots[0] < 1.0


def test_a_line_crosses_the_only_bin_between_ends():
    found = shape([0.0625, 0.125], [0, 0, 9000, 0, 0, 0])
    assert (found.is_line, found.knots.tolist()) == (True, [0.0625, 0.125])
    assert found.counts.tolist() == [500, 9000, 500]
    found = shape([0.0625, 0.125], [0, 0, 9990, 0, 0, 0])
    assert (found.is_line, found.knots.tolist()) == (False, [0.1])
    # Nor is a number at an end that doesn't stand out.
    found = shape([0.0625, 0.125], [0, 90, 450, 0, 0, 0])
    assert (found.is_line, found.spike, found.knots.tolist()) == (True, None, [0.0625, 0.125])


@pytest.mark.parametrize(
    ("counts", "knots"),
    [
        ([0, 5000, 0, 4600, 400, 0], [1, 2, 3]),
        ([400, 5000, 0, 4600, 0, 0], [0, 1, 2]),
        ([220, 5000, 0, 4560, 220, 0], [0, 1, 2, 3]),
        ([0, 5000, 0, 4860, 140, 0], [1, 2]),
    ],
)
def test_numbers_beyond_common_ones_have_a_knot(counts, knots):
    found = shape([1.0, 2.0], counts)
    assert found.knots.tolist() == knots
    assert found.counts.sum() == 10_000 - (140 if len(knots) == 2 else 0)
    assert shape([1.0, 2.0], counts, most_knots=2).knots.tolist() == [1, 2]
    assert shape([1.0, 2.0], counts, bounds=(1.0, 2.0)).knots.tolist() == [1, 2]
    points = dict(zip(found.points.tolist(), found.counts.tolist(), strict=True))
    for number, count in ((0, counts[0]), (3, counts[4])):
        assert points.get(number, 0) == (count if number in knots else 0)


def test_an_open_bin_that_holds_much_has_a_knot():
    # It is no number, and all in it would be at the last end.
    found = shape([0.0], [0, 6000, 4000, 0])
    assert (found.spike, found.knots.tolist()) == (None, [0.0, 1.0])
    found = shape([1.0, 2.0], [0, 5000, 0, 1000, 4000, 0])
    assert found.knots.tolist() == [1.0, 2.0, 3.0]
    found = shape([1.0, 2.0], [4000, 5000, 0, 1000, 0, 0])
    assert found.knots.tolist() == [0.0, 1.0, 2.0]
    # So it is beside a bin between ends that holds all the rest.
    found = shape([1.0, 2.0], [0, 0, 6000, 0, 4000, 0])
    assert (found.is_line, found.knots.tolist()) == (False, [1.5, 3.0])
    assert found.counts.tolist() == [6000, 4000]
    # With few knots it has none, and the number is told by a column of its own.
    assert shape([0.0], [0, 6000, 4000, 0], n_knots=2).spike == 0.0
    # Of a column that is in an open bin alone nothing is known.
    assert shape([1.0], [0, 0, N, 0]).knots.tolist() == [1.0]


@pytest.mark.parametrize("seed", range(3))
def test_zeros_are_told_from_numbers_of_all_sizes(seed):
    rng = np.random.default_rng(seed)
    x = np.where(rng.random((1000, 8)) < 0.6, 0.0, np.round(rng.lognormal(6.0, 2.0, (1000, 8))))
    X = pd.DataFrame(x).add_prefix("x")
    fitted = DPTableVectorizer(epsilon=1.0, delta=1e-5, random_state=seed).fit(X)
    for term, column in zip(fitted._basis.terms, x.T, strict=True):
        of_zeros, of_others = (
            term.block(column[mask]).mean(axis=0) for mask in (column == 0, column > 9)
        )
        assert np.abs(of_zeros - of_others).max() > 0.5


def columns(rng, n, share):
    is_other = rng.random(n) < share
    dates = np.where(is_other, rng.integers(15_000, 19_000, n), 18_000)
    return pd.DataFrame(
        {
            "gain": np.where(is_other, np.round(rng.lognormal(8.0, 1.0, n)), 0.0),
            "left": np.where(is_other, -rng.lognormal(0.0, 2.0, n), 7.0),
            "tenth": np.where(is_other, rng.normal(0.0, 5.0, n), 0.1),
            "gaps": np.where(rng.random(n) < 0.3, np.nan, np.where(is_other, rng.random(n), 1.0)),
            "days": pd.to_datetime(dates, unit="D"),
            "same": np.where(rng.random(n) < 0.3, np.nan, 5.0),
        }
    )


@pytest.mark.parametrize("has_groups", [False, True])
def test_columns_of_one_number_keep_what_differs(rng, has_groups):
    n = 20_000
    X = columns(rng, n, 0.1)
    # A person's rows are alike, so that the number of people decides.
    groups = np.arange(n) if has_groups else None
    model = DPTableVectorizer(epsilon=0.1, random_state=0).fit(X, groups=groups)
    terms = {term.name: term for term in model._basis.terms}
    assert {name: term.spike for name, term in terms.items()} == {
        "gain": 0.0,
        "left": 7.0,
        "tenth": None,
        "gaps": 1.0,
        "days": 18_000.0,
        "same": None,
    }
    # It isn't at an end, so that both sides are told from it.
    sides = terms["tenth"].block(np.array([-5.0, 0.1, 5.0]))
    assert np.ptp(sides, axis=0).max() >= 1.0
    assert len(np.unique(sides, axis=0)) == 3
    assert terms["same"].labels == ["same_5", "same_missing"]
    assert terms["gain"].labels == ["gain_is_not_0", "gain_is_0"]
    assert terms["days"].labels[-1] == "days_is_2019-04-14"
    rows = model.transform(X)
    names = model.get_feature_names_out().tolist()
    assert rows[:, names.index("gain_is_not_0")].tolist() == (X["gain"] != 0.0).tolist()


def test_an_open_bin_beside_common_numbers_needs_one_knot():
    counts = [0, 1500, 0, 2500, 0, 2000, 4000, 0]
    assert shape([0.0, 1.0, 2.0], counts, most_knots=4).knots.tolist() == [0, 1, 2, 3]
    assert shape([0.0, 1.0, 2.0], counts, most_knots=3).knots.tolist() == [0, 1, 2]
