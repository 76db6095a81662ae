"""Noise: the only code that adds any."""

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, repeat
from typing import ClassVar

import numpy as np

# A release is a whole number of grid steps. The step is this fraction of the smaller of the noise
# and the sensitivity, so that rounding changes neither visibly.
_GRID_BITS = 20
# Values and noise of about this many grid steps add up exactly in double precision.
_EXACT_STEPS = 2.0**40
_SMALLEST_BOUND = 1e-100
# A word has 64 bits.
_WORDS = 2.0**64
# The discrete Laplace mechanism has a scale of whole parts of 1, and no larger one than whole
# numbers of 63 bits are enough for.
_SCALE_PARTS, _LARGEST_SCALE = 2**20, 1e10
# A whole number that coins may have for a scale, and root of half of pi, rounded up.
_LARGEST_GAP, _ROOT_HALF_PI = 2**55, 1.2533142
# NumPy takes longer to turn a number into an array than to add some.
_ZERO = np.array(0.0)


@dataclass(frozen=True)
class _OnGrid:
    r"""Releases of a sum of bounded contributions with noise, on a grid.

    The value is rounded to the grid, then noise that was rounded to the same grid is added exactly.
    A whole number of steps moves through rounding unchanged (ties aside, which have probability
    zero), so a release is also the rounding of *rounded value plus exact noise*: post-processing of
    a release in real numbers, which keeps any guarantee, that of delta = 0 included. Its low-order
    bits carry nothing about the value (Mironov 2012 shows what they give away otherwise). Rounding
    moves each of two neighbouring values by at most half a step per entry; `sensitivity` contains
    that.

    `contribution_bound` is an L2 bound C on what one record contributes to the value of `size`
    entries, infinite for no noise, and `noise_multiplier` the size of the noise over sensitivity, 0
    for no noise. The number of records that may contribute bounds the value a priori, by
    ``n_records * C``. `rounding_slack` is the relative excess over C that floating-point arithmetic
    may cause in the value.
    """

    contribution_bound: float
    noise_multiplier: float
    size: int
    n_records: int
    rounding_slack: float = 0.0

    def __post_init__(self):
        # Parameters may come unvalidated (`sklearn.set_config`). Numbers near the ends of double
        # precision have few digits: what is clipped to such a bound may be far longer.
        if not 0.0 <= self.noise_multiplier < math.inf:
            raise ValueError("a noise multiplier must be finite and not negative.")
        if self.noise_multiplier > 0.0 and not (
            _SMALLEST_BOUND <= self.contribution_bound <= 1.0 / _SMALLEST_BOUND
        ):
            raise ValueError(
                "what a record contributes must have a bound within 1e-100 and 1e100: choose "
                "alpha, data_norm and clipping_norm of moderate size."
            )

    @cached_property
    def grid(self):
        """Step of the grid that releases lie on, a power of two; 0 where there is no noise."""
        if self.noise_multiplier == 0.0:
            return 0.0
        finest = min(1.0, self.noise_multiplier) * self.contribution_bound * 2.0**-_GRID_BITS
        largest = max(self.n_records, self.noise_multiplier * self._reach) * self.contribution_bound
        needed = largest / _EXACT_STEPS
        return 2.0 ** max(math.floor(math.log2(finest)), math.ceil(math.log2(needed)))

    @cached_property
    def sensitivity(self):
        """L2 distance between the rounded values of two neighbouring data sets, at most."""
        if self.noise_multiplier == 0.0:
            return self.contribution_bound
        exact = self.contribution_bound * (1.0 + self.rounding_slack)
        return exact + self.grid * math.sqrt(self.size)

    @cached_property
    def noise_scale(self):
        """Noise multiplier times sensitivity."""
        return self.noise_multiplier * self.sensitivity if self.noise_multiplier > 0.0 else 0.0

    @property
    def noise_std(self):
        """Standard deviation of the noise on each entry."""
        return self.noise_scale * self._reach

    def rounded(self, value):
        """Return a value moved to the grid. The sum of parts on the grid is exact, and on it."""
        if self.noise_multiplier == 0.0:
            return value
        return np.rint(value / self.grid) * self.grid

    def serving(self, noise_multipliers):
        """Return the mechanism whose noise is enough for each of an array of multipliers."""
        return replace(self, noise_multiplier=float(noise_multipliers.max()))

    def release(self, value, stream):
        """Return `value` plus noise; `value` is an array of `size` entries, left as it is."""
        if self.noise_multiplier == 0.0:
            return value
        if value.ndim == 0:
            grid = self.grid
            # The same in Python's numbers, which are faster than arrays of one.
            steps = round(self._draw_number(stream) * (self.noise_scale / grid))
            return np.float64((steps + round(float(value) / grid)) * grid)
        grid, scale_in_steps = self._as_arrays
        released = self._draw(value.shape, stream)
        released *= scale_in_steps
        np.rint(released, out=released)
        steps = value / grid
        released += np.rint(steps, out=steps)
        # Two negative zeros add up to one, which would tell the value's sign.
        released += _ZERO
        released *= grid
        return released

    @cached_property
    def _as_arrays(self):
        """The grid and the noise scale over it; NumPy is slower with Python's numbers."""
        return np.array(self.grid), np.array(self.noise_scale / self.grid)


