"""Rows are bounded by the settings that their noise is planned by, whatever changes meanwhile."""

import numpy as np
import pytest
from sklearn.base import clone

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from skdp.linear_model import (
    DPCDClassifier,
    DPCDLasso,
    DPLogisticRegression,
    DPPoissonRegressor,
    DPQuantileRegressor,
    DPRidge,
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDClassifier,
    DPSGDRegressor,
)
from tests.extend._templates import own_estimators

CLASSIFIERS = DPLogisticRegression, DPCDClassifier, DPSCDClassifier, DPSGDClassifier
REGRESSORS = (
    DPRidge,
    DPPoissonRegressor,
    DPQuantileRegressor,
    DPCDLasso,
    DPSCDRegressor,
    DPSGDRegressor,
)
SETTINGS = {"data_norm": 100.0, "ball_budget": 0, "random_state": 0}


class Changing:
    """Rows that change a model's parameters when they are read."""

    def __init__(self, X, model, **parameters):
        self.X, self.model, self.parameters = X, model, parameters
        self.shape, self.dtype = X.shape, X.dtype

    def __len__(self):
        return len(self.X)

    def __array__(self, *args, **kwargs):
        self.model.set_params(**self.parameters)
        return self.X


def made_up(kind):
    """Return a model of a kind, rows and targets."""
    rng = np.random.default_rng(0)
    X = 50.0 * rng.standard_normal((300, 3))
    bounds = {} if kind in CLASSIFIERS else {"target_bounds": (0, 1)}
    return kind(**SETTINGS, **bounds), X, (X[:, 0] > 0).astype(int)


@pytest.mark.every
@pytest.mark.parametrize("kind", CLASSIFIERS + REGRESSORS)
def test_rows_are_bounded_as_the_plan_says(kind):
    model, X, y = made_up(kind)
    expected = made_up(kind)[0].fit(X, y)
    model.fit(Changing(X, model, data_norm=1.0), y)
    np.testing.assert_array_equal(model.coef_, expected.coef_)


@pytest.mark.every
@pytest.mark.parametrize(("before", "after"), [(np.inf, 1.0), (1.0, np.inf)])
@pytest.mark.parametrize("kind", CLASSIFIERS + REGRESSORS)
def test_privacy_is_neither_asked_for_nor_dropped_while_rows_are_read(kind, before, after):
    model, X, y = made_up(kind)
    model.set_params(epsilon=before)
    with pytest.raises(ValueError, match="epsilon was changed while the rows were read"):
        model.fit(Changing(X, model, epsilon=after), y)
    assert not hasattr(model, "privacy_report_")


@pytest.mark.every
@pytest.mark.parametrize("kind", CLASSIFIERS + REGRESSORS)
def test_what_changes_and_changes_back_changes_nothing(kind):
    """What rows and targets are read by is made before anybody's code runs."""
    model, X, y = made_up(kind)
    weight = np.ones(len(y))
    expected = made_up(kind)[0].fit(X, y, public_weight=weight)
    back = Changing(weight, model, epsilon=1.0)
    model.fit(Changing(X, model, epsilon=np.inf), y, public_weight=back)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert model.privacy_report_.assumed_public == expected.privacy_report_.assumed_public


@pytest.mark.every
@pytest.mark.parametrize(("before", "after"), [(np.inf, 1.0), (1.0, np.inf)])
@pytest.mark.parametrize("kind", [DPAdditiveClassifier, DPAdditiveRegressor])
def test_so_it_is_where_a_table_is_read(kind, before, after):
    _, X, y = made_up(DPRidge)
    model = kind(epsilon=before)
    with pytest.raises(ValueError, match="epsilon was changed while the rows were read"):
        model.fit(X, y, public_weight=Changing(np.ones(len(y)), model, epsilon=after))
    assert not hasattr(model, "privacy_report_")


class Emptying(Changing):
    """Targets that empty a list of the caller's when they are read."""

    def __array__(self, *args, **kwargs):
        self.parameters["given"].clear()
        return self.X


@pytest.mark.every
@pytest.mark.parametrize("name", ["monotonic_cst", "interactions", "feature_bounds"])
def test_lists_that_change_while_a_table_is_read_change_nothing(name):
    _, X, y = made_up(DPRidge)
    given = {
        "monotonic_cst": [1, 0, 0],
        "interactions": [(0, 1)],
        "feature_bounds": {"x0": (-300, 300)},
    }[name]
    model = DPAdditiveClassifier(classes=[0, 1], random_state=0, **{name: given})
    expected = clone(model).fit(X, y)
    model.fit(X, Emptying(y, model, given=given))
    assert not given
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


class Shrinking(Changing):
    """Rows that shrink an array of the caller's in place when they are read."""

    def __array__(self, *args, **kwargs):
        self.parameters["given"][:] *= 0.01
        return self.X


@pytest.mark.every
@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (DPCDLasso, {"feature_bounds": (-np.full(3, 9.0), np.full(3, 9.0))}),
        (DPCDLasso, {"coef_bounds": (-np.full(3, 0.1), np.full(3, 0.1))}),
        (DPCDLasso, {"smoothness": np.full(3, 30.0)}),
        (
            DPSCDRegressor,
            {"solver": "primal", "feature_bounds": (-np.full(3, 9.0), np.full(3, 9.0))},
        ),
        (DPRidge, {"public_moment": 9.0 * np.eye(4)}),
    ],
)
def test_arrays_that_change_in_place_change_nothing(kind, settings):
    """A plan and its steps go by the same numbers."""
    model, X, y = made_up(kind)
    expected = model.set_params(**settings).fit(X, y).coef_
    ((name, given),) = ((k, v) for k, v in settings.items() if not isinstance(v, str))
    end = given[1] if isinstance(given, tuple) else given
    model.fit(Shrinking(X, model, given=end), y)
    np.testing.assert_array_equal(model.coef_, expected, err_msg=name)


@pytest.mark.parametrize(
    "model",
    [
        DPCDClassifier(),
        DPCDLasso(),
        DPSCDClassifier(),
        DPSGDClassifier(),
        own_estimators.DPMedian([0.0]),
    ],
)
def test_models_that_protect_rows_foresee_no_groups(model):
    with pytest.raises(ValueError, match="protects rows and takes no groups"):
        model._preview(1000, 5, 1, by_group=True)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_predictions_need_no_plan(kind):
    model, X, y = made_up(kind)
    expected = model.fit(X, y).predict(X)
    model.set_params(ball_budget=-1.0, target_bounds=(1, 0))
    np.testing.assert_array_equal(model.predict(X), expected)


@pytest.mark.every
@pytest.mark.parametrize("change", [{"data_norm": 50.0}, {"fit_intercept": False}])
def test_a_stream_keeps_the_settings_that_its_rows_were_bounded_by(change):
    _, X, y = made_up(DPSGDRegressor)
    spent = {"mechanism": "laplace", "delta": 0.0, "random_state": 0}
    stream = DPSGDRegressor(data_norm=1.0, target_bounds=(0, 1), **spent)
    stream.partial_fit(Changing(X, stream, **change), y)
    with pytest.raises(ValueError, match="must stay the same in all calls"):
        stream.partial_fit(X, y)
