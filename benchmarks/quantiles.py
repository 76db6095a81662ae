"""Quantiles and means with outliers, by private whitening, beside the same without privacy.

Half of the rows are learnt from, and the other half is what is measured. Columns are as they are:
nobody gives a bound.

- "houses": California's house prices, in 100,000 dollars.
- "incomes": made up, with skewed targets whose spread follows a column.

Of `DPQuantileRegressor` "covered" is the share of targets below its predictions, and "loss" is the
pinball loss. Of `DPHuberRegressor` and `DPRidge` "loss" is the mean absolute error, where one
target in a hundred that is learnt from is made ten times as large as any.

    python benchmarks/quantiles.py --data FOLDER
"""

import math
from functools import cache

import _common as bench
import numpy as np
import pandas as pd
from _data import load_frame
from sklearn.metrics import mean_absolute_error, mean_pinball_loss

from skdp.linear_model import DPHuberRegressor, DPQuantileRegressor, DPRidge

DELTA, N_ROWS, OUTLIERS = 1e-6, 40_000, 0.01
SETS = ["houses", "incomes"]
NOTE = "Nobody gives a bound."
QUANTILES = (0.1, 0.5, 0.9)
MODELS = {f"quantile {q}": DPQuantileRegressor(quantile=q, delta=DELTA) for q in QUANTILES}
MODELS |= {"Huber": DPHuberRegressor(delta=DELTA), "ridge": DPRidge(delta=DELTA)}


@cache
def load(name):
    """Return rows and targets."""
    if name == "houses":
        frame = load_frame("california_housing")
        return frame.drop(columns="MedHouseVal").to_numpy(float), frame["MedHouseVal"].to_numpy()
    rng = np.random.default_rng(20_260_101)
    age, hours = rng.uniform(18.0, 80.0, N_ROWS), rng.gamma(16.0, 2.5, N_ROWS)
    grade = rng.integers(1, 17, N_ROWS)
    spread = 0.3 + 0.005 * (age - 18.0)
    y = 9.0 + 0.06 * grade + 0.02 * hours + 0.01 * age + spread * rng.standard_normal(N_ROWS)
    return np.column_stack([age, hours, grade]).astype(float), np.exp(y)


def measure(name, method, epsilon, seed):
    """Return the share of targets below predictions, and the loss."""
    X, y = load(name)
    order = np.random.default_rng(seed).permutation(len(y))
    own, others = np.array_split(order, 2)
    targets, model = y[own].copy(), MODELS[method]
    if not method.startswith("quantile"):
        targets[: int(OUTLIERS * own.size)] = 10.0 * y.max()
    model.set_params(epsilon=epsilon, random_state=seed).fit(X[own], targets)
    found = model.predict(X[others])
    if method.startswith("quantile"):
        loss = mean_pinball_loss(y[others], found, alpha=model.quantile)
    else:
        loss = mean_absolute_error(y[others], found)
    return np.mean(y[others] <= found), loss


def main(arguments=None):
    """Measure and write the table."""
    named = {"sets": SETS, "methods": list(MODELS), "epsilons": [0.5, 1.0, 4.0]}
    options = bench.read_options(__file__, __doc__, arguments, seeds=range(10), **named)
    epsilons = (*options.epsilons, math.inf)
    cells = [(n, m, e) for n in options.sets for m in options.methods for e in epsilons]
    values = dict(zip(cells, bench.run_cells(measure, cells, options.seeds, options), strict=True))
    rows = []
    for name, method, epsilon in cells:
        covered, loss = values[name, method, epsilon].T
        more = bench.summarize(loss / values[name, method, math.inf][:, 1], "mean", "se")
        row = {"set": name, "method": method, "epsilon": epsilon, "covered": covered.mean()}
        row |= {"loss": loss.mean(), "over_no_privacy": more["mean"], "over_se": more["se"]}
        rows.append(row)
    bench.write_table(pd.DataFrame(rows).round(4), "quantiles.csv", options, note=NOTE)


if __name__ == "__main__":
    bench.run_script(__file__)
