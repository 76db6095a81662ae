"""Fits on sparse rows: those of the dense rows that they stand for."""

import pickle
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from skdp.audit import audit
from skdp.calibration import DPCalibratedClassifier
from skdp.ledger import PrivacyLedger
from skdp.linear_model import (
    DPCDClassifier,
    DPCDElasticNet,
    DPCDLasso,
    DPGammaRegressor,
    DPHuberRegressor,
    DPLogisticRegression,
    DPPoissonRegressor,
    DPQuantileRegressor,
    DPRidge,
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDClassifier,
    DPSGDRegressor,
    DPTweedieRegressor,
    WALRClassifier,
    label_aggregate,
    walr_path,
)
from skdp.metrics import private_score
from skdp.model_selection import DPGridSearch
from skdp.preprocessing import NormClipper
from skdp.utils.discovery import all_estimators
from tests._listed import suited
from tests.door import (
    batches_module as _batches,
    blocks_module as _blocks,
    null_records,
    threads_module,
)

N_ROWS, N_FEATURES = 260, 12
LAPLACE = {"mechanism": "laplace"}
MODELS = [
    DPLogisticRegression(),
    DPLogisticRegression(moment_budget=0.0),
    DPLogisticRegression(fit_intercept=False, average=False, momentum=0.0),
    DPLogisticRegression(epsilon=np.inf),
    DPLogisticRegression(ball_budget=0, data_norm=1.0),
    DPRidge(),
    DPRidge(moment_budget=0.0, fit_intercept=False, adjacency="replace_one"),
    DPRidge(epsilon=np.inf, data_norm=0.1),
    DPRidge(ball_budget=0, data_norm=0.1),
    DPPoissonRegressor(),
    DPGammaRegressor(epsilon=np.inf),
    DPTweedieRegressor(power=1.5, ball_budget=0, data_norm=0.1),
    DPHuberRegressor(),
    DPQuantileRegressor(quantile=0.9),
    DPSGDClassifier(),
    DPSGDClassifier(loss="hinge", penalty="l1", batch_size=9, fit_intercept=False),
    DPSGDClassifier(penalty="elasticnet", batch_size=250, max_iter=3, **LAPLACE),
    DPSGDClassifier(epsilon=np.inf),
    DPSGDRegressor(loss="huber", batch_size=230),
    DPSGDRegressor(adjacency="replace_one", average=False, **LAPLACE),
    DPSCDClassifier(),
    DPSCDClassifier(loss="hinge", noisy_dual=True, average=False),
    DPSCDClassifier(epsilon=np.inf, fit_intercept=False),
    DPSCDRegressor(batch_size=230, proximal=0),
    DPSCDRegressor(noisy_dual=True),
    DPCDClassifier(),
    DPCDClassifier(penalty="l1", smoothness="bounds", average_every=3),
    DPCDClassifier(epsilon=50.0, feature_bounds=(0.1, 2.0), data_norm=None),
    DPCDClassifier(penalty="elasticnet", fit_intercept=False, epsilon=np.inf),
    DPCDLasso(feature_bounds=(-2.0, np.linspace(-1, 3, N_FEATURES)), positive=True),
    DPCDLasso(epsilon=np.inf),
    DPCDElasticNet(fit_intercept=False, smoothness=np.full(N_FEATURES, 0.1)),
    WALRClassifier(),
    WALRClassifier(mechanism="analytic", noise_shape="spherical", fit_intercept=False),
    WALRClassifier(mechanism="analytic", solver="hybrid", batch_size=50),
    WALRClassifier(mechanism="analytic", solver="gd", data_norm=0.5, max_iter=5),
]


def make_rows(rng, dtype=np.float64):
    """Rows with few entries, of many lengths, some of them empty."""
    X = rng.standard_normal((N_ROWS, N_FEATURES)) * (rng.random((N_ROWS, N_FEATURES)) < 0.25)
    X *= rng.choice([0.05, 0.5, 20.0], (N_ROWS, 1))
    X[[0, 7, 100]] = 0.0
    X[:, 5] = 0.0
    return X.astype(dtype)


def random_rows(rng, n_rows, n_features, density):
    n_entries = int(density * n_rows * n_features)
    places = rng.integers(0, n_rows, n_entries), rng.integers(0, n_features, n_entries)
    return sparse.csr_array((rng.random(n_entries), places), shape=(n_rows, n_features))


def make_targets(model, rng, n_classes):
    if is_classifier(model):
        return rng.permutation(np.arange(N_ROWS) % n_classes)
    n_targets = n_classes - 1 if get_tags(model).target_tags.multi_output else 1
    return suited(model, rng.uniform(-1.2, 1.2, (N_ROWS, n_targets)).squeeze())


