"""Sums over parts: the fits of one machine, wherever the rows are."""

import inspect
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

pytest.importorskip("distributed", reason="needs the extra dask")

import dask
import dask.array
import dask.dataframe
from distributed import Client, LocalCluster

import skdp.dask
from skdp.dask import (
    DaskDPGammaRegressor,
    DaskDPHuberRegressor,
    DaskDPLogisticRegression,
    DaskDPPoissonRegressor,
    DaskDPQuantileRegressor,
    DaskDPRidge,
    DaskDPTweedieRegressor,
    transform,
)
from skdp.ledger import PrivacyLedger
from skdp.linear_model import (
    DPRidge,
)
from skdp.preprocessing import BoundsScaler, NormClipper
from tests.door import Budget, SecondMoment, SumOfSlopes, blocks_module as _blocks
from tests.door_dask import (
    CHANGED,
    partitioned_module as _sums,
    passes,
    read_table,
    reader_of,
)

N, D = 2000, 4
SEED = {"random_state": 7, "data_norm": 1.5}
RIDGE = {"target_bounds": (-2.0, 2.0), **SEED}
KINDS = {
    "binary": (DaskDPLogisticRegression, {"classes": [0, 1], **SEED}),
    "five classes": (DaskDPLogisticRegression, {"classes": range(5), **SEED}),
    "no intercept": (
        DaskDPLogisticRegression,
        {"classes": [0, 1], "fit_intercept": False, "adjacency": "replace_one", **SEED},
    ),
    "no moment": (DaskDPRidge, {"moment_budget": 0.0, "max_iter": 10, **RIDGE}),
    "one target": (DaskDPRidge, RIDGE),
    "two targets": (DaskDPRidge, RIDGE),
    "no noise": (DaskDPRidge, {"epsilon": float("inf"), **RIDGE}),
    "counts": (DaskDPPoissonRegressor, {"random_state": 7}),
    "amounts": (DaskDPGammaRegressor, {"target_bounds": (0.0, 4.0), "epsilon": 4.0, **SEED}),
    "amounts, no noise": (DaskDPGammaRegressor, {"epsilon": float("inf"), "random_state": 7}),
    "counts, power 1.5": (DaskDPTweedieRegressor, {"power": 1.5, "random_state": 7}),
    "two targets, power 0": (DaskDPTweedieRegressor, RIDGE),
    "outliers": (DaskDPHuberRegressor, {"epsilon": 4.0, **SEED}),
    "outliers, no noise": (DaskDPHuberRegressor, {"epsilon": float("inf"), "random_state": 7}),
    "a quantile": (DaskDPQuantileRegressor, {"quantile": 0.8, "epsilon": 4.0, **SEED}),
    "a quantile, no noise": (
        DaskDPQuantileRegressor,
        {"quantile": 0.8, "epsilon": float("inf"), "random_state": 7},
    ),
    "counts, no intercept": (
        DaskDPPoissonRegressor,
        {"fit_intercept": False, "ball_budget": 0, "adjacency": "replace_one", **SEED},
    ),
}
ALIKE = {"rtol": 0.0, "atol": 1e-7}


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(5)
    X = generator.uniform(-1.0, 1.0, (N, D))
    scores = X @ generator.normal(size=(D, 2)) + 0.3 * generator.normal(size=(N, 2))
    return X, scores


def targets_of(kind, scores):
    if kind in ("binary", "no intercept"):
        return (scores[:, 0] > 0.0).astype(int)
    if kind == "five classes":
        return np.digitize(scores[:, 0], [-1.0, -0.3, 0.3, 1.0])
    if kind.startswith(("counts", "amounts")):
        return np.floor(np.exp(scores[:, 0])) + kind.startswith("amounts")
    return scores if kind.startswith("two targets") else scores[:, 0]


def in_parts(X, y, size=700):
    arrays = dask.array.from_array(X, chunks=(size, -1)), dask.array.from_array(y, chunks=size)
    return arrays[0], arrays[1].rechunk({axis: -1 for axis in range(1, y.ndim)})


def weights(fitted):
    return np.append(np.ravel(fitted.coef_), fitted.intercept_)


@pytest.fixture(scope="module")
def cluster():
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "processes": False}
    with LocalCluster(n_workers=2, **options) as made:
        yield made


@pytest.fixture
def client(cluster):
    with Client(cluster, set_as_default=False) as made:
        yield made


