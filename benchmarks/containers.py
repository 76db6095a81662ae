"""Adult in types that say nothing of its columns, beside the typed table.

`DPAdditiveClassifier`, told nothing, gets the table in the ways of `kinds.py`, and with its numbers
as Decimals: "typed", "objects", "text", in which gaps are "?", and "decimals". A quarter of the
rows is held out, another one with each seed. "lost" is the mean of the differences in area under
the curve to the typed table, paired by seed.

    python benchmarks/containers.py --data FOLDER
"""

from decimal import Decimal

import _common as bench
import numpy as np
import pandas as pd
from kinds import area_of_fit, as_handed_in, load_table
from sklearn.model_selection import train_test_split

WAYS = "typed", "objects", "text", "decimals"
NOTE = "Adult; nothing is told of the columns, and classes are public. AUC of rows held out."


def handed_in(X, way):
    """Return the table in one of `WAYS`."""
    if way != "decimals":
        return as_handed_in(X, way)
    return X.astype(object).map(lambda x: x if isinstance(x, str) else Decimal(str(x)))


def score(way, epsilon, seed):
    """Return the area under the curve of one fit."""
    X, y = load_table("adult", 0)
    parts = train_test_split(handed_in(X, way), y, test_size=0.25, random_state=seed)
    return area_of_fit(parts, epsilon, random_state=1000 * WAYS.index(way) + seed)


def main(arguments=None):
    """Measure, and write the table."""
    options = bench.read_options(__file__, __doc__, arguments, epsilons=(1.0,), seeds=range(24))
    rows = []
    for epsilon in options.epsilons:
        cells = [(way, epsilon) for way in WAYS]
        scores = bench.run_cells(score, cells, options.seeds, options)
        for way, found in zip(WAYS, scores, strict=True):
            lost = bench.summarize(scores[0] - found, "mean", "se")
            row = {"way": way, "epsilon": epsilon, "auc": np.mean(found)}
            rows.append(row | {"lost": lost["mean"], "lost_se": lost["se"]})
    bench.write_table(pd.DataFrame(rows).round(5), "containers.csv", options, NOTE)


if __name__ == "__main__":
    bench.run_script(__file__)
