"""Copies of rows that a fit keeps: where they lie, what is read, and files that change."""

import os

import numpy as np
import pytest
from scipy.sparse import csr_array

pytest.importorskip("distributed", reason="needs the extra dask")

import dask.array

from skdp.dask import DaskDPRidge
from tests.door import fused_module as _fused
from tests.door_dask import (
    partitioned_module as _sums,
    passes,
    pinned_module as _pinned,
    read_table,
    reader_of,
)

N, D, SIZE = 1000, 4, 200
RIDGE = {"random_state": 7, "epsilon": 4.0, "max_iter": 2}
# Where copies lie: what fits into memory, and what of temporary files rows may take.
PLACES = {"memory": (2**27, 0.5), "file": (0, 0.5), "nowhere": (0, 0.0)}


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(5)
    X = generator.uniform(-1.0, 1.0, (N, D))
    return X * (X > -0.5), X.sum(axis=1) + 0.1 * generator.normal(size=N)


def put(monkeypatch, place):
    """Have copies of rows lie in a place."""
    most, share = PLACES[place]
    monkeypatch.setattr(_sums, "_memory_for_rows", lambda: most)
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


@pytest.mark.long
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
    sums = _pinned.PinnedRows(table, reader_of(DaskDPRidge(**RIDGE)), _Client())
    assert not any(stated.compiled for stated in sums._stated)
