"""Convergence of pure DP-SGD: figure 1 of the DP-SGD paper.

Training objective against iterations of one pass, for single rows and for a small batch, with and
without privacy. Each point is a mean of passes of its own over that many rows. The objective is
computed from the training rows and is NOT private.

    python benchmarks/dpsgd_fig1.py --data FOLDER
"""

import argparse

import matplotlib as mpl
import pandas as pd
from _data import NOT_PRIVATE, write_table
from _dpsgd import RATE_LABELS, TITLES, add_legend, compare, draw_errors, judge_batches, measure
from _figures import add_options, command

mpl.use("Agg")
import matplotlib.pyplot as plt

RATE = "1/sqrt(t)"
# What matches SGD without privacy, in the paper.
MATCHING = {"mnist": 10, "kddcup99": 5}
# Rows used; a last point uses all.
POINTS = (100, 300, 1000, 3000, 10_000)


def draw(table, path):
    """Draw objective against iterations: a column for each problem, a row for each batch size.

    The horizontal axes of a column span the same number of rows.
    """
    names = list(dict.fromkeys(table["problem"]))
    figure, axes = plt.subplots(
        2,
        len(names),
        figsize=(4.8 * len(names), 6.6),
        sharey="row",
        squeeze=False,
        layout="constrained",
    )
    for name, column in zip(names, axes.T, strict=True):
        of_problem = table[table["problem"] == name]
        for axis, (batch_size, group) in zip(column, of_problem.groupby("batch_size"), strict=True):
            draw_errors(axis, group, "iterations")
            axis.set(xscale="log", yscale="log", title=f"{TITLES[name]}, b = {batch_size}")
            axis.set_xlim(*(group["points"].agg(["min", "max"]) / batch_size * [0.8, 1.25]))
        column[-1].set_xlabel("iterations")
    for axis in axes[:, 0]:
        axis.set_ylabel("objective")
    add_legend(figure, axes.flat[0])
    figure.suptitle(f"Objective in one pass, mean and standard deviation, {RATE_LABELS[RATE]}")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser, seeds=range(20))
    parser.add_argument("--problems", nargs="+", choices=MATCHING, default=list(MATCHING))
    parser.add_argument("--points", type=int, nargs="+", default=list(POINTS))
    options = parser.parse_args(arguments)
    tables = []
    for name in options.problems:
        settings = [
            (RATE, batch_size, points)
            for batch_size in (1, MATCHING[name])
            for points in (*options.points, None)
        ]
        tables.append(measure(name, settings, options.seeds, options.data, options.n_jobs))
    table = pd.concat(tables).round(6)
    line = command(
        "dpsgd_fig1", problems=options.problems, points=options.points, seeds=options.seeds
    )
    write_table(table, options.output / "dpsgd_fig1.csv", line)
    draw(table, options.output / "dpsgd_fig1.png")
    print(NOT_PRIVATE)
    print(table.to_string(index=False))
    print(*judge_batches(compare(table), MATCHING), sep="\n")


if __name__ == "__main__":
    main()
