"""What not every change needs of the tests of `tests/privacy/test_replay_ball.py`."""

import numpy as np
import pytest

from tests.privacy._cases import K
from tests.privacy._replay import broken_claims, check_all_claims, record
from tests.privacy.test_planted_faults import name_of
from tests.privacy.test_replay_ball import BATCHES, CASES, ROWS, SPARSE, before_batches, moved


@pytest.mark.parametrize(("case", "stages"), BATCHES, ids=name_of)
def test_a_record_that_moves_the_ball_of_batches(case, stages):
    """What is planned before the ball is run after it, whatever the ball is."""
    X, y = case.records()
    base = record(case, X, y)
    null = record(case, X, y, script=base.released, null=K)
    others = {row: record(case, moved(X, row), y, script=base.released) for row in ROWS}
    how = before_batches(base)
    assert how["n_releases"] == len(stages)
    check_all_claims(base, null, others, **how)


@pytest.mark.parametrize(("case", "stages"), CASES + SPARSE + BATCHES, ids=name_of)
def test_given_the_releases_all_rows_look_the_same(case, stages):
    X, y = case.records()
    base = record(case, X, y, texts=True)
    for data in (X[::-1] ** 3, 1e-200 * X, np.full_like(X, 1e200), np.zeros_like(X), 1e300 * X):
        other = record(case, data, y[::-1], script=base.released, texts=True)
        assert base.log == other.log
        assert base.published == other.published
    assert {"center_", "scale_", "radius_"} <= base.published.keys()


@pytest.mark.parametrize(("case", "stages"), CASES + SPARSE + BATCHES, ids=name_of)
def test_a_null_record_adds_nothing_to_the_ball(case, stages):
    X, y = case.records()
    base = record(case, X, y, null=K)
    for row in ROWS:
        other = record(case, moved(X, row), y, script=base.released, null=K)
        broken, reach = broken_claims(base, other, k=K, null=True)
        assert not broken
        assert reach == 0.0
