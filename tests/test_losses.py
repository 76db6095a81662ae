import inspect
from dataclasses import MISSING, fields
from math import inf, isfinite, isinf

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from skdp.inspection import duality_gap
from skdp.linear_model import DPCDClassifier, DPSGDClassifier
from tests._listed import PREDICTORS, suited
from tests._objectives import DUAL, EACH, EVERY, dual_range, labels
from tests.door import LOSSES, DualLoss, Huber, Loss, Multinomial, SmoothLoss


@pytest.fixture(autouse=True)
def without_warnings_about_arithmetic():
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("name", EACH)
def test_gradient_is_the_slope_of_the_value(name):
    loss = EACH[name]
    m = np.array([-30.0, -2.3, -0.4, 0.3, 0.9, 2.1, 30.0])
    h = 1e-6
    for y in labels(loss):
        slope = (loss.value(y, m + h) - loss.value(y, m - h)) / (2 * h)
        np.testing.assert_allclose(loss.gradient(y, m), slope, atol=1e-5)


def interior(loss, y):
    """An interval within that of feasible dual variables."""
    return np.clip(dual_range(loss, y), -3.0, 3.0)


@pytest.mark.parametrize("name", DUAL)
def test_conjugate_is_the_supremum_over_predictions(name):
    """l*(-a) = sup_m (-a m - l(m)), here by brute force over m."""
    loss = DUAL[name]
    m = np.linspace(-60.0, 60.0, 240_001)
    for y in labels(loss):
        low, high = interior(loss, y)
        for share in (0.05, 0.3, 0.5, 0.95):
            a = low + share * (high - low)
            brute = np.max(-a * m - loss.value(y, m))
            assert loss.conjugate(y, a) == pytest.approx(brute, abs=1e-6)


@pytest.mark.parametrize("name", DUAL)
def test_conjugate_is_infinite_where_a_dual_variable_is_not_feasible(name):
    loss = DUAL[name]
    for y in labels(loss):
        ends = np.array(dual_range(loss, y))
        known = np.isfinite(ends)
        assert known.all() or isinf(loss.lipschitz)
        beyond = np.add(ends, [-0.1, 0.1])[known]
        np.testing.assert_array_equal(loss.conjugate(y, beyond), inf)
        np.testing.assert_array_equal(loss.feasible(y, beyond), ends[known])
        inside = np.linspace(*interior(loss, y), 7)
        assert np.isfinite(loss.conjugate(y, inside)).all()
        np.testing.assert_array_equal(loss.feasible(y, inside), inside)


@pytest.mark.parametrize("name", DUAL)
@pytest.mark.parametrize("c", [0.0, 1e-3, 0.7, 40.0, 1e6])
def test_dual_step_minimises_the_subproblem(name, c):
    """Equation 8 of the DP-SCD paper, against a bounded scalar minimiser."""
    loss = DUAL[name]
    if isinf(loss.smoothness) and c == 0.0:
        pytest.skip("a row of norm 0, for which the step over a corner is 0 by definition")
    for y in labels(loss):
        ends = dual_range(loss, y)
        low, high = interior(loss, y)
        for share in (0.0, 0.2, 0.9, 1.0):
            a = low + share * (high - low)
            for m in (-25.0, -1.2, 0.0, 0.8, 7.0):

                def objective(z, y=y, a=a, m=m, ends=ends):
                    return loss.conjugate(y, np.clip(a + z, *ends)) + m * z + 0.5 * c * z * z

                bounds = np.clip(ends, a - 53.0, a + 53.0) - a
                best = minimize_scalar(
                    objective, bounds=bounds, method="bounded", options={"xatol": 1e-12}
                )
                z = float(loss.dual_step(y, np.array([m]), np.array([a]), np.array([c]))[0])
                assert bounds[0] <= z <= bounds[1]
                assert objective(z) <= best.fun + 1e-8 * (1.0 + abs(best.fun))


