import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from tests._loops import for_each
from tests.door import GaussianMechanism, LaplaceMechanism, as_symmetric, as_vector, make_stream


def mechanism(**changes):
    arguments = {
        "contribution_bound": 0.3,
        "noise_multiplier": 2.0,
        "size": 6,
        "n_records": 1000,
        **changes,
    }
    return GaussianMechanism(**arguments)


def test_noise_has_the_stated_law():
    made = mechanism(size=200_000)
    noise = made.release(np.zeros((2, 100_000)), make_stream(0)).ravel() / made.noise_std
    assert stats.kstest(noise, "norm").pvalue > 1e-9
    assert made.noise_std == pytest.approx(2.0 * 0.3, rel=1e-2)


@pytest.mark.parametrize("bound", [1e-9, 0.3, 1e12])
@pytest.mark.parametrize("multiplier", [1e-2, 1.0, 1e5])
def test_releases_lie_on_a_grid_that_does_not_depend_on_the_value(bound, multiplier, rng):
    made = mechanism(contribution_bound=bound, noise_multiplier=multiplier)
    assert math.frexp(made.grid)[0] == 0.5
    stream = make_stream(0)
    for size in (0.0, 1e-6, 1.0, 1000.0):
        value = size * bound * rng.standard_normal(6)
        steps = made.release(value, stream) / made.grid
        np.testing.assert_array_equal(steps, np.rint(steps))
        assert np.abs(steps).max() < 2.0**53


def test_the_value_is_rounded_and_the_noise_added_exactly(rng):
    made = mechanism()
    value = rng.standard_normal(6)
    difference = made.release(value, make_stream(1)) - made.release(np.zeros(6), make_stream(1))
    np.testing.assert_array_equal(difference, np.rint(value / made.grid) * made.grid)


def test_rounding_is_part_of_the_sensitivity():
    """Two values at distance C whose rounded values are further apart, in the worst direction."""
    made = mechanism(size=10_000, contribution_bound=1.0)
    low = np.full(10_000, 0.49 * made.grid)
    high = low + 1.0 / 100.0
    high = high + (0.51 * made.grid - np.mod(high, made.grid))
    rounded = np.linalg.norm((np.rint(high / made.grid) - np.rint(low / made.grid)) * made.grid)
    assert rounded > np.linalg.norm(high - low)
    assert rounded - np.linalg.norm(high - low) <= made.sensitivity - 1.0
    assert made.sensitivity - 1.0 == pytest.approx(100 * made.grid)
    assert made.noise_std == 2.0 * made.sensitivity
    assert mechanism(rounding_slack=0.1).sensitivity > 1.0999 * 0.3


def test_the_grid_grows_with_the_bound_of_the_value():
    small, large = mechanism(), mechanism(n_records=10**9)
    assert large.grid > small.grid
    assert large.n_records * large.contribution_bound / large.grid <= 2.0**40


@pytest.mark.parametrize("multiplier", [1.0, 1e5, 1e9])
def test_value_and_noise_add_up_exactly_however_large_the_noise(multiplier):
    made = mechanism(noise_multiplier=multiplier, size=1000)
    assert made.noise_std / made.grid <= 2.0**42
    released = made.release(np.full(1000, 0.3), make_stream(0)) / made.grid
    noise = made.release(np.zeros(1000), make_stream(0)) / made.grid
    np.testing.assert_array_equal(released - noise, np.rint(0.3 / made.grid))


def test_release_leaves_the_value_alone(rng):
    value = rng.standard_normal(6)
    before = value.copy()
    mechanism().release(value, make_stream(0))
    np.testing.assert_array_equal(value, before)


def test_without_noise_the_value_comes_back():
    value = np.array([0.1, 1e9])
    made = mechanism(contribution_bound=math.inf, noise_multiplier=0.0, size=2)
    np.testing.assert_array_equal(made.release(value, make_stream(0)), value)
    assert made.noise_std == 0.0


