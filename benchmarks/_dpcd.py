"""What the scripts of the DP-CD paper's tables share: problems, optima, methods and fits."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from _data import load_california_housing, load_electricity
from sklearn.linear_model import Lasso, LogisticRegression

from skdp.linear_model import DPCDClassifier, DPCDLasso, DPSGDClassifier, DPSGDRegressor

PASSES = (2, 5, 10, 20, 50)


@dataclass(frozen=True)
class Problem:
    """A problem of section 6 of Mangold et al. (2022), with what tables 2 and 3 say of it.

    The paper's LASSO has the whole squared error and a penalty lambda, which is twice alpha.

    Parameters
    ----------
    title : str
    data : str
    standardized : bool
        Whether columns are given mean 0 and variance 1, which costs privacy and isn't counted,
        there as here.
    alpha : float or None
        None: 1 / n.
    epsilon : float
    errors, deviations, seconds : tuple of float
        The paper's relative errors of DP-CD, their standard deviations, and times, for each of
        `PASSES`.
    sgd_errors, sgd_deviations : tuple of float
        The same of DP-SGD.
    """

    title: str
    data: str
    standardized: bool
    alpha: float | None
    epsilon: float
    errors: tuple
    deviations: tuple
    seconds: tuple
    sgd_errors: tuple
    sgd_deviations: tuple

    @property
    def is_regression(self):
        return self.data != "electricity"


PROBLEMS = {
    "electricity_raw": Problem(
        "Electricity, raw",
        "electricity",
        False,
        None,
        1.0,
        (0.1458, 0.0842, 0.0436, 0.0147, 0.0020),
        (6e-4, 1e-3, 2e-3, 2e-3, 1e-3),
        (0.0128, 0.0274, 0.0500, 0.0980, 0.2457),
        (0.2047, 0.1804, 0.1766, 0.1644, 0.1484),
        (2e-2, 2e-2, 2e-2, 2e-2, 1e-2),
    ),
    "electricity_standardized": Problem(
        "Electricity, standardised",
        "electricity",
        True,
        None,
        1.0,
        (0.0186, 0.0023, 0.0013, 0.0013, 0.0019),
        (4e-4, 4e-4, 6e-4, 4e-4, 8e-4),
        (0.0121, 0.0281, 0.0529, 0.1062, 0.2577),
        (0.0391, 0.0189, 0.0123, 0.0106, 0.0040),
        (1e-2, 5e-3, 4e-3, 3e-3, 2e-3),
    ),
    "california_raw": Problem(
        "California, raw",
        "california",
        False,
        0.5,
        1.0,
        (0.1708, 0.1232, 0.0598, 0.0287, 0.0124),
        (7e-3, 1e-2, 1e-2, 5e-3, 7e-3),
        (0.0029, 0.0065, 0.0130, 0.0258, 0.0647),
        (0.2799, 0.1863, 0.1476, 0.1094, 0.1068),
        (9e-2, 2e-2, 2e-2, 2e-2, 2e-2),
    ),
    "california_standardized": Problem(
        "California, standardised",
        "california",
        True,
        0.05,
        1.0,
        (0.0007, 0.0011, 0.0012, 0.0010, 0.0017),
        (3e-4, 6e-4, 5e-4, 1e-4, 1e-3),
        (0.0031, 0.0065, 0.0132, 0.0262, 0.0649),
        (0.0351, 0.0226, 0.0125, 0.0087, 0.0042),
        (2e-2, 8e-3, 3e-3, 2e-3, 1e-3),
    ),
    "sparse_lasso": Problem(
        "Sparse LASSO",
        "sparse",
        False,
        15.0,
        10.0,
        (0.2498, 0.4702, 0.5982, 0.7160, 0.7551),
        (4e-2, 9e-2, 4e-2, 2e-2, 0.0),
        (0.0244, 0.0760, 0.1614, 0.3213, 0.6598),
        (0.7551, 0.7551, 0.7551, 0.7551, 0.7551),
        (0.0, 3e-9, 0.0, 0.0, 0.0),
    ),
}


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem with its data, its objective and the optimum of that.

    Parameters
    ----------
    problem : Problem
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        Targets, or labels -1 and 1.
    """

    problem: Problem
    X: np.ndarray
    y: np.ndarray

    @property
    def alpha(self):
        return self.problem.alpha or 1.0 / len(self.y)

    @property
    def delta(self):
        return 1.0 / len(self.y) ** 2

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
    def row_norm(self):
        """A bound that cuts no row. Read from the data: not private."""
        return np.linalg.norm(self.X, axis=1).max()

    def objective(self, w):
        if self.problem.is_regression:
            return 0.5 * np.mean((self.y - self.X @ w) ** 2) + self.alpha * np.abs(w).sum()
        return np.logaddexp(0.0, -self.y * (self.X @ w)).mean() + 0.5 * self.alpha * w @ w

    @cached_property
    def optimum(self):
        if self.problem.is_regression:
            model = Lasso(self.alpha, fit_intercept=False, tol=1e-12, max_iter=10**6)
        else:
            model = LogisticRegression(
                C=1.0 / (self.alpha * len(self.y)),
                fit_intercept=False,
                solver="newton-cholesky",
                tol=1e-10,
                max_iter=1000,
            )
        return self.objective(model.fit(self.X, self.y).coef_.ravel())

    def relative_error(self, w):
        return self.objective(w) / self.optimum - 1.0

    def make(self, **settings):
        """Return DP-CD with the problem's parameters."""
        settings = self._common | {"feature_bounds": self.feature_bounds} | settings
        if self.problem.is_regression:
            return DPCDLasso(**settings)
        return DPCDClassifier(penalty="l2", classes=[-1, 1], **settings)

    def make_sgd(self, **settings):
        """Return proximal DP-SGD with the problem's parameters."""
        settings = self._common | {"data_norm": self.row_norm} | settings
        if self.problem.is_regression:
            return DPSGDRegressor(penalty="l1", **settings)
        return DPSGDClassifier(loss="log_loss", penalty="l2", classes=[-1, 1], **settings)

    @property
    def _common(self):
        return {
            "alpha": self.alpha,
            "fit_intercept": False,
            "epsilon": self.problem.epsilon,
            "delta": self.delta,
        }


@lru_cache(maxsize=1)
def load_instance(name, folder=None):
    """Return a problem with its data."""
    problem = PROBLEMS[name]
    X, y = _LOADERS[problem.data](folder)
    if problem.standardized:
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    return Instance(problem, np.ascontiguousarray(X), y)


def _load_california(folder):
    frame = load_california_housing(folder)
    return frame.drop(columns="MedHouseVal").to_numpy(float), frame["MedHouseVal"].to_numpy(float)


def _load_electricity(folder):
    frame = load_electricity(folder)
    y = np.where(frame["class"] == "UP", 1, -1)
    return frame.drop(columns="class").to_numpy(float), y


def _make_sparse(folder):
    """The paper doesn't give coefficients: with these, zero has its relative error, 0.755."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((1000, 1000))
    w = np.zeros(1000)
    w[:10] = 45.0 * np.array([1.0, -1.0] * 5)
    return X, X @ w + 10.0 * rng.standard_normal(1000)


_LOADERS = {
    "california": _load_california,
    "electricity": _load_electricity,
    "sparse": _make_sparse,
}
