"""Who is drawn, and whether the noise of the secure generator is what it is taken for.

Statistical tests reject at a p-value below 1e-10. Some 50 of them see fresh entropy: less than one
run in 10 million fails, with a factor of 20 to spare for those whose laws hold for large samples.
"""

import threading

import numpy as np
import pytest
from scipy import stats

from tests.door import PoissonSampler, SecureStream, make_stream

P_VALUE = 1e-10
SEEDED_AND_SECURE = pytest.mark.parametrize("random_state", [0, None], ids=["seeded", "secure"])


def coins(n_rows, rate, n_steps, random_state, sampler=PoissonSampler):
    """A table of steps by rows."""
    table = np.zeros((n_steps, n_rows), dtype=bool)
    for step, batch in enumerate(sampler(n_rows, rate, n_steps).batches(make_stream(random_state))):
        table[step, batch] = True
    return table


def exact_p_value(counts, n_steps, rate):
    """Of the most unlikely of some binomial counts, times the number of tails there are."""
    law = stats.binom(n_steps, rate)
    return 2.0 * counts.size * min(law.cdf(counts.min()), law.sf(counts.max() - 1))


def smallest_p_value(table, rate):
    """Of all tests of a table of coins against independent coins of this rate."""
    n_steps, n_rows = table.shape
    centred = (table - rate) / np.sqrt(rate * (1.0 - rate))
    found = []
    # Marginals: the squared deviations of all rows, and of blocks of steps.
    deviation = centred.sum(axis=0) / np.sqrt(n_steps)
    found.append(stats.chi2.sf((deviation**2).sum(), n_rows))
    found.append(exact_p_value(table.sum(axis=0), n_steps, rate))
    # Pairs of rows in a step.
    both = centred.T @ centred / np.sqrt(n_steps)
    pairs = both[np.triu_indices(n_rows, 1)]
    found.append(stats.chi2.sf((pairs**2).sum(), pairs.size))
    together = (table.T.astype(float) @ table)[np.triu_indices(n_rows, 1)]
    found.append(exact_p_value(together, n_steps, rate**2))
    # Any two rows in different steps.
    for lag in (1, 2, 3, 7):
        across = centred[lag:].T @ centred[:-lag] / np.sqrt(n_steps - lag)
        found.append(stats.chi2.sf((across**2).sum(), across.size))
    # Sizes: mean n q and variance n q (1 - q); the fourth moment of a sum of coins is known.
    sizes = table.sum(axis=1)
    variance = n_rows * rate * (1.0 - rate)
    fourth = 3.0 * variance**2 + variance * (1.0 - 6.0 * rate * (1.0 - rate))
    excess = ((sizes - n_rows * rate) ** 2).mean() - variance
    spread = np.sqrt((fourth - variance**2) / n_steps)
    found.append(2.0 * stats.norm.sf(abs(excess) / spread))
    # Sizes of neighbouring steps.
    off = (sizes - n_rows * rate) / np.sqrt(variance)
    found.append(2.0 * stats.norm.sf(abs((off[1:] * off[:-1]).sum()) / np.sqrt(n_steps - 1)))
    return min(found)


@SEEDED_AND_SECURE
@pytest.mark.parametrize(("n_rows", "rate", "n_steps"), [(12, 0.3, 40_000), (40, 0.05, 40_000)])
def test_coins_are_independent_and_have_their_rate(n_rows, rate, n_steps, random_state):
    assert smallest_p_value(coins(n_rows, rate, n_steps, random_state), rate) > P_VALUE


@SEEDED_AND_SECURE
def test_batch_sizes_of_many_rows_have_their_variance(random_state):
    """Of batches so large that blocks of coins hold few of them."""
    n_rows, rate, n_steps = 100_000, 0.02, 3000
    sampler = PoissonSampler(n_rows, rate, n_steps)
    sizes = np.array([batch.size for batch in sampler.batches(make_stream(random_state))])
    variance = n_rows * rate * (1.0 - rate)
    assert abs(sizes.mean() - n_rows * rate) < 6.5 * np.sqrt(variance / n_steps)
    law = stats.chi2(n_steps)
    squares = ((sizes - n_rows * rate) ** 2).sum() / variance
    assert min(law.cdf(squares), law.sf(squares)) > P_VALUE


class _FewAtATime:
    """A stream whose answers are shorter than what was asked for."""

    def __init__(self, random_state):
        self._stream = make_stream(random_state)

    def uniform(self, size):
        return self._stream.uniform(min(size, 7))


def test_coins_are_as_good_where_gaps_must_be_drawn_again():
    """Which happens by itself about once in a thousand million times."""
    table = np.zeros((20_000, 12), dtype=bool)
    sampler = PoissonSampler(12, 0.3, len(table))
    for row, batch in zip(table, sampler.batches(_FewAtATime(0)), strict=True):
        row[batch] = True
    assert smallest_p_value(table, 0.3) > P_VALUE


