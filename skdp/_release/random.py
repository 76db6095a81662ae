"""Random streams: the only place where generators are created.

A stream belongs to a logical unit (a fit's coins, a fit's noise), never to a worker, so that
results don't depend on ``n_jobs``. A stream is used by one thread at a time.
"""

import math
import os

import numpy as np
from scipy.special import ndtri

_BLOCK = 8192


class _Stream:
    """Draws normals in blocks, so that a step of a solver pays for a slice and not for a call."""

    reproducible: bool

    def __init__(self):
        self._normals = np.empty(0)
        self._used = 0
        self._pid = None

    def normal(self, shape):
        """Return fresh standard normals that the caller may overwrite; each is handed out once."""
        size = shape if isinstance(shape, int) else math.prod(shape)
        if size > _BLOCK:
            return self._draw_normal(size).reshape(shape)
        # A forked process would otherwise hand out the same rest of a block as its parent.
        if self._used + size > self._normals.size or self._pid != os.getpid():
            self._normals = self._draw_normal(_BLOCK)
            self._used = 0
            self._pid = os.getpid()
        start = self._used
        self._used = start + size
        return self._normals[start : self._used].reshape(shape)

    def twister(self):
        """Return a RandomState that this stream seeds, for choices that needn't be secret."""
        return np.random.RandomState((self.words(8) >> np.uint64(32)).tolist())

    def normal_number(self):
        """Return one fresh standard normal as a float, the next that `normal` would give."""
        if self._used >= self._normals.size or self._pid != os.getpid():
            return float(self.normal(()))
        self._used += 1
        return float(self._normals[self._used - 1])


class SeededStream(_Stream):
    """A reproducible stream. Whoever knows the seed, which its spawn share, knows the noise."""

    reproducible = True

    def __init__(self, seed_sequence):
        super().__init__()
        self._seed_sequence = seed_sequence
        self._generator = np.random.default_rng(seed_sequence)

    def _draw_normal(self, size):
        return self._generator.standard_normal(size)

    def gamma(self, shape):
        """Return a gamma variable of integer `shape` and scale 1."""
        return self._generator.standard_gamma(shape)

    def uniform(self, size):
        """Return `size` uniforms in (0, 1]."""
        return 1.0 - self._generator.random(size)

    def words(self, size):
        """Return `size` words of 64 random bits."""
        return self._generator.integers(2**64, size=size, dtype=np.uint64)

    def integers(self, end, size):
        """Return `size` whole numbers below `end`, each as likely as the others."""
        return self._generator.integers(end, size=size)

    def as_random_state(self):
        """Return what a fit is given as `random_state` to have this stream's randomness."""
        return self.twister()

    def spawn(self, n_streams):
        """Return `n_streams` streams independent of this one and of each other."""
        return [SeededStream(child) for child in self._seed_sequence.spawn(n_streams)]


class SecureStream(_Stream):
    """A stream from the operating system's entropy (``os.urandom``).

    Normals are ``ndtri`` of uniforms with full relative precision near zero, with a sign of their
    own, so both tails are as fine as double precision allows.
    """

    reproducible = False

    def words(self, size):
        """Return `size` words of 64 random bits."""
        return np.frombuffer(os.urandom(8 * size), dtype=np.uint64)

    def _dense_uniform(self, words):
        """Map 64-bit words to uniforms in (0, 1], adding bits where a word has many leading zeros.

        A word below 2**53 fits in a double with room to spare; 64 more bits fill that room.
        """
        uniform = words.astype(np.float64)
        sparse = np.flatnonzero(words < (1 << 53))
        if sparse.size:
            uniform[sparse] += self.words(sparse.size) * 2.0**-64
        uniform *= 2.0**-64
        return np.maximum(uniform, 2.0**-128, out=uniform)

    def _draw_normal(self, size):
        words = self.words(size)
        sign_bits = np.unpackbits(np.frombuffer(os.urandom(-(-size // 8)), dtype=np.uint8))[:size]
        normals = ndtri(0.5 * self._dense_uniform(words))
        return np.where(sign_bits, normals, -normals)

    def gamma(self, shape):
        """Return a gamma variable of integer `shape` and scale 1: a sum of exponentials.

        The exponential of a dense uniform has an upper tail as fine as double precision allows.
        """
        return -np.log(self.uniform(shape)).sum()

    def uniform(self, size):
        """Return `size` uniforms in (0, 1]."""
        return self._dense_uniform(self.words(size))

    def integers(self, end, size):
        """Return `size` whole numbers below `end`, each as likely as the others.

        They are the low bits of words, drawn again where they aren't below `end`.
        """
        bits = np.uint64((1 << (int(end) - 1).bit_length()) - 1)
        drawn = self.words(size) & bits
        while (again := np.flatnonzero(drawn >= np.uint64(end))).size:
            drawn[again] = self.words(again.size) & bits
        return drawn.astype(np.int64)

    def as_random_state(self):
        """Return what a fit is given as `random_state` to draw from the operating system: None."""
        return None

    def spawn(self, n_streams):
        """Return `n_streams` streams; all draw from the operating system."""
        return [SecureStream() for _ in range(n_streams)]


def public_uniforms(seed, first, size):
    """Return `size` uniforms in [0, 1), from number `first` on, of those that a public seed tells.

    Whoever has the seed has all of them, in any parts. They are for what needn't be secret, such as
    which rows are read, and never for noise.
    """
    generator = np.random.Generator(np.random.PCG64(list(seed)).advance(first))
    return generator.random(size)


def make_stream(random_state, key=()):
    """Return the stream that a `random_state` parameter stands for.

    None is the operating system's entropy, unaffected by ``numpy.random.seed``. An int makes a
    reproducible stream, and a RandomState one whose seed is drawn from it. Streams of one int and
    different keys are independent; those with a key that starts with 2 or more are also independent
    of what ``make_stream(random_state).spawn(2)`` gives.
    """
    if random_state is None:
        return SecureStream()
    if isinstance(random_state, np.random.RandomState):
        words = random_state.randint(0, 2**32, size=8, dtype=np.uint32)
        return SeededStream(np.random.SeedSequence(words.tolist()))
    return SeededStream(np.random.SeedSequence(int(random_state), spawn_key=key))