@dataclass(frozen=True)
class GaussianMechanism(_OnGrid):
    """Gaussian noise, whose size is its standard deviation. For the parameters see `_OnGrid`."""

    # Standard deviation of an entry of the noise at scale 1.
    _reach: ClassVar = 1.0

    def simulate(self, shape, stream):
        """Return noise of this law that hides nothing, for a look at what noise may do."""
        noise = self._draw(shape, stream)
        return np.rint(noise * (self.noise_scale / self.grid)) * self.grid

    def _draw(self, shape, stream):
        return stream.normal(shape)

    def _draw_number(self, stream):
        return stream.normal_number()


@dataclass(frozen=True)
class LaplaceMechanism(_OnGrid):
    """Spherical Laplace noise of density proportional to ``exp(-||z|| / scale)``.

    Its direction is uniform and its length has a gamma distribution whose shape is the number of
    entries. Moving the value by the sensitivity changes the density by a factor of at most
    ``exp(sensitivity / scale)``, so the guarantee has delta = 0. The size of the noise is its
    scale. For the parameters see `_OnGrid`.
    """

    @property
    def _reach(self):
        """Standard deviation of an entry of the noise at scale 1."""
        return math.sqrt(self.size + 1.0)

    def _draw(self, shape, stream):
        # A direction needs a length; that of one number may round to 0.
        while not (length := np.linalg.norm(noise := stream.normal(shape))) > 0.0:
            pass
        noise *= stream.gamma(noise.size) / length
        return noise

    def _draw_number(self, stream):
        return float(self._draw((1,), stream)[0])


@dataclass(frozen=True)
class RandomizedResponse:
    """Classes, each of which a coin replaces by any other.

    Nothing is rounded: a word of 64 bits decides by whole numbers, so that probabilities are
    exactly as stated. That of each of the other classes, `flip_probability`, is a multiple of
    ``2**-64``. `noise_multiplier` is the standard deviation of an unbiased label, whose entries are
    0 and 1.
    """

    flip_probability: float
    n_classes: int
    noise_multiplier: float

    # Labels are bounded by being labels.
    contribution_bound: ClassVar = 1.0

    def __post_init__(self):
        words = self.flip_probability * _WORDS
        if not 0.0 <= words * self.n_classes <= _WORDS or words != int(words):
            raise ValueError("flips must have a probability of whole words, at most 1 / n_classes.")

    @property
    def noise_std(self):
        """Standard deviation of the noise on each entry of an unbiased label."""
        return self.noise_multiplier

    def release(self, value, stream):
        """Return classes, numbered from 0, after a coin each; `value` is left as it is."""
        words = int(self.flip_probability * _WORDS)
        if words == 0:
            return value
        # The first so many words lead to the next class, as many to the one after, ...
        shift = stream.words(value.size) // np.uint64(words) + np.uint64(1)
        shift[shift >= self.n_classes] = 0
        return (value.astype(np.int64) + shift.astype(np.int64)) % self.n_classes


