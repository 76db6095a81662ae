import copy
import json
import pickle
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils._param_validation import validate_parameter_constraints

from skdp.accountant import GaussianEvent, calibrate
from skdp.exceptions import BudgetExceededError, LedgerError, PrivacyWarning
from skdp.linear_model import DPLogisticRegression
from tests.door import (
    ALREADY_CHARGED,
    LEDGER_CONSTRAINT,
    Account,
    BaseWhitened,
    Budget,
    Plan,
    Planned,
    accountant_filter_module as _filter,
    plan_module as _base,
    resolve_account,
)
from tests.ledger._fits import charges_of, make_ledger, report_of


@dataclass(frozen=True, eq=False, kw_only=True)
class OneRelease(Plan):
    noise: float

    @property
    def releases(self):
        return (Planned("sums", None, (GaussianEvent(self.noise),)),)


def plan_for(account, *, epsilon=0.3, delta=1e-5):
    budget = Budget(epsilon, delta, "zero_out", "pld", account=account)
    return OneRelease(budget=budget, n_records=100, noise=calibrate(epsilon, delta))


@pytest.fixture
def ledger(tmp_path):
    return make_ledger(tmp_path)


@pytest.fixture
def drawn(monkeypatch):
    """What happens, in its order: charges and streams."""
    events = []
    make_stream, charge = _base.make_stream, Account.charge

    def open_stream(*arguments, **options):
        events.append("stream")
        return make_stream(*arguments, **options)

    def note_charge(*arguments):
        charge(*arguments)
        events.append("charge")

    monkeypatch.setattr(_base, "make_stream", open_stream)
    monkeypatch.setattr(Account, "charge", note_charge)
    return events


def test_a_plan_charges_before_there_is_randomness(ledger, drawn):
    plan_for(resolve_account(ledger, "A", {})).start(None)
    assert drawn == ["charge", "stream"]
    assert [charge["mu"] for charge in charges_of(ledger)] == pytest.approx([report_of(0.3).mu])


def test_what_a_design_costs_is_computed_once(ledger):
    account = resolve_account(ledger, "A", {})
    plan_for(account, epsilon=0.123).start(None)
    before = _filter._gaussian_cost.cache_info().misses
    plan_for(account, epsilon=0.123).start(None)
    assert _filter._gaussian_cost.cache_info().misses == before


def test_a_refused_plan_has_no_randomness(ledger, drawn):
    account = resolve_account(ledger, "A", {})
    with pytest.raises(BudgetExceededError):
        plan_for(account, epsilon=1.1).start(None)
    random_state = np.random.RandomState(0)
    before = random_state.get_state()[2]
    with pytest.raises(LedgerError, match="seed"):
        plan_for(account).start(random_state)
    Path(ledger.path).write_bytes(b"")
    with pytest.raises(LedgerError):
        plan_for(account).start(None)
    assert drawn == []
    assert random_state.get_state()[2] == before


def test_a_warning_that_stops_comes_before_the_charge(ledger, drawn):
    with pytest.raises(PrivacyWarning):
        plan_for(resolve_account(ledger, "A", {}), delta=0.5).start(None)
    assert drawn == charges_of(ledger) == []


def test_a_fit_without_a_ledger_is_not_recorded(monkeypatch, drawn):
    monkeypatch.delenv("SKDP_LEDGER", raising=False)
    assert resolve_account(None, "A", {}) is None
    plan_for(None).start(None)
    assert drawn == ["stream"]


def test_a_budget_is_what_it_was_with_or_without_an_account(ledger):
    account = resolve_account(ledger, "A", {"alpha": 1.0})
    with_account = Budget(1.0, 1e-5, "zero_out", "pld", account=account)
    assert with_account == Budget(1.0, 1e-5, "zero_out", "pld")
    assert hash(with_account) == hash(Budget(1.0, 1e-5, "zero_out", "pld"))
    assert pickle.loads(pickle.dumps(with_account)).account == account


