import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from skdp._losses import LOSSES, Huber, Multinomial

LABELS = {"squared_error": [-1.7, 0.0, 0.4], "hinge": [-1.0, 1.0], "log_loss": [-1.0, 1.0]}
NAMES = sorted(LOSSES)


@pytest.fixture(autouse=True)
def without_warnings_about_arithmetic():
    with np.errstate(all="ignore"):
        yield


def dual_range(name, y):
    """Interior of the interval that dual variables live in."""
    return (-3.0, 3.0) if name == "squared_error" else tuple(sorted((0.0, y)))


@pytest.mark.parametrize("name", NAMES)
def test_gradient_is_the_slope_of_the_value(name):
    loss = LOSSES[name]
    m = np.array([-30.0, -2.3, -0.4, 0.3, 0.9, 2.1, 30.0])
    h = 1e-6
    for y in LABELS[name]:
        slope = (loss.value(y, m + h) - loss.value(y, m - h)) / (2 * h)
        np.testing.assert_allclose(loss.gradient(y, m), slope, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_conjugate_is_the_supremum_over_predictions(name):
    """l*(-a) = sup_m (-a m - l(m)), here by brute force over m."""
    loss = LOSSES[name]
    m = np.linspace(-60.0, 60.0, 240_001)
    for y in LABELS[name]:
        low, high = dual_range(name, y)
        for share in (0.05, 0.3, 0.5, 0.95):
            a = low + share * (high - low)
            brute = np.max(-a * m - loss.value(y, m))
            assert loss.conjugate(y, a) == pytest.approx(brute, abs=1e-6)


@pytest.mark.parametrize("name", ["hinge", "log_loss"])
def test_conjugate_is_infinite_outside_the_dual_range(name):
    conjugate = LOSSES[name].conjugate
    np.testing.assert_array_equal(conjugate(1.0, np.array([-0.1, 1.1])), [np.inf, np.inf])
    assert np.isfinite(conjugate(-1.0, np.array([-1.0, -0.5, 0.0]))).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("c", [0.0, 1e-3, 0.7, 40.0, 1e6])
def test_dual_step_minimises_the_subproblem(name, c):
    """Equation 8 of the DP-SCD paper, against a bounded scalar minimiser."""
    loss = LOSSES[name]
    if name == "hinge" and c == 0.0:
        pytest.skip("a row of norm 0, for which the hinge step is 0 by definition")
    for y in LABELS[name]:
        low, high = dual_range(name, y)
        for share in (0.0, 0.2, 0.9, 1.0):
            a = low + share * (high - low)
            for m in (-25.0, -1.2, 0.0, 0.8, 7.0):

                def objective(z, y=y, a=a, m=m, low=low, high=high):
                    inside = np.clip(a + z, low, high) if name != "squared_error" else a + z
                    return loss.conjugate(y, inside) + m * z + 0.5 * c * z * z

                margin = 50.0 if name == "squared_error" else 0.0
                best = minimize_scalar(
                    objective,
                    bounds=(low - a - margin, high - a + margin),
                    method="bounded",
                    options={"xatol": 1e-12},
                )
                z = float(loss.dual_step(y, np.array([m]), np.array([a]), np.array([c]))[0])
                assert low - margin <= a + z <= high + margin
                assert objective(z) <= best.fun + 1e-8 * (1.0 + abs(best.fun))


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


@pytest.mark.parametrize("name", NAMES)
def test_certified_constants(name):
    loss = LOSSES[name]
    m = np.linspace(-8.0, 8.0, 4001)
    for y in LABELS[name]:
        gradient = loss.gradient(y, m)
        assert np.abs(gradient).max() <= loss.lipschitz
        assert np.abs(np.diff(gradient)).max() <= loss.smoothness * (m[1] - m[0]) * (1 + 1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_losses_are_frozen(name):
    with pytest.raises(AttributeError):
        LOSSES[name].smoothness = 2.0


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
    assert loss.value(wrong, np.zeros(n_classes)) == pytest.approx(loss.at_zero)
    # The smoothness is reached by two classes of probability 1/2 each.
    half = np.where(np.arange(n_classes) < 2, 50.0, 0.0)
    apart = np.where(np.arange(n_classes) == 0, 1.0, np.where(np.arange(n_classes) == 1, -1.0, 0.0))
    moved = loss.gradient(wrong, half + 1e-5 * apart) - loss.gradient(wrong, half)
    slope = np.linalg.norm(moved) / (1e-5 * np.linalg.norm(apart))
    assert slope == pytest.approx(loss.smoothness, rel=1e-5)
    other = m + 0.1 * rng.standard_normal(m.shape)
    moved = np.linalg.norm(loss.gradient(y, other) - gradient, axis=1)
    assert (moved <= loss.smoothness * np.linalg.norm(other - m, axis=1)).all()


@pytest.mark.parametrize("name", ["hinge", "log_loss"])
def test_loss_at_zero(name):
    loss = LOSSES[name]
    assert loss.value(1.0, 0.0) == loss.value(-1.0, 0.0) == pytest.approx(loss.at_zero)
