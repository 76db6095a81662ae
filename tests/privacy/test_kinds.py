"""Kinds of columns that a release tells: what a record moves, and what all paths cost."""

import datetime
import itertools
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone

from skdp.accountant import ErasureEvent
from skdp.additive import DPAdditiveClassifier
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import DPTableVectorizer
from tests._runs import NO_NOISE
from tests.door import (
    CLASSES,
    KINDS,
    Budget,
    CountsByClass,
    Plan,
    Tally,
    gaussian_cost,
    plan_additive,
    plan_description,
    plan_vectorizer,
    read_frame,
    read_specs,
    specs_before_fit,
)
from tests.privacy._corners import pairs_of
from tests.privacy._recipes import UNTYPED
from tests.privacy._recorded import claimed_mu, record
from tests.privacy.test_fills_and_categories import published

pytestmark = pytest.mark.filterwarnings("ignore::skdp.exceptions.PrivacyWarning")
ADJACENCIES = ("zero_out", "replace_one")
NAN = np.nan
# Some of each class, in the order of `CLASSES`.
ENTRIES = {
    "number": [1.5, 0, True, "1e3", "-7", " 2 ", Decimal("0.1"), datetime.timedelta(1), "0"],
    "date": [datetime.date(2024, 1, 31), "2024-01-31", pd.Timestamp("2020-02-29 12:00")],
    "code": ["007", "0123456789"],
    "text": ["many", "12,5", "1_000", "2024-13-01", "0x1f", "\u0661\u0662a"],
    "gap": [None, NAN, pd.NA, pd.NaT, "?", "", " nan ", math.inf, "-inf", 10**400],
}
ALL = [entry for entries in ENTRIES.values() for entry in entries]


def tallies_of(X, groups=None):
    frame = read_frame(DPTableVectorizer(), X, reset=True)
    return frame.ask(CountsByClass(frame.untyped, NO_NOISE))


@pytest.mark.long
def test_an_entry_is_of_one_class_whatever_stands_beside_it():
    """Below each other entry, in a column of its own."""
    names = [f"c{j}" for j in range(len(ALL))]
    alone = tallies_of(pd.DataFrame([ALL], columns=names, dtype=object))
    for name, entries in ENTRIES.items():
        for entry in entries:
            rows = [ALL, [entry] * len(ALL)]
            beside = tallies_of(pd.DataFrame(rows, columns=names, dtype=object))
            expected = [float(name == one) for one in CLASSES]
            assert (beside - alone).tolist() == [expected] * len(ALL)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_no_pair_of_records_is_further_apart_than_the_bound_and_some_as_far(n_columns, adjacency):
    """Of all classes that entries of up to three columns may have, against each other or none."""
    rows = list(itertools.product([entries[0] for entries in ENTRIES.values()], repeat=n_columns))
    names = [f"c{j}" for j in range(n_columns)]
    counts = [tallies_of(pd.DataFrame([row], columns=names, dtype=object)).ravel() for row in rows]
    nothing = np.zeros(counts[0].size)
    others = counts if adjacency == "replace_one" else [nothing]
    apart = max(np.linalg.norm(one - other) for one in counts for other in others)
    plan = plan_for(DPTableVectorizer(adjacency=adjacency), n_columns)
    assert apart == pytest.approx(plan.mechanisms[KINDS].contribution_bound, rel=1e-15)
    assert apart == math.sqrt(n_columns * (2 if adjacency == "replace_one" else 1))


def plan_for(estimator, n_untyped, n_numeric=0, n_records=1000):
    names = tuple(f"c{j}" for j in range(n_untyped + n_numeric))
    specs = read_specs(names, ("untyped",) * n_untyped + ("numeric",) * n_numeric)
    if isinstance(estimator, DPAdditiveClassifier):
        return estimator._parameters().plan(estimator._budget(n_records), specs, n_records, 1)
    return estimator._table_plan(estimator._budget(n_records), n_records, specs)


OTHERS = pd.DataFrame(
    {"x": [0.0, "1.5", "a", "?", 1e9], "z": ["00", "2024-01-31", 2.0, None, "b"]}, dtype=object
)


def with_row(*row):
    return pd.DataFrame([*OTHERS.itertuples(index=False), row], columns=["x", "z"], dtype=object)


