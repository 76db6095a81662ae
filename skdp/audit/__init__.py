"""Attacks that bound the epsilon of a fit from below, to check the claim of a report."""

from skdp.audit._audit import audit
from skdp.audit._result import AuditResult

__all__ = ["AuditResult", "audit"]
