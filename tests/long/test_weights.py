"""Long tests beside the quick ones of `tests/test_weights.py`."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.metrics import recall_score, roc_auc_score

from skdp.linear_model import DPLogisticRegression

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")


def test_weights_of_classes_do_not_drown_what_is_not_whitened():
    rng = np.random.default_rng(0)
    n, of_one, n_codes = 20_000, 60, 20
    codes = rng.integers(0, of_one, (n, n_codes)) + of_one * np.arange(n_codes)
    starts = np.arange(0, codes.size + 1, n_codes)
    X = csr_array((np.ones(codes.size), codes.ravel(), starts), shape=(n, of_one * n_codes))
    scores = X @ (rng.standard_normal(X.shape[1]) * (rng.random(X.shape[1]) < 0.2))
    y = (scores + rng.standard_normal(n) > np.quantile(scores, 0.95)).astype(int)
    weights = {0: 0.5 / (1.0 - y.mean()), 1: 0.5 / y.mean()}
    model = DPLogisticRegression(
        classes=[0, 1], epsilon=4.0, delta=1e-6, moment_budget=0.0, data_norm=n_codes**0.5
    ).set_params(random_state=0)
    found = {}
    for name, of_classes in (("even", None), ("balanced", weights)):
        fit = clone(model).set_params(class_weight=of_classes).fit(X, y)
        found[name] = roc_auc_score(y, fit.decision_function(X))
    assert found["balanced"] > found["even"] - 0.03
    assert recall_score(y, fit.predict(X)) > 0.5
