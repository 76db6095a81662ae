"""Long tests beside the quick ones of `tests/statistical/test_hidden_dual.py`."""

import pytest

from tests.statistical._transcripts import EPSILONS, bounds_of_delta, convicted
from tests.statistical.test_hidden_dual import (
    ZERO_OUT_CASES,
    Record,
    acquitted,
    log_ratios_both_ways,
    make_process,
)


@pytest.mark.parametrize("case", ZERO_OUT_CASES)
def test_a_record_against_a_null_record_never_exceeds_the_report(case, rng):
    loss, alpha, bound, record, design = ZERO_OUT_CASES[case]
    process = make_process(loss, alpha, bound, design=design)
    report = process.plan.report(reproducible=True)
    for log_ratios in log_ratios_both_ways(process, record, None, rng):
        assert not convicted(log_ratios, report)
        assert case.endswith("always") or acquitted(log_ratios, report)


@pytest.mark.parametrize(
    ("adjacency", "other"), [("zero_out", None), ("replace_one", Record(-50.0, 1.0))]
)
def test_the_report_is_tight_for_records_that_always_move_v_by_the_bound(adjacency, other, rng):
    process = make_process("squared_error", 0.5, 1.0, adjacency=adjacency)
    report = process.plan.report(reproducible=True)
    log_ratios = next(log_ratios_both_ways(process, Record(50.0, 1.0), other, rng, n=150_000))
    for epsilon in EPSILONS[:3]:
        low, high = bounds_of_delta(log_ratios, epsilon)
        promised = report.delta_at(epsilon)
        assert low <= promised <= high
        assert high - low < 0.2 * promised
