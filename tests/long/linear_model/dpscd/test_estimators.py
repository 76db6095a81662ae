"""What not every change needs of the tests of `tests/linear_model/dpscd/test_estimators.py`."""

import pytest

from skdp.linear_model import DPSCDClassifier, DPSCDRegressor
from skdp.utils.estimator_checks import check_private_estimator

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")


@pytest.mark.parametrize(
    "estimator",
    [
        DPSCDClassifier(ball_budget=0),
        DPSCDRegressor(ball_budget=0),
        DPSCDClassifier(solver="primal", feature_bounds=(-0.3, 0.4)),
        DPSCDClassifier(noisy_dual=True, max_iter=3),
        DPSCDClassifier(
            ball_budget=0,
            solver="sequential",
            loss="hinge",
            adjacency="replace_one",
            max_iter=2,
        ),
        DPSCDRegressor(solver="sequential", batch_size=7, max_iter=3),
        DPSCDRegressor(solver="primal", batch_size=2, target_bounds=(-1.0, 1.0)),
        DPSCDClassifier(ball_budget=0, loss="hinge", fit_intercept=False, average=False),
        DPSCDClassifier(ball_budget=0, adjacency="replace_one", batch_size=240, accountant="pld"),
        DPSCDClassifier(accountant="rdp", clipping_norm=0.1, batch_size=240),
        DPSCDRegressor(ball_budget=0, target_bounds=(-1.0, 1.0), fit_intercept=False),
        DPSCDRegressor(ball_budget=0, adjacency="replace_one", data_norm=0.5, max_iter=2),
    ],
    ids=str,
)
def test_check_private_estimator(estimator):
    check_private_estimator(estimator)
