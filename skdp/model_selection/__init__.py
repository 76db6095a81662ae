"""Choosing a model on private records within one budget."""

from skdp.model_selection._grid import DPGridSearch
from skdp.model_selection._randomized import DPRandomizedSearch

__all__ = ["DPGridSearch", "DPRandomizedSearch"]
