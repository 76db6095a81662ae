"""What the private transformers of numbers give to the next step."""

import math

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from skdp.linear_model import DPLogisticRegression
from skdp.preprocessing import (
    BoundsScaler,
    DPNormClipper,
    DPQuantileClipper,
    DPStandardScaler,
    NormClipper,
)

INF = float("inf")


@pytest.fixture
def X(rng):
    """Ages and incomes."""
    ages = rng.integers(18, 95, 4000).astype(float)
    return np.column_stack([ages, rng.lognormal(10.0, 0.7, 4000)])


WIDE = ([0.0, 0.0], [1000.0, 1e6])


def test_without_privacy_it_is_the_standard_scaler(X):
    X = np.column_stack([X, np.full(len(X), 0.1), 1e6 + 1e-3 * X[:, 0]])
    ours, theirs = DPStandardScaler(epsilon=INF, clip=1e6).fit(X), StandardScaler().fit(X)
    np.testing.assert_allclose(ours.mean_, theirs.mean_, rtol=1e-12)
    np.testing.assert_allclose(ours.scale_, theirs.scale_, rtol=1e-9)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-9, atol=1e-9)
    clipped = DPStandardScaler(epsilon=INF).fit_transform(X)
    np.testing.assert_allclose(clipped, np.clip(theirs.transform(X), -3.0, 3.0), atol=1e-9)


def test_without_privacy_quantiles_are_numpy_s(X):
    low, high = DPQuantileClipper(quantiles=(0.1, 0.8), epsilon=INF).fit(X).feature_bounds_
    np.testing.assert_array_equal([low, high], np.quantile(X, (0.1, 0.8), axis=0))
    lengths = np.linalg.norm(X, axis=1)
    clipper = DPNormClipper(0.6, epsilon=INF).fit(X)
    assert clipper.norm_bound_ == pytest.approx(np.quantile(lengths, 0.6), rel=1e-12)


def test_generous_bounds_cost_little(X):
    """Ranges ten times too wide, at a tenth of the budget: means and deviations of the bulk."""
    for epsilon, off in ((1.0, 0.1), (0.3, 0.25)):
        for seed in range(5):
            scaler = DPStandardScaler(WIDE, epsilon=epsilon, random_state=seed).fit(X)
            Z = scaler.transform(X)
            assert np.abs(np.median(Z, axis=0)).max() < 4.0 * off
            bulk = np.quantile(Z, 0.8, axis=0) - np.quantile(Z, 0.2, axis=0)
            assert (np.abs(bulk - 1.7) < 0.5 + 2.0 * off).all()


def test_amounts_are_found_on_a_logarithmic_grid(X):
    """Of a range a million times too wide, which an even grid can't resolve."""
    far = {"feature_bounds": (0.0, 1e12), "random_state": 0}
    low, high = DPQuantileClipper(scale="log", **far).fit(X).feature_bounds_
    expected = np.quantile(X, (0.01, 0.99), axis=0)
    assert (np.abs(np.log([low, high] / expected)) < 0.7).all()
    even = DPQuantileClipper(**far).fit(X).feature_bounds_
    assert (even[1] > 1e8).all()


@pytest.mark.parametrize("epsilon", [0.1, 1.0, INF])
def test_quantiles_are_bounds_of_the_next_step(X, epsilon):
    X = np.column_stack([X, np.zeros(len(X))])
    clipper = DPQuantileClipper(feature_bounds=(0, 1e6), epsilon=epsilon, random_state=0).fit(X)
    low, high = clipper.feature_bounds_
    assert (low < high).all()
    scaled = BoundsScaler(clipper.feature_bounds_).fit_transform(clipper.transform(X))
    assert np.isfinite(scaled).all()
    clipped = clipper.transform(1e9 * X - 5e8)
    np.testing.assert_array_equal(clipped, np.clip(1e9 * X - 5e8, low, high))
    assert np.linalg.norm(clipped, axis=1).max() <= clipper.norm_bound_ * (1.0 + 1e-12)


@pytest.mark.parametrize("bounds", [(0.0, 1e60), (1e50, 2e50), (-1e60, 1e30)])
def test_quantiles_that_float32_cannot_hold_are_float64(bounds):
    X = np.zeros((50, 2), dtype=np.float32)
    clipper = DPQuantileClipper(feature_bounds=bounds, random_state=0).fit(X)
    clipped = clipper.transform(X)
    low, high = clipper.feature_bounds_
    assert np.isfinite(clipped).all()
    assert ((low <= clipped) & (clipped <= high)).all()
    assert DPQuantileClipper(random_state=0).fit(X).transform(X).dtype == np.float32


