"""Pages of studies: one file that says what is guaranteed, and runs and loads nothing."""

import base64
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skdp.accountant import GaussianEvent, PrivacyReport, compose
from skdp.additive import DPAdditiveClassifier
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPRidge
from skdp.metrics import PrivateRocCurve, PrivateScore
from skdp.plotting import PrivacyDisplay, report_page
from skdp.statistics import describe

plt = pytest.importorskip("matplotlib.pyplot")
EVIL = '<script>alert("x")</script>\'&'


def report_of(multiplier=9.0, **changes):
    fields = {"adjacency": "zero_out", "clipping": None, "accountant": "pld", "delta": 1e-5}
    events = (GaussianEvent(multiplier),)
    return PrivacyReport(**{"epsilon": 1.0, "events": events} | fields | changes)


def score_of(report, name="accuracy"):
    return PrivateScore(0.9, 0.88, 0.92, report, scoring=name)


class Reader(HTMLParser):
    """Tags with their attributes, and the text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text, self.quoted = [], "", ""
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        tag, attributes = self.tags[-1] if self.tags else ("", {})
        if tag != "style":
            self.text += data
        if attributes.get("class") == "guarantee" and not self.quoted:
            self.quoted = data


@pytest.fixture
def write(tmp_path):
    def write(parts, **changes):
        return Reader(report_page(parts, tmp_path / "page.html", **changes))

    return write


def test_the_joint_guarantee_is_at_the_top(write):
    first, second = report_of(9.0), report_of(12.0)
    page = write({"One": first, "Two": score_of(second)})
    assert page.quoted == compose([first, second]).guarantee
    assert "composed from their reports: 'One', 'Two'." in page.text


def test_scores_of_one_call_count_once_and_equal_fits_twice(write):
    report = report_of()
    both = {"accuracy": score_of(report), "roc_auc": score_of(report, "roc_auc")}
    assert write({"Scores": both}).quoted == report.guarantee
    page = write({"One": report_of(), "Two": report_of()})
    assert page.quoted == compose([report, report]).guarantee
    assert page.quoted != report.guarantee


@pytest.mark.every
@pytest.mark.parametrize(
    "other",
    [
        report_of(adjacency="replace_one"),
        report_of(unit="one group"),
    ],
    ids=["adjacency", "unit"],
)
def test_no_total_is_claimed_where_reports_do_not_add_up(write, other):
    page = write({"One": report_of(), "Two": other})
    assert page.quoted.startswith("No guarantee is stated for this page as a whole, because")
    assert page.text.count("What was published is differentially private") == 2


def test_seeded_fits_have_no_total(write):
    seeded = report_of(reproducible=True)
    page = write({"One": seeded, "Two": report_of(8.0, reproducible=True)})
    assert page.quoted.startswith("No guarantee")
    assert "while the seed stays secret" in write({"One": seeded}).quoted


def test_what_has_no_report_is_named(write):
    frame = pd.DataFrame({"a": [1.0]})
    page = write({"Words": "hello", "Numbers": frame, "Model": LinearRegression()})
    assert page.quoted.startswith("No part of this page has a report")
    page = write({"Words": "hello", "Numbers": frame, "Fit": report_of()})
    assert "nothing else of the records: 'Numbers'." in page.text


def test_no_privacy_is_no_guarantee(write):
    report = report_of(0.0, epsilon=np.inf)
    assert write({"Fit": report}).quoted.startswith("What was published has no privacy")
    both = write({"Fit": report, "Score": report_of(9.0)})
    assert "a part has no noise and may reveal any record: 1 x Gaussian(0)." in both.quoted
    assert "an infinite epsilon, by themselves already: 'Fit'. Leave" in both.text
    part = report_of(unprotected=("scale",))
    assert write({"Fit": part}).quoted.startswith("All but 'scale' of what was published")


def test_a_ledgers_budget_stands_for_all_parts(write, tmp_path):
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=2.0, delta=1e-4)
    page = write({"Fit": report_of()}, ledger=ledger)
    assert page.quoted == ledger.report().guarantee
    assert "whole budget of the ledger" in page.text
    others = (
        report_of(0.5, epsilon=100.0),
        report_of(adjacency="replace_one"),
        report_of(reproducible=True),
        report_of(unprotected=("scale",)),
    )
    for other in others:
        with pytest.raises(ValueError, match="weaker than that of the ledger"):
            write({"Fit": other}, ledger=ledger)


@pytest.mark.long
def test_nothing_runs_and_nothing_is_loaded(write):
    frame = pd.DataFrame({EVIL: [EVIL]}, index=pd.Index([EVIL], name=EVIL))
    figure, axes = plt.subplots()
    axes.set_title(EVIL.replace("$", ""))
    report = report_of(notes=(EVIL,), unprotected=(EVIL,))
    parts = [
        (EVIL, EVIL),
        ("frame", frame),
        ("series", frame[EVIL]),
        ("figure", figure),
        ("report", report),
        ("dict", {EVIL: EVIL}),
        ("model", DPRidge(ledger=EVIL)),
        ("number", 3),
    ]
    page = write(parts, title=EVIL)
    plt.close(figure)
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "link", "iframe", "object", "embed", "a", "base", "form"}
    for tag, attributes in page.tags:
        for name, value in attributes.items():
            assert not name.startswith("on")
            assert name not in ("href", "action")
            if name == "src":
                assert tag == "img"
                assert value.startswith("data:image/svg+xml;base64,")
    assert page.text.count(EVIL) >= 8
    policy = next(one["content"] for tag, one in page.tags if "http-equiv" in one)
    assert policy.startswith("default-src 'none'; img-src data:;")


@pytest.mark.long
def test_figures_are_in_the_page_and_the_same_each_time(write):
    display = PrivacyDisplay.from_report(report_of(), kind="profile")
    sources = [
        next(one["src"] for tag, one in write({"Figure": display}).tags if tag == "img")
        for _ in range(2)
    ]
    plt.close(display.figure_)
    assert sources[0] == sources[1]
    drawn = base64.b64decode(sources[0].split(",")[1]).decode()
    assert re.search(r"<svg", drawn)
    assert "<path" in drawn


def test_a_model_shows_its_parameters_and_its_report(write):
    X = np.linspace(-1, 1, 300).reshape(-1, 3)
    model = DPRidge(epsilon=2.0, target_bounds=(0, 1)).fit(X, X[:, 0])
    page = write([("Model", model)])
    assert "DPRidge(epsilon=2.0" in page.text
    assert page.quoted == model.privacy_report_.guarantee
    assert "second moment" in page.text


def test_a_description_is_two_tables_that_scroll_and_its_report_is_below(write):
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, 900), "D")
    table = pd.DataFrame({"day": days, EVIL: rng.normal(0, 1, 900), "word": EVIL})
    found = describe(table, epsilon=5.0, random_state=0)
    page = write({"Table": found})
    assert [one.get("class") for tag, one in page.tags if tag == "div"][:2] == ["wide table"] * 2
    # An interval is below its value, and each of its dates on a line.
    assert re.search(r"\d\n\(-?[\d.,]+ to -?[\d.,]+\)", page.text)
    assert re.search(r"2024-\d\d-\d\d\n\(2024-\d\d-\d\d to\n2024-\d\d-\d\d\)", page.text)
    assert page.text.count("What was published is differentially private") == 2
    assert "What is guaranteed, part by part" in page.text
    assert page.text.count(EVIL) >= 2
    assert not {tag for tag, _ in page.tags} & {"script"}


@pytest.mark.long
def test_scorecards_are_tables_and_curves_are_figures(write):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"home": rng.choice(["owns", "rents"], 900)})
    model = DPAdditiveClassifier(classes=[0, 1]).fit(X, X["home"] == "rents")
    ends = np.array([0.0, 1.0])
    curve = PrivateRocCurve(ends, ends, ends[::-1], score_of(report_of()), report_of())
    n_open = len(plt.get_fignums())
    page = write({"Card": model.to_points(), "Curve": curve})
    assert len([tag for tag, _ in page.tags if tag == "img"]) == 1
    assert all(text in page.text for text in ("base points", "owns", "rents", "100.0%"))
    assert "900.0" not in page.text
    assert page.quoted == curve.report.guarantee
    assert len(plt.get_fignums()) == n_open


@pytest.mark.parametrize("seed", [4711, np.random.RandomState(4711)])
def test_a_page_shows_no_seed(write, seed):
    X = np.linspace(-1, 1, 300).reshape(-1, 3)
    model = DPRidge(random_state=seed, alpha=0.5, target_bounds=(0, 1)).fit(X, X[:, 0])
    for part in (model, make_pipeline(StandardScaler(), model)):
        text = write([("Model", part), ("Score", 0.5)]).text
        assert "4711" not in text
        assert "RandomState" not in text
        assert "random_state=<secret>" in text
        assert "alpha=0.5" in text
    assert model.random_state is seed
    assert "random_state" not in write({"Model": clone(model).set_params(random_state=None)}).text


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        ({}, ValueError),
        ([], ValueError),
        ("parts", TypeError),
        ([("title", "a", "b")], TypeError),
        ({1: "text"}, TypeError),
        ({"rows": np.ones(3)}, TypeError),
        ({"rows": object()}, TypeError),
    ],
)
def test_other_parts_are_refused(parts, error, tmp_path):
    with pytest.raises(error, match="part"):
        report_page(parts, tmp_path / "page.html")
    assert not list(tmp_path.iterdir())


def test_other_titles_and_ledgers_are_refused(tmp_path):
    with pytest.raises(TypeError, match="title must be"):
        report_page({"a": "b"}, tmp_path / "page.html", title=3)
    with pytest.raises(TypeError, match="ledger must be"):
        report_page({"a": "b"}, tmp_path / "page.html", ledger="study.db")
