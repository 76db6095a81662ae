import logging
import math
import warnings
from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from skdp.accountant import GaussianEvent, PrivacyReport, calibrate, get_epsilon
from tests._loops import for_each
from tests.door import (
    gaussian_delta,
    gaussian_log_delta,
    largest_within,
    resolve_accountant,
    smallest_pld_delta,
)


def gaussian_delta_by_quadrature(epsilon, mu):
    # The integrand is positive above this point.
    start = epsilon / mu + mu / 2

    def gap(x):
        return norm.pdf(x - mu) - math.exp(epsilon) * norm.pdf(x)

    return quad(gap, start, start + 40, epsabs=0, epsrel=1e-11, limit=400)[0]


@pytest.mark.parametrize(
    ("delta", "rate", "n_steps", "expected"),
    [(1e-5, 0.01, 1000, 1.4146), (1e-3, 1000 / 347786, 17389, 1.1893)],
)
def test_known_values(delta, rate, n_steps, expected):
    noise = calibrate(1.0, delta, sampling_rate=rate, n_steps=n_steps)
    assert noise == pytest.approx(expected, rel=5e-3)
    assert get_epsilon(noise, delta, sampling_rate=rate, n_steps=n_steps) <= 1.0


def test_known_value_rdp():
    design = {"sampling_rate": 0.01, "n_steps": 1000, "accountant": "rdp"}
    noise = calibrate(1.0, 1e-5, **design)
    assert noise == pytest.approx(1.513, rel=2e-3)
    assert get_epsilon(noise, 1e-5, **design) <= 1.0


@pytest.mark.long
@pytest.mark.parametrize(
    ("rate", "adjacency"), product([0.003, 0.1, 0.999], ["zero_out", "replace_one"])
)
def test_live_against_dp_accounting(adjacency, rate):
    from dp_accounting import NeighboringRelation, dp_event
    from dp_accounting.pld import pld_privacy_accountant

    relation = {
        "zero_out": NeighboringRelation.ADD_OR_REMOVE_ONE,
        "replace_one": NeighboringRelation.REPLACE_ONE,
    }[adjacency]
    noise = calibrate(2.0, 1e-6, sampling_rate=rate, n_steps=50, adjacency=adjacency)
    accountant = pld_privacy_accountant.PLDAccountant(relation, 1e-3)
    event = dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(noise))
    accountant.compose(event, 50)
    assert 0.99 * 2.0 <= accountant.get_epsilon(1e-6) <= 2.0 * (1 + 1e-3)


@pytest.mark.parametrize("noise", [0.6, 2.0])
@pytest.mark.parametrize("rate", [0.05, 0.5, 1.0])
def test_replace_one_doubles(noise, rate):
    # One step, by quadrature: the record sits at +1 in one data set and at -1 in the other.
    epsilon = get_epsilon(noise, 1e-4, sampling_rate=rate, adjacency="replace_one")

    def gap(x):
        null = (1 - rate) * norm.pdf(x / noise)
        upper = null + rate * norm.pdf((x - 1) / noise)
        lower = null + rate * norm.pdf((x + 1) / noise)
        return np.maximum(upper - math.exp(epsilon) * lower, 0.0) / noise

    x = np.linspace(-1, 1 + 12 * noise, 200001)
    delta = np.trapezoid(gap(x), x)
    assert delta == pytest.approx(1e-4, rel=0.02)
    assert delta <= 1e-4 * (1 + 1e-3)


@pytest.mark.parametrize("mu", [0.01, 0.5, 3.0, 20.0])
@pytest.mark.parametrize("scaled", [0.0, 0.1, 1.0, 4.0])
def test_gaussian_delta_by_quadrature(mu, scaled):
    epsilon = mu * scaled
    expected = gaussian_delta_by_quadrature(epsilon, mu)
    assert gaussian_delta(epsilon, mu) == pytest.approx(expected, rel=1e-8)


def test_gaussian_delta_far_tail():
    # Between the first two terms of the asymptotic series of the Mills ratio.
    epsilon, mu = 30.0, 1.0
    low, high = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    log_pdf = norm.logpdf(low)
    upper = 1 / low - (1 / high - 1 / high**3)
    lower = 1 / low - 1 / low**3 - 1 / high
    value = float(gaussian_log_delta(epsilon, mu))
    assert log_pdf + math.log(lower) < value < log_pdf + math.log(upper)


