"""Copies of rows that a fit keeps: where they lie, what is read, and files that change."""

import os
from itertools import product
from threading import Lock

import numpy as np
import pytest
from scipy.sparse import csr_array

pytest.importorskip("distributed", reason="needs the extra dask")

import dask.array
from distributed import Client, LocalCluster, get_worker

from skdp.dask import DaskDPLogisticRegression, DaskDPRidge
from skdp.ledger import PrivacyLedger
from tests.door import fused_module as _fused
from tests.door_dask import (
    CHANGED,
    Reader,
    passes,
    pinned_module as _pinned,
    read_table,
    sums_module as _sums,
)

N, D, SIZE = 1000, 4, 200
N_PARTS = N // SIZE
RIDGE = {"random_state": 7, "epsilon": 4.0, "max_iter": 2}
# Where copies lie: what fits into memory, and what of temporary files rows may take.
PLACES = {"memory": (2**27, 0.5), "file": (0, 0.5), "nowhere": (0, 0.0)}
# Workers have no files.
PLACES_OF_WORKERS = ["memory", "nowhere"]


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(5)
    X = generator.uniform(-1.0, 1.0, (N, D))
    return X * (X > -0.5), X.sum(axis=1) + 0.1 * generator.normal(size=N)


@pytest.fixture(scope="module")
def cluster():
    options = {"threads_per_worker": 2, "dashboard_address": ":0", "processes": False}
    with LocalCluster(n_workers=2, **options) as made:
        yield made


@pytest.fixture(params=["here", pytest.param("cluster", marks=pytest.mark.long)])
def where(request):
    """Give a client, or None."""
    if request.param == "here":
        yield None
        return
    with Client(request.getfixturevalue("cluster"), set_as_default=False) as made:
        yield made


def put(monkeypatch, place):
    """Have copies of rows lie in a place."""
    most, share = PLACES[place]
    monkeypatch.setattr(_sums, "_MOST_IN_MEMORY", most)
    monkeypatch.setattr(_sums, "_SHARE", share)
    monkeypatch.setattr(_pinned, "_SHARE", share)


def in_parts(X, y, as_kind=np.array):
    rows = dask.array.from_array(X, chunks=(SIZE, -1))
    rows = rows.map_blocks(as_kind, dtype=X.dtype, meta=np.empty((0, D), X.dtype))
    return rows, dask.array.from_array(y, chunks=SIZE)


def learnt(fitted):
    return np.append(np.ravel(fitted.coef_), fitted.intercept_)


def owned_of(sums):
    return [X for X, _ in sums._owned]


def reader_of(model):
    return Reader(model._reading(), None)


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [4.0, float("inf")])
@pytest.mark.parametrize("as_kind", [np.array, np.float32, csr_array])
def test_the_bits_are_the_same_wherever_copies_lie(as_kind, epsilon, data, where, monkeypatch):
    X, y = in_parts(data[0].astype(np.float32), data[1], as_kind)
    model = DaskDPRidge(**{**RIDGE, "epsilon": epsilon})
    expected = learnt(model.fit(X, y))
    for place in PLACES if where is None else PLACES_OF_WORKERS:
        put(monkeypatch, place)
        # One part at a time, or as many as there are threads.
        for n_jobs in (1, 3):
            model.set_params(client=where, n_jobs=n_jobs)
            np.testing.assert_array_equal(learnt(model.fit(X, y)), expected)


@pytest.mark.parametrize("as_kind", [np.array, csr_array])
def test_rows_in_a_file_cannot_be_written_to_and_need_one_descriptor(as_kind, data, monkeypatch):
    put(monkeypatch, "file")
    X, y = in_parts(*data, as_kind)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    reader = reader_of(DaskDPRidge(data_norm=1.5, **RIDGE))
    with passes(read_table(X, y), reader) as sums:
        sums.place(None)
        after = len(os.listdir("/proc/self/fd")) if before else 0
        assert after - before <= 2
        for rows, kept in sums._owned:
            arrays = [rows] if as_kind is np.array else [rows.data, rows.indices, rows.indptr]
            for array in (*arrays, kept.norm):
                assert not array.flags.owndata
                with pytest.raises(ValueError, match="read-only"):
                    array[:1] = 0
                with pytest.raises(ValueError, match="WRITEABLE"):
                    array.flags.writeable = True
            whole = rows if as_kind is np.array else rows.toarray()
            assert whole.shape == (SIZE, D)
        found = np.vstack([r if as_kind is np.array else r.toarray() for r in owned_of(sums)])
    np.testing.assert_array_equal(found, data[0])


