"""Long tests beside the quick ones of `tests/preprocessing/test_discovery.py`."""

import math
from dataclasses import replace

import pytest

from tests._runs import HandRun
from tests.door import COUNTS, hiding_threshold, make_stream, release_counts
from tests.preprocessing.test_discovery import planned


def test_what_is_published_of_single_records_is_as_rare_as_promised():
    """A record with categories of its own in three columns; beyond 6 deviations is below 1e-8."""
    plan = planned((1.0, 1e-5), "zero_out", 3)
    erasure, n_runs = 0.3, 20_000
    threshold = hiding_threshold(plan.mechanisms[COUNTS], erasure, 3)
    columns = [["common"] * 1000 + [f"rare {j}"] for j in range(3)]
    run = HandRun(plan.mechanisms[COUNTS], noise=make_stream(0))
    plan = replace(plan, threshold=threshold)
    shown = sum(
        any(len(found) > 1 for found, _ in release_counts(columns, [None] * 3, plan=plan, run=run))
        for _ in range(n_runs)
    )
    deviation = math.sqrt(n_runs * erasure * (1 - erasure))
    assert abs(shown - n_runs * erasure) < 6 * deviation
