"""Long tests beside the quick ones of `tests/dask/test_dask.py`."""

import os
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

pytest.importorskip("distributed", reason="needs the extra dask")
import dask
import dask.array
import dask.dataframe
from dask.utils import key_split
from distributed import Client, LocalCluster, get_task_stream

import skdp.dask
from skdp.dask import DaskDPLogisticRegression, DaskDPRidge, label_aggregate
from skdp.ledger import PrivacyLedger
from skdp.linear_model import (
    DPLogisticRegression,
    DPRidge,
    WALRClassifier,
    label_aggregate as label_aggregate_in_memory,
)
from skdp.utils.estimator_checks import check_private_estimator
from tests.dask.test_dask import (
    ALIKE,
    KINDS,
    RIDGE,
    SEED,
    N,
    client,
    cluster,
    data,
    in_parts,
    targets_of,
    weights,
)
from tests.door import blocks_module as _blocks
from tests.door_dask import pinned_module as _pinned, reader_of

# Of fits in which all steps are alike to what is tested.
FEW = {"max_iter": 4}


def test_sparse_partitions(data, client):
    dense, y = data[0] * (data[0] > 0.2), data[1][:, 0]
    parts = in_parts(dense, y, 300)
    X = parts[0].map_blocks(csr_array)
    model = DaskDPRidge(**RIDGE, **FEW)
    expected = weights(DPRidge(**RIDGE, **FEW).fit(dense, y))
    np.testing.assert_allclose(weights(clone(model).fit(X, parts[1])), expected, **ALIKE)
    model.set_params(client=client)
    np.testing.assert_allclose(weights(model.fit(X, parts[1])), expected, **ALIKE)


def test_the_same_bits_whoever_adds_up(data, client):
    X, y = in_parts(data[0], targets_of("binary", data[1]), 300)
    model = DaskDPLogisticRegression(classes=[0, 1], **SEED, **FEW)
    here = weights(clone(model).fit(X, y))
    model.set_params(client=client)
    assert np.array_equal(weights(clone(model).fit(X, y)), here)
    held = client.persist([X, y])
    assert np.array_equal(weights(clone(model).fit(*held)), here)
    model.set_params(epsilon=float("inf"))
    assert np.array_equal(
        weights(clone(model).fit(*held)), weights(clone(model).set_params(client=None).fit(X, y))
    )


