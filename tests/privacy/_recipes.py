"""One table of recipes for replays: small problems that take every choice of every estimator.

A recipe is an estimator, how it is fitted, and data (`tests/privacy/_cases.py`), from which follows
what a replay changes. A new estimator is one entry: `test_every_private_estimator_has_a_recipe`
names what lacks one.
"""

import numpy as np

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
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
from skdp.preprocessing import (
    DPNormClipper,
    DPOneHotEncoder,
    DPQuantileClipper,
    DPSimpleImputer,
    DPStandardScaler,
    DPTableVectorizer,
)
from tests.privacy._cases import (
    FAR,
    FAR_SPARSE,
    FAR_TARGETS,
    FAR_TARGETS_SPARSE,
    SPARSE,
    TABLE,
    TABLE_OF_NUMBERS,
    WORDS,
    Case,
)
from tests.privacy._corners import ENTRIES_OF_A_RANGE
from tests.statistics._describing import Describing

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
    # So little noise that few steps follow the curvature.
    DPLogisticRegression(epsilon=1e4, **TWO),
    DPRidge(epsilon=1e6, adjacency="replace_one", target_bounds=(-1, 1), random_state=0),
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
# Exposures are private: those of the record that changes are 0, or as large as numbers get.
EXPOSED_CASES = [
    Case(model, has_exposure=True)
    for model in [
        DPPoissonRegressor(random_state=0),
        DPPoissonRegressor(
            exposure_bounds=(0, 1), fit_intercept=False, adjacency="replace_one", random_state=0
        ),
        DPGammaRegressor(adjacency="replace_one", random_state=0, **PLAIN),
        DPTweedieRegressor(power=1.5, target_bounds=(0, 1), epsilon=50.0, random_state=0),
    ]
]
EXPOSED_CASES += [Case(DPPoissonRegressor(random_state=0), is_weighted=True, has_exposure=True)]
CASES += EXPOSED_CASES
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

# Which entries a sparse row has is data.
SPARSE_CASES = [
    Case(model, data=SPARSE)
    for model in [
        DPSCDClassifier(**TWO),
        DPSCDClassifier(loss="hinge", noisy_dual=True, fit_intercept=False, batch_size=60, **TWO),
        DPSCDRegressor(adjacency="replace_one", target_bounds=(-1, 1), random_state=0),
        DPSGDClassifier(batch_size=9, **THREE),
        DPSGDClassifier(fit_intercept=False, clipping_norm=1e-3, **TWO),
        DPSGDClassifier(max_iter=3, adjacency="replace_one", **PURE).set_params(**THREE),
        DPSGDRegressor(loss="huber", batch_size=60, data_norm=0.5, random_state=0),
        DPCDClassifier(**TWO),
        DPCDClassifier(smoothness="bounds", feature_bounds=(0.1, 2.0), **THREE),
        DPCDClassifier(smoothness="bounds", feature_bounds=(-1.0, 2.0), **TWO),
        DPCDLasso(adjacency="replace_one", feature_bounds=(-2, 3), random_state=0),
        DPCDElasticNet(fit_intercept=False, data_norm=None, average_every=2, random_state=0),
        DPCDClassifier(selection="greedy", **TWO),
        DPCDLasso(
            selection="greedy", feature_bounds=(0.1, 2.0), fit_intercept=False, random_state=0
        ),
        DPLogisticRegression(**TWO),
        DPLogisticRegression(adjacency="replace_one", fit_intercept=False, **THREE),
        DPLogisticRegression(moment_budget=0.0, data_norm=0.05, **TWO),
        DPRidge(moment_budget=0.9, target_bounds=(-1, 1), random_state=0),
        DPRidge(clipping_norm=1e-3, adjacency="replace_one", moment_budget=0.0, random_state=0),
    ]
]
SPARSE_CASES += [
    Case(DPSGDRegressor(target_bounds=(-1, 1), **PURE), "calls", data=SPARSE),
    Case(DPSGDClassifier(**PURE).set_params(**TWO), "personal", data=SPARSE),
]
SPARSE_LABEL_CASES = [
    Case(WALRClassifier(mechanism="analytic", **TWO), data=SPARSE),
    Case(WALRClassifier(mechanism="analytic", noise_shape="spherical", **THREE), data=SPARSE),
]

