import math
import pickle

import numpy as np
import pytest
from scipy.special import comb

from skdp.accountant import (
    GaussianEvent,
    LaplaceEvent,
    PrivacyReport,
    RandomizedResponseEvent,
    calibrate,
    calibrate_pure,
    calibrate_response,
    compose,
)
from tests._loops import for_each


def report(*events, epsilon=1.0, delta=0.0, **changes):
    options = {"adjacency": "zero_out", "clipping": 1.0, "accountant": "pld", **changes}
    return PrivacyReport(epsilon=epsilon, delta=delta, events=events, **options)


@for_each("epsilon", [1e-3, 0.1, 1.0 / 3.0, 7.0, 1e3])
@for_each("n_steps", [1, 3, 10])
@for_each("adjacency", ["zero_out", "replace_one"])
def test_calibration_never_exceeds_the_target(epsilon, n_steps, adjacency):
    noise = calibrate_pure(epsilon, n_steps=n_steps, adjacency=adjacency)
    found = LaplaceEvent(noise, n_steps).epsilon(adjacency)
    assert epsilon * (1 - 1e-12) <= found <= epsilon
    factor = 2.0 if adjacency == "replace_one" else 1.0
    assert noise == pytest.approx(factor * n_steps / epsilon)


def test_calibration_of_an_array():
    epsilons = np.geomspace(1e-3, 10.0, 1001)
    noise = calibrate_pure(epsilons, n_steps=3)
    assert (3.0 / noise <= epsilons).all()
    np.testing.assert_allclose(noise, 3.0 / epsilons)
    assert calibrate_pure(math.inf) == 0.0


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, 1e7, 1e-10])
def test_calibration_refuses_what_it_cannot_do(epsilon):
    with pytest.raises(ValueError, match="epsilon"):
        calibrate_pure(epsilon)


def test_the_profile_of_one_step_is_randomised_response():
    """The pair (e^x, 1) / (1 + e^x), whose hockey-stick divergences are written out here."""
    found = report(LaplaceEvent(1.0))
    p = np.array([math.e, 1.0]) / (1.0 + math.e)
    for epsilon in (0.0, 0.3, 0.99, 1.0, 2.0):
        exact = np.maximum(p - math.exp(epsilon) * p[::-1], 0.0).sum()
        assert found.delta_at(epsilon) == pytest.approx(exact, rel=1e-11)
        if 0.0 < exact < 1.0:
            assert found.epsilon_at(exact) == pytest.approx(epsilon, abs=1e-9)
    assert found.epsilon_at(0.0) == 1.0
    assert found.epsilon_at(0.9) == 0.0
    for fpr in (0.0, 0.01, 0.3, 0.9, 1.0):
        exact = min(math.e * fpr, 1.0 - (1.0 - fpr) / math.e)
        assert found.tpr_at(fpr) == pytest.approx(exact, abs=1e-9)


def test_steps_add_up_and_parts_do_not():
    event = LaplaceEvent(4.0, n_steps=2, n_parts=50)
    assert event.epsilon("zero_out") == 0.5
    assert event.epsilon("replace_one") == 1.0
    assert event.n_releases == 100
    assert report(event, epsilon=0.5).epsilon_at(0.0, group_size=3) == pytest.approx(1.5)
    assert report(event, epsilon=0.5).epsilon_at(1e-6, group_size=3) <= 1.5
    assert LaplaceEvent(0.0).epsilon("zero_out") == math.inf


def test_the_bound_covers_spherical_noise():
    """Delta of the true pair in one dimension, the Laplace mechanism's, is below the profile."""
    found = report(LaplaceEvent(1.0))
    z = np.linspace(-40.0, 40.0, 800_001)
    here, there = (np.exp(-np.abs(z - shift)) / 2.0 for shift in (0.0, 1.0))
    for epsilon in (0.0, 0.4, 0.9):
        exact = np.maximum(here - math.exp(epsilon) * there, 0.0).sum() * (z[1] - z[0])
        assert exact <= found.delta_at(epsilon) + 1e-6


def test_the_report_speaks_of_pure_privacy():
    made = report(LaplaceEvent(2.0, 1, 40), epsilon=0.5, notes=("read me",))
    assert made.accountant == "basic"
    assert made.mu is None
    assert made.sampling == "partition"
    assert made.noise_multiplier == 2.0
    text = made.to_text()
    for part in ("SphericalLaplace(scale 2)", "delta = 0", "pure", "read me"):
        assert part in text
    assert "read me" in made._repr_html_()
    assert made.to_dict()["events"][0]["type"] == "LaplaceEvent"
    assert "read me" in made.to_json()
    assert pickle.loads(pickle.dumps(made)) == made
    assert str(LaplaceEvent(2.0, largest_multiplier=3.0)) == "1 x SphericalLaplace(scale 2 to 3)"
    assert str(LaplaceEvent(2.0, counts=True)) == "1 x DiscreteLaplace(scale 2)"
    with pytest.raises(ValueError, match="counts"):
        LaplaceEvent(2.0, counts="yes")


