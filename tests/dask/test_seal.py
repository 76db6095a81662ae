"""Digests tell every change of rows, and are alike wherever they are taken."""

import gc

import numpy as np
import pytest
from scipy.sparse import csr_array

pytest.importorskip("distributed", reason='needs the extra: pip install "skdp[dask]"')

from skdp.dask import _seal
from skdp.dask._seal import Seal

SEAL = Seal(b"sixteen bytes...")


def swapped(X, one, other):
    made = X.copy()
    made[[one, other]] = X[[other, one]]
    return made


def changed(X, place, value):
    made = X.copy()
    made[place] = value
    return made


# Each shape has full blocks of 8192 words, and a rest.
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(5000, 7), (3, 1), (8192, 2), (0, 4)])
def test_digests_follow_from_content(shape, dtype):
    X = np.random.default_rng(0).uniform(-1.0, 1.0, shape).astype(dtype)
    assert SEAL.of(X) == SEAL.of(X.copy()) == Seal(SEAL.key, is_held=True).of(X)
    assert len(SEAL.of(X)) == 16
    others = [X.T.copy(), X.astype(np.float16), np.vstack([X, np.zeros((1, shape[1]))])]
    assert SEAL.of(X) not in [SEAL.of(other) for other in others]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_any_change_of_an_entry_is_seen(dtype):
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (5000, 7)).astype(dtype)
    for place in [(0, 0), (1234, 3), (4999, 6)]:
        for value in (-X[place], np.nextafter(X[place], dtype(2.0)), 0.0, 1e30):
            assert SEAL.of(changed(X, place, value)) != SEAL.of(X)


# Entries of few values: their words differ in their upper bits alone.
@pytest.mark.parametrize("values", [[0.0, 1.0], [-1.0, 1.0], [2.0, 3.0]])
def test_rows_in_another_order_are_seen(values):
    X = np.zeros((5000, 8)) + values[0]
    X[np.arange(5000), np.arange(5000) % 8] = values[1]
    for one, other in [(0, 1), (17, 2000), (0, 1025), (4998, 4999)]:
        assert SEAL.of(swapped(X, one, other)) != SEAL.of(X)
    assert SEAL.of(X[::-1].copy()) != SEAL.of(X)


def test_digests_hang_on_the_key():
    X = np.ones((10, 3))
    assert SEAL.of(X) != Seal(b"another key.....").of(X)


def test_sparse_rows():
    dense = np.random.default_rng(0).uniform(-1.0, 1.0, (300, 5))
    X = csr_array(dense * (dense > 0.3))
    assert SEAL.of(X) == SEAL.of(X.copy())
    moved = csr_array((X.data, X.indices[::-1].copy(), X.indptr), shape=X.shape)
    longer = csr_array((X.data, X.indices, X.indptr), shape=(300, 6))
    shifted = X.indptr.copy()
    shifted[7] += 1
    others = moved, longer, X * 2.0, csr_array((X.data, X.indices, shifted), shape=X.shape)
    assert SEAL.of(X) not in [SEAL.of(other) for other in others]


def test_an_array_that_is_held_is_read_once(monkeypatch):
    read, digest = [], _seal._digest
    monkeypatch.setattr(_seal, "_digest", lambda *args: read.append(args) or digest(*args))
    held, X = Seal(b"a key of its own", is_held=True), np.ones((10, 3))
    kinds = [(X, [1, 0]), (X.copy(), [1, 0]), (X[:], [1, 1])]
    for array, n_read in kinds:
        for n in n_read:
            read.clear()
            held.of(array)
            assert len(read) == n
    # Held arrays are forgotten with their memory.
    read.clear()
    kinds.clear()
    del X, array
    gc.collect()
    assert not [key for _, key in _seal._remembered if key == held.key]
    assert SEAL.of(np.ones(3)) == SEAL.of(np.ones(3))
    assert len(read) == 2
