"""Privacy against utility: figure 1 of the DP-SCD paper.

Test scores of the paper's Algorithm 1 as implemented here ("ours": exact hidden dual variable,
tight accounting, averaging), as published, of the paper's primal and sequential baselines, of DP-
SGD with its automatic settings, and without privacy, after ten passes (Damaskinos et al. 2021,
section 5 and appendix E). Medians over seeds that chose nothing.

Batch size and clipping norm are chosen on a quarter of the training rows, once for each problem,
method and epsilon at the first delta, and reused for the other deltas. That choice is NOT private.
Algorithm 1 as published and ours choose from the same grid. Where the paper shuffles rows but
accounts for Poisson batches, "published" draws Poisson batches, with noise calibrated by Renyi
differential privacy: its guarantee is real. The two baselines need far more noise and choose from a
few settings at epsilon 1 with one seed, with a clipping norm that grows with epsilon, as their
noise shrinks; sequential updates are a Python loop, so they are run at the first delta only, and
not for logistic regression on Adult, which is none of the paper's problems.

    python benchmarks/papers/dpscd/fig1.py --data FOLDER --cache FOLDER

``--problems millionsong`` is the paper's own ridge problem, for who has YearPredictionMSD.txt.
"""

import itertools
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.ticker import LogLocator

sys.path.insert(0, str(Path(__file__).parents[2]))
import _common as bench
from _dpscd import METHODS, PROBLEMS, load_part, score_fit

EPSILONS = (0.1, 0.5, 1.0, 2.0)
DELTAS = (1e-5, 1e-3)
FRESH_SEEDS = range(20, 30)
# All settings are run at the first two seeds, the best of them at all.
SELECTION_SEEDS = range(10)
N_SCREENING = 2
N_FINALISTS = 5
# Of the loss to privacy of Algorithm 1 as published.
TARGET = 0.5
AMBITION = 1 / 3

# Batch size in units of sqrt(n_samples), clipping norm in units of alpha * n_samples: how far one
# row may move a prediction in a step. The clipping norm is what matters, so its steps are small.
BATCHES = (1 / 16, 1 / 4, 1)
CLIPPINGS = tuple(float(f"{x}e{k}") for k in (-4, -3, -2, -1) for x in (1, 1.8, 3, 5.5))[2:-1]

# Settings with more steps take too long.
MAX_STEPS = 20_000

# Rows, and the same units per unit of epsilon.
SEQUENTIAL_BATCHES = (5,)
SEQUENTIAL_CLIPPINGS = (1e-5, 1e-4, 1e-3)
# Columns, and the move of a coordinate per unit of epsilon.
PRIMAL_BATCHES = (1, 4, 8)
PRIMAL_CLIPPINGS = (1e-3, 1e-2, 1e-1, 1.0)
BASELINES = ("primal", "sequential")
# What takes its automatic settings.
UNCHOSEN = ("none", "sgd")
BASELINE_EPSILON = 1.0

STYLES = {
    "none": ("no privacy", "black", "", "--"),
    "ours": ("ours", "tab:blue", "o", "-"),
    "published": ("Algorithm 1 as published", "tab:orange", "s", "-"),
    "primal": ("primalDP-SCD", "tab:green", "^", "-"),
    "sequential": ("seqDP-SCD", "tab:red", "v", "-"),
    "sgd": ("DP-SGD, automatic", "tab:purple", "D", "-"),
}


def is_run(method, name, delta, deltas):
    """Tell whether a method is part of a figure; see the top of this file."""
    if method == "primal":
        return PROBLEMS[name].loss != "hinge"
    if method == "sequential":
        return delta == deltas[0] and name != "adult_log_loss"
    return True


def grid(method):
    """Return the pairs of batch and clipping, in units of the method, that it chooses from."""
    if method in UNCHOSEN:
        return [("auto", "auto")]
    pairs = {
        "sequential": (SEQUENTIAL_BATCHES, SEQUENTIAL_CLIPPINGS),
        "primal": (PRIMAL_BATCHES, PRIMAL_CLIPPINGS),
    }
    return list(itertools.product(*pairs.get(method, (BATCHES, CLIPPINGS))))


def is_short(setting, method, name, n_rows):
    """Tell whether a setting has few enough steps to be run."""
    batch, _ = resolve(setting, method, PROBLEMS[name].alpha, 1.0, n_rows)
    return method in BASELINES or PROBLEMS[name].max_iter * n_rows / batch <= MAX_STEPS


def resolve(setting, method, alpha, epsilon, n_rows):
    """Return batch size and clipping norm of a setting of the grid."""
    if method in UNCHOSEN:
        return setting
    batch, clipping = setting
    if method in BASELINES:
        clipping *= epsilon
    else:
        batch = round(batch * math.sqrt(n_rows))
    if method != "primal":
        clipping *= alpha * n_rows
    return batch, float(f"{clipping:.3g}")


def scores_of(method, name, epsilon, delta, settings, part, seeds, options):
    """Return the scores of settings of the grid on a part of the data, and what the last one is."""
    n_rows = load_part(PROBLEMS[name], part)[0].shape[0]
    cells = []
    for setting in settings:
        batch, clipping = resolve(setting, method, PROBLEMS[name].alpha, epsilon, n_rows)
        chosen = {"batch_size": batch, "clipping_norm": clipping}
        told = {"epsilon": epsilon, "delta": delta} | chosen | METHODS[method]
        cells.append((PROBLEMS[name], method, told, part))
    return bench.run_cells(score_fit, cells, seeds, options), chosen


