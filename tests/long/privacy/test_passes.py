"""Long tests beside the quick ones of `tests/privacy/test_passes.py`."""

import pytest

from skdp.linear_model import DPCDClassifier, DPCDLasso
from tests.privacy._recorded import check_attack
from tests.privacy.test_passes import attacked


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("estimator", [DPCDLasso, DPCDClassifier])
def test_an_attacker_learns_what_is_claimed_of_all_passes(estimator, fit_intercept):
    model, X, y = attacked(estimator, fit_intercept=fit_intercept, epsilon=6.0)
    check_attack(model, X, y)
