"""Bounds that are too wide, or none: the learnt ball beside rows that are clipped about 0.

`DPLogisticRegression` and `DPRidge` by default on the data sets of utility.py, with the public norm
that rows have there ("1 x"), one 5, 20 or 1,000 times as wide, and none; and the same with
``ball_budget=0`` and the right norm ("no ball") or one 20 times as wide. Log loss is above that of
our objective without privacy, and so are area under the curve and R2 below. ``--family`` takes
another method's estimators by default, and writes its name into those of the tables; "none" is the
whitened ones' alone.

The verdict has means over the data sets of two classes, and the cells that are worse than "no ball"
by more than .005 (.002 of the area) and by more than four standard errors of the paired difference.

    python benchmarks/ball.py --data FOLDER
"""

import itertools
import math
from functools import partial

import _common as bench
import numpy as np
import pandas as pd
from _utility_sets import TABLES, load_table
from utility import DELTA, EPSILONS, MEASURES, fit_no_privacy, measure

from skdp.linear_model import (
    DPCDClassifier,
    DPCDElasticNet,
    DPLogisticRegression,
    DPRidge,
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDClassifier,
    DPSGDRegressor,
)

FAMILIES = {
    "whitened": (DPLogisticRegression, DPRidge),
    "dpsgd": (DPSGDClassifier, DPSGDRegressor),
    "dpscd": (DPSCDClassifier, DPSCDRegressor),
    "dpcd": (DPCDClassifier, partial(DPCDElasticNet, l1_ratio=0.0)),
}
# How many times as wide the norm is; None for none; and whether a ball is learnt.
WAYS = {
    "no ball": (1.0, 0.0),
    "no ball, 20 x": (20.0, 0.0),
    "1 x": (1.0, "auto"),
    "5 x": (5.0, "auto"),
    "20 x": (20.0, "auto"),
    "1000 x": (1000.0, "auto"),
    "none": (None, "auto"),
}
OLD = "no ball"
MOST_LOST = {"log_loss": 0.005, "auc": 0.002, "r2": 0.005}
DEVIATIONS = 4.0
NOTE = "Scaling is public. Losses are differences to our objective without privacy."


def lose(family, name, way, epsilon, seed):
    """Return what a fit loses of the measures to one without privacy: positive is worse."""
    table, (wide, ball_budget) = load_table(name), WAYS[way]
    classifier, regressor = FAMILIES[family]
    shared = {
        "epsilon": epsilon,
        "delta": DELTA,
        "data_norm": None if wide is None else wide * table.data_norm,
        "ball_budget": ball_budget,
        "random_state": seed,
    }
    if table.task == "regression":
        model = regressor(target_bounds=(-1.0, 1.0), **shared).fit(table.X_train, table.y_train)
        prediction = model.predict(table.X_test)
    else:
        classes = [-1.0, 1.0] if table.task == "binary" else list(range(table.n_classes))
        model = classifier(classes=classes, **shared).fit(table.X_train, table.y_train)
        is_binary = table.task == "binary"
        prediction = (model.decision_function if is_binary else model.predict_proba)(table.X_test)
    (reference,) = fit_no_privacy(table, None, [((), 0)])
    lost = np.subtract(measure(table, reference), measure(table, prediction))
    lost[MEASURES.index("log_loss")] *= -1.0
    return lost


def compare(table):
    """Return means over data sets of two classes, and the cells that fail."""
    means = table[table["task"] == "binary"].pivot_table("log_loss", "epsilon", "way", sort=False)
    ratios = {f"{way} / no ball": means[way] / means[OLD] for way in means if way != OLD}
    return means.join(pd.DataFrame(ratios)).reset_index()


def main(arguments=None):
    """Measure, judge, and write the tables."""
    named = {"sets": list(TABLES), "ways": list(WAYS), "epsilons": EPSILONS, "seeds": range(10)}
    options = bench.read_options(__file__, __doc__, arguments, family="whitened", **named)
    file_name = "ball" if options.family == "whitened" else f"ball_{options.family}"
    cells = list(itertools.product([options.family], options.sets, options.ways, options.epsilons))
    found = bench.run_cells(lose, cells, options.seeds, options)
    rows, failed = [], []
    for (family, name, way, epsilon), lost in zip(cells, found, strict=True):
        row = {"data": name, "task": load_table(name).task, "way": way, "epsilon": epsilon}
        row |= dict(zip(MEASURES, lost.mean(axis=0), strict=True))
        rows.append(row)
        if OLD not in options.ways:
            continue
        paired = lost - found[cells.index((family, name, OLD, epsilon))]
        error = paired.std(axis=0, ddof=1) / math.sqrt(len(paired))
        for place, of_measure in enumerate(MEASURES):
            worse = paired[:, place].mean()
            limit = max(MOST_LOST.get(of_measure, math.inf), DEVIATIONS * error[place])
            if worse > limit:
                of = {"measure": of_measure, "worse_by": worse}
                failed.append({"data": name, "way": way, "epsilon": epsilon, **of})
    table = pd.DataFrame(rows)
    bench.write_table(table.round(5), f"{file_name}.csv", options, NOTE, show=False)
    if OLD in options.ways:
        bench.write_table(compare(table).round(4), f"{file_name}_means.csv", options, NOTE)
    columns = ["data", "way", "epsilon", "measure", "worse_by"]
    failed = pd.DataFrame(failed, columns=columns)
    bench.write_table(failed.round(4), f"{file_name}_worse.csv", options, NOTE)


if __name__ == "__main__":
    bench.run_script(__file__)
