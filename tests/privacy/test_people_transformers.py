"""Rules 3 and 7 (CONTRIBUTING.rst) for transformers that count one row of each person, by replay.

The rows of the person who changes are last, so that the coins of others' rows are the same.
"""

import numpy as np
import pytest
from sklearn.base import clone

from tests.door import counted_rows, make_stream
from tests.privacy._recipes import PER_COLUMN_OF_PEOPLE, TRANSFORMERS, TRANSFORMERS_OF_PEOPLE
from tests.privacy._recorded import record as recorded
from tests.privacy._replay import broken_claims, check_all_claims, record

N_OTHERS = 100
# Rows of the person: of all kinds, and more than all others have.
ROWS = {
    "zero": [[0.0] * 4],
    "far": [[1e308, -1e308, 5.0, 0.1]] * 2,
    "1000 of many": [[x, -x, 2.0 * x, 0.3] for x in np.linspace(-2.0, 2.0, 1000)],
    "1000 at a corner": [[1.0, -1.0, 1.0, 1.0]] * 1000,
}


def with_person(case, rows):
    """Three rows each of others, and some of the one whose id is last."""
    X, y = case.records(3 * N_OTHERS)
    groups = np.append(np.arange(len(X)) // 3, np.full(len(rows), N_OTHERS))
    return np.vstack([X, rows]), np.append(y, np.zeros(len(rows))), groups


def run_of(case, rows, **options):
    """A run without its coins, of which there are as many as rows, and which have no noise."""
    X, y, groups = with_person(case, rows)
    run = record(case, X, y, groups=groups, **options)
    coins = [entry for entry in run.log if entry[0] == "uniform"]
    assert coins == [("uniform", 1, (len(X),))]
    run.log.remove(coins[0])
    return run


@pytest.mark.parametrize("case", TRANSFORMERS_OF_PEOPLE, ids=str)
def test_a_person_of_any_rows_counts_as_one_record(case):
    base = run_of(case, ROWS["zero"])
    assert base.estimator.privacy_report_.unit == "one group"
    null = run_of(case, ROWS["zero"], script=base.released, null=N_OTHERS)
    others = {name: run_of(case, rows, script=base.released) for name, rows in ROWS.items()}
    check_all_claims(base, null, others, k=N_OTHERS)
    reach = [broken_claims(other, null, k=N_OTHERS, null=True)[1] for other in others.values()]
    assert max(reach) > 0.5


PERSONS = {"one": [[0.3, 7.0]], "of many": [[0.3, 7.0], [np.nan, 1e9], [7.0, 7.0]] * 30}


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("name", PER_COLUMN_OF_PEOPLE)
def test_a_person_moves_a_release_by_as_much_as_a_record(name, adjacency):
    """Of a new category, too; given what was released all that is published is the same."""
    estimator = clone(PER_COLUMN_OF_PEOPLE[name]).set_params(adjacency=adjacency)
    X = np.repeat([[0.3, 7.0], [0.3, np.nan], [7.0, 7.0]], 20, axis=0)
    groups = np.arange(len(X)) // 2

    def run(rows, **others):
        ids = np.append(groups, [999] * len(rows))
        return recorded(estimator, np.vstack([X, rows]), groups=ids, **others)

    _, values, script, mechanisms = run(PERSONS["one"])
    _, without, _, _ = run(PERSONS["one"], script=script, null=999)
    for rows in PERSONS.values():
        moved = run(rows, script=script)[1]
        for value, base, other, mechanism in zip(moved, without, values, mechanisms, strict=True):
            factor = 2.0 if adjacency == "replace_one" and name in ("mean", "median") else 1.0
            bound = mechanism.contribution_bound * (1.0 + 1e-12)
            if name == "encoder":
                # Of two columns, and 31 people.
                assert value.sum() == 2 * 31
            for before, times in ((base, 1.0), (other, factor)):
                # A category of this person alone has a count more.
                if value.size == before.size:
                    assert np.linalg.norm(value - before) <= times * bound


def test_of_each_person_one_row_is_drawn_whatever_it_holds():
    """Each of ten rows has its turn in 400 draws, but for once in 10**17 suites."""
    codes = np.array([0] * 10 + [1, 2, 2])
    drawn = np.array([counted_rows(codes, codes, make_stream(seed)) for seed in range(400)])
    assert (codes[drawn] == [0, 1, 2]).all()
    assert set(drawn[:, 0]) == set(range(10))
    assert set(drawn[:, 1]) == {10}


@pytest.mark.parametrize("estimator", [*PER_COLUMN_OF_PEOPLE.values(), *TRANSFORMERS[:1]], ids=repr)
def test_bad_groups_are_refused_before_anything_is_charged(estimator, tmp_path):
    X = np.ones((3, 2))
    for groups, message in (([1, 2], "one id for each row"), ([None, 1, 2], "missing")):
        with pytest.raises(ValueError, match=message):
            clone(estimator).fit(X, groups=groups)
