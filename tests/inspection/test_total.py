"""What plain pipelines cost, and what their reports leave out."""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline, make_union
from sklearn.preprocessing import Normalizer, StandardScaler

from skdp.accountant import compose
from skdp.calibration import DPCalibratedClassifier
from skdp.inspection import total_report
from skdp.linear_model import DPLogisticRegression, WALRClassifier
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import DPNormClipper, DPOneHotEncoder, DPStandardScaler, NormClipper

X = np.random.default_rng(0).uniform(-1, 1, (300, 3))
Y = (X[:, 0] > 0).astype(int)
LAST = DPLogisticRegression(classes=[0, 1])


def test_private_steps_add_up_wherever_they_are():
    inside = make_column_transformer(
        (make_pipeline(DPStandardScaler(epsilon=0.3), NormClipper()), [0]),
        (DPStandardScaler(epsilon=0.2), [1, 2]),
    )
    model = make_pipeline(inside, make_union(DPNormClipper(epsilon=0.1)), LAST).fit(X, Y)
    report = total_report(model)
    first, second = (
        model[0].named_transformers_[name] for name in ("pipeline", "dpstandardscaler")
    )
    parts = [first[0], second, model[1].transformer_list[0][1], model[2]]
    joint = compose([part.privacy_report_ for part in parts])
    assert report.events == joint.events
    assert (report.epsilon, report.delta) == (joint.epsilon, 4e-5)
    assert not any(words.startswith("step") for words in report.not_covered)


def test_steps_that_learn_without_a_report_are_named_first():
    inside = make_column_transformer((SimpleImputer(), [0]), (Normalizer(), [1, 2]))
    model = make_pipeline(StandardScaler(), inside, LAST).fit(X, Y)
    first, second, third, *_ = total_report(model).not_covered
    assert "'standardscaler' (StandardScaler): it keeps means" in first
    assert "'columntransformer__simpleimputer' (SimpleImputer)" in second
    assert third.startswith("running time")


def test_the_memory_of_the_pipeline_itself_is_named(tmp_path):
    X, y = np.zeros((40, 2)), np.arange(40) % 2
    steps = (NormClipper(), DPLogisticRegression(classes=[0, 1]))
    assert "in its" not in total_report(make_pipeline(*steps).fit(X, y)).not_covered[0]
    for model in (
        make_pipeline(*steps, memory=str(tmp_path)),
        make_pipeline(make_pipeline(*steps, memory=str(tmp_path))),
    ):
        assert "in its memory" in total_report(model.fit(X, y)).not_covered[0]


@pytest.mark.long
def test_what_has_one_report_gives_that():
    for model in (
        make_private_pipeline(DPStandardScaler(), LAST),
        LAST,
        DPCalibratedClassifier(LAST),
    ):
        model.fit(X, Y)
        assert total_report(model) is model.privacy_report_
        around = total_report(make_pipeline("passthrough", model))
        assert around.events == compose([model.privacy_report_]).events


def test_steps_that_cost_nothing_have_no_report():
    words = np.array(["a", "b"] * 150)[:, np.newaxis]
    encoder = DPOneHotEncoder(categories=[["a", "b"]])
    model = make_pipeline(encoder, LAST).fit(words, Y)
    assert total_report(model).mu == model[-1].privacy_report_.mu


def test_what_has_no_total():
    with pytest.raises(NotFittedError, match="dpstandardscaler"):
        total_report(make_pipeline(DPStandardScaler(), LAST))
    with pytest.raises(ValueError, match="no step"):
        total_report(make_pipeline(StandardScaler()).fit(X))
    with pytest.raises(TypeError, match="estimator"):
        total_report("model")
    seeded = make_pipeline(DPStandardScaler(random_state=0), LAST.__class__(random_state=0))
    with pytest.raises(ValueError, match="seed"):
        total_report(seeded.fit(X, Y))
    label = make_pipeline(DPStandardScaler(), WALRClassifier(classes=[0, 1])).fit(X, Y)
    with pytest.raises(ValueError, match="adjacency"):
        total_report(label)


class Resampling(Pipeline):
    """As that of imbalanced-learn, which may make rows between its steps."""


def test_what_stands_last_in_a_subclass_of_pipeline_counts():
    report = total_report(Resampling([("scaler", StandardScaler()), ("model", LAST)]).fit(X, Y))
    assert (report.epsilon, report.delta) == (pytest.approx(1.0), 1e-5)
    assert report.not_covered[0].startswith("the pipeline itself (Resampling)")
    assert "step 'scaler'" in report.not_covered[1]
