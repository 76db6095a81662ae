"""Warnings of skdp. Errors are ordinary ValueErrors and TypeErrors."""

__all__ = ["PrivacyWarning"]


class PrivacyWarning(UserWarning):
    """A privacy parameter is valid but weaker than it looks, for instance delta above 1/n.

    Examples
    --------
    >>> import warnings
    >>> from skdp.exceptions import PrivacyWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", PrivacyWarning)  # stop instead, in production
    """
