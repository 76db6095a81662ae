"""What may happen to a file: every fault is a clear error, and no fit is made."""

import contextlib
import copy
import os
import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from skdp.exceptions import BudgetExceededError, LedgerError
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPSGDClassifier
from tests.door import records_module as _records, store_module as _store
from tests.ledger._fits import charges_of, forks, in_fork, make_ledger, processes, report_of

SMALL = report_of(0.01)


@pytest.fixture
def ledger(tmp_path):
    ledger = make_ledger(tmp_path)
    ledger.charge(SMALL)
    return ledger


def refuses(ledger, match):
    """Whether the file can neither be charged to nor shown."""
    for ask in (lambda: ledger.charge(SMALL), lambda: str(ledger)):
        with pytest.raises(LedgerError, match=match) as caught:
            ask()
        assert repr(ledger.path) in str(caught.value)
        assert not isinstance(caught.value, BudgetExceededError)


def edit(ledger, *statements):
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as file:
        for statement in statements:
            file.execute(statement)


def test_a_file_that_is_gone_is_not_made_anew(ledger):
    os.unlink(ledger.path)
    refuses(ledger, "doesn't exist")
    assert not os.path.exists(ledger.path)


def test_a_file_that_goes_while_it_is_charged(ledger, monkeypatch):
    def insert_and_lose(*arguments):
        _insert(*arguments)
        os.rename(ledger.path, f"{ledger.path}.moved")

    _insert = _store.insert
    monkeypatch.setattr(_store, "insert", insert_and_lose)
    with pytest.raises(LedgerError, match="deleted or replaced"):
        ledger.charge(SMALL)


@pytest.mark.parametrize("path", ["", "missing/study.db", "study.db/study.db"])
def test_paths_that_lead_nowhere(ledger, tmp_path, path):
    for budget in ({}, {"epsilon": 1.0, "delta": 1e-5}):
        with pytest.raises(LedgerError, match=r"folder|exist|reached"):
            PrivacyLedger(tmp_path / path, **budget)


@forks
def test_a_read_only_file_and_folder(ledger, tmp_path):
    folder = Path(ledger.path).parent

    def try_all():
        # The superuser may write everywhere.
        if os.geteuid() == 0:
            os.setuid(65534)
        found = []
        for path in (ledger, folder / "new.db"):
            try:
                if path is ledger:
                    ledger.charge(SMALL)
                else:
                    make_ledger(folder, name="new.db")
            except LedgerError as error:
                found.append(str(error))
        return found

    reachable = [
        one for one in folder.parents if one != Path("/") and one.stat().st_uid == os.getuid()
    ]
    before = {one: one.stat().st_mode for one in [folder, *reachable]}
    try:
        for one in reachable:
            os.chmod(one, before[one] | 0o555)
        os.chmod(ledger.path, 0o444)
        os.chmod(folder, 0o555)
        charged, made = in_fork(try_all)
    finally:
        for one, mode in before.items():
            os.chmod(one, mode)
    assert "read-only" in charged or "can't be opened" in charged
    assert "can't be opened" in made
    assert len(charges_of(ledger)) == 1


def test_a_locked_file_is_waited_for_and_then_refused(ledger, monkeypatch):
    monkeypatch.setattr(_store, "_WAIT_SECONDS", 0.05)
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="locked by another process"):
            ledger.charge(SMALL)
        # Looking disturbs nobody.
        assert "1 charge" in str(ledger)
        other.execute("ROLLBACK")
    ledger.charge(SMALL)


