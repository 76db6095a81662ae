"""Columns of categories, which are numbers or strings: each entry is read by itself."""

import math
from collections.abc import Collection
from decimal import Decimal
from numbers import Real
from typing import NamedTuple

import numpy as np

from skdp._rows.containers import RefusedTypeError
from skdp._rows.entries import (
    UnreadableEntryError,
    as_number,
    as_word,
    is_gap_mark,
    plain_text,
    same_word,
)
from skdp._rows.frames import open_columns
from skdp._rows.gaps import is_gap
from skdp._rows.naming import sort_categories

_AUTO = "auto"
_TOO_LARGE = "column {!r} holds infinite numbers, or numbers too large for a float."
_MALFORMED = "column {!r} {}"


class InfiniteEntryError(ValueError):
    """An entry is a number that is infinite, or that no float is."""


def as_category(entry):
    """Return an entry as a float or a string, NaN for a gap.

    Numbers of any type that are equal are one float, and so are True and 1. A date is a string.

    Raises
    ------
    InfiniteEntryError
        If it is an infinite number, or too large.
    UnreadableEntryError
        If its type can't be read.
    """
    if isinstance(entry, str):
        return plain_text(entry)
    number = as_number(entry)
    if math.isfinite(number):
        # The zeros are equal, and which of them is there would tell what came first.
        return number + 0.0
    is_number = isinstance(entry, (Real, Decimal)) and not is_gap(entry)
    if is_number and not (isinstance(entry, Decimal) and entry.is_nan()):
        raise InfiniteEntryError
    return as_word(entry)


class Categories(NamedTuple):
    """A column of categories: which of some each row has. NaN is for a gap, and others are once."""

    known: list
    codes: np.ndarray

    @classmethod
    def of(cls, entries, missing_values=np.nan):
        """Take `Entries`, of which a gap may be marked by a value of its own."""
        labels = map(as_category, entries.entries)
        if not is_gap(missing_values):
            known = _without_gaps(labels)
            labels = (np.nan if one == missing_values else one for one in known)
        places = {}
        # The value that stands for a gap is one object, which is found by identity.
        codes = [places.setdefault(one if one == one else np.nan, len(places)) for one in labels]
        return cls(list(places), np.array(codes, dtype=np.int64)[entries.codes])

    @property
    def gaps(self):
        """Where rows have none."""
        return np.array([one != one for one in self.known], dtype=bool)[self.codes]

    def count(self, rows):
        """Return how many of some rows have each category."""
        counts = np.bincount(self.codes[rows], minlength=len(self.known))
        return {self.known[place]: int(counts[place]) for place in np.flatnonzero(counts)}

    def filled(self, fill):
        """Return the categories of rows as an array of objects, in which a value is for gaps."""
        objects = np.empty(len(self.known), dtype=object)
        objects[:] = [fill if one != one else one for one in self.known]
        return objects[self.codes]


def _without_gaps(categories):
    for category in categories:
        if category != category:
            raise ValueError("Input X contains NaN.")
        yield category


def read_categories(estimator, X, *, reset, missing_values=np.nan):
    """Return the columns of a table as `Categories`.

    Raises
    ------
    TypeError
        If a column has a type that can't be read, or entries of such a type.
    ValueError
        If a number is infinite or too large, or the table is empty.
    """
    names, sources = open_columns(estimator, X, reset=reset)
    return [
        _read(source.entries(), name, missing_values)
        for source, name in zip(sources, names, strict=True)
    ]


def _read(entries, name, missing_values):
    try:
        # Where gaps are compared, newer NumPy may warn: of the data.
        with np.errstate(all="ignore"):
            return Categories.of(entries, missing_values)
    except UnreadableEntryError as error:
        refusal = RefusedTypeError(_MALFORMED.format(name, error))
    except InfiniteEntryError:
        refusal = ValueError(_TOO_LARGE.format(name))
    # Raised here, it has no context, which would hold the entry.
    raise refusal


def in_categories(X, gaps):
    """Return the columns of an array of floats, which were checked before, as `Categories`."""
    columns = (np.unique(column, return_inverse=True) for column in np.where(gaps, np.nan, X).T)
    # The zeros are equal, and which of them is there would tell what came first.
    return [
        Categories([one + 0.0 if one == one else np.nan for one in known.tolist()], codes)
        for known, codes in columns
    ]


class Known:
    """The places of categories, which entries of any type have.

    What is the same value in another type has the same place: of a number the text, of a boolean
    the number, and of a text the number or boolean that it writes.
    """

    def __init__(self, categories):
        categories = [np.nan if one != one else one for one in categories]
        self._places = {category: place for place, category in enumerate(categories)}
        self._are_numbers = all(isinstance(one, float) for one in categories)

    def places(self, entries, unknown):
        """Return for each row the place of its category, or of what is none of them."""
        with np.errstate(all="ignore"):
            places_of_entries = [self._find(entry, unknown) for entry in entries.entries]
        return np.array(places_of_entries, dtype=np.int64)[entries.codes]

    def _find(self, entry, unknown):
        for form in self._forms(entry):
            if form in self._places:
                return self._places[form]
        return unknown

    def _forms(self, entry):
        """Yield what an entry may be as a category, the likeliest first."""
        try:
            form = as_category(entry)
        except (UnreadableEntryError, InfiniteEntryError):
            return
        yield form if form == form else np.nan
        if isinstance(entry, str):
            yield as_number(entry) + 0.0
            if self._are_numbers and is_gap_mark(entry):
                yield np.nan
        elif isinstance(form, float) and form == form:
            yield (word := as_word(entry))
            yield same_word(word)


def check_categories(categories, n_features):
    """Return for each column a sorted list of its declared categories, or None if it has none."""
    if isinstance(categories, str) and categories == _AUTO:
        return [None] * n_features
    if not isinstance(categories, Collection) or isinstance(categories, str):
        raise ValueError("categories must be 'auto' or a list with an entry for each feature.")
    categories = list(categories)
    if len(categories) != n_features:
        sizes = f"{n_features} features, got {len(categories)}"
        raise ValueError(f"categories must have an entry for each of {sizes}.")
    return [_check_declared(declared) for declared in categories]


def _check_declared(declared):
    if declared is None or (isinstance(declared, str) and declared == _AUTO):
        return None
    # An iterator can be read but once, and has other categories the next time.
    if isinstance(declared, str) or not isinstance(declared, Collection):
        raise ValueError("an entry of categories must be 'auto' or a list of categories.")
    try:
        categories = [one if one == one else np.nan for one in map(as_category, declared)]
    except UnreadableEntryError as error:
        raise TypeError(f"a list of categories {error}") from None
    except InfiniteEntryError:
        raise ValueError("a list of categories holds an infinite or too large number.") from None
    if not categories or len(set(categories)) < len(categories):
        raise ValueError("a list of categories must hold at least one, and none of them twice.")
    return sort_categories(categories)
