"""Which rows or columns take part in each step. Reads their numbers, never the data."""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from skdp._release.random import public_uniforms

# Rows that are drawn at a time: few enough not to push rows out of the processor's caches.
_BLOCK = 4096


@dataclass(frozen=True)
class PoissonSampler:
    """Poisson sampling: an independent coin of probability `rate` for every row and step."""

    n_rows: int
    rate: float
    n_steps: int

    @property
    def design(self):
        """What the accountant needs to know."""
        return {"sampling_rate": self.rate, "n_steps": self.n_steps}

    @property
    def expected_size(self):
        """Expected number of rows of a batch."""
        return self.rate * self.n_rows

    def batches(self, stream):
        """Yield the row indices of each step, in increasing order; a batch may be empty.

        The coins of consecutive steps are laid end to end and the gaps between heads are drawn
        (geometric, by inversion), so a step costs O(rate n) and not O(n).
        """
        if self.rate >= 1.0:
            every_row = np.arange(self.n_rows)
            for _ in range(self.n_steps):
                yield every_row
            return
        steps_per_block = max(1, int(_BLOCK / (self.rate * self.n_rows)))
        for first in range(0, self.n_steps, steps_per_block):
            n_steps = min(steps_per_block, self.n_steps - first)
            heads = _heads(stream, self.rate, n_steps * self.n_rows)
            starts = np.arange(n_steps + 1, dtype=np.int64) * self.n_rows
            ends = np.searchsorted(heads, starts).tolist()
            for start, (begin, end) in zip(starts, pairwise(ends), strict=False):
                yield heads[begin:end] - start

    def divisor(self, batch):
        """Return what makes a batch's sum a mean: the expected size, the true one being secret."""
        return self.expected_size


class _Partition:
    """Every row once a pass, in disjoint batches: `n_rows`, `n_parts` of a pass, `n_passes`."""

    @property
    def design(self):
        """What the accountant needs to know: a record takes part in one batch of each pass."""
        return {"sampling_rate": 1.0, "n_steps": self.n_passes, "n_parts": self.n_parts}

    @property
    def n_steps(self):
        """Total number of batches."""
        return self.n_passes * self.n_parts

    @property
    def expected_size(self):
        """Mean number of rows of a batch."""
        return self.n_rows / self.n_parts

    def divisor(self, batch):
        """Return what makes a batch's sum a mean: its size, which is public."""
        return batch.size