def test_text_is_no_ledger_and_stays_as_it_is(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but longer than the header of one would be. " * 20)
    before = path.read_bytes()
    for budget in ({}, {"epsilon": 1.0, "delta": 1e-5}):
        with pytest.raises(LedgerError, match="no ledger"):
            PrivacyLedger(path, **budget)
    assert path.read_bytes() == before


def test_a_database_of_something_else_stays_as_it_is(tmp_path):
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE budget (epsilon)")
    before = path.read_bytes()
    for budget in ({}, {"epsilon": 1.0, "delta": 1e-5}):
        with pytest.raises(LedgerError, match="something else"):
            PrivacyLedger(path, **budget)
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_ledger_only_with_a_budget(tmp_path):
    (tmp_path / "study.db").touch()
    with pytest.raises(LedgerError, match="empty"):
        PrivacyLedger(tmp_path / "study.db")
    assert make_ledger(tmp_path).left == 1.0


def test_a_newer_file_is_left_to_newer_versions(ledger):
    edit(ledger, "PRAGMA user_version = 99")
    refuses(ledger, r"newer skdp \(its schema is 99, this one knows \d+\)")


@pytest.mark.long
@pytest.mark.parametrize("left", [0.3, 0.5, 0.9])
def test_a_file_that_was_cut_short(ledger, left):
    for _ in range(30):
        ledger.charge(SMALL)
    size = os.path.getsize(ledger.path)
    os.truncate(ledger.path, int(left * size))
    refuses(ledger, r"damaged|no ledger|can't be")


@pytest.mark.parametrize("seed", range(6))
def test_a_file_with_garbage_is_refused_or_not_cheaper(ledger, seed):
    """SQLite has no checksums: what garbage leaves readable must not make budget."""
    for _ in range(30):
        ledger.charge(SMALL)
    spent = ledger.spent
    generator = np.random.default_rng(seed)
    with open(ledger.path, "r+b") as file:
        page = generator.integers(1, os.path.getsize(ledger.path) // 4096)
        file.seek(4096 * int(page))
        file.write(generator.bytes(4096))
    try:
        ledger.charge(SMALL)
    except LedgerError as error:
        found = str(error)
    else:
        found = "damaged" if ledger.spent > spent else "cheaper"
    assert "damaged" in found


@forks
def test_a_full_disk(ledger):
    """A limit on the size of files stands for it."""

    def fill():
        import resource

        limit = os.path.getsize(ledger.path)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        number = 0
        while True:
            ledger.charge(SMALL)
            number += 1

    error = in_fork(fill)
    assert type(error) is LedgerError
    assert "disk is full" in str(error)
    before = len(charges_of(ledger))
    ledger.charge(SMALL)
    assert len(charges_of(ledger)) == before + 1


@pytest.mark.long
@forks
@pytest.mark.parametrize("same", [True, False])
def test_two_processes_that_make_the_file_at_once(tmp_path, same):
    def make(queue, number):
        try:
            ledger = make_ledger(tmp_path, epsilon=1.0 if same else 1.0 + number)
            ledger.charge(SMALL)
            queue.put(None)
        except LedgerError as error:
            queue.put(str(error))

    with processes(4, make) as (started, queue):
        found = [queue.get() for _ in started]
    refused = [error for error in found if error is not None]
    assert len(refused) == (0 if same else 3)
    assert all("was given" in error for error in refused)
    assert len(charges_of(PrivacyLedger(tmp_path / "study.db"))) == 4 - len(refused)


def test_a_budget_that_was_lowered_by_hand_allows_nothing_and_is_shown(ledger):
    ledger.charge(report_of(0.5))
    for epsilon in (0.2, 1e-3, 0.0):
        edit(ledger, f"UPDATE budget SET epsilon = {epsilon}")
        with pytest.raises(BudgetExceededError, match="0 of"):
            ledger.charge(SMALL)
        assert ledger.left == 0.0
        assert "epsilon = 0.5" in str(ledger)
        assert len(charges_of(ledger)) == 2
        assert 0.0 <= charges_of(ledger)[1]["share"] <= 1.0
    edit(ledger, "UPDATE budget SET epsilon = 1.0, delta = 1e-9")
    with pytest.raises(BudgetExceededError):
        ledger.charge(SMALL)
    assert "epsilon" in str(ledger)


def test_a_budget_that_was_changed_by_hand_to_nonsense(ledger):
    edit(ledger, "UPDATE budget SET epsilon = 1e9")
    refuses(ledger, "has a budget that is none")


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM charge",
        "UPDATE charge SET mu = 0.0",
        "UPDATE budget SET epsilon = 'much'",
        "UPDATE budget SET delta = 1.0",
    ],
)
def test_charges_stay_and_budgets_stay_numbers(ledger, statement):
    with pytest.raises(sqlite3.IntegrityError):
        edit(ledger, statement)
    assert len(charges_of(ledger)) == 1


def test_a_path_may_hold_what_means_something_in_addresses(tmp_path):
    ledger = make_ledger(tmp_path, name="a b?mode=ro#c%20.db")
    ledger.charge(SMALL)
    assert os.listdir(tmp_path) == ["a b?mode=ro#c%20.db"]


def test_a_clock_that_goes_back_changes_no_order(ledger, monkeypatch):
    monkeypatch.setattr(_records, "now", lambda: "1999-12-31T23:59:59+00:00")
    ledger._charge(SMALL, estimator="late", parameters={}, seed=None)
    assert [charge["estimator"] for charge in charges_of(ledger)] == ["other", "late"]
    assert "like the last (late)" in str(ledger)


def test_nothing_is_written_when_something_fails_on_the_way(ledger, monkeypatch):
    spent = ledger.spent

    def fail(*arguments):
        _insert(*arguments)
        raise KeyboardInterrupt

    _insert = _store.insert
    with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
        patch.setattr(_store, "insert", fail)
        ledger.charge(SMALL)
    assert ledger.spent == spent
    ledger.charge(SMALL)


