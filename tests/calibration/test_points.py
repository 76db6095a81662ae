"""Points of a calibrated classifier are those of its calibrated log-odds."""

import math

import numpy as np
import pytest

from skdp.additive import DPAdditiveClassifier
from skdp.calibration import DPCalibratedClassifier
from skdp.linear_model import DPLogisticRegression


def data():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (4000, 2)).astype(float)
    return X, (rng.random(4000) < np.where(X[:, 0] > 1.0, 0.4, 0.1)).astype(int)


def test_points_follow_calibrated_log_odds():
    X, y = data()
    inner = DPAdditiveClassifier(classes=[0, 1], interactions=None)
    model = DPCalibratedClassifier(inner, epsilon=2.0, random_state=0).fit(X, y)
    card = model.to_points(base=500, odds=20, double=40)
    wanted = 500 - 40 / math.log(2.0) * (math.log(20) + model.decision_function(X))
    # Each term and the base are rounded to whole points.
    assert np.abs(card.points(X) - wanted).max() <= 0.5 * (len(card.terms) + 1) + 1e-6
    assert (card.base, card.odds, card.double) == (500, 20, 40)
    # Without calibration points are others.
    assert np.abs(model.estimator_.to_points(500, 20, 40).points(X) - wanted).max() > 3.0


def test_what_has_no_terms_has_no_points():
    assert not hasattr(DPCalibratedClassifier(DPLogisticRegression()), "to_points")
    X, y = data()
    inner = DPAdditiveClassifier(classes=[0, 1], interactions=None)
    model = DPCalibratedClassifier(inner, epsilon=2.0, random_state=0).fit(X[:3000], y[:3000])
    with pytest.raises(ValueError, match="odds"):
        model.to_points(odds=0.0)
