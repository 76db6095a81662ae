"""Diagnostics of fitted models, computed without noise and not private, and of fits to come."""

from skdp.inspection._duality import duality_gap
from skdp.inspection._preview import preview
from skdp.inspection._total import total_report

__all__ = ["duality_gap", "preview", "total_report"]
