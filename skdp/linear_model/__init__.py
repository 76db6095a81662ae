"""Linear models trained under differential privacy."""

from skdp.linear_model._dual_cd import DPSCDClassifier, DPSCDRegressor

__all__ = ["DPSCDClassifier", "DPSCDRegressor"]
