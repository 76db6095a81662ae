"""Rules 3 and 7 (CONTRIBUTING.rst) for the releases that learn the ball of the rows, by replay.

See tests/privacy/test_replay.py. Here there are so many rows that all of the ball is bought, and
they lie far from 0, in columns of very different units. A record that is far off moves centre,
radius and scales together.
"""

import math
from dataclasses import dataclass

import numpy as np
import pytest

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
)
from tests.door import (
    RowSums,
    ball_mixin_module as _mixin,
    ball_solver_module as _solver,
    ball_sums_module as _sums,
    full_batch_mu,
)
from tests.privacy._cases import N_FEATURES, THREE, TWO, Case, K
from tests.privacy._replay import broken_claims, check_all_claims, record
from tests.privacy.test_planted_faults import name_of
from tests.privacy.test_replay_sparse import stored

N_ROWS = 400
CENTRE, UNIT = np.array([3e4, -2.0, 0.5, 1e-3]), np.array([1e3, 1.0, 0.1, 1e-4])
ALL = {"units", "reach", "centre", "distance", "recentre", "scales", "radius"}
NOT_MOVED = {"units", "reach", "scales", "radius"}


@dataclass(frozen=True)
class BallCase(Case):
    """A case whose rows are of heavy tails, about a centre far from 0."""

    def records(self, n_rows=N_ROWS, seed=20210214):
        rng = np.random.default_rng(seed)
        X = CENTRE + UNIT * rng.standard_t(1.5, (n_rows, N_FEATURES))
        if self.read is stored:
            X *= rng.random(X.shape) < 0.5
        return X, super().records(n_rows, seed)[1]


def infers(model):
    return getattr(model, "inference", False)


LOUD = {"epsilon": 25.0}
RIDGE = {"target_bounds": (-1, 1), "random_state": 0, **LOUD}
MODELS = [
    (DPLogisticRegression(**TWO, **LOUD), ALL),
    (DPLogisticRegression(adjacency="replace_one", **THREE, **LOUD), ALL),
    (
        DPLogisticRegression(fit_intercept=False, **TWO, **LOUD),
        NOT_MOVED,
    ),
    (DPRidge(data_norm=1e5, ball_budget=0.6, **RIDGE), ALL),
    (DPRidge(adjacency="replace_one", moment_budget=0.0, **RIDGE), ALL),
    (DPRidge(adjacency="replace_one", clipping_norm=1e-2, max_iter=2, **RIDGE), ALL),
    (DPRidge(**RIDGE | {"epsilon": 1.0}), {"coarse", "reach"}),
    (DPRidge(**RIDGE | {"epsilon": 1.0}, data_norm=1e5), {"reach"}),
    (DPLogisticRegression(inference=True, **TWO, **LOUD), ALL),
    (DPRidge(inference=True, adjacency="replace_one", **RIDGE), ALL),
    (DPCDClassifier(max_iter=2, **TWO, **LOUD), ALL),
    (DPCDClassifier(penalty="l1", adjacency="replace_one", max_iter=2, **THREE, **LOUD), ALL),
    (DPCDLasso(ball_budget=0.6, clipping_norm=1e-2, max_iter=2, coef_bounds=(0, 9), **RIDGE), ALL),
    (DPCDElasticNet(fit_intercept=False, accountant="rdp", max_iter=2, **RIDGE), NOT_MOVED),
    (DPCDElasticNet(adjacency="replace_one", data_norm=1e5, max_iter=2, **RIDGE), ALL),
    (DPCDLasso(**RIDGE | {"epsilon": 1.0}, data_norm=1e5, max_iter=1), {"reach"}),
]
CASES = [(BallCase(model), stages) for model, stages in MODELS]
SPARSE = [(BallCase(model, read=stored), stages) for model, stages in MODELS if not infers(model)]
# Of steps on Poisson batches, whose rates and noise are fixed before.
BATCHES = [
    (DPSGDClassifier(max_iter=2, **TWO, **LOUD), ALL),
    (DPSGDClassifier(loss="hinge", adjacency="replace_one", max_iter=1, **THREE, **LOUD), ALL),
    (DPSGDRegressor(data_norm=1e5, clipping_norm=1e-2, max_iter=1, **RIDGE), ALL),
    (DPSGDRegressor(accountant="rdp", fit_intercept=False, max_iter=1, **RIDGE), NOT_MOVED),
    (DPSCDClassifier(max_iter=2, **TWO, **LOUD), ALL),
    (DPSCDClassifier(loss="hinge", adjacency="replace_one", max_iter=1, **THREE, **LOUD), ALL),
    (DPSCDRegressor(ball_budget=0.5, clipping_norm=0.1, max_iter=1, **RIDGE), ALL),
    (DPSCDRegressor(accountant="rdp", fit_intercept=False, max_iter=1, **RIDGE), NOT_MOVED),
]
BATCHES = [(BallCase(model, read=read), n) for model, n in BATCHES for read in (np.asarray, stored)]


