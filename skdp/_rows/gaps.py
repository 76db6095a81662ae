"""Gaps: which entries are missing."""

from numbers import Real

import numpy as np

from skdp._rows.entry_types import GAPS_OF_PANDAS
from skdp._sklearn import quietly


def find_gaps(X, missing_values=np.nan):
    """Return where entries are missing; NaN stands for None and pandas' NA and NaT, too."""
    if not is_gap(missing_values):
        if X.dtype.kind == "f" and isinstance(missing_values, Real):
            # Rows of float32 hold the nearest float32 to this value, which may differ from it.
            with np.errstate(all="ignore"):
                missing_values = X.dtype.type(missing_values)
        return quietly(lambda: np.asarray(missing_values == X, dtype=bool) & np.ones(X.shape, bool))
    if X.dtype.kind == "f":
        return np.isnan(X)
    if X.dtype.kind != "O":
        return np.zeros(X.shape, dtype=bool)
    # Where a gap is compared, newer NumPy may warn: of the data.
    return quietly(lambda: np.frompyfunc(is_gap, 1, 1)(X).astype(bool))


def is_gap(value):
    """Return whether a value stands for a gap: NaN, None, or pandas' NA or NaT."""
    # Most entries are of these types, which are never gaps: this is the fast way out.
    kind = type(value)
    if kind is str or kind is bool or kind is int:
        return False
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    return value is None or kind.__name__ in GAPS_OF_PANDAS
