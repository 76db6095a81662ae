"""Digests by which rows are told from those that were read before."""

import weakref
from functools import lru_cache
from hashlib import blake2b, shake_128
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

from skdp.dask._clients import RowsChangedError

_WORDS = 8192
_WORD_BYTES = 8
_DIGEST_BYTES = 16
# Digests of arrays that a worker holds, by their address.
_remembered = {}


class Seal(NamedTuple):
    """What takes digests of arrays, alike on every machine and for one fit.

    Rows have a digest for each block of theirs. Its 64-bit words w, 8192 at a time, give two sums
    modulo 2**64, of ``k w`` and of ``k`` times w with its bytes in reverse, where the multipliers k
    follow from the key. If blocks differ, so do the lower 32 bits of a word or those of its
    reverse, and over the choice of the key a sum is the same with probability at most 2**-33. The
    sums are hashed, together with the last bytes that fill no word.

    Attributes
    ----------
    key : bytes
        Secret, so that nobody can write rows whose digest is that of others.
    is_held : bool
        Whether workers hold the arrays. One that is the same object, and owns its memory, isn't
        read again: a worker that gets it anew has another object.
    """

    key: bytes
    is_held: bool = False

    def of(self, X, size):
        """Return the digests of the blocks of an array of floats, or of sparse rows as a whole.

        Parameters
        ----------
        X : ndarray, C-contiguous; or CSR
        size : int
            Rows of a block.

        Returns
        -------
        digests : bytes
            One after another.
        """
        if not self._is_remembered(X):
            return _digests(X, size, self.key)
        place = id(X), size, self.key
        array, digests = _remembered.get(place, (None, None))
        if array is None or array() is not X:
            array = weakref.ref(X, lambda _: _remembered.pop(place, None))
            digests = _digests(X, size, self.key)
            _remembered[place] = array, digests
        return digests

    def checked(self, X, size, digests):
        """Return rows if they have these digests.

        Raises
        ------
        RowsChangedError
            If they have others.
        """
        if self.of(X, size) != digests:
            raise RowsChangedError
        return X

    def watched(self, X, size, digests):
        """Return rows of which each block is compared with its digest when it is asked for.

        So memory is read once for both. Rows whose digests are remembered, or are those of a
        whole, are compared now.

        Raises
        ------
        RowsChangedError
            Now or later, if rows have other digests.
        """
        if issparse(X) or self._is_remembered(X):
            return self.checked(X, size, digests)
        return _Watched(X, size, digests, self.key)

    def _is_remembered(self, X):
        return self.is_held and not issparse(X) and X.flags.owndata


class _Watched:
    """Rows that can be asked for by those slices only which have a digest."""

    def __init__(self, X, size, digests, key):
        self._X, self._size, self._digests, self._key = X, size, digests, key
        self.shape = X.shape

    def __getitem__(self, block):
        rows = self._X[block]
        place = block.start // self._size * _DIGEST_BYTES
        # A slice that is no block has a digest that is in no place.
        if _digest(rows, self._key) != self._digests[place : place + _DIGEST_BYTES]:
            raise RowsChangedError
        return rows


def _digests(X, size, key):
    if not issparse(X):
        blocks = (X[start : start + size] for start in range(0, len(X), size))
        return b"".join(_digest(block, key) for block in blocks)
    found = blake2b(repr(X.shape).encode(), digest_size=_DIGEST_BYTES)
    for part in (X.data, X.indices, X.indptr):
        found.update(_digest(np.ascontiguousarray(part), key))
    return found.digest()


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
