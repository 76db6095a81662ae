"""What fits cost in privacy: calibration of the noise, and the report of a guarantee."""

from skdp.accountant._calibration import calibrate, calibrate_classic, get_epsilon
from skdp.accountant._compose import compose
from skdp.accountant._events import (
    ErasureEvent,
    GaussianEvent,
    LaplaceEvent,
    RandomizedResponseEvent,
)
from skdp.accountant._pure import calibrate_pure, calibrate_response
from skdp.accountant._report import PrivacyReport

__all__ = [
    "ErasureEvent",
    "GaussianEvent",
    "LaplaceEvent",
    "PrivacyReport",
    "RandomizedResponseEvent",
    "calibrate",
    "calibrate_classic",
    "calibrate_pure",
    "calibrate_response",
    "compose",
    "get_epsilon",
]
