"""The noise that is foreseen of a fit is the noise that it has."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from skdp.inspection import predicted_noise
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression, DPPoissonRegressor, DPRidge
from skdp.pipeline import make_private_pipeline
from tests._loops import for_each

ADDITIVE = DPAdditiveClassifier(classes=[0, 1], interactions=None)
RIDGE = DPRidge(target_bounds=(-6.0, 2.0))
SIZES = (
    (DPLogisticRegression(classes=[0, 1], epsilon=4.0), 2000, 20),
    (DPLogisticRegression(classes=[0, 1], epsilon=0.5), 2000, 5),
    (RIDGE, 2000, 10),
    (ADDITIVE.set_params(epsilon=2.0), 3000, 5),
)


def table(n_samples, n_features):
    """Return independent normal columns, each with an effect, and log-odds of a rare class."""
    X = np.random.default_rng(0).standard_normal((n_samples, n_features))
    return X, X @ np.full(n_features, 0.25) - 2.0


def data_for(model, n_samples, n_features):
    X, logits = table(n_samples, n_features)
    rng = np.random.default_rng(1)
    if hasattr(model, "predict_proba"):
        return X, (rng.random(n_samples) < 1.0 / (1.0 + np.exp(-logits))).astype(int)
    return X, logits + rng.standard_normal(n_samples)


def spread_over_seeds(model, X, y):
    """Return the deviation that noise gives predictions, before the link."""
    found = []
    for seed in range(6):
        model.set_params(random_state=seed).fit(X, y)
        is_classifier = hasattr(model, "decision_function")
        found.append((model.decision_function if is_classifier else model.predict)(X[:200]))
    model.set_params(random_state=None)
    return np.sqrt(np.median(np.var(found, axis=0, ddof=1)))


@pytest.mark.long
@pytest.mark.parametrize(("model", "n_samples", "n_features"), SIZES)
def test_predictions_have_the_noise_that_was_foreseen(model, n_samples, n_features):
    """The records are those that are assumed, so that the noise is known to within a factor."""
    foreseen = predicted_noise(model, n_samples, n_features, epsilons=[model.epsilon]).iloc[0]
    noise = spread_over_seeds(model, *data_for(model, n_samples, n_features))
    half_range = 4.0 if model is RIDGE else 1.0
    assert 0.5 < half_range * foreseen["prediction"] / noise < 2.0
    assert foreseen["term"] < foreseen["prediction"]


@pytest.mark.parametrize(
    "model", [DPLogisticRegression(), DPAdditiveClassifier(), DPAdditiveRegressor()]
)
def test_more_records_and_a_larger_epsilon_afford_more_columns(model):
    found = predicted_noise(model, 1000, 20)
    assert found.index.tolist() == [0.25, 0.5, 1.0, 2.0, 4.0]
    assert found["most_features"].iloc[0] < 5 < found["most_features"].iloc[-1]
    of_more = predicted_noise(model, 8000, 20, epsilons=[0.25, 4.0])
    assert (of_more["most_features"] >= found["most_features"][[0.25, 4.0]]).all()
    assert of_more["most_features"].tolist()[-1] == 20
    assert of_more["prediction"][4.0] < found["prediction"][4.0]


def test_the_most_columns_are_the_last_that_are_told():
    model, largest = DPLogisticRegression(), 100
    (most,) = predicted_noise(model, 3000, largest, epsilons=[0.5])["most_features"]
    assert 1 < most < largest
    for n_features, is_told in ((most, True), (most + 1, False)):
        one = predicted_noise(model, 3000, n_features, epsilons=[0.5]).iloc[0]
        assert (1.5 * one["term"] <= one["effect"]) == is_told
        assert one["most_features"] == most


def test_without_privacy_there_is_no_noise():
    found = predicted_noise(DPRidge(), 100, 5, epsilons=[float("inf")]).iloc[0]
    assert found["term"] == found["prediction"] == 0.0
    assert found["most_features"] == 5


def test_a_model_of_the_shares_of_classes_alone_has_no_terms():
    found = predicted_noise(DPAdditiveClassifier(), 100, 20, epsilons=[0.5]).iloc[0]
    assert np.isinf(found["term"])
    assert np.isnan(found["prediction"])
    assert found["most_features"] == 0


def test_several_classes_and_rows_without_a_moment_are_foreseen():
    wide = DPLogisticRegression(moment_budget=0)
    assert predicted_noise(wide, 3000, 30, epsilons=[1.0])["prediction"].iloc[0] > 0.0
    several = predicted_noise(DPAdditiveClassifier(classes=list("abc")), 3000, 5, epsilons=[1.0])
    one = predicted_noise(DPAdditiveClassifier(), 3000, 5, 3, epsilons=[1.0])
    assert several.equals(one)


def test_nothing_is_charged_and_the_model_stays(tmp_path):
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=1.0, delta=1e-5)
    model = DPRidge(epsilon=0.7, ledger=ledger)
    predicted_noise(model, 1000, 5)
    assert model.epsilon == 0.7
    assert not ledger.to_dict()["charges"]


@for_each(
    "model, error, words",
    [
        (make_private_pipeline(DPRidge()), TypeError, "Of a pipeline"),
        (make_pipeline(DPRidge()), TypeError, "Of a pipeline"),
        (DPPoissonRegressor(), TypeError, "predicted_noise is of"),
        (DPAdditiveRegressor(loss="poisson"), ValueError, "squared errors"),
        (DPRidge(inference=True, data_norm=1.0), ValueError, "inference=True"),
        (DPRidge(epsilon=-1.0), ValueError, "epsilon"),
    ],
)
def test_what_is_not_foreseen_is_refused(model, error, words):
    with pytest.raises(error, match=words):
        predicted_noise(model, 1000, 5)


@for_each("options", [{"epsilons": []}, {"epsilons": [0.0]}, {"epsilons": ["1"]}])
def test_epsilons_are_numbers_above_0(options):
    with pytest.raises(ValueError, match="epsilons"):
        predicted_noise(DPRidge(), 1000, 5, **options)
