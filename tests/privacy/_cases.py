"""Small problems that together take every choice of every estimator."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import is_classifier

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
)
from skdp.preprocessing import DPNormClipper, DPQuantileClipper, DPStandardScaler
from tests._listed import suited

N_ROWS, N_FEATURES = 60, 4
# The record that changes.
K = 17
TWO, THREE = {"classes": [0, 1], "random_state": 0}, {"classes": [0, 1, 2], "random_state": 0}
PURE = {"mechanism": "laplace", "random_state": 0}
DUAL = [
    DPSCDClassifier(**TWO),
    DPSCDClassifier(loss="hinge", batch_size=9, accountant="rdp", **THREE),
    DPSCDClassifier(noisy_dual=True, average=False, **TWO),
    DPSCDClassifier(
        noisy_dual=True, fit_intercept=False, data_norm=0.05, clipping_norm=0.01, batch_size=60
    ).set_params(**TWO),
    DPSCDClassifier(solver="sequential", max_iter=4, **THREE),
    DPSCDClassifier(solver="primal", feature_bounds=(-0.5, 2.0), **TWO),
    DPSCDClassifier(adjacency="replace_one", clipping_norm=1e-3, batch_size=20, **TWO),
    DPSCDRegressor(target_bounds=(-1, 1), random_state=0),
    DPSCDRegressor(fit_intercept=False, adjacency="replace_one", batch_size=60, random_state=0),
    DPSCDRegressor(noisy_dual=True, accountant="rdp", average=False, random_state=0),
    DPSCDRegressor(
        solver="sequential", adjacency="replace_one", max_iter=4, batch_size=5, random_state=0
    ),
    DPSCDRegressor(solver="primal", adjacency="replace_one", batch_size=3, random_state=0),
    # Rows shorter than 1, whose dual updates are longer than what they add to v.
    DPSCDRegressor(
        solver="sequential", fit_intercept=False, data_norm=0.05, batch_size=1, max_iter=2
    ).set_params(clipping_norm=0.01, random_state=0),
    # Batches of one row, whose bound leaves the least room for an intercept's column too long.
    DPSCDRegressor(
        solver="sequential", adjacency="replace_one", batch_size=1, max_iter=2, clipping_norm=1e-3
    ).set_params(random_state=0),
    # An intercept's column that is longer than 1.
    DPSCDRegressor(solver="primal", data_norm=5.0, random_state=0),
]
GRADIENT = [
    DPSGDClassifier(**TWO),
    DPSGDClassifier(penalty="l1", batch_size=9, accountant="rdp", average=False, **THREE),
    DPSGDClassifier(loss="hinge", adjacency="replace_one", learning_rate="invscaling", **THREE),
    DPSGDClassifier(fit_intercept=False, learning_rate="inv_alpha", alpha=1.0, **TWO),
    DPSGDClassifier(loss="hinge", learning_rate="constant", clipping_norm=1e-3, **TWO),
    DPSGDClassifier(batch_size=7, **PURE).set_params(**TWO),
    DPSGDClassifier(max_iter=3, adjacency="replace_one", **PURE).set_params(**THREE),
    DPSGDClassifier(penalty="elasticnet", loss="hinge", **PURE).set_params(**THREE),
    DPSGDRegressor(target_bounds=(-1, 1), fit_intercept=False, batch_size=60, random_state=0),
    DPSGDRegressor(loss="huber", huber_threshold=0.3, clipping_norm=0.1, random_state=0),
    DPSGDRegressor(accountant="rdp", learning_rate="constant", average=False, random_state=0),
    DPSGDRegressor(adjacency="replace_one", learning_rate="inv_alpha", alpha=1.0, random_state=0),
    DPSGDRegressor(penalty="l1", learning_rate="invscaling", random_state=0),
    DPSGDRegressor(loss="huber", target_bounds=(-1, 1), penalty="elasticnet", **PURE),
    DPSGDRegressor(eta0=1e30, clipping_norm=1e30, alpha=1e-30, fit_intercept=False, **PURE),
]
COORDINATE = [
    DPCDClassifier(smoothness="bounds", accountant="rdp", **TWO),
    # Little noise: its slopes are scaled.
    DPCDClassifier(epsilon=50.0, **TWO),
    DPCDClassifier(penalty="l1", clipping_norm=0.3, **THREE),
    DPCDClassifier(clip_by="entry", **THREE),
    DPCDClassifier(penalty="elasticnet", adjacency="replace_one", fit_intercept=False, **TWO),
    DPCDClassifier(smoothness="private", data_norm=0.5, average_every=None, **TWO),
    DPCDLasso(
        target_bounds=(-1, 1), positive=True, smoothness="bounds", clip_by="entry", random_state=0
    ),
    DPCDLasso(
        smoothness="private", adjacency="replace_one", feature_bounds=(-2, 3), random_state=0
    ),
    DPCDLasso(
        fit_intercept=False, accountant="rdp", coef_bounds=(-0.2, 0.1), max_iter=20, random_state=0
    ),
    DPCDElasticNet(fit_intercept=False, adjacency="replace_one", max_iter=3, random_state=0),
    DPCDElasticNet(
        smoothness=[0.1, 0.2, 0.3, 0.4], positive=True, accountant="rdp", max_iter=20
    ).set_params(random_state=0),
    DPCDElasticNet(smoothness="bounds", data_norm=2.0, max_iter=20, random_state=0),
    DPCDElasticNet(clip_by="entry", smoothness="bounds", max_iter=3, random_state=0),
    DPCDElasticNet(step_size=1e30, clipping_norm=1e30, alpha=1e-30, random_state=0),
]
GREEDY = [
    DPCDClassifier(**TWO),
    DPCDClassifier(penalty="l1", alpha=0.1, adjacency="replace_one", data_norm=0.5, **THREE),
    DPCDClassifier(fit_intercept=False, max_iter=3, epsilon=50.0, **TWO),
    DPCDClassifier(clipping_norm=1e-3, feature_bounds=(0.1, 2.0), accountant="rdp", **TWO),
    DPCDLasso(target_bounds=(-1, 1), positive=True, alpha=0.01, random_state=0),
    DPCDElasticNet(adjacency="replace_one", coef_bounds=(-0.2, 0.1), alpha=1.0, random_state=0),
    DPCDElasticNet(step_size=1e30, clipping_norm=1e30, alpha=1e-30, random_state=0),
    DPCDElasticNet(clipping_norm=1e-30, alpha=1e30, max_iter=3, random_state=0),
]
COORDINATE += [model.set_params(selection="greedy") for model in GREEDY]
# Without a learnt ball.
PLAIN = {"ball_budget": 0, "data_norm": 1.0}
# How many steps there are, and with how much noise, follows from what was released before.
WHITENED = [
    DPLogisticRegression(**TWO),
    DPLogisticRegression(adjacency="replace_one", **THREE),
    DPLogisticRegression(fit_intercept=False, average=False, momentum=0.0, **TWO),
    DPLogisticRegression(**PLAIN, **TWO),
    DPLogisticRegression(adjacency="replace_one", **PLAIN, **THREE),
    DPLogisticRegression(moment_budget=0.0, data_norm=0.05, **THREE),
    DPLogisticRegression(moment_budget=0.9, data_norm=30.0, max_iter=7, epsilon=50.0, **TWO),
    DPLogisticRegression(
        adjacency="replace_one", clipping_norm=1e-3, step_size=0.5, momentum=0.9, max_iter=3
    ).set_params(**TWO),
    DPRidge(target_bounds=(-1, 1), random_state=0),
    DPRidge(fit_intercept=False, adjacency="replace_one", random_state=0),
    DPRidge(random_state=0, **PLAIN),
    DPRidge(fit_intercept=False, adjacency="replace_one", random_state=0, **PLAIN),
    DPRidge(moment_budget=0.0, adjacency="replace_one", average=False, random_state=0),
    DPRidge(moment_budget=1e-6, data_norm=1e-3, random_state=0),
    DPRidge(public_moment=np.eye(5), random_state=0),
    DPRidge(public_moment=np.diag([1.0, 1e200, 0.0, 1e-200, 3.0]), random_state=0, **PLAIN),
    DPLogisticRegression(public_moment=1e-3 * np.eye(5), fit_intercept=False, **TWO),
    DPPoissonRegressor(random_state=0),
    DPPoissonRegressor(
        fit_intercept=False, average=False, adjacency="replace_one", random_state=0, **PLAIN
    ),
    DPGammaRegressor(adjacency="replace_one", random_state=0),
    DPGammaRegressor(fit_intercept=False, average=False, momentum=0.0, random_state=0),
    DPTweedieRegressor(power=1.5, target_bounds=(0, 1), epsilon=50.0, random_state=0),
    DPTweedieRegressor(
        power=3.0, fit_intercept=False, average=False, adjacency="replace_one", random_state=0
    ),
    DPTweedieRegressor(power=0.0, target_bounds=(-1, 1), random_state=0),
    DPHuberRegressor(random_state=0),
    DPHuberRegressor(huber_threshold=1e-3, fit_intercept=False, average=False, random_state=0),
    DPHuberRegressor(
        huber_threshold=1e3, target_bounds=(-1, 1), adjacency="replace_one", random_state=0
    ),
    DPQuantileRegressor(random_state=0),
    DPQuantileRegressor(quantile=0.9, adjacency="replace_one", random_state=0, **PLAIN),
    DPQuantileRegressor(
        quantile=0.1, target_bounds=(0, 1), fit_intercept=False, average=False, random_state=0
    ),
    DPRidge(clipping_norm=1e30, step_size=1e30, alpha=1e-30, max_iter=5, random_state=0),
    DPRidge(fit_intercept=False, data_norm=1e3, alpha=1e3, epsilon=1e4, random_state=0),
]
# They don't read targets.
TRANSFORMERS = [
    DPStandardScaler(random_state=0),
    DPStandardScaler(epsilon=50.0, adjacency="replace_one", random_state=0),
    DPStandardScaler(([-1.0, -99.0, 0.0, -1e100], [1.0, 1.0, 1e-9, 1e100]), random_state=0),
    DPQuantileClipper(random_state=0),
    DPQuantileClipper((-5, 50), scale="log", adjacency="replace_one", random_state=0),
    DPQuantileClipper(quantiles=(0.4, 0.6), epsilon=50.0, random_state=0),
    DPNormClipper(random_state=0),
    DPNormClipper(0.1, norm_bounds=(0.1, 2.0), adjacency="replace_one", random_state=0),
]
# Two parts of the steps, and four releases besides.
INFERENCE = [
    DPLogisticRegression(inference=True, **TWO),
    DPLogisticRegression(inference=True, adjacency="replace_one", max_iter=12, **TWO),
    DPLogisticRegression(inference=True, max_iter=12, **PLAIN, **TWO),
    # Rows beyond a norm are weighted, and nothing is learnt of them.
    DPLogisticRegression(inference=True, data_norm=0.7, max_iter=12, **TWO),
    DPRidge(
        inference=True, data_norm=0.7, adjacency="replace_one", max_iter=12, random_state=0
    ).set_params(target_bounds=(-1, 1)),
    # Little noise, so that there are intervals, and what is cut to a bound reaches it.
    DPLogisticRegression(inference=True, epsilon=1e4, clipping_norm=0.5, max_iter=12, **TWO),
    DPLogisticRegression(
        inference=True, epsilon=1e4, fit_intercept=False, moment_budget=0.5, max_iter=12
    ).set_params(**TWO),
    DPRidge(inference=True, target_bounds=(-1, 1), max_iter=12, random_state=0),
    DPRidge(inference=True, adjacency="replace_one", max_iter=12, random_state=0),
    DPRidge(inference=True, adjacency="replace_one", max_iter=12, random_state=0, **PLAIN),
    DPRidge(inference=True, epsilon=1e4, target_bounds=(-1, 1), max_iter=12, random_state=0),
    DPRidge(
        inference=True, epsilon=1e4, adjacency="replace_one", fit_intercept=False, data_norm=30.0
    ).set_params(max_iter=12, clipping_norm=0.3, random_state=0),
]
LABEL = [
    WALRClassifier(mechanism="analytic", **TWO),
    WALRClassifier(mechanism="analytic", noise_shape="spherical", fit_intercept=False, **THREE),
    WALRClassifier(noise_shape="adapted", data_norm=0.7, mechanism="classic", **TWO),
    WALRClassifier(
        mechanism="analytic", noise_shape="spherical", data_norm=1e-3, solver="gd", max_iter=5
    ).set_params(**THREE),
    WALRClassifier(
        mechanism="analytic", fit_intercept=False, epsilon=50.0, solver="hybrid", average=False
    ).set_params(**TWO),
    WALRClassifier(
        mechanism="analytic", solver="hybrid", batch_size=7, max_iter=5, alpha=0.1, eta0=0.1
    ).set_params(**THREE),
]
# What is released are labels that coins may have changed. On these rows "auto" chooses so.
RESPONSE = [
    WALRClassifier(mechanism="randomized_response", **TWO),
    WALRClassifier(mechanism="randomized_response", solver="hybrid", **THREE),
    WALRClassifier(delta=0.0, fit_intercept=False, data_norm=0.7, **THREE),
    WALRClassifier(mechanism="auto", epsilon=3.0, **TWO),
]


@dataclass(frozen=True)
class Case:
    """An estimator and how it is fitted.

    Attributes
    ----------
    estimator : estimator
    way : {"fit", "personal", "calls"}
        "personal" gives `sample_epsilon`, "calls" are three of `partial_fit`.
    n_targets : int
        Of a regressor.
    read : callable
        Makes of an ndarray what the estimator is given.
    is_weighted : bool
        Whether rows have public weights.
    """

    estimator: object
    way: str = "fit"
    n_targets: int = 1
    read: Callable = lambda X: X
    is_weighted: bool = False

    def __str__(self):
        weighted = "weighted-" * self.is_weighted
        return f"{weighted}{self.way}-{self.n_targets}-{self.estimator!r}"

    def weights(self, n_rows):
        """Return public weights as arguments of a fit: records that change are the heaviest."""
        if not self.is_weighted:
            return {}
        found = np.random.default_rng(3).choice([0.3, 1.0, 5.0], n_rows)
        found[3:5], found[K : K + 1], found[N_ROWS:] = 0.0, 5.0, 5.0
        return {"public_weight": found}

    @property
    def classes(self):
        """The declared classes, or None for a regressor."""
        return self.estimator.classes if is_classifier(self.estimator) else None

    @property
    def draws_rows(self):
        """Whether releases are sums over batches of rows, rather than over all rows."""
        return getattr(self.estimator, "solver", "dual") in ("dual", "sequential") and not (
            hasattr(self.estimator, "step_size") or hasattr(self.estimator, "transform")
        )

    def records(self, n_rows=N_ROWS, seed=20210214):
        """Return rows of many lengths, and targets or labels of all kinds."""
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n_rows, N_FEATURES)) * rng.choice([0.05, 0.5, 20.0], (n_rows, 1))
        if self.classes is not None:
            return X, rng.choice(self.classes, n_rows)
        y = rng.uniform(-1.5, 1.5, (n_rows, self.n_targets))
        return X, suited(self.estimator, y if self.n_targets > 1 else y[:, 0])

    def other_label(self, label):
        """Return the next class, or the target's negative."""
        if self.classes is None:
            return -label if suited(self.estimator, -1.0) < 0.0 else 1e3 * label
        return self.classes[(list(self.classes).index(label) + 1) % len(self.classes)]

    @property
    def bound(self):
        """A length that rows are clipped to, or a value that features are clipped to."""
        data_norm = getattr(self.estimator, "data_norm", None)
        return 1.0 if data_norm is None else data_norm


