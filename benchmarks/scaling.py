"""Time of a fit against rows, passes and columns, over two decades of each.

Seconds of fits on generated rows, validation included and calibration left out, and the slope of
their line on logarithmic axes: 1 for time that grows linearly, less where a fixed cost is seen.
WALR solves its problem by a quasi-Newton method of at most as many iterations as are told, in
coordinates that cost the square of the number of columns.

    python benchmarks/scaling.py
"""

import itertools
import warnings

import _common as bench
import numpy as np
import pandas as pd
from _race import timed
from _speed_races import generate, private
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from skdp.linear_model import DPCDLasso, DPSCDClassifier, DPSGDClassifier, WALRClassifier

# Below 1 / n of all.
DELTA = 1e-7
BATCH_SIZE = 1000
WALR_ITERATIONS = 20
# It has iterations instead.
NOT_RUN = ("passes", "WALRClassifier")

MODELS = {
    "DPSCDClassifier": (DPSCDClassifier, {"batch_size": BATCH_SIZE}),
    "DPSGDClassifier": (DPSGDClassifier, {"batch_size": BATCH_SIZE}),
    "DPCDLasso": (DPCDLasso, {}),
    "WALRClassifier": (WALRClassifier, {}),
}
# What grows, and what the other two are.
BASE = {"rows": 10_000, "passes": 2, "columns": 20}
STEPS = {
    "rows": (10_000, 30_000, 100_000, 300_000, 1_000_000),
    "passes": (2, 6, 20, 60, 200),
    "columns": (30, 100, 300, 1000, 3000),
}


def time_fits(model, rows, passes, columns, repeats):
    """Return the median seconds of some fits after a first one."""
    X, labels, targets = generate(rows, columns, 1)
    make, settings = MODELS[model]
    is_classifier = model.endswith("Classifier")
    iterations = WALR_ITERATIONS if make is WALRClassifier else passes
    estimator = private(make, X, max_iter=iterations, delta=DELTA, **settings)
    fit = timed(estimator.fit, X, labels if is_classifier else targets)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        return float(np.median([fit() for _ in range(repeats + 1)][1:]))


def slope(table):
    """Return the slope of seconds against size on logarithmic axes, by least squares."""
    return np.polyfit(np.log(table["size"]), np.log(table["seconds"]), 1)[0]


def draw(table, options):
    """Draw seconds against size, a panel for what grows."""
    figure, (axes,) = bench.panels(1, table["grows"].nunique(), 4.3, 4.4, sharey=True)
    for axis, (grows, part) in zip(axes, table.groupby("grows", sort=False), strict=True):
        for i, model in enumerate(MODELS):
            line = part[part["model"] == model]
            if len(line):
                label = f"{model}: {line['slope'].iloc[0]:.2f}"
                axis.plot(line["size"], line["seconds"], "o-", color=f"C{i}", label=label)
        others = ", ".join(f"{BASE[name]:,} {name}" for name in BASE if name != grows)
        axis.set(xscale="log", yscale="log", xlabel=grows, title=f"{grows} ({others})")
        ends = np.array([part["size"].min(), part["size"].max()])
        guide = part["seconds"].min() * ends / ends[0] / 2.0
        axis.plot(ends, guide, color="black", linestyle=":", label="linear: 1")
        axis.legend(title="slope", fontsize=8)
    axes[0].set_ylabel("seconds of a fit")
    bench.save_figure(figure, "scaling.png", options)


def main(arguments=None):
    options = bench.read_options(__file__, __doc__, arguments, repeats=3)
    cells = [cell for cell in itertools.product(STEPS, MODELS) if cell != NOT_RUN]
    cells = [(*cell, size) for cell in cells for size in STEPS[cell[0]]]
    table = pd.DataFrame(cells, columns=["grows", "model", "size"])
    table["seconds"] = [
        time_fits(model, **(BASE | {grows: size}), repeats=options.repeats)
        for grows, model, size in bench.progress(cells)
    ]
    slopes = table.groupby(["grows", "model"], sort=False)[["size", "seconds"]].apply(slope)
    table = table.join(slopes.rename("slope").round(3), on=["grows", "model"])
    bench.write_table(table.round({"seconds": 6}), "scaling.csv", options, bench.GENERATED)
    draw(table, options)


if __name__ == "__main__":
    bench.run_script(__file__)
