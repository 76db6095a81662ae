"""Rows whitened by a moment of public rows or of an earlier fit, beside one that is bought.

Three random thirds of a data set of two classes: the first has the public rows, or those of the
earlier fit, the second is learnt from, and log loss is that of the last. "public" and "last" are
differences to "bought", of the same rows and seeds: below 0 is better.

    python benchmarks/public_moment.py --data FOLDER
"""

import _common as bench
import numpy as np
import pandas as pd
from _utility_sets import load_table
from sklearn.metrics import log_loss

from skdp.linear_model import DPLogisticRegression

MOST_ROWS, DELTA = 60_000, 1e-6
NOTE = "Scaling is public, and so are the rows that the moment is made of."


def losses(name, epsilon, seed):
    """Return log losses with a moment that is bought, public, and of the last fit."""
    table = load_table(name)
    X, y = np.vstack([table.X_train, table.X_test]), np.r_[table.y_train, table.y_test]
    rows = np.random.default_rng(seed).permutation(len(y))[:MOST_ROWS]
    public, own, test = (part[: len(rows) // 3] for part in np.array_split(rows, 3))
    known = np.column_stack([np.ones(len(public)), X[public]])
    model = DPLogisticRegression(epsilon=epsilon, delta=DELTA, classes=np.unique(y))
    last = model.set_params(random_state=1000 + seed).fit(X[public], y[public]).moment_
    found = []
    for moment in (None, known.T @ known / len(known), last):
        model.set_params(public_moment=moment, random_state=seed).fit(X[own], y[own])
        found.append(log_loss(y[test], model.predict_proba(X[test])))
    return found


def main(arguments=None):
    """Measure and write the table."""
    options = bench.read_options(
        __file__,
        __doc__,
        arguments,
        sets=["adult", "bank_marketing", "electricity", "phishing", "breast_cancer"],
        epsilons=[0.3, 1.0, 3.0],
        seeds=list(range(8)),
    )
    cells = [(name, epsilon) for name in options.sets for epsilon in options.epsilons]
    rows = []
    for cell, found in zip(
        cells, bench.run_cells(losses, cells, options.seeds, options), strict=True
    ):
        row = dict(zip(("set", "epsilon"), cell, strict=True)) | {"bought": found[:, 0].mean()}
        for place, way in enumerate(("public", "last"), start=1):
            told = bench.summarize(found[:, place] - found[:, 0], "mean", "se")
            row |= {way: told["mean"], f"{way}_se": told["se"]}
        rows.append(row)
    bench.write_table(pd.DataFrame(rows).round(4), "public_moment.csv", options, note=NOTE)


if __name__ == "__main__":
    bench.run_script(__file__)