def telling(kinds, is_first=True):
    """Return what a release answers where columns come out as of such kinds, the others as is."""
    state = {"is_first": is_first}

    def answer(value):
        if state["is_first"] and value.size == len(CLASSES) * len(kinds):
            state["is_first"] = False
            places = [("number", "date", "text").index(kind) for kind in kinds]
            places = [place + (place == 2) for place in places]
            return 1e6 * np.eye(len(CLASSES))[places].ravel()
        return value + 0.25

    return answer


PATHS = list(itertools.product(("number", "date", "text"), repeat=2))


@pytest.mark.filterwarnings("ignore:feature_bounds is of no column")
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", UNTYPED)
def test_given_the_releases_a_record_decides_nothing(name, adjacency):
    """Of entries of all classes and of none, for all kinds that the release may tell.

    All are words that others have: `test_table` has those of a single record.
    """
    estimator = clone(UNTYPED[name]).set_params(adjacency=adjacency)
    rows = list(itertools.product(OTHERS["x"].tolist()[1:], OTHERS["z"].tolist()))[::2]
    for kinds in (("number", "text"), ("text", "date"), ("date", "number")):
        first, _, script, _ = record(estimator, with_row(*rows[0]), answer=telling(kinds))
        told = tuple({"number": "numeric", "text": "word"}.get(kind, kind) for kind in kinds)
        # A description keeps no kinds.
        assert getattr(first, "_kinds", told) == told
        runs = [record(estimator, with_row(*row), script=script) for row in rows]
        runs.append(record(estimator, with_row(*rows[0]), script=script, null=len(OTHERS)))
        reach = np.zeros(len(script))
        for (one, values, _, mechanisms), (other, moved, _, _) in pairs_of(runs, adjacency):
            assert published(one) == published(other)
            distances = [np.linalg.norm(a - b) for a, b in zip(values, moved, strict=True)]
            bounds = [mechanism.contribution_bound for mechanism in mechanisms]
            factors = [1.0] + [1.0 if adjacency == "zero_out" else 2.0] * (len(bounds) - 1)
            reach = np.maximum(reach, np.divide(distances, np.multiply(bounds, factors)))
        assert (reach <= 1.0 + 1e-6).all()
        assert reach[0] == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_a_person_of_any_rows_counts_as_one_record(adjacency):
    people = [[(1.0, "a")], [("a", "007")] * 3, [(None, 1.0)] * 7, [("a", 1.0), (2.0, "b")]]
    people += [[(entry, entry) for entry in ALL]]
    estimator = DPTableVectorizer(adjacency=adjacency)

    def of(rows, **options):
        X = pd.DataFrame([*OTHERS.itertuples(index=False), *rows], columns=["x", "z"], dtype=object)
        groups = np.append(np.arange(len(OTHERS)), np.full(len(rows), len(OTHERS)))
        return record(estimator, X, groups=groups, **options)

    script = of(people[0])[2]
    runs = [of(rows, script=script) for rows in people]
    runs.append(of(people[0], script=script, null=len(OTHERS)))
    mechanism, reach = runs[0][3][0], 0.0
    for (one, (value, *_), _, _), (other, (moved, *_), _, _) in pairs_of(runs, adjacency):
        assert published(one) == published(other)
        np.testing.assert_array_equal(value, mechanism.rounded(value))
        reach = max(reach, np.linalg.norm(value - moved) / mechanism.contribution_bound)
    # Parts of rows are rounded down.
    assert 1.0 - 1e-5 < reach <= 1.0 + 1e-12
    assert runs[0][0].privacy_report_.unit == "one group"


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", UNTYPED)
def test_all_paths_cost_what_was_charged_before_the_kinds_were_known(
    name, adjacency, tmp_path, monkeypatch
):
    """Also where no word is searched for: it was charged that one might be."""
    charges, costs = [], []
    start = Plan.start

    def spied(plan, random_state):
        charges.append(plan.events)
        return start(plan, random_state)

    monkeypatch.setattr(Plan, "start", spied)
    for number, kinds in enumerate(PATHS):
        ledger = PrivacyLedger(tmp_path / f"{number}.db", epsilon=3.0, delta=1e-2, allow_seeds=True)
        estimator = clone(UNTYPED[name]).set_params(adjacency=adjacency, ledger=ledger)
        fitted = record(estimator, with_row(1.0, "a"), answer=telling(kinds))[0]
        report = fitted.privacy_report_
        assert len(charges) == number + 1
        assert len(ledger.to_frame()) == 1
        erasures = [event.probability for event in report.events if isinstance(event, ErasureEvent)]
        costs.append((claimed_mu(report), *erasures))
        assert report.epsilon_at(1e-3) == pytest.approx(1.0, rel=1e-6)
    assert len({event for events in charges for event in events}) == len(charges[0]) == 3
    np.testing.assert_allclose(costs, [costs[0]] * len(costs), rtol=1e-7)
    assert costs[0][1] == charges[0][-1].probability


