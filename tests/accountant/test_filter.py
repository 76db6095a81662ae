"""Costs as a Gaussian and an erasure: they dominate, they are tight, and they add up."""

import dataclasses
import math
import os
from itertools import product

import numpy as np
import pytest
from scipy.special import expit, ndtr, ndtri

from skdp.accountant import (
    ErasureEvent,
    GaussianEvent,
    LaplaceEvent,
    NoisyMaxEvent,
    PrivacyReport,
    SelectionEvent,
    TruncatedNegativeBinomial,
    calibrate,
    calibrate_selection,
    get_epsilon,
)
from tests._loops import for_each
from tests.door import (
    FIT_SHARE,
    GaussianCost,
    GaussianProfile,
    build_profile,
    cost_of_report,
    dominating_mu,
    gaussian_budget,
    gaussian_cost,
    gaussian_delta,
    subsampled_delta,
)

N_DESIGNS = 500 if os.environ.get("SKDP_NIGHTLY") == "1" else 24


def bound(epsilons, mu, erasure):
    return erasure + (1 - erasure) * gaussian_delta(epsilons, mu)


def random_design(seed):
    """Poisson designs of all sizes that are neither free nor in the clear."""
    rng = np.random.default_rng([18, seed])
    while True:
        rate, n_steps = 10 ** rng.uniform(-3.5, -0.05), int(10 ** rng.uniform(0, 3.7))
        noise = rate * math.sqrt(n_steps) / 10 ** rng.uniform(-1.5, 0.7)
        if 0.4 < noise < 1e4:
            break
    events = [GaussianEvent(noise, rate, n_steps)]
    if seed % 3 == 0:
        events.append(GaussianEvent(2 * noise, min(2 * rate, 0.9), n_steps))
    erasure = max(10 ** rng.uniform(-10, -5), 4e-15 * 2 * n_steps)
    return tuple(events), ("zero_out", "replace_one")[seed % 2], erasure


@pytest.mark.long
@pytest.mark.parametrize("seed", range(N_DESIGNS))
def test_costs_of_random_designs_dominate(seed):
    events, adjacency, erasure = random_design(seed)
    cost = gaussian_cost(events, adjacency, erasure=erasure)
    assert cost.erasure == erasure
    profile = build_profile(events, adjacency, "pld")
    far = 1.05 * profile.epsilon(erasure)
    epsilons = np.union1d(np.linspace(0, far, 2000), np.linspace(0, min(6 * cost.mu, far), 2000))
    worst = np.zeros_like(epsilons)
    for direction in ("replace",) if adjacency == "replace_one" else ("remove", "add"):
        deltas = profile._pmf(direction).get_delta_for_epsilon(epsilons)
        assert np.all(deltas <= bound(epsilons, cost.mu, erasure) * (1 + 1e-9))
        # Between two points too: the profile at the left end, the bound at the right end. The grid
        # is so fine that a hundredth more mu makes up for it.
        assert np.all(deltas[:-1] <= bound(epsilons[1:], 1.01 * cost.mu, erasure))
        assert deltas[-1] <= erasure
        worst = np.maximum(worst, deltas)
    assert np.any(worst > bound(epsilons, 0.995 * cost.mu, erasure))


@pytest.mark.parametrize("direction", ["remove", "add", "replace"])
@pytest.mark.parametrize(("noise", "rate"), [(0.7, 0.3), (2.0, 0.05), (5.0, 0.9)])
def test_one_step_is_dominated_by_its_closed_form(noise, rate, direction):
    adjacency = "replace_one" if direction == "replace" else "zero_out"
    cost = gaussian_cost((GaussianEvent(noise, rate),), adjacency, erasure=1e-7)
    epsilons = np.linspace(0, 12, 4001)
    exact = subsampled_delta(epsilons, noise, rate, direction)
    assert np.all(exact <= bound(epsilons, cost.mu, 1e-7))
    assert np.all(exact[:-1] <= bound(epsilons[1:], 1.01 * cost.mu, 1e-7))


