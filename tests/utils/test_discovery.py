import pytest

from skdp.linear_model import DPSCDClassifier, DPSCDRegressor
from skdp.preprocessing import BoundsScaler, NormClipper
from skdp.utils.discovery import all_estimators


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (None, [BoundsScaler, DPSCDClassifier, DPSCDRegressor, NormClipper]),
        ("private", [DPSCDClassifier, DPSCDRegressor]),
        ("classifier", [DPSCDClassifier]),
        ("regressor", [DPSCDRegressor]),
        ("transformer", [BoundsScaler, NormClipper]),
    ],
)
def test_kinds(kind, expected):
    found = [estimator for _, estimator in all_estimators(kind)]
    assert [estimator for estimator in expected if estimator not in found] == []
    if kind is not None:
        assert set(found).isdisjoint(
            {BoundsScaler, DPSCDClassifier, DPSCDRegressor, NormClipper} - set(expected)
        )


def test_unknown_kind():
    with pytest.raises(ValueError, match="type_filter"):
        all_estimators("cluster")
