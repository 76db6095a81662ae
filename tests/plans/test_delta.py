"""The delta "auto" follows from the number of records, or of people, and from nothing else."""

import math

import numpy as np
import pytest

from skdp.additive import DPAdditiveClassifier
from skdp.calibration import DPCalibratedClassifier, DPConformalRegressor
from skdp.exceptions import PrivacyWarning
from skdp.inspection import preview
from skdp.ledger import PrivacyLedger
from skdp.linear_model import (
    DPLogisticRegression,
    DPRidge,
    DPSGDClassifier,
    WALRClassifier,
    label_aggregate,
)
from skdp.model_selection import DPGridSearch
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import DPStandardScaler, DPTableVectorizer
from skdp.utils.discovery import all_estimators
from tests.door import resolve_delta

N = 40_000
TWO = {"classes": [0, 1], "random_state": 0}
SCALER = DPStandardScaler(feature_bounds=(-1, 1))


@pytest.fixture(scope="module")
def data():
    X = np.random.default_rng(0).uniform(-1, 1, (N, 3))
    return X, (X[:, 0] > 0).astype(int)


def test_what_auto_stands_for():
    assert [resolve_delta("auto", n) for n in (1, 9999, 10**4)] == [1e-5] * 3
    assert resolve_delta("auto", 10**6) == pytest.approx(1e-7)
    assert resolve_delta(0.0, 10**6) == 0.0
    assert resolve_delta(1e-3, 10**6) == 1e-3


def test_it_is_the_default_of_all():
    for _, estimator in all_estimators("private"):
        assert estimator.__init__.__kwdefaults__["delta"] == "auto"


MODELS = [
    DPLogisticRegression(**TWO),
    DPSGDClassifier(**TWO),
    DPRidge(target_bounds=(0, 1)),
    SCALER,
    DPTableVectorizer(),
    DPAdditiveClassifier(**TWO),
    make_private_pipeline(SCALER, DPLogisticRegression(classes=[0, 1])),
    DPCalibratedClassifier(DPLogisticRegression(classes=[0, 1])),
    DPConformalRegressor(DPRidge(target_bounds=(0, 1))),
    DPGridSearch(DPLogisticRegression(classes=[0, 1]), {"alpha": [1e-4, 1e-2]}),
]


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_fit_resolves_it_by_the_number_of_records(model, data):
    X, y = data
    with pytest.raises(AttributeError, match="after a fit"):
        model.delta_  # noqa: B018
    for n in (N // 4, N):
        model.fit(X[:n], y[:n])
        assert model.delta_ == model.privacy_report_.delta == resolve_delta("auto", n)
        assert model.delta == "auto"
    model.set_params(delta=3e-6).fit(X, y)
    assert model.delta_ == 3e-6
    model.set_params(delta="auto")


@pytest.mark.long
def test_people_count_where_groups_are_given(data, tmp_path):
    X, y = data
    groups = np.arange(N) // 2
    for model in (DPLogisticRegression(**TWO), DPTableVectorizer(), DPAdditiveClassifier(**TWO)):
        assert model.fit(X, y, groups=groups).delta_ == resolve_delta("auto", N // 2)


def test_a_ledger_is_charged_for_what_it_stands_for(data, tmp_path):
    X, y = data
    ledger = PrivacyLedger(tmp_path / "ledger.db", epsilon=2.0, delta=1e-4)
    DPLogisticRegression(ledger=ledger, classes=[0, 1]).fit(X, y)
    (charge,) = ledger.to_dict()["charges"]
    assert charge["delta"] == resolve_delta("auto", N)
    assert charge["parameters"]["delta"] == "auto"


@pytest.mark.long
def test_streams_labels_and_previews(data):
    X, y = data
    stream = DPSGDClassifier(mechanism="laplace", **TWO).partial_fit(X, y)
    assert stream.delta_ == 0.0
    found = label_aggregate(X, y, classes=[0, 1], data_norm=2.0)
    assert found.delta == resolve_delta("auto", N)
    assert preview(DPLogisticRegression(**TWO), N, 3).delta == resolve_delta("auto", N)
    assert math.isinf(
        DPLogisticRegression(epsilon=math.inf, **TWO).fit(X, y).privacy_report_.epsilon
    )


@pytest.mark.long
def test_holders_have_each_their_own_and_a_sum_of_them_is_as_private_as_asked(data):
    """Together they are more records than any has; pytest makes an error of a warning."""
    X, y = data
    options = {"classes": [0, 1], "data_norm": 2.0}
    parts = [label_aggregate(X[k::2], y[k::2], **options) for k in range(2)]
    joint, rows = parts[0] + parts[1], np.concatenate([X[::2], X[1::2]])
    assert joint.delta == resolve_delta("auto", N // 2)
    assert WALRClassifier(**options).fit_aggregate(rows, joint).delta_ == joint.delta
    large = label_aggregate(X, y, delta=2e-5, **options)
    with pytest.warns(PrivacyWarning, match="larger epsilon or delta"):
        WALRClassifier(**options).fit_aggregate(X, large)
