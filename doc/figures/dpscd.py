"""What a hidden exact dual variable gains over a noisy one."""

import matplotlib.pyplot as plt
import numpy as np
from bands import draw_bands, finish

from skdp.linear_model import DPSCDRegressor

EPSILONS = (0.1, 0.3, 1.0, 3.0)
generator = np.random.default_rng(0)
X = generator.standard_normal((6000, 10))
y = X @ np.linspace(1, -1, 10) + generator.standard_normal(6000)
X, X_test, y, y_test = X[:4000], X[4000:], y[:4000], y[4000:]


def error(epsilon, seed, noisy_dual=False):
    """Return the mean squared error on held-out rows."""
    model = DPSCDRegressor(
        epsilon=epsilon,
        data_norm=4.0,
        target_bounds=(-6, 6),
        noisy_dual=noisy_dual,
        random_state=seed,
    )
    return np.mean((model.fit(X, y).predict(X_test) - y_test) ** 2)


figure, axes = plt.subplots(layout="constrained")
draw_bands(axes, error, EPSILONS, range(4), "default: the dual variable is hidden")
draw_bands(
    axes,
    lambda epsilon, seed: error(epsilon, seed, noisy_dual=True),
    EPSILONS,
    range(4),
    "noisy_dual=True: Algorithm 1 as published",
)
axes.axhline(error(np.inf, 0), color="0.4", ls="--", lw=1, label="no privacy")
finish(axes, EPSILONS, r"$\varepsilon$", "squared error on held-out rows", ylim=(0.9, None))
