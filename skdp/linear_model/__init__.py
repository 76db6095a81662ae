"""Linear models trained under differential privacy."""

from skdp.linear_model._coordinate_descent import DPCDClassifier, DPCDElasticNet, DPCDLasso
from skdp.linear_model._dual_cd import DPSCDClassifier, DPSCDRegressor
from skdp.linear_model._label_aggregate import LabelAggregate
from skdp.linear_model._label_dp import WALRClassifier, label_aggregate, walr_path
from skdp.linear_model._sgd import DPSGDClassifier, DPSGDRegressor

__all__ = [
    "DPCDClassifier",
    "DPCDElasticNet",
    "DPCDLasso",
    "DPSCDClassifier",
    "DPSCDRegressor",
    "DPSGDClassifier",
    "DPSGDRegressor",
    "LabelAggregate",
    "WALRClassifier",
    "label_aggregate",
    "walr_path",
]
