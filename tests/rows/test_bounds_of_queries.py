"""A query states by how much a record moves its answer: it is true, and the run holds it to it."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from skdp.linear_model import DPRidge
from tests._loops import for_each
from tests.door import (
    MODELS,
    CountsBetween,
    CountsByColumn,
    CountsBySide,
    CountsOfLengths,
    CountsOfMappedLengths,
    MemoryRows,
    Release,
    Run,
    SecondMoment,
    SharesAndLosses,
    SumOfCurvatures,
    SumOfCutRows,
    SumOfSlopes,
    SumOfSquares,
    bins_about,
    make_stream,
    named,
    null_records,
)

N, D = 400, 3
# No noise moves counts, and none of them is rounded.
MECHANISM = SimpleNamespace(grid=0.0, rounded=lambda total: total, n_records=N, size=2)
ZERO, ONE, BINS, A = np.zeros(D), np.ones(D), bins_about(1.0), np.diag([0.5, 1.0, 2.0, 1.5])
SQUARES, W = MODELS["squared_error"], np.ones((D + 1, 1))
MECHANISM.contribution_bound = 1.0
QUERIES = [
    CountsOfLengths(BINS, ZERO, ONE, MECHANISM),
    CountsByColumn(BINS, ZERO, ONE, MECHANISM),
    CountsBySide(BINS, ZERO, ONE, MECHANISM),
    CountsBetween(np.linspace(-1.0, 1.0, 5), MECHANISM),
    SumOfCutRows(ZERO, ONE, 0.7, MECHANISM),
    SumOfSquares(ZERO, ONE, 0.7, MECHANISM),
    SecondMoment(MECHANISM, largest_trace=1.0 + 1.0 / 9.0),
    SumOfSlopes(W, MECHANISM),
    CountsOfMappedLengths(BINS, MECHANISM),
    SharesAndLosses(SQUARES, W, MECHANISM),
    SumOfCurvatures(SQUARES, W, 0.03, MECHANISM),
]


def answer(query, X, y, null=()):
    """Return the answer of placed rows, within the bound 1, whose slopes are cut to 0.2."""
    model = DPRidge(data_norm=1.0, ball_budget=0, target_bounds=(-9.0, 9.0), inference=True)
    treatment = model._method().treatment(model._family())
    with null_records(null), MemoryRows(treatment, X, y).at_work() as rows:
        rows.place(None)
        rows.bound_slopes(A, 0.2)
        return rows.ask(query), query.record_bound(rows), query.pair_bound(rows)


@pytest.mark.every
@for_each("query", QUERIES)
def test_no_record_moves_an_answer_by_more_than_its_query_states(query):
    generator, apart, moved = np.random.default_rng(0), [], []
    X, y = generator.normal(size=(N, D)), 3.0 * generator.normal(size=(N, 1))
    known, record, pair = answer(query, X, y, null=[7])
    others = (*(np.full(D, size) * sign for size in (0.0, 0.3, 50.0) for sign in (-1.0, 1.0)), ONE)
    answers = []
    for x in others:
        X[7], y[7] = x, np.sign(x[0]) * 9.0
        answers.append(answer(query, X, y)[0])
    moved = [np.linalg.norm(one - known) for one in answers]
    apart = [np.linalg.norm(one - other) for one in answers for other in answers]
    slack = 1.0 + 1e-9
    assert max(moved) <= record * slack
    assert max(apart) <= pair * slack
    # What is stated isn't far above what some record does.
    assert max(moved) >= 0.2 * record


def a_run(bound, **changes):
    release = Release(bound=bound, noise_multiplier=1.0, size=D, n_records=N, **changes)
    return Run(named("sums", release), make_stream(0))


class _Place:
    """Rows that must not be asked."""

    def ask(self, query):
        raise AssertionError


def asked(run, place, query, *, with_steps):
    return run.steps("sums").ask(place, query) if with_steps else run.ask("sums", place, query)


@for_each("pairwise", [False, True])
@for_each("with_steps", [False, True])
def test_a_query_with_a_larger_bound_than_planned_is_refused_before_rows_are_asked(
    pairwise, with_steps
):
    planned = 0.7 * (2.0 if pairwise else 1.0)
    run = a_run(planned, pairwise=pairwise)
    query = SumOfCutRows(ZERO, ONE, 0.7, run.mechanism("sums"))
    place = SimpleNamespace(ask=lambda query: ONE)
    assert asked(run, place, query, with_steps=with_steps).shape == (D,)
    run = a_run(0.99 * planned, pairwise=pairwise)
    query = SumOfCutRows(ZERO, ONE, 0.7, run.mechanism("sums"))
    with pytest.raises(RuntimeError, match=r"^a record may move 'sums' by more than was planned.$"):
        asked(run, _Place(), query, with_steps=with_steps)


def test_a_query_without_a_bound_or_with_another_mechanism_is_refused():
    for radius, mechanism in ((math.nan, None), (0.7, a_run(1.4).mechanism("sums"))):
        run = a_run(0.7)
        query = SumOfCutRows(ZERO, ONE, radius, mechanism or run.mechanism("sums"))
        with pytest.raises(RuntimeError, match=r"'sums'"):
            run.ask("sums", _Place(), query)


@pytest.mark.every
@for_each("infers, weights", [(True, None), (False, np.ones(4)), (True, np.ones(4))])
def test_groups_are_asked_without_weights_and_errors(infers, weights):
    """Groups are cut as a whole, by no weights of their rows."""
    model = DPRidge(data_norm=1.0, ball_budget=0, target_bounds=(0.0, 1.0))
    treatment = replace(model._method().treatment(model._family()), infers=infers)
    rows = treatment.bounds.read(np.ones((4, D)))
    with pytest.raises(ValueError, match="groups of rows go without weights"):
        treatment.answering(rows, np.ones((4, 1)), 1, weights, codes=np.array([0, 0, 1, 1]))
