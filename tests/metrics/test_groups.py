"""Scores of rows of people: of at most some of each, or of one."""

import math

import numpy as np
import pytest

from skdp.accountant import compose
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression
from skdp.metrics import (
    private_calibration_curve,
    private_compare,
    private_confusion_matrix,
    private_roc_curve,
    private_score,
)
from tests._loops import for_each
from tests.door import (
    DiscreteLaplaceMechanism,
    GaussianMechanism,
    ScoreBudget,
    Shares,
    resolve_rows_counted,
)
from tests.metrics._models import Knows, Opposes, binary_records, calls
from tests.metrics.test_replay import outcome, record


def compared(estimator, X, y, **options):
    return private_compare(estimator, Opposes(), X, y, **options)


SCORES = (
    compared,
    private_score,
    private_roc_curve,
    private_calibration_curve,
    private_confusion_matrix,
)


def report_of(score, rng, **options):
    X, y = binary_records(rng, 300)
    return score(Knows(), X, y, epsilon=0.5, **options).report


@pytest.mark.parametrize("score", SCORES)
def test_with_groups_a_score_protects_a_group(score, rng):
    assert report_of(score, rng).unit == "one row"
    report = report_of(score, rng, groups=np.arange(300).astype(str))
    assert report.unit == "one group"
    assert any("groups" in line and "rows" not in line for line in report.assumed_public)
    assert not any("number of rows" in line for line in report.assumed_public)
    assert any("epsilon_at(delta, group_size=2)" in line for line in report.not_covered)


@pytest.mark.parametrize("score", SCORES)
def test_groups_change_no_count(score, rng):
    X, y = binary_records(rng, 300)
    plain, grouped = (
        score(Knows(), X, y, epsilon=0.5, random_state=0, **given)
        for given in ({}, {"groups": np.arange(300), "average_over": "groups"})
    )
    kept = [name for name in vars(plain) if name not in ("report", "roc_auc", "average_over")]
    for name in kept:
        assert np.array_equal(getattr(plain, name), getattr(grouped, name))


def cells(X, y, groups, random_state=0, average_over="groups", **counted):
    """The noise of so large an epsilon is far below 1."""
    counted |= {"groups": groups, "average_over": average_over, "random_state": random_state}
    return np.rint(private_confusion_matrix(Knows(), X, y, epsilon=1e3, **counted).matrix)


def test_of_several_rows_of_a_person_one_counts(rng):
    X, y = binary_records(rng, 300)
    groups = np.arange(300) // 3
    assert cells(X, y, groups).sum() == 100
    # Whatever a person brings, and however much of it.
    whose = groups != 7
    for size in (1, 50):
        for one in (0, 1):
            rows = np.concatenate([X[whose], np.repeat(X[:1], size, axis=0)])
            labels = np.append(y[whose], [one] * size)
            moved = cells(rows, labels, np.append(groups[whose], [7] * size))
            assert moved.sum() == 100


@pytest.mark.parametrize("name", calls())
def test_how_many_rows_people_have_changes_no_grid(name, rng, monkeypatch):
    """Bins follow from the number of people, which is public: that of rows isn't."""
    shapes = []

    def release(self, counts, stream, original=DiscreteLaplaceMechanism.release):
        shapes.append(counts.shape)
        return original(self, counts, stream)

    monkeypatch.setattr(DiscreteLaplaceMechanism, "release", release)
    X, _ = binary_records(rng, 300)
    X, y = np.clip(X, 0.2, 5.0), np.arange(300) % 2
    for n_rows in (0, 4000):
        ids = np.append(np.arange(300), np.zeros(n_rows, dtype=int))
        calls(epsilon=1.0, groups=ids)[name](X[ids], y[ids])
    assert shapes[0] == shapes[1]


@pytest.mark.long
def test_which_row_counts_is_drawn_by_chance(rng):
    """Of ten rows any has its turn: one has none once in 10**9 suites."""
    X, y = binary_records(rng, 10)
    found = sum(cells(X, y, np.zeros(10), random_state=seed) for seed in range(250))
    exact = cells(X, y, np.arange(10))
    assert found.sum() == 250
    np.testing.assert_array_equal(found > 0, exact > 0)


def test_a_score_adds_up_with_a_fit_for_groups(rng, tmp_path):
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=1.0, delta=1e-6, unit="one group")
    X, y = binary_records(rng, 900)
    ids = np.arange(900) // 3
    model = DPLogisticRegression(epsilon=0.3, delta=1e-6, classes=[0, 1])
    fit = model.fit(X, y, groups=ids).privacy_report_
    score = report_of(private_score, rng, groups=np.arange(300), ledger=ledger)
    assert compose([fit, score]).unit == "one group"
    assert len(ledger.to_frame()) == 1
    with pytest.raises(ValueError, match="same unit"):
        compose([fit, report_of(private_score, rng)])


