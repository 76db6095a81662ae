"""How strongly to regularise a model of noisy sums: from public rows and released numbers only."""

import numpy as np
from scipy.linalg import eigh

from skdp._losses import class_probabilities

# Weights are expected to fall with the square root of the curvature of their direction.
PRIOR_POWER = 0.5
_LOG_SIGNALS = np.linspace(-15.0, 15.0, 121)
_N_ALPHAS = 241


def expected_losses(public, means, noise_cov, w, alphas=None):
    r"""Return strengths of regularisation and the loss that each is expected to cost.

    Near its optimum the objective is a quadratic of curvature H. In an eigenvector of H of
    eigenvalue h, the released means are off by noise of a known variance v (that of the release,
    and h / n of the labels themselves), so that with weight u the excess loss is expected to be
    :math:`\frac{1}{2} h (v + \alpha^2 u^2) / (h + \alpha)^2`. The sizes of the weights are taken
    from a normal distribution of variance :math:`\tau^2 h^{-1/2}`, where :math:`\tau` makes the
    released means likeliest. doc/theory/walr.rst derives and measures this.

    Parameters
    ----------
    public : PublicRows
    means : ndarray of shape (k, d)
    noise_cov : ndarray of shape (d, d)
        Of the means of each class.
    w : ndarray of shape (k, d)
        Where the curvature is taken: weights that follow from the release.
    alphas : ndarray, default=None
        None: a grid.

    Returns
    -------
    alphas, losses : ndarray
    """
    p = class_probabilities(public.scores(w))
    gaps = means - public.sums(p) / public.n_rows
    curvatures = (public.weighted_moment(of_class * (1.0 - of_class)) for of_class in p.T)
    parts = [
        directions(curvature, gap, noise_cov, weights, public.bias)
        for curvature, gap, weights in zip(curvatures, gaps, w, strict=True)
    ]
    h, r, v = (np.concatenate(values) for values in zip(*parts, strict=True))
    v += h / public.n_rows
    seen = h > 1e-12 * h.max(initial=0.0)
    h, r, v = h[seen], r[seen], v[seen]
    if not h.size:
        alphas = np.ones(1) if alphas is None else alphas
        return alphas, np.zeros(alphas.shape)
    typical = h.mean()
    if alphas is None:
        alphas = np.geomspace(min(1e-8 * typical, 1e-2 * h.min()), 1e3 * h.max(), _N_ALPHAS)
    sizes = (h / typical) ** -PRIOR_POWER / typical
    squares = sizes * np.exp(_LOG_SIGNALS)[:, np.newaxis]
    spread = squares * h**2 + v
    likely = (np.log(spread) + r**2 / spread).sum(axis=1).argmin()
    return alphas, excess_losses(h, v, squares[likely], alphas)


def excess_losses(h, v, squares, alphas):
    """Return the loss that each strength costs along directions, see `expected_losses`.

    Parameters
    ----------
    h, v, squares : ndarray of shape (d,), or numbers
        Curvatures, variances of the means and expected squares of the weights.
    alphas : ndarray
    """
    column = alphas[:, np.newaxis]
    return 0.5 * (h * (v + column**2 * squares) / (h + column) ** 2).sum(axis=1)


def best_alpha(public, means, noise_cov, w):
    """Return the strength of regularisation that is expected to cost least."""
    alphas, losses = expected_losses(public, means, noise_cov, w)
    return float(np.clip(alphas[losses.argmin()], 1e-300, 1e300))


def penalties(alpha, n_columns, bias):
    """Return the strength of the L2 penalty for each column: none for the intercept's."""
    strengths = np.full(n_columns, alpha)
    if bias:
        strengths[-1] = 0.0
    return strengths


def directions(curvature, gap, noise_cov, weights, bias):
    """Return curvature, response and noise variance by eigenvector of the curvature of a class.

    The intercept, which isn't penalised, follows the other weights: its row and column are
    eliminated.
    """
    if bias:
        along = curvature[:-1, -1] / max(curvature[-1, -1], 1e-300)
        curvature = curvature[:-1, :-1] - np.multiply.outer(along, curvature[-1, :-1])
        gap = gap[:-1] - along * gap[-1]
        weights = weights[:-1]
        eliminate = np.hstack([np.eye(along.size), -along[:, np.newaxis]])
        noise_cov = eliminate @ noise_cov @ eliminate.T
    h, vectors = eigh(curvature)
    h = np.maximum(h, 0.0)
    response = vectors.T @ gap + h * (vectors.T @ weights)
    noise = (vectors * (noise_cov @ vectors)).sum(axis=0)
    return h, response, np.maximum(noise, 0.0)
