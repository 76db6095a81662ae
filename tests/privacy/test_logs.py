"""What runs of all kinds of fits made is what their reports say: names, order and numbers."""

from collections import Counter

import pytest

from skdp.accountant import SelectionEvent
from tests.door import Run, plan_module
from tests.golden._texts import MADE, report_of
from tests.privacy._cases import first_of_a_kind
from tests.privacy._recipes import CASES, LABEL_CASES, RESPONSE_CASES

# What is made of reports or of a ledger's charges, and releases nothing.
LATER = {"ledger", "composed"}


@pytest.fixture
def runs(monkeypatch):
    """All runs from now on, in the order in which they start, the outermost of a fit first."""
    started = []

    class Watched(Run):
        def __init__(self, releases, stream, **options):
            super().__init__(releases, stream, **options)
            started.append(self)
            self.planned = tuple(releases)
            self.is_finished = False

        def finish(self):
            super().finish()
            self.is_finished = True

    monkeypatch.setattr(plan_module, "Run", Watched)
    return started


def check(report, runs):
    assert runs
    assert all(run.is_finished for run in runs)
    assert len(report.names) == len(report.events)
    if any(type(event) is SelectionEvent for event in report.events):
        # All trials are one, and how many there were doesn't leave: only the choice is a release.
        assert report.names == ("choice of a candidate and its fit",)
        assert {entry.name for entry in runs[0].log} <= set(report.names)
        return
    outer, *inner = runs
    made = [entry for run in (*inner, outer) for entry in run.log]
    told = [
        # After the names of steps that hold it.
        (name.split(": ")[-1], event.n_releases)
        for name, event in zip(report.names, report.events, strict=True)
        if not event.erasure
    ]
    counts, told_counts = Counter(), Counter()
    for entry in made:
        counts[entry.name] += entry.n_made
    for name, n_releases in told:
        told_counts[name] += n_releases
    # What stands for releases that earlier ones told of, where the report has the charge.
    charges = {one.name for run in runs for one in run.planned if one.release is None}
    unmade = set(told_counts) - set(counts)
    assert unmade <= charges
    if not unmade:
        assert told_counts == counts
        assert list(told_counts) == list(counts)
    else:
        assert all(counts[name] == n for name, n in told_counts.items() if name not in unmade)


@pytest.mark.every
@pytest.mark.parametrize("kind", [kind for kind in MADE if kind not in LATER])
@pytest.mark.filterwarnings("ignore")
def test_logs_and_reports_agree(kind, runs):
    if kind.startswith("parts"):
        pytest.importorskip("dask")
    made = MADE[kind]()
    report = report_of(made)
    if kind == "total":
        # Of two steps that were fitted one after another, and composed.
        runs = [runs[-1], *runs[:-1]]
    if kind.startswith("score"):
        # Of a model that was fitted before.
        runs = runs[-1:]
    check(report, runs)


@pytest.mark.parametrize("case", first_of_a_kind(CASES + LABEL_CASES + RESPONSE_CASES), ids=str)
@pytest.mark.filterwarnings("ignore")
def test_logs_and_reports_of_cases_agree(case, runs):
    X, y = case.records()
    model, weights = case.estimator, case.weights(len(y))
    if hasattr(model, "transform"):
        model.fit(case.read(X))
    elif case.way == "calls":
        for part in range(3):
            model.partial_fit(X[part::3], y[part::3])
    elif case.way == "personal":
        model.fit(X, y, sample_epsilon=[model.epsilon / 2.0, model.epsilon] * (len(y) // 2))
    else:
        model.fit(case.read(X), y, **weights, **case.exposures(X))
    check(model.privacy_report_, runs)
