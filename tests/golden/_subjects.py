"""What is recorded: by name, a function that makes fitted models, releases or numbers.

Public names of the package alone, so that moves inside of it don't reach this file. Fits are small,
so that all of them take seconds. `_places.py` has what is recorded of where rows are, and
`_texts.py` what reports say.
"""

import dataclasses
import functools
import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline

from skdp.accountant import (
    calibrate,
    calibrate_classic,
    calibrate_pure,
    calibrate_response,
    calibrate_selection,
    compose,
    get_epsilon,
    selection_noise,
)
from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from skdp.audit import audit
from skdp.calibration import (
    DPCalibratedClassifier,
    DPConformalClassifier,
    DPConformalRegressor,
)
from skdp.inspection import duality_gap, preview, total_report
from skdp.ledger import PrivacyLedger
from skdp.linear_model import (
    DPCDClassifier,
    DPCDElasticNet,
    DPCDLasso,
    DPGammaRegressor,
    DPHuberRegressor,
    DPLogisticRegression,
    DPPoissonRegressor,
    DPQuantileRegressor,
    DPRidge,
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDClassifier,
    DPSGDRegressor,
    DPTweedieRegressor,
    WALRClassifier,
    label_aggregate,
    walr_path,
)
from skdp.metrics import (
    private_calibration_curve,
    private_compare,
    private_confusion_matrix,
    private_roc_curve,
    private_score,
)
from skdp.model_selection import DPGridSearch, DPRandomizedSearch, private_threshold
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import (
    BoundsScaler,
    DPNormClipper,
    DPOneHotEncoder,
    DPQuantileClipper,
    DPSimpleImputer,
    DPStandardScaler,
    DPTableVectorizer,
    NormClipper,
)
from skdp.statistics import describe
from tests._listed import suited
from tests.privacy._recipes import CASES, LABEL_CASES, PLAIN, RESPONSE_CASES

TWO, THREE = {"classes": [0, 1], "random_state": 0}, {"classes": [0, 1, 2], "random_state": 0}
REGRESSION = {"target_bounds": (-1.0, 1.0), "random_state": 0}
ADJACENCIES = ("zero_out", "replace_one")
# Of the calls of `partial_fit`, in units of the estimator's epsilon.
SHARES_OF_CALLS = (0.5, 1.0, 0.7)
SUBJECTS = {}
# Before subjects that are fitted as others are, and learn no ball.
WITHOUT = "without a ball: "


def subject(name, make, subjects=SUBJECTS):
    """Add one; each name stands for itself."""
    if name in subjects:
        raise ValueError(f"There are two subjects called {name}.")
    subjects[name] = make


def rows(n=120, d=4):
    return np.random.default_rng(7).standard_normal((n, d))


def labels(X, k=2):
    """Return labels 0 to k - 1 that depend on rows."""
    noise = np.random.default_rng(8).standard_normal(len(X))
    return np.digitize(X[:, 0] - X[:, 1] + noise, np.linspace(-0.5, 0.5, k + 1)[1:-1])


def targets(X, k=1):
    noise = 0.1 * np.random.default_rng(9).standard_normal((len(X), k))
    y = np.tanh(X @ np.linspace(-1.0, 1.0, X.shape[1] * k).reshape(-1, k)) + noise
    return y[:, 0] if k == 1 else y


