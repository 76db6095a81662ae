r"""Releases of sums by label, and what is known of their noise before: functions of public rows.

A design is made before any label is seen and tells how large the noise will be; of several the one
is run whose noise is expected to cost least.

Gaussian noise suits the rows. A flipped label moves the sum of rows by one row. After a linear map
A it moves it by A times that row, so the release of :math:`A s` needs noise for the longest mapped
row only, and mapping back gives s with noise of covariance :math:`\sigma^2 (A^\top A)^{-1}`. Of all
A with mapped rows in the unit ball, the best for a model whose loss rises by
:math:`\frac{1}{2} e^\top M e` for an error e of the sum minimises
:math:`\mathrm{tr}(M (A^\top A)^{-1})`: an optimal design. With weights u on the rows and
:math:`S = \sum_i u_i x_i x_i^\top`, the optimum is the geometric mean of M and :math:`S^{-1}`, and
u is found by multiplying with :math:`\|A x_i\|^2` again and again.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from skdp.linear_model.walr import _tuned as tuned
from skdp.linear_model.walr._plan import LABELS, SUMS
from skdp.linear_model.walr._queries import LabelledRows, SumsByLabel
from skdp.linear_model.walr._solver import BLOCK, directions, excess_losses, penalties

# Directions whose curvature is a smaller share of the largest are rounding, where columns were
# divided by their sizes.
_RANK = 1e-13
# Those who check the noise need not come to the same rounding, and leave out a little more.
_SEEN_RANK = 1e-12
# Those who check the noise add this share of a column's variance for each column, so that rounding
# doesn't matter where columns nearly cancel (doc/theory/walr.rst, "Checks by a receiver").
_UNSEEN = 1e-8
_SMALLEST_STD = 1e-100


class ReleasedSums(NamedTuple):
    """Noisy sums by class, and what an aggregate says of their noise; see `LabelAggregate`."""

    sums: np.ndarray
    noise_cov: np.ndarray
    noise_multiplier: float
    sensitivity: float | None
    # The probability that a label was replaced, None for Gaussian noise.
    flip_probability: float | None = None


class GaussianDesign:
    """Sums with Gaussian noise, which suits the rows where `adapted`, or is even in all columns."""

    def __init__(self, public, plan, *, adapted):
        self.plan, self._public = plan, public
        self._transform = self._inverse = np.eye(public.n_columns)
        if adapted and plan.noise_multiplier > 0.0:
            maps = adapted_coordinates(public, plan.noise_multiplier)
            self._transform, self._inverse = maps
        stretch = float(np.linalg.norm(self._transform))
        stretch *= 1.0 + public.n_columns / min(public.n_rows, BLOCK)
        self._stretch = stretch
        self._mechanism = plan.mechanism(public.longest, stretch)
        self.noise_cov = self._mechanism.noise_std**2 * self._inverse @ self._inverse.T

    def release_sums(self, targets, run):
        """Return `ReleasedSums` of labels as by `encode_labels`."""
        longest = self._public.longest
        mechanism = run.bound(SUMS, longest, stretch=self._stretch)
        query = SumsByLabel(mechanism, longest, self.plan.n_classes, self._transform)
        return ReleasedSums(
            sums=run.ask(SUMS, LabelledRows(self._public, targets), query) @ self._inverse.T,
            noise_cov=self.noise_cov,
            noise_multiplier=self.plan.noise_multiplier,
            sensitivity=self._mechanism.sensitivity,
        )


class ResponseDesign:
    """Unbiased sums of rows by labels that coins may have changed.

    With probability q of each of the other classes, ``(1[response is c] - q) / (1 - k q)`` has the
    mean ``1[label is c]``. The covariance of a sum is its variance times the sum of the rows' outer
    products with themselves, and public. For three classes or more the variance depends on the
    label, and the covariance that is stated is that of classes of equal shares.
    """

    def __init__(self, public, plan):
        self.plan, self._public = plan, public
        self.noise_cov = plan.noise_multiplier**2 * public.n_rows * public.second_moment

    def release_sums(self, targets, run):
        """Release labels, and return the sums that follow as `GaussianDesign` does."""
        several = targets.shape[1] > 1
        codes = targets.argmax(axis=1) if several else (targets[:, 0] > 0.0).astype(np.int64)
        codes = run.release(LABELS, codes)
        # From here on only the released labels are used.
        n_classes, flip = self.plan.n_classes, self.plan.flip_probability
        ones = np.equal.outer(codes, np.arange(1 if n_classes == 2 else 0, n_classes))
        sums = self._public.sums(ones.astype(np.float64))
        return ReleasedSums(
            sums=(sums - flip * self._public.total) / (1.0 - n_classes * flip),
            noise_cov=self.noise_cov,
            noise_multiplier=self.plan.noise_multiplier,
            sensitivity=None,
            flip_probability=flip,
        )


def best_design(public, plans, *, adapted):
    """Return the design of the plan that is expected to cost a regression least."""
    designs = [
        GaussianDesign(public, plan, adapted=adapted)
        if plan.kind == "gaussian"
        else ResponseDesign(public, plan)
        for plan in plans
    ]
    if len(designs) == 1:
        return designs[0]
    return min(designs, key=lambda design: _expected_excess(public, design))


def _expected_excess(public, design):
    """Return the log loss that noise is expected to cost a logistic regression, before any release.

    Nothing is known of the labels yet. So their p (1 - p) and the variance of the scores are
    guessed, weights are distributed as in `_solver.expected_losses`, and the regularisation is the
    best for these guesses.
    """
    unknown = np.zeros(public.n_columns)
    curvature = tuned.CURVATURE_SHARE * public.second_moment
    noise_cov = design.plan.share_left * design.noise_cov / public.n_rows**2
    h, _, noise = directions(curvature, unknown, noise_cov, unknown, public.bias)
    seen = h > _SEEN_RANK * h.max(initial=0.0)
    if not seen.any():
        return 0.0
    h, v = h[seen], noise[seen] + h[seen] / public.n_rows
    squares = h**-tuned.WEIGHT_POWER
    squares *= tuned.SCORE_VARIANCE * tuned.CURVATURE_SHARE / (h * squares).sum()
    alphas = np.geomspace(1e-10 * h.mean(), 10.0 * h.max(), tuned.N_ALPHAS)
    return float(excess_losses(h, v, squares, alphas).min())


def adapted_coordinates(public, noise_multiplier):
    """Return the linear map (r, d) after which a release serves a logistic regression best.

    The longest row stays as long. The second array maps back, right for all that rows span.
    """
    sizes, values, vectors = _spanned(public.second_moment, _RANK)
    if not values.size:
        return np.eye(public.n_columns), np.eye(public.n_columns)
    root = np.sqrt(values)
    # Signs of eigenvectors are arbitrary; seeded noise shouldn't hang on them.
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(root.size)])
    # Coordinates in which the rows' second moment is the identity.
    whiten = (vectors / root).T / sizes
    colour = (vectors * root) * sizes[:, np.newaxis]
    noise = (noise_multiplier * public.longest / public.n_rows) ** 2
    cost = _cost_of_errors(public.second_moment, sizes, noise, public.n_rows, public.bias)
    cost = (vectors * root).T @ cost @ (vectors * root)
    shape = _optimal_shape(public, whiten, 0.5 * (cost + cost.T))
    transform, inverse = _root(shape, 0.5) @ whiten, colour @ _root(shape, -0.5)
    scale = public.longest / float(public.mapped_norms(transform).max())
    return scale * transform, inverse / scale


def _spanned(second_moment, rank):
    """Return sizes of columns, and the eigenvalues and eigenvectors of rows divided by them.

    The latter are of the rows' second moment. Those below a share of the largest are left out.
    """
    # Units must not decide what counts as rounding.
    sizes = np.sqrt(np.diag(second_moment))
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    values, vectors = eigh(second_moment / np.multiply.outer(sizes, sizes))
    # Rounding in a column of zeros would be all that there is of its noise.
    vectors[np.diag(second_moment) == 0.0] = 0.0
    kept = values > rank * values[-1]
    return sizes, values[kept], vectors[:, kept]


def mean_length(noise_cov, mean):
    """Return the length of the mean of rows in units of noise: no row mean may be longer than 1.

    Rows that noise serves are an ellipsoid, which contains their mean. It is infinite if the matrix
    is no covariance.
    """
    try:
        return float(np.linalg.norm(solve_triangular(_noise_root(noise_cov), mean, trans="T")))
    except (np.linalg.LinAlgError, ValueError):
        return np.inf


def row_lengths(public, noise_cov):
    """Return the lengths of rows in units of noise, which are at most 1 where noise serves them.

    Directions that an adapted release would leave out as rounding aren't looked at.
    """
    if np.array_equal(noise_cov, noise_cov[0, 0] * np.eye(public.n_columns)):
        return public.norms / np.sqrt(noise_cov[0, 0])
    sizes, _, vectors = _spanned(public.second_moment, _SEEN_RANK)
    span = vectors / sizes[:, np.newaxis]
    root = np.linalg.qr(_noise_root(noise_cov) @ span, mode="r")
    return public.mapped_norms(solve_triangular(root, span.T, trans="T"))


def _noise_root(noise_cov):
    """Return an upper triangular R. R^T R is noise_cov plus a little more than rounding errors."""
    stds = np.maximum(np.sqrt(np.diag(noise_cov)), _SMALLEST_STD)
    correlation = noise_cov / stds / stds[:, np.newaxis]
    correlation += _UNSEEN * stds.size * np.eye(stds.size)
    return cholesky(correlation) * stds


def _cost_of_errors(second_moment, sizes, noise, n_rows, bias):
    """Return M for errors of the means of columns that were divided by their sizes.

    The regularised model that it counts on penalises the columns as they are.
    """
    n_features = sizes.size - (bias != 0.0)
    curvature = tuned.CURVATURE_SHARE * (second_moment / np.multiply.outer(sizes, sizes))
    features = second_moment[:n_features, :n_features]
    h = tuned.CURVATURE_SHARE * np.maximum(eigh(features, eigvals_only=True), 0.0)
    square = tuned.SCORE_VARIANCE * tuned.CURVATURE_SHARE / max(h.sum(), 1e-300)
    alphas = np.geomspace(1e-8 * h.mean() + 1e-300, 10.0 * h.max() + 1e-300, tuned.N_ALPHAS)
    losses = excess_losses(h, noise + h / n_rows, square, alphas)
    alpha = tuned.ALPHA_SHARE * float(alphas[losses.argmin()])
    penalty = penalties(alpha, sizes.size, bias) / sizes**2
    # The intercept isn't penalised; this keeps the inverse finite.
    penalty[n_features:] = 1e-5 * tuned.CURVATURE_SHARE
    inverse = np.linalg.inv(curvature + np.diag(penalty))
    return inverse @ curvature @ inverse


def _optimal_shape(public, whiten, cost):
    """Return A^T A in whitened coordinates, up to a factor; rows are added as they matter."""
    leverages = public.mapped_norms(whiten)
    even = np.linspace(0, public.n_rows - 1, min(public.n_rows, tuned.EVEN_DESIGN_ROWS)).astype(int)
    rows = np.union1d(even, np.argsort(leverages)[-tuned.LONG_DESIGN_ROWS :])
    weights = np.full(rows.size, 1.0 / rows.size)
    for _ in range(tuned.DESIGN_ROUNDS):
        shape, weights, longest = _reweighted(public.take(rows) @ whiten.T, weights, cost)
        lengths = public.mapped_norms(_root(shape, 0.5) @ whiten)
        far = np.setdiff1d(np.argsort(lengths)[-tuned.LONG_DESIGN_ROWS // 3 :], rows)
        if not far.size or lengths.max() ** 2 <= tuned.DESIGN_TOLERANCE * longest:
            break
        rows = np.append(rows, far)
        weights = np.append(weights, np.full(far.size, 1.0 / rows.size))
        weights /= weights.sum()
    return shape


def _reweighted(z, weights, cost):
    """Return the shape for rows z, their weights, and the squared length of the longest."""
    for _ in range(tuned.DESIGN_ITERATIONS):
        spread = (z.T * weights) @ z + 1e-12 * np.eye(len(cost))
        half, back = _root(spread, 0.5), _root(spread, -0.5)
        shape = back @ _root(half @ cost @ half, 0.5) @ back
        lengths = np.einsum("ij,ij->i", z @ shape, z)
        if lengths.max() <= tuned.DESIGN_TOLERANCE * (weights @ lengths):
            break
        weights = weights * lengths
        weights /= weights.sum()
    return shape, weights, float(lengths.max())


def _root(matrix, power):
    """Return a power of a positive semidefinite matrix, of its condition at most 1e12."""
    values, vectors = eigh(0.5 * (matrix + matrix.T))
    values = np.maximum(values, max(1e-12 * values[-1], 1e-300))
    return (vectors * values**power) @ vectors.T
