"""Sums of terms by look-up: a term is a table of values, in which each row has a place.

A row has at most two of a term's columns, so its values take the columns of no model: places are
found for some rows at a time. What a row gets depends on its own entries alone, to the last bit,
whatever rows are beside it, and whether places are compiled or not.
"""

from dataclasses import dataclass, field

import numpy as np

from skdp._rows.fused import kernels_for_terms

# Rows whose places and values fit into caches together.
_ROWS = 2**14


@dataclass(frozen=True, eq=False)
class _Block:
    """Some rows of a frame, and where they are in terms.

    `placed` has what gives their places in terms, which blocks of a frame share.
    """

    frame: object
    rows: slice
    kernels: object
    placed: dict
    _places: dict = field(default_factory=dict)
    _curves: dict = field(default_factory=dict)

    def places(self, term):
        """Return the places of the rows in a term of a single column."""
        if term not in self._places:
            if term not in self.placed:
                self.placed[term] = term.placed(self.frame, self.kernels)
            self._places[term] = self.placed[term](self.rows)
        return self._places[term]

    def values(self, term, table):
        """Return the values of the rows in the table of such a term, of shape (k, n)."""
        places = self.places(term)
        if self.kernels is None or places.shares is None:
            return np.array([places.values(row.take) for row in table])
        out = np.empty((len(table), places.columns.size))
        self.kernels.set_values(places.columns, places.shares, table, out)
        return out

    def curve(self, term, curve):
        """Return a bounded curve of such a term, of shape (n,); all its products have the same."""
        if term not in self._curves:
            table = _beyond_the_last(curve.weights[np.newaxis])
            self._curves[term] = curve.bent(self.values(term, table)[0])
        return self._curves[term]


def _beyond_the_last(table):
    """Return a table with one more column, of which no row has anything."""
    return np.pad(table, [(0, 0)] * (table.ndim - 1) + [(0, 1)])


class _Table:
    """A term of a single column, with coefficients of shape (k, n_columns)."""

    def __init__(self, term, coefs):
        self._term, self._values = term, _beyond_the_last(coefs)

    def of(self, block):
        """Return the values of rows, of shape (k, n)."""
        return block.values(self._term, self._values)


class _PairTable:
    """A pair of two terms, with coefficients of all products of their columns."""

    def __init__(self, term, coefs):
        self._first, self._second = term.first, term.second
        table = coefs.reshape(-1, term.first.n_columns, term.second.n_columns)
        table = np.pad(table, [(0, 0), (0, 1), (0, 1)])
        self._width = table.shape[2]
        self._values = table.reshape(len(table), -1)

    def of(self, block):
        """Return the values of rows, of shape (k, n)."""
        first, second = block.places(self._first), block.places(self._second)

        def at(row, columns):
            starts = columns * self._width
            return second.values(lambda others: row.take(starts + others))

        return np.array([first.values(lambda c, row=row: at(row, c)) for row in self._values])


class _ProductTable:
    """A product of two curves, with its coefficient."""

    def __init__(self, term, coefs):
        self._sides = list(zip((term.first, term.second), term.curves, strict=True))
        self._coefs = coefs

    def of(self, block):
        """Return the values of rows, of shape (k, n)."""
        first, second = (block.curve(*side) for side in self._sides)
        return self._coefs * (first * second)


_TABLES = {"pair": _PairTable, "product": _ProductTable}


class LookUp:
    """An additive model of a frame's rows, by look-up.

    `coefs` are those of the columns of a basis, of shape (k, n_columns).
    """

    def __init__(self, basis, coefs, frame):
        parts = zip(basis.terms, basis.slices, strict=True)
        self._tables = [_TABLES.get(t.kind, _Table)(t, coefs[:, part]) for t, part in parts]
        self._n_outputs, self._frame = len(coefs), frame
        self._kernels = kernels_for_terms(frame.n_rows * len(basis.terms))

    def _blocks(self):
        n_rows, placed = self._frame.n_rows, {}
        for start in range(0, n_rows, _ROWS):
            rows = slice(start, min(start + _ROWS, n_rows))
            yield rows, _Block(self._frame, rows, self._kernels, placed)

    @np.errstate(all="ignore")
    def sums(self):
        """Return the sums of the terms, of shape (n, k)."""
        out = np.zeros((self._n_outputs, self._frame.n_rows))
        for rows, block in self._blocks():
            for table in self._tables:
                out[:, rows] += table.of(block)
        return np.ascontiguousarray(out.T)

    @np.errstate(all="ignore")
    def by_term(self):
        """Return the values of each term, of shape (n, n_terms, k)."""
        out = np.empty((self._frame.n_rows, len(self._tables), self._n_outputs))
        for rows, block in self._blocks():
            for j, table in enumerate(self._tables):
                out[rows, j] = table.of(block).T
        return out
