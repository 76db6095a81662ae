"""Long tests beside the quick ones of `tests/test_mechanisms.py`."""

import math

import numpy as np
import pytest

from tests.door import make_stream
from tests.test_mechanisms import laplace


def test_spherical_noise_is_pure_on_the_grid():
    """Frequencies of cells under two values at distance C: their ratio is at most exp(1 / m).

    It is that in all cells but the inner ones, the outermost of which hold the most.
    """
    made = laplace(contribution_bound=1.0, noise_multiplier=1.0, size=1)
    stream, n_draws = make_stream(0), 80_000
    edges = np.array([-np.inf, 0.0, 0.25, 0.5, 0.75, 1.0, np.inf])
    counts = []
    for value in (0.0, 1.0):
        draws = np.array([made.release(np.array([value]), stream)[0] for _ in range(n_draws)])
        counts.append(np.histogram(draws, edges)[0])
    for one, other in (counts, counts[::-1]):
        # Six standard deviations of the difference that purity forbids to be positive.
        excess = one - math.e * other
        assert (excess <= 6.0 * np.sqrt(one + math.e**2 * other)).all()