def untidy(X, kind=sparse.csr_array, index=np.int32):
    """Rows with entries in any order, several in a place, and some of 0."""
    rng = np.random.default_rng(0)
    i, j = np.nonzero(X)
    zeros = rng.integers(0, X.shape[0], 30), rng.integers(0, X.shape[1], 30)
    i, j = np.concatenate([i, i, zeros[0]]), np.concatenate([j, j, zeros[1]])
    values = np.concatenate([0.25 * X[X != 0], 0.75 * X[X != 0], np.zeros(30)])
    order = rng.permutation(i.size)
    order = order[np.argsort(i[order], kind="stable")]
    pointers = np.append(0, np.bincount(i, minlength=X.shape[0]).cumsum()).astype(index)
    parts = values[order].astype(X.dtype), j[order].astype(index), pointers
    found = kind(parts, shape=X.shape)
    assert not found.has_canonical_format
    # A flag that isn't true is not believed.
    found.has_canonical_format = found.has_sorted_indices = True
    return found


FORMS = {
    "matrix": sparse.csr_matrix,
    "int64": lambda X: wide(sparse.csr_array(X)),
    "columns": sparse.csc_matrix,
    "lists": sparse.lil_array,
    "untidy": untidy,
    "untidy matrix of int64": lambda X: untidy(X, sparse.csr_matrix, np.int64),
}


def wide(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def weights(model):
    coef = np.atleast_2d(model.coef_)
    return np.column_stack([coef, np.broadcast_to(model.intercept_, len(coef))])


pytestmark = pytest.mark.filterwarnings(
    "ignore:(target_bounds=N|the size of)",
    "ignore:.*delta:skdp.exceptions.PrivacyWarning",
)


def test_every_method_is_compared():
    compared = {type(model) for model in MODELS}
    assert compared == {estimator for _, estimator in all_estimators("private")} & compared
    for _, estimator in all_estimators("private"):
        assert get_tags(estimator()).input_tags.sparse == (estimator in compared)


@pytest.mark.parametrize("model", [DPLogisticRegression, DPRidge])
def test_rows_for_inference_are_dense(model):
    assert not get_tags(model(inference=True)).input_tags.sparse


@pytest.mark.parametrize(
    "model", [DPRidge, DPSCDRegressor, DPCDElasticNet, DPCDLasso, DPSGDRegressor]
)
def test_sparse_targets_are_refused_by_name(model):
    X = np.eye(20, 3)
    with pytest.raises(TypeError, match="Sparse y is not supported"):
        model().fit(X, sparse.csr_array(X[:, :1]))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "model",
    [
        DPLogisticRegression(),
        DPSGDClassifier(batch_size=230),
        DPSGDClassifier(batch_size=20),
        DPSCDClassifier(),
        DPCDClassifier(),
        WALRClassifier(mechanism="analytic"),
    ],
    ids=repr,
)
def test_all_forms_are_read_and_left_alone(form, model, rng):
    X, y = make_rows(rng), make_targets(model, rng, 2)
    given = FORMS[form](X)
    before = pickle.dumps(given)
    model = clone(model).set_params(random_state=0)
    fitted = clone(model).fit(given, y)
    assert pickle.dumps(given) == before
    expected, near = weights(clone(model).fit(X, y)), 1e-10
    if isinstance(model, WALRClassifier):
        near = 1e-6
    np.testing.assert_allclose(weights(fitted), expected, rtol=0.0, atol=near)
    np.testing.assert_allclose(fitted.decision_function(given), fitted.decision_function(X))
    assert pickle.dumps(given) == before


