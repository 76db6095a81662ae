"""One budget for all fits on the same records, in a file that no clone, worker or day escapes."""

from skdp.ledger._ledger import PrivacyLedger

__all__ = ["PrivacyLedger"]