def test_rows_of_float32_are_as_short_as_a_small_norm_that_was_learnt():
    X = np.full((200, 1), 3e38, np.float32)
    X[1:] = 1e-7
    clipper = DPNormClipper(norm_bounds=(1e-8, 1e-5), epsilon=10.0, random_state=0).fit(X)
    lengths = np.linalg.norm(clipper.transform(X).astype(float), axis=1)
    assert lengths[0] == pytest.approx(clipper.norm_bound_, rel=1e-6)


def test_a_length_of_rows_suits_training(rng):
    X = rng.standard_normal((5000, 16))
    clipper = DPNormClipper(random_state=0).fit(X)
    assert clipper.norm_bound_ == pytest.approx(np.quantile(np.linalg.norm(X, axis=1), 0.75), 0.05)
    public = NormClipper(clipper.norm_bound_).fit_transform(X)
    np.testing.assert_array_equal(clipper.transform(X), public)
    low, high = clipper.feature_bounds_
    np.testing.assert_array_equal(high, np.full(16, clipper.norm_bound_))
    np.testing.assert_array_equal(low, -high)


def test_public_transformers_promise_ranges_too():
    X = np.zeros((3, 2))
    low, high = BoundsScaler(feature_range=(-2.0, 1.0)).fit(X).feature_bounds_
    np.testing.assert_array_equal([low, high], [[-2.0, -2.0], [1.0, 1.0]])
    low, high = NormClipper(0.7).fit(X).feature_bounds_
    np.testing.assert_array_equal([low, high], [[-0.7, -0.7], [0.7, 0.7]])


@pytest.mark.parametrize("cls", [DPStandardScaler, DPQuantileClipper, DPNormClipper])
def test_a_step_and_an_estimator_of_one_seed_share_no_noise(cls, rng, monkeypatch):
    """Nor do two steps of different classes."""
    drawn = []

    def noted(original):
        def release(self, value, stream):
            released = original(self, value, stream)
            noise = (released - np.rint(value / self.grid) * self.grid) / self.noise_scale
            drawn.append(np.ravel(noise)[:3])
            return released

        return release

    from tests.door import GaussianMechanism

    monkeypatch.setattr(GaussianMechanism, "release", noted(GaussianMechanism.release))
    X, y = rng.standard_normal((200, 4)), np.arange(200) % 2
    for kind in (cls, DPStandardScaler, DPQuantileClipper, DPNormClipper):
        if kind is not cls or not drawn:
            kind(random_state=3).fit(X)
    DPLogisticRegression(classes=[0, 1], random_state=3).fit(X, y)
    first = np.array(drawn[:5])
    apart = np.abs(first[:, np.newaxis] - first)[~np.eye(len(first), dtype=bool)]
    assert apart.min() > 1e-6


@pytest.mark.parametrize("cls", [DPStandardScaler, DPQuantileClipper, DPNormClipper])
def test_missing_values_are_refused(cls, X):
    X[3, 1] = math.nan
    with pytest.raises(ValueError, match="NaN"):
        cls(random_state=0).fit(X)


@pytest.mark.parametrize(
    ("transformer", "message"),
    [
        (DPQuantileClipper(quantiles=(0.5, 0.5)), "quantiles"),
        (DPQuantileClipper(quantiles=(-0.1, 0.5)), "quantiles"),
        (DPQuantileClipper(quantiles=(0.1, 1.5)), "quantiles"),
        (DPQuantileClipper(feature_bounds=(1, 0)), "feature_bounds"),
        (DPNormClipper(norm_bounds=(0, 1)), "norm_bounds"),
        (DPNormClipper(norm_bounds=(2, 1)), "norm_bounds"),
        (DPNormClipper(1.0), "quantile"),
        (DPStandardScaler(clip=0), "clip"),
        (DPStandardScaler(feature_bounds=([0, 0, 0], [1, 1, 1])), "feature_bounds"),
        (DPStandardScaler(delta=0.0), "delta"),
    ],
    ids=str,
)
def test_what_is_out_of_range_is_named(transformer, message, X):
    with pytest.raises(ValueError, match=message):
        transformer.fit(X)
    assert not hasattr(transformer, "privacy_report_")
