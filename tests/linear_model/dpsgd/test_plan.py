import math
from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest

from skdp.accountant import get_epsilon
from tests.door import (
    Budget,
    DPSGDPlan,
    DPSGDProblem,
    StepSizes,
    make_stream,
    plan_dpsgd,
    plan_dpsgd_laplace,
    plan_dpsgd_stream,
)

# A multinomial one is stated for all outputs together.
LOSS = {
    "name": "multinomial",
    "noise_reach": 2.5,
    "clip_decay": 2.0,
    "smoothness": 0.25,
    "lipschitz": 1.0,
    "loss_at_zero": 0.7,
}
PROBLEM = DPSGDProblem(
    n_records=1000,
    n_columns=5,
    n_outputs=2,
    row_norm=1.5,
    rounding_slack=0.0,
    l1=0.0,
    l2=1e-3,
    loss=SimpleNamespace(**LOSS),
)


def plan(make=plan_dpsgd, **changes):
    arguments = {
        "epsilon": 1.0,
        "delta": 1e-5,
        "adjacency": "zero_out",
        "accountant": "pld",
        "account": None,
        "share": 1.0,
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
    loss = {name: arguments.pop(name, value) for name, value in LOSS.items()}
    names = {field.name for field in fields(DPSGDProblem)} & arguments.keys()
    numbers = {name: arguments.pop(name) for name in names}
    problem = replace(PROBLEM, loss=SimpleNamespace(**loss), **numbers)
    return make(problem, budget, steps, **arguments)


@pytest.mark.long
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
    assert made.sampler.design["n_parts"] == made.events[0].n_parts
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
def test_auto_steps_let_the_noise_of_personal_budgets_be_as_long_as_the_reach(share):
    epsilons = np.where(np.arange(1000) < 1000 * share, 0.005, 0.02)
    made = plan(plan_dpsgd_laplace, epsilon=0.02, noise_reach=0.01, sample_epsilon=epsilons)
    total = 0.0
    for batch in made.sampler.batches(make_stream(0)):
        noise = made.mechanism.serving(made.noise_multipliers[batch])
        short = min(1.0, made.full_step_noise * batch.size / noise.noise_multiplier) ** 2
        total += (made.eta0 * short * noise.noise_std / batch.size) ** 2
    assert 1.5 * math.sqrt(5.0 * total) == pytest.approx(0.01, rel=1e-3)


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
    unbounded = LOSS | {"lipschitz": math.inf, "loss_at_zero": math.inf}
    assert replace(PROBLEM, loss=SimpleNamespace(**unbounded)).radius == math.inf


@pytest.mark.parametrize(
    ("learning_rate", "power", "eta0"),
    [("constant", 0.0, 0.3), ("invscaling", 0.7, 0.3), ("inv_alpha", 1.0, 1000.0)],
)
def test_schedules(learning_rate, power, eta0):
    made = plan(learning_rate=learning_rate, eta0=0.3, power_t=0.7)
    assert (made.eta0, made.power) == (pytest.approx(eta0), power)


@pytest.mark.parametrize("make", [plan_dpsgd, plan_dpsgd_laplace])
@pytest.mark.parametrize("power_t", [0.0, 0.5, 0.8])
def test_auto_steps_let_the_noise_of_w_be_as_long_as_the_reach(make, power_t):
    made = plan(
        make,
        n_records=100_000,
        epsilon=0.03,
        delta=1e-6,
        learning_rate="invscaling",
        power_t=power_t,
        smoothness=1e-9,
    )
    t = np.arange(1, made.sampler.n_steps + 1)
    total = made.eta0 * math.sqrt((t ** (-2.0 * power_t)).sum())
    length = math.sqrt(5.0) * total * made.mechanism.noise_std / made.sampler.expected_size
    assert 1.5 * length == pytest.approx(2.5, rel=0.25 if power_t else 1e-3)


def test_of_many_columns_as_many_as_64_have_the_reach():
    """The noise of an entry is the same for 64 columns and for more."""
    few, some, many = (
        plan(n_columns=n, n_records=100_000, epsilon=0.1, delta=1e-6, smoothness=1e-9)
        for n in (16, 64, 900)
    )
    assert few.eta0 == pytest.approx(2.0 * some.eta0, rel=1e-3)
    assert many.eta0 == pytest.approx(some.eta0, rel=1e-3)


@pytest.mark.parametrize("make", [plan_dpsgd, plan_dpsgd_laplace])
def test_auto_steps_take_in_no_more_noise_than_is_worth_its_signal(make):
    """Where the mean gradient of all steps drowns, a prediction gets a tenth over its noise."""
    made = plan(make, epsilon=0.1, n_records=200, delta=1e-3, noise_reach=16.0, smoothness=1e-9)
    step = made.mechanism.noise_std / made.sampler.expected_size
    steps = made.sampler.n_steps
    unit = step / made.clipping_norm / math.sqrt(steps)
    moved = 1.5 * made.eta0 * step * math.sqrt(steps)
    assert moved == pytest.approx(0.1 / unit, rel=1e-3)
    assert moved < 16.0 / math.sqrt(5.0)


@pytest.mark.long
@pytest.mark.parametrize("make", [plan_dpsgd, plan_dpsgd_laplace])
def test_momentum_carries_steps_that_are_too_long_to_be_stable(make):
    """With it a unit of noise still moves w by eta0 in the end, by parts that are stable."""
    made = plan(
        make, epsilon=1.0, n_records=40_000, batch_size=80, noise_reach=16.0, clipping_norm=0.5
    )
    longest = 2.0 / (0.25 * 1.5**2)
    assert made.eta0 > 1.5 * longest
    assert (1.0 - made.momentum) * made.eta0 == pytest.approx(longest)
    assert 1.0 / (1.0 - made.momentum) < made.sampler.n_steps / 15.0
    assert plan(make, epsilon=1e-3).momentum == 0.0
    assert plan(make, eta0=100.0).momentum == 0.0
    assert plan(make, epsilon=math.inf).momentum == 0.0
    assert plan(make, learning_rate="inv_alpha").momentum == 0.0
    assert plan(make, smoothness=math.inf, clipping_norm=1e-9).momentum == 0.0


@pytest.mark.long
@pytest.mark.parametrize("make", [plan_dpsgd, plan_dpsgd_laplace])
def test_the_noise_of_w_by_running_its_steps_alone(make):
    """Noise in place of gradients, step by step, through momentum."""
    made = plan(
        make, epsilon=0.3, n_records=40_000, batch_size=100, noise_reach=16.0, clipping_norm=0.5
    )
    assert made.momentum > 0.0
    steps = made.sampler.n_steps
    noise = make_stream(0).normal((steps, 2000)) * made.mechanism.noise_std / 100
    w = move = np.zeros(2000)
    for released in noise:
        move = made.momentum * move + (1.0 - made.momentum) * made.eta0 * released
        w = w - move
    # Capped steps are shorter than the reach asks for; 2,000 draws give 1.6 % per deviation.
    moved = made.eta0 * math.sqrt(steps) * made.mechanism.noise_std / 100
    assert w.std() == pytest.approx(moved, rel=0.1)
    assert 1.5 * math.sqrt(5.0) * moved <= 16.0 * 1.001


@pytest.mark.long
def test_auto_settings_are_capped():
    many = {"n_records": 10**6, "delta": 1e-7, "batch_size": "auto"}
    little = plan(epsilon=1e4, clipping_norm="auto", noise_reach=16.0, clip_decay=16.0, **many)
    assert 0.99 * 1.5 < little.clipping_norm < 1.5
    assert little.momentum == pytest.approx(1.0 - 15.0 / little.sampler.n_steps)
    stable = little.eta0 * (1.0 - little.momentum)
    assert stable == pytest.approx(2.0 / (0.25 * 1.5**2))
    assert plan(epsilon=1e-2, clipping_norm="auto", clip_decay=16.0).clipping_norm < 0.3 * 1.5
    assert plan(lipschitz=0.2, clip_decay=0.0, clipping_norm="auto").clipping_norm == (
        pytest.approx(0.3)
    )
    rough = plan(epsilon=1e4, clipping_norm="auto", smoothness=math.inf, clip_decay=0.0)
    assert rough.clipping_norm == 1.5
    assert rough.eta0 == pytest.approx(0.2 * 2.5 / 1.5 / 1.5)


@pytest.mark.parametrize("make", [plan_dpsgd, plan_dpsgd_laplace])
def test_the_auto_clip_balances_noise_and_bias(make):
    """(1/c - 1)^2 is the clip_decay times the length of the noise of the mean of all steps."""
    made = plan(make, clipping_norm="auto", clip_decay=16.0)
    slope = made.clipping_norm / 1.5
    per_step = made.mechanism.noise_std / made.clipping_norm / made.sampler.expected_size
    length = math.sqrt(5.0) * per_step / math.sqrt(made.sampler.n_steps)
    assert (1.0 / slope - 1.0) ** 2 == pytest.approx(16.0 * length, rel=1e-3)


@pytest.mark.long
def test_auto_batches_are_the_smallest_that_are_loud():
    """They are no larger than the noise asks for, leave some hundred steps, and hinges have few."""
    for n_records, epsilon in ((200_000, 0.5), (200_000, 2.0), (1_000_000, 1.0)):
        made = plan(n_records=n_records, epsilon=epsilon, delta=1e-7, batch_size="auto")
        assert 1.0 < made.mechanism.noise_multiplier < 2.0
    many = {"n_records": 40_000, "batch_size": "auto"}
    assert plan(epsilon=0.1, **many).batch_size == 100
    assert plan(epsilon=50.0, **many).sampler.n_steps == pytest.approx(300, abs=1)
    assert plan(epsilon=50.0, smoothness=math.inf, **many).batch_size == 50
    assert plan(epsilon=math.inf, **many).batch_size == 50
    assert plan(epsilon=50.0, n_records=40, delta=1e-3, batch_size="auto").batch_size == 8


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
