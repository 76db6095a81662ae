"""DP-SCD for ridge regression, transcribed from Algorithm 1 of Damaskinos et al. (2021).

This is NOT the authors' code, but the paper's pseudo code, line by line, as research code is
written: NumPy in a loop over the samples of a mini-batch. Mini-batches are cut from an order that
is shuffled once a pass, which costs less than drawing each from all samples. The noise multiplier
is a constant: it doesn't change the time, and calibration is left out.
"""

import numpy as np
from _peer import run

ALPHA = 1e-4
CLIPPING = 1.0
SIGMA = 1.0


def dpscd(X, y, batch_size, passes, rng):
    """Return the model of Algorithm 1 for the squared loss.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows of norm at most 1.
    y : ndarray of shape (n,)
    batch_size : int
        L.
    passes : int
    rng : numpy.random.Generator
    """
    n_samples, n_features = X.shape
    scale = 1.0 / (ALPHA * n_samples)
    squared_norms = (X**2).sum(axis=1)
    noise_std = SIGMA * np.sqrt(2.0) * CLIPPING
    a = np.zeros(n_samples)
    v = np.zeros(n_features)
    for _ in range(passes):
        order = rng.permutation(n_samples)
        for start in range(0, n_samples, batch_size):
            batch = order[start : start + batch_size]
            delta_v = np.zeros(n_features)
            delta_a = np.zeros(n_samples)
            for j in batch:
                x = X[j]
                zeta = (y[j] - a[j] - scale * (v @ x)) / (
                    1.0 + batch_size * squared_norms[j] * scale
                )
                zeta /= max(1.0, abs(zeta) / CLIPPING)
                delta_v += zeta * x
                delta_a[j] += zeta
            a[batch] += delta_a[batch] + rng.normal(0.0, noise_std, batch.size)
            v += delta_v + rng.normal(0.0, noise_std, n_features)
    return scale * v


def prepare(X, y, batch_size, passes):
    rng = np.random.default_rng(0)
    return lambda: dpscd(X, y, batch_size, passes, rng)


if __name__ == "__main__":
    run(prepare, ["numpy"])
