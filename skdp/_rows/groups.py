"""Ids of the groups that a guarantee is for."""

import numpy as np
from scipy.sparse import issparse

from skdp._rows.containers import refuse_foreign
from skdp._sklearn import quietly

_MISSING = (
    "groups contains missing values: rows whose person isn't known can't be protected as that "
    "person's. Leave them out, or give each an id of its own if it is a person of its own."
)


def encode_groups(groups, n_rows):
    """Return the group of each row as a number, and how many records the guarantee is about.

    Ids are hashable; of the numbers all of 0, 1, ... occur. Without groups each row is a record. No
    message quotes an id.
    """
    if groups is None:
        return None, n_rows
    refuse_foreign(groups, "groups")
    if np.ma.is_masked(groups):
        raise ValueError(_MISSING)
    ids = quietly(_as_array, groups)
    if ids.ndim != 1:
        raise ValueError("groups must have one dimension: an id for each row.")
    if len(ids) != n_rows:
        raise ValueError("groups must have one id for each row of X.")
    # Records of fields, and words that know a gap, are objects, too.
    codes = _codes_of_objects(ids) if ids.dtype.kind in "OVT" else _codes_of_numbers(ids)
    return codes, int(codes.max()) + 1


def shares_of(codes):
    """Return what rows count in their group, from the group of each row, or None."""
    return None if codes is None else 1.0 / np.bincount(codes)[codes]


def dense_in_groups(X, codes):
    """Return rows as sums over groups take them: dense, as mapped ones are."""
    return X.toarray() if codes is not None and issparse(X) else X


def _as_array(groups):
    if hasattr(groups, "dtype") or hasattr(groups, "dtypes"):
        return np.asarray(groups)
    # Lists of words and gaps would become words, and those of tuples, which are ids, columns.
    ids = np.asarray(groups, dtype=object)
    are_tuples = ids.ndim > 1 and all(isinstance(key, tuple) for key in groups)
    return np.fromiter(groups, dtype=object, count=len(groups)) if are_tuples else ids


def _codes_of_numbers(ids):
    # A missing id isn't equal to itself, and that holds for times, too.
    if (ids != ids).any():
        raise ValueError(_MISSING)
    return np.unique(ids, return_inverse=True)[1]


def _codes_of_objects(ids):
    known = {}
    try:
        codes = np.array([known.setdefault(key, len(known)) for key in ids.tolist()])
    except TypeError:
        raise TypeError("groups must contain hashable ids.") from None
    # A type of words may have one that stands for a gap.
    if getattr(ids.dtype, "na_object", None) in known or any(map(_is_missing, known)):
        raise ValueError(_MISSING)
    return codes


def _is_missing(key):
    """Return whether a key is None, or isn't equal to itself, as NaN; that of pandas.NA is NA.

    Or whether a part of it is: tuples that hold one and the same NaN are equal.
    """
    if isinstance(key, (tuple, frozenset)):
        return any(map(_is_missing, key))
    try:
        return key is None or bool(key != key)
    except (TypeError, ValueError):
        return True
