"""Diagnostics of fitted models. What they return is computed without noise and is not private."""

from skdp.inspection._duality import duality_gap

__all__ = ["duality_gap"]
