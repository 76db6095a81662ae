"""Long tests beside the quick ones of `tests/dask/test_owned.py`."""

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
from tests.dask.test_owned import PLACES, RIDGE, SIZE, D, N, compiled, data, in_parts, learnt, put
from tests.door import fused_module as _fused
from tests.door_dask import CHANGED, pinned_module as _pinned

N_PARTS = N // SIZE
# Workers have no files.
PLACES_OF_WORKERS = ["memory", "nowhere"]


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


LOGISTIC = {"classes": [0, 1], "data_norm": 1.5, "ball_budget": 0, "max_iter": 4, "random_state": 7}


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
    # Lengths of compiled sums are in single precision.
    np.testing.assert_allclose(expected, plain, rtol=0.0, atol=1e-6)
    for place in PLACES if where is None else PLACES_OF_WORKERS:
        put(monkeypatch, place)
        for n_jobs in (None, 1, 3):
            compiled.clear()
            model.set_params(client=where, n_jobs=n_jobs)
            np.testing.assert_array_equal(learnt(model.fit(X, y)), expected)
            assert len(compiled) == model.n_iter_ * N_PARTS


def _is_first(n_entries):
    return get_worker().name == 0


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
