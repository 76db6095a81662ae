"""scikit-learn for private data: linear models trained under differential privacy."""

from importlib.metadata import PackageNotFoundError, version

from skdp import (
    accountant,
    audit,
    calibration,
    inspection,
    ledger,
    linear_model,
    metrics,
    pipeline,
    plotting,
    preprocessing,
)

try:
    __version__ = version("skdp")
except PackageNotFoundError:
    __version__ = "0+unknown"

__all__ = [
    "__version__",
    "accountant",
    "audit",
    "calibration",
    "inspection",
    "ledger",
    "linear_model",
    "metrics",
    "pipeline",
    "plotting",
    "preprocessing",
]
