"""Warnings of skdp. Errors are ordinary ValueErrors and TypeErrors."""

__all__ = ["PrivacyWarning"]


class PrivacyWarning(UserWarning):
    """A privacy parameter is valid but weaker than it looks, for instance delta above 1/n."""
