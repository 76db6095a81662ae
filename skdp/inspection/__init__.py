"""Diagnostics of fitted models (computed without noise, not private), and of planned fits."""

from skdp.inspection._costs import preview, preview_score, total_report
from skdp.inspection._duality import duality_gap

__all__ = ["duality_gap", "preview", "preview_score", "total_report"]
