"""Rules 3 and 7 (CONTRIBUTING.rst) on sparse rows, by replay: which entries there are is data.

See tests/privacy/test_replay.py. A neighbour's row may have other entries, more of them or none.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from skdp.linear_model import (
    DPCDClassifier,
    DPCDElasticNet,
    DPCDLasso,
    DPLogisticRegression,
    DPRidge,
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDClassifier,
    DPSGDRegressor,
    WALRClassifier,
)
from tests.privacy._cases import (
    CORNERS,
    PURE,
    THREE,
    TWO,
    Case,
    K,
    first_of_a_kind,
    label_neighbours,
    neighbour,
)
from tests.privacy._replay import broken_claims, record


@dataclass(frozen=True)
class SparseCase(Case):
    """A case whose rows have entries in a third of the places, and their marginal forms."""

    def records(self, n_rows=60, seed=20210214):
        X, y = super().records(n_rows, seed)
        present = np.random.default_rng(seed).random(X.shape) < 0.4
        present[K] = [True, False, True, False]
        return X * present, y


def stored(X, seed=0):
    """Rows as CSR with entries in any order, some of 0, and halves of some in the same place."""
    rng = np.random.default_rng(seed)
    indices, data, pointers = [], [], [0]
    for row in X:
        places = np.flatnonzero((row != 0.0) | (rng.random(row.size) < 0.2))
        places = np.concatenate([places, places[rng.random(places.size) < 0.5]])
        places = rng.permutation(places)
        times = np.bincount(places, minlength=row.size)
        indices.append(places)
        data.append(row[places] / times[places])
        pointers.append(pointers[-1] + places.size)
    return csr_array((np.concatenate(data), np.concatenate(indices), pointers), shape=X.shape)


MODELS = [
    DPSCDClassifier(**TWO),
    DPSCDClassifier(loss="hinge", noisy_dual=True, fit_intercept=False, batch_size=60, **TWO),
    DPSCDRegressor(adjacency="replace_one", target_bounds=(-1, 1), random_state=0),
    DPSGDClassifier(batch_size=9, **THREE),
    DPSGDClassifier(fit_intercept=False, clipping_norm=1e-3, **TWO),
    DPSGDClassifier(max_iter=3, adjacency="replace_one", **PURE).set_params(**THREE),
    DPSGDRegressor(loss="huber", batch_size=60, data_norm=0.5, random_state=0),
    DPCDClassifier(**TWO),
    DPCDClassifier(smoothness="bounds", feature_bounds=(0.1, 2.0), **THREE),
    DPCDClassifier(smoothness="bounds", feature_bounds=(-1.0, 2.0), **TWO),
    DPCDLasso(adjacency="replace_one", feature_bounds=(-2, 3), random_state=0),
    DPCDElasticNet(fit_intercept=False, data_norm=None, average_every=2, random_state=0),
    DPCDClassifier(selection="greedy", **TWO),
    DPCDLasso(selection="greedy", feature_bounds=(0.1, 2.0), fit_intercept=False, random_state=0),
    DPLogisticRegression(**TWO),
    DPLogisticRegression(adjacency="replace_one", fit_intercept=False, **THREE),
    DPLogisticRegression(moment_budget=0.0, data_norm=0.05, **TWO),
    DPRidge(moment_budget=0.9, target_bounds=(-1, 1), random_state=0),
    DPRidge(clipping_norm=1e-3, adjacency="replace_one", moment_budget=0.0, random_state=0),
]
CASES = [
    *map(SparseCase, MODELS),
    SparseCase(DPSGDRegressor(target_bounds=(-1, 1), **PURE), "calls"),
    SparseCase(DPSGDClassifier(**PURE).set_params(**TWO), "personal"),
]
PATTERNS = {
    "more entries": lambda x: x + np.array([0.0, 0.3, 0.0, -20.0]),
    "other entries": lambda x: np.roll(x, 1),
    "no entry": lambda x: 0.0 * x,
    "one entry": lambda x: x * np.array([0.0, 0.0, 1.0, 0.0]),
}


def as_stored(case):
    """The case on sparse rows, and so on what each of its calls is given."""
    return replace(case, read=stored)


@pytest.mark.parametrize("case", first_of_a_kind(CASES), ids=str)
def test_a_sparse_record_at_every_corner_and_of_every_pattern(case):
    X, y = case.records()
    case = as_stored(case)
    base = record(case, X, y)
    null = record(case, X, y, script=base.released, null=K)
    found = {"null record": broken_claims(base, null, k=K, null=True)}
    data = {corner: neighbour(case, X, y, corner) for corner in CORNERS}
    for name, change in PATTERNS.items():
        moved = X.copy()
        moved[K] = change(X[K])
        data[name] = moved, y
    for name, (moved, labels) in data.items():
        other = record(case, moved, labels, script=base.released)
        found[name] = broken_claims(base, other, k=K)
        found[f"{name}, null record"] = broken_claims(other, null, k=K, null=True)
    assert not {name: claims for name, (claims, _) in found.items() if claims}
    assert max(reach for _, reach in found.values()) > 0.0


@pytest.mark.parametrize("case", CASES, ids=str)
def test_given_the_releases_all_patterns_look_the_same(case):
    """Rows that are full, and rows without an entry."""
    X, y = case.records()
    case = as_stored(case)
    base = record(case, X, y, texts=True)
    full, labels = super(SparseCase, case).records(seed=1)
    for data in ((full, labels), (np.zeros_like(X), y), (np.full_like(X, 1e200), labels)):
        other = record(case, *data, script=base.released, texts=True)
        assert base.log == other.log
        assert base.published == other.published


@pytest.mark.parametrize("case", CASES, ids=str)
def test_releases_are_those_of_dense_rows(case):
    X, y = case.records()
    dense = record(case, X, y)
    found = record(as_stored(case), X, y, script=dense.released)
    assert len(found.values) == len(dense.values)
    for one, other, mechanism in zip(found.values, dense.values, dense.mechanisms, strict=True):
        # Scores are whole numbers, in which there is room for their own rounding.
        slack = mechanism.contribution_bound * getattr(mechanism, "rounding_slack", 1e-5)
        assert np.linalg.norm(one - other) <= slack
    assert found.published == dense.published


@pytest.mark.parametrize("case", first_of_a_kind(CASES), ids=str)
def test_a_null_record_of_any_pattern_contributes_exactly_nothing(case):
    X, y = case.records()
    case = as_stored(case)
    base = record(case, X, y, null=K)
    for change in PATTERNS.values():
        moved = X.copy()
        moved[K] = change(X[K])
        other = record(case, moved, y, script=base.released, null=K)
        broken, reach = broken_claims(base, other, k=K, null=True)
        assert not broken
        assert reach == 0.0


@pytest.mark.parametrize(
    "model",
    [
        WALRClassifier(mechanism="analytic", **TWO),
        WALRClassifier(mechanism="analytic", noise_shape="spherical", **THREE),
    ],
    ids=repr,
)
def test_a_label_of_a_sparse_row_moves_the_release_by_at_most_its_sensitivity(model):
    case = as_stored(SparseCase(model))
    X, y = case.records(63)
    X[60], X[61], X[62] = 0.0, 5.0 * np.abs(X).max(axis=0), X[0]
    base = record(case, X, y)
    longest = 0.0
    for k, moved in label_neighbours(case, y):
        broken, reach = broken_claims(base, record(case, X, moved, script=base.released), k=k)
        assert not broken
        longest = max(longest, reach)
    assert longest > 0.6
