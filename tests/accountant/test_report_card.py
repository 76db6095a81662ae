"""What officials ask for: true for all kinds of reports, and a file that YAML reads as written."""

import datetime
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

from skdp.accountant import (
    ErasureEvent,
    GaussianEvent,
    LaplaceEvent,
    PrivacyReport,
    calibrate,
    compose,
    get_epsilon,
)
from skdp.audit import audit
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression, DPRidge
from skdp.metrics import private_score
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import BoundsScaler, DPStandardScaler, NormClipper
from skdp.statistics import describe
from tests.accountant.test_report_markdown import (
    KINDS,
    LABELS,
    ROWS,
    as_text,
    of_groups,
    of_ledger,
    poisson,
    pure,
    selected,
)
from tests.door import CARD_KEYS, QUESTIONS

TEXTS = (
    "plain",
    "",
    " with: colon, - dash, # hash, 'quotes', \"double\", {braces}, [brackets], %, @, `, &a, *b, !c",
    "lines\n\n  of text\n- and more\r\n\ttab \\n \\",
    "true",
    "null",
    "1e-05",
    "2026-01-02",
    "\N{LATIN SMALL LETTER E WITH ACUTE} \N{PARTY POPPER} \u2028 \u2029 \x85 \x7f \x00 \x1b \ufeff",
    "- ",
    "---\nx: 1\n...",
)
FULL = {
    "name": "Readmission",
    "description": "Risk of coming back",
    "curator": ["Hospital", "University"],
    "purpose": "to plan beds",
    "region": "Europe",
    "sector": "Health",
    "product_type": "Machine learning model",
    "publication_date": datetime.date(2026, 1, 2),
    "collection_dates": "2024 to 2025",
    "unit": "a patient",
    "domain": "ages from 0 to 120, by definition",
    "justification": "epsilon as in similar studies",
    "sources": ("a: paper", "b: page"),
    "authors": "Jo",
    "n_records": 300,
}


def gaussian(adjacency="zero_out", **changes):
    fields = {"adjacency": adjacency, "clipping": 1.0, "accountant": "pld"}
    fields = {"epsilon": 9.0, "delta": 1e-5, "events": [GaussianEvent(2.0)]} | fields
    return PrivacyReport(**fields | changes)


def of_pipeline():
    model = DPLogisticRegression(classes=[0, 1])
    steps = BoundsScaler((-1, 1)), DPStandardScaler(), NormClipper(1.0), model
    return make_private_pipeline(*steps, delta=1e-3).fit(ROWS, LABELS).privacy_report_


def of_description():
    table = pd.DataFrame(ROWS, columns=["a", "b"])
    return describe(table, epsilon=1.0, delta=1e-3).privacy_report_


def of_score():
    model = DPLogisticRegression(classes=[0, 1], delta=1e-3).fit(ROWS, LABELS)
    return private_score(model, ROWS, LABELS, epsilon=1.0).report


REPORTS = {**KINDS, "pipeline": of_pipeline, "describe": of_description, "score": of_score}
FINITE = {name: make for name, make in REPORTS.items() if name != "no privacy"}


def cells(report, card=None):
    found = re.findall(r"(?m)^\| (.*?) \| (.*) \|$", report.to_markdown(card))
    return {as_text(title): as_text(text) for title, text in found}


def entry(report, card=None):
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(report.to_registry_yaml(card))


def number(text):
    return float(re.search(r"= ([\d.e+-]+)", text)[1])


def shape(value):
    if isinstance(value, dict):
        return {name: shape(item) for name, item in value.items()}
    return type(value)


