"""scikit-learn's checks and ours, of every estimator, from one table.

All that `skdp.utils.discovery` finds is checked by its default. The table has variants, and what is
made of other estimators. None is expected to fail but where scikit-learn excuses its own.
"""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks

from skdp.calibration import (
    DPCalibratedClassifier,
    DPConformalClassifier,
    DPConformalRegressor,
)
from skdp.linear_model import (
    DPCDClassifier,
    DPCDElasticNet,
    DPCDLasso,
    DPLogisticRegression,
    DPRidge,
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDClassifier,
    DPSGDRegressor,
    WALRClassifier,
)
from skdp.model_selection import DPGridSearch, DPRandomizedSearch
from skdp.pipeline import DPPipeline
from skdp.preprocessing import (
    DPNormClipper,
    DPQuantileClipper,
    DPStandardScaler,
    NormClipper,
)
from skdp.utils.discovery import all_estimators
from skdp.utils.estimator_checks import check_private_estimator
from tests._checks import name_of, with_checks
from tests._listed import PRIVATE
from tests._loops import for_each, one_of_a_class

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")
INF = float("inf")
EPSILONS = (1.0, INF, 1e-3)
PUBLIC = [estimator for _, estimator in all_estimators("transformer") if estimator not in PRIVATE]
LAPLACE = {"mechanism": "laplace"}
OPTIONS = {
    "DPCD": [
        {"smoothness": "bounds"},
        {"coef_bounds": (-0.5, 0.5), "average_every": None},
        {"selection": "greedy"},
    ],
    "DPCDClassifier": [{"penalty": "l1"}, {"penalty": "elasticnet"}],
    "DPCDElasticNet": [{"positive": True}],
    "DPCDLasso": [{"positive": True}],
    "DPQuantileClipper": [{"scale": "log"}],
    "DPLogisticRegression": [{"moment_budget": 0.0}, {"ball_budget": 0, "data_norm": 1.0}],
    "DPOneHotEncoder": [{"sparse_output": True}, {"handle_unknown": "ignore"}],
    "DPRidge": [{"moment_budget": 0.0}, {"ball_budget": 0, "data_norm": 1.0}],
    "DPSCD": [{"noisy_dual": True}, {"solver": "sequential", "max_iter": 2}, {"solver": "primal"}],
    "DPSimpleImputer": [{"strategy": s} for s in ("median", "most_frequent", "constant")],
    "DPSGD": [LAPLACE, {"penalty": "l1"}, {"penalty": "elasticnet", **LAPLACE}],
    "DPTable": [{"basis": "linear"}, {"knots": 5, "feature_bounds": (-3, 3)}],
    "WALR": [{"solver": "hybrid"}, {"solver": "gd", "noise_shape": "spherical"}],
}


def other_losses(estimator):
    """What `loss` may be, but for its default."""
    choices = [kind.options for kind in estimator._parameter_constraints.get("loss", ())]
    return sorted(set().union(*choices) - {estimator().get_params().get("loss")})


def variants(estimator):
    """An estimator with each choice that its checks may depend on, the default first."""
    # An epsilon of 1 is the default.
    yield from (estimator(epsilon=epsilon) for epsilon in EPSILONS)
    for prefix, choices in OPTIONS.items():
        if estimator.__name__.startswith(prefix):
            yield from (estimator(**options) for options in choices)
    for loss in other_losses(estimator):
        yield from (estimator(loss=loss, epsilon=epsilon) for epsilon in (1.0, INF))


def pipelines():
    for last in (DPLogisticRegression(), DPRidge(target_bounds=(-9, 9)), DPSCDClassifier()):
        for epsilon in EPSILONS:
            steps = [("scaler", DPStandardScaler((-9, 9))), ("final_estimator", clone(last))]
            yield DPPipeline(steps, epsilon=epsilon)
    yield DPPipeline([("clipper", NormClipper()), ("scaler", DPStandardScaler((-9, 9)))])


