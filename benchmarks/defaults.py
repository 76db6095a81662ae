"""Defaults that need no tuning: default-constructed estimators against the best of a grid.

The grid is screened at one seed; its best settings and the default are then run at fresh seeds. The
best of the grid is chosen by test score, which no user could do privately: it is a bar, not a
method, and as the luckiest of many it is a little too high. How much luck there is, a third run
tells: of the best setting and the default, at further seeds. Scores are accuracy, or R2 for
regressions, or the area under the ROC curve where a contest says so; the default passes within 0.01
of the best.

Besides its score, the default has its log loss (the hinge loss has no probabilities) and its area
under the ROC curve, means over the fresh seeds with standard errors; and beside them are those of
scikit-learn's minimum of the same objective, without privacy, and the log loss of the training
labels' shares.

    python benchmarks/defaults.py --method dpscd --data FOLDER --cache FOLDER

``--cache`` keeps the fits of the grid, which don't depend on the defaults; ``--screen-only`` stops
when the grid is in it.
"""

import itertools
import json
import sys
from argparse import Namespace
from dataclasses import dataclass, field

import _common as bench
import numpy as np
import pandas as pd
from _data import load_prepared
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.metrics import get_scorer, log_loss, roc_auc_score
from sklearn.svm import LinearSVC

from skdp.linear_model import (
    DPCDClassifier,
    DPCDLasso,
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDClassifier,
)

EPSILONS = (0.1, 1.0)
DELTA = 1e-5
BAR = 0.01
SCREENING_SEED = 0
FIRST_FRESH_SEED, FIRST_FURTHER_SEED = 1, 11
MEASURES = ("score", "log_loss", "auc")
# Of the intercept's column, rows being of norm 1: our estimators' own.
BIAS = 1.0 / 3.0

# The paper's method: without a centre.
DPSCD_GRID = {
    "batch_size": (300, 50),
    "alpha": (1e-5, 1e-4, 1e-3),
    "clipping_norm": (5e-4, 2e-3, 7e-3, 0.02, 0.06, 0.2),
    "proximal": (0.0,),
}
DPSGD_GRID = {
    "learning_rate": ("constant",),
    "batch_size": (500, 150, 50),
    "eta0": (0.3, 1.0, 3.0, 10.0, 30.0),
    "clipping_norm": (0.1, 0.4, 0.8, 1.5),
}
# Falling steps start with longer ones: t ** -0.5 is 0.02 on average over 7000 steps.
DPSGD_FALLING_GRID = {
    "learning_rate": ("invscaling",),
    "batch_size": (50,),
    "eta0": (10.0, 30.0, 100.0, 300.0),
    "clipping_norm": (0.4, 1.5),
}
DPCD_GRID = {
    "max_iter": (10, 30, 100),
    "step_size": (0.5, 1.0),
    "clipping_norm": (0.3, 1.0, 3.0),
}


def _smooth(alpha, n_rows):
    return LogisticRegression(C=1.0 / (alpha * n_rows), fit_intercept=False, max_iter=10_000)


def _hinge(alpha, n_rows):
    settings = {"loss": "hinge", "fit_intercept": False, "max_iter": 10**6, "random_state": 0}
    return LinearSVC(C=1.0 / (alpha * n_rows), **settings)


# What minimises the same objective without privacy, by loss or else by estimator.
REFERENCES = {
    "log_loss": _smooth,
    "hinge": _hinge,
    DPCDClassifier: _smooth,
    DPSCDRegressor: lambda alpha, n_rows: Ridge(alpha * n_rows, fit_intercept=False),
    DPCDLasso: lambda alpha, n_rows: Lasso(alpha, fit_intercept=False, max_iter=10**6),
}


@dataclass(frozen=True)
class Contest:
    """A default-constructed estimator against grids of its settings.

    Parameters
    ----------
    data : str
        A key of `_data.DATA_SETS`.
    estimator : type
    grids : tuple of dict
        Values of each parameter; the settings are all combinations of each grid.
    told : dict
        Parameters that say what the problem is, set for both sides.
    held : dict
        What else could change with the defaults, so that the grid can be kept when they do.
    score : str
        A scorer of scikit-learn.
    n_rerun, n_fresh, n_further : int
        Settings of the second run, and seeds of the second and of the third.
    """

    data: str
    estimator: type
    grids: tuple
    told: dict = field(default_factory=dict)
    held: dict = field(default_factory=dict)
    score: str = "accuracy"
    n_rerun: int = 6
    n_fresh: int = 10
    n_further: int = 20

    def settings(self, n_rows):
        """Return the settings as JSON, each once: a batch is at most all rows."""
        settings = [
            dict(zip(grid, values, strict=True))
            for grid in self.grids
            for values in itertools.product(*grid.values())
        ]
        for setting in settings:
            if "batch_size" in setting:
                setting["batch_size"] = min(setting["batch_size"], n_rows)
        return list(dict.fromkeys(json.dumps(setting, sort_keys=True) for setting in settings))


