"""Sums over rows that standard errors need."""

from math import isinf

import numpy as np

from skdp._bounds import row_norms
from skdp._clipping import clip_contributions
from skdp._mechanisms import as_vector
from skdp.linear_model.whitened._row_sums import RowSums

# Squares of smaller lengths have few digits.
_SHORTEST = 1e-150
# What clipping takes from a row counts up to this share of the bound.
LOST = 0.25


class InferenceSums(RowSums):
    """Sums over rows of one output, and those of their weights; see `RowSums`.

    What is asked of weights is asked at slopes that `bound_slopes` has cut.

    Parameters
    ----------
    model : SandwichCovariance or Logistic
    *args, **others
        See `RowSums`.
    """

    def __init__(self, model, *args, **others):
        super().__init__(*args, **others)
        self._model = model

    def means(self, w, mechanism):
        """Return the sums of two numbers in [0, 1]: of rows' shares, and of what clipping took.

        The second is over `LOST` times the bound, and 1 from there on.

        Parameters
        ----------
        w : ndarray of shape (p, 1)
            Weights of the mapped rows.
        mechanism : GaussianMechanism
            Of two numbers, or of the first alone.
        """
        return self._sum(
            self._add_means,
            (2,),
            lambda sums: mechanism.rounded(sums[: mechanism.size]),
            w,
        )

    def matrix(self, w, bound, mechanism):
        """Return the sum of weights times outer products of mapped rows, by `as_vector`.

        Parameters
        ----------
        w : ndarray of shape (p, 1)
            Weights of the mapped rows.
        bound : float
            Of each term's trace: a row's weight is cut to it.
        mechanism : GaussianMechanism
            Whose grid the sums of groups are rounded to.
        """
        shape = (self.n_columns, self.n_columns)
        return self._sum(
            self._add_matrix, shape, lambda total: mechanism.rounded(as_vector(total)), w, bound
        )

    def _weigh(self, block, predictions):
        """Return a block's slopes as they are and cut, and weights, which null records lack."""
        slopes = self._loss.gradient(self._targets[block], predictions)
        cut = clip_contributions(slopes.copy(), self._lengths[block], self._bound)
        weights = self._model.weights(cut, predictions)
        weights[(self._lengths[block] == 0.0) | ~np.isfinite(weights)] = 0.0
        return slopes, weights

    def _add_means(self, block, x, scale, total, w):
        predictions = self._products(x, scale, (self._A @ w)[:, 0])
        slopes, weights = self._weigh(block, predictions)
        lengths = self._lengths[block]
        unit = 1.0 if isinf(self._bound) else self._bound
        shares = self._model.shares(weights, lengths, unit)
        # What overflowed to no number counts as the most.
        total[0] += np.fmin(shares, 1.0).sum()
        lost = (np.abs(slopes) * lengths / self._bound - 1.0) / LOST
        total[1] += np.fmin(np.maximum(lost, 0.0), 1.0)[lengths > 0.0].sum()

    def _add_matrix(self, block, x, scale, total, w, bound):
        predictions = self._products(x, scale, (self._A @ w)[:, 0])
        weights = self._weigh(block, predictions)[1]
        mapped = self._products(x, scale, self._A)
        lengths = row_norms(mapped)
        if not isinf(bound):
            # Rows that overflow have no length, and add nothing.
            lost = ~np.isfinite(lengths)
            mapped[lost], lengths[lost] = 0.0, 0.0
            np.minimum(weights, bound / np.maximum(lengths, _SHORTEST) ** 2, out=weights)
        mapped *= np.sqrt(weights)[:, np.newaxis]
        total += mapped.T @ mapped
