"""Bins of noise alone aren't taken for rows or targets, and what is there isn't taken for noise."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from tests._loops import for_each
from tests._runs import HandRun
from tests.door import (
    UNIT_BINS,
    SumOfCutRows,
    ball_counts_module as _counts,
    ball_tuned as tuned,
    bins_about,
    bins_below,
    learn_sizes,
    learn_targets,
    quantile,
)

FAR = 200
WHERE = {"targets": (1, 2, 250), "three targets": (3, 2, 250), "columns": (20, 1, 80)}


@pytest.mark.parametrize("shape", WHERE.values(), ids=WHERE)
def test_noise_alone_stands_out_as_rarely_as_is_said(shape):
    """Three tests of a release, each by a chance of one in fifty here instead of 3e-8.

    The rate is above the bound by chance less than once in a million.
    """
    rng, n_runs, by_chance = np.random.default_rng(0), 600, 0.02
    found = sum(
        _counts.standing_out(rng.standard_normal(shape), 1.0, by_chance).any()
        for _ in range(n_runs)
    )
    most = 3.0 * by_chance * n_runs
    assert 0.1 * most < found < most + 5.0 * math.sqrt(most)


@for_each("n_counts", [1, 80, 500, 1500, 2500, 200_000])
def test_a_release_shows_noise_in_less_than_one_of_ten_million(n_counts):
    """By exact tails: each count alone, and two neighbours, of which there are fewer than twice."""
    alone = n_counts * norm.sf(_counts.loudest(1.0, n_counts))
    counts = np.zeros((1, 1, n_counts))
    least = -norm.ppf(math.sqrt(tuned.CHANCE_OF_NOISE / (2.0 * n_counts)))
    if n_counts > 1:
        counts[0, 0, :2] = 0.999 * least
        assert not _counts.standing_out(counts, 1.0)[0, 0, 2:].any()
        counts[0, 0, :2] = 1.001 * least
        assert _counts.standing_out(counts, 1.0)[0, 0, :2].all()
    pairs = 2.0 * n_counts * norm.sf(least) ** 2
    in_a_row = tuned.CHANCE_OF_NOISE
    assert alone + pairs + in_a_row < 1e-7


def counted(places):
    """Counts of targets on both sides, 0 but for those given by side and place."""
    counts = np.zeros((1, 2, UNIT_BINS.n_bins))
    for (side, place), count in places.items():
        counts[0, side, place] = count
    return counts


class Prescribed:
    """Releases of targets whose noise, of deviation 1, is prescribed."""

    def __init__(self, first, n_records):
        self.first = first
        mechanism = SimpleNamespace(noise_std=1.0, release=lambda counts, stream: counts)
        release = SimpleNamespace(mechanism=mechanism, size=first.size, bound=1.0)
        release.bounded = lambda *_, **__: release
        self.plan = SimpleNamespace(
            n_records=n_records, n_targets=1, quantile=0.98, holds_outliers=True, n_rounds=2,
            coarse=release, sides=release, centre=release,
        )  # fmt: skip

    def ask(self, query):
        if isinstance(query, SumOfCutRows):
            return np.zeros(1)
        if query.bins is UNIT_BINS:
            return self.first
        counts = np.zeros((1, 2, query.bins.n_bins))
        # All are near the unit, on the side of the bulk.
        counts[0, 1, -4] = self.plan.n_records
        return counts


def reach_of(first, n_records=1000):
    sums = Prescribed(first, n_records)
    run = HandRun(sums.plan.coarse.mechanism)
    low, high = learn_targets(sums, plan=sums.plan, run=run)
    means, sizes, _ = learn_sizes(sums, plan=sums.plan, run=run, noises=[0.01])
    return max(-low, high), max(means[0], sizes[0, 0])


BULK = {(1, 125): 900.0}


@pytest.mark.parametrize("bulk", [BULK, {(1, 0): 900.0}, {(0, 125): 450.0, (1, 125): 450.0}])
def test_one_loud_bin_far_from_all_targets_is_noise(bulk):
    """A learnt range that reached there would be 1e45 times too wide, and nothing would warn."""
    near = reach_of(counted(bulk))
    for noise in (5.2, 6.2):
        assert reach_of(counted(bulk | {(1, FAR): noise})) == near


def test_what_is_louder_or_has_a_neighbour_is_there():
    near, size = reach_of(counted(BULK))
    for far in ({(1, FAR): 7.0}, {(1, FAR): 4.6, (1, FAR - 1): 4.6}):
        wide = reach_of(counted(BULK | far))
        assert wide[0] > 1e20 * near
        assert wide[1] > 1e20 * size
    wide, _ = reach_of(counted(BULK | {(0, FAR): 4.6, (1, FAR): 4.6}))
    assert wide > 1e20 * near


def test_bins_in_a_row_tell_together_where_none_does_alone():
    alone, together = {(1, 60): 4.2}, {(1, 60 + j): 4.2 for j in range(4)}
    nothing = reach_of(np.zeros((1, 2, UNIT_BINS.n_bins)), n_records=20)
    assert reach_of(counted(alone), n_records=20) == nothing
    assert reach_of(counted(together), n_records=20) != nothing


def test_the_bulk_is_seen_by_less_where_the_fit_warns():
    nothing = reach_of(np.zeros((1, 2, UNIT_BINS.n_bins)), n_records=8)
    assert reach_of(counted({(1, 60): 5.5}), n_records=8) != nothing
    assert reach_of(counted({(1, 60): 5.5}), n_records=80) == nothing


@pytest.mark.parametrize("bins", [UNIT_BINS, bins_about(2.0)], ids=["units", "scales"])
def test_one_loud_bin_makes_no_column_long(bins):
    """Sizes hold nearly all that is seen, so one false bin at the end would be the size."""
    counts = np.zeros((4, bins.n_bins))
    counts[:, 30:33] = 100.0
    plain, _ = _counts.sizes_of_columns(counts, 1.0, bins, np.zeros(4), 300)
    counts[2, -3] = 6.2
    found, _ = _counts.sizes_of_columns(counts, 1.0, bins, np.zeros(4), 300)
    np.testing.assert_array_equal(found, plain)
    counts[2, -3] = 8.0
    assert _counts.sizes_of_columns(counts, 1.0, bins, np.zeros(4), 300)[0][2] > plain[2]


def test_one_loud_bin_makes_no_radius_long():
    """The share of a loud bin and of the noise on the way to it is more than the radius leaves."""
    for bins in (bins_about(1.0), bins_below(1e6)):
        counts = np.zeros(bins.n_bins)
        counts[20:23] = 30.0
        plain = quantile(counts, 1.0, bins, 0.95)
        counts[-1] = 5.8
        assert quantile(counts, 1.0, bins, 0.95) == plain
