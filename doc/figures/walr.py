"""What it gains to protect labels alone, where features are public."""

import matplotlib.pyplot as plt
import numpy as np
from bands import draw_bands, finish, logistic_data
from sklearn.metrics import log_loss

from skdp.linear_model import DPSGDClassifier, WALRClassifier

EPSILONS = (0.1, 0.3, 1.0, 3.0)
X, y = logistic_data(9000, 20)
X, X_test, y, y_test = X[:5000], X[5000:], y[:5000], y[5000:]


def labels(epsilon, seed):
    """Return the log loss of WALR on held-out rows."""
    model = WALRClassifier(epsilon=epsilon, classes=[0, 1], random_state=seed)
    return log_loss(y_test, model.fit(X, y).predict_proba(X_test))


def rows(epsilon, seed):
    """Return the log loss of DP-SGD on held-out rows; replaced rows include replaced labels."""
    model = DPSGDClassifier(
        epsilon=epsilon,
        adjacency="replace_one",
        data_norm=5.0,
        classes=[0, 1],
        random_state=seed,
    )
    return log_loss(y_test, model.fit(X, y).predict_proba(X_test))


figure, axes = plt.subplots(layout="constrained")
draw_bands(axes, labels, EPSILONS, range(4), "WALRClassifier: a label is private")
draw_bands(axes, rows, EPSILONS, range(4), "DPSGDClassifier: a row is, its label included")
axes.axhline(labels(np.inf, 0), color="0.4", ls="--", lw=1, label="no privacy")
axes.axhline(np.log(2), color="0.4", ls=":", lw=1, label="guessing")
finish(axes, EPSILONS, r"$\varepsilon$", "log loss on held-out rows")
