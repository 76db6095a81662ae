"""Rows in memory as they were read, of which a ball is learnt."""

import numpy as np

from skdp._rows.blocks import BlockRows
from skdp._rows.bounds import stretch_of
from skdp._rows.coded_rows import CodedRows, is_sparse
from skdp._rows.fused import kernels_for, kernels_for_entries, units_of


class RawRows(BlockRows):
    """Rows x as they were read, with those that are marked as null, which add nothing.

    With `shares`, of shape (n,), rows count by them: where records are groups of rows, a row has a
    part of 1 of as many as its group has rows.
    """

    def __init__(self, X, is_null, n_jobs=None, shares=None):
        # Contributions of groups are cut to a grid, record by record, which no kernel does.
        self.n_rows_is_public = shares is None
        find = kernels_for_entries if isinstance(X, CodedRows) else kernels_for
        kernels = find(X) if shares is None else None
        super().__init__(X, X.shape[1], n_jobs, kernels)
        self.is_null, self.shares = is_null, shares
        # Compiled sums keep the last centre and units, and the lengths that rows have from there.
        self._measured = None, None, None

    def stretch(self, shift, radius):
        """Return by how much cancellation makes rounding errors of cut rows larger."""
        return stretch_of(shift, radius) if is_sparse(self.X) else 1.0

    def compiled_lengths(self, centre, unit):
        """Return the lengths of all rows but null ones from a centre, in units of columns.

        By compiled code, and once: two queries in a row need the same. None where nothing is
        compiled, and of rows of codes in other units than their own.
        """
        is_coded = isinstance(self.X, CodedRows)
        if self.kernels is None or (is_coded and (unit != 1.0).any()):
            return None
        measured = self._measured
        if not (np.array_equal(measured[0], centre) and np.array_equal(measured[1], unit)):
            lengths = np.empty(self.n_rows)

            def measure(chunk, total):
                if is_coded:
                    lengths[chunk] = self.X.lengths_from(centre, chunk)
                    return
                units = np.asarray(self.X[chunk]), centre, 1.0 / unit, self.is_null[chunk]
                self.kernels.set_lengths(units, lengths[chunk])

            self.sum_chunks(measure, (), float)
            # Copies: an array that is changed in place stays the same object.
            self._measured = centre.copy(), unit.copy(), lengths
        return self._measured[2]

    def add_cut(self, chunk, centre, unit, factors, total):
        """Add rows of a chunk, from a centre and in units of columns, times a factor each.

        By compiled code, where `compiled_lengths` does the same.
        """
        if isinstance(self.X, CodedRows):
            self.kernels.add_rows(self.rows_of_block, units_of(self.X, chunk), factors, total)
            total -= centre * factors.sum()
            return
        units = np.asarray(self.X[chunk]), centre, 1.0 / unit, factors == 0.0
        self.kernels.add_moved(self.block_size, units, factors, total)
