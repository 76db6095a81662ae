"""Tens of thousands of columns: greedy DP-CD beside what else there is.

Each seed draws a table, and half as many rows again that no fit sees:

* "text": which words out of 10,000 are in a document of about 100, by Zipf's law. The label hangs
  on twenty of them, of which a document holds between two in three and one in a hundred.
* "text, 50,000": the same of so many words.
* "text, many words": the label hangs a little on each of 2,000 words.
* "one-hot": 40 columns of 250 words each, of which some are far more frequent; the label hangs on
  twenty words.
* "adult, pairs": columns of Adult as words, numbers by tenths, and all pairs of them: 10,000
  columns, of which many tell the same. Its results have a file of their own.

Values are 0 and 1. Greedy and cyclic DP-CD know that; the others know the length of a typical row.
"No pairs" is DPLogisticRegression with its defaults on the columns of Adult without pairs.
None is tuned. Log loss and area under the curve (AUC) are means over seeds, with standard errors.

    python benchmarks/wide.py --tables text "text, 50,000" "text, many words" one-hot
    python benchmarks/wide.py --tables "adult, pairs" --data FOLDER
"""

import itertools
import warnings
from functools import cache

import _common as bench
import numpy as np
import pandas as pd
from _data import load_frame
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skdp.linear_model import DPCDClassifier, DPLogisticRegression, DPSGDClassifier

ROWS, DELTA = 20_000, 1e-6
ADULT = "adult, pairs"
NOTE = "Codes follow from all rows, and aren't private."
# Both are the best of some for the first table at this size.
PENALTIES = {"no privacy, l1": {"penalty": "l1", "C": 0.1}, "no privacy, l2": {"C": 0.01}}


def _zipf(rng, n_words, offset, size):
    odds = 1.0 / (np.arange(n_words) + offset)
    return rng.choice(n_words, size=size, p=odds / odds.sum())


def _present(n_rows, n_columns, row, column):
    """Return rows of 0 and 1."""
    places = row.astype(np.int32), column.astype(np.int32)
    X = csr_array((np.ones(row.size), places), (n_rows, n_columns))
    X.sum_duplicates()
    X.data[:] = 1.0
    return X


def _texts(rng, n_rows, n_words):
    lengths = rng.poisson(100, n_rows)
    words = _zipf(rng, n_words, 2.7, lengths.sum())
    return _present(n_rows, n_words, np.repeat(np.arange(n_rows), lengths), words)


def _signed(rng, size):
    return rng.choice([-1.0, 1.0], size) * rng.uniform(0.75, 1.5, size)


def text(rng, n_rows, n_words=10_000):
    """Return documents, and weights of twenty words."""
    X, w = _texts(rng, n_rows, n_words), np.zeros(n_words)
    places = np.unique(np.geomspace(10, 1000, 20).round().astype(int))
    w[places] = _signed(rng, places.size)
    return X, w


def text_of_50_000(rng, n_rows):
    """Return documents of more words."""
    return text(rng, n_rows, 50_000)


def many_words(rng, n_rows):
    """Return documents, and small weights of many words."""
    X, w = _texts(rng, n_rows, 10_000), np.zeros(10_000)
    places = rng.choice(4000, 2000, replace=False)
    w[places] = 0.4 * _signed(rng, places.size)
    return X, w


def one_hot(rng, n_rows):
    """Return rows with a word in each of 40 groups of columns, and weights of twenty words."""
    words = _zipf(rng, 250, 2.0, (n_rows, 40))
    columns = words + 250 * np.arange(40)
    w = np.zeros(10_000)
    for group in rng.choice(40, 10, replace=False):
        w[250 * group + rng.choice(10, 2, replace=False)] = 2.0 * _signed(rng, 2)
    return _present(n_rows, w.size, np.repeat(np.arange(n_rows), 40), columns.ravel()), w


def _codes(column):
    if pd.api.types.is_numeric_dtype(column) and column.nunique() > 20:
        column = np.digitize(column, np.unique(np.quantile(column, np.linspace(0.0, 1.0, 11))))
    return pd.factorize(column)[0]


@cache
def _adult():
    """Return one-hot rows, labels, and the number of columns that aren't pairs, the first ones."""
    table = load_frame("adult").drop(columns="split")
    y = table.pop("income").str.contains(">").astype(int).to_numpy()
    single = [_codes(table[name]) for name in table]
    pairs = [one * (two.max() + 1) + two for one, two in itertools.combinations(single, 2)]
    codes = [pd.factorize(column)[0] for column in single + pairs]
    starts = np.cumsum([0, *(column.max() + 1 for column in codes)])
    columns = np.column_stack(codes) + starts[:-1]
    row = np.repeat(np.arange(len(y)), len(codes))
    X = _present(len(y), starts[-1], row, columns.ravel())
    return X, y, starts[len(single)]


