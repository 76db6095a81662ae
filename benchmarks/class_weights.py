"""Recall of a class of 1 % with and without weights that balance the classes.

Rows are generated: ten normal columns, in "flag" one of them a rare word that tells much. Recall is
that on other rows: "ranked" at a false-alarm rate of 5 %, whatever the threshold, and "at 0" of the
labels that the model predicts. Without privacy both are compared with those of LogisticRegression
with the same weights, on columns over the root of their mean square, which our penalty is on.

    python benchmarks/class_weights.py
"""

import math

import _common as bench
import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve

from skdp.linear_model import (
    DPCDClassifier,
    DPLogisticRegression,
    DPSCDClassifier,
    DPSGDClassifier,
)

SHARE, N_TEST, ALPHA, FALSE_ALARMS = 0.01, 50_000, 1e-4, 0.05
BALANCED = {0: 0.5 / (1.0 - SHARE), 1: 0.5 / SHARE}
METHODS = {
    "whitening": DPLogisticRegression(),
    "dpscd": DPSCDClassifier(),
    "dpscd hinge": DPSCDClassifier(loss="hinge"),
    "dpcd": DPCDClassifier(),
    "dpsgd": DPSGDClassifier(),
}
# Those that get to the optimum in little time.
EXACT = {
    "whitening": {"max_iter": 2000, "average": False},
    "dpcd": {"max_iter": 300},
}
NOTE = "Generated rows; the share of the class is taken as known."


def draw(kind, n_rows, seed):
    """Return rows and labels, the last of which are for tests."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows + N_TEST, 10))
    direction = np.random.default_rng(5).standard_normal(10)
    score = 1.5 * X @ direction / np.linalg.norm(direction)
    if kind == "flag":
        X[:, 0] = rng.uniform(size=len(X)) < 0.02
        score += (3.0 - 1.5 * direction[0] / np.linalg.norm(direction)) * X[:, 0]
    offset = brentq(lambda offset: expit(score + offset).mean() - SHARE, -50.0, 10.0)
    return X / 3.0, (rng.uniform(size=len(X)) < expit(score + offset)).astype(int)


def recalls(model, X, y):
    """Return the recall at a rate of false alarms, and that of what is predicted."""
    false, true, _ = roc_curve(y, model.decision_function(X), drop_intermediate=False)
    return np.interp(FALSE_ALARMS, false, true), model.predict(X)[y == 1].mean()


def measure(kind, n_rows, method, epsilon, weighted, seed):
    """Return the recalls of a fit, and those of scikit-learn's where there is no privacy."""
    X, y = draw(kind, n_rows, seed)
    weights = BALANCED if weighted else None
    options = {"epsilon": epsilon, "delta": 0.1 / n_rows, "alpha": ALPHA, "data_norm": 1.2}
    model = clone(METHODS[method]).set_params(class_weight=weights, classes=[0, 1], **options)
    if math.isinf(epsilon):
        model.set_params(fit_intercept=False, **EXACT[method])
    found = recalls(
        model.set_params(random_state=seed).fit(X[:n_rows], y[:n_rows]), X[n_rows:], y[n_rows:]
    )
    if not math.isinf(epsilon):
        return *found, math.nan, math.nan
    X /= np.sqrt(np.square(X[:n_rows]).mean(axis=0))
    peer = LogisticRegression(
        C=1.0 / (n_rows * ALPHA),
        class_weight=weights,
        fit_intercept=False,
        tol=1e-10,
        max_iter=10**4,
    ).fit(X[:n_rows], y[:n_rows])
    return *found, *recalls(peer, X[n_rows:], y[n_rows:])


def main(arguments=None):
    """Measure and write the table."""
    options = bench.read_options(
        __file__,
        __doc__,
        arguments,
        rows=[30_000],
        epsilons=[0.5, 2.0],
        seeds=[0, 1, 2, 3],
    )
    cells = [
        (kind, n_rows, method, epsilon, weighted)
        for kind in ("normal", "flag")
        for n_rows in options.rows
        for method in METHODS
        for epsilon in (*options.epsilons, *([math.inf] if method in EXACT else []))
        for weighted in (False, True)
    ]
    rows = []
    for cell, found in zip(
        cells, bench.run_cells(measure, cells, options.seeds, options), strict=True
    ):
        names = ("rows", "n_rows", "method", "epsilon", "weighted")
        row = dict(zip(names, cell, strict=True))
        row |= {"ranked": found[:, 0].mean(), "ranked_se": bench.summarize(found[:, 0], "se")["se"]}
        row |= {"at_0": found[:, 1].mean(), "at_0_se": bench.summarize(found[:, 1], "se")["se"]}
        row["peer_at_0"] = found[:, 3].mean()
        row["largest_gap"] = np.abs(found[:, 1] - found[:, 3]).max()
        rows.append(row)
    bench.write_table(pd.DataFrame(rows).round(4), "class_weights.csv", options, note=NOTE)


if __name__ == "__main__":
    bench.run_script(__file__)