@pytest.mark.long
def test_logistic_dual_step_is_solved_to_convergence(rng):
    """The root of t + c expit(t) + k is reached from every starting point and curvature."""
    size = 100_000
    y = rng.choice([-1.0, 1.0], size)
    c = 10.0 ** rng.uniform(-9, 15, size)
    m = rng.standard_normal(size) * 10.0 ** rng.uniform(-3, 3, size)
    b = np.where(rng.random(size) < 0.1, rng.choice([0.0, 1.0], size), rng.random(size))
    new = b + y * LOSSES["log_loss"].dual_step(y, m, y * b, c)
    assert ((new >= 0.0) & (new <= 1.0)).all()
    low, high = np.zeros(size), np.ones(size)
    for _ in range(60):
        middle = 0.5 * (low + high)
        slope = np.log(middle) - np.log1p(-middle) + y * m + c * (middle - b)
        low, high = np.where(slope < 0, middle, low), np.where(slope < 0, high, middle)
    np.testing.assert_allclose(new, high, atol=2e-7)


@pytest.mark.parametrize("name", EACH)
def test_certified_constants(name):
    loss = EACH[name]
    m = np.linspace(-8.0, 8.0, 4001)
    for y in labels(loss):
        gradient = loss.gradient(y, m)
        assert np.abs(gradient).max() <= loss.lipschitz
        assert np.abs(np.diff(gradient)).max() <= loss.smoothness * (m[1] - m[0]) * (1 + 1e-9)


@pytest.mark.parametrize("name", EVERY)
def test_losses_are_frozen(name):
    with pytest.raises(AttributeError):
        EVERY[name].smoothness = 2.0


@pytest.mark.parametrize("threshold", [0.1, 1.35])
def test_huber(threshold):
    loss = Huber(threshold)
    m = np.linspace(-4.0, 4.0, 4001)
    h = 1e-6
    for y in (-1.0, 0.3):
        slope = (loss.value(y, m + h) - loss.value(y, m - h)) / (2 * h)
        gradient = loss.gradient(y, m)
        np.testing.assert_allclose(gradient, slope, atol=1e-5)
        assert np.abs(gradient).max() == loss.lipschitz == threshold
        assert np.abs(np.diff(gradient)).max() <= loss.smoothness * (m[1] - m[0]) * (1 + 1e-9)
        near = np.abs(m - y) < threshold
        squared = LOSSES["squared_error"].value(y, m)
        np.testing.assert_allclose(loss.value(y, m)[near], squared[near])


@pytest.mark.parametrize("n_classes", [3, 7])
def test_multinomial(n_classes, rng):
    loss = Multinomial(n_classes)
    m = 3.0 * rng.standard_normal((200, n_classes))
    label = rng.integers(0, n_classes, 200)
    y = np.where(np.arange(n_classes) == label[:, np.newaxis], 1.0, -1.0)
    gradient = loss.gradient(y, m)
    probability = np.exp(m[np.arange(200), label]) / np.exp(m).sum(axis=1)
    np.testing.assert_allclose(loss.value(y, m), -np.log(probability))
    for k in range(n_classes):
        step = 1e-6 * np.eye(n_classes)[k]
        slope = (loss.value(y, m + step) - loss.value(y, m - step)) / 2e-6
        np.testing.assert_allclose(gradient[:, k], slope, atol=1e-6)
    assert np.linalg.norm(gradient, axis=1).max() <= loss.lipschitz
    far = np.where(np.arange(n_classes) == 0, 50.0, 0.0)
    wrong = np.where(np.arange(n_classes) == 1, 1.0, -1.0)
    assert np.linalg.norm(loss.gradient(wrong, far)) == pytest.approx(loss.lipschitz)
    assert loss.value(wrong, np.zeros(n_classes)) == pytest.approx(loss.loss_at_zero)
    # The smoothness is reached by two classes of probability 1/2 each.
    half = np.where(np.arange(n_classes) < 2, 50.0, 0.0)
    apart = np.where(np.arange(n_classes) == 0, 1.0, np.where(np.arange(n_classes) == 1, -1.0, 0.0))
    moved = loss.gradient(wrong, half + 1e-5 * apart) - loss.gradient(wrong, half)
    slope = np.linalg.norm(moved) / (1e-5 * np.linalg.norm(apart))
    assert slope == pytest.approx(loss.smoothness, rel=1e-5)
    other = m + 0.1 * rng.standard_normal(m.shape)
    moved = np.linalg.norm(loss.gradient(y, other) - gradient, axis=1)
    assert (moved <= loss.smoothness * np.linalg.norm(other - m, axis=1)).all()


@pytest.mark.parametrize("name", EACH)
def test_loss_at_zero(name):
    loss = EACH[name]
    worst = 1.0 if isfinite(loss.loss_at_zero) else inf
    assert loss.value(worst, 0.0) == loss.value(-worst, 0.0) == pytest.approx(loss.loss_at_zero)


