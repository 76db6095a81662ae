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


@pytest.mark.every
@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("from other import make\nmake()", {"DPRidge", "DPCDLasso", "DPHuberRegressor"}),
        ("from other import fit as chosen, SIZE\nchosen()", {"DPSCDClassifier"}),
        ("from other import SIZE, fit as unused\nDPCDLasso(SIZE)", {"DPCDLasso"}),
        ("from other import back\nback()\nagain = DPCDLasso", {"DPCDLasso", "DPSGDRegressor"}),
        ("from other import renamed\nrenamed()", {"DPQuantileRegressor"}),
    ],
)
def test_only_what_a_script_imports_counts(tmp_path, monkeypatch, script, expected):
    """And what that needs of its own module, by any name there."""
    monkeypatch.setattr(stale, "ROOT", tmp_path)
    (tmp_path / "other.py").write_text(
        "from skdp.linear_model import DPRidge, DPSCDClassifier, DPSGDClassifier\n"
        "from skdp.linear_model import DPQuantileRegressor as Quantile\n"
        "from script import again\n"
        "MODELS = {'ridge': DPRidge()}\nSIZE = 3\n"
        "MODELS |= {'lasso': DPCDLasso()}\nMODELS['Huber'] = DPHuberRegressor()\n"
        "LISTED = [make for make in (DPSGDClassifier,)]\n"
        "def make(size=SIZE):\n    return MODELS\n"
        "if SIZE:\n    def fit(DPSGDClassifier):\n        return DPSCDClassifier()\n"
        "for each in (DPSGDRegressor,):\n    pass\n"
        "def back():\n    return again, each\n"
        "def renamed():\n    return Quantile\n"
    )
    path = tmp_path / "script.py"
    path.write_text(script)
    assert stale._named_in(path, None, set()) == expected


def test_a_record_has_changed_where_released_numbers_have():
    one = {"class": "A", "coef_": [1.0], "privacy_report_": {"epsilon": 1.0}}
    assert not stale._differs(one, one | {"privacy_report_": {"epsilon": 2.0}, "new_": 1})
    assert not stale._differs(one, one | {"coef_": [1.0 + 1e-9]})
    assert stale._differs(one, one | {"coef_": [1.1]})
