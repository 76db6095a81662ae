"""DP-GD: noisy gradient steps over all rows, as they are, of which each is clipped.

The releases are full-batch Gaussians, which compose to one exactly: each has sqrt(T) times the
noise of one release. The mean of the later half of the iterates is returned. It is what private
whitening is without whitening, momentum and its choice of steps.
"""

import math

import numpy as np
from scipy.special import expit, softmax

from skdp.accountant import calibrate


def slopes_logistic(decision, y):
    return -y * expit(-y * decision)


def slopes_squares(decision, y):
    return decision - y


def slopes_softmax(decision, y):
    return softmax(decision, axis=1) - y


# Derivatives of losses by decision values (n, k), and bounds on the derivative of that.
LOSSES = {
    "binary": (slopes_logistic, 0.25),
    "regression": (slopes_squares, 1.0),
    "multiclass": (slopes_softmax, 0.5),
}


def noise_multiplier(epsilon, delta, n_steps):
    """Return the noise of a step in units of the clipping norm."""
    return math.sqrt(n_steps) * calibrate(epsilon, delta)


def fit_descent(X, y, epsilon, delta, *, loss, row_norm, steps, clip, size, seed=None):
    """Return the weights (d, k).

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n, k)
        Labels -1 and 1 or targets, k = 1; or one-hot labels.
    epsilon, delta : float
    loss : str
        A key of `LOSSES`.
    row_norm : float
        Units of `clip`; rows needn't be shorter.
    steps : int
    clip : float
        Bound on a row's gradient over `row_norm`.
    size : float
        Length of a step over that which is stable for any rows of the norm.
    seed : int
    """
    slopes_of, smoothness = LOSSES[loss]
    rng, (n_rows, n_columns) = np.random.default_rng(seed), X.shape
    bound = clip * row_norm
    sigma = noise_multiplier(epsilon, delta, steps) * bound
    norms = np.sqrt(np.einsum("ij,ij->i", X, X))[:, np.newaxis]
    w = mean = np.zeros((n_columns, y.shape[1]))
    n_kept = max(steps // 2, 1)
    for step in range(steps):
        slopes = slopes_of(X @ w.astype(X.dtype), y)
        lengths = norms * np.linalg.norm(slopes, axis=1, keepdims=True)
        slopes *= np.minimum(1.0, bound / np.maximum(lengths, 1e-30))
        gradient = (X.T @ slopes + sigma * rng.normal(size=w.shape)) / n_rows
        w = w - size / (smoothness * row_norm**2) * gradient
        if step >= steps - n_kept:
            mean = mean + w / n_kept
    return mean
