"""What a record or a person becomes that changes: one list of corners, for all replays.

A corner is a function of the record's row and label and of the case, and gives another row and
label. A case names its corners (`tests/privacy/_recipes.py`); `neighbour` goes to one of them.
"""

import decimal
import itertools

import numpy as np
import pandas as pd

from tests._listed import suited

# The record that changes.
K = 17
NAN = np.nan
# A number that is none, and which bits of it are data.
PAYLOAD = float(np.array([0x7FF8_0000_0000_0BAD], dtype=np.uint64).view(float)[0])
# Where rows lie that a ball is learnt of.
CENTRE, UNIT = np.array([3e4, -2.0, 0.5, 1e-3]), np.array([1e3, 1.0, 0.1, 1e-4])


def along(x, length):
    return length * x / np.linalg.norm(x)


def beside(*units):
    """Return a corner so many units from where the rows of a ball lie."""
    return lambda x, y, case: (CENTRE + UNIT * np.array(units), y)


def of_all(number):
    return lambda x, y, case: (np.full_like(x, number), y)


def row(*entries):
    return lambda x, y, case: (np.array(entries), y)


def target(value):
    """Return a corner of the target alone."""
    return lambda x, y, case: (x, suited(case.estimator, value))


# Rows about 0, that are cut to a bound.
ROWS = {
    "zero row": lambda x, y, case: (0.0 * x, y),
    "at the bound": lambda x, y, case: (along(x, case.bound), case.other_label(y)),
    "past the bound": lambda x, y, case: (along(-x, np.nextafter(case.bound, 9e9)), y),
    "far": lambda x, y, case: (1e9 * np.sign(x), y),
    "1e308": lambda x, y, case: (1e308 * np.sign(x), case.other_label(y)),
    "1e308 in a column": lambda x, y, case: (-1e308 * np.eye(len(x))[1], y),
    "opposite sign": lambda x, y, case: (-x, case.other_label(y)),
    "subnormal": lambda x, y, case: (np.full_like(x, 5e-324), case.other_label(y)),
    "only the label": lambda x, y, case: (x, case.other_label(y)),
}
# Targets of given bounds.
TARGETS = {
    "low end": target(-1.0),
    "high end": target(1.0),
    "far below": target(-1e308),
    "far above": target(1e308),
}
# Other entries of a sparse row, more of them or none.
PATTERNS = {
    "more entries": lambda x, y, case: (x + np.array([0.0, 0.3, 0.0, -20.0]), y),
    "other entries": lambda x, y, case: (np.roll(x, 1), y),
    "no entry": lambda x, y, case: (0.0 * x, y),
    "one entry": lambda x, y, case: (x * np.array([0.0, 0.0, 1.0, 0.0]), y),
}
# Each stage of learning a ball has the record at its bound, past it, or beyond all numbers.
BALL = {
    "the centre": beside(0.0, 0.0, 0.0, 0.0),
    "a thousand units off": beside(1e3, 1e3, 1e3, 1e3),
    "opposite side": beside(-30.0, -30.0, -30.0, -30.0),
    "far in a column": beside(0.0, 1e6, 0.0, 0.0),
    "zeros": lambda x, y, case: (0.0 * x, y),
    "5e-324": of_all(5e-324),
    "1e100": of_all(1e100),
    "1e151": of_all(-1e151),
    "1e161": row(1e161, 0.0, 0.0, 0.0),
    "1e308 of both signs": row(1e308, -1e308, 1e308, 1e308),
}
# Targets whose bounds are learnt, beside others near 1998.
LEARNT_TARGETS = {
    f"target {value:g}": target(value)
    for value in (0.0, 1998.0, 2050.0, -1998.0, 5e-324, 1e75, -1e100, 1e155, -1e308)
}
# Of a table's columns of numbers, and the code of a word.
TABLES = {
    "a row of zeros": row(0.0, 0.0, 0.0, 0.0),
    "gaps": row(NAN, NAN, NAN, NAN),
    "infinite": row(np.inf, -np.inf, np.inf, -1.0),
    "5e-324 of both signs": row(5e-324, -5e-324, 5e-324, 1.0),
    "1e308 and a word": row(1e308, -1e308, 1e308, 2.0),
    "beyond all bins": row(1e3, -1e9, 40.0, 4.0),
    "at a knot": row(0.0, 2e4, 1.0, 1.0),
}
# The corners of rows and targets that the quick tests have.
TELLING = ("at the bound", "1e308", "subnormal", "only the label", "far above")
CORNERS = ROWS | TARGETS | PATTERNS | BALL | LEARNT_TARGETS | TABLES

# Entries of a column of a raw table: numbers, and what is none.
NUMBERS = [0.0, -0.0, 5e-324, -5e-324, 1e-200, -1e-200, 1.5, 1e308, -1e308]
NUMBERS += [np.inf, -np.inf, NAN, PAYLOAD]
OBJECTS = [None, pd.NA, pd.NaT, "word", "", "1.5", 10**400, True, decimal.Decimal("sNaN")]
ENTRIES = NUMBERS + OBJECTS
# Entries of a column that lies in [-1, 1]: within, at its ends, beyond them, and missing.
ENTRIES_OF_A_RANGE = (0.0, 0.3, -1.0, 1.0, 1e300, -1e300, NAN)
# Entries of a column of whole numbers from 1.6e7 on.
ENTRIES_FAR_OFF = [1.6e7 + 3.0, 1.6e7 + 3.0000001, 1.6e7 - 900.0]
ENTRIES_FAR_OFF += [2.0**23, 2.0**24, -5.0, 1e308, NAN]
# Entries of a person: parts of three and seven rows aren't on a grid.
ENTRIES_OF_PEOPLE = [[0.0], [1.5], [-2.0] * 3, [0.1] * 7]
ENTRIES_OF_PEOPLE += [[0.0, 1.5, NAN], [1e308, -1e308, "word"], [NAN] * 2]


def neighbour(case, X, y, corner, k=K):
    """Copies of X and y in which record `k` is at a corner."""
    X, y = X.copy(), y.copy()
    X[k], y[k] = CORNERS[corner](X[k], y[k], case)
    return X, y


def pairs_of(runs, adjacency):
    """Pairs of runs that may be neighbours; the last run is that of a null record."""
    if adjacency == "replace_one":
        return itertools.combinations(runs, 2)
    return ((run, runs[-1]) for run in runs[:-1])
