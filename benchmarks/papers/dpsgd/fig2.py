"""Batch size of pure DP-SGD: figure 2 of the DP-SGD paper.

Training objective after one pass against the batch size, for two step sizes, with and without
privacy. The objective is computed from the training rows and is NOT private.

    python benchmarks/papers/dpsgd/fig2.py --data FOLDER
"""

import itertools
import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2]))
import _common as bench
from _dpsgd import FROM_FILES, PROBLEMS, RATE_LABELS, compare, draw_errors, measure

BATCH_SIZES = (1, 2, 5, 10, 20, 50)
RATES = ("1/sqrt(t)", "10/sqrt(t)")


def draw(table, options):
    """Draw objective against batch size: a column for each problem, a row for each step size."""
    names = options.problems
    figure, axes = bench.panels(2, len(names), 4.8, 3.3, sharex=True, sharey="row")
    for axis, (rate, name) in zip(axes.flat, itertools.product(RATES, names), strict=True):
        group = table[(table["problem"] == name) & (table["rate"] == rate)]
        legend = draw_errors(axis, group, "batch_size")
        bench.plain_ticks(axis, sorted(set(group["batch_size"])))
        axis.set(yscale="log", title=f"{PROBLEMS[name].title}, {RATE_LABELS[rate]}")
    for axis in axes[-1]:
        axis.set_xlabel("batch size b")
    for axis in axes[:, 0]:
        axis.set_ylabel("objective")
    title = "Objective after one pass, mean and standard deviation"
    bench.save_figure(figure, "dpsgd_fig2.png", options, title, legend)


def main(arguments=None):
    named = {"problems": FROM_FILES, "batch_sizes": BATCH_SIZES, "seeds": range(20)}
    options = bench.read_options(__file__, __doc__, arguments, **named)
    settings = list(itertools.product(RATES, options.batch_sizes, [None]))
    table = pd.concat(measure(name, settings, options) for name in options.problems).round(6)
    bench.write_table(table, "dpsgd_fig2.csv", options)
    draw(table, options)
    print(compare(table).round(4).to_string(index=False))


if __name__ == "__main__":
    bench.run_script(__file__)
