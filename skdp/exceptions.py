"""Warnings of skdp, and errors of its own. All other errors are ValueErrors and TypeErrors."""

import contextlib
import copy
import copyreg
import functools
import os
import pickle
import sys
import warnings

import sklearn

__all__ = [
    "BudgetExceededError",
    "CostlySearchWarning",
    "LargeDeltaWarning",
    "LedgerError",
    "LedgerWarning",
    "LostDataWarning",
    "NoIntervalError",
    "PrivacyWarning",
]

# Files whose lines a warning doesn't point at: the user's line is the one that called them.
_LIBRARIES = os.path.dirname(os.path.dirname(sklearn.__file__))
_SKIPPED_FILES = (
    os.path.join(os.path.dirname(__file__), ""),
    *(
        os.path.join(_LIBRARIES, name, "")
        for name in ("sklearn", "joblib", "numpy", "cloudpickle", "skops")
    ),
    # Python 3.12.1 compares prefixes with all but the last letter of a name.
    *(
        str(module.__file__).removesuffix("py")
        for module in (contextlib, copy, copyreg, functools, pickle)
    ),
)


class PrivacyWarning(UserWarning):
    """A privacy parameter is valid but weaker than it looks, for instance delta above 1/n.

    Examples
    --------
    >>> import warnings
    >>> from skdp.exceptions import PrivacyWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", PrivacyWarning)  # stop instead, in production
    """


class LargeDeltaWarning(PrivacyWarning):
    """Delta is above 1/n, which would allow some records to be published outright.

    Examples
    --------
    >>> import warnings
    >>> from skdp.exceptions import LargeDeltaWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", LargeDeltaWarning)  # stop instead, in production
    """


class LedgerWarning(UserWarning):
    """A fit takes all that is left in a ledger, so that no other can follow.

    It comes before the fit is charged, and says what would cost less. Made an error, it stops the
    fit, and nothing is charged.

    Raises
    ------
    LedgerWarning
        By a fit with a ledger, where it is made an error.

    Examples
    --------
    >>> import warnings
    >>> from skdp.exceptions import LedgerWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", LedgerWarning)  # rather than spend the last of a budget
    """


class LostDataWarning(UserWarning):
    """A column of a table is lost to a fit, or entries of rows that are predicted can't be read.

    In a fit it follows from what was released with noise. In a prediction it counts the entries of
    the rows, by column. In fits and private scores nothing is counted, as these rows are records.

    Raises
    ------
    LostDataWarning
        By fits of raw tables and predictions for these, where it is made an error.

    Examples
    --------
    >>> import warnings
    >>> from skdp.exceptions import LostDataWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", LostDataWarning)  # stop instead, in production
    """


class CostlySearchWarning(UserWarning):
    """A search is over settings whose default is mostly better, as a search divides the budget.

    It follows from the names of the settings alone, and comes before anything is charged. See
    :doc:`/selection`.

    Raises
    ------
    CostlySearchWarning
        By a search over `alpha` alone of estimators of private whitening and of additive models,
        where it is made an error.

    Examples
    --------
    >>> import warnings
    >>> from skdp.exceptions import CostlySearchWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", CostlySearchWarning)  # rather than divide the budget
    """


class NoIntervalError(ValueError):
    """No valid confidence interval can be given, so none is given.

    The noise is too large, or clipping removes too much; the message says which. The coefficients
    are still private.

    Raises
    ------
    NoIntervalError
        By ``conf_int()`` where ``inference_quality_`` is "no".

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.exceptions import NoIntervalError
    >>> from skdp.linear_model import DPLogisticRegression
    >>> X, y = np.eye(8).repeat(5, axis=0), np.arange(40) % 2
    >>> model = DPLogisticRegression(epsilon=0.1, delta=1e-3, classes=[0, 1], inference=True)
    >>> try:
    ...     model.fit(X, y).conf_int()
    ... except NoIntervalError:
    ...     print("too few rows")
    too few rows
    """


class LedgerError(RuntimeError):
    """A ledger can't record a fit, which therefore isn't made.

    The file is missing, damaged, locked or not writable, or this ledger can't count the fit: it has
    another unit or adjacency, or a seed.

    Raises
    ------
    LedgerError
        By every fit with a ledger, before noise is drawn, and by the ledger's own methods.

    See Also
    --------
    BudgetExceededError : The fit could be recorded, and costs more than is left.

    Examples
    --------
    >>> from skdp.exceptions import LedgerError
    >>> from skdp.ledger import PrivacyLedger
    >>> try:
    ...     PrivacyLedger("there/is/no/such/folder.db")
    ... except LedgerError as error:
    ...     print("no ledger there")
    no ledger there
    """


class BudgetExceededError(LedgerError):
    """A fit costs more than the rest of a ledger's budget. Nothing was drawn or written.

    Or it isn't among the planned charges that are left of a ledger that has a list of them.

    Parameters
    ----------
    message : str
        Text of the error.
    left, asked : float, default=None
        Epsilon at the ledger's delta: that of the largest single Gaussian fit, or planned charge,
        that would still be accepted, and that of the refused fit.
    n_fits : int, default=None
        Number of fits like this one that the whole budget pays for, or that were planned.

    Raises
    ------
    BudgetExceededError
        By a fit with a ledger, before noise is drawn.

    Examples
    --------
    >>> import os, tempfile
    >>> from skdp.accountant import GaussianEvent, PrivacyReport, calibrate
    >>> from skdp.exceptions import BudgetExceededError
    >>> from skdp.ledger import PrivacyLedger
    >>> events = [GaussianEvent(calibrate(0.6, 1e-5))]
    >>> fields = {"adjacency": "zero_out", "clipping": 1.0, "accountant": "pld"}
    >>> report = PrivacyReport(epsilon=0.6, delta=1e-5, events=events, **fields)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = PrivacyLedger(os.path.join(folder, "study.db"), epsilon=1.0, delta=1e-5)
    ...     ledger.charge(report)
    ...     ledger.charge(report)
    ...     try:
    ...         ledger.charge(report)
    ...     except BudgetExceededError as error:
    ...         print(f"{error.left:.2f} is left, {error.asked:.2f} was asked for")
    ...         print(f"the budget pays for {error.n_fits} of these")
    0.43 is left, 0.60 was asked for
    the budget pays for 2 of these
    """

    def __init__(self, message, *, left=None, asked=None, n_fits=None):
        super().__init__(message)
        self.left = left
        self.asked = asked
        self.n_fits = n_fits


def warn_user(message, category=UserWarning, *, depth=6):
    """Warn at the line that called into skdp, be it through scikit-learn.

    Python 3.11 can't skip files, and takes the line at a depth. By default this is the user's where
    they call a fit that then plans and starts; from elsewhere it may be a line of the package.
    """
    if sys.version_info >= (3, 12):
        warnings.warn(message, category, stacklevel=2, skip_file_prefixes=_SKIPPED_FILES)
    else:
        warnings.warn(message, category, stacklevel=depth)