def table(n=120):
    """Return a raw frame with gaps, and labels."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.uniform(0, 60, (n, 2)), columns=["age", "debt"])
    frame["word"] = pd.Categorical(rng.choice(["a", "b", None], n, p=[0.6, 0.3, 0.1]))
    y = (frame["age"] > 30).to_numpy().astype(int)
    frame.loc[::7, "age"] = np.nan
    return frame, y


def without_ball(model):
    """Return a copy that clips its rows to a norm, or None of what does so anyway."""
    if model.get_params().get("ball_budget", 0) == 0:
        return None
    data_norm = PLAIN["data_norm"] if model.data_norm is None else model.data_norm
    return clone(model).set_params(ball_budget=0, data_norm=data_norm)


# Every estimator with every choice, as other tests take them.


def fit_case(case):
    model, (X, y) = clone(case.estimator), case.records()
    weights = case.weights(len(X))
    if case.way == "calls":
        return fit_calls(model, case, X, y, weights)
    personal = {}
    if case.way == "personal":
        asked = np.random.default_rng(0).permutation(np.linspace(0.2, 1.0, len(X)))
        personal = {"sample_epsilon": asked}
    return model.fit(X, y, **personal, **weights, **case.exposures(X))


def fit_calls(model, case, X, y, weights):
    epsilon = model.epsilon
    declared = {} if case.classes is None else {"classes": case.classes}
    parts = np.array_split(np.arange(len(X)), len(SHARES_OF_CALLS))
    for part, share in zip(parts, SHARES_OF_CALLS, strict=True):
        model.set_params(epsilon=share * epsilon)
        counted = {name: given[part] for name, given in weights.items()}
        model.partial_fit(X[part], y[part], **declared, **counted)
    return model


for _case in [*CASES, *LABEL_CASES, *RESPONSE_CASES]:
    _name = " ".join(str(_case).split())
    subject(_name, functools.partial(fit_case, _case))
    if (_plain := without_ball(_case.estimator)) is not None:
        _plain = dataclasses.replace(_case, estimator=_plain)
        subject(WITHOUT + _name, functools.partial(fit_case, _plain))

# Kinds of input, and no noise.

PREDICTORS = {
    "whitened": DPLogisticRegression(**THREE),
    "ridge": DPRidge(**REGRESSION),
    "dual": DPSCDClassifier(**TWO),
    "dual regression": DPSCDRegressor(**REGRESSION),
    "gradient": DPSGDClassifier(**TWO),
    "gradient regression": DPSGDRegressor(**REGRESSION),
    "coordinate": DPCDClassifier(max_iter=5, **TWO),
    "greedy": DPCDClassifier(selection="greedy", max_iter=5, **TWO),
    "lasso": DPCDLasso(max_iter=5, **REGRESSION),
    "elastic net": DPCDElasticNet(max_iter=5, **REGRESSION),
    "counts": DPPoissonRegressor(random_state=0),
    "amounts": DPGammaRegressor(random_state=0),
    "outliers": DPHuberRegressor(**REGRESSION),
    "quantiles": DPQuantileRegressor(quantile=0.8, **REGRESSION),
    "costs": DPTweedieRegressor(power=1.5, random_state=0),
    "labels": WALRClassifier(data_norm=3.0, **TWO),
}
READ = {
    "float32": lambda X: X.astype(np.float32),
    "frame": lambda X: pd.DataFrame(X, columns=list("abcd")),
    "sparse": lambda X: csr_array(np.where(np.abs(X) > 0.7, X, 0.0)),
}


def fit_predictor(name, read=lambda X: X, **changes):
    X, model = rows(), clone(PREDICTORS[name]).set_params(**changes)
    y = labels(X, len(model.classes)) if hasattr(model, "classes") else targets(X)
    model.fit(read(X), suited(model, y))
    return model, model.predict(read(X[:20]))


for _name in PREDICTORS:
    subject(f"{_name}, no noise", functools.partial(fit_predictor, _name, epsilon=float("inf")))
    subject(f"{_name}, a float32", functools.partial(fit_predictor, _name, READ["float32"]))
for _name in ("whitened", "labels"):
    subject(f"{_name}, a frame", functools.partial(fit_predictor, _name, READ["frame"]))
for _name in ("whitened", "ridge", "dual", "gradient", "coordinate", "lasso"):
    subject(f"{_name}, sparse rows", functools.partial(fit_predictor, _name, READ["sparse"]))
for _epsilon, _delta in ((0.1, 1e-7), (8.0, 1e-3)):
    for _name in PREDICTORS:
        subject(
            f"{_name} at {_epsilon}, {_delta}",
            functools.partial(fit_predictor, _name, epsilon=_epsilon, delta=_delta),
        )


for _name, _options in {
    "whitened, no noise": ("whitened", {"epsilon": float("inf")}),
    "ridge, no noise": ("ridge", {"epsilon": float("inf")}),
    "whitened, a float32": ("whitened", {"read": READ["float32"]}),
    "ridge, a float32": ("ridge", {"read": READ["float32"]}),
    "whitened, sparse rows": ("whitened", {"read": READ["sparse"]}),
    "ridge, sparse rows": ("ridge", {"read": READ["sparse"]}),
    "whitened at 0.1, 1e-07": ("whitened", {"epsilon": 0.1, "delta": 1e-7}),
    "ridge at 8.0, 0.001": ("ridge", {"epsilon": 8.0, "delta": 1e-3}),
}.items():
    _predictor, _changes = _options
    subject(WITHOUT + _name, functools.partial(fit_predictor, _predictor, **PLAIN, **_changes))


# People, who have many rows.


def fit_people(model, k=1, **given):
    X, ids = rows(300), np.random.default_rng(2).integers(0, 90, 300)
    y = labels(X, len(model.classes)) if hasattr(model, "classes") else targets(X, k)
    return clone(model).fit(X, suited(model, y), groups=ids, **given)


for _name, _model in {
    "two classes": DPLogisticRegression(**TWO),
    "three classes, few rows": DPLogisticRegression(
        adjacency="replace_one", rows_per_group=2, **THREE
    ),
    "without a moment": DPLogisticRegression(moment_budget=0.0, fit_intercept=False, **TWO),
    "targets": DPRidge(**REGRESSION),
    "targets, few rows": DPRidge(rows_per_group=1, adjacency="replace_one", **REGRESSION),
}.items():
    subject(f"people: {_name}", functools.partial(fit_people, _model))
    subject(f"{WITHOUT}people: {_name}", functools.partial(fit_people, without_ball(_model)))
subject("people: two targets", lambda: fit_people(DPRidge(**REGRESSION), k=2))
# Steps before a fit.

TRANSFORMERS = {
    "bounds": BoundsScaler((-2, 3)),
    "norm": NormClipper(1.5),
    "scaler": DPStandardScaler((-3, 3), random_state=0),
    "scaler, replace_one": DPStandardScaler(
        (-3, 3), clip=2.0, adjacency="replace_one", random_state=0
    ),
    "scaler, no noise": DPStandardScaler((-3, 3), epsilon=float("inf"), random_state=0),
    "quantiles": DPQuantileClipper((-3, 3), random_state=0),
    "quantiles, log": DPQuantileClipper((-3, 3), scale="log", epsilon=5.0, random_state=0),
    "norms": DPNormClipper(random_state=0),
    "norms, no noise": DPNormClipper(epsilon=float("inf"), random_state=0),
}
IMPUTERS = {
    f"{strategy}, {adjacency}": DPSimpleImputer(
        strategy=strategy, feature_bounds=(0, 100), add_indicator=True, adjacency=adjacency
    ).set_params(random_state=0)
    for strategy in ("mean", "median", "most_frequent", "constant")
    for adjacency in ADJACENCIES
}
ENCODERS = {
    "as it is": DPOneHotEncoder(random_state=0),
    "sparse": DPOneHotEncoder(sparse_output=True, handle_unknown="ignore", random_state=0),
    "known": DPOneHotEncoder(categories=[["a", "b"]], random_state=0),
    "few": DPOneHotEncoder(max_categories=2, adjacency="replace_one", random_state=0),
    "frequent": DPOneHotEncoder(min_frequency=30, epsilon=8.0, random_state=0),
}
TABLES = {
    "hats": DPTableVectorizer(epsilon=9.0, knots=4, random_state=0),
    "lines": DPTableVectorizer(basis="linear", feature_bounds=(0, 100), random_state=0),
    "no noise": DPTableVectorizer(epsilon=float("inf"), random_state=0),
}


def fit_step(step, X):
    step = clone(step)
    return step, step.fit_transform(X)


for _name, _step in TRANSFORMERS.items():
    subject(f"step: {_name}", functools.partial(fit_step, _step, rows()))
for _name, _step in IMPUTERS.items():
    subject(f"imputer: {_name}", functools.partial(fit_step, _step, table()[0][["age", "debt"]]))
for _name, _step in ENCODERS.items():
    subject(f"encoder: {_name}", functools.partial(fit_step, _step, table()[0][["word"]]))

DESCRIPTIONS = {
    "auto": {},
    "no noise": {"epsilon": float("inf")},
    "replace_one": {"adjacency": "replace_one", "crosstabs": [("age", "word"), ("age", "debt")]},
    "people": {"groups": np.arange(3000) // 2},
}
for _name, _options in DESCRIPTIONS.items():
    _options = {"epsilon": 4.0, "random_state": 0} | _options
    subject(f"description: {_name}", functools.partial(describe, table(3000)[0], **_options))

    untyped = table(3000)[0].astype(object)
    subject(f"description: objects, {_name}", functools.partial(describe, untyped, **_options))

for _name, _step in TABLES.items():
    subject(f"table: {_name}", functools.partial(fit_step, _step, table()[0]))
    subject(
        f"table: objects, {_name}", functools.partial(fit_step, _step, table()[0].astype(object))
    )


# Additive models.

ADDITIVE = {
    "labels": DPAdditiveClassifier(
        classes=[0, 1], epsilon=9.0, interactions=[("age", "word")], random_state=0
    ),
    "targets": DPAdditiveRegressor(epsilon=9.0, monotonic_cst={"age": 1}, random_state=0),
    "no noise": DPAdditiveClassifier(classes=[0, 1], epsilon=float("inf"), random_state=0),
}


def fit_additive(model, kind=None):
    X, y = table()
    X = X if kind is None else X.astype(kind)
    model = clone(model).fit(X, y)
    return model, model.explain(X[:9]), model.to_markdown()


for _name, _model in ADDITIVE.items():
    subject(f"additive: {_name}", functools.partial(fit_additive, _model))
    subject(f"additive: objects, {_name}", functools.partial(fit_additive, _model, object))

# Pipelines.


def fit_table(last, **options):
    numbers = make_pipeline(
        DPSimpleImputer(strategy="median", feature_bounds=(0, 100), add_indicator=True),
        DPStandardScaler((0, 100)),
        DPQuantileClipper(),
    )
    parts = make_column_transformer((numbers, ["age", "debt"]), (DPOneHotEncoder(), ["word"]))
    model = make_private_pipeline(
        parts, BoundsScaler((-3, 3)), DPNormClipper(), last, random_state=0, **options
    )
    X, y = table()
    return model.fit(X, y), model.predict(X[:20])


LASTS = {
    "whitened": DPLogisticRegression(classes=[0, 1]),
    "dual": DPSCDClassifier(max_iter=2, batch_size=30, classes=[0, 1]),
    "gradient": DPSGDClassifier(max_iter=1, batch_size=30, classes=[0, 1]),
    "coordinate": DPCDClassifier(max_iter=3, classes=[0, 1]),
}
for _name, _last in LASTS.items():
    subject(f"pipeline: {_name}", functools.partial(fit_table, _last, epsilon=2.0, delta=1e-3))
for _name in ("whitened", "gradient"):
    subject(
        f"pipeline: {_name}, replace_one",
        functools.partial(fit_table, LASTS[_name], delta=1e-3, adjacency="replace_one"),
    )
subject(
    f"{WITHOUT}pipeline: whitened",
    lambda: fit_table(clone(LASTS["whitened"]).set_params(ball_budget=0), epsilon=2.0, delta=1e-3),
)
subject("pipeline: no noise", lambda: fit_table(LASTS["whitened"], epsilon=float("inf")))


def fit_ridge_pipeline(**options):
    last = DPRidge(target_bounds=(-1.0, 1.0))
    model = make_private_pipeline(DPStandardScaler((-3, 3)), last, random_state=0)
    return model.set_params(**options).fit(rows(), targets(rows()))


subject(
    "pipeline: shares", lambda: fit_ridge_pipeline(shares={"dpstandardscaler": 0.3, "dpridge": 0.7})
)
subject("pipeline: ridge", fit_ridge_pipeline)


# Searches and calibration.

GRID = {"data_norm": [0.3, 3.0], "alpha": [1e-4, 1e-2]}
LAPLACE = DPSGDClassifier(mechanism="laplace", max_iter=1, classes=[0, 1])
WHITENED = DPLogisticRegression(classes=[0, 1], max_iter=5)
grid = functools.partial(DPGridSearch, param_grid=GRID, random_state=0)
SEARCHES = {
    "repeat": grid(WHITENED, method="repeat", delta=1e-3, n_trials=4),
    "compose": grid(WHITENED, method="compose", delta=1e-3),
    "auto": grid(WHITENED, delta=1e-3, adjacency="replace_one"),
    "pure": grid(LAPLACE, method="repeat", delta=0.0, epsilon=2.0, n_trials=4),
    "pure compose": grid(LAPLACE, method="compose", delta=0.0, epsilon=2.0),
    "scores": grid(WHITENED, method="compose", scoring="neg_brier_score", delta=1e-3),
    "random": DPRandomizedSearch(
        WHITENED, GRID, n_iter=3, method="compose", delta=1e-3, random_state=0
    ),
}


def fit_search(search):
    X = rows(300, 3)
    search = clone(search).fit(X, labels(X))
    return search, search.predict(X[:20])


for _name, _search in SEARCHES.items():
    subject(f"search: {_name}", functools.partial(fit_search, _search))


def fit_search_of_ridge():
    X, grid = rows(300, 3), {"data_norm": [0.3, 3.0]}
    search = DPGridSearch(
        DPRidge(target_bounds=(-1.0, 1.0), max_iter=5), grid, delta=1e-3, random_state=0
    )
    return search.fit(X, targets(X))


subject("search: ridge", fit_search_of_ridge)


def fit_calibrated(model, adjacency):
    X = rows(300)
    model = DPCalibratedClassifier(model, adjacency=adjacency, random_state=0)
    model.fit(X, labels(X))
    return model, model.predict_proba(X[:20])


for _name, _model in {
    "whitened": DPLogisticRegression(classes=[0, 1]),
    "hinge": DPSCDClassifier(loss="hinge", max_iter=2, classes=[0, 1]),
    "gradient": DPSGDClassifier(max_iter=2, classes=[0, 1]),
}.items():
    for _adjacency in ADJACENCIES:
        subject(
            f"calibrated: {_name}, {_adjacency}",
            functools.partial(fit_calibrated, _model, _adjacency),
        )


def fit_conformal(around, model, adjacency):
    X = rows(900)
    y = labels(X) if around is DPConformalClassifier else X[:, 0]
    model = around(model, adjacency=adjacency, epsilon=5.0, random_state=0).fit(X, y)
    return model, model.predict(X[:20])


for _name, _around, _model in (
    ("sets", DPConformalClassifier, DPLogisticRegression(classes=[0, 1])),
    ("intervals", DPConformalRegressor, DPRidge(target_bounds=(-1.0, 1.0))),
):
    for _adjacency in ADJACENCIES:
        subject(
            f"conformal: {_name}, {_adjacency}",
            functools.partial(fit_conformal, _around, _model, _adjacency),
        )

subject(
    f"{WITHOUT}calibrated: whitened, zero_out",
    lambda: fit_calibrated(without_ball(DPLogisticRegression(classes=[0, 1])), "zero_out"),
)

# Scores and curves.

LASTING = {"epsilon": 1.0, "random_state": 0}
SCORES = {
    "whitened": ("accuracy", "balanced_accuracy", "roc_auc", "neg_log_loss", "neg_brier_score"),
    "ridge": ("r2", "neg_mean_squared_error", "neg_mean_absolute_error"),
}
WAYS = {
    "laplace": {},
    "replace_one": {"adjacency": "replace_one"},
    "gaussian": {"delta": 1e-5, "mechanism": "gaussian"},
    "people": {"groups": np.arange(120)},
}


@functools.cache
def model_to_score(name):
    X = rows()
    if name == "ridge":
        return DPRidge(epsilon=9.0, **REGRESSION).fit(X, targets(X)), targets(X)
    return DPLogisticRegression(epsilon=9.0, **TWO).fit(X, labels(X)), labels(X)


def score(name, **options):
    model, y = model_to_score(name)
    bounds = {"target_bounds": (-1.0, 1.0)} if name == "ridge" else {}
    return private_score(model, rows(), y, **(LASTING | bounds | options))


def curve(function, **options):
    model, y = model_to_score("whitened")
    return function(model, rows(), y, **(LASTING | options))


def compare(**options):
    model, y = model_to_score("whitened")
    other = DPLogisticRegression(alpha=0.5, epsilon=9.0, **TWO).fit(rows(), y)
    return private_compare(model, other, rows(), y, **(LASTING | options))


CHOICES = {
    "costs": {"costs": {"false_positive": 1.0, "false_negative": 4.0}},
    "precision": {"precision": 0.1},
}


for _way, _options in WAYS.items():
    for _name, _scorings in SCORES.items():
        for _scoring in _scorings:
            subject(
                f"score: {_scoring}, {_way}",
                functools.partial(score, _name, scoring=_scoring, **_options),
            )
    for _function in (private_roc_curve, private_calibration_curve, private_confusion_matrix):
        subject(f"{_function.__name__}, {_way}", functools.partial(curve, _function, **_options))
    for _scoring in ("accuracy", "neg_log_loss"):
        subject(
            f"private_compare: {_scoring}, {_way}",
            functools.partial(compare, scoring=_scoring, **_options),
        )
    for _name, _choice in CHOICES.items():
        subject(
            f"private_threshold: {_name}, {_way}",
            functools.partial(curve, private_threshold, **_choice, **_options),
        )

# Labels that are private alone.


def aggregate(**options):
    X = rows()
    return label_aggregate(X, labels(X), **(TWO | options))


for _name, _options in {
    "auto": {},
    "analytic": {"mechanism": "analytic"},
    "classic": {"mechanism": "classic", "epsilon": 0.5},
    "response": {"mechanism": "randomized_response"},
    "spherical": {"mechanism": "analytic", "noise_shape": "spherical", "data_norm": 2.0},
    "weighted": {"mechanism": "analytic", "public_weight": np.linspace(0.5, 2.0, 120)},
}.items():
    subject(f"aggregate: {_name}", functools.partial(aggregate, **_options))
subject(
    "walr_path",
    lambda: walr_path(rows(), aggregate(mechanism="analytic"), alphas=[1e-1, 1e-2, 1e-3]),
)


# Sums over parts.


def fit_parts(name, **options):
    import dask.array

    import skdp.dask

    X = rows(240)
    y = targets(X) if name == "DaskDPRidge" else labels(X)
    parts = dask.array.from_array(X, chunks=(70, -1)), dask.array.from_array(y, chunks=70)
    if name == "label_aggregate":
        return skdp.dask.label_aggregate(*parts, **options)
    return getattr(skdp.dask, name)(**options).fit(*parts)


PARTS = {
    "binary": ("DaskDPLogisticRegression", {"data_norm": 1.5, **TWO}),
    "replace_one": ("DaskDPLogisticRegression", {"adjacency": "replace_one", **TWO}),
    "counts": ("DaskDPPoissonRegressor", {"random_state": 0}),
    "ridge": ("DaskDPRidge", {"data_norm": 1.5, **REGRESSION}),
    "no moment": ("DaskDPRidge", {"moment_budget": 0.0, "max_iter": 5, **REGRESSION}),
    "labels": ("label_aggregate", {"data_norm": 1.5, **TWO}),
}
for _name, (_class, _options) in PARTS.items():
    subject(f"dask: {_name}", functools.partial(fit_parts, _class, **_options))
    if _class != "label_aggregate":
        _plain = PLAIN | _options | {"ball_budget": 0}
        subject(f"{WITHOUT}dask: {_name}", functools.partial(fit_parts, _class, **_plain))


# What a study spends.


def charge(adjacency, unit, fits):
    """Return what a ledger was charged, in the order of the fits, and its report."""
    with tempfile.TemporaryDirectory() as folder:
        path, budget = Path(folder) / "study.db", {"epsilon": 50.0, "delta": 1e-2}
        ledger = PrivacyLedger(path, adjacency=adjacency, unit=unit, allow_seeds=True, **budget)
        # Two charges of one seed are refused: they would have the same noise.
        for seed, fit in enumerate(fits):
            fit(ledger=ledger, random_state=seed)
        found = [json.loads(charge["report"]) for charge in ledger.to_dict()["charges"]]
        kept = ("epsilon", "delta", "adjacency", "unit", "events")
        return [{name: report[name] for name in kept} for report in found], ledger.report()


def charge_search(**given):
    return fit_search(clone(SEARCHES["compose"]).set_params(**given))


def charge_step(**given):
    return fit_step(clone(TRANSFORMERS["scaler"]).set_params(**given), rows())


ROW_FITS = (
    functools.partial(fit_predictor, "whitened"),
    functools.partial(fit_predictor, "gradient"),
    charge_step,
    fit_ridge_pipeline,
    charge_search,
    functools.partial(score, "whitened"),
)
LABEL_FITS = (
    functools.partial(fit_predictor, "labels"),
    functools.partial(aggregate, mechanism="analytic"),
)


def composed():
    names = ("whitened", "dual", "gradient")
    seeded = (fit_predictor(name)[0].privacy_report_ for name in names)
    # Reports of fits with a seed aren't composed.
    reports = [dataclasses.replace(report, reproducible=False) for report in seeded]
    return [compose(reports), compose(reports * 3)]


def reports_at():
    """Return what reports say of other pairs of numbers."""
    reports = [fit_predictor(name)[0].privacy_report_ for name in ("whitened", "gradient")]
    return [
        (report.epsilon_at(1e-7), report.delta_at(0.5), report.epsilon_at(1e-5, group_size=2))
        for report in reports
    ] + [reports[0].tpr_at(0.01)]


def total():
    steps = DPStandardScaler((-3, 3)), DPSGDClassifier(classes=[0, 1])
    return total_report(make_pipeline(*steps).fit(rows(), labels(rows())))


def gap():
    model = DPSCDRegressor(epsilon=float("inf"), fit_intercept=False, **REGRESSION)
    X = rows()
    return duality_gap(model.fit(X, targets(X)), X, targets(X))


def audited():
    # Of 20 rows no ball is learnt.
    model = DPRidge(target_bounds=(-1.0, 1.0), max_iter=2, **PLAIN)
    X = rows(20, 2)
    return audit(model, X, targets(X), n_fits=40, random_state=0)


subject("ledger", functools.partial(charge, "zero_out", "one row", ROW_FITS))
subject(
    "ledger of labels",
    functools.partial(charge, "replace_label", "the label of one row", LABEL_FITS),
)
subject("compose", composed)
subject("reports", reports_at)
subject("total_report", total)
subject("duality_gap", gap)
subject("audit", audited)
for _name, _model in PREDICTORS.items():
    # Of labels there is no preview.
    if _name != "labels":
        subject(f"preview: {_name}", functools.partial(preview, _model, 5000, 9))


def multipliers():
    """Return noise multipliers, and epsilons the other way round."""
    found = {}
    for epsilon, delta in ((0.1, 1e-7), (1.0, 1e-5), (8.0, 1e-3)):
        for adjacency in ADJACENCIES:
            key = f"{epsilon} {delta} {adjacency}"
            closed = calibrate(epsilon, delta, n_steps=7, adjacency=adjacency)
            poisson = {"sampling_rate": 0.01, "n_steps": 300, "adjacency": adjacency}
            found[key] = {
                "closed": closed,
                "back": get_epsilon(closed, delta, n_steps=7, adjacency=adjacency),
                "pld": calibrate(epsilon, delta, **poisson),
                "pure": calibrate_pure(epsilon, n_steps=3, adjacency=adjacency),
            }
        found[f"{epsilon} {delta}"] = {
            "pair": calibrate(epsilon, delta, pairwise=True),
            "rdp": calibrate(epsilon, delta, sampling_rate=0.01, n_steps=300, accountant="rdp"),
            "response": [calibrate_response(epsilon, n_classes=k) for k in (2, 5)],
            "noise": selection_noise(epsilon, delta, n_candidates=5, mean=10.0),
            "selection": calibrate_selection(epsilon, delta, mean=10.0),
        }
    found["classic"] = calibrate_classic(0.5, 1e-5)
    return found


subject("multipliers", multipliers)
