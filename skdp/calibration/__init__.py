"""Calibrated probabilities, within one budget with the classifier."""

from skdp.calibration._calibrated import DPCalibratedClassifier

__all__ = ["DPCalibratedClassifier"]