@pytest.mark.parametrize("kind", [GaussianMechanism, LaplaceMechanism])
@pytest.mark.parametrize("bound", [5e-324, 1e-310, 1e-101, 1e101, math.inf, math.nan, 0.0, -1.0])
def test_a_bound_that_clipping_could_not_hold_is_refused(bound, kind):
    with pytest.raises(ValueError, match="moderate size"):
        kind(bound, 1.0, 3, 10)


@pytest.mark.parametrize("multiplier", [math.inf, math.nan, -1.0])
def test_a_noise_multiplier_must_be_a_number(multiplier):
    with pytest.raises(ValueError, match="noise multiplier"):
        GaussianMechanism(1.0, multiplier, 3, 10)


@pytest.mark.parametrize("shape", [(), (64,), (8, 8)])
def test_a_zero_has_no_sign(shape):
    """Negative zero would say that value and noise were both below zero."""
    made = mechanism(size=64)
    noise = SimpleNamespace(
        normal=lambda shape: np.full(shape, -1e-12), normal_number=lambda: -1e-12
    )
    released = np.asarray(made.release(np.full(shape, -0.1 * made.grid), noise))
    assert (released == 0.0).all()
    assert not np.signbit(released).any()


# Spherical Laplace noise. A test below rejects at a p-value of 1e-9; all together less than 1e-7.


def laplace(**changes):
    arguments = {
        "contribution_bound": 0.3,
        "noise_multiplier": 2.0,
        "size": 6,
        "n_records": 1000,
        **changes,
    }
    return LaplaceMechanism(**arguments)


@pytest.mark.parametrize("random_state", [0, None])
@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (3, 5), (10, 30)])
def test_spherical_noise_has_its_exact_radial_law_and_no_direction(shape, random_state):
    size = shape[0] * shape[1]
    made, stream = laplace(size=size), make_stream(random_state)
    draws = np.array([made.release(np.zeros(shape), stream).ravel() for _ in range(4000)])
    length = np.linalg.norm(draws, axis=1)
    scale = 2.0 * made.sensitivity
    assert stats.kstest(length / scale, stats.gamma(size).cdf).pvalue > 1e-9
    if size == 1:
        assert stats.binomtest(int((draws > 0.0).sum()), draws.size).pvalue > 1e-9
        return
    # The squared cosine with a fixed direction is beta(1/2, (d - 1) / 2), whatever the direction.
    for direction in (np.eye(size)[0], np.ones(size) / math.sqrt(size)):
        cosine = draws @ direction / length
        law = stats.beta(0.5, 0.5 * (size - 1)).cdf
        assert stats.kstest(cosine**2, law).pvalue > 1e-9
        assert stats.binomtest(int((cosine > 0.0).sum()), cosine.size).pvalue > 1e-9
        # Length and direction are independent.
        assert stats.spearmanr(length, cosine**2).pvalue > 1e-9
    spread = draws.std() / made.noise_std
    assert spread == pytest.approx(1.0, abs=6.5 / math.sqrt(4000))
    assert made.noise_std == pytest.approx(scale * math.sqrt(size + 1))


@for_each("bound", [1e-9, 0.3, 1e12])
@for_each("multiplier", [1e-2, 1.0, 1e5, 1e9])
@for_each("size", [1, 1000])
def test_rounding_commutes_with_spherical_noise(bound, multiplier, size, rng):
    """A release is the rounding of (rounded value + real noise): post-processing, so still pure."""
    made = laplace(contribution_bound=bound, noise_multiplier=multiplier, size=size)
    assert math.frexp(made.grid)[0] == 0.5
    for scale in (1e-6, 1.0, 1000.0):
        value = scale * bound * rng.standard_normal(size)
        whole = np.rint(value / made.grid)
        noise = made._draw((size,), make_stream(7)) * (made.noise_scale / made.grid)
        released = made.release(value, make_stream(7)) / made.grid
        np.testing.assert_array_equal(released, np.rint(released))
        np.testing.assert_array_equal(released - whole, np.rint(noise))
        np.testing.assert_allclose(released, np.rint(whole + noise), atol=1.0)
        assert np.abs(released).max() < 2.0**53


