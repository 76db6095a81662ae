"""Whether rows that are predicted or transformed are records, of which nothing may be told."""

import sys
from contextlib import contextmanager
from contextvars import ContextVar

_ROWS_ARE_PRIVATE = ContextVar("_ROWS_ARE_PRIVATE", default=False)
# Methods that fit, of whatever package.
_FITS = {"fit", "fit_transform", "fit_predict", "fit_resample", "partial_fit"}


@contextmanager
def private_rows():
    """Have nothing told of rows that are predicted or transformed within."""
    before = _ROWS_ARE_PRIVATE.set(True)
    try:
        yield
    finally:
        _ROWS_ARE_PRIVATE.reset(before)


def rows_are_private():
    """Return whether this is called within a fit, or within `private_rows`.

    Pipelines, ours and scikit-learn's, transform the rows of a fit by steps that were fitted
    before, and tools that validate predict rows that weren't fitted. Nothing but who calls tells
    these from rows that are new.
    """
    return _ROWS_ARE_PRIVATE.get() or _is_in_fit()


def _is_in_fit():
    frame = sys._getframe(1)
    while frame is not None:
        name, package = frame.f_code.co_name, frame.f_globals.get("__name__", "").split(".")[0]
        if name in _FITS or (package == "sklearn" and name.startswith("_fit")):
            return True
        frame = frame.f_back
    return False
