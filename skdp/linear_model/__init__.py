"""Linear models trained under differential privacy."""

from skdp.linear_model._dpcd import DPCDClassifier, DPCDElasticNet, DPCDLasso
from skdp.linear_model._dpscd import DPSCDClassifier, DPSCDRegressor
from skdp.linear_model._dpsgd import DPSGDClassifier, DPSGDRegressor
from skdp.linear_model._label_aggregate import LabelAggregate
from skdp.linear_model._label_release import label_aggregate
from skdp.linear_model._walr import WALRClassifier, walr_path
from skdp.linear_model._whitened import DPLogisticRegression, DPRidge

__all__ = [
    "DPCDClassifier",
    "DPCDElasticNet",
    "DPCDLasso",
    "DPLogisticRegression",
    "DPRidge",
    "DPSCDClassifier",
    "DPSCDRegressor",
    "DPSGDClassifier",
    "DPSGDRegressor",
    "LabelAggregate",
    "WALRClassifier",
    "label_aggregate",
    "walr_path",
]
