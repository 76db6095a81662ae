import copy
import json
import math
import os
import pickle
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

from skdp.accountant import (
    ErasureEvent,
    GaussianEvent,
    LaplaceEvent,
    PrivacyReport,
    RandomizedResponseEvent,
    SelectionEvent,
    calibrate,
    get_epsilon,
)
from skdp.exceptions import BudgetExceededError, LedgerError, LedgerWarning
from skdp.ledger import PrivacyLedger
from tests.door import GaussianCost, gaussian_budget
from tests.ledger._fits import charges_of, make_ledger, report_of

POISSON = (GaussianEvent(3.0, sampling_rate=0.01, n_steps=200),)
LABEL = "the label of one row"
THE_LAST = pytest.mark.filterwarnings("ignore:this fit takes all:skdp.exceptions.LedgerWarning")


def charge_until_refused(ledger, report, most=100):
    for number in range(most):
        try:
            ledger.charge(report)
        except BudgetExceededError as error:
            return number, error
    raise AssertionError("the budget never ends")


def test_fits_are_taken_until_the_budget_is_spent_and_no_further(tmp_path):
    ledger = make_ledger(tmp_path)
    report = report_of(0.3)
    number, error = charge_until_refused(ledger, report)
    # Squares of mu add up.
    assert number == int((gaussian_budget(1.0, 1e-5).mu / report.mu) ** 2) == error.n_fits
    assert len(charges_of(ledger)) == number
    assert ledger.spent == pytest.approx(get_epsilon(1 / (report.mu * number**0.5), 1e-5), rel=1e-6)
    assert ledger.spent < 1.0
    assert error.asked == pytest.approx(0.3, rel=1e-6)
    assert error.left == ledger.left < 0.3
    assert f"pays for {number} such fits" in str(error)


@THE_LAST
def test_a_smaller_fit_may_follow_one_that_was_refused(tmp_path):
    ledger = make_ledger(tmp_path)
    number, error = charge_until_refused(ledger, report_of(0.3))
    ledger.charge(report_of(error.left * (1 - 1e-6)))
    assert len(charges_of(ledger)) == number + 1
    assert ledger.left < 0.01


@THE_LAST
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one", "replace_label"])
def test_one_fit_may_take_the_whole_budget_to_the_last_digit(tmp_path, adjacency):
    unit = LABEL if adjacency == "replace_label" else "one row"
    ledger = make_ledger(tmp_path, adjacency=adjacency, unit=unit)
    ledger.charge(report_of(1.0, adjacency=adjacency))
    assert ledger.spent == pytest.approx(1.0, rel=1e-6)
    assert ledger.spent <= 1.0
    assert ledger.left < 1e-3
    assert charges_of(ledger)[0]["share"] == pytest.approx(1.0)
    with pytest.raises(BudgetExceededError):
        ledger.charge(report_of(1e-2, adjacency=adjacency))


@THE_LAST
def test_one_sampled_fit_may_take_the_whole_budget_at_its_own_guarantee(tmp_path):
    report = report_of(get_epsilon(3.0, 1e-5, sampling_rate=0.01, n_steps=200), events=POISSON)
    ledger = make_ledger(tmp_path, epsilon=report.epsilon)
    assert ledger.can_afford(report)
    ledger.charge(report)
    # What it costs among others is more, and doesn't count.
    assert ledger.spent == ledger.epsilon == report.epsilon
    assert not ledger.can_afford(report_of(1e-3))
    number, error = charge_until_refused(ledger, report)
    assert number == 0
    assert error.asked > report.epsilon
    assert error.n_fits == 1
    assert ledger.left == 0.0


def test_a_fit_takes_no_whole_budget_when_there_was_something_to_look_at(tmp_path):
    ledger = make_ledger(tmp_path)
    ledger.charge(report_of(1e-2))
    with pytest.raises(BudgetExceededError) as refused:
        ledger.charge(report_of(1.0))
    assert refused.value.n_fits == 1
    assert len(charges_of(ledger)) == 1


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_what_is_left_keeps_room_for_erasures(tmp_path, adjacency):
    ledger = make_ledger(tmp_path, adjacency=adjacency)
    report = report_of(0.1, adjacency=adjacency)
    ledger.charge(report)
    rest = math.sqrt(gaussian_budget(1.0, 1e-5).mu ** 2 - report.mu**2)
    assert ledger.left == pytest.approx(GaussianCost(rest).epsilon(1e-5), rel=1e-6)


