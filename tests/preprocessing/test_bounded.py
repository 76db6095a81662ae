import pickle

import numpy as np
import pandas as pd
import pytest

from skdp.preprocessing import BoundsScaler, NormClipper


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
@pytest.mark.parametrize(
    "transformer", [NormClipper(0.7), BoundsScaler((-1.0, 2.0)), BoundsScaler(feature_range=(0, 3))]
)
def test_no_output_row_exceeds_the_stated_norm(transformer, dtype, rng):
    X = (rng.standard_normal((300, 5)) * 10.0 ** rng.uniform(-5, 20, (300, 1))).astype(dtype)
    out = transformer.fit_transform(X)
    assert out.dtype == dtype
    assert np.linalg.norm(out.astype(float), axis=1).max() <= transformer.norm_bound_ * (1 + 1e-6)


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
