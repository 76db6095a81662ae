"""Measured dual suboptimality against its bounds: theorem 2 of the DP-SCD paper.

Ridge regression on California housing. First under the theorem's conditions, then at an epsilon
that protects, then at a usual alpha, of which the theorem says nothing. doc/theory/hidden_dual.rst
derives the bounds. The suboptimality is that of the dual variable, which no estimator shows, so
the algorithm is run here with the estimator's plan; what is measured is NOT private.

    python benchmarks/papers/dpscd/theorem2.py --data FOLDER
"""

import itertools
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2]))
import _common as bench
from _data import load_prepared

from skdp._families.losses import LOSSES
from skdp._rows.bounds import clip_rows
from skdp._rows.clipping import clip_contributions
from skdp.linear_model import DPSCDRegressor
from skdp.linear_model._plan import STEPS

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
class Dual:
    """The dual of a ridge problem: rows of norm 1 (n, d), targets in [-1, 1] (n,) and alpha."""

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


def load_problem():
    """Return certified rows (n, d) and targets (n,) as `fit` makes them."""
    X, y, _, _ = load_prepared(DATA)
    rows = clip_rows(X, data_norm=1.0, fit_intercept=False, clip=True)
    return rows.augmented(np.arange(len(y))), np.clip(y, -1.0, 1.0)


def make_model(setting, form, epsilon, n_rows, seed=None):
    """Return the estimator that a run repeats."""
    setting = dict(setting)
    batch = setting.pop("batch")
    batch_size = round(batch * n_rows) if batch < 1 else min(batch, n_rows)
    told = {"epsilon": epsilon, "delta": DELTA, "noisy_dual": FORMS[form], "random_state": seed}
    told |= {"batch_size": batch_size, "fit_intercept": False, "average": False, "proximal": 0.0}
    told["ball_budget"] = 0
    return DPSCDRegressor(**setting | told)


def run(problem, model):
    """Run what `fit` runs, and look at the dual variable.

    Returns
    -------
    suboptimality : ndarray
        Before the first step and after each.
    smallest : float
        The smallest factor that an update was clipped by; 1 - smallest is a kappa of this run.
    theta : ndarray of shape (d,)
        The last iterate of the model.
    """
    n_rows, n_columns = problem.X.shape
    plan = model._plan(n_rows, n_columns, 1)
    run = plan.start(model.random_state)
    coins, release = run.coins(), run.steps(STEPS)
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
            increment, zeta = release.jointly(increment, zeta)
        else:
            increment = release(increment)
        dual[batch] = a + zeta
        shared += increment
        found.append(problem.suboptimality(dual, optimum))
    return np.array(found), smallest, shared / problem.scale


def bounds(problem, model, kappa):
    """Return the bounds of the mean suboptimality before the first step and after each.

    Parameters
    ----------
    problem : Dual
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
    plan = model._plan(n_rows, n_columns, 1)
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


def run_setting(setting, form, epsilon, seed):
    """Return what `run` finds and, as a last number, the smallest factor."""
    X, y = load_problem()
    model = make_model(setting, form, epsilon, len(y), seed)
    found, smallest, _ = run(Dual(X, y, setting["alpha"]), model)
    return [*found, smallest]


def measure_steps(epsilon, options):
    """Return one row for each form and step, under the theorem's conditions on alpha and batch."""
    X, y = load_problem()
    problem = Dual(X, y, CONDITIONS["alpha"])
    cells = [(CONDITIONS, form, epsilon) for form in FORMS]
    tables = []
    runs = bench.run_cells(run_setting, cells, options.seeds, options)
    for form, found in zip(FORMS, runs, strict=True):
        smallest = found[:, -1].min()
        # Either nothing was clipped, or nothing is assumed of the clipping.
        kappa = 0.0 if smallest == 1.0 else 1.0
        model = make_model(CONDITIONS, form, epsilon, len(y))
        table = pd.DataFrame(bench.summarize(v, "mean", "min", "max") for v in found.T[:-1])
        table = table.assign(step=table.index, **bounds(problem, model, kappa), kappa=kappa)
        table = table.assign(panel="conditions", alpha=problem.alpha, epsilon=epsilon, form=form)
        norm = CONDITIONS["clipping_norm"]
        tables.append(table.assign(clipping_norm=norm, smallest_factor=smallest))
    return pd.concat(tables)