# Little noise, so that all of the ball is learnt, or as many stages of it as are named.
LOUD = {"epsilon": 25.0}
OF_BALL = frozenset({"units", "reach", "centre", "distance", "recentre", "scales", "radius"})
NOT_MOVED = frozenset({"units", "reach", "scales", "radius"})
REACH, COARSE = frozenset({"reach"}), frozenset({"coarse", "reach"})
LOUD_RIDGE = {"target_bounds": (-1, 1), "random_state": 0, **LOUD}
QUIET_RIDGE = LOUD_RIDGE | {"epsilon": 1.0}
BALL_CASES = [
    Case(model, data=FAR, learnt=learnt)
    for model, learnt in [
        (DPLogisticRegression(**TWO, **LOUD), OF_BALL),
        (DPLogisticRegression(adjacency="replace_one", **THREE, **LOUD), OF_BALL),
        (DPLogisticRegression(fit_intercept=False, **TWO, **LOUD), NOT_MOVED),
        (DPRidge(data_norm=1e5, ball_budget=0.6, **LOUD_RIDGE), OF_BALL),
        (DPRidge(adjacency="replace_one", moment_budget=0.0, **LOUD_RIDGE), OF_BALL),
        (
            DPRidge(adjacency="replace_one", clipping_norm=1e-2, max_iter=2, **LOUD_RIDGE),
            OF_BALL,
        ),
        (DPRidge(**QUIET_RIDGE), COARSE),
        (DPRidge(data_norm=1e5, **QUIET_RIDGE), REACH),
        (DPLogisticRegression(inference=True, **TWO, **LOUD), OF_BALL),
        (DPRidge(inference=True, adjacency="replace_one", **LOUD_RIDGE), OF_BALL),
        (DPCDClassifier(max_iter=2, **TWO, **LOUD), OF_BALL),
        (
            DPCDClassifier(penalty="l1", adjacency="replace_one", max_iter=2, **THREE, **LOUD),
            OF_BALL,
        ),
        (
            DPCDLasso(
                ball_budget=0.6, clipping_norm=1e-2, max_iter=2, coef_bounds=(0, 9), **LOUD_RIDGE
            ),
            OF_BALL,
        ),
        (
            DPCDElasticNet(fit_intercept=False, accountant="rdp", max_iter=2, **LOUD_RIDGE),
            NOT_MOVED,
        ),
        (
            DPCDElasticNet(adjacency="replace_one", data_norm=1e5, max_iter=2, **LOUD_RIDGE),
            OF_BALL,
        ),
        (DPCDLasso(data_norm=1e5, max_iter=1, **QUIET_RIDGE), REACH),
    ]
]
SPARSE_BALL_CASES = [
    Case(case.estimator, data=FAR_SPARSE, learnt=case.learnt)
    for case in BALL_CASES
    if not getattr(case.estimator, "inference", False)
]
# Steps on Poisson batches, whose rates and noise are fixed before.
BATCH_BALL_CASES = [
    Case(model, data=data, learnt=learnt)
    for model, learnt in [
        (DPSGDClassifier(max_iter=2, **TWO, **LOUD), OF_BALL),
        (
            DPSGDClassifier(loss="hinge", adjacency="replace_one", max_iter=1, **THREE, **LOUD),
            OF_BALL,
        ),
        (DPSGDRegressor(data_norm=1e5, clipping_norm=1e-2, max_iter=1, **LOUD_RIDGE), OF_BALL),
        (
            DPSGDRegressor(accountant="rdp", fit_intercept=False, max_iter=1, **LOUD_RIDGE),
            NOT_MOVED,
        ),
        (DPSCDClassifier(max_iter=2, **TWO, **LOUD), OF_BALL),
        (
            DPSCDClassifier(loss="hinge", adjacency="replace_one", max_iter=1, **THREE, **LOUD),
            OF_BALL,
        ),
        (DPSCDRegressor(ball_budget=0.5, clipping_norm=0.1, max_iter=1, **LOUD_RIDGE), OF_BALL),
        (
            DPSCDRegressor(accountant="rdp", fit_intercept=False, max_iter=1, **LOUD_RIDGE),
            NOT_MOVED,
        ),
    ]
    for data in (FAR, FAR_SPARSE)
]
BALLS_OF_PEOPLE = [
    Case(DPLogisticRegression(**TWO, **LOUD), data=FAR),
    Case(
        DPLogisticRegression(adjacency="replace_one", rows_per_group=1.0, **THREE, **LOUD),
        data=FAR,
    ),
    Case(DPRidge(fit_intercept=False, **LOUD_RIDGE), data=FAR),
]

