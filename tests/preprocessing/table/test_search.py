"""The search for where the numbers of a column lie."""

import numpy as np

from tests.door import ColumnSearch

NOTHING = (np.inf, -np.inf)


def left(counts, *, least=4.0, certain=NOTHING, gaps=0.0):
    """Return what is left of counts at ends and between, and above the last end."""
    ends = np.array([2.0**-9, 2.0**-8, 4.0, 6.0, 8.0, 64.0, 96.0])
    counts = np.array([0.0, *counts, gaps])
    shown = np.where(counts > 3.0, counts, 0.0)
    coarse = 2.0 ** np.arange(-9, 10)
    search = ColumnSearch(column=0, bounds=None, ends=ends, coarse=coarse, certain=certain)
    return search.hide_strays(counts, shown, least)[1:-1].tolist()


def test_what_noise_shows_far_out_is_left_to_the_open_bin():
    main = [5.0, 50.0, 5.0, 50.0, 5.0]
    near = [0, 0, 0, 0, *main, 0, 0, 0, 0, 0]
    # Gaps are no numbers beyond.
    for gaps in (0.0, 900.0):
        # 4 is at the inner end of the bin from 2**-8 on, and only that is known of its numbers.
        assert left([0, 3.9, 0, 9.0, *main, 9.0, 0, 3.9, 0, 0], gaps=gaps) == near
        assert left([0, 0, 0, 9.0, *main, 9.0, 0, 0, 0, 0], gaps=gaps) == near
        assert left([3.5, 0, 0, 9.0, *main, 9.0, 0, 0, 0, 3.9], gaps=gaps) == near
    # A bin without coarse ends has its place, however few it has.
    few = [0, 0, 0, 0, 5.0, 0, 0, 3.5, 0, 0, 0, 0, 0, 0]
    assert left(few) == few


def test_what_is_told_far_out_stays_and_all_that_lies_between():
    main = [5.0, 50.0, 5.0, 50.0, 5.0]
    near = [0, 0, 0, 0, *main, 0, 0, 0, 0, 0]
    told_above = [0, 0, 0, 0, *main, 9.0, 0, 4.1, 0, 0]
    assert left(told_above) == told_above
    # Two bins are told by less each.
    told_below = [3.5, 3.5, 0, 9.0, *main, 0, 0, 0, 0, 0]
    assert left(told_below) == told_below
    assert left(told_below, least=5.0) == near
    # Or an earlier count has told of them, in a bin that reaches farther.
    hardly_above = [0, 0, 0, 0, *main, 9.0, 0, 3.9, 0, 0]
    assert left(hardly_above) == near
    assert left(hardly_above, certain=(4.0, 128.0)) == hardly_above
    assert left(hardly_above, certain=(4.0, 64.0)) == hardly_above
    assert left(hardly_above, certain=(4.0, 63.0)) == near
    hardly_below = [0, 3.5, 0, 9.0, *main, 0, 0, 0, 0, 0]
    assert left(hardly_below, certain=(2.0**-9, 8.0)) == hardly_below
    assert left(hardly_below, certain=(2.0**-8, 8.0)) == hardly_below
    assert left(hardly_below, certain=(2.0**-7, 8.0)) == near


def test_a_bin_across_a_gap_is_hidden_even_where_nothing_else_is_shown():
    only = [0, 0, 0, 0, 0, 0, 0, 0, 0, 90.0, 0, 0, 0, 0]
    assert left(only) == [0] * 14
    coarse = 2.0 ** np.arange(-9, 10)
    for ends in (coarse[:0], coarse[:1], coarse):
        search = ColumnSearch(column=0, bounds=None, ends=ends, coarse=coarse)
        counts = np.full(2 * ends.size + 2, 9.0)
        np.testing.assert_array_equal(search.hide_strays(counts, counts, 4.0), counts)


def after_first_counts(ends, counts):
    """Return the ends that follow from first counts, whose noise is 1."""
    search = ColumnSearch(column=0, bounds=None, ends=ends, coarse=2.0 ** np.arange(-9, 10))
    search.learn_first_counts(counts, 1.0, 5.0)
    return search.ends


def test_coarse_bins_are_counted_again_where_no_end_would_be_left():
    # The numbers are somewhere in the wide bin, and noise shows the bin above it.
    ends = np.array([1.0, 2.0, 64.0, 128.0])
    wide = np.array([0.0, 0, 0, 0, 90, 0, 3.5, 0, 0, 0])
    np.testing.assert_array_equal(after_first_counts(ends, wide), 2.0 ** np.arange(8.0))
    # What is certain to be far out isn't hidden, and a column in which nothing is shown has no end.
    assert after_first_counts(ends, wide + np.eye(10)[6])[-1] == 128.0
    assert after_first_counts(ends, np.zeros(10)).size == 0
