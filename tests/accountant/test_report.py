import dataclasses
import html.parser
import json
import math
import pickle

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import binom, norm

from skdp.accountant import (
    GaussianEvent,
    LaplaceEvent,
    PrivacyReport,
    RandomizedResponseEvent,
    calibrate,
    compose,
    get_epsilon,
)
from tests.door import subsampled_delta


def make_report(epsilon=1.0, delta=1e-5, rate=0.01, n_steps=1000, **changes):
    adjacency = changes.pop("adjacency", "zero_out")
    accountant = changes.pop("accountant", "pld")
    noise = calibrate(
        epsilon,
        delta,
        sampling_rate=rate,
        n_steps=n_steps,
        adjacency=adjacency,
        accountant=accountant,
    )
    fields = {
        "epsilon": epsilon,
        "delta": delta,
        "adjacency": adjacency,
        "events": (GaussianEvent(noise, rate, n_steps),),
        "clipping": 1.0,
        "accountant": accountant,
        "assumed_public": ("n", "d"),
        "not_covered": ("timing",),
        "reproducible": False,
    }
    return PrivacyReport(**(fields | changes))


def test_event_text():
    assert str(GaussianEvent(1.4146, 0.01, 1000)) == "1000 x Poisson(0.01) Gaussian(1.4146)"
    assert str(GaussianEvent(2.0, 1.0, 3)) == "3 x Gaussian(2)"


def test_fields_and_properties():
    report = make_report()
    assert report.accountant == "pld"
    assert report.accountant_version.startswith("dp-accounting ")
    assert report.unit == "one row"
    assert report.sampling == "poisson"
    assert report.sampling_rate == 0.01
    assert report.n_steps == 1000
    assert report.noise_multiplier == report.events[0].noise_multiplier
    assert report.mu is None
    assert report.event == str(report.events[0])
    assert repr(report) == str(report) == "(1, 1e-05)-DP"
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.epsilon = 2.0


def test_positional_arguments_are_refused():
    with pytest.raises(TypeError):
        PrivacyReport(1.0, 1e-5)


@pytest.mark.parametrize(("adjacency", "factor"), [("zero_out", 1), ("replace_one", 2)])
def test_full_batch_is_gaussian_dp(adjacency, factor):
    report = make_report(rate=1.0, n_steps=9, adjacency=adjacency)
    mu = factor * 3 / report.noise_multiplier
    assert report.accountant == "analytic"
    assert report.sampling == "full batch"
    assert report.mu == pytest.approx(mu)
    assert report.delta_at(1.0) <= 1e-5
    for fpr in (1e-6, 0.01, 0.5, 0.99):
        assert report.tpr_at(fpr) == pytest.approx(ndtr(ndtri(fpr) + mu), rel=1e-9)
    # Group privacy is exact: k records are one record with k times the contribution.
    for size in (2, 5):
        exact = get_epsilon(report.noise_multiplier / size, 1e-6, n_steps=9, adjacency=adjacency)
        assert report.epsilon_at(1e-6, group_size=size) == pytest.approx(exact, rel=1e-9)


def test_small_delta_names_the_accountant_that_ran():
    assert make_report(delta=1e-13).accountant == "rdp"
    assert make_report(accountant="rdp").accountant == "rdp"
    with pytest.raises(ValueError, match="accountant"):
        dataclasses.replace(make_report(), accountant="moments")


@pytest.mark.parametrize("changes", [{}, {"rate": 1.0}, {"accountant": "rdp"}, {"delta": 1e-14}])
def test_profile_is_consistent_with_the_guarantee(changes):
    report = make_report(**changes)
    assert report.epsilon_at(report.delta) <= report.epsilon
    assert report.delta_at(report.epsilon) <= report.delta
    deltas = np.geomspace(1e-10, 0.5, 8)
    epsilons = [report.epsilon_at(delta) for delta in deltas]
    assert np.all(np.diff(epsilons) <= 0)
    for delta, epsilon in zip(deltas, epsilons, strict=True):
        assert report.delta_at(epsilon) <= delta * (1 + 1e-6) or epsilon == 0
    rates = [0.0, 1e-8, 1e-4, 0.01, 0.1, 0.5, 0.9, 1.0]
    powers = [report.tpr_at(rate) for rate in rates]
    assert np.all(np.diff(powers) >= 0)
    assert all(rate <= power <= 1 for rate, power in zip(rates, powers, strict=True))
    assert report.epsilon_at(0.0) == math.inf
    assert report.delta_at(math.inf) == 0.0


