"""What is asked of partitions from one pass to the next, and what is told when they fail."""

import pickle
from itertools import chain
from uuid import uuid4

import dask.array
import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_array, issparse
from sklearn.pipeline import make_pipeline

from tests.door import Query, SecondMoment, SumsByLabel

pytest.importorskip("distributed", reason="needs the extra dask")

import cloudpickle
import dask.dataframe
from dask.base import tokenize
from distributed import Client, LocalCluster, futures_of, get_worker

from skdp.dask import DaskDPRidge, label_aggregate, transform
from skdp.exceptions import PrivacyWarning
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPRidge
from skdp.preprocessing import DPStandardScaler, NormClipper
from tests.door import GaussianMechanism, RowBounds, null_records, row_bounds_module
from tests.door_dask import (
    CHANGED,
    KeyedDigest,
    PartitionSpec,
    Reader,
    RejectedPartition,
    answer,
    labels_module as _labels,
    own_part,
    partitioned_module as _sums,
    parts_module as _parts,
    parts_of_frame,
    pinned_module as _pinned,
    reader_of,
)

N, D, SIZE = 3000, 3, 1000
RIDGE = {"target_bounds": (-2.0, 2.0), "data_norm": 1.5, "max_iter": 3, "random_state": 7}
ALIKE = {"rtol": 0.0, "atol": 1e-7}


@pytest.fixture(scope="module")
def cluster():
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "processes": False}
    with LocalCluster(n_workers=2, **options) as made:
        yield made


@pytest.fixture
def client(cluster):
    with Client(cluster, set_as_default=False) as made:
        yield made


@pytest.fixture(params=["here", pytest.param("cluster", marks=pytest.mark.long)])
def where(request):
    """Give a client, or None."""
    return request.getfixturevalue("client") if request.param == "cluster" else None


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(5)
    X = generator.uniform(-0.5, 0.5, (N, D))
    return X, X.sum(axis=1) + 0.1 * generator.normal(size=N)


def in_parts(X, y):
    return (
        dask.array.from_array(X, chunks=(SIZE, -1)),
        dask.array.from_array(y, chunks=(SIZE, *y.shape[1:])),
    )


# Workers of this process get copies of functions, and share this.
SEEN = []


class Changing:
    """Rows that are others once a partition was computed so often."""

    def __init__(self, change, after=1):
        self._change, self._after, self._name = change, after, uuid4().hex

    def __call__(self, block):
        token = self._name, tokenize(block)
        made = self._change(block) if SEEN.count(token) >= self._after else block
        SEEN.append(token)
        return made

    def __dask_tokenize__(self):
        return self._name


def another_row(block):
    made = block.copy()
    made[5] = 1e6
    return made


def another_order(block):
    return np.roll(block, 7, axis=0)


def sparse(change):
    return lambda block: csr_array(change(block))


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def without_room(monkeypatch):
    """Have rows read again in each pass."""
    monkeypatch.setattr(_pinned, "_SHARE", 0.0)
    monkeypatch.setattr(_sums, "_SHARE", 0.0)
    monkeypatch.setattr(_sums, "_memory_for_rows", lambda: 0)


# The second read, and that of a pass.
@pytest.mark.parametrize("after", [1, 2, 5])
@pytest.mark.parametrize("change", [another_row, another_order])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_no_change_of_rows_goes_unnoticed(change, kind, after, data, where, monkeypatch):
    without_room(monkeypatch)
    X, y = in_parts(unit(data[0]), data[1])
    changing = Changing(change, after)
    as_kind = sparse(changing) if kind == "sparse" else changing
    rows = X.map_blocks(as_kind, dtype=float, meta=np.empty((0, D)))
    with pytest.raises(ValueError, match=CHANGED[:40]) as raised:
        DaskDPRidge(client=where, **RIDGE).fit(rows, y)
    assert raised.value.__context__ is None
    changing = Changing(change, min(after, 2))
    rows = X.map_blocks(changing, dtype=float, meta=np.empty((0, D)))
    with pytest.raises(ValueError, match=CHANGED[:40]):
        label_aggregate(rows, y > 0.0, classes=[False, True], data_norm=1.5, client=where)


