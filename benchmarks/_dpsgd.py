"""What the scripts of the DP-SGD paper's figures share: problems, fits and comparisons.

Song, Chaudhuri and Sarwate (2013), section IV: logistic regression without an intercept, alpha
1e-4, one pass, epsilon 1 for data sets in which one record is any other, gradients of norm at most
1. The estimators treat the penalty by a proximal step, where the paper uses its gradient.
"""

import itertools
import math

import numpy as np
import pandas as pd
from _data import load_kddcup99, load_mnist, scale
from _figures import run_all
from sklearn.linear_model import LogisticRegression
from sklearn.random_projection import GaussianRandomProjection

from skdp.linear_model import DPSGDClassifier

ALPHA = 1e-4
EPSILON = 1.0
BATCH_SIZES = (1, 2, 5, 10, 20, 50)
RATES = {
    "1/sqrt(t)": {"learning_rate": "invscaling", "eta0": 1.0},
    "10/sqrt(t)": {"learning_rate": "invscaling", "eta0": 10.0},
    "1/(alpha t)": {"learning_rate": "inv_alpha"},
}
RATE_LABELS = {
    "1/sqrt(t)": r"$\eta_t = 1/\sqrt{t}$",
    "10/sqrt(t)": r"$\eta_t = 10/\sqrt{t}$",
    "1/(alpha t)": r"$\eta_t = 1/(\lambda t)$",
}
# The objective of a model of zeros.
AT_ZERO = math.log(2.0)

TITLES = {"mnist": "MNIST, 1 against all", "kddcup99": "KDD Cup 1999"}
COLORS = {True: "tab:orange", False: "tab:blue"}
LABELS = {True: rf"private, $\epsilon$ = {EPSILON:g}", False: "not private"}

# How much of what SGD gains on the model of zeros is left where noise "prevents the algorithm from
# converging", and where the two "match".
_FAILS, _MATCHES = 0.5, 0.95
# Ratio of standard deviations that is "far more variance".
_FAR_MORE = 10.0

_DIGIT = 1
_KDDCUP99_ROWS = 50_000
_SPHERE_ROWS, _SPHERE_COLUMNS, _MARGIN = 10_000, 5, 1e-3


def load_problem(name, folder=None):
    """Return rows in the unit ball and labels -1 and 1 of "mnist", "kddcup99" or "sphere"."""
    if name == "sphere":
        return _sphere()
    if name == "mnist":
        X, digits = load_mnist(folder)
        return _project(pd.DataFrame(X.astype(np.float32)), 15), np.where(digits == _DIGIT, 1, -1)
    frame = load_kddcup99(folder)
    frame = frame.sample(min(_KDDCUP99_ROWS, len(frame)), random_state=0)
    y = np.where(frame["label"] == "normal.", -1, 1)
    return _project(frame.drop(columns="label"), 9), y


def objective(weights, X, y):
    """Return what `fit` minimises."""
    return np.logaddexp(0.0, -y * (X @ weights)).mean() + 0.5 * ALPHA * weights @ weights


def find_optimum(X, y):
    """Return the weights that minimise the objective."""
    model = LogisticRegression(
        C=1.0 / (ALPHA * len(y)),
        fit_intercept=False,
        solver="newton-cholesky",
        tol=1e-10,
        max_iter=1000,
    )
    return model.fit(X, y).coef_[0]


def reach(rate, batch_size, points, private, seed, X, y):
    """Return the objective, on all rows, of a pass over some of them in random order.

    Batches are disjoint and step sizes don't depend on the number of rows, so that a pass over a
    few rows is the beginning of a pass over all.
    """
    used = np.random.default_rng(seed).permutation(len(y))[:points]
    model = DPSGDClassifier(
        alpha=ALPHA,
        fit_intercept=False,
        classes=[-1, 1],
        epsilon=EPSILON if private else math.inf,
        adjacency="replace_one",
        mechanism="laplace",
        batch_size=batch_size,
        clipping_norm=1.0,
        average=False,
        random_state=seed,
        **RATES[rate],
    )
    return objective(model.fit(X[used], y[used]).coef_[0], X, y)


