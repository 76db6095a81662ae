"""Long tests beside the quick ones of `tests/linear_model/whitened/test_robust.py`."""

import warnings

import numpy as np
import pytest

from skdp.linear_model import DPHuberRegressor, DPQuantileRegressor
from tests.linear_model.whitened.test_robust import uneven
from tests.privacy._recorded import check_attack


@pytest.mark.parametrize(
    "groups", [None, np.r_[np.zeros(3, dtype=int), np.arange(1, 198)]], ids=["row", "person"]
)
@pytest.mark.parametrize("model", [DPHuberRegressor(), DPQuantileRegressor(quantile=0.9)])
def test_an_attacker_learns_what_is_claimed(model, groups):
    """Of a record far from the others, from all releases."""
    X, y = uneven(200)
    n_own = 1 if groups is None else 3
    X[:n_own], y[:n_own] = 1e6, 1e9
    model.set_params(epsilon=4.0, max_iter=12, average=False, moment_budget=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_attack(model, X, y, **({} if groups is None else {"groups": groups}))
