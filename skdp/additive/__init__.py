"""Additive models of raw tables: a data frame in, shapes that a person can read, one epsilon."""

from skdp.additive._estimators import DPAdditiveClassifier
from skdp.additive._points import Scorecard
from skdp.additive._regression import DPAdditiveRegressor

__all__ = ["DPAdditiveClassifier", "DPAdditiveRegressor", "Scorecard"]