@pytest.mark.parametrize("make", REPORTS.values(), ids=REPORTS)
def test_every_report_says_what_is_asked(make):
    report = make()
    said = cells(report)
    asked = {"Gaussian DP", "Delta", "zCDP", "Trust model", "Randomness", "Floating point"}
    asked |= {"Covers", "Preparation and tuning"}
    if math.isinf(report.epsilon):
        assert not asked & set(said)
        return
    assert asked <= set(said)
    assert ("Under" in " ".join(said)) == (report.adjacency != "replace_label")
    assert said["Trust model"].startswith("central")
    assert ("batch" in said["Covers"]) == any(e.sampling_rate < 1 for e in report.events)


@pytest.mark.parametrize("make", FINITE.values(), ids=FINITE)
def test_every_card_says_which_rows_answer_reviewers_and_what_none_does(make):
    """A row is named only if the card has it, and each number stands once."""
    report = make()
    for card in (None, FULL):
        said = cells(report, card)
        lists = re.findall(r"(?m)^\*\*(.*)\*\*$", report.to_markdown(card))
        titles = {*said, *lists}
        for source, numbers in QUESTIONS.items():
            *told, open_ones = said[f"Asked by {source}"].split("; ")
            if not open_ones.startswith("not by this card: "):
                told.append(open_ones)
                open_ones = ""
            left = open_ones.removeprefix("not by this card: ").split(", ") if open_ones else []
            answered = dict(one.split(" by ") for one in told)
            assert sorted([*answered, *left]) == sorted(numbers)
            for number, rows in answered.items():
                assert set(rows.split(", ")) == titles & set(numbers[number]), number
            assert not titles & {title for number in left for title in numbers[number]}


def test_without_a_guarantee_nothing_is_answered():
    assert "Asked by" not in poisson(epsilon=math.inf).to_markdown(FULL)


def test_what_no_row_answers_is_said_to_be_open():
    """Without an audit nobody has tested for membership, and without a score nobody for utility."""
    said = cells(gaussian())
    assert said["Asked by OWASP AISVS 1.0"].endswith("11.2.1, 11.2.2, 11.2.3, 11.2.5")
    assert "8.2.3" in said["Asked by ISO/IEC 27559:2022"].partition("not by this card")[2]
    assert said["Asked by W3C's draft note of February 2026"].endswith("not by this card: utility")


def test_the_page_says_what_each_number_is_about():
    page = Path(__file__).parents[2] / "doc" / "out_of_python.rst"
    if not page.exists():
        pytest.skip("pages are not part of an installed package")
    text = page.read_text(encoding="utf-8")
    table = text[text.index("- Its numbers") : text.index("The text of a card is copied")]
    for source in ("OWASP AISVS 1.0", "ISO/IEC 27559:2022"):
        row = table[table.index(source) :].split("   * - ")[0]
        assert re.findall(r"(?<![.\d])(\d+\.\d[.\d]*):", row) == list(QUESTIONS[source]), source


@pytest.mark.parametrize("make", FINITE.values(), ids=FINITE)
def test_every_report_is_an_entry_of_the_registry(make):
    report = make()
    found, deployment = entry(report), entry(report)["deployment"]
    assert list(found) == ["status", "tier", "deployment"]
    assert list(deployment) == [
        *("product", "dp_flavor", "privacy_loss", "model", "accounting", "implementation"),
        "resources",
    ]
    spent = deployment["privacy_loss"]["privacy_parameters"]
    assert (spent["epsilon"], spent["delta"]) == (report.epsilon, report.delta)
    assert shape(entry(report, FULL)) == shape(found)
    assert report.condition in deployment["privacy_loss"]["privacy_parameters_description"]
    for said in report.not_covered:
        assert said in deployment["accounting"]["composition"]
    for said in report.assumed_public:
        assert said.rstrip(".") in deployment["dp_flavor"]["unprotected_quantities"]
    is_pure = report.delta == 0
    assert deployment["dp_flavor"]["name"] == ("Pure DP" if is_pure else "Approximate DP")


def test_a_ledgers_report(tmp_path):
    report = of_ledger(tmp_path)
    assert entry(report)["deployment"]["privacy_loss"]["privacy_parameters"]["epsilon"] == 2.0
    assert cells(report)["Under replace_one"] == "no epsilon is known at this delta"


