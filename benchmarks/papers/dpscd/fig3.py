"""Batch size against clipping norm: figure 3 of the DP-SCD paper.

Median test accuracy of a support vector machine on Adult over a grid, and where the automatic
choice, which looks at no data, is in it.

    python benchmarks/papers/dpscd/fig3.py --data FOLDER
"""

import itertools
import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2]))
import _common as bench
from _dpscd import PROBLEMS, load_part, make_model, quietly_fit, score_fit

NAME = "adult_hinge"
EPSILON = 1.0
DELTA = 1e-5
BATCH_SIZES = (20, 50, 100, 200, 500, 1000, 2000)
CLIPPINGS = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)


def measure(options):
    """Return one row for each batch size and clipping norm, and a last one for "auto"."""
    problem, told = PROBLEMS[NAME], {"epsilon": EPSILON, "delta": DELTA}
    settings = [*itertools.product(options.batch_sizes, options.clippings), ("auto", "auto")]
    chosen = [{"batch_size": batch, "clipping_norm": clipping} for batch, clipping in settings]
    cells = [(problem, "ours", told | setting, "test") for setting in chosen]
    found = bench.run_cells(score_fit, cells, options.seeds, options)
    auto = quietly_fit(make_model(problem, **told), *load_part(problem, "test")[:2])
    chosen[-1] = {"batch_size": auto.batch_size_, "clipping_norm": auto.clipping_norm_}
    table = pd.DataFrame(chosen).assign(choice=["grid"] * (len(chosen) - 1) + ["auto"])
    return table.join(pd.DataFrame(bench.summarize(row, "median", "min", "max") for row in found))


def draw(table, options):
    """Draw a heat map, with a star at the automatic choice."""
    is_auto = table["choice"] == "auto"
    auto = table[is_auto].iloc[0]
    cells = table[~is_auto].pivot(index="clipping_norm", columns="batch_size", values="median")
    figure, ((axis,),) = bench.panels(1, 1, 7.2, 4.6)
    axis.grid(False)
    # Poor settings would take the whole scale: what is far from the best is one colour.
    best = cells.to_numpy().max()
    edges = (_edges(values) for values in (cells.columns, cells.index))
    lowest = max(best - 0.03, cells.to_numpy().min())
    image = axis.pcolormesh(*edges, cells.to_numpy(), vmin=lowest, vmax=best, cmap="viridis")
    for (clipping, batch), value in cells.stack().items():
        color = "black" if value > best - 0.01 else "white"
        # In the lower half, where the star seldom is.
        below = 0.75 * clipping
        axis.text(batch, below, f"{value:.3f}", ha="center", va="center", color=color, size=8)
    star = {"marker": "*", "markersize": 17, "color": "tab:red", "markeredgecolor": "white"}
    (handle,) = axis.plot(auto["batch_size"], auto["clipping_norm"], linestyle="none", **star)
    axis.set(xscale="log", yscale="log", xlabel="batch size", ylabel="clipping norm")
    axis.set_xticks(cells.columns, labels=cells.columns)
    axis.set_yticks(cells.index, labels=[f"{value:g}" for value in cells.index])
    axis.minorticks_off()
    figure.colorbar(image, label="test accuracy (median)", extend="min")
    axis.set_title(rf"{PROBLEMS[NAME].title}, $\epsilon$ = {EPSILON:g}, $\delta$ = {DELTA:g}")
    legend = {f"automatic choice: {auto['median']:.3f}": handle}
    bench.save_figure(figure, "dpscd_fig3.png", options, legend=legend)


def _edges(values):
    """Return the borders of cells around values, halfway on a logarithmic axis."""
    logs = np.log(np.asarray(values, dtype=float))
    middles = (logs[:-1] + logs[1:]) / 2.0
    ends = [2.0 * logs[0] - middles[0]], [2.0 * logs[-1] - middles[-1]]
    return np.exp(np.concatenate([ends[0], middles, ends[1]]))


def main(arguments=None):
    named = {"batch_sizes": BATCH_SIZES, "clippings": CLIPPINGS, "seeds": range(3)}
    options = bench.read_options(__file__, __doc__, arguments, **named)
    table = measure(options).round({"clipping_norm": 6, "median": 4, "min": 4, "max": 4})
    bench.write_table(table, "dpscd_fig3.csv", options)
    draw(table, options)


if __name__ == "__main__":
    bench.run_script(__file__)
