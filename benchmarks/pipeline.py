"""AUC of private pipelines that know hardly anything, beside preprocessing written by hand.

All have the same epsilon in total, and end in private logistic regression.

- "by hand": ranges of numbers as data_sets.toml has them, logarithms of what is spread over powers
  of ten, known categories, constants for what is missing and a norm by the rule of thumb; all is
  public, and the whole budget goes to the fit.
- "pipeline": ranges ten times too wide, no logarithms, unknown categories and no norm; what is
  needed is found privately.
- "wide bounds": the same ranges for `BoundsScaler`, categories and norm as by hand.

"adult_gaps" is Adult with a fifth of all entries missing.

    python benchmarks/pipeline.py --data ../data
"""

import itertools

import _common as bench
import numpy as np
import pandas as pd
from _data import DATA_SETS, _bounds_of, load_frame
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from skdp.linear_model import DPLogisticRegression
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import (
    BoundsScaler,
    DPNormClipper,
    DPOneHotEncoder,
    DPSimpleImputer,
    DPStandardScaler,
    NormClipper,
)

TOO_WIDE, MISSING = 10.0, 0.2
NOTE = "AUC of the held-out part; delta is 1e-6."
_GAPS = "_gaps"
# Mean squares of a number and of a word.
_OF_NUMBER, _OF_WORD = 0.2, 1.0


def load(problem):
    """Return features and labels of both parts, names of columns of numbers, and their ranges."""
    name = problem.removesuffix(_GAPS)
    about, frame = DATA_SETS[name], load_frame(name)
    y = (frame[about["target"]] == about["classes"][-1]).to_numpy().astype(int)
    if "split" in frame:
        train, test = (np.flatnonzero(frame["split"] == part) for part in ("train", "test"))
    else:
        train, test = train_test_split(np.arange(len(frame)), test_size=0.25, random_state=0)
    dropped = ["split", about["target"], *about.get("dropped", [])]
    features = frame.drop(columns=dropped, errors="ignore")
    numbers = list(features.select_dtypes("number"))
    words = [name for name in features if name not in numbers]
    bounds = np.array([_bounds_of(name, about.get("bounds", {})) for name in numbers], dtype=float)
    known = [sorted(features[name].unique()) for name in words]
    features = features.astype({**dict.fromkeys(numbers, float), **dict.fromkeys(words, object)})
    if problem.endswith(_GAPS):
        generator = np.random.default_rng(0)
        features = features.mask(generator.random(features.shape) < MISSING)
    parts = (features.iloc[train], y[train], features.iloc[test], y[test])
    return parts, numbers, words, bounds, known, about.get("logs", [])


def wider(bounds):
    """Return ranges about the same middle, `TOO_WIDE` times as wide."""
    low, high = bounds.T
    middle, half = (low + high) / 2.0, (high - low) / 2.0
    return middle - TOO_WIDE * half, middle + TOO_WIDE * half


def public(numbers, words, bounds, known, logs):
    """Return preprocessing that learns nothing."""
    is_log = np.isin(numbers, logs)
    # The middle of a range, and 0 of what is spread from there over powers of ten.
    fills = np.where(is_log, 0.0, bounds.mean(axis=1))
    ends = np.where(is_log[:, np.newaxis], np.log1p(np.maximum(bounds, 0.0)), bounds)

    def number(j):
        fill = SimpleImputer(strategy="constant", fill_value=fills[j], keep_empty_features=True)
        log = [FunctionTransformer(np.log1p)] if is_log[j] else []
        return make_pipeline(fill, *log, BoundsScaler(tuple(ends[j])))

    one_hot = OneHotEncoder(categories=known, handle_unknown="ignore", sparse_output=False)
    fill = SimpleImputer(strategy="constant", fill_value="missing", keep_empty_features=True)
    return make_column_transformer(
        *[(number(j), [name]) for j, name in enumerate(numbers)],
        (make_pipeline(fill, one_hot), words),
    )


def by_hand(numbers, words, bounds, known, logs, **budget):
    """Return the pipeline with public preprocessing."""
    norm = float(np.sqrt(_OF_NUMBER * len(numbers) + _OF_WORD * len(words)))
    prepare = public(numbers, words, bounds, known, logs)
    model = DPLogisticRegression(data_norm=norm, classes=[0, 1])
    return make_private_pipeline(prepare, NormClipper(norm), model, **budget)


def wide_bounds(numbers, words, bounds, known, logs, **budget):
    """Return the pipeline with public preprocessing of wide ranges."""
    return by_hand(numbers, words, np.transpose(wider(bounds)), known, [], **budget)


def learnt(numbers, words, bounds, known, logs, **budget):
    """Return the pipeline that learns its preprocessing."""
    impute = DPSimpleImputer(strategy="median", feature_bounds=wider(bounds))
    scale = DPStandardScaler(feature_bounds=wider(bounds))
    has_gaps = budget.pop("has_gaps")
    prepare = make_column_transformer(
        (make_pipeline(impute, scale) if has_gaps else scale, numbers),
        (DPOneHotEncoder(), words),
    )
    model = DPLogisticRegression(classes=[0, 1])
    return make_private_pipeline(prepare, DPNormClipper(), model, **budget)


def score(problem, epsilon, way, seed):
    """Return the AUC on the held-out part."""
    (X_train, y_train, X_test, y_test), *known = load(problem)
    budget = {"epsilon": epsilon, "delta": 1e-6, "random_state": seed}
    if way == "pipeline":
        budget["has_gaps"] = problem.endswith(_GAPS)
    model = WAYS[way](*known, **budget).fit(X_train, y_train)
    return roc_auc_score(y_test, model.decision_function(X_test))


WAYS = {"by hand": by_hand, "pipeline": learnt, "wide bounds": wide_bounds}


def main(arguments=None):
    """Measure and write the table."""
    options = bench.read_options(
        __file__,
        __doc__,
        arguments,
        problems=["adult", "bank_marketing", "adult_gaps"],
        epsilons=(0.1, 1.0),
        seeds=range(10),
    )
    cells = list(itertools.product(options.problems, options.epsilons, WAYS))
    found = bench.run_cells(score, cells, options.seeds, options)
    table = pd.DataFrame(cells, columns=["data", "epsilon", "preprocessing"])
    table = table.join(pd.DataFrame(map(bench.summarize, found)))
    bench.write_table(table.round(5), "pipeline.csv", options, NOTE)


if __name__ == "__main__":
    bench.run_script(__file__)
