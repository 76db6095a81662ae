"""Convergence under noise: figure 2 of the DP-SCD paper.

How far the training objective is from its optimum after a number of passes, for two values of
epsilon and without privacy. The paper follows one run; here each point is a fit of its own, whose
noise and automatic clipping norm are those of its number of passes: what a user gets who asks for
that many. The objective is computed from the training rows and is NOT private.

    python benchmarks/dpscd_fig2.py --data FOLDER
"""

import argparse
import itertools
import math

import matplotlib as mpl
import numpy as np
import pandas as pd
from _data import NOT_PRIVATE, load_prepared, write_table
from _figures import PROBLEMS, add_options, command, quietly_fit, run_all
from sklearn.linear_model import LogisticRegression, Ridge

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import NullLocator

NAMES = ("california_housing", "adult_log_loss")
EPSILONS = (0.1, 1.0, math.inf)
DELTA = 1e-5
PASSES = (1, 2, 5, 10, 20, 50)
# Larger than the automatic choice, so that fifty passes take little time.
BATCH_SIZE = 200
COLORS = ("tab:orange", "tab:blue", "black")


def find_optimum(problem, X, y):
    """Return the weights that minimise the objective."""
    n_rows = X.shape[0]
    if problem.is_regression:
        model = Ridge(alpha=problem.alpha * n_rows, fit_intercept=False, solver="cholesky")
    else:
        model = LogisticRegression(
            C=1.0 / (problem.alpha * n_rows),
            fit_intercept=False,
            solver="newton-cholesky",
            tol=1e-10,
            max_iter=1000,
        )
    return model.fit(X, y).coef_.ravel()


def objective(problem, weights, X, y):
    """Return what `fit` minimises."""
    predictions = X @ weights
    if problem.is_regression:
        losses = 0.5 * (y - predictions) ** 2
    else:
        signs = np.where(y == np.unique(y)[1], 1.0, -1.0)
        losses = np.logaddexp(0.0, -signs * predictions)
    return losses.mean() + 0.5 * problem.alpha * weights @ weights


def reach(name, epsilon, passes, seed, X, y):
    """Return the objective of one fit."""
    problem = PROBLEMS[name]
    model = problem.make(
        epsilon=epsilon,
        delta=DELTA,
        max_iter=passes,
        batch_size=BATCH_SIZE,
        random_state=seed,
    )
    return objective(problem, quietly_fit(model, X, y).coef_.ravel(), X, y)


def measure(name, passes, seeds, folder, n_jobs):
    """Return one row for each epsilon and number of passes."""
    X, y, _, _ = load_prepared(PROBLEMS[name].data, folder)
    optimum = objective(PROBLEMS[name], find_optimum(PROBLEMS[name], X, y), X, y)
    points = list(itertools.product(EPSILONS, passes))
    tasks = [(name, *point, seed, X, y) for point in points for seed in seeds]
    reached = np.reshape(list(run_all(reach, tasks, n_jobs)), (len(points), len(seeds)))
    table = pd.DataFrame(points, columns=["epsilon", "passes"])
    table.insert(0, "problem", name)
    # Relative, so that the two problems can be compared.
    distance = reached / optimum - 1.0
    return table.assign(
        median=np.median(distance, axis=1), min=distance.min(axis=1), max=distance.max(axis=1)
    )


def draw(table, path):
    """Draw one panel for each problem: suboptimality against passes."""
    names = list(dict.fromkeys(table["problem"]))
    figure, axes = plt.subplots(
        1,
        len(names),
        figsize=(4.6 * len(names), 3.8),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for axis, name in zip(axes.flat, names, strict=True):
        groups = table[table["problem"] == name].groupby("epsilon")
        for (epsilon, group), color in zip(groups, COLORS, strict=True):
            label = "no privacy" if math.isinf(epsilon) else rf"$\epsilon$ = {epsilon:g}"
            axis.plot(group["passes"], group["median"], marker="o", color=color, label=label)
            band = group["passes"], group["min"], group["max"]
            axis.fill_between(*band, color=color, alpha=0.15)
        axis.set(xscale="log", yscale="log", title=PROBLEMS[name].title, xlabel="passes")
        axis.set_xticks(group["passes"], labels=group["passes"])
        axis.xaxis.set_minor_locator(NullLocator())
        axis.grid(alpha=0.3)
    axes.flat[0].set_ylabel("objective / optimum - 1")
    axes.flat[0].legend()
    figure.suptitle(rf"Distance of the objective from its optimum, $\delta$ = {DELTA:g}")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser, seeds=range(10))
    parser.add_argument("--problems", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--passes", type=int, nargs="+", default=list(PASSES))
    options = parser.parse_args(arguments)
    table = pd.concat(
        measure(name, options.passes, options.seeds, options.data, options.n_jobs)
        for name in options.problems
    )
    line = command(
        "dpscd_fig2", problems=options.problems, passes=options.passes, seeds=options.seeds
    )
    table = table.round(6)
    write_table(table, options.output / "dpscd_fig2.csv", line)
    draw(table, options.output / "dpscd_fig2.png")
    print(NOT_PRIVATE)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
