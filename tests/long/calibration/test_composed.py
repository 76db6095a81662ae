"""Long tests beside the quick ones of `tests/calibration/test_composed.py`."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from skdp.calibration import DPCalibratedClassifier
from skdp.linear_model import DPLogisticRegression
from tests.calibration.test_composed import TWO, stays


def test_calibration_by_row_improves_risks_by_row_and_by_person_spoils_them():
    """Few people, eight features and much noise: the mean of 8 seeded fits."""
    rng = np.random.default_rng(2)

    def noisy(rows):
        X, y, ids = rows
        return np.column_stack([X, rng.uniform(-1.0, 1.0, (len(X), 6))]), y, ids

    (X, y, ids), (new, labels, _) = noisy(stays(1500)), noisy(stays(seed=1))
    inner, gains = DPLogisticRegression(**TWO), {}
    for average_over in ("rows", "groups"):
        gain = []
        for seed in range(8):
            known = {"average_over": average_over, "epsilon": 0.3, "random_state": seed}
            model = DPCalibratedClassifier(inner, **known).fit(X, y, groups=ids)
            before, after = (one.predict_proba(new) for one in (model.estimator_, model))
            gain.append(log_loss(labels, before) - log_loss(labels, after))
        gains[average_over] = np.mean(gain)
    assert gains["rows"] > 0.005
    assert gains["groups"] < -0.01