def test_tpr_of_one_subsampled_step_is_the_better_direction():
    noise, rate = 0.8, 0.2
    event = GaussianEvent(noise, rate, 1)
    report = PrivacyReport(
        epsilon=get_epsilon(noise, 1e-6, sampling_rate=rate),
        delta=1e-6,
        adjacency="zero_out",
        events=(event,),
        clipping=1.0,
        accountant="pld",
    )
    # Neyman-Pearson: the likelihood ratio is monotone, so tests are thresholds on the release.
    cut = np.linspace(-8, 9, 200001)
    null = norm.sf(cut / noise)
    mixture = (1 - rate) * null + rate * norm.sf((cut - 1) / noise)
    for fpr in (1e-4, 0.01, 0.1, 0.5, 0.9):
        remove = np.interp(fpr, null[::-1], mixture[::-1])
        add = 1 - np.interp(1 - fpr, mixture[::-1], null[::-1])
        exact = max(remove, add)
        assert exact - 1e-7 <= report.tpr_at(fpr) <= exact + 2e-3


@pytest.mark.long
@pytest.mark.parametrize("changes", [{}, {"epsilon": 3.0}, {"epsilon": 0.1, "rate": 0.1}])
def test_tpr_is_a_concave_curve_that_mirrors_itself(changes):
    """The easier of two directions: who swaps the errors swaps the directions."""
    report = make_report(**changes)
    rates = np.linspace(0.0, 1.0, 26)
    powers = np.array([report.tpr_at(rate) for rate in rates])
    assert np.all(np.diff(powers, 2) <= 1e-5)
    mirrored = [1 - report.tpr_at(1 - power) for power in powers[1:-1]]
    assert mirrored == pytest.approx(rates[1:-1], abs=1e-4)


@pytest.mark.long
def test_tpr_of_two_subsampled_steps():
    noise, rate = 1.0, 0.3
    epsilon = get_epsilon(noise, 1e-6, sampling_rate=rate, n_steps=2)
    report = PrivacyReport(
        epsilon=epsilon,
        delta=1e-6,
        adjacency="zero_out",
        events=(GaussianEvent(noise, rate, 2),),
        clipping=1.0,
        accountant="pld",
    )
    x = np.linspace(-7, 8, 1501)
    null = norm.pdf(x / noise)
    null /= null.sum()
    mixture = (1 - rate) * norm.pdf(x / noise) + rate * norm.pdf((x - 1) / noise)
    mixture /= mixture.sum()
    two_null, two_mixture = np.outer(null, null).ravel(), np.outer(mixture, mixture).ravel()
    order = np.argsort(-two_mixture / two_null)
    null_mass, mixture_mass = np.cumsum(two_null[order]), np.cumsum(two_mixture[order])
    for fpr in (1e-3, 0.05, 0.3, 0.8):
        remove = np.interp(fpr, null_mass, mixture_mass)
        add = 1 - np.interp(1 - fpr, mixture_mass, null_mass)
        exact = max(remove, add)
        assert exact - 1e-4 <= report.tpr_at(fpr) <= exact + 3e-3


