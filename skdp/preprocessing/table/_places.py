"""Where rows are in a term of a table: a row has at most two of the term's columns."""

from typing import NamedTuple

import numpy as np

# To count all of so many numbers takes less than to search them.
_FEW = 64


class Places(NamedTuple):
    """A column of a term for each row, and what the row has in it, and in the column after it.

    These are the two rows of `shares`, or 1 and 0 without any.
    """

    columns: np.ndarray
    shares: np.ndarray | None = None

    def fill(self, out):
        """Write what rows have to an array of zeros that is for the columns of the term."""
        rows = np.arange(self.columns.size)
        if self.shares is None:
            out[rows, self.columns] = 1.0
            return
        # After the last column there is none, and what a row has of it is 0.
        out[rows, np.minimum(self.columns + 1, out.shape[1] - 1)] = self.shares[1]
        out[rows, self.columns] = self.shares[0]

    def codes(self, form, n_columns):
        """Return the columns in which rows aren't 0 and what they have there, both of shape (n, k).

        For the forms see `CodedRows`. Of a hat the first of its two columns is returned, and the
        share of the second; of ones the columns and None.
        """
        columns = self.columns[:, np.newaxis]
        if form == "ones":
            return columns, None
        own, others = self.shares
        if form == "others":
            return columns, own[:, np.newaxis]
        # After the last column there is none: the hat is then whole in its second column.
        is_last = columns == n_columns - 1
        if not is_last.any():
            return columns, others[:, np.newaxis]
        return columns - is_last, np.where(is_last, 1.0, others[:, np.newaxis])

    def moved(self, is_moved, column):
        """Return places of which some are one column alone."""
        if not is_moved.any():
            return self
        shares = self.shares
        if shares is not None:
            shares = np.where(is_moved, [[1.0], [0.0]], shares)
        return Places(np.where(is_moved, column, self.columns), shares)

    def values(self, at):
        """Return what rows have times values, which a function gives of columns.

        It is asked for columns after the last one, too, of which no row has anything.
        """
        if self.shares is None:
            return at(self.columns)
        own, others = self.shares
        return at(self.columns) * own + at(self.columns + 1) * others


def entries_of(form, columns, numbers):
    """Return the columns in which rows aren't 0, and their entries there, from their codes."""
    if form == "ones":
        return columns, np.ones(columns.shape)
    if form == "hats":
        return np.hstack([columns, columns + 1]), np.hstack([1.0 - numbers, numbers])
    return columns, numbers


def count_up_to(numbers, x):
    """Return how many of sorted numbers are up to each entry of x."""
    if numbers.size > _FEW:
        return np.searchsorted(numbers, x, side="right")
    counts = np.zeros(x.size, dtype=np.int8)
    for number in numbers.tolist():
        counts += (x >= number).view(np.int8)
    return counts.astype(np.intp)
