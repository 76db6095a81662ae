"""What is asked of rows, wherever they are."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from skdp._rows.threads import sum_in_order

# Views of rows. These are rows as they were read, some of them, or targets as rows; rows in their
# ball or within their bound; the same with slopes that are cut; columns that a transformer counts;
# a raw table; rows whose labels alone are private; and bins that rows in memory are in.
RAW, SAMPLED, TARGETS, PLACED, CUT = "raw", "sampled", "targets", "placed", "cut"
COLUMNS, TABLE, PUBLIC, CELLS = "columns", "table", "public", "cells"


class Asked(NamedTuple):
    """Rows, or targets as rows, that are asked by a function: of a `Query` it gives the answer."""

    ask: Callable


class AskedSlopes(NamedTuple):
    """The same of rows whose slopes are cut to a bound."""

    ask: Callable
    slope_bound: float


class Query:
    """A question to rows, whose answer is released.

    It holds public and released numbers alone, and is never changed: it is sent to where rows are,
    and answered there as often as need be. Subclasses name in `view` what it is about, and have
    `total`, which says what rows in memory add up to. Where records are groups of rows whose part
    is cut as a whole, `total_of_groups` says the same of groups.
    """

    view = RAW
    # True for means of targets without privacy, in which each row of a group counts as one.
    of_rows_alone = False

    @property
    def grid(self):
        """Grid of the mechanism that releases the answer: numbers on it add up exactly.

        With 0 answers of parts are put together in the order of these.
        """
        return self.mechanism.grid

    def total(self, rows):
        """Return the answer of rows in memory."""
        raise NotImplementedError

    def total_of_groups(self, rows):
        """Return the answer of rows in memory of which each group is a record."""
        raise NotImplementedError

    def join(self, answers):
        """Return the answer of all rows from those of parts of them."""
        answers = iter(answers)
        # An answer isn't changed: a part may be asked for it again.
        return sum_in_order(chain([next(answers).copy()], answers))


class BoundedQuery(Query):
    """A question whose answer is released, with the noise of its `mechanism`.

    A run makes this release (`Run.ask`), and only if it was planned for bounds that aren't smaller
    than those that the query states. They are lengths of all released numbers together.
    """

    mechanism: object

    def record_bound(self, place):
        """Return by how much a record moves the answer of rows at a place, at most."""
        raise NotImplementedError

    def pair_bound(self, place):
        """Return how far apart answers are where one record replaces another, at most."""
        return 2.0 * self.record_bound(place)

    def noisy(self, answer, release):
        """Return what leaves of an answer, by a function that releases an array.

        It is the array that the bounds are of: the answer itself, unless a subclass makes the array
        of it, by a public rule.
        """
        return release(answer)


class CountingQuery(BoundedQuery):
    """Counts in which a record is in one bin of each histogram, and in none where it is null."""

    @property
    def n_histograms(self):
        """In how many bins a record is."""
        return 1

    def record_bound(self, place):
        return math.sqrt(self.n_histograms)

    def pair_bound(self, place):
        return math.sqrt(2.0 * self.n_histograms)


class Cells(NamedTuple):
    """In which bin of each of several public histograms rows are: an array by row for each."""

    of_rows: tuple

    def ask(self, query):
        """Return the answer to a `Query`."""
        return query.total(self)


@dataclass(frozen=True, eq=False)
class CountsByCell(CountingQuery):
    """How many rows are in each bin of public histograms of such sizes, one after another.

    A record has so many rows at most.
    """

    sizes: tuple
    mechanism: object
    rows_of_record: int = 1

    view = CELLS

    @property
    def n_histograms(self):
        return len(self.sizes)

    def record_bound(self, place):
        return self.rows_of_record * super().record_bound(place)

    def pair_bound(self, place):
        return self.rows_of_record * super().pair_bound(place)

    def total(self, cells):
        each = zip(cells.of_rows, self.sizes, strict=True)
        return np.concatenate([np.bincount(rows, minlength=size) for rows, size in each])
