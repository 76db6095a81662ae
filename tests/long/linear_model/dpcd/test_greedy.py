"""Long tests beside the quick ones of `tests/linear_model/dpcd/test_greedy.py`."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import softmax

from tests.door import ExponentialChoice, make_stream

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")


# Numbers of the operating system are slow.
@pytest.mark.parametrize(("random_state", "n_choices"), [(0, 20_000), (None, 4_000)])
def test_a_choice_has_its_law(random_state, n_choices):
    scores = np.array([1000, 970, 1010, 300, -5000, 1010])
    mechanism = ExponentialChoice(noise_multiplier=2.0, contribution_bound=9)
    stream = make_stream(random_state)
    found = [int(mechanism.release(scores, stream)) for _ in range(n_choices)]
    law = softmax(scores / math.ceil(math.sqrt(math.pi / 2.0) * 18.0))
    counts = np.bincount(found, minlength=6)
    assert counts[3] == counts[4] == 0
    assert stats.chisquare(counts[[0, 1, 2, 5]], n_choices * law[[0, 1, 2, 5]]).pvalue > 1e-7
