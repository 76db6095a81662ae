"""Long tests beside the quick ones of `tests/privacy/test_audited.py`."""

import numpy as np
import pytest

from skdp.audit import audit
from skdp.linear_model import DPSGDRegressor
from tests.privacy._audited import AUDITED, CLIPPED
from tests.statistical._transcripts import noise_times


@pytest.mark.parametrize("name", AUDITED)
def test_guesses_are_right_as_often_as_claimed_at_most_and_not_far_less(name):
    """All of this by chance fails in one of 10**6 suites at most."""
    audited = AUDITED[name]
    found = audited.guess()
    assert found.chance > audited.chance
    assert found.n_right / found.n_guesses > 0.5 * (0.5 + found.allowed)


@pytest.mark.parametrize("name", AUDITED)
def test_half_of_the_noise_is_convicted(name):
    """On average, right guesses are at least five standard deviations above what convicts."""
    audited = AUDITED[name]
    with noise_times(0.5):
        assert audited.guess().chance < audited.chance


def test_an_audit_convicts_half_of_the_noise_and_passes_all_of_it():
    """At a large delta, where rates needn't be near 0 or 1. A true claim falls once in 10**7 seeds.

    With half of the noise bounds are 5 of their standard deviations above the claim.
    """
    model = DPSGDRegressor(batch_size=1, average=False, **CLIPPED)
    terms = {"canary": (np.ones(1), 1.0), "n_fits": 1000, "confidence": 1.0 - 1e-7, "delta": 0.6}
    data = np.zeros((0, 1)), np.zeros(0)
    found = audit(model, *data, random_state=0, **terms)
    assert found.passed
    assert found.has_power
    with noise_times(0.5):
        assert not audit(model, *data, random_state=0, **terms).passed
