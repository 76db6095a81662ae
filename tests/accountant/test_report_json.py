import dataclasses
import json
import math

import numpy as np
import pytest

import skdp
from skdp.accountant import (
    GaussianEvent,
    LaplaceEvent,
    PrivacyReport,
    RandomizedResponseEvent,
    compose,
    get_epsilon,
)
from skdp.linear_model import (
    DPCDClassifier,
    DPSCDClassifier,
    DPSGDClassifier,
    WALRClassifier,
    label_aggregate,
)
from tests._loops import for_each

WORDS = {"assumed_public": ("n", "ε < 1"), "not_covered": ("timing",), "notes": ("read me",)}
KINDS = {
    "poisson": {"events": (GaussianEvent(1.5, 0.01, 1000),)},
    "words": {"events": (GaussianEvent(1.5, 0.01, 1000),), **WORDS},
    "rdp": {"events": (GaussianEvent(1.5, 0.01, 1000),), "accountant": "rdp"},
    "rdp fallback": {"events": (GaussianEvent(1.5, 0.01, 1000),), "delta": 1e-14},
    "replace_one": {"events": (GaussianEvent(3.0, 0.01, 1000),), "adjacency": "replace_one"},
    "full batch": {"events": (GaussianEvent(30.0, n_steps=9),), "reproducible": True},
    "disjoint": {"events": (GaussianEvent(30.0, n_steps=9, n_parts=20),), "clipping": None},
    "pairwise": {
        "events": (GaussianEvent(9.0, pairwise=True),),
        "adjacency": "replace_one",
        "clipping": 2,
    },
    "label": {"events": (GaussianEvent(9.0, pairwise=True),), "adjacency": "replace_label"},
    "flipped": {
        "events": (RandomizedResponseEvent(0.25, 3, n_parts=2),),
        "delta": 0.0,
        "adjacency": "replace_label",
        "clipping": None,
    },
    "mixed": {"events": (GaussianEvent(9.0), GaussianEvent(2.0, 0.01, 5))},
    "pure": {"events": (LaplaceEvent(2.0, n_steps=3, n_parts=4),), "delta": 0.0},
    "personal": {"events": (LaplaceEvent(2.0, largest_multiplier=math.inf),), "delta": 0.0},
    "counts": {"events": (LaplaceEvent(2.0, counts=True),), "delta": 0.0},
    "beside pure": {"events": (LaplaceEvent(2.0), GaussianEvent(2.0, 0.01, 5))},
    "no noise": {"events": (GaussianEvent(0.0, 0.01, 5),), "epsilon": math.inf},
    "no clipping": {"events": (GaussianEvent(0.0),), "epsilon": math.inf, "clipping": math.inf},
    "all noise": {"events": (GaussianEvent(math.inf),), "epsilon": 0.0},
    "older": {"events": (GaussianEvent(9.0),), "skdp_version": "0.0.9", "accountant_version": "x"},
}

# What reports of skdp 0.3.0 didn't have.
OF_LATER_VERSIONS = {"unprotected", "released", "names"}
LONG = "y" * 5000
HUGE = 10**400


def name_of(value):
    return "huge" if isinstance(value, int) and abs(value) >= HUGE else None


def make_report(**changes):
    fields = {"delta": 1e-5, "adjacency": "zero_out", "accountant": "pld", "clipping": 1.0}
    fields |= changes
    if "epsilon" not in fields:
        bare = PrivacyReport(epsilon=math.inf, **fields)
        fields["epsilon"] = bare.epsilon_at(bare.delta)
    return PrivacyReport(**fields)


def seen_again(report):
    again = PrivacyReport.from_json(report.to_json())
    assert again == report
    assert again == PrivacyReport.from_dict(report.to_dict())
    assert again.to_json() == report.to_json()
    assert hash(again) == hash(report)
    return again


@pytest.mark.parametrize("kind", KINDS)
def test_any_kind_of_report_comes_back(kind):
    report = make_report(**KINDS[kind])
    again = seen_again(report)
    assert again.to_text() == report.to_text()
    assert again.epsilon_at(1e-3, group_size=2) == report.epsilon_at(1e-3, group_size=2)


@pytest.mark.long
def test_reports_that_came_back_compose_as_the_originals():
    reports = [
        make_report(**KINDS[kind])
        for kind in ("poisson", "words", "full batch", "disjoint", "beside pure", "no noise")
    ]
    for chosen in (reports[:1], reports[:2], reports[1:5], reports):
        joint = compose(chosen)
        assert compose([seen_again(report) for report in chosen]) == joint
        assert seen_again(joint).skdp_version == skdp.__version__