@dataclass(frozen=True)
class DiscreteLaplaceMechanism:
    """Whole noise on whole counts, k with a probability proportional to ``exp(-|k| / scale)``.

    Every count has noise of its own, so that moving counts by `contribution_bound` altogether
    changes the probability of what is released by a factor of at most ``exp(contribution_bound /
    scale)``. It is drawn from random whole numbers, without a logarithm or a rounded probability
    [1]_, and so has this law exactly. The scale is `noise_multiplier` times the bound, rounded up
    to a multiple of 2**-20; 0 for no noise.

    References
    ----------
    .. [1] Canonne, Kamath and Steinke (2020). The discrete Gaussian for differential privacy.
       NeurIPS. Algorithms 1 and 2.
    """

    noise_multiplier: float
    # A record moves counts by this at most, added up.
    contribution_bound: float = 1.0

    def __post_init__(self):
        if not 0.0 <= self.noise_multiplier * self.contribution_bound <= _LARGEST_SCALE:
            raise ValueError(f"the scale of noise must be within 0 and {_LARGEST_SCALE:g}.")

    @property
    def noise_std(self):
        """Standard deviation of the noise on each count."""
        if self.noise_multiplier == 0.0:
            return 0.0
        # Beyond this the hyperbolic sine overflows.
        half_rate = min(0.5 * _SCALE_PARTS / self._parts, 700.0)
        return 1.0 / (math.sqrt(2.0) * math.sinh(half_rate))

    @property
    def _parts(self):
        return math.ceil(self.noise_multiplier * self.contribution_bound * _SCALE_PARTS)

    def release(self, counts, stream):
        """Return whole `counts`, an array that is left as it is, plus noise, as an array."""
        if self.noise_multiplier == 0.0:
            return counts
        noise = np.zeros(counts.size, dtype=np.int64)
        pending = np.arange(counts.size)
        while pending.size:
            size = _geometric(self._parts, pending.size, stream) // _SCALE_PARTS
            is_negative = stream.integers(2, pending.size) == 1
            # Zero has one sign; what was rejected before it got a size is below 0.
            done = (size > 0) | ((size == 0) & ~is_negative)
            noise[pending[done]] = np.where(is_negative, -size, size)[done]
            pending = pending[~done]
        return counts + noise.reshape(counts.shape)

    def simulate(self, shape, stream):
        """Return noise of this law that hides nothing, for a look at what noise may do.

        A difference of two geometric numbers has it. They come from rounded logarithms of random
        fractions, which is much faster, and would tell something of counts that they are added to.
        """
        mean_log = -_SCALE_PARTS / self._parts
        first, second = (
            np.floor(np.log(stream.uniform(math.prod(shape))) / mean_log) for _ in range(2)
        )
        return (first - second).reshape(shape)


@dataclass(frozen=True)
class NoisyMaximum:
    """The place of the largest of several sums, each with exponential noise: permute and flip [1]_.

    Candidates come in random order, and each is taken with probability ``exp(-gap / scale)``, its
    gap being what it lacks to the largest sum. Sums are whole numbers and coins are exact. A record
    adds something from 0 to `contribution_bound` to each sum. `noise_multiplier` is the scale of
    the noise over the bound; 0 for no noise.

    References
    ----------
    .. [1] McKenna and Sheldon (2020). Permute-and-flip: a new mechanism for differentially private
       selection. NeurIPS. Algorithm 1.
    """

    noise_multiplier: float
    contribution_bound: int

    def release(self, sums, stream):
        """Return the place of one of an array of whole sums."""
        gaps = sums.max() - sums
        if self.noise_multiplier == 0.0:
            return int(gaps.argmin())
        scale = math.ceil(self.noise_multiplier * self.contribution_bound)
        order = np.argsort(stream.words(gaps.size))
        return next(int(place) for place in order if _survives(int(gaps[place]), scale, stream))