def squares(events, adjacency):
    return [event.mu(adjacency) ** 2 for event in events if not isinstance(event, ErasureEvent)]


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize(("n_untyped", "n_numeric"), [(1, 0), (3, 2), (20, 5)])
@pytest.mark.parametrize("n_records", [50, 1000, 10**6])
def test_the_shares_of_kinds_and_of_the_rest_add_up_to_the_budget(
    n_untyped, n_numeric, n_records, adjacency
):
    """From what a record moves and the noise of a count; the model's share is as it was."""
    budget = Budget(1.0, 1e-6, adjacency, "pld")
    names = tuple(f"c{j}" for j in range(n_untyped + n_numeric))
    specs, typed = (
        read_specs(names, (kind,) * n_untyped + ("numeric",) * n_numeric)
        for kind in ("untyped", "word")
    )
    sizes, table = {"n_records": n_records}, {"basis": "hats", "n_knots": "auto"}
    model = {"features_budget": "auto", "n_knots": "auto", "most_of_auto": 12}
    plans = {
        "vectorizer": (plan_vectorizer(budget, one, **sizes, **table) for one in (specs, typed)),
        "additive": (plan_additive(budget, one, **sizes, **model) for one in (specs, typed)),
        "describe": (plan_description(budget, one, 1, **sizes) for one in (specs, typed)),
    }
    for name, (plan, usual) in plans.items():
        moved = n_untyped * (2.0 if adjacency == "replace_one" else 1.0)
        of_kinds = moved / plan.mechanisms[KINDS].noise_std ** 2
        whole = sum(squares(usual.events, adjacency))
        assert sum(squares(plan.events, adjacency)) == pytest.approx(whole, rel=1e-7)
        assert squares(plan.events, adjacency)[0] == pytest.approx(of_kinds, rel=1e-4)
        followed = plan.following(typed)
        assert sum(squares(followed.events, adjacency)) == pytest.approx(whole, rel=1e-7)
        table = whole
        if name == "additive":
            *of_table, of_model = squares(usual.events, adjacency)
            table = sum(of_table)
            assert squares(followed.events, adjacency)[-1] == pytest.approx(of_model, rel=1e-7)
        assert 0.0199 * table < of_kinds < 0.1001 * table
        if n_records == 10**6:
            assert of_kinds == pytest.approx(0.02 * table, rel=1e-4)


def test_what_is_left_out_because_of_the_kinds_was_charged_all_the_same():
    plan = plan_for(DPTableVectorizer(), 3)
    specs = read_specs(("a",), ("numeric",), knots={"a": [0.0, 1.0]})
    assert plan.following(specs).events == plan.events
    dear = plan_for(DPTableVectorizer(epsilon=2.0), 3)
    with pytest.raises(RuntimeError, match="costs more"):
        plan.followed_by(dear.costs)


@pytest.mark.parametrize("n_columns", [1, 4])
@pytest.mark.parametrize("name", ["vectorizer", "additive"])
def test_what_is_planned_before_the_table_covers_it_with_types_and_without(name, n_columns):
    estimator = clone(UNTYPED[name])
    planned = estimator._plan(1000, n_columns)
    specs = specs_before_fit(estimator, n_columns)
    assert specs.untyped == []
    without = plan_for(estimator, n_columns)
    costs = [gaussian_cost(plan.events, "zero_out", erasure=0.0) for plan in (planned, without)]
    assert costs[1].is_within(costs[0])
    for kind in ("numeric", "date", "word"):
        specs = read_specs(("c",) * n_columns, (kind,) * n_columns)
        events = without.following(specs).events
        assert gaussian_cost(events, "zero_out", erasure=0.0).mu <= costs[0].mu * (1.0 + 1e-14)
    assert costs[1].mu == pytest.approx(costs[0].mu, rel=1e-7)
    assert costs[1].erasure == costs[0].erasure > 0.0


