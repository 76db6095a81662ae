"""The noise of predictions that `predicted_noise` foresees, beside what it is.

Additive models get the raw tables of additive.py, and linear models their columns of numbers
without gaps. The same rows are fitted with so many seeds. "noise" is the standard deviation of what
is predicted, before the link, over seeds: the root of the median over 300 rows held out of its
variance. A regression's is over half the range that was learnt, as a mean. "foreseen" is what
`skdp.inspection.predicted_noise` says, and "ratio" that over the noise. "hidden" is the share of
additive terms that are called noise, and "told" of columns that `predicted_noise` takes to be told
from noise.

    python benchmarks/noise_before_fit.py --data FOLDER
"""

import itertools
import warnings

import _common as bench
import numpy as np
import pandas as pd
from additive import TABLES, load_table, make_model

from skdp.inspection import predicted_noise
from skdp.linear_model import DPLogisticRegression, DPRidge

WAYS = ("additive", "linear")
N_HELD_OUT = 300
NOTE = "Raw tables; classes are public, and so is which columns hold numbers."


def make_fit(name, way, epsilon, rows, seed):
    """Return an estimator, the rows and targets to fit, and rows held out."""
    X, y = load_table(name)
    if way == "additive":
        model = make_model(name, way, epsilon, seed)
    else:
        X = X.select_dtypes("number").dropna(axis=1).to_numpy(dtype=np.float64)
        options = {"epsilon": epsilon, "random_state": seed}
        is_regression = TABLES[name][2] is None
        model = (
            DPRidge(**options) if is_regression else DPLogisticRegression(classes=[0, 1], **options)
        )
    order = np.random.default_rng(0).permutation(len(y))[: rows + N_HELD_OUT]
    taken = X.iloc[order] if hasattr(X, "iloc") else X[order]
    return model, taken[:-N_HELD_OUT], y[order][:-N_HELD_OUT], taken[-N_HELD_OUT:]


def score(name, way, epsilon, rows, seed):
    """Return predictions of the rows held out, the share of terms that are noise, and the unit."""
    model, X, y, X_test = make_fit(name, way, epsilon, rows, seed)
    with warnings.catch_warnings():
        # Few records are on purpose here.
        warnings.simplefilter("ignore")
        model.fit(X, y)
    hidden = np.nan
    if way == "additive":
        hidden = np.mean([term.is_noise for term in model.terms_ if term.kind != "product"])
    if TABLES[name][2] is None:
        predicted, unit = model.predict(X_test), 0.5 * np.ptp(model.target_bounds_)
    else:
        predicted, unit = model.decision_function(X_test), 1.0
    return np.append(predicted, [hidden, unit])


def main(arguments=None):
    """Measure and write the table."""
    sets = bench.Some(TABLES, list(TABLES))
    named = {"sets": sets, "epsilons": (0.3, 1.0, 4.0), "rows": (2000,), "seeds": range(4)}
    options = bench.read_options(__file__, __doc__, arguments, **named)
    cells = [
        (name, way, epsilon, rows)
        for name, way in itertools.product(options.sets, WAYS)
        for rows, epsilon in itertools.product(options.rows, options.epsilons)
        if len(load_table(name)[1]) >= rows + N_HELD_OUT
    ]
    found = bench.run_cells(score, cells, options.seeds, options)
    table = []
    for (name, way, epsilon, rows), values in zip(cells, found, strict=True):
        model, X, _, _ = make_fit(name, way, epsilon, rows, 0)
        foreseen = predicted_noise(model, rows, X.shape[1], epsilons=[epsilon]).iloc[0]
        noise = float(np.sqrt(np.median(values[:, :-2].var(axis=0, ddof=1))))
        noise /= values[:, -1].mean()
        table.append(
            {
                "data": name,
                "way": way,
                "rows": rows,
                "epsilon": epsilon,
                "noise": noise,
                "foreseen": foreseen["prediction"],
                "ratio": foreseen["prediction"] / noise,
                "hidden": values[:, -2].mean(),
                "told": foreseen["most_features"] / X.shape[1],
            }
        )
    bench.write_table(pd.DataFrame(table).round(3), "noise_before_fit.csv", options, NOTE)


if __name__ == "__main__":
    bench.run_script(__file__)
