"""Whether rows that are transformed or predicted are records: nothing is told of these."""

from contextlib import contextmanager
from contextvars import ContextVar

_RECORDS, _NEW = "records", "new"
# None where nobody knows: whoever transforms rows may fit to them next.
_ROWS = ContextVar("_ROWS", default=None)


@contextmanager
def private_rows():
    """Have nothing told of rows that are transformed or predicted within."""
    before = _ROWS.set(_RECORDS)
    try:
        yield
    finally:
        _ROWS.reset(before)


@contextmanager
def new_rows():
    """Have it known that rows within are predicted, and no records unless they were before."""
    before = _ROWS.set(_ROWS.get() or _NEW)
    try:
        yield
    finally:
        _ROWS.reset(before)


def rows_are_private():
    """Return whether rows that are predicted now are known to be records."""
    return _ROWS.get() == _RECORDS


def rows_are_new():
    """Return whether rows that are transformed now are known to be predicted, and no records."""
    return _ROWS.get() == _NEW
