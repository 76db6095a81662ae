import math

import numpy as np
import pytest

from tests._runs import run_of
from tests.door import (
    DISTRIBUTIONS,
    MOMENTS,
    QUANTILE_KEY,
    Budget,
    CountedColumns,
    find_quantiles,
    linear_edges,
    plan_quantiles,
    plan_scaler,
    preprocessing_solver_module as _solver,
    scale_columns,
)
from tests.statistical._transcripts import recorded_releases

LOW, HIGH = np.array([-2.0, 0.0, -1e3]), np.array([2.0, 1e-6, 1e3])
BOX = LOW, HIGH
EDGES = linear_edges(LOW, HIGH)
# As much as no noise, on the way of private fits.
TINY_NOISE = 1e5


def scaler_plan(n_records, epsilon=TINY_NOISE, bounds=BOX, **options):
    budget = Budget(epsilon, 1e-5, options.get("adjacency", "zero_out"), "pld")
    return plan_scaler(budget, n_records=n_records, grid=linear_edges, bounds=bounds)


def quantile_plan(n_records, epsilon=TINY_NOISE, bounds=BOX):
    budget = Budget(epsilon, 1e-5, "zero_out", "pld")
    return plan_quantiles(
        budget, n_records=n_records, grid=linear_edges, bounds=bounds, key=QUANTILE_KEY
    )


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """So that there are some."""
    monkeypatch.setattr(_solver, "_BLOCK", 700)


@pytest.fixture
def X(rng):
    """Columns that fill a hundredth to a third of their ranges."""
    return rng.standard_normal((3000, 3)) * [0.2, 1e-8, 3.0] + [0.1, 3e-7, 50.0]


def values(function, plan, X, **options):
    with recorded_releases() as made:
        function(CountedColumns(X), plan=plan, run=run_of(plan), **options)
    return [one.value for one in made]


def test_quantiles_are_exact_to_a_threshold(X):
    for quantiles in ((0.01, 0.99), (0.25, 0.5)):
        found = find_quantiles(
            CountedColumns(X),
            plan=(made := quantile_plan(len(X))),
            quantiles=quantiles,
            run=run_of(made),
        )
        expected = np.quantile(X, quantiles, axis=0)
        # Shares are of records below a threshold, to a record or two.
        slack = (HIGH - LOW) / 1024 + 0.05 * X.std(axis=0)
        assert (np.abs(found - expected) <= slack).all()


def test_scales_are_those_of_the_records_without_tails(X):
    plan = scaler_plan(len(X))
    centre, scale = scale_columns(CountedColumns(X), plan=plan, run=run_of(plan))
    low, high = np.quantile(X, (plan.tail, 1.0 - plan.tail), axis=0)
    bulk = np.clip(X, low, high)
    width = (HIGH - LOW) / 1024
    np.testing.assert_array_less(np.abs(centre - bulk.mean(axis=0)), 0.02 * bulk.std(axis=0))
    np.testing.assert_array_less(np.abs(scale - bulk.std(axis=0)), 0.05 * bulk.std(axis=0) + width)


