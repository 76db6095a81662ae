"""Measured dual suboptimality against its bounds: theorem 2 of the DP-SCD paper.

Ridge regression on California housing. First under the theorem's conditions, then at an epsilon
that protects, then at a usual alpha, of which the theorem says nothing. doc/theory/hidden_dual.rst
derives the bounds. The suboptimality is that of the dual variable, which no estimator shows, so
the algorithm is run here with the estimator's plan; what is measured is NOT private.

    python benchmarks/dpscd_theorem2.py --data FOLDER
"""

import argparse
import itertools
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
import pandas as pd
from _data import NOT_PRIVATE, load_prepared, write_table
from _figures import add_options, command, run_all

from skdp._bounds import clip_rows
from skdp._clipping import clip_contributions
from skdp._losses import LOSSES
from skdp._mechanisms import release_jointly
from skdp.linear_model import DPSCDRegressor

mpl.use("Agg")
import matplotlib.pyplot as plt

DATA = "california_housing"
DELTA = 1e-5
LOSS = LOSSES["squared_error"]
FORMS = {"published": True, "exact": False}

# Ten steps of nine rows in ten, above the theorem's threshold of alpha > 1, and the usual setting.
CONDITIONS = {"alpha": 3.0, "batch": 0.9, "max_iter": 9, "clipping_norm": 1.0}
# As much noise as the fixed clipping norm gives: the automatic one shrinks with epsilon.
USUAL = {"alpha": 1e-4, "batch": 100, "max_iter": 10, "clipping_norm": 0.1}
# With noise so small, no update is clipped: kappa is 0, as the theorem would have it.
WITHIN = 300.0
PRIVATE = 1.0
EPSILONS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
COLUMNS = [
    *("panel", "alpha", "clipping_norm", "form", "epsilon", "step", "mean", "min", "max"),
    *("smallest_factor", "kappa", "bound", "least", "paper", "start"),
]

COLORS = {"published": "tab:orange", "exact": "tab:blue"}
LABELS = {"published": "Algorithm 1 as published", "exact": "exact hidden dual (skdp)"}


@dataclass(frozen=True)
class Ridge:
    """A ridge problem: rows of norm 1 (n, d), targets in [-1, 1] (n,) and alpha."""

    X: np.ndarray
    y: np.ndarray
    alpha: float

    @property
    def scale(self):
        """What v is divided by to give the model."""
        return self.alpha * len(self.y)

    def optimum(self):
        """Return the dual variable that minimises the dual objective."""
        n_rows, n_columns = self.X.shape
        hessian = self.X.T @ self.X / n_rows + self.alpha * np.eye(n_columns)
        return self.y - self.X @ np.linalg.solve(hessian, self.X.T @ self.y / n_rows)

    def suboptimality(self, dual, optimum):
        """Return the distance of the dual objective, a quadratic function, from its minimum."""
        error = dual - optimum
        shared = self.X.T @ error
        return (error @ error + shared @ shared / self.scale) / (2.0 * len(error))


def load_problem(folder):
    """Return certified rows (n, d) and targets (n,) as `fit` makes them."""
    X, y, _, _ = load_prepared(DATA, folder)
    rows = clip_rows(X, data_norm=1.0, fit_intercept=False, clip=True)
    return rows.augmented(np.arange(len(y))), np.clip(y, -1.0, 1.0)


def make_model(setting, form, epsilon, n_rows, seed=None):
    """Return the estimator that a run repeats."""
    batch = setting["batch"]
    batch_size = round(batch * n_rows) if batch < 1 else min(batch, n_rows)
    return DPSCDRegressor(
        epsilon=epsilon,
        delta=DELTA,
        alpha=setting["alpha"],
        batch_size=batch_size,
        max_iter=setting["max_iter"],
        clipping_norm=setting["clipping_norm"],
        noisy_dual=FORMS[form],
        fit_intercept=False,
        average=False,
        random_state=seed,
    )


