"""The privacy cost of fits: calibration of the noise, and the report of a guarantee."""

from skdp.accountant._calibration import calibrate, calibrate_classic, get_epsilon
from skdp.accountant._composition import compose
from skdp.accountant._events import (
    ErasureEvent,
    GaussianEvent,
    LaplaceEvent,
    RandomizedResponseEvent,
)
from skdp.accountant._pure import calibrate_pure, calibrate_response
from skdp.accountant._report import PrivacyReport
from skdp.accountant._selection_cost import calibrate_selection, selection_noise
from skdp.accountant._selection_event import (
    NoisyMaxEvent,
    SelectionEvent,
    TruncatedNegativeBinomial,
)

__all__ = [
    "ErasureEvent",
    "GaussianEvent",
    "LaplaceEvent",
    "NoisyMaxEvent",
    "PrivacyReport",
    "RandomizedResponseEvent",
    "SelectionEvent",
    "TruncatedNegativeBinomial",
    "calibrate",
    "calibrate_classic",
    "calibrate_pure",
    "calibrate_response",
    "calibrate_selection",
    "compose",
    "get_epsilon",
    "selection_noise",
]
