"""A ledger counts the fits of scikit-learn's tools, wherever they are made."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, StackingClassifier
from sklearn.feature_selection import RFE
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import SelfTrainingClassifier

from skdp.accountant import PrivacyReport
from skdp.exceptions import BudgetExceededError, LedgerError
from skdp.inspection import preview
from skdp.ledger import PrivacyLedger
from skdp.linear_model import (
    DPCDLasso,
    DPLogisticRegression,
    DPSCDClassifier,
    DPSGDClassifier,
    DPSGDRegressor,
    WALRClassifier,
    label_aggregate,
)
from skdp.preprocessing import NormClipper
from skdp.utils.discovery import all_estimators
from tests._listed import suited
from tests._loops import ONE_OR_MORE_WORKERS
from tests.door import GaussianCost, gaussian_cost, plan_module as _base

FOLDS = KFold(3)
FIT = {"epsilon": 0.5, "delta": 1e-7, "classes": [0, 1]}
REGRESSION = {"epsilon": 0.5, "delta": 1e-7, "target_bounds": (0.0, 1.0)}
N_ROWS = 240


@pytest.fixture
def ledger(tmp_path):
    return PrivacyLedger(tmp_path / "study.db", epsilon=30.0, delta=1e-4)


@pytest.fixture
def seeded(tmp_path):
    return PrivacyLedger(tmp_path / "seeded.db", epsilon=30.0, delta=1e-4, allow_seeds=True)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, 4)) / 3.0
    return X, (X @ [2.0, -1.0, 0.5, 0.0] + 0.3 * rng.standard_normal(N_ROWS) > 0).astype(int)


def charged(ledger):
    """Return the number of charges, and check that what is spent is their sum."""
    table, total = ledger.to_frame(reports=True), GaussianCost(0.0, 0.0)
    for text, mu, erasure in zip(table["report"], table["mu"], table["erasure"], strict=True):
        report = PrivacyReport.from_json(text)
        cost = gaussian_cost(report.events, report.adjacency, erasure=max(erasure, 1e-12))
        assert cost.mu <= mu * (1.0 + 1e-9)
        total += GaussianCost(mu, erasure)
    assert ledger.spent == pytest.approx(total.epsilon(ledger.to_dict()["delta"]), rel=1e-6)
    return len(table)


@pytest.mark.long
@ONE_OR_MORE_WORKERS
def test_a_grid_search_is_all_its_fits(n_jobs, ledger, data):
    model = DPSCDClassifier(ledger=ledger, max_iter=2, **FIT)
    grid = {"alpha": [1e-4, 1e-3, 1e-2], "batch_size": [20, 40]}
    GridSearchCV(model, grid, cv=FOLDS, n_jobs=n_jobs).fit(*data)
    assert charged(ledger) == 6 * 3 + 1


def stack(model, X, y):
    members = [("a", model), ("b", clone(model))]
    StackingClassifier(members, final_estimator=clone(model), cv=FOLDS).fit(X, y)


def draw(model, X, y):
    grid = {"alpha": [1e-4, 1e-3]}
    RandomizedSearchCV(model, grid, n_iter=2, cv=FOLDS, refit=False, random_state=0).fit(X, y)


def one_against_the_rest(model, X, y):
    OneVsRestClassifier(model).fit(X, np.resize([0, 1, 2], len(X)))


STUDIES = {
    "cross_validate": (lambda model, X, y: cross_validate(model, X, y, cv=FOLDS), 3),
    "Pipeline": (lambda model, X, y: make_pipeline(NormClipper(), model).fit(X, y), 1),
    "OneVsRestClassifier": (one_against_the_rest, 3),
    "RFE": (lambda model, X, y: RFE(model, n_features_to_select=2).fit(X, y), 3),
    "StackingClassifier": (stack, 2 * (1 + 3) + 1),
    "RandomizedSearchCV": (draw, 6),
}


@pytest.mark.parametrize("name", STUDIES)
def test_every_fit_is_charged(name, ledger, data):
    study, n_fits = STUDIES[name]
    study(DPLogisticRegression(ledger=ledger, data_norm=2.0, **FIT), *data)
    assert charged(ledger) == n_fits


@pytest.mark.long
@ONE_OR_MORE_WORKERS
def test_a_bag_with_seeds(n_jobs, seeded, data):
    model = DPLogisticRegression(ledger=seeded, **FIT)
    told = {"n_estimators": 4, "bootstrap": False, "max_samples": 0.5}
    bag = BaggingClassifier(model, n_jobs=n_jobs, random_state=0, **told)
    bag.fit(*data)
    assert charged(seeded) == 4
    # The same seeds give the same noise.
    with pytest.raises(LedgerError, match="seed"):
        bag.fit(*data)
    assert charged(seeded) == 4


@pytest.mark.parametrize("bootstrap", [True, False])
def test_a_bag_sets_seeds_and_is_refused(bootstrap, ledger, data):
    model = DPLogisticRegression(ledger=ledger, **FIT)
    with pytest.raises(LedgerError, match="seed"):
        BaggingClassifier(model, n_estimators=2, bootstrap=bootstrap).fit(*data)
    assert ledger.to_frame().empty


def test_self_training_is_charged_for_each_round(ledger, data):
    X, y = data
    labels = np.where(np.arange(N_ROWS) < 120, y, -1)
    model = DPLogisticRegression(ledger=ledger, **FIT)
    training = SelfTrainingClassifier(model, criterion="k_best", k_best=20, max_iter=3)
    training.fit(X, labels)
    assert charged(ledger) == training.n_iter_ + 1
    assert any("SelfTraining" in line for line in ledger.report().not_covered)


def test_a_stream_is_charged_once(ledger, data):
    X, y = data
    model = DPSGDClassifier(mechanism="laplace", ledger=ledger, epsilon=0.5, classes=[0, 1])
    for part in np.array_split(np.arange(N_ROWS), 4):
        model.partial_fit(X[part], y[part])
    assert ledger.to_frame()["epsilon"].tolist() == [0.5]
    # What a record of a later call may cost more is charged, and so is another stream.
    model.set_params(epsilon=0.7).partial_fit(X[:60], y[:60])
    assert len(ledger.to_frame()) == 2
    clone(model).partial_fit(X[:60], y[:60])
    assert len(ledger.to_frame()) == 3
    with pytest.raises(BudgetExceededError):
        clone(model).set_params(epsilon=50.0).partial_fit(X[:60], y[:60])


@pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")
@pytest.mark.parametrize(("name", "estimator"), all_estimators("private"))
def test_no_private_estimator_escapes(name, estimator, tmp_path, data):
    is_of_labels = name == "WALRClassifier"
    told = {"adjacency": "replace_label", "unit": "the label of one row"} if is_of_labels else {}
    ledger = PrivacyLedger(tmp_path / "one.db", epsilon=3.0, delta=1e-4, **told)
    model, (X, y) = estimator(epsilon=0.5, delta=1e-7, ledger=ledger), data
    model.fit(X, suited(model, y))
    assert charged(ledger) == 1
    assert ledger.to_frame()["estimator"].tolist() == [name]


def test_nothing_is_drawn_where_too_little_is_left(tmp_path, data, monkeypatch):
    small = PrivacyLedger(tmp_path / "small.db", epsilon=0.2, delta=1e-4)
    monkeypatch.setattr(_base, "make_stream", lambda *args, **options: pytest.fail("drawn"))
    for model in (
        DPLogisticRegression(ledger=small, **FIT),
        DPSGDRegressor(ledger=small, **REGRESSION),
        DPCDLasso(ledger=small, **REGRESSION),
    ):
        with pytest.raises(BudgetExceededError, match="Nothing was fitted or charged"):
            model.fit(*data)
        assert not hasattr(model, "coef_")
    assert small.to_frame().empty


def test_a_fit_without_noise_is_not_to_be_had(ledger, data):
    with pytest.raises(LedgerError):
        DPLogisticRegression(epsilon=float("inf"), ledger=ledger).fit(*data)
    assert ledger.to_frame().empty


def test_a_preview_tells_what_can_be_afforded(ledger):
    assert ledger.can_afford(preview(DPLogisticRegression(**FIT), N_ROWS, 4))
    assert not ledger.can_afford(preview(DPLogisticRegression(epsilon=50.0), N_ROWS, 4))
    assert ledger.to_frame().empty


def test_labels_have_a_ledger_of_their_own(tmp_path, ledger, data):
    X, y = data
    with pytest.raises(LedgerError, match=r"label|unit|adjacency"):
        WALRClassifier(classes=[0, 1], ledger=ledger).fit(X, y)
    told = {"adjacency": "replace_label", "unit": "the label of one row"}
    labels = PrivacyLedger(tmp_path / "labels.db", epsilon=3.0, delta=1e-4, **told)
    fit = {"classes": [0, 1], "delta": 1e-6, "mechanism": "analytic", "ledger": labels}
    WALRClassifier(**fit).fit(X, y)
    aggregate = label_aggregate(X, y, **fit)
    assert len(labels.to_frame()) == 2
    WALRClassifier(classes=[0, 1], ledger=labels).fit_aggregate(X, aggregate)
    assert len(labels.to_frame()) == 2
    with pytest.raises(LedgerError, match=r"label|unit|adjacency"):
        DPLogisticRegression(ledger=labels, **FIT).fit(X, y)


def test_a_clone_keeps_its_ledger(ledger, data):
    model = DPLogisticRegression(ledger=ledger, **FIT)
    copy = clone(clone(model).set_params(epsilon=0.2))
    assert copy.get_params()["ledger"] == ledger
    copy.fit(*data)
    assert charged(ledger) == 1
