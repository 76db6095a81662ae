"""Coordinate against gradient descent where features have scales of their own."""

import matplotlib.pyplot as plt
import numpy as np
from bands import draw_bands, finish
from sklearn.metrics import r2_score

from skdp.linear_model import DPCDLasso, DPSGDRegressor

EPSILONS = (0.1, 0.3, 1.0, 3.0)
# Eight features of typical sizes from 1 to 0.01, of which everyone knows that they are below 3.
generator = np.random.default_rng(0)
Z = generator.standard_normal((7000, 8))
y = Z @ np.array([1, -1, 1, -1, 1, -1, 1, -1]) + generator.standard_normal(7000)
X = Z * np.logspace(0, -2, 8)
X, X_test, y, y_test = X[:5000], X[5000:], y[:5000], y[5000:]


def lasso(epsilon, seed):
    """Return the R2 of DP-CD on held-out rows."""
    model = DPCDLasso(
        epsilon=epsilon, feature_bounds=(-3, 3), target_bounds=(-9, 9), random_state=seed
    )
    return r2_score(y_test, model.fit(X, y).predict(X_test))


def descent(epsilon, seed):
    """Return the R2 of DP-SGD on held-out rows."""
    model = DPSGDRegressor(epsilon=epsilon, data_norm=3.0, target_bounds=(-9, 9), random_state=seed)
    return r2_score(y_test, model.fit(X, y).predict(X_test))


figure, axes = plt.subplots(layout="constrained")
draw_bands(axes, lasso, EPSILONS, range(4), "DPCDLasso")
draw_bands(axes, descent, EPSILONS, range(4), "DPSGDRegressor")
finish(axes, EPSILONS, r"$\varepsilon$", "$R^2$ on held-out rows", ylim=(0, 1))
