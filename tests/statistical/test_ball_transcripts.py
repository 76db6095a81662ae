"""Exact likelihood ratios of transcripts of fits that learn a ball; see test_transcripts.py.

All rows but one are null records, so that noise alone says where the ball is: centre, scales and
radius are others in each fit. The record is beyond all of them, and reaches every bound.
"""

import math
from dataclasses import dataclass
from unittest import mock

import numpy as np
import pytest

from skdp.linear_model import DPRidge
from tests.door import (
    DrawnBlocks,
    ball_queries_module as _queries,
    ball_tuned as tuned,
    null_records,
)
from tests.statistical._transcripts import convicted, noise_times
from tests.statistical.test_transcripts import (
    FAR,
    N_TRANSCRIPTS,
    Case,
    contributions,
    log_ratios,
    small_fits,
)

__all__ = ["small_fits"]

# Of a large delta, of which transcripts tell most.
pytestmark = pytest.mark.filterwarnings("ignore:delta is larger")

BUDGET = {"epsilon": 4.0, "delta": 0.05, "max_iter": 2, "clipping_norm": 1e-3}
BUDGET |= {"ball_budget": 0.9, "moment_budget": 0.0, "target_bounds": (-1.0, 1.0)}
# A row, and the one that it is replaced by: in other bins, and on the other side.
ROW, OTHER = np.array([1e70, -1e70]), np.array([-1e-9, 1e-9])


@dataclass(frozen=True)
class BallCase(Case):
    """A record that is far off, alone or in a group, and another in its place or none."""

    n_rows: int = 600

    def fit(self, present, seed):
        own = max(self.n_own, 1) if present or self.other_y is None else 1
        X = np.zeros((self.n_rows - 1 + own, 2))
        y = np.zeros(len(X))
        X[:own], y[:own] = (ROW, self.y) if present else (OTHER, self.other_y or 0.0)
        null = 0 if self.other_y is None and not present else own
        groups = {"groups": np.maximum(np.arange(len(X)) - own + 1, 0)} if self.n_own else {}
        with null_records(range(null, len(X))):
            return self.estimator.set_params(random_state=seed).fit(X, y, **groups).privacy_report_


@dataclass(frozen=True)
class SampleCase(BallCase):
    """The same where lengths and centres are of a sample, which the record is in, or isn't.

    So few rows are sampled here as many are. Which they are is public: the ratios are those given
    the sample.
    """

    is_in: bool = True

    def fit(self, present, seed):
        draw = DrawnBlocks.rows

        def drawn(one, first, last):
            rows = draw(one, first, last)
            size = one.sampler.block_size
            own = np.arange(size) + (0 if self.is_in else size)
            # The record is in the first block, and the first stratum has others.
            return np.concatenate([own, rows[size:]])

        thresholds = {
            "LEAST_ROWS_OF_SAMPLE": 100,
            "LARGEST_NOISE_IN_SAMPLE": math.inf,
            "LARGEST_NOISE_OF_THOSE_OUTSIDE": math.inf,
            "LEAST_BLOCKS_OUTSIDE": 0,
        }
        with (
            mock.patch.object(DrawnBlocks, "rows", drawn),
            mock.patch.multiple(tuned, **thresholds),
        ):
            report = super().fit(present, seed)
        assert sum("of a sample" in name for name in report.names) == 5
        return report


CASES = {
    "zero_out": BallCase(DPRidge(**BUDGET), FAR),
    "replace_one": BallCase(
        DPRidge(adjacency="replace_one", **BUDGET), FAR, other_y=-FAR, tight=False
    ),
    "group": BallCase(DPRidge(**BUDGET), FAR, n_own=300),
    "targets": BallCase(DPRidge(**BUDGET | {"target_bounds": None}), FAR),
    "targets, replace_one": BallCase(
        DPRidge(adjacency="replace_one", **BUDGET | {"target_bounds": None}),
        FAR,
        other_y=-FAR,
        tight=False,
    ),
    "targets of a group": BallCase(DPRidge(**BUDGET | {"target_bounds": None}), FAR, n_own=300),
    "sample": SampleCase(DPRidge(**BUDGET), FAR),
    "sample without it": SampleCase(DPRidge(**BUDGET), FAR, is_in=False, tight=False),
    "sample, replace_one": SampleCase(
        DPRidge(adjacency="replace_one", **BUDGET), FAR, other_y=-FAR, tight=False
    ),
    "with a moment": BallCase(DPRidge(**BUDGET | {"moment_budget": 0.9}), FAR, tight=False),
}
SHORT = {"zero_out", "targets"}
NAMES = [pytest.param(name, marks=[pytest.mark.long] * (name not in SHORT)) for name in CASES]


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in NAMES if name.values[0] != "sample without it"])
def test_half_the_noise_is_convicted(name):
    with noise_times(0.5):
        ratios, report = log_ratios(CASES[name], True, range(N_TRANSCRIPTS))
    assert convicted(ratios, report)


@pytest.mark.long
def test_rows_that_are_not_cut_to_the_radius_are_convicted(monkeypatch):
    weights_within = _queries.weights_within

    def longer(lengths, radius):
        found, is_void = weights_within(lengths, radius)
        return 3.0 * found, is_void

    monkeypatch.setattr(_queries, "weights_within", longer)
    ratios, report = log_ratios(CASES["zero_out"], True, range(N_TRANSCRIPTS))
    assert convicted(ratios, report)


REACHING = sorted(name for name in CASES if "replace_one" not in name and "without" not in name)


@pytest.mark.parametrize("name", REACHING)
def test_the_record_reaches_the_bound_of_every_release(name):
    """So that the ratios above are about something; and all stages of the ball are bought."""
    case = CASES[name]
    of_record, _ = contributions(case, True)
    of_other, _ = contributions(case, False, of_record)
    of_targets = 6 if case.estimator.target_bounds is None else 0
    assert len(of_record) == of_targets + 7 + 2 + (case.estimator.moment_budget > 0.0)
    for one, other in zip(of_record, of_other, strict=True):
        apart = np.linalg.norm(one.value - other.value) / one.mechanism.contribution_bound
        assert 0.8 < apart <= 1.0 + 1e-6


def test_a_record_outside_of_a_sample_moves_no_release_of_it():
    case = CASES["sample without it"]
    of_record, report = contributions(case, True)
    of_other, _ = contributions(case, False, of_record)
    moved = [
        np.linalg.norm(one.value - other.value) > 0.0
        for one, other in zip(of_record, of_other, strict=True)
    ]
    # The steps are the last two, under one name.
    names = [*report.names, report.names[-1]]
    assert moved == ["of a sample" not in name for name in names]
