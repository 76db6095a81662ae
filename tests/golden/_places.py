"""What is recorded of people's rows, compiled sums, pinned partitions and null records.

Compiled sums and pinned partitions are worth their start for many rows alone. Here few rows take
these ways, because thresholds are lowered and a cluster lives in this process.
"""

import functools
from contextlib import contextmanager
from unittest import mock

import numpy as np
import pandas as pd
from sklearn.base import clone

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from skdp.calibration import DPCalibratedClassifier
from skdp.linear_model import (
    DPGammaRegressor,
    DPHuberRegressor,
    DPLogisticRegression,
    DPPoissonRegressor,
    DPQuantileRegressor,
    DPRidge,
    DPTweedieRegressor,
)
from skdp.metrics import private_score
from skdp.model_selection import DPGridSearch
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import (
    DPNormClipper,
    DPOneHotEncoder,
    DPQuantileClipper,
    DPSimpleImputer,
    DPStandardScaler,
    DPTableVectorizer,
)
from tests.door import fused_module, null_records
from tests.golden._subjects import (
    PREDICTORS,
    READ,
    REGRESSION,
    TWO,
    fit_people,
    fit_predictor,
    labels,
    rows,
    subject,
    table,
    targets,
)

SUBJECTS = {}
add = functools.partial(subject, subjects=SUBJECTS)
INF = float("inf")
NULL = [0, 17, -1]


# People, who have many rows.

for _name, _model in {
    "counts": DPPoissonRegressor(random_state=0),
    "counts, no noise": DPPoissonRegressor(epsilon=INF, random_state=0),
    "amounts": DPGammaRegressor(adjacency="replace_one", rows_per_group=2, random_state=0),
    "costs": DPTweedieRegressor(power=1.5, fit_intercept=False, random_state=0),
    "outliers": DPHuberRegressor(**REGRESSION),
    "outliers, learnt": DPHuberRegressor(adjacency="replace_one", random_state=0),
    "quantiles": DPQuantileRegressor(quantile=0.8, **REGRESSION),
    "quantiles, few rows": DPQuantileRegressor(rows_per_group=1, random_state=0),
    "targets, learnt": DPRidge(random_state=0),
    "targets, no noise": DPRidge(epsilon=INF, **REGRESSION),
}.items():
    add(f"people: {_name}", functools.partial(fit_people, _model))


