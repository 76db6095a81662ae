"""What reports say in words, by the kind of report."""

import math

import pytest

from skdp.accountant import ErasureEvent, GaussianEvent, LaplaceEvent, PrivacyReport, compose
from skdp.linear_model import DPRidge

GAUSSIAN = (GaussianEvent(9.0, pairwise=True),)


def report_of(events=GAUSSIAN, **changes):
    fields = {"adjacency": "zero_out", "clipping": None, "accountant": "pld", "delta": 1e-5}
    return PrivacyReport(**{"epsilon": 1.0, "events": events} | fields | changes)


@pytest.mark.every
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {},
            'published is differentially private for one row (adjacency "zero_out"), with epsilon',
        ),
        ({}, "With a given record in the data, or with a null record in its place, which contrib"),
        ({"adjacency": "replace_one"}, "With a given record in the data, or with any other record"),
        ({"adjacency": "replace_label"}, "private for the label of one row (adjacency"),
        (
            {"adjacency": "replace_label"},
            "With the label that a given record has, or with any other",
        ),
        ({"unit": "one group"}, "for one group of rows, such as all rows of one person (adj"),
        ({"unit": "one group"}, "or with a null group of rows in its place"),
        ({"reproducible": True}, "epsilon = 1, delta = 1e-05 while the seed stays secret. With"),
        ({"unprotected": ("scale",)}, "All but 'scale' of what was published is differentially"),
        (
            {"unprotected": ("scale",)},
            "probabilities of any outcome of the rest, given what 'scale' published, differ",
        ),
        ({"epsilon": math.inf, "events": (GaussianEvent(0.0),)}, "published has no privacy: eps"),
        (
            {"epsilon": math.inf, "events": (GaussianEvent(0.0),)},
            "infinite. No noise was added, and",
        ),
        (
            {"epsilon": math.inf, "delta": 0.0},
            "Noise was added, but at delta = 0 no finite epsilon is stated, and so nothing is guar",
        ),
        (
            {
                "epsilon": math.inf,
                "events": (GaussianEvent(9.0), GaussianEvent(0.0, n_steps=2), LaplaceEvent(0.0)),
                "names": ("moment", "steps", "words"),
            },
            "infinite. Nothing is guaranteed for all of it together, because a part has no noise "
            "and may reveal any record: steps (2 x Gaussian(0)); words (1 x SphericalLaplace(scale",
        ),
        (
            {"epsilon": math.inf, "events": (GaussianEvent(9.0), ErasureEvent(1.0))},
            "may reveal any record: 1 x Erasure(1).",
        ),
    ],
)
def test_a_report_has_a_guarantee_to_quote(changes, words):
    report = report_of(**changes)
    assert words in report.guarantee
    quoted = " ".join(report.guarantee.split())
    assert quoted in " ".join(report.to_text().split())
    assert quoted in report.to_markdown().replace("\\", "")


@pytest.mark.parametrize(
    ("epsilon", "delta", "says"),
    [
        (1.0, 1e-5, "by at most a factor of 2.719, plus 1e-05."),
        (0.5, 0.0, "by at most a factor of 1.649."),
        (8.0, 1e-5, "by at most a factor of 2981, plus 1e-05."),
        (50.0, 1e-5, "by at most a factor of exp(50), plus 1e-05."),
        (1.23456789, 1e-5, "with epsilon = 1.23457, delta = 1e-05."),
        (1.2345611, 1.0000001e-5, "with epsilon = 1.23457, delta = 1.00001e-05."),
    ],
)
def test_the_factor_is_never_less_than_what_is_guaranteed(epsilon, delta, says):
    events = (LaplaceEvent(2.0),) if delta == 0.0 else GAUSSIAN
    report = report_of(events, epsilon=epsilon, delta=delta)
    assert says in report.guarantee
    if "factor" not in says:
        return
    shown = says.split("factor of ")[1].split(",")[0].rstrip(".")
    if epsilon < 20.0:
        assert float(shown) >= math.exp(epsilon)


def test_pure_noise_beside_other_noise_is_said_in_a_sentence():
    text = " ".join(report_of((*GAUSSIAN, LaplaceEvent(5.0))).to_text().split())
    assert (
        "an upper bound: the epsilons of releases with pure noise are added to the epsilon of the "
        "others, which comes from the closed form of the Gaussian mechanism (exact)"
    ) in text


def test_mu_is_explained():
    text = " ".join(report_of().to_text().split())
    assert "mu = 0.1111: together, the releases tell as much as one with Gaussian noise" in text
    assert "noise of 9 times the most that one record can change" in text


def test_nothing_is_said_of_scores_that_were_not_made():
    report = DPRidge(target_bounds=(0, 2)).fit([[0.1], [0.2], [0.3]] * 20, [0.0, 1.0, 2.0] * 20)
    assert "score" not in report.privacy_report_.to_text()


def test_long_names_of_releases_keep_lines_narrow():
    names = ("a name of a release that is far too long for a table of two columns", "steps")
    events = (*GAUSSIAN, GaussianEvent(90.0, n_steps=40))
    lines = report_of(events, names=names).to_text().splitlines()
    assert f"Released        {names[0]}: {GAUSSIAN[0]}" in lines


def test_composed_reports_say_which_part_has_no_noise():
    exact = report_of((GaussianEvent(0.0),), epsilon=math.inf, names=("steps",))
    noisy = report_of(names=("scores",))
    said = compose([exact, noisy]).guarantee
    assert "no privacy: epsilon is infinite. Nothing is guaranteed for all of it together" in said
    assert said.endswith("a part has no noise and may reveal any record: steps (1 x Gaussian(0)).")
    assert compose([exact, exact]).guarantee == exact.guarantee
