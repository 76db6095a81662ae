"""Curves are stiff as far as noise hides bends, and lines cost nothing."""

import math

import numpy as np
import pytest

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from tests._loops import for_each
from tests.door import (
    Basis,
    Budget,
    HatsTerm,
    LineTerm,
    PairTerm,
    WordsTerm,
    additive_tuned,
    bends,
    roughness,
)

KNOTS = np.array([-3.0, -1.0, -0.5, 4.0, 5.0, 100.0])


def test_lines_cost_nothing_and_other_curves_do(rng):
    for knots in (KNOTS, 1e-300 * KNOTS, 1e300 * KNOTS, KNOTS + 1e6):
        line = 3.0 - 2.0 * (knots / np.abs(knots).max())
        np.testing.assert_allclose(bends(knots) @ line, 0.0, atol=1e-8)
        curve = rng.standard_normal(6)
        assert np.abs(bends(knots) @ curve).max() > 0.01
    assert np.linalg.matrix_rank(bends(KNOTS)) == 4
    for knots in (KNOTS[:1], KNOTS[:2]):
        assert bends(knots).shape == (0, knots.size)


def test_a_bend_is_twice_the_distance_from_the_line_between_neighbours(rng):
    values = rng.standard_normal(6)
    found = bends(KNOTS) @ values
    for j in range(1, 5):
        between = np.interp(KNOTS[j], KNOTS[[j - 1, j + 1]], values[[j - 1, j + 1]])
        assert found[j - 1] == pytest.approx(2.0 * (between - values[j]))
    np.testing.assert_allclose(bends(np.arange(6.0)) @ values, np.diff(values, 2))


def test_units_of_a_column_do_not_matter():
    np.testing.assert_allclose(bends(7.0 + 3.0 * KNOTS), bends(KNOTS), rtol=1e-12)
    mirrored = bends(-KNOTS[::-1])[::-1, ::-1]
    np.testing.assert_allclose(mirrored, bends(KNOTS), rtol=1e-12)


def terms():
    curve = HatsTerm(name="a", feature=0, knots=KNOTS, spike=0.0, has_gap=True)
    line = LineTerm(name="b", feature=1, knots=np.array([0.0, 1.0]), has_gap=True)
    words = WordsTerm(name="c", feature=2, categories=np.array(["x", "y"]))
    return curve, line, words, PairTerm(line, words)


def budget(epsilon=1.0, adjacency="zero_out"):
    return Budget(epsilon=epsilon, delta=1e-6, adjacency=adjacency, accountant="pld")


@for_each("adjacency", ["zero_out", "replace_one"])
@for_each("epsilon", [0.5, 2.0])
def test_only_knots_of_curves_are_stiff(epsilon, adjacency):
    basis, rest = Basis(terms()), budget(epsilon, adjacency)
    matrix = roughness(basis, rest, 10**4)
    strength = additive_tuned.STIFFNESS_PER_NOISE * rest.calibrate() / 10**4
    expected = np.zeros((basis.n_columns, basis.n_columns))
    expected[:6, :6] = strength * bends(KNOTS).T @ bends(KNOTS)
    np.testing.assert_allclose(matrix, expected, rtol=1e-12)
    np.testing.assert_array_equal(matrix, matrix.T)


def test_the_strength_has_an_end_and_none_without_noise():
    basis = Basis(terms())
    assert roughness(basis, budget(math.inf), 10**4) is None
    matrix = roughness(basis, budget(1e-4), 10)
    np.testing.assert_allclose(matrix[:6, :6], bends(KNOTS).T @ bends(KNOTS), rtol=1e-12)


@for_each("model", [DPAdditiveClassifier(classes=[0, 1]), DPAdditiveRegressor()])
def test_stiff_curves_are_lines_and_others_bend(model, rng, monkeypatch):
    """A risk that rises and falls: the plain curve shows the fall, a stiff one can't."""
    x = rng.uniform(-1.0, 1.0, 4000)
    y = (rng.random(4000) < 0.9 - 0.8 * np.abs(x)).astype(int)
    sizes = []
    for stiffness in (0.0, 1e9):
        monkeypatch.setattr(additive_tuned, "STIFFNESS_PER_NOISE", stiffness)
        monkeypatch.setattr(additive_tuned, "LARGEST_STIFFNESS", 100.0)
        made = model.set_params(epsilon=5.0, random_state=0).fit(x[:, np.newaxis], y)
        (term,) = made.terms_
        sizes.append(np.abs(bends(term.knots) @ term.values[: term.knots.size]).max())
    assert sizes[0] > 0.2
    assert sizes[1] < 0.02 * sizes[0]