def test_a_ledger_of_replaced_records_promises_no_less_under_the_other_adjacency(tmp_path):
    """As it takes pairwise releases, which cost the same under both."""
    ledger = PrivacyLedger(tmp_path / "study", epsilon=1.0, delta=1e-5, adjacency="replace_one")
    event = GaussianEvent(calibrate(0.99, 9e-6, pairwise=True), pairwise=True)
    ledger.charge(gaussian("replace_one", events=[event]))
    assert cells(ledger.report())["Under zero_out"] == "epsilon = 1 at the same delta"


def test_without_noise_there_is_nothing_to_register():
    with pytest.raises(ValueError, match=r"epsilon is infinite.*finite epsilon"):
        poisson(epsilon=math.inf).to_registry_yaml()


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_yaml_reads_texts_as_they_were_written(text):
    product = entry(gaussian(), {"name": text, "curator": [text, "x"]})["deployment"]["product"]
    assert (product["name"], product["data_curators"]) == (text, [text, "x"])


@pytest.mark.parametrize("delta", [1e-5, 1e-12, 0.25, 3.5e-7])
@pytest.mark.parametrize("epsilon", [9.0, 30, 1e22, np.float64(12.345678901234567)])
def test_yaml_reads_numbers_as_they_were_written(epsilon, delta):
    report = gaussian(epsilon=epsilon, delta=delta)
    spent = entry(report)["deployment"]["privacy_loss"]["privacy_parameters"]
    assert spent == {"epsilon": report.epsilon, "delta": delta, "rho": 0.125}
    assert all(type(value) is float for value in spent.values())


def test_dates_and_numbers_are_texts():
    when = datetime.datetime(2026, 1, 2, 3, 4)
    facts = {"publication_date": when, "name": np.int64(7), "region": np.float32(0.5)}
    product = entry(gaussian(), facts)["deployment"]["product"]
    assert product["publication_date"] == "2026-01-02"
    assert (product["name"], product["data_product_region"]) == ("7", "0.5")
    assert cells(gaussian(), facts)["Published"] == "2026-01-02"


def test_the_facts_of_a_card_are_in_both():
    said, found = cells(gaussian(), FULL), gaussian().to_registry_yaml(FULL)
    for name, fact in FULL.items():
        for item in fact if isinstance(fact, (list, tuple)) else [fact]:
            assert str(item) in found, name
            assert any(str(item) in cell for cell in said.values()), name
    assert set(FULL) == set(CARD_KEYS) - {"model", "score", "audit"}


@pytest.mark.parametrize(
    ("left_out", "tier"), [("", 3), ("domain", 2), ("justification", 2), ("sector", 1), ("name", 1)]
)
def test_the_tier_is_that_of_the_facts(left_out, tier):
    card = {name: fact for name, fact in FULL.items() if name != left_out}
    assert entry(gaussian(), card)["tier"] == tier


@pytest.mark.parametrize("method", ["to_markdown", "to_registry_yaml"])
def test_what_a_card_may_be(method):
    write = getattr(gaussian(), method)
    with pytest.raises(ValueError, match=r"'name', 'description'.*'audit'") as caught:
        write({"title": "secret"})
    assert "title" not in str(caught.value)
    assert "secret" not in str(caught.value)
    with pytest.raises(TypeError, match="card must be a dict"):
        write("secret")
    for value in (None, True, object(), {"a": 1}, b"x", ["a", None], [["a"]]):
        with pytest.raises(TypeError, match="'name' of card"):
            write({"name": value})
    for value in (0, -1, 0.5, "many", True):
        with pytest.raises((TypeError, ValueError), match="n_records"):
            write({"n_records": value})
    with pytest.raises(TypeError, match="'model' of card must be an estimator"):
        write({"model": "DPRidge"})
    for value in (0.9, "0.9", [0.9]):
        with pytest.raises(TypeError, match="private_score"):
            write({"score": value})
    with pytest.raises(TypeError, match=r"audit\.audit"):
        write({"audit": "passed"})


