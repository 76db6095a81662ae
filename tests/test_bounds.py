import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.door import (
    augmented_norm,
    check_bounds,
    check_feature_bounds,
    check_positive,
    clip_columns,
    clip_contributions,
    clip_rows,
    clip_targets,
    divide_columns,
    norm_in_units,
    null_records,
    row_norms,
    summation_slack,
    uncentred,
)

EXTREME_ROWS = np.array(
    [
        [0.0, 0.0, 0.0],
        [3.0, 4.0, 0.0],
        [1e308, -1e308, 1e308],
        [1e200, 0.0, 0.0],
        [1e-200, 1e-200, 0.0],
        [5e-324, 0.0, 0.0],
        [1e-3, 0.0, 0.0],
        [1e155, 1e155, 1.0],
        [3e307, 0.0, 1e300],
        [5e-324, 5e-324, 0.0],
        [1e-161, 1e-162, 1e-160],
        [1e-149, 1e-149, 1e-150],
    ]
)


def certified(rows):
    """The rows a solver works with, written out."""
    X = rows.take(np.arange(len(rows.norm)), np.empty(rows.X.shape))
    bias = np.full((len(X), 1 if rows.bias else 0), rows.bias)
    return np.hstack([X, bias])


def exact_norm(row):
    largest = max(abs(row), default=0.0)
    return math.sqrt(math.fsum((x / largest) ** 2 for x in row)) * largest if largest else 0.0


@pytest.mark.parametrize("data_norm", [1e-50, 2.3e-16, 0.7, 1e40])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_no_certified_row_exceeds_the_public_bound(data_norm, fit_intercept, dtype, rng):
    X = np.vstack([EXTREME_ROWS, rng.standard_normal((5000, 3)) * data_norm])
    with np.errstate(over="ignore"):
        X = X.astype(dtype)
    X = np.where(np.isfinite(X), X, np.finfo(dtype).max)
    before = X.copy()
    rows = clip_rows(X, data_norm=data_norm, fit_intercept=fit_intercept)
    X_certified = certified(rows)
    bound = augmented_norm(data_norm, fit_intercept) * (1 + 1e-12)
    assert np.isfinite(X_certified).all()
    assert max(exact_norm(row) for row in X_certified[:200]) <= bound
    assert (row_norms(X_certified) <= bound).all()
    assert (rows.norm <= bound).all()
    assert (row_norms(X_certified) <= rows.norm * (1 + 1e-12)).all()
    np.testing.assert_array_equal(X, before)


def test_short_rows_are_left_alone_and_long_ones_keep_their_direction():
    X = np.array([[0.3, 0.4], [30.0, 40.0]])
    rows = clip_rows(X, data_norm=1.0, fit_intercept=False)
    np.testing.assert_allclose(certified(rows), [[0.3, 0.4], [0.6, 0.8]], rtol=1e-15)
    assert rows.scale[0] == 1.0


def test_the_intercept_column_counts_in_the_norm():
    rows = clip_rows(np.array([[3.0, 4.0]]), data_norm=2.0, fit_intercept=True)
    np.testing.assert_allclose(certified(rows), [[1.2, 1.6, 2.0 / 3.0]])
    assert rows.norm[0] == pytest.approx(2.0 * np.sqrt(10.0) / 3.0)
    assert augmented_norm(2.0, True) == pytest.approx(2.0 * np.sqrt(10.0) / 3.0)
    assert rows.n_columns == 3


def test_rows_whose_entries_are_not_aligned_are_copied_once():
    raw = np.zeros(3 * 8 + 3, dtype=np.uint8)
    X = raw[3:].view(np.float64).reshape(1, 3)
    assert not X.flags.aligned
    assert clip_rows(X, data_norm=1.0, fit_intercept=False).X.flags.aligned


def test_without_clipping_rows_and_targets_pass():
    X = np.array([[3.0, 4.0]])
    assert clip_rows(X, data_norm=1.0, fit_intercept=False, clip=False).scale is None
    y, _, _ = clip_targets(np.array([[9.0]]), (0.0, 2.0), center=True, clip=False)
    assert y[0, 0] == 8.0


@pytest.mark.parametrize("scale", [1e-5, 1.0, 1e200])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_contributions_are_bounded_in_frobenius_norm(scale, n_outputs, rng):
    X = rng.standard_normal((200, 4))
    X[0] = 0.0
    zeta = scale * rng.standard_normal((200, n_outputs))
    zeta[1], zeta[2] = 0.0, 1e308
    before = zeta.copy()
    norms = row_norms(X)
    with np.errstate(over="ignore"):
        clipped = clip_contributions(zeta, norms, 0.5)
    outer = np.einsum("ij,il->ijl", clipped, X).reshape(200, -1)
    assert np.isfinite(clipped).all()
    assert (np.linalg.norm(outer, axis=1) <= 0.5 * (1 + 1e-12)).all()
    short = row_norms(before) < 0.5 / np.maximum(norms, 1e-300)
    short[0] = False
    np.testing.assert_array_equal(clipped[short], before[short])


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_contributions_that_overflowed_are_no_contributions(n_outputs):
    """One record must not turn a release into no number, which everybody would see."""
    zeta = np.full((4, n_outputs), 0.1)
    zeta[1], zeta[2, 0] = np.inf, np.nan
    for shaped in (zeta, zeta[:, 0]):
        with np.errstate(all="ignore"):
            clipped = clip_contributions(shaped.copy(), np.ones(4), 1.0)
        np.testing.assert_array_equal(clipped[[0, 3]], shaped[[0, 3]])
        np.testing.assert_array_equal(clipped[[1, 2]], 0.0)