def written(X):
    """Write a row far beyond the bound to the memory of an array, or of sparse rows."""
    (X.data if issparse(X) else X)[15:18] = 1e6


def in_file(X, folder):
    """Return a memory map of rows that can be written to, and a collection that reads them."""
    path = folder / "rows.npy"
    np.save(path, X)
    rows = dask.delayed(np.load, pure=False)(path, mmap_mode="r")
    return np.load(path, mmap_mode="r+"), dask.array.from_delayed(rows, X.shape, X.dtype)


@pytest.mark.parametrize("when", ["before", "after"])
def test_rows_that_change_while_their_bounds_are_made_are_noticed(
    when, data, where, tmp_path, monkeypatch
):
    file, X = in_file(data[0], tmp_path)
    y, bound = dask.array.from_array(data[1], chunks=N), RowBounds.read

    def certified_rows(self, rows):
        if when == "before":
            written(file)
        made = bound(self, rows)
        written(file)
        return made

    monkeypatch.setattr(RowBounds, "read", certified_rows)
    with pytest.raises(ValueError, match=CHANGED[:40]):
        DaskDPRidge(client=where, **RIDGE).fit(X, y)


LABEL_BOUNDS = {"data_norm": 1.5, "fit_intercept": True, "bias": 0.5, "clip": True}
READERS = [
    reader_of(DaskDPRidge(**RIDGE)),
    _labels._Reader(np.array([False, True]), **LABEL_BOUNDS),
]


def owned(reader, X, y):
    stated = PartitionSpec(*X.shape, None, None, None)
    return own_part(reader, stated, KeyedDigest(b"sixteen bytes..."), X, y)


def kept_of(reader, X, y):
    return owned(reader, X, y)[1]


def sum_of(reader, X, kept):
    mechanism = GaussianMechanism(1.0, 1.0, size=10, n_records=N)
    is_moment = isinstance(reader, Reader)
    query = SecondMoment(mechanism) if is_moment else SumsByLabel(mechanism, 1.0, 2)
    return answer(reader, 1, X, kept, query, query.view, None)


@pytest.mark.parametrize("as_kind", [np.array, csr_array])
@pytest.mark.parametrize("reader", READERS, ids=["moment", "labels"])
def test_what_is_added_up_is_what_was_compared(reader, as_kind, data, monkeypatch):
    X, y, digest = as_kind(data[0]), data[1], _parts._digest
    y = y if isinstance(reader, Reader) else y > 0.0
    rows, kept = owned(reader, X, y)
    expected = sum_of(reader, rows, kept)

    def then_written(rows, key):
        found = digest(rows, key)
        written(X)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(_parts, "_digest", then_written)
        rows, again = owned(reader, X, y)
    assert again.digest == kept.digest
    np.testing.assert_array_equal(sum_of(reader, rows, again), expected)
    assert owned(reader, X, y)[1].digest != kept.digest


@pytest.mark.parametrize("as_kind", [np.array, csr_array])
def test_what_bounds_rows_is_made_of_the_rows_that_are_sealed(as_kind, data, monkeypatch):
    X, y = as_kind(data[0]), data[1]
    clip = row_bounds_module.clip_rows

    def between(rows, **options):
        written(X)
        return clip(rows, **options)

    honest = kept_of(READERS[0], as_kind(data[0]), y)
    monkeypatch.setattr(row_bounds_module, "clip_rows", between)
    kept = kept_of(READERS[0], X, y)
    assert kept.digest == honest.digest
    np.testing.assert_array_equal(kept.norm, honest.norm)


