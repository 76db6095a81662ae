"""What makes calibration fast, counted rather than timed, and that it costs no accuracy."""

import math

import pytest

from skdp.accountant import GaussianEvent, PrivacyReport, calibrate
from tests.door import (
    _INTEGER_ORDERS,
    GaussianProfile,
    PLDProfile,
    RDPProfile,
    _build_profile,
    build_profile,
    calibration_module as calibration,
    epsilon_of,
    loss_distribution_module as loss_distribution,
)


@pytest.fixture
def composed(monkeypatch):
    """Sizes of all compositions from now on, with nothing cached."""
    for cached in (calibration._calibrate, epsilon_of, _build_profile):
        cached.cache_clear()
    sizes = []
    original = loss_distribution._repeated

    def counted(*arguments):
        pmf = original(*arguments)
        sizes.append(pmf.size)
        return pmf

    monkeypatch.setattr(loss_distribution, "_repeated", counted)
    return sizes


def test_a_calibration_at_the_design_point_composes_little(composed):
    calibrate(1.0, 1e-5, sampling_rate=0.01, n_steps=1000)
    assert len(composed) <= 7
    # The other direction is needed once, for the noise that is returned.
    assert sum(composed) <= 6e4


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_a_report_after_a_calibration_composes_nothing(adjacency, composed):
    noise = calibrate(1.0, 1e-5, sampling_rate=0.01, n_steps=1000, adjacency=adjacency)
    n_composed, n_searches = len(composed), epsilon_of.cache_info().misses
    for _ in range(3):
        PrivacyReport(
            epsilon=1.0,
            delta=1e-5,
            adjacency=adjacency,
            events=(GaussianEvent(noise, 0.01, 1000),),
            clipping=1.0,
            accountant="pld",
        )
    assert len(composed) == n_composed
    assert epsilon_of.cache_info().misses == n_searches


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize(("noise", "rate", "n_steps"), [(1.4, 0.01, 1000), (0.3, 1e-4, 10**5)])
def test_coarse_profiles_are_looser_but_near(noise, rate, n_steps, adjacency):
    events = (GaussianEvent(noise, rate, n_steps),)
    fine = build_profile(events, adjacency, "pld")
    coarse = build_profile(events, adjacency, "pld", is_coarse=True)
    for delta in (1e-6, 1e-3):
        assert fine.epsilon(delta) < coarse.epsilon(delta) < 1.2 * fine.epsilon(delta)


@pytest.mark.parametrize("n_steps", [1, 1000, 10**6])
def test_wider_grids_change_compositions_by_rounding_only(n_steps, monkeypatch):
    # Points for tails are there to bound them, and have no mass.
    found = []
    for points in (loss_distribution._POINTS_FOR_TAILS, 0.0):
        monkeypatch.setattr(loss_distribution, "_POINTS_FOR_TAILS", points)
        profile = PLDProfile((GaussianEvent(0.7 * math.sqrt(n_steps), 0.5, n_steps),), "zero_out")
        epsilons = [profile.epsilon(delta) for delta in (1e-2, 1e-8)]
        found.append((epsilons, profile._pmf("remove").size))
    (wide, wide_size), (narrow, narrow_size) = found
    assert wide == pytest.approx(narrow, rel=5e-4)
    assert wide_size <= narrow_size * (0.5 if n_steps == 10**6 else 1.01)


@pytest.mark.long
@pytest.mark.parametrize(("noise", "rate", "n_steps"), [(1.0, 0.01, 500), (6.0, 0.4, 2000)])
def test_the_best_order_is_found_without_trying_all(noise, rate, n_steps):
    events = (GaussianEvent(noise, rate, n_steps), GaussianEvent(20.0))
    fractions = [1 + tenths / 10 for tenths in range(1, 90) if tenths % 10]
    for delta in (0.1, 1e-5, 1e-30, 1e-200):
        profile = RDPProfile(events, "zero_out")
        found = profile.epsilon(delta)
        assert len(profile._divergences) < 40
        bounds = [
            profile._divergence(a) + math.log1p(-1 / a) - (math.log(delta) + math.log(a)) / (a - 1)
            for a in (*fractions, *_INTEGER_ORDERS)
        ]
        assert found == pytest.approx(min(bounds), rel=1e-12)
        # Delta by the best order at that epsilon is delta again.
        assert math.log(profile.delta(found)) == pytest.approx(math.log(delta), rel=1e-9)


@pytest.mark.long
def test_negligible_events_have_no_say_in_the_grid():
    many = GaussianEvent(200.0, 0.8, 10**6)
    alone = PLDProfile((many,), "zero_out")
    joint = PLDProfile((many, GaussianEvent(4700.0)), "zero_out")
    assert joint._step == pytest.approx(alone._step, rel=1e-3)
    assert joint.epsilon(1e-5) == pytest.approx(alone.epsilon(1e-5), rel=1e-4)
    # One that counts has its own spread on the grid, however large the other's rare losses are:
    # they add their probability to delta at most, and can't lessen it.
    joint = PLDProfile((GaussianEvent(0.02, 5e-3), GaussianEvent(5.0)), "zero_out")
    low, high = (GaussianProfile(0.2).epsilon(delta) for delta in (1e-2, 1e-2 - 5e-3))
    assert low <= joint.epsilon(1e-2) <= 1.02 * high
