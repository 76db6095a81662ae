"""Many processes, and processes that are killed. SKDP_NIGHTLY=1 takes longer forms."""

import math
import os
import signal
import sqlite3
import threading
import time
from contextlib import closing
from multiprocessing import get_context

import numpy as np
import pytest

from skdp.exceptions import BudgetExceededError, LedgerError
from skdp.ledger import PrivacyLedger
from tests.ledger._fits import NIGHTLY, charges_of, forks, make_ledger, processes, report_of

FITS, PROCESSES, ATTEMPTS = 20, 8, 25
N_RACES, N_KILLS = (50, 300) if NIGHTLY else (2, 12)
RACING = report_of(0.2)
# The last of so many fits leaves nothing.
THE_LAST = pytest.mark.filterwarnings("ignore:this fit takes all")
SMALL = report_of(0.001)


def ledger_for(folder, report, number):
    """A ledger whose budget is that of so many fits, and not of one more."""
    from tests.door import GaussianCost, gaussian_budget

    low, high = 1e-3, 50.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        enough = GaussianCost(math.sqrt(number) * report.mu).is_within(
            gaussian_budget(middle, 1e-5)
        )
        low, high = (low, middle) if enough else (middle, high)
    return make_ledger(folder, epsilon=high * (1 + 1e-6))


@pytest.mark.long
@THE_LAST
@forks
@pytest.mark.parametrize("race", range(N_RACES))
def test_as_many_fits_are_made_as_the_budget_pays_for_whoever_asks(tmp_path, race):
    ledger = ledger_for(tmp_path, RACING, FITS)
    start = get_context("fork").Barrier(PROCESSES)

    def ask(queue, _):
        taken, refused, other = 0, 0, []
        start.wait()
        for _ in range(ATTEMPTS):
            try:
                ledger.charge(RACING)
                taken += 1
            except BudgetExceededError:
                refused += 1
            except Exception as error:
                other.append(repr(error))
        queue.put((taken, refused, other))

    with processes(PROCESSES, ask) as (started, queue):
        found = [queue.get() for _ in started]
    assert [error for *_, errors in found for error in errors] == []
    assert sum(taken for taken, *_ in found) == FITS
    assert sum(refused for _, refused, _ in found) == PROCESSES * ATTEMPTS - FITS
    assert len(charges_of(ledger)) == FITS
    assert not ledger.can_afford(RACING)


@pytest.mark.long
@THE_LAST
def test_threads_share_a_ledger(tmp_path):
    ledger = ledger_for(tmp_path, RACING, FITS)
    taken = []

    def ask():
        for _ in range(6):
            try:
                ledger.charge(RACING)
                taken.append(None)
            except BudgetExceededError:
                pass

    threads = [threading.Thread(target=ask) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len(charges_of(ledger)) == FITS


@pytest.mark.long
@forks
@pytest.mark.parametrize("race", range(N_RACES))
def test_a_planned_charge_is_made_once_whoever_asks(tmp_path, race):
    planned = [(RACING, FITS), (SMALL, FITS, "north")]
    ledger = make_ledger(tmp_path, epsilon=5.0, planned=planned)
    start = get_context("fork").Barrier(PROCESSES)

    def ask(queue, _):
        taken, other = 0, []
        start.wait()
        for number in range(2 * ATTEMPTS):
            place, report = (ledger.part("north"), SMALL) if number % 2 else (ledger, RACING)
            try:
                place.charge(report)
                taken += 1
            except BudgetExceededError:
                pass
            except Exception as error:
                other.append(repr(error))
        queue.put((taken, other))

    with processes(PROCESSES, ask) as (started, queue):
        found = [queue.get() for _ in started]
    assert [error for _, errors in found for error in errors] == []
    assert sum(taken for taken, _ in found) == 2 * FITS == len(charges_of(ledger))
    assert [item["used"] for item in ledger.planned] == [FITS, FITS]
    with closing(sqlite3.connect(ledger.path)) as file:
        assert file.execute("SELECT count(*) FROM planned_use").fetchone() == (2 * FITS,)


@pytest.mark.long
@forks
def test_two_processes_that_plan_at_once(tmp_path):
    def make(queue, number):
        try:
            ledger = make_ledger(tmp_path, planned=[(SMALL, 1 + number % 2)])
            queue.put(ledger.planned[0]["count"])
        except LedgerError as error:
            queue.put(str(error))

    with processes(4, make) as (started, queue):
        found = [queue.get() for _ in started]
    kept = PrivacyLedger(tmp_path / "study.db").planned[0]["count"]
    assert sorted(map(str, found))[:2] == [str(kept)] * 2
    assert sum("other planned charges" in str(one) for one in found) == 2


@forks
@pytest.mark.parametrize("kill", range(N_KILLS))
def test_no_charge_is_missing_whose_fit_went_on_before_a_kill(tmp_path, kill):
    """The "noise" is a byte in a pipe, written when a charge returned."""
    path = tmp_path / "study.db"
    if kill % 3:
        make_ledger(tmp_path, epsilon=5.0)
    reading, writing = os.pipe()

    def fit(queue, _):
        ledger = PrivacyLedger(path, epsilon=5.0, delta=1e-5)
        queue.put(None)
        while True:
            ledger.charge(SMALL)
            os.write(writing, b"n")

    with processes(1, fit) as ((process,), queue):
        if kill % 3 == 2:
            queue.get()
        # From the first instructions to some tens of charges.
        time.sleep(float(np.random.default_rng(kill).uniform(0.0, 0.15)))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        n_drawn = len(pipe.read())
    ledger = PrivacyLedger(path, epsilon=5.0, delta=1e-5)
    assert n_drawn <= len(charges_of(ledger)) <= n_drawn + 1
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    ledger.charge(SMALL)
