"""The plan of a histogram."""

import math

import numpy as np
import pytest

from skdp.accountant import GaussianEvent, LaplaceEvent, calibrate
from skdp.exceptions import PrivacyWarning
from tests.door import (
    DiscreteLaplaceMechanism,
    GaussianMechanism,
    ScoreBudget,
    count_noise,
    plan_histogram,
)


def plan(epsilon=0.5, delta=0.0, adjacency="zero_out", mechanism="auto"):
    budget = ScoreBudget(epsilon, delta, adjacency, mechanism=mechanism)
    return plan_histogram(budget, n_records=1000, n_cells=10)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_pure_noise_is_as_large_as_the_distance_of_neighbours_asks_for(epsilon, adjacency):
    made = plan(epsilon, adjacency=adjacency)
    moved = 2 if adjacency == "replace_one" else 1
    assert isinstance(made.mechanism, DiscreteLaplaceMechanism)
    assert made.mechanism.noise_multiplier == pytest.approx(moved / epsilon)
    assert made.mechanism.noise_multiplier * epsilon >= moved
    assert made.events == (LaplaceEvent(made.mechanism.noise_multiplier, counts=True),)
    report = made.report(reproducible=False)
    assert report.delta == 0.0
    assert report.epsilon_at(0.0) == pytest.approx(epsilon)
    assert "DiscreteLaplace" in report.event


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_gaussian_noise_is_taken_where_it_is_quieter(adjacency):
    assert isinstance(plan(delta=1e-5, adjacency=adjacency).mechanism, DiscreteLaplaceMechanism)
    made = plan(delta=0.3, adjacency=adjacency)
    assert isinstance(made.mechanism, GaussianMechanism)
    distance = math.sqrt(2.0) if adjacency == "replace_one" else 1.0
    noise = calibrate(0.5, 0.3, pairwise=True)
    assert made.mechanism.contribution_bound == distance
    assert made.mechanism.noise_std == pytest.approx(distance * noise, rel=1e-5)
    assert made.mechanism.noise_std < plan(adjacency=adjacency).mechanism.noise_std
    assert made.events == (GaussianEvent(noise, pairwise=adjacency == "replace_one"),)
    assert made.report(reproducible=False).epsilon_at(0.3) == pytest.approx(0.5, rel=1e-6)


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_several_releases_spend_the_budget_together(mechanism, adjacency):
    budget = ScoreBudget(0.5, 1e-3, adjacency, mechanism=mechanism)
    one, three = (
        plan_histogram(budget, n_records=500, n_cells=10, n_steps=n_steps) for n_steps in (1, 3)
    )
    growth = 3.0 if mechanism == "laplace" else math.sqrt(3.0)
    assert three.mechanism.noise_std == pytest.approx(growth * one.mechanism.noise_std, rel=0.01)
    (event,) = three.events
    assert event.n_steps == 3
    report = three.report(reproducible=False)
    delta = 0.0 if mechanism == "laplace" else 1e-3
    assert report.epsilon_at(delta) == pytest.approx(0.5, rel=1e-6)
    assert count_noise(budget, 3) == pytest.approx(three.mechanism.noise_std, rel=1e-4)


def test_noise_that_is_asked_for_is_taken():
    assert isinstance(plan(delta=0.3, mechanism="laplace").mechanism, DiscreteLaplaceMechanism)
    assert isinstance(plan(delta=1e-5, mechanism="gaussian").mechanism, GaussianMechanism)
    with pytest.raises(ValueError, match="delta must be positive"):
        plan(mechanism="gaussian")
    assert plan(epsilon=math.inf, mechanism="gaussian").mechanism.noise_std == 0.0


def test_the_noise_is_known_before_the_cells_are():
    for delta in (0.0, 0.3):
        noise = count_noise(ScoreBudget(0.5, delta, "zero_out"))
        assert noise == pytest.approx(plan(delta=delta).mechanism.noise_std, rel=1e-4)


def test_no_privacy_is_no_noise():
    made = plan(epsilon=math.inf)
    assert made.mechanism.noise_std == 0.0
    assert math.isinf(made.report(reproducible=False).epsilon)


def test_a_large_delta_is_warned_of():
    with pytest.warns(PrivacyWarning, match="delta is larger"):
        plan(delta=0.3).start(0)


def test_whole_counts_lie_on_the_grid_of_gaussian_noise():
    """So that rounding moves none of them."""
    mechanism = plan(delta=0.3).mechanism
    counts = np.array([0, 1, 999, 1000])
    np.testing.assert_array_equal(mechanism.rounded(counts), counts)
