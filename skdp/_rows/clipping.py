"""From raw contributions to bounded ones."""

from math import isfinite, isinf

import numpy as np

# Squares of smaller numbers lose digits to underflow.
_SHORTEST = 1e-150


def clip_contributions(contributions, row_norm, bound, weights=None):
    """Scale each record's vector of updates so that it moves the released sum by at most `bound`.

    Record i contributes the outer product of ``contributions[i]``, times its weight, and its row,
    whose norm is ``||contributions[i]|| row_norm[i]``. Contributions, of shape (n,) or (n, k), are
    scaled in place, outputs together, and returned. What overflowed becomes 0, and so do several
    outputs that are too short together to be measured. A record of norm 0 gets the zero vector,
    whatever the bound. Under an infinite bound nothing is scaled. Weights multiply before anything
    is cut, so that the bound holds whatever they are.
    """
    if weights is not None:
        contributions *= weights if contributions.ndim == 1 else weights[:, np.newaxis]
    if np.count_nonzero(row_norm) < row_norm.size:
        contributions[row_norm == 0.0] = 0.0
    if isinf(bound):
        return contributions
    if contributions.ndim == 1:
        factor = np.abs(contributions)
    else:
        factor = np.sqrt(np.einsum("ij,ij->i", contributions, contributions))
        # Rows may be so long that these would count.
        contributions[factor < _SHORTEST] = 0.0
    factor *= row_norm
    np.maximum(factor, bound, out=factor)
    np.divide(bound, factor, out=factor)
    contributions *= factor if contributions.ndim == 1 else factor[:, np.newaxis]
    every = contributions.ravel()
    if not isfinite(every.dot(every)):
        contributions[~np.isfinite(contributions)] = 0.0
    return contributions


def joint_reach(norm):
    """Return the factor by which clipping bounds both a row's dual update and what it adds to v."""
    return np.where(norm > 0.0, np.maximum(norm, 1.0), 0.0)


def check_rebound(before, bound):
    """Refuse another bound on slopes that isn't finite where the one before was, or the reverse.

    Without a bound no row was measured.
    """
    if isinf(before) != isinf(bound):
        raise ValueError("a bound on slopes is finite or not for the whole of a fit.")
