"""How many records are in each category, and what categories there are, with noise."""

from collections import Counter

import numpy as np


def release_counts(columns, given, *, threshold, mechanism, noise):
    """Release counts of categories, those that nobody listed only above a threshold.

    Parameters
    ----------
    columns : list of lists
        Of each column, its entries. None of them is a null record's.
    given : list of lists or None
        Of each column, its categories where they are listed; entries that aren't among them are in
        no category.
    threshold : float
    mechanism : GaussianMechanism
    noise : stream

    Returns
    -------
    found : list of (categories, counts)
        Of each column, a sorted list, and an array with a noisy count for each.
    """
    tables = [Counter(column) for column in columns]
    listed = [
        sort_categories(table) if categories is None else categories
        for table, categories in zip(tables, given, strict=True)
    ]
    counts = [
        np.array([table[category] for category in categories], dtype=np.float64)
        for table, categories in zip(tables, listed, strict=True)
    ]
    released = mechanism.release(np.concatenate(counts), noise)
    parts = np.split(released, np.cumsum([part.size for part in counts])[:-1])
    return [
        (categories, part)
        if of_given is not None
        else _take(categories, part, np.flatnonzero(part > threshold))
        for categories, part, of_given in zip(listed, parts, given, strict=True)
    ]


def sort_categories(categories):
    """Return numbers or strings as a sorted list, with what stands for a gap last."""
    return sorted(categories, key=lambda value: (value != value, value))


def keep_largest(categories, counts, most):
    """Return the categories of the largest counts and these, in order; all if `most` is None."""
    return _take(categories, counts, np.sort(np.argsort(-counts, kind="stable")[:most]))


def _take(categories, counts, places):
    return [categories[place] for place in places], counts[places]
