"""Fits on sparse rows: time against scikit-learn's on the same rows, memory, and what is learned.

Three tables are generated, rows of length 1 as CSR in float64:

* "hospital": codes of diagnoses, wards and drugs, one-hot; the label hangs on a hundred codes.
* "connections": like KDD Cup 1999, 38 numbers in [0, 1] and three words, one-hot; attacks differ in
  some numbers and words.
* "news": bags of words by HashingVectorizer, drawn from two topics that share most words.

All contenders of a table take turns in one process, so that a busy machine slows all of them;
ratios are of medians. Memory is the peak of a fit of one pass, in a process of its own, above the
rows and labels, which are there before, in MB (10^6). Accuracy is on a third of the rows that no
fit saw, and there is that of guessing the larger class.

    python benchmarks/sparse_rows.py
"""

import ctypes
import multiprocessing
import tempfile
import time
import warnings
from pathlib import Path

import _common as bench
import numpy as np
import pandas as pd
from _memory import reset_peak, status
from scipy.sparse import csr_array, hstack
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from skdp.linear_model import (
    DPCDClassifier,
    DPLogisticRegression,
    DPSCDClassifier,
    DPSGDClassifier,
)

ALPHA, DELTA = 1e-5, 1e-6
MB = 1e6


def _codes(rng, n_rows, sizes, tilt, label):
    """Return one-hot columns of words of so many kinds, some of them likelier for a label."""
    parts = []
    for size in sizes:
        popularity = -1.2 * np.log1p(np.arange(size))
        moved = popularity + tilt * rng.standard_normal(size) * (rng.random(size) < 0.1)
        kinds = np.empty(n_rows, dtype=np.int32)
        for value, logits in ((0, popularity), (1, moved)):
            odds = np.exp(logits - logits.max())
            found = label == value
            kinds[found] = rng.choice(size, found.sum(), p=odds / odds.sum())
        parts.append(csr_array((np.ones(n_rows), kinds, np.arange(n_rows + 1)), (n_rows, size)))
    return hstack(parts, format="csr")


def hospital(n_rows, rng):
    """Rows of 38 codes out of 2,500 columns: 1.5 % of the places."""
    label = (rng.random(n_rows) < 0.3).astype(int)
    return _codes(rng, n_rows, [66] * 30 + [65] * 8, 1.0, label), label


def connections(n_rows, rng):
    """Rows of 38 numbers, most of them 0, and three words out of 84."""
    label = (rng.random(n_rows) < 0.2).astype(int)
    present = rng.random((n_rows, 38)) < np.where(label, 0.35, 0.25)[:, np.newaxis]
    numbers = csr_array(rng.random((n_rows, 38)) * present)
    words = _codes(rng, n_rows, [3, 70, 11], 2.0, label)
    return hstack([numbers, words], format="csr"), label


def news(n_rows, rng):
    """Texts of 150 words out of 30,000, of which a tenth is likelier in one of two topics."""
    label = rng.integers(0, 2, n_rows)
    popularity = -np.log(10.0 + np.arange(30_000))
    tilt = rng.standard_normal(popularity.size) * (rng.random(popularity.size) < 0.1)
    words = np.array([f"w{i}" for i in range(popularity.size)])
    texts = []
    topics = [np.exp(popularity + sign * tilt) for sign in (-1.0, 1.0)]
    topics = [odds / odds.sum() for odds in topics]
    for topic in label:
        texts.append(" ".join(words[rng.choice(words.size, 150, p=topics[topic])]))
    return csr_array(HashingVectorizer(n_features=2**16).transform(texts)), label


TABLES = {"hospital": (hospital, 100_000), "connections": (connections, 100_000)}
TABLES["news"] = (news, 11_000)


def make(name, n_rows):
    """Return rows of length 1, and labels."""
    X, y = TABLES[name][0](n_rows, np.random.default_rng(0))
    return csr_array(normalize(X)), y


