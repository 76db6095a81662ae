"""Ledgers that take the charges of a list, each once and in any order."""

import json
import math
import pickle
import sqlite3
from contextlib import closing
from functools import cache

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from skdp.accountant import (
    ErasureEvent,
    GaussianEvent,
    LaplaceEvent,
    PrivacyReport,
    compose,
    get_epsilon,
)
from skdp.exceptions import BudgetExceededError, LedgerError
from skdp.inspection import preview, preview_score
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression, DPSGDClassifier
from skdp.metrics import private_roc_curve, private_score
from tests.door import ledger_filter_module as _filter, schedule_module as _schedule
from tests.ledger._fits import charges_of, make_ledger, report_of

LAPLACE = report_of(0.4, delta=0.0, events=(LaplaceEvent(2.5),))
POISSON = (GaussianEvent(3.0, sampling_rate=0.01, n_steps=200),)
SAMPLED = report_of(
    get_epsilon(3.0, 1e-6, sampling_rate=0.01, n_steps=200), delta=1e-6, events=POISSON
)


def refused(ledger, report):
    with pytest.raises(BudgetExceededError) as error:
        ledger.charge(report)
    return error.value


def hockey_stick_by_choice(pairs, kappa):
    """Largest divergence of what an analyst sees who chooses each next pair from what was seen."""

    @cache
    def largest(left, p, q):
        stopped = max(p - kappa * q, 0.0)
        nexts = (
            sum(largest(left - {j}, p * a, q * b) for a, b in zip(*pairs[j], strict=True))
            for j in left
        )
        return max([stopped, *nexts])

    return largest(frozenset(range(len(pairs))), 1.0, 1.0)


def hockey_stick_of_all(pairs, kappa):
    p, q = np.ones(1), np.ones(1)
    for one, other in pairs:
        p, q = np.outer(p, one).ravel(), np.outer(q, other).ravel()
    return np.maximum(p - kappa * q, 0.0).sum()


@pytest.mark.long
def test_an_order_that_follows_results_tells_no_more_than_all_at_once(rng):
    """Whatever the mechanisms: each outcome is a random function of a draw from its pair."""
    for _ in range(20):
        pairs = [tuple(rng.dirichlet(np.ones(3), size=2)) for _ in range(4)]
        # What is run is dominated by what was planned.
        maps = rng.dirichlet(np.ones(3), size=(4, 3))
        coarser = [(p @ one, q @ one) for (p, q), one in zip(pairs, maps, strict=True)]
        for kappa in (0.5, 1.0, 1.5, 3.0):
            allowed = hockey_stick_of_all(pairs, kappa) + 1e-12
            assert hockey_stick_by_choice(pairs, kappa) <= allowed
            assert hockey_stick_by_choice(coarser, kappa) <= allowed


def test_the_bound_of_a_list_holds_for_every_order_of_discrete_releases(tmp_path):
    """Against all strategies: of randomised responses and erasures, by backward induction."""

    def response(epsilon):
        right = 1 / (1 + math.exp(-epsilon))
        return (right, 1 - right), (1 - right, right)

    def erased(p):
        return (1 - p, p, 0.0), (1 - p, 0.0, p)

    epsilons, erasures = (0.2, 0.5, 0.3), (0.002, 0.004)
    planned = [LaplaceEvent(1 / epsilon) for epsilon in epsilons]
    planned += [ErasureEvent(p) for p in erasures]
    pairs = [response(epsilon) for epsilon in epsilons] + [erased(p) for p in erasures]
    ledger = make_ledger(tmp_path, epsilon=1.0, delta=0.01, planned=planned)
    bound = ledger._standing().bound
    assert hockey_stick_by_choice(pairs, math.exp(bound)) <= 0.01
    assert 0.9 < bound <= 1.0


def test_a_choice_among_lists_is_not_what_a_list_is_for():
    """Who may choose what is revealed, not only when, gets more than either list."""
    gaussian_like, erasure = ((0.6, 0.4), (0.4, 0.6)), ((0.9, 0.1, 0.0), (0.9, 0.0, 0.1))
    small = ((0.55, 0.45), (0.45, 0.55))
    kappa = 1.3
    both = max(hockey_stick_of_all([small, one], kappa) for one in (gaussian_like, erasure))
    by_choice = sum(
        max(
            sum(max(p * a - kappa * q * b, 0.0) for a, b in zip(*one, strict=True))
            for one in (gaussian_like, erasure)
        )
        for p, q in zip(*small, strict=True)
    )
    assert by_choice > both