def exact_profile(p, q):
    def profile(epsilon):
        return max(
            float(np.maximum(one - math.exp(epsilon) * other, 0).sum())
            for one, other in ((p, q), (q, p))
        )

    return profile


def least_mu(p, q, erasure):
    """Least mu such that the curve is above the power of all tests of q against p.

    The best tests are mixtures of those that take the outcomes of the largest likelihood ratios.
    """
    order = np.argsort(-q / p)
    levels, reached = np.cumsum(p[order])[:-1], np.cumsum(q[order])[:-1]
    start, end = levels / (1 - erasure), (reached - erasure) / (1 - erasure)
    inside = (start < 1) & (end > 0)
    return np.max(ndtri(end[inside]) - ndtri(start[inside]))


@pytest.mark.long
@for_each("seed", range(20))
@for_each("erasure", [0.0, 1e-3, 0.03])
def test_small_mechanisms_by_brute_force(seed, erasure):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.full(5, 0.8), size=2) * 0.98 + 0.004
    exact = max(least_mu(p, q, erasure), least_mu(q, p, erasure))
    mu = dominating_mu(exact_profile(p, q), erasure)
    assert exact <= mu <= exact * (1 + 1e-3)


@pytest.mark.parametrize("mu", [1e-6, 1e-3, 0.1, 1.0, 5.0])
def test_a_gaussian_beside_an_erasure_costs_what_it_is(mu):
    erasure = 1e-3 * mu
    profile = GaussianProfile(mu)
    found = dominating_mu(lambda e: bound(e, mu, erasure) * (1 + 1e-13), erasure * (1 + 1e-12))
    assert mu * (1 - 1e-9) <= found <= mu * (1 + 2e-3)
    assert dominating_mu(profile.delta, 1e-12) >= mu * (1 - 1e-6)


def test_any_upper_bound_will_do():
    """A profile that says nothing near 0, steps, and is wavy elsewhere."""

    def profile(epsilon):
        if epsilon < 0.2:
            return 1.0
        return min(math.exp(-2 * math.floor(4 * epsilon)) + 1e-9 * math.sin(1e3 * epsilon) ** 2, 1)

    mu = dominating_mu(profile, 1e-8)
    # What only the statement at 1 / 4 needs, and what such statements at every 1 / 4 do.
    steps = [(k / 4, math.exp(-2.0 * k) + 1e-9) for k in range(1, 12)]
    assert GaussianCost(mu, 1e-8).epsilon(math.exp(-2.0)) >= 0.25 * (1 - 1e-6)
    least = dominating_mu(lambda e: next((d for x, d in steps[::-1] if x <= e), 1.0), 1e-8)
    assert mu == pytest.approx(least, rel=1e-3)
    for hopeless in (lambda e: 1.0, lambda e: math.nan, lambda e: 1e-6):
        assert dominating_mu(hopeless, 1e-7) == math.inf
    for free in (lambda e: 0.0, lambda e: 1e-7):
        assert dominating_mu(free, 1e-7) == 0.0


@pytest.mark.parametrize(("adjacency", "factor"), [("zero_out", 1), ("replace_one", 2)])
def test_full_batches_cost_their_own_mu_and_nothing_else(adjacency, factor):
    events = [GaussianEvent(3.0, n_steps=4), GaussianEvent(2.0, n_parts=5)]
    cost = gaussian_cost(events, adjacency, erasure=1e-6)
    assert cost == GaussianCost(factor * math.hypot(2 / 3, 1 / 2))
    pairwise = [GaussianEvent(2.0, pairwise=True)]
    for other in ("zero_out", "replace_one", "replace_label"):
        assert gaussian_cost(pairwise, other, erasure=0.0) == GaussianCost(0.5)


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 2.0, 30.0])
def test_pure_releases_cost_what_randomised_response_does(epsilon):
    cost = gaussian_cost((LaplaceEvent(1 / epsilon),), "zero_out", erasure=0.0)
    assert cost.erasure == 0.0

    def profile(e):
        return float(expit(epsilon)) * max(-math.expm1(e - epsilon), 0.0)

    if epsilon < 20:
        assert dominating_mu(profile, 0.0) == pytest.approx(cost.mu, rel=1e-6)
    grid = np.linspace(0, epsilon, 999)
    assert np.all(np.array([profile(e) for e in grid]) <= gaussian_delta(grid, cost.mu) + 1e-12)
    # Tests of level 1 / (1 + exp(epsilon)) have no power to spare.
    level = expit(-epsilon)
    assert ndtr(ndtri(level) + cost.mu) == pytest.approx(1 - level, rel=1e-9)


