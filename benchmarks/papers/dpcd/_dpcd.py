"""What the scripts of the DP-CD paper's tables share: problems, what is published, and fits.

Mangold et al. (2022), section 6. The paper's LASSO has the whole squared error and a penalty
lambda, which is twice alpha. Standardising gives columns mean 0 and variance 1, which costs privacy
and isn't counted, there as here.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from _common import Problem
from _data import DATA_SETS, load_frame

from skdp.linear_model import DPCDClassifier, DPCDLasso, DPSGDClassifier, DPSGDRegressor

PASSES = (2, 5, 10, 20, 50)
# alpha of 0 stands for 1 / n.
PROBLEMS = {
    "electricity_raw": Problem("Electricity, raw", "electricity", 0.0, "log_loss"),
    "electricity_standardized": Problem(
        "Electricity, standardised", "electricity", 0.0, "log_loss"
    ),
    "california_raw": Problem("California, raw", "california_housing", 0.5, penalty="l1"),
    "california_standardized": Problem(
        "California, standardised", "california_housing", 0.05, penalty="l1"
    ),
    "sparse_lasso": Problem("Sparse LASSO", "sparse", 15.0, penalty="l1"),
}
EPSILONS = dict.fromkeys(PROBLEMS, 1.0) | {"sparse_lasso": 10.0}


@lru_cache
def published():
    """Return the numbers of the paper's tables, by problem and passes."""
    path = Path(__file__).with_name("published.csv")
    return pd.read_csv(path, comment="#", index_col=["problem", "passes"])


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem with its data and the optimum of its objective.

    Parameters
    ----------
    problem : Problem
    epsilon : float
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        Targets, or labels -1 and 1.
    """

    problem: Problem
    epsilon: float
    X: np.ndarray
    y: np.ndarray

    @property
    def feature_bounds(self):
        """Bounds that cut nothing. Read from the data: not private."""
        largest = np.abs(self.X).max(axis=0)
        return -largest, largest

    @cached_property
    def mean_squares(self):
        return (self.X**2).mean(axis=0)

    @cached_property
    def smoothness(self):
        """The smoothness of the mean loss."""
        largest = np.linalg.eigvalsh(self.X.T @ self.X / len(self.y))[-1]
        return largest if self.problem.is_regression else 0.25 * largest

    @cached_property
    def lowest(self):
        """The objective of the optimum."""
        return self.problem.objective(self.problem.optimum(self.X, self.y), self.X, self.y)

    def relative_error(self, w):
        return self.problem.objective(w, self.X, self.y) / self.lowest - 1.0

    def make(self, **settings):
        """Return DP-CD with the problem's parameters."""
        plain = {"feature_bounds": self.feature_bounds, "average_every": 1, "shrinkage": 0.0}
        plain |= {"ball_budget": 0, "clip_by": "entry"}
        settings = self._common | plain | settings
        if self.problem.is_regression:
            return DPCDLasso(**settings)
        return DPCDClassifier(penalty="l2", classes=[-1, 1], **settings)

    def make_sgd(self, **settings):
        """Return proximal DP-SGD with the problem's parameters.

        Its bound of rows cuts none. It is read from the data: not private.
        """
        row_norm = np.linalg.norm(self.X, axis=1).max()
        settings = self._common | {"data_norm": row_norm, "ball_budget": 0} | settings
        if self.problem.is_regression:
            return DPSGDRegressor(penalty="l1", **settings)
        return DPSGDClassifier(loss="log_loss", penalty="l2", classes=[-1, 1], **settings)

    @property
    def _common(self):
        guarantee = {"epsilon": self.epsilon, "delta": 1.0 / len(self.y) ** 2}
        return {"alpha": self.problem.alpha, "fit_intercept": False} | guarantee


@lru_cache(maxsize=1)
def load_instance(name):
    """Return a problem with its data."""
    problem = PROBLEMS[name]
    if name == "sparse_lasso":
        X, y = _make_sparse()
    else:
        frame, target = load_frame(problem.data), DATA_SETS[problem.data]["target"]
        X, y = frame.drop(columns=target).to_numpy(float), frame[target].to_numpy()
    if not problem.is_regression:
        y = np.where(y == "UP", 1, -1)
    if name.endswith("standardized"):
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    problem = replace(problem, alpha=problem.alpha or 1.0 / len(y))
    return Instance(problem, EPSILONS[name], np.ascontiguousarray(X), y)


def _make_sparse():
    """The paper doesn't give coefficients: with these, zero has its relative error, 0.755."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((1000, 1000))
    w = np.zeros(1000)
    w[:10] = 45.0 * np.array([1.0, -1.0] * 5)
    return X, X @ w + 10.0 * rng.standard_normal(1000)
