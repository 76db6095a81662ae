"""Long tests beside the quick ones of `tests/linear_model/whitened/test_generalized.py`."""

import numpy as np
import pytest

from skdp.linear_model import DPGammaRegressor, DPPoissonRegressor
from tests.linear_model.whitened.test_generalized import amounts
from tests.privacy._recorded import check_attack


@pytest.mark.parametrize(
    "groups", [None, np.r_[np.zeros(3, dtype=int), np.arange(1, 198)]], ids=["row", "person"]
)
@pytest.mark.parametrize("kind", [DPPoissonRegressor, DPGammaRegressor])
def test_an_attacker_learns_what_is_claimed(kind, groups):
    """Of a record far from the others, from all releases."""
    X, y = amounts(200)
    n_own = 1 if groups is None else 3
    X[:n_own], y[:n_own] = 1e6, 1e9
    model = kind(epsilon=4.0, max_iter=12, average=False, moment_budget=0.3)
    check_attack(model, X, y, **({} if groups is None else {"groups": groups}))
