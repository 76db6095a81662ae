"""Digests tell every change of rows, and are alike wherever they are taken."""

import gc

import numpy as np
import pytest
from scipy.sparse import csr_array

pytest.importorskip("distributed", reason='needs the extra: pip install "skdp[dask]"')

from skdp.dask import _seal
from skdp.dask._clients import RowsChangedError
from skdp.dask._seal import Seal

# Blocks of this many rows have full pieces of 8192 words, and a rest.
SIZE = 3000
SEAL = Seal(b"sixteen bytes...")


def sealed(X, seal=SEAL):
    return seal.of(X, SIZE)


def swapped(X, one, other):
    made = X.copy()
    made[[one, other]] = X[[other, one]]
    return made


def changed(X, place, value):
    made = X.copy()
    made[place] = value
    return made


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(5000, 7), (3, 1), (8192, 2), (1, 4)])
def test_digests_follow_from_content(shape, dtype):
    X = np.random.default_rng(0).uniform(-1.0, 1.0, shape).astype(dtype)
    assert sealed(X) == sealed(X.copy()) == sealed(X, Seal(SEAL.key, is_held=True))
    assert len(sealed(X)) == 16 * -(-shape[0] // SIZE)
    others = [X.T.copy(), X.astype(np.float16), np.vstack([X, np.zeros((1, shape[1]))])]
    assert sealed(X) not in [sealed(other) for other in others]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_any_change_of_an_entry_is_seen(dtype):
    # An odd number of entries: as float32, the last fills no word.
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (4999, 7)).astype(dtype)
    for place in [(0, 0), (1234, 3), (2999, 6), (3000, 0), (4998, 6)]:
        for value in (-X[place], np.nextafter(X[place], dtype(2.0)), 0.0, 1e30):
            assert sealed(changed(X, place, value)) != sealed(X)


# Entries of few values: their words differ in their upper bits alone.
@pytest.mark.parametrize("values", [[0.0, 1.0], [-1.0, 1.0], [2.0, 3.0]])
def test_rows_in_another_order_are_seen(values):
    X = np.zeros((5000, 8)) + values[0]
    X[np.arange(5000), np.arange(5000) % 8] = values[1]
    for one, other in [(0, 1), (17, 2000), (0, 1025), (17, 3018), (4998, 4999)]:
        assert sealed(swapped(X, one, other)) != sealed(X)
    assert sealed(X[::-1].copy()) != sealed(X)


def test_digests_hang_on_the_key():
    X = np.ones((10, 3))
    assert sealed(X) != sealed(X, Seal(b"another key....."))


def test_sparse_rows():
    dense = np.random.default_rng(0).uniform(-1.0, 1.0, (300, 5))
    X = csr_array(dense * (dense > 0.3))
    assert sealed(X) == sealed(X.copy())
    moved = csr_array((X.data, X.indices[::-1].copy(), X.indptr), shape=X.shape)
    longer = csr_array((X.data, X.indices, X.indptr), shape=(300, 6))
    shifted = X.indptr.copy()
    shifted[7] += 1
    others = moved, longer, X * 2.0, csr_array((X.data, X.indices, shifted), shape=X.shape)
    assert sealed(X) not in [sealed(other) for other in others]


def test_an_array_that_is_held_is_read_once(monkeypatch):
    read, digests = [], _seal._digests
    monkeypatch.setattr(_seal, "_digests", lambda *args: read.append(args) or digests(*args))
    held, X = Seal(b"a key of its own", is_held=True), np.ones((10, 3))
    kinds = [(X, [1, 0]), (X.copy(), [1, 0]), (X[:], [1, 1])]
    for array, n_read in kinds:
        for n in n_read:
            read.clear()
            sealed(array, held)
            assert len(read) == n
    # Held arrays are forgotten with their memory.
    read.clear()
    kinds.clear()
    del X, array
    gc.collect()
    assert not [key for *_, key in _seal._remembered if key == held.key]
    assert sealed(np.ones(3)) == sealed(np.ones(3))
    assert len(read) == 2


BLOCKS = [slice(0, 3000), slice(3000, 6000), slice(6000, 7000)]


def watched(X, seen, seal=SEAL):
    """Return rows that are to be what others were."""
    return seal.watched(X, SIZE, sealed(seen, seal))


def test_blocks_are_compared_when_they_are_asked_for():
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (7000, 5))
    rows = watched(X, X.copy())
    for block in BLOCKS[::-1]:
        assert np.shares_memory(rows[block], X)
        np.testing.assert_array_equal(rows[block], X[block])
    rows = watched(changed(X, (3500, 2), 0.5), X)
    for place, block in enumerate(BLOCKS):
        if place != 1:
            rows[block]
            continue
        with pytest.raises(RowsChangedError):
            rows[block]
    # Changes are seen, too, that are made between two passes over the same memory.
    rows = watched(X, X.copy())
    rows[BLOCKS[2]]
    X[6999] = X[0]
    with pytest.raises(RowsChangedError):
        rows[BLOCKS[2]]


@pytest.mark.parametrize(
    "block", [slice(1, 3001), slice(0, 2999), slice(0, 6000), slice(7000, 8000)]
)
def test_rows_that_have_no_digest_of_their_own_are_refused(block):
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (7000, 5))
    with pytest.raises(RowsChangedError):
        watched(X, X)[block]


def test_blocks_that_moved_are_refused():
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (6000, 5))
    moved = watched(np.vstack([X[3000:], X[:3000]]), X)
    for block in BLOCKS[:2]:
        with pytest.raises(RowsChangedError):
            moved[block]


@pytest.mark.parametrize("kind", ["held", "sparse"])
def test_what_has_one_digest_is_compared_as_a_whole(kind):
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (7000, 5))
    other = changed(X, (6999, 4), 0.5)
    if kind == "sparse":
        X, other = csr_array(X), csr_array(other)
    seal = Seal(b"a key of its own", is_held=kind == "held")
    assert watched(X, X.copy(), seal) is X
    with pytest.raises(RowsChangedError):
        watched(other, X, seal)
    assert seal.checked(X, SIZE, sealed(X, seal)) is X
