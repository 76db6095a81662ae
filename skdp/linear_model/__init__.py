"""Linear models trained under differential privacy."""

from skdp.linear_model.dpcd._estimators import DPCDClassifier, DPCDElasticNet, DPCDLasso
from skdp.linear_model.dpscd._estimators import DPSCDClassifier, DPSCDRegressor
from skdp.linear_model.dpsgd._estimators import DPSGDClassifier, DPSGDRegressor
from skdp.linear_model.walr._aggregate import LabelAggregate
from skdp.linear_model.walr._estimators import WALRClassifier, walr_path
from skdp.linear_model.walr._release import label_aggregate
from skdp.linear_model.whitened._estimators import DPLogisticRegression, DPRidge
from skdp.linear_model.whitened._generalized import (
    DPGammaRegressor,
    DPPoissonRegressor,
    DPTweedieRegressor,
)
from skdp.linear_model.whitened._robust import DPHuberRegressor, DPQuantileRegressor

__all__ = [
    "DPCDClassifier",
    "DPCDElasticNet",
    "DPCDLasso",
    "DPGammaRegressor",
    "DPHuberRegressor",
    "DPLogisticRegression",
    "DPPoissonRegressor",
    "DPQuantileRegressor",
    "DPRidge",
    "DPSCDClassifier",
    "DPSCDRegressor",
    "DPSGDClassifier",
    "DPSGDRegressor",
    "DPTweedieRegressor",
    "LabelAggregate",
    "WALRClassifier",
    "label_aggregate",
    "walr_path",
]
