"""Rules 3 and 7 (CONTRIBUTING.rst) for the releases that learn the targets' bounds, by replay.

See tests/privacy/test_replay_ball.py. Targets lie far from 0, so that a record whose target is
another one moves middle and width of the bounds, and what other records are cut to.
"""

import math

import numpy as np
import pytest

from skdp.linear_model import DPPoissonRegressor, DPRidge
from tests.door import (
    CountsBySide,
    ExactQuantiles,
    ball_solver_module as _solver,
    means_module as _means,
)
from tests.privacy._cases import FAR_TARGETS, Case, first_of_a_kind, people_of, rows_at
from tests.privacy._corners import K, neighbour
from tests.privacy._recipes import LEARNT, SEVERAL_TARGET_CASES, TARGET_CASES
from tests.privacy._replay import (
    broken_claims,
    check_a_person,
    check_corners_together,
    check_null_records,
    check_unrelated_data,
    record,
)
from tests.privacy.test_planted_faults import name_of
from tests.privacy.test_replay_ball import before_batches


@pytest.mark.parametrize(
    "case",
    [*first_of_a_kind(TARGET_CASES), *first_of_a_kind(SEVERAL_TARGET_CASES)],
    ids=str,
)
def test_a_record_that_moves_the_bounds(case):
    check_corners_together(case, before_batches)


def moved(y, value):
    y = y.copy()
    y[K] = value
    return y


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("n_targets", [1, 3])
def test_the_bounds_of_these_releases_are_reached(n_targets, adjacency):
    model = DPRidge(adjacency=adjacency, **LEARNT)
    case = Case(model, n_targets=n_targets, data=FAR_TARGETS)
    X, y = case.records()
    base = record(case, X, y)
    one = record(case, X, moved(y, 1e60), script=base.released)
    other = record(case, X, y, script=base.released, null=K)
    factor = 1.0
    if adjacency == "replace_one":
        other, factor = record(case, X, moved(y, -1e60), script=base.released), 2.0
    for t in range(6):
        bound = base.mechanisms[t].contribution_bound
        apart = np.linalg.norm(one.values[t] - other.values[t])
        if t in (2, 4):
            assert bound == pytest.approx(math.sqrt(n_targets))
            assert apart == pytest.approx(factor * bound, rel=1e-5)
        else:
            assert bound == pytest.approx(math.sqrt(factor * n_targets))
            assert apart == pytest.approx(bound)


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_the_bounds_of_amounts_and_their_exposures_are_reached(adjacency):
    """One record is in a bin of each, so that an attack by counts is as strong as is accounted."""
    model = DPPoissonRegressor(adjacency=adjacency, random_state=0)
    case = Case(model, has_exposure=True)
    X, y = case.records()

    def with_record(exposure, amount, **options):
        Z = X.copy()
        Z[K, 0] = exposure
        return record(case, Z, moved(y, amount), **options)

    base = with_record(1e-3, 1.0)
    one = with_record(1e60, 1e60, script=base.released)
    other, bound = record(case, X, y, script=base.released, null=K), math.sqrt(2.0)
    if adjacency == "replace_one":
        other, bound = with_record(1e-60, 1e-60, script=base.released), 2.0
    for t in range(2):
        assert base.mechanisms[t].contribution_bound == pytest.approx(bound)
        assert np.linalg.norm(one.values[t] - other.values[t]) == pytest.approx(bound)


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_the_bounds_of_both_sides_of_the_mean_are_reached(adjacency):
    """A huge amount and a huge prediction are orthogonal parts of one length."""
    case = Case(DPPoissonRegressor(adjacency=adjacency, epsilon=50.0, random_state=0))
    X, y = case.records()
    base = record(case, X, y)
    assert base.estimator.privacy_report_.names[-1] == "amounts and what is expected"
    coefs = base.estimator.coef_
    far = X.copy()
    far[K] = 1e6 * coefs / np.linalg.norm(coefs)
    one = record(case, X, moved(y, 1e60), script=base.released)
    other = record(case, far, moved(y, 0.0), script=base.released)
    null = record(case, X, y, script=base.released, null=K)
    radius, factor = base.mechanisms[-1].contribution_bound, 1.0
    if adjacency == "replace_one":
        # The mechanism's bound is that of a pair.
        radius /= math.sqrt(2.0)
        factor = math.sqrt(2.0)
    for a, b, apart in [(one, null, 1.0), (other, null, 1.0), (one, other, math.sqrt(2.0))]:
        distance = np.linalg.norm(a.values[-1] - b.values[-1])
        assert distance == pytest.approx(apart * radius, rel=1e-3)
    assert base.mechanisms[-1].contribution_bound == pytest.approx(factor * radius)


@pytest.mark.parametrize("case", TARGET_CASES, ids=str)
def test_given_the_releases_all_targets_look_the_same(case):
    assert "target_bounds_" in check_unrelated_data(case, texts=True).published


@pytest.mark.parametrize("case", first_of_a_kind(TARGET_CASES), ids=str)
def test_a_null_record_adds_nothing_to_the_bounds(case):
    check_null_records(case)


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_a_person_of_any_rows_moves_the_bounds_as_one_record(adjacency):
    case = Case(DPRidge(adjacency=adjacency, **LEARNT), data=FAR_TARGETS)
    X, y, *_ = people_of(case)
    _, all_targets = rows_at(case, X, y, case.corners)
    targets = {"far": [1e60] * 700, "opposite": [-1e60], "all": all_targets}
    persons = {name: (np.tile(X[K], (len(of), 1)), of) for name, of in targets.items()}
    check_a_person(case, persons)


def a_bin_on_each_side(patch):
    def both(self, rows):
        counts = total(self, rows)
        return counts + counts[:, ::-1]

    total = CountsBySide.total
    patch.setattr(CountsBySide, "total", both)


def bounds_of_the_targets_themselves(patch):
    def exact(rows, **options):
        learn_targets(rows, **options)
        query = ExactQuantiles(np.array([0.0, 1.0]))
        return tuple(query.quantiles(rows.ask(query)).tolist())

    learn_targets = _solver.learn_targets
    patch.setattr(_means, "learn_targets", exact)


FAULTS = [
    (a_bin_on_each_side, {"sensitivity"}),
    (bounds_of_the_targets_themselves, {"published target_bounds_", "published pickle"}),
]


@pytest.mark.long
@pytest.mark.parametrize(("plant", "claims"), FAULTS, ids=name_of)
def test_planted_faults_are_convicted(plant, claims, monkeypatch):
    case = TARGET_CASES[0]
    X, y = case.records()
    plant(monkeypatch)
    base = record(case, X, y)
    null = record(case, X, y, script=base.released, null=K)
    found = set()
    for corner in case.corners:
        other = record(case, *neighbour(case, X, y, corner), script=base.released)
        found |= set(broken_claims(base, other, k=K)[0])
        found |= set(broken_claims(other, null, k=K, null=True)[0])
    assert claims <= found
