"""Utility: private whitening beside our other defaults and other methods, on tables of all kinds.

One table of data sets, methods and epsilons, at delta 1e-5: accuracy, area under the ROC curve, log
loss and mean risk over the true rate of binary labels, the first three of several classes, and R2
of regressions; means over seeds with their standard errors. What scales rows is public, and rows
are clipped to a public norm: see _utility_sets.py. A method fits the training part and is measured
on the other.

- "no privacy": our objective without noise, by scikit-learn; and with a penalty of 1e-6 in place of
  our default of 1e-4, but for several classes. "base rate": the shares of training labels, or the
  mean of targets, exactly known.
- "whitened": `DPLogisticRegression` and `DPRidge` by default but for the ball, which isn't learnt:
  the norm of rows is known here. ball.py compares.
- "DPSCD", "DPSGD", "DPCD": our other estimators as they are by default, with the log loss, or the
  squared loss with the L2 penalty.
- "DPSGD, delta = 0": one pass of `DPSGDClassifier` and `DPSGDRegressor` with pure epsilon.
- "AdaSSP": peers/adassp.py, for regressions.
- "objective perturbation": peers/objective_perturbation.py, for two classes, and for regressions by
  a Huber loss.
- "DP-GD": peers/gradient_descent.py.
- "diffprivlib": in an environment of its own, with pure epsilon; for two classes and regressions.
- "Opacus": in an environment of its own, on four data sets.

Settings of the last five are the best of a grid, `METHODS`, for each data set and epsilon, by log
loss or R2 ON THE TEST ROWS at seed 0, which favours them; other seeds are measured. Ours choose
nothing. Choosing isn't private, and no method pays for it.

    python benchmarks/utility.py --data FOLDER --cache FOLDER --diffprivlib-python PATH

An interrupted run goes on where it was, and ``--kept`` writes the table of what there is, without a
fit. ``--verdict`` judges the table in the folder of results again, and draws it. ``--methods`` runs
some alone. Slow data sets have ``--slow-seeds`` seeds, as the table says, and DPCD isn't run on
mnist_10, where a fit takes minutes.
"""

import itertools
import json
import math
import os
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import _common as bench
import numpy as np
import pandas as pd
from _race import PEERS, _environment
from _utility_sets import TABLES, load_table
from joblib import Memory
from peers.adassp import fit_adassp
from peers.gradient_descent import fit_descent
from peers.objective_perturbation import fit_objective, huber, logistic
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score

from skdp.linear_model import (
    DPCDClassifier,
    DPCDElasticNet,
    DPLogisticRegression,
    DPRidge,
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDClassifier,
    DPSGDRegressor,
)

NOTE = (
    "Scaling and norms are public. Rivals' settings are the best of a grid on the test rows at "
    "seed 0, which favours them and which no guarantee covers."
)
UNFINISHED = (
    " Of a run that isn't finished: rows have the seeds that they tell, and methods without a row "
    "weren't run."
)
FILE = "utility.csv"
DELTA = 1e-5
EPSILONS = (0.1, 0.5, 1.0, 2.0)
SEEDS = range(1, 11)
CHOOSING_SEED = 0
# Of the penalty without privacy and the intercept's column: those of our defaults.
ALPHA, BIAS = 1e-4, 1.0 / 3.0
MEASURES = ("accuracy", "auc", "log_loss", "risk", "r2")
# A fit that diverged predicts no more than this.
MOST = 1e6


def _augmented(table):
    """Return both parts with the intercept's column, and the bound on a row."""
    bias = BIAS * table.data_norm
    parts = (np.insert(X, X.shape[1], bias, axis=1) for X in (table.X_train, table.X_test))
    return *parts, math.hypot(table.data_norm, bias)


def _targets(table):
    """Return targets of shape (n, k), one-hot labels of several classes."""
    if table.task == "multiclass":
        return np.eye(table.n_classes)[table.y_train]
    return table.y_train[:, np.newaxis].astype(float)


