"""Private Frank-Wolfe steps within an L1 ball, on the tables of ten thousand columns of wide.py.

Each step moves towards the corner of the ball that a noisy choice takes (Talwar, Thakurta and Zhang
2015); Raff, Khanna and Lu (2023) make the same steps on sparse rows faster. Of twenty settings the
one with the least log loss on the rows that are scored is taken, which favours it, and isn't
private. Log loss and area under the curve (AUC) are means over seeds, with standard errors; rows
and seeds are those of wide.py.

    python benchmarks/frank_wolfe.py
"""

import itertools

import _common as bench
import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.metrics import log_loss, roc_auc_score
from wide import DELTA, ROWS, make

from skdp.accountant import calibrate

TABLES = ["text", "text, many words", "one-hot"]
RADII, STEPS = (3.0, 10.0, 30.0, 100.0), (10, 30, 100, 300, 1000)


def fit(X, y, *, epsilon, radius, n_steps, seed):
    """Return weights of the columns and of the intercept, of rows with values in [0, 1]."""
    rng, w = np.random.default_rng(seed), np.zeros(X.shape[1] + 1)
    # A record moves each score by at most 1. The factor is that of doc/theory/greedy.rst.
    scale = np.sqrt(np.pi / 2.0) * calibrate(epsilon, DELTA, n_steps=n_steps)
    for step in range(n_steps):
        slopes = expit(X @ w[:-1] + w[-1]) - y
        scores = np.append(X.T @ slopes, slopes.sum())
        noisy = np.concatenate([-scores, scores]) / scale + rng.gumbel(size=2 * w.size)
        place, rate = np.argmax(noisy), 2.0 / (step + 2.0)
        w *= 1.0 - rate
        w[place % w.size] += rate * radius * (1.0 if place < w.size else -1.0)
    return w


def best(name, epsilon, n_rows, seed):
    """Return the log loss and AUC of the best setting on rows that no step saw."""
    X, y = make(name, n_rows + n_rows // 2, seed)
    train, test = slice(0, n_rows), slice(n_rows, None)
    found = []
    for radius, n_steps in itertools.product(RADII, STEPS):
        how = {"epsilon": epsilon, "radius": radius, "n_steps": n_steps, "seed": seed}
        w = fit(X[train], y[train], **how)
        p = expit(X[test] @ w[:-1] + w[-1])
        found.append((log_loss(y[test], p), roc_auc_score(y[test], p)))
    return min(found)


def main(arguments=None):
    """Measure and write the table."""
    named = {"tables": TABLES, "epsilons": [0.5, 1.0, 4.0]}
    options = bench.read_options(__file__, __doc__, arguments, seeds=range(5), rows=ROWS, **named)
    cells = [(n, e, options.rows) for n in options.tables for e in options.epsilons]
    values = bench.run_cells(best, cells, options.seeds, options)
    rows = []
    for (name, epsilon, n_rows), value in zip(cells, values, strict=True):
        row = {"table": name, "rows": n_rows, "epsilon": epsilon, "model": "Frank-Wolfe"}
        for kind, scores in zip(("log_loss", "auc"), value.T, strict=True):
            stats = bench.summarize(scores, "mean", "se")
            row |= {kind: stats["mean"], f"{kind}_se": stats["se"]}
        rows.append(row)
    bench.write_table(pd.DataFrame(rows).round(4), "frank_wolfe.csv", options, bench.GENERATED)


if __name__ == "__main__":
    bench.run_script(__file__)
