import math
from dataclasses import fields
from types import SimpleNamespace

import pytest

from skdp.accountant import calibrate, get_epsilon
from tests.door import (
    Budget,
    DPSCDProblem,
    WeightScale,
    plan_dpscd,
    plan_dpscd_primal,
    plan_dpscd_sequential,
)

PLANS = {"dual": plan_dpscd, "sequential": plan_dpscd_sequential, "primal": plan_dpscd_primal}


def plan(solver="dual", **changes):
    arguments = {
        "n_records": 1000,
        "n_columns": 5,
        "n_outputs": 2,
        "row_norm": 1.5,
        "rounding_slack": 0.0,
        "alpha": 1e-3,
        "typical_prediction": 1.0,
        "lipschitz": 1.0,
        "typical_weight": 1.0,
        "epsilon": 1.0,
        "delta": 1e-5,
        "adjacency": "zero_out",
        "accountant": "pld",
        "account": None,
        "share": 1.0,
        "max_iter": 10,
        "batch_size": 30,
        "clipping_norm": 0.1,
        **({"noisy_dual": False, "proximal": 0.0} if solver == "dual" else {}),
        **changes,
    }
    numbers = ("typical_prediction", "lipschitz")
    arguments["loss"] = SimpleNamespace(**{name: arguments.pop(name) for name in numbers})
    arguments["scale"] = WeightScale(typical=arguments.pop("typical_weight"))
    problem, budget = (
        cls(**{field.name: arguments.pop(field.name) for field in fields(cls)})
        for cls in (DPSCDProblem, Budget)
    )
    return PLANS[solver](problem, budget, **arguments)


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("batch_size", [1, 30, 999, 1000])
def test_what_runs_is_what_is_accounted(adjacency, batch_size):
    made = plan(adjacency=adjacency, batch_size=batch_size)
    report = made.report(reproducible=False)
    (event,) = report.events
    assert event.sampling_rate == made.sampler.rate == batch_size / 1000
    assert event.n_steps == made.sampler.n_steps == math.ceil(10_000 / batch_size)
    assert event.noise_multiplier == made.mechanism.noise_multiplier
    assert report.clipping == made.mechanism.contribution_bound == 0.1
    assert made.sampler.n_rows == made.mechanism.n_records == 1000
    assert made.mechanism.size == 10
    spent = get_epsilon(
        made.mechanism.noise_multiplier,
        1e-5,
        sampling_rate=made.sampler.rate,
        n_steps=made.sampler.n_steps,
        adjacency=adjacency,
    )
    assert 0.99 < spent <= 1.0


def test_mechanisms_never_see_the_adjacency():
    """Only the accountant doubles: replace_one differs by its noise multiplier alone."""
    zero_out, replace_one = plan().mechanism, plan(adjacency="replace_one").mechanism
    assert replace_one.contribution_bound == zero_out.contribution_bound
    assert replace_one.noise_multiplier > 1.5 * zero_out.noise_multiplier
    full = [plan(adjacency=a, batch_size=1000).mechanism for a in ("zero_out", "replace_one")]
    assert full[1].noise_multiplier == pytest.approx(2.0 * full[0].noise_multiplier, rel=1e-6)


def test_rounding_slack_reaches_the_noise():
    loose, tight = plan(rounding_slack=0.25).mechanism, plan().mechanism
    assert loose.noise_std == pytest.approx(1.25 * tight.noise_std, rel=1e-4)


def test_without_privacy_nothing_is_bounded_or_noised():
    made = plan(epsilon=math.inf)
    assert made.mechanism.contribution_bound == math.inf
    assert made.mechanism.noise_std == 0.0
    assert made.report(reproducible=True).epsilon == math.inf


