"""Events that reveal everything with some probability."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from skdp.accountant import (
    ErasureEvent,
    GaussianEvent,
    LaplaceEvent,
    PrivacyReport,
    calibrate,
    compose,
    get_epsilon,
)
from tests.door import build_profile

RATE = 1e-6
OTHERS = {
    "zero_out": [
        (GaussianEvent(4.0, n_steps=2),),
        (GaussianEvent(2.0, 0.1, 20),),
        (LaplaceEvent(3.0),),
        (GaussianEvent(4.0), LaplaceEvent(3.0), GaussianEvent(2.0, 0.1, 20)),
    ],
    "replace_one": [(GaussianEvent(4.0), GaussianEvent(2.0, 0.1, 20)), (LaplaceEvent(3.0),)],
    "replace_label": [(GaussianEvent(4.0, pairwise=True),)],
}
CASES = [(adjacency, events) for adjacency, lists in OTHERS.items() for events in lists]


def make_report(events, adjacency="zero_out", delta=1e-5, **changes):
    fields = {"epsilon": math.inf, "clipping": 1.0, "accountant": "pld"}
    return PrivacyReport(
        **(fields | {"events": events, "adjacency": adjacency, "delta": delta} | changes)
    )


@pytest.mark.parametrize(("adjacency", "events"), CASES)
@pytest.mark.parametrize("erased", [(ErasureEvent(RATE),), (ErasureEvent(RATE / 4, 3),) * 2])
def test_profile_beside_other_events(adjacency, events, erased):
    rate = 1 - math.prod((1 - event.probability) ** event.n_steps for event in erased)
    alone = make_report(events, adjacency)
    report = make_report((*erased[:1], *events, *erased[1:]), adjacency)
    for epsilon in (0.0, 0.3, 1.0, 4.0):
        expected = rate + (1 - rate) * alone.delta_at(epsilon)
        assert expected * (1 - 1e-9) <= report.delta_at(epsilon) <= expected * (1 + 1e-9)
    for delta in (2e-6, 1e-5, 1e-3):
        inner = (delta - rate) / (1 - rate)
        assert report.epsilon_at(delta) == pytest.approx(alone.epsilon_at(inner), rel=1e-6)
        assert report.delta_at(report.epsilon_at(delta)) <= delta * (1 + 1e-9)
    assert report.epsilon_at(RATE / 100) == math.inf
    for fpr in (0.0, 1e-3, 0.5, 1.0):
        expected = rate + (1 - rate) * alone.tpr_at(min(fpr / (1 - rate), 1.0))
        assert report.tpr_at(fpr) == pytest.approx(expected, abs=1e-4)
        assert report.tpr_at(fpr) >= expected - 1e-12


def test_power_of_a_gaussian_beside_an_erasure():
    report = make_report((GaussianEvent(1.0), ErasureEvent(0.1)), delta=0.2)
    for fpr in (0.0, 0.05, 0.5, 0.899):
        exact = 0.1 + 0.9 * ndtr(ndtri(fpr / 0.9) + 1.0)
        assert exact <= report.tpr_at(fpr) <= exact * (1 + 1e-9)
    assert report.tpr_at(0.95) == 1.0


def test_an_erasure_alone_is_all_delta():
    report = make_report((ErasureEvent(RATE),), epsilon=0.0)
    assert (report.epsilon, report.epsilon_at(RATE), report.delta_at(0.0)) == (0.0, 0.0, RATE)
    assert report.epsilon_at(RATE / 2) == math.inf
    assert report.mu is None
    assert make_report((ErasureEvent(1.0),)).epsilon_at(0.99) == math.inf


def test_a_report_that_forgets_the_erasure_is_refused():
    events = (GaussianEvent(calibrate(1.0, 1e-5)), ErasureEvent(9e-6))
    with pytest.raises(ValueError, match="epsilon is too small"):
        make_report(events, epsilon=1.0)


@pytest.mark.parametrize(("adjacency", "events"), CASES)
def test_reports_survive_json_and_composition(adjacency, events):
    report = make_report((*events, ErasureEvent(RATE, 2)), adjacency)
    report = dataclasses.replace(report, epsilon=report.epsilon_at(1e-5))
    assert PrivacyReport.from_json(report.to_json()) == report
    joint = compose([report, report])
    assert joint.delta_at(1e6) >= (4 * RATE) * (1 - 1e-5)
    assert joint.epsilon <= 2 * report.epsilon * (1 + 1e-3)
    twice = make_report((ErasureEvent(RATE),))
    assert compose([twice, twice]).events == (ErasureEvent(RATE, 2),)


def test_groups_are_bounded_by_chains_alone():
    """Beside a Gaussian, twice the probability isn't enough for two records.

    Along a chain of neighbours that are as far apart as can be, the first erasure is a level from
    which the second Gaussian's test starts.
    """
    mu, rate, size = 1.0, 1e-6, 2
    report = make_report((GaussianEvent(1 / mu, pairwise=True), ErasureEvent(rate)))

    def power(level):
        return rate + (1 - rate) * ndtr(ndtri(level / (1 - rate)) + mu)

    levels = np.geomspace(1e-12, 0.1, 400)
    for delta in (1e-3, 1e-2):
        claimed = report.epsilon_at(delta, group_size=size)
        assert claimed < math.inf
        assert np.all(power(power(levels)) <= delta + math.exp(claimed) * levels)
    naive = (GaussianEvent(1 / (size * mu), pairwise=True), ErasureEvent(size * rate))
    too_small = build_profile(naive, "zero_out", "pld").epsilon(1e-5)
    assert np.any(power(power(levels)) > 1e-5 + math.exp(too_small) * levels)
    assert report.epsilon_at(rate, group_size=size) == math.inf


def test_text_and_what_it_shares_with_other_events():
    event = ErasureEvent(1e-6, 3)
    assert str(event) == "3 x Erasure(1e-06)"
    assert (event.n_releases, event.sampling, event.sampling_rate) == (3, "full batch", 1.0)
    assert "Distance" not in make_report((GaussianEvent(9.0), event)).to_text()
    for bad in (0.0, -1.0, 1.5, math.nan, "much"):
        with pytest.raises(ValueError, match="probability"):
            ErasureEvent(bad)
    for bad in (0, -1, 1.0, None):
        with pytest.raises(ValueError, match="n_steps"):
            ErasureEvent(0.1, bad)
    assert get_epsilon(9.0, 1e-5) < make_report((GaussianEvent(9.0), event)).epsilon_at(1e-5)