def _one_by_one(fit):
    """Return a function of a list of tasks, each a setting and a seed."""

    def fits(table, epsilon, tasks):
        return [fit(table, epsilon, seed=seed, **dict(setting)) for setting, seed in tasks]

    return fits


@_one_by_one
def fit_base_rate(table, epsilon, seed):
    mean = _targets(table).mean(axis=0)
    if table.task == "binary":
        mean = np.log((1.0 + mean) / (1.0 - mean))
    decision = np.tile(mean, (len(table.X_test), 1))
    return decision if table.task == "multiclass" else decision[:, 0]


@_one_by_one
def fit_no_privacy(table, epsilon, seed, alpha=ALPHA):
    Z_train, Z_test, _ = _augmented(table)
    strength = len(Z_train) * alpha
    if table.task == "regression":
        return Ridge(strength, fit_intercept=False).fit(Z_train, table.y_train).predict(Z_test)
    solver = "newton-cholesky" if table.task == "binary" else "lbfgs"
    model = LogisticRegression(
        C=1.0 / strength, fit_intercept=False, solver=solver, max_iter=2000, tol=1e-6
    )
    model.fit(Z_train, table.y_train)
    return (
        model.decision_function(Z_test) if table.task == "binary" else model.predict_proba(Z_test)
    )


def _fits_ours(classifier, regressor, of_classifier=None, of_regressor=None):
    @_one_by_one
    def fits(table, epsilon, seed):
        shared = {"epsilon": epsilon, "delta": DELTA, "data_norm": table.data_norm}
        shared["random_state"] = seed
        if table.task == "regression":
            model = regressor(target_bounds=(-1.0, 1.0), **shared, **(of_regressor or {}))
            return model.fit(table.X_train, table.y_train).predict(table.X_test)
        classes = [-1.0, 1.0] if table.task == "binary" else list(range(table.n_classes))
        model = classifier(classes=classes, **shared, **(of_classifier or {}))
        # They may warn that data are too few for the noise.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(table.X_train, table.y_train)
        if table.task == "binary":
            return model.decision_function(table.X_test)
        return model.predict_proba(table.X_test)

    return fits


@_one_by_one
def fit_ssp(table, epsilon, seed, shrink):
    Z_train, Z_test, row_norm = _augmented(table)
    settings = {"row_norm": row_norm, "shrink": shrink, "seed": seed}
    return Z_test @ fit_adassp(Z_train, table.y_train, epsilon, DELTA, **settings)


@_one_by_one
def fit_perturbed(table, epsilon, seed, share, slope=1.0):
    Z_train, Z_test, row_norm = _augmented(table)
    is_binary = table.task == "binary"
    w = fit_objective(
        Z_train,
        table.y_train,
        epsilon,
        DELTA,
        loss=logistic if is_binary else huber(slope),
        slope=slope,
        smoothness=0.25 if is_binary else 1.0,
        row_norm=row_norm,
        share=share,
        alpha=ALPHA,
        seed=seed,
    )
    return Z_test @ w


@_one_by_one
def fit_gd(table, epsilon, seed, **settings):
    Z_train, Z_test, row_norm = _augmented(table)
    settings |= {"loss": table.task, "row_norm": row_norm, "seed": seed}
    # The noise is far above their rounding, and steps take half the time.
    data = Z_train.astype(np.float32), _targets(table).astype(np.float32)
    decision = Z_test @ fit_descent(*data, epsilon, DELTA, **settings)
    return softmax(decision, axis=1) if table.task == "multiclass" else decision[:, 0]


