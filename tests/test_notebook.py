import html
import math
import pickle
import sys

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_html_repr

from skdp.linear_model import (
    DPLogisticRegression,
    DPSCDClassifier,
    DPSCDRegressor,
    WALRClassifier,
    label_aggregate,
)
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import BoundsScaler, DPSimpleImputer, DPStandardScaler
from tests._listed import PRIVATE, suited

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 3))
    return X, (X[:, 0] > 0).astype(int)


def notebook_html(estimator):
    bundle = estimator._repr_mimebundle_()
    assert bundle["text/plain"] == repr(estimator)
    return bundle["text/html"]


def caption(guarantee):
    return f'<div class="caption">{guarantee}</div>'


@pytest.mark.parametrize("estimator", PRIVATE)
def test_fitted_estimators_show_their_guarantee(estimator, records):
    model = estimator(epsilon=0.75)
    for unfitted in (notebook_html(model), model._repr_html_()):
        assert caption("each fit spends epsilon = 0.75") in unfitted
        assert "<details style" not in unfitted
    report = model.fit(records[0], suited(model, records[1])).privacy_report_
    guarantee = f"{report!r}, {report.adjacency}"
    for shown in (notebook_html(model), model._repr_html_()):
        assert caption(f"this fit: {guarantee}") in shown
        assert f"Privacy of this fit: {guarantee}, protects {report.unit}</summary>" in shown
        assert shown.endswith(f"{report._repr_html_()}</details>")
    # It is the fit's guarantee, whatever is set for the next one.
    assert caption(f"this fit: {guarantee}") in notebook_html(model.set_params(epsilon=3.0))
    assert caption("each fit spends epsilon = 3.0") in notebook_html(clone(model))
    assert caption(f"this fit: {guarantee}") in notebook_html(pickle.loads(pickle.dumps(model)))


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, np.random.RandomState(0)], ids=["int", "RandomState"])
def test_a_seed_is_a_condition_wherever_a_guarantee_is_shown(records, seed):
    secret = "while the seed stays secret"
    model = DPSCDClassifier(random_state=seed)
    assert caption(f"each fit spends epsilon = 1.0 {secret}") in notebook_html(model)
    shown = notebook_html(model.fit(*records))
    assert caption(f"this fit: (1, 1e-05)-DP {secret}, zero_out") in shown
    assert f"Privacy of this fit: (1, 1e-05)-DP {secret}, zero_out, protects one row" in shown
    X, y = records
    aggregates = [
        label_aggregate(
            X[half],
            y[half],
            classes=[0, 1],
            data_norm=1.0,
            mechanism="analytic",
            random_state=given,
        )
        for half, given in ((slice(30), seed), (slice(30, 60), None))
    ]
    label = "(1, 1e-05)-DP for the label of one row"
    for one, condition in ((aggregates[0], f" {secret}"), (aggregates[1], "")):
        assert repr(one) == f"LabelAggregate(30 rows, 2 classes, gaussian, {label}{condition})"
    assert repr(sum(aggregates)).endswith(f"{label} {secret})")
    model = DPSCDClassifier(epsilon=math.inf, random_state=seed)
    for shown in (notebook_html(model), notebook_html(model.fit(*records))):
        assert secret not in shown
    assert secret not in repr(label_aggregate(X, y, epsilon=math.inf, random_state=seed))


def test_no_privacy_is_said(records):
    model = DPSCDRegressor(epsilon=math.inf)
    assert caption("no privacy: epsilon = inf") in notebook_html(model)
    shown = notebook_html(model.fit(*records))
    assert caption("this fit: no privacy (epsilon = inf)") in shown
    assert "Privacy of this fit: no privacy" in shown


@pytest.mark.long
def test_diagrams_of_pipelines_and_searches_show_it(records):
    model = make_pipeline(BoundsScaler(feature_bounds=(-4, 4)), DPSCDClassifier(epsilon=0.5))
    assert caption("each fit spends epsilon = 0.5") in estimator_html_repr(model)
    model.fit(*records)
    assert caption("this fit: (0.5, 1e-05)-DP, zero_out") in estimator_html_repr(model)
    search = GridSearchCV(DPSCDClassifier(), {"alpha": [0.1, 1.0]}, cv=2)
    assert caption("each fit spends epsilon = 1.0") in estimator_html_repr(search)


def test_steps_of_a_private_pipeline_show_theirs_and_it_unfolds_the_whole(records):
    model = make_private_pipeline(
        DPSimpleImputer(strategy="constant"),
        DPStandardScaler(feature_bounds=(-9, 9)),
        DPLogisticRegression(classes=[0, 1]),
    )
    assert caption("learns nothing, spends nothing") in notebook_html(model)
    shown = notebook_html(model.fit(*records))
    for step in model[1:]:
        assert caption(f"this fit: {step.privacy_report_!r}, zero_out") in shown
    assert shown.endswith(f"{model.privacy_report_._repr_html_()}</details>")


def test_text_display_has_no_html(records):
    model = DPSCDClassifier().fit(*records)
    with config_context(display="text"):
        assert model._repr_mimebundle_() == {"text/plain": repr(model)}
        assert not hasattr(model, "_repr_html_")


class Subclass(DPSCDClassifier):
    """A user's own."""


@pytest.mark.parametrize("epsilon", ["<script>", None, np.array([1.0, 2.0]), 10**400, math.nan])
def test_absurd_parameters_are_shown_safely(epsilon):
    shown = notebook_html(Subclass(epsilon=epsilon))
    assert "Subclass" in shown
    assert "<script>'" not in shown
    # An integer of 400 digits is a number that is beyond all others.
    assert caption("not fitted") in shown or isinstance(epsilon, int | float)


def test_everything_is_escaped(records):
    X, y = records
    aggregate = label_aggregate(X, y, classes=[0, 1], mechanism="analytic")
    model = WALRClassifier().fit_aggregate(X, aggregate)
    assert caption("this fit: (1, 1e-05)-DP, replace_label") in notebook_html(model)
    planted = "<img src=x>"
    object.__setattr__(model.privacy_report_, "unit", planted)
    object.__setattr__(model.privacy_report_, "assumed_public", (planted,))
    shown = notebook_html(model)
    assert planted not in shown
    assert shown.count(html.escape(planted)) >= 3


def test_a_report_that_is_none_is_not_shown():
    model = DPSCDClassifier()
    model.privacy_report_ = "(0, 0)-DP"
    assert "(0, 0)-DP, " not in notebook_html(model)


def test_scikit_learn_without_that_box_still_draws(monkeypatch, records):
    for module in ("_repr_html.estimator", "_estimator_html_repr"):
        monkeypatch.setitem(sys.modules, f"sklearn.utils.{module}", None)
    shown = notebook_html(DPSCDClassifier().fit(*records))
    assert 'class="caption"' not in shown
    assert "Privacy of this fit: (1, 1e-05)-DP, zero_out" in shown
