"""Seconds that calibrating the noise takes, alone and within a grid search.

Every calibration is cold: nothing is cached, but dp-accounting is imported. "first" is the one
that is the first of a process, and imports it.

- "design": designs that are common or hard, the median and the smallest of 3 runs.
- "sample": designs drawn at random from the supported range, the same at every run of the script.
  The 10 slowest are run 3 times more, since the machine may have been doing something else.
- The second table: cross-validated grid searches of 20 settings in 5 folds on Adult, with and
  without processes. The rows of the folds' training parts differ by one. With "same designs" the
  settings share sampling rate and steps; with "different designs" each has its own. Seconds are
  summed over fits, and fitting is what is left of fit without calibrating.

    python benchmarks/calibration.py --data FOLDER

``--sampled`` is the number of random designs, ``--jobs`` the processes of grid searches and
``--repeats`` how often each is run.
"""

import math
import subprocess
import sys
import time
from typing import NamedTuple
from unittest import mock

import _common as bench
import numpy as np
import pandas as pd
from _data import load_prepared
from joblib.externals.loky import get_reusable_executor
from sklearn.model_selection import GridSearchCV

from skdp._release import plan as _base
from skdp.accountant import _calibration, _divergences, _profile, calibrate
from skdp.linear_model import DPSCDClassifier

NOTE = "Seconds are the machine's. Scaling is not private, noise doesn't depend on it."
REPEATS = 3
N_SLOWEST = 10


class Design(NamedTuple):
    """Arguments of `calibrate`."""

    epsilon: float
    delta: float
    sampling_rate: float
    n_steps: int
    adjacency: str = "zero_out"
    accountant: str = "pld"


DESIGNS = (
    Design(1.0, 1e-5, 0.01, 1000),
    Design(1.0, 1e-5, 0.01, 1000, adjacency="replace_one"),
    Design(1.0, 1e-5, 0.01, 1000, accountant="rdp"),
    Design(1.0, 1e-5, 0.0012, 8141),
    Design(0.1, 1e-6, 0.003, 3256),
    Design(8.0, 1e-5, 0.1, 100),
    Design(1.0, 1e-5, 0.001, 10**4),
    Design(1.0, 1e-5, 0.001, 10**6),
    Design(1.0, 1e-5, 0.5, 10**6),
    Design(1e3, 1e-2, 0.9, 10**6),
    Design(1e3, 1e-2, 0.9, 10**6, adjacency="replace_one"),
    Design(1e-3, 1e-12, 0.5, 250),
    Design(30.0, 1e-5, 1e-5, 1),
    Design(2.36, 0.286, 2.54e-5, 10**6),
    Design(1e3, 1e-9, 1e-5, 10**6),
    Design(1.0, 0.995, 0.5, 1000, accountant="rdp"),
    Design(1.0, 1e-5, 0.01, 10**9),
)
# Adult, by 5 folds, has about 26,000 training rows.
GRIDS = {
    "same designs": {
        "alpha": [1e-6, 1e-5, 1e-4, 1e-3, 1e-2],
        "clipping_norm": [0.002, 0.006, 0.02, 0.06],
    },
    "different designs": {"max_iter": [2, 4, 6, 8, 10], "batch_size": [50, 100, 200, 400]},
}


def draw_designs(n_designs, seed=0):
    """Return designs from all of the supported range, uniform in the logarithms for the most part.

    Where the accountant has no answer, as for a tiny delta and replace_one, there is no design.
    """
    rng = np.random.default_rng(seed)
    designs = []
    while len(designs) < n_designs:
        adjacency = "zero_out" if rng.random() < 0.6 else "replace_one"
        large_delta, large_rate, many_steps, renyi = rng.random(4) < (0.2, 0.25, 0.15, 0.3)
        design = Design(
            epsilon=10 ** rng.uniform(-3, 3),
            delta=rng.uniform(0.01, 0.999) if large_delta else 10 ** rng.uniform(-12, -2),
            sampling_rate=rng.uniform(0.1, 0.9) if large_rate else 10 ** rng.uniform(-5, -0.05),
            n_steps=10**6 if many_steps else int(10 ** rng.uniform(0, 6)),
            adjacency=adjacency,
            accountant="rdp" if renyi and adjacency == "zero_out" else "pld",
        )
        try:
            _calibration.resolve_accountant("pld", *design[1:5])
        except ValueError:
            continue
        designs.append(design)
    return designs


def forget():
    """Empty all caches of the accountant."""
    for module in (_calibration, _divergences, _profile, _calibration):
        for found in vars(module).values():
            if hasattr(found, "cache_clear"):
                found.cache_clear()


