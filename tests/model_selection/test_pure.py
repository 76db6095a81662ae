"""Searches without delta, whose trials are pure."""

import pytest

from skdp.accountant import (
    GaussianEvent,
    LaplaceEvent,
    SelectionEvent,
    calibrate_selection,
    selection_noise,
)
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression, DPSGDClassifier
from tests.model_selection._searches import records, search

GRID = {"alpha": [1e-4, 1e-2], "data_norm": [0.5, 2.0]}
PURE = {
    "estimator": DPSGDClassifier(mechanism="laplace", max_iter=1, classes=[0, 1]),
    "param_grid": GRID,
    "delta": 0.0,
    "epsilon": 2.0,
}


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("method", ["repeat", "compose"])
def test_the_budget_is_spent_and_is_pure(method, adjacency):
    fitted = search(method=method, adjacency=adjacency, **PURE).fit(*records())
    report = fitted.privacy_report_
    assert (report.epsilon, report.delta) == (2.0, 0.0)
    assert 0.99 * 2.0 < report.epsilon_at(0.0) <= 2.0
    (event,) = report.events
    assert all(one.is_pure for alternative in event.alternatives for one in alternative)
    assert "Gaussian" not in report.to_text()


@pytest.mark.long
def test_scores_have_the_epsilon_of_fits():
    fitted = search(method="repeat", **PURE).fit(*records())
    (event,) = fitted.privacy_report_.events
    spent = [sum(one.epsilon("zero_out") for one in events) for events in event.alternatives]
    assert spent == pytest.approx([spent[0]] * len(spent))
    assert event.alternatives[-1][0].counts
    # By the theorem of Liu and Talwar a trial has more than a part of eta + 2.
    assert spent[0] > 2.0 / (event.eta + 2.0)
    assert fitted.n_trials_ == pytest.approx(24.0)


def test_a_composition_gives_each_fit_an_equal_part():
    fitted = search(method="compose", **PURE).fit(*records())
    fits, choice = fitted.privacy_report_.events[0].alternatives
    assert sum(one.epsilon("zero_out") for one in fits) == pytest.approx(2.0, rel=2e-3)
    assert choice[0].epsilon("zero_out") <= 2.0


def test_what_is_not_pure_is_refused_before_any_noise(tmp_path):
    ledger = PrivacyLedger(tmp_path / "study", epsilon=8.0, delta=1e-2)
    options = PURE | {"estimator": DPLogisticRegression(classes=[0, 1]), "random_state": None}
    with pytest.raises(ValueError, match=r"delta must be positive.*mechanism='laplace'"):
        search(ledger=ledger, **options).fit(*records())
    assert ledger.to_dict()["charges"] == []


@pytest.mark.parametrize("eta", [-0.5, 1.0, 3.0])
@pytest.mark.parametrize("mean", [2.0, 100.0])
def test_pure_trials_cost_at_most_eta_and_two_of_them(eta, mean):
    """Liu and Talwar's theorem 1.3 has eta = 1, Papernot and Steinke's corollary 3 the others."""

    def laplace(epsilon, delta):
        return ((LaplaceEvent(1.0 / epsilon),),)

    found, delta = calibrate_selection(1.0, 0.0, mean=mean, eta=eta, trial_events=laplace)
    assert delta == 0.0
    assert 0.999 / (eta + 2.0) < found < 1.0
    if mean > 50.0 and eta > 0.0:
        assert found < 1.25 / (eta + 2.0)
    noise = selection_noise(1.0, 0.0, n_candidates=7, mean=mean, eta=eta)
    assert noise == {"repeat": pytest.approx(1.0 / found, rel=2e-3), "compose": 7.0}


def test_gaussian_trials_have_no_pure_selection():
    with pytest.raises(ValueError, match="delta = 0 needs trial_events"):
        calibrate_selection(1.0, 0.0, mean=3.0)
    event = SelectionEvent(((GaussianEvent(1.0),),), 1.0, 0.5)
    assert not event.inside[0].is_pure