def run(problem, model, every_step=True):
    """Run what `fit` runs, and look at the dual variable.

    Returns
    -------
    suboptimality : ndarray
        Before the first step and after each, or the last alone.
    smallest : float
        The smallest factor that an update was clipped by; 1 - smallest is a kappa of this run.
    theta : ndarray of shape (d,)
        The last iterate of the model.
    """
    n_rows, n_columns = problem.X.shape
    plan = model._plan(LOSS, n_rows, n_columns, 1)
    coins, noise = plan.start(model.random_state).spawn(2)
    curvature = plan.sampler.rate / problem.alpha
    optimum = problem.optimum()
    dual, shared = np.zeros(n_rows), np.zeros(n_columns)
    found, smallest = [problem.suboptimality(dual, optimum)], 1.0
    for batch in plan.sampler.batches(coins):
        x, y, a = problem.X[batch], problem.y[batch], dual[batch]
        wanted = LOSS.dual_step(y, x @ shared / problem.scale, a, curvature)
        zeta = clip_contributions(wanted.copy(), np.ones(batch.size), plan.clipping_norm)
        reach = np.abs(wanted).max(initial=0.0)
        smallest = min(smallest, plan.clipping_norm / max(plan.clipping_norm, reach))
        increment = zeta @ x
        if model.noisy_dual:
            increment, zeta = release_jointly(plan.mechanism, increment, zeta, noise)
        else:
            increment = plan.mechanism.release(increment, noise)
        dual[batch] = a + zeta
        shared += increment
        if every_step:
            found.append(problem.suboptimality(dual, optimum))
    if not every_step:
        found = [problem.suboptimality(dual, optimum)]
    return np.array(found), smallest, shared / problem.scale


def bounds(problem, model, kappa):
    """Return the bounds of the mean suboptimality before the first step and after each.

    Parameters
    ----------
    problem : Ridge
    model : DPSCDRegressor
    kappa : float
        No update of a run is clipped by a factor below 1 - kappa.

    Returns
    -------
    dict of ndarray
        "bound" and "least", from above and below, and "paper", the recursion of the paper's proof
        with the same noise and kappa = 0.
    """
    n_rows, n_columns = problem.X.shape
    plan = model._plan(LOSS, n_rows, n_columns, 1)
    rate, variance = plan.sampler.rate, plan.mechanism.noise_std**2
    batch = rate * n_rows
    covariance = problem.X.T @ problem.X / n_rows
    # What lets the proof for batches of a fixed size hold for Poisson batches.
    if np.linalg.eigvalsh(covariance)[-1] > 1.0 - (1.0 - rate) / batch:
        raise ValueError("The bound doesn't hold: the rows are nearly parallel.")
    progress = rate / (1.0 + rate / problem.alpha)
    drift, added = variance / problem.scale**2, 0.0
    if model.noisy_dual:
        drift *= 1.0 + batch * np.sum(covariance**2)
        added = 0.5 * rate * variance * (1.0 + 1.0 / problem.scale)
    start = problem.suboptimality(np.zeros(n_rows), problem.optimum())
    bound, paper = [start], [start]
    for step in range(plan.sampler.n_steps):
        kept = (1.0 - (1.0 - kappa) * progress) * bound[-1]
        bound.append(kept + 0.5 * progress * step * drift + added)
        lemma3 = 0.5 * rate * variance / problem.scale
        paper.append((1.0 - progress) * paper[-1] + lemma3)
    least = [start, *[added] * plan.sampler.n_steps]
    return {"bound": np.array(bound), "least": np.array(least), "paper": np.array(paper)}


def measure_steps(X, y, epsilon, seeds, n_jobs):
    """Return one row for each form and step, under the theorem's conditions on alpha and batch."""
    problem = Ridge(X, y, CONDITIONS["alpha"])
    tables = []
    for form in FORMS:
        models = [make_model(CONDITIONS, form, epsilon, len(y), seed) for seed in seeds]
        runs = list(run_all(run, [(problem, model) for model in models], n_jobs))
        reached = np.array([found for found, _, _ in runs]).T
        smallest = min(smallest for _, smallest, _ in runs)
        # Either nothing was clipped, or nothing is assumed of the clipping.
        kappa = 0.0 if smallest == 1.0 else 1.0
        table = pd.DataFrame({"step": np.arange(len(reached)), **bounds(problem, models[0], kappa)})
        table = table.assign(panel="conditions", alpha=problem.alpha, epsilon=epsilon, form=form)
        table = table.assign(clipping_norm=CONDITIONS["clipping_norm"], kappa=kappa)
        tables.append(_summarise(table, reached).assign(smallest_factor=smallest))
    return pd.concat(tables)


def measure_epsilons(X, y, epsilons, seeds, n_jobs):
    """Return one row for each form and epsilon, after the last step of the usual fit."""
    problem = Ridge(X, y, USUAL["alpha"])
    points = list(itertools.product(FORMS, epsilons))
    models = [make_model(USUAL, *point, len(y), seed) for point in points for seed in seeds]
    tasks = [(problem, model, False) for model in models]
    runs = list(run_all(run, tasks, n_jobs))
    reached = np.reshape([found[-1] for found, _, _ in runs], (len(points), len(seeds)))
    smallest = np.reshape([smallest for _, smallest, _ in runs], reached.shape).min(axis=1)
    table = pd.DataFrame(points, columns=["form", "epsilon"])
    n_steps = models[0]._plan(LOSS, *X.shape, 1).sampler.n_steps
    table = table.assign(panel="usual", alpha=problem.alpha, step=n_steps)
    table = table.assign(clipping_norm=USUAL["clipping_norm"])
    return _summarise(table, reached).assign(
        smallest_factor=smallest, start=problem.suboptimality(np.zeros(len(y)), problem.optimum())
    )