CALIBRATED = [
    DPCalibratedClassifier(model, epsilon=epsilon)
    for model in (DPLogisticRegression(), DPSCDClassifier(loss="hinge"))
    for epsilon in EPSILONS
]
ALPHAS = {"alpha": [1e-4, 1e-2]}
BOUNDED = DPRidge(target_bounds=(-9, 9))
CONFORMAL = [
    *(DPConformalRegressor(clone(BOUNDED), epsilon=epsilon) for epsilon in EPSILONS),
    *(DPConformalClassifier(DPLogisticRegression(), epsilon=epsilon) for epsilon in EPSILONS),
]
SEARCHES = [
    DPGridSearch(DPLogisticRegression(), ALPHAS, method="repeat", n_trials=2),
    DPGridSearch(BOUNDED, ALPHAS, method="compose"),
    DPGridSearch(DPLogisticRegression(), ALPHAS, epsilon=INF),
    DPGridSearch(make_pipeline(NormClipper(), BOUNDED), {"dpridge__alpha": [1e-4]}, epsilon=1e-3),
    DPRandomizedSearch(
        DPRidge(), {"alpha": [1e-4, 1e-3, 1e-2]}, n_iter=2, epsilon=INF, method="repeat"
    ),
]
ESTIMATORS = [one for estimator in PRIVATE for one in variants(estimator)]
ESTIMATORS += [estimator() for estimator in PUBLIC]
# They take an estimator, and so are not found.
COMPOSED = [*pipelines(), *CALIBRATED, *CONFORMAL, *SEARCHES]
# Of these scikit-learn excuses its own Pipeline, for the same reason: its `steps` become fitted.
# One's name changed.
EXCUSED = {
    DPPipeline: {
        "check_dont_overwrite_attributes",
        "check_dont_overwrite_parameters",
        "check_estimators_overwrite_params",
    }
}


SKIPS = pytest.mark.filterwarnings("default::sklearn.exceptions.SkipTestWarning")


@pytest.mark.every
@with_checks(ESTIMATORS, parts=("parameters",))
@SKIPS
def test_check_estimator(estimator, check):
    run_check(estimator, check)


@pytest.mark.long
@pytest.mark.every
@with_checks(ESTIMATORS, parts=("class", "class, long"))
@SKIPS
def test_check_class(estimator, check):
    run_check(estimator, check)


@pytest.mark.long
@pytest.mark.every
@with_checks(COMPOSED, composed={*map(type, COMPOSED)}, excused=EXCUSED)
@SKIPS
def test_check_composed(estimator, check):
    run_check(estimator, check)


def run_check(estimator, check):
    is_a_thousand_passes = name_of(check) == "check_class_weight_classifiers"
    if is_a_thousand_passes and estimator.get_params().get("solver") == "sequential":
        pytest.skip("takes rows one by one; compared with scikit-learn in test_weights")
    check(estimator)


# Checks that scikit-learn runs on its own estimators and `check_estimator` doesn't yield.
UNYIELDED = [
    "check_param_validation",
    "check_dataframe_column_names_consistency",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_global_output_transform_pandas",
]
# What takes an estimator is set to containers by it.
OF_COMPOSED = ["check_param_validation", "check_dataframe_column_names_consistency"]
SCALER = DPPipeline([("scaler", DPStandardScaler((-9, 9)))])


@pytest.mark.filterwarnings("ignore:X .* feature names:UserWarning")
@pytest.mark.parametrize("estimator", one_of_a_class(ESTIMATORS), ids=repr)
@for_each("check", UNYIELDED)
def test_checks_that_check_estimator_does_not_yield(estimator, check):
    if check.startswith(("check_set_output", "check_global")) and not hasattr(
        estimator, "transform"
    ):
        pytest.skip("not a transformer")
    getattr(estimator_checks, check)(type(estimator).__name__, clone(estimator))


@pytest.mark.filterwarnings("ignore:X .* feature names:UserWarning")
@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        *(
            (estimator, check)
            for estimator in (
                *(COMPOSED[0], CALIBRATED[0], CONFORMAL[0], CONFORMAL[3]),
                *(SEARCHES[0], SEARCHES[1], SEARCHES[4]),
            )
            for check in OF_COMPOSED
        ),
        (SCALER, "check_set_output_transform"),
        (SCALER, "check_set_output_transform_pandas"),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else value,
)
def test_checks_of_what_takes_an_estimator_that_are_not_yielded(estimator, check):
    getattr(estimator_checks, check)(type(estimator).__name__, clone(estimator))


