import numpy as np
import pytest

from tests.door import auto_disjoint_size, full_step_noise, mean_noise, sort_by_budget


@pytest.mark.parametrize("batch_size", [1, 2, 7, 30, 999, 1000])
def test_batches_of_a_given_size_differ_by_at_most_one(batch_size):
    multipliers = np.random.default_rng(0).uniform(0.5, 10.0, 1000)
    sampler, noises = sort_by_budget(multipliers, 6, 2, batch_size)
    sizes = np.array(sampler.sizes)
    assert sizes.sum() == 1000
    assert sampler.n_passes == 2
    assert sampler.n_parts == noises.size == -(-1000 // batch_size)
    assert batch_size >= sizes.max() >= sizes.min() >= max(1, sizes.max() - 1)
    # Each batch has the noise that its most demanding member asks for.
    largest = np.sort(multipliers)[np.cumsum(sizes) - 1]
    np.testing.assert_allclose(noises, largest / sizes)
    assert noises[-1] * sizes[-1] == pytest.approx(multipliers.max())


@pytest.mark.parametrize("n_records", [1, 5, 8, 9, 100, 5000])
def test_automatic_sizes_take_each_row_once(n_records):
    for multipliers in (
        np.ones(n_records),
        np.geomspace(1e-6, 1e12, n_records),
        np.where(np.arange(n_records) % 3, 0.5, 50.0),
    ):
        sampler, noises = sort_by_budget(multipliers, 6, 1, "auto")
        assert sum(sampler.sizes) == n_records
        assert min(sampler.sizes) >= 1
        assert np.isfinite(noises).all()


def test_records_alike_have_the_batches_of_a_fit_of_their_own():
    """As far as the others tell next to nothing beside them; the noisier ones count them all."""
    n_quiet, n_noisy = 3000, 7000
    multipliers = np.repeat([0.5, 500.0], [n_quiet, n_noisy])
    sampler, _ = sort_by_budget(multipliers, 6, 1, "auto")
    sizes = np.array(sampler.sizes)
    quiet = np.cumsum(sizes) <= n_quiet
    assert sizes[quiet] == pytest.approx(auto_disjoint_size(n_quiet, 6, 0.5), abs=1)
    noisy = np.cumsum(sizes) - sizes >= n_quiet
    assert sizes[noisy] == pytest.approx(auto_disjoint_size(10_000, 6, 500.0), rel=0.1)


def test_one_budget_gives_the_batches_of_a_shared_one():
    sampler, noises = sort_by_budget(np.full(5000, 2.0), 6, 1, "auto")
    size = auto_disjoint_size(5000, 6, 2.0)
    assert sampler.n_parts == -(-5000 // int(size))
    assert max(sampler.sizes) <= size
    assert mean_noise(noises) == pytest.approx(2.0 / size, rel=0.05)
    assert full_step_noise(noises) == pytest.approx(2.0 / size, rel=0.05)


def test_steps_share_the_noise():
    """The noise of steps of the lengths that the solver takes, for noises 1 and 3 over size."""
    noises = np.array([1.0, 1.0, 3.0])
    full = full_step_noise(noises)
    assert full**-2.0 == pytest.approx((2.0 + 1.0 / 9.0) / 3.0)
    taken = [1.0, 1.0, 3.0 * (full / 3.0) ** 2]
    assert mean_noise(noises) == pytest.approx(np.sqrt(np.mean(np.square(taken))))
