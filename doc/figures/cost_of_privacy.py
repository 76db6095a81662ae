"""Accuracy against epsilon for data sets of several sizes, made up."""

import matplotlib.pyplot as plt
import numpy as np
from bands import draw_bands, finish, logistic_data

from skdp.linear_model import DPLogisticRegression

EPSILONS = (0.1, 0.3, 1.0, 3.0)
X, y = logistic_data(20_000, 10)
X_test, y_test = X[10_000:], y[10_000:]


def score(n_rows, epsilon, seed):
    """Return the accuracy of a fit on rows of its own."""
    rows = np.random.default_rng(seed).choice(10_000, n_rows, replace=False)
    model = DPLogisticRegression(epsilon=epsilon, data_norm=4.0, classes=[0, 1], random_state=seed)
    return model.fit(X[rows], y[rows]).score(X_test, y_test)


figure, axes = plt.subplots(layout="constrained")
for n_rows in (200, 2000, 10_000):
    draw_bands(
        axes,
        lambda epsilon, seed, n_rows=n_rows: score(n_rows, epsilon, seed),
        EPSILONS,
        range(6 if n_rows < 10_000 else 2),
        f"{n_rows:,} people",
    )
axes.axhline(score(10_000, np.inf, 0), color="0.4", ls="--", lw=1, label="10,000, no privacy")
finish(axes, EPSILONS, r"$\varepsilon$   (stronger privacy to the left)", "accuracy on new people")
