"""A first look at a raw table: what describes it, with noise, intervals and a report."""

from skdp.statistics._describe import describe
from skdp.statistics._description import PrivateDescription

__all__ = ["PrivateDescription", "describe"]