def _without_pairs(X):
    return X[:, : _adult()[2]]


# With the length of a typical row.
TABLES = {
    "text": (text, 9.0),
    "text, 50,000": (text_of_50_000, 9.0),
    "text, many words": (many_words, 9.0),
    "one-hot": (one_hot, 40.0**0.5),
    ADULT: (None, 105.0**0.5),
}


def make(name, n_rows, seed):
    """Return rows and labels."""
    rng = np.random.default_rng(seed)
    if name == ADULT:
        X, y, _ = _adult()
        rows = rng.permutation(len(y))[:n_rows]
        return X[rows], y[rows]
    X, w = TABLES[name][0](rng, n_rows)
    scores = X @ w
    scores -= np.median(scores)
    return X, (rng.random(n_rows) < 1.0 / (1.0 + np.exp(-scores))).astype(int)


def contenders(name, epsilon, seed):
    """Return unfitted classifiers by name."""
    if np.isinf(epsilon):
        how = {"solver": "liblinear"}
        return {key: LogisticRegression(**how, **kind) for key, kind in PENALTIES.items()}
    private = {"epsilon": epsilon, "delta": DELTA, "classes": [0, 1], "random_state": seed}
    in_range, of_length = {"feature_bounds": (0, 1)}, {"data_norm": TABLES[name][1]}
    found = {
        "greedy": DPCDClassifier(selection="greedy", **in_range, **private),
        "cyclic": DPCDClassifier(**in_range, **private),
        "DP-SGD": DPSGDClassifier(loss="log_loss", **of_length, **private),
        "not whitened": DPLogisticRegression(
            moment_budget=0, ball_budget=0, **of_length, **private
        ),
        "not whitened, by a ball": DPLogisticRegression(moment_budget=0, **private),
    }
    if name == "text, 50,000":
        # It reads all rows for each column and pass.
        del found["cyclic"]
    if name == ADULT:
        chosen = FunctionTransformer(_without_pairs, accept_sparse=True)
        found["no pairs"] = make_pipeline(chosen, DPLogisticRegression(**private))
    return found


def told(name, epsilon, n_rows, seed):
    """Return log loss and AUC of each contender on rows that no fit saw."""
    X, y = make(name, n_rows + n_rows // 2, seed)
    train, test = slice(0, n_rows), slice(n_rows, None)
    found = []
    with warnings.catch_warnings(action="ignore"):
        for model in contenders(name, epsilon, seed).values():
            p = model.fit(X[train], y[train]).predict_proba(X[test])[:, 1]
            found.append((log_loss(y[test], p), roc_auc_score(y[test], p)))
    if np.isinf(epsilon):
        p = np.full(y[test].size, y[train].mean())
        found.append((log_loss(y[test], p), 0.5))
    return found


def main(arguments=None):
    """Measure and write the tables."""
    options = bench.read_options(
        __file__,
        __doc__,
        arguments,
        tables=list(TABLES),
        epsilons=[0.5, 1.0, 4.0, float("inf")],
        seeds=list(range(5)),
        rows=ROWS,
    )
    for file, is_real in (("wide.csv", False), ("wide_adult.csv", True)):
        chosen = [name for name in options.tables if (name == ADULT) == is_real]
        if chosen:
            note = NOTE if is_real else bench.GENERATED
            bench.write_table(_measure(chosen, options), file, options, note)


def _measure(tables, options):
    cells = [(name, epsilon, options.rows) for name in tables for epsilon in options.epsilons]
    rows = []
    tasks = [(*cell, seed) for cell in cells for seed in options.seeds]
    measured = iter(bench.run_jobs(told, tasks, options))
    for name, epsilon, n_rows in cells:
        found = np.array([next(measured) for _ in options.seeds])
        names = [*contenders(name, epsilon, 0), *(["constant"] if np.isinf(epsilon) else [])]
        for place, model in enumerate(names):
            row = {"table": name, "rows": n_rows, "epsilon": epsilon, "model": model}
            for score, kind in enumerate(("log_loss", "auc")):
                stats = bench.summarize(found[:, place, score], "mean", "se")
                row |= {kind: stats["mean"], f"{kind}_se": stats["se"]}
            rows.append(row)
    return pd.DataFrame(rows).round(4)


if __name__ == "__main__":
    bench.run_script(__file__)
