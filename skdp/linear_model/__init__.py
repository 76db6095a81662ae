"""Linear models trained under differential privacy."""

from skdp.linear_model._dual_cd import DPSCDClassifier, DPSCDRegressor
from skdp.linear_model._sgd import DPSGDClassifier, DPSGDRegressor

__all__ = ["DPSCDClassifier", "DPSCDRegressor", "DPSGDClassifier", "DPSGDRegressor"]