@pytest.mark.long
def test_reports_of_fits_come_back(rng):
    X, y = rng.standard_normal((60, 3)), np.arange(60) % 2
    options = {"classes": [0, 1], "max_iter": 2}
    laplace = {"mechanism": "laplace", "delta": 0.0}
    budgets = np.where(y > 0, 0.5, 1.0)
    stream = DPSGDClassifier(classes=[0, 1], **laplace)
    for _ in range(2):
        stream.partial_fit(X, y)
    parts = [
        label_aggregate(X[half], y[half], epsilon=epsilon, classes=[0, 1], data_norm=1.0)
        for half, epsilon in ((slice(30), 1.0), (slice(30, 60), 0.5))
    ]
    found = [
        DPSCDClassifier(delta=1e-3, **options).fit(X, y).privacy_report_,
        DPSCDClassifier(delta=1e-3, solver="sequential", **options).fit(X, y).privacy_report_,
        DPCDClassifier(delta=1e-3, smoothness="private", **options).fit(X, y).privacy_report_,
        DPSGDClassifier(classes=[0, 1], **laplace)
        .fit(X, y, sample_epsilon=budgets)
        .privacy_report_,
        stream.privacy_report_,
        WALRClassifier(classes=[0, 1], epsilon=math.inf).fit(X, y).privacy_report_,
        WALRClassifier(classes=[0, 1], mechanism="classic").fit(X, y).privacy_report_,
        sum(parts).report,
    ]
    for report in found:
        seen_again(report)
    assert len({report.sampling for report in found}) == 3


def test_the_version_that_made_the_report_is_kept():
    report = make_report(**KINDS["full batch"])
    assert report.skdp_version == report.to_dict()["skdp_version"] == skdp.__version__
    older = seen_again(dataclasses.replace(report, skdp_version="0.0.9", reproducible=False))
    assert older.skdp_version == "0.0.9"
    assert older.to_dict()["skdp_version"] == "0.0.9"
    assert compose([older, report]).skdp_version == skdp.__version__


@pytest.mark.parametrize("kind", ["poisson", "replace_one", "full batch", "pairwise", "pure"])
def test_epsilon_may_not_be_below_that_of_the_events(kind):
    report = make_report(**KINDS[kind])
    for factor in (0.991, 0.999999, 1.0, 3.0):
        stated = factor * report.epsilon
        again = PrivacyReport.from_dict(report.to_dict() | {"epsilon": stated})
        assert again.epsilon == max(stated, report.epsilon)
    for factor in (0.0, 0.5, 0.985):
        with pytest.raises(ValueError, match="epsilon is too small for the events"):
            PrivacyReport.from_dict(report.to_dict() | {"epsilon": factor * report.epsilon})
    assert PrivacyReport.from_dict(report.to_dict() | {"epsilon": "inf"}).epsilon == math.inf


@pytest.mark.parametrize("rate", [1.0, 0.01])
def test_gaussian_noise_is_never_read_as_pure(rate):
    entries = make_report(events=(GaussianEvent(100.0, rate),)).to_dict()
    with pytest.raises(ValueError, match="epsilon is too small"):
        PrivacyReport.from_dict(entries | {"delta": 0.0, "epsilon": 1e6})


def test_sums_of_epsilons_below_the_only_bound_are_not_stated():
    """Where only Renyi divergences go they may give far more, and a reader has nothing else."""
    events = GaussianEvent(0.934, 0.001, 200), GaussianEvent(3000.0, 0.01, 20000)
    reports = [make_report(events=(event,), delta=2e-12) for event in events]
    joint = compose(reports)
    assert joint.accountant == "rdp"
    sum_of_epsilons = sum(report.epsilon for report in reports)
    assert joint.epsilon > 1.5 * sum_of_epsilons
    alone = dataclasses.replace(joint, epsilon=math.inf).epsilon_at(joint.delta)
    assert joint.epsilon == alone
    seen_again(joint)
    for stated in (sum_of_epsilons, 0.98 * joint.epsilon):
        with pytest.raises(ValueError, match="epsilon is too small"):
            PrivacyReport.from_dict(joint.to_dict() | {"epsilon": stated})


