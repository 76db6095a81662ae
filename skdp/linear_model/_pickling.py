"""Copies of an estimator: those that hold the seed of its noise, and those that fit elsewhere."""

import math
import sys
import warnings

from skdp.accountant import PrivacyReport
from skdp.exceptions import PrivacyWarning
from skdp.ledger._account import named_ledger

# Modules that copy for their caller, and those of them whose copy doesn't outlive the computation:
# it becomes a hash, or goes to another process of the machine and back.
_COPYING = {"copy", "copyreg", "pickle", "joblib", "loky", "cloudpickle", "multiprocessing"}
_PASSING = ("joblib.hashing", "joblib.externals.loky.", "loky.", "multiprocessing.")


class PicklingMixin:
    """A warning when a fit made with a seed is pickled, and the ledger that counts where it is."""

    def __getstate__(self):
        report = vars(self).get("privacy_report_")
        if (
            isinstance(report, PrivacyReport)
            and report.reproducible
            and math.isfinite(report.epsilon)
            and self.random_state is not None
        ):
            _warn(type(self).__name__)
        state = super().__getstate__()
        return {**state, "ledger": named_ledger(state["ledger"])} if "ledger" in state else state


def _warn(name):
    """Warn at the line that asked for a copy, however deep in it an estimator lies."""
    # A warning's first level is this function, its second `__getstate__`.
    level, frame = 3, sys._getframe(2)
    while frame.f_back is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith(_PASSING):
            return
        if module.partition(".")[0] not in _COPYING:
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(
        f"This {name} was fitted with a seed, and the copy holds it as random_state: whoever has "
        "the copy can remove the noise. Publish a fit that was made with random_state=None.",
        PrivacyWarning,
        stacklevel=level,
    )