def _summarise(table, reached):
    """Add the mean and the range over seeds of an array with one row for each of the table's."""
    return table.assign(mean=reached.mean(axis=1), min=reached.min(axis=1), max=reached.max(axis=1))


def _shorten(value):
    return float(f"{value:.5g}")


def draw(table, path):
    """Draw suboptimality against steps, twice, with bounds, and against epsilon."""
    figure, axes = plt.subplots(1, 3, figsize=(13.0, 4.7), layout="constrained")
    for axis, epsilon in zip(axes, (WITHIN, PRIVATE), strict=False):
        _draw_steps(axis, table[(table["panel"] == "conditions") & (table["epsilon"] == epsilon)])
    axes[0].set_title(rf"$\alpha$ = 3, $\epsilon$ = {WITHIN:g}: the theorem's conditions hold")
    axes[1].set_title(rf"$\alpha$ = 3, $\epsilon$ = {PRIVATE:g}: the published form is clipped")
    axes[0].set_ylabel("dual suboptimality (mean and range)")
    handles = axes[0].get_legend_handles_labels()
    _draw_epsilons(axes[2], table[table["panel"] == "usual"])
    figure.legend(*handles, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(rf"Ridge regression on California housing, $\delta$ = {DELTA:g}")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _draw_steps(axis, table):
    for form, group in table.groupby("form", sort=False):
        steps, color = group["step"], COLORS[form]
        if form == "published":
            label = "recursion in the paper's proof"
            axis.plot(steps, group["paper"], color="0.8", linewidth=6, zorder=1, label=label)
        axis.plot(steps, group["mean"], marker="o", color=color, label=LABELS[form])
        axis.fill_between(steps, group["min"], group["max"], color=color, alpha=0.2)
        axis.plot(steps, group["bound"], "--", color=color, label=f"bound derived here, {form}")
        if form == "published":
            axis.plot(
                steps.iloc[1:],
                group["least"].iloc[1:],
                ":",
                color=color,
                label="lower bound, published",
            )
    axis.set(yscale="log", xlabel="step")
    axis.set_xticks(range(0, table["step"].max() + 1, 2))
    axis.grid(alpha=0.3)


def _draw_epsilons(axis, table):
    for form, group in table.groupby("form", sort=False):
        axis.plot(group["epsilon"], group["mean"], marker="o", color=COLORS[form])
        axis.fill_between(
            group["epsilon"], group["min"], group["max"], color=COLORS[form], alpha=0.15
        )
    first = table.iloc[0]
    epsilons = np.array([first["epsilon"], table["epsilon"].max()])
    # Of no meaning but its slope, so it starts beside the curve and not on it.
    axis.plot(
        epsilons,
        0.3 * first["mean"] * (epsilons / first["epsilon"]) ** -2.0,
        ":",
        color="0.4",
        label="rate of theorem 2, outside its conditions",
    )
    axis.axhline(first["start"], color="0.4", linewidth=0.8, label="before the first step")
    axis.set(
        xscale="log", yscale="log", xlabel=r"$\epsilon$", ylim=(0.4 * table["mean"].min(), None)
    )
    axis.set_title(
        rf"$\alpha$ = {first['alpha']:g}, {USUAL['max_iter']} passes: nothing is claimed"
    )
    axis.legend(fontsize="small")
    axis.grid(alpha=0.3)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser, seeds=range(20))
    parser.add_argument("--epsilons", type=float, nargs="+", default=list(EPSILONS))
    options = parser.parse_args(arguments)
    X, y = load_problem(options.data)
    table = pd.concat(
        [
            *(measure_steps(X, y, e, options.seeds, options.n_jobs) for e in (WITHIN, PRIVATE)),
            measure_epsilons(X, y, options.epsilons, options.seeds, options.n_jobs),
        ]
    )
    floats = table.select_dtypes("float").columns
    table[floats] = table[floats].map(_shorten)
    line = command("dpscd_theorem2", epsilons=options.epsilons, seeds=options.seeds)
    write_table(table[COLUMNS], options.output / "dpscd_theorem2.csv", line)
    draw(table, options.output / "dpscd_theorem2.png")
    print(NOT_PRIVATE)
    print(table[COLUMNS].to_string(index=False))


if __name__ == "__main__":
    main()
