"""imbalanced-learn: resampling is refused in a private pipeline, and named in a plain one."""

import numpy as np
import pandas as pd
import pytest

from skdp.inspection import preview, total_report
from skdp.linear_model import DPLogisticRegression
from skdp.pipeline import DPPipeline
from skdp.preprocessing import NormClipper
from tests.site._edges import covers, make_classifier, make_records, sizes

pytest.importorskip("imblearn")
from imblearn.ensemble import (
    BalancedBaggingClassifier,
    EasyEnsembleClassifier,
    RUSBoostClassifier,
)
from imblearn.over_sampling import SMOTE, RandomOverSampler
from imblearn.pipeline import Pipeline
from imblearn.under_sampling import RandomUnderSampler

SAMPLERS = (SMOTE, RandomOverSampler, RandomUnderSampler)
N_RARE = 12


@pytest.fixture
def data():
    """Records of which few have label 1."""
    X, _ = make_records()
    return X, (np.argsort(np.argsort(-X[:, 0])) < N_RARE).astype(int)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_private_pipeline_names_the_step_and_says_what_to_do(data, sampler):
    steps = [("more", sampler()), ("model", DPLogisticRegression(classes=[0, 1]))]
    told = rf"step 'more' \({sampler.__name__}\) leaks: it drops, repeats .* class_weight="
    for allow in ((), ("more",)):
        model = DPPipeline(steps, allow=allow)
        with pytest.raises(ValueError, match=told) as caught:
            model.fit(*data)
        assert "allow" not in str(caught.value)
        with pytest.raises(ValueError, match=told):
            preview(model, 120, 4)


@covers("SMOTE", "RandomOverSampler", "RandomUnderSampler")
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_plain_pipeline_counts_fits_and_names_the_resampling(data, sampler):
    frame = pd.DataFrame(data[0], columns=list("abcd"))
    steps = [("clip", NormClipper()), ("more", sampler()), ("model", make_classifier())]
    model = Pipeline(steps).set_output(transform="pandas").fit(frame, data[1])
    few = sampler is RandomUnderSampler
    assert sizes() == [2 * N_RARE if few else 2 * (120 - N_RARE)]
    assert model[-1].feature_names_in_.tolist() == list("abcd")
    report = total_report(model)
    assert report.events == model[-1].privacy_report_.events
    assert "the guarantee of a step isn't one for that record" in report.not_covered[0]
    assert report.not_covered[1].startswith(f"step 'more' ({sampler.__name__}): it drops, repeats")


def test_one_record_is_many(data):
    sampler = RandomOverSampler()
    sampler.fit_resample(*data)
    copies = np.bincount(sampler.sample_indices_)
    # 108 of the rare class are shared out among 12.
    assert copies[data[1] == 1].sum() == 120 - N_RARE
    assert copies.max() >= 9


@covers("BalancedBaggingClassifier", "EasyEnsembleClassifier", "RUSBoostClassifier")
def test_balanced_ensembles(data):
    for kind in (BalancedBaggingClassifier, EasyEnsembleClassifier):
        bag = kind(estimator=make_classifier(), n_estimators=3).fit(*data)
        reports = [total_report(member) for member in bag.estimators_]
        assert [report.reproducible for report in reports] == [True] * 3
        for member, drawn in zip(bag.estimators_, bag.estimators_samples_, strict=True):
            # Twice as many rows as cases.
            assert 2 * data[1][drawn].sum() in sizes()
            assert "'sampler'" in total_report(member).not_covered[1]
    with pytest.raises(ValueError, match="sample_weight"):
        RUSBoostClassifier(make_classifier(), n_estimators=3).fit(*data)
