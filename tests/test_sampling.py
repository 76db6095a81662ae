import numpy as np
import pytest
from scipy import stats
from scipy.stats import chisquare

from tests.door import (
    CoordinateSampler,
    PartitionSampler,
    PoissonSampler,
    SingleCoordinateSampler,
    SortedPartitionSampler,
    make_stream,
)

P_VALUE = 1e-9


def coins(n_rows, rate, n_steps, random_state=0):
    """Coins as a matrix of steps by rows, after checking the form of the batches."""
    batches = list(PoissonSampler(n_rows, rate, n_steps).batches(make_stream(random_state)))
    assert len(batches) == n_steps
    rows = np.concatenate(batches)
    assert np.all((rows >= 0) & (rows < n_rows))
    # Rows in increasing order in each step number the entries of the table in increasing order.
    entries = np.repeat(np.arange(n_steps), [batch.size for batch in batches]) * n_rows + rows
    assert np.all(np.diff(entries) > 0)
    table = np.zeros((n_steps, n_rows), dtype=bool)
    table.flat[entries] = True
    return table


@pytest.mark.long
@pytest.mark.parametrize("random_state", [0, None])
@pytest.mark.parametrize(("n_rows", "rate"), [(1, 0.3), (7, 0.05), (50, 0.9), (400, 0.01)])
def test_every_coin_has_its_rate_and_steps_and_rows_are_independent(n_rows, rate, random_state):
    n_steps = 200_000 // n_rows
    table = coins(n_rows, rate, n_steps, random_state)
    total = stats.binomtest(int(table.sum()), table.size, rate)
    assert total.pvalue > P_VALUE
    # Sizes are binomial: as many rows as should be, with the variance n q (1 - q).
    sizes = table.sum(axis=1)
    expected = stats.binom.pmf(np.arange(n_rows + 1), n_rows, rate) * n_steps
    kept = expected >= 5.0
    observed = np.bincount(sizes, minlength=n_rows + 1)
    counts = np.append(observed[kept], observed[~kept].sum())
    expected = np.append(expected[kept], expected[~kept].sum())
    if expected[-1] < 5.0:
        counts, expected = counts[:-1], expected[:-1]
    assert stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue > P_VALUE
    # Neighbouring coins, within a step and from step to step.
    for pairs in (table[:, :-1] & table[:, 1:], table[:-1] & table[1:]):
        if pairs.size:
            both = stats.binomtest(int(pairs[::2, ::2].sum()), pairs[::2, ::2].size, rate**2)
            assert both.pvalue > P_VALUE


def test_marginals_of_first_and_last_row_across_blocks():
    table = coins(3000, 0.2, 2000)
    for row in (0, 1, 2998, 2999):
        assert stats.binomtest(int(table[:, row].sum()), 2000, 0.2).pvalue > P_VALUE
    for step in (0, 1999):
        assert stats.binomtest(int(table[step].sum()), 3000, 0.2).pvalue > P_VALUE


@pytest.mark.parametrize("batch_size", [1, 7, 20, 23])
def test_a_partition_takes_every_row_once_a_pass(batch_size):
    sampler = PartitionSampler(23, batch_size, 3)
    batches = list(sampler.batches(make_stream(0)))
    assert len(batches) == sampler.n_steps == 3 * sampler.n_parts
    passes = [batches[i * sampler.n_parts : (i + 1) * sampler.n_parts] for i in range(3)]
    orders = [np.concatenate(one) for one in passes]
    for order in orders:
        np.testing.assert_array_equal(np.sort(order), np.arange(23))
    assert not np.array_equal(orders[0], orders[1])
    sizes = [batch.size for batch in batches]
    assert batch_size >= max(sizes) >= min(sizes) >= max(sizes) - 1


def passes_of(sampler, random_state=0):
    batches = list(sampler.batches(make_stream(random_state)))
    assert len(batches) == sampler.n_steps == sampler.n_passes * sampler.n_parts
    return [
        batches[i * sampler.n_parts : (i + 1) * sampler.n_parts] for i in range(sampler.n_passes)
    ]


@pytest.mark.parametrize("random_state", [0, None])
@pytest.mark.parametrize("sizes", [(23,), (1,) * 23, (5, 6, 6, 6), (2, 3, 4, 14)])
def test_a_sorted_partition_takes_every_row_once_a_pass(sizes, random_state):
    keys = np.random.default_rng(0).permutation(np.repeat([1.0, 2.0, 5.0], [10, 12, 1]))
    sampler = SortedPartitionSampler(keys, sizes, 3)
    assert sampler.design == {"sampling_rate": 1.0, "n_steps": 3, "n_parts": len(sizes)}
    pieces = np.split(np.sort(keys), np.cumsum(sizes)[:-1])
    for batches in passes_of(sampler, random_state):
        np.testing.assert_array_equal(np.sort(np.concatenate(batches)), np.arange(23))
        assert sorted(sorted(keys[batch]) for batch in batches) == sorted(map(list, pieces))