@pytest.mark.parametrize(("kind", "size"), product(KINDS, [N, 1001, 300]))
def test_parts_give_the_fit_of_one_machine(kind, size, data):
    estimator, parameters = KINDS[kind]
    X, y = data[0], targets_of(kind, data[1])
    model = estimator(**parameters).fit(*in_parts(X, y, size))
    local = estimator._local(**parameters).fit(X, y)
    np.testing.assert_allclose(weights(model), weights(local), **ALIKE)
    assert model.coef_.shape == local.coef_.shape
    assert model.privacy_report_.events == local.privacy_report_.events
    assert model.n_iter_ == local.n_iter_


@pytest.mark.long
def test_float32_and_frames(data):
    X, y = data[0].astype(np.float32), data[1][:, 0]
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = DaskDPRidge(compute_chunk_sizes=True, **RIDGE)
    parts = dask.dataframe.from_pandas(frame, npartitions=3)
    fitted = model.fit(parts, dask.dataframe.from_pandas(pd.Series(y), npartitions=3))
    local = DPRidge(**RIDGE).fit(frame, y)
    np.testing.assert_allclose(weights(fitted), weights(local), **ALIKE)
    assert fitted.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_allclose(fitted.predict(parts).compute(), local.predict(frame), **ALIKE)
    np.testing.assert_allclose(fitted.predict(frame), local.predict(frame), **ALIKE)


@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_a_column_is_one_target_where_one_is_taken(data):
    X, y = in_parts(data[0], targets_of("outliers", data[1]))
    fitted = DaskDPHuberRegressor(epsilon=4.0, max_iter=1, **SEED).fit(X, y[:, np.newaxis])
    assert isinstance(fitted.intercept_, float)


@pytest.mark.long
def test_sparse_partitions_of_integers(data):
    counts, y = (10 * data[0]).astype(int), data[1][:, 0]
    model = dict(RIDGE, data_norm=20.0)
    parts = in_parts(counts, y, 300)
    X = parts[0].map_blocks(csr_array)
    expected = weights(DPRidge(**model).fit(counts, y))
    np.testing.assert_allclose(weights(DaskDPRidge(**model).fit(X, parts[1])), expected, **ALIKE)


def test_parts_are_computed_with_nothing_of_others(data):
    seen = []

    def counted(block):
        seen.append(len(block))
        return block

    X, y = in_parts(data[0], data[1][:, 0], 300)
    meta = {"dtype": float, "meta": np.empty((0, D))}
    model = DaskDPRidge(max_iter=3, n_jobs=2, **RIDGE).fit(X.map_blocks(counted, **meta), y)
    assert len(seen) == 2 * X.numblocks[0]
    total = _sums.LocalRows(read_table(X, y), reader_of(model))
    # Of X and of y.
    assert all(len(graph) <= 2 * 3 for _, (graph, _) in total._parts)


@pytest.mark.long
def test_what_is_kept_of_many_rows_lies_in_a_file(data, monkeypatch):
    X, y = in_parts(*(array[:, 0:] if array.ndim > 1 else array for array in data))
    model = DaskDPRidge(**RIDGE)
    expected = weights(clone(model).fit(X, y))
    monkeypatch.setattr(_sums, "_memory_for_rows", lambda: 0)
    assert np.array_equal(weights(model.fit(X, y)), expected)


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_a_record_moves_a_sum_by_its_bound(data, adjacency):
    X, y = data[0].copy(), targets_of("binary", data[1])
    options = {"classes": [0, 1], "adjacency": adjacency, "ball_budget": 0, **SEED}
    model = DaskDPLogisticRegression(**options)
    generator = np.random.default_rng(0)
    A = np.diag(generator.uniform(0.5, 2.0, D + 1))
    w = generator.normal(size=(D + 1, 1))
    plan = model._plan(N, D, 1)
    mechanisms = plan.moment.mechanism, plan.steps.split(5).bounded(0.1, stretch=2.0).mechanism
    seen = []
    for row in (X[1234].copy(), np.full(D, 1e6), np.zeros(D)):
        X[1234] = row
        table = read_table(*in_parts(X, y, 300))
        with passes(table, reader_of(model)) as sums:
            moment = sums.ask(SecondMoment(mechanisms[0]))
            sums.bound_slopes(A, 0.1)
            seen.append((moment, sums.ask(SumOfSlopes(w, mechanisms[1]))))
    for one in seen:
        for other in seen:
            assert np.linalg.norm(one[0] - other[0]) <= np.sqrt(2.0) * mechanisms[0].sensitivity
            assert np.linalg.norm(one[1] - other[1]) <= 2.0 * mechanisms[1].sensitivity
            for value, mechanism in zip(one, mechanisms, strict=True):
                assert np.array_equal(value, mechanism.rounded(value))


