"""Long tests beside the quick ones of `tests/privacy/test_people.py`."""

import warnings

import numpy as np
import pytest

from skdp.audit import audit
from skdp.linear_model import DPRidge
from tests.privacy._audited import BUDGET, CLIPPED
from tests.statistical._transcripts import noise_times

PLAIN_CLIPPED = {"ball_budget": 0, "data_norm": 1.0, **CLIPPED}


class Thousand(DPRidge):
    """Takes the last row for a person who has a thousand of it, and all others for one each."""

    def fit(self, X, y):
        n_rows = len(X) + 999
        rows = np.minimum(np.arange(n_rows), len(X) - 1)
        return super().fit(X[rows], y[rows], groups=rows)


# At a large delta fewer fits convict, but the bound of a true claim is 0.
SOON = {"n_fits": 1000, "delta": 0.6}


def attack(model, n_fits=2000, delta=0.2):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return audit(
            model,
            np.zeros((1, 1)),
            np.zeros(1),
            canary=(np.ones(1), 1.0, np.ones(1), -1.0),
            n_fits=n_fits,
            delta=delta,
            confidence=1.0 - 1e-7,
            random_state=0,
        )


def test_an_audit_of_a_person_with_a_thousand_rows():
    """The claim is exceeded once in 10**7 seeds at most, and half of the noise is convicted."""
    model = Thousand(adjacency="replace_one", moment_budget=0.0, **PLAIN_CLIPPED)
    found = attack(model)
    assert found.has_power
    assert 0.05 < found.epsilon_lower_bound < found.epsilon <= BUDGET["epsilon"]
    with noise_times(0.5):
        assert not attack(model, **SOON).passed


def test_an_audit_convicts_rows_that_are_protected_one_by_one():
    class RowByRow(Thousand):
        def fit(self, X, y):
            n_rows = len(X) + 9
            rows = np.minimum(np.arange(n_rows), len(X) - 1)
            return DPRidge.fit(self, X[rows], y[rows])

    model = RowByRow(adjacency="replace_one", moment_budget=0.0, **PLAIN_CLIPPED)
    assert not attack(model, **SOON).passed
