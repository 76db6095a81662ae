r"""Objective perturbation with tight accounting, for losses of a linear model's decision value.

The exact minimiser of sum_i l(x_i' w; y_i) + lambda / 2 ||w||^2 + b' w with b of N(0, sigma^2 I) is
released: Redberg, Koskela and Wang (2023), "Improving the privacy and practicality of objective
perturbation for differentially private linear learners". Its privacy profile, derived anew for
neighbours of which one lacks a record (it contributes nothing):

Every b has one minimiser w, and w tells b(w) = -lambda w - sum_i l'_i x_i. With a further record x,
b(w) moves by g = l'(x' w) x and the Jacobian's determinant grows by the factor
1 + l'' x' H^-1 x, which is in [1, 1 + smoothness row_norm^2 / lambda]. As g is along x whatever w
is, the logarithm of the ratio of densities is, in both orders, at most

    (t^2 + 2 t |b' u|) / (2 sigma^2) + c,   u = x / ||x||,   t = ||g|| <= L,   c = log(1 + ...),

where b' u is N(0, sigma^2) in the order in question. With mu = L / sigma the profile is at most the
expectation of (1 - exp(epsilon - mu^2 / 2 - mu |Z| - c))_+ for a standard normal Z, which is a
closed form. What an inexact minimiser would reveal isn't counted, as the minimiser is found to
rounding; the paper's remedy would add noise.
"""

import math

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import brentq, minimize
from scipy.special import expit, log_ndtr, ndtr


def profile(epsilon, mu, loss_of_curvature):
    """Return the least delta that the proof above gives.

    Parameters
    ----------
    epsilon : float
    mu : float
        Bound on a gradient over the noise's standard deviation.
    loss_of_curvature : float
        c above.
    """
    shifted = epsilon - loss_of_curvature
    # Where the loss exceeds epsilon.
    first = max((shifted - mu**2 / 2.0) / mu, 0.0)
    return max(2.0 * (ndtr(-first) - math.exp(shifted + log_ndtr(-first - mu))), 0.0)


def calibrate_objective(epsilon, delta, loss_of_curvature):
    """Return mu, the largest for which the profile at epsilon is at most delta."""
    if loss_of_curvature >= epsilon:
        raise ValueError("The penalty is too weak for epsilon.")

    def excess(log_mu):
        found = profile(epsilon, math.exp(log_mu), loss_of_curvature)
        return math.log(max(found, 1e-300)) - math.log(delta)

    # At the lower end of the last bracket, so that delta isn't exceeded.
    return math.exp(brentq(excess, -20.0, 5.0, xtol=1e-12) - 1e-9)


def logistic(decision, y):
    """Return the loss and its derivative, for labels -1 and 1."""
    return np.logaddexp(0.0, -y * decision), -y * expit(-y * decision)


def huber(slope):
    """Return half the squared error, of which the derivative is at most `slope`, and that."""

    def loss(decision, y):
        error = decision - y
        derivative = np.clip(error, -slope, slope)
        return derivative * (error - derivative / 2.0), derivative

    return loss


def fit_objective(
    X, y, epsilon, delta, *, loss, slope, smoothness, row_norm, share, alpha=0.0, seed=None
):
    """Return the weights (d,).

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows of norm at most `row_norm`.
    y : ndarray of shape (n,)
    epsilon, delta : float
    loss : callable
        Values and derivatives by decision values and y.
    slope, smoothness : float
        Bounds on the loss's derivative and second derivative.
    row_norm : float
    share : float
        Share of epsilon that the curvature may lose: the smaller, the stronger is the penalty and
        the smaller the noise.
    alpha : float, default=0.0
        The penalty's strength for a row is at least this.
    seed : int
    """
    n_rows, n_columns = X.shape
    penalty = smoothness * row_norm**2 / math.expm1(share * epsilon)
    penalty = max(penalty, n_rows * alpha)
    lost = math.log1p(smoothness * row_norm**2 / penalty)
    sigma = slope * row_norm / calibrate_objective(epsilon, delta, lost)
    b = sigma * np.random.default_rng(seed).normal(size=n_columns)

    # In coordinates in which the greatest curvature that there may be is that of a sphere.
    curvature = smoothness * (X.T @ X) + penalty * np.eye(n_columns)
    root = np.linalg.cholesky(curvature / n_rows)

    def objective(v):
        w = solve_triangular(root, v, lower=True, trans="T")
        values, derivatives = loss(X @ w, y)
        value = values.sum() + penalty / 2.0 * w @ w + b @ w
        gradient = (X.T @ derivatives + penalty * w + b) / n_rows
        return value / n_rows, solve_triangular(root, gradient, lower=True)

    settings = {"maxiter": 1000, "gtol": 1e-9, "ftol": 1e-15, "maxcor": 20}
    found = minimize(objective, np.zeros(n_columns), jac=True, method="L-BFGS-B", options=settings)
    return solve_triangular(root, found.x, lower=True, trans="T")