@pytest.mark.long
def test_what_is_planned_is_taken_in_any_order_and_nothing_else(tmp_path):
    report = report_of(0.3)
    planned = [(report, 2), LAPLACE, (SAMPLED, 1, "north")]
    ledger = make_ledger(tmp_path, epsilon=2.0, planned=planned)
    north = ledger.part("north")
    other = report_of(0.2999)
    for one, place in ((LAPLACE, ledger), (SAMPLED, north), (report, ledger), (report, ledger)):
        assert place.can_afford(one)
        place.charge(one)
    for one in (LAPLACE, SAMPLED, report, other):
        for place in (ledger, north):
            assert not place.can_afford(one)
            refused(place, one)
    assert len(charges_of(ledger)) == 4
    assert "all planned charges were made" in str(ledger)
    assert ledger.left == 0.0
    assert [item["used"] for item in ledger.planned] == [2, 1, 1]


def test_a_refusal_names_what_is_left(tmp_path):
    ledger = make_ledger(tmp_path, planned=[(report_of(0.3), 2), LAPLACE])
    ledger.charge(report_of(0.3))
    error = refused(ledger, report_of(0.5))
    assert "1 x (0.3, 1e-05)-DP" in str(error)
    assert "1 x (0.4, 0)-DP" in str(error)
    assert (error.n_fits, error.asked) == (0, pytest.approx(0.5))
    ledger.charge(report_of(0.3))
    error = refused(ledger, report_of(0.3))
    assert error.n_fits == 2
    assert "(0.3, 1e-05)-DP:" not in str(error).split("planned charges, and no others")[1]
    assert len(charges_of(ledger)) == 2


@pytest.mark.long
def test_more_noise_is_taken_for_what_was_planned_and_less_is_not(tmp_path):
    ledger = make_ledger(tmp_path, epsilon=3.0, planned=[(report_of(0.3), 2), LAPLACE, SAMPLED])
    for less in (
        report_of(0.3001),
        report_of(0.41, delta=0.0, events=(LaplaceEvent(2.45),)),
        report_of(1.0, events=(GaussianEvent(2.9, sampling_rate=0.01, n_steps=200),)),
        report_of(1.0, events=(GaussianEvent(3.0, sampling_rate=0.011, n_steps=200),)),
        report_of(1.0, events=(GaussianEvent(3.0, sampling_rate=0.01, n_steps=201),)),
        report_of(0.3, events=(*report_of(0.3).events, ErasureEvent(1e-9))),
        report_of(0.8, events=(*report_of(0.3).events, LaplaceEvent(2.5))),
    ):
        assert not ledger.can_afford(less)
    two = GaussianEvent(report_of(0.29).events[0].noise_multiplier * 2**0.5, n_steps=2)
    ledger.charge(report_of(0.3, events=(two,)))
    ledger.charge(report_of(0.1, delta=0.0, events=(LaplaceEvent(10.0),)))
    ledger.charge(report_of(1.0, events=(GaussianEvent(4.0, sampling_rate=0.01, n_steps=200),)))
    assert [item["used"] for item in ledger.planned] == [1, 1, 1]


def test_the_smallest_planned_charge_that_covers_a_fit_is_used(tmp_path):
    ledger = make_ledger(tmp_path, planned=[report_of(0.5), report_of(0.2), report_of(0.3)])
    ledger.charge(report_of(0.25))
    assert [item["used"] for item in ledger.planned] == [0, 0, 1]
    ledger.charge(report_of(0.2))
    assert [item["used"] for item in ledger.planned] == [0, 1, 1]


