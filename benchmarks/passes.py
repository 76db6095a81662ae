"""DP-CD by row against DP-CD by entry, the paper's way, at the same noise.

A default-constructed estimator is told the bounds of rows ("paper") or of values ("box": numbers
and one-hot columns from 0 to 1). `score` is accuracy or R2; the rest is as in `defaults.py`. Both
ways have the same seeds.

    python benchmarks/passes.py --data FOLDER
"""

import itertools

import _common as bench
import pandas as pd
from _data import load_prepared
from defaults import CONTESTS, DELTA, MEASURES, measure

WAYS = ("entry", "row")
TOLD = {"paper": {"data_norm": 1.0}, "box": {"feature_bounds": (0, 1)}}


def fit_and_score(problem, scaling, epsilon, clip_by, seed):
    """Return the measures of a fit on test rows."""
    contest = CONTESTS["dpcd"][problem]
    X_train, y_train, X_test, y_test = load_prepared(problem, scaling=scaling)
    options = {"epsilon": epsilon, "delta": DELTA, "clip_by": clip_by, "random_state": seed}
    model = contest.estimator(**options, **TOLD[scaling])
    return measure(model.fit(X_train, y_train), contest.score, X_test, y_test)


def main(arguments=None):
    """Measure and write the table."""
    named = {"problems": tuple(CONTESTS["dpcd"]), "scalings": tuple(TOLD), "epsilons": (0.1, 1.0)}
    options = bench.read_options(__file__, __doc__, arguments, seeds=range(10), **named)
    cells = list(itertools.product(*(getattr(options, name) for name in named), WAYS))
    rows = []
    found = bench.run_cells(fit_and_score, cells, options.seeds, options)
    for cell, values in zip(cells, found, strict=True):
        row = dict(zip(("problem", "scaling", "epsilon", "clip_by"), cell, strict=True))
        for name, column in zip(MEASURES, values.T, strict=True):
            statistics = bench.summarize(column, "mean", "se")
            row |= {name: statistics["mean"], f"{name}_se": statistics["se"]}
        rows.append(row)
    bench.write_table(pd.DataFrame(rows).round(4), "passes.csv", options)


if __name__ == "__main__":
    bench.run_script(__file__)