def far(direction):
    return lambda x: CENTRE + UNIT * np.array(direction)


# What a record's row becomes: each stage has it at its bound, past it, or beyond all numbers.
ROWS = {
    "the centre": far([0.0, 0.0, 0.0, 0.0]),
    "far": far([1e3, 1e3, 1e3, 1e3]),
    "opposite": far([-30.0, -30.0, -30.0, -30.0]),
    "a column": far([0.0, 1e6, 0.0, 0.0]),
    "zeros": lambda x: 0.0 * x,
    "subnormal": lambda x: np.full_like(x, 5e-324),
    "1e100": lambda x: np.full_like(x, 1e100),
    "1e151": lambda x: -np.full_like(x, 1e151),
    "1e161": lambda x: np.array([1e161, 0.0, 0.0, 0.0]),
    "1e308": lambda x: np.array([1e308, -1e308, 1e308, 1e308]),
}


def moved(X, row, k=K):
    X = X.copy()
    X[k] = ROWS[row](X[k])
    return X


def before_batches(run):
    """Return the mu and the number of the releases before Poisson batches, where there are any."""
    *learnt, steps = run.estimator.privacy_report_.events
    if steps.sampling_rate == 1.0:
        return {}
    return {"mu": full_batch_mu(learnt, run.estimator.adjacency), "n_releases": len(learnt)}


