"""Choosing a model, or a threshold, on private records within one budget."""

from skdp.model_selection._search import DPGridSearch, DPRandomizedSearch
from skdp.model_selection._threshold import PrivateThreshold, private_threshold

__all__ = ["DPGridSearch", "DPRandomizedSearch", "PrivateThreshold", "private_threshold"]