def test_nothing_is_charged_for_rows_that_are_refused(tmp_path, data):
    ledger = PrivacyLedger(tmp_path / "one.db", epsilon=3.0, delta=1e-4)
    X = data[0].copy()
    X[5, 1] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        DaskDPRidge(ledger=ledger, **RIDGE).fit(*in_parts(X, data[1][:, 0]))
    assert len(ledger.to_frame()) == 0


@pytest.mark.every
@pytest.mark.parametrize("name", [name for name in skdp.dask.__all__ if name.startswith("Dask")])
def test_a_twin_takes_what_its_class_in_memory_takes(name):
    """Besides, it takes what Dask needs, before the ledger; only weights of classes it doesn't."""
    twin = getattr(skdp.dask, name)
    assert name == f"Dask{twin._local.__name__}"
    taken = list(inspect.signature(twin).parameters.values())
    place = [parameter.name for parameter in taken].index("client")
    of_dask = taken[place : place + 2]
    assert [(parameter.name, parameter.default) for parameter in of_dask] == [
        ("client", None),
        ("compute_chunk_sizes", False),
    ]
    assert [parameter.name for parameter in taken[place + 2 :][:2]] == ["verbose", "ledger"]
    of_local = inspect.signature(twin._local).parameters.values()
    assert taken[:place] + taken[place + 2 :] == [
        parameter for parameter in of_local if parameter.name != "class_weight"
    ]


class _Bounded(DaskDPRidge):
    """A subclass whose constructor takes less, and states the bounds that it has."""

    def __init__(self, epsilon=1.0):
        super().__init__(epsilon=epsilon, data_norm=1.0, ball_budget=0, target_bounds=(-1, 1))


def test_workers_bound_rows_as_a_subclass_says():
    """Its plan is of its own parameters, whatever its constructor takes."""
    model = _Bounded()
    assert (model.to_local().data_norm, model.to_local().ball_budget) == (1.0, 0)
    rows = model._method().row_bounds.read(np.full((3, 2), 1e6))
    assert rows.norm.max() < 1.1
    X = np.random.default_rng(0).uniform(-0.1, 0.1, (200, 2))
    expected = DaskDPRidge(**vars(_Bounded(float("inf")))).fit(*in_parts(X, X[:, 0]))
    np.testing.assert_array_equal(
        _Bounded(float("inf")).fit(*in_parts(X, X[:, 0])).coef_, expected.coef_
    )


def refused_cases(X, y):
    arrays = in_parts(X, y)
    yield (X, arrays[1]), TypeError, "X must be a Dask array or data frame"
    yield (arrays[0], y), TypeError, "y must be a Dask array or data frame"
    yield (arrays[0][arrays[0][:, 0] > 0], arrays[1]), ValueError, "compute_chunk_sizes=True"
    yield (arrays[0], arrays[1].rechunk(500)), ValueError, "y.rechunk"
    yield (arrays[1], arrays[1]), ValueError, "Expected 2D array"
    yield (arrays[0][:0], arrays[1][:0]), ValueError, "0 sample"


@pytest.mark.parametrize("place", range(6))
def test_what_is_no_table_is_refused(place, data):
    case, kind, message = list(refused_cases(data[0], data[1][:, 0]))[place]
    with pytest.raises(kind, match=message):
        DaskDPRidge(**RIDGE).fit(*case)


@pytest.mark.parametrize(
    "model", [DaskDPPoissonRegressor(momentum=0.0), DaskDPRidge(target_bounds=(0, 9))], ids=str
)
def test_a_fit_that_overflows_leaves_the_one_before_as_it_was(model):
    """Or coefficients without noise would be beside a report that claims some."""
    rng = np.random.default_rng(0)
    X = dask.array.from_array(1e-30 * rng.standard_normal((3000, 3)), chunks=(1000, 3))
    y = dask.array.from_array(rng.poisson(2.0, 3000), chunks=1000)
    model.set_params(epsilon=np.inf).fit(X, y)
    before = vars(model).copy()
    model.set_params(epsilon=1.0, step_size=1e30, max_iter=11, random_state=0)
    with pytest.raises(ValueError, match="The fit overflowed"):
        model.fit(X, y)
    for name in ("privacy_report_", "coef_", "center_", "target_bounds_"):
        assert getattr(model, name) is before[name]