@pytest.mark.long
@for_each("epsilon", [1e-3, 0.1, 1.0, 30.0, 1e3])
@for_each("delta", [1e-300, 1e-30, 1e-6, 0.5, 1 - 1e-9])
def test_full_batch_inverse(epsilon, delta):
    for n_steps, adjacency, factor in ((1, "zero_out", 1), (1000, "replace_one", 2)):
        noise = calibrate(epsilon, delta, n_steps=n_steps, adjacency=adjacency)
        mu = factor * math.sqrt(n_steps) / noise
        assert float(gaussian_log_delta(epsilon, mu)) <= math.log(delta)
        assert float(gaussian_log_delta(epsilon, mu * (1 + 1e-6))) > math.log(delta)
        found = get_epsilon(noise, delta, n_steps=n_steps, adjacency=adjacency)
        assert found <= epsilon
        assert found == pytest.approx(epsilon, rel=1e-4)


def test_replace_label_does_not_double():
    assert calibrate(1.0, 1e-5, adjacency="replace_label") == calibrate(1.0, 1e-5)
    assert calibrate(1.0, 1e-5, adjacency="replace_one") == pytest.approx(
        2 * calibrate(1.0, 1e-5), rel=1e-9
    )
    with pytest.raises(ValueError, match="replace_label"):
        calibrate(1.0, 1e-5, sampling_rate=0.5, adjacency="replace_label")


@pytest.mark.parametrize(
    ("adjacency", "epsilon", "delta", "design"),
    product(
        ["zero_out", "replace_one"],
        [1e-3, 0.1, 10.0, 1e3],
        [1e-9, 0.03],
        [(1e-3, 1), (0.01, 100), (0.3, 7), (0.9, 3000)],
    ),
)
def test_never_above_the_target(adjacency, epsilon, delta, design):
    rate, n_steps = design
    design = {"sampling_rate": rate, "n_steps": n_steps, "adjacency": adjacency}
    noise = calibrate(epsilon, delta, **design)
    assert 0.01 <= noise < math.inf
    assert 0 <= get_epsilon(noise, delta, **design) <= epsilon
    if get_epsilon(0.99 * noise, delta, **design) <= epsilon:
        # Only where a record in the clear would do.
        assert delta >= -math.expm1(n_steps * math.log1p(-rate)) or noise < 0.1


@pytest.mark.long
@pytest.mark.parametrize("accountant", ["pld", "rdp"])
def test_monotone(accountant):
    base = {
        "noise_multiplier": 1.0,
        "delta": 1e-6,
        "sampling_rate": 0.02,
        "n_steps": 200,
        "accountant": accountant,
    }
    sequences = {
        "noise_multiplier": 1.0 * 1.003 ** np.arange(12),
        "delta": 1e-6 * 1.01 ** np.arange(12),
        "sampling_rate": 0.02 / 1.003 ** np.arange(12),
        "n_steps": list(range(211, 199, -1)),
    }
    for name, values in sequences.items():
        found = [get_epsilon(**(base | {name: value})) for value in values]
        assert np.all(np.diff(found) < 0), name


@pytest.mark.long
@pytest.mark.parametrize(
    ("adjacency", "design", "mu"),
    product(
        ["zero_out", "replace_one"],
        [(0.1, 10**6), (0.99, 1000), (0.5, 10**5)],
        [3e-4, 0.03, 0.3],
    ),
)
def test_much_noise_is_gaussian(adjacency, design, mu):
    (rate, n_steps), factor = design, {"zero_out": 1, "replace_one": 2}[adjacency]
    # With much noise a mixture of near Gaussians is a Gaussian at the mean: a closed form that
    # shows rounding errors, which are largest here, in either direction.
    noise = rate * math.sqrt(n_steps) / mu
    exact = get_epsilon(1 / (factor * mu), 1e-7)
    design = {"sampling_rate": rate, "n_steps": n_steps, "adjacency": adjacency}
    assert (1 - 2e-4) * exact <= get_epsilon(noise, 1e-7, **design) <= 1.008 * exact


@pytest.mark.long
def test_sampling_helps_down_to_the_full_batch():
    rates = [0.5, 0.9, 0.99, 0.9999, 1.0]
    noises = [calibrate(1.0, 1e-5, sampling_rate=rate, n_steps=20) for rate in rates]
    assert np.all(np.diff(noises[:4]) > 0)
    assert noises[-2] == pytest.approx(noises[-1], rel=5e-3)


@pytest.mark.parametrize("rate", [0.01, 1.0])
def test_rdp_is_never_below_pld(rate):
    for noise in (0.7, 2.0, 20.0):
        for delta in (1e-10, 1e-3):
            loose = get_epsilon(noise, delta, sampling_rate=rate, n_steps=30, accountant="rdp")
            tight = get_epsilon(noise, delta, sampling_rate=rate, n_steps=30)
            assert tight * (1 - 1e-3) <= loose < 2 * tight + 0.5


