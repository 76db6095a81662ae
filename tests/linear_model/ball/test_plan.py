import math

import numpy as np
import pytest
from sklearn.base import clone

from skdp.linear_model import (
    DPLogisticRegression,
    DPRidge,
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDClassifier,
)
from tests._loops import for_each
from tests.door import (
    COARSE_BINS,
    SPLIT_SLACK,
    UNIT_BINS,
    Budget,
    ball_tuned as tuned,
    bins_about,
    bins_below,
    epsilon_of,
    plan_ball,
    plan_targets,
)

STAGES = ["units", "coarse", "reach", "centre", "distance", "recentre", "scales", "radius"]
ALL = {"units", "reach", "centre", "distance", "recentre", "scales", "radius"}


def planned(
    epsilon=1.0, adjacency="zero_out", ball_budget="auto", data_norm=None, centred=True, **sizes
):
    budget = Budget(epsilon, 1e-5, adjacency, "pld")
    sizes = {"n_records": 10**5, "n_columns": 4, "slack": 1e-9} | sizes
    how = {"ball_budget": ball_budget, "data_norm": data_norm, "centred": centred}
    return (*plan_ball(budget, **how, **sizes), budget)


def bought(ball):
    return {name for name in STAGES if getattr(ball, name) is not None}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ALL),
        ({"data_norm": 5.0}, ALL),
        ({"centred": False}, {"units", "reach", "scales", "radius"}),
        # Counts by column would drown, and then the centre.
        ({"n_columns": 1000, "n_records": 10**4}, ALL - {"units", "scales"} | {"coarse"}),
        ({"n_columns": 10**5}, {"coarse", "reach", "centre", "distance", "recentre", "radius"}),
        ({"n_columns": 2000, "n_records": 10**6}, ALL),
        ({"n_columns": 2001, "n_records": 10**6}, ALL - {"units", "scales"} | {"coarse"}),
        # Where there is a bound, units are counted only where that is less noisy.
        ({"n_columns": 1000, "n_records": 30_000}, ALL),
        ({"n_columns": 1000, "n_records": 30_000, "data_norm": 1.0}, ALL - {"units"}),
        ({"n_columns": 10**6, "n_records": 10**4}, {"coarse", "reach", "radius"}),
        ({"n_columns": 10**6, "n_records": 10**4, "data_norm": 1.0}, {"reach", "radius"}),
        ({"n_records": 1000}, {"coarse", "reach"}),
        ({"n_records": 1000, "data_norm": 1.0}, {"reach"}),
        ({"n_records": 1}, {"coarse", "reach"}),
    ],
)
def test_what_would_drown_is_left_out(options, expected):
    ball, spent, _ = planned(**options)
    assert bought(ball) == expected
    assert 0.0 < spent < 1.0


@pytest.mark.parametrize("options", [{"n_records": 1, "data_norm": 1.0}, {"ball_budget": 0.0}])
def test_nothing_is_bought(options):
    assert planned(**options)[:2] == (None, 0.0)


@for_each("ball_budget", ["auto", 0.01, 0.3, 0.99])
@for_each("options", [{}, {"n_records": 1000}, {"centred": False, "n_records": 10**7}])
@for_each("adjacency", ["zero_out", "replace_one"])
def test_events_cost_the_share(adjacency, options, ball_budget):
    ball, spent, budget = planned(adjacency=adjacency, ball_budget=ball_budget, **options)
    events = ball.events
    assert len(events) == len(bought(ball))
    doubled = 2.0 if adjacency == "replace_one" else 1.0
    squares = [((1.0 if e.pairwise else doubled) / e.noise_multiplier) ** 2 for e in events]
    one = doubled / budget.calibrate()
    assert sum(squares) * SPLIT_SLACK**2 == pytest.approx(spent * one**2, rel=1e-9)
    if ball_budget != "auto":
        assert spent <= ball_budget
    if bought(ball) == ALL:
        assert spent == pytest.approx(0.96 * (0.12 if ball_budget == "auto" else ball_budget))


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_bounds_are_those_that_are_proved(adjacency):
    ball, _, _ = planned(adjacency=adjacency, n_columns=9)
    pair = math.sqrt(2.0) if adjacency == "replace_one" else 1.0
    bounds = {name: getattr(ball, name).bound / pair for name in bought(ball)}
    for name in ("centre", "recentre"):
        assert bounds.pop(name) * pair == 1.0
        assert not getattr(ball, name).pairwise
    for name in bounds:
        assert getattr(ball, name).pairwise == (adjacency == "replace_one")
    for name in ("units", "scales"):
        assert bounds.pop(name) == pytest.approx(3.0)
    assert set(bounds.values()) == {1.0}
    assert ball.units.size == 9 * UNIT_BINS.n_bins
    assert ball.scales.size == 9 * ball.radius.size
    assert ball.centre.size == ball.recentre.size == 9