def test_erasures_have_a_limit_of_their_own(tmp_path):
    ledger = make_ledger(tmp_path, epsilon=50.0)
    erasure = gaussian_budget(50.0, 1e-5).erasure / 3.5
    report = report_of(3.0, events=(GaussianEvent(30.0), ErasureEvent(erasure)))
    assert charge_until_refused(ledger, report)[0] == 3
    assert ledger.spent < 5.0
    assert ledger.can_afford(report_of(1.0))


def test_costs_of_sampled_fits_add_up_as_pairs(tmp_path):
    ledger = make_ledger(tmp_path, epsilon=3.0)
    for _ in range(3):
        ledger.charge(report_of(1.0, events=POISSON))
    ledger.charge(report_of(0.5))
    charges = charges_of(ledger)
    assert charges[0]["erasure"] == charges[1]["erasure"] > 0.0
    assert charges[3]["erasure"] == 0.0
    mu = math.hypot(*(charge["mu"] for charge in charges))
    erasure = sum(charge["erasure"] for charge in charges)
    assert ledger.spent == pytest.approx(GaussianCost(mu, erasure).epsilon(1e-5), rel=1e-9)


@pytest.mark.parametrize("epsilon", [math.inf, 1.5])
def test_a_fit_beyond_the_whole_budget_is_refused_at_once(tmp_path, epsilon):
    events = (GaussianEvent(0.0),) if epsilon == math.inf else None
    ledger = make_ledger(tmp_path)
    with pytest.raises(BudgetExceededError, match="0 such fits") as refused:
        ledger.charge(report_of(epsilon, events=events))
    assert refused.value.asked == pytest.approx(epsilon)
    assert charges_of(ledger) == []
    assert ledger.spent == 0.0
    assert ledger.left == 1.0


def test_parts_cost_the_most_expensive_and_the_whole_counts_in_each(tmp_path):
    ledger = make_ledger(tmp_path)
    north, south = ledger.part("north"), ledger.part("south")
    north.charge(report_of(0.8))
    south.charge(report_of(0.6))
    assert north.spent == pytest.approx(0.8)
    assert south.spent == pytest.approx(0.6)
    assert ledger.spent == north.spent
    with pytest.raises(BudgetExceededError):
        ledger.charge(report_of(0.7))
    south.charge(report_of(0.6))
    ledger.charge(report_of(0.3))
    assert south.spent > north.spent > 0.8
    assert ledger.spent == south.spent
    assert [charge["part"] for charge in charges_of(ledger)] == ["north", "south", "south", None]
    assert [charge["part"] for charge in charges_of(north)] == ["north", None]
    assert ledger.part("west").spent == pytest.approx(0.3)
    with pytest.raises(LedgerError, match="no parts"):
        north.part("ward 3")


@THE_LAST
def test_each_part_may_have_one_fit_that_takes_all_if_nothing_was_charged_to_the_whole(tmp_path):
    ledger = make_ledger(tmp_path)
    for name in ("north", "south"):
        ledger.part(name).charge(report_of(1.0))
    with pytest.raises(BudgetExceededError):
        ledger.charge(report_of(0.1))
    other = make_ledger(tmp_path, name="other.db")
    other.charge(report_of(0.1))
    with pytest.raises(BudgetExceededError):
        other.part("north").charge(report_of(1.0))


@THE_LAST
def test_what_is_left_for_all_is_what_every_part_has_left(tmp_path):
    report = report_of(get_epsilon(3.0, 1e-5, sampling_rate=0.01, n_steps=200), events=POISSON)
    ledger = make_ledger(tmp_path, epsilon=report.epsilon * 1.01)
    ledger.part("north").charge(report)
    ledger.part("south").charge(report_of(report.epsilon * 1.005))
    # Nothing is left in the north.
    assert ledger.spent == ledger.part("north").spent == ledger.epsilon
    assert ledger.part("south").spent < ledger.epsilon
    assert ledger.part("south").left > 0.0
    assert ledger.left == ledger.part("north").left == 0.0
    assert "0 more fits" in str(ledger)


