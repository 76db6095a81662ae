import math

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_linnerud
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge

from skdp.inspection import duality_gap
from skdp.linear_model import DPSCDClassifier, DPSCDRegressor
from tests.door import LOSSES, duality_module

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")

INF = float("inf")
LOSS_NAMES = sorted(LOSSES)


def make(loss, **parameters):
    """Return a model whose rows are in no learnt ball, unless it is asked for."""
    parameters = {"alpha": 0.01, "ball_budget": 0, "random_state": 0, "delta": 1e-4, **parameters}
    if loss == "squared_error":
        return DPSCDRegressor(**parameters)
    return DPSCDClassifier(loss=loss, **parameters)


@pytest.fixture
def data(cancer, diabetes):
    return lambda loss: diabetes if loss == "squared_error" else cancer


def clipped(X, bound):
    """Rows in the ball, by another way than skdp's."""
    return np.array([x * min(1.0, bound / math.sqrt(x @ x)) for x in X])


def with_constant(X, constant):
    return np.column_stack([X, np.full(len(X), constant)])


def primal(loss, X, y, theta, alpha):
    m = X @ theta
    values = {
        "squared_error": (m - y) ** 2 / 2.0,
        "hinge": np.where(y * m < 1.0, 1.0 - y * m, 0.0),
        "log_loss": np.log1p(np.exp(-y * m)),
    }[loss]
    return values.mean() + alpha / 2.0 * (theta**2).sum()


def dual(loss, X, y, a, alpha):
    """Dual objective; conjugates at -a from their formulas."""
    b = y * a
    conjugates = {
        "squared_error": lambda: a**2 / 2.0 - a * y,
        "hinge": lambda: -b,
        "log_loss": lambda: b * np.log(b) + (1.0 - b) * np.log(1.0 - b),
    }[loss]()
    v = X.T @ a
    return -conjugates.mean() - v @ v / (2.0 * alpha * len(X) ** 2)


def slope(loss, y, m):
    return {
        "squared_error": m - y,
        "hinge": np.where(y * m < 1.0, -y, 0.0),
        "log_loss": -y / (1.0 + np.exp(y * m)),
    }[loss]


@pytest.mark.long
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_the_gap_is_primal_minus_dual_and_bounds_the_suboptimality(
    loss, fit_intercept, data, sklearn_optimum
):
    """Rows are longer than data_norm and the intercept's column isn't one: both must count."""
    X, y = data(loss)
    bound, alpha = 0.4, 0.01
    model = make(loss, epsilon=5.0, data_norm=bound, fit_intercept=fit_intercept).fit(X, y)
    gap = duality_gap(model, X, y)
    assert type(gap) is float

    rows, theta = clipped(X, bound), np.ravel(model.coef_)
    signs = y if loss == "squared_error" else 2.0 * y - 1.0
    if fit_intercept:
        rows = with_constant(rows, bound / 3.0)
        theta = np.append(theta, 3.0 * model.intercept_ / bound)
    a = -slope(loss, signs, rows @ theta)
    by_slope = primal(loss, rows, signs, theta, alpha) - dual(loss, rows, signs, a, alpha)
    best = primal(loss, rows, signs, sklearn_optimum(loss, rows, signs, alpha), alpha)
    suboptimality = primal(loss, rows, signs, theta, alpha) - best
    assert 3e-4 < suboptimality <= gap + 1e-9
    if loss == "hinge":
        # The search starts at the slope and ends, here, at the best bound there is.
        assert gap < 0.97 * by_slope
        assert gap == pytest.approx(suboptimality, rel=1e-4)
    else:
        assert gap == pytest.approx(by_slope, rel=1e-10)


@pytest.mark.long
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize(
    ("loss", "max_iter", "limit"),
    [("squared_error", 50, 1e-12), ("log_loss", 50, 1e-12), ("hinge", 250, 1e-6)],
)
def test_the_gap_closes_without_privacy(loss, max_iter, limit, fit_intercept, data):
    """Bounds don't clip such a fit; a gap that clipped would stay open."""
    X, y = data(loss)
    options = {"epsilon": INF, "fit_intercept": fit_intercept, "data_norm": 0.5, "average": False}
    early = make(loss, max_iter=1, **options).fit(X, y)
    late = make(loss, max_iter=max_iter, **options).fit(X, y)
    assert 0.0 <= duality_gap(late, X, y) < limit < duality_gap(early, X, y)
    late.set_params(epsilon=1.0)
    assert duality_gap(late, X, y) > 1e-5


