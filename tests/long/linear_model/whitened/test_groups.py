"""Long tests beside the quick ones of `tests/linear_model/whitened/test_groups.py`."""

import numpy as np
import pytest

from skdp.linear_model import DPLogisticRegression
from tests.linear_model.whitened.test_groups import INF


def test_private_fits_come_near_where_there_are_many_people(rng):
    """Nearer than a fit on one row of each, and than one that counts on groups of 30."""
    ids = np.repeat(np.arange(6000), np.minimum(rng.zipf(2.0, 6000), 30))
    X = 0.5 * rng.standard_normal((len(ids), 4)) + 0.5 * rng.standard_normal((6000, 4))[ids]
    y = (rng.random(len(ids)) < 1.0 / (1.0 + np.exp(-X @ [2.0, -2.0, 1.0, 0.0]))).astype(int)
    plain = {"ball_budget": 0, "data_norm": 2.0}
    best = DPLogisticRegression(**plain, epsilon=INF).fit(X, y, groups=ids).coef_
    first = np.unique(ids, return_index=True)[1]

    def error(model, rows, **groups):
        fits = [
            model.set_params(random_state=seed).fit(X[rows], y[rows], **groups) for seed in range(5)
        ]
        return np.mean([np.linalg.norm(fit.coef_ - best) for fit in fits])

    everyone = slice(None)
    ours = error(DPLogisticRegression(**plain), everyone, groups=ids)
    assert ours < 0.9 * error(DPLogisticRegression(**plain), first)
    assert ours < 0.5 * error(DPLogisticRegression(**plain, epsilon=1.0 / 30), everyone)