def test_datasets_share_a_file_and_nothing_else(tmp_path):
    first = make_ledger(tmp_path)
    second = make_ledger(tmp_path, dataset="survey", epsilon=2.0)
    first.charge(report_of(0.5))
    assert second.spent == 0.0
    assert charges_of(second) == []
    assert first.left < 1.0
    assert second.left == 2.0
    with pytest.raises(LedgerError, match="dataset 'census'"):
        PrivacyLedger(tmp_path / "study.db", dataset="census")


def test_a_fit_that_replaces_costs_in_a_ledger_that_nulls_what_its_noise_gives_there(tmp_path):
    ledger = make_ledger(tmp_path)
    report = report_of(0.5, adjacency="replace_one")
    ledger.charge(report)
    (charge,) = charges_of(ledger)
    assert charge["mu"] == pytest.approx(report.mu / 2)
    assert charge["adjacency"] == "replace_one"


def test_a_fit_that_nulls_costs_double_in_a_ledger_that_replaces(tmp_path):
    ledger = make_ledger(tmp_path, adjacency="replace_one", epsilon=3.0)
    report = report_of(0.5)
    ledger.charge(report)
    ledger.charge(report_of(0.5, events=(GaussianEvent(1 / report.mu, pairwise=True),)))
    assert [charge["mu"] for charge in charges_of(ledger)] == pytest.approx(2 * [2 * report.mu])
    # Alone, its own epsilon is of another adjacency, and says nothing here.
    narrow = make_ledger(tmp_path, adjacency="replace_one", epsilon=0.6, name="narrow.db")
    with pytest.raises(BudgetExceededError):
        narrow.charge(report)


@pytest.mark.parametrize(
    ("kept", "fitted"), [("zero_out", "replace_label"), ("replace_label", "zero_out")]
)
def test_labels_and_rows_are_never_added_up(tmp_path, kept, fitted):
    unit = LABEL if kept == "replace_label" else "one row"
    ledger = make_ledger(tmp_path, adjacency=kept, unit=unit)
    for ask in (ledger.charge, ledger.can_afford):
        with pytest.raises(LedgerError, match="ledger of its own"):
            ask(report_of(0.1, adjacency=fitted))
    assert charges_of(ledger) == []


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_the_report_is_of_the_budget_and_of_no_more(tmp_path, adjacency):
    ledger = make_ledger(tmp_path, adjacency=adjacency)
    report = ledger.report()
    assert (report.epsilon, report.delta, report.adjacency) == (1.0, 1e-5, adjacency)
    assert re.search("Released +nothing yet", report.to_text())
    ledger.charge(report_of(0.5, adjacency=adjacency))
    after = ledger.report()
    assert re.search("Released +so far: 1 x other", after.to_text())
    # The events of the budget never ran.
    assert "Laplace" not in after.to_text() + after.to_markdown() + after._repr_html_()
    fields = ("epsilon", "delta", "events", "assumed_public", "not_covered")
    assert all(getattr(after, name) == getattr(report, name) for name in fields)
    # What isn't known of the fits isn't claimed.
    assert report.epsilon_at(0.9e-5) == math.inf
    assert report.delta_at(5.0) == pytest.approx(1e-5)
    assert report.delta_at(0.5) > 0.1
    assert "for orientation" in " ".join(report.to_text().split())
    assert "SelfTrainingClassifier" in report.to_text()
    assert PrivacyReport.from_json(report.to_json()) == report
    assert report.condition == ""


def test_the_report_is_above_whatever_the_budget_pays_for(tmp_path):
    report = make_ledger(tmp_path).report()
    whole = report_of(2.0, events=gaussian_budget(1.0, 1e-5).events())
    assert 0.999 < whole.epsilon_at(1e-5) <= 1.0
    for epsilon in np.linspace(0.0, 4.0, 41).tolist():
        for one in (whole, report_of(1.0)):
            assert report.delta_at(epsilon) >= one.delta_at(epsilon) * (1 - 1e-9)


