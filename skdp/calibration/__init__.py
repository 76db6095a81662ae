"""Calibrated probabilities, intervals and sets, within one budget with the model."""

from skdp.calibration._calibrated import DPCalibratedClassifier
from skdp.calibration._conformal import DPConformalClassifier, DPConformalRegressor

__all__ = ["DPCalibratedClassifier", "DPConformalClassifier", "DPConformalRegressor"]
