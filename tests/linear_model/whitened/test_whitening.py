import math

import numpy as np
import pytest
from sklearn.isotonic import isotonic_regression

from tests._loops import for_each
from tests.door import as_symmetric, shrink, whiten
from tests.linear_model.whitened.test_plan import BIAS, plan


def moment_of(values, rng):
    Q = np.linalg.qr(rng.standard_normal((values.size, values.size)))[0]
    return (Q * values) @ Q.T


def noise_like(p, tau, rng):
    G = rng.standard_normal((p, p))
    return (G + G.T) * (0.5 * tau / math.sqrt(p / 2.0))


def test_without_noise_the_moment_becomes_the_identity(rng):
    moment = moment_of(np.array([1e-6, 0.01, 0.3, 1.0]), rng)
    white = whiten(moment, plan(epsilon=math.inf, n_columns=4, alpha=1e-30))
    np.testing.assert_allclose(white.A @ moment @ white.A, np.eye(4), atol=1e-6)
    assert white.effective_columns == pytest.approx(4.0, rel=1e-6)


def test_a_singular_moment_without_noise_stretches_nothing_without_end(rng):
    moment = moment_of(np.array([0.0, 0.0, 0.3, 1.0]), rng)
    white = whiten(moment, plan(epsilon=math.inf, n_columns=4, alpha=1e-30))
    assert np.isfinite(white.A).all()
    assert white.effective_columns < 3.0
    assert np.isfinite(whiten(np.zeros((4, 4)), plan(epsilon=math.inf, n_columns=4)).A).all()


@pytest.mark.long
@for_each("n_records", [1, 200, 10**5, 10**9])
@for_each("alpha", [1e-30, 1e-4, 100.0])
@for_each("size", [-5.0, 0.0, 0.3, 1e3])
@for_each("bias", [0.0, BIAS])
def test_the_map_is_what_its_bounds_say(bias, size, alpha, n_records, rng):
    """For any release, an absurd one too: symmetric to the last bit, and stretched by no more."""
    sizes = {"bias": bias, "row_norm": math.hypot(1.0, bias)}
    made = plan(n_records=n_records, n_columns=6, alpha=alpha, **sizes)
    moment = moment_of(size * rng.uniform(size=6), rng) + noise_like(6, 0.1, rng)
    moment = 0.5 * (moment + moment.T)
    white = whiten(moment, made)
    np.testing.assert_array_equal(white.A, white.A.T)
    lengths = np.linalg.eigvalsh(white.A)
    assert lengths[0] > 0.0
    assert lengths[-1] / lengths[0] <= white.stretch * (1.0 + 1e-9)
    largest = made.problem.row_norm**2
    hidden = made.moment.mechanism.noise_std / n_records * math.sqrt(6 / 2.0)
    penalty = alpha / made.problem.smoothness
    assert white.noise == pytest.approx(hidden)
    assert white.stretch <= math.sqrt(1.0 + largest / (hidden + penalty)) * (1.0 + 1e-9)
    signal = white.signal * white.scale
    assert (signal >= 0.0).all()
    trace = min(max(np.trace(moment), bias**2, largest / 100.0), largest)
    assert signal.sum() == pytest.approx(trace, rel=1e-9)
    np.testing.assert_allclose(white.scale, signal + hidden + penalty, rtol=1e-12)
    vectors = np.linalg.eigh(moment)[1]
    np.testing.assert_allclose(
        np.einsum("ij,ik,kj->j", vectors, white.A, vectors), white.scale**-0.5, rtol=1e-6
    )


@pytest.mark.parametrize("size", [0.0, 1e-200, 0.3, 1e200])
def test_a_public_moment_stretches_by_what_it_says(size, rng):
    """However wrong it is: the trace that a released one is held to is no bound of this one's."""
    made = plan(n_columns=6, public_moment=np.eye(6), moment_budget=0)
    white = whiten(moment_of(size * np.array([0.0, 0.0, 1e-3, 0.1, 0.5, 1.0]), rng), made)
    lengths = np.linalg.eigvalsh(white.A)
    assert lengths[0] > 0.0
    assert lengths[-1] / lengths[0] <= white.stretch * (1.0 + 1e-9)
    assert np.isfinite(white.stretch)


def test_a_moment_that_was_not_bought_divides_by_the_bound():
    made = plan(moment_budget=0.0, n_columns=4, alpha=0.5)
    white = whiten(None, made)
    np.testing.assert_allclose(
        white.A.toarray(), np.eye(4) / math.sqrt(made.problem.row_norm**2 + 2.0)
    )
    assert white.stretch == 1.0
    assert white.effective_columns == pytest.approx(1.0)


def plain_shrink(values, tau):
    """The formula term by term."""
    p = values.size
    moved = [
        one - 2.0 * tau**2 / p * sum((one - x) / ((one - x) ** 2 + tau**2 / p) for x in values)
        for one in values
    ]
    return np.maximum(isotonic_regression(np.array(moved)), 0.0)


def test_shrinkage_is_its_formula(rng):
    for tau in (1e-9, 0.05, 3.0, 1e8):
        values = np.sort(rng.standard_normal(12))
        found = shrink(values, tau)
        np.testing.assert_allclose(found, plain_shrink(values, tau), rtol=1e-9, atol=1e-12)
        assert (np.diff(found) >= -1e-12 * found.max()).all()


def test_shrinkage_takes_any_size_of_noise():
    values = np.array([-1e150, 0.0, 1e150])
    for tau in (1e-150, 1.0, 1e150, 1e160):
        with np.errstate(over="ignore"):
            assert np.isfinite(shrink(values, tau)).all()


def test_shrunk_eigenvalues_are_nearer_to_what_is_there(rng):
    """Along each eigenvector of a noisy matrix, of what the clean one has: the mean of many.

    The mean squared error falls from 1e-3 to 4e-5, with a spread of a tenth of the former.
    """
    p, tau = 60, 0.05
    clean = moment_of(np.r_[np.full(p - 6, 0.02), np.linspace(0.3, 1.0, 6)], rng)
    raw = shrunk = 0.0
    for _ in range(30):
        values, vectors = np.linalg.eigh(clean + noise_like(p, tau, rng))
        there = np.einsum("ij,ik,kj->j", vectors, clean, vectors)
        raw += np.square(np.maximum(values, 0.0) - there).mean()
        shrunk += np.square(shrink(values, tau) - there).mean()
    assert shrunk < 0.2 * raw


def test_half_of_the_largest_eigenvalue_of_noise_alone(rng):
    """The release's noise, by the code that makes a matrix of it: at its edge are 2 tau."""
    p = 120
    made = plan(n_columns=p)
    vector = (
        rng.standard_normal(p * (p + 1) // 2) * made.moment.mechanism.noise_std / made.n_records
    )
    largest = np.linalg.eigvalsh(as_symmetric(vector, p))[-1]
    white = whiten(as_symmetric(vector, p), made)
    assert 0.85 < largest / (2.0 * white.noise) < 1.1
