"""Long tests beside the quick ones of `tests/privacy/test_replay.py`."""

import pytest

from tests.privacy._corners import K, neighbour
from tests.privacy._recipes import CASES
from tests.privacy._replay import broken_claims, compare_all, record
from tests.privacy.test_replay import duplicates, one_row, rare_class, single_precision


@pytest.mark.parametrize("make", [duplicates, rare_class, one_row, single_precision])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_record_of_unusual_data(case, make):
    X, y = make(case)
    broken, reach, _ = compare_all(case, X, y, ["opposite sign"], k=0 if make is one_row else K)
    assert not broken
    assert reach > 0.0
