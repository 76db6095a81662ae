"""A release: its noise and its event come from the same numbers, and a share costs its share."""

import math

import numpy as np
import pytest

from skdp.accountant import GaussianEvent, LaplaceEvent, PrivacyReport
from tests.door import (
    Budget,
    DiscreteLaplaceMechanism,
    GaussianMechanism,
    LaplaceMechanism,
    Release,
)

SIZES = {"size": 3, "n_records": 100}
ADJACENCIES = ("zero_out", "replace_one")


def epsilon_of(events, adjacency, delta=1e-5):
    fields = {"adjacency": adjacency, "clipping": None, "accountant": "pld"}
    report = PrivacyReport(epsilon=math.inf, delta=delta, events=events, **fields)
    return report.epsilon_at(delta)


def distance_for(release, adjacency):
    """How far apart two sums may be for what the event costs."""
    is_doubled = adjacency == "replace_one" and not release.pairwise
    return release.bound * (2.0 if is_doubled else 1.0)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_parts_of_a_budget_cost_their_shares_and_are_for_full_batches_alone(adjacency):
    budget = Budget(1.0, 1e-5, adjacency, "pld")
    parts = [budget.part(0.3).part(0.5), budget.part(0.15), budget.part(0.7)]
    events = [part.release(bound=0.7, n_steps=7, **SIZES).event for part in parts]
    assert 1.0 - 1e-5 < epsilon_of(events, adjacency) <= 1.0
    designs = {"sampling_rate": 0.1, "n_steps": 10}, {"beside": (GaussianEvent(9.0),)}
    for calibrate in (
        budget.part(0.5).calibrate_pure,
        *[lambda design=design: budget.part(0.5).calibrate(**design) for design in designs],
    ):
        with pytest.raises(ValueError, match="part of a budget"):
            calibrate()


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("pair_bound", [None, 1.4, 0.7], ids=["alone", "pair", "any pair"])
def test_a_share_costs_its_share_and_bounds_are_those_of_the_pair(adjacency, pair_bound):
    """A record moves the sum by .7, and one for another by twice that, 1.4 or .7."""
    budget = Budget(1.0, 1e-5, adjacency, "pld")
    bounds = {"bound": 0.7, "pair_bound": pair_bound}
    parts = [budget.release(**bounds, share=share, **SIZES) for share in (0.2, 0.3, 0.5)]
    spent = epsilon_of([part.event for part in parts], adjacency)
    assert 1.0 - 1e-5 < spent <= 1.0
    apart = 0.7 if adjacency == "zero_out" else 1.4
    if pair_bound == 0.7:
        apart = 0.7
    for part in parts:
        assert distance_for(part, adjacency) == pytest.approx(apart)
        # The noise is the event's multiple of the bound.
        assert part.mechanism.contribution_bound == part.bound
        assert part.mechanism.noise_multiplier == part.event.noise_multiplier
        std = part.noise_multiplier * part.bound
        assert std <= part.mechanism.noise_std <= std * (1.0 + 1e-4)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_all_of_a_budget_may_be_spent_in_several_steps(adjacency):
    budget = Budget(1.0, 1e-5, adjacency, "pld")
    many = budget.release(bound=1.0, n_steps=9, **SIZES)
    split = budget.release(bound=1.0, **SIZES).split(9)
    assert many.event.n_steps == split.event.n_steps == 9
    assert many.noise_multiplier == pytest.approx(split.noise_multiplier)
    assert 1.0 - 1e-5 < epsilon_of([split.event], adjacency) <= 1.0 + 1e-12


def test_without_privacy_there_is_no_bound_and_no_noise(rng):
    release = Budget(math.inf, 1e-5, "zero_out", "pld").release(bound=1.0, share=0.5, **SIZES)
    assert release.bound == math.inf
    assert release.event.noise_multiplier == 0.0
    value = rng.standard_normal(3)
    np.testing.assert_array_equal(release.mechanism.release(value, None), value)


def test_a_later_bound_changes_the_bound_and_rounding_alone():
    release = Budget(1.0, 1e-5, "zero_out", "pld").release(bound=1.0, slack=1e-3, **SIZES)
    later = release.bounded(5.0, stretch=10.0)
    assert later.event == release.event
    assert later.mechanism.contribution_bound == 5.0
    assert later.mechanism.rounding_slack == pytest.approx(1e-2)


@pytest.mark.parametrize(
    ("noise", "mechanism", "event"),
    [
        ("gaussian", GaussianMechanism(2.0, 3.0, 3, 100), GaussianEvent(3.0, n_steps=2)),
        ("laplace", LaplaceMechanism(2.0, 3.0, 3, 100), LaplaceEvent(3.0, 2)),
        ("counts", DiscreteLaplaceMechanism(3.0, 2.0), LaplaceEvent(3.0, 2, counts=True)),
    ],
)
def test_each_noise_has_its_mechanism_and_event(noise, mechanism, event):
    release = Release(bound=2.0, noise_multiplier=3.0, noise=noise, design={"n_steps": 2}, **SIZES)
    assert release.mechanism == mechanism
    assert release.event == event
