"""What fits cost in privacy: calibration of the noise, and the report of a guarantee."""

from skdp.accountant._calibration import calibrate, get_epsilon
from skdp.accountant._profile import GaussianEvent
from skdp.accountant._report import PrivacyReport, compose

__all__ = ["GaussianEvent", "PrivacyReport", "calibrate", "compose", "get_epsilon"]
