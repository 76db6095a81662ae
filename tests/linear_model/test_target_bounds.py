"""A regressor that isn't told the range of its targets says what it takes, whatever they are."""

import math
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from skdp.linear_model import DPSGDRegressor
from skdp.utils.discovery import all_estimators

REGRESSORS = [
    estimator
    for _, estimator in all_estimators("private")
    if "target_bounds" in estimator().get_params()
]
LINE = "the scale of the targets: [-1, 1], as target_bounds=None takes it"


@pytest.fixture(scope="module")
def diabetes():
    """Targets from 25 to 346."""
    return load_diabetes(return_X_y=True)


def noted(fit, X, y):
    """The one warning of a fit, and the estimator."""
    with pytest.warns(UserWarning, match="target_bounds=None") as caught:
        fitted = fit(X, y)
    assert len(caught) == 1
    assert caught[0].category is UserWarning
    # It names the line above.
    assert caught[0].filename == __file__
    return str(caught[0].message), fitted


def test_every_regressor_is_here():
    regressors = {estimator for _, estimator in all_estimators("regressor")}
    assert set(REGRESSORS) == regressors
    assert len(regressors) >= 4


@pytest.mark.parametrize("estimator", REGRESSORS)
def test_without_bounds_a_fit_warns_and_reports_the_same_of_any_targets(estimator, diabetes):
    X, y = diabetes
    found = {
        (message, fitted.privacy_report_.assumed_public)
        for targets in (y, -1e6 * y, np.zeros_like(y), y / np.abs(y).max())
        for message, fitted in [noted(estimator().fit, X, targets)]
    }
    assert len(found) == 1
    (_, assumed), *_ = found
    assert [text.startswith(LINE) for text in assumed].count(True) == 1


@pytest.mark.parametrize("estimator", REGRESSORS)
def test_with_bounds_or_without_privacy_there_is_neither(estimator, diabetes):
    X, y = diabetes
    for parameters in ({"target_bounds": (25, 346)}, {"epsilon": math.inf}):
        fitted = estimator(**parameters).fit(X, y)
        assert not any(LINE in text for text in fitted.privacy_report_.assumed_public)


@pytest.mark.parametrize("estimator", REGRESSORS)
def test_the_bounds_are_what_is_missing(estimator, diabetes):
    """Far targets are lost without bounds, and small ones need none."""
    X, y = diabetes
    _, blind = noted(estimator(epsilon=2.0, random_state=0).fit, X, y)
    told = estimator(epsilon=2.0, target_bounds=(25, 346), random_state=0).fit(X, y)
    assert blind.score(X, y) < -1.0
    assert told.score(X, y) > 0.2
    small = (y - 185.5) / 160.5
    _, blind = noted(estimator(random_state=0).fit, X, small)
    told = estimator(target_bounds=(-1, 1), random_state=0).fit(X, small)
    np.testing.assert_array_equal(blind.coef_, told.coef_)


def test_each_call_of_a_stream_warns(diabetes):
    X, y = diabetes
    stream = DPSGDRegressor(mechanism="laplace")
    for _ in range(2):
        _, fitted = noted(stream.partial_fit, X, y)
    assert any(LINE in text for text in fitted.privacy_report_.assumed_public)


@pytest.mark.parametrize("estimator", REGRESSORS)
def test_malformed_input_is_told_of_before(estimator, diabetes):
    X, y = diabetes
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="Input X contains NaN"):
            estimator().fit(np.full_like(X, np.nan), y)
