"""Pure and approximate differential privacy by the same algorithm."""

import matplotlib.pyplot as plt
import numpy as np
from bands import draw_bands, finish, logistic_data

from skdp.linear_model import DPSGDClassifier

EPSILONS = (0.1, 0.3, 1.0, 3.0)
X, y = logistic_data(9000, 10)
X, X_test, y, y_test = X[:4000], X[4000:], y[:4000], y[4000:]


def score(epsilon, seed, mechanism="gaussian"):
    """Return the accuracy on held-out rows."""
    model = DPSGDClassifier(
        mechanism=mechanism, epsilon=epsilon, data_norm=4.0, classes=[0, 1], random_state=seed
    )
    return model.fit(X, y).score(X_test, y_test)


figure, axes = plt.subplots(layout="constrained")
draw_bands(axes, score, EPSILONS, range(4), r'mechanism="gaussian", $\delta = 10^{-5}$')
draw_bands(
    axes,
    lambda epsilon, seed: score(epsilon, seed, "laplace"),
    EPSILONS,
    range(4),
    r'mechanism="laplace", $\delta = 0$',
)
axes.axhline(score(np.inf, 0), color="0.4", ls="--", lw=1, label="no privacy")
finish(axes, EPSILONS, r"$\varepsilon$", "accuracy on held-out rows")