@pytest.mark.long
def test_sums_of_epsilons_below_the_asked_renyi_divergences_are_read():
    """`compose` takes the smaller where loss distributions bear it out."""
    events = GaussianEvent(0.934, 0.001, 200), GaussianEvent(3000.0, 0.01, 20000)
    reports = [make_report(events=(event,), accountant="rdp") for event in events]
    joint = compose(reports)
    assert joint.accountant == "rdp"
    by_losses = dataclasses.replace(joint, epsilon=math.inf, accountant="pld")
    least = by_losses.epsilon_at(joint.delta)
    assert least <= joint.epsilon <= joint.epsilon_at(joint.delta)
    seen_again(joint)
    for factor in (1.0, 0.995):
        again = PrivacyReport.from_dict(joint.to_dict() | {"epsilon": factor * least})
        assert again.epsilon == least
    with pytest.raises(ValueError, match="epsilon is too small"):
        PrivacyReport.from_dict(joint.to_dict() | {"epsilon": 0.98 * least})


def test_steps_beyond_loss_distributions_are_read():
    event = GaussianEvent(30.0, 1e-3, 10**7)
    report = make_report(events=(event,))
    assert report.accountant == "rdp"
    seen_again(report)
    with pytest.raises(ValueError, match="epsilon is too small"):
        PrivacyReport.from_dict(report.to_dict() | {"epsilon": 0.98 * report.epsilon})
    fewer = get_epsilon(30.0, 1e-5, sampling_rate=1e-3, n_steps=10**6)
    with pytest.raises(ValueError, match="epsilon is too small"):
        PrivacyReport.from_dict(report.to_dict() | {"epsilon": fewer})


@for_each(
    "name, value",
    [
        *(("sampling", value) for value in ("full batch", "", ["poisson"])),
        *(("sampling_rate", value) for value in (0.02, None, "0.01", True, math.nan, HUGE)),
        *(("n_steps", value) for value in (999, 1000.5, True, "1000", None)),
        *(("n_releases", value) for value in (1, HUGE, [1000])),
        *(("noise_multiplier", value) for value in (1.6, "inf", None, {})),
        *(("mu", value) for value in (0.5, "inf", False)),
        ("accountant", "rdp fallback"),
        ("accountant", "basic"),
        ("accountant", "analytic"),
    ],
)
def test_what_is_derived_must_agree(name, value):
    entries = make_report(**KINDS["poisson"]).to_dict()
    with pytest.raises(ValueError, match=name):
        PrivacyReport.from_dict(entries | {name: value})


def test_accountant_must_be_the_one_that_computed():
    pure = make_report(**KINDS["pure"]).to_dict()
    with pytest.raises(ValueError, match="'accountant' doesn't agree with its events"):
        PrivacyReport.from_dict(pure | {"accountant": "pld"})
    full = make_report(**KINDS["full batch"]).to_dict()
    with pytest.raises(ValueError, match="'mu' doesn't agree with its events"):
        PrivacyReport.from_dict(full | {"mu": full["mu"] * (1 - 1e-6)})
    with pytest.raises(ValueError, match="'n_steps' doesn't agree with its events"):
        PrivacyReport.from_dict(full | {"n_steps": 8})
    event = full["events"][0] | {"n_steps": 8}
    with pytest.raises(ValueError, match="doesn't agree with its events"):
        PrivacyReport.from_dict(full | {"events": [event]})


@for_each(
    "name, value",
    [
        *(("epsilon", value) for value in (None, True, "1", math.nan, -1.0, [1.0], HUGE, LONG)),
        *(("delta", value) for value in (None, False, "0", math.nan, -0.1, 1.0, "inf", {})),
        *(("clipping", value) for value in (True, "1.0", math.nan, [1.0], LONG)),
        *(("adjacency", value) for value in (None, 1, [], "zero", LONG)),
        *(("accountant", value) for value in (None, {}, "moments", LONG)),
        *(("accountant_version", value) for value in (None, 1.0)),
        *(("skdp_version", value) for value in (None, 1, ["1"])),
        *(("unit", value) for value in (None, 1, ["one row"])),
        *(("assumed_public", value) for value in (None, "n", [1], {"n": 1}, [["n"]], LONG)),
        *(("not_covered", value) for value in (None, "n", [None])),
        *(("notes", value) for value in (None, "n", [True])),
        *(("reproducible", value) for value in (None, 0, 1, "false")),
        *(("events", value) for value in (None, [], {}, "ab", [1], [[]], LONG, [LONG])),
    ],
)
def test_types_are_checked(name, value):
    entries = make_report(**KINDS["poisson"]).to_dict()
    with pytest.raises(ValueError, match=name) as caught:
        PrivacyReport.from_dict(entries | {name: value})
    assert len(str(caught.value)) < 200
    text = json.dumps(entries | {name: value})
    with pytest.raises(ValueError, match=f"{name}|not the JSON of a PrivacyReport"):
        PrivacyReport.from_json(text)


