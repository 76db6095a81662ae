"""Certified rows in memory, with their targets and a loss."""

from math import isinf

import numpy as np
from scipy.sparse import issparse

from skdp._families.weights import joint_weights
from skdp._release.mechanisms import as_vector
from skdp._rows.batches import squeezed
from skdp._rows.blocks import BlockRows
from skdp._rows.bounds import SMALLEST_NORM, row_norms
from skdp._rows.clipping import check_rebound
from skdp._rows.coded_rows import CodedRows, is_sparse
from skdp._rows.fused import kernels_for, kernels_for_entries, units_of

# Lengths are measured in single precision where their slack, for a row as long as the intercept's
# constant, is this share of the bound of slopes at most: rows are a few times as long, and a slope
# whose row seems longer by a thousandth is cut by a thousandth more.
_LARGEST_SINGLE_SLACK = 2.0**-10
# A bound of the errors of such products is proven for up to so many columns.
_MOST_SINGLE_COLUMNS = 2**12


class CertifiedRows(BlockRows):
    """Certified rows z, n of p columns, the intercept's included, with their targets and a loss.

    A row's clipping factor multiplies what is computed from the row, not its entries. Null records,
    whose norm is 0, add nothing. `weights`, of shape (n,), are what records count; None is 1 for
    all. Slopes are multiplied by `slope_weights` before they are cut: by these weights, times those
    that rows have in their ball. For `inference` they are squared, as weights are in the second
    moment, which is then that of the curvature. A row has `n_outputs` predictions; None is one for
    each column of targets.
    """

    def __init__(
        self, rows, targets, loss, n_jobs=None, weights=None, *, inference=False, n_outputs=None
    ):
        kernels = (kernels_for_entries if is_sparse(rows.X) else kernels_for)(rows.X)
        has_slopes = targets.shape[1] == 1 and kernels is not None and loss.name in kernels.LOSSES
        self.slopes_are_compiled, self.are_coded = has_slopes, isinstance(rows.X, CodedRows)
        # All other sums over rows of codes are compiled, too.
        kernels = kernels if has_slopes or self.are_coded else None
        X = rows.X if kernels is not None else getattr(rows.X, "in_memory", rows.X)
        super().__init__(X, rows.n_columns, n_jobs, kernels=kernels)
        self.scale, self.bias, self.shift = rows.scale, rows.bias, rows.shift
        self.targets, self.loss = squeezed(targets), loss
        self.record_weights, self.ball_weights = weights, rows.weight
        self.slope_weights = joint_weights(weights, rows.weight)
        if inference and self.slope_weights is not None:
            self.slope_weights = self.slope_weights**2
        self._infers = inference
        norm = rows.norm
        self.is_null = norm == 0.0 if np.count_nonzero(norm) < norm.size else None
        self.A, self.lengths, self.bound = None, norm, np.inf
        self.n_outputs = targets.shape[1] if n_outputs is None else n_outputs

    @property
    def slope_bound(self):
        """What slopes are cut to, see `bound_slopes`."""
        return float(self.bound)

    def bound_slopes(self, A, bound):
        """Have the slopes of a row z cut so that ``||A z||`` times their length is within a bound.

        A, of shape (p, p), is symmetric; diagonal where it is sparse. Returns ``||A z||`` of each
        row, with an infinite bound anything. Of a row that is too short to be measured it is 0, so
        that the row adds nothing.
        """
        self.A, self.bound = A, np.array(bound)
        if isinf(bound):
            return self.lengths
        if issparse(A):
            # Rows get no longer than the largest entry makes them.
            self.lengths = self.lengths * np.abs(A.diagonal()).max()
        else:
            norm, self.lengths = self.lengths, np.empty(self.lengths.shape)
            size, slack = float(np.linalg.norm(A)), single_slack(len(A))
            if self.kernels is None:
                self.sum_blocks(self._set_lengths, (), float, A)
            elif self._may_be_single(size * slack, bound):
                single = (A / size).astype(np.float32)
                self.sum_chunks(self._measure_in_single, (), float, norm, single, size, slack)
            else:
                self.sum_chunks(self._measure, (), float, np.ascontiguousarray(A))
            if self.is_null is not None:
                self.lengths[self.is_null] = 0.0
        self.lengths[self.lengths < SMALLEST_NORM] = 0.0
        return self.lengths

    def bound_measured_slopes(self, A, bound, measured):
        """Do what `bound_slopes` does, for rows of which it has returned `measured` before."""
        self.A, self.bound, self.lengths = A, np.array(bound), measured

    def rebound_slopes(self, bound):
        """Have slopes cut to another bound, by the same A."""
        check_rebound(self.slope_bound, bound)
        self.bound = np.array(bound)

    def shorten(self, longest):
        """Have no row count as one whose mapped length, times its weight, is more."""
        lengths = np.fmax(self.ball_weights * self.lengths, longest)
        self.slope_weights = self.slope_weights * np.square(longest / lengths)

    def _set_lengths(self, block, x, scale, total, A):
        self.lengths[block] = row_norms(self.products(x, scale, A))

    def _measure(self, chunk, total, A):
        """Put what `_set_lengths` does, of a chunk of rows."""
        lengths = self.lengths[chunk]
        scale = np.ones(lengths.size) if self.scale is None else self.scale[chunk]
        constant = self.constant(A) if is_sparse(self.X) else self.bias
        self.kernels.set_mapped_lengths(units_of(self.X, chunk), scale, constant, A, lengths)

    def _may_be_single(self, slack, bound):
        """Return whether lengths with a slack, for a row as long as 1, are good enough."""
        is_dense = not is_sparse(self.X) and not self._infers
        is_close = 0.0 < slack * self.bias <= _LARGEST_SINGLE_SLACK * bound
        return is_dense and is_close and self.n_columns <= _MOST_SINGLE_COLUMNS

    def _measure_in_single(self, chunk, total, norm, A, size, slack):
        """Put upper bounds of what `_measure` puts, by products in single precision."""
        lengths = self.lengths[chunk]
        scale = np.ones(lengths.size) if self.scale is None else self.scale[chunk]
        of_rows = units_of(self.X, chunk), scale, self.bias, norm[chunk]
        self.kernels.set_single_lengths(*of_rows, A, size, slack, lengths)

    def counted_rows(self, block):
        """Return dense rows of a block, augmented, times what they count in the second moment.

        By compiled code. Null records are zeros.
        """
        constants = np.ones(block.stop - block.start)
        if self.is_null is not None:
            constants[self.is_null[block]] = 0.0
        if self.ball_weights is not None:
            constants *= self.ball_weights[block]
        factors = constants if self.scale is None else constants * self.scale[block]
        rows = np.empty((constants.size, self.n_columns))
        self.kernels.put_counted_rows(units_of(self.X, block), factors, self.bias * constants, rows)
        return rows

    def products(self, x, scale, w):
        """Return the rows of a block times w."""
        products = x @ w[: x.shape[1]]
        if scale is not None:
            products *= scale if products.ndim == 1 else scale[:, np.newaxis]
        if self.bias:
            products += self.bias * w[-1]
        if self.shift is not None:
            products -= self.shift @ w[: x.shape[1]]
        return products

    def constant(self, w):
        """Return what all rows have beside the products of their entries with w."""
        constant = self.bias * w[-1] if self.bias else np.zeros_like(w[-1])
        return constant if self.shift is None else constant - self.shift @ w[: self.shift.size]

    def shifted(self, total):
        """Return a sum over rows, augmented, as if what is to be taken off of them had been."""
        if self.shift is not None:
            total[:-1] -= np.multiply.outer(self.shift, total[-1] / self.bias)
        return total

    def sum_of_squares(self, add, mechanism, *args):
        """Return the sum over chunks of symmetric matrices, by `as_vector`."""
        return self.sum_blocks(add, *self._of_squares(mechanism), *args)

    def sum_of_counted_squares(self, add_chunk, mechanism):
        """Return the same of sums that are added chunk by chunk."""
        return self.sum_chunks(add_chunk, *self._of_squares(mechanism))

    def sum_of_coded_squares(self, add_chunk, mechanism):
        """Return the same of sums that add products of two columns at one of their two places."""
        shape, finish = self._of_squares(mechanism)

        def finish_both(total):
            return finish(total + total.T - np.diag(total.diagonal()))

        return self.sum_chunks(add_chunk, shape, finish_both)

    def _of_squares(self, mechanism):
        """Return the shape of a sum of symmetric matrices, and what finishes it."""

        def finish(total):
            return mechanism.rounded(as_vector(self.shifted(self.shifted(total).T)))

        return (self.n_columns, self.n_columns), finish


def single_slack(n_columns):
    """Return a bound on the errors of a product of a unit vector with a matrix of the size 1.

    The product is of numbers in single precision, and so are the vector and the matrix, which were
    rounded to it; the size is the root of the sum of all squares. The proof is in the
    documentation, "theory/whitening", "Rounding".
    """
    return (1.01 * n_columns + 4.0) * 2.0**-24