def test_seeds_are_refused_unless_they_were_allowed(tmp_path):
    ledger = make_ledger(tmp_path)
    with pytest.raises(LedgerError, match="allow_seeds"):
        ledger.charge(report_of(0.1, reproducible=True))
    assert charges_of(ledger) == []
    seeded = make_ledger(tmp_path, name="seeded.db", allow_seeds=True)
    assert seeded.report().condition
    assert "seeds allowed" in str(seeded)
    seeded.charge(report_of(0.1, reproducible=True))
    seeded.charge(report_of(0.1))
    # Nobody knows whether it is another one.
    with pytest.raises(LedgerError, match="seed"):
        seeded.charge(report_of(0.1, reproducible=True))
    assert len(charges_of(seeded)) == 2


def test_no_seed_is_in_the_file_and_hashes_tell_nothing_across_ledgers(tmp_path):
    ledger = make_ledger(tmp_path, allow_seeds=True)
    other = make_ledger(tmp_path, allow_seeds=True, dataset="other")
    for one in (ledger, other):
        one._charge(report_of(0.1), estimator="A", parameters={}, seed="int 271828182")
    with closing(sqlite3.connect(ledger.path)) as file:
        hashes = {row[0] for row in file.execute("SELECT hash FROM seed")}
    assert len(hashes) == 2
    assert b"271828182" not in Path(ledger.path).read_bytes()


def test_only_reports_are_charged_and_what_was_changed_is_checked(tmp_path):
    ledger = make_ledger(tmp_path)
    for value in (1.0, None, "(1, 1e-05)-DP", {"epsilon": 1.0}):
        for ask in (ledger.charge, ledger.can_afford):
            with pytest.raises(TypeError, match="PrivacyReport"):
                ask(value)
    edited = report_of(0.5)
    object.__setattr__(edited, "epsilon", 0.001)
    with pytest.raises(ValueError, match="epsilon is too small"):
        ledger.charge(edited)


def test_a_ledger_is_opened_with_its_own_budget_or_none(tmp_path):
    ledger = make_ledger(tmp_path)
    path = tmp_path / "study.db"
    assert PrivacyLedger(path) == PrivacyLedger(str(path), epsilon=1, delta=1e-5) == ledger
    assert PrivacyLedger(path, epsilon=1.0) == ledger
    for wrong in (
        {"epsilon": 2.0, "delta": 1e-5},
        {"delta": 1e-6},
        {"adjacency": "replace_one"},
        {"allow_seeds": True},
        {"unit": "one person"},
    ):
        with pytest.raises(LedgerError, match="was given"):
            PrivacyLedger(path, **wrong)
    with pytest.raises(LedgerError, match="make a ledger"):
        PrivacyLedger(tmp_path / "none.db", epsilon=1.0)
    assert not (tmp_path / "none.db").exists()


def test_a_default_stands_for_what_the_file_has_unless_a_budget_is_stated(tmp_path):
    ledger = make_ledger(tmp_path, adjacency="replace_one", allow_seeds=True)
    opened = PrivacyLedger(ledger.path, adjacency="zero_out", allow_seeds=False)
    assert opened.to_dict()["adjacency"] == "replace_one"
    with pytest.raises(LedgerError, match="adjacency='replace_one'"):
        make_ledger(tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"epsilon": 0.0},
        {"epsilon": math.inf},
        {"epsilon": math.nan},
        {"epsilon": "1"},
        {"delta": 0.0},
        {"delta": 1.0},
        {"epsilon": 1e9},
        {"adjacency": "substitute"},
        {"unit": "one person"},
        {"unit": "one row", "adjacency": "replace_label"},
        {"dataset": ""},
        {"dataset": 3},
        {"dataset": "a\nb"},
        {"allow_seeds": "yes"},
    ],
)
def test_bad_budgets_make_no_file(tmp_path, changes):
    with pytest.raises(ValueError, match=next(iter(changes))):
        make_ledger(tmp_path, **changes)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", [None, 3, "", b"a", object()])
def test_bad_paths(path):
    with pytest.raises((TypeError, ValueError), match="path"):
        PrivacyLedger(path, epsilon=1.0, delta=1e-5)


class Holder(BaseEstimator):
    def __init__(self, ledger=None):
        self.ledger = ledger


