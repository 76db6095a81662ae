import math

import numpy as np
import pytest

from skdp.accountant import calibrate
from tests._loops import for_each
from tests.door import (
    DISTRIBUTIONS,
    MOMENTS,
    N_THRESHOLDS,
    NORM_KEY,
    QUANTILE_KEY,
    Budget,
    geometric_edges,
    linear_edges,
    logarithmic_edges,
    plan_module as _base,
    plan_quantiles,
    plan_scaler,
    root_weights,
)

N_ROWS, N_COLUMNS = 1000, 3
BOX = {"grid": linear_edges, "bounds": (np.full(N_COLUMNS, -1.0), np.ones(N_COLUMNS))}
LENGTHS = {"grid": geometric_edges, "bounds": (np.array([0.1]), np.array([10.0]))}


def plans(epsilon=1.0, delta=1e-5, adjacency="zero_out"):
    budget = Budget(epsilon, delta, adjacency, "pld")
    return (
        plan_scaler(budget, n_records=N_ROWS, **BOX),
        plan_quantiles(budget, n_records=N_ROWS, **BOX, key=QUANTILE_KEY),
        plan_quantiles(budget, n_records=N_ROWS, **LENGTHS, key=NORM_KEY),
    )


def root_matrix():
    weights, places = root_weights(), np.arange(N_THRESHOLDS)
    lags = places[:, np.newaxis] - places
    return np.where(lags >= 0, weights[np.maximum(lags, 0)], 0.0)


@pytest.mark.long
def test_the_root_of_a_running_sum_is_one():
    root = root_matrix()
    ones = np.tri(N_THRESHOLDS)
    np.testing.assert_allclose(root @ root, ones, rtol=1e-11, atol=1e-11)


def test_distances_of_contributions_to_distribution_functions():
    """All of them, by brute force: of a record and a null record, and of two records."""
    columns = root_matrix().T
    columns = np.vstack([columns, np.zeros(N_THRESHOLDS)])
    lengths = np.linalg.norm(columns, axis=1)
    products = columns @ columns.T
    assert products.min() >= 0.0
    apart = np.sqrt(
        np.maximum(lengths[:, np.newaxis] ** 2 + lengths**2 - 2.0 * products, 0.0)
    ).max()
    for adjacency, distance in (("zero_out", lengths.max()), ("replace_one", apart)):
        for plan in plans(adjacency=adjacency):
            mechanism = plan.mechanisms[DISTRIBUTIONS]
            bound = distance * math.sqrt(len(plan.edges))
            assert bound <= mechanism.contribution_bound * (1.0 + 1e-12)
            # Nor is it larger than it must be.
            assert bound > 0.9999 * mechanism.contribution_bound
    assert lengths.max() == lengths[0]


def test_lengths_of_contributions_to_moments():
    t = np.linspace(-1.0, 1.0, 2001)
    points = np.column_stack([t, 1.0 - t**2])
    assert np.linalg.norm(points, axis=1).max() == 1.0
    mechanism = plans()[0].mechanisms[MOMENTS]
    assert mechanism.contribution_bound == math.sqrt(N_COLUMNS)
    rounded = np.rint(points * 2.0**26) / 2.0**26
    longest = np.linalg.norm(rounded, axis=1).max()
    assert longest <= 1.0 + mechanism.rounding_slack


@pytest.mark.long
@for_each("adjacency", ["zero_out", "replace_one"])
@for_each("epsilon", [1e-3, 0.1, 1.0, 7.0, 100.0])
@for_each("delta", [1e-12, 1e-5, 1e-4])
def test_parts_of_a_budget_add_up_to_it(delta, epsilon, adjacency):
    """Of the mechanisms that run, by the distances that the proofs give, without the accountant."""
    most = 1.0 / calibrate(epsilon, delta, adjacency="replace_label")
    replaced = adjacency == "replace_one"
    root = root_matrix()
    reached = np.linalg.norm(root[:, 0])
    if replaced:
        reached = np.linalg.norm(root - root[:, :1], axis=0).max()
    for plan in plans(epsilon, delta, adjacency):
        root_columns = math.sqrt(len(plan.edges))
        distances = {
            DISTRIBUTIONS: root_columns * reached,
            MOMENTS: root_columns * (2.0 if replaced else 1.0),
        }
        squares = [
            (distances[name] / mechanism.noise_std) ** 2
            for name, mechanism in plan.mechanisms.items()
        ]
        assert 0.999 * most < math.sqrt(sum(squares)) <= most
        report = plan.report(reproducible=False)
        assert report.n_releases == len(plan.mechanisms)
        assert 0.999 * epsilon < report.epsilon_at(delta) <= epsilon


def test_without_privacy_there_is_no_noise():
    for plan in plans(epsilon=math.inf):
        assert {mechanism.noise_std for mechanism in plan.mechanisms.values()} == {0.0}
        assert plan.hidden_share == 0.0


def test_what_noise_hides_is_its_standard_deviation(rng):
    """Of a distribution function, at the threshold where noise is largest."""
    plan = plans()[0]
    mechanism = plan.mechanisms[DISTRIBUTIONS]
    noise = mechanism.noise_std * rng.standard_normal((4000, N_THRESHOLDS))
    spread = np.std(noise @ root_weights()[::-1]) / N_ROWS
    assert plan.hidden_share == pytest.approx(spread, rel=0.1)
    assert plan.tail == plan.hidden_share
    assert plan_scaler(plan.budget, n_records=10**6, **BOX).tail == 0.01
    # However large it is, the middle half of the records is looked for.
    assert plan_scaler(plan.budget, n_records=10, **BOX).tail == 0.25


@pytest.mark.parametrize("make", [linear_edges, logarithmic_edges])
def test_thresholds_rise_between_the_ends(make):
    low, high = np.array([-3.0, 0.0, 1e6]), np.array([5.0, 1e-30, 1e6 + 1.0])
    edges = make(low, high)
    assert edges.shape == (3, N_THRESHOLDS + 2)
    np.testing.assert_array_equal(edges[:, 0], low)
    np.testing.assert_array_equal(edges[:, -1], high)
    assert (np.diff(edges) >= 0.0).all()
    assert (np.diff(edges[:2]) > 0.0).all()


def test_thresholds_of_amounts_are_as_dense_as_is_said():
    edges = logarithmic_edges(np.zeros(1), np.full(1, 1e6))[0]
    assert edges[1] < 1e-5
    assert (edges[2:] / edges[1:-1]).max() < 1.03
    norms = geometric_edges(np.array([1e-3]), np.array([1e3]))[0]
    assert (norms[1:] / norms[:-1]).max() < 1.014
    assert (norms[0], norms[-1]) == (1e-3, 1e3)


def test_every_class_has_a_stream_of_its_own():
    keys = [value for name, value in vars(_base).items() if name.endswith("_KEY")]
    assert len(set(keys)) == len(keys)
    assert len({plan.stream_key for plan in plans()}) == 3
