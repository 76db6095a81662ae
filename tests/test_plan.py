import math

import pytest

from skdp._plan import plan_dual_cd, resolve_batch_size
from skdp.accountant import get_epsilon


def plan(**changes):
    arguments = {
        "n_rows": 1000,
        "n_columns": 5,
        "n_outputs": 2,
        "row_norm": 1.5,
        "rounding_slack": 0.0,
        "margin": 1.0,
        "alpha": 1e-3,
        "epsilon": 1.0,
        "delta": 1e-5,
        "adjacency": "zero_out",
        "accountant": "pld",
        "max_iter": 10,
        "batch_size": 30,
        "clipping_norm": 0.1,
        **changes,
    }
    return plan_dual_cd(**arguments)


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
@pytest.mark.parametrize("n_rows", [50, 1000, 10**6])
def test_auto_clipping_is_positive_scales_with_alpha_and_is_capped(epsilon, n_rows):
    options = {
        "epsilon": epsilon,
        "delta": 1e-7,
        "n_rows": n_rows,
        "clipping_norm": "auto",
        "batch_size": "auto",
    }
    small, large = (plan(alpha=alpha, **options).mechanism for alpha in (1e-9, 1e-8))
    assert small.contribution_bound > 0.0
    assert large.contribution_bound == pytest.approx(10.0 * small.contribution_bound)
    assert plan(alpha=1e9, **options).mechanism.contribution_bound == 1.5


def test_auto_batch_size():
    assert [resolve_batch_size("auto", n) for n in (3, 200, 10_000, 10**6)] == [3, 8, 25, 250]
    assert resolve_batch_size(7, 10) == 7
