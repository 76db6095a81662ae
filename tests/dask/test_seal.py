"""Digests tell every change of rows, and are alike wherever they are taken."""

import numpy as np
import pytest
from scipy.sparse import csr_array

pytest.importorskip("distributed", reason="needs the extra dask")

from skdp.dask._clients import RowsChangedError
from skdp.dask._parts import KeyedDigest, private_blocks

# Blocks of this many rows have full pieces of 8192 words, and a rest.
SIZE = 3000
SEAL = KeyedDigest(b"sixteen bytes...")


def sealed(X, seal=SEAL):
    return b"".join(seal.of(rows) for _, rows in private_blocks(X, SIZE))


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
    assert sealed(X) == sealed(X.copy()) == sealed(X, KeyedDigest(SEAL.key))
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
    assert sealed(X) != sealed(X, KeyedDigest(b"another key....."))


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


def test_blocks_are_copies():
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (7000, 5))
    found = list(private_blocks(X, SIZE))
    assert [start for start, _ in found] == [0, 3000, 6000]
    np.testing.assert_array_equal(np.vstack([rows for _, rows in found]), X)
    assert not any(np.shares_memory(rows, X) for _, rows in found)


BLOCKS = [slice(0, 3000), slice(3000, 6000), slice(6000, 7000)]


def watched(X, seen, seal=SEAL):
    """Return rows that are to be what others were."""
    return seal.watched(X, SIZE, sealed(seen, seal))


def test_blocks_are_compared_when_they_are_asked_for():
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (7000, 5))
    rows = watched(X, X.copy())
    for block in BLOCKS[::-1]:
        # Nothing that is written after the comparison gets into a sum.
        assert not np.shares_memory(rows[block], X)
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


def test_sparse_rows_are_compared_as_a_whole():
    dense = np.random.default_rng(0).uniform(-1.0, 1.0, (7000, 5))
    X, other = csr_array(dense), csr_array(changed(dense, (6999, 4), 0.5))
    assert watched(X, X.copy()) is X
    with pytest.raises(RowsChangedError):
        watched(other, X)
