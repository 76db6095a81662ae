"""Convergence under noise: figure 2 of the DP-SCD paper.

How far the training objective is from its optimum after a number of passes, for two values of
epsilon and without privacy. The paper follows one run; here each point is a fit of its own, whose
noise and automatic clipping norm are those of its number of passes: what a user gets who asks for
that many. The objective is computed from the training rows and is NOT private.

    python benchmarks/papers/dpscd/fig2.py --data FOLDER
"""

import itertools
import math
import sys
from functools import lru_cache
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2]))
import _common as bench
from _data import load_prepared
from _dpscd import PROBLEMS, make_model, quietly_fit

NAMES = ("california_housing", "adult_log_loss")
EPSILONS = (0.1, 1.0, math.inf)
DELTA = 1e-5
PASSES = (1, 2, 5, 10, 20, 50)
# Larger than the automatic choice, so that fifty passes take little time.
BATCH_SIZE = 200
COLORS = ("tab:orange", "tab:blue", "black")


@lru_cache
def lowest(problem):
    """Return the objective of the optimum."""
    X, y, _, _ = load_prepared(problem.data)
    return problem.objective(problem.optimum(X, y), X, y)


def reach(problem, epsilon, passes, seed):
    """Return the objective of one fit, relative to the optimum."""
    X, y, _, _ = load_prepared(problem.data)
    settings = {"delta": DELTA, "max_iter": passes, "batch_size": BATCH_SIZE, "random_state": seed}
    model = quietly_fit(make_model(problem, epsilon=epsilon, **settings), X, y)
    return problem.objective(model.coef_.ravel(), X, y) / lowest(problem) - 1.0


def draw(table, options):
    """Draw one panel for each problem: suboptimality against passes."""
    figure, axes = bench.panels(1, len(options.problems), 4.6, 3.8, sharey=True)
    for axis, name in zip(axes.flat, options.problems, strict=True):
        groups = table[table["problem"] == name].groupby("epsilon")
        for (epsilon, group), color in zip(groups, COLORS, strict=True):
            label = "no privacy" if math.isinf(epsilon) else rf"$\epsilon$ = {epsilon:g}"
            bench.band(axis, group, "passes", color=color, label=label)
        bench.plain_ticks(axis, group["passes"])
        axis.set(yscale="log", title=PROBLEMS[name].title, xlabel="passes")
    axes.flat[0].set_ylabel("objective / optimum - 1")
    axes.flat[0].legend()
    title = rf"Distance of the objective from its optimum, $\delta$ = {DELTA:g}"
    bench.save_figure(figure, "dpscd_fig2.png", options, title)


def main(arguments=None):
    options = bench.read_options(
        __file__, __doc__, arguments, problems=NAMES, passes=PASSES, seeds=range(10)
    )
    cells = list(itertools.product(options.problems, EPSILONS, options.passes))
    jobs = [(PROBLEMS[name], *point) for name, *point in cells]
    found = bench.run_cells(reach, jobs, options.seeds, options)
    table = pd.DataFrame(cells, columns=["problem", "epsilon", "passes"])
    table = table.join(pd.DataFrame(bench.summarize(row, "median", "min", "max") for row in found))
    bench.write_table(table.round(6), "dpscd_fig2.csv", options)
    draw(table, options)


if __name__ == "__main__":
    bench.run_script(__file__)
