"""From the releases of a fit to its result and the errors of that. Nothing here reads the data."""

import math
from typing import NamedTuple

import numpy as np

from skdp._solvers._curvature import follow, inverse_of, map_moment
from skdp._solvers._whitening import Whitening

# What the weakest direction of the rows is, at least, over the radius of the noise of their moment:
# below the first there are no intervals, below the second they are wide. And none where it is less
# than so many standard deviations of one entry.
_HIDDEN, _UNSURE, _CLEAR = 0.2, 1.0, 5.0
# Of the noise of the matrix over a typical entry of its diagonal, and the share of the largest
# noise of predictions, above which intervals are wide.
_BLURRED, _SHAKEN = 0.8, 0.15
# How often a share of clipped rows is above what is allowed before it is believed, in standard
# deviations of its noise; and the noise, in what is allowed, with which nothing is known of it.
_SIGNIFICANT, _UNKNOWN = 2.5, 2.0
# A matrix that has less than this of what was expected of it, somewhere, was cut there.
_THIN = 0.4
# What clipping may take from a coefficient, beyond the largest of its noise, and the largest
# standard deviation of that noise with which it is seen: both in standard errors.
_DRIFT, _SEEN = 0.5, 0.75

HIDDEN = (
    "the noise of the second moment hides a direction of the rows: columns are nearly collinear, "
    "or there are too many for so few rows and so small an epsilon"
)
COLLINEAR = "columns are collinear or constant: leave out what others say already"
CUT = (
    "too many rows were clipped, which biases the coefficients: raise clipping_norm, or tighten "
    "target_bounds or data_norm"
)
THIN = "few rows tell of a direction, as of a rare category, and most of those were clipped"
SHAKEN = "the noise moves predictions too far for the curvature to be known: more rows or epsilon"
UNSURE = "a direction of the rows is hardly longer than the noise of the second moment"
BLURRED = (
    "the noise hides whether errors vary with the rows: sampling errors are as large as they may be"
)
UNKNOWN = "the noise hides how many rows were clipped"
DRIFT = (
    "clipping may bias a coefficient, as it does where errors have a long tail on one side: raise "
    "clipping_norm, or fit the logarithm of such targets"
)
UNSEEN = "the noise hides by how much clipping biases the coefficients"
BROKEN = "the releases are no curvature: there is far too much noise"


class Releases(NamedTuple):
    """What a fit released, in mapped coordinates.

    Attributes
    ----------
    white : Whitening
    least : float
        The smallest eigenvalue of the noisy moment.
    u : ndarray of shape (p,)
        Where the means and the matrix were taken.
    mean_u, mean_gradient : ndarray of shape (p,)
        Over the steps that were kept.
    gradient_noise : float
        Standard deviation of the noise of an entry of the mean gradient.
    share, cut : float
        Mean of the rows' shares, and share of clipped rows.
    cut_noise : float
        Standard deviation of the noise of `cut`.
    lost : ndarray of shape (p,)
        What clipping may have taken from the mean gradient.
    lost_noise : float
        Standard deviation of the noise of an entry of `lost`.
    clip : float
        Of the slopes.
    matrix : ndarray of shape (p, p)
        Mean of the rows' matrices.
    matrix_noise : float
        Standard deviation of the noise of one of its diagonal entries.
    """

    white: Whitening
    least: float
    u: np.ndarray
    mean_u: np.ndarray
    mean_gradient: np.ndarray
    gradient_noise: float
    share: float
    cut: float
    cut_noise: float
    lost: np.ndarray
    lost_noise: float
    clip: float
    matrix: np.ndarray
    matrix_noise: float


class Errors(NamedTuple):
    """A result and its errors.

    Attributes
    ----------
    u : ndarray of shape (p,)
        The result, in mapped coordinates.
    sampling, privacy : ndarray of shape (p,)
        Standard deviations of the weights, in the coordinates of rows.
    quality : {"yes", "wide", "no"}
        Whether they can be trusted.
    reasons : tuple of str
        Why it isn't "yes".
    """

    u: np.ndarray
    sampling: np.ndarray
    privacy: np.ndarray
    quality: str
    reasons: tuple


