from math import inf

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from tests._objectives import penalty_value
from tests.door import Penalty, make_penalty

PENALTIES = [
    make_penalty("l2", 0.7),
    make_penalty("l1", 0.7),
    make_penalty("elasticnet", 0.7, 0.3),
    make_penalty("l1", 0.7, low=0.0),
    make_penalty("elasticnet", 0.7, 0.8, low=-0.2, high=1.5),
    Penalty(low=0.5, high=2.0),
]


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("step", [0.1, 1.0, 10.0])
def test_prox_minimises_its_objective(penalty, step, rng):
    low, high = max(penalty.low, -60.0), min(penalty.high, 60.0)
    for w in [0.0, *rng.normal(scale=3.0, size=20)]:
        found = penalty.prox(np.array([w]), step)

        def objective(z, w=w):
            return (z - w) ** 2 / (2.0 * step) + penalty_value(penalty, np.atleast_1d(z))

        best = minimize_scalar(objective, bounds=(low, high), method="bounded")
        ends = [objective(end) for end in (low, high)]
        assert objective(found[0]) <= min(best.fun, *ends) + 1e-9


def test_values_are_those_of_scikit_learn():
    w = np.array([[1.0, -2.0], [0.0, 3.0]])
    assert penalty_value(make_penalty("l2", 0.5), w) == pytest.approx(0.25 * 14.0)
    assert penalty_value(make_penalty("l1", 0.5), w) == pytest.approx(0.5 * 6.0)
    assert penalty_value(make_penalty("elasticnet", 0.5, 0.25), w) == pytest.approx(
        0.5 * (0.25 * 6.0 + 0.75 * 7.0)
    )
    assert penalty_value(make_penalty("l1", 0.5, low=0.0), w) == inf


def test_intervals_of_each_coefficient():
    penalty = Penalty(l1=1.0, low=np.array([0.0, -inf]), high=np.array([inf, 0.5]))
    w = np.array([[-3.0, 3.0], [3.0, -3.0]])
    np.testing.assert_array_equal(penalty.prox(w, 1.0), [[0.0, 0.5], [2.0, -2.0]])
    for j in range(2):
        alone = penalty.of_coefficient(j).prox(w[:, j], 1.0)
        np.testing.assert_array_equal(alone, penalty.prox(w, 1.0)[:, j])
    assert Penalty(l1=1.0).of_coefficient(3).prox(np.array(2.0), 1.0) == 1.0


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_numbers_and_arrays_have_one_prox(penalty, rng):
    w = np.append(rng.normal(scale=2.0, size=200), [0.0, 1e300, -1e300])
    for step in (0.0, 0.3, 4.0):
        found = [penalty.prox_of_number(number, step) for number in w.tolist()]
        np.testing.assert_allclose(found, penalty.prox(w, step), rtol=1e-14)
    assert np.isnan(penalty.prox_of_number(np.nan, 1.0))


def test_units():
    """The penalty of u w in units u is the penalty of w."""
    penalty = Penalty(l1=0.4, l2=0.3, low=np.array([-1.0, -inf]), high=5.0)
    unit, w = np.array([0.1, 20.0]), np.array([-0.5, 3.0])
    scaled = penalty.in_units(unit)
    assert penalty_value(scaled, unit * w) == pytest.approx(penalty_value(penalty, w))
    np.testing.assert_allclose(scaled.low, [-0.1, -inf])
    np.testing.assert_allclose(scaled.high, [0.5, 100.0])
