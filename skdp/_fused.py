"""Which sums over rows are compiled, where the optional extra `fast` is installed."""

from importlib import import_module
from math import prod

import numpy as np

# Entries from which on a fit gains more than numba takes to start and, the first time, to compile.
WORTHWHILE_ENTRIES = 2**25
# The same of slopes, a row's at a step each, that a fit computes.
WORTHWHILE_SLOPES = 2**28


def kernels_for(X):
    """Return the module of compiled sums, or None for rows that it doesn't take, or few."""
    is_plain = isinstance(X, np.ndarray) and X.flags.c_contiguous
    if not is_plain or prod(X.shape) < WORTHWHILE_ENTRIES:
        return None
    return _compiled("_kernels")


def kernels_for_columns(n_slopes, loss):
    """Return the module of compiled sums over columns, or None for other losses or few slopes.

    `n_slopes` are computed by the whole fit.
    """
    kernels = _compiled("_kernels_columns") if n_slopes >= WORTHWHILE_SLOPES else None
    return kernels if kernels is not None and loss.name in kernels.LOSSES else None


def _compiled(name):
    try:
        return import_module(f"skdp.{name}")
    except ImportError:
        return None
