"""What it costs to learn whether columns hold numbers or words, where their types don't say.

`DPAdditiveClassifier` gets each table three times, told nothing of its columns: "typed", with
numbers as numbers and words as categories, so that nothing is learnt of kinds; "objects", as one
array of Python objects; and "text", as strings with the file's own marks of gaps. All have the same
rows held out, which are a quarter, and as many fits. With ``--rows`` so many records are drawn of
each table, for fits of few.

    python benchmarks/kinds.py --data FOLDER
"""

import itertools
import warnings
from functools import lru_cache

import _common as bench
import numpy as np
import pandas as pd
from _data import load_frame
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from skdp.additive import DPAdditiveClassifier

DELTA = 1e-6
# The target, what counts as 1, and columns that aren't features.
TABLES = {
    "adult": ("income", ">50K", ["split"]),
    "bank_marketing": ("y", "yes", ["duration"]),
    "electricity": ("class", "UP", []),
    "hillstrom_visit": ("visit", 1, ["conversion", "spend"]),
}
WAYS = "typed", "objects", "text"
NOTE = "Nothing is told of the columns; classes are public. AUC of rows held out, means over fits."


@lru_cache(maxsize=1)
def load_table(name, n_rows):
    """Return raw features, numbers of which have such a type, and labels of 0 and 1."""
    target, positive, dropped = TABLES[name]
    frame = load_frame(name)
    if n_rows:
        # The rows that are held out are as many as of the whole table.
        frame = frame.sample(n=min(n_rows * 4 // 3 + 10_000, len(frame)), random_state=0)
    y = (frame[target] == positive).to_numpy().astype(int)
    return frame.drop(columns=[target, *dropped], errors="ignore").reset_index(drop=True), y


def as_handed_in(X, way):
    """Return a table in one of `WAYS`."""
    if way == "objects":
        return X.astype(object).to_numpy()
    if way == "text":
        return X.astype(str)
    words = [column for column in X if not pd.api.types.is_numeric_dtype(X[column])]
    return X.astype(dict.fromkeys(words, "category"))


def score(name, n_rows, way, epsilon, seed):
    """Return the area under the curve of one fit."""
    X, y = load_table(name, n_rows)
    test_size = len(X) - n_rows if n_rows else 0.25
    parts = train_test_split(as_handed_in(X, way), y, test_size=test_size, random_state=0)
    return area_of_fit(parts, epsilon, random_state=1000 * WAYS.index(way) + seed)


def area_of_fit(parts, epsilon, random_state):
    """Return the area under the curve of one fit to the first of two parts of a table."""
    X, X_test, y, y_test = parts
    model = DPAdditiveClassifier(
        classes=[0, 1], epsilon=epsilon, delta=DELTA, random_state=random_state
    )
    with warnings.catch_warnings(action="ignore"):
        # Rare words, and all words of few records, don't stand out.
        model.fit(X, y)
        # Of few records a kind may be wrong, and then entries are lost.
        return roc_auc_score(y_test, model.decision_function(X_test))


def compare(found, cells):
    """Return by table and epsilon the mean of each way, and what is lost to the typed table."""
    of = dict(zip(cells, found, strict=True))
    rows = []
    for name, n_rows, way, epsilon in cells:
        values, typed = of[name, n_rows, way, epsilon], of[name, n_rows, "typed", epsilon]
        squares = [np.var(fits, ddof=1) / len(fits) for fits in (values, typed)]
        lost = {} if way == "typed" else {"lost": typed.mean() - values.mean()}
        se = {"lost_se": np.sqrt(sum(squares))} if lost else {}
        row = {"data": name, "n_rows": n_rows or "all", "way": way, "epsilon": epsilon}
        rows.append({**row, "auc": values.mean(), **lost, **se})
    return pd.DataFrame(rows)


def main(arguments=None):
    """Measure, and write the table."""
    named = {"sets": list(TABLES), "rows": [0], "epsilons": (0.1, 0.5, 1.0), "seeds": range(10)}
    options = bench.read_options(__file__, __doc__, arguments, **named)
    cells = list(itertools.product(options.sets, options.rows, WAYS, options.epsilons))
    found = [np.asarray(fits) for fits in bench.run_cells(score, cells, options.seeds, options)]
    bench.write_table(compare(found, cells).round(5), "kinds.csv", options, NOTE)


if __name__ == "__main__":
    bench.run_script(__file__)