def _fits_outside(peer):
    """Fit in one process of another interpreter, by a script of peers/."""

    def fits(table, epsilon, tasks):
        python = os.environ[_variable(peer)]
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / name for name in ("problem.npz", "tasks.json", "weights.npz")]
            problem = {"X": table.X_train, "y": table.y_train, "row_norm": table.data_norm}
            np.savez(files[0], epsilon=epsilon, delta=DELTA, **problem)
            wanted = [{**dict(setting), "seed": seed} for setting, seed in tasks]
            files[1].write_text(json.dumps(wanted), encoding="utf-8")
            command = [python, str(PEERS / f"{peer}_utility.py"), *map(str, files)]
            subprocess.run(command, env=_environment(python), check=True, capture_output=True)
            with np.load(files[2]) as file:
                coef, intercept = file["coef"], file["intercept"]
        found = table.X_test @ coef + intercept[:, np.newaxis]
        if table.task == "multiclass":
            return softmax(found, axis=2)
        return found[..., 0]

    return fits


def _variable(peer):
    return f"{peer.upper()}_PYTHON"


def _grid(**settings):
    """Return all settings, in a form that a cache knows."""
    return tuple(
        tuple(zip(settings, values, strict=True))
        for values in itertools.product(*settings.values())
    )


class Method(NamedTuple):
    """A way to fit, and the settings that it is given.

    Parameters
    ----------
    fits : callable
        ``fits(table, epsilon, tasks)`` returns a prediction for each setting and seed: decision
        values (n,), probabilities (n, k) of several classes, or targets (n,).
    grids : dict
        Task to the settings of which the best is chosen. Others aren't run.
    color : str
    peer : str or None
        Whose interpreter it needs.
    only : tuple or None
        Data sets.
    is_private : bool
    """

    fits: Callable
    grids: dict
    color: str = "black"
    peer: str | None = None
    only: tuple | None = None
    is_private: bool = True


TASKS = ("binary", "multiclass", "regression")
WEAK = "no privacy, weak penalty"
PURE = "DPSGD, delta = 0"
_DEFAULT = dict.fromkeys(TASKS, ((),))
_SHARES = (0.01, 0.03, 0.1, 0.3, 0.6, 0.9)
_DESCENT = _grid(steps=(10, 50, 250), clip=(0.1, 0.3, 1.0), size=(1.5, 4.0))
_STEP = {"clip": (0.1, 0.3, 1.0), "size": (4.0, 16.0)}
_OPACUS = _grid(batch_size=(512,), passes=(5, 20), **_STEP)
_OPACUS += _grid(batch_size=(4096,), passes=(20, 60), **_STEP)
METHODS = {
    "no privacy": Method(fit_no_privacy, _DEFAULT, is_private=False),
    WEAK: Method(
        fit_no_privacy,
        dict.fromkeys(("binary", "regression"), _grid(alpha=(1e-6,))),
        is_private=False,
    ),
    "base rate": Method(fit_base_rate, _DEFAULT, is_private=False),
    "whitened": Method(
        _fits_ours(DPLogisticRegression, DPRidge, {"ball_budget": 0}, {"ball_budget": 0}),
        _DEFAULT,
        "tab:blue",
    ),
    "DPSCD": Method(
        _fits_ours(
            DPSCDClassifier,
            DPSCDRegressor,
            {"loss": "log_loss", "ball_budget": 0},
            {"ball_budget": 0},
        ),
        _DEFAULT,
        "tab:orange",
    ),
    "DPSGD": Method(
        _fits_ours(
            DPSGDClassifier,
            DPSGDRegressor,
            {"loss": "log_loss", "ball_budget": 0},
            {"ball_budget": 0},
        ),
        _DEFAULT,
        "tab:green",
    ),
    "DPCD": Method(
        _fits_ours(
            DPCDClassifier,
            DPCDElasticNet,
            {"ball_budget": 0},
            {"l1_ratio": 0.0, "ball_budget": 0},
        ),
        _DEFAULT,
        "tab:red",
    ),
    PURE: Method(
        _fits_ours(
            DPSGDClassifier,
            DPSGDRegressor,
            {"loss": "log_loss", "mechanism": "laplace"},
            {"mechanism": "laplace"},
        ),
        _DEFAULT,
    ),
    "AdaSSP": Method(fit_ssp, {"regression": _grid(shrink=(0.03, 0.1, 0.3, 1.0))}, "tab:brown"),
    "objective perturbation": Method(
        fit_perturbed,
        {"binary": _grid(share=_SHARES), "regression": _grid(share=_SHARES, slope=(0.1, 0.3, 1.0))},
        "tab:purple",
    ),
    "DP-GD": Method(fit_gd, dict.fromkeys(TASKS, _DESCENT), "tab:cyan"),
    "diffprivlib": Method(
        _fits_outside("diffprivlib"),
        {"binary": _grid(C=(1e-4, 1e-2, 1.0)), "regression": ((),)},
        "tab:pink",
        peer="diffprivlib",
    ),
    "Opacus": Method(
        _fits_outside("opacus"),
        dict.fromkeys(TASKS, _OPACUS),
        "tab:olive",
        peer="opacus",
        only=("phishing", "california_housing", "digits", "adult"),
    ),
}
TOO_SLOW = {("DPCD", "mnist_10")}
REFERENCES = {"no_privacy": "no privacy", "weak_penalty": WEAK, "base_rate": "base rate"}
OURS, OTHER_DEFAULTS = "whitened", ("DPSCD", "DPSGD", "DPCD")
# Not drawn beside the others: one wasn't run on all sets, and one promises more.
APART = ("Opacus", PURE)


