"""Intervals of private whitening: how often they cover the truth, and how wide they are.

Data sets are drawn again and again from a population that is known, by one design a cell; for each
the slopes' intervals of 95 % are compared with the population's own coefficients, on rows clipped
to the same norm and with the same penalty. Intercepts count apart, and "least" is the coverage of
the coefficient that is covered least. Widths are those over the width
without privacy on the same rows, medians over slopes and sets. Delta is 1e-5.

- "whitened": `DPRidge` and `DPLogisticRegression` with ``inference=True``. The columns "yes",
  "wide" and "no" are the shares of data sets of that quality; coverage and width are told apart.
- "statsmodels": no privacy; HC0 errors of least squares, and those of Logit.
- "bootstrap": the parametric bootstrap of Ferrando, Wang and Sheldon (2022), see
  peers/bootstrap.py. Least squares alone.

    python benchmarks/inference.py --cache FOLDER

An interrupted run goes on where it was, and ``--kept`` writes the table of what there is.
"""

import itertools
import math
import warnings
from functools import cache
from typing import NamedTuple

import _common as bench
import numpy as np
import pandas as pd
from joblib import Memory
from peers.bootstrap import bootstrap_interval
from scipy.special import expit, ndtri

from skdp.linear_model import DPLogisticRegression, DPRidge

NOTE = (
    "Coverage of the population's slopes at 95 %, and width over that without privacy. se: of the "
    "coverage, over data sets."
)
UNFINISHED = " Of a run that isn't finished: columns tell the number of data sets."
FILE = "inference.csv"
# The penalty is too small to be seen.
DELTA, LEVEL, ALPHA = 1e-5, 0.95, 1e-7
EPSILONS = (0.5, 1.0, 4.0)
BLOCK = 50
POPULATION, POPULATION_SEED = 2_000_000, 99
# Features have a standard deviation of a third, but for one-hot columns, and end at 1.
SPREAD = 1.0 / 3.0


class Design(NamedTuple):
    """A population and the size of the data sets drawn from it.

    Parameters
    ----------
    task : {"squares", "logistic"}
    n_rows, n_features : int
    features : str
    detail : str
        Errors of squares, or how rare the positives are.
    """

    task: str
    n_rows: int
    n_features: int
    features: str = "normal"
    detail: str = ""


def _designs():
    for task in ("squares", "logistic"):
        for size in ((10_000, 5), (10_000, 20), (50_000, 20), (1_000, 5), (1_000, 20)):
            yield Design(task, *size)
        for features in ("skewed", "binary", "one-hot", "correlated"):
            for d in (5, 20):
                yield Design(task, 10_000, d, features)
    for detail in (
        "heteroscedastic",
        "t3",
        "exponential",
        "cost",
        "lognormal",
        "lognormal-varying",
    ):
        for d in (5, 20):
            yield Design("squares", 10_000, d, "normal", detail)
    for task in ("squares", "logistic"):
        yield Design(task, 10_000, 5, "rare-dummy")
    for size in ((10_000, 5), (10_000, 20), (50_000, 5), (50_000, 20)):
        yield Design("logistic", *size, "normal", "rare")
    yield Design("logistic", 50_000, 5, "skewed", "rare")


DESIGNS = {" ".join(map(str, design)).strip(): design for design in _designs()}


def data_norm(design):
    """Return a bound on rows a little above the length of a typical one."""
    return 1.1 * SPREAD * math.sqrt(design.n_features)


