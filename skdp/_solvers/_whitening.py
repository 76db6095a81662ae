"""From a released second moment to a map that whitens rows. Nothing here reads the data."""

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import isotonic_regression
from scipy.sparse import dia_array

# Share of the largest possible trace below which no released trace is believed.
_LEAST_TRACE = 0.01


class Whitening(NamedTuple):
    """A map of rows under which their second moment is about the identity where it is known.

    Attributes
    ----------
    A : ndarray of shape (p, p), or diagonal sparse array
        The map, symmetric; diagonal without a moment, where there may be many columns.
    signal : ndarray of shape (p,)
        By eigenvector of the moment: the share of the mapped rows' second moment, as it is allowed
        for, that is expected to be there.
    scale : ndarray of shape (p,)
        What the moment is allowed to be by eigenvector: its root divides the rows.
    noise : float
        Half of the largest eigenvalue that noise alone is expected to give the moment.
    stretch : float
        By how much the map makes one direction longer than another, at most.
    """

    A: np.ndarray
    signal: np.ndarray
    scale: np.ndarray
    noise: float
    stretch: float

    @property
    def effective_columns(self):
        """How many columns the mapped rows are expected to fill."""
        return float(self.signal.sum())


def whiten(moment, plan):
    """Return the map for a released second moment.

    The eigenvalues l of the moment are moved to what they are expected to be without noise, and
    what the noise hides, tau, is added, so that no direction is stretched by more than is known:
    the map is ``V (theta + tau + a)^(-1/2) V'``, with `a` the penalty's part of the curvature.

    Parameters
    ----------
    moment : ndarray of shape (p, p), or None
        The mean of outer products; None if it wasn't bought, and then rows are divided by their
        bound.
    plan : WhitenedPlan
    """
    problem = plan.problem
    largest = problem.row_norm**2
    penalty = problem.alpha / problem.smoothness
    if moment is None:
        scale = np.full(problem.n_columns, largest + penalty)
        diagonal = scale[np.newaxis] ** -0.5
        A = dia_array((diagonal, [0]), shape=(scale.size, scale.size))
        return Whitening(A, np.full(scale.size, 1.0 / scale.size), scale, 0.0, 1.0)
    values, vectors = eigh(moment)
    if not plan.budget.is_private:
        signal = np.maximum(values, 0.0)
        hidden = values.size * max(values[-1], 1e-300) * 2.0**-50
    else:
        spread = plan.moment_mechanism.noise_std / problem.n_rows
        hidden = spread * math.sqrt(values.size / 2.0)
        signal = shrink(values, hidden)
        # Every row has the intercept's constant, and none is longer than its bound.
        trace = max(values.sum(), problem.bias**2, _LEAST_TRACE * largest)
        trace = min(trace, largest)
        total = signal.sum()
        signal = (
            signal * (trace / total) if total > 0.0 else np.full(values.size, trace / values.size)
        )
    scale = signal + hidden + penalty
    A = (vectors / np.sqrt(scale)) @ vectors.T
    # Lengths of rows and sums of rows are taken with the same matrix, to the last bit.
    A = 0.5 * (A + A.T)
    stretch = math.sqrt((largest + hidden + penalty) / (hidden + penalty))
    return Whitening(A, signal / scale, scale, hidden, stretch)


def shrink(values, noise):
    r"""Return what eigenvalues of a noisy symmetric matrix are expected to be without the noise.

    The noise G has independent entries of variance :math:`\tau^2 / p`, off the diagonal, and twice
    that on it, so its own eigenvalues fill :math:`[-2 \tau, 2 \tau]`. Along the i-th eigenvector of
    the noisy matrix the clean one is expected to have

    .. math:: l_i - \frac{2 \tau^2}{p} \sum_j \frac{l_i - l_j}{(l_i - l_j)^2 + \tau^2 / p}

    (Ledoit and Peche 2011 for additive noise; the Cauchy kernel smooths the Hilbert transform of
    the eigenvalues' density). The results are made to rise and not to be negative.

    Parameters
    ----------
    values : ndarray of shape (p,)
        Rising.
    noise : float
        The standard deviation tau, above 0.
    """
    gaps = (values[:, np.newaxis] - values) / noise
    pull = (gaps / (gaps**2 + 1.0 / values.size)).sum(axis=1)
    moved = values - 2.0 * noise / values.size * pull
    return np.maximum(isotonic_regression(moved).x, 0.0)