def run_fits(data, method, epsilon, tasks):
    """Return measures of one fit for each setting and seed."""
    table = load_table(data)
    found = METHODS[method].fits(table, epsilon, tasks)
    return np.array([measure(table, prediction) for prediction in found])


def measure(table, prediction):
    """Return `MEASURES` of a prediction on test rows, nan where a measure isn't the task's."""
    found, y = dict.fromkeys(MEASURES, np.nan), table.y_test
    prediction = np.clip(np.nan_to_num(prediction), -MOST, MOST)
    if table.task == "regression":
        found["r2"] = 1.0 - np.sum((y - prediction) ** 2) / np.sum((y - y.mean()) ** 2)
    elif table.task == "binary":
        found["accuracy"] = np.mean((prediction > 0.0) == (y > 0.0))
        found["auc"] = roc_auc_score(y, prediction)
        found["log_loss"] = np.logaddexp(0.0, -y * prediction).mean()
        found["risk"] = expit(prediction).mean() / table.rate
    else:
        # One-against-all probabilities of 0 say that nothing else is possible: as in sklearn.
        of_label = np.maximum(prediction[np.arange(len(y)), y], np.finfo(float).eps)
        found["accuracy"] = np.mean(prediction.argmax(axis=1) == y)
        found["log_loss"] = -np.log(of_label).mean()
        is_label = np.eye(table.n_classes)[y]
        found["auc"] = roc_auc_score(is_label, prediction, average="macro")
    return [found[name] for name in MEASURES]


def choose(found, task):
    """Return the number of the best setting from measures of shape (settings, measures)."""
    if task == "regression":
        return int(np.nanargmax(found[:, MEASURES.index("r2")]))
    return int(np.nanargmin(found[:, MEASURES.index("log_loss")]))


def describe(setting):
    return " ".join(f"{name}={value:g}" for name, value in setting)


def applies(name, data, task):
    """Return whether a method is run on a data set."""
    method = METHODS[name]
    if (name, data) in TOO_SLOW:
        return False
    is_there = method.peer is None or bool(os.environ.get(_variable(method.peer)))
    return is_there and task in method.grids and (method.only is None or data in method.only)


def run_all(tasks, options):
    """Run fits, or with ``--kept`` return those alone that the cache has."""
    if options.kept:
        kept = Memory(options.cache, verbose=0).cache(run_fits)
        tasks = [task for task in tasks if kept.check_call_in_cache(*task)]
    return bench.run_jobs(run_fits, tasks, options)


