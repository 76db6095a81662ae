"""Batch size against clipping norm: figure 3 of the DP-SCD paper.

Median test accuracy of a support vector machine on Adult over a grid, and where the automatic
choice, which looks at no data, is in it.

    python benchmarks/dpscd_fig3.py --data FOLDER
"""

import argparse
import itertools

import matplotlib as mpl
import numpy as np
import pandas as pd
from _data import NOT_PRIVATE, load_prepared, write_table
from _figures import PROBLEMS, Fit, Scores, add_options, command, quietly_fit

mpl.use("Agg")
import matplotlib.pyplot as plt

NAME = "adult_hinge"
EPSILON = 1.0
DELTA = 1e-5
BATCH_SIZES = (20, 50, 100, 200, 500, 1000, 2000)
CLIPPINGS = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)


def measure(batch_sizes, clippings, seeds, data, scores):
    """Return one row for each batch size and clipping norm, and a last one for "auto"."""
    settings = [*itertools.product(batch_sizes, clippings), ("auto", "auto")]
    fits = [
        Fit(NAME, "ours", EPSILON, DELTA, *setting, "test", seed)
        for setting in settings
        for seed in seeds
    ]
    found = scores.of(fits, data).reshape(len(settings), len(seeds))
    table = pd.DataFrame(settings, columns=["batch_size", "clipping_norm"])
    table["choice"] = ["grid"] * (len(settings) - 1) + ["auto"]
    model = PROBLEMS[NAME].make(epsilon=EPSILON, delta=DELTA, random_state=seeds[0])
    quietly_fit(model, *data[:2])
    last = len(table) - 1
    table.loc[last, ["batch_size", "clipping_norm"]] = model.batch_size_, model.clipping_norm_
    return table.assign(
        median=np.median(found, axis=1), min=found.min(axis=1), max=found.max(axis=1)
    ).astype({"batch_size": int, "clipping_norm": float})


def draw(table, path):
    """Draw a heat map, with a star at the automatic choice."""
    is_auto = table["choice"] == "auto"
    auto = table[is_auto].iloc[0]
    cells = table[~is_auto].pivot(index="clipping_norm", columns="batch_size", values="median")
    figure, axis = plt.subplots(figsize=(7.2, 4.6), layout="constrained")
    # Poor settings would take the whole scale: what is far from the best is one colour.
    best = cells.to_numpy().max()
    image = axis.pcolormesh(
        *(_edges(values) for values in (cells.columns, cells.index)),
        cells.to_numpy(),
        vmin=max(best - 0.03, cells.to_numpy().min()),
        vmax=best,
        cmap="viridis",
    )
    for (clipping, batch), value in cells.stack().items():
        color = "black" if value > best - 0.01 else "white"
        # In the lower half, where the star seldom is.
        below = 0.75 * clipping
        axis.text(batch, below, f"{value:.3f}", ha="center", va="center", color=color, size=8)
    axis.plot(
        auto["batch_size"],
        auto["clipping_norm"],
        marker="*",
        markersize=17,
        color="tab:red",
        markeredgecolor="white",
        linestyle="none",
        label=f"automatic choice: {auto['median']:.3f}",
    )
    axis.set(xscale="log", yscale="log", xlabel="batch size", ylabel="clipping norm")
    axis.set_xticks(cells.columns, labels=cells.columns)
    axis.set_yticks(cells.index, labels=[f"{value:g}" for value in cells.index])
    axis.minorticks_off()
    figure.colorbar(image, label="test accuracy (median)", extend="min")
    figure.legend(loc="outside lower center", frameon=False)
    axis.set_title(rf"{PROBLEMS[NAME].title}, $\epsilon$ = {EPSILON:g}, $\delta$ = {DELTA:g}")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _edges(values):
    """Return the borders of cells around values, halfway on a logarithmic axis."""
    logs = np.log(np.asarray(values, dtype=float))
    middles = (logs[:-1] + logs[1:]) / 2.0
    ends = [2.0 * logs[0] - middles[0]], [2.0 * logs[-1] - middles[-1]]
    return np.exp(np.concatenate([ends[0], middles, ends[1]]))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser, seeds=range(3))
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=list(BATCH_SIZES))
    parser.add_argument("--clippings", type=float, nargs="+", default=list(CLIPPINGS))
    options = parser.parse_args(arguments)
    data = load_prepared(PROBLEMS[NAME].data, options.data)
    scores = Scores(None, options.n_jobs)
    table = measure(options.batch_sizes, options.clippings, options.seeds, data, scores)
    table = table.round({"clipping_norm": 6, "median": 4, "min": 4, "max": 4})
    line = command(
        "dpscd_fig3",
        **{"batch-sizes": options.batch_sizes, "clippings": options.clippings},
        seeds=options.seeds,
    )
    write_table(table, options.output / "dpscd_fig3.csv", line)
    draw(table, options.output / "dpscd_fig3.png")
    print(NOT_PRIVATE)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
