"""Scores of a model on private records, with noise, an interval and a report."""

from skdp.metrics._compare import PrivateComparison, private_compare
from skdp.metrics._curves import (
    PrivateCalibrationCurve,
    PrivateConfusionMatrix,
    PrivateRocCurve,
    private_calibration_curve,
    private_confusion_matrix,
    private_roc_curve,
)
from skdp.metrics._score import PrivateScore, private_score

__all__ = [
    "PrivateCalibrationCurve",
    "PrivateComparison",
    "PrivateConfusionMatrix",
    "PrivateRocCurve",
    "PrivateScore",
    "private_calibration_curve",
    "private_compare",
    "private_confusion_matrix",
    "private_roc_curve",
    "private_score",
]
