"""What is recorded of what reports say: words, notes and names of releases, of each kind of fit.

A change of words alone is meant to differ here and nowhere else: these subjects begin with "text".
"""

import functools

import numpy as np
from sklearn.base import clone

from skdp.linear_model import (
    DPCDClassifier,
    DPHuberRegressor,
    DPLogisticRegression,
    DPPoissonRegressor,
    DPQuantileRegressor,
    DPRidge,
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDClassifier,
    DPSGDRegressor,
    WALRClassifier,
)
from tests._listed import suited
from tests.golden import _places, _subjects
from tests.golden._subjects import (
    ENCODERS,
    IMPUTERS,
    REGRESSION,
    SEARCHES,
    TABLES,
    TRANSFORMERS,
    TWO,
    fit_calibrated,
    fit_people,
    fit_search,
    fit_step,
    fit_table,
    labels,
    rows,
    subject,
    table,
    targets,
)

SUBJECTS = {}
PURE = {"mechanism": "laplace", "random_state": 0}


def words_of(found):
    """Return what a report says, line by line, without the versions of packages."""
    report = report_of(found)
    return {
        "kind": type(report).__name__,
        "lines": [_without_version(report, line) for line in report.to_text().split("\n")],
        "html": [_without_version(report, row) for row in report._repr_html_().split("</tr>")],
        "says": [
            f"{name}: {said}"
            for name in ("notes", "assumed_public", "not_covered")
            for said in getattr(report, name)
        ],
        "releases": [_named(event) for event in report.to_dict()["events"]],
    }


def report_of(found):
    if hasattr(found, "to_text"):
        return found
    if isinstance(found, tuple):
        return report_of(found[0])
    names = ("privacy_report_", "report", "privacy_report")
    return next(getattr(found, name) for name in names if hasattr(found, name))


def _without_version(report, text):
    version = report.accountant_version
    return text.replace(version, "dp-accounting") if "dp-accounting" in version else text


def _named(entry):
    """Return all words of an event and of the events in it."""
    if isinstance(entry, dict):
        return [f"{name}: {said}" for name, item in entry.items() for said in _named(item)]
    if isinstance(entry, list):
        return [said for item in entry for said in _named(item)]
    return [entry] if isinstance(entry, str) else []


def fit(model, **given):
    X = rows()
    y = labels(X, len(model.classes or [0, 1])) if hasattr(model, "classes") else targets(X)
    return clone(model).fit(X, suited(model, y), **given)


def fit_in_calls():
    X = rows()
    model = DPSGDClassifier(**PURE, classes=[0, 1])
    for part in np.array_split(np.arange(len(X)), 2):
        model.partial_fit(X[part], labels(X)[part])
    return model


FITS = {
    "logistic": DPLogisticRegression(**TWO),
    "logistic, no seed": DPLogisticRegression(classes=[0, 1]),
    "logistic, classes read": DPLogisticRegression(random_state=0),
    "logistic, no noise": DPLogisticRegression(epsilon=float("inf"), **TWO),
    "logistic, a norm": DPLogisticRegression(ball_budget=0, data_norm=1.0, **TWO),
    "logistic, inference": DPLogisticRegression(inference=True, adjacency="replace_one", **TWO),
    "logistic, weights": DPLogisticRegression(class_weight={0: 0.1, 1: 9.0}, **TWO),
    "ridge": DPRidge(**REGRESSION),
    "ridge, targets learnt": DPRidge(random_state=0),
    "ridge, a moment": DPRidge(public_moment=np.eye(5), **REGRESSION),
    "ridge, no moment": DPRidge(moment_budget=0.0, **REGRESSION),
    "counts": DPPoissonRegressor(random_state=0),
    "outliers": DPHuberRegressor(random_state=0),
    "quantiles": DPQuantileRegressor(random_state=0),
    "dual": DPSCDClassifier(**TWO),
    "dual, sequential": DPSCDRegressor(solver="sequential", accountant="rdp", **REGRESSION),
    "dual, primal": DPSCDRegressor(solver="primal", adjacency="replace_one", **REGRESSION),
    "gradient": DPSGDClassifier(**TWO),
    "gradient, laplace": DPSGDRegressor(**PURE, target_bounds=(-1.0, 1.0)),
    "coordinate": DPCDClassifier(max_iter=5, **TWO),
    "coordinate, private": DPCDClassifier(smoothness="private", max_iter=5, **TWO),
    "greedy": DPCDClassifier(selection="greedy", max_iter=5, **TWO),
    "labels": WALRClassifier(mechanism="analytic", data_norm=3.0, **TWO),
    "labels, coins": WALRClassifier(mechanism="randomized_response", **TWO),
}
MADE = {name: functools.partial(fit, model) for name, model in FITS.items()}
MADE |= {
    "personal budgets": lambda: fit(
        DPSGDClassifier(**PURE, classes=[0, 1]), sample_epsilon=np.linspace(0.2, 1.0, 120)
    ),
    "calls": fit_in_calls,
    "people": lambda: fit_people(DPLogisticRegression(**TWO)),
    "people, counts": lambda: fit_people(DPPoissonRegressor(random_state=0)),
    "people, few rows": lambda: fit_people(DPRidge(rows_per_group=1, random_state=0)),
    **{
        f"step, {name}": lambda step=step: fit_step(step, rows())
        for name, step in TRANSFORMERS.items()
        if hasattr(step, "epsilon")
    },
    "scaler of people": lambda: _places.fit_step_of_people(TRANSFORMERS["scaler"], rows()),
    "imputer": lambda: fit_step(IMPUTERS["median, zero_out"], table()[0][["age", "debt"]]),
    "encoder": lambda: fit_step(ENCODERS["few"], table()[0][["word"]]),
    "table": lambda: fit_step(TABLES["hats"], table()[0]),
    "additive": lambda: _subjects.fit_additive(_subjects.ADDITIVE["labels"]),
    "additive of people": lambda: _places.fit_additive(_places.ADDITIVE["counts"], "counts", True),
    "pipeline": lambda: fit_table(DPLogisticRegression(classes=[0, 1]), delta=1e-3),
    "pipeline, gradient": lambda: fit_table(_subjects.LASTS["gradient"], delta=1e-3),
    "search, repeat": lambda: fit_search(SEARCHES["repeat"]),
    "search, compose": lambda: fit_search(SEARCHES["compose"]),
    "calibrated": lambda: fit_calibrated(DPLogisticRegression(classes=[0, 1]), "zero_out"),
    "score": lambda: _subjects.score("whitened"),
    "score, people": lambda: _subjects.score("ridge", scoring="r2", groups=np.arange(120)),
    "curve": lambda: _subjects.curve(_subjects.private_roc_curve),
    "description": lambda: _subjects.describe(table(3000)[0], epsilon=4.0, random_state=0),
    "aggregate": lambda: _subjects.aggregate(mechanism="analytic"),
    "total": _subjects.total,
    "ledger": lambda: _subjects.charge("zero_out", "one row", _subjects.ROW_FITS[:2])[1],
    "composed": lambda: _subjects.composed()[0],
    "parts": lambda: _places.fit_parts("DaskDPRidge", False, **_places.NUMBERS[1]),
    "parts, table": lambda: _places.fit_step_in_parts(_places.VECTORIZER, table(240)[0], False),
}
for _name, _make in MADE.items():
    subject(f"text: {_name}", lambda make=_make: words_of(make()), SUBJECTS)
