"""What is common to all estimators: tags, parameters, and their use in scikit-learn's tools."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from skdp.linear_model import DPLogisticRegression
from skdp.preprocessing import BoundsScaler
from tests._listed import PREDICTORS, PRIVATE, TRANSFORMERS, suited
from tests._loops import ONE_OR_MORE_WORKERS, for_each

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")


@pytest.mark.parametrize("estimator", PREDICTORS)
def test_nothing_is_relaxed_without_noise(estimator):
    """With epsilon=inf scores are checked; with noise only scores are excused, nothing else."""
    private, public = get_tags(estimator()), get_tags(estimator(epsilon=float("inf")))
    for tags, poor in ((private, True), (public, False)):
        kind = tags.classifier_tags or tags.regressor_tags
        assert kind.poor_score is poor
        assert not tags.non_deterministic
        assert not tags.no_validation
        assert not tags._skip_test
        kind.poor_score = False
    assert private == public


@pytest.mark.parametrize("estimator", TRANSFORMERS)
def test_nothing_is_relaxed_of_transformers(estimator):
    tags = get_tags(estimator())
    assert not tags.non_deterministic
    assert not tags.no_validation
    assert not tags._skip_test
    assert tags == get_tags(estimator(epsilon=float("inf")))


@for_each("estimator", PRIVATE)
@pytest.mark.parametrize(
    "epsilon", ["one", None, [1], float("nan"), pytest.param(10**400, id="huge")]
)
def test_tags_survive_absurd_parameters(estimator, epsilon):
    get_tags(estimator(epsilon=epsilon))


@pytest.mark.parametrize("estimator", PRIVATE)
def test_parameters_are_keyword_only_and_in_the_common_order(estimator):
    order = [
        "power",
        *("quantile", "quantiles", "scale", "clip", "norm_bounds"),
        *("missing_values", "strategy", "fill_value", "add_indicator"),
        *("interactions", "monotonic_cst"),
        *("basis", "knots", "categories", "numeric_features", "categorical_features"),
        *("handle_unknown", "min_frequency", "max_categories", "sparse_output"),
        *("loss", "penalty", "alpha", "l1_ratio", "huber_threshold", "positive", "coef_bounds"),
        *("fit_intercept", "classes", "class_weight"),
        *("epsilon", "delta", "adjacency", "accountant", "mechanism", "noise_shape", "noisy_dual"),
        *("smoothness_budget", "moment_budget", "public_moment", "features_budget"),
        "data_norm",
        "ball_budget",
        *("feature_bounds", "target_bounds", "exposure_bounds"),
        *("selection", "max_iter", "batch_size", "clipping_norm", "clip_by", "step_size"),
        *("momentum", "average"),
        *("rows_per_group", "inference", "proximal", "solver"),
        *("learning_rate", "eta0", "power_t", "smoothness", "average_every", "shrinkage"),
        *("n_jobs", "verbose"),
        *("ledger", "random_state"),
    ]
    parameters = list(inspect.signature(estimator).parameters.values())
    ordered = sorted(parameters, key=lambda p: (p.kind == p.KEYWORD_ONLY, order.index(p.name)))
    assert parameters == ordered
    first = [p.name for p in parameters if p.kind != p.KEYWORD_ONLY]
    # Of a transformer the parameter that is most its own.
    assert first in ([], ["alpha"]) or (estimator in TRANSFORMERS and len(first) == 1)


@pytest.mark.long
@ONE_OR_MORE_WORKERS
@pytest.mark.parametrize("estimator", PREDICTORS)
def test_pipelines_grid_search_and_frames(estimator, n_jobs, cancer):
    X, y = cancer
    frame = pd.DataFrame(X[:200], columns=[f"feature {j}" for j in range(X.shape[1])])
    model = make_pipeline(BoundsScaler().set_output(transform="pandas"), estimator(random_state=0))
    y = suited(model[-1], y)
    name = model.steps[-1][0]
    search = GridSearchCV(model, {f"{name}__alpha": [1e-3, 1e-2]}, n_jobs=n_jobs, cv=2)
    search.fit(frame, y[:200])
    best = search.best_estimator_[-1]
    assert list(best.feature_names_in_) == list(frame.columns)
    assert best.privacy_report_.epsilon == 1.0
    assert np.isfinite(cross_val_score(model, frame, y[:200], cv=2)).all()


@pytest.mark.long
@ONE_OR_MORE_WORKERS
@pytest.mark.parametrize("estimator", TRANSFORMERS)
def test_transformers_in_pipelines_grid_search_and_frames(estimator, n_jobs, cancer):
    X, y = cancer
    frame = pd.DataFrame(X[:200, :3], columns=["a", "b", "c"])
    step = estimator(random_state=0).set_output(transform="pandas")
    model = make_pipeline(step, DPLogisticRegression(random_state=0, classes=[0, 1]))
    name = model.steps[0][0]
    search = GridSearchCV(model, {f"{name}__epsilon": [0.5, 1.0]}, n_jobs=n_jobs, cv=2)
    best = search.fit(frame, y[:200]).best_estimator_
    names = list(best[0].get_feature_names_out())
    assert list(best[-1].feature_names_in_) == names == list(best[0].transform(frame).columns)
    assert best[0].privacy_report_.epsilon in (0.5, 1.0)
    assert np.isfinite(cross_val_score(model, frame, y[:200], cv=2)).all()


def test_a_class_may_extend_a_constructor(cancer):
    class Stricter(DPLogisticRegression):
        def __init__(self, *, largest=0.5, epsilon=1.0, random_state=None):
            super().__init__(epsilon=epsilon, random_state=random_state)
            self.largest = largest

    class Strictest(Stricter):
        pass

    model = clone(Strictest(largest=0.25, epsilon=2.0, random_state=0))
    assert type(model) is Strictest
    assert model.get_params() == {"largest": 0.25, "epsilon": 2.0, "random_state": 0}
    assert model.alpha == DPLogisticRegression().alpha
    assert model.fit(*cancer).privacy_report_.epsilon == 2.0
