"""Kinds of columns, and how an entry is read in a column of each.

A kind follows from a column's type, from what was declared, or from a release. What a column was in
a fit decides how its entries are read later, whatever type they have then.
"""

import math

import numpy as np

from skdp._rows.entries import as_day, as_number, as_word, is_gap_mark, word_of_boolean
from skdp._rows.naming import number_in_words

NUMERIC = "numeric"
# Days since 1970, which labels print as dates.
DATE = "date"
WORD = "word"
# Words that are False and True, by a column's type.
BOOLEAN = "boolean"
# Words of a column whose type is of numbers, and that was declared to hold words.
WORD_OF_NUMBERS = "word of numbers"
# Nobody knows yet whether a column holds numbers, dates or words.
UNTYPED = "untyped"

_WORDS_OF = {
    NUMERIC: WORD_OF_NUMBERS,
    WORD_OF_NUMBERS: WORD_OF_NUMBERS,
    BOOLEAN: BOOLEAN,
}


def holds_numbers(kind):
    """Return whether columns of a kind hold numbers, days included."""
    return kind in (NUMERIC, DATE)


def holds_words(kind):
    """Return whether columns of a kind hold words."""
    return kind in (WORD, BOOLEAN, WORD_OF_NUMBERS)


def declared_word(kind):
    """Return the kind of a column that is declared to hold words, by what its type says."""
    return _WORDS_OF.get(kind, WORD)


def declared_number(kind):
    """Return the kind of a column that is declared to hold numbers, by what its type says."""
    return DATE if kind == DATE else NUMERIC


def _word_of_boolean(entry):
    return word_of_boolean(_word_of_number(entry))


def _word_of_number(entry):
    number = as_number(entry)
    if math.isfinite(number):
        return number_in_words(number)
    return np.nan if isinstance(entry, str) and is_gap_mark(entry) else as_word(entry)


_READERS = {
    NUMERIC: as_number,
    DATE: as_day,
    WORD: as_word,
    BOOLEAN: _word_of_boolean,
    WORD_OF_NUMBERS: _word_of_number,
}


def reader_of(kind):
    """Return the function that reads an entry of a column of a kind."""
    return _READERS[kind]
