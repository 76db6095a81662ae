"""Choosing a model on private records within one budget."""

from skdp.model_selection._search import DPGridSearch, DPRandomizedSearch

__all__ = ["DPGridSearch", "DPRandomizedSearch"]