def test_a_list_is_accepted_by_its_smallest_bound(tmp_path):
    """A plain sum, a composition or a sum of Gaussian costs: whichever is the least."""

    def bound(planned, name):
        ledger = make_ledger(tmp_path, epsilon=20.0, name=name, planned=planned)
        return ledger._standing().bound

    one = report_of(1.0, delta=5e-6)
    pure = report_of(0.8, delta=0.0, events=(LaplaceEvent(1.25),))
    by_sum = bound([report_of(1.0, delta=1e-6), pure], "sum.db")
    assert by_sum <= 1.8
    by_composition = bound([(one, 2)], "composition.db")
    assert by_composition == pytest.approx(compose([one, one]).epsilon, rel=1e-6)
    assert by_composition < 1.5
    many = LaplaceEvent(10.0)
    by_costs = bound([(many, 200)], "costs.db")
    assert by_costs < 0.5 * 200 * 0.1
    # The filter would refuse what the plain sum has room for.
    ledger = make_ledger(tmp_path, epsilon=2.0)
    ledger.charge(report_of(1.0, delta=1e-6))
    refused(ledger, pure)
    planned = make_ledger(tmp_path, epsilon=2.0, name="planned.db", planned=[pure, (one, 1)])
    planned.charge(one)
    planned.charge(pure)


def test_parts_cost_the_most_expensive_one(tmp_path):
    one, of_all = report_of(0.7), report_of(0.8)
    planned = [(one, 1, "north"), (report_of(0.1), 1, "south"), (of_all, 1)]
    ledger = make_ledger(tmp_path, epsilon=2.0, planned=planned)
    joint = compose([one, of_all]).epsilon_at(1e-5)
    assert ledger._standing().bound == pytest.approx(joint)
    with pytest.raises(BudgetExceededError):
        make_ledger(tmp_path, epsilon=1.25, name="small", planned=[(one, 2), (of_all, 1, "north")])
    # A charge for a part isn't one for all, nor the other way round.
    refused(ledger.part("north"), of_all)
    refused(ledger.part("west"), one)
    ledger.part("north").charge(one)
    refused(ledger.part("north"), one)
    ledger.charge(one)
    refused(ledger, one)
    assert [item["used"] for item in ledger.planned] == [1, 0, 1]
    assert [item["part"] for item in ledger.part("north").planned] == ["north", None]


def test_each_part_of_a_list_is_within_the_budget(tmp_path):
    for name in ("north", "south"):
        planned = [(report_of(0.1), 1, "north"), (report_of(0.1), 1, "south")]
        with pytest.raises(BudgetExceededError):
            make_ledger(tmp_path, planned=[*planned, (report_of(0.9), 2, name)])


def test_a_list_beyond_the_budget_makes_no_ledger(tmp_path):
    with pytest.raises(BudgetExceededError, match="No ledger was made") as error:
        make_ledger(tmp_path, planned=[(report_of(0.5), 10)])
    assert error.value.asked > error.value.left == 1.0
    rare = report_of(0.1, delta=8e-6, events=(LaplaceEvent(10.0), ErasureEvent(8e-6)))
    for planned in ([GaussianEvent(0.0)], [(rare, 2)], [(ErasureEvent(8e-6), 2)]):
        with pytest.raises(BudgetExceededError, match="epsilon = inf"):
            make_ledger(tmp_path, planned=planned)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("planned", "kind"),
    [
        ([], ValueError),
        ([None], ValueError),
        ("all", TypeError),
        (report_of(0.1), TypeError),
        ([1.0], TypeError),
        ([()], TypeError),
        ([(report_of(0.1), 0)], ValueError),
        ([(report_of(0.1), 1.5)], ValueError),
        ([(report_of(0.1), 1, "a\nb")], ValueError),
        ([[GaussianEvent(9.0), "much"]], TypeError),
        ([report_of(0.1, unit="one group")], LedgerError),
    ],
)
def test_what_is_no_list_is_refused(planned, kind, tmp_path):
    with pytest.raises(kind):
        make_ledger(tmp_path, planned=planned)
    assert list(tmp_path.iterdir()) == []