@pytest.mark.parametrize("reader", READERS, ids=["moment", "labels"])
def test_the_digest_of_a_part_is_of_its_targets_too(reader, data):
    """A part that is read again with other targets is another one."""
    X, y = data[0], data[1] > 0.0
    first, again, other = (kept_of(reader, X, labels) for labels in (y, y, ~y))
    assert first.digest == again.digest
    np.testing.assert_array_equal(first.norm, other.norm)
    assert first.digest != other.digest


@pytest.mark.parametrize("as_kind", [np.array, csr_array])
@pytest.mark.parametrize("entry", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("reader", READERS, ids=["moment", "labels"])
def test_a_part_that_is_not_finite_is_refused(reader, entry, as_kind, data):
    X = data[0].astype(np.float32)
    X[1500, 1] = entry
    with sklearn.config_context(assume_finite=True):
        refusal = kept_of(reader, as_kind(X), data[1] > 0.0)
    assert isinstance(refusal, RejectedPartition)
    assert "contains NaN or infinity" in refusal.message


def test_what_bounds_targets_holds_for_those_that_are_kept(data):
    y = data[1].copy()
    model = DaskDPRidge(**{**RIDGE, "target_bounds": None, "epsilon": float("inf")})
    reader = reader_of(model)
    kept = kept_of(reader, data[0], y)
    y[:] = 1e6
    np.testing.assert_array_equal(kept.targets[:, 0], data[1])


def test_null_records_of_a_part(data):
    X, null = np.vstack([0.1 * data[0][:1400], 9.0 * data[0][1400:]]), [3, 700, 2999]
    for rows in (X, csr_array(X)):
        stated = PartitionSpec(*X.shape, None, None, null)
        _, kept = own_part(READERS[0], stated, KeyedDigest(b"sixteen bytes..."), rows, data[1])
        with null_records(null):
            whole = READERS[0].certified_rows(rows)
        np.testing.assert_array_equal(kept.norm, whole.norm)
        np.testing.assert_array_equal(kept.scale, whole.scale)
        assert (kept.norm == 0.0).nonzero()[0].tolist() == null


@pytest.mark.long
@pytest.mark.parametrize("as_view", [False, True])
@pytest.mark.parametrize("is_pinned", [False, True])
def test_rows_that_are_written_to_where_workers_hold_them(
    is_pinned, as_view, data, cluster, client, monkeypatch
):
    if not is_pinned:
        without_room(monkeypatch)
    X, y = in_parts(*data)
    expected = DaskDPRidge(client=client, **RIDGE).fit(X, y).coef_
    # Arrays that own their memory.
    held = client.persist([X + 0.0, y])
    client.gather(futures_of(held))
    keys = {future.key for future in futures_of(held[0])}
    # A worker may still have what these were made of, or another's.
    rows = [
        (key, value)
        for worker in cluster.workers.values()
        for key, value in worker.data.items()
        if key in keys
    ]
    assert sum(len(array) for array in dict(rows).values() if array.flags.owndata) == N
    rows = [array for _, array in rows]
    # As a task has them that took rows before the fit.
    rows = [array[:] for array in rows] if as_view else rows
    ask = _sums.PartitionedRows.ask

    def after_it(self, query):
        made = ask(self, query)
        for array in rows if isinstance(query, SecondMoment) else ():
            if not array.flags.writeable:
                array.flags.writeable = True
            written(array)
        return made

    monkeypatch.setattr(_sums.PartitionedRows, "ask", after_it)
    model = DaskDPRidge(client=client, **RIDGE)
    if is_pinned:
        np.testing.assert_array_equal(model.fit(*held).coef_, expected)
        return
    with pytest.raises(ValueError, match=CHANGED[:40]):
        model.fit(*held)


@pytest.mark.parametrize("finite", [False, True])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_are_configured_as_whoever_calls(n_jobs, finite, data):
    X = data[0].copy()
    X[1500, 1] = np.nan
    X, y = in_parts(X, data[1])
    model = DaskDPRidge(n_jobs=n_jobs, **RIDGE)
    told = "contains NaN or infinity" if finite else r"contains NaN\."
    with sklearn.config_context(assume_finite=finite), pytest.raises(ValueError, match=told):
        model.fit(X, y)


def other_width(block):
    return np.hstack([block, block])


def frame_in_parts(*parts):
    return dask.dataframe.from_delayed(
        [dask.delayed(part) for part in parts], meta=parts[0].iloc[:0], verify_meta=False
    )


@pytest.mark.long
def test_partitions_have_the_columns_that_are_stated(data, where):
    X, y = in_parts(*data)
    model = DaskDPRidge(client=where, compute_chunk_sizes=True, **RIDGE)
    with pytest.raises(ValueError, match="partition of X has other columns"):
        model.fit(X.map_blocks(other_width, dtype=float, meta=np.empty((0, D))), y)
    wide = in_parts(data[0], np.c_[data[1], data[1]])[1]
    with pytest.raises(ValueError, match="partition of y has other columns"):
        model.fit(X, wide.map_blocks(other_width, dtype=float, meta=np.empty((0, 2))))
    frame, other = pd.DataFrame(data[0], columns=list("abc")), pd.Series(data[1])
    labels = frame_in_parts(other[:SIZE], other[SIZE:])
    for columns in (list("cba"), list("abx")):
        tail = frame[SIZE:].set_axis(columns, axis=1)
        with pytest.raises(ValueError, match="partition of X has other columns"):
            model.fit(frame_in_parts(frame[:SIZE], tail), labels)
    model.fit(frame_in_parts(frame[:SIZE], frame[SIZE:]), labels)


@pytest.mark.parametrize("rows", [[2500], [0, -1], [999, 1000]])
def test_null_records_are_those_of_all_rows(rows, data, where):
    model = DaskDPRidge(client=where, **{**RIDGE, "epsilon": float("inf")})
    local = DPRidge(**{**RIDGE, "epsilon": float("inf")})
    y = data[1].copy()
    y[rows] = 2.0
    fitted = []
    for estimator, table in ((model, in_parts(data[0], y)), (local, (data[0], y))):
        with null_records(rows) as asked:
            fitted.append(estimator.fit(*table).coef_.copy())
        assert asked.consulted
    np.testing.assert_allclose(*fitted, **ALIKE)
    assert not np.allclose(fitted[0], local.fit(data[0], y).coef_, **ALIKE)


def fails(block):
    raise ValueError("secret 42")


class FailsLater(Changing):
    def __init__(self, after=1):
        super().__init__(fails, after)


def frame_of(data):
    return dask.dataframe.from_pandas(pd.DataFrame(data[0], columns=list("abc")), npartitions=3)


@pytest.mark.parametrize("when", ["counted", "read", "summed", "not numbers"])
def test_what_failing_partitions_say_is_withheld(when, data, where):
    X, y = in_parts(*data)
    if when == "counted":
        X = frame_of(data).map_partitions(fails, meta=frame_of(data)._meta)
    elif when == "not numbers":
        changing = Changing(lambda block: np.full(block.shape, "secret 42", object))
        X = X.map_blocks(changing, dtype=float, meta=np.empty((0, D)))
    else:
        function = fails if when == "read" else FailsLater()
        X = X.map_blocks(function, dtype=float, meta=np.empty((0, D)))
    model = DaskDPRidge(client=where, compute_chunk_sizes=True, **RIDGE)
    told = f"{'in this process' if where is None else 'on the workers'} with ValueError"
    kind = RuntimeError
    if when == "not numbers":
        # What is read the second time is checked.
        kind, told = ValueError, CHANGED[:40]
    with pytest.raises(kind, match=told) as raised:
        model.fit(X, y)
    assert "secret" not in str(raised.value)
    assert raised.value.__context__ is None
    assert raised.value.__cause__ is None


@pytest.mark.long
@pytest.mark.parametrize("n_charges", [0, 1])
def test_whoever_begins_again_is_charged_again(n_charges, tmp_path, data, where, monkeypatch):
    """All rows are read twice before there is a charge."""
    without_room(monkeypatch)
    ledger = PrivacyLedger(tmp_path / "one.db", epsilon=3.0, delta=1e-4)
    X, y = in_parts(*data)
    model = DaskDPRidge(client=where, ledger=ledger, **{**RIDGE, "random_state": None})
    with pytest.raises(RuntimeError, match="Nothing was published"):
        model.fit(X.map_blocks(FailsLater(1 + n_charges), dtype=float, meta=np.empty((0, D))), y)
    assert not hasattr(model, "coef_")
    assert len(ledger.to_frame()) == n_charges
    model.fit(X, y)
    assert len(ledger.to_frame()) == n_charges + 1


def test_sums_that_are_added_stay_as_they_are():
    heaps = [[np.ones(3)] for _ in range(4)]
    assert Query().join(chain.from_iterable(heaps)).tolist() == [4.0, 4.0, 4.0]
    assert [heap[0].tolist() for heap in heaps] == [[1.0, 1.0, 1.0]] * 4


def read_columns(place, columns=None):
    columns = columns or list("abcd")
    SEEN.append(columns)
    return pd.DataFrame({name: np.full(3, place) for name in columns})


def read_more(place, columns=None):
    return read_columns(place, columns)


def test_columns_that_are_not_asked_for_are_not_read():
    table = dask.dataframe.from_map(read_columns, range(4), meta=read_columns(0))
    part = parts_of_frame(table[["a", "c"]])[2]
    SEEN.clear()
    assert part.compute(scheduler="synchronous").columns.tolist() == ["a", "c"]
    assert SEEN == [["a", "c"]]


@pytest.mark.every
@pytest.mark.parametrize("with_groups", [False, True])
@pytest.mark.parametrize("where", ["here", "cluster"])
def test_a_part_of_a_file_is_read_once_for_all_that_is_asked_of_it(where, with_groups, request):
    """To count its rows by a column of each, to copy it and to check the copy."""
    client = request.getfixturevalue("client") if where == "cluster" else None
    table = dask.dataframe.from_map(read_columns, range(4), meta=read_columns(0))
    SEEN.clear()
    model = DaskDPRidge(client=client, compute_chunk_sizes=True, **RIDGE)
    # A part is of one group.
    model.fit(table[["a", "b"]], table["c"], groups=table["d"] if with_groups else None)
    ids = ["d"] if with_groups else []
    assert sorted(SEEN, key=len) == 4 * [["a", "c", *ids]] + 8 * [["a", "b", "c", *ids]]


@pytest.mark.long
def test_parts_of_frames_that_share_no_file_are_read_apart(data):
    table = dask.dataframe.from_map(read_columns, range(4), meta=read_columns(0))
    other = dask.dataframe.from_map(read_more, range(4), meta=read_more(0))
    seen, fits = [], []
    for y in (table["c"], other["c"]):
        SEEN.clear()
        model = DaskDPRidge(compute_chunk_sizes=True, **RIDGE).fit(table[["a", "b"]], y)
        seen.append(sorted(SEEN))
        fits.append(np.append(model.coef_, model.intercept_))
    assert seen[1] == 4 * [["a"]] + 8 * [["a", "b"]] + 12 * [["c"]]
    # What is read together is the same to the last bit.
    assert seen[0] == 8 * [["a", "b", "c"]] + 4 * [["a", "c"]]
    np.testing.assert_array_equal(*fits)


@pytest.mark.parametrize("lacks", ["X", "y", "groups"])
def test_frames_of_other_numbers_of_rows_are_refused(lacks):
    """They come of one file, and Dask would align them by their indexes."""
    table = dask.dataframe.from_map(read_columns, range(4), meta=read_columns(0))
    fewer = table[table["a"] < 3]
    X, y, ids = ((fewer if name == lacks else table) for name in ("X", "y", "groups"))
    model = DaskDPRidge(compute_chunk_sizes=True, **RIDGE)
    told = "y" if lacks == "X" else lacks
    with pytest.raises(ValueError, match=f"X and {told} have other numbers of rows"):
        model.fit(X[["a", "b"]], y["c"], groups=ids["d"])


@pytest.mark.long
def test_narrow_frames_keep_the_partitions_of_wide_ones(tmp_path, data):
    names = [*"abc", "y", *(f"other {i}" for i in range(40))]
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, len(names))), columns=names)
    for place in range(6):
        frame[place * 10 : place * 10 + 10].to_parquet(tmp_path / f"{place}.parquet")
    table = dask.dataframe.read_parquet(tmp_path)
    X, y = table[list("abc")], table["y"]
    assert len(parts_of_frame(X)) == len(parts_of_frame(y)) == 6
    lazy = transform(NormClipper(1.0), X)
    assert lazy.numblocks[0] == 6
    fitted = DaskDPRidge(compute_chunk_sizes=True, **RIDGE).fit(X, y)
    assert fitted.predict(X).numblocks == (6,)


