"""Models whose predictions are what their rows say, and calls that take every choice."""

import numpy as np
from scipy.special import expit

from skdp.metrics import (
    private_calibration_curve,
    private_compare,
    private_confusion_matrix,
    private_roc_curve,
    private_score,
)
from skdp.model_selection import private_threshold

OF_LABELS = ("accuracy", "balanced_accuracy", "f1", "precision", "recall")
OF_LABELS += ("f1_macro", "precision_macro", "recall_macro")
CLASSIFICATION = (*OF_LABELS, "roc_auc", "neg_log_loss", "neg_brier_score")
REGRESSION = ("r2", "neg_mean_squared_error", "neg_mean_absolute_error")
COMPARED = ("accuracy", "neg_log_loss", "neg_brier_score")
DEVIANCES = ("neg_mean_poisson_deviance", "neg_mean_gamma_deviance", "d2_poisson", "d2_gamma")


class Ranks:
    """The first column is the decision value; there are no probabilities."""

    classes_ = np.array([0, 1])

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return (X[:, 0] > 0).astype(int)


class Knows(Ranks):
    """The first column is the log-odds."""

    def predict_proba(self, X):
        p = expit(X[:, 0])
        return np.column_stack([1.0 - p, p])


class Opposes(Knows):
    """The first column is minus the log-odds less one."""

    def predict(self, X):
        return (X[:, 0] < 1).astype(int)

    def predict_proba(self, X):
        return super().predict_proba(1.0 - X)


class Three:
    """Each column is the probability of a class."""

    classes_ = np.array(["a", "b", "c"])

    def predict_proba(self, X):
        return X

    def predict(self, X):
        return self.classes_[X.argmax(axis=1)]


class Says:
    """The first column is the prediction."""

    def predict(self, X):
        return X[:, 0]


class Off(Says):
    """The prediction is the same for all rows."""

    def predict(self, X):
        return np.full(len(X), 0.5)


def calls(**options):
    """Every public function and score, by name: functions of X, y and more options."""

    def bind(function, **fixed):
        return lambda X, y, **more: function(X=X, y=y, **options | fixed | more)

    found = {name: bind(private_score, estimator=Knows(), scoring=name) for name in CLASSIFICATION}
    found |= {
        name: bind(private_score, estimator=Says(), scoring=name, target_bounds=(-1, 2))
        for name in REGRESSION
    }
    found |= {
        name: bind(private_score, estimator=Says(), scoring=name, target_bounds=(0.1, 6.0))
        for name in DEVIANCES
    }
    found["decision values"] = bind(private_score, estimator=Ranks(), scoring="roc_auc", bins=7)
    found["few nodes"] = bind(private_score, estimator=Knows(), scoring="neg_log_loss", bins=2)
    for name in COMPARED:
        models = {"model_a": Knows(), "model_b": Opposes()}
        found[f"compare {name}"] = bind(private_compare, **models, scoring=name)
    models = {"model_a": Says(), "model_b": Off(), "target_bounds": (-1, 2)}
    name = "neg_mean_squared_error"
    found[f"compare {name}"] = bind(private_compare, **models, scoring=name)
    costs = {"false_positive": 1.0, "false_negative": 5.0}
    found["threshold"] = bind(private_threshold, estimator=Knows(), costs=costs)
    found["curve"] = bind(private_roc_curve, estimator=Knows())
    found["calibration"] = bind(private_calibration_curve, estimator=Knows())
    found["confusion"] = bind(private_confusion_matrix, estimator=Knows())
    return found


def binary_records(rng, n=2000, slope=1.5):
    """Log-odds that are true, and labels."""
    X = slope * rng.standard_normal((n, 1))
    return X, (rng.random(n) < expit(X[:, 0])).astype(int)