CASES = [
    *map(Case, DUAL + GRADIENT + COORDINATE + WHITENED + TRANSFORMERS + INFERENCE),
    Case(DPSCDRegressor(random_state=0), n_targets=2),
    Case(DPSCDRegressor(solver="primal", feature_bounds=(-1, 1), random_state=0), n_targets=2),
    Case(DPSGDRegressor(loss="huber", random_state=0), n_targets=3),
    Case(DPCDElasticNet(max_iter=20, random_state=0), n_targets=2),
    Case(DPCDElasticNet(selection="greedy", max_iter=20, random_state=0), n_targets=2),
    Case(DPRidge(random_state=0), n_targets=2),
    Case(DPRidge(target_bounds=(-1, 1), adjacency="replace_one", random_state=0), n_targets=3),
    Case(DPSGDClassifier(**PURE).set_params(**TWO), "personal"),
    Case(DPSGDRegressor(max_iter=2, adjacency="replace_one", batch_size=5, **PURE), "personal"),
    Case(DPSGDClassifier(average=False, **PURE).set_params(**THREE), "calls"),
    Case(DPSGDRegressor(target_bounds=(-1, 1), **PURE), "calls"),
    Case(DPSGDRegressor(fit_intercept=False, penalty="l1", **PURE), "calls", n_targets=2),
]
# Classes that count more, less and nothing, by labels that are private.
UNEVEN = {"class_weight": {0: 0.1, 1: 9.0}}
CASES += [
    Case(model.set_params(**UNEVEN), is_weighted=i % 2 == 0)
    for i, model in enumerate(
        [
            DPLogisticRegression(**TWO),
            DPLogisticRegression(adjacency="replace_one", moment_budget=0.3, **THREE),
            DPSCDClassifier(**TWO),
            DPSCDClassifier(noisy_dual=True, adjacency="replace_one", **THREE),
            DPSCDClassifier(solver="sequential", max_iter=3, **TWO),
            DPSCDClassifier(solver="primal", **TWO),
            DPSGDClassifier(adjacency="replace_one", **TWO),
            DPSGDClassifier(loss="hinge", **THREE),
            DPCDClassifier(**TWO),
            DPCDClassifier(adjacency="replace_one", **THREE),
            DPCDClassifier(selection="greedy", **TWO),
            DPCDClassifier(selection="greedy", adjacency="replace_one", **THREE),
        ]
    )
]
CASES += [
    Case(DPLogisticRegression(class_weight={0: 0.0}, **TWO)),
    Case(DPSCDClassifier(class_weight={1: 0.0}, loss="hinge", **TWO)),
    Case(DPCDClassifier(class_weight={1: 0.0, 2: 30.0}, **THREE)),
    Case(DPSGDClassifier(**PURE).set_params(**TWO, **UNEVEN), "personal", is_weighted=True),
    Case(DPSGDClassifier(**PURE).set_params(**THREE, **UNEVEN), "calls", is_weighted=True),
    Case(DPSGDRegressor(max_iter=2, **PURE), "personal", is_weighted=True),
    Case(DPSGDRegressor(random_state=0), n_targets=2, is_weighted=True),
    Case(DPSCDRegressor(random_state=0), n_targets=2, is_weighted=True),
    Case(DPSCDRegressor(solver="sequential", max_iter=3, random_state=0), is_weighted=True),
    Case(DPCDElasticNet(smoothness="bounds", random_state=0), n_targets=2, is_weighted=True),
    Case(DPRidge(adjacency="replace_one", random_state=0), n_targets=2, is_weighted=True),
]
LABEL_CASES = [*map(Case, LABEL)]
LABEL_CASES += [
    Case(WALRClassifier(mechanism="analytic", **TWO), is_weighted=True),
    Case(
        WALRClassifier(mechanism="analytic", noise_shape="spherical", solver="hybrid", **THREE),
        is_weighted=True,
    ),
]
RESPONSE_CASES = [*map(Case, RESPONSE)]
RESPONSE_CASES += [Case(WALRClassifier(mechanism="randomized_response", **THREE), is_weighted=True)]


