"""Long tests beside the quick ones of `tests/privacy/test_replay_ball.py`."""

from dataclasses import replace

import pytest

from tests.privacy._recipes import BALL_CASES, BATCH_BALL_CASES, SPARSE_BALL_CASES
from tests.privacy._replay import (
    check_corners_together,
    check_null_records,
    check_unrelated_data,
)
from tests.privacy.test_replay_ball import before_batches

CASES = BALL_CASES + SPARSE_BALL_CASES + BATCH_BALL_CASES


@pytest.mark.parametrize("case", BATCH_BALL_CASES, ids=str)
def test_a_record_that_moves_the_ball_of_batches(case):
    """What is planned before the ball is run after it, whatever the ball is."""
    base = check_corners_together(case, before_batches)
    assert before_batches(base)["n_releases"] == len(case.learnt)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_given_the_releases_all_rows_look_the_same(case):
    base = check_unrelated_data(case, texts=True)
    assert {"center_", "scale_", "radius_"} <= base.published.keys()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_null_record_adds_nothing_to_the_ball(case):
    check_null_records(case)