# Ours: what every private estimator keeps. The first of a class is its default.
DP_SGD = [
    {},
    LAPLACE,
    {**LAPLACE, "max_iter": 3, "adjacency": "replace_one", "penalty": "l1"},
    {
        "learning_rate": "invscaling",
        "penalty": "elasticnet",
        "adjacency": "replace_one",
        "max_iter": 3,
    },
]
PLAIN = {"ball_budget": 0, "data_norm": 1.0}
PROMISES = [
    DPLogisticRegression(),
    DPLogisticRegression(fit_intercept=False, average=False, momentum=0.9),
    DPLogisticRegression(adjacency="replace_one", max_iter=5, clipping_norm=0.1),
    DPLogisticRegression(moment_budget=0.0, data_norm=0.5),
    DPLogisticRegression(**PLAIN),
    DPRidge(),
    DPRidge(target_bounds=(-1.0, 1.0), fit_intercept=False),
    DPRidge(adjacency="replace_one", moment_budget=0.5, max_iter=2),
    DPRidge(moment_budget=0.0, step_size=0.3),
    DPRidge(**PLAIN),
    DPCDLasso(),
    DPCDLasso(smoothness="bounds", max_iter=10),
    DPCDLasso(smoothness="private", clipping_norm=0.5, max_iter=10),
    DPCDLasso(positive=True, target_bounds=(-1.0, 1.0), adjacency="replace_one", max_iter=10),
    # With an L1 part all coefficients are 0 in one fit of thirty.
    DPCDElasticNet(
        l1_ratio=0.0, fit_intercept=False, data_norm=0.5, max_iter=3, average_every=None
    ),
    DPCDElasticNet(accountant="rdp", average_every=2, clipping_norm=0.2, max_iter=10),
    DPCDClassifier(),
    DPCDClassifier(penalty="l1", smoothness="bounds", clipping_norm=0.5, max_iter=10),
    DPCDClassifier(penalty="elasticnet", feature_bounds=(-0.5, 2.0), coef_bounds=(-50, 60)),
    DPSCDClassifier(ball_budget=0),
    DPSCDRegressor(ball_budget=0),
    DPSCDClassifier(solver="primal", feature_bounds=(-0.3, 0.4)),
    DPSCDClassifier(noisy_dual=True, max_iter=3),
    DPSCDClassifier(
        ball_budget=0, solver="sequential", loss="hinge", adjacency="replace_one", max_iter=2
    ),
    DPSCDRegressor(solver="sequential", batch_size=7, max_iter=3),
    DPSCDRegressor(solver="primal", batch_size=2, target_bounds=(-1.0, 1.0)),
    DPSCDClassifier(ball_budget=0, loss="hinge", fit_intercept=False, average=False),
    DPSCDClassifier(ball_budget=0, adjacency="replace_one", batch_size=240, accountant="pld"),
    DPSCDClassifier(accountant="rdp", clipping_norm=0.1, batch_size=240),
    DPSCDRegressor(ball_budget=0, target_bounds=(-1.0, 1.0), fit_intercept=False),
    DPSCDRegressor(ball_budget=0, adjacency="replace_one", data_norm=0.5, max_iter=2),
    *(
        estimator(**options)
        for estimator in (DPSGDClassifier, DPSGDRegressor)
        for options in DP_SGD
    ),
    WALRClassifier(),
    WALRClassifier(solver="hybrid", noise_shape="spherical"),
    DPStandardScaler(),
    DPStandardScaler(adjacency="replace_one", clip=1.0),
    DPQuantileClipper(scale="log"),
    DPQuantileClipper(quantiles=(0.3, 0.6), adjacency="replace_one"),
    DPNormClipper(),
    DPNormClipper(adjacency="replace_one", norm_bounds=(1e-9, 1e9)),
]
# Every change needs those of a model and of a transformer alone, by their defaults.
FIRST = [DPLogisticRegression, DPStandardScaler]


def of_promises():
    """Parameters: the first of each of these classes, and the others in the long tier."""
    waiting = set(FIRST)
    for model in PROMISES:
        is_first = type(model) in waiting
        waiting.discard(type(model))
        yield pytest.param(model, marks=[] if is_first else pytest.mark.long)


@pytest.mark.every
@pytest.mark.parametrize("estimator", of_promises(), ids=str)
def test_check_private_estimator(estimator):
    check_private_estimator(estimator)


@pytest.mark.long
@for_each("estimator", sorted(set(map(type, PROMISES)), key=lambda kind: kind.__name__))
def test_fits_of_skdp_publish_how_many_steps_or_what_bounds(estimator):
    """Estimators of others needn't."""
    X = np.random.default_rng(0).uniform(-0.5, 0.5, (60, 3))
    fitted = estimator().fit(X, (X[:, 0] > 0.0).astype(int))
    is_transformer = hasattr(estimator, "transform")
    promised = ("norm_bound_", "feature_bounds_") if is_transformer else ("n_iter_",)
    assert set(promised) <= vars(fitted).keys()


def test_checks_refuse_a_mechanism_that_is_not_valid_for_all_that_they_ask():
    model = WALRClassifier(data_norm=0.5, mechanism="classic", epsilon=0.5, fit_intercept=False)
    with pytest.raises(ValueError, match="classic"):
        check_private_estimator(model)