PLACES = []


def look(part):
    try:
        PLACES.append(get_worker().name)
    except ValueError:
        PLACES.append("here")
    return part


def test_rows_are_counted_where_they_are_read(data, where):
    PLACES.clear()
    frame = frame_of(data)
    y = dask.array.from_array(data[1], chunks=SIZE)
    counted = frame.map_partitions(look, meta=frame._meta)
    DaskDPRidge(client=where, compute_chunk_sizes=True, **RIDGE).fit(counted, y)
    assert {place == "here" for place in PLACES} == {where is None}


@pytest.mark.long
def test_columns_that_do_not_fit_are_refused_before_anything_is_computed(data):
    frame = frame_of(data)
    X, y = in_parts(*data)
    model = DaskDPRidge(**RIDGE).fit(X, y)
    named = DaskDPRidge(compute_chunk_sizes=True, **RIDGE).fit(frame, y)
    for call in (model.predict, lambda X: transform(NormClipper(), X)):
        with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
            call(y)
        with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
            call(frame["a"])
        with pytest.raises(TypeError, match="must be a Dask array or data frame"):
            call(dask.delayed(data[0]))
    with pytest.raises(ValueError, match="X has 2 features"):
        model.predict(X[:, :2])
    for columns in (list("cba"), list("ab")):
        with pytest.raises(ValueError, match="feature names should match"):
            named.predict(frame[columns])


