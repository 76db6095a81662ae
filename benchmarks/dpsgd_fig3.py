"""Step sizes of pure DP-SGD: figure 3 of the DP-SGD paper.

Training objective against the number of rows used in one pass, in batches of five, on points of a
sphere that a hyperplane separates, for slowly and for rapidly falling step sizes, with and without
privacy. The objective is computed from the training rows and is NOT private.

    python benchmarks/dpsgd_fig3.py
"""

import argparse
import itertools

import matplotlib as mpl
from _data import write_table
from _dpsgd import COLORS, RATE_LABELS, add_legend, compare, draw_errors, judge_rates, measure
from _figures import add_options, command

mpl.use("Agg")
import matplotlib.pyplot as plt

RATES = ("1/sqrt(t)", "1/(alpha t)")
BATCH_SIZE = 5
# Rows used; a last point uses all.
POINTS = (100, 200, 500, 1000, 2000, 3500, 5000, 7000)


def draw(table, path):
    """Draw objective against rows used, a panel for each step size, and standard deviations."""
    figure = plt.figure(figsize=(12.0, 4.2), layout="constrained")
    *axes, last = figure.subplots(1, len(RATES) + 1, sharex=True)
    for axis, rate, line in zip(axes, RATES, ("-", "--"), strict=True):
        of_rate = table[table["rate"] == rate]
        draw_errors(axis, of_rate, "points")
        axis.set(xscale="log", yscale="log", title=f"objective, {RATE_LABELS[rate]}")
        for private, group in of_rate.groupby("private"):
            style = {"color": COLORS[private], "linestyle": line, "marker": "o", "markersize": 5}
            last.plot(group["points"], group["std"], **style)
        last.plot([], [], color="black", linestyle=line, label=RATE_LABELS[rate])
    axes[0].sharey(axes[1])
    last.set(yscale="log", title="standard deviation")
    last.legend()
    last.grid(alpha=0.3)
    for axis in (*axes, last):
        axis.set_xlabel("rows used")
    add_legend(figure, axes[0])
    figure.suptitle(f"Objective on the sphere, mean and standard deviation, b = {BATCH_SIZE}")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser, seeds=range(20))
    parser.add_argument("--points", type=int, nargs="+", default=list(POINTS))
    options = parser.parse_args(arguments)
    settings = list(itertools.product(RATES, [BATCH_SIZE], [*options.points, None]))
    table = measure("sphere", settings, options.seeds, options.data, options.n_jobs).round(6)
    line = command("dpsgd_fig3", points=options.points, seeds=options.seeds)
    write_table(table, options.output / "dpsgd_fig3.csv", line)
    draw(table, options.output / "dpsgd_fig3.png")
    print(table.to_string(index=False))
    print(judge_rates(compare(table)))


if __name__ == "__main__":
    main()
