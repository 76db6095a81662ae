import math
from dataclasses import fields, replace

import numpy as np
import pytest

from skdp._plans._base import Budget
from skdp._plans._dpsgd import (
    DPSGDPlan,
    DPSGDProblem,
    StepSizes,
    plan_dpsgd,
    plan_dpsgd_laplace,
    plan_dpsgd_stream,
)
from skdp._random import make_stream
from skdp.accountant import get_epsilon

PROBLEM = DPSGDProblem(
    n_rows=1000,
    n_columns=5,
    n_outputs=2,
    row_norm=1.5,
    rounding_slack=0.0,
    l1=0.0,
    l2=1e-3,
    reach=2.5,
    smoothness=0.25,
    lipschitz=1.0,
    at_zero=0.7,
)


def plan(make=plan_dpsgd, **changes):
    arguments = {
        "epsilon": 1.0,
        "delta": 1e-5,
        "adjacency": "zero_out",
        "accountant": "pld",
        "account": None,
        "learning_rate": "constant",
        "eta0": "auto",
        "power_t": 0.5,
        "alpha": 1e-3,
        "max_iter": "auto",
        "batch_size": 30,
        "clipping_norm": 0.1,
        **changes,
    }
    budget, steps = (
        cls(**{field.name: arguments.pop(field.name) for field in fields(cls)})
        for cls in (Budget, StepSizes)
    )
    names = {field.name for field in fields(DPSGDProblem)} & arguments.keys()
    problem = replace(PROBLEM, **{name: arguments.pop(name) for name in names})
    return make(problem, budget, steps, **arguments)


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("batch_size", [1, 30, 1000])
def test_gaussian_noise_is_what_is_accounted(adjacency, batch_size):
    made = plan(adjacency=adjacency, batch_size=batch_size)
    report = made.report(reproducible=False)
    (event,) = report.events
    assert event.sampling_rate == made.sampler.rate == batch_size / 1000
    assert event.n_steps == made.sampler.n_steps == math.ceil(10_000 / batch_size)
    assert event.noise_multiplier == made.mechanism.noise_multiplier
    assert report.clipping == made.mechanism.contribution_bound == 0.1
    assert made.mechanism.size == 10
    assert made.n_passes == 10
    spent = get_epsilon(
        event.noise_multiplier,
        1e-5,
        sampling_rate=event.sampling_rate,
        n_steps=event.n_steps,
        adjacency=adjacency,
    )
    assert 0.99 < spent <= 1.0


@pytest.mark.parametrize("max_iter", ["auto", 1, 3])
@pytest.mark.parametrize(("adjacency", "factor"), [("zero_out", 1.0), ("replace_one", 2.0)])
def test_laplace_noise_is_what_is_accounted(adjacency, factor, max_iter):
    made = plan(plan_dpsgd_laplace, adjacency=adjacency, max_iter=max_iter, epsilon=0.5)
    n_passes = 1 if max_iter == "auto" else max_iter
    assert made.n_passes == made.sampler.n_passes == n_passes
    assert made.mechanism.noise_multiplier == pytest.approx(factor * n_passes / 0.5)
    assert made.mechanism.contribution_bound == 0.1
    report = made.report(reproducible=False)
    assert (report.epsilon, report.delta) == (0.5, 0.0)
    assert report.n_releases == made.sampler.n_steps == n_passes * 34
    assert report.n_steps == n_passes
    assert 0.5 * (1.0 - 1e-12) <= report.epsilon_at(0.0) <= 0.5
    assert ("basic composition" in report.to_text()) == (n_passes > 1)


def test_the_accountant_and_delta_have_no_effect_on_laplace_noise():
    one = plan(plan_dpsgd_laplace, adjacency="replace_one")
    other = plan(plan_dpsgd_laplace, adjacency="replace_one", accountant="rdp", delta=0.5)
    assert one.mechanism == other.mechanism
    assert one.report(reproducible=False) == other.report(reproducible=False)


@pytest.mark.parametrize("n_passes", [1, 4])
def test_personal_epsilons_become_noise_multipliers(n_passes):
    epsilons = np.linspace(0.1, 0.8, 1000)
    made = plan(
        plan_dpsgd_laplace, sample_epsilon=epsilons, max_iter=n_passes, adjacency="replace_one"
    )
    np.testing.assert_allclose(made.noise_multipliers, 2.0 * n_passes / epsilons)
    # Never less noise than a record asks for, rounding included.
    assert (2.0 * n_passes / made.noise_multipliers <= epsilons).all()
    report = made.report(reproducible=False)
    assert report.epsilon == 0.8
    (event,) = report.events
    assert event.noise_multiplier == made.mechanism.noise_multiplier == made.noise_multipliers.min()
    assert event.largest_multiplier == made.noise_multipliers.max()
    assert "from 0.1 to 0.8" in report.to_text().replace("\n" + " " * 16, " ")


@pytest.mark.parametrize("n_passes", [1, 4])
@pytest.mark.parametrize("batch_size", [30, "auto"])
def test_records_of_about_the_same_epsilon_share_batches(batch_size, n_passes):
    epsilons = np.random.default_rng(0).permutation(np.linspace(0.1, 0.8, 1000))
    made = plan(
        plan_dpsgd_laplace, sample_epsilon=epsilons, max_iter=n_passes, batch_size=batch_size
    )
    batches = list(made.sampler.batches(make_stream(0)))
    assert len(batches) == made.sampler.n_steps == made.report(reproducible=False).n_releases
    largest = max(batch.size for batch in batches)
    assert made.batch_size == (largest if batch_size == "auto" else batch_size) >= largest
    assert made.sampler.design["n_parts"] == made.event.n_parts
    # Sorted, they span the range once a pass.
    spans = [np.ptp(epsilons[batch]) for batch in batches]
    assert sum(spans) < n_passes * 0.7


