"""Penalties on weights that have other axes than the rows' moment."""

import math

import numpy as np
import pytest

from tests._loops import for_each
from tests._runs import run_of
from tests.door import (
    RULES,
    CertifiedRows,
    choose_steps,
    noise_covariance,
    solve_whitened,
    whiten,
)
from tests.linear_model.whitened.test_plan import BIAS, plan
from tests.linear_model.whitened.test_solver import no_noise, plan_of, problem  # noqa: F401
from tests.linear_model.whitened.test_whitening import moment_of, noise_like, plain_shrink

ROUGHNESS = 0.3 * np.outer([1.0, -2.0, 1.0, 0.0], [1.0, -2.0, 1.0, 0.0])


def of_weights(matrix):
    """The same for weights, of which the intercept's is last."""
    return np.pad(matrix, (0, 1))


def known_moment(made, moment):
    """The moment that a map allows for without what noise hides, by its formula, and that."""
    p = len(moment)
    values, vectors = np.linalg.eigh(moment)
    hidden = made.moment.mechanism.noise_std * math.sqrt(p / 2.0) / made.n_records
    shrunk = plain_shrink(values, hidden)
    largest = made.problem.row_norm**2
    shrunk *= min(largest, max(values.sum(), made.problem.bias**2, largest / 100)) / shrunk.sum()
    return (vectors * shrunk) @ vectors.T, hidden


@for_each("strength", [1e-6, 1e-2, 1.0, 1e3])
@for_each("n_records", [200, 10**5])
def test_the_map_is_of_the_moment_and_of_the_penalty(n_records, strength, rng):
    made = plan(n_records=n_records, roughness=strength * ROUGHNESS)
    moment = moment_of(np.array([0.01, 0.05, 0.1, 0.2, 0.4]), rng) + noise_like(5, 0.01, rng)
    moment = 0.5 * (moment + moment.T)
    white = whiten(moment, made)
    known, hidden = known_moment(made, moment)
    penalty = made.problem.alpha * np.eye(5) + of_weights(strength * ROUGHNESS)
    expected = known + hidden * np.eye(5) + penalty / made.problem.smoothness
    np.testing.assert_array_equal(white.A, white.A.T)
    np.testing.assert_allclose(white.A @ expected @ white.A, np.eye(5), atol=1e-9 * len(moment))
    np.testing.assert_allclose(white.moment, known + hidden * np.eye(5), atol=1e-12)
    np.testing.assert_allclose(white.penalty, penalty, rtol=1e-12)
    assert white.effective_columns == pytest.approx(np.trace(white.A @ known @ white.A), rel=1e-9)
    lengths = np.linalg.eigvalsh(white.A)
    assert lengths[-1] / lengths[0] == pytest.approx(white.stretch, rel=1e-6)


def test_a_penalty_of_nothing_changes_nothing_but_axes(rng):
    moment = moment_of(np.array([0.01, 0.05, 0.1, 0.2, 0.4]), rng)
    without, with_none = (
        choose_steps(whiten(moment, made), made, RULES["log_loss"])
        for made in (plan(), plan(roughness=np.zeros((4, 4))))
    )
    np.testing.assert_allclose(with_none.white.A, without.white.A, rtol=1e-9, atol=1e-12)
    assert with_none.noise == pytest.approx(without.noise, rel=1e-9)
    np.testing.assert_allclose(
        noise_covariance(with_none), noise_covariance(without), rtol=1e-8, atol=1e-15
    )


def test_a_penalty_reaches_weights_in_the_units_of_a_ball():
    """By predictions: coefficients of rows as they are, from any weights, cost the same."""
    center, scale = np.array([0.3, -2.0, 5.0, 0.1]), np.array([0.5, 2.0, 3.0, 0.25])

    def outside(weights):
        coefs = weights.copy()
        coefs[:, :4] /= scale
        coefs[:, -1] -= coefs[:, :4] @ center / BIAS
        return coefs

    made = plan(roughness=ROUGHNESS).following(2.0, 1.5, outside)
    weights = np.array([[0.3, -1.0, 2.0, 0.7, -0.4]])
    coefs = outside(weights)[0, :4]
    cost = (weights @ made.known_roughness @ weights.T).item()
    assert cost == pytest.approx(coefs @ ROUGHNESS @ coefs, rel=1e-12)
    assert plan().known_roughness is None
    assert plan(roughness=ROUGHNESS, moment_budget=0.0).known_roughness is None


