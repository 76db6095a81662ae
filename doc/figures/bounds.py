"""Accuracy against how far off a public bound on the rows is."""

import matplotlib.pyplot as plt
import numpy as np
from bands import draw_bands, finish, logistic_data
from sklearn.pipeline import make_pipeline

from skdp.linear_model import DPLogisticRegression
from skdp.preprocessing import NormClipper

FACTORS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
X, y = logistic_data(8000, 10)
X, X_test, y, y_test = X[:3000], X[3000:], y[:3000], y[3000:]
typical = np.sqrt(10)  # of ten standard normal features


def score(factor, seed, epsilon):
    """Return the accuracy on held-out rows."""
    data_norm = factor * typical
    classifier = DPLogisticRegression(
        epsilon=epsilon, data_norm=data_norm, classes=[0, 1], random_state=seed
    )
    model = make_pipeline(NormClipper(data_norm), classifier)
    return model.fit(X, y).score(X_test, y_test)


figure, axes = plt.subplots(layout="constrained")
for epsilon in (0.1, 1.0):
    draw_bands(
        axes,
        lambda factor, seed, epsilon=epsilon: score(factor, seed, epsilon),
        FACTORS,
        range(4),
        rf"$\varepsilon = {epsilon:g}$",
    )
axes.axhline(score(1.0, 0, np.inf), color="0.4", ls="--", lw=1, label="no privacy")
finish(axes, FACTORS, "data_norm over the length of a typical row", "accuracy on held-out rows")
