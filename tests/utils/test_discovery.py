import pytest

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from skdp.linear_model import (
    DPCDClassifier,
    DPCDElasticNet,
    DPCDLasso,
    DPSCDClassifier,
    DPSCDRegressor,
)
from skdp.preprocessing import (
    BoundsScaler,
    DPNormClipper,
    DPOneHotEncoder,
    DPQuantileClipper,
    DPSimpleImputer,
    DPStandardScaler,
    DPTableVectorizer,
    NormClipper,
)
from skdp.utils.discovery import all_estimators

CLASSIFIERS = [DPAdditiveClassifier, DPCDClassifier, DPSCDClassifier]
REGRESSORS = [DPAdditiveRegressor, DPCDElasticNet, DPCDLasso, DPSCDRegressor]
PRIVATE_TRANSFORMERS = [
    DPNormClipper,
    DPOneHotEncoder,
    DPQuantileClipper,
    DPSimpleImputer,
    DPStandardScaler,
    DPTableVectorizer,
]
TRANSFORMERS = [BoundsScaler, NormClipper, *PRIVATE_TRANSFORMERS]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (None, CLASSIFIERS + REGRESSORS + TRANSFORMERS),
        ("private", CLASSIFIERS + REGRESSORS + PRIVATE_TRANSFORMERS),
        ("classifier", CLASSIFIERS),
        ("regressor", REGRESSORS),
        ("transformer", TRANSFORMERS),
    ],
)
def test_kinds(kind, expected):
    found = [estimator for _, estimator in all_estimators(kind)]
    assert [estimator for estimator in expected if estimator not in found] == []
    if kind is not None:
        assert set(found).isdisjoint({*CLASSIFIERS, *REGRESSORS, *TRANSFORMERS} - set(expected))


def test_unknown_kind():
    with pytest.raises(ValueError, match="type_filter"):
        all_estimators("cluster")
