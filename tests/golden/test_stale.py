"""Result files that are older than the code that they measure are named on the page of results."""

import pytest

from tests.golden import stale


@pytest.mark.long
def test_a_family_is_measured_alone():
    assert stale._measured_by(stale.RESULTS / "ball.csv") == {"DPLogisticRegression", "DPRidge"}
    assert stale._measured_by(stale.RESULTS / "ball_dpsgd.csv") == {
        "DPSGDClassifier",
        "DPSGDRegressor",
    }
    assert "DPPoissonRegressor" in stale._measured_by(stale.RESULTS / "counts.csv")


def test_a_record_has_changed_where_released_numbers_have():
    one = {"class": "A", "coef_": [1.0], "privacy_report_": {"epsilon": 1.0}}
    assert not stale._differs(one, one | {"privacy_report_": {"epsilon": 2.0}, "new_": 1})
    assert not stale._differs(one, one | {"coef_": [1.0 + 1e-9]})
    assert stale._differs(one, one | {"coef_": [1.1]})
