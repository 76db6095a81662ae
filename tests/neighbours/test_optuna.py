"""Optuna: each trial's fit and score charge a ledger, and what is too much ends the study."""

import pytest

from skdp.exceptions import BudgetExceededError
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression
from skdp.metrics import private_score
from tests.site._edges import N_ROWS, assert_counts, covers, make_classifier, make_records

optuna = pytest.importorskip("optuna")


@pytest.fixture
def study():
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))


def states(study):
    return [trial.state.name for trial in study.trials]


@covers("optuna.Study")
def test_a_study_keeps_exact_scores(study):
    X, y = make_records()

    def objective(trial):
        alpha = trial.suggest_float("alpha", 1e-4, 1e-1, log=True)
        return make_classifier(alpha=alpha).fit(X, y).score(X, y)

    study.optimize(objective, n_trials=3)
    assert_counts([trial.value for trial in study.trials], of=N_ROWS)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_ledger_ends_a_study_before_it_costs_too_much(n_jobs, study, tmp_path):
    X, y = make_records()
    half = N_ROWS // 2
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=1.0, delta=1e-4)

    def objective(trial):
        alpha = trial.suggest_float("alpha", 1e-4, 1e-1, log=True)
        model = DPLogisticRegression(
            epsilon=0.3, delta=1e-6, alpha=alpha, data_norm=2.0, classes=[0, 1], ledger=ledger
        )
        model.fit(X[:half], y[:half])
        return private_score(model, X[half:], y[half:], epsilon=0.1, ledger=ledger).value

    with pytest.raises(BudgetExceededError):
        study.optimize(objective, n_trials=50, n_jobs=n_jobs)
    complete = states(study).count("COMPLETE")
    assert complete > 2
    # A score too many leaves a fit that was charged.
    assert 2 * complete <= len(ledger.to_frame()) <= 2 * complete + n_jobs
    assert ledger.spent <= 1.0
    assert ledger.report().epsilon <= 1.0
    done = len(study.trials)
    study.optimize(objective, n_trials=2, catch=(BudgetExceededError,))
    assert states(study)[done:] == ["FAIL", "FAIL"]
