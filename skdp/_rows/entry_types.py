"""Types that entries of tables have, in one list, and which types of NumPy are of numbers.

Types of pandas, which needn't be installed, are known by their names.
"""

import datetime
from decimal import Decimal
from numbers import Real

import numpy as np

BOOLEANS = (bool, np.bool_)
NUMBERS = (Real, Decimal)
# NumPy's spans of time are instances of whole numbers, too: who asks for both asks for these first.
SPANS = (datetime.timedelta, np.timedelta64)
# A moment of Python is a date, too.
DATES = (datetime.date, np.datetime64)
PERIOD_OF_PANDAS = "Period"
GAPS_OF_PANDAS = ("NAType", "NaTType")
# Objects of these exact types are read as the float which NumPy makes of them, or are gaps.
PLAIN_FLOATS = frozenset((float, int, type(None), np.float64, np.float32, np.int64, np.int32))
# Equal entries of these exact types are read alike, so that one may be read for all.
READ_ALIKE = PLAIN_FLOATS | {
    str,
    bool,
    np.str_,
    np.bool_,
    Decimal,
    datetime.date,
    datetime.timedelta,
}

# NumPy's letters for whole numbers and floats; booleans, complex numbers and times have others.
NUMBER_LETTERS = "iuf"


def is_of_numbers(dtype):
    """Return whether a type of NumPy, pandas or polars is of real numbers; no type is none."""
    of_polars = getattr(dtype, "is_numeric", None)
    if callable(of_polars):
        return of_polars()
    return getattr(dtype, "kind", "O") in NUMBER_LETTERS
