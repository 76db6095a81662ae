"""What is known of a loss's curvature on mapped rows. Nothing here reads the data."""

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import isotonic_regression
from scipy.special import expit

# Of Gauss and Hermite's rule for the mean over normal scores; and no score varies more than this.
_NODES, _WIDEST = 60, 30.0


class MappedMoment(NamedTuple):
    """The second moment of mapped rows.

    Attributes
    ----------
    moment : ndarray of shape (p, p)
    mean : ndarray of shape (p,)
        Of the mapped rows; zeros without an intercept, as nothing is known of it.
    mass : float
        What the moment says of the number of rows, over that number.
    penalty : ndarray of shape (p, p)
        Curvature of the penalty.
    """

    moment: np.ndarray
    mean: np.ndarray
    mass: float
    penalty: np.ndarray


def map_moment(white, problem, *, with_hidden):
    """Return the released second moment as it is mapped, eigenvalues shrunk.

    The map is the inverse root of moment + hidden + penalty, all of which have its eigenvectors.

    Parameters
    ----------
    white : Whitening
    problem : WhitenedProblem
    with_hidden : bool
        Whether what the noise may hide is added, so that the moment isn't too small anywhere.
    """
    squared = white.A @ white.A
    added = problem.alpha / problem.smoothness + (0.0 if with_hidden else white.noise)
    moment = np.eye(len(squared)) - added * squared
    mean, mass = np.zeros(len(squared)), 0.0
    if problem.bias:
        # Its product with a mapped row is 1.
        one = np.linalg.solve(white.A, np.eye(len(squared))[-1]) / problem.bias
        mass = float(one @ moment @ one)
        if mass > 0.0:
            mean = moment @ one / mass
    return MappedMoment(moment, mean, mass, problem.alpha * squared)


def normal_curvature(mapped, u):
    r"""Return the mean of psi(m) times rows' outer products if scores are normal, and mean psi.

    With psi the derivative of the logistic function. A row is ``a0 + a1 t + e``, in which its score
    ``m + s t`` has a standard normal t, and e is uncorrelated with it. If e is independent of t,

    .. math:: E \psi z z^\top = E\psi\, (\Sigma - a_1 a_1^\top)
              + \sum_{j, k \in \{0, 1\}} E[\psi t^{j + k}]\, a_j a_k^\top

    (Stein's formula), where Sigma is the covariance.
    """
    along = mapped.moment @ u - mapped.mass * float(mapped.mean @ u) * mapped.mean
    spread = math.sqrt(max(float(u @ along), 1e-300))
    nodes, masses = _RULE
    psi = masses * _psi(float(mapped.mean @ u) + min(spread, _WIDEST) * nodes)
    zeroth, first, second = psi.sum(), psi @ nodes, psi @ nodes**2
    a1 = along / spread
    mixed = np.outer(mapped.mean, a1)
    curvature = zeroth * mapped.moment + first * (mixed + mixed.T)
    curvature += (second - zeroth) * np.outer(a1, a1)
    return curvature, float(zeroth)


def _psi(m):
    return expit(m) * expit(-m)


def _normal_rule(n_nodes):
    nodes, masses = np.polynomial.hermite_e.hermegauss(n_nodes)
    return nodes, masses / masses.sum()


_RULE = _normal_rule(_NODES)


def follow(noisy, expected, noise, least_share):
    r"""Return what was expected, moved to a noisy symmetric matrix as far as that is believed.

    The difference D of the two has the clean difference plus noise. Along each eigenvector of D
    the clean one is expected to have what `shrink` has it, without a sign (Ledoit and Peche 2011).

    Parameters
    ----------
    noisy, expected : ndarray of shape (p, p)
    noise : float
        Standard deviation of the noise of a diagonal entry; 1 / sqrt(2) of it elsewhere.
    least_share : float
        An eigenvalue is raised to this share of what was expected.

    Returns
    -------
    matrix : ndarray of shape (p, p)
        Positive definite wherever `expected` is.
    """
    if noise == 0.0:
        return noisy
    difference = noisy - expected
    if not np.isfinite(difference).all():
        return np.full(difference.shape, np.nan)
    values, vectors = eigh(difference)
    radius = noise * math.sqrt(values.size / 2.0)
    gaps = (values[:, np.newaxis] - values) / radius
    pull = (gaps / (gaps**2 + 1.0 / values.size)).sum(axis=1)
    moved = isotonic_regression(values - 2.0 * radius / values.size * pull).x
    found, directions = eigh(expected + (vectors * moved) @ vectors.T)
    least = least_share * np.einsum("ji,jk,ki->i", directions, expected, directions)
    return (directions * np.maximum(found, least)) @ directions.T


def inverse_of(curvature):
    """Return the inverse of a released curvature, or what is no number where there is none."""
    try:
        return np.linalg.inv(curvature)
    except np.linalg.LinAlgError:
        return np.full(curvature.shape, np.nan)