# The bounds of targets are learnt, too.
LEARNT = {"random_state": 0, **LOUD}
OF_SEVERAL_TARGETS = [
    DPRidge(**LEARNT),
    DPRidge(adjacency="replace_one", ball_budget=0.6, **LEARNT),
    DPRidge(fit_intercept=False, data_norm=1e5, **LEARNT),
    DPRidge(adjacency="replace_one", moment_budget=0.0, max_iter=2, **LEARNT),
    DPRidge(**LEARNT | {"epsilon": 1.0}),
    DPSGDRegressor(max_iter=1, **LEARNT),
    DPSGDRegressor(adjacency="replace_one", ball_budget=0.6, max_iter=1, **LEARNT),
    DPSCDRegressor(max_iter=1, **LEARNT),
    DPSCDRegressor(adjacency="replace_one", fit_intercept=False, max_iter=1, **LEARNT),
    DPCDElasticNet(max_iter=1, **LEARNT),
]
OF_ONE_TARGET = [
    DPRidge(inference=True, **LEARNT),
    DPHuberRegressor(**LEARNT),
    DPQuantileRegressor(quantile=0.99, adjacency="replace_one", **LEARNT),
    DPQuantileRegressor(fit_intercept=False, target_bounds=(-1e99, 1e99), **LEARNT),
    DPCDLasso(adjacency="replace_one", fit_intercept=False, max_iter=1, **LEARNT),
]
TARGET_CASES = [Case(model, data=FAR_TARGETS) for model in OF_SEVERAL_TARGETS + OF_ONE_TARGET]
TARGET_CASES += [Case(DPRidge(**LEARNT), data=FAR_TARGETS_SPARSE)]
SEVERAL_TARGET_CASES = [Case(model, n_targets=3, data=FAR_TARGETS) for model in OF_SEVERAL_TARGETS]
SEVERAL_TARGET_CASES += [Case(DPRidge(**LEARNT), n_targets=3, data=FAR_TARGETS_SPARSE)]

# Additive models of raw tables: columns of numbers are learnt, with gaps, and words are given.
GIVEN = {"categories": {"w": WORDS}, "random_state": 0, "epsilon": 25.0}
PAIR = {"interactions": [("x", "w")]}
# With this epsilon there is room for products.
FOUND = {"interactions": "auto", "epsilon": 200.0}
# With this one, shares of classes or means of targets are all that is released.
FEW = {"epsilon": 0.3}
ADDITIVE_CASES = [
    Case(model, data=TABLE)
    for model in [
        DPAdditiveClassifier(**TWO | GIVEN, **PAIR),
        DPAdditiveClassifier(adjacency="replace_one", **THREE | GIVEN),
        DPAdditiveClassifier(monotonic_cst={"x": 1, "y": -1}, features_budget=0.5, **TWO | GIVEN),
        DPAdditiveRegressor(**GIVEN),
        DPAdditiveRegressor(adjacency="replace_one", target_bounds=(-1, 1), **GIVEN, **PAIR),
        DPAdditiveRegressor(feature_bounds=(-5, 5), knots=4, **GIVEN | {"epsilon": 2.0}),
        DPAdditiveRegressor(loss="poisson", adjacency="replace_one", **GIVEN, **PAIR),
        DPAdditiveRegressor(loss="gamma", target_bounds=(0.1, 2.0), **GIVEN),
        DPAdditiveClassifier(**TWO | GIVEN | FOUND),
        DPAdditiveRegressor(adjacency="replace_one", **GIVEN | FOUND),
        DPAdditiveClassifier(**TWO | GIVEN | FEW),
        DPAdditiveClassifier(adjacency="replace_one", **THREE | GIVEN | FEW),
    ]
]
ADDITIVE_CASES += [
    Case(DPAdditiveRegressor(loss="poisson", **GIVEN), data=TABLE, has_exposure=True),
]
# Here means of targets are, with ranges that are learnt or given.
ADDITIVE_CASES += [
    Case(DPAdditiveRegressor(random_state=0, **FEW), data=FAR_TARGETS),
    Case(
        DPAdditiveRegressor(adjacency="replace_one", random_state=0, **FEW),
        n_targets=3,
        data=FAR_TARGETS,
    ),
    Case(
        DPAdditiveRegressor(adjacency="replace_one", target_bounds=(-1, 1), random_state=0, **FEW),
        data=FAR_TARGETS,
    ),
]
ADDITIVE_OF_PEOPLE = [
    Case(model, data=TABLE_OF_NUMBERS)
    for model in [
        DPAdditiveClassifier(**TWO | LOUD),
        DPAdditiveClassifier(adjacency="replace_one", **TWO | LOUD),
        DPAdditiveRegressor(random_state=0, **LOUD),
        DPAdditiveClassifier(**TWO | FOUND),
    ]
]

