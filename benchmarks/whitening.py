"""Time of whitened fits against scikit-learn's and DP-SGD's, of a pass, of threads; and memory.

All contenders of a size take turns, so that a busy machine slows all of them; ratios are of
medians. Rows are generated, with columns of very different sizes. A pass is one sum of slopes over
all rows, both of its products included; reading is ``X.sum()``. Private memory is what a fit has
above the rows and labels, which are in memory before.

    python benchmarks/whitening.py
"""

import tempfile
from pathlib import Path

import _common as bench
import numpy as np
import pandas as pd
from _race import timed
from _speed_races import generate
from memory import run_fit
from sklearn.linear_model import LogisticRegression, Ridge
from threadpoolctl import threadpool_limits

from skdp._families.losses import LOSSES
from skdp._release.mechanisms import GaussianMechanism
from skdp._rows.bounds import clip_rows
from skdp._rows.certified_rows import CertifiedRows
from skdp._rows.slope_queries import SumOfSlopes
from skdp.linear_model import DPLogisticRegression, DPRidge, DPSGDClassifier

ALPHA, DELTA = 1e-4, 1e-8


def contenders(X, labels, targets):
    """Return functions that return seconds, by name."""
    n_rows = len(X)
    signs = np.where(labels > 0, 1.0, -1.0)[:, np.newaxis]
    logistic = DPLogisticRegression(ALPHA, delta=DELTA, classes=[0, 1], random_state=0)
    ridge = DPRidge(ALPHA, delta=DELTA, target_bounds=(-1, 1), random_state=0)
    threads = DPLogisticRegression(**logistic.get_params() | {"n_jobs": 2})
    sgd = DPSGDClassifier(alpha=ALPHA, delta=DELTA, classes=[0, 1], random_state=0)
    rows = clip_rows(X, data_norm=1.0, fit_intercept=True, bias=1.0 / 3.0)
    sums = [CertifiedRows(rows, signs, LOSSES["log_loss"], n_jobs) for n_jobs in (1, 2)]
    mechanism = GaussianMechanism(1.0, 1.0, rows.n_columns, n_rows)
    for one in sums:
        one.bound_slopes(np.eye(rows.n_columns), 1.0)
    w = np.zeros((rows.n_columns, 1))
    return {
        "DPLogisticRegression": timed(logistic.fit, X, labels),
        "DPLogisticRegression, 2 threads": timed(threads.fit, X, labels),
        "LogisticRegression": timed(LogisticRegression(C=1.0 / (n_rows * ALPHA)).fit, X, labels),
        "DPSGDClassifier": timed(sgd.fit, X, labels),
        "DPRidge": timed(ridge.fit, X, targets),
        "Ridge": timed(Ridge(alpha=n_rows * ALPHA).fit, X, targets),
        "a pass": timed_pass(sums[0], w, mechanism),
        "a pass, 2 threads": timed_pass(sums[1], w, mechanism),
        "reading": timed(X.sum),
    }


def timed_pass(sums, w, mechanism):
    """Return a contender that times a sum of slopes, with the threads that it has in a fit."""

    def contender():
        with sums.at_work():
            return timed(sums.ask, SumOfSlopes(w, mechanism))()

    return contender


def private_bytes(X, labels):
    """Return the peak of private memory of a fit in a new process, above what was there before."""
    with tempfile.TemporaryDirectory() as folder:
        files = {name: str(Path(folder) / f"{name}.npy") for name in ("X", "classifier")}
        np.save(files["X"], X)
        np.save(files["classifier"], labels)
        settings = {"alpha": ALPHA, "delta": DELTA, "classes": [0, 1], "random_state": 0}
        found = run_fit("DPLogisticRegression", settings, files)
    return found["anonymous_peak"] - found["anonymous_before"]


def race(n_rows, n_columns, precision, repeats):
    """Return a row of the table: seconds and ratios."""
    X, labels, targets = generate(n_rows, n_columns, 1)
    X = X.astype(precision)
    running = contenders(X, labels, targets)
    seconds = {name: [] for name in running}
    with threadpool_limits(1):
        for _ in range(repeats + 1):
            for name, run in running.items():
                seconds[name].append(run())
    needed = private_bytes(X, labels)
    median = {name: float(np.median(found[1:])) for name, found in seconds.items()}
    logistic, ridge = median["DPLogisticRegression"], median["DPRidge"]
    return {
        "rows": n_rows,
        "columns": n_columns,
        "precision": precision,
        "logistic_seconds": logistic,
        "over_LogisticRegression": logistic / median["LogisticRegression"],
        "over_DPSGDClassifier": logistic / median["DPSGDClassifier"],
        "ridge_seconds": ridge,
        "over_Ridge": ridge / median["Ridge"],
        "pass_over_reading": median["a pass"] / median["reading"],
        "gain_of_2_threads": logistic / median["DPLogisticRegression, 2 threads"],
        "pass_gain_of_2_threads": median["a pass"] / median["a pass, 2 threads"],
        "private_MB": needed / 1e6,
        "private_MB_but_16_bytes_a_row": (needed - 16 * n_rows) / 1e6,
    }


def main(arguments=None):
    """Run the races and write the table."""
    named = {"rows": (100_000, 1_000_000, 10_000_000), "columns": 50, "repeats": 3}
    named |= {"precisions": ("float64", "float32")}
    options = bench.read_options(__file__, __doc__, arguments, **named)
    found = [
        race(n_rows, options.columns, precision, options.repeats)
        for precision in options.precisions
        for n_rows in options.rows
    ]
    table = pd.DataFrame(found).round(4)
    bench.write_table(table, "whitening.csv", options, bench.GENERATED)


if __name__ == "__main__":
    bench.run_script(__file__)
