"""Coverage and size of private intervals and sets, beside split conformal ones without privacy.

Intervals are around `DPRidge`, and sets are of `DPLogisticRegression`, at a level of 0.9, with
defaults. "coverage" and "size" are those of test rows, "size" the width of intervals in targets of
a range of 2, and the mean number of classes of sets. "exact" is the size with the quantile that
split conformal prediction takes, without noise, of the same private model and the same number of
calibration records: what is lost to the noise of counts and to bins. "coverage_without" and
"size_without" are without privacy: scikit-learn's `Ridge` or `LogisticRegression`, on parts of the
same sizes. Values are means over seeds, each with parts of its own.

    python benchmarks/conformal.py --data FOLDER --cache FOLDER
"""

import itertools
import math
import warnings

import _common as bench
import numpy as np
import pandas as pd
from _data import DATA_SETS, load_prepared
from sklearn.linear_model import LogisticRegression, Ridge

from skdp.calibration import DPConformalClassifier, DPConformalRegressor
from skdp.linear_model import DPLogisticRegression, DPRidge

NOTE = "Scaling and bounds are public. Values of test rows, means over seeds."
ALPHA, LEVEL = 1e-4, 0.9
SETS = ("california_housing", "millionsong_cs190", "adult", "bank_marketing", "phishing")


def quantile_of(scores):
    """Return the quantile of split conformal prediction."""
    rank = math.ceil(LEVEL * (len(scores) + 1))
    return np.sort(scores)[rank - 1] if rank <= len(scores) else math.inf


def targets_of(y, is_regression):
    """Return targets, or 0 and 1 for labels."""
    return y if is_regression else (y == y.max()).astype(int)


def coverage_and_size(scores, y, quantile, is_regression):
    """Return the share of rows that are covered, and the mean size.

    Scores are absolute errors, or of each row and class the odds against it.
    """
    if is_regression:
        return [np.mean(scores <= quantile), 2.0 * quantile]
    sets = scores <= quantile
    return [sets[np.arange(len(y)), y].mean(), sets.sum(axis=1).mean()]


def scores_of(model, X, y, is_regression):
    """Return the scores by which rows are covered."""
    if is_regression:
        return np.abs(y - model.predict(X))
    probability = model.predict_proba(X)
    return (1.0 - probability) / probability


def of_truth(scores, y, is_regression):
    """Return the scores of the true outcomes."""
    return scores if is_regression else scores[np.arange(len(y)), y]


def score(name, epsilon, seed):
    """Return coverage, size, exact size, and coverage and size without privacy."""
    data, is_regression = load_prepared(name, "public"), "target_bounds" in DATA_SETS[name]
    y, y_test = (targets_of(part, is_regression) for part in (data.y_train, data.y_test))
    if is_regression:
        inner = DPRidge(data_norm=1.0, target_bounds=(-1, 1))
        model = DPConformalRegressor(inner, confidence_level=LEVEL)
        plain = Ridge(alpha=ALPHA * len(y))
    else:
        inner = DPLogisticRegression(data_norm=1.0, classes=[0, 1])
        model = DPConformalClassifier(inner, confidence_level=LEVEL)
        plain = LogisticRegression(C=1.0 / (ALPHA * len(y)), max_iter=1000)
    with warnings.catch_warnings(action="ignore"):
        model.set_params(epsilon=epsilon, random_state=seed).fit(data.X_train, y)
    scores = scores_of(model, data.X_test, y_test, is_regression)
    found = coverage_and_size(scores, y_test, model.quantile_, is_regression)
    # The parts are others than those of the fit, whose coins nobody is told.
    order = np.random.default_rng(seed).permutation(len(y))
    held, rest = order[: model.n_calibration_], order[model.n_calibration_ :]
    calibrations = [(model, found[:0]), (plain.fit(data.X_train[rest], y[rest]), found[:0])]
    for fitted, kept in calibrations:
        calibration = scores_of(fitted, data.X_train[held], y[held], is_regression)
        exact = quantile_of(of_truth(calibration, y[held], is_regression))
        of_test = scores_of(fitted, data.X_test, y_test, is_regression)
        kept += coverage_and_size(of_test, y_test, exact, is_regression)
    return [*found, calibrations[0][1][1], *calibrations[1][1]]


def main(arguments=None):
    """Measure and write the table."""
    sets = bench.Some(DATA_SETS, list(SETS))
    options = bench.read_options(
        __file__, __doc__, arguments, problems=sets, epsilons=(0.25, 1.0), seeds=range(10)
    )
    cells = list(itertools.product(options.problems, options.epsilons))
    found = bench.run_cells(score, cells, options.seeds, options)
    names = ["coverage", "size", "exact", "coverage_without", "size_without"]
    table = pd.DataFrame(cells, columns=["problem", "epsilon"])
    table = table.join(pd.DataFrame(found.mean(axis=1), columns=names))
    table["se"] = [bench.summarize(one[:, 0], "se")["se"] for one in found]
    bench.write_table(table.round(4), "conformal.csv", options, NOTE)


if __name__ == "__main__":
    bench.run_script(__file__)