@for_each("inference", [False, True])
@for_each("adjacency", ["zero_out", "replace_one"])
@for_each("n_records", [300, 10**5])
@for_each("settings", [{}, {"ball_budget": 0.5}, {"ball_budget": 0, "data_norm": 1.0}])
def test_ball_moment_and_steps_spend_the_budget(settings, n_records, adjacency, inference):
    options = {"classes": [0, 1], "adjacency": adjacency, "inference": inference} | settings
    plan = DPLogisticRegression(**options)._plan(n_records, 4, 1)
    doubled = 2.0 if adjacency == "replace_one" else 1.0
    apart = [1.0 if event.pairwise else doubled for event in plan.events]
    times = [event.n_releases for event in plan.events]
    spent = sum(
        n * (a / e.noise_multiplier) ** 2 for n, a, e in zip(times, apart, plan.events, strict=True)
    )
    assert spent == pytest.approx((doubled / plan.noise) ** 2, rel=1e-6)
    assert (plan.ball is None) == ("data_norm" in settings)


@pytest.mark.parametrize("n_records", [300, 10**5])
def test_a_plan_follows_the_radius_in_units_alone(n_records):
    plan = DPRidge(target_bounds=(-1, 1))._plan(n_records, 4, 1)
    after = plan.following(7.0, 3.0, None)
    assert after.moment.bound == pytest.approx(49.0 * plan.moment.bound)
    assert after.moment.bound == pytest.approx(49.0 * 10.0 / 9.0)
    assert after.problem.row_norm == pytest.approx(7.0 * math.sqrt(10.0) / 3.0)
    assert after.problem.bias == pytest.approx(7.0 / 3.0)
    assert after.moment.rounding_slack == pytest.approx(9.0 * plan.moment.rounding_slack)
    one, other = (
        p.steps.split(5).bounded(2.0, stretch=4.0 * p.stretch).mechanism for p in (plan, after)
    )
    assert other.rounding_slack == pytest.approx(3.0 * one.rounding_slack)
    assert other.contribution_bound == one.contribution_bound == 2.0
    assert after.events == plan.events


STEPPED = {
    "DP-SGD": (DPSGDClassifier(classes=[0, 1]), "clipping_norm", "eta0"),
    "DP-SCD": (DPSCDClassifier(classes=[0, 1]), "clipping_norm", "proximal"),
}


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("name", STEPPED)
def test_steps_on_batches_spend_what_the_ball_leaves(name, adjacency):
    model = clone(STEPPED[name][0]).set_params(ball_budget=0.4, adjacency=adjacency)
    plan = model._plan(3000, 4, 1)
    *of_ball, steps = plan.events
    assert tuple(of_ball) == plan.ball.events
    found = epsilon_of(plan.events, adjacency, "pld", plan.budget.delta)
    assert 0.998 <= found <= 1.0
    assert epsilon_of((steps,), adjacency, "pld", plan.budget.delta) < 0.85
    assert plan.clipping is None


