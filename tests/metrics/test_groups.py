"""Scores of one row of each person."""

import numpy as np
import pytest

from skdp._mechanisms import DiscreteLaplaceMechanism
from skdp.accountant import compose
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression
from skdp.metrics import (
    private_calibration_curve,
    private_confusion_matrix,
    private_roc_curve,
    private_score,
)
from tests.metrics._models import Knows, binary_records, calls

SCORES = (private_score, private_roc_curve, private_calibration_curve, private_confusion_matrix)


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