def test_the_file_is_whole_after_each_charge_and_survives_a_power_cut(ledger, tmp_path):
    """With nothing left beside it, and each commit synchronised."""
    assert os.listdir(tmp_path) == ["study.db"]
    with _store.transaction(ledger.path, write=True) as file:
        assert file.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        # The folder too, or a journal may come back.
        assert file.execute("PRAGMA synchronous").fetchone() == (3,)


def copied(ledger):
    """Return what a copy of the file alone is, as a ledger."""
    path = f"{ledger.path}.copy"
    shutil.copy(ledger.path, path)
    return PrivacyLedger(path)


def test_a_copy_has_every_charge_also_while_somebody_has_the_file_open(ledger):
    with closing(sqlite3.connect(ledger.path)) as other:
        other.execute("SELECT * FROM charge").fetchall()
        ledger.charge(SMALL)
        assert charges_of(copied(ledger)) == charges_of(ledger)
    assert len(charges_of(ledger)) == 2


def make_old(ledger):
    """Turn the file into what 0.2.0 left."""
    newer = ("stream", "planned_use", "planned", "plan")
    edit(ledger, *(f"DROP TABLE IF EXISTS {table}" for table in newer), "PRAGMA user_version = 1")
    edit(ledger, "PRAGMA journal_mode = WAL")


def mode_of(ledger):
    with closing(sqlite3.connect(ledger.path)) as file:
        return file.execute("PRAGMA journal_mode").fetchone()[0]


def test_a_file_of_an_older_version_is_taken_over_when_it_is_opened(ledger):
    ledger.charge(SMALL)
    before = ledger.to_dict()
    make_old(ledger)
    assert PrivacyLedger(ledger.path).to_dict() == before
    assert mode_of(ledger) == "delete"
    make_old(ledger)
    make_ledger(Path(ledger.path).parent)
    assert mode_of(ledger) == "delete"
    assert ledger.to_dict() == before
    make_old(ledger)
    data = np.eye(60, 3), np.resize([0, 1], 60)
    model = DPSGDClassifier(mechanism="laplace", epsilon=0.01, classes=[0, 1], ledger=ledger)
    for one in (model, copy.deepcopy(model.partial_fit(*data)), model):
        one.partial_fit(*data)
    assert ledger.to_dict()["charges"][:2] == before["charges"]
    assert len(charges_of(ledger)) == 4


def test_a_file_of_0_3_0_is_read_as_it_is_and_taken_over_by_a_charge(ledger):
    ledger.charge(SMALL)
    before = ledger.to_dict()
    newer = ("planned_use", "planned", "plan")
    edit(ledger, *(f"DROP TABLE {table}" for table in newer), "PRAGMA user_version = 2")
    assert PrivacyLedger(ledger.path).to_dict() == before
    assert ledger.planned is None
    os.chmod(ledger.path, 0o400)
    assert str(ledger).startswith("Privacy ledger")
    os.chmod(ledger.path, 0o600)
    ledger.charge(SMALL)
    assert ledger.to_dict()["charges"][:2] == before["charges"]
    planned = PrivacyLedger(ledger.path, dataset="b", epsilon=1.0, delta=1e-5, planned=[SMALL])
    planned.charge(SMALL)
    with pytest.raises(BudgetExceededError):
        planned.charge(SMALL)
    with closing(sqlite3.connect(ledger.path)) as file:
        assert file.execute("PRAGMA user_version").fetchone() == (_store.SCHEMA_VERSION,)


def test_a_charge_waits_for_those_who_have_a_file_with_a_log_open(ledger, monkeypatch):
    make_old(ledger)
    options = {"isolation_level": None, "check_same_thread": False}
    with closing(sqlite3.connect(ledger.path, **options)) as other:
        other.execute("SELECT * FROM charge").fetchall()
        with monkeypatch.context() as patch:
            patch.setattr(_store, "_WAIT_SECONDS", 0.05)
            with pytest.raises(LedgerError, match="locked by another process"):
                ledger.charge(SMALL)
        # Looking disturbs nobody.
        assert "1 charge" in str(ledger)
        leaving = threading.Timer(0.2, other.close)
        leaving.start()
        ledger.charge(SMALL)
        leaving.join()
    assert charges_of(copied(ledger)) == charges_of(ledger)
    assert len(charges_of(ledger)) == 2


def test_a_database_of_something_else_keeps_its_log(tmp_path):
    with closing(sqlite3.connect(tmp_path / "other.db")) as file:
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("CREATE TABLE budget (epsilon)")
    before = (tmp_path / "other.db").read_bytes()
    for budget in ({}, {"epsilon": 1.0, "delta": 1e-5}):
        with pytest.raises(LedgerError, match="something else"):
            PrivacyLedger(tmp_path / "other.db", **budget)
    assert (tmp_path / "other.db").read_bytes() == before
