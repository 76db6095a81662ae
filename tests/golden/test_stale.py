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


def test_of_another_script_that_counts_which_is_imported(tmp_path, monkeypatch):
    """And what that needs of its own module, by names or in lists."""
    monkeypatch.setattr(stale, "ROOT", tmp_path)
    (tmp_path / "other.py").write_text(
        "from skdp.linear_model import DPRidge, DPSCDClassifier, DPSGDClassifier\n"
        "MODELS = {'ridge': DPRidge()}\nSIZE = 3\n"
        "def make(size=SIZE):\n    return MODELS\n"
        "def fit(DPSGDClassifier):\n    return DPSCDClassifier()\n"
    )
    script = tmp_path / "script.py"
    for text, expected in (
        ("from other import make\nmake()", {"DPRidge"}),
        ("from other import fit as chosen, SIZE\nchosen()", {"DPSCDClassifier"}),
        ("from other import SIZE\nSIZE\nDPCDLasso()", {"DPCDLasso"}),
    ):
        script.write_text(text)
        stale._named_in.cache_clear()
        assert stale._named_in(script) == expected


def test_a_record_has_changed_where_released_numbers_have():
    one = {"class": "A", "coef_": [1.0], "privacy_report_": {"epsilon": 1.0}}
    assert not stale._differs(one, one | {"privacy_report_": {"epsilon": 2.0}, "new_": 1})
    assert not stale._differs(one, one | {"coef_": [1.0 + 1e-9]})
    assert stale._differs(one, one | {"coef_": [1.1]})
