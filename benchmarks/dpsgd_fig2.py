"""Batch size of pure DP-SGD: figure 2 of the DP-SGD paper.

Training objective after one pass against the batch size, for two step sizes, with and without
privacy. The objective is computed from the training rows and is NOT private.

    python benchmarks/dpsgd_fig2.py --data FOLDER
"""

import argparse
import itertools

import matplotlib as mpl
import pandas as pd
from _data import NOT_PRIVATE, write_table
from _dpsgd import (
    BATCH_SIZES,
    RATE_LABELS,
    TITLES,
    add_legend,
    compare,
    draw_errors,
    judge_sizes,
    measure,
)
from _figures import add_options, command

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import NullLocator

RATES = ("1/sqrt(t)", "10/sqrt(t)")


def draw(table, path):
    """Draw objective against batch size: a column for each problem, a row for each step size."""
    names = list(dict.fromkeys(table["problem"]))
    figure, axes = plt.subplots(
        len(RATES),
        len(names),
        figsize=(4.8 * len(names), 6.6),
        sharex=True,
        sharey="row",
        squeeze=False,
        layout="constrained",
    )
    for (row, rate), (column, name) in itertools.product(enumerate(RATES), enumerate(names)):
        axis = axes[row, column]
        group = table[(table["problem"] == name) & (table["rate"] == rate)]
        draw_errors(axis, group, "batch_size")
        sizes = sorted(set(group["batch_size"]))
        axis.set(xscale="log", yscale="log", title=f"{TITLES[name]}, {RATE_LABELS[rate]}")
        axis.set_xticks(sizes, labels=sizes)
        axis.xaxis.set_minor_locator(NullLocator())
    for axis in axes[-1]:
        axis.set_xlabel("batch size b")
    for axis in axes[:, 0]:
        axis.set_ylabel("objective")
    add_legend(figure, axes.flat[0])
    figure.suptitle("Objective after one pass, mean and standard deviation")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser, seeds=range(20))
    parser.add_argument("--problems", nargs="+", choices=TITLES, default=list(TITLES))
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=list(BATCH_SIZES))
    options = parser.parse_args(arguments)
    settings = list(itertools.product(RATES, options.batch_sizes, [None]))
    table = pd.concat(
        measure(name, settings, options.seeds, options.data, options.n_jobs)
        for name in options.problems
    ).round(6)
    line = command(
        "dpsgd_fig2",
        problems=options.problems,
        **{"batch-sizes": options.batch_sizes},
        seeds=options.seeds,
    )
    write_table(table, options.output / "dpsgd_fig2.csv", line)
    draw(table, options.output / "dpsgd_fig2.png")
    compared = compare(table)
    print(NOT_PRIVATE)
    print(compared.round(4).to_string(index=False))
    print(*judge_sizes(compared), sep="\n")


if __name__ == "__main__":
    main()