def compare(data, seeds, options):
    """Return the rows of the table for one data set."""
    table, rows = load_table(data), []
    for name, method in METHODS.items():
        if name not in options.methods or not applies(name, data, table.task):
            continue
        for epsilon in options.epsilons if method.is_private else [math.inf]:
            of_method = seeds if method.is_private else seeds[:1]
            (setting, *others) = grid = method.grids[table.task]
            if others:
                tasks = tuple((setting, CHOOSING_SEED) for setting in grid)
                found = run_all([(data, name, epsilon, tasks)], options)
                if not found:
                    continue
                setting = grid[choose(found[0], table.task)]
            tasks = tuple((setting, seed) for seed in of_method)
            # A process of a peer takes long to start: it runs several seeds.
            size = 5 if method.peer else 1
            jobs = [tasks[first : first + size] for first in range(0, len(tasks), size)]
            found = run_all([(data, name, epsilon, job) for job in jobs], options)
            if not found:
                continue
            found = np.concatenate(found)
            row = {"set": data, "task": table.task, "n": len(table.X_train)}
            row |= {"d": table.X_train.shape[1], "method": name, "epsilon": epsilon}
            row |= {"chosen": describe(setting), "seeds": len(found)}
            for measure_name, values in zip(MEASURES, found.T, strict=True):
                statistics = bench.summarize(values, "mean", "se")
                row |= {measure_name: statistics["mean"], f"{measure_name}_se": statistics["se"]}
            rows.append(row)
    return with_references(pd.DataFrame(rows)) if rows else pd.DataFrame()


def with_references(table):
    """Add log loss or R2 of what isn't private as columns, for one data set."""
    headline = "r2" if table["task"].iloc[0] == "regression" else "log_loss"
    means = table.set_index("method")[headline]
    for column, name in REFERENCES.items():
        table[column] = means.get(name, np.nan)
    return table


def lost(table, reference="no_privacy"):
    """Return log loss above a reference, or R2 below it, of each row."""
    of_classes = table["log_loss"] - table[reference]
    return of_classes.where(table["task"] != "regression", table[reference] - table["r2"])


# What is judged.
GAP_TARGETS = {0.1: 0.015, 0.5: 0.006, 1.0: 0.004, 2.0: 0.003}
LARGE = 10_000
IMAGES = ("mnist_3_8", "mnist_10", "digits")
WIDE = {"bank_wide": "bank_marketing", "credit_wide": "credit"}
MOST_LOST_BY_WIDE = 0.02
RISK = (0.85, 1.15)
MNIST_10_TARGETS = {0.1: 0.819, 1.0: 0.896}


