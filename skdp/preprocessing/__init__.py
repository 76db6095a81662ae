"""Transformers that learn privately, and those whose bounds are public and cost nothing."""

from skdp.preprocessing._bounded import BoundsScaler, NormClipper
from skdp.preprocessing._clippers import DPNormClipper, DPQuantileClipper, DPStandardScaler
from skdp.preprocessing._encoder import DPOneHotEncoder
from skdp.preprocessing._imputer import DPSimpleImputer
from skdp.preprocessing.table._vectorizer import DPTableVectorizer

__all__ = [
    "BoundsScaler",
    "DPNormClipper",
    "DPOneHotEncoder",
    "DPQuantileClipper",
    "DPSimpleImputer",
    "DPStandardScaler",
    "DPTableVectorizer",
    "NormClipper",
]