def test_delta_stands_beside_one_over_n_where_the_card_has_n():
    assert "300" not in gaussian().to_markdown()
    told = cells(gaussian(), {"n_records": np.int64(300)})["Delta"]
    assert "0.003 times 1 / n = 0.003333, for the n = 300 records" in told
    assert "too large" not in told
    assert "too large" in cells(gaussian(delta=0.01), {"n_records": 300})["Delta"]
    assert "150 groups" in cells(of_groups(), {"n_records": 150})["Delta"]
    assert "without exception" in cells(pure())["Delta"]


@pytest.mark.parametrize("other", ["zero_out", "replace_one"])
def test_epsilon_under_the_other_adjacency(other):
    report = gaussian({"zero_out": "replace_one", "replace_one": "zero_out"}[other])
    exact = get_epsilon(2.0, 1e-5, adjacency=other)
    assert exact <= number(cells(report)[f"Under {other}"]) <= 1.001 * exact


def test_epsilon_of_poisson_batches_under_replacement():
    (event,) = poisson().events
    design = {"sampling_rate": event.sampling_rate, "n_steps": event.n_steps}
    exact = get_epsilon(event.noise_multiplier, 1e-5, adjacency="replace_one", **design)
    assert exact <= number(cells(poisson())["Under replace_one"]) <= 1.01 * exact


def test_a_distance_of_neighbours_counts_twice_for_a_replaced_record():
    report = gaussian(events=[GaussianEvent(2.0, pairwise=True)])
    exact = get_epsilon(1.0, 1e-5)
    assert exact <= number(cells(report)["Under replace_one"]) <= 1.001 * exact


def test_an_erasure_counts_as_often_as_the_triangle_inequality_says():
    events = [GaussianEvent(4.0), ErasureEvent(1e-7)]
    told = number(cells(gaussian(events=events))["Under replace_one"])
    # Less than the double group's Gaussian alone is not to be had, and not all is revealed.
    assert get_epsilon(2.0, 1e-5) <= told < 4 * get_epsilon(4.0, 1e-5)


def test_pure_noise_under_the_other_adjacency():
    fields = {"epsilon": 1.0, "delta": 0.0, "events": [LaplaceEvent(2.0)]}
    assert number(cells(gaussian(**fields))["Under replace_one"]) == 1.0
    assert number(cells(gaussian("replace_one", **fields))["Under zero_out"]) == 0.5


@pytest.mark.long
def test_concentrated_privacy():
    assert cells(gaussian())["zCDP"] == "rho = 0.125"
    assert cells(gaussian("replace_one"))["zCDP"] == "rho = 0.5"
    assert cells(pure())["zCDP"] == "rho = 0.5"
    mixed = compose([gaussian(), gaussian(delta=0.0, events=[LaplaceEvent(2.0)])])
    assert cells(mixed)["zCDP"] == "rho = 0.25"
    for report in (poisson(), selected(), gaussian(events=[ErasureEvent(1e-6)])):
        assert cells(report)["zCDP"].startswith("none")
        assert "rho" not in entry(report)["deployment"]["privacy_loss"]["privacy_parameters"]


def test_the_gaussian_guarantee_covers_the_report():
    assert cells(gaussian())["Gaussian DP"] == (
        "mu = 0.5: together, the releases tell as much as one with Gaussian noise of 2 times the "
        "most that one record can change"
    )
    told = cells(poisson())["Gaussian DP"]
    mu, erased = number(told), float(re.search(r"probability of (\S+) ", told)[1])
    assert 0 < erased < 1e-5
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        promised = erased + (1 - erased) * gaussian(events=[GaussianEvent(1 / mu)]).delta_at(
            epsilon
        )
        assert poisson().delta_at(epsilon) <= promised
    rounded_up = gaussian(events=[GaussianEvent(3.0)])
    assert cells(rounded_up)["Gaussian DP"].startswith("mu = 0.3334: ")


