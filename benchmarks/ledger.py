"""Milliseconds that a ledger costs a fit.

A charge is one transaction on disk, so that it is the disk's and the machine's more than ours. The
file is in a temporary folder, or in ``--scratch``.

- "charge": `PrivacyLedger.charge` of a full-batch report, with the number of charges in the file
  before. "sampled" is of a report of 1000 Poisson steps, whose cost is cached with the first.
- "fit": `DPLogisticRegression` on generated rows without a ledger and with one, in turns.
- "sync": a page that is written to a file and synchronised, for comparison.

    python benchmarks/ledger.py

``--repeats`` is how often each is timed.
"""

import os
import tempfile
import time
from pathlib import Path

import _common as bench
import numpy as np
import pandas as pd

from skdp.accountant import GaussianEvent, PrivacyReport, calibrate
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression

TARGET = 3.0
NOTE = f"Milliseconds are the machine's and its disk's. A charge is to take at most {TARGET:g}."
DELTA = 1e-9
# A budget pays for no more of these.
MOST_SAMPLED = 200
N_ROWS, N_FEATURES = 20_000, 20


def report_of(epsilon, **design):
    """Return the report of a release that costs epsilon."""
    events = [GaussianEvent(calibrate(epsilon, DELTA, **design), **design)]
    told = {"adjacency": "zero_out", "clipping": 1.0, "accountant": "pld"}
    return PrivacyReport(epsilon=epsilon, delta=DELTA, events=events, **told)


def milliseconds(calls, repeats):
    """Return the times of several functions, called in turns, of shape (repeats, n_calls)."""
    times = np.empty((repeats, len(calls)))
    for row in times:
        for column, call in enumerate(calls):
            start = time.perf_counter()
            call()
            row[column] = 1e3 * (time.perf_counter() - start)
    return times


def write_page(path):
    """Write a page and wait until the disk has it."""
    with open(path, "wb") as file:
        file.write(bytes(4096))
        file.flush()
        os.fsync(file.fileno())


def time_all(folder, repeats):
    """Give names and their times."""
    ledger, first, other = (
        PrivacyLedger(folder / f"{name}.db", epsilon=50.0, delta=1e-4)
        for name in ("study", "first", "sampled")
    )
    small, sampled = report_of(1e-3), report_of(1e-2, sampling_rate=0.01, n_steps=1000)
    yield "sync", milliseconds([lambda: write_page(folder / "page")], repeats)[:, 0]
    yield "charge, empty file", milliseconds([lambda: ledger.charge(small)], repeats)[:, 0]
    yield "charge, sampled, first", milliseconds([lambda: first.charge(sampled)], 1)[:, 0]
    yield (
        "charge, sampled",
        milliseconds([lambda: other.charge(sampled)], min(repeats, MOST_SAMPLED))[:, 0],
    )
    n_before = len(ledger.to_dict()["charges"])
    while n_before < 1000:
        ledger.charge(small)
        n_before += 1
    yield "charge, 1000 before", milliseconds([lambda: ledger.charge(small)], repeats)[:, 0]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, N_FEATURES)) / 5.0
    y = X[:, 0] > 0.0
    model = DPLogisticRegression(epsilon=1e-3, delta=DELTA, classes=[False, True])
    fits = [lambda: model.set_params(ledger=None).fit(X, y)]
    fits.append(lambda: model.set_params(ledger=ledger).fit(X, y))
    without, with_ledger = milliseconds(fits, repeats).T
    yield f"fit, {N_ROWS:,} x {N_FEATURES}", without
    yield "the same with a ledger", with_ledger


def main(arguments=None):
    options = bench.read_options(
        __file__, __doc__, arguments, repeats=200, unnamed={"scratch": str}
    )
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        found = [
            (name, len(times), *np.quantile(times, (0.1, 0.5, 0.9)).round(3))
            for name, times in bench.progress(time_all(Path(folder), options.repeats), 7)
        ]
    columns = ["what", "repeats", "tenth_ms", "median_ms", "nine_tenths_ms"]
    bench.write_table(pd.DataFrame(found, columns=columns), "ledger.csv", options, NOTE)


if __name__ == "__main__":
    bench.run_script(__file__)
