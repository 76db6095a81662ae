"""What fits cost in privacy: calibration of the noise, and the report of a guarantee."""

from skdp.accountant._calibration import calibrate, get_epsilon
from skdp.accountant._compose import compose
from skdp.accountant._events import GaussianEvent
from skdp.accountant._report import PrivacyReport

__all__ = ["GaussianEvent", "PrivacyReport", "calibrate", "compose", "get_epsilon"]
