"""Digests by which rows are told from those that were read before."""

from functools import lru_cache
from hashlib import blake2b, shake_128
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

from skdp.dask._clients import RowsChangedError

_WORDS, _WORD_BYTES = 8192, 8
_DIGEST_BYTES = 16


class KeyedDigest(NamedTuple):
    """What takes digests of arrays, alike on every machine and for one fit.

    Rows have a digest for each block of theirs. Its 64-bit words w, 8192 at a time, give two sums
    modulo 2**64, of ``k w`` and of ``k`` times w with its bytes in reverse, where the multipliers k
    follow from the key. If blocks differ, so do the lower 32 bits of a word or those of its
    reverse, and over the choice of the key a sum is the same with probability at most 2**-33. The
    sums are hashed, together with the last bytes that fill no word. The key is secret, so that
    nobody can write rows whose digest is that of others.
    """

    key: bytes

    def of(self, rows):
        """Return the digest of a C-contiguous array of numbers, or of sparse rows."""
        if not issparse(rows):
            return _digest(rows, self.key)
        found = blake2b(repr(rows.shape).encode(), digest_size=_DIGEST_BYTES)
        for part in (rows.data, rows.indices, rows.indptr):
            found.update(_digest(np.ascontiguousarray(part), self.key))
        return found.digest()

    def watched(self, X, size, digests):
        """Return rows of which each block is compared with its digest when it is asked for.

        So memory is read once for both. Sparse rows, which nobody else can write to, have one
        digest, and are compared now. `digests` are those of the blocks that `private_blocks` gives,
        one after another. Rows that have others raise a RowsChangedError, now or later.
        """
        if not issparse(X):
            return _Watched(X, size, digests, self)
        if self.of(X) != digests:
            raise RowsChangedError
        return X


def private_blocks(X, size):
    """Give the first row of each block of rows, and a copy of it that nobody else can write to.

    Another task or process may write to a file, or to what a worker holds, at any time. What is
    measured of rows, and added up, must be of the numbers that their digest was taken of. Sparse
    rows, which nobody else can write to, are one block.
    """
    if issparse(X):
        yield 0, X
        return
    for start in range(0, len(X), size):
        yield start, np.array(X[start : start + size])


class _Watched:
    """Rows that can be asked for, as copies, by those slices only which have a digest."""

    def __init__(self, X, size, digests, seal):
        self._X, self._size, self._digests, self._seal = X, size, digests, seal
        self.shape = X.shape

    def __getitem__(self, block):
        rows = np.array(self._X[block])
        place = block.start // self._size * _DIGEST_BYTES
        # A slice that is no block has a digest that is in no place.
        if self._seal.of(rows) != self._digests[place : place + _DIGEST_BYTES]:
            raise RowsChangedError
        return rows


def _digest(array, key):
    found = blake2b(f"{array.dtype.str}{array.shape}".encode(), digest_size=_DIGEST_BYTES)
    content = array.reshape(-1).view(np.uint8)
    n_bytes = content.size - content.size % _WORD_BYTES
    words, multipliers = content[:n_bytes].view(np.uint64), _multipliers(key)
    whole = words.size - words.size % _WORDS
    for part in (words[:whole].reshape(-1, _WORDS), words[np.newaxis, whole:]):
        for seen in (part, part.view(part.dtype.newbyteorder())):
            found.update(np.einsum("ij,j->i", seen, multipliers[: part.shape[1]]))
    found.update(content[n_bytes:])
    return found.digest()


@lru_cache(maxsize=8)
def _multipliers(key):
    drawn = shake_128(key).digest(_WORDS * _WORD_BYTES)
    return np.frombuffer(drawn, "<u8").astype(np.uint64)
