"""Ways around a ledger that were tried, and are closed."""

import copy
import os
import pickle
from itertools import product
from multiprocessing.reduction import ForkingPickler

import joblib
import numpy as np
import pytest
from sklearn.ensemble import AdaBoostRegressor

from skdp.exceptions import BudgetExceededError, LedgerError
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression, DPRidge, DPSGDClassifier
from tests.ledger._fits import charges_of, make_ledger, report_of

try:
    import cloudpickle
except ImportError:  # joblib before 1.6 has its own
    from joblib.externals import cloudpickle

FIT = {"epsilon": 0.5, "delta": 1e-7, "classes": [0, 1]}
STREAM = {"mechanism": "laplace", "epsilon": 0.5, "classes": [0, 1]}


class WithOwnState(DPLogisticRegression):
    """As those of Dask are."""

    def __getstate__(self):
        return super().__getstate__()


@pytest.fixture
def ledger(tmp_path):
    return make_ledger(tmp_path, epsilon=9.0, delta=1e-4)


@pytest.fixture
def seeded(tmp_path):
    return make_ledger(tmp_path, epsilon=9.0, delta=1e-4, name="seeded.db", allow_seeds=True)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((240, 4)) / 3.0
    return X, (X[:, 0] > 0).astype(int)


def test_a_stream_takes_no_seed_after_its_charge(ledger, data):
    model = DPSGDClassifier(ledger=ledger, **STREAM).partial_fit(*data)
    before = model.coef_
    with pytest.raises(LedgerError, match="no fits with a seed"):
        model.set_params(random_state=7).partial_fit(*data)
    assert model.coef_ is before
    assert len(charges_of(ledger)) == 1


def test_each_call_of_a_seeded_stream_has_noise_of_its_own(seeded, data):
    model = DPSGDClassifier(ledger=seeded, random_state=7, **STREAM)
    for _ in range(3):
        model.partial_fit(*data)
    with pytest.warns(UserWarning, match="seed"):
        twin = copy.deepcopy(model)
    model.partial_fit(*data)
    for again in (twin, DPSGDClassifier(ledger=seeded, random_state=7, **STREAM)):
        with pytest.raises(LedgerError, match="same noise"):
            again.partial_fit(*data)
    assert len(charges_of(seeded)) == 1


@pytest.mark.long
def test_a_seed_that_a_report_does_not_name_might_be_any(seeded, tmp_path, data):
    elsewhere = DPLogisticRegression(random_state=7, **FIT).fit(*data).privacy_report_
    seeded.charge(elsewhere)
    for seed in (7, 8):
        with pytest.raises(LedgerError, match="might be equal"):
            DPLogisticRegression(random_state=seed, ledger=seeded, **FIT).fit(*data)
    DPLogisticRegression(**FIT, ledger=seeded).fit(*data)
    assert len(charges_of(seeded)) == 2
    other = make_ledger(tmp_path, epsilon=9.0, delta=1e-4, name="other.db", allow_seeds=True)
    DPLogisticRegression(random_state=7, ledger=other, **FIT).fit(*data)
    with pytest.raises(LedgerError, match="might be equal"):
        other.charge(elsewhere)
    assert len(charges_of(other)) == 1


def test_a_stream_pays_again_in_a_ledger_that_was_made_anew(ledger, tmp_path, data):
    model = DPSGDClassifier(ledger=ledger, **STREAM).partial_fit(*data)
    coef = model.coef_
    os.unlink(ledger.path)
    with pytest.raises(LedgerError, match="doesn't exist"):
        model.partial_fit(*data)
    make_ledger(tmp_path, epsilon=0.1, delta=1e-4)
    with pytest.raises(BudgetExceededError):
        model.partial_fit(*data)
    assert model.coef_ is coef
    os.unlink(ledger.path)
    again = make_ledger(tmp_path, epsilon=9.0, delta=1e-4)
    model.partial_fit(*data).partial_fit(*data)
    assert len(charges_of(again)) == 1


@pytest.mark.parametrize("send", [ForkingPickler.dumps, cloudpickle.dumps])
def test_what_multiprocessing_and_dask_send_takes_the_ledger_along(send, ledger, monkeypatch):
    monkeypatch.setenv("SKDP_LEDGER", ledger.path)
    assert pickle.loads(send(DPLogisticRegression(**FIT))).ledger == ledger.path


def test_files_of_joblib_take_the_ledger_along(ledger, tmp_path, monkeypatch):
    """They are pickles, which may go to a worker. Files of skops hold the ledger as it was set."""
    monkeypatch.setenv("SKDP_LEDGER", ledger.path)
    file = tmp_path / "model.joblib"
    for kind, named in product((DPLogisticRegression, WithOwnState), (None, "study.db")):
        joblib.dump({"kept": [kind(ledger=named, **FIT)]}, file)
        path = ledger.path if named is None else os.path.abspath(named)
        assert joblib.load(file)["kept"][0].ledger == path


def test_a_relative_path_is_the_senders(ledger, tmp_path, data, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    other = make_ledger(tmp_path / "elsewhere", epsilon=9.0, delta=1e-4)
    monkeypatch.chdir(tmp_path)
    sent = pickle.dumps(DPLogisticRegression(ledger=os.path.basename(ledger.path), **FIT))
    monkeypatch.chdir(tmp_path / "elsewhere")
    pickle.loads(sent).fit(*data)
    assert (len(charges_of(ledger)), len(charges_of(other))) == (1, 0)


def test_the_variable_is_an_absolute_path(ledger, tmp_path, data, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SKDP_LEDGER", os.path.basename(ledger.path))
    with pytest.raises(LedgerError, match="absolute"):
        DPLogisticRegression(**FIT).fit(*data)
    assert charges_of(ledger) == []


def test_a_file_of_two_names_is_refused(ledger, tmp_path):
    os.link(ledger.path, tmp_path / "second.db")
    for name in (ledger.path, tmp_path / "second.db"):
        with pytest.raises(LedgerError, match=r"several names.*kept apart"):
            PrivacyLedger(name)
    with pytest.raises(LedgerError, match=r"several names.*kept apart"):
        ledger.charge(report_of(0.1))
    os.unlink(tmp_path / "second.db")
    assert charges_of(ledger) == []


def test_one_name_of_a_part_is_one_part(ledger):
    assert ledger.part("cafe\u0301") == ledger.part("caf\u00e9")
    for name in ("north ", " north", "\u00a0north"):
        with pytest.raises(ValueError, match=r"space|printable"):
            ledger.part(name)


def test_boosting_sets_seeds_and_is_refused(ledger, data):
    """It draws rows by their errors, several times each, and sets seeds in what it fits."""
    model = DPRidge(epsilon=0.5, delta=1e-7, target_bounds=(0.0, 1.0), ledger=ledger)
    with pytest.raises(LedgerError, match="seed"):
        AdaBoostRegressor(model, n_estimators=2).fit(*data)
    assert charges_of(ledger) == []


def test_no_label_is_in_the_file(ledger, data):
    X, y = data
    labels = np.where(y, "secretly ill", "secretly well")
    for classes in (None, ["secretly ill", "secretly well"]):
        model = DPLogisticRegression(epsilon=0.5, delta=1e-7, classes=classes, ledger=ledger)
        model.fit(X, labels)
    with open(ledger.path, "rb") as file:
        assert b"secretly" not in file.read()


def test_what_the_budget_assumes_is_said(ledger):
    told = " ".join(ledger.report().assumed_public)
    assert "set of classes" in told
    assert "partial_fit" in told
