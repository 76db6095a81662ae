"""Warnings of skdp. Errors are ordinary ValueErrors and TypeErrors."""

import sys
import warnings

__all__ = ["PrivacyWarning"]

# Whose lines a warning doesn't point at: the user's line is the one that called them.
_INSIDE = {"skdp", "sklearn", "joblib", "numpy", "contextlib"}


class PrivacyWarning(UserWarning):
    """A privacy parameter is valid but weaker than it looks, for instance delta above 1/n.

    Examples
    --------
    >>> import warnings
    >>> from skdp.exceptions import PrivacyWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", PrivacyWarning)  # stop instead, in production
    """


def warn_user(message, category=UserWarning):
    """Warn at the line that called into skdp, be it through scikit-learn."""
    frame, level = sys._getframe(1), 2
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in _INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
