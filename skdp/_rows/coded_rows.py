"""Rows of a basis as codes: the columns in which a row has something, as narrow numbers."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, issparse

from skdp._rows.fused import kernels_of_codes

# Columns have such numbers.
CODE = np.uint16
MOST_COLUMNS = np.iinfo(CODE).max + 1
# SciPy's sparse rows of more entries have longer indices.
_MOST_ENTRIES = np.iinfo(np.int32).max
_FORMS = "hats", "ones", "others"
_UNIT_ROUNDOFF = 2.0**-53


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows of which each has as many entries as the others, n of d columns.

    A row has three kinds of entries. Of `hats`, of shape (n, h), each is a column in which the row
    has 1 less a share, and it has that of `shares` in the next column. In the columns `ones` it has
    1, and in the `others` the `entries`. Entries are at most 1 in size, so that lengths never
    overflow, and no column occurs twice in a row. `places`, of shape (m,), are those of all entries
    in a row, in order of its columns: of both entries of each hat, of the ones and of the others.
    Rows have `n_parts` parts, and `parts` tells of each hat, one and other in which it is.

    Sums over them are compiled. By an index they give rows in SciPy's form, for other sums.
    """

    format = "coded"

    n_columns: int
    hats: np.ndarray
    shares: np.ndarray
    ones: np.ndarray
    others: np.ndarray
    entries: np.ndarray
    places: np.ndarray
    parts: np.ndarray
    n_parts: int

    @classmethod
    def empty(cls, n_rows, n_columns, layout):
        """Return rows to be filled, and for each part of them where its columns and numbers go.

        Parts are in order of their columns. The `layout` has the form of each, "hats", "ones" or
        "others", and how many entries it has, of which a hat has two. Numbers are shares of hats
        and entries of others.
        """
        places, parts = ({form: [] for form in _FORMS} for _ in range(2))
        found, n_entries = [], 0
        for part, (form, size) in enumerate(layout):
            places[form] += range(n_entries, n_entries + size)
            first = len(parts[form])
            parts[form] += [part] * (size // 2 if form == "hats" else size)
            found.append((form, slice(first, len(parts[form]))))
            n_entries += size
        of_codes = {f: np.empty((n_rows, len(parts[f])), CODE) for f in _FORMS}
        of_numbers = {f: np.empty(of_codes[f].shape) for f in _FORMS if f != "ones"}
        rows = cls(
            n_columns=n_columns,
            hats=of_codes["hats"],
            shares=of_numbers["hats"],
            ones=of_codes["ones"],
            others=of_codes["others"],
            entries=of_numbers["others"],
            places=np.array([place for form in _FORMS for place in places[form]], np.int64),
            parts=np.array([part for form in _FORMS for part in parts[form]], np.int64),
            n_parts=len(layout),
        )
        room = [
            (of_codes[form][:, part], None if form == "ones" else of_numbers[form][:, part])
            for form, part in found
        ]
        return rows, room

    def sealed(self):
        """Return these rows, of which nothing can be written to from now on."""
        for array in self.arrays:
            array.flags.writeable = False
        return self

    @property
    def shape(self):
        """Numbers of rows and of columns."""
        return len(self.hats), self.n_columns

    @property
    def dtype(self):
        """Type of the entries."""
        return self.entries.dtype

    @property
    def arrays(self):
        """The arrays that have a row for each row."""
        return self.hats, self.shares, self.ones, self.others, self.entries

    def units(self, rows):
        """Return some rows as compiled sums take them."""
        return tuple(array[rows] for array in self.arrays)

    def __getitem__(self, rows):
        """Return some rows as a CSR array."""
        units = self.units(rows)
        n_rows, n_entries = len(units[0]), len(self.places)
        index = np.int32 if n_rows * n_entries <= _MOST_ENTRIES else np.int64
        columns = np.empty((n_rows, n_entries), dtype=index)
        entries = np.empty(columns.shape)
        _kernels().put_entries(units, self.places, columns, entries)
        ends = np.arange(0, columns.size + 1, n_entries, dtype=index)
        return csr_array((entries.ravel(), columns.ravel(), ends), shape=(n_rows, self.n_columns))

    def __matmul__(self, weights):
        """Return the products of rows with weights of shape (d,)."""
        out = np.empty(self.shape[0])
        weights = np.array(weights, dtype=np.float64)
        _kernels().set_products(self.units(slice(None)), weights, out)
        return out

    def sums_by_part(self, weights, rows=slice(None)):
        """Return the products of the parts of some rows with weights of shape (d,).

        They have the bits of sums over all columns of a part, one after another.
        """
        units = self.units(rows)
        out = np.zeros((len(units[0]), self.n_parts))
        _kernels().add_by_part(units, self.parts, np.array(weights, np.float64), out)
        return out

    def lengths_from(self, shift, rows=slice(None)):
        """Return distances of some rows from a point, with a bound of rounding errors added.

        Those from 0 have none.
        """
        units = self.units(rows)
        out = np.empty(len(units[0]))
        of_shift = float(np.linalg.norm(shift))
        slack = 4.0 * _UNIT_ROUNDOFF * (shift.size + 8.0) if of_shift else 0.0
        _kernels().set_lengths(units, np.array(shift, np.float64), of_shift, slack, out)
        return out


def _kernels():
    return kernels_of_codes()[0]


def is_sparse(X):
    """Return whether rows are given by entries, as SciPy's are or as codes."""
    return issparse(X) or isinstance(X, CodedRows)
