"""Groups of rows in parts: each is to lie in one part, as a whole."""

from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from skdp._rows.groups import encode_groups

# Ids of one type are equal where their texts are. Those of others may be: 1 is 1.0.
_TYPES = (str, int, float, bool, bytes)
_ID_BYTES = 8
_OTHER_IDS = (
    "groups in partitions must be words, or numbers, of one type in all partitions: convert the "
    "column, as by .astype(str)."
)
_APART = (
    "a group has rows in two partitions, and would count as two. Move all rows of a group to one "
    "partition, as by frame.shuffle(on=column), with X, y and groups taken from what that returns."
)


class Groups(NamedTuple):
    """The groups of a part: that of each row, as a number, and a hash of each one's id."""

    codes: np.ndarray | None
    hashes: np.ndarray
    # Type of the ids.
    kind: str
    # Rows are held if there is room for them, and for mapped ones.
    is_held: bool = True

    def unheld(self):
        """Return this for rows that are read in every pass."""
        return self._replace(is_held=False)


def read_groups(ids, n_rows, key):
    """Return the `Groups` of a part, or None without ids; no error quotes one.

    Hashes are of 8 bytes: of some million groups, two are taken for one with a probability of
    about 1e-7, and the fit is refused. One is never taken for two.
    """
    if ids is None:
        return None
    codes, _ = encode_groups(ids, n_rows)
    firsts = np.unique(codes, return_index=True)[1]
    kind, texts = _texts_of(np.asarray(ids)[firsts])
    digests = (blake2b(text, key=key, digest_size=_ID_BYTES).digest() for text in texts)
    return Groups(codes, np.frombuffer(b"".join(digests), dtype="<u8"), kind)


def _texts_of(ids):
    """Return the type of ids, and a text in bytes of each; equal ones have the same."""
    kind = ids.dtype.kind
    if kind in "mM":
        return ids.dtype.str, (str(count).encode() for count in ids.astype(np.int64).tolist())
    entries = ids.tolist()
    types = {type(one) for one in entries}
    if len(types) > 1 or not types.issubset(_TYPES):
        raise TypeError(_OTHER_IDS)
    (kind,) = types
    if kind is bytes:
        return kind.__name__, entries
    if kind is float:
        # Zeros are equal, and one of them has a sign.
        entries = [one + 0.0 for one in entries]
    return kind.__name__, (str(one).encode("utf-8", "surrogatepass") for one in entries)


def count_groups(parts):
    """Return how many groups all parts have together, none of which may be in two."""
    if len({part.kind for part in parts}) > 1:
        raise ValueError(_OTHER_IDS)
    hashes = np.concatenate([part.hashes for part in parts])
    if np.unique(hashes).size < hashes.size:
        raise ValueError(_APART)
    return hashes.size
