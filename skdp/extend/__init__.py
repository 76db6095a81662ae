"""Your own private estimators: base classes, and releases that are planned before they are made."""

from skdp.extend._base import DPBaseClassifier, DPBaseEstimator, DPBaseRegressor
from skdp.extend._plan import Choice, Sizes, Sum, Value
from skdp.extend._run import FitRun

__all__ = [
    "Choice",
    "DPBaseClassifier",
    "DPBaseEstimator",
    "DPBaseRegressor",
    "FitRun",
    "Sizes",
    "Sum",
    "Value",
]