def test_workers_transform_without_seeds_and_ledgers(tmp_path, data):
    secrets = {"random_state": 987654321, "ledger": str(tmp_path / "one.db")}
    PrivacyLedger(secrets["ledger"], epsilon=9.0, delta=1e-2, allow_seeds=True)
    X = in_parts(*data)[0]
    for make in (make_pipeline, lambda *steps: make_pipeline(make_pipeline(*steps))):
        secrets["random_state"] += 1
        scaler = DPStandardScaler(feature_bounds=(-1, 1), **secrets)
        fitted = make(scaler, NormClipper()).fit(data[0])
        lazy = transform(fitted, X)
        sent = cloudpickle.dumps(dict(lazy.dask))
        for secret in (secrets["random_state"].to_bytes(4, "little"), b"one.db"):
            with pytest.warns(PrivacyWarning, match="the copy holds it"):
                assert secret in pickle.dumps(fitted)
            assert secret not in sent
        np.testing.assert_array_equal(lazy.compute(), fitted.transform(data[0]))
        assert scaler.random_state == secrets["random_state"]


def test_private_transformers_are_fitted_in_memory(data):
    for X in (in_parts(*data)[0], frame_of(data)):
        with pytest.raises(TypeError, match=r"X is a Dask collection.*rows in memory"):
            DPStandardScaler(feature_bounds=(-1, 1)).fit(X)
