"""Rows in memory as they were read, of which a ball is learnt."""

import numpy as np
from scipy.sparse import issparse

from skdp._rows.blocks import BlockRows
from skdp._rows.bounds import stretch_of
from skdp._rows.fused import kernels_for


class RawRows(BlockRows):
    """Rows x as they were read, with those that are marked as null, which add nothing.

    With `shares`, of shape (n,), rows count by them: where records are groups of rows, a row has a
    part of 1 of as many as its group has rows.
    """

    def __init__(self, X, is_null, n_jobs=None, shares=None):
        # Contributions of groups are cut to a grid, record by record, which no kernel does.
        self.n_rows_is_public = shares is None
        kernels = kernels_for(X) if shares is None else None
        super().__init__(X, X.shape[1], n_jobs, kernels)
        self.is_null, self.shares = is_null, shares
        # Compiled sums keep the last centre and units, and the lengths that rows have from there.
        self._measured = None, None, None

    def stretch(self, shift, radius):
        """Return by how much cancellation makes rounding errors of cut rows larger."""
        return stretch_of(shift, radius) if issparse(self.X) else 1.0

    def compiled_lengths(self, centre, unit):
        """Return the lengths of all rows but null ones from a centre, in units of columns.

        By compiled code, and once: two queries in a row need the same.
        """
        measured = self._measured
        if not (np.array_equal(measured[0], centre) and np.array_equal(measured[1], unit)):
            lengths = np.empty(self.n_rows)

            def measure(chunk, total):
                units = np.asarray(self.X[chunk]), centre, 1.0 / unit, self.is_null[chunk]
                self.kernels.set_lengths(units, lengths[chunk])

            self.sum_chunks(measure, (), float)
            # Copies: an array that is changed in place stays the same object.
            self._measured = centre.copy(), unit.copy(), lengths
        return self._measured[2]