def test_a_list_is_stored_and_checked_when_the_file_is_opened(tmp_path):
    planned = [(report_of(0.3), 2), LAPLACE]
    ledger = make_ledger(tmp_path, planned=planned)
    path = ledger.path
    iterated = make_ledger(tmp_path, name="iterated.db", planned=iter(planned))
    assert iterated.planned == ledger.planned
    # Entries may be in another order, and equal ones apart.
    again = [LAPLACE, report_of(0.3), report_of(0.3)]
    assert make_ledger(tmp_path, planned=again) == PrivacyLedger(path) == ledger
    assert PrivacyLedger(path, planned=planned) == ledger
    assert pickle.loads(pickle.dumps(ledger)).planned == ledger.planned
    for other in ([(report_of(0.3), 3), LAPLACE], [LAPLACE], [(report_of(0.3), 2, "a"), LAPLACE]):
        with pytest.raises(LedgerError, match="other planned charges"):
            PrivacyLedger(path, planned=other)
    # A whole budget that is stated says that there is no list.
    with pytest.raises(LedgerError, match="other planned charges"):
        make_ledger(tmp_path)
    any_fits = make_ledger(tmp_path, name="any.db")
    assert any_fits.planned is None
    with pytest.raises(LedgerError, match="other planned charges"):
        PrivacyLedger(any_fits.path, planned=planned)
    second = PrivacyLedger(path, dataset="other", epsilon=1.0, delta=1e-5)
    second.charge(report_of(0.9))
    assert second.planned is None


def test_nobody_changes_a_list_by_hand(tmp_path):
    ledger = make_ledger(tmp_path, planned=[report_of(0.3)])
    ledger.charge(report_of(0.3))
    with closing(sqlite3.connect(ledger.path)) as file:
        for statement in (
            "UPDATE planned SET count = 9",
            "DELETE FROM planned",
            "DELETE FROM plan",
            "UPDATE plan SET bound = 0.1",
            "DELETE FROM planned_use",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="never changed"):
                file.execute(statement)
    with closing(sqlite3.connect(ledger.path)) as file, file:
        file.execute("UPDATE budget SET epsilon = 0.1")
    refused(ledger, report_of(0.3))
    assert "charges" in str(ledger)


def test_no_bound_is_computed_for_a_charge(tmp_path, monkeypatch):
    """Whoever compares bounds after results were seen chooses by them."""
    ledger = make_ledger(tmp_path, planned=[(report_of(0.3), 3)])
    monkeypatch.setattr(_schedule, "bound_of_list", lambda *_: pytest.fail("compared"))
    monkeypatch.setattr(_filter, "judge", lambda *_: pytest.fail("judged"))
    for _ in range(3):
        ledger.charge(report_of(0.3))


def test_spent_and_left_of_a_list(tmp_path):
    planned = [(report_of(0.3), 2), report_of(0.6)]
    ledger = make_ledger(tmp_path, epsilon=2.0, planned=planned)
    assert (ledger.spent, ledger.left) == (0.0, pytest.approx(0.6))
    ledger.charge(report_of(0.6))
    assert (ledger.spent, ledger.left) == (pytest.approx(0.6), pytest.approx(0.3))
    ledger.charge(report_of(0.3))
    ledger.charge(report_of(0.3))
    assert (ledger.spent, ledger.left) == (ledger._standing().bound, 0.0)
    content = ledger.to_dict()
    assert sum(charge["share"] for charge in content["charges"]) == pytest.approx(1.0)
    assert content["share"] == pytest.approx(1.0)
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert "for planned charges only" in str(ledger)


def test_previews_of_fits_and_scores_can_be_planned(tmp_path, rng):
    X = rng.uniform(-1, 1, (600, 3))
    y = (X[:, 0] > 0).astype(int)
    model = DPLogisticRegression(epsilon=0.8, delta=1e-6, classes=[0, 1])
    several = ["f1", "roc_auc"]
    planned = [
        preview(model, 600, 3),
        (preview_score(epsilon=0.4, delta=1e-5), 2),
        preview_score(several, epsilon=0.3, delta=1e-6),
        preview_score(epsilon=0.2, delta=0.0),
    ]
    ledger = make_ledger(tmp_path, epsilon=2.0, planned=planned)
    model.set_params(ledger=ledger).fit(X, y)
    private_score(model, X, y, epsilon=0.2, delta=0.0, ledger=ledger)
    private_score(model, X, y, epsilon=0.3, delta=1e-6, scoring=several, ledger=ledger)
    private_score(model, X, y, epsilon=0.4, ledger=ledger)
    private_roc_curve(model, X, y, epsilon=0.4, ledger=ledger)
    assert all(item["used"] == item["count"] for item in ledger.planned)
    for call in (model.fit, lambda X, y: private_score(model, X, y, epsilon=0.4, ledger=ledger)):
        with pytest.raises(BudgetExceededError, match="all planned charges were made"):
            call(X, y)


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(300), 2)])
def test_a_score_has_the_report_of_its_preview(adjacency, groups, rng, tmp_path):
    X = rng.uniform(-1, 1, (600, 3))
    y = np.resize([0, 1, 2], 600)
    model = LogisticRegression().fit(X, y)
    unit = "one row" if groups is None else "one group"
    options = {"scoring": ["accuracy", "roc_auc_ovr"], "epsilon": 0.4, "adjacency": adjacency}
    ledger = make_ledger(tmp_path, epsilon=9.0, adjacency=adjacency, unit=unit)
    seen = preview_score(**options, delta=1e-5, n_classes=3, unit=unit)
    counted = {} if groups is None else {"groups": groups, "average_over": "groups"}
    scores = private_score(model, X, y, ledger=ledger, **counted, **options)
    assert seen == scores["accuracy"].report
    # Rows of groups have more noise, for the same cost.
    by_row = private_score(model, X, y, groups=groups, ledger=ledger, **options)
    assert seen.events == by_row["accuracy"].report.events


