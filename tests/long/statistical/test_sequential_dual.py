"""Long tests beside the quick ones of `tests/statistical/test_sequential_dual.py`."""

import pytest

from tests.statistical._transcripts import convicted
from tests.statistical.test_sequential_dual import (
    DESIGNS,
    log_ratios_both_ways,
    make_attack,
    naive_report,
)


@pytest.mark.parametrize(("rate", "noise_multiplier", "amplified"), DESIGNS)
def test_parallel_updates_are_not_convicted(rate, noise_multiplier, amplified, rng):
    """Same records, coins, noise and account; only the v that is read differs."""
    process = make_attack(rate, noise_multiplier, sequential=False)
    report = naive_report(process, amplified=amplified)
    for log_ratios in log_ratios_both_ways(process, rng):
        assert not convicted(log_ratios, report)