def _dpscd(data, estimator=DPSCDClassifier, score="accuracy", **told):
    held = {"fit_intercept": True, "max_iter": 10, "average": True}
    return Contest(data, estimator, (DPSCD_GRID,), told, held, score, n_rerun=4)


def _dpsgd(data, score="accuracy", **told):
    held = {"alpha": 1e-4, "fit_intercept": True, "max_iter": 10, "average": True}
    grids = (DPSGD_GRID, DPSGD_FALLING_GRID)
    return Contest(data, DPSGDClassifier, grids, told, held, score)


def _dpcd(data, estimator=DPCDClassifier, score="accuracy"):
    held = {"alpha": 1e-4, "fit_intercept": True, "average_every": "auto", "shrinkage": "auto"}
    held |= {"smoothness": "private", "smoothness_budget": 0.1}
    # Scaled rows have the norm 1, which is the others' default.
    told = {"data_norm": 1.0}
    return Contest(data, estimator, (DPCD_GRID,), told, held, score, n_rerun=4)


# The cheapest first.
CONTESTS = {
    "dpscd": {
        "millionsong_cs190": _dpscd("millionsong_cs190", DPSCDRegressor, "r2"),
        "phishing": _dpscd("phishing", loss="log_loss"),
        "california_housing": _dpscd("california_housing", DPSCDRegressor, "r2"),
        "bank_marketing": _dpscd("bank_marketing", loss="log_loss"),
        "adult_hinge": _dpscd("adult", loss="hinge"),
        "adult_log_loss": _dpscd("adult", loss="log_loss"),
    },
    "dpsgd": {
        "phishing": _dpsgd("phishing", loss="log_loss"),
        "bank_marketing_auc": _dpsgd("bank_marketing", "roc_auc", loss="log_loss"),
        "adult_hinge": _dpsgd("adult", loss="hinge"),
        "adult_log_loss": _dpsgd("adult", loss="log_loss"),
    },
    "dpcd": {
        "california_housing": _dpcd("california_housing", DPCDLasso, "r2"),
        "phishing": _dpcd("phishing"),
        "bank_marketing": _dpcd("bank_marketing"),
        "adult": _dpcd("adult"),
    },
}
FILES = {"dpscd": "defaults.csv", "dpsgd": "defaults_dpsgd.csv", "dpcd": "defaults_dpcd.csv"}


def measure(model, score, X, y):
    """Return `MEASURES` of a fitted model, nan where a measure isn't the model's."""
    found = [get_scorer(score)(model, X, y), np.nan, np.nan]
    if is_classifier(model):
        if hasattr(model, "predict_proba"):
            found[1] = log_loss(y, model.predict_proba(X), labels=model.classes_)
        found[2] = roc_auc_score(y == model.classes_[1], model.decision_function(X))
    return found


def fit_and_score(data, estimator, score, settings, epsilon, seed):
    """Return measures of a fit on test rows."""
    X_train, y_train, X_test, y_test = load_prepared(data)
    model = estimator(epsilon=epsilon, delta=DELTA, random_state=seed, **settings)
    return measure(model.fit(X_train, y_train), score, X_test, y_test)


def without_privacy(contest):
    """Return columns of scikit-learn's minimum of the same objective, and of the base rate."""
    X_train, y_train, X_test, y_test = load_prepared(contest.data)
    X_train, X_test = (np.insert(X, X.shape[1], BIAS, axis=1) for X in (X_train, X_test))
    of_objective = REFERENCES[contest.told.get("loss", contest.estimator)]
    model = of_objective(contest.estimator().alpha, len(X_train)).fit(X_train, y_train)
    names = [f"no_privacy{name}" for name in ("", "_log_loss", "_auc")]
    found = dict(zip(names, measure(model, contest.score, X_test, y_test), strict=True))
    found["base_rate_log_loss"] = np.nan
    if is_classifier(model):
        shares = DummyClassifier(strategy="prior").fit(X_train, y_train)
        found["base_rate_log_loss"] = log_loss(y_test, shares.predict_proba(X_test))
    return found


