"""Long tests beside the quick ones of `tests/test_audit.py`."""

import pytest

from skdp.audit import audit
from skdp.linear_model import DPCDLasso, DPSCDClassifier, DPSGDRegressor
from tests.statistical._transcripts import noise_times
from tests.test_audit import ZEROS, quick

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")


@pytest.mark.parametrize(
    ("estimator", "adjacency"),
    [
        (DPSCDClassifier, "zero_out"),
        (DPSGDRegressor, "replace_one"),
        (DPCDLasso, "zero_out"),
    ],
)
def test_the_bound_comes_near_the_claim(estimator, adjacency):
    """With a delta that makes the best threshold frequent, and batches of all rows."""
    model = quick(estimator, epsilon=2.0, delta=0.05, adjacency=adjacency)
    found = audit(model, *ZEROS, n_fits=500, random_state=1)
    assert found.adjacency == adjacency
    assert found.has_power
    assert 0.1 < found.epsilon_lower_bound <= found.epsilon == 2.0
    with noise_times(1e-9):
        assert not audit(model, *ZEROS, n_fits=500, random_state=1).passed