def members(protocol):
    return {name for name in dir(protocol) if not name.startswith("_")} | set(Loss.__annotations__)


def check_contract(loss, protocol):
    assert isinstance(loss, protocol)
    for name in members(protocol):
        if callable(asked := getattr(protocol, name, None)):
            given = inspect.signature(getattr(type(loss), name))
            assert given == inspect.signature(asked), name
        else:
            assert isinstance(getattr(loss, name), str if name == "name" else float), name


@pytest.mark.parametrize("name", EVERY)
def test_every_loss_keeps_its_contract(name):
    assert EVERY[name].name == name
    check_contract(EVERY[name], Loss)
    if name in LOSSES or name in DUAL:
        check_contract(EVERY[name], DualLoss)


@pytest.mark.parametrize("m", [-700.0, -2.0, 0.0, 0.3, 40.0])
def test_no_label_has_a_larger_slope(m):
    loss, m = LOSSES["log_loss"], np.array([m])
    sizes = [abs(loss.gradient(np.array([label]), m)[0]) for label in (-1.0, 1.0)]
    assert loss.largest_slope(m)[0] == pytest.approx(max(sizes), rel=1e-15)
    assert LOSSES["squared_error"].largest_slope(m)[0] == inf


@pytest.mark.parametrize("name", ["squared_error", "log_loss"])
def test_a_constant_minimises_the_mean_loss_and_follows_no_noise(name):
    loss = LOSSES[name]
    check_contract(loss, SmoothLoss)
    y = np.repeat([-1.0, 1.0], [70, 30])
    slope = np.array([loss.gradient(y, np.zeros(100)).mean(), 0.0])
    best, curvature = loss.constant(slope, 0.0)
    brute = minimize_scalar(lambda m: loss.value(y, np.full(100, m)).mean(), method="brent")
    assert best[0] == pytest.approx(brute.x, abs=1e-6)
    assert best[1] == 0.0
    h = 1e-4
    bend = (loss.gradient(y, best[0] + h) - loss.gradient(y, best[0] - h)).mean() / (2 * h)
    assert curvature[0] == pytest.approx(bend, rel=1e-6)
    sizes = [abs(loss.constant(slope, error)[0][0]) for error in (0.0, 0.1, 0.19, 0.3, 0.6, 9.0)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 0.0
    wild, bend = loss.constant(np.array([-1e3, 1e3]), 0.1)
    assert np.isfinite(wild).all()
    assert (bend > 0.0).all()


@pytest.fixture
def asked(monkeypatch):
    """The names of what is read from losses, their own numbers (a threshold) left out."""
    names = set()

    def spy(loss, name):
        own = {field.name for field in fields(type(loss)) if field.default is MISSING}
        if not name.startswith("_") and name not in own:
            names.add(name)
        return object.__getattribute__(loss, name)

    for kind in {type(loss) for loss in EVERY.values()}:
        monkeypatch.setattr(kind, "__getattribute__", spy)
    return names


def choices(estimator, name):
    """The strings that a parameter takes, or its default alone where there is no such parameter."""
    constraints = estimator._parameter_constraints.get(name, [])
    return [{name: value} for kind in constraints for value in sorted(kind.options)] or [{}]


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")
def test_nobody_asks_for_more_than_the_contract_and_all_of_it_is_asked_for(asked, rng):
    X, y = rng.standard_normal((30, 2)), np.arange(30) % 3
    needed = set()
    for estimator in PREDICTORS:
        name = estimator.__name__
        for options in choices(estimator, "loss"):
            asked.clear()
            model = estimator(random_state=0, **options)
            model.fit(X, suited(model, y))
            dual, smooth = name.startswith("DPSCD"), name.startswith("DPCD")
            contract = DualLoss if dual else SmoothLoss if smooth else Loss
            assert asked <= members(contract), name
            needed |= asked
            if name.startswith("DPSCD"):
                asked.clear()
                duality_gap(model, X, y)
                assert asked <= members(DualLoss)
                needed |= asked
    asked.clear()
    # Two classes and little noise.
    DPCDClassifier(epsilon=100.0, random_state=0).fit(X, y > 0)
    # The radius of what an L1 penalty leaves.
    DPSGDClassifier(penalty="l1", random_state=0).fit(X, y > 0)
    needed |= asked
    assert needed == members(DualLoss) | members(SmoothLoss)