@dataclass(frozen=True)
class PartitionSampler(_Partition):
    """Every row once a pass: each pass is cut into disjoint batches, without reading the data.

    The sizes in a pass are at most `batch_size`, and differ by at most one.
    """

    n_rows: int
    batch_size: int
    n_passes: int

    @property
    def n_parts(self):
        """Batches of a pass."""
        return -(-self.n_rows // self.batch_size)

    def batches(self, stream):
        """Yield the row indices of each step, in random order."""
        for _ in range(self.n_passes):
            order = np.argsort(stream.uniform(self.n_rows))
            for part in range(self.n_parts):
                first, last = (i * self.n_rows // self.n_parts for i in (part, part + 1))
                yield order[first:last]


@dataclass(frozen=True, eq=False)
class SortedPartitionSampler(_Partition):
    """Every row once a pass, in disjoint batches of rows whose public keys are close.

    In each pass the rows are shuffled, sorted by key and cut, and the batches come in random order.
    Rows of one key are in the same batch by chance alone; only batches at the border of two keys
    have both. `sizes` are the rows of each batch, from that of the smallest keys on.
    """

    keys: np.ndarray
    sizes: tuple
    n_passes: int

    @property
    def n_rows(self):
        """Number of rows."""
        return self.keys.size

    @property
    def n_parts(self):
        """Batches of a pass."""
        return len(self.sizes)

    def batches(self, stream):
        """Yield the row indices of each step."""
        ends = np.cumsum(self.sizes)
        for _ in range(self.n_passes):
            order = np.argsort(stream.uniform(self.keys.size))
            order = order[np.argsort(self.keys[order], kind="stable")]
            for part in np.argsort(stream.uniform(self.n_parts)):
                yield order[ends[part] - self.sizes[part] : ends[part]]


@dataclass(frozen=True)
class BlockSampler:
    """Some blocks of consecutive rows, one of each of as many equal strata of blocks.

    Which they are is public, and no amplification is claimed for it: a sum over them is accounted
    as one over all rows. It only saves reads. Rows after the last whole block are never drawn.
    """

    n_rows: int
    n_blocks: int
    # Rows of a block: so few that none decides about a count, even if all its rows are alike.
    block_size: int = 8

    @property
    def n_drawn(self):
        """Number of rows of the sample."""
        return self.n_blocks * self.block_size

    def draw(self, stream):
        """Return the `DrawnBlocks` of a fit."""
        return DrawnBlocks(self, tuple(int(word) for word in stream.words(2)))


@dataclass(frozen=True)
class DrawnBlocks:
    """What a `BlockSampler` drew: a seed, from which each place tells the rows that it has.

    No noise comes from it. Of a fit with a `random_state` it is as secret as that.
    """

    sampler: BlockSampler
    seed: tuple[int, ...] = field(repr=False)

    def rows(self, first, last):
        """Return the numbers of drawn rows from `first` to before `last`, in increasing order."""
        size, n_strata = self.sampler.block_size, self.sampler.n_blocks
        n_blocks = self.sampler.n_rows // size
        # Stratum k begins at the block floor(k n_blocks / n_strata).
        ends = (min(row // size, n_blocks - 1) for row in (first, max(first, last - 1)))
        start, stop = (-(-(block + 1) * n_strata // n_blocks) - 1 for block in ends)
        # The first product of whole blocks, and the rest of it: both stay far below 2**63.
        each, rest = divmod(n_blocks, n_strata)
        strata = np.arange(start, stop + 2)
        edges = strata * each + strata * rest // n_strata
        coins = public_uniforms(self.seed, start, stop + 1 - start)
        blocks = edges[:-1] + (coins * np.diff(edges)).astype(np.int64)
        rows = (blocks[:, np.newaxis] * size + np.arange(size)).ravel()
        return rows[(rows >= first) & (rows < last)]


@dataclass(frozen=True)
class CoordinateSampler:
    """Columns, a few at each step, uniformly without replacement; every row takes part."""

    n_columns: int
    batch_size: int
    n_steps: int

    @property
    def design(self):
        """What the accountant needs to know."""
        return {"sampling_rate": 1.0, "n_steps": self.n_steps}

    def batches(self, stream):
        """Yield the column indices of each step."""
        for _ in range(self.n_steps):
            yield np.argsort(stream.uniform(self.n_columns))[: self.batch_size]


@dataclass(frozen=True)
class SingleCoordinateSampler:
    """One column at each step, all columns in each pass, in uniformly random order.

    Every row takes part in each step, so which order it is is no matter of privacy. That a pass has
    each column once may be: see doc/theory/passes.rst. Drawing columns independently would also
    leave out one in seven in two passes. `n_alone` of the steps are the
    last column's alone: the first step and the last ones.
    """

    n_columns: int
    n_steps: int
    n_alone: int = 0

    @property
    def n_shared(self):
        """Number of steps in which all columns have their turn."""
        return self.n_steps - self.n_alone

    def coordinates(self, stream):
        """Yield the column index of each step."""
        last = self.n_columns - 1
        yield from [last] * min(self.n_alone, 1)
        for first in range(0, self.n_shared, self.n_columns):
            order = np.argsort(stream.uniform(self.n_columns))
            yield from order[: self.n_shared - first].tolist()
        yield from [last] * (self.n_alone - 1)


def _heads(stream, rate, n_coins):
    """Return the positions of the heads among `n_coins` independent coins of probability `rate`.

    Gaps that reach past the last coin are thrown away: the geometric law has no memory, so the
    coins after it can start afresh.
    """
    log_tail = np.log1p(-rate)
    chunk = int(rate * n_coins + 6.0 * np.sqrt(rate * n_coins) + 16.0)
    pieces = []
    position = -1
    while position < n_coins:
        gaps = np.log(stream.uniform(chunk))
        gaps /= log_tail
        # Past the end is past the end: the cut keeps the running sum far from overflow.
        np.minimum(gaps, n_coins, out=gaps)
        gaps = gaps.astype(np.int64)
        gaps += 1
        positions = np.cumsum(gaps, out=gaps)
        positions += position
        pieces.append(positions)
        position = positions[-1]
        chunk = 16 + chunk // 8
    heads = np.concatenate(pieces)
    return heads[: np.searchsorted(heads, n_coins)]
