"""How often intervals of private scores hold the population's value, and the error of scores.

A population is the scores of a logistic model on all rows of a data set, or drawn: its value is
known, and records are drawn from it with replacement. `off_sample` is the share of repetitions in
which a score was more than 0.01 away from the exact score of the same records.

    python benchmarks/private_scores.py --data ../data
"""

import _common as bench
import _utility_sets as sets
import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from skdp.metrics import private_score

N_ROWS, N_POPULATION, ALPHA = 10_000, 200_000, 1e-4
REGRESSION = ("r2", "neg_mean_squared_error", "neg_mean_absolute_error")
SCORES = ("accuracy", "balanced_accuracy", "roc_auc", "neg_log_loss", "neg_brier_score")
SETS = ("drawn", "electricity", "adult", "bank_marketing", "hillstrom_visit")


class Known:
    """A model whose first column is its decision value, or its prediction."""

    def __init__(self, is_classifier):
        self.is_classifier = is_classifier
        if is_classifier:
            self.classes_ = np.array([0, 1])

    def predict(self, X):
        """Return classes or predictions."""
        return (X[:, 0] > 0).astype(int) if self.is_classifier else X[:, 0]

    def predict_proba(self, X):
        """Return the logistic model's probabilities."""
        found = expit(X[:, 0])
        return np.column_stack([1.0 - found, found])


def population(name, is_classifier):
    """Return a column of decision values or predictions, and labels or targets."""
    generator = np.random.default_rng(0)
    if not is_classifier:
        predictions = 0.25 * generator.standard_normal(N_POPULATION)
        noise = 0.2 * generator.standard_normal(N_POPULATION) + 0.1
        return predictions[:, np.newaxis], np.clip(predictions + noise, -1.0, 1.0)
    if name == "drawn":
        values = 1.5 * generator.standard_normal(N_POPULATION)
        return values[:, np.newaxis], (generator.random(N_POPULATION) < expit(values)).astype(int)
    table = sets.load_table(name)
    model = LogisticRegression(C=1.0 / (ALPHA * len(table.X_train)), max_iter=500)
    model.fit(table.X_train, table.y_train)
    X, y = np.vstack([table.X_test, table.X_train]), np.r_[table.y_test, table.y_train]
    return model.decision_function(X)[:, np.newaxis], (y > 0).astype(int)


def exact(scoring, X, y):
    """Return a score without noise, of the log loss that is bounded as the private one."""
    if scoring == "neg_log_loss":
        return np.log(np.maximum(expit(np.where(y > 0, X[:, 0], -X[:, 0])), 1e-4)).mean()
    p, errors = expit(X[:, 0]), y - X[:, 0]
    known = {
        "neg_brier_score": lambda: -((p - y) ** 2).mean(),
        "roc_auc": lambda: roc_auc_score(y, X[:, 0]),
        "accuracy": lambda: ((p > 0.5) == y).mean(),
        "balanced_accuracy": lambda: np.mean([((p > 0.5) == y)[y == k].mean() for k in (0, 1)]),
        "r2": lambda: 1.0 - (errors**2).mean() / y.var(),
        "neg_mean_squared_error": lambda: -(errors**2).mean(),
        "neg_mean_absolute_error": lambda: -np.abs(errors).mean(),
    }
    return known[scoring]()


def measure(name, scoring, adjacency, epsilon, repeats):
    """Return a row of the table."""
    is_classifier = scoring in SCORES
    X, y = population(name, is_classifier)
    model, true = Known(is_classifier), exact(scoring, X, y)
    generator, found = np.random.default_rng(1), []
    for seed in range(repeats):
        chosen = generator.integers(0, len(y), N_ROWS)
        score = private_score(
            model,
            X[chosen],
            y[chosen],
            scoring=scoring,
            epsilon=epsilon,
            adjacency=adjacency,
            target_bounds=None if is_classifier else (-1, 1),
            random_state=seed,
        )
        off = abs(score.value - exact(scoring, X[chosen], y[chosen])) > 0.01
        covered = score.low <= true <= score.high
        found.append((covered, score.value - true, score.high - score.low, off))
    covered, errors, widths, off = np.array(found, dtype=float).T
    return {
        "set": name,
        "score": scoring,
        "adjacency": adjacency,
        "epsilon": epsilon,
        "value": true,
        "covered": covered.mean(),
        "bias": errors.mean(),
        "error": errors.std(),
        "interval": widths.mean() / 3.92,
        "off_sample": off.mean(),
    }


def main(arguments=None):
    """Measure and write the table."""
    options = bench.read_options(__file__, __doc__, arguments, repeats=1000)
    cases = [(name, "roc_auc", "zero_out") for name in SETS]
    cases += [("adult", scoring, "zero_out") for scoring in SCORES if scoring != "roc_auc"]
    cases += [("drawn", scoring, "zero_out") for scoring in REGRESSION]
    cases += [("drawn", scoring, "replace_one") for scoring in ("roc_auc", "accuracy", "r2")]
    tasks = [(*case, epsilon, options.repeats) for epsilon in (0.1, 1.0) for case in cases]
    table = pd.DataFrame(bench.run_jobs(measure, tasks, options)).round(4)
    bench.write_table(table, "private_scores.csv", options)


if __name__ == "__main__":
    bench.run_script(__file__)
