"""How numbers, categories and columns are called, and in which order categories are."""

import sys

import numpy as np


def as_array(categories):
    """Return a list of categories as an array, whose type follows from them alone.

    So does its pickle: equal strings are one object, whatever records they came from.
    """
    if all(isinstance(value, float) for value in categories):
        return np.array(categories, dtype=np.float64)
    shared = [sys.intern(value) if isinstance(value, str) else value for value in categories]
    return np.array(shared, dtype=object)


def sort_categories(categories):
    """Return a sorted list: numbers, then strings, with what stands for a gap last."""
    return sorted(categories, key=lambda value: (value != value, isinstance(value, str), value))


def make_unique(names):
    """Return names as a list, those that occurred before with underscores."""
    known = {}
    for name in names:
        while name in known:
            name += "_"
        known[name] = None
    return list(known)


def number_in_words(number):
    """Return a float as in a column's name: whole numbers without a point."""
    return str(int(number) if number.is_integer() else number)
