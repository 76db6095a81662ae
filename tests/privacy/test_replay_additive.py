"""Rules 3 and 7 (CONTRIBUTING.rst) for additive models of raw tables, by replay.

See tests/privacy/test_replay.py. Columns of numbers are learnt, with gaps, and the last column is
of words that are given: what a word moves where they are found is tested in test_table.py.
"""

import math

import numpy as np
import pandas as pd
import pytest

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from tests.privacy._cases import N_FEATURES, THREE, TWO, Case, K
from tests.privacy._replay import broken_claims, check_all_claims, record
from tests.privacy.test_planted_faults import name_of

N_ROWS = 300
WORDS = ["a", "b", "c"]


def as_table(X):
    """Numbers, and words of the last column; others of it are rare words or gaps."""
    frame = pd.DataFrame(X[:, :-1], columns=["x", "y", "z"])
    codes = [int(v) if abs(v) < 5.0 else 9 for v in np.nan_to_num(X[:, -1], nan=9.0)]
    frame["w"] = [
        WORDS[code] if 0 <= code < 3 else (None if code < 0 else "rare") for code in codes
    ]
    return frame


class TableCase(Case):
    """A case of full batches, whose columns have offsets, tails, spikes and gaps."""

    draws_rows = False

    def records(self, n_rows=N_ROWS, seed=20210214):
        rng = np.random.default_rng(seed)
        X = rng.standard_t(3.0, (n_rows, N_FEATURES)) * [1.0, 1e3, 1e-3, 2.0] + [0.0, 2e4, 1.0, 1.0]
        X[rng.random(X.shape) < 0.1] = np.nan
        X[rng.random(n_rows) < 0.4, 0] = 0.0
        return X, super().records(n_rows, seed)[1]


GIVEN = {"categories": {"w": WORDS}, "random_state": 0, "epsilon": 25.0}
PAIR = {"interactions": [("x", "w")]}
MODELS = [
    DPAdditiveClassifier(**TWO | GIVEN, **PAIR),
    DPAdditiveClassifier(adjacency="replace_one", **THREE | GIVEN),
    DPAdditiveClassifier(monotonic_cst={"x": 1, "y": -1}, features_budget=0.5, **TWO | GIVEN),
    DPAdditiveRegressor(**GIVEN),
    DPAdditiveRegressor(adjacency="replace_one", target_bounds=(-1, 1), **GIVEN, **PAIR),
    DPAdditiveRegressor(feature_bounds=(-5, 5), knots=4, **GIVEN | {"epsilon": 2.0}),
    DPAdditiveRegressor(loss="poisson", adjacency="replace_one", **GIVEN, **PAIR),
    DPAdditiveRegressor(loss="gamma", target_bounds=(0.1, 2.0), **GIVEN),
]
CASES = [TableCase(model, read=as_table) for model in MODELS]
# What a record's row becomes.
ROWS = {
    "zeros": [0.0, 0.0, 0.0, 0.0],
    "gaps": [np.nan, np.nan, np.nan, np.nan],
    "infinite": [np.inf, -np.inf, np.inf, -1.0],
    "subnormal": [5e-324, -5e-324, 5e-324, 1.0],
    "1e308": [1e308, -1e308, 1e308, 2.0],
    "far": [1e3, -1e9, 40.0, 4.0],
    "at a knot": [0.0, 2e4, 1.0, 1.0],
}


def moved(X, row, k=K):
    X = X.copy()
    X[k] = ROWS[row]
    return X


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_a_record_that_moves_table_ball_and_steps(case):
    X, y = case.records()
    base = record(case, X, y)
    null = record(case, X, y, script=base.released, null=K)
    others = {row: record(case, moved(X, row), y, script=base.released) for row in ROWS}
    check_all_claims(base, null, others)
    # As much as the report says was released.
    report = base.estimator.privacy_report_
    assert len(base.released) == report.n_releases
    assert math.isclose(report.epsilon_at(report.delta), report.epsilon, rel_tol=1e-3)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_given_the_releases_all_tables_look_the_same(case):
    X, y = case.records()
    base = record(case, X, y, texts=True)
    for data in (X[::-1] ** 3, 1e-200 * X, np.full_like(X, 1e200), np.zeros_like(X), X * np.nan):
        other = record(case, data, y[::-1], script=base.released, texts=True)
        assert base.log == other.log
        assert base.published == other.published


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_a_null_record_adds_nothing(case):
    X, y = case.records()
    base = record(case, X, y, null=K)
    for row in ROWS:
        other = record(case, moved(X, row), y, script=base.released, null=K)
        broken, reach = broken_claims(base, other, k=K, null=True)
        assert not broken
        assert reach == 0.0


NUMBERS = {"random_state": 0, "epsilon": 25.0}
GROUPS = [
    TableCase(DPAdditiveClassifier(**TWO | NUMBERS)),
    TableCase(DPAdditiveClassifier(adjacency="replace_one", **TWO | NUMBERS)),
    TableCase(DPAdditiveRegressor(**NUMBERS)),
]


@pytest.mark.parametrize("case", GROUPS, ids=name_of)
def test_a_person_of_any_rows_counts_as_one_record(case):
    X, y = case.records(3 * N_ROWS)
    groups, mine = np.arange(len(X)) // 3, N_ROWS // 2
    base = record(case, X, y, groups=groups)
    null = record(case, X, y, groups=groups, script=base.released, null=mine)
    of_mine, others = groups == mine, {}
    for row, size in {"far": 1, "1e308": 200, "gaps": 3, "zeros": 2}.items():
        rows = np.array([ROWS[row]] * size)
        data = np.concatenate([X[~of_mine], rows]), np.append(y[~of_mine], y[:size])
        ids = np.append(groups[~of_mine], [mine] * size)
        others[row] = record(case, *data, groups=ids, script=base.released)
    check_all_claims(base, null, others, k=mine)