def test_copies_are_the_same_ledger(tmp_path, monkeypatch):
    ledger = make_ledger(tmp_path)
    part = ledger.part("north")
    for one in (ledger, part):
        for copied in (
            pickle.loads(pickle.dumps(one)),
            copy.deepcopy(one),
            copy.copy(one),
            clone(Holder(one)).ledger,
        ):
            assert copied == one
            assert hash(copied) == hash(one)
            assert copied is not one
            before = one.spent
            copied.charge(report_of(0.1))
            assert one.spent > before
    assert part != ledger
    assert ledger != ledger.path
    assert repr(part) in repr(Holder(part))
    # A path that was relative leads to the same file from another folder.
    monkeypatch.chdir(tmp_path)
    relative = PrivacyLedger("study.db")
    monkeypatch.chdir("/")
    assert relative == ledger
    assert relative.spent == ledger.spent


def test_a_pickle_is_a_path(tmp_path):
    ledger = make_ledger(tmp_path)
    ledger.charge(report_of(0.1))
    assert len(pickle.dumps(ledger)) < 200 + len(ledger.path)
    os.unlink(ledger.path)
    copied = pickle.loads(pickle.dumps(ledger))
    assert repr(copied).startswith("PrivacyLedger(")
    with pytest.raises(LedgerError, match="doesn't exist"):
        copied.charge(report_of(0.01))


def test_errors_survive_the_way_from_a_worker(tmp_path):
    _, error = charge_until_refused(make_ledger(tmp_path), report_of(0.7))
    copied = pickle.loads(pickle.dumps(error))
    assert type(copied) is BudgetExceededError
    assert str(copied) == str(error)
    assert (copied.left, copied.asked, copied.n_fits) == (error.left, error.asked, error.n_fits)


def test_what_a_person_sees(tmp_path, monkeypatch):
    monkeypatch.setenv("SKDP_LEDGER_USER", "ada <b>")
    ledger = make_ledger(tmp_path)
    assert "0 charges" in str(ledger)
    ledger._charge(report_of(0.3), estimator="<i>A", parameters={"alpha": 0.1}, seed=None)
    html = ledger.part("<north>")._repr_html_()
    assert "&lt;north&gt;" in html
    assert "1 charge" in html
    assert "&lt;i&gt;A" in html
    ledger.part("north").charge(report_of(0.2))
    ledger.part("south").charge(report_of(0.1))
    assert "epsilon = 1, delta = 1e-05; zero_out, one row" in str(ledger)
    assert "in 3 charges, the most of 2 parts" in str(ledger)
    assert "like the last (other)" in str(ledger)
    content = ledger.to_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert content["charges"][0]["user"] == "ada <b>"
    assert content["charges"][0]["process"] == os.getpid()


def test_the_frame_has_a_row_for_each_charge(tmp_path):
    pytest.importorskip("pandas")
    ledger = make_ledger(tmp_path)
    assert ledger.to_frame().empty
    ledger._charge(report_of(0.3), estimator="A", parameters={"alpha": 0.1}, seed=None)
    ledger.charge(report_of(0.2))
    frame = ledger.to_frame(reports=True)
    assert frame["estimator"].tolist() == ["A", "other"]
    assert frame["parameters"].tolist() == [{"alpha": 0.1}, {}]
    assert frame["epsilon"].tolist() == [0.3, 0.2]
    assert str(frame["time"].dt.tz) == "UTC"
    assert PrivacyReport.from_json(frame["report"][0]) == report_of(0.3)


def test_how_many_more_fits_is_what_can_be_charged(tmp_path):
    ledger = make_ledger(tmp_path)
    ledger.charge(report_of(0.21))
    promised = int(str(ledger).split(" more fits like")[0].rsplit(" ", 1)[1])
    assert charge_until_refused(ledger, report_of(0.21))[0] == promised > 5
    assert "0 more fits" in str(ledger)


def test_pure_releases_are_counted(tmp_path):
    ledger = make_ledger(tmp_path)
    ledger.charge(report_of(0.1, delta=0.0, events=(LaplaceEvent(10.0),)))
    assert charges_of(ledger)[0]["mu"] > 0.0
    assert ledger.left < 1.0


def one_report(*events, adjacency="zero_out"):
    fields = {"adjacency": adjacency, "clipping": None, "accountant": "pld"}
    return PrivacyReport(epsilon=math.inf, delta=1e-5, events=events, **fields)


def refusal_of(ledger, report):
    with pytest.raises(LedgerError) as refused:
        ledger.charge(report)
    return str(refused.value)


