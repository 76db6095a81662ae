"""What fits cost in privacy: calibration of the noise, and the report of a guarantee."""

from skdp.accountant._calibration import calibrate, calibrate_classic, get_epsilon
from skdp.accountant._compose import compose
from skdp.accountant._events import ErasureEvent, GaussianEvent, LaplaceEvent
from skdp.accountant._pure import calibrate_pure
from skdp.accountant._report import PrivacyReport

__all__ = [
    "ErasureEvent",
    "GaussianEvent",
    "LaplaceEvent",
    "PrivacyReport",
    "calibrate",
    "calibrate_classic",
    "calibrate_pure",
    "compose",
    "get_epsilon",
]