def people_of(X, n_rows_each=3):
    return np.random.default_rng(2).integers(0, len(X) // n_rows_each, len(X))


def fit_step_of_people(step, X):
    step = clone(step).fit(X, groups=people_of(X))
    return step, step.transform(X)


for _name, _step in {
    "scaler": DPStandardScaler((-3, 3), random_state=0),
    "clipper": DPQuantileClipper((-3, 3), adjacency="replace_one", random_state=0),
    "norms": DPNormClipper(random_state=0),
}.items():
    add(f"people: {_name}", lambda step=_step: fit_step_of_people(step, rows()))
for _name, _column, _step in (
    ("imputer, mean", "age", DPSimpleImputer(feature_bounds=(0, 100), random_state=0)),
    (
        "imputer, median",
        "age",
        DPSimpleImputer(strategy="median", feature_bounds=(0, 100), random_state=0),
    ),
    ("encoder", "word", DPOneHotEncoder(random_state=0)),
):
    add(
        f"people: {_name}",
        lambda step=_step, column=_column: fit_step_of_people(step, table()[0][[column]]),
    )
VECTORIZER = DPTableVectorizer(epsilon=9.0, knots=4, random_state=0)
add("people: table", lambda: fit_step_of_people(VECTORIZER, table()[0]))

ADDITIVE = {
    "labels": DPAdditiveClassifier(
        classes=[0, 1], epsilon=9.0, interactions=[("age", "word")], random_state=0
    ),
    "targets": DPAdditiveRegressor(epsilon=9.0, monotonic_cst={"age": 1}, random_state=0),
    "counts": DPAdditiveRegressor(epsilon=9.0, loss="poisson", random_state=0),
}
MORE_ADDITIVE = {
    "amounts": DPAdditiveRegressor(epsilon=9.0, loss="gamma", random_state=0),
    "replace_one": DPAdditiveRegressor(epsilon=9.0, adjacency="replace_one", random_state=0),
    "two targets": DPAdditiveRegressor(epsilon=9.0, random_state=0),
    "three classes": DPAdditiveClassifier(classes=[0, 1, 2], epsilon=9.0, random_state=0),
}


def additive_data(name):
    X, y = table()
    if name in ("targets", "replace_one"):
        return X, X["debt"].to_numpy() / 30.0 - 1.0
    if name == "two targets":
        return X, np.stack([y, X["debt"].to_numpy() / 30.0], axis=1)
    if name == "three classes":
        return X, y + (X["debt"] > 40.0).to_numpy()
    return X, y + (name == "amounts")


def fit_additive(model, name, of_people):
    X, y = additive_data(name)
    model = clone(model).fit(X, y, groups=people_of(X) if of_people else None)
    return model, model.predict(X[:9])


for _name, _model in ADDITIVE.items():
    add(f"people: additive, {_name}", functools.partial(fit_additive, _model, _name, True))
for _name, _model in {"counts": ADDITIVE["counts"], **MORE_ADDITIVE}.items():
    add(f"additive: {_name}", functools.partial(fit_additive, _model, _name, False))


def fit_whole(model):
    X = rows(300)
    return clone(model).fit(X, labels(X), groups=people_of(X))


LOGISTIC = DPLogisticRegression(classes=[0, 1], max_iter=5)
for _name, _model in {
    "pipeline": make_private_pipeline(DPStandardScaler((-3, 3)), LOGISTIC, random_state=0),
    "search": DPGridSearch(LOGISTIC, {"alpha": [1e-4, 1e-2]}, delta=1e-3, random_state=0),
    "calibrated": DPCalibratedClassifier(LOGISTIC, random_state=0),
}.items():
    add(f"people: {_name}", functools.partial(fit_whole, _model))


# Compiled sums.


@contextmanager
def compiled():
    """Have all sums compiled that can be, however few rows they have."""
    with (
        mock.patch.object(fused_module, "WORTHWHILE_ENTRIES", 0),
        mock.patch.object(fused_module, "WORTHWHILE_SLOPES", 0),
    ):
        yield


def fit_compiled(name, read=np.array, **changes):
    with compiled():
        return fit_predictor(name, read, **changes)


for _name in ("whitened", "ridge", "counts", "outliers", "quantiles", "coordinate", "lasso"):
    add(f"compiled: {_name}", functools.partial(fit_compiled, _name))
for _name in ("whitened", "ridge"):
    add(f"compiled: {_name}, a float32", functools.partial(fit_compiled, _name, READ["float32"]))
    add(f"compiled: {_name}, no noise", functools.partial(fit_compiled, _name, epsilon=INF))
    add(
        f"compiled: {_name}, no ball",
        functools.partial(fit_compiled, _name, ball_budget=0, data_norm=1.0),
    )
add("compiled: ridge, inference", functools.partial(fit_compiled, "ridge", inference=True))


def fit_compiled_weights():
    X = rows()
    model = DPLogisticRegression(class_weight={0: 0.1, 1: 9.0}, **TWO)
    with compiled():
        return model.fit(X, labels(X), public_weight=np.linspace(0.5, 2.0, len(X)))


add("compiled: weights", fit_compiled_weights)


# Pinned partitions.


@contextmanager
def client_of(pinned):
    """Have a client of workers that are threads of this process, or None, for as long as a fit.

    Workers that live longer log their heartbeats into tests that compare logs.
    """
    if not pinned:
        yield None
        return
    import distributed

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.Client(processes=False, set_as_default=False, **options) as client:
        yield client


def parts_of(array, sizes):
    import dask.array

    if not isinstance(array, pd.DataFrame):
        return dask.array.from_array(array, chunks=(sizes, *array.shape[1:]))
    import dask.dataframe

    pieces = np.split(np.arange(len(array)), np.cumsum(sizes)[:-1])
    parts = [dask.delayed(array.iloc[piece]) for piece in pieces]
    return dask.dataframe.from_delayed(parts, meta=array.iloc[:0])


def cuts_of(ids):
    """Return sizes of partitions none of which cuts through a person."""
    starts = np.searchsorted(ids, [25, 60])
    return tuple(np.diff([0, *starts, len(ids)]).tolist())


def fit_parts(name, pinned, of_people=False, **options):
    """Fit in partitions, which workers keep where they are pinned."""
    import skdp.dask

    X, ids = rows(240), None
    y = targets(X) if name == "DaskDPRidge" else labels(X)
    if name == "DaskDPGammaRegressor":
        y = y + 1.0
    sizes = (70, 70, 70, 30)
    if of_people:
        ids = np.sort(people_of(X))
        sizes = cuts_of(ids)
        ids = parts_of(ids, sizes)
    with client_of(pinned) as client:
        model = getattr(skdp.dask, name)(client=client, **options)
        return model.fit(parts_of(X, sizes), parts_of(y, sizes), groups=ids)


def fit_parts_of_table(name, pinned, of_people=False, **options):
    """Fit an additive model to partitions of a table."""
    import skdp.dask

    X, y = table(240)
    if name == "DaskDPAdditiveRegressor":
        y = X["debt"].to_numpy()
    ids = np.sort(people_of(X))
    sizes = cuts_of(ids)
    groups = parts_of(ids, sizes) if of_people else None
    y = parts_of(pd.DataFrame({"y": y}), sizes)["y"]
    with client_of(pinned) as client:
        model = getattr(skdp.dask, name)(client=client, compute_chunk_sizes=True, **options)
        return model.fit(parts_of(X, sizes), y, groups=groups).set_params(client=None)


def fit_step_in_parts(step, X, pinned):
    """Fit a transformer to partitions."""
    import skdp.dask

    step = clone(step)
    X = parts_of(X, (70, 70, 70, 30))
    with client_of(pinned) as client:
        return skdp.dask.fit(step, X, client=client, compute_chunk_sizes=True)


BINARY = ("DaskDPLogisticRegression", {"max_iter": 4, **TWO})
NUMBERS = ("DaskDPRidge", {"max_iter": 4, **REGRESSION})
COUNTS = ("DaskDPPoissonRegressor", {"max_iter": 4, "random_state": 0})
AMOUNTS = ("DaskDPGammaRegressor", {"max_iter": 4, "random_state": 0})
for _name, (_class, _options), _others in (
    ("binary", BINARY, {}),
    ("numbers", NUMBERS, {"target_bounds": None}),
    ("counts", COUNTS, {}),
    ("binary, inference", BINARY, {"inference": True, "max_iter": 12}),
    ("numbers, inference", NUMBERS, {"inference": True, "max_iter": 12}),
    ("binary of people", BINARY, {"of_people": True}),
    ("numbers of people", NUMBERS, {"of_people": True, "adjacency": "replace_one"}),
    ("amounts of people", AMOUNTS, {"of_people": True}),
):
    _given = _options | _others
    add(f"pinned: {_name}", functools.partial(fit_parts, _class, True, **_given))
    if "inference" in _name or "people" in _name:
        add(f"dask: {_name}", functools.partial(fit_parts, _class, False, **_given))
_learnt = {"epsilon": 9.0, "random_state": 0}
for _name, _class, _given in (
    ("labels", "DaskDPAdditiveClassifier", {"classes": [0, 1], **_learnt}),
    ("targets of people", "DaskDPAdditiveRegressor", {"of_people": True, **_learnt}),
):
    for _place in ("dask", "pinned"):
        add(
            f"{_place}: additive, {_name}",
            functools.partial(fit_parts_of_table, _class, _place == "pinned", **_given),
        )
for _place in ("dask", "pinned"):
    _is_pinned = _place == "pinned"
    add(
        f"{_place}: table",
        lambda pinned=_is_pinned: fit_step_in_parts(VECTORIZER, table(240)[0], pinned),
    )
    for _name, _step in {
        "scaler": DPStandardScaler((-3, 3), random_state=0),
        "clipper": DPQuantileClipper((-3, 3), random_state=0),
        "norms": DPNormClipper(random_state=0),
    }.items():
        add(
            f"{_place}: {_name}",
            lambda step=_step, pinned=_is_pinned: fit_step_in_parts(step, rows(240), pinned),
        )


# Null records, by place.


def with_null_records(fit):
    """Fit where a few records contribute nothing to any release."""
    with null_records(NULL) as asked:
        found = fit()
    assert asked.consulted
    return found


def null(name, fit):
    add(f"null records: {name}", functools.partial(with_null_records, fit))


for _name in PREDICTORS:
    if _name not in ("labels", "dual"):
        null(f"memory, {_name}", functools.partial(fit_predictor, _name))
for _name in ("whitened", "dual", "coordinate"):
    null(f"sparse rows, {_name}", functools.partial(fit_predictor, _name, READ["sparse"]))
for _name in ("whitened", "ridge", "coordinate"):
    null(f"compiled, {_name}", functools.partial(fit_compiled, _name))
null("people, labels", functools.partial(fit_people, DPLogisticRegression(**TWO)))
null("people, counts", functools.partial(fit_people, DPPoissonRegressor(random_state=0)))
null("people, targets", functools.partial(fit_people, DPRidge(random_state=0)))
null(
    "people, scaler", lambda: fit_step_of_people(DPStandardScaler((-3, 3), random_state=0), rows())
)
for _name, _step, _columns in (
    ("scaler", DPStandardScaler((-3, 3), random_state=0), None),
    ("clipper", DPQuantileClipper((-3, 3), random_state=0), None),
    ("norms", DPNormClipper(random_state=0), None),
    ("imputer", DPSimpleImputer(feature_bounds=(0, 100), random_state=0), ["age"]),
    ("encoder", DPOneHotEncoder(random_state=0), ["word"]),
    ("table", VECTORIZER, ["age", "debt", "word"]),
):
    null(
        f"memory, {_name}",
        lambda step=_step, columns=_columns: clone(step).fit(
            rows() if columns is None else table()[0][columns]
        ),
    )
null("additive", functools.partial(fit_additive, ADDITIVE["labels"], "labels", False))
null("additive of people", functools.partial(fit_additive, ADDITIVE["targets"], "targets", True))
for _place in ("dask", "pinned"):
    _is_pinned = _place == "pinned"
    null(f"{_place}, binary", functools.partial(fit_parts, BINARY[0], _is_pinned, **BINARY[1]))
    null(
        f"{_place}, numbers of people",
        functools.partial(fit_parts, NUMBERS[0], _is_pinned, of_people=True, **NUMBERS[1]),
    )
    null(
        f"{_place}, table",
        lambda pinned=_is_pinned: fit_step_in_parts(VECTORIZER, table(240)[0], pinned),
    )
null(
    "dask, additive",
    functools.partial(
        fit_parts_of_table, "DaskDPAdditiveClassifier", False, classes=[0, 1], **_learnt
    ),
)


def score_with_null_records():
    X = rows()
    model = DPLogisticRegression(epsilon=9.0, **TWO).fit(X, labels(X))
    with null_records(NULL):
        return private_score(model, X, labels(X), epsilon=1.0, random_state=0)


add("null records: score", score_with_null_records)
add(
    "null records: score of people",
    lambda: _score_of_people(DPLogisticRegression(epsilon=9.0, **TWO)),
)


def _score_of_people(model):
    X = rows()
    model.fit(X, labels(X))
    with null_records(NULL):
        return private_score(model, X, labels(X), groups=people_of(X), epsilon=1.0, random_state=0)