def test_a_refusal_of_pure_noise_names_what_gaussian_noise_would_cost(tmp_path):
    ledger = PrivacyLedger(tmp_path / "study", epsilon=1.0, delta=1e-5)
    ledger.charge(one_report(GaussianEvent(calibrate(0.5, 1e-5))))
    said = refusal_of(ledger, one_report(LaplaceEvent(2.0), LaplaceEvent(4.0)))
    assert "Gaussian noise with a delta of 1e-05 would cost 0.75." in said
    ledger.charge(one_report(GaussianEvent(calibrate(0.75, 1e-5))))
    # It isn't named where it doesn't fit either.
    assert "Gaussian noise" not in refusal_of(ledger, one_report(LaplaceEvent(2.0)))


@pytest.mark.parametrize(("unit", "is_said"), [("one group", True), ("one row", False)])
def test_a_fit_without_groups_is_told_of_them_by_a_ledger_of_groups(unit, is_said, tmp_path):
    ledger = PrivacyLedger(tmp_path / "study", epsilon=1.0, delta=1e-5, unit=unit)
    other = {"one group": "one row", "one row": "one group"}[unit]
    report = replace(one_report(GaussianEvent(30.0)), unit=other)
    assert ("give it groups=" in refusal_of(ledger, report)) is is_said


@THE_LAST
@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 30.0])
def test_a_ledger_of_labels_promises_no_more_than_flipped_labels_give(epsilon, tmp_path):
    """They are taken for the whole budget by their own epsilon, and are no Gaussian noise."""
    words = {"adjacency": "replace_label", "unit": "the label of one row"}
    ledger = PrivacyLedger(tmp_path / "study", epsilon=epsilon, delta=1e-5, **words)
    flips = RandomizedResponseEvent((1 + 1e-12) / (1 + math.exp(epsilon)))
    fit = one_report(flips, adjacency="replace_label")
    ledger.charge(fit)
    promised = ledger.report()
    assert promised.epsilon == epsilon
    for fpr in (1e-4, 0.01, 0.3):
        assert promised.tpr_at(fpr) >= fit.tpr_at(fpr)
    for delta in (0.0, 1e-9, 1e-5, 1e-3):
        assert promised.epsilon_at(delta) >= fit.epsilon_at(delta) * (1 - 1e-9)


@pytest.mark.long
def test_a_refusal_of_repeated_trials_names_the_other_way(tmp_path):
    ledger = PrivacyLedger(tmp_path / "study", epsilon=1.0, delta=1e-5)
    ledger.charge(one_report(GaussianEvent(calibrate(0.5, 1e-5))))
    trial = (GaussianEvent(calibrate(0.9, 1e-5)),)
    repeated = SelectionEvent((trial,), eta=2.0, stopping_rate=0.1)
    assert 'A search with method="compose" often costs less.' in refusal_of(
        ledger, one_report(repeated)
    )
    once = SelectionEvent.composed(trial, *trial)
    assert "A search" not in refusal_of(ledger, one_report(once))


@pytest.mark.parametrize("probability", [1e-6, 3e-5])
@pytest.mark.parametrize("others", [(), (GaussianEvent(20.0, 0.01, 100),)])
def test_a_refusal_for_delta_names_the_least_that_would_do(probability, others, tmp_path):
    def filled(name, delta):
        ledger = PrivacyLedger(tmp_path / name, epsilon=1.0, delta=delta)
        ledger.charge(one_report(GaussianEvent(20.0), ErasureEvent(1e-7)))
        return ledger

    report = one_report(GaussianEvent(20.0), ErasureEvent(probability), *others)
    said = refusal_of(filled("small", 1e-5), report)
    least = float(re.search(r"from a delta of (\S+) on", said)[1])
    filled("enough", least).charge(report)
    refusal_of(filled("too small", 0.9 * least), report)


def test_a_refusal_of_sampled_batches_names_the_least_delta(tmp_path):
    options = {"epsilon": 1.0, "adjacency": "replace_one"}
    report = one_report(GaussianEvent(30.0, 0.01, 100), adjacency="replace_one")
    said = refusal_of(PrivacyLedger(tmp_path / "small", delta=1e-9, **options), report)
    least = float(re.search(r"from a delta of (\S+) on", said)[1])
    PrivacyLedger(tmp_path / "enough", delta=least, **options).charge(report)
    refusal_of(PrivacyLedger(tmp_path / "too small", delta=0.85 * least, **options), report)