@pytest.mark.parametrize("name", STEPPED)
def test_a_plan_of_batches_follows_the_radius_in_units_alone(name):
    """Batches, noise and reports stay; settings that were given are for rows of `data_norm`."""
    model, clip, other = clone(STEPPED[name][0]), *STEPPED[name][1:]
    model.set_params(data_norm=2.0, ball_budget=0.1, **{clip: 0.25, other: 3.0})
    plan = model._plan(3000, 4, 1)
    after = plan.following(14.0, 3.0, None)
    assert after.events == plan.events
    assert after.sampler == plan.sampler
    assert after.clipping_norm == after.step.bound == 7.0 * 0.25
    power = -2.0 if other == "eta0" else 2.0
    assert getattr(after, other) == pytest.approx(3.0 * 7.0**power)
    slacks = [one.step.rounding_slack for one in (plan, after)]
    assert slacks[1] == pytest.approx(3.0 * slacks[0])


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (DPSGDClassifier(mechanism="laplace"), "mechanism='laplace'"),
        (DPSCDClassifier(noisy_dual=True), "noisy_dual=True"),
        (DPSCDRegressor(solver="sequential"), "solver='sequential'"),
        (DPSCDRegressor(solver="primal"), "solver='primal'"),
    ],
    ids=str,
)
def test_where_no_ball_can_be_learnt_a_share_for_it_is_refused(model, match):
    assert model._plan(3000, 4, 1).ball is None
    with pytest.raises(ValueError, match=match):
        clone(model).set_params(ball_budget=0.2)._plan(3000, 4, 1)
    clone(model).set_params(ball_budget=0)._plan(3000, 4, 1)


@pytest.mark.long
def test_a_given_clip_of_dpscd_is_for_rows_as_they_are():
    model = DPSCDClassifier(clipping_norm=0.01)
    plan = model._plan(30000, 4, 1)
    assert plan.ball is None
    assert plan.proximal == 0.0
    assert clone(model).set_params(ball_budget=0.1)._plan(30000, 4, 1).ball is not None


def test_without_privacy_there_is_no_noise():
    for centred in (True, False):
        ball, spent, _ = planned(math.inf, centred=centred)
        assert bought(ball) == ({"centre"} if centred else set())
        assert ball.squares.mechanism.noise_std == 0.0
        assert ball.quantile == 1.0
        assert spent > 0.0
    assert planned(math.inf, ball_budget=0.0)[:2] == (None, 0.0)


def test_the_radius_holds_more_where_noise_is_large_and_all_where_there_is_none():
    assert planned(n_records=3000, n_columns=80)[0].quantile == pytest.approx(0.9)
    found = [planned(n_records=n)[0].quantile for n in (3000, 10**6, 10**9)]
    assert 0.85 < found[0] < 0.9
    assert found[1] > 0.998
    assert found[2] > 0.9999
    held = planned(n_records=3000, share_within=0.98)[0].quantile
    assert held == 0.98


def test_few_records_have_more_for_a_radius():
    spent = [planned(n_records=n)[1] for n in (100, 300, 1800)]
    assert spent[0] == pytest.approx(2.0 * tuned.LARGEST_SHARE_OF_RADIUS)
    assert spent[0] > spent[1] > spent[2] >= 2.0 * tuned.SMALLEST_SHARE_OF_RADIUS
    assert planned(n_records=100, ball_budget=0.05)[1] == pytest.approx(0.05)


@pytest.mark.parametrize("bins", [COARSE_BINS, UNIT_BINS, bins_about(3.0), bins_below(1e-30)])
def test_bins_end_where_the_next_ones_begin(bins):
    ends = np.array([bins.end(k) for k in range(bins.n_bins)])
    assert np.isfinite(ends).all()
    assert (np.diff(ends) > 0.0).all()
    assert ends[0] > 0.0


def test_bins_reach_as_far_as_they_say():
    ends = [bins.end(bins.n_bins - 1) for bins in (bins_about(3.0), bins_below(5.0))]
    assert ends == [3.0 * 2.0**20, 5.0]
    assert bins_below(5.0).end(0) == 5.0 * 1.5 * 2.0**-40
    assert COARSE_BINS.end(COARSE_BINS.n_bins - 1) == 2.0**1001