def test_replace_one_with_rdp_is_no_error_for_pure_events():
    made = report(LaplaceEvent(2.0), adjacency="replace_one", accountant="rdp")
    assert made.accountant == "basic"


def test_basic_is_for_pure_events_only():
    with pytest.raises(ValueError, match="basic"):
        report(GaussianEvent(2.0), delta=1e-5, accountant="basic")


def test_pure_fits_compose_by_adding():
    made = compose([report(LaplaceEvent(2.0), epsilon=0.5), report(LaplaceEvent(1.0, 1, 9))])
    assert (made.epsilon, made.delta) == (1.5, 0.0)
    assert made.accountant == "basic"
    assert made.n_releases == 10
    # Below the exact composition of two randomised responses of 1/2 each, never.
    twice = compose([report(LaplaceEvent(2.0), epsilon=0.5)] * 2)
    assert (twice.epsilon, twice.events) == (1.0, (LaplaceEvent(2.0, 2),))
    for epsilon in (0.0, 0.3, 0.8):
        exact = (
            sum(
                comb(2, i) * max(0.0, math.exp(0.5 * (2 - i)) - math.exp(epsilon + 0.5 * i))
                for i in range(3)
            )
            / (1.0 + math.exp(0.5)) ** 2
        )
        assert exact <= twice.delta_at(epsilon) + 1e-15


@pytest.mark.parametrize("sampling_rate", [1.0, 0.01])
@pytest.mark.parametrize("accountant", ["pld", "rdp"])
def test_pure_and_gaussian_fits_compose(sampling_rate, accountant):
    design = {"sampling_rate": sampling_rate, "n_steps": 50}
    noise = calibrate(1.0, 1e-5, accountant=accountant, **design)
    gaussian = report(GaussianEvent(noise, **design), delta=1e-5, accountant=accountant)
    pure = report(LaplaceEvent(2.0), epsilon=0.5)
    made = compose([gaussian, pure])
    assert made.delta == 1e-5
    assert gaussian.epsilon < made.epsilon <= 1.5
    assert made.mu is None
    # Mixing over the response, written out.
    p = math.exp(0.5) / (1.0 + math.exp(0.5))
    for epsilon in (0.6, 1.0, 1.4):
        one, two = (gaussian._profile().delta(epsilon + shift) for shift in (-0.5, 0.5))
        assert made.delta_at(epsilon) == pytest.approx(p * one + (1.0 - p) * two, rel=1e-6)
    assert made.epsilon_at(0.0) == math.inf
    assert 0.01 < gaussian.tpr_at(0.01) < made.tpr_at(0.01) < 1.0
    assert made.epsilon_at(1e-5, group_size=2) > made.epsilon


def test_a_report_without_noise_is_not_private():
    made = report(LaplaceEvent(0.0), epsilon=math.inf)
    assert made.delta_at(3.0) == 1.0
    assert made.tpr_at(0.01) == 1.0
    assert "no privacy" in made.to_text()


@pytest.mark.parametrize(
    "arguments",
    [
        {"adjacency": "replace-one"},
        {"adjacency": "replace_label"},
        {"adjacency": None},
        {"n_steps": 0},
        {"n_steps": -1},
        {"n_steps": 0.5},
        {"n_steps": math.nan},
        {"epsilon": "1"},
        {"epsilon": True},
        {"epsilon": math.nan},
        {"epsilon": np.array(["1"])},
    ],
    ids=str,
)
def test_arguments_that_would_weaken_silently_are_refused(arguments):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        calibrate_pure(**({"epsilon": 1.0} | arguments))


@pytest.mark.parametrize("arguments", [(-1.0,), (math.nan,), (1.0, 0), (1.0, 1, 0), (1.0, 0.5)])
def test_events_that_cannot_be_are_refused(arguments):
    with pytest.raises(ValueError, match=r"noise_multiplier|n_steps|n_parts"):
        LaplaceEvent(*arguments)
    with pytest.raises(ValueError, match="adjacency"):
        LaplaceEvent(1.0).epsilon("replace-one")


def test_notes_of_single_fits_say_so_when_composed():
    single = report(LaplaceEvent(1.0), notes=("a",))
    both = compose([single, single])
    assert both.notes == ("of fit 1 of 2 alone: a", "of fit 2 of 2 alone: a")
    assert compose([single]).notes == ("a",)


LABELS = {"adjacency": "replace_label", "clipping": None}


