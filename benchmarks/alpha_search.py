"""A private search over alpha of additive models, beside one fit by default.

`DPGridSearch` chooses by log loss from four values of alpha, of which one is the default, within
one budget. "default" is one fit with the same epsilon. Both get the same rows of the tables of
benchmarks/additive.py, 4,000 by default; a random quarter of each table is held out. What the
search is better by is a mean of differences paired by seed.

    python benchmarks/alpha_search.py --data FOLDER
"""

import itertools
import warnings

import _common as bench
import numpy as np
import pandas as pd
from additive import DELTA, load_table, make_model
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from skdp.model_selection import DPGridSearch

TABLES = ("OFP", "adult", "bank_marketing", "rwm5yr")
ALPHAS = ("auto", 1e-4, 1e-3, 1e-2)
NOTE = "Which columns hold numbers is public, and so are the classes. Log loss of rows held out."


def score(name, rows, epsilon, seed):
    """Return the log losses of a fit by default and of a search."""
    parts = train_test_split(*load_table(name), test_size=0.25, random_state=seed)
    X, X_test, y, y_test = parts
    default = make_model(name, "additive", epsilon, seed)
    search = DPGridSearch(
        make_model(name, "additive", 1.0, None).set_params(epsilon=1.0, delta="auto"),
        {"alpha": list(ALPHAS)},
        epsilon=epsilon,
        delta=DELTA,
        scoring="neg_log_loss",
        random_state=seed,
    )
    with warnings.catch_warnings(action="ignore"):
        # Of words that don't stand out, and of what is measured here.
        return tuple(
            log_loss(y_test, model.fit(X[:rows], y[:rows]).predict_proba(X_test))
            for model in (default, search)
        )


def compare(found, cells):
    """Return by table and epsilon the mean log losses, and what the search is better by."""
    rows = []
    for (name, n_rows, epsilon), losses in zip(cells, found, strict=True):
        default, search = np.asarray(losses).T
        told = bench.summarize(default - search, "mean", "se")
        row = {"data": name, "n_rows": n_rows, "epsilon": epsilon, "default": default.mean()}
        rows.append({**row, "search": search.mean(), "better_by": told["mean"], "se": told["se"]})
    return pd.DataFrame(rows)


def main(arguments=None):
    """Measure, and write the table."""
    named = {"sets": TABLES, "rows": [4000], "epsilons": (0.5, 1.0, 4.0), "seeds": range(4)}
    options = bench.read_options(__file__, __doc__, arguments, **named)
    cells = list(itertools.product(options.sets, options.rows, options.epsilons))
    found = bench.run_cells(score, cells, options.seeds, options)
    bench.write_table(compare(found, cells).round(5), "alpha_search.csv", options, NOTE)


if __name__ == "__main__":
    bench.run_script(__file__)
