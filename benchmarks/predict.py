"""Seconds of predictions of an additive model of a raw table, beside boosted trees.

Both models are fitted to ``--fit-rows`` rows by default, and predict for tables of ``--rows`` rows.
They take turns, so that a busy machine slows both; seconds are medians of ``--repeats`` turns,
after one that doesn't count, and ratios are of these. "explain" is of contributions of all terms,
"reading" the part of a prediction that takes the table in, and "transform" that of a vectorizer,
which makes the columns of all terms. Memory is the peak of what a call allocates, above what it
returns, in a call that isn't timed. Trees use all cores unless OMP_NUM_THREADS=1.

Rows are generated: 18 columns of numbers, some with gaps or many zeros, and 5 of words. With
``--table FILE`` they are those of a CSV file, repeated, whose last column, or the one that
``--target`` names, holds two classes.

    python benchmarks/predict.py --rows 200000 1000000
"""

import tracemalloc

import _common as bench
import numpy as np
import pandas as pd
from _race import timed
from sklearn.ensemble import HistGradientBoostingClassifier

from skdp._rows.frames import read_frame
from skdp.additive import DPAdditiveClassifier
from skdp.preprocessing import DPTableVectorizer

N_NUMBERS, N_WORDS = 18, 5
DELTA = 1e-6


def generate(n_rows, seed):
    """Return a table of numbers and words, and labels of 0 and 1."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n_rows, N_NUMBERS))).add_prefix("number_")
    for j in range(0, N_NUMBERS, 3):
        name = f"number_{j}"
        table[name] = np.round(np.exp(table[name]), 2)
        if j % 2:
            table[name] = table[name].where(rng.random(n_rows) > 0.05)
        else:
            table[name] = table[name].where(rng.random(n_rows) > 0.3, 0.0)
    for j in range(N_WORDS):
        words = [f"word {k}" for k in range(3 + 4 * j)]
        codes = rng.integers(len(words), size=n_rows)
        table[f"words_{j}"] = pd.Categorical.from_codes(codes, words)
    score = np.sin(table["number_1"]) + table["number_2"] * (table["words_1"].cat.codes % 3 == 0)
    score += 0.5 * (table["number_0"] == 0.0) - 0.5 * table["number_3"].isna()
    return table, (score + rng.logistic(size=n_rows) > 0.0).astype(int).to_numpy()


def load(path, target, n_rows, seed):
    """Return so many rows of a CSV file, drawn with repetition, and labels of 0 and 1."""
    table = pd.read_csv(path)
    target = table.columns[-1] if target is None else target
    table = table.sample(n_rows, replace=True, random_state=seed, ignore_index=True)
    labels = table.pop(target)
    for name in table.columns[[not pd.api.types.is_numeric_dtype(t) for t in table.dtypes]]:
        table[name] = table[name].astype("category")
    return table, (labels == labels.min()).astype(int).to_numpy()


def contenders(models, X):
    """Return functions of a table, by name."""
    additive, trees, vectorizer = models
    return {
        "additive": additive.decision_function,
        "additive, probabilities": additive.predict_proba,
        "additive, explain": additive.explain,
        "additive, reading": lambda X: read_frame(additive, X, reset=False),
        "trees": trees.decision_function,
        "trees, probabilities": trees.predict_proba,
        "vectorizer, transform": vectorizer.transform,
    }


def megabytes(function, X):
    """Return the peak of what a call allocates above what it returns, in megabytes."""
    tracemalloc.start()
    try:
        found = function(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return (peak - getattr(found, "nbytes", 0)) / 1e6


def measure(models, X, repeats):
    """Return a row of the table for each contender."""
    functions = contenders(models, X)
    seconds = {name: [] for name in functions}
    for _ in range(repeats + 1):
        for name, function in functions.items():
            seconds[name].append(timed(function, X)())
    median = {name: float(np.median(found[1:])) for name, found in seconds.items()}
    for name, function in functions.items():
        yield {
            "contender": name,
            "rows": len(X),
            "seconds": round(median[name], 4),
            "over_trees": round(median[name] / median["trees"], 3),
            "megabytes": round(megabytes(function, X), 1),
        }


def main(arguments=None):
    """Measure, and write the table."""
    options = bench.read_options(
        __file__,
        __doc__,
        arguments,
        rows=(20_000,),
        fit_rows=20_000,
        repeats=5,
        unnamed={"table": str, "target": str},
    )

    def rows(n_rows, seed):
        if options.table is None:
            return generate(n_rows, seed)
        return load(options.table, options.target, n_rows, seed)

    X, y = rows(options.fit_rows, 0)
    additive = DPAdditiveClassifier(classes=[0, 1], delta=DELTA, random_state=0).fit(X, y)
    trees = HistGradientBoostingClassifier(random_state=0).fit(X, y)
    vectorizer = DPTableVectorizer(delta=DELTA, random_state=0).fit(X)
    models = additive, trees, vectorizer
    found = [row for n in options.rows for row in measure(models, rows(n, 1)[0], options.repeats)]
    n_columns = vectorizer.transform(X[:1]).shape[1]
    note = f"{X.shape[1]} columns, of which the vectorizer makes {n_columns}."
    bench.write_table(pd.DataFrame(found), "predict.csv", options, note)


if __name__ == "__main__":
    bench.run_script(__file__)