def test_pure_steps_add_up_and_adjacency_doubles_them():
    one = gaussian_cost((LaplaceEvent(4.0),), "zero_out", erasure=0.0)
    many = gaussian_cost((LaplaceEvent(4.0, 9, 7, 8.0),), "zero_out", erasure=0.0)
    assert many.mu == pytest.approx(3 * one.mu)
    doubled = gaussian_cost((LaplaceEvent(4.0),), "replace_one", erasure=0.0)
    assert doubled == gaussian_cost((LaplaceEvent(2.0),), "zero_out", erasure=0.0)
    personal = gaussian_cost((LaplaceEvent(2.0, largest_multiplier=9.0),), "zero_out", erasure=0.0)
    assert personal == doubled


def test_events_of_all_kinds_add_up():
    poisson, full, pure = GaussianEvent(1.4, 0.01, 1000), GaussianEvent(9.0), LaplaceEvent(9.0)
    kinds = [(poisson,), (full,), (pure,), (ErasureEvent(1e-7, 3),)]
    costs = [gaussian_cost(events, "zero_out", erasure=1e-8) for events in kinds]
    joint = gaussian_cost([event for events in kinds for event in events], "zero_out", erasure=1e-8)
    assert joint.mu == pytest.approx(math.hypot(*(cost.mu for cost in costs)), rel=1e-12)
    assert joint.erasure == pytest.approx(1e-8 + 3e-7, rel=1e-6)
    total = costs[0] + costs[1] + costs[2] + costs[3]
    assert (total.mu, total.erasure) == pytest.approx((joint.mu, joint.erasure), rel=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("n_fits", [2, 5])
def test_sums_of_costs_dominate_compositions(n_fits):
    event, other = GaussianEvent(1.0, 0.02, 50), GaussianEvent(0.9, 0.2, 3)
    costs = [gaussian_cost((e,), "zero_out", erasure=1e-6) for e in (event, other)]
    spent = GaussianCost(0.0)
    for _ in range(n_fits):
        spent = spent + costs[0] + costs[1]
    assert spent.erasure == pytest.approx(2e-6 * n_fits, rel=1e-4)
    joint = build_profile((event, other) * n_fits, "zero_out", "pld")
    for epsilon in np.linspace(0, 12, 60):
        assert joint.delta(epsilon) <= bound(epsilon, spent.mu, spent.erasure)


DESIGNS = [(0.5, 20), (0.1, 100), (0.05, 200), (0.01, 1000), (0.01, 10_000), (0.1, 1000)]


@pytest.mark.long
@pytest.mark.parametrize(("pair", "adjacency"), product(DESIGNS, ["zero_out", "replace_one"]))
def test_ten_poisson_fits_lose_less_than_a_tenth(pair, adjacency):
    """Of what they cost by loss distributions, at the delta of the budget."""
    rate, n_steps = pair
    delta = 1e-5
    design = {"sampling_rate": rate, "adjacency": adjacency}
    for epsilon in (0.1, 1.0):
        noise = calibrate(epsilon, delta / 10, n_steps=n_steps, **design)
        erasure = FIT_SHARE * gaussian_budget(1.0, delta).erasure
        events = (GaussianEvent(noise, rate, n_steps),)
        one = gaussian_cost(events, adjacency, erasure=erasure)
        ten = GaussianCost(math.sqrt(10) * one.mu, gaussian_budget(1.0, delta).erasure)
        least = get_epsilon(noise, delta, n_steps=10 * n_steps, **design)
        assert ten.epsilon(delta) <= 1.1 * least


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-3), (1.0, 1e-5), (8.0, 1e-9)])
def test_budgets_keep_what_they_promise(epsilon, delta):
    budget = gaussian_budget(epsilon, delta)
    assert budget.epsilon(delta) <= epsilon
    # A full-batch ledger loses next to nothing.
    assert budget.mu >= 0.995 / calibrate(epsilon, delta)
    most = GaussianCost(budget.mu * (1 + 9e-10), budget.erasure * (1 + 9e-10))
    assert most.is_within(budget)
    assert most.epsilon(delta) <= epsilon
    assert not GaussianCost(budget.mu * (1 + 1e-8)).is_within(budget)
    assert not GaussianCost(0.0, budget.erasure * (1 + 1e-8)).is_within(budget)
    spent, n_fits = GaussianCost(0.0), 0
    while (spent + GaussianCost(0.0, FIT_SHARE * budget.erasure)).is_within(budget):
        spent, n_fits = spent + GaussianCost(0.0, FIT_SHARE * budget.erasure), n_fits + 1
    assert n_fits == 200


