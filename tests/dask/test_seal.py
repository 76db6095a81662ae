"""Digests tell every change of rows, and are alike wherever they are taken."""

import numpy as np
import pytest
from scipy.sparse import csr_array

pytest.importorskip("distributed", reason="needs the extra dask")

from tests.door_dask import KeyedDigest

SEAL = KeyedDigest(b"sixteen bytes...")


def sealed(X, seal=SEAL):
    return seal.of(X)


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
    assert len(sealed(X)) == 16
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