def judge(table):
    """Return what must hold: a table of claims, and one of where another default is better."""
    private = table[table["epsilon"] < math.inf].assign(lost=lost)
    exceptions, n_compared = beaten(private)
    ours = private[private["method"] == OURS].set_index(["set", "epsilon"])
    claims = []

    def claim(text, value, target, holds):
        value = round(float(value), 5)
        claims.append({"claim": text, "value": value, "target": target, "holds": bool(holds)})

    large = private[(private["n"] >= LARGE) & (private["task"] != "regression")]
    large = large[large["method"] == OURS]
    tables = large[~large["set"].isin(IMAGES)]
    for title, found, reference in (
        ("no privacy, tables", tables, "no_privacy"),
        ("no privacy of a weak penalty, tables", tables, "weak_penalty"),
        ("no privacy, tables and images", large, "no_privacy"),
    ):
        gaps = lost(found, reference).groupby(found["epsilon"]).mean()
        for epsilon, target in GAP_TARGETS.items():
            if epsilon in gaps:
                text = f"log loss above {title} with n >= {LARGE}, epsilon {epsilon:g}"
                claim(text, gaps[epsilon], f"<= {target:g}", gaps[epsilon] <= target)
    text = "comparisons where another default is better by two standard errors"
    claim(f"{text}, of {n_compared}", len(exceptions), "0", exceptions.empty)
    for wide, narrow in WIDE.items():
        if (wide, 1.0) in ours.index and (narrow, 1.0) in ours.index:
            value = ours.loc[(narrow, 1.0), "auc"] - ours.loc[(wide, 1.0), "auc"]
            target = f"<= {MOST_LOST_BY_WIDE:g}"
            claim(f"AUC lost by wide bounds, {narrow}", value, target, value <= MOST_LOST_BY_WIDE)
    if ("rare", 1.0) in ours.index:
        risk = ours.loc[("rare", 1.0), "risk"]
        target = f"{RISK[0]:g} to {RISK[1]:g}"
        claim(
            "mean risk over the true rate, rare, epsilon 1",
            risk,
            target,
            RISK[0] <= risk <= RISK[1],
        )
    for epsilon, target in MNIST_10_TARGETS.items():
        if ("mnist_10", epsilon) in ours.index:
            value = ours.loc[("mnist_10", epsilon), "accuracy"]
            text = f"accuracy, mnist_10, epsilon {epsilon:g}"
            claim(text, value, f">= {target:g}", value >= target)
    return pd.DataFrame(claims), exceptions


def beaten(private):
    """Return where the best other default is better than ours by two errors, and the number tried.

    The best is that of the measure: area under the curve, log loss and R2 each.
    """
    rows, n_compared = [], 0
    for (data, epsilon), found in private.groupby(["set", "epsilon"], sort=False):
        found = found.set_index("method")
        others = [name for name in OTHER_DEFAULTS if name in found.index]
        if OURS not in found.index or not others:
            continue
        for name, sign in (("auc", 1.0), ("log_loss", -1.0), ("r2", 1.0)):
            if found[name].isna().all():
                continue
            n_compared += 1
            best = (sign * found.loc[others, name]).idxmax()
            worse = sign * (found.loc[best, name] - found.loc[OURS, name])
            error = math.hypot(*found.loc[[best, OURS], f"{name}_se"])
            if worse > 2.0 * error:
                row = {"set": data, "epsilon": epsilon, "measure": name, "best": best}
                rows.append(row | {"ours_worse_by": worse, "se": error})
    columns = ["set", "epsilon", "measure", "best", "ours_worse_by", "se"]
    return pd.DataFrame(rows, columns=columns), n_compared


# Losses that are drawn; those beyond lie on the edge.
DRAWN = (1e-4, 1.0)


def draw(table, options):
    """Draw the mean loss to privacy against epsilon, of methods that ran on all sets of a panel.

    Sets on which methods are missing, of a run that isn't finished, are left out.
    """
    private = table[(table["epsilon"] < math.inf) & ~table["set"].isin(WIDE)].assign(lost=lost)
    is_binary, is_large = private["task"] == "binary", private["n"] >= LARGE
    panels = {
        f"log loss above no privacy\n{{}} binary sets of {LARGE:,} rows or more": is_binary
        & is_large,
        "log loss above no privacy\n{} binary sets of fewer rows": is_binary & ~is_large,
        "R2 below no privacy\n{} regressions": private["task"] == "regression",
    }
    figure, axes = bench.panels(1, len(panels), 3.7, 3.8)
    legend = {}
    for axis, (title, shown) in zip(axes[0], panels.items(), strict=True):
        of_panel = private[shown & ~private["method"].isin(APART)]
        n_methods = of_panel.groupby("set")["method"].transform("nunique")
        of_panel = of_panel[n_methods == n_methods.max()]
        n_sets = of_panel["set"].nunique()
        for name, found in of_panel.groupby("method", sort=False):
            means = found.groupby("epsilon")["lost"].agg(["mean", "count"])
            if (means["count"] < n_sets).any():
                continue
            style = {"color": METHODS[name].color, "marker": "o", "clip_on": False}
            style |= {"linewidth": 3.0, "zorder": 3} if name == OURS else {}
            (legend[name],) = axis.plot(means.index, means["mean"].clip(*DRAWN), **style)
        axis.set_title(title.format(n_sets), fontsize=9)
        axis.set_xlabel("epsilon")
        axis.set_yscale("log")
        axis.set_ylim(*DRAWN)
        if n_sets:
            bench.plain_ticks(axis, sorted(of_panel["epsilon"].unique()))
    bench.save_figure(figure, "utility.png", options, legend=legend, columns=4)


