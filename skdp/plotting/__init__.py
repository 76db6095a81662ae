"""Displays of guarantees and of their cost. They draw existing numbers and fit nothing.

matplotlib is imported when something is drawn; the extra ``[plot]`` installs it.
"""

from skdp.plotting._ledger import LedgerDisplay
from skdp.plotting._profile import PrivacyProfileDisplay
from skdp.plotting._shapes import ShapeFunctionDisplay
from skdp.plotting._tradeoff import TradeoffDisplay
from skdp.plotting._utility import PrivacyUtilityDisplay

__all__ = [
    "LedgerDisplay",
    "PrivacyProfileDisplay",
    "PrivacyUtilityDisplay",
    "ShapeFunctionDisplay",
    "TradeoffDisplay",
]
