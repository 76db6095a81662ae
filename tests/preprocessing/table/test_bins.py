"""Bins of numbers, and what follows from their counts."""

import numpy as np
import pytest

from tests._loops import for_each
from tests.door import (
    coarse_ends,
    count_bins,
    find_narrow,
    heavy_ends,
    middles,
    narrow_ends,
    numbers_at,
    numbers_in,
    outermost_edges,
    public_ends,
    replace_bins,
    show_counts,
    split_bins,
)

NASTY = np.array([-0.0, 0.0, 5e-324, -5e-324, 1e308, -1e308, 1.0, 2.0, -1.0, 3.0, np.nan])


@pytest.mark.parametrize("ends", [coarse_ends(), np.array([0.0, 1.0, 2.5]), np.empty(0)])
def test_every_number_is_in_one_bin(ends):
    for x in NASTY:
        counts = count_bins(np.array([x]), ends)
        assert counts.size == 2 * ends.size + 2
        assert counts.sum() == counts.max() == 1.0
    counts = count_bins(NASTY, ends)
    assert counts.sum() == NASTY.size
    assert counts[-1] == 1.0


@for_each("n_ends", [0, 1, 50])
@for_each("n_rows", [0, 1, 1000])
def test_all_numbers_are_counted_as_each_is(n_rows, n_ends):
    rng = np.random.default_rng(0)
    x = rng.choice(np.append(NASTY, rng.integers(-5, 60, 20)), n_rows)
    ends = np.unique(rng.integers(-5, 60, n_ends).astype(float))
    counts = count_bins(x, ends)
    np.testing.assert_array_equal(counts, count_bins(x, ends, np.ones(n_rows)))
    assert counts.dtype == np.float64


def test_numbers_at_an_end_are_told_from_others():
    counts = count_bins(NASTY, np.array([0.0, 1.0, 2.0]))
    np.testing.assert_array_equal(counts, [3, 2, 1, 1, 0, 1, 2, 1])


@pytest.mark.parametrize(
    ("low", "high", "step"), [(0, 120, 1.0), (0, 1, 2.0**-6), (-124, -114, 0.125), (0.1, 0.3, None)]
)
def test_public_ends_are_round(low, high, step):
    ends = public_ends(low, high)
    assert ends[0] == low
    assert ends[-1] == high
    assert 60 <= ends.size <= 132
    if step is not None:
        np.testing.assert_array_equal(np.diff(ends), step)


def test_bins_are_halved_as_often_as_they_are_full():
    ends = np.array([0.0, 1.0, 2.0, 4.0, 8.0])
    counts = np.array([0.0, 0, 800, 0, 0, 0, 200, 0, 90, 0, 0, 0])
    finer = split_bins(ends, counts, 100.0)
    np.testing.assert_array_equal(finer, [*np.arange(9) / 8, 2.0, 3.0, 4.0, 8.0])
    assert split_bins(ends, np.zeros(12), 100.0).size == 0


def test_counts_stand_out_alone_or_with_neighbours_of_one_width():
    ends = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 8.0, 16.0])
    counts = np.array([9.0, 0, 5, 9, 5, 0, 3, 1, 7, 0, 5, 0, 5, 0, 7, 9])
    shown = [9.0, 0, 5.25, 9, 5.25, 0, 5.25, 0, 5.25, 0, 0, 0, 0, 0, 0, 9]
    np.testing.assert_array_equal(show_counts(ends, counts, 7.0), shown)
    np.testing.assert_array_equal(show_counts(ends, counts, 0.0), counts)
    for few in (ends[:0], ends[:1], ends[:2]):
        counts = np.full(2 * few.size + 2, 9.0)
        np.testing.assert_array_equal(show_counts(few, counts, 8.0), counts)


@for_each("width", [1e6, 0.7])
@for_each("low", [33.310843, 1 / 3])
def test_neighbours_stand_out_together_though_their_width_is_rounded(low, width):
    ends = np.linspace(low, low + width, 65)
    assert np.unique(np.diff(ends)).size > 1
    counts = np.zeros(132)
    counts[2:-3:2] = 5.0
    assert show_counts(ends, counts, 7.0).sum() == 320.0
    # Each bin is half as wide again as the one before.
    ends = low + 1.5 ** np.arange(65.0)
    assert show_counts(ends, counts, 7.0).sum() == 0.0


NOTHING = (np.inf, -np.inf)