@pytest.mark.parametrize(
    ("groups", "message"),
    [([1, 2], "one id for each row"), ([None, *range(299)], "missing")],
)
def test_bad_groups_are_refused(groups, message, rng):
    with pytest.raises(ValueError, match=message):
        report_of(private_score, rng, groups=groups)


# Rows of the person who is last: many in one cell, many everywhere, and one.
PERSONS = {
    "alike": np.full(40, 3.0),
    "apart": np.linspace(-5.0, 5.0, 41),
    "one": np.zeros(1),
    "odd": np.array([np.nan, np.inf, -np.inf, 1e308] * 4),
}


def of_people(last):
    """Return rows, labels and ids of 60 people, and of one whose rows are given."""
    X, _ = binary_records(np.random.default_rng(0), 120)
    ids = np.append(np.arange(120) // 2, np.full(len(last), 60))
    X = np.append(np.clip(X[:, 0], 0.2, 1.9), last)[:, np.newaxis]
    return X, np.append(np.arange(120) % 2, np.arange(len(last)) // 30 % 2), ids


@pytest.mark.parametrize("name", calls())
def test_a_person_moves_counts_by_as_much_as_is_counted_of_their_rows(name):
    """And given the counts, results are those of anybody with any number of rows."""
    most, results = 5, []
    script, moves = None, []
    for last in PERSONS.values():
        X, y, ids = of_people(last)
        call = calls(epsilon=1.0, groups=ids, rows_per_group=most)[name]
        here = record(call, X, y, script=script)
        gone = record(call, X, y, script=script, null=np.flatnonzero(ids == 60))
        script = here.released if script is None else script
        for counts, others in zip(here.counts, gone.counts, strict=True):
            assert others.sum() == 120
            assert (counts - others).min() >= 0
            assert (counts - others).sum() == min(most, len(last))
            moves.append((counts - others).ravel())
        # A sum below the number of people is moved to it, and not to that of rows.
        fewer = [counts // 3 for counts in script]
        results.append([outcome(record(call, X, y, script=s).result) for s in (script, fewer)])
        bound = here.mechanisms[0].contribution_bound
        assert bound == most
    assert max(np.linalg.norm(one - two) for one in moves for two in moves) <= math.sqrt(2.0) * most
    assert all(result == results[0] for result in results)


@for_each("adjacency", ["zero_out", "replace_one"])
@for_each("mechanism", ["laplace", "gaussian"])
@for_each("name", ["roc_auc", "curve", "confusion", "accuracy"])
def test_noise_serves_so_many_rows(adjacency, mechanism, name):
    X, y, ids = of_people(PERSONS["alike"])
    spent = {"epsilon": 0.4, "delta": 1e-4, "adjacency": adjacency, "mechanism": mechanism}
    if mechanism == "laplace":
        spent["delta"] = 0.0
    one, many = (record(calls(**spent, groups=ids, rows_per_group=k)[name], X, y) for k in (1, 7))
    kind = DiscreteLaplaceMechanism if mechanism == "laplace" else GaussianMechanism
    (quiet,), (loud,) = one.mechanisms, many.mechanisms
    assert isinstance(loud, kind)
    assert loud.noise_std == pytest.approx(7.0 * quiet.noise_std, rel=0.02)
    distance = 2.0 if adjacency == "replace_one" else 1.0
    if mechanism == "laplace":
        # By the triangle inequality a probability changes by a factor of exp(L1 / scale).
        assert loud._parts * 2.0**-20 >= 7 * distance / 0.4
    else:
        apart = 7.0 * (math.sqrt(2.0) if adjacency == "replace_one" else 1.0)
        budget = ScoreBudget(0.4, 1e-4, adjacency)
        assert loud.noise_std >= apart * budget.calibrate(pairwise=True) * (1.0 - 1e-9)
    assert one.result.report.epsilon == many.result.report.epsilon == pytest.approx(0.4)
    assert one.result.report.event == many.result.report.event


def readmitted(n_people=4000, seed=0):
    """Return log-odds of risk that is right by row, labels and ids; those who come often have more.

    Their risk follows from how often they come, as that of stays in a hospital does.
    """
    rng = np.random.default_rng(seed)
    sizes = np.where(rng.random(n_people) < 0.2, 4, 1)
    ids = np.repeat(np.arange(n_people), sizes)
    risk = np.where(sizes[ids] > 1, 0.25, 0.05)
    return (
        np.log(risk / (1.0 - risk))[:, np.newaxis],
        (rng.random(len(ids)) < risk).astype(int),
        ids,
    )


def test_rows_have_the_rate_of_rows_and_groups_that_of_groups():
    """The rate is 15 % of rows and 9 % of people."""
    X, y, ids = readmitted()
    first = np.unique(ids, return_index=True)[1]
    by_row, by_person = 1.0 - y.mean(), 1.0 - np.mean(y[first])
    assert by_person - by_row > 0.04
    rows, groups = (
        private_score(Knows(), X, y, epsilon=2.0, groups=ids, average_over=name)
        for name in ("rows", "groups")
    )
    # The noise of a share is 16 * .7 / 6400 at most, and no interval misses in 1e-7 of the suites.
    assert abs(rows.value - by_row) < 0.02
    assert abs(groups.value - by_person) < 0.025
    assert rows.low < by_row < rows.high


@pytest.mark.long
def test_results_name_what_they_count(rng):
    X, y, ids = readmitted(400)
    spent = {"epsilon": 1.0, "groups": ids, "random_state": 0}
    for call in SCORES:
        found = call(Knows(), X, y, **spent, rows_per_group=3)
        assert (found.average_over, found.rows_per_group) == ("rows", 3)
        assert any("rows, at most 3 of each group" in line for line in found.report.notes)
        assert "at most 3 of each group" in str(found.report.to_text())
        found = call(Knows(), X, y, **spent, average_over="groups")
        assert (found.average_over, found.rows_per_group) == ("groups", None)
        assert any("one row of each" in line for line in found.report.notes)
        assert not call(Knows(), X, y, epsilon=1.0).report.notes
    assert " over rows, at most 5 of each group" in repr(private_score(Knows(), X, y, **spent))
    over_groups = private_score(Knows(), X, y, **spent, average_over="groups")
    assert " over groups, one row of each" in repr(over_groups)
    assert " over " not in repr(private_score(Knows(), X, y, epsilon=1.0))
    for call in (private_roc_curve, private_calibration_curve):
        pytest.importorskip("matplotlib")
        drawn = call(Knows(), X, y, **spent).display().plot()
        assert "rows, at most 5 of each group" in drawn.line_.get_label()
        assert "group" not in call(Knows(), X, y, epsilon=1.0).display().plot().line_.get_label()


def test_without_noise_all_rows_are_counted():
    X, y, ids = readmitted(300)
    found = private_score(Knows(), X, y, epsilon=math.inf, groups=ids, rows_per_group=2)
    assert found.value == pytest.approx(1.0 - y.mean())
    assert "all of each group" in repr(found)


@pytest.mark.parametrize("call", SCORES)
def test_what_is_counted_of_no_groups_is_refused(call, rng):
    X, y = binary_records(rng, 300)
    with pytest.raises(ValueError, match="average_over='groups' needs groups"):
        call(Knows(), X, y, epsilon=1.0, average_over="groups")
    for counted in ({}, {"groups": np.arange(300), "average_over": "groups"}):
        with pytest.raises(ValueError, match="rows_per_group is for"):
            call(Knows(), X, y, epsilon=1.0, rows_per_group=3, **counted)


def test_how_many_rows_are_counted_follows_from_public_numbers():
    budget = ScoreBudget(1.0, 0.0, "zero_out")
    found = [resolve_rows_counted("rows", "auto", budget, n, 1.4) for n in (10, 10**3, 10**7)]
    assert found == [2, 14, 16]
    assert resolve_rows_counted("rows", "auto", budget, 10**4, 100.0) == 2
    assert resolve_rows_counted("groups", "auto", budget, 10**4, 1.0) == 1


@pytest.mark.long
def test_shares_of_an_unknown_sum_have_the_noise_of_a_ratio():
    """By simulation; 10,000 runs are 7 standard errors off by 5 %."""
    rng = np.random.default_rng(0)
    truth, noise = np.array([[400.0, 100.0], [50.0, 250.0]]), 8.0
    gradient = np.array([[0.0, 1.0], [0.5, 0.0]])
    released = truth + noise * rng.standard_normal((10_000, 2, 2))
    found = [(Shares.of_groups(one, 500, noise, 4).values * gradient).sum() for one in released]
    expected = Shares.of_groups(truth, 500, noise, 4).of_noise(gradient)
    assert np.var(found) == pytest.approx(expected, rel=0.1)
    assert np.mean(found) == pytest.approx(125.0 / 800.0, abs=1e-3)


@pytest.mark.long
def test_intervals_hold_where_rows_of_a_person_are_all_alike():
    """Seeded. If rows counted as independent, they would hold in two thirds of the runs."""
    rng, held = np.random.default_rng(0), 0
    for seed in range(200):
        ids = np.repeat(np.arange(500), 4)
        wrong = rng.random(500)[ids] < 0.2
        X, y = np.ones((2000, 1)), (~wrong).astype(int)
        counted = {"groups": ids, "rows_per_group": 4, "random_state": seed}
        found = private_score(Knows(), X, y, epsilon=3.0, **counted)
        held += found.low < 0.8 < found.high
    assert held >= 175
