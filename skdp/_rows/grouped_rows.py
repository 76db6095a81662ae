"""Groups of rows in memory, such as all rows of a person: what a group adds is bounded."""

import math

import numpy as np
from scipy.sparse import issparse

from skdp._rows.blocks import block_rows
from skdp._rows.certified_rows import CertifiedRows

# Blocks that one thread adds up.
_JOB = 8
_EXACT_BITS = 53
_UNIT_ROUNDOFF = 2.0**-53


def group_rounding_slack(n_groups, n_columns, n_outputs):
    """Return a relative bound on what rounding adds to the sensitivity of a sum over groups.

    However many rows there are: whole numbers are added, which is exact, so that only a group's own
    bound is computed with an error, of some units per entry. The sum of n_groups is rounded twice
    at the end, and two are compared.
    """
    per_group = 4.0 * (n_columns * n_outputs + 8.0)
    return 2.0 * _UNIT_ROUNDOFF * (per_group + 2.0 * n_groups)


class GroupedRows(CertifiedRows):
    """Certified rows of which each group is a record; a group's part is cut as a whole.

    What a group adds is rounded after it was cut, and whole numbers of grid steps add up exactly.
    And it is computed from the rows of the group alone, to the last bit: by operations that treat
    each row as if there were no other (BLAS doesn't; where it is used, its products and sums are
    whole numbers, so that its order of work doesn't matter). So a group that has more rows, or
    other ones, moves no other group's part, and neither do threads or the order of the groups.
    Of `codes`, the group of each row, all of 0, 1, ... occur. Sums of moments are rounded to the
    grid, too, so that sums over parts of the groups add up exactly.
    """

    n_rows_is_public = False

    def __init__(self, rows, targets, loss, n_jobs=None, *, codes, n_outputs=None):
        super().__init__(rows, targets, loss, n_jobs, n_outputs=n_outputs)
        self.augmented, self.norm = rows.augmented, rows.norm
        self.codes = codes
        sizes = np.bincount(codes)
        # Rows of a group keep their order.
        self.order = np.argsort(codes, kind="stable")
        self.ends = np.concatenate([[0], np.cumsum(sizes)])
        self._n_groups = sizes.size
        self.block_size = block_rows(self.n_columns * self.n_outputs)
        # By row in the order of groups: ``A z``, from `bound_slopes` on.
        self.mapped = None

    def ask(self, query):
        return query.total_of_groups(self)

    def bound_slopes(self, A, bound):
        """Have the sum of a group's ``A z c``, over its rows z with slopes c, cut to a length.

        Rows are mapped here, once for all steps, and returned with those of a group side by side.
        """
        self.bound = bound
        self.mapped, map_rows = np.empty((self.n_rows, self.n_columns)), map_by(A)

        def fill(job):
            for block in self.blocks_of_job(job):
                self.mapped[block] = map_rows(self.augmented(self.order[block]))
            return 0.0

        self.sum_over(fill, self.jobs_of_rows)
        return self.mapped

    def bound_measured_slopes(self, A, bound, measured):
        """Do what `bound_slopes` does, with the mapped rows that it has returned before."""
        self.bound, self.mapped = bound, measured

    @property
    def jobs_of_rows(self):
        """The first row of each job, which is of some blocks of rows."""
        return range(0, self.n_rows, _JOB * self.block_size)

    def blocks_of_job(self, start):
        """Give slices of the rows of each block of a job."""
        end = min(start + _JOB * self.block_size, self.n_rows)
        for first in range(start, end, self.block_size):
            yield slice(first, min(first + self.block_size, end))

    def jobs_of_groups(self):
        """Give lists of blocks: ranges of groups that fit into a block, or one that doesn't."""
        blocks, first = [], 0
        while first < self._n_groups:
            limit = self.ends[first] + self.block_size
            last = max(int(np.searchsorted(self.ends, limit, side="right")) - 1, first + 1)
            blocks.append((first, last))
            first = last
        return [blocks[start : start + _JOB] for start in range(0, len(blocks), _JOB)]


def map_by(A):
    """Return a function that maps vectors, of which none moves a bit of another's product.

    The vectors are the rows of an array, and so are the products; the matrix is symmetric, diagonal
    where it is sparse. Vectors and matrix are cut into whole numbers of two sizes, whose products
    add up exactly: BLAS may take them in any order.
    """
    if issparse(A):
        return lambda vectors: vectors * A.diagonal()
    bits = (_EXACT_BITS - 1 - math.ceil(math.log2(len(A)))) // 2
    of_column, columns, rests = _in_parts(A, bits)

    def mapped(vectors):
        of_vector, coarse, fine = _in_parts(vectors, bits)
        products = coarse @ rests.T
        products += fine @ columns.T
        products = np.ldexp(products, -bits, out=products)
        products += coarse @ columns.T
        return np.ldexp(products, of_vector[:, np.newaxis] + of_column, out=products)

    return mapped


def _in_parts(rows, bits):
    """Return exponents and whole numbers n and m: each row is ``2**e (n + 2**-bits m)``, nearly.

    No number is above 2**bits in size, so that an entry is off by 2**-2bits of the largest.
    """
    exponents = np.frexp(np.abs(rows).max(axis=1))[1] - bits
    scaled = np.ldexp(rows, -exponents[:, np.newaxis])
    whole = np.rint(scaled)
    return exponents, whole, np.rint(np.ldexp(scaled - whole, bits))