def measure(name, settings, seeds, folder, n_jobs):
    """Return mean and standard deviation of the objective over seeds, with and without privacy.

    Parameters
    ----------
    name : str
    settings : iterable of (rate, batch_size, points)
        A key of `RATES`, rows of a batch, and rows used, of which None is all.
    seeds : list of int
        At least two. They seed the order of the rows and the noise.
    folder : path or None
    n_jobs : int

    Returns
    -------
    DataFrame
    """
    X, y = load_problem(name, folder)
    optimum = objective(find_optimum(X, y), X, y)
    cells = [
        (rate, batch_size, min(points or len(y), len(y)), private)
        for (rate, batch_size, points), private in itertools.product(settings, COLORS)
    ]
    tasks = [(*cell, seed, X, y) for cell in cells for seed in seeds]
    found = np.reshape(list(run_all(reach, tasks, n_jobs)), (len(cells), len(seeds)))
    table = pd.DataFrame(cells, columns=["rate", "batch_size", "points", "private"])
    table.insert(0, "problem", name)
    table.insert(4, "iterations", -(-table["points"] // table["batch_size"]))
    table = table.assign(mean=found.mean(axis=1), std=found.std(axis=1, ddof=1), optimum=optimum)
    return table.drop_duplicates().reset_index(drop=True)


def compare(table):
    """Return one row for each problem, rate and batch size: private SGD after the last point.

    `kept` is how much of what SGD without privacy gained on the model of zeros is left, `std_ratio`
    the standard deviation in units of its.
    """
    rows = []
    for key, group in table.groupby(["problem", "rate", "batch_size"], sort=False):
        last = group[group["points"] == group["points"].max()].set_index("private")
        mean, std = last["mean"], last["std"]
        rows.append(
            {
                **dict(zip(["problem", "rate", "batch_size"], key, strict=True)),
                "private": mean[True],
                "std": std[True],
                "not_private": mean[False],
                "std_ratio": std[True] / std[False],
                "kept": (AT_ZERO - mean[True]) / (AT_ZERO - mean[False]),
            }
        )
    return pd.DataFrame(rows)


def judge_batches(compared, matching):
    """Return sentences on the paper's findings on b = 1 and on the b in `matching`, by problem."""
    said = []
    for row in compared.itertuples():
        claims = {
            1: ("doesn't converge", row.kept < _FAILS),
            matching[row.problem]: ("matches SGD without privacy", row.kept > _MATCHES),
        }
        claim, holds = claims[row.batch_size]
        left = f"{row.kept:.1%}" if row.kept > 0.0 else "none"
        said.append(
            f"{row.problem}: b = {row.batch_size} {claim}: {_verdict(holds)}. Objective "
            f"{row.private:.4f} +- {row.std:.4f}, {row.not_private:.4f} without privacy and "
            f"{AT_ZERO:.4f} at zero: {left} of the gain is left, and the gap is "
            f"{(row.private - row.not_private) / row.std:.1f} standard deviations."
        )
    return said


def judge_sizes(compared):
    """Return sentences on the best and the largest batch size, by problem and rate."""
    said = []
    for (problem, rate), group in compared.groupby(["problem", "rate"], sort=False):
        group = group.sort_values("batch_size")
        best = group.loc[group["private"].idxmin()]
        matching = group.loc[group["kept"] > _MATCHES, "batch_size"]
        least = f"from b = {matching.min()}" if len(matching) else "for no b"
        largest = group.iloc[-1]
        said.append(
            f"{problem}, {rate}: private SGD is best at b = {best['batch_size']}, "
            f"{best['private']:.4f}; at b = {largest['batch_size']} it has "
            f"{largest['private']:.4f}. It keeps {_MATCHES:.0%} of the gain of SGD without "
            f"privacy {least}."
        )
    return said


def judge_rates(compared):
    """Return a sentence on the paper's finding on rapidly falling step sizes."""
    slow, rapid = (compared[compared["rate"] == r].iloc[0] for r in ("1/sqrt(t)", "1/(alpha t)"))
    ratio = rapid["std"] / slow["std"]
    return (
        f"1/(alpha t) has far more variance: {_verdict(ratio > _FAR_MORE)}. Objective "
        f"{rapid['private']:.4f} +- {rapid['std']:.4f} against {slow['private']:.4f} +- "
        f"{slow['std']:.4f}: {ratio:.0f} times the standard deviation. Without privacy "
        f"{rapid['not_private']:.4f} against {slow['not_private']:.4f}."
    )


def _verdict(holds):
    return "holds" if holds else "does NOT hold"


def draw_errors(axis, table, x):
    """Draw the objective against column `x`, with standard deviations as error bars."""
    for private, group in table.groupby("private", sort=False):
        axis.errorbar(
            group[x],
            group["mean"],
            yerr=group["std"],
            marker="o",
            markersize=5,
            capsize=3,
            color=COLORS[private],
            label=LABELS[private],
        )
    axis.axhline(table["optimum"].iloc[0], color="black", linestyle="--", label="optimum")
    axis.axhline(AT_ZERO, color="gray", linestyle=":", label="at zero")
    axis.margins(y=0.1)
    axis.grid(alpha=0.3)


def add_legend(figure, axis):
    """Put the legend of one axis below the figure."""
    entries = dict(zip(*reversed(axis.get_legend_handles_labels()), strict=True))
    # matplotlib gives lines before error bars.
    labels = [*LABELS.values(), *(label for label in entries if label not in LABELS.values())]
    figure.legend(
        [entries[label] for label in labels],
        labels,
        loc="outside lower center",
        ncols=len(labels),
        frameon=False,
    )


def _project(features, n_columns):
    """Return random projections of rows, cut to the unit ball."""
    projection = GaussianRandomProjection(n_columns, random_state=0)
    X = projection.fit_transform(scale(features)).astype(np.float64)
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)


def _sphere():
    """Return uniform points of the unit sphere that a hyperplane separates with a margin."""
    rng = np.random.default_rng(0)
    normal = rng.normal(size=_SPHERE_COLUMNS)
    normal /= np.linalg.norm(normal)
    X = rng.normal(size=(2 * _SPHERE_ROWS, _SPHERE_COLUMNS))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    distance = X @ normal
    apart = np.flatnonzero(np.abs(distance) >= _MARGIN)[:_SPHERE_ROWS]
    return X[apart], np.where(distance[apart] > 0.0, 1, -1)
