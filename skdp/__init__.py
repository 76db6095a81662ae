"""scikit-learn for private data: additive and linear models trained under differential privacy."""

from skdp import (
    accountant,
    audit,
    calibration,
    datasets,
    extend,
    inspection,
    ledger,
    linear_model,
    metrics,
    pipeline,
    plotting,
    preprocessing,
    statistics,
)
from skdp._version import __version__

__all__ = [
    "__version__",
    "accountant",
    "audit",
    "calibration",
    "datasets",
    "extend",
    "inspection",
    "ledger",
    "linear_model",
    "metrics",
    "pipeline",
    "plotting",
    "preprocessing",
    "statistics",
]
