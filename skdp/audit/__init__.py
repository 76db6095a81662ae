"""Attacks that bound the privacy of a fit from below, for checking what a report claims."""

from skdp.audit._audit import audit
from skdp.audit._result import AuditResult

__all__ = ["AuditResult", "audit"]