def test_a_budget_without_bound_and_a_budget_of_nothing():
    assert gaussian_budget(math.inf, 1e-5).mu == math.inf
    for delta in (0.0, -1.0, 2.0, math.nan, None):
        with pytest.raises(ValueError, match="delta"):
            gaussian_budget(1.0, delta)
    with pytest.raises(ValueError, match="epsilon"):
        gaussian_budget(0.0, 1e-5)


def test_one_number_for_two_budgets_would_not_do():
    """Why both numbers of a budget are fixed beforehand: the exact delta of who chooses."""
    budget, delta, first = 1.0, 0.01, 0.38
    mu = 1 / calibrate(budget, delta, pairwise=True)
    rate = (delta - gaussian_delta(budget, first)) / (1 - gaussian_delta(budget, first))
    ends = GaussianCost(first, float(rate)), GaussianCost(mu)
    for end in ends:
        assert bound(budget, end.mu, end.erasure) == pytest.approx(delta, rel=1e-6)
    assert not any(one.is_within(other) for one, other in (ends, ends[::-1]))
    nodes = np.linspace(-9, 9, 20001)
    weights = np.exp(-(nodes**2) / 2)
    weights /= weights.sum()
    left = budget - (first**2 / 2 + first * nodes)
    erase = rate + (1 - rate) * np.maximum(-np.expm1(np.minimum(left, 0)), 0)
    release = gaussian_delta(left, math.sqrt(mu**2 - first**2))
    assert weights @ erase == pytest.approx(delta, rel=1e-3)
    assert weights @ release == pytest.approx(delta, rel=1e-3)
    assert weights @ np.maximum(erase, release) > 1.5 * delta


def test_reports_of_costs_say_what_they_cost():
    cost = gaussian_cost((GaussianEvent(1.4, 0.01, 1000),), "zero_out", erasure=1e-8)
    total = cost + cost
    fields = {"adjacency": "zero_out", "clipping": None, "accountant": "pld", "delta": 1e-5}
    report = PrivacyReport(epsilon=total.epsilon(1e-5), events=total.events(), **fields)
    assert report.epsilon == report.epsilon_at(1e-5) == total.epsilon(1e-5)
    assert gaussian_cost(report.events, "zero_out", erasure=0.0).mu == pytest.approx(total.mu)
    assert gaussian_cost(report.events, "zero_out", erasure=0.0).erasure == total.erasure
    assert GaussianCost(0.0).events() == ()
    assert GaussianCost(0.0).epsilon(0.0) == 0.0
    assert total.epsilon(1e-8) == GaussianCost(math.inf).epsilon(0.5) == math.inf


