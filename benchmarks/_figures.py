"""What the scripts of the DP-SCD paper's figures share: problems, methods, fits and a cache."""

import csv
import math
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import train_test_split
from tqdm import tqdm

from skdp.exceptions import PrivacyWarning
from skdp.linear_model import (
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDClassifier,
    DPSGDRegressor,
)

ALGORITHMS = {
    "scd": (DPSCDRegressor, DPSCDClassifier),
    "sgd": (DPSGDRegressor, DPSGDClassifier),
}
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Problem:
    """A model on a data set, as in the paper's appendix E.

    Parameters
    ----------
    title : str
    data : str
        A key of `_data.DATA_SETS`.
    alpha : float
    loss : str, default="squared_error"
    max_iter : int, default=10
    """

    title: str
    data: str
    alpha: float
    loss: str = "squared_error"
    max_iter: int = 10

    @property
    def is_regression(self):
        return self.loss == "squared_error"

    @property
    def score_name(self):
        return "MSE" if self.is_regression else "accuracy"

    def make(self, algorithm="scd", **settings):
        """Return an estimator."""
        regressor, classifier = ALGORITHMS[algorithm]
        common = {"alpha": self.alpha, "fit_intercept": False, "max_iter": self.max_iter}
        if self.is_regression:
            return regressor(**(common | settings))
        return classifier(loss=self.loss, **(common | settings))

    def score(self, model, X, y):
        """Return accuracy, or the mean squared error of scaled targets."""
        if self.is_regression:
            return float(np.mean((model.predict(X) - y) ** 2))
        return float(model.score(X, y))

    def lost(self, score, reference):
        """Return how much worse a score is than a reference."""
        return score - reference if self.is_regression else reference - score


# The cheapest first. The paper's ridge problem, on the full set, takes 50 passes.
PROBLEMS = {
    "millionsong_cs190": Problem("Ridge, Million Song (CS190)", "millionsong_cs190", 1e-4),
    "california_housing": Problem("Ridge, California housing", "california_housing", 1e-4),
    "phishing": Problem("Logistic, Phishing", "phishing", 1e-4, "log_loss"),
    "adult_hinge": Problem("SVM, Adult", "adult", 1e-5, "hinge"),
    "adult_log_loss": Problem("Logistic, Adult", "adult", 1e-5, "log_loss"),
    "millionsong": Problem("Ridge, Million Song", "millionsong", 1e-4, max_iter=50),
}
# All but the set that isn't at hand: UCI's YearPredictionMSD, for whoever has it.
AT_HAND = [name for name in PROBLEMS if name != "millionsong"]

# Settings of the estimators. Rows have norm 1, so a feature is between -1 and 1.
METHODS = {
    "none": {},
    "ours": {},
    "published": {"noisy_dual": True, "accountant": "rdp", "average": False},
    "primal": {"solver": "primal", "feature_bounds": (-1.0, 1.0), "average": False},
    "sequential": {"solver": "sequential", "average": False},
    "sgd": {"algorithm": "sgd"},
}


class Fit(NamedTuple):
    """What a score depends on: `part` tells which rows it is taken on."""

    problem: str
    method: str
    epsilon: float
    delta: float
    batch_size: int | str
    clipping_norm: float | str
    part: str
    seed: int


def quietly_fit(model, X, y):
    """Fit a model without the warning about the paper's delta."""
    with warnings.catch_warnings():
        # The paper's delta, 1e-3, is above 1/n. It is kept so that results can be compared.
        warnings.filterwarnings("ignore", "delta is larger than 1 / n", PrivacyWarning)
        return model.fit(X, y)


def validation_split(data):
    """Return training and validation rows: a quarter of the training rows, as in the paper."""
    X_train, X_validation, y_train, y_validation = train_test_split(
        *data[:2], test_size=0.25, random_state=0
    )
    return X_train, y_train, X_validation, y_validation


def run_fit(fit, data):
    """Return the score of a fit on the last two of X_train, y_train, X_test, y_test."""
    X_train, y_train, X_test, y_test = data
    problem = PROBLEMS[fit.problem]
    model = problem.make(
        epsilon=fit.epsilon,
        delta=fit.delta,
        batch_size=fit.batch_size,
        clipping_norm=fit.clipping_norm,
        random_state=fit.seed,
        **METHODS[fit.method],
    )
    score = problem.score(quietly_fit(model, X_train, y_train), X_test, y_test)
    # Noise can drown a model altogether; infinity would break averages and axes.
    return score if math.isfinite(score) else np.finfo(np.float32).max


def run_all(function, tasks, n_jobs):
    """Yield a function's value for each task, a tuple of arguments, in order."""
    found = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(function)(*t) for t in tasks)
    yield from tqdm(found, total=len(tasks), unit="fit", leave=False, disable=not tasks)


class Scores:
    """Scores of fits, kept in a CSV file if there is one, so that a run can be interrupted.

    A fit says nothing of the code: a file made by an older solver must be removed.

    Parameters
    ----------
    path : Path or None
    n_jobs : int
    """

    def __init__(self, path, n_jobs):
        self.path = path
        self.n_jobs = n_jobs
        self.known = {}
        if path is not None and path.is_file():
            with open(path, encoding="utf-8", newline="") as file:
                for *words, score in csv.reader(file):
                    self.known[tuple(words)] = float(score)

    def of(self, fits, data):
        """Return the scores of fits on the same data, after running those that are missing."""
        keys = [tuple(map(str, fit)) for fit in fits]
        missing = [fit for fit, key in zip(fits, keys, strict=True) if key not in self.known]
        found = run_all(run_fit, [(fit, data) for fit in missing], self.n_jobs)
        for fit, score in zip(missing, found, strict=True):
            self._add(tuple(map(str, fit)), score)
        return np.array([self.known[key] for key in keys])

    def _add(self, key, score):
        self.known[key] = score
        if self.path is not None:
            with open(self.path, "a", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerow([*key, score])


def add_options(parser, *, seeds):
    """Add the options that the figures have in common."""
    parser.add_argument("--data", help="folder of the data sets (default: SKDP_DATA, or downloads)")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(seeds))
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--n-jobs", type=int, default=1)
    return parser


def command(script, **options):
    """Return the command that makes a result; folders, caches and jobs are the machine's."""
    words = [
        word
        for name, values in options.items()
        for word in (f"--{name}", *(format(v, "g") if isinstance(v, float) else v for v in values))
    ]
    return " ".join(map(str, ["python", f"benchmarks/{script}.py", *words]))