@pytest.mark.long
def test_a_ledger_says_that_no_share_is_left_for_sampled_batches(tmp_path):
    ledger = PrivacyLedger(tmp_path / "study", epsilon=1.0, delta=1e-5)
    report = one_report(GaussianEvent(1e4, 0.01, 1))
    for _ in range(200):
        ledger.charge(report)
    said = refusal_of(ledger, report)
    assert "full batches still fit" in said
    assert "from a delta" not in said
    ledger.charge(one_report(GaussianEvent(100.0)))


def test_a_ledger_of_groups_says_what_a_part_of_one_has(tmp_path):
    for unit, is_said in (("one group", True), ("one row", False)):
        ledger = PrivacyLedger(tmp_path / unit, epsilon=1.0, delta=1e-5, unit=unit)
        report = ledger.report()
        assert any("group_size=2" in words for words in report.not_covered) == is_said
        assert report.epsilon_at(0.1, group_size=2) > 1.0


@pytest.mark.parametrize("delta", [0.0, 1.0])
def test_a_budget_of_no_delta_is_refused_with_a_reason(delta, tmp_path):
    with pytest.raises(ValueError, match="fits with Gaussian noise need one"):
        PrivacyLedger(tmp_path / "study", epsilon=1.0, delta=delta)
    assert not (tmp_path / "study").exists()


WITH_PURE = {
    "pure": one_report(LaplaceEvent(1 / 0.8)),
    "sampled": one_report(*POISSON),
    "rare": one_report(GaussianEvent(50.0), ErasureEvent(5e-6)),
}


@pytest.mark.parametrize("name", WITH_PURE)
def test_spent_and_left_agree_after_a_fit_that_takes_all(name, tmp_path):
    """.8 of 2 spent and nothing left was no answer."""
    ledger = make_ledger(tmp_path, epsilon=WITH_PURE[name].epsilon_at(1e-5) * 1.001)
    with pytest.warns(LedgerWarning, match="no other fit can follow"):
        ledger.charge(WITH_PURE[name])
    content = ledger.to_dict()
    assert ledger.spent == content["spent"] == ledger.epsilon
    assert ledger.left == content["left"] == 0.0
    assert content["share"] == content["charges"][0]["share"] == 1.0
    assert f"epsilon = {ledger.epsilon:.4g}, 100.0% of the budget" in str(ledger)
    assert "epsilon = 0 for one more" in str(ledger)
    assert not ledger.can_afford(report_of(1e-3))


@pytest.mark.long
def test_the_rest_is_nothing_if_and_only_if_all_is_spent(tmp_path, rng):
    ledger = make_ledger(tmp_path, epsilon=2.0)
    kinds = [lambda: report_of(float(rng.uniform(0.02, 0.5))), lambda: one_report(*POISSON)]
    kinds.append(lambda: one_report(LaplaceEvent(float(rng.uniform(5.0, 20.0)))))
    assert (ledger.spent, ledger.left) == (0.0, 2.0)
    for number in range(60):
        report = kinds[number % 3]()
        if not ledger.can_afford(report):
            break
        ledger.charge(report)
        content = ledger.to_dict()
        assert 0.0 < content["spent"] < 2.0
        assert 0.0 < content["left"] < 2.0
        # What is left takes a fit, and more doesn't.
        assert ledger.can_afford(report_of(float(ledger.left) * (1 - 1e-6)))
        assert not ledger.can_afford(report_of(float(ledger.left) * (1 + 1e-2)))
        shares = sum(charge["share"] for charge in content["charges"])
        assert content["share"] == pytest.approx(shares)
    assert number > 5


def test_what_is_spent_is_a_number_that_knows_its_delta(tmp_path):
    ledger = make_ledger(tmp_path)
    ledger.charge(report_of(0.5))
    for value in (ledger.spent, ledger.left):
        assert isinstance(value, float)
        assert (value.epsilon, value.delta) == (float(value), 1e-5)
        assert pickle.loads(pickle.dumps(value)).delta == copy.deepcopy(value).delta == 1e-5
    assert (ledger.epsilon, ledger.delta) == (1.0, 1e-5)


