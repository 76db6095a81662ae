"""Whitened against plain descent where features are correlated."""

import matplotlib.pyplot as plt
import numpy as np
from bands import draw_bands, finish
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from skdp.linear_model import DPLogisticRegression, DPSCDClassifier, DPSGDClassifier

EPSILONS = (0.1, 0.3, 1.0, 3.0)
# Ten correlated features of one scale, and an answer that depends on their differences.
generator = np.random.default_rng(0)
X = 0.8 * generator.standard_normal((10_000, 1)) + 0.3 * generator.standard_normal((10_000, 10))
y = (generator.random(10_000) < expit(X @ np.tile([2.0, -2.0], 5) + X[:, 0])).astype(int)
X, X_test, y, y_test = X[:5000], X[5000:], y[:5000], y[5000:]


def score(estimator, epsilon, seed):
    """Return the area under the ROC curve on held-out rows."""
    model = estimator(epsilon=epsilon, data_norm=3.0, classes=[0, 1], random_state=seed)
    return roc_auc_score(y_test, model.fit(X, y).decision_function(X_test))


figure, axes = plt.subplots(layout="constrained")
for estimator in (DPLogisticRegression, DPSCDClassifier, DPSGDClassifier):
    draw_bands(
        axes,
        lambda epsilon, seed, estimator=estimator: score(estimator, epsilon, seed),
        EPSILONS,
        range(3),
        estimator.__name__,
    )
axes.axhline(score(DPLogisticRegression, np.inf, 0), color="0.4", ls="--", lw=1, label="no privacy")
finish(axes, EPSILONS, r"$\varepsilon$", "area under the ROC curve")