def estimate(released, plan, model):
    """Return the result of a fit and its errors; doc/theory/inference.rst derives them.

    Parameters
    ----------
    released : Releases
    plan : InferencePlan
    model : Squares or Logistic
    """
    r, n_rows = released, plan.n_rows
    mapped = map_moment(r.white, plan.problem, with_hidden=False)
    matrix, thinnest = r.matrix, 1.0
    if plan.budget.is_private:
        expected = model.expected(mapped, r.u, r.share, r.clip)
        thinnest = _least_ratio(matrix, expected)
        matrix = follow(matrix, expected, r.matrix_noise, model.least_share)
    hessian = model.hessian(mapped, matrix) + mapped.penalty
    inverse = inverse_of(hessian)
    blur = r.matrix_noise * np.trace(mapped.moment) / np.trace(matrix)
    # The largest eigenvalue of that noise.
    murk = blur * math.sqrt(2.0 * len(r.u))
    if blur > _BLURRED:
        matrix = matrix + r.matrix_noise * mapped.moment
    u = r.mean_u - inverse @ r.mean_gradient
    moment_noise = plan.moment_mechanism.noise_std / n_rows
    of_hessian = _of_hessian(
        r.mean_u - u, *model.hessian_noise(r.white, moment_noise, r.matrix_noise)
    )
    out = r.white.A @ inverse
    sampling, privacy = (
        np.sqrt(np.einsum("ij,jk,ik->i", out, variance, out))
        for variance in (matrix / n_rows, np.square(r.gradient_noise) * np.eye(len(u)) + of_hessian)
    )
    drift, unseen = np.abs(out @ r.lost), r.lost_noise * np.linalg.norm(out, axis=1)
    total, largest = np.hypot(sampling, privacy), math.sqrt(2.0 * math.log(len(u) + 1.0))
    jitter = r.gradient_noise * np.sqrt(np.trace(inverse @ mapped.moment @ inverse))
    # Shrinking moves an eigenvalue twice as far as noise has moved it: once more for its vector.
    weakest = 0.5 * (r.least + (r.white.signal * r.white.scale).min())
    radius = 2.0 * r.white.noise
    found = [inverse, u, sampling, privacy]
    reasons_against = _which(
        {
            BROKEN: not all(np.isfinite(part).all() for part in found),
            HIDDEN if plan.budget.is_private else COLLINEAR: (
                not weakest >= max(_HIDDEN * radius, _CLEAR * moment_noise)
            ),
            CUT: r.cut > model.most_cut(n_rows) + _SIGNIFICANT * r.cut_noise,
            DRIFT: (drift > _DRIFT * total + largest * unseen).any(),
            THIN: murk < _THIN and not thinnest >= _THIN - murk,
            SHAKEN: not jitter <= model.most_jitter,
        }
    )
    if reasons_against:
        # Where the curvature isn't known, nothing is taken to the end by it.
        nothing = np.full(len(u), np.nan)
        return Errors(r.u, nothing, nothing, "no", reasons_against)
    reasons = _which(
        {
            UNSURE: weakest < _UNSURE * radius,
            BLURRED: blur > _BLURRED,
            UNKNOWN: r.cut_noise > _UNKNOWN * model.most_cut(n_rows),
            UNSEEN: (unseen > _SEEN * total).any(),
            SHAKEN: jitter > _SHAKEN * model.most_jitter,
        }
    )
    # A bias that was measured, and what is hidden of it where that isn't little.
    privacy = np.sqrt(privacy**2 + drift**2 + (unseen**2 if UNSEEN in reasons else 0.0))
    # The mean of the inverse square of what is known with a relative error: 1 + 3 its variance.
    relative = math.hypot(moment_noise / weakest, jitter / model.most_jitter)
    excess = math.sqrt(1.0 + 3.0 * relative**2)
    sampling, privacy = excess * sampling, excess * privacy
    return Errors(u, sampling, privacy, "wide" if reasons else "yes", reasons)


def _least_ratio(matrix, expected):
    """Return what a symmetric matrix has, at least in some direction, of another."""
    if not (np.isfinite(matrix).all() and np.isfinite(expected).all()):
        return -math.inf
    values, vectors = np.linalg.eigh(expected)
    if values[0] <= 0.0:
        return -math.inf
    root = vectors / np.sqrt(values)
    return float(np.linalg.eigvalsh(root.T @ matrix @ root)[0])


def _of_hessian(way, noise, to):
    """Return the covariance of noise of a symmetric matrix, times the way that it acted on.

    Parameters
    ----------
    way : ndarray of shape (p,)
        In mapped coordinates.
    noise : float
        Standard deviation of a diagonal entry.
    to : ndarray of shape (p, p)
        Symmetric: the noise is mapped by it from both sides.
    """
    way = to @ way
    return 0.5 * np.square(noise) * (to @ (way @ way * np.eye(len(way)) + np.outer(way, way)) @ to)


def _which(conditions):
    return tuple(reason for reason, holds in conditions.items() if holds)