def draw(design, n_rows, rng):
    """Return rows, with features of their own scale, and targets in [-1, 1] or labels."""
    X = SPREAD * _features(design.features, n_rows, design.n_features, rng)
    X = np.clip(X, -1.0, 1.0)
    signs = np.where(np.arange(design.n_features) % 2, 1.0, -0.5)
    score = X @ signs / (SPREAD * math.sqrt(design.n_features))
    if design.task == "logistic":
        shift = -3.3 if design.detail == "rare" else 0.3
        return X, (rng.random(n_rows) < expit(0.84 * score + shift)).astype(int)
    if design.detail == "cost":
        # Few cases cost much, and all others little.
        is_high = rng.random(n_rows) < np.clip(0.03 * (1.0 + 0.8 * X[:, 0]), 0.0, 1.0)
        return X, np.clip(
            np.where(is_high, 0.95, -0.95) + 0.02 * rng.standard_normal(n_rows), -1, 1
        )
    errors = {
        "": lambda: rng.standard_normal(n_rows),
        "heteroscedastic": lambda: (
            rng.standard_normal(n_rows) * np.exp(0.5 * X[:, 0] / SPREAD - 0.25)
        ),
        "t3": lambda: rng.standard_t(3, n_rows) / math.sqrt(3.0),
        "lognormal": lambda: _long_tail(n_rows, rng),
        "lognormal-varying": lambda: _long_tail(n_rows, rng) * np.exp(X[:, 0]),
        "exponential": lambda: rng.exponential(size=n_rows) - 1.0,
    }[design.detail]()
    return X, np.clip(0.25 * score + 0.235 * errors, -1.0, 1.0)


def _long_tail(n, rng):
    return 0.34 * (rng.lognormal(size=n) - math.exp(0.5))


def _features(kind, n, d, rng):
    if kind == "skewed":
        return rng.exponential(size=(n, d)) - 1.0
    if kind == "binary":
        return 2.5 * (rng.random((n, d)) < 0.2) - 0.5
    X = rng.standard_normal((n, d))
    if kind == "correlated":
        return math.sqrt(0.9) * rng.standard_normal((n, 1)) + math.sqrt(0.1) * X
    if kind == "rare-dummy":
        X[:, 0] = 3.0 * (rng.random(n) < 0.01)
    if kind == "one-hot":
        # Half of the columns are of one feature, whose last value is none of them.
        half = d // 2
        X[:, :half] = 3.0 * np.eye(half + 1)[rng.integers(0, half + 1, n)][:, :half]
    return X


def augmented(X, design, method):
    """Return rows with a column of ones, clipped to the norm for the bootstrap."""
    if method == "bootstrap":
        lengths = np.linalg.norm(X, axis=1)
        X = X * np.minimum(1.0, data_norm(design) / np.maximum(lengths, 1e-300))[:, np.newaxis]
    return np.column_stack([X, np.ones(len(X))])


@cache
def truth(name, method):
    """Return the weights of the population, the intercept's last."""
    design = DESIGNS[name]
    X, y = draw(design, POPULATION, np.random.default_rng(POPULATION_SEED))
    Z = augmented(X, design, method)
    w = np.zeros(Z.shape[1])
    for _ in range(1 if design.task == "squares" else 20):
        slopes, curvature = slopes_and_curvature(design, Z @ w, y)
        w -= np.linalg.solve((Z * curvature[:, np.newaxis]).T @ Z, Z.T @ slopes)
    return w


def slopes_and_curvature(design, scores, y):
    if design.task == "squares":
        return scores - y, np.ones(len(y))
    p = expit(scores)
    return p - y, p * (1.0 - p)


def errors_without_privacy(design, Z, y, w):
    """Return standard errors at the population's weights: robust ones of squares."""
    slopes, curvature = slopes_and_curvature(design, Z @ w, y)
    inverse = np.linalg.inv((Z * curvature[:, np.newaxis]).T @ Z)
    if design.task == "squares":
        scores = (Z * slopes[:, np.newaxis]) @ inverse
        return np.sqrt((scores**2).sum(axis=0))
    return np.sqrt(np.diag(inverse))


def ours(design, X, y, epsilon, seed):
    """Return the ends of the intervals, the intercept's last, and their quality."""
    shared = {"epsilon": epsilon, "delta": DELTA, "data_norm": data_norm(design), "alpha": ALPHA}
    shared |= {"random_state": seed, "inference": True}
    if design.task == "squares":
        model = DPRidge(target_bounds=(-1.0, 1.0), **shared)
    else:
        model = DPLogisticRegression(classes=[0, 1], **shared)
    model.fit(X, y)
    if model.inference_quality_ == "no":
        return np.full((X.shape[1] + 1, 2), np.nan), "no"
    reach = ndtri(0.5 + 0.5 * LEVEL) * model.intercept_std_error_
    of_intercept = np.ravel([model.intercept_ - reach, model.intercept_ + reach])
    return np.vstack([model.conf_int(LEVEL), of_intercept]), model.inference_quality_