def test_a_charge_that_leaves_nothing_warns_before_it_is_made(tmp_path):
    ledger = make_ledger(tmp_path, epsilon=2.0)
    pure = WITH_PURE["pure"]
    # The tests make warnings errors.
    with pytest.raises(LedgerWarning, match=r"cost 0\.8 and leave 1\.\d+ for another") as warned:
        ledger.charge(pure)
    assert "Gaussian noise of the same epsilon with a delta of 1e-05" in str(warned.value)
    assert charges_of(ledger) == []
    seeded = make_ledger(tmp_path, name="seeded.db", epsilon=2.0, allow_seeds=True)
    with pytest.raises(LedgerWarning):
        seeded.charge(replace(pure, reproducible=True))
    # The seed wasn't kept, either.
    seeded.charge(report_of(0.1, reproducible=True))
    with pytest.warns(LedgerWarning, match="takes all that is left"):
        ledger.charge(pure)
    assert len(charges_of(ledger)) == 1


def test_the_last_of_several_fits_warns_and_one_that_leaves_something_does_not(tmp_path):
    ledger = make_ledger(tmp_path)
    ledger.charge(report_of(0.6))
    rest = float(ledger.left)
    ledger.charge(report_of(0.9 * rest))
    with pytest.warns(LedgerWarning, match="A smaller epsilon would leave something"):
        ledger.charge(report_of(float(ledger.left) * (1 - 1e-9)))
    assert ledger.left < 1e-3


def test_a_search_that_takes_all_is_told_of_the_other_way(tmp_path):
    ledger = make_ledger(tmp_path, epsilon=3.0)
    trial = (GaussianEvent(calibrate(0.9, 1e-6)),)
    report = one_report(SelectionEvent((trial,), eta=2.0, stopping_rate=0.1))
    assert report.epsilon_at(1e-5) < 3.0
    if ledger.can_afford(report):
        with pytest.warns(LedgerWarning, match='method="compose" often costs less'):
            ledger.charge(report)


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_a_refusal_that_a_plain_sum_has_room_for_says_why(adjacency, tmp_path):
    ledger = make_ledger(tmp_path, epsilon=2.0, adjacency=adjacency)
    ledger.part("north").charge(report_of(0.8, delta=1e-6, adjacency=adjacency))
    scale = {"zero_out": 2.0, "replace_one": 4.0}[adjacency]
    pure = report_of(0.5, delta=0.0, adjacency=adjacency, events=(LaplaceEvent(scale),))
    said = refusal_of(ledger, pure)
    assert "The plain sum of epsilons, 1.3, and that of deltas, 1e-06, would be within" in said
    assert ".0159" in said
    assert "planned=" in said
    # In the south nothing was charged yet, and in the north the sum is beyond the budget.
    larger = report_of(1.3, delta=0.0, adjacency=adjacency, events=(LaplaceEvent(scale / 2.6),))
    assert "plain sum" not in refusal_of(ledger, larger)
    assert "plain sum" not in refusal_of(ledger.part("north"), larger)
    assert "plain sum" in refusal_of(ledger.part("north"), pure)
    # Deltas that exceed the budget's together are no plain sum within it.
    rare = report_of(0.9, adjacency=adjacency, events=(*POISSON, ErasureEvent(9.9e-6)))
    assert "plain sum" not in refusal_of(ledger, rare)


def test_a_sum_of_other_neighbours_is_none(tmp_path):
    ledger = make_ledger(tmp_path, epsilon=2.0, adjacency="replace_one")
    ledger.charge(report_of(0.4))
    pure = report_of(0.5, delta=0.0, adjacency="replace_one", events=(LaplaceEvent(4.0),))
    assert "plain sum" not in refusal_of(ledger, pure)


@pytest.mark.long
def test_no_sampled_batches_are_left(tmp_path):
    ledger = PrivacyLedger(tmp_path / "study", epsilon=1.0, delta=1e-5)
    assert "sampled batches" not in str(ledger)
    for _ in range(200):
        ledger.charge(one_report(GaussianEvent(1e4, 0.01, 1)))
    assert "none of sampled batches, whose share of delta is used" in str(ledger)
    assert ledger.left > 0.9
    assert ledger.to_dict()["share"] < 0.01