def test_files_take_what_they_have_room_for(data, monkeypatch):
    free = 1e6
    put(monkeypatch, "file")
    monkeypatch.setattr(_sums.shutil, "disk_usage", lambda path: _Usage(free))
    # Two parts and a half.
    monkeypatch.setattr(_sums, "_SHARE", 2.5 * SIZE * D * 8 / free)
    X, y = in_parts(*data)
    expected = learnt(DaskDPRidge(**RIDGE).fit(X, y))
    with passes(read_table(X, y), reader_of(DaskDPRidge(**RIDGE))) as sums:
        assert [rows is None for rows in owned_of(sums)] == [False] * 2 + [True] * 3
    put(monkeypatch, "memory")
    np.testing.assert_array_equal(learnt(DaskDPRidge(**RIDGE).fit(X, y)), expected)


class _Usage:
    def __init__(self, free):
        self.free = free


@pytest.mark.parametrize("n_rows", [0, 3])
def test_parts_without_entries(n_rows, monkeypatch):
    """Their arrays have no bytes in a file."""
    put(monkeypatch, "file")
    X = np.zeros((N, D))
    X[:n_rows] = 1.0
    y = np.zeros(N)
    y[:n_rows] = 1.0
    fitted = DaskDPRidge(**RIDGE).fit(*in_parts(X, y, csr_array))
    assert np.isfinite(learnt(fitted)).all()


class _Changes:
    """Reads parts of a file, which changes in the middle of the read of this number."""

    def __init__(self, path, moment):
        self.path, self.moment, self.n_reads = path, moment, 0
        self._lock = Lock()

    def rows(self, start):
        # Without numpy.load: threads of CPython 3.11 may fail where they parse its header at once.
        file = np.memmap(self.path, float, "r+", shape=(N, D))
        middle, stop = start + SIZE // 2, start + SIZE
        first = file[start:middle].copy()
        # Of two workers that read at this moment, one changes it.
        with self._lock:
            if self.n_reads == self.moment:
                # Of two parts: a record of one moves to the other, and one gets far longer.
                file[[15, N - 15]] = file[[N - 15, 15]]
                file[20] *= 1e6
            self.n_reads += 1
        return np.vstack([first, file[middle:stop]])


# While all parts are read twice, and of the passes after: in the first of these and in the third.
EARLY = list(range(2 * N_PARTS))
LATE = [moment + len(EARLY) for moment in (0, 2, N_PARTS - 1, 3 * N_PARTS - 1)]
MOMENTS = EARLY + LATE
# Workers of this process share it.
CHANGES = {}


def read_part_of(name, start):
    return CHANGES[name].rows(start)


def changing_rows(name):
    shape = {"shape": (SIZE, D), "dtype": float}
    parts = [
        dask.array.from_delayed(dask.delayed(read_part_of, pure=False)(name, start), **shape)
        for start in range(0, N, SIZE)
    ]
    return dask.array.concatenate(parts)


@pytest.mark.long
@pytest.mark.parametrize(
    ("where", "place"),
    [*product(["here"], PLACES), *product(["cluster"], PLACES_OF_WORKERS)],
    indirect=["where"],
)
def test_a_file_that_changes_is_never_used_with_other_bounds(
    place, data, where, tmp_path, monkeypatch
):
    """Files, each of which changes at another moment: while parts are read, or after."""
    put(monkeypatch, place)
    y = dask.array.from_array(data[1], chunks=SIZE)

    def fitted(moment, **how):
        # By file: workers may still read that of a fit which was refused.
        name = str(made[moment].path)
        CHANGES[name] = made[moment]
        return learnt(DaskDPRidge(client=where, **how, **RIDGE).fit(changing_rows(name), y))

    made = {moment: _Changes(tmp_path / f"{moment}.rows", moment) for moment in [None, *MOMENTS]}
    for changes in made.values():
        data[0].tofile(changes.path)
    states = [fitted(None)]
    # The file as it is after the change.
    _Changes(made[None].path, 0).rows(0)
    states.append(fitted(None))
    refused = []
    for moment in MOMENTS:
        how = {"epsilon": 9.0, "delta": 1e-1, "allow_seeds": True}
        ledger = PrivacyLedger(tmp_path / f"{moment}.db", **how)
        found = message = None
        try:
            found = fitted(moment, ledger=ledger)
        except ValueError as error:
            message = str(error)
        if message is None:
            # Copies are of one state of the file.
            assert any(np.array_equal(found, state) for state in states)
            continue
        assert message == CHANGED
        refused.append(moment)
        assert len(ledger.to_frame()) == int(made[moment].n_reads > 2 * N_PARTS)
    # It changes in passes, too, where these read.
    assert (made[MOMENTS[-1]].n_reads > 2 * N_PARTS) == (place == "nowhere")
    if where is None:
        assert refused == (MOMENTS if place == "nowhere" else EARLY)
    else:
        # Workers read parts in any order, and may have read those that change.
        late = set(LATE) if place == "nowhere" else set()
        assert set(refused) > late