def contenders(epsilon, n_rows, n_columns):
    """Return unfitted classifiers by name."""
    private = {"epsilon": epsilon, "delta": DELTA, "classes": [0, 1], "random_state": 0}
    found = {
        "LogisticRegression": LogisticRegression(C=1.0 / (n_rows * ALPHA)),
        "DPSGDClassifier": DPSGDClassifier(alpha=ALPHA, **private),
        "DPSCDClassifier": DPSCDClassifier(alpha=ALPHA, **private),
        "DPLogisticRegression": DPLogisticRegression(alpha=ALPHA, **private),
    }
    # Each of its steps reads all predictions, as columns are centred, unless there is no intercept.
    if n_rows * n_columns <= 10**8:
        found["DPCDClassifier"] = DPCDClassifier(alpha=ALPHA, **private)
    if n_columns <= 10**4:
        plain = DPCDClassifier(alpha=ALPHA, fit_intercept=False, **private)
        found["DPCDClassifier(fit_intercept=False)"] = plain
    return found


def seconds_of(model, X, y):
    """Return the seconds of a fit."""
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def _peak(file, contender, epsilon, answer):
    # Rows that are drawn here would leave free memory behind, which fits could use unseen.
    parts = np.load(file)
    X, y = csr_array((parts["data"], parts["indices"], parts["indptr"]), parts["shape"]), parts["y"]
    model = contenders(epsilon, *X.shape)[contender]
    # Memory doesn't depend on the number of passes.
    model.set_params(max_iter=1)
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        # What is imported and compiled at the first fit isn't the rows', and glibc is to give back
        # what the first fit left free.
        model.fit(X, y)
        ctypes.CDLL(None).malloc_trim(0)
        reset_peak()
        (before,) = status("VmRSS")
        model.fit(X, y)
    answer.put(status("VmHWM")[0] - before)


def peak_bytes(*arguments):
    """Return the peak of a fit's memory in a new process, above what was there before."""
    context = multiprocessing.get_context("spawn")
    answer = context.Queue()
    child = context.Process(target=_peak, args=(*arguments, answer))
    child.start()
    found = answer.get()
    child.join()
    return found


def peaks(name, n_rows, epsilon):
    """Return the rows of the table of memory."""
    X, y = make(name, n_rows)
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "rows.npz")
        np.savez(file, y=y, **parts)
        for contender in contenders(epsilon, *X.shape):
            yield {
                "table": name,
                "model": contender,
                "csr_mb": (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / MB,
                "dense_mb": 8e-6 * n_rows * X.shape[1],
                "peak_mb": peak_bytes(file, contender, epsilon) / MB,
            }


def race(name, n_rows, epsilon, repeats):
    """Return the rows of a table."""
    X, y = make(name, n_rows)
    held_out = np.arange(n_rows) % 3 == 0
    running = contenders(epsilon, *X.shape)
    seconds = {contender: [] for contender in running}
    with threadpool_limits(1):
        for _ in range(repeats):
            for contender, model in running.items():
                seconds[contender].append(seconds_of(model, X, y))
    slowest = float(np.median(seconds["LogisticRegression"]))
    guess = max(y[held_out].mean(), 1.0 - y[held_out].mean())
    for contender, model in running.items():
        fitted = model.fit(X[~held_out], y[~held_out])
        median = float(np.median(seconds[contender]))
        yield {
            "table": name,
            "rows": n_rows,
            "columns": X.shape[1],
            "entries": X.nnz / (n_rows * X.shape[1]),
            "epsilon": epsilon,
            "model": contender,
            "seconds": median,
            "over_sklearn": median / slowest,
            "accuracy": fitted.score(X[held_out], y[held_out]),
            "guess": guess,
        }


def main(arguments=None):
    """Race on each table, measure memory, and write the results."""
    named = {"tables": list(TABLES), "parts": ["race", "memory"], "epsilon": 1.0, "repeats": 3}
    options = bench.read_options(__file__, __doc__, arguments, **named, rows=0)
    raced, needed = [], []
    for name in options.tables:
        rows = options.rows or TABLES[name][1]
        if "race" in options.parts:
            raced += race(name, rows, options.epsilon, options.repeats)
        if "memory" in options.parts:
            needed += peaks(name, rows, options.epsilon)
    digits = {"entries": 4, "seconds": 3, "over_sklearn": 2, "accuracy": 3, "guess": 3}
    if raced:
        bench.write_table(pd.DataFrame(raced).round(digits), "sparse.csv", options, bench.GENERATED)
    if needed:
        table = pd.DataFrame(needed).round(0)
        bench.write_table(table, "sparse_memory.csv", options, bench.GENERATED)


if __name__ == "__main__":
    bench.run_script(__file__)