@pytest.mark.parametrize("name", ["scoring", "mechanism", "unit", "n_classes", "epsilon"])
def test_a_score_that_cannot_be_is_not_previewed(name):
    wrong = {"n_classes": 0, "epsilon": -1.0}.get(name, "none of these")
    with pytest.raises(ValueError, match=name):
        preview_score(**{"epsilon": 0.4, "delta": 1e-5} | {name: wrong})


def test_a_stream_is_one_planned_charge(tmp_path, rng):
    X = rng.uniform(-1, 1, (60, 3))
    y = (X[:, 0] > 0).astype(int)
    model = DPSGDClassifier(mechanism="laplace", epsilon=0.4, classes=[0, 1])
    ledger = make_ledger(tmp_path, planned=[(LAPLACE, 2)])
    model.set_params(ledger=ledger)
    for rows in np.array_split(np.arange(60), 3):
        model.partial_fit(X[rows], y[rows])
    assert len(charges_of(ledger)) == 1
    # A call that costs more than the stream's charge isn't covered by it.
    with pytest.raises(BudgetExceededError):
        model.set_params(epsilon=0.5).partial_fit(X[:9], y[:9])
    model.set_params(epsilon=0.2).partial_fit(X[:9], y[:9])
    assert len(charges_of(ledger)) == 1


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one", "replace_label"])
def test_what_is_planned_is_counted_under_the_ledgers_adjacency(adjacency, tmp_path):
    options = {"adjacency": adjacency}
    if adjacency == "replace_label":
        options["unit"] = "the label of one row"
    own = report_of(0.3, adjacency=adjacency)
    other = "zero_out" if adjacency == "replace_one" else "replace_one"
    planned = [own]
    if adjacency != "replace_label":
        planned.append(report_of(0.3, adjacency=other))
    ledger = make_ledger(tmp_path, epsilon=2.0, planned=planned, **options)
    expected = {"zero_out": 1.25, "replace_one": 5.0, "replace_label": 1.0}[adjacency]
    mu = 1 / own.events[0].noise_multiplier * {"replace_one": 2.0}.get(adjacency, 1.0)
    for report in planned:
        ledger.charge(report)
    square = sum(charge["mu"] ** 2 for charge in charges_of(ledger))
    assert square / mu**2 == pytest.approx(expected, rel=1e-3)


def test_events_stand_for_reports(tmp_path):
    noise = report_of(0.3).events[0].noise_multiplier
    planned = [(GaussianEvent(noise), 2), [GaussianEvent(50.0), LaplaceEvent(20.0)]]
    ledger = make_ledger(tmp_path, planned=planned)
    ledger.charge(report_of(0.3))
    ledger.charge(report_of(0.3))
    refused(ledger, report_of(0.3))
    both = (LaplaceEvent(20.0), GaussianEvent(50.0))
    fields = {"adjacency": "zero_out", "clipping": None, "accountant": "pld"}
    ledger.charge(PrivacyReport(epsilon=math.inf, delta=1e-5, events=both, **fields))
    assert ledger.left == 0.0
