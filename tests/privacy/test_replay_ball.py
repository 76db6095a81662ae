"""Rules 3 and 7 (CONTRIBUTING.rst) for the releases that learn the ball of the rows, by replay.

See tests/privacy/test_replay.py. Here there are so many rows that all of the ball is bought, and
they lie far from 0, in columns of very different units. A record that is far off moves centre,
radius and scales together.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from skdp.linear_model import DPRidge, DPSGDRegressor
from tests.door import (
    CountsOfLengths,
    LongestLength,
    RawRows,
    SecondMoment,
    ball_queries_module as _queries,
    ball_solver_module as _solver,
    fit_module as _fit,
    full_batch_mu,
    row_bounds_module,
)
from tests.privacy._cases import FAR, N_FEATURES, Case, people_of, rows_at
from tests.privacy._corners import K, neighbour
from tests.privacy._recipes import BALL_CASES, BALLS_OF_PEOPLE, LOUD_RIDGE, SPARSE_BALL_CASES
from tests.privacy._replay import (
    broken_claims,
    check_a_person,
    check_corners_together,
    record,
)
from tests.privacy.test_planted_faults import name_of


def before_batches(run):
    """Return the mu and the number of the releases before Poisson batches, where there are any."""
    *learnt, steps = run.estimator.privacy_report_.events
    if steps.sampling_rate == 1.0:
        return {}
    return {"mu": full_batch_mu(learnt, run.estimator.adjacency), "n_releases": len(learnt)}


@pytest.mark.long
@pytest.mark.parametrize(
    "case",
    [
        *BALL_CASES,
        # Few of the same sums over other rows are enough for the quick tests.
        *(
            pytest.param(case, marks=[pytest.mark.long] * (i % 5 > 0))
            for i, case in enumerate(SPARSE_BALL_CASES)
        ),
    ],
    ids=str,
)
def test_a_record_that_moves_all_of_the_ball(case):
    spent = check_corners_together(case).estimator.privacy_report_.events
    # The steps, and the moment or the mean squares of columns.
    n_of_steps = 7 if getattr(case.estimator, "inference", False) else 2
    if getattr(case.estimator, "moment_budget", "auto") == 0.0:
        n_of_steps = 1
    # The intercept's beside passes over coordinates.
    n_of_steps += hasattr(case.estimator, "clip_by") and case.estimator.fit_intercept
    assert len(spent) == len(case.learnt) + n_of_steps


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_the_bounds_of_the_ball_are_reached(adjacency):
    """By a record and none, or by two: in other bins, or on the other side of the centre."""
    case = Case(DPRidge(adjacency=adjacency, **LOUD_RIDGE), data=FAR)
    X, y = case.records()
    base = record(case, X, y)
    far_off = record(case, *neighbour(case, X, y, "a thousand units off"), script=base.released)
    near = opposite = record(case, X, y, script=base.released, null=K)
    factor = math.sqrt(2.0) if adjacency == "replace_one" else 1.0
    if adjacency == "replace_one":
        near, opposite = (
            record(case, *neighbour(case, X, y, corner), script=base.released)
            for corner in ("the centre", "opposite side")
        )
    columns = math.sqrt(N_FEATURES)
    counts = {0: columns, 1: 1.0, 3: 1.0, 5: columns, 6: 1.0}
    for t in range(7):
        bound = base.mechanisms[t].contribution_bound
        apart = np.linalg.norm(far_off.values[t] - (near if t in counts else opposite).values[t])
        if t in counts:
            assert apart == pytest.approx(bound)
            assert bound == pytest.approx(factor * counts[t])
        else:
            assert 0.95 < apart / (bound * factor**2) <= 1.0 + 1e-5


SIZES = {
    "a thousand units off": 1,
    "opposite side": 700,
    "1e151": 3,
    "zeros": 2,
    "1e308 of both signs": 5,
}


@pytest.mark.parametrize("case", BALLS_OF_PEOPLE, ids=str)
def test_a_person_of_any_rows_moves_the_ball_as_one_record(case):
    X, y, *_ = people_of(case)
    rows, _ = rows_at(case, X, y, SIZES)
    persons = {
        name: (np.tile(row, (size, 1)), y[:size])
        for (name, size), row in zip(SIZES.items(), rows, strict=True)
    }
    rows, _ = rows_at(case, X, y, case.corners)
    check_a_person(case, persons | {"all": (rows, y[: len(rows)])})


def longer_rows(patch):
    def longer(lengths, radius):
        weights, is_void = weights_within(lengths, radius)
        return 3.0 * weights, is_void

    weights_within = _queries.weights_within
    patch.setattr(_queries, "weights_within", longer)


def rows_without_weights(patch):
    def whole(*args, **options):
        return rows_in_ball(*args, **options)._replace(weight=None)

    rows_in_ball = row_bounds_module.rows_in_ball
    patch.setattr(row_bounds_module, "rows_in_ball", whole)


def weights_of_slopes_alone(patch):
    def unweighted(self, rows):
        kept, rows.ball_weights = rows.ball_weights, None
        moment = total(self, rows)
        rows.ball_weights = kept
        return moment

    total = SecondMoment.total
    patch.setattr(SecondMoment, "total", unweighted)


def a_bin_each_for_two_sizes(patch):
    def twice(self, rows):
        return total(self, rows) + total(replace(self, unit=2.0 * self.unit), rows)

    total = CountsOfLengths.total
    patch.setattr(CountsOfLengths, "total", twice)


def radius_of_the_longest_row(patch):
    def longest(rows, **options):
        ball = learn_ball(rows, **options)
        return ball._replace(radius=rows.ask(LongestLength(ball.center, ball.scale)))

    learn_ball = _fit.learn_ball
    patch.setattr(_fit, "learn_ball", longest)


def null_rows_in_the_ball(patch):
    def all_rows(self, X, is_null, *rest):
        init(self, X, np.zeros_like(is_null), *rest)

    init = RawRows.__init__
    patch.setattr(RawRows, "__init__", all_rows)


RIDGE = DPRidge(**LOUD_RIDGE)
SGD = DPSGDRegressor(max_iter=1, **LOUD_RIDGE)
FAULTS = [
    (a_bin_each_for_two_sizes, SGD, {"sensitivity"}),
    (radius_of_the_longest_row, SGD, {"published radius_", "published pickle"}),
    (longer_rows, RIDGE, {"sensitivity", "sensitivity of the rounded value"}),
    (rows_without_weights, RIDGE, {"sensitivity"}),
    (weights_of_slopes_alone, RIDGE, {"sensitivity"}),
    (a_bin_each_for_two_sizes, RIDGE, {"sensitivity"}),
    (radius_of_the_longest_row, RIDGE, {"published radius_", "published pickle"}),
]


@pytest.mark.long
@pytest.mark.parametrize(("plant", "model", "claims"), FAULTS, ids=name_of)
def test_planted_faults_are_convicted(plant, model, claims, monkeypatch):
    case = Case(model, data=FAR)
    X, y = case.records()

    def broken():
        base = record(case, X, y)
        corners = "the centre", "a thousand units off", "opposite side"
        data = [neighbour(case, X, y, corner) for corner in corners]
        others = [record(case, *one, script=base.released) for one in data]
        return set().union(*(broken_claims(base, other, k=K)[0] for other in others))

    assert not broken()
    plant(monkeypatch)
    assert claims <= broken()


def test_a_null_record_that_is_counted_is_convicted(monkeypatch):
    null_rows_in_the_ball(monkeypatch)
    case = Case(RIDGE, data=FAR)
    X, y = case.records()
    base = record(case, X, y, null=K)
    changed = neighbour(case, X, y, "a thousand units off")
    other = record(case, *changed, script=base.released, null=K)
    assert broken_claims(base, other, k=K, null=True)[1] > 0.0


def exact_counts(patch):
    """Released, and then not looked at."""
    total, seen = CountsOfLengths.total, []

    def seeing(self, rows):
        seen.append(total(self, rows))
        return seen[-1]

    quantile = _solver.quantile
    patch.setattr(CountsOfLengths, "total", seeing)
    patch.setattr(_solver, "quantile", lambda _, *rest: quantile(seen[-1], *rest))


def test_a_ball_by_counts_without_noise_is_convicted_by_unrelated_data(monkeypatch):
    """One record hardly moves a quantile."""
    exact_counts(monkeypatch)
    case = Case(RIDGE, data=FAR)
    X, y = case.records()
    base = record(case, X, y)
    other = record(case, 3.0 * X, y, script=base.released)
    assert base.published["radius_"] != other.published["radius_"]