def make_report(events, adjacency, **changes):
    fields = {"epsilon": math.inf, "delta": 1e-5, "clipping": 1.0, "accountant": "pld"}
    return PrivacyReport(**(fields | {"events": events, "adjacency": adjacency} | changes))


class _Free(GaussianEvent):
    def mu(self, adjacency):
        return 0.0

    def scaled_to_group(self, group_size):
        return GaussianEvent(1e9)


def test_reports_are_charged_for_their_events():
    events = (GaussianEvent(4.0),)
    report = make_report(events, "zero_out", epsilon=1.0)
    object.__setattr__(report, "epsilon", 1e-9)
    assert cost_of_report(report, "zero_out", erasure=0.0) == GaussianCost(0.25)
    object.__setattr__(report.events[0], "noise_multiplier", -1.0)
    with pytest.raises(ValueError, match="noise_multiplier"):
        cost_of_report(report, "zero_out", erasure=0.0)
    object.__setattr__(report, "events", (_Free(1.0, pairwise=True),))
    for adjacency in ("zero_out", "replace_one"):
        with pytest.raises(TypeError, match="events"):
            cost_of_report(report, adjacency, erasure=0.0)


def test_reports_of_another_adjacency():
    events = (GaussianEvent(4.0), GaussianEvent(2.0, 0.01, 10), GaussianEvent(8.0, pairwise=True))
    replaced, nulled = make_report(events, "replace_one"), make_report(events, "zero_out")
    as_null = cost_of_report(replaced, "zero_out", erasure=1e-8)
    assert as_null == gaussian_cost(events, "zero_out", erasure=1e-8)
    twice = (*events[:2], GaussianEvent(4.0, pairwise=True))
    both = cost_of_report(nulled, "replace_one", erasure=1e-8)
    assert both == gaussian_cost(twice, "replace_one", erasure=1e-8)
    assert both.mu > as_null.mu
    erased = make_report((GaussianEvent(4.0), ErasureEvent(1e-9)), "zero_out")
    assert cost_of_report(erased, "replace_one", erasure=0.0).erasure == 1.0
    label = make_report((GaussianEvent(4.0, pairwise=True),), "replace_label")
    assert cost_of_report(label, "replace_label", erasure=0.0) == GaussianCost(0.25)
    for report, adjacency in (
        (label, "zero_out"),
        (label, "replace_one"),
        (nulled, "replace_label"),
    ):
        with pytest.raises(ValueError, match="label"):
            cost_of_report(report, adjacency, erasure=1e-8)


@pytest.mark.long
def test_a_search_of_another_adjacency_doubles_what_is_pairwise_inside():
    fits, pairs = (GaussianEvent(6.0, 0.1, 20),), (GaussianEvent(8.0, pairwise=True),)
    pure = (NoisyMaxEvent(20.0), LaplaceEvent(40.0))
    law = TruncatedNegativeBinomial.of_mean(5.0, 1.0)

    def costs(alternatives, stated):
        search = SelectionEvent(alternatives, law.eta, law.stopping_rate)
        return cost_of_report(make_report((search,), stated), "replace_one", erasure=1e-8)

    twice = (GaussianEvent(4.0, pairwise=True),)
    for others in ((fits,), (pure,), (fits, pure), ()):
        found = costs((*others, pairs), "zero_out")
        assert found == costs((*others, twice), "replace_one")
    assert found.mu > costs((pairs,), "replace_one").mu
    # Others double by themselves.
    for kind in (GaussianEvent, LaplaceEvent, NoisyMaxEvent):
        search = SelectionEvent(((kind(20.0),),), law.eta, law.stopping_rate)
        there = cost_of_report(make_report((search,), "zero_out"), "zero_out", erasure=1e-8)
        assert costs(((kind(40.0),),), "zero_out").mu == pytest.approx(there.mu, rel=1e-6)