@pytest.mark.long
def test_tiny_delta_uses_rdp_and_says_so():
    design = {"sampling_rate": 0.01, "n_steps": 1000}
    assert resolve_accountant("pld", 1e-5, 0.01, 1000) == "pld"
    assert resolve_accountant("pld", 1e-13, 0.01, 1000) == "rdp"
    assert resolve_accountant("pld", 1e-300) == "analytic"
    assert resolve_accountant("rdp", 1e-5) == "rdp"
    assert calibrate(1.0, 1e-13, **design) == calibrate(1.0, 1e-13, accountant="rdp", **design)
    assert calibrate(1.0, 1e-300, **design) > calibrate(1.0, 1e-13, **design)
    edge = smallest_pld_delta(1000)
    assert get_epsilon(2.0, edge, **design) < get_epsilon(2.0, 0.999 * edge, **design)
    with pytest.raises(ValueError, match="delta"):
        calibrate(1.0, 1e-13, adjacency="replace_one", **design)
    with pytest.raises(ValueError, match="cannot certify"):
        calibrate(1e-3, 1e-300, **design)


def test_extremes():
    assert calibrate(math.inf, 0.0) == 0.0
    assert calibrate(math.inf, 1e-5, sampling_rate=0.1, n_steps=10) == 0.0
    assert get_epsilon(0.0, 1e-5) == get_epsilon(0.0, 1e-5, sampling_rate=0.1) == math.inf
    assert get_epsilon(math.inf, 1e-5) == 0.0
    assert get_epsilon(1.0, 0.0) == get_epsilon(1.0, 0.0, sampling_rate=0.1) == math.inf
    assert get_epsilon(1e6, 1e-5, sampling_rate=0.01) == 0.0
    # delta >= q allows a record to be published when it is sampled: any noise will do.
    assert calibrate(1.0, 0.1, sampling_rate=0.01) == pytest.approx(0.01)
    assert get_epsilon(1e-3, 1e-5, sampling_rate=0.01, n_steps=10) > 1e5


def test_numpy_scalars():
    expected = calibrate(1.0, 1e-5, sampling_rate=0.5, n_steps=3)
    assert expected == calibrate(
        np.float64(1), np.float64(1e-5), sampling_rate=np.float64(0.5), n_steps=np.int64(3)
    )
    assert type(expected) is float
    assert type(calibrate(1, 1e-5)) is float


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, "1", None, True])
def test_bad_epsilon(value):
    with pytest.raises(ValueError, match="epsilon"):
        calibrate(value, 1e-5)


@pytest.mark.parametrize("value", [-1.0, math.nan, "1", None, True])
def test_bad_noise_multiplier(value):
    with pytest.raises(ValueError, match="noise_multiplier"):
        get_epsilon(value, 1e-5)


@pytest.mark.parametrize("function", [calibrate, get_epsilon])
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("delta", (-0.1, 1.0, 2.0, math.nan, math.inf, None)),
        ("sampling_rate", (0.0, -0.5, 1.5, math.nan, "0.1")),
        ("n_steps", (0, -3, 1.5, 10.0, math.inf, True, "4")),
        ("adjacency", ("add_remove", None, 3)),
        ("accountant", ("moments", None)),
    ],
)
def test_bad_arguments(function, name, values):
    for value in values:
        arguments = {"delta": 1e-5} | {name: value}
        with pytest.raises(ValueError, match=name):
            function(1.0, **arguments)


def test_delta_zero_is_refused():
    with pytest.raises(ValueError, match="delta"):
        calibrate(1.0, 0.0)


@pytest.mark.parametrize("rate", [0.5, 1.0])
def test_rdp_refuses_replace_one(rate):
    with pytest.raises(ValueError, match="'pld'"):
        calibrate(1.0, 1e-5, sampling_rate=rate, adjacency="replace_one", accountant="rdp")


def test_no_log_lines_and_no_lasting_change(caplog):
    logger = logging.getLogger("absl")
    filters = list(logger.filters)
    with caplog.at_level(logging.DEBUG), warnings.catch_warnings():
        warnings.simplefilter("error")
        get_epsilon(0.05, 1e-5, sampling_rate=0.3, n_steps=5, accountant="rdp")
    assert not caplog.records
    assert logger.filters == filters


