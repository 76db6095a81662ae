"""Long tests beside the quick ones of `tests/metrics/test_groups.py`."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from skdp.metrics import private_confusion_matrix, private_score
from tests.door import DiscreteLaplaceMechanism, epsilon_from_rates, null_records
from tests.metrics._models import Knows
from tests.metrics.test_groups import PERSONS, of_people


def audited(rows_per_group, n_runs=600):
    """Lower bound on epsilon, wrong once in 1e7, of a person whose 40 rows are in one cell."""
    X, y, ids = of_people(PERSONS["alike"])
    y[ids == 60] = 1
    counted = {"groups": ids, "rows_per_group": rows_per_group}
    rates = []
    for null in ([], np.flatnonzero(ids == 60)):
        with null_records(null):
            found = [
                private_confusion_matrix(Knows(), X, y, epsilon=1.5, **counted).matrix[1, 1]
                for _ in range(n_runs)
            ]
            rates.append(sum(one >= 60 + rows_per_group for one in found))
    error = {"delta": 0.0, "error": 1e-7}
    return float(epsilon_from_rates(rates[0], n_runs, rates[1], n_runs, **error))


def test_an_attack_by_a_person_of_many_rows_stays_within_the_claim():
    assert 0.6 < audited(4) <= 1.5


def test_the_attack_sees_noise_that_is_for_one_row(monkeypatch):
    kept = DiscreteLaplaceMechanism._parts.fget
    monkeypatch.setattr(DiscreteLaplaceMechanism, "_parts", property(lambda self: kept(self) // 4))
    assert audited(4) > 1.5


def held_by_intervals(n_runs=60, **options):
    """How many intervals hold the area of scores that lie close together, of 1,500 people."""

    def drawn(rng, n_rows):
        log_odds = rng.normal(0.45, 0.35, n_rows)
        return log_odds[:, np.newaxis], (rng.random(n_rows) < expit(log_odds)).astype(int)

    X, y = drawn(np.random.default_rng(0), 2_000_000)
    area, held = roc_auc_score(y, X[:, 0]), 0
    counted = {"groups": np.repeat(np.arange(1500), 3), "epsilon": 1.0, "delta": 1e-6}
    for seed in range(n_runs):
        X, y = drawn(np.random.default_rng(1000 + seed), 4500)
        found = private_score(
            Knows(),
            X,
            y,
            scoring="roc_auc",
            mechanism="gaussian",
            random_state=seed,
            **counted,
            **options,
        )
        held += found.low < area < found.high
    return held


def test_intervals_of_an_area_hold_where_scores_lie_close_together():
    """Seeded. Four bins, of which two have nearly all rows, would hold in a fifth of the runs."""
    assert held_by_intervals() >= 54
    assert held_by_intervals(bins=4) <= 30
