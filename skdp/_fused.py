"""Which sums over rows are compiled, where the optional extra `fast` is installed."""

from importlib import import_module
from math import prod

import numpy as np

# Entries from which on a fit gains more than numba takes to start and, the first time, to compile.
WORTHWHILE_ENTRIES = 2**25


def kernels_for(X):
    """Return the module of compiled sums, or None for rows that it doesn't take, or few."""
    is_plain = isinstance(X, np.ndarray) and X.flags.c_contiguous
    if not is_plain or prod(X.shape) < WORTHWHILE_ENTRIES:
        return None
    try:
        return import_module("skdp._kernels")
    except ImportError:
        return None
