"""Transformers that learn privately, and those whose bounds are public and cost nothing."""

from skdp.preprocessing._bounded import BoundsScaler, NormClipper
from skdp.preprocessing._scaler import DPStandardScaler

__all__ = ["BoundsScaler", "DPStandardScaler", "NormClipper"]
