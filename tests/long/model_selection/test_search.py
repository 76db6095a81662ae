"""Long tests beside the quick ones of `tests/model_selection/test_search.py`."""

import numpy as np
import pytest

from tests.door import SCORE_PARTS, NoisyMaximum, _excess_of_largest, make_stream
from tests.model_selection._searches import published, records, search


def test_a_choice_loses_at_most_what_a_report_says():
    """The mean gap of 3,000 choices; the bound is that of exponential noise, which they equal."""
    stream, n_candidates, scale = make_stream(0), 6, 5.0
    mechanism = NoisyMaximum(scale, SCORE_PARTS)
    bound = scale * _excess_of_largest(n_candidates)
    for gap in (1, 4, 10):
        sums = SCORE_PARTS * np.array([100] + [100 - gap] * (n_candidates - 1))
        lost = [gap * (mechanism.release(sums, stream) != 0) for _ in range(3000)]
        assert np.mean(lost) < bound


@pytest.mark.parametrize("method", ["repeat", "compose"])
def test_every_number_of_workers_gives_the_same_bits(method):
    X, y = records()
    found = [published(search(method=method, n_jobs=n_jobs).fit(X, y)) for n_jobs in (None, 2, 3)]
    for one in found:
        del one["n_jobs"]
    assert found[0] == found[1] == found[2]
