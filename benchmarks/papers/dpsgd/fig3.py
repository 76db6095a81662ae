"""Step sizes of pure DP-SGD: figure 3 of the DP-SGD paper.

Training objective against the number of rows used in one pass, in batches of five, on points of a
sphere that a hyperplane separates, for slowly and for rapidly falling step sizes, with and without
privacy. The objective is computed from the training rows and is NOT private.

    python benchmarks/papers/dpsgd/fig3.py
"""

import itertools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
import _common as bench
from _dpsgd import COLORS, RATE_LABELS, compare, draw_errors, measure

RATES = ("1/sqrt(t)", "1/(alpha t)")
BATCH_SIZE = 5
# Rows used; a last point uses all.
POINTS = (100, 200, 500, 1000, 2000, 3500, 5000, 7000)


def draw(table, options):
    """Draw objective against rows used, a panel for each step size, and standard deviations."""
    figure, ((*axes, last),) = bench.panels(1, len(RATES) + 1, 4.0, 4.2, sharex=True)
    for axis, rate, line in zip(axes, RATES, ("-", "--"), strict=True):
        of_rate = table[table["rate"] == rate]
        legend = draw_errors(axis, of_rate, "points")
        axis.set(xscale="log", yscale="log", title=f"objective, {RATE_LABELS[rate]}")
        for private, group in of_rate.groupby("private"):
            style = {"color": COLORS[private], "linestyle": line, "marker": "o", "markersize": 5}
            last.plot(group["points"], group["std"], **style)
        last.plot([], [], color="black", linestyle=line, label=RATE_LABELS[rate])
    axes[0].sharey(axes[1])
    last.set(yscale="log", title="standard deviation")
    last.legend()
    for axis in (*axes, last):
        axis.set_xlabel("rows used")
    title = f"Objective on the sphere, mean and standard deviation, b = {BATCH_SIZE}"
    bench.save_figure(figure, "dpsgd_fig3.png", options, title, legend)


def main(arguments=None):
    named = {"points": POINTS, "seeds": range(20)}
    options = bench.read_options(__file__, __doc__, arguments, **named)
    settings = itertools.product(RATES, [BATCH_SIZE], [*options.points, None])
    table = measure("sphere", settings, options).round(6)
    bench.write_table(table, "dpsgd_fig3.csv", options, note="Rows are generated.")
    draw(table, options)
    compared = compare(table)
    slow, rapid = compared["std"]
    print(compared.round(4).to_string(index=False))
    print(f"{RATES[1]} has {rapid / slow:.0f} times the standard deviation of {RATES[0]}.")


if __name__ == "__main__":
    bench.run_script(__file__)
