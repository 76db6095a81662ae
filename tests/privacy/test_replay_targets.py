"""Rules 3 and 7 (CONTRIBUTING.rst) for the releases that learn the targets' bounds, by replay.

See tests/privacy/test_replay_ball.py. Targets lie far from 0, so that a record whose target is
another one moves middle and width of the bounds, and what other records are cut to.
"""

import math

import numpy as np
import pytest
from sklearn.utils import get_tags

from skdp.linear_model import (
    DPCDElasticNet,
    DPCDLasso,
    DPHuberRegressor,
    DPQuantileRegressor,
    DPRidge,
    DPSCDRegressor,
    DPSGDRegressor,
)
from tests.door import (
    ball_solver_module as _solver,
    ball_sums_module as _sums,
    linear_model_base_module as _base,
)
from tests.privacy._cases import K, first_of_a_kind
from tests.privacy._replay import broken_claims, check_all_claims, record
from tests.privacy.test_planted_faults import name_of
from tests.privacy.test_replay_ball import LOUD, N_ROWS, BallCase, before_batches, infers, stored

OPTIONS = {"random_state": 0, **LOUD}
MODELS = [
    DPRidge(**OPTIONS),
    DPRidge(adjacency="replace_one", ball_budget=0.6, **OPTIONS),
    DPRidge(fit_intercept=False, data_norm=1e5, **OPTIONS),
    DPRidge(adjacency="replace_one", moment_budget=0.0, max_iter=2, **OPTIONS),
    DPRidge(**OPTIONS | {"epsilon": 1.0}),
    DPRidge(inference=True, **OPTIONS),
    DPSGDRegressor(max_iter=1, **OPTIONS),
    DPSGDRegressor(adjacency="replace_one", ball_budget=0.6, max_iter=1, **OPTIONS),
    DPSCDRegressor(max_iter=1, **OPTIONS),
    DPSCDRegressor(adjacency="replace_one", fit_intercept=False, max_iter=1, **OPTIONS),
    DPHuberRegressor(**OPTIONS),
    DPQuantileRegressor(quantile=0.99, adjacency="replace_one", **OPTIONS),
    DPQuantileRegressor(fit_intercept=False, target_bounds=(-1e99, 1e99), **OPTIONS),
    DPCDElasticNet(max_iter=1, **OPTIONS),
    DPCDLasso(adjacency="replace_one", fit_intercept=False, max_iter=1, **OPTIONS),
]
CASES = [BallCase(model) for model in MODELS] + [BallCase(MODELS[0], read=stored)]
# What a record's target becomes.
VALUES = [0.0, 1998.0, 2050.0, -1998.0, 5e-324, 1e75, -1e100, 1e155, -1e308]


def records(case, n_targets=1, n_rows=N_ROWS):
    X, y = case.records(n_rows)
    y = 1998.0 + 10.0 * np.column_stack([np.roll(y, k) for k in range(n_targets)])
    return X, y if n_targets > 1 else y[:, 0]


def moved(y, value, k=K):
    y = y.copy()
    y[k] = value
    return y


@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("case", first_of_a_kind(CASES), ids=str)
def test_a_record_that_moves_the_bounds(case, n_targets):
    takes_several = get_tags(case.estimator).target_tags.multi_output
    if n_targets > 1 and (infers(case.estimator) or not takes_several):
        pytest.skip("of one target")
    X, y = records(case, n_targets)
    base = record(case, X, y)
    null = record(case, X, y, script=base.released, null=K)
    others = {value: record(case, X, moved(y, value), script=base.released) for value in VALUES}
    check_all_claims(base, null, others, **before_batches(base))


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("n_targets", [1, 3])
def test_the_bounds_of_these_releases_are_reached(n_targets, adjacency):
    case = BallCase(DPRidge(adjacency=adjacency, **OPTIONS))
    X, y = records(case, n_targets)
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


@pytest.mark.parametrize("case", CASES, ids=str)
def test_given_the_releases_all_targets_look_the_same(case):
    X, y = records(case)
    base = record(case, X, y, texts=True)
    for other_y in (-(y**3), 1e-200 * y, np.full_like(y, 1e200), np.zeros_like(y), 1e300 * y):
        other = record(case, X[::-1], other_y, script=base.released, texts=True)
        assert base.log == other.log
        assert base.published == other.published
    assert "target_bounds_" in base.published


@pytest.mark.parametrize("case", first_of_a_kind(CASES), ids=str)
def test_a_null_record_adds_nothing_to_the_bounds(case):
    X, y = records(case)
    base = record(case, X, y, null=K)
    for value in VALUES:
        other = record(case, X, moved(y, value), script=base.released, null=K)
        broken, reach = broken_claims(base, other, k=K, null=True)
        assert not broken
        assert reach == 0.0


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_a_person_of_any_rows_moves_the_bounds_as_one_record(adjacency):
    case = BallCase(DPRidge(adjacency=adjacency, **OPTIONS))
    X, y = records(case, n_rows=3 * N_ROWS)
    groups, mine = np.arange(len(X)) // 3, N_ROWS // 2
    of_mine = groups == mine
    base = record(case, X, y, groups=groups)
    null = record(case, X, y, groups=groups, script=base.released, null=mine)
    others = {}
    for name, targets in {"far": [1e60] * 700, "opposite": [-1e60], "all": VALUES}.items():
        rows = np.tile(X[K], (len(targets), 1))
        data = np.concatenate([X[~of_mine], rows]), np.append(y[~of_mine], targets)
        ids = np.append(groups[~of_mine], [mine] * len(targets))
        others[name] = record(case, *data, groups=ids, script=base.released)
    check_all_claims(base, null, others, k=mine)


def a_bin_on_each_side(patch):
    def both(self, bins, centre, unit, mechanism):
        found = counts(self, bins, centre, unit, mechanism)
        return found + found[:, ::-1]

    counts = _sums.BallSums.counts_by_side
    patch.setattr(_sums.BallSums, "counts_by_side", both)


def bounds_of_the_targets_themselves(patch):
    def exact(sums, **options):
        learn_targets(sums, **options)
        return sums._X.min(axis=0), sums._X.max(axis=0)

    learn_targets = _solver.learn_targets
    patch.setattr(_base, "learn_targets", exact)


FAULTS = [
    (a_bin_on_each_side, {"sensitivity"}),
    (bounds_of_the_targets_themselves, {"published target_bounds_", "published pickle"}),
]


@pytest.mark.parametrize(("plant", "claims"), FAULTS, ids=name_of)
def test_planted_faults_are_convicted(plant, claims, monkeypatch):
    case = BallCase(MODELS[0])
    X, y = records(case)
    plant(monkeypatch)
    base = record(case, X, y)
    null = record(case, X, y, script=base.released, null=K)
    found = set()
    for value in VALUES:
        other = record(case, X, moved(y, value), script=base.released)
        found |= set(broken_claims(base, other, k=K)[0])
        found |= set(broken_claims(other, null, k=K, null=True)[0])
    assert claims <= found
