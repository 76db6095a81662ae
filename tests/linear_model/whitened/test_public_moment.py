from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from skdp.inspection import preview
from skdp.linear_model import DPLogisticRegression, DPRidge
from tests.door import Ball, as_training_has_it, as_users_have_it, check_moment, inside, outside
from tests.linear_model.whitened.test_plan import plan

GOOD = np.array([[1.0, 3.0, -2.0], [3.0, 10.0, -5.0], [-2.0, -5.0, 9.0]])


def moment_of(X):
    rows = np.column_stack([np.ones(len(X)), X])
    return rows.T @ rows / len(rows)


def records(n_rows, seed):
    """Columns of which two say nearly the same, of uneven scale and far from 0."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n_rows, 12)) @ np.diag(0.6 ** np.arange(12))
    Z[:, 1] = Z[:, 0] + 0.1 * Z[:, 1]
    y = (Z @ np.linspace(2.0, -2.0, 12) + rng.logistic(size=n_rows) > 0.0).astype(int)
    return 1.0 + Z * np.geomspace(1.0, 50.0, 12), y


@pytest.mark.parametrize(
    "wrong",
    [
        "seventeen",
        [["seventeen"]],
        GOOD * (1.0 + 0.0j),
        np.ma.masked_array(GOOD, np.eye(3)),
        GOOD[:2],
        GOOD[:2, :2],
        GOOD * np.nan,
        GOOD + np.diag([0.0, np.inf, 0.0]),
        GOOD + np.eye(3, k=1),
        GOOD - 17.17 * np.diag([0.0, 1.0, 0.0]),
        GOOD - 5.0 * np.diag([0.0, 1.0, 0.0]),
        np.diag([0.0, 1.0, 1.0]),
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 9.0]],
    ],
)
def test_what_is_no_moment_is_refused(wrong):
    with pytest.raises(ValueError, match="public_moment") as caught:
        check_moment(wrong, 2)
    assert "17" not in str(caught.value)
    assert "seventeen" not in str(caught.value)


@pytest.mark.parametrize("size", [1e-150, 1.0, 1e150])
def test_moments_of_any_units_are_taken(size):
    unit = np.array([1.0, size, 1.0 / size])
    scaled = GOOD * unit * unit[:, np.newaxis]
    np.testing.assert_array_equal(check_moment(scaled, 2), scaled)
    check_moment(scaled.astype(np.float32) if size == 1.0 else scaled.tolist(), 2)
    # Of a column that is always 0.
    check_moment(np.diag([1.0, 0.0, 3.0]), 2)


@pytest.mark.parametrize("ball", [None, Ball(np.array([5.0, -1e3]), np.array([2.0, 1e-3]), 3.0)])
def test_moments_are_those_of_the_rows_that_training_has(ball, rng):
    bias = 0.7
    X = rng.standard_normal((50, 2)) * [3.0, 1e-2] + [4.0, -1e3]
    Z = X if ball is None else (X - ball.center) / ball.scale
    trained = np.column_stack([Z, np.full(50, bias)])
    of_training = trained.T @ trained / 50
    made = plan(n_columns=3, bias=bias).problem

    def out(coefs):
        return outside(ball, coefs, bias)

    found = as_training_has_it(moment_of(X), made, out)
    np.testing.assert_allclose(found, of_training, rtol=1e-4)
    to_rows = partial(inside, ball, bias=bias)
    np.testing.assert_allclose(
        as_users_have_it(of_training, to_rows, bias), moment_of(X), rtol=1e-6
    )
    without = as_training_has_it(moment_of(X), plan(n_columns=2, bias=0.0).problem, None)
    np.testing.assert_array_equal(without, moment_of(X)[1:, 1:])


def test_a_moment_that_overflows_tells_nothing():
    made = plan(n_columns=3, bias=1.0).problem
    with np.errstate(all="ignore"):
        found = as_training_has_it(np.full((3, 3), 1e300), made, lambda coefs: 1e200 * coefs)
    np.testing.assert_array_equal(found, np.zeros((3, 3)))


@pytest.mark.long
def test_the_moment_of_a_fit_is_that_of_its_rows():
    """With hardly any noise; of rows of which none is beyond the ball."""
    X, y = records(3000, 0)
    model = DPLogisticRegression(epsilon=1e6, data_norm=200.0, ball_budget=0, random_state=0)
    expected = moment_of(X)
    unit = np.sqrt(expected.diagonal())
    found = model.fit(X, y).moment_
    np.testing.assert_allclose(
        found / unit / unit[:, np.newaxis], expected / unit / unit[:, np.newaxis], atol=0.2
    )
    check_moment(found, 12)
    in_ball = DPLogisticRegression(epsilon=1e6, random_state=0).fit(X, y)
    of_ball = in_ball.moment_ / unit / unit[:, np.newaxis]
    np.testing.assert_allclose(of_ball, expected / unit / unit[:, np.newaxis], atol=0.2)
    in_ball.set_params(public_moment=in_ball.moment_).fit(X, y)
    assert not hasattr(in_ball, "moment_")


@pytest.mark.parametrize("changes", [{}, {"ball_budget": 0, "data_norm": 120.0}])
@pytest.mark.parametrize("estimator", [DPLogisticRegression, DPRidge])
def test_nothing_is_spent_on_a_public_moment(estimator, changes):
    X, y = records(400, 0)
    how = {"random_state": 0, "max_iter": 20, **changes}
    if estimator is DPRidge:
        how["target_bounds"] = (0, 1)
    own = estimator(**how).fit(X, y).privacy_report_
    model = estimator(public_moment=moment_of(records(50, 1)[0]), **how)
    report = model.fit(X, y).privacy_report_
    assert len(report.events) == len(own.events) - 1
    assert report.events[-1].noise_multiplier < own.events[-1].noise_multiplier
    assert any("public_moment" in one for one in report.assumed_public)
    assert not any("public_moment" in one for one in own.assumed_public)
    assert report.epsilon <= 1.0


@pytest.mark.long
def test_public_rows_help_where_own_ones_are_few():
    """Mean log loss of twelve fits of 190 rows of 30 columns: .06 less."""
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))
    public, own, test = np.array_split(rows, 3)
    losses = []
    for public_moment in (None, moment_of(X[public])):
        model = DPLogisticRegression(public_moment=public_moment, delta=1e-6)
        fits = [model.set_params(random_state=seed).fit(X[own], y[own]) for seed in range(12)]
        told = [fit.predict_log_proba(X[test])[np.arange(len(test)), y[test]] for fit in fits]
        losses.append(-np.mean(told))
    assert losses[1] < losses[0] - 0.03


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_wrong_moment_costs_accuracy_only(size, fit_intercept):
    X, y = records(400, 0)
    wrong = np.diag(np.r_[1.0, np.zeros(6), np.full(6, size)])
    model = DPLogisticRegression(
        public_moment=wrong, fit_intercept=fit_intercept, random_state=0
    ).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert model.privacy_report_.epsilon <= 1.0


@pytest.mark.long
def test_columns_of_hardly_comparable_sizes_cost_accuracy_only():
    """Eigenvectors of every fourth of these matrices are no numbers."""
    X, y = records(60, 0)
    sizes = np.array([1.0, 1e121, 1e8, 1e8])
    model = DPLogisticRegression(random_state=0, ball_budget=0, data_norm=1.0, max_iter=2)
    for seed in range(12):
        Z = np.random.default_rng(seed).standard_normal((3, 4))
        Z[:, [0, 2, 3]] = 1.0
        model.set_params(public_moment=(Z * sizes).T @ (Z * sizes)).fit(X[:, :3], y)
        assert np.isfinite(model.coef_).all()


def test_without_noise_the_rows_own_moment_is_taken():
    X, y = records(400, 0)
    plain = DPRidge(epsilon=np.inf).fit(X, y)
    wrong = DPRidge(epsilon=np.inf, public_moment=np.eye(13)).fit(X, y)
    np.testing.assert_array_equal(wrong.coef_, plain.coef_)


def test_without_noise_no_budget_for_the_moment_is_no_reason_for_none():
    X, y = load_breast_cancer(return_X_y=True)
    free = DPLogisticRegression(epsilon=float("inf"), public_moment=np.eye(31))
    coef = free.fit(X, y).coef_
    np.testing.assert_array_equal(coef, free.set_params(moment_budget=0).fit(X, y).coef_)


@pytest.mark.parametrize("estimator", [DPRidge, DPLogisticRegression])
def test_a_preview_says_what_is_assumed_of_the_rows(estimator):
    model = estimator(public_moment=np.eye(3))
    assert any("public_moment" in words for words in preview(model, 10_000, 2).assumed_public)
    assert not any("public" in word for word in preview(estimator(), 10_000, 2).assumed_public)


def test_people_have_public_moments_too():
    X, y = records(2000, 0)
    groups = np.repeat(np.arange(500), 4)
    model = DPLogisticRegression(public_moment=4.0 * moment_of(X), random_state=0)
    assert model.fit(X, y, groups).score(X, y) > 0.7


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"moment_budget": 0.2}, "moment_budget must be 'auto' or 0"),
        ({"inference": True}, "leave public_moment=None"),
        ({"public_moment": np.eye(3)}, r"shape \(13, 13\)"),
    ],
)
def test_what_does_not_go_with_it_is_refused(changes, told):
    X, y = records(400, 0)
    model = DPLogisticRegression(**{"public_moment": np.eye(13)} | changes)
    with pytest.raises(ValueError, match=told):
        model.fit(X, y)
