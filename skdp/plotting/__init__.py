"""Displays of guarantees and of their cost. They draw existing numbers and fit nothing.

matplotlib is imported when something is drawn; the extra ``[plot]`` installs it.
"""

from skdp.plotting._description import DescriptionDisplay
from skdp.plotting._explanation import ExplanationDisplay
from skdp.plotting._ledger import LedgerDisplay
from skdp.plotting._page import report_page
from skdp.plotting._predicted import PredictedNoiseDisplay
from skdp.plotting._privacy import PrivacyDisplay

# Names of 0.3, which warn where they are used.
from skdp.plotting._renamed import (
    PrivacyProfileDisplay as PrivacyProfileDisplay,
    TradeoffDisplay as TradeoffDisplay,
)
from skdp.plotting._shapes import ShapeFunctionDisplay
from skdp.plotting._utility import PrivacyUtilityDisplay

__all__ = [
    "DescriptionDisplay",
    "ExplanationDisplay",
    "LedgerDisplay",
    "PredictedNoiseDisplay",
    "PrivacyDisplay",
    "PrivacyUtilityDisplay",
    "ShapeFunctionDisplay",
    "report_page",
]
