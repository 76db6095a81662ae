"""Long tests beside the quick ones of `tests/metrics/test_several.py`."""

import pytest

from skdp.metrics import private_score
from tests.metrics._models import Knows, binary_records as records
from tests.metrics.test_several import INF


@pytest.mark.parametrize("name", ["f1", "precision", "recall", "f1_macro", "precision_macro"])
def test_intervals_hold_as_often_as_they_say(name, rng):
    """Of 400, at 95 %: fewer than 355 or more than 397 would be chance less than once in 1e6."""
    held = 0
    X, y = records(rng, 400_000)
    truth = private_score(Knows(), X, y, scoring=name, epsilon=INF).value
    for seed in range(400):
        X, y = records(rng, 700)
        score = private_score(Knows(), X, y, scoring=name, epsilon=0.5, random_state=seed)
        held += score.low <= truth <= score.high
    assert 355 <= held <= 397
