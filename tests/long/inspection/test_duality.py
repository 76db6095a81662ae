"""Long tests beside the quick ones of `tests/inspection/test_duality.py`."""

import numpy as np
import pytest

from skdp.inspection import duality_gap
from tests.inspection.test_duality import INF, data, make, slope, with_constant

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", ["squared_error", "log_loss"])
def test_the_gap_in_a_ball_is_that_of_its_rows(loss, fit_intercept, data):
    """It closes without privacy, and is of rows that count less beyond the radius with it."""
    X, y = data(loss)
    options = {"ball_budget": 0.3, "fit_intercept": fit_intercept, "average": False}
    early, late = (
        make(loss, epsilon=INF, max_iter=max_iter, **options).fit(X, y) for max_iter in (1, 600)
    )
    assert 0.0 <= duality_gap(late, X, y) < 1e-9 < duality_gap(early, X, y)
    private = make(loss, epsilon=20.0, **options)
    if loss == "squared_error":
        private.set_params(target_bounds=(-1, 1))
    private.fit(X, y)
    Z = (X - private.center_) / private.scale_
    lengths = np.linalg.norm(Z, axis=1)
    weights = np.minimum(1.0, private.radius_ / lengths)
    assert (weights < 1.0).any()
    w = np.atleast_2d(private.coef_)[0] * private.scale_
    if fit_intercept:
        bias = private.radius_ / 3.0
        Z = with_constant(Z, bias)
        moved = np.ravel(private.intercept_)[0] + private.coef_.ravel() @ private.center_
        w = np.append(w, moved / bias)
    targets = np.where(y == 1, 1.0, -1.0) if loss == "log_loss" else np.clip(y, -1.0, 1.0)
    a = -slope(loss, targets, Z @ w)
    gradient = Z.T @ (weights * a) / len(y) - 0.01 * w
    expected = gradient @ gradient / (2.0 * 0.01)
    assert duality_gap(private, X, y) == pytest.approx(expected, rel=1e-9)