@pytest.fixture
def compiled(monkeypatch):
    """Compile the sums of tables of this size; their parts have fewer entries. Give the calls."""
    kernels = pytest.importorskip("skdp._rows.kernels", reason="needs the extra fast")
    monkeypatch.setattr(_fused, "WORTHWHILE_ENTRIES", N * D)
    calls, add_slopes = [], kernels.add_slopes

    def counted(*args):
        calls.append(args)
        return add_slopes(*args)

    monkeypatch.setattr(kernels, "add_slopes", counted)
    return calls


LOGISTIC = {"classes": [0, 1], "data_norm": 1.5, "ball_budget": 0, "max_iter": 4, "random_state": 7}


@pytest.mark.long
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_of_parts_are_compiled_where_those_of_all_rows_are(
    dtype, data, where, compiled, monkeypatch
):
    X, y = in_parts(data[0].astype(dtype), (data[1] > 0.0).astype(int))
    model = DaskDPLogisticRegression(**LOGISTIC)
    with monkeypatch.context() as patch:
        patch.setattr(_fused, "WORTHWHILE_ENTRIES", N * D + 1)
        plain = learnt(model.fit(X, y))
        assert compiled == []
    expected = learnt(model.fit(X, y))
    np.testing.assert_allclose(expected, plain, rtol=0.0, atol=1e-7)
    for place in PLACES if where is None else PLACES_OF_WORKERS:
        put(monkeypatch, place)
        for n_jobs in (None, 1, 3):
            compiled.clear()
            model.set_params(client=where, n_jobs=n_jobs)
            np.testing.assert_array_equal(learnt(model.fit(X, y)), expected)
            assert len(compiled) == model.n_iter_ * N_PARTS


def _is_first(n_entries):
    return get_worker().name == 0


@pytest.mark.long
def test_sums_are_compiled_by_all_workers_or_by_none(data, cluster, compiled, monkeypatch):
    X, y = in_parts(data[0], (data[1] > 0.0).astype(int))
    model = DaskDPLogisticRegression(**LOGISTIC)
    with Client(cluster, set_as_default=False) as client:
        with monkeypatch.context() as patch:
            # As if one of the workers hadn't numba.
            patch.setattr(_pinned, "can_compile", _is_first)
            model.set_params(client=client).fit(X, y)
        assert compiled == []

        # A worker that comes later, without it, makes no sums of other bits.
        monkeypatch.setattr(_fused, "import_module", _Fails(_fused.import_module))
        with pytest.raises(RuntimeError, match="with ImportError"):
            model.fit(X, y)


class _Fails:
    """Finds compiled sums as often as workers are asked for them, and not again."""

    def __init__(self, found):
        self._found, self._left = found, 2

    def __call__(self, name):
        self._left -= 1
        if self._left < 0:
            raise ImportError
        return self._found(name)


def test_a_client_without_workers_has_no_compiled_sums(data, compiled):
    """Those that come may not have them."""

    class _Client:
        def nthreads(self):
            return {}

        def compute(self, tasks, **options):
            return tasks

        def gather(self, futures):
            assert futures == []
            return []

    table = read_table(*in_parts(*data))
    sums = _pinned.PinnedSums(table, reader_of(DaskDPRidge(**RIDGE)), None, _Client())
    assert not any(stated.compiled for stated in sums._stated)
