"""Whole noise on whole counts."""

import math

import numpy as np
import pytest
from scipy import stats

from tests.door import DiscreteLaplaceMechanism, make_stream


@pytest.mark.parametrize("scale", [0.2, 1.0, 3.7, 40.0])
@pytest.mark.parametrize("random_state", [0, None])
def test_noise_has_exactly_the_stated_law(scale, random_state):
    """A false alarm has a probability below 1e-9, and a scale wrong by a tenth is seen."""
    made = DiscreteLaplaceMechanism(scale)
    noise = made.release(np.zeros(100_000, dtype=np.int64), make_stream(random_state))
    assert noise.dtype == np.int64
    law = stats.dlaplace(1.0 / scale)
    reach = int(law.ppf(1.0 - 1e-4))
    inside = np.arange(-reach, reach + 1)
    expected = np.concatenate([[law.cdf(-reach - 1)], law.pmf(inside), [law.sf(reach)]])
    seen = np.bincount(np.clip(noise, -reach - 1, reach + 1) + reach + 1, minlength=expected.size)
    assert stats.chisquare(seen, noise.size * expected).pvalue > 1e-9
    assert made.noise_std == pytest.approx(law.std(), rel=1e-5)
    off = stats.dlaplace(1.0 / (1.1 * scale))
    wrong = np.concatenate([[off.cdf(-reach - 1)], off.pmf(inside), [off.sf(reach)]])
    assert stats.chisquare(seen, noise.size * wrong).pvalue < 1e-9


@pytest.mark.parametrize("scale", [1e-6, 1e9])
def test_extreme_scales(scale):
    made = DiscreteLaplaceMechanism(scale)
    noise = made.release(np.zeros((2, 50_000), dtype=np.int64), make_stream(0))
    assert noise.shape == (2, 50_000)
    assert math.isclose(made.noise_std, noise.std(), rel_tol=0.03, abs_tol=1e-6)


def test_counts_are_left_alone_and_move_what_is_released_by_as_much():
    counts = np.array([3, 0, 10**9])
    made = DiscreteLaplaceMechanism(2.0)
    moved = made.release(counts, make_stream(1)) - made.release(0 * counts, make_stream(1))
    np.testing.assert_array_equal(moved, counts)
    np.testing.assert_array_equal(counts, [3, 0, 10**9])


def test_noise_of_counts_is_independent():
    noise = DiscreteLaplaceMechanism(5.0).release(np.zeros((2, 20_000), int), make_stream(0))
    assert stats.pearsonr(*noise).pvalue > 1e-9
    assert stats.pearsonr(noise[0, 1:], noise[0, :-1]).pvalue > 1e-9


def test_without_noise_counts_come_back():
    made = DiscreteLaplaceMechanism(0.0)
    assert made.noise_std == 0.0
    np.testing.assert_array_equal(made.release(np.arange(3), make_stream(0)), np.arange(3))


@pytest.mark.parametrize("scale", [-1.0, math.inf, math.nan, 1e11])
def test_a_scale_must_be_a_moderate_number(scale):
    with pytest.raises(ValueError, match="scale of noise"):
        DiscreteLaplaceMechanism(scale)


def test_the_scale_is_never_rounded_down():
    """Or the guarantee would be a little larger than what is accounted."""
    for scale in (1 / 3, 0.1, 7.3, 1e-7, 123456.789):
        made = DiscreteLaplaceMechanism(scale)
        assert made._parts / 2**20 >= scale
        assert made._parts / 2**20 - scale <= 2.0**-20
