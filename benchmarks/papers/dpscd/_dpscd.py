"""What the scripts of the DP-SCD paper's figures share: problems, methods and a fit."""

import math
import warnings
from functools import lru_cache

import numpy as np
from _common import Problem
from _data import load_prepared
from sklearn.model_selection import train_test_split

from skdp.exceptions import PrivacyWarning
from skdp.linear_model import DPSCDClassifier, DPSCDRegressor, DPSGDClassifier, DPSGDRegressor

# Models of the paper's appendix E, the cheapest first. Its ridge problem, on the full set of songs,
# takes 50 passes.
PROBLEMS = {
    "millionsong_cs190": Problem("Ridge, Million Song (CS190)", "millionsong_cs190", 1e-4),
    "california_housing": Problem("Ridge, California housing", "california_housing", 1e-4),
    "phishing": Problem("Logistic, Phishing", "phishing", 1e-4, "log_loss"),
    "adult_hinge": Problem("SVM, Adult", "adult", 1e-5, "hinge"),
    "adult_log_loss": Problem("Logistic, Adult", "adult", 1e-5, "log_loss"),
    "millionsong": Problem("Ridge, Million Song", "millionsong", 1e-4, max_iter=50),
}
# Settings of the estimators. Rows have norm 1, so a feature is between -1 and 1.
METHODS = {
    "none": {},
    "ours": {},
    "published": {"noisy_dual": True, "accountant": "rdp", "average": False},
    "primal": {"solver": "primal", "feature_bounds": (-1.0, 1.0), "average": False},
    "sequential": {"solver": "sequential", "average": False},
    "sgd": {},
}


def make_model(problem, *, is_sgd=False, **settings):
    """Return the estimator of a problem."""
    settings = {"alpha": problem.alpha, "fit_intercept": False} | settings
    # The papers' rows are in no learnt ball.
    settings = {"max_iter": problem.max_iter, "ball_budget": 0} | settings
    if not is_sgd:
        # The paper has no centre.
        settings = {"proximal": 0.0} | settings
    if problem.is_regression:
        return (DPSGDRegressor if is_sgd else DPSCDRegressor)(**settings)
    make = DPSGDClassifier if is_sgd else DPSCDClassifier
    return make(loss=problem.loss, **settings)


def quietly_fit(model, X, y):
    """Fit a model without the warning about the paper's delta."""
    with warnings.catch_warnings():
        # The paper's delta, 1e-3, is above 1/n. It is kept so that results can be compared.
        warnings.filterwarnings("ignore", "delta is larger than 1 / n", PrivacyWarning)
        return model.fit(X, y)


@lru_cache(maxsize=2)
def load_part(problem, part):
    """Return training rows and those of a part: "test", or "validation", a quarter of training."""
    data = load_prepared(problem.data)
    if part == "test":
        return data
    X, X_validation, y, y_validation = train_test_split(*data[:2], test_size=0.25, random_state=0)
    return X, y, X_validation, y_validation


def score_fit(problem, method, settings, part, seed):
    """Return the score of a fit on a part of the data."""
    X_train, y_train, X, y = load_part(problem, part)
    model = make_model(problem, is_sgd=method == "sgd", random_state=seed, **settings)
    score = problem.score(quietly_fit(model, X_train, y_train), X, y)
    # Noise can drown a model altogether; infinity would break averages and axes.
    return score if math.isfinite(score) else np.finfo(np.float32).max
