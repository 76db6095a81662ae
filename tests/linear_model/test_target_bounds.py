"""A regressor that isn't told the range of its targets says what it takes, whatever they are."""

import math
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from skdp.linear_model import (
    DPCDElasticNet,
    DPGammaRegressor,
    DPPoissonRegressor,
    DPRidge,
    DPSCDRegressor,
    DPSGDRegressor,
    DPTweedieRegressor,
)
from skdp.utils.discovery import all_estimators
from tests._listed import LINEAR
from tests._loops import points_at
from tests.door import FEW_FOR_TARGETS

WITH_LOG_LINK = {DPGammaRegressor, DPPoissonRegressor, DPTweedieRegressor}
REGRESSORS = [
    estimator
    for _, estimator in all_estimators("private")
    if "target_bounds" in estimator().get_params() and estimator in LINEAR
    # Those of a log link need no bounds, and the other is ridge regression.
    if estimator not in WITH_LOG_LINK
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
    # So few records hide how long rows are, too.
    caught = [one for one in caught if "hides how long rows are" not in str(one.message)]
    assert len(caught) == 1
    assert caught[0].category is UserWarning
    # It names the line above.
    assert points_at(caught[0], __file__)
    return str(caught[0].message), fitted


def without_ball(estimator, **parameters):
    """An estimator that learns no bounds."""
    if "ball_budget" in estimator().get_params():
        parameters |= {"ball_budget": 0, "data_norm": 1.0}
    return estimator(**parameters)


def test_every_regressor_is_here():
    regressors = {estimator for _, estimator in all_estimators("regressor")}
    assert set(REGRESSORS) == (regressors & set(LINEAR)) - WITH_LOG_LINK
    assert len(regressors) >= 4


@pytest.mark.parametrize("estimator", REGRESSORS)
def test_without_bounds_a_fit_warns_and_reports_the_same_of_any_targets(estimator, diabetes):
    X, y = diabetes
    found = {
        (message, fitted.privacy_report_.assumed_public)
        for targets in (y, -1e6 * y, np.zeros_like(y), y / np.abs(y).max())
        for message, fitted in [noted(without_ball(estimator).fit, X, targets)]
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
    _, blind = noted(without_ball(estimator, epsilon=2.0, random_state=0).fit, X, y)
    told = estimator(epsilon=2.0, target_bounds=(25, 346), random_state=0).fit(X, y)
    assert blind.score(X, y) < -1.0
    assert told.score(X, y) > 0.2
    small = (y - 185.5) / 160.5
    _, blind = noted(without_ball(estimator, random_state=0).fit, X, small)
    told = without_ball(estimator, target_bounds=(-1, 1), random_state=0).fit(X, small)
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


LEARNT = [one for one in REGRESSORS if one()._family().learns_targets]
# Where targets lie, from standard normal numbers and one more column of them.
TARGETS = {
    "about 0": lambda t, e: t,
    "years": lambda t, e: 1998.0 + np.round(4.0 * t),
    "an offset": lambda t, e: -1e6 + t,
    "small": lambda t, e: 1e-40 * t,
    "large": lambda t, e: 1e70 * t,
    "counts": lambda t, e: np.floor(np.exp(0.5 * t + 3.0)),
    "a heavy tail": lambda t, e: t + 0.01 * e / np.abs(e[::-1]),
}


def has_l1(estimator):
    return issubclass(estimator, DPCDElasticNet)


def drawn(kind, n=20_000):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    t = X @ [0.6, -0.6, 0.4] + 0.3 * rng.standard_normal(n)
    return X, TARGETS[kind](t, rng.standard_normal(n))


@pytest.mark.parametrize("estimator", LEARNT)
@pytest.mark.parametrize("value", [0.0, 5.0, -1998.0, 5e-324, 1e300])
def test_targets_that_are_all_alike(value, estimator):
    X = drawn("years")[0]
    y = np.full(len(X), value)
    model = estimator(random_state=0).fit(X, y)
    low, high = model.target_bounds_
    assert low < high
    assert np.isfinite(model.predict(X)).all()
    if abs(value) < 1e100:
        np.testing.assert_allclose(model.predict(X), y, rtol=1e-4, atol=1e-30)


@pytest.mark.parametrize("estimator", LEARNT)
@pytest.mark.parametrize("n", [1, 2, 30])
def test_few_records_are_told_of_whatever_they_are(n, estimator):
    X, y = drawn("years", n)
    message, model = noted(estimator(random_state=0).fit, X, y)
    assert message == FEW_FOR_TARGETS
    assert noted(estimator(random_state=0).fit, X, np.zeros(n))[0] == message
    low, high = model.target_bounds_
    assert low < high
    assert ((low <= model.predict(X)) & (model.predict(X) <= high)).all()


@pytest.mark.long
@pytest.mark.parametrize(
    "estimator", [one for one in LEARNT if get_tags(one()).target_tags.multi_output]
)
def test_each_target_has_bounds_of_its_own(estimator):
    X, y = drawn("about 0")
    Y = np.column_stack([y, 1998.0 + y, (1.0 if has_l1(estimator) else 1e-6) * y])
    model = estimator(random_state=0).fit(X, Y)
    low, high = model.target_bounds_
    assert low.shape == high.shape == (3,)
    assert ((low < np.quantile(Y, 0.03, axis=0)) & (high > np.quantile(Y, 0.97, axis=0))).all()
    if has_l1(estimator):
        np.testing.assert_allclose(high - low, (high - low)[0])
    assert model.score(X, Y) > 0.6
    # Predictions are summed row by row, so that last bits differ from those of a product.
    clipped = np.clip(X @ model.coef_.T + model.intercept_, low, high)
    np.testing.assert_allclose(model.predict(X), clipped, rtol=1e-11, atol=1e-11 * np.ptp(y))


@pytest.mark.parametrize("estimator", REGRESSORS)
def test_predictions_are_cut_to_bounds_and_coefficients_stay_linear(estimator, diabetes):
    X, y = diabetes
    model = estimator(target_bounds=(100, 160), random_state=0).fit(X, y)
    assert model.target_bounds_ == (100.0, 160.0)
    far = 100.0 * X
    linear = far @ model.coef_ + model.intercept_
    assert np.ptp(linear) > 60.0
    clipped = np.clip(linear, 100.0, 160.0)
    np.testing.assert_allclose(model.predict(far), clipped, rtol=1e-11, atol=0.0)
    is_cut = (linear < 99.0) | (linear > 161.0)
    assert is_cut.any()
    np.testing.assert_array_equal(model.predict(far)[is_cut], clipped[is_cut])


@pytest.mark.parametrize("estimator", REGRESSORS)
def test_without_privacy_nothing_is_cut(estimator, diabetes):
    X, y = diabetes
    for bounds in (None, (100, 160)):
        model = estimator(epsilon=math.inf, target_bounds=bounds).fit(X, y)
        assert model.target_bounds_ == (-math.inf, math.inf)
        linear = 1e3 * X @ model.coef_ + model.intercept_
        np.testing.assert_allclose(model.predict(1e3 * X), linear, rtol=1e-11, atol=1e-8)


@pytest.mark.parametrize("estimator", LEARNT)
def test_groups_and_rows_of_weight_0(estimator):
    """Of a person with most rows there is one part; rows of weight 0 have none."""
    X, y = drawn("about 0")
    groups = np.minimum(np.arange(len(X)), 8000)
    y[8000:] = 1e9
    if has_fit_parameter(estimator, "groups"):
        _, high = estimator(random_state=0).fit(X, y, groups=groups).target_bounds_
        assert high < 100.0
    weight = np.where(np.arange(len(X)) < 8000, 1.0, 0.0)
    _, high = estimator(random_state=0).fit(X, y, public_weight=weight).target_bounds_
    assert high < 100.0
    assert estimator(random_state=0).fit(X, y).target_bounds_[1] > 1e8


@pytest.mark.parametrize("of_several", [False, True])
@pytest.mark.parametrize(
    "model", [DPRidge(), DPSCDRegressor(max_iter=60), DPCDElasticNet()], ids=str
)
def test_without_privacy_targets_far_from_0_move_the_intercept_alone(model, of_several, rng):
    if of_several and not get_tags(model).target_tags.multi_output:
        pytest.skip("it takes one target")
    X = rng.normal(size=(500, 3))
    y = X @ rng.normal(size=(3, 1 + of_several)) + rng.normal(size=(500, 1 + of_several))
    y = y if of_several else y[:, 0]
    model = clone(model).set_params(epsilon=np.inf, random_state=0)
    near, far = clone(model).fit(X, y), clone(model).fit(X, 1e4 + y)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-7)
    np.testing.assert_allclose(far.intercept_ - 1e4, near.intercept_, atol=1e-7)


def test_without_privacy_targets_are_taken_about_their_weighted_mean(rng):
    """A model of constant columns predicts it, however strong the penalty of the intercept is."""
    y = 1e4 + rng.normal(size=50) ** 2
    weights = np.where(y > np.median(y), 3.0, 0.5)
    model = DPRidge(alpha=1.0, epsilon=np.inf).fit(np.zeros((50, 2)), y, public_weight=weights)
    np.testing.assert_allclose(model.intercept_, np.average(y, weights=weights), rtol=1e-12)


def test_without_privacy_and_an_intercept_targets_stay_where_they_are(rng):
    X = 1.0 + rng.normal(size=(300, 3))
    y = 1e4 + X @ [1.0, -2.0, 3.0]
    model = DPRidge(alpha=1e-9, epsilon=np.inf, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, np.linalg.lstsq(X, y)[0], rtol=1e-4)
    assert model.intercept_ == 0.0


def test_without_privacy_given_bounds_say_what_targets_are_about(rng):
    """A strong penalty leaves predictions in the middle of the bounds."""
    y = 1e4 + rng.normal(size=50)
    model = DPRidge(alpha=1e9, epsilon=np.inf, target_bounds=(0.0, 2e3))
    np.testing.assert_allclose(model.fit(np.zeros((50, 2)), y).intercept_, 1e3, atol=1.0)