# What every change needs are the corners, null records and noise of each class, way of fitting and
# mechanism. That all data look the same given the releases is asked of every case.
KIND = ("mechanism", "noise_shape", "noisy_dual", "solver", "selection", "inference", "ball_budget")


def first_of_a_kind(cases):
    """Parameters: the first case of each kind, and the others in the long tier."""
    seen = set()
    for case in cases:
        choices = [getattr(case.estimator, name, None) for name in KIND]
        kind = type(case.estimator), case.way, case.read, *choices
        yield pytest.param(case, marks=[pytest.mark.long] if kind in seen else [])
        seen.add(kind)


def along(x, length):
    return length * x / np.linalg.norm(x)


# What the record becomes: from its row, label, a bound and a function that gives another label.
CORNERS = {
    "zero row": lambda x, y, bound, other: (0.0 * x, y),
    "at the bound": lambda x, y, bound, other: (along(x, bound), other(y)),
    "past the bound": lambda x, y, bound, other: (along(-x, np.nextafter(bound, 9e9)), y),
    "far": lambda x, y, bound, other: (1e9 * np.sign(x), y),
    "1e308": lambda x, y, bound, other: (1e308 * np.sign(x), other(y)),
    "1e308 in a column": lambda x, y, bound, other: (-1e308 * np.eye(len(x))[1], y),
    "opposite sign": lambda x, y, bound, other: (-x, other(y)),
    "subnormal": lambda x, y, bound, other: (np.full_like(x, 5e-324), other(y)),
    "only the label": lambda x, y, bound, other: (x, other(y)),
}
TARGETS = {"low end": -1.0, "high end": 1.0, "far below": -1e308, "far above": 1e308}


def neighbour(case, X, y, corner, k=K):
    """Copies of X and y in which record `k` is another one."""
    X, y = X.copy(), y.copy()
    if corner in TARGETS:
        y[k] = suited(case.estimator, TARGETS[corner])
    else:
        X[k], y[k] = CORNERS[corner](X[k], y[k], case.bound, case.other_label)
    return X, y


def label_neighbours(case, y):
    """Copies of y in which one label is another, for some of the records."""
    for k in (*range(0, N_ROWS, 13), N_ROWS, N_ROWS + 1, N_ROWS + 2):
        moved = y.copy()
        moved[k] = case.other_label(y[k])
        yield k, moved


def unrelated_data(case, X, y):
    """Data sets of the same shape that share nothing with one but the features, for WALR's."""
    other, labels = case.records(seed=1)
    ends = case.classes or [-1e308, 1e308]
    found = [
        (other[:, ::-1] ** 3, labels),
        (np.zeros_like(X), np.full_like(y, suited(case.estimator, ends[0]))),
        (np.full_like(X, 1e200), np.full_like(y, suited(case.estimator, ends[-1]))),
    ]
    if case in LABEL_CASES:
        found = [(X, labels) for _, labels in found]
    return found