@pytest.mark.parametrize("epsilon", [1e-2, 1.0, 100.0])
@pytest.mark.parametrize("n_records", [50, 1000, 10**6])
def test_auto_clipping_is_positive_scales_with_alpha_and_is_capped(epsilon, n_records):
    options = {
        "epsilon": epsilon,
        "delta": 1e-7,
        "n_records": n_records,
        "clipping_norm": "auto",
        "batch_size": "auto",
    }
    small, large = (plan(alpha=alpha, **options).mechanism for alpha in (1e-9, 1e-8))
    assert small.contribution_bound > 0.0
    assert large.contribution_bound == pytest.approx(10.0 * small.contribution_bound)
    assert plan(alpha=1e9, **options).mechanism.contribution_bound == 1.5


@pytest.mark.long
def test_auto_clipping_follows_errors_up_to_the_margin_where_the_budget_is_large():
    """Beyond, more privacy budget means less noise and not more freedom to move."""
    plans = [plan(epsilon=e, batch_size=200, clipping_norm="auto") for e in (1.0, 50.0, 500.0)]
    noise = [made.mechanism.noise_std for made in plans]
    assert plans[1].clipping_norm == plans[2].clipping_norm == pytest.approx(1e-3 * 1000 / 300.0)
    assert noise[2] < noise[1] < noise[0]


@pytest.mark.long
def test_auto_batch_size():
    sizes = [plan(n_records=n, batch_size="auto").batch_size for n in (3, 200, 10_000, 90_000)]
    assert sizes == [3, 8, 25, 75]


@pytest.mark.long
def test_auto_batch_size_grows_with_the_noise():
    """A batch follows errors up to 0.15 of the margin; below epsilon 1 that asks for more rows."""
    for epsilon, adjacency in ((0.5, "zero_out"), (0.1, "zero_out"), (0.1, "replace_one")):
        noise = 10 * calibrate(epsilon, 1e-5, adjacency=adjacency)
        options = {"n_records": 1000, "epsilon": epsilon, "adjacency": adjacency}
        made = plan(batch_size="auto", clipping_norm="auto", alpha=1e-6, **options)
        assert made.batch_size == math.ceil(0.15 * noise) > 8
        followed = made.batch_size * made.clipping_norm * 1.5 / (1e-6 * 1000)
        assert followed == pytest.approx(0.15, rel=0.25)
    assert plan(batch_size="auto", n_records=20, epsilon=0.1, delta=1e-3).batch_size == 20
    assert plan("sequential", batch_size="auto", epsilon=0.1).batch_size == 8


def test_a_noisy_dual_costs_a_factor_of_root_two():
    noisy, exact = plan(noisy_dual=True), plan()
    assert noisy.mechanism.noise_multiplier == exact.mechanism.noise_multiplier
    ratio = noisy.mechanism.contribution_bound / exact.mechanism.contribution_bound
    assert ratio == pytest.approx(math.sqrt(2.0))
    assert noisy.clipping_norm == exact.clipping_norm == 0.1


@pytest.mark.parametrize("solver", ["sequential", "primal"])
@pytest.mark.parametrize("batch_size", [1, 4])
def test_pairwise_bounds_are_never_doubled_and_nothing_is_amplified(solver, batch_size):
    """Lemmas 4 and 5: 2 C sqrt(L (L + 1)), under either adjacency, in full-batch Gaussians."""
    made = plan(solver, batch_size=batch_size)
    doubled = plan(solver, batch_size=batch_size, adjacency="replace_one")
    bound = 2.0 * 0.1 * math.sqrt(batch_size * (batch_size + 1))
    assert made.mechanism.contribution_bound == pytest.approx(bound)
    assert made.mechanism == doubled.mechanism
    n_steps = 10 if solver == "sequential" else math.ceil(10 * 5 / batch_size)
    multiplier = calibrate(1.0, 1e-5, n_steps=n_steps)
    assert made.mechanism.noise_multiplier == pytest.approx(multiplier)
    for one in (made, doubled):
        report = one.report(reproducible=False)
        assert report.mu == pytest.approx(math.sqrt(n_steps) / multiplier)
        assert "Distance" in report.to_text()
        assert 0.999 < report.epsilon_at(1e-5) <= 1.0
        n_parts = math.ceil(1000 / batch_size) if solver == "sequential" else 1
        assert report.n_releases == n_steps * n_parts == one.sampler.n_steps
