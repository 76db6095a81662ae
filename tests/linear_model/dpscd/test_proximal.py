import math

import pytest

from skdp.accountant import calibrate
from tests.door import (
    dpscd_plan_module as _plan,
    dual_share,
    intercept_share,
    proximal_batch_size,
    proximal_strength,
)
from tests.linear_model.dpscd.test_plan import plan

AUTO = {"proximal": "auto", "batch_size": "auto", "clipping_norm": "auto", "n_outputs": 1}


def asked(n_columns, noise_of_pass, noise_of_steps, n_records):
    """The pull that the noise asks for, in R^2, as doc/theory/default_rules.rst has it."""
    return n_columns * noise_of_steps / n_records * (1 / 30 + 3 * noise_of_pass / n_records)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(("n_records", "n_columns"), [(300, 9), (8000, 66), (10**6, 50)])
def test_the_pull_is_the_larger_of_what_noise_and_batch_ask_for(n_records, n_columns, epsilon):
    made = plan(n_records=n_records, n_columns=n_columns, epsilon=epsilon, delta=1e-7, **AUTO)
    once = calibrate(epsilon, 1e-7)
    steps = made.mechanism.noise_multiplier * math.sqrt(made.sampler.n_steps) / 10
    noise = asked(n_columns, once, steps, n_records)
    batch = made.batch_size / n_records / 20
    assert made.proximal == pytest.approx(1.5**2 * max(noise, batch))
    share = min(1.0, max(9 / n_columns, 1 / 9))
    assert made.intercept_proximal == pytest.approx(share * made.proximal)
    reached = max(0.6, 1 / (1 + 150 * once / n_records))
    assert made.clipping_norm == pytest.approx(1.5 * reached / 10)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize(("n_records", "n_columns"), [(8000, 66), (30_000, 98), (10**6, 50)])
def test_the_batch_is_the_first_that_costs_little_or_asks_for_the_pull_of_its_noise(
    n_records, n_columns, epsilon
):
    """By looking at every batch size in turn."""
    once, at_least = calibrate(epsilon, 1e-7), 8
    found = proximal_batch_size(
        n_records, n_columns, max_iter=10, noise_of_pass=once, at_least=at_least
    )

    def is_enough(size):
        u = 10 * size / n_records * once**2
        excess = (u * math.log(1 + 1 / u)) ** -0.5
        balanced = size / n_records / 20 >= asked(n_columns, once, once * excess, n_records)
        return balanced or u >= 2.0 or size >= 0.1 * n_records

    first = next(size for size in range(at_least, n_records + 1) if is_enough(size))
    assert first <= found <= first + 1


@pytest.mark.long
def test_the_excess_of_small_batches_is_that_of_the_accountant():
    for epsilon, rate in ((1.0, 0.001), (1.0, 0.01), (0.5, 0.02), (3.0, 0.01)):
        once, n_steps = calibrate(epsilon, 1e-5), math.ceil(10 / rate)
        multiplier = calibrate(epsilon, 1e-5, sampling_rate=rate, n_steps=n_steps)
        excess = multiplier * math.sqrt(n_steps) / (10 * once)
        assert _plan._excess(10 * rate * once**2) == pytest.approx(excess, rel=0.15)


def test_the_limits_of_the_shares():
    assert [intercept_share(d) for d in (1, 9, 18, 81, 10**4)] == [1, 1, 0.5, 1 / 9, 1 / 9]
    assert dual_share(1.0) == 0.6
    assert dual_share(0.0) == 1.0


@pytest.mark.long
def test_a_pull_of_ones_own():
    made = plan(**AUTO | {"proximal": 0.25, "n_columns": 18})
    assert (made.proximal, made.intercept_proximal) == (0.25, 0.125)
    for settings in (AUTO | {"proximal": 0.0}, AUTO | {"lipschitz": math.inf}):
        as_published = plan(**settings)
        assert as_published.proximal == as_published.intercept_proximal == 0.0
        assert as_published.batch_size == 8
        assert as_published.clipping_norm < 0.1
    with pytest.raises(ValueError, match="proximal"):
        plan(**AUTO | {"proximal": 1e31})


def test_all_rows_are_a_batch_where_there_are_no_more():
    assert plan(**AUTO | {"n_records": 5, "epsilon": 0.1, "delta": 1e-3}).batch_size == 5
    assert plan(**AUTO | {"epsilon": math.inf}).proximal == pytest.approx(1.5**2 * 0.008 / 20)


def test_a_batch_is_a_tenth_of_the_rows_at_most():
    size = proximal_batch_size(400, 100, max_iter=10, noise_of_pass=0.9, at_least=5)
    assert size == 40


def test_columns_beyond_a_hundred_ask_for_no_more():
    pulls = [proximal_strength(1.0, n_columns, 0.01) for n_columns in (50, 100, 784)]
    assert pulls[1] == pulls[2] == pytest.approx(2.0 * pulls[0])
    sizes = [
        proximal_batch_size(10**5, d, max_iter=10, noise_of_pass=40.0, at_least=8)
        for d in (100, 784)
    ]
    assert sizes[0] == sizes[1]
