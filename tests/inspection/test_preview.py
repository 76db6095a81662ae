"""What a fit would cost is what it costs."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skdp.inspection import preview
from skdp.linear_model import (
    DPCDClassifier,
    DPCDLasso,
    DPLogisticRegression,
    DPRidge,
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDClassifier,
    DPSGDRegressor,
    WALRClassifier,
)
from skdp.preprocessing import (
    DPNormClipper,
    DPOneHotEncoder,
    DPQuantileClipper,
    DPStandardScaler,
)

BOUNDS = {"target_bounds": (-2.0, 2.0)}
CASES = [
    DPStandardScaler(epsilon=0.3),
    DPQuantileClipper(adjacency="replace_one", scale="log", random_state=0),
    DPNormClipper(delta=1e-6),
    DPNormClipper(epsilon=float("inf")),
    DPLogisticRegression(epsilon=0.3),
    DPLogisticRegression(classes=["a", "b", "c"], random_state=0),
    DPRidge(delta=1e-6, adjacency="replace_one", **BOUNDS),
    DPSCDClassifier(max_iter=3),
    DPSCDClassifier(solver="sequential"),
    DPSCDRegressor(solver="primal", batch_size=2, **BOUNDS),
    DPSCDRegressor(noisy_dual=True, fit_intercept=False, **BOUNDS),
    DPSGDClassifier(classes=["a", "b", "c"], accountant="rdp"),
    DPSGDClassifier(mechanism="laplace", max_iter=2),
    DPSGDRegressor(loss="huber", penalty="l1", **BOUNDS),
    DPCDClassifier(max_iter=4),
    DPCDClassifier(selection="greedy"),
    DPCDLasso(smoothness="bounds", max_iter=4, adjacency="replace_one", **BOUNDS),
    DPLogisticRegression(epsilon=float("inf")),
    DPSGDClassifier(epsilon=float("inf"), clipping_norm=1.0),
]


@pytest.mark.filterwarnings("ignore:delta is larger")
@pytest.mark.parametrize("estimator", CASES, ids=lambda case: type(case).__name__)
def test_a_preview_is_the_report_of_the_fit(estimator, rng):
    X = rng.standard_normal((150, 4))
    classes = getattr(estimator, "classes", None)
    if hasattr(estimator, "target_bounds"):
        y = X[:, :2] if isinstance(estimator, DPRidge | DPSGDRegressor) else X[:, 0]
        n_outputs = y.ndim
    else:
        y, n_outputs = rng.permutation(np.resize(classes or ["a", "b"], 150)), 1
    seen = preview(estimator, 150, 4, n_outputs)
    real = estimator.fit(X, y).privacy_report_
    for field in ("epsilon", "delta", "adjacency", "unit", "accountant", "mu", "reproducible"):
        assert getattr(seen, field) == pytest.approx(getattr(real, field)), field
    assert seen.assumed_public == real.assumed_public
    assert seen.notes == real.notes
    if "auto" in str(estimator.get_params().get("moment_budget")):
        return
    assert seen.events == real.events
    if not isinstance(estimator, DPCDClassifier | DPCDLasso):
        assert seen.clipping == real.clipping


def test_of_what_learns_nothing_there_is_no_report():
    assert preview(DPOneHotEncoder(categories=[["a"]]), 100, 1) is None
    assert preview(DPOneHotEncoder(), 100, 1).epsilon == 1.0


def test_what_has_no_plan_is_refused():
    for estimator in (
        LogisticRegression(),
        make_pipeline(DPRidge()),
        DPRidge,
        "x",
        WALRClassifier(),
    ):
        with pytest.raises(TypeError, match="of a pipeline, give its last step"):
            preview(estimator, 10, 2)
    for sizes in ((0, 2), (10, 0), (10, 2, 0), (10, 2.5), (10, 2, 2)):
        with pytest.raises(ValueError, match=r"n_samples|n_features|n_outputs"):
            preview(DPLogisticRegression(), *sizes)
    with pytest.raises(ValueError, match="epsilon"):
        preview(DPLogisticRegression(epsilon=-1.0), 10, 2)