def test_edges_are_those_of_the_outermost_bins_that_hold_enough():
    ends, counts = np.array([1.0, 2.0, 4.0]), np.array([0.0, 0, 9, 0, 3, 9, 0, 90])
    assert outermost_edges(ends, counts, 8.0) == (1.0, 4.0)
    assert outermost_edges(ends, counts, 9.0) == NOTHING
    counts[0] = 10.0
    assert outermost_edges(ends, counts, 9.0) == (-np.inf, 1.0)


def test_a_bin_that_holds_much_has_many_ends():
    ends, counts = np.array([0.0, 1.0, 2.0]), np.array([0.0, 0, 5, 0, 95, 0, 0, 0])
    np.testing.assert_array_equal(heavy_ends(ends, counts, 1.0), 1.0 + np.arange(257) / 256)
    np.testing.assert_array_equal(heavy_ends(ends, counts, 20.0), 1.0 + np.arange(17) / 16)
    np.testing.assert_array_equal(heavy_ends(ends, counts, 100.0), [1.0, 2.0])
    assert heavy_ends(ends, np.array([0.0, 99, 5, 99, 5, 99, 0, 0]), 1.0).size == 0


def test_numbers_are_narrow_in_one_of_many_bins_or_two_neighbours_of_more():
    def narrow(n_bins, *held, least=3.0):
        counts = np.zeros(2 * n_bins + 4)
        counts[[2 + 2 * place for place in held]] = 96.0
        counts[2:-3:2][-1] += 4.0
        # What is at ends is there beside.
        counts[1], counts[-1] = 1000.0, 1000.0
        found = find_narrow(np.arange(n_bins + 1.0), counts, least)
        return None if found is None else found.tolist()

    assert narrow(32, 7) == [7.0, 8.0]
    assert narrow(31, 7) is None
    assert narrow(64, 7, 8) == [7.0, 8.0, 9.0]
    assert narrow(63, 7, 8) is None
    assert narrow(64, 7, 9) is None
    assert narrow(64, *range(64)) is None
    assert narrow(64) is None
    assert narrow(64, 7, least=3.1) is None


@pytest.mark.parametrize("narrow", [[2.0**23, 2.0**23 + 2.0**16], [-0.3, 0.1, 0.7]])
def test_bins_of_narrow_numbers_are_bins_of_larger_ones_and_lose_nothing(narrow):
    """Bins in which a small one stands out are replaced by small ones, with the same records."""
    large, *smaller = narrow_ends(np.array(narrow))
    assert np.isin(large, smaller[0]).all()
    assert np.isin(smaller[0], smaller[1]).all()
    width = narrow[-1] - narrow[0]
    x = narrow[0] + width * (0.613 + 1e-5 * np.random.default_rng(0).random(1000))
    x = np.concatenate([x, [narrow[0] - 1.0, narrow[-1] + 1.0, np.nan], large[3:5]])
    ends = np.unique(np.concatenate([[-100.0], large, [1e9]]))
    counts = count_bins(x, ends)
    for small in smaller:
        ends, counts = replace_bins(ends, counts, small, count_bins(x, small), 5.0)
        np.testing.assert_array_equal(counts, count_bins(x, ends))
    shown = np.flatnonzero(counts > 5.0)
    assert 2 <= shown.size <= 8
    assert ends.size < 1200
    # Where many bins hold some, small ones would only be more.
    x = narrow[0] + width * np.linspace(0.2, 0.4, 20_000)
    for small in smaller:
        same = replace_bins(ends, counts, small, count_bins(x, small), 1.0)
        assert same[0] is ends
        assert same[1] is counts


def test_numbers_of_shares_are_short_and_in_the_bin_that_is_reached():
    ends = np.array([-36.11, -36.09, 0.0, 17.3, 40.2])
    counts = np.array([0.0, 0, 10, 0, 0, 0, 10, 0, 10, 10, 10, 0])
    np.testing.assert_array_equal(numbers_at(ends, counts, [0.01, 0.3]), [-36.1, 10.0])
    np.testing.assert_array_equal(numbers_at(ends, counts, [0.5, 0.75, 0.95]), [30.0, 40.2])
    np.testing.assert_array_equal(numbers_in(ends, [0, 1]), [-36.11])


def test_middles_lie_in_their_bins():
    ends = np.array([0.0, 1.0, 5.0])
    np.testing.assert_array_equal(middles(ends), [0, 0, 0.5, 1, 3, 5, 5, np.nan])
    assert middles(np.empty(0)).size == 2