@for_each("name", ["log_loss", "squared_error", "multinomial", "tweedie"])
def test_the_loop_is_the_algorithm(name, rng, no_noise):  # noqa: F811
    """Row by row, with every matrix built."""
    rows, full, Y, loss = problem(rng, name)
    settings = {"max_iter": 8, "clipping_norm": 0.3, "step_size": 0.8, "momentum": 0.4}
    made = plan_of(rows, Y, loss, roughness=ROUGHNESS, epsilon=30.0, alpha=0.01, **settings)
    with CertifiedRows(rows, Y, loss).at_work() as sums:
        found, steps = solve_whitened(sums, plan=made, rules=RULES[name], run=run_of(made))
    known, hidden = known_moment(made, sum(np.outer(z, z) for z in full) / len(full))
    penalty = 0.01 * np.eye(5) + of_weights(ROUGHNESS)
    values, vectors = np.linalg.eigh(known + hidden * np.eye(5) + penalty / loss.smoothness)
    A = vectors @ np.diag(values**-0.5) @ vectors.T
    u, v, iterates = np.zeros((5, Y.shape[1])), 0.0, []
    for _ in range(8):
        total = np.zeros_like(u)
        for z, y in zip(full, Y, strict=True):
            contribution = np.outer(A @ z, loss.gradient(y, u.T @ (A @ z)))
            total += contribution * min(1.0, 0.3 / max(np.linalg.norm(contribution), 1e-300))
        v = 0.4 * v + total / len(full) + A @ penalty @ (A @ u)
        u = u - 0.8 * v
        iterates.append(A @ u)
    expected = np.mean(iterates[steps.first :], axis=0).T
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@for_each("name", ["log_loss", "squared_error"])
@for_each("strength", [1e-3, 0.1, 10.0])
def test_the_predicted_noise_is_that_of_the_steps(strength, name, rng):
    """By one unit of noise in each entry of each step, taken through the steps as they are run."""
    smoothness = {"log_loss": 0.25, "squared_error": 1.0}[name]
    made = plan(n_records=3000, smoothness=smoothness, roughness=strength * ROUGHNESS, max_iter=9)
    moment = moment_of(np.array([0.01, 0.05, 0.1, 0.2, 0.4]), rng)
    steps = choose_steps(whiten(moment, made), made, RULES[name])
    known, _ = known_moment(made, moment)
    A, penalty = steps.white.A, 1e-4 * np.eye(5) + of_weights(strength * ROUGHNESS)
    hessian = A @ (RULES[name].curvature * smoothness * known + penalty) @ A
    unit = steps.clip * made.steps.noise_multiplier * math.sqrt(steps.n_steps) / made.n_records
    expected = np.zeros((5, 5))
    for k in range(steps.n_steps):
        u, v, total = np.zeros((5, 5)), np.zeros((5, 5)), np.zeros((5, 5))
        for t in range(steps.n_steps):
            v = steps.momentum * v + hessian @ u + (t == k) * unit * np.eye(5)
            u = u - steps.size * v
            total += u * (t >= steps.first)
        of_weight = A @ total / (steps.n_steps - steps.first)
        expected += of_weight @ of_weight.T
    np.testing.assert_allclose(
        noise_covariance(steps), expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max()
    )
    assert steps.noise == pytest.approx(np.trace(expected @ known), rel=1e-6)


@for_each("strength", [1e-6, 1e-2, 1.0, 1e3])
@for_each("n_records", [200, 10**5])
@for_each("name", ["log_loss", "squared_error"])
def test_no_penalty_makes_a_step_too_long(name, n_records, strength, rng):
    smoothness = {"log_loss": 0.25, "squared_error": 1.0}[name]
    made = plan(n_records=n_records, smoothness=smoothness, roughness=strength * ROUGHNESS)
    clean = np.diag([0.001, 0.05, 0.2, 0.4, BIAS**2])
    white = whiten(clean + noise_like(5, 1e-3, rng), made)
    steps = choose_steps(white, made, RULES[name])
    penalty = white.A @ white.penalty @ white.A
    assert steps.size * np.linalg.eigvalsh(penalty)[-1] <= 1.0 + 1e-9
    curvature = smoothness * white.A @ clean @ white.A + penalty
    assert steps.size * np.linalg.eigvalsh(curvature)[-1] < 2.0 * (1.0 + steps.momentum)