def test_what_loss_distributions_cannot_compute():
    event = GaussianEvent(1.4, 0.01, 1000)
    reliable = gaussian_cost((event,), "zero_out", erasure=1e-11)
    below = gaussian_cost((event,), "zero_out", erasure=1e-14)
    assert reliable.mu < below.mu < 1.3 * reliable.mu
    many = gaussian_cost((GaussianEvent(200.0, 0.01, 10**7),), "zero_out", erasure=1e-8)
    assert many.mu > 0.01 * math.sqrt(10**7) / 200.0
    for adjacency, erasure in (("replace_one", 1e-14), ("zero_out", 0.0)):
        with pytest.raises(ValueError, match="erasure of at least"):
            gaussian_cost((event,), adjacency, erasure=erasure)


def test_no_noise_and_no_signal():
    for silent in (GaussianEvent(0.0), GaussianEvent(0.0, 0.1, 10**9), LaplaceEvent(0.0)):
        cost = gaussian_cost((silent, GaussianEvent(1.0)), "replace_one", erasure=0.0)
        assert cost.mu == math.inf
        assert not cost.is_within(gaussian_budget(50.0, 1e-5))
    nothing = (GaussianEvent(math.inf, 0.1, 10), LaplaceEvent(math.inf), GaussianEvent(math.inf))
    assert gaussian_cost(nothing, "zero_out", erasure=1e-6) == GaussianCost(0.0)
    assert gaussian_cost((), "zero_out", erasure=0.0) == GaussianCost(0.0)


def test_bad_arguments():
    event = GaussianEvent(1.0)
    with pytest.raises(TypeError, match=r"instances of GaussianEvent, .* or SelectionEvent"):
        gaussian_cost((_Free(1.0),), "zero_out", erasure=0.0)
    for adjacency in ("nobody", None, ["zero_out"]):
        with pytest.raises(ValueError, match="adjacency"):
            gaussian_cost((event,), adjacency, erasure=0.0)
    for sampled in (GaussianEvent(1.0, 0.1), LaplaceEvent(1.0), event):
        with pytest.raises(ValueError, match="pairwise"):
            gaussian_cost((sampled,), "replace_label", erasure=1e-6)
    for erasure in (-1e-9, 1.0, math.nan, None):
        with pytest.raises(ValueError, match="erasure"):
            gaussian_cost((event,), "zero_out", erasure=erasure)
    for fields in ((-1.0, 0.0), (math.nan, 0.0), (1.0, -0.1), (1.0, 1.1), ("1", 0.0)):
        with pytest.raises(ValueError, match=r"mu|erasure"):
            GaussianCost(*fields)
    with pytest.raises(TypeError):
        GaussianCost(1.0) + 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        GaussianCost(1.0).mu = 0.0


def test_the_profile_is_asked_seldom():
    asked = []
    profile = build_profile((GaussianEvent(1.4, 0.01, 1000),), "zero_out", "pld")
    dominating_mu(lambda e: asked.append(e) or profile.delta(e), 1e-9)
    assert len(asked) < 60


@pytest.mark.long
@pytest.mark.parametrize(("mean", "eta", "times"), [(10.0, -0.5, 5.42), (10.0, 0.0, 8.1)])
def test_a_search_costs_more_than_its_epsilon(mean, eta, times):
    """The page of private selection has these: as many squared mu of one release."""
    law = TruncatedNegativeBinomial.of_mean(mean, eta)
    epsilon, delta = calibrate_selection(1.0, 1e-5, mean=mean, eta=eta)
    trial = (GaussianEvent(calibrate(epsilon, delta)),)
    search = SelectionEvent((trial,), eta, law.stopping_rate)
    cost = gaussian_cost([search], "zero_out", erasure=1e-9)
    assert cost.erasure == 1e-9
    assert cost.mu**2 * calibrate(1.0, 1e-5) ** 2 == pytest.approx(times, rel=0.02)
