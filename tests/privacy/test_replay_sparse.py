"""Rules 3 and 7 (CONTRIBUTING.rst) on sparse rows, by replay: which entries there are is data.

See tests/privacy/test_replay.py. A neighbour's row may have other entries, more of them or none.
"""

from dataclasses import replace

import numpy as np
import pytest

from tests.privacy._cases import SPARSE, first_of_a_kind, label_neighbours
from tests.privacy._corners import PATTERNS
from tests.privacy._recipes import SPARSE_CASES, SPARSE_LABEL_CASES
from tests.privacy._replay import (
    broken_claims,
    check_corners,
    check_null_records,
    check_unrelated_data,
    record,
)


@pytest.mark.long
@pytest.mark.parametrize("case", first_of_a_kind(SPARSE_CASES), ids=str)
def test_a_sparse_record_at_every_corner_and_of_every_pattern(case):
    check_corners(case)


@pytest.mark.parametrize("case", SPARSE_CASES, ids=str)
def test_given_the_releases_all_patterns_look_the_same(case):
    check_unrelated_data(case, texts=True)


@pytest.mark.parametrize("case", SPARSE_CASES, ids=str)
def test_releases_are_those_of_dense_rows(case):
    X, y = case.records()
    dense = record(replace(case, data=replace(SPARSE, read=np.asarray)), X, y)
    found = record(case, X, y, script=dense.released)
    assert len(found.values) == len(dense.values)
    for one, other, mechanism in zip(found.values, dense.values, dense.mechanisms, strict=True):
        # Scores are whole numbers, in which there is room for their own rounding.
        slack = mechanism.contribution_bound * getattr(mechanism, "rounding_slack", 1e-5)
        assert np.linalg.norm(one - other) <= slack
    assert found.published == dense.published


@pytest.mark.parametrize("case", first_of_a_kind(SPARSE_CASES), ids=str)
def test_a_null_record_of_any_pattern_contributes_exactly_nothing(case):
    check_null_records(case, *PATTERNS)


@pytest.mark.parametrize("case", SPARSE_LABEL_CASES, ids=str)
def test_a_label_of_a_sparse_row_moves_the_release_by_at_most_its_sensitivity(case):
    X, y = case.records(63)
    X[60], X[61], X[62] = 0.0, 5.0 * np.abs(X).max(axis=0), X[0]
    base = record(case, X, y)
    longest = 0.0
    for k, moved in label_neighbours(case, y):
        broken, reach = broken_claims(base, record(case, X, moved, script=base.released), k=k)
        assert not broken
        longest = max(longest, reach)
    assert longest > 0.6
