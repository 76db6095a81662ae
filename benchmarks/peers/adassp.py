"""AdaSSP: ridge regression from noisy sufficient statistics, with a penalty that follows the noise.

Wang (2018), "Revisiting differentially private linear regression", Algorithm 2, with exact Gaussian
accounting in place of its three thirds of epsilon and delta: the smallest eigenvalue, X'X and X'y
are three Gaussian releases of a third of the squared parameter each, which compose to one Gaussian.
A third each is the paper's share. `shrink` multiplies the paper's penalty, which is for the worst
case; 1 is the paper's. Negative eigenvalues of the noisy X'X become 0 before the penalty is added,
which costs nothing and lets it be smaller.
"""

import math

import numpy as np

from skdp.accountant import calibrate

# Probability that the paper's penalty may be too small.
_RHO = 0.05
_N_RELEASES = 3


def noise_multipliers(epsilon, delta):
    """Return the noise of the three releases, in units of each one's sensitivity."""
    return np.full(_N_RELEASES, math.sqrt(_N_RELEASES) * calibrate(epsilon, delta))


def fit_adassp(X, y, epsilon, delta, *, row_norm, shrink=1.0, seed=None):
    """Return the weights (d,).

    Neighbours differ in one record, which contributes nothing to one of them: X'X moves by at most
    row_norm^2 in the Frobenius norm, its smallest eigenvalue by as much, and X'y by row_norm.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows of norm at most `row_norm`.
    y : ndarray of shape (n,)
        Targets in [-1, 1].
    epsilon, delta : float
    row_norm : float
    shrink : float, default=1.0
        Above 0.
    seed : int
    """
    rng, n_columns = np.random.default_rng(seed), X.shape[1]
    of_value, of_moment, of_product = noise_multipliers(epsilon, delta)
    moment = X.T @ X
    least = np.linalg.eigvalsh(moment)[0] + of_value * row_norm**2 * rng.normal()
    # Below the true one with probability 1 - delta / 6, as in the paper.
    least = max(least - of_value * row_norm**2 * math.sqrt(math.log(6.0 / delta)), 0.0)
    root = math.sqrt(n_columns * math.log(2.0 * n_columns**2 / _RHO))
    penalty = max(shrink * of_moment * row_norm**2 * root - least, 0.0)
    moment += of_moment * row_norm**2 * symmetric_noise(n_columns, rng)
    product = X.T @ y + of_product * row_norm * rng.normal(size=n_columns)
    # Noise may leave it indefinite. The paper's penalty makes up for that, a smaller one may not.
    values, vectors = np.linalg.eigh(moment)
    values = np.maximum(values, 0.0) + penalty
    return vectors @ (vectors.T @ product / np.maximum(values, 1e-12 * values[-1]))


def symmetric_noise(n_columns, rng):
    """Return noise of which the Frobenius norm is Euclidean: off the diagonal variance is 1/2."""
    noise = rng.normal(size=(n_columns, n_columns))
    return (noise + noise.T) / 2.0