@pytest.mark.long
def test_group_privacy_of_poisson_batches():
    report = make_report(epsilon=0.5)
    noise, rate, n_steps = 1.0, 0.2, 1
    one = PrivacyReport(
        epsilon=get_epsilon(noise, 1e-3, sampling_rate=rate),
        delta=1e-3,
        adjacency="zero_out",
        events=(GaussianEvent(noise, rate, n_steps),),
        clipping=1.0,
        accountant="pld",
    )
    # Three records, three coins: the release is a binomial mixture of Gaussians.
    x = np.linspace(-9, 14, 400001)
    null = norm.pdf(x)
    weights = np.array([0.8**3, 3 * 0.8**2 * 0.2, 3 * 0.8 * 0.2**2, 0.2**3])
    mixture = sum(weight * norm.pdf(x - j) for j, weight in enumerate(weights))
    for delta in (1e-2, 1e-3):
        epsilon = one.epsilon_at(delta, group_size=3)
        exact = np.trapezoid(np.maximum(mixture - np.exp(epsilon) * null, 0), x)
        assert exact <= delta
        assert epsilon < 9 * one.epsilon_at(delta)
    assert report.epsilon_at(1e-5, group_size=1) <= 0.5
    sizes = [report.epsilon_at(1e-5, group_size=size) for size in (1, 2, 4)]
    assert sizes[0] < sizes[1] < sizes[2] < math.inf


@pytest.mark.parametrize("size", [2, 4])
def test_scaled_event_dominates_the_group(size):
    noise, rate = 3.0, 0.3
    scaled = GaussianEvent(noise, rate, 7).scaled_to_group(size)
    assert scaled.n_steps == 7
    x = np.linspace(-9 * noise, size + 9 * noise, 200001)
    null = norm.pdf(x, scale=noise)
    mixture = sum(
        binom.pmf(hits, size, rate) * norm.pdf(x, hits, noise) for hits in range(size + 1)
    )
    for epsilon in (0.0, 0.1, 0.5, 1.0):
        for upper, lower, direction in ((mixture, null, "remove"), (null, mixture, "add")):
            exact = np.trapezoid(np.maximum(upper - np.exp(epsilon) * lower, 0), x)
            bound = subsampled_delta(
                np.array([epsilon]), scaled.noise_multiplier, scaled.sampling_rate, direction
            )[0]
            assert exact <= bound + 1e-9


@pytest.mark.parametrize("size", [0, -1, 1.5, True, "2"])
def test_bad_group_size(size):
    with pytest.raises(ValueError, match="group_size"):
        make_report().epsilon_at(1e-5, group_size=size)


@pytest.mark.parametrize(
    ("method", "name", "values"),
    [
        ("epsilon_at", "delta", (-0.1, 1.0, math.nan, None)),
        ("delta_at", "epsilon", (-1.0, math.nan, "1")),
        ("tpr_at", "fpr", (-0.1, 1.1, math.nan, True)),
    ],
)
def test_bad_queries(method, name, values):
    for value in values:
        with pytest.raises(ValueError, match=name):
            getattr(make_report(), method)(value)


def test_infinite_epsilon():
    report = make_report(epsilon=math.inf, delta=1e-5, reproducible=True)
    assert report.noise_multiplier == 0
    assert repr(report) == "(inf, 1e-05)-DP"
    assert report.epsilon_at(1e-3) == math.inf
    assert report.epsilon_at(1e-3, group_size=2) == math.inf
    assert report.delta_at(5.0) == 1.0
    assert report.tpr_at(0.0) == report.tpr_at(0.01) == 1.0
    assert json.loads(report.to_json())["epsilon"] == "inf"
    text = report.to_text()
    assert "no privacy: epsilon is infinite" in text
    assert "seed" not in text
    full = make_report(epsilon=math.inf, rate=1.0)
    assert full.mu == math.inf
    assert full.tpr_at(0.0) == 1.0
    assert "no privacy" in full._repr_html_()


@pytest.mark.parametrize("name", ["adjacency", "accountant"])
@pytest.mark.parametrize("word", ["<b>secret</b>", 5, None, ["pld"]])
def test_a_file_of_a_report_has_words_that_are_known(name, word):
    report = make_report()
    object.__setattr__(report, name, word)
    with pytest.raises(ValueError, match=f"^{name} must be one of") as caught:
        pickle.loads(pickle.dumps(report))
    assert "secret" not in str(caught.value)