@pytest.mark.parametrize("n_classes", [2, 3, 50])
@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 1.0, 7.0, 35.0])
def test_responses_spend_what_is_asked_for(epsilon, n_classes):
    flip = calibrate_response(epsilon, n_classes=n_classes)
    assert flip == pytest.approx(1.0 / (math.exp(epsilon) + n_classes - 1), rel=1e-4)
    event = RandomizedResponseEvent(flip, n_classes)
    # No probability is finer than 2**-64.
    room = epsilon * 1e-6 + math.exp(epsilon) * 2.0**-63
    assert epsilon - room <= event.epsilon("replace_label") <= epsilon
    made = report(event, epsilon=epsilon, **LABELS)
    assert (made.epsilon, made.delta, made.accountant) == (epsilon, 0.0, "basic")
    with pytest.raises(ValueError, match="epsilon is too small"):
        report(event, epsilon=0.98 * epsilon, **LABELS)


def test_the_profile_of_a_response_is_its_own():
    flip = calibrate_response(1.0)
    found = report(RandomizedResponseEvent(flip), **LABELS)
    p = np.array([1.0 - flip, flip])
    for epsilon in (0.0, 0.3, 0.99, 1.0, 2.0):
        exact = np.maximum(p - math.exp(epsilon) * p[::-1], 0.0).sum()
        assert found.delta_at(epsilon) == pytest.approx(exact, abs=1e-11)
    several = RandomizedResponseEvent(calibrate_response(1.0, n_classes=5), 5)
    q = several.flip_probability
    for epsilon in (0.0, 0.5, 0.9):
        exact = 1.0 - 4.0 * q - math.exp(epsilon) * q
        assert report(several, **LABELS).delta_at(epsilon) >= exact


def test_responses_add_up_over_steps_and_groups_and_not_over_parts():
    event = RandomizedResponseEvent(0.25, n_steps=2, n_parts=10)
    assert event.epsilon("replace_label") == pytest.approx(2.0 * math.log(3.0))
    assert event.n_releases == 20
    assert (event.sampling, event.sampling_rate) == ("partition", 1.0)
    made = report(event, epsilon=3.0, **LABELS)
    assert made.epsilon_at(0.0, group_size=3) == pytest.approx(6.0 * math.log(3.0))
    assert str(RandomizedResponseEvent(0.125, 3, n_parts=2)) == (
        "1 x 2 disjoint RandomizedResponse(0.125, 3 classes)"
    )
    assert RandomizedResponseEvent(0.0).epsilon("replace_label") == math.inf
    even = RandomizedResponseEvent(0.5)
    assert (even.epsilon("replace_label"), even.noise_multiplier) == (0.0, math.inf)
    assert report(even, epsilon=0.0, **LABELS).delta_at(0.0) == 0.0
    joint = compose([made, report(RandomizedResponseEvent(0.25), epsilon=2.0, **LABELS)])
    assert (joint.epsilon, joint.delta) == (pytest.approx(3.0 * math.log(3.0)), 0.0)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_the_noise_of_a_response_is_the_deviation_of_an_unbiased_label(n_classes):
    event = RandomizedResponseEvent(0.1, n_classes)
    keep = 1.0 - 0.1 * (n_classes - 1)
    chances = np.full((n_classes, n_classes), 0.1) + (keep - 0.1) * np.eye(n_classes)
    entries = (np.eye(n_classes) - 0.1) / (keep - 0.1)
    np.testing.assert_allclose(chances @ entries, np.eye(n_classes), atol=1e-12)
    variances = chances @ entries**2 - (chances @ entries) ** 2
    assert event.noise_multiplier == pytest.approx(math.sqrt(variances.mean()))


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one", None])
def test_responses_protect_labels_alone(adjacency):
    with pytest.raises(ValueError, match="adjacency"):
        RandomizedResponseEvent(0.25).epsilon(adjacency)
    with pytest.raises(ValueError, match="adjacency"):
        report(RandomizedResponseEvent(0.25), epsilon=9.0, adjacency=adjacency)


@pytest.mark.parametrize(
    "arguments",
    [(-0.1,), (0.6,), (0.4, 3), (math.nan,), (math.inf,), ("a",), (0.1, 1), (0.1, 2, 0)],
)
def test_impossible_responses_are_refused(arguments):
    with pytest.raises(ValueError, match=r"flip_probability|n_classes|n_steps"):
        RandomizedResponseEvent(*arguments)


@pytest.mark.parametrize(
    ("epsilon", "n_classes"), [(0.0, 2), (1e-7, 2), (math.nan, 2), ("a", 2), (1.0, 1), (1.0, 2.5)]
)
def test_impossible_flips_are_refused(epsilon, n_classes):
    with pytest.raises(ValueError, match=r"epsilon|n_classes"):
        calibrate_response(epsilon, n_classes=n_classes)
    assert calibrate_response(math.inf) == 0.0