@pytest.mark.long
def test_a_pipeline_costs_the_same_for_a_table_with_types_and_without(rng):
    n = 500
    typed = pd.DataFrame({"x": rng.random(n), "w": pd.Categorical(rng.choice(["a", "b"], n))})
    y = rng.integers(0, 2, n)
    for steps in ((DPTableVectorizer(), DPLogisticRegression()), (DPAdditiveClassifier(),)):
        reports = []
        for X in (typed, typed.astype(object), typed.astype(str), typed.astype(object).to_numpy()):
            model = make_private_pipeline(*map(clone, steps), delta=1e-5, random_state=0)
            reports.append(model.fit(X, y).privacy_report_)
        spent = [report.epsilon_at(1e-5) for report in reports]
        assert max(spent) <= 1.0
        np.testing.assert_allclose(spent, spent[0], rtol=1e-3)
        said = ["\n".join(report.assumed_public) for report in reports]
        assert ["learnt" in text for text in said] == [False, True, True, True]


def test_without_delta_columns_are_to_be_declared():
    X = with_row(1.0, "a")
    with pytest.raises(ValueError, match=r"'x', 'z' .*numeric_features or categorical_features"):
        DPTableVectorizer(delta=0.0).fit(X)
    declared = {"knots": {"x": [0, 1]}, "categories": {"z": ["a"]}}
    fitted = DPTableVectorizer(delta=0.0, **declared).fit(X)
    assert not hasattr(fitted, "privacy_report_") or fitted.privacy_report_ is None


@pytest.mark.parametrize(
    ("counts", "kind"),
    [
        ([100, 0, 0, 0, 0], "numeric"),
        ([0, 100, 0, 0, 0], "date"),
        ([0, 0, 100, 0, 0], "word"),
        ([0, 0, 0, 100, 0], "word"),
        ([90, 0, 0, 9, 900], "numeric"),
        ([85, 0, 6, 9, 0], "word"),
        ([40, 50, 0, 10, 0], "date"),
        ([0, 0, 0, 0, 100], "word"),
        ([1, 0, 0, 0, 10**6], "numeric"),
    ],
)
def test_without_noise_the_rule_is_of_shares(counts, kind):
    assert Tally(np.array(counts, dtype=float), 0.0).kind == kind
    # Where the noise hides all of it, a column holds words.
    assert Tally(np.array(counts, dtype=float), 1e9).kind == "word"


@pytest.mark.parametrize("held", ["number", "date", "text"])
def test_a_wrong_kind_is_as_rare_as_the_theory_says(held):
    """Of 20,000 columns; each chance is exceeded by so much in fewer than one of 10**9 suites."""
    n, noise = 20_000, np.random.default_rng(0)
    place, kind = {"number": (0, "numeric"), "date": (1, "date"), "text": (3, "word")}[held]
    for records in (6.0, 8.0, 12.0):
        counts = noise.standard_normal((n, len(CLASSES)))
        counts[:, place] += records
        wrong = sum(Tally(row, 1.0).kind != kind for row in counts)
        tail = stats.norm.sf
        if held == "text":
            chance = 2.0 * tail(records / math.sqrt(3.0))
        else:
            chance = tail(4.0) + tail(records - 2.0) + tail(records / math.sqrt(2.0))
            chance += tail(records / math.sqrt(3.0))
        assert stats.binom.sf(wrong - 1, n, min(chance, 1.0)) > 1e-10


def test_later_rows_are_read_by_the_kinds_that_were_learnt():
    rng = np.random.default_rng(0)
    numbers, days = rng.integers(0, 9, 3000).astype(float), rng.integers(0, 300, 3000)
    dates = pd.Timestamp("2024-01-01") + pd.to_timedelta(days, "D")
    table = pd.DataFrame({"x": numbers, "d": dates, "w": rng.choice(["a", "b"], 3000)})
    vectorizer = DPTableVectorizer(random_state=0).fit(table.astype(str))
    assert list(vectorizer.knots_) == ["x", "d"]
    assert list(vectorizer.categories_) == ["w"]
    expected = vectorizer.transform(table.astype(str))
    np.testing.assert_array_equal(vectorizer.transform(table), expected)
    np.testing.assert_array_equal(vectorizer.transform(table.astype(object)), expected)
