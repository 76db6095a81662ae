"""Diagnostics of fitted models, computed without noise and not private, and of fits to come."""

from skdp.inspection._costs import preview, total_report
from skdp.inspection._duality import duality_gap

__all__ = ["duality_gap", "preview", "total_report"]
