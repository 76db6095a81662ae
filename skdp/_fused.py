"""Which sums over rows are compiled, where the optional extra `fast` is installed."""

from importlib import import_module
from math import prod

import numpy as np

# Entries from which on a fit gains more than numba takes to start and, the first time, to compile.
WORTHWHILE_ENTRIES = 2**25
_NO_FACTORS = np.empty(0)


def kernels_for(X):
    """Return the module of compiled sums, or None for rows that it doesn't take, or few.

    Rows that are asked for in other units are taken as what they are made of.
    """
    X = getattr(X, "source", X)
    is_plain = isinstance(X, np.ndarray) and X.flags.c_contiguous
    if not is_plain or prod(X.shape) < WORTHWHILE_ENTRIES:
        return None
    try:
        return import_module("skdp._kernels")
    except ImportError:
        return None


def units_of(X, block):
    """Return some rows as compiled sums take them."""
    if hasattr(X, "source"):
        return X.units(block)
    return np.asarray(X[block]), None, _NO_FACTORS, None
