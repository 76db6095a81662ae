"""Personal budgets: some people are strict, and nobody is left out.

Log loss on other rows where a share of the people, chosen at random, allows epsilon 0.1, and the
rest epsilon 1, by three ways of keeping all promises with delta = 0:

- "personal": `DPSGDClassifier(mechanism="laplace")` with `sample_epsilon`;
- "strictest": the same with epsilon 0.1 for all;
- "left out": the same with epsilon 1, without the strict.

What scales rows is public: see _utility_sets.py. "whitened" is `DPLogisticRegression` with epsilon
0.1 for all and delta 1e-5, which is a weaker promise.

    python benchmarks/personal_budgets.py --data FOLDER
"""

import itertools

import _common as bench
import numpy as np
import pandas as pd
from _utility_sets import load_table

from skdp.linear_model import DPLogisticRegression, DPSGDClassifier

STRICT, GENEROUS = 0.1, 1.0
WAYS = ("personal", "strictest", "left out", "whitened")
NOTE = "Scaling and norms are public. Means of log losses over seeds, which choose the strict too."


def log_loss(data, share, way, seed):
    """Return the log loss of one fit on the other rows."""
    table = load_table(data)
    is_strict = np.random.default_rng(seed).uniform(size=len(table.X_train)) < share
    used = ~is_strict if way == "left out" else np.ones(len(is_strict), dtype=bool)
    epsilon = STRICT if way in ("strictest", "whitened") else GENEROUS
    settings = {"epsilon": epsilon, "data_norm": table.data_norm, "classes": [-1.0, 1.0]}
    model = DPSGDClassifier(mechanism="laplace", random_state=seed, **settings)
    budgets = {}
    if way == "personal":
        budgets = {"sample_epsilon": np.where(is_strict, STRICT, GENEROUS)}
    elif way == "whitened":
        model = DPLogisticRegression(random_state=seed, **settings)
    model.fit(table.X_train[used], table.y_train[used], **budgets)
    return np.logaddexp(0.0, -table.y_test * model.decision_function(table.X_test)).mean()


def main(arguments=None):
    named = {"sets": ["electricity", "bank_marketing", "adult"], "shares": (0.1, 0.5, 0.9)}
    named |= {"ways": WAYS, "seeds": range(10)}
    options = bench.read_options(__file__, __doc__, arguments, **named)
    cells = list(itertools.product(options.sets, options.shares, options.ways))
    found = bench.run_cells(log_loss, cells, options.seeds, options)
    table = pd.DataFrame(cells, columns=["set", "strict", "way"])
    statistics = [bench.summarize(values, "mean", "se") for values in found]
    bench.write_table(
        table.join(pd.DataFrame(statistics)).round(5), "personal_budgets.csv", options, NOTE
    )


if __name__ == "__main__":
    bench.run_script(__file__)
