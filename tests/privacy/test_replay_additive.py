"""Rules 3 and 7 (CONTRIBUTING.rst) for additive models of raw tables, by replay.

See tests/privacy/test_replay.py. Columns of numbers are learnt, with gaps, and the last column is
of words that are given: what a word moves where they are found is tested in test_table.py.
"""

import math

import numpy as np
import pytest

from tests.door import Basis, additive_tuned, fused_module
from tests.privacy._cases import people_of, rows_at
from tests.privacy._recipes import ADDITIVE_CASES, ADDITIVE_OF_PEOPLE, FEW, FOUND
from tests.privacy._replay import (
    check_a_person,
    check_corners_together,
    check_null_records,
    check_unrelated_data,
    record,
)


@pytest.mark.long
@pytest.mark.parametrize("case", ADDITIVE_CASES, ids=str)
def test_a_record_that_moves_table_ball_and_steps(case):
    base = check_corners_together(case)
    # As much as the report says was released.
    report = base.estimator.privacy_report_
    assert len(base.released) == report.n_releases
    assert math.isclose(report.epsilon_at(report.delta), report.epsilon, rel_tol=1e-3)


@pytest.mark.long
def test_cases_with_products_have_a_second_fit():
    """Without one they would tell nothing of it."""
    found = [case for case in ADDITIVE_CASES if case.estimator.epsilon == FOUND["epsilon"]]
    assert len(found) == 2
    for case in found:
        X, y = case.records()
        model = record(case, X, y).estimator
        assert {"steps", "steps of products"} <= set(model.privacy_report_.names)
        assert model.terms_[-1].kind == "product"


def test_cases_of_few_records_have_no_model():
    found = [case for case in ADDITIVE_CASES if case.estimator.epsilon == FEW["epsilon"]]
    names = [record(case, *case.records()).estimator.privacy_report_.names for case in found]
    assert [of_case[-1] for of_case in names] == 2 * ["shares of classes"] + 3 * [
        "means of targets"
    ]
    assert [len(of_case) > 1 for of_case in names] == [False, False, True, True, False]


@pytest.mark.parametrize("case", ADDITIVE_CASES, ids=str)
def test_given_the_releases_all_tables_look_the_same(case):
    check_unrelated_data(case, texts=True)


@pytest.mark.long
@pytest.mark.parametrize("case", ADDITIVE_CASES, ids=str)
def test_a_null_record_adds_nothing(case):
    check_null_records(case)


SIZES = {"beyond all bins": 1, "1e308 and a word": 200, "gaps": 3, "a row of zeros": 2}


@pytest.mark.parametrize("case", ADDITIVE_OF_PEOPLE, ids=str)
def test_a_person_of_any_rows_counts_as_one_record(case):
    X, y, *_ = people_of(case)
    rows, _ = rows_at(case, X, y, SIZES)
    check_a_person(
        case,
        {
            name: (np.tile(row, (size, 1)), y[:size])
            for (name, size), row in zip(SIZES.items(), rows, strict=True)
        },
    )


@pytest.mark.long
@pytest.mark.parametrize("case", ADDITIVE_CASES, ids=str)
def test_rows_of_codes_are_bounded_as_others(case, monkeypatch):
    """Many rows are kept as codes, for sums that are compiled."""
    pytest.importorskip("numba")
    asked, real = [], Basis.coded_rows
    monkeypatch.setattr(Basis, "coded_rows", lambda *args: asked.append(args) or real(*args))
    monkeypatch.setattr(additive_tuned, "SHARE_OF_ENTRIES", 1.0)
    with fused_module.sums_compiled(True):
        base = check_corners_together(case)
        check_null_records(case)
        check_unrelated_data(case, texts=True)
    has_model = "steps" in base.estimator.privacy_report_.names
    assert bool(asked) == has_model