def ranges(epsilon=1.0, adjacency="zero_out", ball_budget="auto", **sizes):
    budget = Budget(epsilon, 1e-5, adjacency, "pld")
    sizes = {"n_records": 10**5, "n_targets": 1, "slack": 1e-9} | sizes
    return (*plan_targets(budget, ball_budget, **sizes), budget)


@for_each("ball_budget", ["auto", 0.01, 0.3, 0.99])
@for_each("options", [{}, {"n_records": 100}, {"n_targets": 5}])
@for_each("adjacency", ["zero_out", "replace_one"])
def test_releases_of_targets_cost_their_share(adjacency, options, ball_budget):
    plan, spent, budget = ranges(adjacency=adjacency, ball_budget=ball_budget, **options)
    assert len(plan.events) == 2 + 2 * plan.n_rounds
    doubled = 2.0 if adjacency == "replace_one" else 1.0
    squares = [((1.0 if e.pairwise else doubled) / e.noise_multiplier) ** 2 for e in plan.events]
    one = doubled / budget.calibrate()
    assert sum(squares) * SPLIT_SLACK**2 == pytest.approx(spent * one**2, rel=1e-9)
    if ball_budget == "auto":
        assert 0.04 <= spent <= 0.2 + 1e-12
    else:
        assert spent == pytest.approx(0.25 * ball_budget)


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_a_record_is_in_one_bin_for_each_target(adjacency):
    plan = ranges(adjacency=adjacency, n_targets=3)[0]
    for release in (plan.coarse, plan.sides):
        assert release.bound == math.sqrt(6.0 if adjacency == "replace_one" else 3.0)
        assert release.pairwise == (adjacency == "replace_one")
    assert plan.centre.bound == 1.0
    assert not plan.centre.pairwise


def test_few_records_have_more_for_their_targets():
    spent = [ranges(n_records=n)[1] for n in (100, 1000, 10**4)]
    assert spent[0] == 0.2 > spent[1] > spent[2] == 0.04


@pytest.mark.parametrize("ball_budget", ["auto", 0.3])
@pytest.mark.parametrize("inference", [False, True])
def test_targets_spend_what_nothing_else_does(inference, ball_budget):
    options = {"ball_budget": ball_budget, "inference": inference}
    plan = DPRidge(**options)._plan(10**5, 4, 1)
    squares = [event.n_releases / event.noise_multiplier**2 for event in plan.events]
    assert sum(squares) == pytest.approx(1.0 / plan.noise**2, rel=1e-6)
    assert plan.target_releases.events == plan.events[:6]
    assert plan.problem.bounded_targets
    given = DPRidge(target_bounds=(-1, 1), **options)._plan(10**5, 4, 1)
    assert given.target_releases is None
    # Of a given share the targets' is a part; without one, theirs is added.
    least = 0.75 if ball_budget == 0.3 else 1.0
    of_ball = given.ball.radius.noise_multiplier / plan.ball.radius.noise_multiplier
    assert of_ball**2 == pytest.approx(least)


@pytest.mark.parametrize("options", [{"ball_budget": 0, "data_norm": 1.0}, {"epsilon": math.inf}])
def test_targets_are_not_learnt(options):
    assert DPRidge(**options)._plan(10**5, 4, 1).target_releases is None


def test_a_share_that_is_none_is_refused():
    for ball_budget in (1.0, -0.1, 1e-9):
        with pytest.raises(ValueError, match="ball_budget"):
            DPRidge(ball_budget=ball_budget)._plan(10**5, 4, 1)


def test_more_targets_are_held_the_more_records_there_are():
    held = [ranges(n_records=n)[0].quantile for n in (1000, 10**6, 10**9)]
    assert held[0] == 0.98
    assert 0.999 < held[1] < held[2] < 1.0
