"""Rules 3 and 7 (CONTRIBUTING.rst) for fits whose records are groups of rows, by replay.

Neighbours differ in a whole person: who has one row or a thousand, rows at a corner of what bounds
allow, or none that count. See test_replay.py.
"""

import math

import numpy as np
import pytest

from skdp.accountant import get_epsilon
from skdp.linear_model import DPQuantileRegressor, DPRidge
from tests.door import Errors, encode_groups
from tests.privacy._cases import Case, rows_at
from tests.privacy._corners import K
from tests.privacy._recipes import PEOPLE_CASES, PLAIN
from tests.privacy._replay import broken_claims, record

CASE = pytest.mark.parametrize("case", PEOPLE_CASES, ids=str)
# Of rows of the person who changes.
SIZES = (1, 2, 1000)


def people(case):
    """Rows of a third as many people; the one who changes has five."""
    X, y = case.records()
    groups = np.arange(len(X)) // 3
    groups[[K - 10, K - 5, K, K + 5, K + 10]] = 999
    return X, y, groups


def with_person(X, y, groups, rows, labels, seed=0):
    """Return the data with other rows of the person, who is somewhere among the others."""
    others = groups != 999
    order = np.random.default_rng(seed).permutation(others.sum() + len(rows))
    # Rows of each of the others keep their order.
    order[order < others.sum()] = np.arange(others.sum())
    return (
        np.concatenate([X[others], rows])[order],
        np.concatenate([y[others], labels])[order],
        np.concatenate([groups[others], np.full(len(rows), 999)])[order],
    )


def persons(case, X, y):
    """Other persons: so many rows of each kind, alike and mixed."""
    rows, labels = rows_at(case, X, y, case.corners)
    for size in SIZES:
        for corner in ("at the bound", "1e308"):
            i = case.corners.index(corner)
            yield f"{size} times {corner}", np.tile(rows[i], (size, 1)), labels[[i] * size]
    mixed = np.resize(np.arange(len(rows)), 1000)
    yield "1000 of all", rows[mixed], labels[mixed]


@CASE
def test_a_person_of_any_rows_moves_releases_within_their_bounds(case):
    X, y, groups = people(case)
    base = record(case, X, y, groups=groups)
    null = record(case, X, y, groups=groups, script=base.released, null=999)
    broken, reach = broken_claims(base, null, k=999, null=True)
    assert not broken
    for _, rows, labels in persons(case, X, y):
        data = with_person(X, y, groups, rows, labels)
        other = record(case, *data[:2], groups=data[2], script=base.released)
        found, moved = broken_claims(base, other, k=999)
        assert not found
        found, reached = broken_claims(other, null, k=999, null=True)
        assert not found
        reach = max(reach, moved, reached)
    assert reach > 0.0


@CASE
def test_given_the_releases_any_numbers_of_rows_look_the_same(case):
    """Nothing that a fit publishes, nor any decision in it, hangs on them."""
    X, y, groups = people(case)
    base = record(case, X, y, groups=groups, texts=True)
    n_people = len(np.unique(groups))
    rng = np.random.default_rng(0)
    for n_rows in (n_people, 4 * len(X)):
        ids = np.append(np.arange(n_people), rng.integers(0, n_people // 4, n_rows - n_people))
        rows = np.resize(X[::-1] ** 3, (n_rows, X.shape[1]))
        labels = np.resize(y, (n_rows, *y.shape[1:]))
        other = record(case, rows, labels, groups=ids, script=base.released, texts=True)
        assert base.log == other.log
        assert base.published == other.published


def test_other_peoples_releases_do_not_move_with_a_persons_place():
    case = Case(DPRidge(target_bounds=(-1, 1), random_state=0))
    X, y, groups = people(case)
    mine = groups == 999
    base = record(case, X, y, groups=groups)
    for seed in range(3):
        data = with_person(X, y, groups, X[mine], y[mine], seed)
        other = record(case, *data[:2], groups=data[2], script=base.released)
        for one, two in zip(base.values, other.values, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.long
@pytest.mark.parametrize("order", "CF")
def test_other_peoples_errors_do_not_move_with_a_persons_rows(order, monkeypatch, rng):
    """Not by a bit: an error beside an edge would be counted on its other side."""
    found = []

    def kept(*args, original=Errors.of):
        errors = original(*args)
        found.append(errors[-299:])
        return errors

    monkeypatch.setattr(Errors, "of", kept)
    case = Case(DPQuantileRegressor(max_iter=2, epsilon=100.0, random_state=0))
    for n_columns in range(3, 43, 2):
        X, y = rng.standard_normal((300, n_columns)), rng.standard_normal(300)
        script = None
        for n_rows in range(1, 5):
            rows = np.maximum(np.arange(1 - n_rows, 300), 0)
            data = np.asarray(X[rows], order=order), y[rows]
            script = record(case, *data, groups=rows, script=script).released
            np.testing.assert_array_equal(found[-1], found[-n_rows])


def test_a_part_of_a_group_costs_what_two_groups_do():
    """One of two people with one id, or a visit: what is left of the id points the other way."""
    X, y, groups = people(Case(DPRidge()))
    rows, labels = np.tile([1.0, 0.0, 0.0, 0.0], (4000, 1)), np.repeat([1.0, -1.0], [1000, 3000])
    both = with_person(X, y, groups, rows, labels)
    alone = with_person(X, y, groups, rows[:1000], labels[:1000])
    moved, claimed = {}, {}
    for adjacency in ("zero_out", "replace_one"):
        made = DPRidge(target_bounds=(-1, 1), adjacency=adjacency, delta=1e-3, **PLAIN)
        base = record(Case(made), *both[:2], groups=both[2])
        other = record(Case(made), *alone[:2], groups=alone[2], script=base.released)
        moved[adjacency] = math.sqrt(
            sum(
                (np.linalg.norm(one - two) / mechanism.noise_std) ** 2
                for one, two, mechanism in zip(
                    base.values, other.values, base.mechanisms, strict=True
                )
            )
        )
        claimed[adjacency] = base.estimator.privacy_report_
    report = claimed["zero_out"]
    assert moved["zero_out"] > 1.5 * report.mu
    spent = get_epsilon(1.0 / moved["zero_out"], 1e-3)
    assert spent > 1.5 * report.epsilon
    assert spent <= report.epsilon_at(1e-3, group_size=2)
    assert any("epsilon_at(delta, group_size=2)" in told for told in report.not_covered)
    # The bound of a pair is that of these two, too.
    assert moved["replace_one"] <= claimed["replace_one"].mu


def test_ids_tell_nothing_in_errors():
    for groups in (["secret"], [["secret"]] * 3, ["secret", None, "secret"], [{"secret"}] * 3):
        with pytest.raises((ValueError, TypeError)) as caught:
            encode_groups(groups, 3)
        assert "secret" not in str(caught.value)
        assert caught.value.__cause__ is None