def choose(method, name, epsilon, delta, options):
    """Return the setting of the grid that is best on validation rows."""
    n_rows = load_part(PROBLEMS[name], "test")[0].shape[0]
    if method in UNCHOSEN:
        return grid(method)[0]
    settings = [s for s in grid(method) if is_short(s, method, name, n_rows)]
    seeds, n_finalists = SELECTION_SEEDS[:N_SCREENING], N_FINALISTS
    if method in BASELINES:
        epsilon, seeds, n_finalists = BASELINE_EPSILON, SELECTION_SEEDS[:1], 1
    # All at few seeds, then the best of them at all seeds.
    for some, n_best in ((seeds, n_finalists), (SELECTION_SEEDS, 1)):
        if len(settings) > 1:
            cell = (method, name, epsilon, delta, settings, "validation", some, options)
            order = PROBLEMS[name].lost(scores_of(*cell)[0].mean(axis=1), 0.0)
            settings = [settings[i] for i in np.argsort(order, kind="stable")[:n_best]]
    return settings[0]


def measure_cell(method, name, epsilon, delta, setting, options):
    """Return the row of the table for one method, problem, epsilon and delta."""
    cell = (method, name, epsilon, delta, [setting], "test", options.seeds, options)
    (found,), chosen = scores_of(*cell)
    key = {"problem": name, "delta": delta, "method": method, "epsilon": epsilon}
    key["score"] = PROBLEMS[name].score_name
    return key | bench.summarize(found, "median", "min", "max") | chosen


def measure_problem(name, options):
    """Return the rows of the table for one problem, with what was lost to privacy."""
    first, *_ = options.deltas
    # Without noise, delta means nothing.
    reference = measure_cell("none", name, math.inf, first, *grid("none"), options)
    rows = []
    for delta in options.deltas:
        rows.append(reference | {"delta": delta})
        for method, epsilon in itertools.product(options.methods, options.epsilons):
            if is_run(method, name, delta, options.deltas):
                setting = choose(method, name, epsilon, first, options)
                rows.append(measure_cell(method, name, epsilon, delta, setting, options))
    lost = PROBLEMS[name].lost
    return [row | {"lost": lost(row["median"], reference["median"])} for row in rows]


def summarize(table):
    """Return what each problem lost to privacy, ours relative to Algorithm 1 as published."""
    rows = []
    for (name, delta), group in table.groupby(["problem", "delta"], sort=False):
        lost = group.pivot(index="epsilon", columns="method", values="lost")
        if {"ours", "published"} <= set(lost):
            lost = lost[np.isfinite(lost.index)]
            ours, published = lost["ours"].mean(), lost["published"].mean()
            row = {"problem": name, "delta": delta, "lost_ours": ours, "lost_published": published}
            # Nothing may have been lost, on few rows.
            with np.errstate(divide="ignore", invalid="ignore"):
                row["ratio"] = np.divide(ours, published)
            row["mean_of_ratios"] = (lost["ours"] / lost["published"]).mean()
            row["at_most_half"] = ours <= TARGET * published
            rows.append(row | {"at_most_a_third": ours <= AMBITION * published})
    return pd.DataFrame(rows)


def draw(table, delta, options):
    """Draw score against epsilon: a column for each problem, with a close-up below."""
    figure, axes = bench.panels(2, len(options.problems), 3.2, 3.1, sharex=True)
    handles = {}
    for name, (above, below) in zip(options.problems, axes.T, strict=True):
        of_problem = table[(table["problem"] == name) & (table["delta"] == delta)]
        handles |= draw_panel(above, of_problem)
        draw_panel(below, of_problem[~of_problem["method"].isin(BASELINES)])
        above.set(title=PROBLEMS[name].title, ylabel=f"test {PROBLEMS[name].score_name}")
        if PROBLEMS[name].is_regression:
            above.set_yscale("log")
            above.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            above.yaxis.set_major_formatter("{x:g}")
            above.yaxis.set_minor_formatter("")
        below.set(title="close-up", xlabel=r"$\epsilon$", ylabel=above.get_ylabel())
    title = rf"Test score, median and range over seeds, $\delta$ = {delta:g}"
    bench.save_figure(figure, f"dpscd_fig1_delta_{delta:g}.png", options, title, handles)


def draw_panel(axis, table):
    handles = {}
    for method, group in table.groupby("method", sort=False):
        label, color, marker, line = STYLES[method]
        style = {"color": color, "linestyle": line}
        if method == "none":
            handles[label] = axis.axhline(group["median"].iloc[0], **style)
        else:
            handles[label] = bench.band(axis, group, "epsilon", marker=marker, **style)
    bench.plain_ticks(axis, sorted(set(table["epsilon"][np.isfinite(table["epsilon"])])))
    return handles


def main(arguments=None):
    named = {"problems": bench.Some(PROBLEMS, default=list(PROBLEMS)[:-1])}
    named |= {"methods": [method for method in METHODS if method != "none"]}
    named |= {"epsilons": EPSILONS, "deltas": DELTAS, "seeds": FRESH_SEEDS}
    options = bench.read_options(__file__, __doc__, arguments, chosen_by=SELECTION_SEEDS, **named)
    table = pd.DataFrame(row for name in options.problems for row in measure_problem(name, options))
    table = table.round({"median": 5, "min": 5, "max": 5, "lost": 5})
    bench.write_table(table, "dpscd_fig1.csv", options)
    print(f"Settings were chosen at delta = {options.deltas[0]:g} and reused for the others.")
    bench.write_table(summarize(table).round(5), "dpscd_fig1_lost.csv", options)
    for delta in options.deltas:
        draw(table, delta, options)


if __name__ == "__main__":
    bench.run_script(__file__)
