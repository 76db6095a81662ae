"""From the releases of a fit to its result and the errors of that. Nothing here reads the data."""

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.special import expit

from skdp._rows.row_sums import LOST
from skdp.linear_model.whitened._solver import Whitening, shrink_signed

# Gauss and Hermite's rule for the mean over normal scores; and no score varies more than this.
_NODES, _MASSES = np.polynomial.hermite_e.hermegauss(60)
_MASSES /= _MASSES.sum()
_WIDEST = 30.0


class MappedMoment(NamedTuple):
    """The second moment of mapped rows."""

    moment: np.ndarray
    # Of the mapped rows; zeros without an intercept, as nothing is known of it.
    mean: np.ndarray
    # What the moment says of the number of rows, over that number.
    mass: float
    # Curvature of the penalty.
    penalty: np.ndarray


def map_moment(white, problem, *, with_hidden):
    """Return the released second moment as it is mapped, eigenvalues shrunk.

    The map is the inverse root of moment + hidden + penalty, all of which have its eigenvectors.
    What the noise may hide is added if asked for, so that the moment isn't too small anywhere.
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
    slopes = _MASSES * psi(float(mapped.mean @ u) + min(spread, _WIDEST) * _NODES)
    zeroth, first, second = slopes.sum(), slopes @ _NODES, slopes @ _NODES**2
    a1 = along / spread
    mixed = np.outer(mapped.mean, a1)
    curvature = zeroth * mapped.moment + first * (mixed + mixed.T)
    curvature += (second - zeroth) * np.outer(a1, a1)
    return curvature, float(zeroth)


def psi(m):
    """Return the derivative of the logistic function."""
    return expit(m) * expit(-m)


def follow(noisy, expected, noise, least_share):
    r"""Return what was expected, moved to a noisy symmetric matrix as far as that is believed.

    The difference D of the two has the clean difference plus noise. Along each eigenvector of D
    the clean one is expected to have what `shrink` has it, without a sign (Ledoit and Peche 2011).
    The result is positive definite wherever `expected` is.

    Parameters
    ----------
    noisy, expected : ndarray of shape (p, p)
    noise : float
        Standard deviation of the noise of a diagonal entry; 1 / sqrt(2) of it elsewhere.
    least_share : float
        An eigenvalue is raised to this share of what was expected.
    """
    if noise == 0.0:
        return noisy
    difference = noisy - expected
    if not np.isfinite(difference).all():
        return np.full(difference.shape, np.nan)
    values, vectors = eigh(difference)
    moved = shrink_signed(values, noise * math.sqrt(values.size / 2.0))
    found, directions = eigh(expected + (vectors * moved) @ vectors.T)
    least = least_share * np.einsum("ji,jk,ki->i", directions, expected, directions)
    return (directions * np.maximum(found, least)) @ directions.T


def inverse_of(curvature):
    """Return the inverse of a released curvature, or what is no number where there is none."""
    try:
        return np.linalg.inv(curvature)
    except np.linalg.LinAlgError:
        return np.full(curvature.shape, np.nan)


# What the weakest direction of the rows is, at least, over the radius of the noise of their moment:
# below the first there are no intervals, below the second they are wide. And none where it is less
# than so many standard deviations of one entry.
_HIDDEN, _UNSURE, _CLEAR = 0.2, 1.0, 3.5
# Of the noise of the matrix over a typical entry of its diagonal, and the share of the largest
# noise of predictions, above which intervals are wide.
_BLURRED, _SHAKEN = 0.8, 0.15
# Rows lose so many times as much by clipping as is counted of it.
_TAIL = 2.0
# What clipping may take from a coefficient, in standard errors, and of what rows tell of a
# direction, beyond so many standard deviations of its noise.
_DRIFT, _THIN, _BEYOND = 0.3, 0.4, 1.3
# So many deviations of its noise, in rows, can't be seen.
_FEW = 2.0
# The largest such deviation with which it is seen, and the most that is ever made up for, but where
# all that clipping may take is allowed for.
_SEEN_DRIFT, _SEEN_THIN, _THINNEST = 0.75, 0.3, 0.8
# Of the longest square that is allowed, beyond two standard deviations of the noise.
_FULL = 0.9
# Of the moment of mapped rows, along a direction.
_LEAST_KNOWN = 0.1
# What a row may have along a direction, of its squared length; where that is above what typical
# rows have in all directions by more than so many times the mean square, few rows may be all there.
_ALONG, _RARE = 0.5, 8.0

HIDDEN = (
    "the noise of the second moment hides a direction of the rows: columns are nearly collinear, "
    "or there are too many for so few rows and so small an epsilon"
)
COLLINEAR = "columns are collinear or constant: leave out those that others determine"
THIN = (
    "few rows may determine a direction, as for a rare category, and about as many were clipped: "
    "errors allow for all that it may take; join rare categories, tighten data_norm, or raise "
    "clipping_norm"
)
SHAKEN = "the noise moves predictions too far for the curvature to be known: more rows or epsilon"
UNSURE = "a direction of the rows is hardly longer than the noise of the second moment"
BLURRED = "the noise hides whether errors vary with the rows: they are as large as they may be"
DRIFT = (
    "clipping may bias a coefficient, as it does where errors have a long tail on one side: errors "
    "allow for all that it may take; raise clipping_norm, or fit the logarithm of such targets"
)
RARE = "few rows may determine a direction, as for a rare category: errors allow for all clipping"
UNBOUNDED = "without target_bounds nothing limits the effect of clipping: give them"
UNSEEN = "the noise hides by how much clipping biases the coefficients"
WEIGHTED = (
    "rows longer than radius_ count less: intervals are of the weighted regression, not of the "
    "unweighted coefficient, for which data_norm is needed"
)
BROKEN = "the released curvature isn't valid: there is far too much noise"


class Taken(NamedTuple):
    """Mean square that shortening rows may take from a direction, and more that noise may hide."""

    seen: float
    hidden: float


class Releases(NamedTuple):
    """What a fit released, in mapped coordinates: vectors have p entries, the matrix p rows."""

    white: Whitening
    # The smallest eigenvalue of the noisy moment; and by that moment the rows' mean square length
    # over the square of the longest that is allowed.
    least: float
    filled: float
    # Where the means and the matrix were taken.
    u: np.ndarray
    # Over the steps that were kept; and the standard deviation of an entry's noise.
    mean_u: np.ndarray
    mean_gradient: np.ndarray
    gradient_noise: float
    # Mean of the rows' shares.
    share: float
    # How many columns the mapped rows fill.
    columns: float
    # Mean of what clipping took from rows, over `LOST` times the bound, and the standard deviation
    # of its noise; zeros where no row can be clipped.
    lost: float
    lost_noise: float
    # Of the slopes.
    clip: float
    # Mean of the rows' matrices, and the standard deviation of the noise of a diagonal entry.
    matrix: np.ndarray
    matrix_noise: float
    # Mean square by which the kept steps' predictions differ from those of their mean.
    spread: float
    # No mapped row counts as one that is longer, and what that takes from a direction.
    longest: float
    taken: Taken
    # Estimated share of the rows that are shortened.
    share_shortened: float = 0.0


class Errors(NamedTuple):
    """A result and its errors."""

    # The result, in mapped coordinates.
    u: np.ndarray
    # Standard deviations of the weights, in the coordinates of rows.
    sampling: np.ndarray
    privacy: np.ndarray
    # Bounds of what clipping may take from weights, where there is no smaller estimate of it.
    bias: np.ndarray
    # Whether they can be trusted: "yes", "wide", "weighted" or "no"; and why it isn't "yes".
    quality: str
    reasons: tuple
    # Whether rows are nearly as long as allowed, so that many may have been clipped.
    is_full: bool
    # The effect of clipping so few rows can't be detected; 0 where nothing can be clipped.
    n_unseen: float
    # Estimated share of the rows that were shortened, beside those beyond the learnt radius; None
    # where every row within its bound counts whole.
    share_shortened: float | None


def estimate(released, plan, model):
    """Return the result of a fit and its errors; doc/theory/inference.rst derives them."""
    r, problem, n_rows = released, plan.problem, plan.n_rows
    is_private = plan.budget.is_private
    mapped = map_moment(r.white, problem, with_hidden=False)
    matrix = r.matrix
    if is_private:
        expected = model.expected(mapped, r.u, r.share, r.clip)
        matrix = follow(matrix, expected, r.matrix_noise, model.least_share)
    moment_noise = plan.moment.mechanism.noise_std / n_rows
    hessian, *noise = model.hessian(mapped, matrix, r.white, moment_noise, r.matrix_noise)
    inverse = inverse_of(hessian + mapped.penalty)
    blur = r.matrix_noise * np.trace(mapped.moment) / np.trace(matrix)
    if blur > _BLURRED:
        matrix = matrix + r.matrix_noise * mapped.moment
    u = r.mean_u - inverse @ r.mean_gradient
    of_hessian = _of_hessian(r.mean_u - u, *noise)
    leverages, axes = _leverages(r, mapped, problem)
    is_thin_hidden = r.lost_noise * leverages.max() > _SEEN_THIN
    # Clipped rows carry no information on their direction.
    lost = (r.lost + is_thin_hidden * r.lost_noise) * leverages + r.taken.seen
    left = 1.0 - np.minimum(lost, _THINNEST)
    to_rows = r.white.A if plan.outside is None else plan.outside(r.white.A).T
    out = to_rows @ (axes / left) @ axes.T @ inverse
    sampling, privacy = (
        np.sqrt(np.einsum("ij,jk,ik->i", out, variance, out))
        for variance in (matrix / n_rows, np.square(r.gradient_noise) * np.eye(len(u)) + of_hessian)
    )
    total = np.hypot(sampling, privacy)
    drift, unseen, most = _drifts(r, out, leverages, axes, problem, model)
    jitter = r.gradient_noise * np.sqrt(np.trace(inverse @ mapped.moment @ inverse))
    room = problem.row_norm**2 - problem.bias**2
    of_trace = moment_noise * math.sqrt(problem.n_columns) / room
    is_full = bool(is_private and r.filled - 2.0 * of_trace > _FULL)
    # Shrinking moves an eigenvalue twice as far as noise has moved it: once more for its vector.
    weakest = 0.5 * (r.least + (r.white.signal * r.white.scale).min())
    radius = 2.0 * r.white.noise
    n_unseen = _FEW * r.lost_noise * n_rows
    reasons_against = _which(
        {
            BROKEN: not all(np.isfinite(part).all() for part in (inverse, u, sampling, privacy)),
            HIDDEN if is_private else COLLINEAR: (
                not weakest >= max(_HIDDEN * radius, _CLEAR * moment_noise)
            ),
            UNBOUNDED: is_private and not problem.bounded_targets,
            SHAKEN: not jitter <= model.most_jitter,
        }
    )
    is_weighted = is_private and plan.ball is not None
    share_shortened = r.share_shortened if is_weighted else None
    if reasons_against:
        # Where the curvature isn't known, nothing is taken to the end by it.
        nothing = np.full(len(u), np.nan)
        return Errors(
            u=r.u,
            sampling=nothing,
            privacy=nothing,
            bias=nothing,
            quality="no",
            reasons=reasons_against,
            is_full=is_full,
            n_unseen=n_unseen,
            share_shortened=share_shortened,
        )
    reasons = _which(
        {
            DRIFT: (drift - _BEYOND * unseen > _DRIFT * total).any(),
            THIN: (r.lost - _BEYOND * r.lost_noise) * leverages.max() > _THIN,
            UNSURE: weakest < _UNSURE * radius,
            BLURRED: blur > _BLURRED,
            RARE: r.lost_noise > 0.0 and _are_rare(_ALONG * leverages, r).any(),
            UNSEEN: is_thin_hidden or (unseen > _SEEN_DRIFT * total).any(),
            SHAKEN: jitter > _SHAKEN * model.most_jitter,
        }
    )
    bias = np.zeros(len(u))
    if DRIFT in reasons or THIN in reasons:
        sampling, bias = _bounds_of_clipping(r, to_rows @ inverse, plan, model)
    else:
        # A bias that was measured, and what is hidden of it where that isn't little.
        hidden = np.square(most) - (UNSEEN not in reasons)
        privacy = np.sqrt(privacy**2 + np.square(most * drift) + hidden * unseen**2)
    if problem.bias and is_private:
        way = r.mean_u - u
        bend = model.bend * (r.spread + way @ mapped.moment @ way) / problem.bias
        privacy[-1] = math.hypot(privacy[-1], bend)
    # The mean of the inverse square of what is known with a relative error: 1 + 3 its variance.
    relative = math.hypot(moment_noise / weakest, jitter / model.most_jitter)
    excess = math.sqrt(1.0 + 3.0 * relative**2)
    sampling, privacy, bias = (excess * part for part in (sampling, privacy, bias))
    quality = "wide" if reasons else "yes"
    if is_weighted:
        quality, reasons = "weighted", (WEIGHTED, *reasons)
    return Errors(
        u=u,
        sampling=sampling,
        privacy=privacy,
        bias=bias,
        quality=quality,
        reasons=reasons,
        is_full=is_full,
        n_unseen=n_unseen,
        share_shortened=share_shortened,
    )


def _leverages(r, mapped, problem):
    """Return the largest share that a row may have of what is known of a direction, times n.

    By eigenvector of the map; these are returned, too, in columns.
    """
    stretch, axes = np.linalg.eigh(r.white.A)
    known = np.einsum("ji,jk,ki->i", axes, mapped.moment, axes)
    # The intercept's column is known, and the rest of a row has a bound of its own.
    rest = math.sqrt(problem.row_norm**2 - problem.bias**2)
    ones = np.abs(axes[-1]) if problem.bias else np.zeros(len(stretch))
    reach = stretch * (rest * np.sqrt(np.maximum(1.0 - ones**2, 0.0)) + problem.bias * ones)
    known = np.maximum(known - r.taken.seen - r.taken.hidden, _LEAST_KNOWN)
    return np.square(np.minimum(reach, r.longest)) / known, axes


def _drifts(r, out, leverages, axes, problem, model):
    """Return what clipping takes from coefficients if it all points one way.

    What is lost of a row points along the row, so that a direction has its share of the length.

    Returns that, the standard deviation of its noise, and how many times as much it can be: of the
    intercept, and along directions of few rows, whatever the errors are. `out` maps gradients to
    coefficients; for leverages and axes see `_leverages`.
    """
    most = np.ones(len(out))
    if r.lost_noise == 0.0:
        return np.zeros(len(out)), np.zeros(len(out)), most
    length, counted = math.sqrt(r.columns), _TAIL * LOST * r.clip
    # Rows that are the longest along a direction, and as long as others across it.
    along = np.maximum(1.0, _ALONG * leverages)
    lengths = np.sqrt(along + max(r.columns - 1.0, 0.0))
    parts = (out @ axes) * (np.sqrt(along) / lengths)
    each = counted * np.linalg.norm(parts, axis=1)
    worst = np.maximum(1.0, (model.steepest * lengths - r.clip) / counted)
    of_few = parts * np.where(_are_rare(along, r), worst, 1.0)
    most = counted * np.linalg.norm(of_few, axis=1) / each
    if problem.bias:
        most[-1] = max(most[-1], (model.steepest * length - r.clip) / counted)
    return r.lost * each, r.lost_noise * each, most


def _bounds_of_clipping(r, out, plan, model):
    """Return bounds of the sampling error and of what clipping takes, whatever the errors are.

    `out` maps gradients of mapped rows to coefficients. doc/theory/inference.rst has the proof.
    """
    problem = plan.problem
    out = out / (1.0 - min(r.taken.seen + r.taken.hidden, _THINNEST))
    moment = map_moment(r.white, problem, with_hidden=True).moment
    spread = np.sqrt(np.einsum("ij,jk,ik->i", out, moment, out))
    length = np.linalg.norm(out, axis=1)
    lost = min(r.lost + _FEW * r.lost_noise, 1.0)
    # Rows that lose more than is counted of one are at most as many as are counted.
    bias = lost * LOST * r.clip * length + model.steepest * math.sqrt(lost) * spread
    longest = max(LOST * r.clip, model.steepest * r.longest - r.clip)
    bias = np.minimum(bias, lost * longest * length)
    return model.steepest * spread / math.sqrt(plan.n_rows), bias


def _are_rare(along, r):
    return along > r.columns + _RARE


def _of_hessian(way, noise, to):
    """Return the covariance of noise of a symmetric matrix, times the way that it acted on.

    In mapped coordinates. `noise` is the deviation of a diagonal entry, and the noise is mapped
    from both sides by the symmetric `to`.
    """
    way = to @ way
    return 0.5 * np.square(noise) * (to @ (way @ way * np.eye(len(way)) + np.outer(way, way)) @ to)


def _which(conditions):
    return tuple(reason for reason, holds in conditions.items() if holds)
