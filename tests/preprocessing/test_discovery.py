"""Counts of categories: what they are accounted as, and a threshold that hides single records."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm

from skdp.accountant import ErasureEvent, PrivacyReport
from tests._loops import for_each
from tests.door import (
    COUNTS,
    Budget,
    gaussian_delta,
    plan_counts,
    plan_encoder,
)

ADJACENCIES = ("zero_out", "replace_one")
BUDGETS = [(1.0, 1e-5), (0.1, 1e-5), (5.0, 1e-8), (1.0, 0.9)]


def planned(budget, adjacency, n_columns, n_discovered=None, least=1):
    n_discovered = n_columns if n_discovered is None else n_discovered
    return plan_counts(
        Budget(*budget, adjacency, "pld"),
        n_records=1000,
        n_columns=n_columns,
        n_discovered=n_discovered,
        least=least,
        key=(0,),
    )


@for_each("budget", BUDGETS)
@for_each("adjacency", ADJACENCIES)
@for_each("n_columns", [1, 3, 50])
def test_events_spend_the_budget_and_no_more(budget, adjacency, n_columns):
    plan = planned(budget, adjacency, n_columns)
    epsilon, delta = budget
    fields = {"adjacency": adjacency, "clipping": None, "accountant": "pld"}
    gaussian, erasure = events = plan.events[0], ErasureEvent(plan.releases[0].erasure)
    report = PrivacyReport(epsilon=epsilon, delta=delta, events=events, **fields)
    assert 0.98 * epsilon < report.epsilon_at(delta) <= epsilon
    assert erasure.probability == pytest.approx(1e-3 * delta)
    assert gaussian.noise_multiplier == plan.mechanisms[COUNTS].noise_multiplier
    moved = n_columns * {"zero_out": 1, "replace_one": 2}[adjacency]
    assert plan.mechanisms[COUNTS].contribution_bound == pytest.approx(math.sqrt(moved))
    # The multiplier is of the distance of a pair, which the accountant mustn't double.
    assert gaussian.mu(adjacency) == pytest.approx(1 / gaussian.noise_multiplier)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("n_columns", [1, 3, 50])
def test_single_records_are_above_the_threshold_with_the_erasures_probability(budget, n_columns):
    plan = planned(budget, "zero_out", n_columns)
    # Above a point of the grid, a release is at the next one at least.
    above = norm.sf(
        (plan.threshold + 0.5 * plan.mechanisms[COUNTS].grid - 1.0)
        / plan.mechanisms[COUNTS].noise_std
    )
    some = -math.expm1(n_columns * math.log1p(-above))
    promised = plan.releases[0].erasure
    assert 0.999 * promised < some <= promised


def test_only_columns_without_a_list_need_a_threshold():
    of_all = planned((1.0, 1e-5), "zero_out", 8)
    of_one = planned((1.0, 1e-5), "zero_out", 8, n_discovered=1)
    assert of_one.mechanisms[COUNTS] == of_all.mechanisms[COUNTS]
    assert 1.0 < of_one.threshold < of_all.threshold
    of_none = planned((1.0, 1e-5), "zero_out", 8, n_discovered=0)
    assert of_none.releases[0].erasure == 0.0
    assert of_none.mechanisms[COUNTS].noise_std < of_one.mechanisms[COUNTS].noise_std


def test_a_larger_least_count_is_kept_with_noise_too():
    low, high = (planned((1.0, 1e-5), "zero_out", 2, least=least) for least in (2, 500))
    assert low.threshold > 20.0
    assert 500.0 > high.threshold >= math.nextafter(500.0, 0.0)
    free = planned((math.inf, 1e-5), "zero_out", 2)
    assert 0.0 <= free.threshold < 1.0
    assert free.mechanisms[COUNTS].noise_std == 0.0
    assert free.releases[0].erasure == 0.0


@pytest.mark.parametrize("delta", [1e-300, 1e-299, 1e-200, 1e-50])
@pytest.mark.parametrize("n_columns", [1, 1000])
def test_a_tiny_delta_hides_single_records_better(delta, n_columns):
    plan = planned((1.0, delta), "zero_out", n_columns)
    above = norm.logsf((plan.threshold - 1.0) / plan.mechanisms[COUNTS].noise_std)
    erasure = plan.releases[0].erasure
    assert above <= math.log(erasure) - math.log(n_columns) <= above + 1.0
    larger = planned((1.0, 1e-5), "zero_out", n_columns)
    assert plan.threshold > 2.0 * larger.threshold


@pytest.mark.parametrize("delta", [9e-301, 1e-310, 5e-322, 5e-324, 0.0])
def test_a_delta_of_which_no_share_is_left_is_refused(delta):
    with pytest.raises(ValueError, match="delta must be at least 1e-300"):
        planned((1.0, delta), "zero_out", 2)
    for given in ({"budget": (1.0, delta), "n_discovered": 0}, {"budget": (math.inf, delta)}):
        if given["budget"][1] > 0.0:
            assert planned(given.pop("budget"), "zero_out", 2, **given).threshold < 1.0


@pytest.mark.parametrize("n_columns", [1, 2, 5])
@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_every_kind_of_neighbour_is_within_the_promise(adjacency, n_columns):
    """Columns where a record is alone in its category, on either side, or shares it, or neither.

    Seen are what one side alone may publish, and counts that move by one; both exactly.
    """
    plan = planned((1.0, 1e-2), adjacency, n_columns)
    gaussian, erasure = plan.events[0], ErasureEvent(plan.releases[0].erasure)
    mu, d = gaussian.mu(adjacency), erasure.probability
    each = -math.expm1(math.log1p(-d) / n_columns)
    std = plan.mechanisms[COUNTS].noise_std
    kinds = itertools.product(range(n_columns + 1), repeat=2)
    for alone_here, alone_there in kinds if adjacency == "replace_one" else _one_sided(n_columns):
        sides = 2 if adjacency == "replace_one" else 1
        moved = sides * n_columns - alone_here - alone_there
        here, there = (1 - (1 - each) ** k for k in (alone_here, alone_there))
        for epsilon in np.linspace(0.0, 3.0, 31):
            shifted = epsilon + math.log((1 - there) / (1 - here))
            seen = here + (1 - here) * _delta(shifted, math.sqrt(moved) / std)
            assert seen <= (d + (1 - d) * gaussian_delta(epsilon, mu)) * (1 + 1e-9)


def _one_sided(n_columns):
    return [(k, 0) for k in range(n_columns + 1)] + [(0, k) for k in range(n_columns + 1)]


def _delta(epsilon, mu):
    """Of a Gaussian, also for a negative epsilon."""
    if mu == 0.0:
        return max(0.0, -math.expm1(epsilon))
    one, two = norm.cdf(mu / 2 - epsilon / mu), norm.cdf(-mu / 2 - epsilon / mu)
    return max(0.0, float(one - math.exp(epsilon) * two))


def test_an_encoders_plan_accounts_for_what_its_threshold_may_give_away():
    budget = Budget(1.0, 1e-5, "zero_out", "pld")
    plan = plan_encoder(budget, n_records=100, n_discovered=2, min_frequency=None)
    assert plan.events[-1] == ErasureEvent(1e-3 * budget.delta)
    assert len(plan.events) == 2