def test_serving_takes_the_largest_multiplier():
    made = laplace().serving(np.array([1.0, 5.0, 3.0]))
    assert made == laplace(noise_multiplier=5.0)


@pytest.mark.long
@pytest.mark.parametrize("random_state", [0, None])
@pytest.mark.parametrize("bound", [1e-9, 0.3, 1e12])
def test_a_number_is_released_as_an_array_of_one(bound, random_state, rng, monkeypatch):
    """To the last bit, also where a block of noise ends."""
    made = mechanism(contribution_bound=bound, size=1)
    numbers, arrays = make_stream(random_state), make_stream(random_state)
    if random_state is None:
        block = np.random.default_rng(5).standard_normal(8192)
        for stream in (numbers, arrays):
            monkeypatch.setattr(stream, "_draw_normal", lambda size: block[:size].copy())
    for value in 100.0 * bound * rng.standard_normal(9000):
        found, expected = (
            made.release(np.float64(value), numbers),
            made.release(np.array([value]), arrays),
        )
        assert found == expected[0]


@pytest.mark.parametrize("size", [1, 2, 7])
def test_a_symmetric_matrix_is_a_vector_of_its_length(size, rng):
    matrices = rng.standard_normal((50, size, size))
    matrices = matrices + matrices.transpose(0, 2, 1)
    for one, other in zip(matrices, matrices[::-1], strict=True):
        vectors = as_vector(one), as_vector(other)
        assert vectors[0].shape == (size * (size + 1) // 2,)
        apart = np.linalg.norm(vectors[0] - vectors[1])
        assert apart == pytest.approx(np.linalg.norm(one - other), rel=1e-12)
        back = as_symmetric(vectors[0], size)
        np.testing.assert_allclose(back, one, rtol=1e-15)
        np.testing.assert_array_equal(back, back.T)


@pytest.mark.long
def test_a_symmetric_release_has_the_noise_of_its_frobenius_distance():
    """Variance 1 on the diagonal and 1/2 off it: in every direction what its length asks for.

    Half of the variance would be 90 standard errors off.
    """
    size, made = 5, mechanism(size=15)
    stream = make_stream(0)
    released = [
        as_symmetric(made.release(as_vector(np.zeros((size, size))), stream), size) / made.noise_std
        for _ in range(20_000)
    ]
    noise = np.array(released)
    variance = np.square(noise).mean(axis=0)
    expected = 0.5 + 0.5 * np.eye(size)
    np.testing.assert_allclose(variance, expected, rtol=0.07)
    direction = np.add.outer(np.arange(5.0), np.arange(5.0)) - 3.0
    along = (noise * direction).sum(axis=(1, 2)) / np.linalg.norm(direction)
    assert stats.kstest(along, "norm").pvalue > 1e-9
    pairs = noise[:, *np.triu_indices(size)]
    correlations = np.corrcoef(pairs.T) - np.eye(15)
    assert np.abs(correlations).max() < 0.05


@pytest.mark.parametrize("noise", [1e-3, 1.0, 1e6])
def test_rounded_parts_add_up_exactly(noise, rng):
    """In whatever order, and a release of the sum is on the same grid."""
    made = mechanism(noise_multiplier=noise, n_records=10**6)
    parts = [made.rounded(1e3 * rng.standard_normal(6)) for _ in range(300)]
    total = sum(parts)
    np.testing.assert_array_equal(sum(parts[::-1]), total)
    np.testing.assert_array_equal(made.rounded(total), total)
    assert np.linalg.norm(made.rounded(total / 3.0) - total / 3.0) <= made.grid * np.sqrt(6) / 2.0
    free = mechanism(noise_multiplier=0.0)
    np.testing.assert_array_equal(free.rounded(parts[0] / 3.0), parts[0] / 3.0)