class ShuffledEpochs(PoissonSampler):
    """Batches of equal size that take every row once a pass."""

    def batches(self, stream):
        size = round(self.n_rows * self.rate)
        order = np.empty(0, dtype=int)
        for _ in range(self.n_steps):
            if order.size < size:
                order = np.argsort(stream.uniform(self.n_rows))
            yield order[:size]
            order = order[size:]


class SizeThenRows(PoissonSampler):
    """A size of the right law, and then that many neighbouring rows."""

    def batches(self, stream):
        sizes = stats.binom.ppf(stream.uniform(self.n_steps), self.n_rows, self.rate)
        starts = np.floor(stream.uniform(self.n_steps) * self.n_rows)
        for size, start in zip(sizes.astype(int), starts.astype(int), strict=True):
            yield (start + np.arange(size)) % self.n_rows


class SameCoinsTwice(PoissonSampler):
    """Each batch is used for two steps."""

    def batches(self, stream):
        for batch in super().batches(stream):
            yield batch
            yield batch


class OtherRate(PoissonSampler):
    """A rate that is 2 percent too high."""

    def batches(self, stream):
        return PoissonSampler(self.n_rows, 1.02 * self.rate, self.n_steps).batches(stream)


@pytest.mark.parametrize("fault", [ShuffledEpochs, SizeThenRows, SameCoinsTwice, OtherRate])
def test_planted_samplers_are_convicted(fault):
    n_steps = 40_000
    table = np.zeros((n_steps, 20), dtype=bool)
    for row, batch in zip(table, fault(20, 0.25, n_steps).batches(make_stream(0)), strict=False):
        row[batch] = True
    assert smallest_p_value(table, 0.25) < P_VALUE


# The secure generator.


class _FarWords(SecureStream):
    """A secure stream whose normals are those of a tail: beyond `threshold`, in either direction.

    Its first words are uniform below what the threshold's normal is made of.
    """

    def __init__(self, threshold):
        super().__init__()
        self._limit = np.uint64(2.0 * stats.norm.sf(threshold) * 2.0**64)
        self._first = True

    def words(self, size):
        words = super().words(size)
        if self._first:
            self._first = False
            return words % self._limit
        return words


@pytest.mark.parametrize("threshold", [3.0, 4.0, 5.0, 6.0, 8.0])
def test_tails_of_secure_normals_are_those_of_a_normal(threshold):
    draws = _FarWords(threshold)._draw_normal(100_000)
    assert stats.binomtest(int((draws > 0.0).sum()), draws.size).pvalue > P_VALUE
    far = stats.norm.sf(np.abs(draws)) / stats.norm.sf(threshold)
    # A limit that is cut to a whole number is off by one in 11 for 8 sigma's, so not beyond.
    assert stats.kstest(far, "uniform").pvalue > P_VALUE
    # Nearly all are numbers that no other draw gives: the tail isn't a few values.
    assert np.unique(draws).size > 0.99 * draws.size


def test_secure_normals_in_bulk():
    draws = SecureStream()._draw_normal(2_000_000)
    for threshold in (1.0, 3.0, 4.0):
        for tail in (draws > threshold, draws < -threshold):
            test = stats.binomtest(int(tail.sum()), draws.size, stats.norm.sf(threshold))
            assert test.pvalue > P_VALUE
    # Moments: of 2 million draws, each within 6.5 deviations.
    for power, mean, variance in ((1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)):
        off = (draws**power).mean() - mean
        assert abs(off) < 6.5 * np.sqrt(variance / draws.size)
    # Neighbours, and what is a power of two apart, as counters would show.
    for lag in (1, 2, 64, 1024, 8192):
        correlation = (draws[lag:] * draws[:-lag]).mean()
        assert abs(correlation) < 6.5 / np.sqrt(draws.size - lag)


def keys(draws):
    """Groups of four neighbouring numbers as bytes, which don't repeat by chance."""
    usable = draws[: draws.size // 4 * 4].reshape(-1, 4)
    return {group.tobytes() for group in usable}


def test_no_two_secure_blocks_are_equal():
    streams = [SecureStream() for _ in range(8)]
    streams += streams[0].spawn(8)
    seen, n_groups = set(), 0
    for _ in range(3):
        for stream in streams:
            draws = stream.normal(8192)
            n_groups += draws.size // 4
            seen |= keys(draws)
    assert len(seen) == n_groups


@SEEDED_AND_SECURE
def test_streams_of_two_threads_never_share_a_number(random_state):
    """Each thread has a stream; they draw at the same time, and seeded ones as if alone."""
    streams = make_stream(random_state).spawn(2)
    found = [None, None]
    barrier = threading.Barrier(2)

    def work(i):
        barrier.wait()
        pieces = [streams[i].normal(size).copy() for size in (5, 90, 8192, 1000) * 20]
        found[i] = np.concatenate(pieces)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not keys(found[0]) & keys(found[1])
    assert not keys(found[0][1:]) & keys(found[1])
    if random_state is not None:
        alone = [
            np.concatenate([stream.normal(size).copy() for size in (5, 90, 8192, 1000) * 20])
            for stream in make_stream(random_state).spawn(2)
        ]
        np.testing.assert_array_equal(found, alone)