@dataclass(frozen=True)
class ExponentialChoice:
    """One of several scores' places, with a probability proportional to ``exp(score / scale)``.

    Places are drawn until one is kept, which it is with probability ``exp(-gap / scale)``, its gap
    being what its score lacks to the largest. Scores are whole numbers and coins are exact, and so
    is this law. A record moves each score by at most `contribution_bound`, up or down. With a scale
    of sqrt(pi / 2) times `noise_multiplier` times that, Gaussian noise of this multiplier tells at
    least as much (doc/theory/greedy.rst). 0 is for no noise.
    """

    noise_multiplier: float
    contribution_bound: int

    @property
    def noise_std(self):
        """Standard deviation of the Gaussian noise that tells at least as much."""
        return self.noise_multiplier * self.contribution_bound

    def release(self, scores, stream):
        """Return the place of one of an array of whole scores, as an array of no dimension."""
        gaps = scores.max() - scores
        if self.noise_multiplier == 0.0:
            return np.asarray(gaps.argmin())
        scale = _ROOT_HALF_PI * self.noise_std
        # Where not even the largest gap tells anything, no coin needs to be drawn.
        scale, gaps = (math.ceil(scale), gaps) if scale <= _LARGEST_GAP else (1, 0 * gaps)
        kept = np.empty(0, dtype=np.int64)
        while not kept.size:
            places = stream.integers(gaps.size, gaps.size)
            kept = places[_survivors(gaps[places], scale, stream)]
        return np.asarray(kept[0])


def _survivors(gaps, scale, stream):
    """Return where coins are true, each with probability ``exp(-gap / scale)``, exactly."""
    wholes, rests = np.divmod(gaps, scale)
    going = np.flatnonzero(_coins(rests, scale, stream))
    passed = 0
    while (pending := wholes[going] > passed).any():
        coins = np.ones(going.size, dtype=bool)
        coins[pending] = _coins(np.ones(pending.sum(), dtype=np.int64), 1, stream)
        going, passed = going[coins], passed + 1
    return going


def _survives(gap, scale, stream):
    """Return a coin that is true with probability ``exp(-gap / scale)``, exactly."""
    wholes, rest = divmod(gap, scale)
    coins = chain([(rest, scale)], repeat((1, 1), wholes))
    return all(_coins(np.array([numerator]), below, stream)[0] for numerator, below in coins)


def _geometric(parts, size, stream):
    """Return k with probability proportional to ``exp(-k / parts)``, or where rejected a negative.

    The remainder by `parts` is kept with probability ``exp(-remainder / parts)``, and the quotient
    has the geometric law of ``exp(-1)``.
    """
    remainder = stream.integers(parts, size)
    kept = _coins(remainder, parts, stream)
    quotient = np.zeros(size, dtype=np.int64)
    going = np.flatnonzero(kept)
    while going.size:
        going = going[_coins(np.ones(going.size, dtype=np.int64), 1, stream)]
        quotient[going] += 1
    return np.where(kept, remainder + parts * quotient, -_SCALE_PARTS)


def _coins(numerators, denominator, stream):
    """Return coins that are true with probability ``exp(-numerator / denominator)``, exactly.

    The chance of k successes in a row, the j-th of probability x / j, is x^k / k!, so that the
    first failure comes at an odd place with probability exp(-x).
    """
    is_odd = np.zeros(numerators.size, dtype=bool)
    going = np.arange(numerators.size)
    place = 0
    while going.size:
        place += 1
        success = stream.integers(denominator * place, going.size) < numerators[going]
        is_odd[going[~success]] = place % 2 == 1
        going = going[success]
    return is_odd


def as_vector(matrix):
    """Return a symmetric matrix as a vector of the same length: off-diagonal entries once.

    They count twice in a matrix's Frobenius norm, and are sqrt(2) times as large in the vector.
    """
    rows, columns, off_diagonal = _triangle(len(matrix))
    vector = matrix[rows, columns]
    vector[off_diagonal] *= math.sqrt(2.0)
    return vector


def as_symmetric(vector, size):
    """Return the symmetric matrix that `as_vector` gave a vector of."""
    rows, columns, off_diagonal = _triangle(size)
    entries = vector.copy()
    entries[off_diagonal] /= math.sqrt(2.0)
    matrix = np.empty((size, size))
    matrix[rows, columns] = entries
    matrix[columns, rows] = entries
    return matrix


@lru_cache(maxsize=1)
def _triangle(size):
    """Return rows and columns of the upper triangle, and which of them aren't on the diagonal."""
    rows, columns = np.triu_indices(size)
    return rows, columns, rows != columns
