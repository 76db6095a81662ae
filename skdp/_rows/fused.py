"""Which sums over rows are compiled, where the optional extra `fast` is installed."""

from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from importlib import import_module
from math import prod

import numpy as np
from scipy.sparse import issparse

# Entries from which on a fit gains more than numba takes to start and, the first time, to compile.
WORTHWHILE_ENTRIES = 2**25
# The same of slopes, a row's at a step each, that a fit computes.
WORTHWHILE_SLOPES = 2**28
# Numbers from which on to look up their values takes longer than numba to start.
WORTHWHILE_PLACES = 2**24
# None lets the size of the rows at hand decide; otherwise this says whether sums are compiled.
_is_compiled = ContextVar("compiled", default=None)
_NO_FACTORS = np.empty(0)
_KERNELS_OF_FORMATS = {"csr": "kernels_sparse", "coded": "kernels_coded"}


def array_of(X):
    """Return the array that holds some rows, which may be asked for in other units."""
    while hasattr(X, "source"):
        X = X.source
    return X


def kernels_for(X):
    """Return the module of compiled sums, or None for rows that it doesn't take, or few.

    Rows that are asked for in other units are taken as what they are made of.
    """
    X = array_of(X)
    is_plain = isinstance(X, np.ndarray) and X.flags.c_contiguous
    if not (is_plain and are_compiled(prod(X.shape))):
        return None
    return import_module(f"{__package__}.kernels")


def kernels_for_entries(X):
    """Return the module of compiled sums over the entries of sparse rows, or None for few rows.

    Whether there are few follows from the shape alone: a record decides which entries it has.
    """
    name = _KERNELS_OF_FORMATS.get(X.format)
    is_taken = name is not None and are_compiled(prod(X.shape))
    return import_module(f"{__package__}.{name}") if is_taken else None


def kernels_of_codes():
    """Return the modules of compiled sums over rows of codes, and of what makes these.

    Rows are codes only where sums over them are compiled.
    """
    return tuple(import_module(f"{__package__}.kernels_{name}") for name in ("coded", "terms"))


def are_compiled(n_entries):
    """Return whether sums over rows that stand for so many entries are compiled here."""
    is_compiled = _is_compiled.get()
    return can_compile(n_entries) if is_compiled is None else is_compiled


def kernels_for_columns(n_slopes, loss):
    """Return the module of compiled sums over columns, or None for other losses or few slopes.

    `n_slopes` are computed by the whole fit where columns are full: a public number.
    """
    kernels = _compiled("kernels_columns") if n_slopes >= WORTHWHILE_SLOPES else None
    return kernels if kernels is not None and loss.name in kernels.LOSSES else None


def kernels_for_terms(n_places):
    """Return the module of compiled places in terms, or None for few.

    Both ways give the same bits, so who sees them doesn't see which it was.
    """
    is_compiled = _is_compiled.get()
    if is_compiled is None:
        is_compiled = n_places >= WORTHWHILE_PLACES
    return _compiled("kernels_terms") if is_compiled else None


def can_compile(n_entries):
    """Return whether sums over rows of so many entries are to be compiled, and can be."""
    return n_entries >= WORTHWHILE_ENTRIES and _compiled("kernels") is not None


def _compiled(name):
    try:
        return import_module(f"{__package__}.{name}")
    except ImportError:
        return None


def units_of(X, block):
    """Return some rows as compiled sums take them."""
    if issparse(X):
        return X.indptr[block.start : block.stop + 1], X.indices, X.data
    if hasattr(X, "units"):
        return X.units(block)
    return np.asarray(X[block]), None, _NO_FACTORS, None


@contextmanager
def sums_compiled(is_compiled):
    """Have sums compiled or not, however few rows have them: these are part of a larger table."""
    token = _is_compiled.set(is_compiled)
    try:
        yield
    finally:
        _is_compiled.reset(token)


def sums_of(groups):
    """Have no sums compiled where records are groups of rows.

    How many rows there are is private, and compiled lengths of all others have other last bits.
    """
    return nullcontext() if groups is None else sums_compiled(False)
