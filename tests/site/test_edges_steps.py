"""What the page of sharp edges says of scikit-learn's steps before and around a model."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.linear_model import RANSACRegressor
from sklearn.pipeline import FeatureUnion
from sklearn.preprocessing import StandardScaler

from skdp.accountant import compose
from skdp.inspection import total_report
from skdp.preprocessing import DPQuantileClipper, DPStandardScaler
from tests.site._edges import (
    FITS,
    N_ROWS,
    covers,
    kept,
    kept_reports,
    make_records,
    make_regressor,
    sizes,
)


@covers("ColumnTransformer", "FeatureUnion")
def test_steps_side_by_side_add_up():
    X, _ = make_records()
    scaler, clipper = (
        step(feature_bounds=(-1, 1), epsilon=0.5) for step in (DPStandardScaler, DPQuantileClipper)
    )
    for several in (
        ColumnTransformer([("a", scaler, [0, 1]), ("b", clipper, [2, 3])]),
        FeatureUnion([("a", scaler), ("b", clipper)]),
    ):
        reports = kept_reports(several.fit(X))
        assert [report.epsilon for report in reports] == [0.5, 0.5]
        total = total_report(several)
        assert total.epsilon == compose(reports).epsilon > 0.6


@covers("TransformedTargetRegressor")
def test_targets_that_are_transformed():
    X, y = make_records()
    y = 9.0 * y
    inner = make_regressor(random_state=0).set_params(target_bounds=(0, np.log(10)))
    found = TransformedTargetRegressor(inner, func=np.log1p, inverse_func=np.expm1).fit(X, y)
    assert sizes() == [N_ROWS]
    assert kept(found) == [0]
    # Bounds are those of the logarithm.
    np.testing.assert_allclose(found.predict(X), np.expm1(inner.fit(X, np.log1p(y)).predict(X)))
    found = TransformedTargetRegressor(inner, transformer=StandardScaler()).fit(X, y)
    assert found.transformer_.mean_ == pytest.approx(y.mean())


@pytest.mark.long
@covers("IterativeImputer")
def test_imputation_by_models():
    X, _ = make_records()
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    there = np.sort(np.isfinite(X).sum(axis=0))[::-1].tolist()
    regressor = make_regressor().set_params(target_bounds=(-1, 1))
    found = IterativeImputer(regressor, max_iter=2, tol=1e3).fit(X)
    np.testing.assert_allclose(found.initial_imputer_.statistics_, np.nanmean(X, axis=0))
    # One round was enough, by what changed; without that there are two.
    assert sizes() == there
    assert kept(found) == [0, 1, 2, 3]
    FITS.clear()
    with pytest.warns(ConvergenceWarning):
        IterativeImputer(regressor, max_iter=2, tol=0).fit(X)
    assert sizes() == there * 2


@pytest.mark.long
@covers("RANSACRegressor")
def test_rows_that_are_thrown_out():
    X, y = make_records()
    lines = []

    def remember(line, *data):
        lines.append(np.abs(y - line.predict(X)))
        return True

    told = {"min_samples": 60, "max_trials": 3, "stop_n_inliers": N_ROWS}
    kinds = {"residual_threshold": 0.4, "is_model_valid": remember, "random_state": 0}
    found = RANSACRegressor(make_regressor(epsilon=50.0), **told, **kinds).fit(X, y)
    n_left = int(found.inlier_mask_.sum())
    assert sizes() == [60] * 3 + [n_left]
    assert 60 < n_left < N_ROWS
    assert kept(found) == [3]
    assert any(np.array_equal(found.inlier_mask_, errors <= 0.4) for errors in lines)
    found = RANSACRegressor(make_regressor(), **told, residual_threshold=100.0).fit(X, y)
    assert found.estimator_.privacy_report_.reproducible
