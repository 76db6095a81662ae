"""Partitions as days of a stream, by dask-ml."""

import numpy as np
import pytest
from sklearn.base import clone

pytest.importorskip("dask_ml", reason="needs dask-ml, which no extra has: pip install dask-ml")

import dask.array
from dask_ml.wrappers import Incremental

from skdp.linear_model import DPSGDClassifier

CLASSES, SIZE = [0, 1], 1000


@pytest.mark.parametrize("random_state", [0, None])
def test_a_partition_is_a_day(random_state):
    X = np.random.default_rng(0).uniform(-0.5, 0.5, (3 * SIZE, 3))
    y = (X.sum(axis=1) > 0.0).astype(int)
    rows, labels = dask.array.from_array(X, chunks=(SIZE, 3)), dask.array.from_array(y, chunks=SIZE)
    day_by_day = DPSGDClassifier(mechanism="laplace", classes=CLASSES, random_state=random_state)
    model = Incremental(clone(day_by_day), shuffle_blocks=False)
    fitted = model.fit(rows, labels, classes=CLASSES).estimator_
    for start in range(0, len(X), SIZE):
        part = slice(start, start + SIZE)
        day_by_day.partial_fit(X[part], y[part])
    # Rows are disjoint: the losses don't add up.
    report = fitted.privacy_report_
    assert (report.epsilon, report.delta) == (1.0, 0.0)
    assert fitted.n_iter_ == day_by_day.n_iter_ == 3
    same = np.array_equal(fitted.coef_, day_by_day.coef_)
    assert same == (random_state is not None)
    assert (model.predict(rows).compute() == y).mean() > 0.9
