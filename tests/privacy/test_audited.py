"""For each mechanism an attack that would notice if half of its noise were missing.

It sees the last coefficients. Where a mechanism releases more than them, as the primal and the
sequential form do and the noisy dual one, an attack on them finds less than was spent.
"""

import numpy as np
import pytest

from skdp.audit import audit
from skdp.linear_model import DPSCDClassifier, DPSCDRegressor, DPSGDClassifier


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
