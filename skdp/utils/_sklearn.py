"""The single door to scikit-learn's private names, and to its input validation."""

from contextlib import contextmanager

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import validation
from sklearn.utils._param_validation import Interval, StrOptions

__all__ = ["Interval", "StrOptions", "_fit_context", "no_values_in_errors", "validate_data"]

_QUOTING = ("could not convert", "unable to parse", "invalid literal")


@contextmanager
def no_values_in_errors():
    """Re-raise, without its cause, any ValueError whose text would quote an entry of the data."""
    try:
        yield
    except ValueError as error:
        message = str(error)
        if message.lower().startswith(_QUOTING):
            message = "could not convert string to float: X and y must be numeric."
        elif message.startswith("Complex data not supported"):
            message = "Complex data not supported."
        else:
            raise
    else:
        return
    raise ValueError(message)


def validate_data(estimator, *args, **kwargs):
    """Call `sklearn.utils.validation.validate_data`; no error or warning tells of an entry."""
    with no_values_in_errors(), np.errstate(all="ignore"):
        return validation.validate_data(estimator, *args, **kwargs)
