"""Records into cells: by their own positions and coins, and without bias."""

import numpy as np
import pytest

from tests.door import Axis, Release, Run, make_stream, named, release_histogram


def count(*axes, seed=0, noise=0.0):
    coins, noise_stream = make_stream(seed).spawn(2)
    counts = Release(bound=1.0, noise_multiplier=noise, noise="counts", size=1, n_records=1)
    run = Run(named("counts", counts), noise_stream)
    return release_histogram(axes, run.steps("counts"), coins, slice(None))


def test_a_position_goes_down_to_its_node_and_ends_hold():
    position = np.array([0.0, 0.99, 1.0, 2.5, 3.0, -5.0, 1e300, 2.0])
    np.testing.assert_array_equal(count(Axis(position, 3, "down")), [3, 1, 4])


def test_axes_are_those_of_the_counts():
    first, second = np.array([0, 1, 1, 1]), np.array([2, 0, 0, 1])
    counts = count(Axis(first, 2, "down"), Axis(second, 3, "down"))
    np.testing.assert_array_equal(counts, [[0, 0, 1], [2, 1, 0]])


@pytest.mark.parametrize("position", [1.0, 1.25, 2.5, 3.9, 4.0])
def test_random_rounding_keeps_the_mean_and_the_mean_square(position):
    """Within six standard errors: a false alarm has a probability below 1e-8."""
    n, nodes = 100_000, np.arange(6)
    linear = count(Axis(np.full(n, position), 6, "linear")) / n
    assert linear @ nodes == pytest.approx(position, abs=6 * 0.5 / np.sqrt(n))
    assert (linear[np.abs(nodes - position) >= 1.0] == 0.0).all()
    quadratic = count(Axis(np.full(n, position), 6, "quadratic")) / n
    assert quadratic @ nodes == pytest.approx(position, abs=6 * 0.5 / np.sqrt(n))
    square = quadratic @ (nodes - position) ** 2
    assert square == pytest.approx(0.25, abs=6 * 0.5 / np.sqrt(n))
    assert (quadratic[np.abs(nodes - position) > 1.5] == 0.0).all()


@pytest.mark.parametrize("rounding", ["down", "linear", "quadratic"])
def test_a_record_moves_one_count_and_nobody_else(rounding, rng):
    """Coins belong to records: none is drawn more or less for where a record lies."""
    positions = rng.uniform(0.5, 7.5, 300)
    base = count(Axis(positions, 9, rounding), Axis(positions[::-1], 9, "linear"))
    assert base.sum() == 300
    for far in (0.5, 7.5, 3.2, 1e300, -1e300):
        changed = positions.copy()
        changed[7] = far
        other = count(Axis(changed, 9, rounding), Axis(positions[::-1], 9, "linear"))
        assert np.abs(other - base).sum() in (0, 2)
        assert np.abs(other - base).max() <= 1


def test_noise_has_a_stream_of_its_own(rng):
    """It is the same whatever the records and how many coins they take."""
    position = rng.uniform(0, 3, 50)
    found = [
        count(Axis(position[:n], 4, rounding), noise=3.0) - count(Axis(position[:n], 4, rounding))
        for n, rounding in ((50, "down"), (50, "quadratic"), (9, "linear"))
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
