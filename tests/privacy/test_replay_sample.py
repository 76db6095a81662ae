"""Replays of fits whose ball is of a public sample of the rows; see test_replay_ball.py.

A sample of so few rows is drawn here as of many. The record that changes is in it, or it isn't.
"""

import math

import numpy as np
import pytest

from skdp.linear_model import DPCDLasso, DPLogisticRegression, DPRidge, DPSGDClassifier
from tests.door import DrawnBlocks, ball_tuned as tuned, whitened_tuned
from tests.privacy._cases import FAR, FAR_SPARSE, Case
from tests.privacy._corners import K, neighbour
from tests.privacy._recipes import LOUD, LOUD_RIDGE, TWO
from tests.privacy._replay import check_corners_together, check_unrelated_data, record
from tests.privacy.test_replay_ball import before_batches

OF_SAMPLE = [1, 2, 3, 4, 6]
CASES = [
    Case(DPRidge(**LOUD_RIDGE), data=FAR),
    Case(DPLogisticRegression(adjacency="replace_one", **TWO, **LOUD), data=FAR),
    Case(DPRidge(**LOUD_RIDGE), data=FAR_SPARSE),
    Case(DPCDLasso(max_iter=2, **LOUD_RIDGE), data=FAR),
    Case(DPSGDClassifier(max_iter=2, **TWO, **LOUD), data=FAR),
]


@pytest.fixture(params=[True, False], ids=["in", "out"])
def is_in(request, monkeypatch):
    """Whether the record that changes is in the sample."""
    monkeypatch.setattr(tuned, "LEAST_ROWS_OF_SAMPLE", 100)
    monkeypatch.setattr(tuned, "LARGEST_NOISE_IN_SAMPLE", math.inf)
    monkeypatch.setattr(tuned, "LARGEST_NOISE_OF_THOSE_OUTSIDE", math.inf)
    monkeypatch.setattr(tuned, "LEAST_BLOCKS_OUTSIDE", 0)
    draw = DrawnBlocks.rows

    def drawn(self, first, last):
        size, n_strata = self.sampler.block_size, self.sampler.n_blocks
        blocks, own = draw(self, first, last)[::size] // size, K // size
        edges = np.arange(n_strata + 1) * (self.sampler.n_rows // size) // n_strata
        stratum = np.searchsorted(edges, own, side="right") - 1
        other = edges[stratum] + (own == edges[stratum])
        assert other < edges[stratum + 1]
        blocks[stratum] = own if request.param else other
        return (blocks[:, np.newaxis] * size + np.arange(size)).ravel()

    monkeypatch.setattr(DrawnBlocks, "rows", drawn)
    return request.param


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_record_moves_what_it_may_and_no_release_of_a_sample_without_it(case, is_in):
    base = check_corners_together(case, before_batches)
    X, y = case.records()
    null = record(case, X, y, script=base.released, null=K)
    names = base.estimator.privacy_report_.names
    assert sum("of a sample" in name for name in names) == len(OF_SAMPLE)
    for place in OF_SAMPLE:
        apart = np.linalg.norm(base.values[place] - null.values[place])
        assert (apart > 0.0) == is_in
    # Entries are counted of all rows.
    for place in (0, 5):
        assert np.linalg.norm(base.values[place] - null.values[place]) == pytest.approx(2.0)


def test_the_bounds_of_a_sample_are_those_of_all_rows(is_in):
    """A record in the sample reaches them: no amplification is claimed."""
    if not is_in:
        return
    case = CASES[0]
    X, y = case.records()
    base = record(case, X, y)
    far = record(case, *neighbour(case, X, y, "a thousand units off"), script=base.released)
    null = record(case, X, y, script=base.released, null=K)
    for place in OF_SAMPLE:
        bound = base.mechanisms[place].contribution_bound
        apart = np.linalg.norm(far.values[place] - null.values[place])
        assert 0.95 < apart / bound <= 1.0 + 1e-5


@pytest.mark.parametrize("case", CASES[:1], ids=str)
def test_which_rows_are_drawn_does_not_follow_from_the_data(case, is_in):
    check_unrelated_data(case)


# So little noise that few steps follow the curvature.
FEW_STEPS = [
    Case(DPRidge(**{**LOUD_RIDGE, "epsilon": 1e6}), data=FAR),
    Case(DPLogisticRegression(epsilon=1e4, adjacency="replace_one", **TWO), data=FAR),
    Case(DPLogisticRegression(epsilon=1e4, **TWO), data=FAR_SPARSE),
]


@pytest.fixture
def few_rows_are_enough(monkeypatch):
    """Have the first of few steps be of a sample, however few rows it has."""
    monkeypatch.setattr(whitened_tuned, "LEAST_SAMPLED_ROWS_OF_COLUMN", 0.0)
    monkeypatch.setattr(whitened_tuned, "LARGEST_NOISE_ON_SAMPLE", math.inf)


@pytest.mark.parametrize("case", FEW_STEPS, ids=str)
@pytest.mark.usefixtures("few_rows_are_enough")
def test_a_record_moves_no_step_of_a_sample_without_it(case, is_in):
    """All steps have the bound that was planned for those of all rows, and no smaller noise."""
    base = check_corners_together(case, before_batches)
    X, y = case.records()
    null = record(case, X, y, script=base.released, null=K)
    n_steps = base.estimator.n_iter_
    assert n_steps in (6, 16)
    pairs = zip(base.values[-n_steps:], null.values[-n_steps:], strict=True)
    is_moved = [np.linalg.norm(one - other) > 0.0 for one, other in pairs]
    n_of_sample = n_steps // 2
    assert is_moved == [is_in] * n_of_sample + [True] * (n_steps - n_of_sample)
    of_steps = base.mechanisms[-n_steps:]
    assert len({(m.contribution_bound, m.noise_multiplier) for m in of_steps}) == 1


@pytest.mark.usefixtures("few_rows_are_enough")
def test_which_rows_first_steps_have_does_not_follow_from_the_data(is_in):
    check_unrelated_data(FEW_STEPS[0])


@pytest.mark.usefixtures("few_rows_are_enough")
def test_a_record_reaches_the_bound_of_a_step_of_a_sample(is_in):
    """No amplification is claimed."""
    if not is_in:
        return
    case = FEW_STEPS[0]
    X, y = case.records()
    base = record(case, X, y)
    far = record(case, *neighbour(case, X, y, "a thousand units off"), script=base.released)
    null = record(case, X, y, script=base.released, null=K)
    apart, n_steps = [], base.estimator.n_iter_
    for place in range(-n_steps, -(n_steps // 2)):
        bound = base.mechanisms[place].contribution_bound
        apart.append(np.linalg.norm(far.values[place] - null.values[place]) / bound)
    assert 0.95 < max(apart) <= 1.0 + 1e-5