@pytest.mark.parametrize("data_norm", [1e-50, 2.3e-16, 1.0, 1e50])
@pytest.mark.parametrize("bound", [1e-50, 1e-16, 1.0, 1e50])
def test_the_bound_holds_to_a_few_units_at_any_scale(data_norm, bound, rng):
    """From raw rows and targets to contributions: no digits are lost to underflow on the way."""
    X = np.vstack([EXTREME_ROWS, data_norm * 10.0 ** rng.uniform(-20, 20, (500, 3))])
    rows = clip_rows(X, data_norm=data_norm, fit_intercept=False)
    y, _, _ = clip_targets(10.0 ** rng.uniform(-300, 308, (len(X), 2)), None, center=True)
    with np.errstate(all="ignore"):
        zeta = clip_contributions(y, rows.norm, bound)
        outer = np.einsum("ij,il->ijl", zeta, certified(rows)).reshape(len(X), -1)
    assert np.isfinite(outer).all()
    assert max(exact_norm(row) for row in outer) <= bound * (1 + 1e-13)


@pytest.mark.parametrize("bound", [0.5, math.inf])
def test_a_record_of_norm_zero_contributes_nothing(bound):
    zeta = np.array([[1e308, 1e308], [1.0, 0.0]])
    with np.errstate(over="ignore"):
        clipped = clip_contributions(zeta, np.array([0.0, 0.25]), bound)
    np.testing.assert_array_equal(clipped, [[0.0, 0.0], [1.0, 0.0]])


def test_targets_go_to_the_unit_interval_and_back():
    y = np.array([[10.0], [15.0], [20.0], [1e9], [-1e9]])
    scaled, midpoint, half_width = clip_targets(y, (10.0, 20.0), center=True)
    np.testing.assert_allclose(scaled[:, 0], [-1.0, 0.0, 1.0, 1.0, -1.0])
    assert (midpoint, half_width) == (15.0, 5.0)
    scaled, midpoint, half_width = clip_targets(y, (-5.0, 20.0), center=False)
    np.testing.assert_allclose(scaled[:, 0], [0.5, 0.75, 1.0, 1.0, -0.25])
    assert (midpoint, half_width) == (0.0, 20.0)
    assert clip_targets(y, None, center=True, clip=False)[0] is y
    np.testing.assert_array_equal(clip_targets(y, None, center=True)[0], y)
    assert clip_targets(np.array([[1e308]]), None, center=True)[0][0, 0] == 1e100


@pytest.mark.parametrize(
    "bounds", [(1.0, 1.0), (2.0, 1.0), (0.0, np.inf), (np.nan, 1.0), (0.0, 1e101), (0.0,), 3, "ab"]
)
def test_bad_bounds_are_refused_by_name(bounds):
    with pytest.raises(ValueError, match="target_bounds"):
        check_bounds(bounds, "target_bounds")
    with pytest.raises(ValueError, match="feature_bounds"):
        check_feature_bounds(bounds, 2)


def test_feature_bounds_must_fit_the_features():
    low, high = check_feature_bounds((0.0, [1.0, 2.0]), 2)
    np.testing.assert_array_equal(low, [0.0, 0.0])
    np.testing.assert_array_equal(high, [1.0, 2.0])
    with pytest.raises(ValueError, match="feature_bounds"):
        check_feature_bounds((0.0, [1.0, 2.0]), 3)


@pytest.mark.parametrize("n_rows", [10, 5000, 100_000])
def test_summation_slack_covers_sums_in_any_order(n_rows, rng):
    """The order of a sum moves it by far less than the slack, and the slack stays negligible."""
    slack = summation_slack(n_rows, 10, 1, 2048)
    terms = rng.standard_normal(n_rows)
    terms /= np.abs(terms).max()
    sums = [np.cumsum(rng.permutation(terms))[-1] for _ in range(20)]
    assert max(sums) - min(sums) <= slack
    assert slack < 1e-6


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("data_norm", [1.0, 1e9])
def test_columns_are_clipped_copies_without_null_records(data_norm, fit_intercept, rng):
    X = rng.standard_normal((5000, 3))
    X[7] = 0.0
    rows = clip_rows(X, data_norm=data_norm, fit_intercept=fit_intercept)
    rows.norm[11] = 0.0
    low, high = np.array([0.2, -0.1, -9.0]), np.array([0.3, 0.1, 9.0])
    found, _ = clip_columns(rows, low=low, high=high)
    assert found.flags.f_contiguous
    expected = rows.augmented(np.arange(5000))
    expected[:, :3] = np.clip(expected[:, :3], low, high)
    expected[rows.norm == 0.0] = 0.0
    np.testing.assert_array_equal(found, expected)
    assert not found[11].any()
    free, _ = clip_columns(rows, low=low, high=high, clip=False)
    np.testing.assert_array_equal(free, rows.augmented(np.arange(5000)))