def measure_epsilons(options):
    """Return one row for each form and epsilon, after the last step of the usual fit."""
    X, y = load_problem()
    problem = Dual(X, y, USUAL["alpha"])
    points = list(itertools.product(FORMS, options.epsilons))
    cells = [(USUAL, *point) for point in points]
    found = bench.run_cells(run_setting, cells, options.seeds, options)
    table = pd.DataFrame(points, columns=["form", "epsilon"])
    reached = (bench.summarize(row[:, -2], "mean", "min", "max") for row in found)
    table = table.join(pd.DataFrame(reached))
    return table.assign(
        panel="usual",
        alpha=problem.alpha,
        step=found.shape[-1] - 2,
        clipping_norm=USUAL["clipping_norm"],
        smallest_factor=found[..., -1].min(axis=1),
        start=problem.suboptimality(np.zeros(len(y)), problem.optimum()),
    )


def _shorten(value):
    return float(f"{value:.5g}")


def draw(table, options):
    """Draw suboptimality against steps, twice, with bounds, and against epsilon."""
    figure, (axes,) = bench.panels(1, 3, 4.3, 4.7)
    for axis, epsilon in zip(axes, (WITHIN, PRIVATE), strict=False):
        _draw_steps(axis, table[(table["panel"] == "conditions") & (table["epsilon"] == epsilon)])
    axes[0].set_title(rf"$\alpha$ = 3, $\epsilon$ = {WITHIN:g}: the theorem's conditions hold")
    axes[1].set_title(rf"$\alpha$ = 3, $\epsilon$ = {PRIVATE:g}: the published form is clipped")
    axes[0].set_ylabel("dual suboptimality (mean and range)")
    handles, labels = axes[0].get_legend_handles_labels()
    _draw_epsilons(axes[2], table[table["panel"] == "usual"])
    title = rf"Ridge regression on California housing, $\delta$ = {DELTA:g}"
    legend = dict(zip(labels, handles, strict=True))
    bench.save_figure(figure, "dpscd_theorem2.png", options, title, legend, columns=3)


def _draw_steps(axis, table):
    for form, group in table.groupby("form", sort=False):
        steps, color = group["step"], COLORS[form]
        if form == "published":
            label = "recursion in the paper's proof"
            axis.plot(steps, group["paper"], color="0.8", linewidth=6, zorder=1, label=label)
        bench.band(axis, group, "step", "mean", alpha=0.2, color=color, label=LABELS[form])
        axis.plot(steps, group["bound"], "--", color=color, label=f"bound derived here, {form}")
        if form == "published":
            label = "lower bound, published"
            axis.plot(steps[1:], group["least"][1:], ":", color=color, label=label)
    axis.set(yscale="log", xlabel="step")
    axis.set_xticks(range(0, table["step"].max() + 1, 2))


def _draw_epsilons(axis, table):
    for form, group in table.groupby("form", sort=False):
        bench.band(axis, group, "epsilon", "mean", color=COLORS[form])
    first = table.iloc[0]
    epsilons = np.array([first["epsilon"], table["epsilon"].max()])
    # Of no meaning but its slope, so it starts beside the curve and not on it.
    rate = 0.3 * first["mean"] * (epsilons / first["epsilon"]) ** -2.0
    axis.plot(epsilons, rate, ":", color="0.4", label="rate of theorem 2, outside its conditions")
    axis.axhline(first["start"], color="0.4", linewidth=0.8, label="before the first step")
    axis.set(
        xscale="log", yscale="log", xlabel=r"$\epsilon$", ylim=(0.4 * table["mean"].min(), None)
    )
    title = rf"$\alpha$ = {first['alpha']:g}, {USUAL['max_iter']} passes: nothing is claimed"
    axis.set_title(title)
    axis.legend(fontsize="small")


def main(arguments=None):
    named = {"epsilons": EPSILONS, "seeds": range(20)}
    options = bench.read_options(__file__, __doc__, arguments, **named)
    tables = [measure_steps(WITHIN, options), measure_steps(PRIVATE, options)]
    table = pd.concat([*tables, measure_epsilons(options)])[COLUMNS]
    floats = table.select_dtypes("float").columns
    table[floats] = table[floats].map(_shorten)
    bench.write_table(table, "dpscd_theorem2.csv", options)
    draw(table, options)


if __name__ == "__main__":
    bench.run_script(__file__)
