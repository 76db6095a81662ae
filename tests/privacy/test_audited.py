"""One audit for each mechanism that would notice if half of its noise were missing.

An audit sees the last coefficients. Where a mechanism releases more than them, as the primal and
the sequential form do and the noisy dual one, an attack on them finds less than was spent.
"""

import numpy as np
import pytest

from skdp.audit import audit
from skdp.linear_model import DPSCDClassifier, DPSCDRegressor, DPSGDClassifier
from tests.privacy._audited import AUDITED
from tests.statistical._transcripts import noise_times

# What every bound is above but for once in a million seeds: from 4,000 fits each, bounds are
# normal, and this is at least five of their standard deviations below their mean.
FLOOR = 0.05


@pytest.mark.long
@pytest.mark.parametrize("name", AUDITED)
def test_the_bound_is_above_a_number_and_below_the_claim(name):
    """The claim is exceeded once in 10**7 seeds at most."""
    found = AUDITED[name].audit()
    assert found.has_power
    assert FLOOR < found.epsilon_lower_bound < found.epsilon


@pytest.mark.long
@pytest.mark.parametrize("name", AUDITED)
def test_half_of_the_noise_is_convicted(name):
    with noise_times(0.5):
        assert not AUDITED[name].audit().passed


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
