"""Transformers of public bounds, which cost no privacy, and private ones that learn."""

from skdp.preprocessing._bounded import BoundsScaler, NormClipper
from skdp.preprocessing._imputer import DPSimpleImputer

__all__ = ["BoundsScaler", "DPSimpleImputer", "NormClipper"]