def scores_of(contest, epsilon, settings, seeds, options):
    """Return measures of settings of the grid, of shape (settings, seeds, measures)."""
    cell = (contest.data, contest.estimator, contest.score)
    told = contest.told | contest.held
    cells = [(*cell, told | json.loads(setting), epsilon) for setting in settings]
    return bench.run_cells(fit_and_score, cells, seeds, options)


def scores_of_default(contest, epsilon, seeds, options):
    """Return measures of the default-constructed estimator, of shape (seeds, measures).

    They aren't kept in the cache: arguments don't tell what a default is.
    """
    cell = (contest.data, contest.estimator, contest.score, contest.told, epsilon)
    uncached = Namespace(**vars(options) | {"cache": None})
    return bench.run_cells(fit_and_score, [cell], seeds, uncached)[0]


def compare(problem, epsilon, options):
    """Return the row of the table for one problem and epsilon, None if the grid is all."""
    contest = CONTESTS[options.method][problem]
    fresh_seeds = range(FIRST_FRESH_SEED, FIRST_FRESH_SEED + contest.n_fresh)
    further_seeds = range(FIRST_FURTHER_SEED, FIRST_FURTHER_SEED + contest.n_further)
    settings = contest.settings(load_prepared(contest.data)[0].shape[0])
    print(f"{problem}, epsilon {epsilon:g}: a grid of {len(settings)} fits", flush=True)
    screened = scores_of(contest, epsilon, settings, [SCREENING_SEED], options)[:, 0, 0]
    if options.screen_only:
        return None
    order = np.argsort(-screened, kind="stable")[: contest.n_rerun]
    settings = [settings[i] for i in order]
    fresh = scores_of(contest, epsilon, settings, fresh_seeds, options)[:, :, 0].mean(axis=1)
    setting, best = settings[fresh.argmax()], fresh.max()
    defaults = scores_of_default(contest, epsilon, fresh_seeds, options)
    row = {"problem": problem, "epsilon": epsilon}
    for name, values in zip(("default", *MEASURES[1:]), defaults.T, strict=True):
        statistics = bench.summarize(values, "mean", "se")
        row |= {name: statistics["mean"], f"{name}_se": statistics["se"]}
    again = scores_of(contest, epsilon, [setting], further_seeds, options)[0, :, 0]
    default_again = scores_of_default(contest, epsilon, further_seeds, options)[:, 0]
    variance = again.var(ddof=1) + default_again.var(ddof=1)
    return row | {
        "best": best,
        **{f"best_{name}": value for name, value in json.loads(setting).items()},
        "gap": best - row["default"],
        "passes": best - row["default"] <= BAR,
        "gap_further": again.mean() - default_again.mean(),
        "se_further": np.sqrt(variance / contest.n_further),
    }


def main(arguments=None):
    problems = sorted(set().union(*CONTESTS.values()))
    named = {"method": "dpscd", "problems": bench.Some(problems, None), "epsilons": EPSILONS}
    unnamed = {"screen_only": False}
    options = bench.read_options(__file__, __doc__, arguments, unnamed=unnamed, **named)
    known = CONTESTS.get(options.method) or sys.exit(f"--method is one of {', '.join(CONTESTS)}.")
    problems = options.problems or list(known)
    if not set(problems) <= set(known):
        sys.exit(f"--problems of {options.method} are {', '.join(known)}.")
    cells = itertools.product(problems, options.epsilons)
    rows = [compare(*cell, options) for cell in cells]
    if options.screen_only:
        return
    references = {problem: without_privacy(known[problem]) for problem in problems}
    rows = [row | references[row["problem"]] for row in rows]
    settings = [name for name in rows[0] if name.startswith("best_")]
    table = pd.DataFrame(rows)
    table = table.round(dict.fromkeys(table.columns.difference(["epsilon", *settings]), 4))
    bench.write_table(table, FILES[options.method], options)
    within = (table["gap_further"] <= BAR).sum()
    print(f"{table['passes'].sum()} of {len(table)} defaults are within {BAR} of the best;")
    print(f"at the further seeds {within}.")


if __name__ == "__main__":
    bench.run_script(__file__)
