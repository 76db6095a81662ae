import math
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.utils import get_tags

from skdp.exceptions import NoIntervalError
from skdp.linear_model import DPLogisticRegression, DPRidge

PLAIN = {"ball_budget": 0, "data_norm": 1.2}
RIDGE = DPRidge(inference=True, data_norm=1.2, target_bounds=(0.0, 40.0), random_state=0)
LOGISTIC = DPLogisticRegression(inference=True, data_norm=1.2, classes=[0, 1], random_state=0)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = np.clip(rng.standard_normal((4000, 3)) / 3.0, -1.0, 1.0)
    y = np.clip(20.0 + 10.0 * X @ [1.0, -1.0, 0.0] + 3.0 * rng.standard_normal(4000), 0.0, 40.0)
    return X, y


def fitted(model, X, y):
    return clone(model).fit(X, y if isinstance(model, DPRidge) else (y > 20.0).astype(int))


@pytest.mark.parametrize("model", [RIDGE, LOGISTIC], ids=["ridge", "logistic"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_shapes_and_intervals(fit_intercept, model, data):
    X, y = data
    model = clone(model).set_params(fit_intercept=fit_intercept, epsilon=4.0, random_state=1)
    if not fit_intercept:
        y = y - 20.0
        if isinstance(model, DPRidge):
            model.set_params(target_bounds=(-20.0, 20.0))
        model = model.fit(X, y if isinstance(model, DPRidge) else (y > 0.0).astype(int))
    else:
        model = fitted(model, X, y)
    assert model.inference_quality_ == "yes"
    assert model.inference_reasons_ == ()
    assert model.coef_std_error_.shape == model.coef_.shape
    assert np.shape(model.intercept_std_error_) == np.shape(model.intercept_)
    assert np.all(np.array(model.intercept_std_error_) > 0.0) == fit_intercept
    for level in (0.5, 0.95):
        ends = model.conf_int(level)
        assert ends.shape == (3, 2)
        reach = norm.ppf(0.5 + level / 2.0) * model.coef_std_error_.ravel()
        np.testing.assert_allclose(ends.mean(axis=1), model.coef_.ravel(), rtol=1e-12)
        np.testing.assert_allclose(ends[:, 1] - ends[:, 0], 2.0 * reach, rtol=1e-12)


def test_intervals_are_in_the_units_of_the_targets(data):
    X, y = data
    plain = fitted(RIDGE, X, y)
    other = clone(RIDGE).set_params(target_bounds=(-1.0, 1.0)).fit(X, y / 20.0 - 1.0)
    np.testing.assert_allclose(plain.coef_std_error_, 20.0 * other.coef_std_error_, rtol=1e-6)
    assert plain.intercept_std_error_ == pytest.approx(20.0 * other.intercept_std_error_, rel=1e-6)
    assert isinstance(plain.intercept_std_error_, float)


def test_where_there_is_no_telling_there_is_no_interval(data):
    X, y = data
    twice = np.column_stack([X, X[:, 0]])
    model = fitted(RIDGE, twice, y)
    assert model.inference_quality_ == "no"
    assert np.isnan(model.coef_std_error_).all()
    assert np.isfinite(model.coef_).all()
    with pytest.raises(NoIntervalError, match="hides a direction"):
        model.conf_int()
    text = str(model.summary())
    assert "hides a direction" in text
    assert " - " in text
    assert "nan" not in text
    assert "nan" not in model.summary()._repr_html_()


def test_the_summary_says_all_that_there_is(data):
    X, y = data
    names = ["age", "<b>", "x&y"]
    model = clone(RIDGE).set_params(epsilon=4.0)
    model = fitted(model, pd.DataFrame(X, columns=names), y)
    summary = model.summary(0.9)
    text, page = str(summary), summary._repr_html_()
    for word in (
        *names,
        "intercept",
        "sampling",
        "privacy",
        "0.9 intervals",
        "'yes'",
        "(4, 1e-05)",
    ):
        assert word in text
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    sampling, privacy = summary.parts
    np.testing.assert_allclose(np.hypot(sampling, privacy)[:3], model.coef_std_error_, rtol=1e-12)
    assert (privacy > 0.0).all()
    low, high = model.conf_int(0.9)[1]
    assert f"{low:.4g}" in text
    assert f"{high:.4g}" in text
    assert repr(summary) == text


def test_the_summary_takes_names_for_columns_of_arrays(data):
    model = fitted(RIDGE, *data)
    assert model.summary().names == ("x0", "x1", "x2", "intercept")
    assert model.summary(feature_names=["age", "sex", 3]).names == ("age", "sex", "3", "intercept")
    with pytest.raises(ValueError, match="feature_names must have 3 names"):
        model.summary(feature_names=["age", "sex"])


@pytest.mark.parametrize("model", [RIDGE, LOGISTIC], ids=["ridge", "logistic"])
def test_the_summary_tells_when_nearly_all_rows_are_as_long_as_they_may_be(model, data):
    X, y = data
    many = "many may have been"
    model = clone(model).set_params(**PLAIN)
    for data_norm, epsilon, told in ((1.2, 4.0, False), (0.1, 4.0, True), (0.1, np.inf, False)):
        found = fitted(clone(model).set_params(data_norm=data_norm, epsilon=epsilon), X, y)
        assert (many in str(found.summary())) == told
    equal = X / np.linalg.norm(X, axis=1, keepdims=True)
    for share, told in ((0.85, False), (0.95, True)):
        found = fitted(clone(model).set_params(data_norm=share**-0.5, epsilon=4.0), equal, y)
        assert (many in str(found.summary())) == told


def test_the_summary_is_of_the_fit_and_not_of_later_parameters(data):
    model = fitted(clone(RIDGE).set_params(**PLAIN), *data)
    text = str(model.summary())
    assert "data_norm=1.2, targets in [0, 40], alpha=0.0001: rows that are longer are" in text
    model = fitted(RIDGE, *data)
    text = str(model.summary())
    assert "data_norm=1.2, targets in [0, 40], alpha=0.0001: rows that are longer are weig" in text
    assert "(all others count whole)" in text
    assert not hasattr(model, "radius_")
    model.set_params(fit_intercept=False, data_norm=3.0, alpha=1.0)
    assert str(model.summary()) == text
    plain = fitted(clone(RIDGE).set_params(inference=False), *data).set_params(inference=True)
    for ask in (plain.conf_int, plain.summary):
        with pytest.raises(NotFittedError):
            ask()


def test_columns_without_noise_are_collinear_and_not_hidden(data):
    X, y = data
    model = clone(RIDGE).set_params(epsilon=math.inf).fit(np.column_stack([X, X[:, 0]]), y)
    assert model.inference_quality_ == "no"
    assert model.inference_reasons_[0].startswith("columns are collinear or constant")


def test_targets_without_bounds_have_no_intervals():
    """A clip that was set for targets in [-1, 1] cuts most of them, and nothing says so."""
    rng = np.random.default_rng(0)
    X = np.clip(rng.standard_normal((4000, 3)) / 3.0, -1.0, 1.0)
    y = 50.0 + 10.0 * X @ [2.0, -1.0, 0.0] + 20.0 * rng.exponential(size=4000)
    options = {"target_bounds": None, "ball_budget": 0, "data_norm": 1.0}
    with pytest.warns(UserWarning, match="target_bounds"):
        model = fitted(clone(RIDGE).set_params(**options), X, y)
    assert model.inference_quality_ == "no"
    assert any(reason.startswith("without target_bounds") for reason in model.inference_reasons_)
    with pytest.raises(NoIntervalError, match="give them"):
        model.conf_int()


def test_the_summary_says_how_many_rows_cannot_be_seen(data):
    model = fitted(RIDGE, *data)
    few = 2.0 * model._plan(4000, 3, 1).means.mechanism.noise_std
    text = str(model.summary())
    assert f"long errors of about {few:.2g} rows or fewer can't be seen" in text
    plain = clone(RIDGE).set_params(epsilon=math.inf).fit(*data)
    assert "can't be seen" not in str(plain.summary())


@pytest.mark.long
@pytest.mark.parametrize("chance", [0.01, 0.03])
def test_intervals_allow_for_a_tail_of_targets_that_is_clipped(chance):
    """Each of 5 fits tells of it by more than 1.5 deviations of what that is decided by."""
    rng = np.random.default_rng(0)
    for seed in range(5):
        X = np.clip(rng.standard_normal((10_000, 3)) / 3.0, -1.0, 1.0)
        y = np.where(rng.random(10_000) < chance * (1.0 + 0.8 * X[:, 0]), 39.0, 1.0)
        # A norm that all rows are within.
        model = clone(RIDGE).set_params(random_state=seed, epsilon=4.0, data_norm=1.8).fit(X, y)
        assert model.inference_quality_ == "wide"
        assert any(reason.startswith("clipping may") for reason in model.inference_reasons_)
        low, high = model.conf_int().T
        exact = LinearRegression().fit(X, y).coef_
        assert ((low < exact) & (exact < high)).all()


def test_intervals_come_with_inference_only(data):
    X, y = data
    model = clone(RIDGE).set_params(inference=False)
    for name in ("conf_int", "summary"):
        assert not hasattr(model, name)
        assert hasattr(RIDGE, name)
    model = fitted(RIDGE, X, y)
    assert hasattr(pickle.loads(pickle.dumps(model.set_params(random_state=None))), "conf_int")
    model.set_params(inference=False, random_state=0).fit(X, y)
    assert not [name for name in vars(model) if "inference_" in name or "std_error" in name]


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, math.nan, "x", None])
def test_a_level_is_a_probability(level, data):
    model = fitted(RIDGE, *data)
    for ask in (model.conf_int, model.summary):
        with pytest.raises(ValueError, match="level"):
            ask(level)


