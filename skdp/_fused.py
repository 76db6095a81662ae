"""Which sums over rows are compiled, where the optional extra `fast` is installed."""

from importlib import import_module
from math import prod

import numpy as np

# Entries from which on a fit gains more than numba takes to start and, the first time, to compile.
WORTHWHILE_ENTRIES = 2**25


# The same of slopes of rows, one by one, that all steps of a fit compute.
WORTHWHILE_SLOPES = 2**27


def kernels_for(X):
    """Return the module of compiled sums, or None for rows that it doesn't take, or few."""
    is_plain = isinstance(X, np.ndarray) and X.flags.c_contiguous
    if not is_plain or prod(X.shape) < WORTHWHILE_ENTRIES:
        return None
    return _compiled("_kernels")


def kernels_of_batches(n_slopes, loss):
    """Return the module of compiled sums over batches and columns, or None for few or other slopes.

    Of one output, and `n_slopes` of them in all steps.
    """
    kernels = _compiled("_kernels_batches") if n_slopes >= WORTHWHILE_SLOPES else None
    return kernels if kernels is not None and loss.name in kernels.LOSSES else None


def _compiled(name):
    try:
        return import_module(f"skdp.{name}")
    except ImportError:
        return None
