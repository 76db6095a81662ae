"""Transformers whose bounds are public, so that they cost no privacy."""

from skdp.preprocessing._bounded import BoundsScaler, NormClipper

__all__ = ["BoundsScaler", "NormClipper"]
