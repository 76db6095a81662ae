"""scikit-learn for private data: additive and linear models trained under differential privacy."""

import importlib

from skdp._version import __version__

__all__ = [
    "__version__",
    "accountant",
    "additive",
    "audit",
    "calibration",
    "datasets",
    "exceptions",
    "extend",
    "inspection",
    "ledger",
    "linear_model",
    "metrics",
    "model_selection",
    "pipeline",
    "plotting",
    "preprocessing",
    "statistics",
    "utils",
]


def __getattr__(name):
    # Packages are imported when they are first used, as all of them take half a second.
    if name in __all__:
        return importlib.import_module(f"skdp.{name}")
    raise AttributeError(f"module 'skdp' has no attribute {name!r}")


def __dir__():
    return __all__