# Records are people, who have many rows.
PEOPLE_CASES = [
    Case(DPLogisticRegression(**TWO)),
    Case(DPLogisticRegression(adjacency="replace_one", rows_per_group=1.0, **THREE)),
    Case(DPLogisticRegression(fit_intercept=False, average=False, **TWO)),
    Case(DPLogisticRegression(public_moment=3.0 * np.eye(5), **TWO)),
    Case(DPLogisticRegression(moment_budget=0.0, data_norm=0.05, **THREE)),
    Case(DPLogisticRegression(moment_budget=0.9, max_iter=7, epsilon=50.0, **TWO)),
    Case(DPLogisticRegression(clipping_norm=1e-3, max_iter=3, rows_per_group=40.0, **TWO)),
    Case(DPPoissonRegressor(random_state=0)),
    Case(DPPoissonRegressor(random_state=0), has_exposure=True),
    Case(DPGammaRegressor(adjacency="replace_one", random_state=0, **PLAIN)),
    Case(DPHuberRegressor(random_state=0)),
    Case(DPQuantileRegressor(quantile=0.9, adjacency="replace_one", random_state=0)),
    Case(DPRidge(target_bounds=(-1, 1), random_state=0)),
    Case(DPRidge(fit_intercept=False, adjacency="replace_one", random_state=0)),
    Case(DPRidge(clipping_norm=1e30, step_size=1e30, alpha=1e-30, max_iter=5, random_state=0)),
    Case(DPRidge(data_norm=1e3, alpha=1e3, epsilon=1e4, random_state=0)),
    Case(DPRidge(target_bounds=(-1, 1), adjacency="replace_one", random_state=0), n_targets=3),
]
TRANSFORMERS_OF_PEOPLE = [*map(Case, TRANSFORMERS)]

# What is fitted to columns of raw entries alone. Their replays say what the columns are.
IMPUTERS = {
    "mean": DPSimpleImputer(strategy="mean"),
    "median": DPSimpleImputer(strategy="median"),
    "listed": DPSimpleImputer(
        strategy="most_frequent", categories=[list(ENTRIES_OF_A_RANGE[:-1])] * 2
    ),
}
# They find categories.
SEARCHES = {
    "encoder": DPOneHotEncoder(),
    "two columns": DPOneHotEncoder(max_categories=3),
    "imputer": DPSimpleImputer(strategy="most_frequent"),
    "frequent": DPOneHotEncoder(min_frequency=20, handle_unknown="ignore"),
}
PER_COLUMN_OF_PEOPLE = {
    "encoder": DPOneHotEncoder(),
    "most frequent": DPSimpleImputer(strategy="most_frequent"),
    "mean": DPSimpleImputer(strategy="mean"),
    "median": DPSimpleImputer(strategy="median"),
}
NUMERIC = {"numeric_features": ["x", "z"]}
VECTORIZERS = {
    "learnt": DPTableVectorizer(**NUMERIC),
    "lines": DPTableVectorizer(basis="linear", **NUMERIC),
    "bounded": DPTableVectorizer(feature_bounds=(-2, 2), **NUMERIC),
    "one bounded": DPTableVectorizer(feature_bounds={"z": (0, 9)}, knots=5, **NUMERIC),
    "one given": DPTableVectorizer(knots={"z": [0, 9]}, **NUMERIC),
}


class AdditiveOfNumbers(DPAdditiveClassifier):
    """A model of a table alone, whose records have the label of their number."""

    def fit(self, X, groups=None):
        return super().fit(X, np.arange(len(X)) % 2, groups=groups)


# They learn the kinds of columns.
UNTYPED = {
    "vectorizer": DPTableVectorizer(),
    "lines": DPTableVectorizer(basis="linear", feature_bounds=(0, 9)),
    # A share that is given makes it fit a model of so few records, too.
    "additive": AdditiveOfNumbers(classes=[0, 1], features_budget=0.3),
    "describe": Describing(crosstabs=[("x", "z")]),
}
OF_RECORDS = [*CASES, *LABEL_CASES, *RESPONSE_CASES, *SPARSE_CASES, *SPARSE_LABEL_CASES]
OF_RECORDS += [*BALL_CASES, *SPARSE_BALL_CASES, *BATCH_BALL_CASES]
OF_RECORDS += [*TARGET_CASES, *SEVERAL_TARGET_CASES, *ADDITIVE_CASES]
OF_PEOPLE = [*PEOPLE_CASES, *BALLS_OF_PEOPLE, *ADDITIVE_OF_PEOPLE, *TRANSFORMERS_OF_PEOPLE]
OF_COLUMNS = [*IMPUTERS.values(), *SEARCHES.values(), *VECTORIZERS.values(), *UNTYPED.values()]