@pytest.mark.parametrize("data_norm", [0.5, 1e9])
def test_sparse_columns_are_clipped_as_dense_ones_are(data_norm, rng):
    X = rng.standard_normal((200, 3)) * (rng.random((200, 3)) < 0.5)
    ends = {"low": np.array([0.2, -0.1, -9.0]), "high": np.array([0.3, 0.1, 9.0])}
    how = {"data_norm": data_norm, "fit_intercept": True}
    dense, _ = clip_columns(clip_rows(X, **how), **ends)
    sparse, _ = clip_columns(clip_rows(csr_array(X), **how), **ends)
    for found, expected in zip(sparse.T, dense.T, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("low", "high"), [(-1.0, 1.0), (-0.3, 2.0), (0.0, 0.5), (0.2, 2.0), (-2.0, -0.2)]
)
@pytest.mark.parametrize("data_norm", [0.3, 1.0, 3.0, math.inf])
def test_no_row_is_longer_in_units_of_its_bounds(data_norm, low, high, rng):
    """Corners of the ranges among them, and rows of zeros, which some ranges lengthen."""
    low, high = low * np.array([1.0, 1.0, 3.0]), high * np.array([1.0, 2.0, 3.0])
    X = np.vstack([rng.standard_normal((3000, 3)), 9.0 * np.eye(3), np.zeros((1, 3)), [low, high]])
    rows = clip_rows(X, data_norm=min(data_norm, 1e9), fit_intercept=False)
    clipped, unit = clip_columns(rows, low=low, high=high)
    longest = np.linalg.norm(clipped / unit, axis=1).max()
    bound = norm_in_units(low, high, data_norm)
    assert 0.1 * bound < longest <= bound * (1.0 + 1e-12)


def test_centred_columns_predict_the_same_and_null_records_stay_null(rng):
    X, centre, bias = rng.standard_normal((50, 3)), np.array([0.4, 0.0, -0.2]), 0.3
    columns = np.asfortranarray(np.hstack([X, np.full((50, 1), bias)]))
    columns[7] = 0.0
    unit, weights = np.array([0.5, 1.0, 2.0, 0.1]), rng.standard_normal((2, 4))
    found, _ = divide_columns(columns.copy(order="F"), unit, centre, bias)
    np.testing.assert_allclose(np.delete(found, 7, 0)[:, 0] * 0.5, np.delete(X, 7, 0)[:, 0] - 0.4)
    assert not found[7].any()
    predicted = found @ (unit * weights).T
    np.testing.assert_allclose(columns @ uncentred(weights, centre, bias).T, predicted, atol=1e-12)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_null_records_have_no_norm_within_their_block(fit_intercept, rng):
    X = rng.standard_normal((5, 3))
    options = {"data_norm": 1.0, "fit_intercept": fit_intercept}
    plain = clip_rows(X, **options).norm
    with null_records([1, -1]):
        rows = clip_rows(X, **options)
        with null_records([2]):
            inner = clip_rows(X, **options).norm
    np.testing.assert_array_equal(rows.norm, plain * [1, 0, 1, 1, 0])
    np.testing.assert_array_equal(inner, plain * [1, 1, 0, 1, 1])
    assert not rows.augmented(np.array([1, 4])).any()
    with pytest.raises(KeyError), null_records([0]):
        raise KeyError
    np.testing.assert_array_equal(clip_rows(X, **options).norm, plain)


@pytest.mark.parametrize("value", ["y" * 5000, 10**4000, ["y"] * 5000])
def test_a_number_that_is_none_is_not_quoted_whole(value):
    with pytest.raises(ValueError, match="data_norm must be a float in the range") as caught:
        check_positive(value, "data_norm")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("n_columns", [1, 7, 50, 9000])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_norm_hangs_on_its_row_alone(dtype, order, n_columns, rng):
    """To the last bit: rows that come before move others to other places."""
    X = np.asarray(rng.standard_normal((1030, n_columns)), dtype=dtype, order=order)
    norms = row_norms(X)
    for start in (1, 5, 6):
        np.testing.assert_array_equal(row_norms(X[start:]), norms[start:])
    for row in range(0, 1030, 100):
        assert row_norms(X[row : row + 1])[0] == norms[row]


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("size", [1e-170, 1e-163, 1e-155, 1e-149])
def test_short_contributions_of_long_rows_are_clipped(size, n_outputs):
    """Squares of most of these slopes are 0, and times their row they are far above the bound."""
    slopes = np.full((1, n_outputs) if n_outputs > 1 else 1, size)
    clipped = clip_contributions(slopes, np.array([1e148]), 1e-30)
    assert np.linalg.norm(1e148 * clipped) <= 1e-30 * (1.0 + 1e-12)
