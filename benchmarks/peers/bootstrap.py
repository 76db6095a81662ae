"""The parametric bootstrap for private least squares, after Ferrando, Wang and Sheldon (2022).

Sums of squares and products are released with Gaussian noise, once. Least squares from them is the
estimate, and new sums are drawn from what it says of the population, noise included, to see how
estimates vary.

Ferrando, Wang and Sheldon (2022). Parametric bootstrap for differentially private confidence
intervals. AISTATS. Algorithm 1, with the sums of their section on linear regression.
"""

import numpy as np

from skdp.accountant import calibrate

N_DRAWS = 200


def _noise(size, scale, rng):
    """Return symmetric noise: a Gaussian mechanism on entries, those off the diagonal once."""
    entries = rng.standard_normal((size, size)) * scale
    return (entries + entries.T) / 2.0


def bootstrap_interval(Z, y, epsilon, delta, *, row_norm, level, seed):
    """Return the ends of intervals for all weights, of shape (p, 2).

    Parameters
    ----------
    Z : ndarray of shape (n, p)
        Rows of a norm up to `row_norm`.
    y : ndarray of shape (n,)
        In [-1, 1].
    """
    rng = np.random.default_rng(seed)
    n, p = Z.shape
    # The sums are one symmetric matrix of rows with their targets.
    scale = calibrate(epsilon, delta) * (row_norm**2 + 1.0)
    rows = np.column_stack([Z, y])
    sums = rows.T @ rows + _noise(p + 1, scale, rng)
    values, vectors = np.linalg.eigh(sums[:p, :p])
    products = (vectors * np.maximum(values, scale)) @ vectors.T
    w = np.linalg.solve(products, sums[:p, p])
    variance = max((sums[p, p] - sums[:p, p] @ w) / n, 1e-6)
    root = np.linalg.cholesky(products) * np.sqrt(variance)
    draws = np.empty((N_DRAWS, p))
    for draw in draws:
        again = _noise(p + 1, scale, rng)
        right = products @ w + root @ rng.standard_normal(p) + again[:p, p]
        draw[:] = np.linalg.solve(products + again[:p, :p], right)
    low, high = np.quantile(draws - w, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
    return np.column_stack([w - high, w - low])
