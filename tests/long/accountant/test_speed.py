"""Long tests beside the quick ones of `tests/accountant/test_speed.py`."""

import pytest

from skdp.accountant import calibrate
from tests.accountant.test_speed import composed

DESIGNS = [
    (1.0, 1e-5, 0.01, 1000),
    (1.0, 1e-5, 0.001, 10**4),
    (1.0, 1e-5, 0.5, 10**6),
    (1e3, 1e-2, 0.9, 10**6),
    (30.0, 1e-5, 1e-5, 1),
    (2.36, 0.286, 2.54e-5, 10**6),
    (0.0445, 4e-7, 2.3e-5, 62462),
    (1e-3, 1e-12, 0.5, 250),
    (0.1, 0.871, 0.0982, 20),
]


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize(("epsilon", "delta", "rate", "n_steps"), DESIGNS)
def test_few_and_small_compositions(epsilon, delta, rate, n_steps, adjacency, composed):
    calibrate(epsilon, delta, sampling_rate=rate, n_steps=n_steps, adjacency=adjacency)
    # The last bits of a processor decide where a search ends: one design takes 31 on some.
    assert len(composed) <= 35
    assert max(composed) <= 4e5
    assert sum(composed) <= 1.5e6