def test_the_ranges_of_a_model_are_its_domain():
    steps = BoundsScaler((0, 120)), NormClipper(1.0), DPLogisticRegression(classes=[0, 1])
    said = cells(gaussian(), {"model": make_private_pipeline(*steps), "domain": "years"})["Domain"]
    assert said.startswith("years. ")
    assert "boundsscaler__feature_bounds = (0, 120)" in said
    assert "dplogisticregression__classes = [0, 1]" in said
    assert "epsilon" not in said


@pytest.mark.long
def test_seeds_and_selections_are_told():
    assert "os.urandom" in cells(poisson())["Randomness"]
    assert "random_state" in cells(poisson(reproducible=True))["Randomness"]
    assert "chosen" in cells(selected())["Covers"]
    assert cells(selected())["Preparation and tuning"].startswith("covered: the choice")
    assert "not covered: preprocessing" in cells(of_pipeline())["Preparation and tuning"]


@pytest.mark.long
def test_a_score_and_an_audit():
    model = DPLogisticRegression(classes=[0, 1], delta=1e-3)
    fitted = clone(model).fit(ROWS, LABELS)
    score = private_score(fitted, ROWS, LABELS, scoring=["accuracy", "f1"], epsilon=1.0)
    attack = audit(model, ROWS[:40], LABELS[:40], n_fits=20, random_state=0)
    card = {"score": score, "audit": attack}
    reports = (
        fitted.privacy_report_.to_markdown(card),
        fitted.privacy_report_.to_registry_yaml(card),
    )
    for text in map(as_text, reports):
        assert all(repr(one) in text for one in score.values())
        assert repr(attack).replace("_", "") in text.replace("_", "")
        assert "not private" in text
        assert "counted above only where both reports were composed" in text
    assert "11.2.5 by Audit" in as_text(reports[0])
    assert "utility by Score" in as_text(reports[0])
    assert repr(score["f1"]) in as_text(gaussian().to_markdown({"score": score["f1"]}))


def test_models_say_to_machines_whether_they_are_private():
    model = DPRidge(epsilon=1.0, delta=1e-3, data_norm=2.0, target_bounds=(0, 1))
    with pytest.raises(AttributeError, match="after a fit"):
        model.differentially_private_  # noqa: B018
    assert not hasattr(clone(model), "differentially_private_")
    with pytest.raises(NotFittedError):
        model.predict(ROWS)
    for changes, is_private in (
        ({}, True),
        ({"epsilon": math.inf}, False),
        ({"random_state": 0}, False),
    ):
        fitted = clone(model).set_params(**changes).fit(ROWS, LABELS)
        assert fitted.differentially_private_ is is_private
        assert fitted.privacy_report_.differentially_private is is_private
    pipeline = make_private_pipeline(NormClipper(1.0), DPLogisticRegression(classes=[0, 1]))
    assert pipeline.set_params(delta=1e-3).fit(ROWS, LABELS).differentially_private_ is True


def test_a_fit_with_a_step_that_learns_without_privacy_is_not_said_to_be_private():
    steps = StandardScaler(), DPLogisticRegression(classes=[0, 1])
    pipeline = make_private_pipeline(*steps, delta=1e-3, allow=("standardscaler",))
    fitted = pipeline.fit(ROWS, LABELS)
    assert fitted.differentially_private_ is False
    joint = compose([fitted.privacy_report_, gaussian()])
    assert joint.differentially_private is False


def test_counts_below_a_threshold_are_not_said_to_be_covered():
    events = [GaussianEvent(4.0), ErasureEvent(1e-7)]
    assert "only those above it" in cells(gaussian(events=events))["Covers"]
    assert "threshold" not in cells(gaussian())["Covers"]
