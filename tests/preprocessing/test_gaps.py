"""Where entries are missing: no warning tells of an entry."""

import numpy as np

from tests.door import find_gaps


def test_a_gap_that_comparisons_signal_is_found_without_a_warning():
    signalling = np.array([0x7FF0000000000001], dtype=np.uint64).view(np.float64)
    X = np.array([[None], ["a"], [1.0], [2.0]], dtype=object)
    X[3, 0] = signalling[0]
    assert find_gaps(X).ravel().tolist() == [True, False, False, True]
