"""Curves are stiff and words alike as far as noise hides the rest."""

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
    Shape,
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
    counts = np.array([300.0, 100.0, -5.0])
    words = WordsTerm(name="c", feature=2, categories=np.array(["x", "y"]), counts=counts)
    return curve, line, words, PairTerm(line, words)


def budget(epsilon=1.0, adjacency="zero_out"):
    return Budget(epsilon=epsilon, delta=1e-6, adjacency=adjacency, accountant="pld")


@for_each("adjacency", ["zero_out", "replace_one"])
@for_each("epsilon", [0.5, 2.0])
def test_a_penalty_is_on_bends_at_knots_and_on_odd_words(epsilon, adjacency, rng):
    """Of coefficients, by its formula: gaps, spikes, lines and pairs cost nothing."""
    basis, rest = Basis(terms()), budget(epsilon, adjacency)
    matrix, noise = roughness(basis, rest, 10**4), rest.calibrate() / 10**4
    coefs = rng.standard_normal(basis.n_columns)
    words = coefs[basis.slices[2]]
    expected = additive_tuned.PENALTY_PER_NOISE * np.square(bends(KNOTS) @ coefs[:6]).sum()
    mean = (300.0 * words[0] + 100.0 * words[1]) / 400.0
    expected += additive_tuned.PENALTY_PER_NOISE * np.square(words - mean).sum()
    assert coefs @ matrix @ coefs == pytest.approx(noise * expected, rel=1e-12)
    np.testing.assert_allclose(matrix, matrix.T, rtol=1e-12)


def test_words_of_which_nothing_is_known_have_a_plain_mean(rng):
    words = WordsTerm(name="c", feature=0, categories=np.array(["x", "y", "z"]))
    matrix = roughness(Basis((words,)), budget(1e-4), 10)
    coefs = rng.standard_normal(4)
    # Nobody is known to have a new word.
    expected = np.square(coefs - coefs[:3].mean()).sum()
    assert coefs @ matrix @ coefs == pytest.approx(expected, rel=1e-12)


def test_the_strength_has_an_end_and_none_without_noise():
    basis = Basis(terms())
    assert roughness(basis, budget(math.inf), 10**4) is None
    matrix = roughness(basis, budget(1e-4), 10)
    np.testing.assert_allclose(matrix[:6, :6], bends(KNOTS).T @ bends(KNOTS), rtol=1e-12)


@pytest.mark.long
@for_each("model", [DPAdditiveClassifier(classes=[0, 1]), DPAdditiveRegressor()])
def test_stiff_curves_are_lines_and_others_bend(model, rng, monkeypatch):
    """A risk that rises and falls: the plain curve shows the fall, a stiff one can't."""
    x = rng.uniform(-1.0, 1.0, 4000)
    y = (rng.random(4000) < 0.9 - 0.8 * np.abs(x)).astype(int)
    sizes = []
    for stiffness in (0.0, 1e9):
        monkeypatch.setattr(additive_tuned, "PENALTY_PER_NOISE", stiffness)
        monkeypatch.setattr(additive_tuned, "LARGEST_PENALTY", 100.0)
        made = model.set_params(epsilon=5.0, random_state=0).fit(x[:, np.newaxis], y)
        (term,) = made.terms_
        sizes.append(np.abs(bends(term.knots) @ term.values[: term.knots.size]).max())
    assert sizes[0] > 0.2
    assert sizes[1] < 0.02 * sizes[0]


@pytest.mark.long
@for_each("kind", ["stiff", "free"])
def test_a_term_of_noise_alone_is_rarely_taken_for_more(kind, rng):
    """In 5 % of draws, by the covariance: stiff values are as if they were one number."""
    term = HatsTerm(name="a", feature=0, knots=KNOTS)
    shape = Shape.of(term)
    line = (KNOTS - KNOTS.mean()) / KNOTS.std()
    root = np.outer(line, np.eye(6)[0]) if kind == "stiff" else np.eye(6)
    draws = rng.standard_normal((400, 6)) @ root.T
    read = [shape.read(one[np.newaxis], root @ root.T, ["a"]).is_noise for one in draws]
    assert 0.01 < 1.0 - np.mean(read) < 0.09
