"""Reports of made-up fits, and code that runs in a process of its own."""

import contextlib
import multiprocessing
import os

import pytest

from skdp.accountant import GaussianEvent, PrivacyReport, calibrate
from skdp.ledger import PrivacyLedger

NIGHTLY = os.environ.get("SKDP_NIGHTLY") == "1"


def forks(test):
    """Mark a test that makes processes by fork, which do nothing that a thread may have locked."""
    quiet = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
    return pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")(quiet(test))


def report_of(epsilon=0.5, *, delta=1e-5, adjacency="zero_out", events=None, **fields):
    """A report of one full-batch Gaussian, unless there are events."""
    if events is None:
        pairwise = adjacency == "replace_label"
        noise = calibrate(epsilon, delta, adjacency=adjacency)
        events = (GaussianEvent(noise, pairwise=pairwise),)
    fields = {"clipping": 1.0, "accountant": "pld", **fields}
    return PrivacyReport(epsilon=epsilon, delta=delta, adjacency=adjacency, events=events, **fields)


def make_ledger(folder, *, epsilon=1.0, delta=1e-5, name="study.db", **options):
    return PrivacyLedger(folder / name, epsilon=epsilon, delta=delta, **options)


def charges_of(ledger):
    return ledger.to_dict()["charges"]


@contextlib.contextmanager
def processes(number, work, *arguments):
    """Start so many forks that run `work(queue, number, *arguments)`; give them and the queue."""
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    started = [context.Process(target=work, args=(queue, one, *arguments)) for one in range(number)]
    for process in started:
        process.start()
    try:
        yield started, queue
    finally:
        for process in started:
            process.kill()
            process.join()


def in_fork(work):
    """Run a function in a fork and return what it returned, or the error that it raised."""

    def run(queue, _):
        try:
            queue.put(work())
        except Exception as error:
            queue.put(error)

    with processes(1, run) as ((process,), queue):
        found = queue.get()
        process.join()
    return found