def test_the_largest_that_fits_is_found_where_costs_jump():
    """Designs change by whole steps; nothing that exceeds the budget is returned."""
    tried = []

    def jumping(x):
        tried.append(x)
        return 0.3 * x + 0.05 * math.floor(x)

    found = largest_within(jumping, 5.0, enough=0.95)
    assert 0.85 <= jumping(found) <= 1.0
    assert len(tried) < 90
    free = largest_within(lambda x: max(0.0, x - 300.0) / 40.0, 1.0, enough=0.9)
    assert 336.0 <= free <= 340.0
    assert largest_within(lambda x: 0.0, 1.0, enough=0.9) > 1e3
    smooth = largest_within(lambda x: x**1.7 / 40.0, 1.0, enough=1.0 - 1e-9)
    assert 1.0 - 1e-9 <= smooth**1.7 / 40.0 <= 1.0


@pytest.mark.parametrize("cost", [lambda x: math.inf, lambda x: 1.5, lambda x: 2.0 + x])
def test_where_nothing_fits_the_search_ends_without_a_number(cost):
    assert largest_within(cost, 1.0, enough=0.99) is None


@pytest.mark.parametrize(
    ("spent", "largest"),
    [
        (lambda x: max(x - 3.0, 0.0) / 4.0, 7.0),
        (lambda x: 0.0 if x < 50.0 else x / 100.0, 100.0),
        (lambda x: max(x - 1e5, 0.0) / 1e5, 2e5),
    ],
)
def test_a_search_goes_on_from_a_cost_of_nothing(spent, largest):
    assert 0.9 * largest < largest_within(spent, 1.0, enough=0.98) <= largest


def _beside(epsilon, delta, share):
    """Return two releases of that share, one of them of two steps."""
    noise = calibrate(epsilon, delta, pairwise=True) / math.sqrt(share)
    first = GaussianEvent(noise * math.sqrt(2.0), pairwise=True)
    return first, GaussianEvent(noise * 2.0, n_steps=2, pairwise=True)


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ["replace_one", "zero_out"])
def test_both_directions_of_steps_beside_another_release_hold(adjacency):
    """By a sum over a fine grid of both losses, and no convolution of ours."""
    epsilon, delta, rate = 1.0, 1e-3, 0.3
    beside = (GaussianEvent(1.0 / 0.15, pairwise=True),)
    options = {"sampling_rate": rate, "n_steps": 1, "adjacency": adjacency, "beside": beside}
    noise = calibrate(epsilon, delta, **options)

    def found(noise):
        ends = (-1.0, 1.0) if adjacency == "replace_one" else (0.0, 1.0)
        z, h = np.linspace(-9.0 * noise, 9.0 * noise, 2401, retstep=True)
        x, g = np.linspace(-9.0, 9.0, 2401, retstep=True)

        def of_step(end):
            here, null = norm.pdf(z, end, noise), norm.pdf(z, 0.0, noise)
            return rate * here + (1.0 - rate) * null

        deltas = []
        for p, q in (ends, ends[::-1]):
            for sign in (1.0, -1.0):
                one = np.outer(of_step(p), norm.pdf(x, sign * 0.075))
                two = np.outer(of_step(q), norm.pdf(x, -sign * 0.075))
                deltas.append(np.maximum(one - math.exp(epsilon) * two, 0.0).sum() * h * g)
        return max(deltas)

    assert found(noise) <= delta
    assert found(0.97 * noise) > delta


@pytest.mark.parametrize("accountant", ["pld", "rdp"])
def test_releases_beside_are_what_a_report_adds_up(accountant):
    beside, design = _beside(1.0, 1e-5, 0.1), {"sampling_rate": 0.02, "n_steps": 300}
    noise = calibrate(1.0, 1e-5, accountant=accountant, beside=beside, **design)
    events = (*beside, GaussianEvent(noise, **design))
    fields = {"adjacency": "zero_out", "clipping": None, "accountant": accountant}
    report = PrivacyReport(epsilon=1.0, delta=1e-5, events=events, **fields)
    assert report.epsilon == 1.0
    assert report.epsilon_at(1e-5) > 0.99


def test_full_batches_beside_other_releases_add_up_exactly():
    beside = _beside(1.0, 1e-5, 0.36)
    noise = calibrate(1.0, 1e-5, n_steps=7, beside=beside)
    assert noise == pytest.approx(calibrate(1.0, 1e-5, n_steps=7) / 0.8)


def test_releases_beside_may_not_spend_all():
    with pytest.raises(ValueError, match="leaves nothing"):
        calibrate(1.0, 1e-5, sampling_rate=0.1, beside=_beside(1.0, 1e-5, 1.001))
    sampled = (GaussianEvent(50.0, sampling_rate=0.5),)
    with pytest.raises(ValueError, match="full batches"):
        calibrate(1.0, 1e-5, sampling_rate=0.1, beside=sampled)
