"""Long tests beside the quick ones of `tests/linear_model/ball/test_sums.py`."""

import math

import numpy as np
import pytest

from tests.door import (
    LOSSES,
    Ball,
    CertifiedRows,
    GaussianMechanism,
    SecondMoment,
    SumOfSlopes,
    rows_in_ball,
)
from tests.linear_model.ball.test_sums import HARD, UNIT, D, kinds, rng


@pytest.mark.parametrize("kind", ["dense", "sparse", "single"])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("radius", [1e-45, 1e-7, 1.0, 1e9])
@np.errstate(all="ignore")
def test_weighted_rows_have_the_bounds_of_cut_rows(radius, name, fit_intercept, kind, rng):
    """In the moment of a row alone, and in its slopes; of every row whose weight is tiny, too."""
    X = HARD[name](rng)[:40]
    if kind == "single":
        X = np.clip(X, -3e38, 3e38)
    center = np.array([3.0, 0.0, -1e3]) * fit_intercept
    ball = Ball(center, UNIT, radius)
    bias = radius / 3.0 if fit_intercept else 0.0
    largest = radius**2 + bias**2
    p = D + fit_intercept
    A = np.diag(np.arange(1.0, p + 1.0)) / radius
    exact = GaussianMechanism(math.inf, 0.0, 1, 1)
    loss = LOSSES["squared_error"]
    for row in X:
        rows = rows_in_ball(
            kinds(row[np.newaxis])[kind], ball, np.zeros(1, dtype=bool), fit_intercept=fit_intercept
        )
        assert rows.bias == pytest.approx(bias)
        slack = 1.0 + 1e-13 * rows.stretch**2
        weight = rows.weight[0]
        assert 0.0 <= weight <= 1.0
        assert rows.norm[0] * weight <= math.sqrt(largest) * slack
        # Public weights are cut to 1 where there is a bound.
        sums = CertifiedRows(rows, np.array([[1e3]]), loss)
        assert np.linalg.norm(sums.ask(SecondMoment(exact))) <= largest * slack
        sums.bound_slopes(A, 0.5)
        assert np.linalg.norm(sums.ask(SumOfSlopes(np.ones((p, 1)), exact))) <= 0.5 * slack
