"""Estimators of partitions inside what reads records in memory."""

import dask.array as da
import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator

from skdp.calibration import (
    DPCalibratedClassifier,
    DPConformalClassifier,
    DPConformalRegressor,
)
from skdp.dask import DaskDPAdditiveClassifier, DaskDPLogisticRegression, DaskDPRidge

X = np.random.default_rng(0).uniform(-1.0, 1.0, (900, 2))
Y = X[:, 0] + 0.1 * np.random.default_rng(1).standard_normal(900)


@pytest.mark.parametrize(
    "model",
    [
        DPConformalRegressor(DaskDPRidge()),
        DPConformalClassifier(DaskDPLogisticRegression(classes=[0, 1])),
        DPConformalClassifier(DaskDPAdditiveClassifier(classes=[0, 1])),
        DPCalibratedClassifier(DaskDPLogisticRegression(classes=[0, 1])),
    ],
)
def test_they_are_refused_with_what_to_do_instead(model):
    y = Y if isinstance(model, DPConformalRegressor) else (Y > 0.0).astype(int)
    for rows, target in ((X, y), (da.from_array(X), da.from_array(y))):
        with pytest.raises(ValueError, match=r"partitions, and DP.* skdp\.linear_model") as raised:
            model.fit(rows, target)
        is_frozen_a_way = "FrozenEstimator" in str(raised.value)
        assert is_frozen_a_way == ("Conformal" in type(model).__name__)


def test_a_frozen_one_is_calibrated_on_records_in_memory():
    inside = DaskDPRidge(target_bounds=(-2, 2), epsilon=20.0, random_state=0)
    inside.fit(da.from_array(X[:300], chunks=(100, 2)), da.from_array(Y[:300], chunks=100))
    model = DPConformalRegressor(FrozenEstimator(inside), random_state=0)
    model.fit(X[300:600], Y[300:600])
    low, high = model.predict_interval(X[600:]).T
    assert 0.85 < np.mean((low <= Y[600:]) & (Y[600:] <= high)) <= 1.0
