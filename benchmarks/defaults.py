"""Defaults that need no tuning: default-constructed estimators against the best of a grid.

The grid is screened at one seed; its best settings and the default are then run at fresh seeds. The
best of the grid is chosen by test score, which no user could do privately: it is a bar, not a
method, and as the luckiest of many it is a little too high. How much luck there is, a third run
tells: of the best setting and the default, at further seeds. Scores are accuracy, or R2 for
regressions, or the area under the ROC curve where a contest says so; the default passes within 0.01
of the best.

    python benchmarks/defaults.py --method dpscd --data FOLDER --cache screen.csv
"""

import argparse
import csv
import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from _data import NOT_PRIVATE, load_prepared, write_table
from joblib import Parallel, delayed
from sklearn.metrics import roc_auc_score
from tqdm import tqdm

from skdp.linear_model import (
    DPCDClassifier,
    DPCDLasso,
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDClassifier,
)

EPSILONS = (0.1, 0.5, 1.0, 2.0)
DELTA = 1e-5
BAR = 0.01
SCREENING_SEED = 0
FIRST_FRESH_SEED, FIRST_FURTHER_SEED = 1, 11

# Batches from the cheapest fit to the dearest.
DPSCD_GRID = {
    "batch_size": (6000, 3500, 2000, 1000, 600, 350, 200, 100, 60, 35, 20, 10),
    "alpha": (1e-5, 1e-4, 1e-3),
    "clipping_norm": tuple(float(f"{norm:.3g}") for norm in np.geomspace(1e-4, 3.0, 13)),
}
DPSGD_GRID = {
    "learning_rate": ("constant",),
    "batch_size": (500, 150, 50, 20),
    "eta0": (0.1, 0.3, 1.0, 3.0, 10.0, 30.0),
    "clipping_norm": (0.03, 0.1, 0.2, 0.4, 0.8, 1.5),
}
# Falling steps start with longer ones: t ** -0.5 is 0.02 on average over 7000 steps.
DPSGD_FALLING_GRID = {
    "learning_rate": ("invscaling",),
    "batch_size": (50,),
    "eta0": (10.0, 30.0, 100.0, 300.0),
    "clipping_norm": (0.2, 0.4, 0.8, 1.5),
}
DPCD_GRID = {
    "max_iter": (10, 30, 100),
    "step_size": (0.5, 1.0, 2.0),
    "clipping_norm": (0.1, 0.3, 0.7, 1.5),
}
# More passes cost too much to try them with everything.
DPCD_LONG_GRID = {"max_iter": (300,), "step_size": (1.0,), "clipping_norm": (0.3, 0.7)}


def own_score(model, X, y):
    """Return accuracy or R2."""
    return model.score(X, y)


