"""Terms: partitions of unity, rows of a norm of at most 1, names, profiles."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from tests._loops import for_each
from tests.door import Basis, HatsTerm, LineTerm, PairTerm, Words, WordsTerm

KNOTS = np.array([-1.0, 0.5, 2.0, 1e6])
X = np.array([-1e308, -1.0, -0.3, -0.0, 0.0, 5e-324, 0.5, 1.9, 2.0, 7e5, 1e300, np.nan])
WORDS = Words(np.arange(12) % 4, ("a", "secret", np.nan, "b"))
FRAME = SimpleNamespace(columns=(X, WORDS), n_rows=12)
# Counts are of -1, 0, the spike's 3, and gaps.
RELEASED = {"points": np.array([-1.0, 0.0, np.nan]), "counts": np.array([5.0, 3.0, 2.0])}
NUMBERS = [
    kind(name="x", feature=0, knots=knots, spike=spike, has_gap=has_gap, **RELEASED)
    for (kind, knots), spike, has_gap in itertools.product(
        [(HatsTerm, KNOTS), (HatsTerm, KNOTS[:1]), (LineTerm, KNOTS[:2])],
        [None, 0.0],
        [True, False],
    )
]
ARRAY = np.array(["a", "b", np.nan], dtype=object)
OF_WORDS = WordsTerm(name="w", feature=1, categories=ARRAY, counts=np.array([3.0, 3, 3, 1]))
PAIRS = [PairTerm(number, OF_WORDS) for number in NUMBERS]


@for_each("dtype", [np.float64, np.float32])
@for_each("term", [*NUMBERS, OF_WORDS, *PAIRS])
def test_no_row_is_longer_than_1_and_columns_keep_their_range(term, dtype):
    block = term.columns(FRAME, dtype)
    assert block.shape == (12, term.n_columns)
    assert block.dtype == dtype
    assert len(term.labels) == term.n_columns
    assert (np.square(block).sum(axis=1) <= 1.0 + 1e-6).all()
    assert (term.low <= block).all()
    assert (block <= 1.0).all()


@pytest.mark.parametrize("term", [term for term in NUMBERS if term.kind == "hats"] + [OF_WORDS])
def test_hats_and_indicators_add_up_to_1(term):
    np.testing.assert_allclose(term.columns(FRAME).sum(axis=1), 1.0, rtol=1e-15)


def test_hats_are_1_at_their_knots_and_straight_between():
    term = HatsTerm(name="x", feature=0, knots=KNOTS)
    np.testing.assert_array_equal(term.block(KNOTS), np.eye(4))
    np.testing.assert_allclose(term.block(np.array([-0.25])), [[0.5, 0.5, 0.0, 0.0]])
    clipped = np.clip(np.where(np.isnan(X), KNOTS[2], X), -1.0, 1e6)
    np.testing.assert_allclose(term.columns(FRAME) @ KNOTS, clipped, atol=1e-15)


@pytest.mark.parametrize("term", [term for term in NUMBERS if term.spike is not None])
def test_a_spike_and_a_gap_stand_in_place_of_all_else(term):
    block = term.columns(FRAME)
    spike = term.n_columns - 1 - term.has_gap
    np.testing.assert_array_equal(block[3:5], np.eye(term.n_columns)[[spike, spike]])
    assert not block[[2, 5, 11], spike].any()
    if term.has_gap:
        np.testing.assert_array_equal(block[11], np.eye(term.n_columns)[-1])
        assert not block[:11, -1].any()


def test_rare_words_share_a_column_and_gaps_have_one():
    block = OF_WORDS.columns(FRAME)
    np.testing.assert_array_equal(block.argmax(axis=1), [0, 3, 2, 1] * 3)
    assert OF_WORDS.labels == ["w_a", "w_b", "w_missing", "w_infrequent"]


def test_gaps_without_a_column_of_their_own_are_no_category():
    term = WordsTerm(name="w", feature=1, categories=np.array(["a", "b"], dtype=object))
    np.testing.assert_array_equal(term.columns(FRAME).argmax(axis=1), [0, 2, 2, 1] * 3)


def test_a_pair_has_the_products():
    hats = NUMBERS[0]
    pair = PairTerm(hats, OF_WORDS)
    first, second = hats.columns(FRAME), OF_WORDS.columns(FRAME)
    expected = [np.outer(one, other).ravel() for one, other in zip(first, second, strict=True)]
    np.testing.assert_array_equal(pair.columns(FRAME), expected)
    assert pair.name == "x x w"
    assert pair.features == (0, 1)
    assert pair.labels[:2] == ["x_-1 x w_a", "x_-1 x w_b"]


@for_each("term", [*NUMBERS, OF_WORDS, *PAIRS])
def test_a_profile_has_a_row_for_each_count(term):
    rows, counts = term.profile()
    assert rows.shape == (counts.size, term.n_columns)
    assert counts.sum() == pytest.approx(10.0)
    unlearnt = HatsTerm(name="x", feature=0, knots=KNOTS)
    assert unlearnt.profile() is PairTerm(OF_WORDS, unlearnt).profile() is None


def test_a_pair_of_columns_with_many_bins_has_a_short_profile_of_the_same_mean():
    """Without privacy each number is a bin: all combinations of them fit in no memory."""
    rng = np.random.default_rng(0)
    points, counts = np.sort(rng.normal(size=10**5)), rng.uniform(1.0, 3.0, 10**5)
    one = HatsTerm(name="x", feature=0, knots=KNOTS[:3], points=points, counts=counts)
    rows, shares = PairTerm(one, OF_WORDS).profile()
    assert len(rows) <= 256 * OF_WORDS.n_columns
    (first, counts), (second, others) = one.profile(), OF_WORDS.profile()
    expected = np.kron(counts @ first / counts.sum(), others @ second / others.sum())
    np.testing.assert_allclose(shares @ rows / shares.sum(), expected, rtol=1e-9)
    assert shares.sum() == pytest.approx(others.sum())
    rough = np.abs(rows @ np.arange(12.0) - 5.0) @ shares / shares.sum()
    exact = np.abs(np.kron(first[::50], second) @ np.arange(12.0) - 5.0)
    exact = exact @ np.kron(counts[::50], others) / (counts[::50].sum() * others.sum())
    assert rough == pytest.approx(exact, rel=0.01)


def test_a_basis_has_terms_side_by_side():
    basis = Basis((NUMBERS[0], OF_WORDS, NUMBERS[0], PairTerm(NUMBERS[0], OF_WORDS)))
    matrix = basis.matrix(FRAME)
    assert basis.norm_bound == 2.0
    assert np.linalg.norm(matrix, axis=1).max() <= 2.0
    for term, part in zip(basis.terms, basis.slices, strict=True):
        np.testing.assert_array_equal(matrix[:, part], term.columns(FRAME))
    low, high = basis.bounds
    assert (low <= matrix).all()
    assert (matrix <= high).all()
    assert len(set(basis.labels)) == len(basis.labels) == basis.n_columns == matrix.shape[1]
