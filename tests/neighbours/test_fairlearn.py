"""fairlearn: reductions weigh rows by their labels, and what follows a fit reads rows exactly."""

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator

from skdp.linear_model import DPLogisticRegression, DPSCDClassifier
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import NormClipper
from tests.site._edges import FITS, assert_shares, covers, make_classifier, make_records

pytest.importorskip("fairlearn")
from fairlearn.metrics import MetricFrame, selection_rate
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.preprocessing import CorrelationRemover
from fairlearn.reductions import DemographicParity, ExponentiatedGradient, GridSearch

# fairlearn 0.15 with pandas 3.
pytestmark = pytest.mark.filterwarnings("ignore:Setting (a value on a Series|an item of)")
GIVEN = []


class Weighted(DPSCDClassifier):
    def fit(self, X, y, public_weight=None):
        super().fit(X, y, public_weight=public_weight)
        GIVEN.append((np.array(y), np.array(public_weight)))
        FITS.append((len(X), self.privacy_report_))
        return self


@pytest.fixture
def data():
    """Records with two groups, by the second column."""
    X, y = make_records()
    return pd.DataFrame(X, columns=list("abcd")), y, np.where(X[:, 1] > 0, "one", "two")


@pytest.mark.parametrize("kind", [ExponentiatedGradient, GridSearch])
def test_reductions_need_sample_weight_which_there_is_not(kind, data):
    X, y, groups = data
    for model, told in (
        (make_classifier(), "unexpected keyword argument 'sample_weight'"),
        (
            make_private_pipeline(NormClipper(), DPLogisticRegression()),
            "takes X, y and groups alone",
        ),
    ):
        with pytest.raises((TypeError, ValueError), match=told):
            kind(model, DemographicParity()).fit(X, y, sensitive_features=groups)


@covers("ExponentiatedGradient", "GridSearch")
def test_weights_of_a_reduction_follow_from_labels_and_groups(data):
    X, y, groups = data
    row = np.arange(len(y)) == 7
    other = np.where(row, np.where(groups == "one", "two", "one"), groups)
    model = Weighted(max_iter=2, classes=[0, 1], random_state=0)
    weights = []
    for labels, sensitive in ((y, groups), (np.where(row, 1 - y, y), groups), (y, other)):
        FITS.clear()
        GIVEN.clear()
        found = GridSearch(
            model, DemographicParity(), grid_size=3, sample_weight_name="public_weight"
        )
        found.fit(X, labels, sensitive_features=sensitive)
        assert len(FITS) == len(found.predictors_) == 3
        weights.append(np.array([weight for _, weight in GIVEN]))
    # One label decides about the weight of its row, one group about those of others, too.
    moved = [(found != weights[0]).any(axis=0) for found in weights[1:]]
    np.testing.assert_array_equal(moved[0], row)
    assert moved[1].sum() > 1
    assert any((given != y).any() for given, _ in GIVEN)
    told = found.predictors_[0].privacy_report_.assumed_public
    assert any("public_weight" in words for words in told)
    assert_shares(found.objectives_)


def test_how_many_fits_there_are_follows_from_exact_gaps(data):
    X, y, groups = data
    n_fits = []
    for labels in (y, (X["c"] > 0).astype(int)):
        FITS.clear()
        found = ExponentiatedGradient(
            Weighted(max_iter=2, classes=[0, 1], random_state=0),
            DemographicParity(),
            max_iter=20,
            sample_weight_name="public_weight",
        )
        found.fit(X, labels, sensitive_features=groups)
        assert len(FITS) == found.n_oracle_calls_ - found.n_oracle_calls_dummy_returned_
        n_fits.append(len(FITS))
    assert n_fits[0] != n_fits[1]


@covers("ThresholdOptimizer", "MetricFrame")
def test_thresholds_and_rates_of_groups_are_exact(data):
    X, y, groups = data
    model = FrozenEstimator(make_classifier().fit(X, y))
    FITS.clear()
    options = {"constraints": "demographic_parity", "predict_method": "decision_function"}
    ends = []
    for labels in (y, np.where(np.arange(len(y)) == 7, 1 - y, y)):
        moved = ThresholdOptimizer(estimator=model, prefit=True, **options)
        moved.fit(X, labels, sensitive_features=groups)
        found = moved.interpolated_thresholder_.interpolation_dict
        ends.append([float(found[group].operation0._threshold) for group in ("one", "two")])
    assert not FITS
    scores = np.sort(model.decision_function(X))
    # Halfway between the scores of two records.
    assert all(end in (scores + scores[:, np.newaxis]) / 2 for end in ends[0])
    shares = MetricFrame(
        metrics=selection_rate, y_true=y, y_pred=model.predict(X), sensitive_features=groups
    ).by_group
    assert_shares(shares)


@covers("CorrelationRemover")
def test_a_remover_of_correlations_keeps_exact_sums(data):
    X, _, _ = data
    remover = CorrelationRemover(sensitive_feature_ids=["b"]).fit(X)
    assert remover.sensitive_mean_ == pytest.approx(X["b"].mean())
    with pytest.raises(ValueError, match="step 'correlationremover'"):
        make_private_pipeline(remover, DPLogisticRegression()).fit(X, np.arange(len(X)) % 2)