def test_the_environment_names_a_ledger_for_all_that_have_none(ledger, monkeypatch, tmp_path):
    monkeypatch.setenv("SKDP_LEDGER", ledger.path)
    assert resolve_account(None, "A", {}).ledger == ledger
    other = make_ledger(tmp_path, name="other.db")
    assert resolve_account(other.part("x"), "A", {}).ledger == other.part("x")
    assert resolve_account(Path(other.path), "A", {}).ledger == other
    assert resolve_account(ALREADY_CHARGED, "A", {}) is None
    monkeypatch.setenv("SKDP_LEDGER", str(tmp_path / "none.db"))
    with pytest.raises(LedgerError, match="doesn't exist"):
        resolve_account(None, "A", {})
    for empty in ("", " "):
        monkeypatch.setenv("SKDP_LEDGER", empty)
        with pytest.raises(LedgerError, match="unset it"):
            resolve_account(None, "A", {})
    assert resolve_account(ALREADY_CHARGED, "A", {}) is None


def test_covered_is_one_object_everywhere():
    for copied in (
        pickle.loads(pickle.dumps(ALREADY_CHARGED)),
        copy.deepcopy(ALREADY_CHARGED),
        copy.copy(ALREADY_CHARGED),
    ):
        assert copied is ALREADY_CHARGED
    assert repr(ALREADY_CHARGED) == "ALREADY_CHARGED"


@pytest.mark.parametrize("value", [3, True, b"path", object, 0.5])
def test_the_parameter_takes_nothing_else(ledger, value):
    constraint = {"ledger": LEDGER_CONSTRAINT}
    for good in (None, "study.db", Path("study.db"), ledger, ALREADY_CHARGED):
        validate_parameter_constraints(constraint, {"ledger": good}, caller_name="A")
    with pytest.raises(ValueError, match="ledger"):
        validate_parameter_constraints(constraint, {"ledger": value}, caller_name="A")


def test_what_is_kept_of_a_fit_is_public_and_scalar(ledger):
    parameters = {
        "alpha": np.float64(0.5),
        "epsilon": float("inf"),
        "max_iter": np.int32(7),
        "fit_intercept": True,
        "loss": "hinge",
        "feature_bounds": np.array([271828.0]),
        "classes": ["ill", "well"],
        "nothing": None,
        "random_state": 314159,
        "step__random_state": 314159,
        "n_jobs": 2,
        "ledger": ledger,
    }
    resolve_account(ledger, "A", parameters).charge(report_of(0.1), None)
    (charge,) = charges_of(ledger)
    assert charge["estimator"] == "A"
    assert charge["parameters"] == {
        "alpha": 0.5,
        "epsilon": "inf",
        "max_iter": 7,
        "fit_intercept": True,
        "loss": "hinge",
    }
    assert b"314159" not in Path(ledger.path).read_bytes()


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (5, np.int64(5)),
        (np.random.RandomState(5), np.random.RandomState(5)),
        (np.random.RandomState(np.random.PCG64(1)), np.random.RandomState(np.random.PCG64(1))),
    ],
)
def test_a_seed_that_comes_again_is_refused(tmp_path, first, again):
    ledger = make_ledger(tmp_path, allow_seeds=True)
    account = resolve_account(ledger, "A", {})
    plan_for(account).start(first)
    with pytest.raises(LedgerError, match="same noise"):
        plan_for(account).start(again)
    # A generator that was used is another seed.
    plan_for(account).start(6 if isinstance(first, int) else first)
    plan_for(account).start(None)
    assert len(charges_of(ledger)) == 3


def test_a_real_fit_is_charged_what_its_report_says(ledger, monkeypatch):
    def budget(self, n_records, by_group):
        account = resolve_account(ledger, type(self).__name__, self.get_params())
        return Budget(self.epsilon, 1e-5, self.adjacency, "pld", account=account)

    monkeypatch.setattr(BaseWhitened, "_budget", budget)
    generator = np.random.default_rng(0)
    X = generator.standard_normal((200, 3))
    model = DPLogisticRegression(epsilon=0.5, classes=[0, 1])
    for _ in range(2):
        model.fit(X, X[:, 0] > 0)
    with closing(sqlite3.connect(ledger.path)) as file:
        kept = [json.loads(row[0]) for row in file.execute("SELECT report FROM charge")]
    assert [one["epsilon"] for one in kept] == [0.5, 0.5]
    charges = charges_of(ledger)
    assert [one["mu"] for one in charges] == pytest.approx(2 * [model.privacy_report_.mu])
    assert charges[0]["estimator"] == "DPLogisticRegression"
    assert charges[0]["parameters"]["epsilon"] == 0.5
    before = vars(model).copy()
    with pytest.raises(BudgetExceededError):
        model.set_params(epsilon=0.9).fit(X, X[:, 0] > 0)
    assert model.coef_ is before["coef_"]
