"""The area under the curve of each class against the others."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from skdp.accountant import LaplaceEvent
from skdp.exceptions import BudgetExceededError
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression, DPSGDClassifier
from skdp.metrics import private_score
from tests.metrics._models import Knows, Ranks, Three, binary_records
from tests.metrics.test_replay import outcome, record
from tests.model_selection._searches import search

OVR = {"scoring": "roc_auc_ovr"}


def draw(rng, n):
    """Probabilities of three classes that are true, and labels."""
    X = rng.dirichlet([0.5, 1.0, 1.5], n)
    codes = (X.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return X, np.array(["a", "b", "c"])[np.minimum(codes, 2)]


def score(X, y, **options):
    return private_score(Three(), X, y, **OVR | options)


def test_without_noise_it_is_that_of_scikit_learn(rng):
    X, y = draw(rng, 20_000)
    found = score(X, y, epsilon=np.inf)
    assert float(found) == pytest.approx(roc_auc_score(y, X, multi_class="ovr"), abs=1e-4)
    assert found.low < found.value < found.high


def test_of_two_classes_it_is_the_area(rng):
    X, y = binary_records(rng)
    for model in (Knows(), Ranks()):
        found, known = (
            private_score(model, X, y, scoring=name, epsilon=1.0, random_state=0)
            for name in ("roc_auc_ovr", "roc_auc")
        )
        assert (found.value, found.low, found.high) == (known.value, known.low, known.high)
        assert found.report.events == known.report.events


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_a_record_moves_one_count_of_each_class_by_one(adjacency, rng):
    """And noise serves all of them together."""
    X, y = draw(rng, 40)
    options = {"epsilon": 0.3, "adjacency": adjacency}

    def call(X, y, **more):
        return score(X, y, **options | more)

    null = record(call, X, y, null=[5])
    assert len(null.counts) == 3
    for row in ([1.0, 0.0, 0.0], [np.nan, 9e99, -1.0], [0.2, 0.3, 0.5]):
        for label in "abc":
            X[5], y[5] = row, label
            other = record(call, X, y)
            assert other.log == null.log
            for before, after in zip(null.counts, other.counts, strict=True):
                moved = after - before
                assert sorted(moved[moved != 0]) == [1]
            base = record(call, X, y, script=null.released)
            assert outcome(base.result) == outcome(null.result)
    distance = 2.0 if adjacency == "replace_one" else 1.0
    spent = sum(distance / mechanism.noise_multiplier for mechanism in null.mechanisms)
    assert spent == pytest.approx(0.3, rel=1e-9)
    (event,) = null.result.report.events
    assert event == LaplaceEvent(null.mechanisms[0].noise_multiplier, 3, counts=True)


@pytest.mark.long
def test_intervals_cover_what_is_true_of_the_population():
    """Of 80 intervals of 95 %, 64 at least: fewer are seen in 4 of 10 million."""
    rng = np.random.default_rng(0)
    X, y = draw(rng, 200_000)
    known, covered = roc_auc_score(y, X, multi_class="ovr"), 0
    for seed in range(80):
        rows = rng.integers(0, len(y), 3000)
        found = score(X[rows], y[rows], epsilon=1.0, random_state=seed)
        covered += found.low <= known <= found.high
    assert covered >= 64


def test_a_ledger_is_charged_once_for_all_classes(rng, tmp_path):
    X, y = draw(rng, 500)
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=2.0, delta=1e-5)
    score(X, y, epsilon=0.5, ledger=ledger)
    (charge,) = ledger.to_dict()["charges"]
    assert charge["estimator"] == "private_score"
    with pytest.raises(BudgetExceededError):
        score(X, y, epsilon=5.0, ledger=ledger)


def test_probabilities_are_needed(rng):
    class Decides(Ranks):
        classes_ = np.array([0, 1, 2])

    with pytest.raises(ValueError, match="predict_proba"):
        private_score(Decides(), np.ones((3, 1)), [0, 1, 2], epsilon=1.0, **OVR)


@pytest.mark.long
def test_a_search_scores_by_it(rng):
    X = rng.standard_normal((600, 3))
    y = (X + 0.5 * rng.standard_normal(X.shape)).argmax(axis=1)
    model = DPLogisticRegression(classes=[0, 1, 2], ball_budget=0)
    grid = {"data_norm": [0.01, 3.0]}
    options = {"estimator": model, "param_grid": grid, "epsilon": 100.0, "n_trials": 8, **OVR}
    fitted = search(**options).fit(X, y)
    assert fitted.method_ == "repeat"
    assert fitted.best_params_ == {"data_norm": 3.0}
    assert 0.8 < fitted.best_score_ <= 1.0
    (event,) = fitted.privacy_report_.events
    assert event.alternatives[-1][0].n_steps == 3
    hinge = DPSGDClassifier(loss="hinge", classes=[0, 1, 2], batch_size=50, max_iter=1)
    with pytest.raises(ValueError, match="predict_proba"):
        search(**options | {"estimator": hinge}).fit(X, y)