def test_several_outputs_are_refused_before_anything_is_released(data, rng):
    X, y = data
    with pytest.raises(ValueError, match="one model for each target"):
        clone(RIDGE).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="against the others"):
        clone(LOGISTIC).set_params(classes=[0, 1, 2]).fit(X, rng.integers(0, 3, len(X)))


def test_tags_say_what_is_refused():
    for inference in (False, True):
        tags = get_tags(clone(RIDGE).set_params(inference=inference))
        assert tags.target_tags.multi_output is not inference
        tags = get_tags(clone(LOGISTIC).set_params(inference=inference))
        assert tags.classifier_tags.multi_class is not inference


@pytest.mark.long
def test_threads_change_nothing(data):
    X = np.repeat(data[0], 30, axis=0)
    y = np.repeat(data[1], 30)
    one, two = (fitted(clone(RIDGE).set_params(n_jobs=n, delta=1e-6), X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.coef_std_error_, two.coef_std_error_)


@pytest.mark.parametrize("what", ["groups", "public_weight", "class_weight", "sparse"])
def test_what_inference_does_not_go_with_is_refused(what, rng):
    X = rng.uniform(-1.0, 1.0, (60, 2))
    y = (X[:, 0] > 0.0).astype(int)
    model = DPLogisticRegression(inference=True, classes=[0, 1])
    arguments = {}
    if what == "class_weight":
        model.set_params(class_weight={0: 1.0, 1: 3.0})
    elif what == "sparse":
        X = csr_array(X)
    else:
        arguments[what] = np.arange(60) // 2
    error, message = ValueError, "inference=True takes dense rows"
    if what == "sparse":
        error, message = TypeError, "^Sparse data was passed for X"
    with pytest.raises(error, match=message):
        model.fit(X, y, **arguments)