@pytest.mark.filterwarnings("ignore:the size of the targets")
@pytest.mark.parametrize(
    "model",
    [
        DaskDPPoissonRegressor(random_state=0),
        DaskDPGammaRegressor(random_state=0),
        DaskDPTweedieRegressor(power=9, fit_intercept=False, random_state=0),
    ],
    ids=str,
)
@pytest.mark.parametrize("largest", [1e-200, 1.7e308])
def test_no_warning_tells_that_an_entry_is_huge(largest, model, data):
    X, y = 1e-200 * data[0], 1e-200 * targets_of("amounts", data[1])
    X[0] = y[0] = largest
    model.fit(*in_parts(X, y))


def test_classes_are_declared(data):
    X, y = in_parts(data[0], targets_of("five classes", data[1]))
    with pytest.raises(ValueError, match="declare the class set"):
        DaskDPLogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="not among the declared classes"):
        DaskDPLogisticRegression(classes=[0, 1]).fit(X, y)


def test_rows_that_change_between_passes_are_noticed(data):
    generator = np.random.default_rng(0)

    def shuffled(block):
        return generator.permutation(block)

    X, y = in_parts(data[0], data[1][:, 0])
    with pytest.raises(ValueError, match=CHANGED[:40]):
        DaskDPRidge(**RIDGE).fit(X.map_blocks(shuffled, dtype=float), y)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["array", "frame"])
def test_transformers_are_mapped(kind, data):
    X = in_parts(*data)[0]
    if kind == "frame":
        X = dask.dataframe.from_pandas(pd.DataFrame(data[0], columns=list("abcd")), npartitions=3)
    for made in (NormClipper(0.7), BoundsScaler((-2, 2))):
        lazy = transform(made, X)
        np.testing.assert_allclose(lazy.compute(), clone(made).fit_transform(data[0]), **ALIKE)
    y = dask.array.from_array(data[1][:, 0], chunks=lazy.compute_chunk_sizes().chunks[0])
    DaskDPRidge(**RIDGE).fit(lazy, y)
    with pytest.raises(TypeError, match="Dask"):
        transform(NormClipper(), data[0])


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_transformed_rows_are_counted(kind, data):
    frame = pd.DataFrame(data[0], columns=list("abcd"))
    X = dask.dataframe.from_pandas(frame, npartitions=3)
    X = X.to_dask_array() if kind == "array" else X
    lazy = transform(NormClipper(0.7), X, compute_chunk_sizes=True)
    assert len(lazy) == len(frame)
    assert lazy.numblocks == (3, 1)
    np.testing.assert_allclose(lazy.compute(), NormClipper(0.7).fit_transform(data[0]), **ALIKE)
    with pytest.raises(ValueError, match="unknown chunk"):
        len(transform(NormClipper(0.7), X))


@pytest.mark.long
@pytest.mark.parametrize("with_client", [False, True])
def test_parts_are_shown_as_they_are_read(with_client, data, client, capsys):
    """Before the releases, which are those of the plan."""
    frame = dask.dataframe.from_pandas(
        pd.DataFrame(data[0], columns=list("abcd")).assign(y=data[1][:, 0]), npartitions=3
    )
    options = {"client": client if with_client else None, "compute_chunk_sizes": True}
    model = DaskDPRidge(verbose=2, max_iter=2, ball_budget=0, **options, **RIDGE)
    model.fit(frame[list("abcd")], frame["y"])
    phases = [
        f"{what} {n}/3" for what in ("counting rows", "reading", "checking") for n in range(4)
    ]
    own = ["started", *phases, "release 1/2: second moment"]
    own += ["release 2/2: steps 1/2", "release 2/2: steps 2/2", "done"]
    assert capsys.readouterr().out.splitlines() == [f"[DaskDPRidge] {text}" for text in own]
    # Workers get to know of nothing to show.
    assert model._reading().verbose == 0
    assert model.to_local().verbose == 2


def test_slack_does_not_grow_with_rows():
    slacks = [_blocks.rounding_slack(n, 50, 1) for n in (10**6, 10**12)]
    assert slacks[0] == slacks[1] < 1e-6
    assert DaskDPRidge()._plan(10**9, 50, 1).moment.mechanism.grid > 0.0
    assert Budget(1.0, 1e-12, "zero_out", "pld").is_private