@pytest.mark.long
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_gap_takes_targets_as_the_fit_learnt_them(fit_intercept, data):
    X, y = data("squared_error")
    Y = np.column_stack([y, 20.0 - 3.0 * y])
    model = DPSCDRegressor(epsilon=20.0, fit_intercept=fit_intercept, random_state=0).fit(X, Y)
    found = duality_gap(model, X, Y)
    for k, bounds in enumerate(np.transpose(model.target_bounds_)):
        of_one = DPSCDRegressor(epsilon=20.0, fit_intercept=fit_intercept, target_bounds=bounds)
        of_one.fit(X, Y[:, k])
        of_one.coef_, of_one.intercept_ = (
            model.coef_[k],
            np.ravel(model.intercept_)[k * fit_intercept],
        )
        for name in ("center_", "scale_", "radius_"):
            setattr(of_one, name, getattr(model, name))
        assert duality_gap(of_one, X, Y[:, k]) == pytest.approx(found[k], rel=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_targets_are_taken_in_scaled_units(fit_intercept, diabetes):
    """At a private fit, where the gap is positive: units and midpoint must not matter."""
    X, y = diabetes
    options = {"epsilon": 3.0, "fit_intercept": fit_intercept, "clipping_norm": 0.05}
    plain = make("squared_error", **options).fit(X, y)
    low, high, moved = (60.0, 100.0, 80.0 + 20.0 * y) if fit_intercept else (-20.0, 20.0, 20.0 * y)
    scaled = make("squared_error", target_bounds=(low, high), **options).fit(X, moved)
    expected = duality_gap(plain, X, y)
    assert expected > 1e-4
    assert duality_gap(scaled, X, moved) == pytest.approx(expected, rel=1e-6)
    # Targets beyond the bounds count as the fit counted them.
    wild = np.where(moved == moved.max(), 1e9, moved)
    capped = np.where(moved == moved.max(), high, moved)
    assert duality_gap(scaled, X, wild) == pytest.approx(duality_gap(scaled, X, capped))


@pytest.mark.long
@pytest.mark.parametrize("loss", ["log_loss", "hinge"])
def test_several_classes_give_a_gap_each(loss, sklearn_optimum):
    X, y = load_iris(return_X_y=True)
    X, y = X / 8.0, np.array(["a", "b", "c"])[y]
    options = {"alpha": 0.05, "epsilon": INF, "average": False, "fit_intercept": False}
    model = make(loss, max_iter=100 if loss == "log_loss" else 500, **options).fit(X, y)
    gaps = duality_gap(model, X, y)
    assert gaps.shape == (3,)
    assert (gaps >= 0.0).all()
    assert (gaps < 1e-5).all()
    private = model.set_params(epsilon=5.0, classes=["a", "b", "c"], max_iter=5).fit(X, y)
    gaps = duality_gap(private, X, y)
    rows = clipped(X, 1.0)
    for label, theta, gap in zip("abc", private.coef_, gaps, strict=True):
        signs = np.where(y == label, 1.0, -1.0)
        best = primal(loss, rows, signs, sklearn_optimum(loss, rows, signs, 0.05), 0.05)
        suboptimality = primal(loss, rows, signs, theta, 0.05) - best
        assert 1e-4 < suboptimality <= gap + 1e-9


@pytest.mark.long
def test_several_targets_give_a_gap_each():
    X, y = load_linnerud(return_X_y=True)
    X, y = X / np.linalg.norm(X, axis=1).max(), y / y.max()
    model = make("squared_error", alpha=0.1, epsilon=INF, max_iter=2000, average=False).fit(X, y)
    gaps = duality_gap(model, X, y)
    assert gaps.shape == (3,)
    assert (gaps < 1e-12).all()
    model.coef_[1] += 0.1
    gaps = duality_gap(model, X, y)
    assert gaps[1] > 1e-4
    assert max(gaps[0], gaps[2]) < 1e-12


@pytest.mark.long
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_more_privacy_leaves_a_wider_gap(loss, data):
    X, y = data(loss)

    def median_gap(epsilon):
        gaps = []
        for seed in range(5):
            model = make(loss, epsilon=epsilon, random_state=seed, clipping_norm=0.2, alpha=0.1)
            gaps.append(duality_gap(model.fit(X, y), X, y))
        return np.median(gaps)

    gaps = [median_gap(epsilon) for epsilon in (0.3, 3.0, 30.0)]
    assert gaps[0] > 2.0 * gaps[1] > 4.0 * gaps[2]


@pytest.mark.long
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_blocks_and_float32_change_rounding_only(loss, data, monkeypatch):
    X, y = data(loss)
    model = make(loss, data_norm=0.4).fit(X, y)
    expected = duality_gap(model, X, y)
    monkeypatch.setattr(duality_module, "_BLOCK_ROWS", 100)
    assert duality_gap(model, X, y) == pytest.approx(expected, rel=1e-6)
    assert duality_gap(model, X.astype(np.float32), y) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_unfitted_estimators_are_refused(loss, data):
    with pytest.raises(NotFittedError):
        duality_gap(make(loss), *data(loss))


@pytest.mark.parametrize("estimator", [Ridge(), LogisticRegression, None])
def test_other_objects_are_refused(estimator, diabetes):
    with pytest.raises(TypeError, match="DPSCDClassifier and DPSCDRegressor"):
        duality_gap(estimator, *diabetes)


@pytest.mark.long
def test_input_that_does_not_fit_is_refused(cancer, diabetes):
    X, y = cancer
    model = make("hinge").fit(X, y)
    with pytest.raises(ValueError, match="not among the declared classes"):
        duality_gap(model, X, y + 1)
    with pytest.raises(ValueError, match="features"):
        duality_gap(model, X[:, 1:], y)
    X, y = diabetes
    with pytest.raises(ValueError, match="2 outputs"):
        duality_gap(make("squared_error").fit(X, y), X, np.column_stack([y, y]))


def test_it_says_that_it_is_not_private():
    first = duality_gap.__doc__.split("\n\n")
    assert "not private" in first[0]
    assert "computed from the data without noise" in first[1]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_the_gap_is_that_of_targets_about_their_mean_without_privacy(offset, weighted, diabetes):
    X, y = diabetes
    weights = np.where(y > 150.0, 2.0, 0.5) if weighted else None
    model = make("squared_error", epsilon=INF, ball_budget="auto", max_iter=200, average=False)
    model.set_params(alpha=0.1).fit(X, y + offset, public_weight=weights)
    gap = duality_gap(model, X, y + offset, public_weight=weights)
    assert gap < 1e-3 * y.var()
    # It is about a model, too: one that predicts other numbers is farther off.
    model.intercept_ = model.intercept_ + 10.0
    assert duality_gap(model, X, y + offset, public_weight=weights) > gap + 5.0