# The picture of one set, of real people, and what lines are called in it.
PICTURED = "adult"
CALLED = {OURS: "skdp", "Opacus": "DP-SGD by Opacus", "diffprivlib": "diffprivlib"}


def draw_one(table, options):
    """Draw accuracy and log loss of one set against epsilon, beside no privacy and the base rate.

    A file each, so that a page can put them side by side or, on a phone, below each other.
    """
    table = table[table["set"] == PICTURED].set_index("method")
    names = [name for name in CALLED if name in table.index]
    if not {OURS, "no privacy", "base rate"} <= set(table.index):
        return
    for measure in ("accuracy", "log_loss"):
        figure, ((axis,),) = bench.panels(1, 1, 4.6, 3.4)
        axis.axhline(table.loc["no privacy", measure], color="black", ls="--", label="no privacy")
        for name in names:
            found = table.loc[[name]]
            style = {"color": METHODS[name].color, "marker": "o", "label": CALLED[name]}
            style |= {"linewidth": 2.5, "zorder": 3} if name == OURS else {}
            axis.errorbar(found["epsilon"], found[measure], found[f"{measure}_se"], **style)
        axis.axhline(table.loc["base rate", measure], color="0.5", ls=":", label="base rate")
        bench.plain_ticks(axis, sorted(table.loc[[OURS], "epsilon"]))
        axis.set_xlabel("epsilon (more private to the left)")
        axis.set_title(measure.replace("_", " "))
        axis.legend(loc="center right", fontsize=9)
        bench.save_figure(figure, f"utility_{PICTURED}_{measure}.png", options)


def finish(table, options):
    """Print and write what is judged, and draw."""
    claims, exceptions = judge(table)
    for name, found in (("claims", claims), ("exceptions", exceptions.round(5))):
        bench.write_table(found, f"utility_{name}.csv", options, NOTE, show=False)
    print(claims.to_string(index=False))
    if len(exceptions):
        print("Where another default is better by more than two standard errors:")
        print(exceptions.round(5).to_string(index=False))
    draw(table, options)
    draw_one(table, options)


def main(arguments=None):
    named = {"sets": list(TABLES), "methods": list(METHODS), "epsilons": EPSILONS}
    named |= {"seeds": SEEDS, "slow_seeds": 3}
    unnamed = {f"{peer}_python": str for peer in ("diffprivlib", "opacus")}
    unnamed |= {"kept": False, "verdict": False}
    options = bench.read_options(
        __file__, __doc__, arguments, chosen_by=(CHOOSING_SEED,), unnamed=unnamed, **named
    )
    if options.verdict:
        finish(pd.read_csv(options.output / FILE, comment="#"), options)
        return
    for peer in ("diffprivlib", "opacus"):
        if python := getattr(options, f"{peer}_python"):
            os.environ[_variable(peer)] = python
    note = NOTE + UNFINISHED * options.kept
    found = []
    for name in bench.progress(options.sets):
        seeds = options.seeds[: options.slow_seeds if TABLES[name].is_slow else None]
        found.append(compare(name, seeds, options))
        table = pd.concat(found, ignore_index=True)
        bench.write_table(table.round(5), FILE, options, note, show=False)
    finish(table, options)


if __name__ == "__main__":
    bench.run_script(__file__)