def without_privacy(design, X, y, epsilon, seed):
    # Nobody else needs it.
    import statsmodels.api as sm

    Z = augmented(X, design, "statsmodels")
    if design.task == "squares":
        found = sm.OLS(y, Z).fit(cov_type="HC0")
    else:
        found = sm.Logit(y, Z).fit(disp=False)
    return found.conf_int(1.0 - LEVEL), "yes"


def bootstrap(design, X, y, epsilon, seed):
    Z = augmented(X, design, "bootstrap")
    # A column of ones is long.
    Z[:, -1] = bias = data_norm(design) / 3.0
    ends = bootstrap_interval(
        Z,
        y,
        epsilon,
        DELTA,
        row_norm=math.hypot(data_norm(design), bias),
        level=LEVEL,
        seed=seed,
    )
    # Of the weight of a column of another length.
    ends[-1] *= bias
    return ends, "yes"


METHODS = {"whitened": ours, "statsmodels": without_privacy, "bootstrap": bootstrap}
QUALITIES = ("yes", "wide", "no")


def measure(name, method, epsilon, first):
    """Return quality, width, and what is covered of a block of sets, of shape (sets, 3 + d)."""
    design, found = DESIGNS[name], []
    target = truth(name, method)
    for seed in range(first, first + BLOCK):
        X, y = draw(design, design.n_rows, np.random.default_rng([seed, 1]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ends, quality = METHODS[method](design, X, y, epsilon, seed)
        reference = errors_without_privacy(design, augmented(X, design, method), y, target)
        holds = (ends[:, 0] <= target) & (target <= ends[:, 1])
        ratios = (ends[:, 1] - ends[:, 0]) / (2.0 * 1.959964 * reference)
        found.append([QUALITIES.index(quality), np.median(ratios[:-1]), *holds])
    return np.array(found)


def summarize(found):
    """Return a row of the table for the data sets of a cell."""
    row = {"n_sets": len(found)}
    for code, quality in enumerate(QUALITIES):
        of_quality = found[found[:, 0] == code]
        row[quality] = len(of_quality) / len(found)
        if quality != "no" and len(of_quality):
            covered = of_quality[:, 2:-1].mean(axis=1)
            row[f"coverage_{quality}"] = covered.mean()
            row[f"se_{quality}"] = covered.std() / math.sqrt(len(of_quality))
            row[f"width_{quality}"] = np.median(of_quality[:, 1])
            row[f"intercept_{quality}"] = of_quality[:, -1].mean()
            row[f"least_{quality}"] = of_quality[:, 2:].mean(axis=0).min()
    return row


def is_run(name, method):
    return method != "bootstrap" or DESIGNS[name].task == "squares"


def main(arguments=None):
    named = {"designs": list(DESIGNS), "methods": list(METHODS), "epsilons": EPSILONS}
    options = bench.read_options(
        __file__, __doc__, arguments, unnamed={"kept": False}, **named, sets=500
    )
    rows = []
    for method, name in itertools.product(options.methods, options.designs):
        if not is_run(name, method):
            continue
        for epsilon in [math.inf] if method == "statsmodels" else options.epsilons:
            tasks = [(name, method, epsilon, first) for first in range(0, options.sets, BLOCK)]
            if options.kept:
                kept = Memory(options.cache, verbose=0).cache(measure)
                tasks = [task for task in tasks if kept.check_call_in_cache(*task)]
            if not tasks:
                continue
            found = np.concatenate(bench.run_jobs(measure, tasks, options))
            row = {"method": method, **DESIGNS[name]._asdict(), "epsilon": epsilon}
            rows.append(row | summarize(found))
            note = NOTE + UNFINISHED * options.kept
            bench.write_table(pd.DataFrame(rows).round(4), FILE, options, note, show=False)


if __name__ == "__main__":
    bench.run_script(__file__)
