"""What the scripts of the DP-SGD paper's figures share: problems, fits and comparisons.

Song, Chaudhuri and Sarwate (2013), section IV: logistic regression without an intercept, alpha
1e-4, one pass, epsilon 1 for data sets in which one record is any other, gradients of norm at most
1. The estimators treat the penalty by a proximal step, where the paper uses its gradient.
"""

import itertools
import math
from functools import lru_cache

import numpy as np
import pandas as pd
from _common import Problem, run_cells, summarize
from _data import find_file, scale
from sklearn.random_projection import GaussianRandomProjection

from skdp.linear_model import DPSGDClassifier

PROBLEMS = {
    "mnist": Problem("MNIST, 1 against all", "mnist", 1e-4, "log_loss"),
    "kddcup99": Problem("KDD Cup 1999", "kddcup99", 1e-4, "log_loss"),
    "sphere": Problem("Sphere", "sphere", 1e-4, "log_loss"),
}
FROM_FILES = ("mnist", "kddcup99")
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

COLORS = {True: "tab:orange", False: "tab:blue"}
LABELS = {True: rf"private, $\epsilon$ = {EPSILON:g}", False: "not private"}

# "Match": so much is left of what SGD without privacy gains on the model of zeros. Where less than
# half is left, noise "prevents the algorithm from converging".
_MATCHES, _FAILS = 0.95, 0.5

_DIGIT = 1
_KDDCUP99_ROWS = 50_000
_SPHERE_ROWS, _SPHERE_COLUMNS, _MARGIN = 10_000, 5, 1e-3


@lru_cache(maxsize=1)
def load_problem(name):
    """Return rows in the unit ball and labels -1 and 1 of a key of `PROBLEMS`."""
    if name == "sphere":
        return _sphere()
    if name == "mnist":
        with np.load(find_file("mnist.npz")) as file:
            images, digits = file["x_train"], file["y_train"]
        features = pd.DataFrame(images.reshape(len(images), -1).astype(np.float32))
        return _project(features, 15), np.where(digits == _DIGIT, 1, -1)
    frame = pd.read_csv(find_file("kddcup99_10percent.csv.gz"), keep_default_na=False)
    frame = frame.sample(min(_KDDCUP99_ROWS, len(frame)), random_state=0)
    y = np.where(frame["label"] == "normal.", -1, 1)
    return _project(frame.drop(columns="label"), 9), y


def reach(problem, rate, batch_size, points, private, seed):
    """Return the objective, on all rows, of a pass over some of them in random order.

    Batches are disjoint and step sizes don't depend on the number of rows, so that a pass over a
    few rows is the beginning of a pass over all.

    Parameters
    ----------
    problem : Problem
    rate : str
        A key of `RATES`.
    batch_size, points : int
        Rows of a batch, and rows used.
    private : bool
    seed : int
        Of the order of the rows and of the noise.
    """
    X, y = load_problem(problem.data)
    used = np.random.default_rng(seed).permutation(len(y))[:points]
    model = DPSGDClassifier(
        alpha=problem.alpha,
        fit_intercept=False,
        classes=[-1, 1],
        epsilon=EPSILON if private else math.inf,
        adjacency="replace_one",
        mechanism="laplace",
        ball_budget=0,
        batch_size=batch_size,
        clipping_norm=1.0,
        average=False,
        random_state=seed,
        **RATES[rate],
    )
    return problem.objective(model.fit(X[used], y[used]).coef_[0], X, y)


def measure(name, settings, options):
    """Return mean and standard deviation of the objective over seeds, with and without privacy.

    Parameters
    ----------
    name : str
        A key of `PROBLEMS`.
    settings : iterable of (rate, batch_size, points)
        As for `reach`; None stands for all rows.
    options : Namespace

    Returns
    -------
    DataFrame
    """
    (X, y), problem = load_problem(name), PROBLEMS[name]
    cells = [
        (rate, batch_size, min(points or len(y), len(y)), private)
        for (rate, batch_size, points), private in itertools.product(settings, COLORS)
    ]
    cells = list(dict.fromkeys(cells))
    found = run_cells(reach, [(problem, *cell) for cell in cells], options.seeds, options)
    table = pd.DataFrame(cells, columns=["rate", "batch_size", "points", "private"])
    table.insert(0, "problem", name)
    table.insert(4, "iterations", -(-table["points"] // table["batch_size"]))
    table = table.join(pd.DataFrame(summarize(row, "mean", "std") for row in found))
    return table.assign(optimum=problem.objective(problem.optimum(X, y), X, y))


def compare(table):
    """Return one row for each problem, rate and batch size: private SGD after the last point.

    `kept` is how much of what SGD without privacy gained on the model of zeros is left, `std_ratio`
    the standard deviation in units of its; `matches` and `fails` are the paper's words for `kept`.
    """
    rows = []
    for key, group in table.groupby(["problem", "rate", "batch_size"], sort=False):
        last = group[group["points"] == group["points"].max()].set_index("private")
        mean, std = last["mean"], last["std"]
        row = dict(zip(("problem", "rate", "batch_size"), key, strict=True))
        row |= {"private": mean[True], "std": std[True], "not_private": mean[False]}
        row["std_ratio"] = std[True] / std[False]
        row["kept"] = (AT_ZERO - mean[True]) / (AT_ZERO - mean[False])
        rows.append(row | {"matches": row["kept"] > _MATCHES, "fails": row["kept"] < _FAILS})
    return pd.DataFrame(rows)


def draw_errors(axis, table, x):
    """Draw the objective against column `x`, with standard deviations, and return the handles."""
    handles, style = {}, {"marker": "o", "markersize": 5, "capsize": 3}
    for private, group in table.groupby("private", sort=False):
        style |= {"color": COLORS[private], "yerr": group["std"]}
        handles[LABELS[private]] = axis.errorbar(group[x], group["mean"], **style)
    handles["optimum"] = axis.axhline(table["optimum"].iloc[0], color="black", linestyle="--")
    handles["at zero"] = axis.axhline(AT_ZERO, color="gray", linestyle=":")
    axis.margins(y=0.1)
    return handles


def _project(features, n_columns):
    """Return random projections of rows, cut to the unit ball."""
    projection = GaussianRandomProjection(n_columns, random_state=0)
    X = projection.fit_transform(*scale(features, slice(None))).astype(np.float64)
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