def test_pickles_small_and_compares():
    report = make_report()
    report.tpr_at(0.1)
    pickled = pickle.dumps(report)
    assert len(pickled) < 1500
    assert pickle.loads(pickled) == report
    assert hash(pickle.loads(pickled)) == hash(report)
    assert dataclasses.replace(report, delta=1e-4) != report


def test_dict_and_json():
    report = make_report(rate=1.0)
    content = report.to_dict()
    assert json.loads(report.to_json()) == content
    assert content["mu"] == report.mu
    assert content["events"] == [
        {
            "type": "GaussianEvent",
            "noise_multiplier": report.noise_multiplier,
            "sampling_rate": 1.0,
            "n_steps": 1000,
            "n_parts": 1,
            "pairwise": False,
        }
    ]
    assert set(content) >= {"epsilon", "delta", "adjacency", "accountant", "sampling", "unit"}


class _Collector(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not {"src", "href"} & {name for name, _ in attrs}

    def handle_data(self, data):
        self.text += data


def test_html_is_escaped_and_self_contained():
    report = make_report(assumed_public=("<script>alert(1)</script>",), reproducible=True)
    collector = _Collector()
    collector.feed(report._repr_html_())
    assert set(collector.tags) == {"table", "caption", "tbody", "tr", "th", "td", "ul", "li"}
    assert "<script>alert(1)</script>" in collector.text
    assert "(1, 1e-05)-DP" in collector.text
    assert "seed" in collector.text
    assert "Someone who sees everything" in collector.text


def test_text():
    long = "a very long remark about something that is public " * 4
    text = make_report(assumed_public=(long,), reproducible=True).to_text()
    assert max(map(len, text.splitlines())) <= 79
    for words in ("one row", "null record", "Poisson", "timing", "seed", "false alarm"):
        assert words in text
    assert "seed" not in make_report().to_text()
    assert "any other record" in make_report(adjacency="replace_one").to_text()


def test_compose_of_two_equal_is_one_with_twice_the_steps():
    report = make_report()
    joint = compose([report, report])
    noise = report.noise_multiplier
    direct = get_epsilon(noise, 2e-5, sampling_rate=0.01, n_steps=2000)
    assert joint.epsilon == pytest.approx(direct, rel=1e-9)
    assert joint.epsilon < 1.5
    assert joint.delta == 2e-5
    assert joint.n_steps == 2000
    assert joint.clipping == 1.0


def test_names_of_a_composition_are_said_once():
    reports = [make_report(names=(name,)) for name in ("labels", "sums", "labels")]
    joint = compose(reports)
    assert joint.names == ("labels, sums",)
    assert compose([joint, joint, make_report()]).names == ("labels, sums",)
    assert compose([make_report(), make_report()]).names == ()


def test_none_is_the_report_of_a_step_that_learns_nothing():
    report = make_report()
    assert compose([None, report, None]).events == report.events
    with pytest.raises(ValueError, match="at least one"):
        compose([None])


def test_seeded_fits_do_not_compose():
    seeded, fresh = make_report(reproducible=True), make_report()
    with pytest.raises(ValueError, match="share their noise"):
        compose([seeded, fresh, seeded])
    assert compose([seeded, fresh]).reproducible


CLAIMS = {
    "poisson": {},
    "full batch": {"rate": 1.0, "n_steps": 9},
    "replace_one": {"adjacency": "replace_one"},
    "rdp": {"accountant": "rdp"},
    "tiny delta": {"delta": 1e-14},
    "pure": {"events": (LaplaceEvent(2.0, n_steps=2),)},
    "flipped": {
        "events": (RandomizedResponseEvent(0.3),),
        "adjacency": "replace_label",
        "rate": 1.0,
    },
}


@pytest.mark.parametrize("kind", CLAIMS)
def test_a_report_never_states_less_than_its_events_give(kind):
    report = make_report(**CLAIMS[kind])
    for stated in (0.0, 0.1, 0.5):
        with pytest.raises(ValueError, match="epsilon is too small"):
            dataclasses.replace(report, epsilon=stated)
    assert dataclasses.replace(report, epsilon=2.0).epsilon == 2.0
    if kind != "rdp":
        least = report.epsilon_at(report.delta)
        # Versions and machines may differ by so much; what is true here is stated.
        assert dataclasses.replace(report, epsilon=0.995 * least).epsilon == least
        with pytest.raises(ValueError, match="epsilon is too small"):
            dataclasses.replace(report, epsilon=0.98 * least)


def test_other_deltas_and_adjacencies_need_another_epsilon():
    report = make_report(rate=1.0)
    for changes in ({"delta": 1e-6}, {"delta": 0.0}, {"adjacency": "replace_one"}):
        with pytest.raises(ValueError, match="epsilon is too small"):
            dataclasses.replace(report, **changes)
        assert dataclasses.replace(report, **changes, epsilon=math.inf).epsilon == math.inf


def test_renyi_divergences_beside_a_loss_distribution_that_gives_less():
    report = make_report(accountant="rdp")
    tight = get_epsilon(report.noise_multiplier, 1e-5, sampling_rate=0.01, n_steps=1000)
    assert tight < 0.95 < report.epsilon
    assert dataclasses.replace(report, epsilon=0.95).epsilon == 0.95
    with pytest.raises(ValueError, match="epsilon is too small"):
        dataclasses.replace(report, epsilon=0.95 * tight)


@pytest.mark.parametrize("name", ["epsilon", "unit", "delta"])
def test_compose_checks_what_was_changed_behind_a_reports_back(name):
    report = make_report()
    value = {"epsilon": 0.1, "unit": "one person", "delta": 1e-7}[name]
    changed = pickle.loads(pickle.dumps(report))
    object.__setattr__(changed, name, value)
    for reports in ([changed], [changed, changed], [pickle.loads(pickle.dumps(changed))]):
        with pytest.raises(ValueError, match=r"epsilon is too small|unit must be one of"):
            compose(reports)


@pytest.mark.parametrize("kind", ["poisson", "full batch", "replace_one", "rdp"])
@pytest.mark.parametrize(("name", "value"), [("epsilon", 0.01), ("epsilon", 0.0), ("delta", 1e-9)])
def test_questions_are_answered_from_the_events(kind, name, value):
    """Whatever was set behind a frozen object's back, or unpickled."""
    report = make_report(**CLAIMS[kind])
    # Of the accountant that gives least, and with nothing stated.
    honest = dataclasses.replace(report, epsilon=math.inf, accountant="pld")
    changed = pickle.loads(pickle.dumps(report))
    object.__setattr__(changed, name, value)
    for one in (changed, pickle.loads(pickle.dumps(changed))):
        assert getattr(one, name) == value
        for delta in (1e-9, 1e-7, report.delta, 1e-3):
            assert one.epsilon_at(delta) >= honest.epsilon_at(delta) * (1 - 1e-9) > 0.0
        for epsilon in (0.0, 0.01, 0.5, 1.0):
            assert one.delta_at(epsilon) >= honest.delta_at(epsilon) * (1 - 1e-6)
        for fpr in (1e-6, 1e-3, 0.01, 0.5, 0.99):
            assert one.tpr_at(fpr) >= honest.tpr_at(fpr) * (1 - 1e-9)
        assert "tell" in one.to_text()


# Of one release that has each row with a chance of a half.
RARE = GaussianEvent(1.0, 0.5)


def exact_epsilon(delta):
    """Delta is half of a full batch's at log(1 + 2 (exp(e) - 1)): Balle, Barthe, Gaboardi 2018."""

    def excess(epsilon):
        inner = epsilon + math.log1p(1 - math.exp(-epsilon))
        first, second = norm.logcdf([0.5 - inner, -0.5 - inner])
        log_half = first + math.log1p(-math.exp(inner + second - first)) + math.log(0.5)
        return log_half - math.log(delta)

    return brentq(excess, 1.0, 100.0)


@pytest.mark.parametrize("delta", [1e-13, 1e-30, 1e-300])
def test_tiny_deltas_need_the_epsilon_of_tiny_deltas(delta):
    """Loss distributions don't reach them, and what they give at a larger delta is no bound."""
    exact = exact_epsilon(delta)
    report = make_report(events=(RARE,), delta=delta, epsilon=math.inf)
    least = report.epsilon_at(delta)
    assert report.accountant == "rdp"
    assert exact <= least < 1.2 * exact
    for stated in (2.0, get_epsilon(1.0, 1e-12, sampling_rate=0.5), 0.98 * least):
        with pytest.raises(ValueError, match="epsilon is too small"):
            dataclasses.replace(report, epsilon=stated)
        with pytest.raises(ValueError, match="epsilon is too small"):
            PrivacyReport.from_dict(report.to_dict() | {"epsilon": stated})
        object.__setattr__(report, "epsilon", stated)
        assert report.epsilon_at(delta) == least
        with pytest.raises(ValueError, match="epsilon is too small"):
            compose([report])
        object.__setattr__(report, "epsilon", math.inf)
    assert dataclasses.replace(report, epsilon=0.995 * least).epsilon == least
    # Reports of Poisson batches of a usual delta are no witness for a tiny one.
    usual = make_report(events=(RARE,), epsilon=6.0)
    with pytest.raises(ValueError, match="epsilon is too small"):
        dataclasses.replace(usual, delta=delta)
    joint = compose([dataclasses.replace(report, epsilon=least)] * 2)
    assert joint.epsilon == dataclasses.replace(joint, epsilon=math.inf).epsilon_at(2 * delta)


class _Free(GaussianEvent):
    def mu(self, adjacency):
        return 0.0


def test_events_that_say_they_cost_nothing():
    report = make_report(rate=1.0)
    with pytest.raises(TypeError, match="events must be instances"):
        dataclasses.replace(report, events=(_Free(1.0),))
    other = dataclasses.replace(report, delta=1.1e-5)
    object.__setattr__(other, "events", (_Free(report.noise_multiplier, 1.0, 1000),))
    for question in (other.epsilon_at, other.delta_at, other.tpr_at):
        with pytest.raises(TypeError, match="events must be instances"):
            question(0.5)
    with pytest.raises(TypeError, match="events must be instances"):
        other.epsilon_at(0.5, group_size=2)
    event = GaussianEvent(1.0)
    object.__setattr__(event, "mu", lambda adjacency: 0.0)
    with pytest.raises(ValueError, match="epsilon is too small"):
        dataclasses.replace(report, events=(event,))
    for name, value in (("noise_multiplier", math.nan), ("sampling_rate", 0.0), ("n_steps", 0)):
        event = GaussianEvent(1.0)
        object.__setattr__(event, name, value)
        with pytest.raises(ValueError, match=name):
            dataclasses.replace(report, events=(event,))


def test_compose_believes_no_epsilon():
    report = make_report()
    joint = compose([report, report])
    generous = compose([dataclasses.replace(report, epsilon=5.0)] * 2)
    assert generous.epsilon == joint.epsilon
    object.__setattr__(report, "epsilon", 0.995)
    assert compose([report, report]).epsilon == joint.epsilon


def test_an_epsilon_that_only_the_sum_gives_is_not_stated():
    """Who reads a joint report has its events alone, and must find what it states."""
    fields = {"adjacency": "zero_out", "clipping": 1.0, "accountant": "pld"}
    # One coarse grid for losses of some 1,000 and of some 0.001: the bound is far from the best.
    rare = PrivacyReport(epsilon=0.0, delta=1.1e-4, events=(GaussianEvent(0.02, 1e-4),), **fields)
    weak = make_report(rate=1.0, n_steps=1, epsilon=0.009)
    joint = compose([rare, weak])
    assert joint.epsilon > 1.5 * weak.epsilon
    assert joint.epsilon == joint.epsilon_at(joint.delta)
    assert PrivacyReport.from_json(joint.to_json()) == joint


@pytest.mark.parametrize(
    ("adjacency", "unit"),
    [
        ("zero_out", "one row"),
        ("replace_one", "one row"),
        ("replace_label", "the label of one row"),
    ],
)
def test_the_unit_is_the_adjacencys(adjacency, unit):
    events = (GaussianEvent(9.0, pairwise=True),)
    report = make_report(events=events, adjacency="zero_out", rate=1.0)
    report = dataclasses.replace(report, adjacency=adjacency, unit=None)
    assert report.unit == unit
    assert dataclasses.replace(report, unit=unit) == report
    of_groups = dataclasses.replace(report, unit="one group") if unit == "one row" else report
    assert type(report).from_dict(of_groups.to_dict()) == of_groups
    for other in ("one row", "one group", "the label of one row", "one visit", "", 1, ["one row"]):
        if other not in (unit, of_groups.unit):
            with pytest.raises(ValueError, match="unit must be one of"):
                dataclasses.replace(report, unit=other)
            with pytest.raises(ValueError, match="unit"):
                PrivacyReport.from_dict(report.to_dict() | {"unit": other})


SECRET = "while the seed stays secret"


@pytest.mark.parametrize("changes", [{}, {"rate": 1.0}, {"adjacency": "replace_one"}])
def test_a_seeded_report_is_conditional_wherever_it_is_shown(changes):
    report, fresh = make_report(**changes, reproducible=True), make_report(**changes)
    assert repr(report) == str(report) == f"(1, 1e-05)-DP {SECRET}"
    joint = compose([report, fresh])
    assert repr(joint).endswith(f", 2e-05)-DP {SECRET}")
    for one in (report, joint, pickle.loads(pickle.dumps(report))):
        text = one.to_text()
        assert text.splitlines()[0] == f"Privacy report: {one!r}"
        for shown in (" ".join(text.split()), one._repr_html_()):
            # The title, and the row of the guarantee.
            assert shown.count(SECRET) == 2
            assert f"delta = {one.delta:g} {SECRET}" in shown
            assert "every other record but not the seed, tries" in shown
    for one in (fresh, make_report(**changes, epsilon=math.inf, reproducible=True)):
        assert one.condition == ""
        for shown in (repr(one), one.to_text(), one._repr_html_()):
            assert "seed" not in shown


def test_a_group_whose_epsilon_is_zero():
    for adjacency in ("zero_out", "replace_one"):
        report = make_report(rate=0.01, n_steps=1, delta=1e-5, epsilon=0.01, adjacency=adjacency)
        assert report.epsilon_at(0.3, group_size=5) == 0.0


@pytest.mark.long
def test_disjoint_parts_and_pairwise_bounds():
    event = GaussianEvent(4.0, 1.0, 9, n_parts=20, pairwise=True)
    assert str(event) == "9 x 20 disjoint pairwise Gaussian(4)"
    assert event.n_releases == 180
    reports = [
        make_report(events=(event,), adjacency=adjacency, epsilon=9.0)
        for adjacency in ("zero_out", "replace_one")
    ]
    for report in reports:
        assert report.mu == pytest.approx(3.0 / 4.0)
        assert (report.n_steps, report.n_releases) == (9, 180)
        assert report.sampling == "partition"
    assert reports[0].epsilon_at(1e-6) == reports[1].epsilon_at(1e-6)
    record = GaussianEvent(4.0, 1.0, 9)
    doubled = make_report(events=(record,), adjacency="replace_one", epsilon=9.0)
    assert doubled.mu == pytest.approx(1.5)
    with pytest.raises(ValueError, match="sampling_rate"):
        GaussianEvent(4.0, 0.5, 9, pairwise=True)


def test_a_pairwise_event_among_poisson_batches_is_not_doubled():
    """Full batches beside Poisson ones, under replace_one: twice the multiplier if per record."""
    poisson = GaussianEvent(2.0, 0.05, 50)
    joint = [
        make_report(
            events=(poisson, GaussianEvent(noise, 1.0, 3, pairwise=pairwise)),
            adjacency="replace_one",
            epsilon=50.0,
        ).epsilon_at(1e-6)
        for noise, pairwise in ((4.0, True), (8.0, False))
    ]
    assert joint[0] == pytest.approx(joint[1], rel=1e-9)


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_full_batches_beside_poisson_ones_that_cost_nothing(adjacency):
    full, idle = GaussianEvent(8.0, 1.0, 3), GaussianEvent(1e4, 0.01, 1)
    alone, beside = (
        make_report(events=events, adjacency=adjacency, epsilon=50.0).epsilon_at(1e-6)
        for events in ((full,), (full, idle))
    )
    assert beside == pytest.approx(alone, rel=2e-2)


def test_rdp_never_serves_replace_one():
    with pytest.raises(ValueError, match="rdp"):
        make_report(
            events=(GaussianEvent(4.0),), adjacency="replace_one", accountant="rdp", epsilon=9.0
        )
    with pytest.raises(ValueError, match="accountant must be one of"):
        make_report(events=(GaussianEvent(4.0, 0.1),), accountant="analytic")


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_a_composition_is_never_below_its_parts(adjacency):
    parts = [
        make_report(events=(event,), adjacency=adjacency, epsilon=80.0)
        for event in (
            GaussianEvent(4.0, 1.0, 2),
            GaussianEvent(3.0, 1.0, 5, n_parts=4, pairwise=True),
            GaussianEvent(2.0, 0.1, 30),
        )
    ]
    for one in parts:
        for other in parts:
            joint = compose([one, other])
            for delta in (joint.delta, 1e-4):
                most = max(one.epsilon_at(delta), other.epsilon_at(delta))
                assert joint.epsilon_at(delta) >= most * (1 - 1e-3)
            if joint.mu is not None:
                assert joint.mu == pytest.approx(math.hypot(one.mu, other.mu))


def test_compose_mixed():
    one = make_report(assumed_public=("a", "b"))
    other = make_report(
        rate=1.0, n_steps=4, clipping=2.0, assumed_public=("b", "c"), reproducible=True
    )
    joint = compose(iter([one, other]))
    assert joint.sampling == "mixed"
    assert joint.sampling_rate is joint.noise_multiplier is joint.mu is joint.clipping is None
    assert joint.assumed_public == ("a", "b", "c")
    assert joint.reproducible
    assert joint.accountant == "pld"
    assert max(one.epsilon, other.epsilon) < joint.epsilon < 1.7
    assert joint.epsilon == compose([other, one]).epsilon
    assert compose([one]).epsilon <= one.epsilon


def test_compose_full_batches_is_exact():
    one = make_report(rate=1.0, n_steps=4)
    other = make_report(rate=1.0, epsilon=0.5)
    joint = compose([one, other])
    assert joint.accountant == "analytic"
    assert joint.mu == pytest.approx(math.hypot(one.mu, other.mu))


def test_compose_with_no_privacy():
    joint = compose([make_report(), make_report(epsilon=math.inf)])
    assert joint.epsilon == math.inf


def test_compose_replace_one_and_rdp():
    for changes in ({"adjacency": "replace_one"}, {"accountant": "rdp"}):
        report = make_report(**changes)
        joint = compose([report, report])
        assert joint.accountant == report.accountant
        assert report.epsilon < joint.epsilon < 2 * report.epsilon


def test_compose_errors():
    with pytest.raises(ValueError, match="at least one"):
        compose([])
    with pytest.raises(ValueError, match="adjacency"):
        compose([make_report(), make_report(adjacency="replace_one")])
    with pytest.raises(ValueError, match="deltas"):
        compose([make_report(delta=0.5, rate=1.0)] * 2)
