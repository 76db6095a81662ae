"""Rows that workers keep copies of: what is read of them, and when; and that they are dropped."""

import time

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.door import SumOfRows

pytest.importorskip("distributed", reason="needs the extra dask")

import dask.array
from distributed import Client, LocalCluster, futures_of

from skdp.dask import DaskDPRidge
from skdp.ledger import PrivacyLedger
from tests.door import threads_module as _threads
from tests.door_dask import (
    CHANGED,
    Reader,
    RowsChangedError,
    parts_module as _parts,
    passes,
    pinned_module as _pinned,
    read_table,
    reader_of,
)

N, D, SIZE = 2000, 4, 300
N_PARTS = -(-N // SIZE)
RIDGE = {"random_state": 7, "epsilon": 4.0, "max_iter": 3}


@pytest.fixture(scope="module")
def cluster():
    options = {"threads_per_worker": 2, "dashboard_address": ":0", "processes": False}
    with LocalCluster(n_workers=2, **options) as made:
        yield made


@pytest.fixture
def client(cluster):
    with Client(cluster, set_as_default=False) as made:
        yield made


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(5)
    X = generator.uniform(-1.0, 1.0, (N, D))
    return X * (X > -0.5), X.sum(axis=1) + 0.1 * generator.normal(size=N)


# Workers of this process share it.
READ = []


def counted(block):
    READ.append(len(block))
    return block


def in_parts(X, y, as_kind=counted):
    rows = dask.array.from_array(X, chunks=(SIZE, -1))
    y = dask.array.from_array(y, chunks=SIZE)
    return rows.map_blocks(as_kind, dtype=float, meta=np.empty((0, D))), y


def learnt(fitted):
    return np.append(np.ravel(fitted.coef_), fitted.intercept_)


def wait_until_dropped():
    # The scheduler tells workers after the fit.
    for _ in range(200):
        if not _pinned._PINNED:
            return
        time.sleep(0.05)
    raise AssertionError("copies are kept.")


@pytest.mark.long
def test_passes_read_nothing_and_take_no_digest(data, client, monkeypatch):
    digests, of_array = [], _parts._digest

    def digest(*args):
        digests.append(args)
        return of_array(*args)

    monkeypatch.setattr(_parts, "_digest", digest)
    READ.clear()
    DaskDPRidge(client=client, **RIDGE).fit(*in_parts(*data))
    # Each part is loaded, and read again; its targets have a digest, too.
    assert len(READ) == 2 * N_PARTS
    assert len(digests) == 4 * N_PARTS


@pytest.mark.long
def test_rows_without_room_are_read_in_each_pass(data, client, monkeypatch):
    monkeypatch.setattr(_pinned, "_SHARE", 0.0)
    model = DaskDPRidge(client=client, **RIDGE)
    READ.clear()
    with passes(read_table(*in_parts(*data)), reader_of(model), client=client) as sums:
        assert all(pinned.state[0] is None for pinned in _pinned._PINNED.values())
        sums.ask(SumOfRows())
    assert len(READ) == 3 * N_PARTS


def test_copies_cannot_be_written_to(data):
    for as_kind in (np.array, csr_array):
        given = as_kind(data[0])
        made = _parts._own_copy(given)
        for array, origin in (
            [(made, given)]
            if as_kind is np.array
            else [(getattr(made, n), getattr(given, n)) for n in ("data", "indices", "indptr")]
        ):
            assert not np.shares_memory(array, origin)
            with pytest.raises(ValueError, match="read-only"):
                array[:1] = 0


class _Fails(DaskDPRidge):
    def _budget(self, *parts, **how):
        assert len(_pinned._PINNED) == N_PARTS
        raise KeyError("the client's own")


@pytest.mark.long
def test_copies_are_dropped_when_a_fit_ends(data, client):
    DaskDPRidge(client=client, **RIDGE).fit(*in_parts(*data))
    wait_until_dropped()
    with pytest.raises(KeyError) as raised:
        _Fails(client=client, **RIDGE).fit(*in_parts(*data))
    # While somebody looks at the error, too.
    assert raised.value.__traceback__ is not None
    wait_until_dropped()


@pytest.mark.long
def test_copies_are_dropped_when_a_client_is_gone(data, cluster):
    client = Client(cluster, set_as_default=False)
    sums = _pinned.PinnedRows(read_table(*in_parts(*data)), reader_of(DaskDPRidge(**RIDGE)), client)
    sums.read()
    assert len(_pinned._PINNED) == N_PARTS
    client.close()
    wait_until_dropped()


@pytest.mark.long
def test_rows_that_change_while_they_are_loaded_are_refused_and_not_charged(
    data, client, tmp_path, monkeypatch
):
    path = tmp_path / "rows"
    data[0].tofile(path)
    ledger = PrivacyLedger(tmp_path / "one.db", epsilon=9.0, delta=1e-2, allow_seeds=True)
    file, sent = np.memmap(path, float, "r+", shape=(N, D)), _pinned.PinnedRows._load
    starts = range(0, N, SIZE)

    def rows_of(start):
        # Without numpy.load: threads of CPython 3.11 may fail where they parse its header at once.
        return np.memmap(path, float, "r", shape=(N, D))[start : start + SIZE]

    parts = [
        dask.array.from_delayed(
            dask.delayed(rows_of, pure=False)(start), (min(SIZE, N - start), D), dtype=float
        )
        for start in starts
    ]

    def then_written(self, *args, **how):
        made = sent(self, *args, **how)
        file[[15, 1500]] = file[[1500, 15]]
        return made

    monkeypatch.setattr(_pinned.PinnedRows, "_load", then_written)
    model = DaskDPRidge(client=client, ledger=ledger, **RIDGE)
    with pytest.raises(ValueError, match=CHANGED[:40]):
        model.fit(dask.array.concatenate(parts), dask.array.from_array(data[1], chunks=SIZE))
    assert len(ledger.to_frame()) == 0
    wait_until_dropped()


class _Loses(DaskDPRidge):
    """Loses copies before the first release."""

    def _budget(self, *parts, **how):
        for key in list(_pinned._PINNED)[::2]:
            del _pinned._PINNED[key]
        self._lost()
        return super()._budget(*parts, **how)


@pytest.mark.long
def test_copies_that_are_lost_are_loaded_again(data, client):
    expected = learnt(DaskDPRidge(**RIDGE).fit(*in_parts(*data)))
    model = _Loses(client=client, **RIDGE)
    model._lost = READ.clear
    np.testing.assert_array_equal(learnt(model.fit(*in_parts(*data))), expected)
    assert len(READ) == -(-N_PARTS // 2)


@pytest.mark.long
@pytest.mark.parametrize("change", [lambda X: X[::-1].copy(), lambda X: np.full(X.shape, np.nan)])
def test_copies_that_are_loaded_again_as_others_are_refused(change, data, client):
    X = data[0].copy()

    def of_now(block):
        return X[block[0] : block[-1] + 1]

    places = dask.array.arange(N, chunks=SIZE)
    rows = places.map_blocks(of_now, dtype=float, new_axis=1, chunks=(SIZE, D), meta=X[:0])
    rows._chunks = (places.chunks[0], (D,))
    model = _Loses(client=client, **RIDGE)
    model._lost = lambda: X.__setitem__(slice(None), change(X))
    with pytest.raises(ValueError, match=CHANGED[:40]):
        model.fit(rows, dask.array.from_array(data[1], chunks=SIZE))


@pytest.fixture
def pinned(data):
    """Give, for each of two pinned parts, what a task gets to know of it."""
    reader = reader_of(DaskDPRidge(**RIDGE))
    stated = _parts.PartitionSpec(N, D, None, None, None)
    seal, parts = _parts.KeyedDigest(b"sixteen bytes..."), []
    for place in range(2):
        X, kept = _parts.own_part(reader, stated, seal, *data)
        _pinned._PINNED[place] = _pinned._Pinned(X, kept, None)
        parts.append((place, place, (kept.digest, False), None, None))
    yield parts
    _pinned._PINNED.clear()


# What is asked of a part.
QUERY = SumOfRows(), SumOfRows.view, None


class _Threads:
    def __init__(self, n_jobs):
        self.n_jobs = n_jobs


def test_a_copy_is_to_be_the_one_that_was_read_at_first(pinned):
    """A task that loads may have been run again, on other rows, by another worker."""
    others = [(place, key, (b"first", False), *more) for place, key, _, *more in pinned]
    with pytest.raises(RowsChangedError):
        _pinned._ask_pinned(None, _Threads(1), None, [], others, ())


@pytest.mark.parametrize("n_jobs", [1, 2, -1, -2])
def test_a_worker_that_added_up_nothing_yet_has_threads(n_jobs, pinned, data, monkeypatch):
    monkeypatch.setattr(_threads.single_threaded_blas, "_controller", None)
    sums, lost = _pinned._ask_pinned(_parts.answer, _Threads(n_jobs), None, [], pinned, QUERY)
    assert lost == []
    assert list(sums) == [0, 1]
    for found in sums.values():
        np.testing.assert_allclose(found[:D], data[0].sum(axis=0))


def test_a_part_without_room_is_bounded_once(pinned, data, monkeypatch):
    model = DaskDPRidge(**RIDGE, n_jobs=1)
    reader = reader_of(model)
    stated = _parts.PartitionSpec(N, D, None, None, None)
    read = reader, stated, _parts.KeyedDigest(b"sixteen bytes..."), *data
    for place, one in _pinned._PINNED.items():
        one.state = None, *one.state[1:]
        pinned[place] = *pinned[place][:-1], read
    monkeypatch.delattr(Reader, "certified_rows")
    sums, lost = _pinned._ask_pinned(_parts.answer, reader, None, [], pinned, QUERY)
    assert lost == []
    for found in sums.values():
        np.testing.assert_allclose(found[:D], data[0].sum(axis=0))


def _counted(reader, n_threads, X, kept, *args):
    return kept._replace(bias=kept.bias + 1.0)


def _bias(reader, n_threads, X, kept):
    return np.array([kept.bias])


def test_tasks_of_earlier_passes_leave_what_is_kept_alone(pinned):
    def asked(steps):
        return _pinned._ask_pinned(_bias, _Threads(1), None, steps, pinned, ())

    step = _pinned._kept, _counted, _Threads(1), ()
    expected = asked([])[0][0].item() + 2.0
    for steps in ([step] * 2, [step], [step] * 2):
        sums, lost = asked(steps)
        assert lost == ([0, 1] if len(steps) == 1 else [])
    np.testing.assert_allclose(np.ravel(list(sums.values())), [expected] * 2, rtol=1e-12)


@pytest.mark.long
def test_copies_are_those_of_one_worker(data):
    """Workers of one process drop what they pinned, nothing else; and all of it when they close."""
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "processes": False}
    reader = reader_of(DaskDPRidge(**RIDGE))
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        sums = _pinned.PinnedRows(read_table(*in_parts(*data)), reader, client)
        sums.read()
        loads = list(sums._loads.values())
        client.replicate(loads)
        # One worker of each is told to forget what it was told of the other's.
        client.run(lambda dask_worker: [_forget(dask_worker, load.key) for load in loads])
        assert len(_pinned._PINNED) == N_PARTS
        cluster.close()
        wait_until_dropped()


def _forget(worker, key):
    if _pinned._PINNED[key].worker is not worker:
        worker.plugins[_pinned._PLUGIN].transition(key, "memory", "released")


@pytest.mark.long
def test_sums_are_asked_of_the_worker_that_has_the_rows(data, client, monkeypatch):
    """Elsewhere they would find none. Nor are loads copied: of copies Dask may drop either."""
    reader, asked = reader_of(DaskDPRidge(**RIDGE)), []
    with passes(read_table(*in_parts(*data)), reader, client=client) as sums:

        def compute(made, compute=client.compute, **options):
            asked.extend(made)
            return compute(made, **options)

        monkeypatch.setattr(client, "compute", compute)
        sums.ask(SumOfRows())
        workers = {worker for worker, _ in sums._held.values()}
    told = [one.dask.layers[one.key].annotations for one in asked]
    assert {one["workers"][0] for one in told} == workers
    assert all(one["allow_other_workers"] for one in told)
    loads = {load.key for load in sums._loads.values()}
    assert not any(loads & {future.key for future in futures_of(one)} for one in asked)


@pytest.mark.long
@pytest.mark.parametrize("repeat", range(2))
def test_threads_that_load_at_once_keep_each_others_copies(repeat, data):
    """Those of a worker that has pinned nothing yet."""
    options = {"threads_per_worker": 4, "dashboard_address": ":0", "processes": False}
    reader = reader_of(DaskDPRidge(**RIDGE))
    with LocalCluster(n_workers=1, **options) as cluster, Client(cluster) as client:
        with passes(read_table(*in_parts(*data)), reader, client=client) as sums:
            assert set(_pinned._PINNED) == {load.key for load in sums._loads.values()}
            READ.clear()
            sums.ask(SumOfRows())
            assert READ == []
        wait_until_dropped()
