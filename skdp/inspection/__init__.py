"""Diagnostics of fitted models (computed without noise, not private), and of planned fits."""

from skdp.inspection._costs import preview, preview_score, total_report
from skdp.inspection._duality import duality_gap
from skdp.inspection._expected import predicted_noise

__all__ = ["duality_gap", "predicted_noise", "preview", "preview_score", "total_report"]