def auc(model, X, y):
    """Return the area under the ROC curve."""
    return roc_auc_score(y, model.decision_function(X))


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
    score : callable
    n_rerun, n_fresh, n_further : int
        Settings of the second run, and seeds of the second and of the third.
    """

    data: str
    estimator: type
    grids: tuple
    told: dict = field(default_factory=dict)
    held: dict = field(default_factory=dict)
    score: Callable = own_score
    n_rerun: int = 20
    n_fresh: int = 10
    n_further: int = 40

    @property
    def fresh_seeds(self):
        return range(FIRST_FRESH_SEED, FIRST_FRESH_SEED + self.n_fresh)

    @property
    def further_seeds(self):
        return range(FIRST_FURTHER_SEED, FIRST_FURTHER_SEED + self.n_further)

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


def _dpscd(data, estimator=DPSCDClassifier, **told):
    held = {"fit_intercept": True, "max_iter": 10, "average": True}
    return Contest(data, estimator, (DPSCD_GRID,), told, held)


def _dpsgd(data, score=own_score, **told):
    held = {"alpha": 1e-4, "fit_intercept": True, "max_iter": 10, "average": True}
    grids = (DPSGD_GRID, DPSGD_FALLING_GRID)
    return Contest(data, DPSGDClassifier, grids, told, held, score, n_further=20)


# Large sets, on which fits take longer, have fewer of them.
def _dpcd(data, estimator=DPCDClassifier, **runs):
    held = {"alpha": 1e-4, "fit_intercept": True, "average_every": 1}
    held |= {"smoothness": "private", "smoothness_budget": 0.1}
    runs = {"n_rerun": 4, "n_fresh": 5, "n_further": 8} | runs
    return Contest(data, estimator, (DPCD_GRID, DPCD_LONG_GRID), held=held, **runs)


# The cheapest first.
CONTESTS = {
    "dpscd": {
        "millionsong_cs190": _dpscd("millionsong_cs190", DPSCDRegressor),
        "phishing": _dpscd("phishing", loss="log_loss"),
        "california_housing": _dpscd("california_housing", DPSCDRegressor),
        "bank_marketing": _dpscd("bank_marketing", loss="log_loss"),
        "adult_hinge": _dpscd("adult", loss="hinge"),
        "adult_log_loss": _dpscd("adult", loss="log_loss"),
    },
    "dpsgd": {
        "phishing": _dpsgd("phishing", loss="log_loss"),
        "bank_marketing_auc": _dpsgd("bank_marketing", auc, loss="log_loss"),
        "adult_hinge": _dpsgd("adult", loss="hinge"),
        "adult_log_loss": _dpsgd("adult", loss="log_loss"),
    },
    "dpcd": {
        "california_housing": _dpcd(
            "california_housing", DPCDLasso, n_rerun=20, n_fresh=10, n_further=20
        ),
        "phishing": _dpcd("phishing", n_rerun=8, n_fresh=10, n_further=10),
        "bank_marketing": _dpcd("bank_marketing"),
        "adult": _dpcd("adult"),
    },
}
RESULTS = Path(__file__).parent / "results"
OUTPUTS = {
    "dpscd": RESULTS / "defaults.csv",
    "dpsgd": RESULTS / "defaults_dpsgd.csv",
    "dpcd": RESULTS / "defaults_dpcd.csv",
}

KEY = ["method", "problem", "epsilon", "setting", "seed"]
# Columns of the cache. Not left to pandas: floats that are keys must come back to the last bit.
COLUMNS = {
    "method": str,
    "problem": str,
    "epsilon": float,
    "setting": str,
    "seed": int,
    "score": float,
}
FURTHER = ("gap_further", "se_further")


def fit_and_score(contest, epsilon, seed, data, **settings):
    """Return the test score of a fit."""
    X_train, y_train, X_test, y_test = data
    model = contest.estimator(
        epsilon=epsilon, delta=DELTA, random_state=seed, **contest.told, **settings
    )
    return contest.score(model.fit(X_train, y_train), X_test, y_test)


def run_setting(method, problem, epsilon, setting, seed, data):
    """Return the row of the cache for one fit of the grid."""
    contest = CONTESTS[method][problem]
    score = fit_and_score(contest, epsilon, seed, data, **contest.held, **json.loads(setting))
    return dict(zip(COLUMNS, (method, problem, epsilon, setting, seed, score), strict=True))


class Cache:
    """Rows of finished fits by key, kept in a CSV file if there is one.

    The key says nothing of the solver: a file made by an older one must be removed.

    Parameters
    ----------
    path : Path or None
    """

    def __init__(self, path):
        self.path = path
        self.rows = {}
        if path is not None and path.is_file():
            with open(path, encoding="utf-8", newline="") as file:
                for words in csv.DictReader(file):
                    row = {name: COLUMNS[name](word) for name, word in words.items()}
                    self.rows[_key(row)] = row

    def add(self, row):
        """Keep a row, at once, so that a run that is interrupted loses nothing."""
        self.rows[_key(row)] = row
        if self.path is not None:
            is_new = not self.path.is_file()
            with open(self.path, "a", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                if is_new:
                    writer.writeheader()
                writer.writerow(row)

    def complete(self, keys, data, n_jobs):
        """Run the fits that are missing, and return the rows of all keys as a table."""
        missing = [key for key in keys if key not in self.rows]
        fits = (delayed(run_setting)(*key, data) for key in missing)
        rows = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(fits)
        for row in tqdm(rows, total=len(missing), unit="fit", disable=not missing):
            self.add(row)
        return pd.DataFrame([self.rows[key] for key in keys])


def _key(row):
    return tuple(row[name] for name in KEY)


def rerun_best(contest, screened, cache, data, n_jobs):
    """Return the mean scores of the best settings of one problem and epsilon at fresh seeds."""
    best = screened.nlargest(contest.n_rerun, "score")
    keys = [
        (*key, seed)
        for key in best[KEY[:-1]].itertuples(index=False, name=None)
        for seed in contest.fresh_seeds
    ]
    return cache.complete(keys, data, n_jobs).groupby("setting")["score"].mean()


def scores_of_default(contest, epsilon, seeds, data, n_jobs):
    """Return the scores of the default-constructed estimator."""
    fits = (delayed(fit_and_score)(contest, epsilon, seed, data) for seed in seeds)
    return np.array(Parallel(n_jobs=n_jobs)(fits))


def compare(method, problem, epsilon, screened, cache, data, n_jobs):
    """Return the row of the table for one problem and epsilon."""
    contest = CONTESTS[method][problem]
    best = rerun_best(contest, screened, cache, data, n_jobs)
    setting = best.idxmax()
    default = scores_of_default(contest, epsilon, contest.fresh_seeds, data, n_jobs).mean()
    gap = best.max() - default
    keys = [(method, problem, epsilon, setting, seed) for seed in contest.further_seeds]
    best_again = cache.complete(keys, data, n_jobs)["score"].to_numpy()
    default_again = scores_of_default(contest, epsilon, contest.further_seeds, data, n_jobs)
    variance = best_again.var(ddof=1) + default_again.var(ddof=1)
    return {
        "problem": problem,
        "epsilon": epsilon,
        "default": default,
        "best": best.max(),
        **{f"best_{name}": value for name, value in json.loads(setting).items()},
        "gap": gap,
        "passes": gap <= BAR,
        "gap_further": best_again.mean() - default_again.mean(),
        "se_further": np.sqrt(variance / contest.n_further),
    }


def measure(method, problems, epsilons, folder, cache, n_jobs, screen_only=False):
    """Return one row of results for each problem and epsilon."""
    rows = []
    for problem in problems:
        contest = CONTESTS[method][problem]
        data = load_prepared(contest.data, folder)
        settings = contest.settings(data[0].shape[0])
        keys = [
            (method, problem, epsilon, setting, SCREENING_SEED)
            for setting, epsilon in itertools.product(settings, epsilons)
        ]
        tqdm.write(f"{problem}: a grid of {len(keys)} fits")
        screened = cache.complete(keys, data, n_jobs)
        if screen_only:
            continue
        for epsilon in epsilons:
            of_epsilon = screened[screened["epsilon"] == epsilon]
            rows.append(compare(method, problem, epsilon, of_epsilon, cache, data, n_jobs))
    return pd.DataFrame(rows)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", help="folder of the data sets (default: SKDP_DATA, or downloads)")
    parser.add_argument("--method", choices=CONTESTS, default="dpscd")
    parser.add_argument("--problems", nargs="+", help="some of the method's (default: all)")
    parser.add_argument("--epsilons", type=float, nargs="+", default=list(EPSILONS))
    parser.add_argument("--cache", type=Path, help="CSV file that keeps the fits of the grid")
    parser.add_argument("--screen-only", action="store_true", help="fill the cache and stop")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--output", type=Path, help="CSV file (default: the method's, in results)")
    options = parser.parse_args(arguments)
    method, known = options.method, CONTESTS[options.method]
    problems = options.problems or list(known)
    if not set(problems) <= set(known):
        parser.error(f"--problems of {method} are {', '.join(known)}.")

    table = measure(
        method,
        problems,
        options.epsilons,
        options.data,
        Cache(options.cache),
        options.n_jobs,
        options.screen_only,
    )
    if options.screen_only:
        return
    table = table.round({name: 4 for name in ("default", "best", "gap", *FURTHER)})
    # Folders, files and jobs are left out: they are the machine's.
    epsilons = " ".join(map(str, options.epsilons))
    command = (
        f"python benchmarks/defaults.py --method {method} --problems {' '.join(problems)} "
        f"--epsilons {epsilons}"
    )
    write_table(table, options.output or OUTPUTS[method], command)
    print(NOT_PRIVATE)
    print(table.to_string(index=False))
    within = (table["gap_further"] <= BAR).sum()
    print(f"{table['passes'].sum()} of {len(table)} defaults are within {BAR} of the best;")
    print(f"at the further seeds {within}.")


if __name__ == "__main__":
    main()
