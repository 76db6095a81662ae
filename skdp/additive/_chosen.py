"""What a user chooses of an additive model's curves: which of them rise or fall."""

from collections.abc import Mapping

import numpy as np

from skdp._rows.frames import find_column
from skdp._rows.kinds import BOOLEAN, UNTYPED, holds_numbers
from skdp.preprocessing.table._given import NO_COLUMN

_SIGNS = (
    "monotonic_cst must be a dict by column, each once, or have an entry for each column: 1 for an "
    "increasing curve, -1 for a decreasing one, 0 for any."
)
_NO_ORDER = (
    "monotonic_cst names the column {!r}, which holds {}: it is for columns of numbers, as words "
    "have no order. Name the column in numeric_features if its entries are numbers."
)
_IN_PAIR = (
    "monotonic_cst and interactions both name the column {!r}: the surface of a pair isn't "
    "constrained."
)


def count_signs(monotonic_cst):
    """Return how many columns are to rise or to fall, before it is known which there are."""
    if monotonic_cst is None:
        return 0
    is_dict = isinstance(monotonic_cst, Mapping)
    signs = monotonic_cst.values() if is_dict else np.asarray(monotonic_cst).ravel()
    return sum(sign != 0 for sign in signs)


def chosen_signs(monotonic_cst, names, kinds, pairs):
    """Return for each column 1, -1 or 0: whether its curve is to rise, to fall, or is free.

    Columns whose kind isn't known yet may have a sign, which says that they hold numbers.
    """
    signs = [None] * len(names)
    if monotonic_cst is None:
        return [0] * len(signs)
    by_column = monotonic_cst
    if not isinstance(by_column, Mapping):
        by_place = np.asarray(monotonic_cst).tolist()
        if not isinstance(by_place, list) or len(by_place) != len(signs):
            raise ValueError(_SIGNS)
        by_column = dict(enumerate(by_place))
    for column, sign in by_column.items():
        place = find_column(column, names)
        if place is None:
            raise ValueError(NO_COLUMN.format("monotonic_cst", column))
        if signs[place] is not None or sign not in (-1, 0, 1):
            raise ValueError(_SIGNS)
        signs[place] = int(sign)
    signs = [sign or 0 for sign in signs]
    in_pairs = {place for pair in pairs for place in pair}
    for place, sign in enumerate(signs):
        name, kind = names[place], kinds[place]
        if sign and not holds_numbers(kind) and kind != UNTYPED:
            content = "booleans" if kind == BOOLEAN else "words"
            raise ValueError(_NO_ORDER.format(name, content))
        if sign and place in in_pairs:
            raise ValueError(_IN_PAIR.format(name))
    return signs


def with_choices(specs, pairs, signs):
    """Return specs of columns that know which of them are in pairs, and which have a sign."""
    return specs.with_settings(
        {
            "monotonic_cst": np.flatnonzero(signs),
            "interactions": [place for pair in pairs for place in pair],
        }
    )