def test_one_epsilon_for_all_is_the_same_plan():
    shared, personal = (
        plan(plan_dpsgd_laplace),
        plan(plan_dpsgd_laplace, sample_epsilon=np.full(1000, 1.0)),
    )
    for field in fields(DPSGDPlan):
        if field.name != "notes":
            assert getattr(shared, field.name) == getattr(personal, field.name)
    assert "from 1 to 1" in personal.notes[-1]


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_auto_steps_let_the_noise_of_personal_budgets_be_as_large_as_the_reach(share):
    epsilons = np.where(np.arange(1000) < 1000 * share, 0.005, 0.02)
    made = plan(plan_dpsgd_laplace, epsilon=0.02, smoothness=math.inf, sample_epsilon=epsilons)
    total = 0.0
    for batch in made.sampler.batches(make_stream(0)):
        noise = made.mechanism.serving(made.noise_multipliers[batch])
        short = min(1.0, made.full_step_noise * batch.size / noise.noise_multiplier) ** 2
        total += (made.eta0 * short * noise.noise_std / batch.size) ** 2
    assert 1.5 * math.sqrt(total) == pytest.approx(2.5, rel=1e-3)


def test_without_privacy_nothing_is_bounded_or_noised():
    for make in (plan_dpsgd, plan_dpsgd_laplace):
        made = plan(make, epsilon=math.inf)
        assert made.clipping_norm == made.radius == math.inf
        assert made.mechanism.noise_std == 0.0
        assert made.eta0 == pytest.approx(1.0 / (0.25 * 1.5**2))
        assert made.report(reproducible=True).epsilon == math.inf


def test_the_radius_is_the_papers_for_rows_in_the_unit_ball():
    paper = replace(PROBLEM, row_norm=1.0)
    assert paper.radius == pytest.approx(1.0 / 1e-3)
    assert PROBLEM.radius == pytest.approx(1.5 / 1e-3)
    assert replace(PROBLEM, l1=2.0, l2=0.0).radius == pytest.approx(0.35)
    assert replace(PROBLEM, lipschitz=math.inf, at_zero=math.inf).radius == math.inf


@pytest.mark.parametrize(
    ("learning_rate", "power", "eta0"),
    [("constant", 0.0, 0.3), ("invscaling", 0.7, 0.3), ("inv_alpha", 1.0, 1000.0)],
)
def test_schedules(learning_rate, power, eta0):
    made = plan(learning_rate=learning_rate, eta0=0.3, power_t=0.7)
    assert (made.eta0, made.power) == (pytest.approx(eta0), power)


@pytest.mark.parametrize("make", [plan_dpsgd, plan_dpsgd_laplace])
@pytest.mark.parametrize("power_t", [0.0, 0.5, 0.8])
def test_auto_steps_let_the_noise_of_all_steps_be_as_large_as_the_reach(make, power_t):
    made = plan(
        make, epsilon=0.02, learning_rate="invscaling", power_t=power_t, smoothness=math.inf
    )
    t = np.arange(1, made.sampler.n_steps + 1)
    total = made.eta0 * math.sqrt((t ** (-2.0 * power_t)).sum())
    tau = 1.5 * total * made.mechanism.noise_std / made.sampler.expected_size
    assert tau == pytest.approx(2.5, rel=0.25)


def test_auto_settings_are_capped():
    loose = plan(epsilon=1e4, clipping_norm="auto")
    assert loose.clipping_norm == pytest.approx(0.3 * 1.5)
    assert loose.eta0 == pytest.approx(2.0 / (0.25 * 1.5**2))
    assert plan(lipschitz=0.2, clipping_norm="auto").clipping_norm == pytest.approx(0.3)
    assert plan(clipping_norm="auto", smoothness=math.inf).clipping_norm == 1.5
    rough = plan(epsilon=1e4, clipping_norm="auto", smoothness=math.inf)
    assert rough.eta0 == pytest.approx(2.5 / 1.5 / 1.5)


def test_a_stream_reports_the_largest_epsilon_and_every_call():
    before = None
    for n_calls, epsilon in ((1, 0.5), (2, 0.8), (3, 0.2)):
        made = plan_dpsgd_stream(
            PROBLEM,
            Budget(epsilon, 1e-5, "zero_out", "pld"),
            StepSizes("constant", "auto", 0.5, 1e-3),
            n_calls=n_calls,
            clipping_norm=0.1,
            before=before,
        )
        assert made.mechanism.noise_multiplier == pytest.approx(1.0 / epsilon)
        before = made.report(reproducible=False)
    assert (before.epsilon, before.delta) == (0.8, 0.0)
    assert before.n_releases == 3
    assert before.n_steps == 1
    assert before.clipping == 0.1
    (event,) = before.events
    assert event.noise_multiplier == pytest.approx(1.0 / 0.8)
    assert event.largest_multiplier == pytest.approx(1.0 / 0.2)
