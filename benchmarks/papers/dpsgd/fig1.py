"""Convergence of pure DP-SGD: figure 1 of the DP-SGD paper.

Training objective against iterations of one pass, for single rows and for a small batch, with and
without privacy. Each point is a mean of passes of its own over that many rows. The objective is
computed from the training rows and is NOT private.

    python benchmarks/papers/dpsgd/fig1.py --data FOLDER
"""

import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2]))
import _common as bench
from _dpsgd import PROBLEMS, RATE_LABELS, compare, draw_errors, measure

RATE = "1/sqrt(t)"
# What matches SGD without privacy, in the paper.
MATCHING = {"mnist": 10, "kddcup99": 5}
# Rows used; a last point uses all.
POINTS = (100, 300, 1000, 3000, 10_000)


def draw(table, options):
    """Draw objective against iterations: a column for each problem, a row for each batch size.

    The horizontal axes of a column span the same number of rows.
    """
    figure, axes = bench.panels(2, len(options.problems), 4.8, 3.3, sharey="row")
    for name, column in zip(options.problems, axes.T, strict=True):
        of_problem = table[table["problem"] == name]
        for axis, (size, group) in zip(column, of_problem.groupby("batch_size"), strict=True):
            legend = draw_errors(axis, group, "iterations")
            axis.set(xscale="log", yscale="log", title=f"{PROBLEMS[name].title}, b = {size}")
            axis.set_xlim(*(group["points"].agg(["min", "max"]) / size * [0.8, 1.25]))
        column[-1].set_xlabel("iterations")
    for axis in axes[:, 0]:
        axis.set_ylabel("objective")
    title = f"Objective in one pass, mean and standard deviation, {RATE_LABELS[RATE]}"
    bench.save_figure(figure, "dpsgd_fig1.png", options, title, legend)


def main(arguments=None):
    named = {"problems": MATCHING, "points": POINTS, "seeds": range(20)}
    options = bench.read_options(__file__, __doc__, arguments, **named)
    points = [*options.points, None]
    table = pd.concat(
        measure(name, [(RATE, size, n) for size in (1, MATCHING[name]) for n in points], options)
        for name in options.problems
    ).round(6)
    bench.write_table(table, "dpsgd_fig1.csv", options)
    draw(table, options)
    print(compare(table).round(4).to_string(index=False))


if __name__ == "__main__":
    bench.run_script(__file__)
