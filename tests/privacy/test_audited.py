"""For each mechanism an attack that would notice if half of its noise were missing.

It sees the last coefficients. Where a mechanism releases more than them, as the primal and the
sequential form do and the noisy dual one, an attack on them finds less than was spent.
"""

import numpy as np
import pytest

from skdp.audit import audit
from skdp.linear_model import DPSCDClassifier, DPSCDRegressor, DPSGDClassifier, DPSGDRegressor
from tests.privacy._audited import AUDITED, CLIPPED
from tests.statistical._transcripts import noise_times


@pytest.mark.long
@pytest.mark.parametrize("name", AUDITED)
def test_guesses_are_right_as_often_as_claimed_at_most_and_not_far_less(name):
    """All of this by chance fails in one of 10**6 suites at most."""
    audited = AUDITED[name]
    found = audited.guess()
    assert found.chance > audited.chance
    assert found.n_right / found.n_guesses > 0.5 * (0.5 + found.allowed)


@pytest.mark.long
@pytest.mark.parametrize("name", AUDITED)
def test_half_of_the_noise_is_convicted(name):
    """On average, right guesses are at least five standard deviations above what convicts."""
    audited = AUDITED[name]
    with noise_times(0.5):
        assert audited.guess().chance < audited.chance


@pytest.mark.long
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


@pytest.mark.parametrize("method", ["threshold", "one_run"])
@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"]])
def test_there_may_be_no_rows_but_the_canary(labels, method):
    canary = np.ones(2), labels[1]
    if method == "one_run":
        canary = np.eye(2), np.array(labels)
    model = DPSGDClassifier(delta=0.1, classes=labels)
    found = audit(model, np.zeros((0, 2)), [], canary=canary, n_fits=12, method=method)
    assert found.passed
    for bad in (None, 3, (canary[0],)):
        with pytest.raises(ValueError, match="canary"):
            audit(model, np.zeros((0, 2)), [], canary=bad)


def test_outputs_and_classes_come_from_the_canary_where_there_are_no_rows():
    model = DPSCDRegressor(delta=0.1, target_bounds=(-1, 1))
    assert audit(model, np.zeros((0, 1)), [], canary=([1.0], [1.0, -1.0]), n_fits=12).passed
    flipped = ([1.0], 1, [1.0], 0)
    assert audit(DPSCDClassifier(), np.zeros((0, 1)), [], canary=flipped, n_fits=12).passed