@pytest.mark.parametrize("n_parts", [1, 7])
@pytest.mark.parametrize("kind", ["binary", "no noise"])
def test_the_same_bits_for_any_number_of_threads(kind, n_parts, data, monkeypatch):
    # Several groups of blocks in a part, and work enough for threads.
    monkeypatch.setattr(_blocks, "_CHUNK", 1)
    monkeypatch.setattr(_blocks, "_ROWS_PER_COLUMN", 0)
    monkeypatch.setattr(_blocks, "_BLOCK_BYTES", 0)
    monkeypatch.setattr(_blocks, "WORTHWHILE_ENTRIES", 0)
    estimator, parameters = KINDS[kind]
    X, y = in_parts(data[0], targets_of(kind, data[1]), -(-N // n_parts))
    fitted = [
        weights(estimator(n_jobs=n_jobs, **parameters).fit(X, y)) for n_jobs in (None, 2, 3, 2 * 7)
    ]
    for other in fitted[1:]:
        assert np.array_equal(other, fitted[0])


def test_a_tree_of_sums_is_exact(data, client, monkeypatch):
    X, y = in_parts(data[0], targets_of("binary", data[1]), 100)
    model = DaskDPLogisticRegression(classes=[0, 1], max_iter=2, **SEED)
    here = weights(clone(model).fit(X, y))
    monkeypatch.setattr(_pinned, "_MOST_GATHERED", 1)
    monkeypatch.setattr(_pinned, "_BRANCHES", 3)
    assert np.array_equal(weights(model.set_params(client=client).fit(X, y)), here)


def test_a_worker_that_dies_costs_time_only(data):
    X, y = in_parts(data[0], targets_of("binary", data[1]), 300)
    model = DaskDPLogisticRegression(classes=[0, 1], **SEED, **FEW)
    here = weights(clone(model).fit(X, y))
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        first, *_ = client.run(os.getpid).values()
        held = client.persist([X, y])
        kill = _Killing(first)
        fitted = _KillsAtStep(classes=[0, 1], client=client, **SEED, **FEW)
        fitted._kill = kill
        assert np.array_equal(weights(fitted.fit(*held)), here)
        assert kill.done


class _Killing:
    def __init__(self, pid):
        self._pid, self.done = pid, False

    def __call__(self):
        if not self.done:
            os.kill(self._pid, signal.SIGKILL)
            self.done = True


class _KillsAtStep(DaskDPLogisticRegression):
    def _budget(self, *parts, **how):
        self._kill()
        return super()._budget(*parts, **how)

    def _reading(self):
        return self._local(**{**self._shared(), "random_state": None})


class RidgeInParts(DaskDPRidge):
    """Fits of arrays in memory, in partitions."""

    def fit(self, X, y):
        return super().fit(*in_parts(np.asarray(X), np.asarray(y), 100))


@pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")
def test_promises_of_private_estimators():
    # Fewer steps don't arrive, and then moments with less noise don't make coefficients alike.
    check_private_estimator(RidgeInParts(max_iter=20))


def test_a_fit_is_charged_once_and_workers_get_no_seed_and_no_ledger(tmp_path, data, client):
    ledger = PrivacyLedger(tmp_path / "one.db", epsilon=3.0, delta=1e-4)
    X, y = in_parts(data[0], data[1][:, 0])
    model = DaskDPRidge(ledger=ledger, client=client, **FEW, **{**RIDGE, "random_state": None})
    model.fit(X, y)
    assert len(ledger.to_frame()) == 1
    sent = pickle.dumps(reader_of(model.set_params(random_state=123456789)))
    assert b"random_state" not in sent
    assert str(tmp_path).encode() not in sent


def test_estimators_are_copied_and_turned_into_local_ones(data, client):
    X, y = in_parts(data[0], targets_of("binary", data[1]))
    model = DaskDPLogisticRegression(classes=[0, 1], client=client, data_norm=1.5, **FEW).fit(X, y)
    assert clone(model).client is client
    assert not hasattr(clone(model), "coef_")
    assert pickle.loads(pickle.dumps(model)).client is None
    local = model.to_local()
    assert type(local) is DPLogisticRegression
    for method in ("predict", "predict_proba", "decision_function"):
        lazy = getattr(model, method)(X)
        assert isinstance(lazy, dask.array.Array)
        np.testing.assert_array_equal(lazy.compute(), getattr(local, method)(data[0]))
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


def fails(block):
    raise KeyError("secret 42")


@pytest.mark.parametrize("where", ["here", "cluster"])
def test_a_partition_that_fails_is_not_quoted(where, data, client):
    X, y = in_parts(data[0], data[1][:, 0])
    model = DaskDPRidge(client=client if where == "cluster" else None, **RIDGE)
    for n_jobs in (None, 2):
        model.set_params(n_jobs=n_jobs)
        with pytest.raises(RuntimeError, match="KeyError") as raised:
            model.fit(X.map_blocks(fails, dtype=float), y)
        assert "secret" not in str(raised.value)
        assert raised.value.__suppress_context__ or raised.value.__context__ is None


def test_the_dashboard_names_what_tasks_do(data, client):
    X, y = in_parts(data[0], data[1][:, 0])
    with get_task_stream(client) as stream:
        DaskDPRidge(max_iter=3, client=client, **RIDGE).fit(X, y)
    ours = {name for task in stream.data if (name := key_split(task["key"])).startswith("skdp")}
    names = "compile", "begin", "load", "check", "raw", "placed", "cut"
    assert ours == {f"skdp-{name}" for name in names}


@pytest.mark.parametrize("n_classes", [2, 5])
def test_label_aggregates(n_classes, data, client):
    y = targets_of("binary" if n_classes == 2 else "five classes", data[1])
    shared = {"classes": range(n_classes), "data_norm": 1.5, "random_state": 1}
    X_parts, y_parts = in_parts(data[0], y, 300)
    made = [label_aggregate(X_parts, y_parts, client=who, **shared) for who in (None, client)]
    assert np.array_equal(made[0].sums, made[1].sums)
    memory = label_aggregate_in_memory(
        data[0], y, mechanism="analytic", noise_shape="spherical", **shared
    )
    np.testing.assert_allclose(made[0].sums, memory.sums, rtol=0.0, atol=1e-4)
    np.testing.assert_allclose(made[0].noise_cov, memory.noise_cov, rtol=1e-5)
    assert made[0].report.events == memory.report.events
    WALRClassifier().fit_aggregate(data[0], made[0])
    with pytest.raises(TypeError, match="Dask"):
        label_aggregate(data[0], y_parts, **shared)


def test_without_the_extra_the_error_says_what_to_install():
    program = "import sys; sys.modules['distributed'] = None; import skdp.dask"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment
    )
    assert run.returncode == 1
    assert "ImportError: skdp.dask needs distributed" in run.stderr
    assert "pip install '.[dask]'" in run.stderr
