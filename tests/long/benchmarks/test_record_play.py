"""The audit by record and play runs, finds nothing, and finds what is planted."""

import importlib

import numpy as np
import pandas as pd
import pytest

from skdp.extend import DPBaseEstimator, Sum, Value
from skdp.preprocessing import DPStandardScaler
from tests.door import GaussianMechanism, SumOfSlopes, resolve_delta
from tests.privacy.mutants import ROOT

# Where there is little noise, logistic steps follow the curvature, and are as few.
QUASI_NEWTON_STEPS = 16
# So many times as large as it is, a sum moves by more than is declared, though clips are wide.
LARGER = 1e3
BUDGET = {"epsilon": 2.0, "random_state": 0}


def test_a_few_are_audited_and_nothing_is_found(run):
    names = "OwnMean DPStandardScaler DPOneHotEncoder WALRClassifier"
    table = run("record_play", f"--subjects {names} --samples 4000", "record_play")
    assert table["broken"].isna().all()
    audited = table[table["reach"].notna()]
    assert len(audited) == 8
    assert audited["reach"].between(0.5, 1.0 + 1e-9).all()
    # A word that no other record has is hidden by delta alone, and that is told.
    of_words = audited["subject"].str.startswith("DPOneHotEncoder")
    assert (audited["by_threshold"] > 0).tolist() == of_words.tolist()
    attacked = table[table["right"].notna()]
    assert set(attacked["subject"]) == {"GaussianMechanism", "RandomizedResponse"}
    # The attack is nearly as strong as it may be.
    assert (attacked["right"] > 0.5 + 0.7 * (attacked["allowed"] - 0.5)).all()


def test_every_public_name_is_audited_and_nothing_was_found(load_script):
    subjects = load_script("_private_subjects")
    assert subjects.public_names() <= {one.covers for one in subjects.all_subjects()}
    table = pd.read_csv(ROOT / "benchmarks" / "results" / "record_play.csv", comment="#")
    assert table["broken"].isna().all()
    names = {one.name for one in subjects.all_subjects()}
    assert names <= set(table["subject"])


class Mean(DPBaseEstimator):
    """The mean of rows that are cut to a norm, as it should be."""

    def __init__(
        self, *, epsilon=1.0, delta="auto", adjacency="zero_out", ledger=None, random_state=None
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.ledger = ledger
        self.random_state = random_state

    def plan_releases(self, sizes):
        return [Sum("sum of rows", shape=sizes.n_features, bound=1.0)]

    def learn(self, X, y, run):
        self.mean_ = run.sum("sum of rows", lambda X: X, X) / run.n_records


class KeepsTheLargest(Mean):
    def learn(self, X, y, run):
        super().learn(X, y, run)
        self.largest_ = X.max()


class SumsWholeRows(Mean):
    def plan_releases(self, sizes):
        return [Value("sum of rows", (sizes.n_features,), bound=1.0)]

    def learn(self, X, y, run):
        self.mean_ = run.release("sum of rows", X.sum(axis=0)) / run.n_records


class BoundsByTheData(Mean):
    """Rows are as long as the longest one, and no public number says how long that is."""

    def fit(self, X, y=None):
        self.bound_ = np.linalg.norm(X / np.abs(X).max()) * np.abs(X).max()
        return super().fit(X, y)

    def plan_releases(self, sizes):
        return [Sum("sum of rows", shape=sizes.n_features, bound=min(self.bound_, 1e6))]


PLANTED = {
    KeepsTheLargest: "published: largest_",
    SumsWholeRows: "sensitivity: sum of rows",
    BoundsByTheData: "calls: sum of rows",
}


def found_in(load_script, make, target=None, **options):
    script, subjects = load_script("record_play"), load_script("_private_subjects")
    (subject,) = subjects.of_estimator(make, target, **options)
    return script.audit_subject(subject)[0]["broken"]


@pytest.mark.parametrize("kind", [Mean, *PLANTED])
def test_what_an_estimator_gives_away_is_found(kind, load_script):
    found = found_in(load_script, lambda: kind(**BUDGET))
    assert (PLANTED[kind] in found) if kind in PLANTED else not found


def test_noise_that_is_less_than_is_reported_is_found(load_script, monkeypatch):
    make = lambda: Mean(**BUDGET)  # noqa: E731
    monkeypatch.setattr(GaussianMechanism, "noise_std", 1e-3)
    assert "account: scale of sum of rows" in found_in(load_script, make)


def of_large_tables(load_script, name):
    """The subject of this name, with little noise, and what audits it."""
    script, subjects = load_script("record_play"), load_script("_private_subjects")
    budget = {"epsilon": 25.0, "adjacency": "zero_out", "random_state": 0}
    (subject,) = (one for one in subjects.of_large_tables(budget) if one.name == name)
    return subject, lambda: script.audit_subject(subject)[0]["broken"]


def test_sums_of_few_steps_that_are_too_large_are_found(load_script, monkeypatch):
    subject, audited = of_large_tables(load_script, "DPLogisticRegression quiet")
    records = load_script("_private_subjects").make_records("labels")
    assert subject.learn(records).n_iter_ == QUASI_NEWTON_STEPS
    total = SumOfSlopes.total
    monkeypatch.setattr(SumOfSlopes, "total", lambda self, rows: LARGER * total(self, rows))
    assert "sensitivity: steps" in audited()


@pytest.mark.parametrize(
    ("name", "kernels"),
    [
        ("DPRidge compiled", "kernels"),
        ("DPAdditiveClassifier of codes", "kernels_coded"),
    ],
)
def test_compiled_sums_that_are_too_large_are_found(name, kernels, load_script, monkeypatch):
    pytest.importorskip("numba")
    _, audited = of_large_tables(load_script, name)
    module = importlib.import_module(f"skdp._rows.{kernels}")
    add_slopes = module.add_slopes

    def add_more(*args):
        add_slopes(*args)
        args[-1][:] *= LARGER

    monkeypatch.setattr(module, "add_slopes", add_more)
    assert "sensitivity: steps" in audited()


def test_a_branch_by_the_data_is_found(load_script, monkeypatch):
    """Nothing of it is published: only how often lines of the package ran says so."""
    original = DPStandardScaler._learn_rows

    def learn_rows(self, X, groups):
        if np.max(X) > 1e3:
            resolve_delta("auto", len(X))
        return original(self, X, groups)

    monkeypatch.setattr(DPStandardScaler, "_learn_rows", learn_rows)
    found = found_in(load_script, lambda: DPStandardScaler(**BUDGET))
    assert "lines: _release.plan:resolve_delta" in found
    assert {claim.split(":")[0] for claim in found.split("; ")} == {"lines"}
