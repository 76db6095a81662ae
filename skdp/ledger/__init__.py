"""One budget for all fits on the same records, in a file shared by all clones and workers."""

__all__ = ["PrivacyLedger"]


def __getattr__(name):
    # Most programs keep no ledger, and importing skdp is to take no longer for those that do.
    if name != "PrivacyLedger":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from skdp.ledger._ledger import PrivacyLedger

    return PrivacyLedger