@for_each(
    "kind, name, value",
    [
        *(("poisson", "type", value) for value in (None, 1, [], "GaussianMechanism", LONG)),
        *(("poisson", "noise_multiplier", value) for value in (None, "1", -1.0, True, LONG)),
        *(("poisson", "sampling_rate", value) for value in (None, 0, 2.0, "inf", True)),
        *(("poisson", "n_steps", value) for value in (None, 0, 1.0, True, -HUGE, HUGE)),
        *(("poisson", "n_parts", value) for value in (None, 2, "1")),
        *(("poisson", "pairwise", value) for value in (None, 0, "no")),
        *(("pure", "largest_multiplier", value) for value in ("3", False, math.nan)),
        ("pure", "sampling_rate", 1.0),
        ("poisson", "largest_multiplier", None),
    ],
)
def test_entries_of_events_are_checked(kind, name, value):
    entries = make_report(**KINDS[kind]).to_dict()
    entries["events"][0][name] = value
    with pytest.raises(ValueError, match=name) as caught:
        PrivacyReport.from_dict(entries)
    assert len(str(caught.value)) < 200


def test_missing_and_unknown_entries_are_named():
    entries = make_report(**KINDS["poisson"]).to_dict()
    for name in entries.keys() - OF_LATER_VERSIONS:
        rest = {key: value for key, value in entries.items() if key != name}
        with pytest.raises(ValueError, match=f"'{name}' of the report is missing"):
            PrivacyReport.from_dict(rest)
    with pytest.raises(ValueError, match="no entry 'Epsilon'"):
        PrivacyReport.from_dict(entries | {"Epsilon": 1.0})
    with pytest.raises(ValueError, match="no entry 'yyy") as caught:
        PrivacyReport.from_dict(entries | {LONG: 1.0})
    assert len(str(caught.value)) < 100
    with pytest.raises(ValueError, match="no entry 1"):
        PrivacyReport.from_dict(entries | {1: 1.0})
    for name in entries["events"][0]:
        event = {key: value for key, value in entries["events"][0].items() if key != name}
        with pytest.raises(ValueError, match=f"'{name}'"):
            PrivacyReport.from_dict(entries | {"events": [event]})
    with pytest.raises(ValueError, match="GaussianEvent has no entry 'epsilon'"):
        PrivacyReport.from_dict(
            entries | {"events": [entries["events"][0] | {"epsilon": 1.0}]},
        )


@pytest.mark.parametrize(
    "text", ["", "{", "1", "null", "[]", f'"{LONG}"', "[" * 100_000, '{"a":' * 2000 + "1"]
)
def test_text_that_is_no_report(text):
    with pytest.raises(ValueError, match="not the JSON of a PrivacyReport") as caught:
        PrivacyReport.from_json(text)
    assert len(str(caught.value)) < 100
    assert caught.value.__context__ is None


def test_deep_entries_are_refused():
    text = make_report(**KINDS["poisson"]).to_json()
    deep = "[" * 900 + "]" * 900
    with pytest.raises(ValueError, match="notes"):
        PrivacyReport.from_json(text.replace('"notes": []', f'"notes": {deep}'))


def test_other_types_are_refused():
    report = make_report(**KINDS["poisson"])
    for value in (None, 1, report, report.to_dict(), report.to_json().encode()):
        with pytest.raises(TypeError, match="text"):
            PrivacyReport.from_json(value)
    for value in (None, [], report, report.to_json()):
        with pytest.raises(TypeError, match="entries"):
            PrivacyReport.from_dict(value)


def test_numbers_that_other_programs_write_are_read():
    """Some write 1.0 as 1."""
    report = make_report(**KINDS["pure"])
    entries = json.loads(report.to_json().replace(".0,", ","))
    assert type(entries["delta"]) is int
    assert PrivacyReport.from_dict(entries) == report
