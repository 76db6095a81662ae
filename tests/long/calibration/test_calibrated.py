"""Long tests beside the quick ones of `tests/calibration/test_calibrated.py`."""

import numpy as np
import pytest

from skdp.calibration import DPCalibratedClassifier
from skdp.linear_model import DPLogisticRegression
from tests.calibration.test_calibrated import TWO, Script, records


def test_counts_have_the_noise_that_is_accounted():
    """Of 16 counts in 60 fits; half of the noise would give a p-value below 1e-9."""
    X, y = records(200)
    with pytest.MonkeyPatch.context() as patch:
        seen, stds = Script(patch), []
        for seed in range(60):
            model = DPCalibratedClassifier(DPLogisticRegression(max_iter=1, **TWO))
            model.set_params(random_state=seed, delta=1e-3).fit(X, y)
            noise = model.privacy_report_.events[-1].noise_multiplier
            stds.append((seen.released[-1] - seen.values[-1]).ravel() / noise)
    assert np.std(np.concatenate(stds)) == pytest.approx(1.0, abs=0.15)