@pytest.mark.parametrize(
    ("case", "stages"),
    [
        *CASES,
        # Of the same sums over other rows what every change needs is a few.
        *(
            pytest.param(*one, marks=[pytest.mark.long] * (i % 5 > 0))
            for i, one in enumerate(SPARSE)
        ),
    ],
    ids=name_of,
)
def test_a_record_that_moves_all_of_the_ball(case, stages):
    X, y = case.records()
    base = record(case, X, y)
    null = record(case, X, y, script=base.released, null=K)
    others = {row: record(case, moved(X, row), y, script=base.released) for row in ROWS}
    check_all_claims(base, null, others)
    spent = base.estimator.privacy_report_.events
    # The steps, and the moment or the mean squares of columns.
    of_steps = 7 if infers(case.estimator) else 2
    if getattr(case.estimator, "moment_budget", "auto") == 0.0:
        of_steps = 1
    # The intercept's beside passes over coordinates.
    of_steps += hasattr(case.estimator, "clip_by") and case.estimator.fit_intercept
    assert len(spent) == len(stages) + of_steps


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_the_bounds_of_the_ball_are_reached(adjacency):
    """By a record and none, or by two: in other bins, or on the other side of the centre."""
    case = BallCase(DPRidge(adjacency=adjacency, **RIDGE))
    X, y = case.records()
    base = record(case, X, y)
    far_off = record(case, moved(X, "far"), y, script=base.released)
    near = opposite = record(case, X, y, script=base.released, null=K)
    factor = math.sqrt(2.0) if adjacency == "replace_one" else 1.0
    if adjacency == "replace_one":
        near, opposite = (
            record(case, moved(X, row), y, script=base.released)
            for row in ("the centre", "opposite")
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


GROUPS = [
    BallCase(DPLogisticRegression(**TWO, **LOUD)),
    BallCase(DPLogisticRegression(adjacency="replace_one", rows_per_group=1.0, **THREE, **LOUD)),
    BallCase(DPRidge(fit_intercept=False, **RIDGE)),
]


@pytest.mark.parametrize("case", GROUPS, ids=str)
def test_a_person_of_any_rows_moves_the_ball_as_one_record(case):
    X, y = case.records(3 * N_ROWS)
    groups, mine = np.arange(len(X)) // 3, N_ROWS // 2
    base = record(case, X, y, groups=groups)
    null = record(case, X, y, groups=groups, script=base.released, null=mine)
    others, of_mine = {}, groups == mine
    sizes = {"far": 1, "opposite": 700, "1e151": 3, "zeros": 2, "1e308": 5}
    for row, size in sizes.items():
        rows = np.array([moved(X, row)[K]] * size)
        data = np.concatenate([X[~of_mine], rows]), np.append(y[~of_mine], y[:size])
        ids = np.append(groups[~of_mine], [mine] * size)
        others[row] = record(case, *data, groups=ids, script=base.released)
    mixed = np.array([moved(X, row)[K] for row in ROWS])
    data = np.concatenate([X[~of_mine], mixed]), np.append(y[~of_mine], y[: len(mixed)])
    ids = np.append(groups[~of_mine], [mine] * len(mixed))
    others["all"] = record(case, *data, groups=ids, script=base.released)
    check_all_claims(base, null, others, k=mine)


def longer_rows(patch):
    factors = _sums._factors
    patch.setattr(_sums, "_factors", lambda *args: (1.5 * factors(*args)[0], factors(*args)[1]))


def rows_without_weights(patch):
    def whole(*args, **options):
        return rows_in_ball(*args, **options)._replace(weight=None)

    rows_in_ball = _mixin.rows_in_ball
    patch.setattr(_mixin, "rows_in_ball", whole)


def weights_of_slopes_alone(patch):
    def unweighted(self, *args):
        kept, self._weight = self._weight, None
        add_moment(self, *args)
        self._weight = kept

    add_moment = RowSums._add_moment
    patch.setattr(RowSums, "_add_moment", unweighted)


def a_bin_each_for_two_sizes(patch):
    counts = _sums.BallSums.counts

    def twice(self, bins, centre, unit, mechanism):
        return counts(self, bins, centre, unit, mechanism) + counts(
            self, bins, centre, 2.0 * unit, mechanism
        )

    patch.setattr(_sums.BallSums, "counts", twice)


def radius_of_the_longest_row(patch):
    def longest(sums, **options):
        ball = learn_ball(sums, **options)
        return ball._replace(radius=sums.longest(ball.center, ball.scale))

    learn_ball = _mixin.learn_ball
    patch.setattr(_mixin, "learn_ball", longest)


def null_rows_in_the_ball(patch):
    def all_rows(self, X, is_null, *rest):
        init(self, X, np.zeros_like(is_null), *rest)

    init = _sums.BallSums.__init__
    patch.setattr(_sums.BallSums, "__init__", all_rows)


LOUD_RIDGE = DPRidge(**RIDGE)
LOUD_SGD = DPSGDRegressor(max_iter=1, **RIDGE)
FAULTS = [
    (a_bin_each_for_two_sizes, LOUD_SGD, {"sensitivity"}),
    (radius_of_the_longest_row, LOUD_SGD, {"published radius_", "published pickle"}),
    (longer_rows, LOUD_RIDGE, {"sensitivity", "sensitivity of the rounded value"}),
    (rows_without_weights, LOUD_RIDGE, {"sensitivity"}),
    (weights_of_slopes_alone, LOUD_RIDGE, {"sensitivity"}),
    (a_bin_each_for_two_sizes, LOUD_RIDGE, {"sensitivity"}),
    (radius_of_the_longest_row, LOUD_RIDGE, {"published radius_", "published pickle"}),
]


@pytest.mark.parametrize(("plant", "model", "claims"), FAULTS, ids=name_of)
def test_planted_faults_are_convicted(plant, model, claims, monkeypatch):
    case = BallCase(model)
    X, y = case.records()

    def broken():
        base = record(case, X, y)
        rows = "the centre", "far", "opposite"
        others = [record(case, moved(X, row), y, script=base.released) for row in rows]
        return set().union(*(broken_claims(base, other, k=K)[0] for other in others))

    assert not broken()
    plant(monkeypatch)
    assert claims <= broken()


def test_a_null_record_that_is_counted_is_convicted(monkeypatch):
    null_rows_in_the_ball(monkeypatch)
    case = BallCase(LOUD_RIDGE)
    X, y = case.records()
    base = record(case, X, y, null=K)
    other = record(case, moved(X, "far"), y, script=base.released, null=K)
    assert broken_claims(base, other, k=K, null=True)[1] > 0.0


def exact_counts(patch):
    """Released, and then not looked at."""
    counts, seen = _sums.BallSums.counts, []

    def seeing(self, *args):
        seen.append(counts(self, *args))
        return seen[-1]

    quantile = _solver.quantile
    patch.setattr(_sums.BallSums, "counts", seeing)
    patch.setattr(_solver, "quantile", lambda _, *rest: quantile(seen[-1], *rest))


def test_a_ball_by_counts_without_noise_is_convicted_by_unrelated_data(monkeypatch):
    """One record hardly moves a quantile."""
    exact_counts(monkeypatch)
    case = BallCase(LOUD_RIDGE)
    X, y = case.records()
    base = record(case, X, y)
    other = record(case, 3.0 * X, y, script=base.released)
    assert base.published["radius_"] != other.published["radius_"]