def test_without_privacy_answers_are_exact(X):
    plan = scaler_plan(len(X), epsilon=math.inf)
    centre, scale = scale_columns(CountedColumns(X), plan=plan, run=run_of(plan))
    np.testing.assert_allclose(centre, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(scale, X.std(axis=0), rtol=1e-12)
    plan = quantile_plan(len(X), epsilon=math.inf)
    found = find_quantiles(CountedColumns(X), plan=plan, quantiles=(0.1, 0.7), run=run_of(plan))
    np.testing.assert_array_equal(found, np.quantile(X, (0.1, 0.7), axis=0))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("epsilon", [1.0, TINY_NOISE])
def test_neither_order_nor_layout_changes_a_sum(X, epsilon, dtype, rng):
    """Contributions are whole numbers of steps, so that it is the same to the last bit."""
    X = X.astype(dtype)
    plan = scaler_plan(len(X), epsilon)
    base = values(scale_columns, plan, X)
    for other in (X[rng.permutation(len(X))], np.asfortranarray(X), X[::-1]):
        for one, two in zip(base, values(scale_columns, plan, other), strict=True):
            np.testing.assert_array_equal(one, two)


def test_moments_are_rounded_to_the_nearest_step(X):
    """Cut off, each would be half a step short in the mean."""
    x = X[:, 0]
    steps = _solver.sum_moments(x, 0.1, 0.5) * 2.0**-26
    t = np.clip((x - 0.1) / 0.5, -1.0, 1.0)
    assert np.abs(steps - [t.sum(), (1.0 - t**2).sum()]).max() < 0.1 * x.size * 2.0**-26


@pytest.mark.parametrize("entry", [math.nan, math.inf, -math.inf])
def test_a_record_that_is_no_number_counts_as_one(entry):
    steps = _solver.sum_moments(np.array([entry]), 0.1, 0.5) * 2.0**-26
    assert np.abs(steps).sum() <= 1.0


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_no_record_moves_a_release_further_than_it_may(X, adjacency):
    """Of records at, beyond and between thresholds; and the bound is reached."""
    plan = scaler_plan(len(X), 1.0, adjacency=adjacency)
    factors = {DISTRIBUTIONS: 1.0, MOMENTS: 2.0 if adjacency == "replace_one" else 1.0}
    with recorded_releases() as base:
        scale_columns(CountedColumns(X), plan=plan, run=run_of(plan))
    script = [one.released for one in base]
    records = [*EDGES.T[[0, 1, 2, 500, 1022, 1023, 1024]], LOW - 1e9, HIGH + 1e9, LOW + 0.3, X[7]]
    found = []
    for record in records:
        changed = X.copy()
        changed[7] = record
        with recorded_releases(script) as made:
            scale_columns(CountedColumns(changed), plan=plan, run=run_of(plan))
        found.append([one.value for one in made])
    if adjacency == "zero_out":
        with recorded_releases(script) as made:
            scale_columns(CountedColumns(np.delete(X, 7, axis=0)), plan=plan, run=run_of(plan))
        pairs = [(one, [made[0].value, made[1].value]) for one in found]
    else:
        pairs = [(one, other) for one in found for other in found]
    for place, (name, mechanism) in enumerate(plan.mechanisms.items()):
        bound = factors[name] * mechanism.contribution_bound
        apart = max(np.linalg.norm(one[place] - other[place]) for one, other in pairs)
        assert apart <= bound * (1.0 + mechanism.rounding_slack)
        # The pair that is furthest apart isn't among these.
        tight = 0.9 if name == DISTRIBUTIONS and adjacency == "replace_one" else 0.999
        assert apart > tight * bound


@pytest.mark.long
def test_noise_without_records_is_seldom_taken_for_a_tail():
    """Ranges ten times too wide are found out also where noise is large."""
    rng = np.random.default_rng(0)
    n_records, bounds = 20_000, (np.full(4, -10.0), np.full(4, 10.0))
    X, plan = rng.uniform(-1.0, 1.0, (n_records, 4)), quantile_plan(n_records, 0.1, bounds)
    assert 0.01 < plan.hidden_share < 0.03
    found = [
        find_quantiles(
            CountedColumns(X), plan=plan, quantiles=(0.001, 0.999), run=run_of(plan, seed)
        )
        for seed in range(40)
    ]
    reach = np.abs(found)
    assert np.mean(reach < 1.5) > 0.85
    assert np.mean((reach > 0.8) & (reach < 1.1)) > 0.7


def test_a_column_of_one_value_has_a_scale(rng):
    X = np.column_stack([np.full(5000, 0.3), rng.uniform(-1.0, 1.0, 5000)])
    bounds = np.full(2, -1.0), np.ones(2)
    for epsilon in (0.01, 1.0, TINY_NOISE, math.inf):
        plan = scaler_plan(5000, epsilon, bounds)
        centre, scale = scale_columns(CountedColumns(X), plan=plan, run=run_of(plan))
        assert scale[0] > 0.0
        if epsilon >= 1.0:
            assert abs(centre[0] - 0.3) < 2.0 / 1024
            assert abs(0.3 - centre[0]) < scale[0]


@pytest.mark.parametrize("n_records", [1, 2])
def test_few_rows_and_ranges_without_width_give_numbers(n_records):
    bounds = np.array([0.0, -1e100]), np.array([5e-324, 1e100])
    X = np.array([[1e308, -1e308]] * n_records)
    for epsilon in (1e-3, 1.0, TINY_NOISE):
        plan = scaler_plan(n_records, epsilon, bounds)
        centre, scale = scale_columns(CountedColumns(X), plan=plan, run=run_of(plan))
        assert np.isfinite(centre).all()
        assert ((scale >= 1e-100) & np.isfinite(scale)).all()
        assert scale[1] > 1e80


def test_what_overflows_without_privacy_is_refused():
    X = np.array([[1e308, 0.0, 1.0], [1e308, 1.0, 1.0], [-1e308, 0.0, 1.0]])
    with pytest.raises(ValueError, match="overflowed"):
        scale_columns(CountedColumns(X), plan=(p := scaler_plan(3, math.inf)), run=run_of(p))