@pytest.mark.parametrize("kind", [DPSGDClassifier, DPSGDRegressor])
def test_streams_take_sparse_rows(kind, rng):
    X, model = make_rows(rng), kind(random_state=0, **LAPLACE)
    y = make_targets(model, rng, 3)
    labels = {"classes": [0, 1, 2]} if is_classifier(model) else {}
    found = []
    for form in (np.asarray, sparse.csr_array, untidy):
        stream = clone(model)
        for part in np.array_split(np.arange(N_ROWS), 3):
            stream.partial_fit(form(X[part]), y[part], **labels)
        found.append(weights(stream))
    np.testing.assert_allclose(found[1], found[0], rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(found[2], found[0], rtol=0.0, atol=1e-10)


def test_personal_budgets_go_with_sparse_rows(rng):
    X, model = make_rows(rng), DPSGDClassifier(random_state=0, **LAPLACE)
    y, asked = make_targets(model, rng, 2), rng.uniform(0.1, 1.0, N_ROWS)
    found = [
        weights(clone(model).fit(form(X), y, sample_epsilon=asked))
        for form in (np.asarray, sparse.csr_array)
    ]
    np.testing.assert_allclose(found[1], found[0], rtol=0.0, atol=1e-10)


@pytest.mark.parametrize(
    "model",
    [
        DPLogisticRegression(),
        DPSGDClassifier(batch_size=230),
        DPSCDClassifier(),
        DPCDClassifier(),
        DPCDClassifier(smoothness="bounds", feature_bounds=(0.5, 1.0)),
    ],
    ids=repr,
)
def test_null_records_are_those_of_dense_rows(model, rng):
    X, y = make_rows(rng), make_targets(model, rng, 2)
    model = clone(model).set_params(random_state=0)
    found = []
    for form in (np.asarray, sparse.csr_array):
        with null_records([1, 7, -1]) as asked:
            found.append(weights(clone(model).fit(form(X), y)))
        assert asked.consulted
    np.testing.assert_allclose(found[1], found[0], rtol=0.0, atol=1e-10)
    assert not np.allclose(found[0], weights(clone(model).fit(X, y)), atol=1e-10)


@pytest.mark.long
@pytest.mark.parametrize("model", [DPLogisticRegression(), DPSGDClassifier(batch_size=5000)])
def test_threads_change_no_bit(model, rng, monkeypatch):
    monkeypatch.setattr(_blocks, "WORTHWHILE_ENTRIES", 0)
    monkeypatch.setattr(threads_module, "WORTHWHILE_ENTRIES", 0)
    X = random_rows(rng, 12_000, 30, 0.1)
    y = np.arange(12_000) % 2
    found = {
        pickle.dumps(weights(clone(model).set_params(random_state=0, n_jobs=n_jobs).fit(X, y)))
        for n_jobs in (None, 1, 2, 3)
    }
    assert len(found) == 1


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("size", [1, _batches._FEW_ROWS, _batches._FEW_ROWS + 1])
def test_rows_are_gathered_in_one_of_two_ways(size, n_outputs, rng):
    from tests.door import clip_rows

    X = make_rows(rng)
    dense, given = (clip_rows(form, data_norm=1.0, fit_intercept=True) for form in (X, untidy(X)))
    indices = rng.permutation(N_ROWS)[:size]
    w = rng.standard_normal((n_outputs, N_FEATURES + 1))[: n_outputs if n_outputs > 1 else 1]
    w = w if n_outputs > 1 else w[0]
    c = rng.standard_normal((size, n_outputs)).squeeze(axis=1 if n_outputs == 1 else ())
    found = []
    for rows in (dense, given):
        gathered = _batches.gathered_rows(rows, N_ROWS)
        found.append((gathered.load(indices), gathered.predict(w), gathered.sum(c)))
    for one, other in zip(*found, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-12)


def test_aggregates_of_sparse_rows_are_those_of_dense_ones(rng):
    X = make_rows(rng)
    y = rng.integers(0, 2, N_ROWS)
    options = {"mechanism": "analytic", "classes": [0, 1], "random_state": 0}
    dense, given = (label_aggregate(form, y, **options) for form in (X, untidy(X)))
    np.testing.assert_allclose(given.sums, dense.sums, rtol=0.0, atol=1e-10)
    model = WALRClassifier(random_state=0).fit_aggregate(sparse.csc_array(X), dense)
    expected = WALRClassifier(random_state=0).fit_aggregate(X, dense)
    np.testing.assert_allclose(weights(model), weights(expected), rtol=0.0, atol=1e-6)
    paths = [walr_path(form, dense, alphas=[0.1])[1] for form in (X, untidy(X))]
    np.testing.assert_allclose(*paths, rtol=0.0, atol=1e-6)


def broken(indices=(0, 1), pointers=(0, 1, 2), data=(1.0, 2.0)):
    X = sparse.csr_array((np.ones(2), [0, 1], [0, 1, 2]), shape=(2, 2))
    X.data, X.indices, X.indptr = np.array(data), np.array(indices), np.array(pointers)
    return X


@pytest.mark.parametrize(
    "X",
    [
        broken(indices=(0, 7)),
        broken(indices=(0, -1)),
        broken(indices=(0, 0), pointers=(0, 2, 2), data=(1e308, 1e308)),
        broken(data=(1.0, np.inf)),
        broken(data=(np.nan, 1.0)),
    ],
)
@pytest.mark.parametrize("model", [DPSGDClassifier(), DPRidge(), DPCDLasso(), WALRClassifier()])
def test_rows_that_are_none_are_refused_without_a_value(model, X):
    with pytest.raises(ValueError, match=r"indices that don't fit|infinity|NaN") as caught:
        model.fit(X, [0, 1])
    assert "308" not in str(caught.value)
    assert "7" not in str(caught.value)


@pytest.mark.long
@pytest.mark.parametrize("model", [DPCDClassifier(), DPSGDClassifier(), DPLogisticRegression()])
def test_no_dense_copy_is_made(model, rng):
    """Of rows that would take 100 times as much."""
    n_rows, n_features = 4000, 2500
    X = random_rows(rng, n_rows, n_features, 0.002)
    model = clone(model).set_params(max_iter=1, random_state=0, classes=[0, 1])
    y = np.arange(n_rows) % 2
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * 8 * n_rows * n_features


@pytest.mark.long
def test_calibration_takes_what_its_classifier_takes(rng):
    X, y = make_rows(rng), rng.integers(0, 2, N_ROWS)
    model = DPCalibratedClassifier(DPSGDClassifier(classes=[0, 1]), random_state=0)
    dense = clone(model).fit(X, y)
    found = clone(model).fit(untidy(X), y)
    assert found.slope_ == pytest.approx(dense.slope_, rel=1e-9)
    np.testing.assert_allclose(found.predict_proba(sparse.coo_array(X)), dense.predict_proba(X))
    ledger_free = DPCalibratedClassifier(DPSCDClassifier(solver="primal", classes=[0, 1]))
    with pytest.raises(TypeError, match="Sparse data was passed for X"):
        ledger_free.fit(sparse.csr_array(X), y)


@pytest.mark.long
def test_searches_take_what_all_candidates_take(rng, tmp_path):
    X, y = make_rows(rng), rng.integers(0, 2, N_ROWS)
    ledger = PrivacyLedger(tmp_path / "ledger.sqlite", epsilon=9.0, delta=1e-2)
    options = {"epsilon": 2.0, "delta": 1e-3}
    pipeline = make_pipeline(NormClipper(), DPSCDClassifier(classes=[0, 1]))
    grid = {"dpscdclassifier__alpha": [1e-3, 1e-1]}
    found = [
        DPGridSearch(pipeline, grid, random_state=0, **options).fit(form, y)
        for form in (X, sparse.csc_array(X))
    ]
    assert found[0].best_params_ == found[1].best_params_
    np.testing.assert_array_equal(found[0].predict(X), found[1].predict(untidy(X)))
    before = ledger.to_dict()
    solvers = {"dpscdclassifier__solver": ["dual", "primal"]}
    refused = DPGridSearch(pipeline, solvers, ledger=ledger, **options)
    with pytest.raises(TypeError, match="a candidate takes dense X only"):
        refused.fit(sparse.csr_array(X), y)
    assert ledger.to_dict() == before


def test_scores_read_sparse_rows_and_audits_refuse_them(rng):
    X, y = make_rows(rng), rng.integers(0, 2, N_ROWS)
    model = DPSGDClassifier(classes=[0, 1], random_state=0).fit(X, y)
    scores = [
        private_score(model, form, y, scoring="roc_auc", epsilon=1.0, random_state=0).value
        for form in (X, untidy(X))
    ]
    assert scores[0] == scores[1]
    with pytest.raises(TypeError, match="Sparse data was passed for X"):
        audit(model, sparse.csr_array(X), y)


@pytest.mark.parametrize(
    "model", [DPLogisticRegression(moment_budget=0.1), DPRidge(moment_budget=0.1), WALRClassifier()]
)
def test_a_matrix_of_very_many_columns_is_refused_with_the_remedy(model, rng):
    X = random_rows(rng, 40, 30_000, 0.001)
    with pytest.raises(ValueError, match=r"use fewer|take moment_budget=0"):
        model.fit(X, np.arange(40) % 2)


def test_vectors_of_very_many_columns_are_fitted(rng):
    X = random_rows(rng, 40, 60_000, 0.001)
    model = DPLogisticRegression(max_iter=2, classes=[0, 1]).fit(X, np.arange(40) % 2)
    assert model.coef_.shape == (1, 60_000)
    # Two of counts of lengths, and no moment.
    assert len(model.privacy_report_.events) == 3
    model.set_params(ball_budget=0, data_norm=1.0).fit(X, np.arange(40) % 2)
    assert len(model.privacy_report_.events) == 1
