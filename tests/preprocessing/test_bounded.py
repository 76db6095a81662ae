import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix, issparse, lil_matrix
from sklearn.utils import get_tags

from skdp.preprocessing import BoundsScaler, NormClipper
from tests._loops import for_each
from tests.door import fused_module


def test_rows_are_clipped_to_the_norm_and_kept_below_it(rng):
    X = rng.standard_normal((500, 6)) * rng.uniform(0.0, 2.0, (500, 1))
    before = X.copy()
    clipper = NormClipper(data_norm=1.5)
    clipped = clipper.fit_transform(X)
    norms = np.linalg.norm(X, axis=1)
    np.testing.assert_allclose(np.linalg.norm(clipped, axis=1), np.minimum(norms, 1.5))
    np.testing.assert_array_equal(clipped[norms < 1.5], X[norms < 1.5])
    np.testing.assert_array_equal(X, before)
    assert clipper.norm_bound_ == 1.5


def test_values_are_mapped_from_their_bounds_and_clipped():
    X = np.array([[0.0, -10.0], [5.0, 0.0], [10.0, 10.0], [-1e308, 1e308]])
    scaler = BoundsScaler(([0.0, -10.0], [10.0, 10.0]), feature_range=(-2.0, 1.0))
    expected = [[-2.0, -2.0], [-0.5, -0.5], [1.0, 1.0], [-2.0, 1.0]]
    np.testing.assert_allclose(scaler.fit_transform(X), expected)
    assert scaler.norm_bound_ == pytest.approx(2.0 * np.sqrt(2.0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mapping_takes_little_more_memory_than_its_result(dtype, rng):
    X = rng.random((100_000, 20), dtype=dtype)
    scaler = BoundsScaler((0.0, 2.0)).fit(X[:1])
    tracemalloc.start()
    try:
        mapped = scaler.transform(X)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 1.5 * mapped.nbytes
    np.testing.assert_allclose(mapped, X - 1.0, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "transformer", [NormClipper(0.7), BoundsScaler((-1.0, 2.0)), BoundsScaler(feature_range=(0, 3))]
)
def test_no_output_row_exceeds_the_stated_norm(transformer, dtype, rng):
    X = (rng.standard_normal((300, 5)) * 10.0 ** rng.uniform(-5, 20, (300, 1))).astype(dtype)
    out = transformer.fit_transform(X)
    assert out.dtype == dtype
    assert np.linalg.norm(out.astype(float), axis=1).max() <= transformer.norm_bound_ * (1 + 1e-6)


@pytest.mark.parametrize("as_given", [np.asarray, csr_array])
@pytest.mark.parametrize("norm", [1e-6, 7e-7, 3e-7, 1e-20])
def test_long_rows_of_float32_keep_the_digits_of_a_small_norm(as_given, norm):
    X = np.array([[3e38, 0.0], [2e38, -1e38], [1e-7, 0.0]], dtype=np.float32)
    out = NormClipper(norm).fit_transform(as_given(X))
    lengths = np.linalg.norm((out.toarray() if issparse(out) else out).astype(float), axis=1)
    assert out.dtype == np.float32
    np.testing.assert_allclose(lengths, np.minimum(norm, [3e38, 3e38, 1e-7]), rtol=1e-6)


@pytest.mark.parametrize("as_given", [np.asarray, csr_array])
@pytest.mark.parametrize("norm", [1e-30, 1.0, 1e30])
def test_rows_whose_squares_overflow_keep_their_direction(as_given, norm):
    largest = np.finfo(np.float64).max
    directions = np.array([[1.0, 0.0, 0.0], [1.0, -1.0, 1.0], [0.0, 3e-150, 4e-150]])
    X = np.vstack([largest * directions, [[norm / 2.0, 0.0, 0.0]]])
    out = NormClipper(norm).fit_transform(as_given(X))
    directions /= np.sqrt([[1.0], [3.0], [25e-300]])
    expected = np.vstack([norm * directions, [[norm / 2.0, 0.0, 0.0]]])
    np.testing.assert_allclose(out.toarray() if issparse(out) else out, expected, rtol=1e-14)


@pytest.mark.parametrize("as_given", [np.asarray, csr_array])
def test_a_range_that_float32_cannot_hold_is_float64(as_given):
    X = as_given(np.array([[0.0, 1.0], [0.5, 2.0]], dtype=np.float32))
    scaler = BoundsScaler((-1.0, 1.0), feature_range=(-1e50, 1e50)).fit(X)
    out = scaler.transform(X)
    assert out.dtype == np.float64
    assert abs(out).max() == 1e50


@pytest.mark.parametrize(
    ("transformer", "later"),
    [
        (NormClipper(), {"data_norm": 100.0}),
        (BoundsScaler(), {"feature_range": (0.0, 50.0)}),
        (BoundsScaler(), {"feature_bounds": (0.0, 50.0)}),
    ],
)
def test_parameters_that_are_set_later_wait_for_the_next_fit(transformer, later, rng):
    X = 10.0 * rng.standard_normal((20, 3))
    before = transformer.fit(X).transform(X)
    np.testing.assert_array_equal(transformer.set_params(**later).transform(X), before)
    assert (transformer.fit(X).transform(X) != before).any()


def test_nothing_is_learned():
    """Unrelated data of one shape leave the same fitted state."""
    for transformer in (NormClipper(), BoundsScaler()):
        one = pickle.dumps(transformer.fit(np.zeros((3, 2))))
        assert one == pickle.dumps(transformer.fit(1e6 * np.arange(6.0).reshape(3, 2)))


def test_stateless_clipping_needs_no_fit():
    np.testing.assert_allclose(NormClipper().transform([[3.0, 4.0]]), [[0.6, 0.8]])


@pytest.mark.parametrize("norm", [-1.0, 0.0, np.nan, np.inf, "a"])
def test_a_bad_norm_is_refused_with_and_without_fit(norm):
    for method in ("fit", "transform"):
        with pytest.raises(ValueError, match="data_norm"):
            getattr(NormClipper(norm), method)([[3.0, 4.0]])


def test_one_pair_for_each_feature_is_explained():
    with pytest.raises(ValueError, match=r"pair \(lows, highs\)"):
        BoundsScaler([(0, 100), (35, 42), (0, 1)]).fit(np.zeros((2, 3)))


def test_frames_keep_their_columns():
    frame = pd.DataFrame({"age": [30.0, 200.0], "weight": [70.0, 0.0]})
    for transformer in (BoundsScaler(([0, 0], [120, 250])), NormClipper()):
        out = transformer.set_output(transform="pandas").fit_transform(frame)
        assert list(out.columns) == ["age", "weight"]


@pytest.mark.parametrize(
    "parameters",
    [
        {"feature_bounds": (0.0, [1.0, 2.0, 3.0])},
        {"feature_bounds": (1.0, 0.0)},
        {"feature_bounds": ([0.0, 0.0], [1.0, np.inf])},
        {"feature_bounds": ([0.0, np.nan], [1.0, 1.0])},
        {"feature_range": (1.0, 1.0)},
        {"feature_range": (0.0, np.inf)},
        {"feature_range": (0.0, 1.0, 2.0)},
    ],
)
def test_bad_bounds_are_refused_by_name(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        BoundsScaler(**parameters).fit(np.zeros((3, 2)))


KINDS = [csr_matrix, csr_array, csc_array, coo_array, lil_matrix]


def sparse_rows(rng, dtype=np.float64):
    X = rng.standard_normal((40, 6)) * (rng.random((40, 6)) < 0.3) * rng.choice([0.1, 9], (40, 1))
    X[3] = 0.0
    return X.astype(dtype)


@pytest.mark.long
@for_each("dtype", [np.float32, np.float64])
@for_each("kind", KINDS)
@for_each(
    "transformer",
    [
        NormClipper(0.7),
        BoundsScaler(),
        BoundsScaler((0.0, 2.0), feature_range=(0, 1)),
        BoundsScaler((3 * [-0.1] + 3 * [-0.3], 3 * [0.2] + 3 * [0.6]), feature_range=(-1, 2)),
        BoundsScaler((0.0, [1, 2, 3, 4, 5, 6]), feature_range=(0, 3)),
    ],
)
def test_sparse_rows_stay_sparse_and_become_what_dense_ones_do(transformer, kind, dtype, rng):
    X = sparse_rows(rng, dtype)
    given = kind(X)
    out = transformer.fit_transform(given)
    assert out.format == "csr"
    assert out.dtype == dtype
    assert out.nnz <= np.count_nonzero(X)
    assert isinstance(out, csr_array) == (kind in (csr_array, csc_array, coo_array))
    expected = transformer.transform(X)
    np.testing.assert_allclose(out.toarray(), expected, rtol=1e-6, atol=1e-15)
    np.testing.assert_array_equal(given.toarray(), X)
    assert get_tags(transformer).input_tags.sparse


@pytest.mark.parametrize(
    "scaler",
    [
        BoundsScaler((0.0, 2.0)),
        BoundsScaler(feature_range=(0, 3)),
        BoundsScaler((1.0, 2.0), feature_range=(-1, 1)),
        BoundsScaler(([0, 0, 0, 0, 0, -1e-6], 1.0), feature_range=(0, 1)),
    ],
)
def test_sparse_rows_that_would_be_filled_are_refused_with_the_remedy(scaler, rng):
    X = sparse_rows(rng)
    assert not get_tags(scaler).input_tags.sparse
    with pytest.raises(TypeError, match=r"feature_bounds=\(0, high\) with feature_range=\(0, 1\)"):
        scaler.fit(csr_array(X))
    with pytest.raises(TypeError, match="stays sparse only where 0 is mapped to 0"):
        scaler.fit(X).transform(csr_array(X))


@pytest.mark.parametrize("bounds", ["a", None, (1.0, 0.0), ([0.0], [1.0, 2.0]), 3.0, {}])
def test_tags_survive_absurd_bounds(bounds):
    for scaler in (BoundsScaler(bounds), BoundsScaler(feature_range=bounds)):
        assert get_tags(scaler).input_tags.sparse in (False, True)


def test_places_with_several_entries_are_clipped_as_their_sum():
    """Of which each is shorter than the bound."""
    X = csr_array(([0.8, 0.8, -0.8, 0.0], [1, 1, 0, 2], [0, 4]), shape=(1, 3))
    before = X.data.copy(), X.indices.copy()
    out = NormClipper(1.0).fit_transform(X)
    np.testing.assert_allclose(out.toarray()[0], np.array([-0.8, 1.6, 0.0]) / np.hypot(0.8, 1.6))
    np.testing.assert_array_equal(X.data, before[0])
    np.testing.assert_array_equal(X.indices, before[1])
    doubled = BoundsScaler((-1, 1)).fit_transform(X)
    np.testing.assert_allclose(doubled.toarray()[0], [-0.8, 1.0, 0.0])


def test_no_number_of_rows_changes_a_bit_of_a_row(monkeypatch, rng):
    """Of groups it is private, and compiled lengths have other last bits."""
    pytest.importorskip("numba")
    X, found = rng.standard_normal((500, 20)), []
    for most in (0, np.inf):
        monkeypatch.setattr(fused_module, "WORTHWHILE_ENTRIES", most)
        found.append(NormClipper(1.0).fit_transform(X))
    np.testing.assert_array_equal(*found)