def run_cold(design, n_repeats):
    """Return the noise multiplier and the seconds of each run."""
    seconds = []
    for _ in range(n_repeats):
        forget()
        start = time.perf_counter()
        noise = calibrate(**design._asdict())
        seconds.append(time.perf_counter() - start)
    return noise, seconds


def row_of(kind, design, noise, seconds):
    found = {"seconds_median": np.median(seconds), "seconds_min": min(seconds)}
    return {"kind": kind, **design._asdict(), **found, "noise_multiplier": noise}


def run_first():
    """Return the row of the first design, in a process of its own."""
    code = (
        "import sys, time; from skdp.accountant import calibrate; start = time.perf_counter(); "
        "noise = calibrate(1.0, 1e-5, sampling_rate=0.01, n_steps=1000); "
        "print(noise, time.perf_counter() - start)"
    )
    seconds = []
    for _ in range(REPEATS):
        output = subprocess.check_output([sys.executable, "-c", code], text=True)
        noise, taken = map(float, output.split())
        seconds.append(taken)
    return row_of("first", DESIGNS[0], noise, seconds)


def measure_designs(n_sampled):
    """Return one row of results for each design."""
    rows = [run_first()]
    rows += [row_of("design", design, *run_cold(design, REPEATS)) for design in DESIGNS]
    sampled = [(design, *run_cold(design, 1)) for design in draw_designs(n_sampled)]
    sampled.sort(key=lambda run: -run[2][0])
    for design, noise, seconds in sampled[:N_SLOWEST]:
        seconds += run_cold(design, REPEATS)[1]
        rows.append(row_of("sample", design, noise, seconds))
    rows += [row_of("sample", *run) for run in sampled[N_SLOWEST:]]
    return pd.DataFrame(rows)


class TimedClassifier(DPSCDClassifier):
    """The estimator, which notes how long it took."""

    def fit(self, X, y):
        calibrating = []

        def timed(*args, **kwargs):
            start = time.perf_counter()
            try:
                return calibrate(*args, **kwargs)
            finally:
                calibrating.append(time.perf_counter() - start)

        start = time.perf_counter()
        with mock.patch.object(_base, "calibrate", timed):
            super().fit(X, y)
        seconds, of_noise = time.perf_counter() - start, math.fsum(calibrating)
        self.seconds_ = {"calibrating": of_noise, "fitting": seconds - of_noise}
        return self


def seconds_of(model, X, y):
    """Score of the grid search: what the fit has noted."""
    return model.seconds_


def search(X, y, grid, n_jobs):
    """Return the seconds of a grid search, with cold caches in every process."""
    get_reusable_executor().shutdown(wait=True)
    forget()
    model = TimedClassifier(delta=1e-5, classes=np.unique(y).tolist(), random_state=0)
    found = GridSearchCV(model, grid, scoring=seconds_of, refit=False, cv=5, n_jobs=n_jobs)
    start = time.perf_counter()
    results = found.fit(X, y).cv_results_
    total = time.perf_counter() - start
    parts = {
        f"seconds_{part}": sum(results[f"split{fold}_test_{part}"].sum() for fold in range(5))
        for part in ("calibrating", "fitting")
    }
    return {"settings": len(results["params"]), "seconds_of_search": total, **parts}


def measure_searches(X, y, jobs, n_repeats):
    """Return one row for each grid and number of processes: the median run by its total."""
    rows = []
    for name, grid in GRIDS.items():
        for n_jobs in jobs:
            runs = [search(X, y, grid, n_jobs) for _ in range(n_repeats)]
            runs.sort(key=lambda run: run["seconds_of_search"])
            rows.append({"grid": name, "n_jobs": n_jobs, **runs[(n_repeats - 1) // 2]})
    table = pd.DataFrame(rows)
    return table.assign(ratio=table["seconds_calibrating"] / table["seconds_fitting"])


def main(arguments=None):
    named = {"sampled": 400, "jobs": (1, 2), "repeats": REPEATS}
    options = bench.read_options(__file__, __doc__, arguments, **named)
    # It is imported before the clock starts; the row "first" has its import.
    run_cold(DESIGNS[2], 1)
    table = measure_designs(options.sampled).round({"seconds_median": 4, "seconds_min": 4})
    bench.write_table(table, "calibration.csv", options, NOTE, show=False)
    sampled = table[table["kind"] == "sample"]
    print(table[table["kind"] != "sample"].to_string(index=False))
    print(f"\nSlowest of {len(sampled)} designs:")
    print(sampled.head(N_SLOWEST).to_string(index=False), flush=True)

    X, y, _, _ = load_prepared("adult")
    table = measure_searches(X, y, options.jobs, options.repeats).round(3)
    print(f"\nGrid searches on {X.shape[0]} x {X.shape[1]}:")
    bench.write_table(table, "calibration_grid_search.csv", options, NOTE)


if __name__ == "__main__":
    bench.run_script(__file__)