def test_a_sorted_partition_mixes_keys_at_borders_only():
    keys = np.random.default_rng(0).permutation(np.repeat([1.0, 2.0, 5.0], [50, 500, 450]))
    (batches,) = passes_of(SortedPartitionSampler(keys, (8,) * 125, 1))
    assert sum(np.unique(keys[batch]).size > 1 for batch in batches) == 2
    assert sum(5.0 in keys[batch] for batch in batches) == 57


@pytest.mark.long
def test_members_and_order_of_a_sorted_partition_are_random():
    n_passes = 6000
    orders = [
        tuple(batch[0] // 2 for batch in one)
        for one in passes_of(
            SortedPartitionSampler(np.repeat([1.0, 2.0, 3.0], 2), (2,) * 3, n_passes)
        )
    ]
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert counts.size == 6
    assert chisquare(counts).pvalue > P_VALUE
    # Each pass starts afresh.
    pairs = np.unique(np.hstack([orders[::2], orders[1::2]]), axis=0, return_counts=True)[1]
    assert pairs.size == 36
    assert chisquare(pairs).pvalue > P_VALUE
    one_key = SortedPartitionSampler(np.ones(4), (2, 2), n_passes)
    partners = [batch.sum() for one in passes_of(one_key) for batch in one if 0 in batch]
    counts = np.bincount(partners)[1:]
    assert counts.size == 3
    assert chisquare(counts).pvalue > P_VALUE


def test_equal_coins_give_equal_sorted_partitions():
    sampler = SortedPartitionSampler(np.arange(40.0) % 3, (10, 10, 20), 2)
    one, same, other = (
        np.concatenate(list(sampler.batches(make_stream(seed)))) for seed in (5, 5, 6)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.long
def test_coordinates_are_uniform_without_replacement():
    batches = np.array(list(CoordinateSampler(6, 2, 30_000).batches(make_stream(0))))
    assert (batches[:, 0] != batches[:, 1]).all()
    assert stats.chisquare(np.bincount(batches.ravel(), minlength=6)).pvalue > P_VALUE


def test_rate_one_takes_every_row():
    assert coins(5, 1.0, 4).all()


def test_tiny_rates_give_empty_batches():
    table = coins(1000, 1e-9, 50)
    assert table.sum() == 0


def test_cost_follows_the_batch_and_not_the_rows():
    """Fifty rows a step of ten thousand million: a mask over the rows wouldn't fit in memory."""
    n_rows = 10**10
    batches = list(PoissonSampler(n_rows, 50 / n_rows, 100).batches(make_stream(0)))
    assert stats.poisson.cdf(sum(batch.size for batch in batches), 5000) > P_VALUE
    assert max(batch.max() for batch in batches) > 0.9 * n_rows


def test_sampling_reads_no_data_and_is_reproducible():
    np.testing.assert_array_equal(coins(20, 0.3, 30, 5), coins(20, 0.3, 30, 5))
    assert not np.array_equal(coins(20, 0.3, 30, 5), coins(20, 0.3, 30, 6))


@pytest.mark.parametrize("n_columns", [1, 5])
def test_single_coordinates_take_all_columns_in_each_pass(n_columns):
    sampler = SingleCoordinateSampler(n_columns, 3 * n_columns + n_columns // 2)
    drawn = list(sampler.coordinates(make_stream(0)))
    assert len(drawn) == sampler.n_steps
    for first in range(0, 3 * n_columns, n_columns):
        assert sorted(drawn[first : first + n_columns]) == list(range(n_columns))
    assert len(set(drawn[3 * n_columns :])) == n_columns // 2


@pytest.mark.long
def test_single_coordinates_are_in_uniformly_random_order():
    n_passes, n_columns = 60_000, 4
    drawn = list(
        SingleCoordinateSampler(n_columns, n_passes * n_columns).coordinates(make_stream(1))
    )
    orders = np.reshape(drawn, (n_passes, n_columns)) @ [1000, 100, 10, 1]
    _, counts = np.unique(orders, return_counts=True)
    assert counts.size == 24
    assert chisquare(counts).pvalue > P_VALUE
