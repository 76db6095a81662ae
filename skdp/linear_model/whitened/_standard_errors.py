"""From the releases of a fit to its result and the errors of that. Nothing here reads the data."""

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.special import expit

from skdp._rows.inference_queries import LOST
from skdp.linear_model.whitened import _tuned as tuned
from skdp.linear_model.whitened._solver import Whitening, shrink_signed

# Gauss and Hermite's rule for the mean over normal scores; and no score varies more than this.
_NODES, _MASSES = np.polynomial.hermite_e.hermegauss(60)
_MASSES /= _MASSES.sum()
_WIDEST = 30.0


class MappedMoment(NamedTuple):
    """The second moment of mapped rows."""

    moment: np.ndarray
    # The mean of the mapped rows; zeros without an intercept, as nothing is known of it then.
    mean: np.ndarray
    # This is the number of rows that the moment tells, over their number.
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

    Here psi is the derivative of the logistic function. A row is ``a0 + a1 t + e``: its score is
    ``m + s t`` with a standard normal t, and e is uncorrelated with t. If e is independent of t,

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


def follow(noisy, expected, noise, smallest_share):
    r"""Return what was expected, moved to a noisy symmetric matrix as far as that is believed.

    The difference D of the two is the clean difference plus noise. Along each eigenvector of D the
    clean difference is expected to be what `shrink_signed` returns (Ledoit and Peche 2011). The
    result is positive definite wherever `expected` is.

    Parameters
    ----------
    noisy, expected : ndarray of shape (p, p)
    noise : float
        Standard deviation of the noise of a diagonal entry; 1 / sqrt(2) of it elsewhere.
    smallest_share : float
        An eigenvalue is raised to this share of what was expected.
    """
    if noise == 0.0:
        return noisy
    difference = noisy - expected
    if not np.isfinite(difference).all():
        return np.full(difference.shape, np.nan)
    values, vectors = eigh(difference)
    moved = shrink_signed(values, noise * math.sqrt(values.size / 2.0))
    values, directions = eigh(expected + (vectors * moved) @ vectors.T)
    smallest = smallest_share * np.einsum("ji,jk,ki->i", directions, expected, directions)
    return (directions * np.maximum(values, smallest)) @ directions.T


def inverse_of(curvature):
    """Return the inverse of a released curvature, or NaN where there is none."""
    try:
        return np.linalg.inv(curvature)
    except np.linalg.LinAlgError:
        return np.full(curvature.shape, np.nan)


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
    # The means and the matrix were taken at these weights.
    u: np.ndarray
    # Over the steps that were kept; and the standard deviation of an entry's noise.
    mean_u: np.ndarray
    mean_gradient: np.ndarray
    gradient_noise: float
    # Mean of the rows' shares.
    share: float
    # The mapped rows fill so many columns.
    columns: float
    # Mean of what clipping took from rows, over `LOST` times the bound, and the standard deviation
    # of its noise; zeros where no row can be clipped.
    lost: float
    lost_noise: float
    # A row's slope times its mapped length was clipped to this.
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
    # It says if they can be trusted: "yes", "wide", "weighted" or "no"; the reasons, why it isn't
    # "yes".
    quality: str
    reasons: tuple
    # Rows are nearly as long as allowed then, so that many may have been clipped.
    is_full: bool
    # The effect of clipping so few rows can't be detected; 0 where nothing can be clipped.
    n_unseen: float
    # Estimated share of the rows that were shortened, beside those beyond the learnt radius; None
    # where every row within its bound counts whole.
    share_shortened: float | None


def estimate(released, plan, model):
    """Return the result of a fit and its errors; doc/theory/inference.rst derives them."""
    r, problem, n_records = released, plan.problem, plan.n_records
    is_private = plan.budget.is_private
    mapped = map_moment(r.white, problem, with_hidden=False)
    matrix = r.matrix
    if is_private:
        expected = model.expected(mapped, r.u, r.share, r.clip)
        matrix = follow(matrix, expected, r.matrix_noise, model.rules.smallest_share)
    moment_noise = plan.moment.mechanism.noise_std / n_records
    hessian, *noise = model.hessian(mapped, matrix, r.white, moment_noise, r.matrix_noise)
    inverse = inverse_of(hessian + mapped.penalty)
    blur = r.matrix_noise * np.trace(mapped.moment) / np.trace(matrix)
    if blur > tuned.LARGEST_MATRIX_NOISE:
        matrix = matrix + r.matrix_noise * mapped.moment
    u = r.mean_u - inverse @ r.mean_gradient
    of_hessian = _covariance_of_hessian(r.mean_u - u, *noise)
    leverages, axes = _leverages(r, mapped, problem)
    is_thin_hidden = r.lost_noise * leverages.max() > tuned.LARGEST_DEVIATION_OF_CLIPPED_SHARE
    # Clipped rows carry no information on their direction.
    lost = (r.lost + is_thin_hidden * r.lost_noise) * leverages + r.taken.seen
    left = 1.0 - np.minimum(lost, tuned.LARGEST_SHARE_MADE_UP_FOR)
    to_rows = r.white.A if plan.outside is None else plan.outside(r.white.A).T
    out = to_rows @ (axes / left) @ axes.T @ inverse
    sampling, privacy = (
        np.sqrt(np.einsum("ij,jk,ik->i", out, variance, out))
        for variance in (
            matrix / n_records,
            np.square(r.gradient_noise) * np.eye(len(u)) + of_hessian,
        )
    )
    total = np.hypot(sampling, privacy)
    drift, unseen, largest_factor = _drifts(r, out, leverages, axes, problem, model)
    jitter = r.gradient_noise * np.sqrt(np.trace(inverse @ mapped.moment @ inverse))
    largest_jitter = model.rules.largest_jitter
    room = problem.row_norm**2 - problem.bias**2
    of_trace = moment_noise * math.sqrt(problem.n_columns) / room
    is_full = bool(is_private and r.filled - 2.0 * of_trace > tuned.FULL_LENGTH)
    # Shrinking moves an eigenvalue twice as far as noise has moved it: once more for its vector.
    weakest = 0.5 * (r.least + (r.white.signal * r.white.scale).min())
    radius = 2.0 * r.white.noise
    n_unseen = tuned.DEVIATIONS_OF_UNSEEN_ROWS * r.lost_noise * n_records
    smallest_direction = max(
        tuned.SMALLEST_DIRECTION * radius, tuned.SMALLEST_DIRECTION_IN_DEVIATIONS * moment_noise
    )
    reasons_against = _which(
        {
            BROKEN: not all(np.isfinite(part).all() for part in (inverse, u, sampling, privacy)),
            HIDDEN if is_private else COLLINEAR: (not weakest >= smallest_direction),
            UNBOUNDED: is_private and not problem.bounded_targets,
            SHAKEN: not jitter <= largest_jitter,
        }
    )
    is_weighted = is_private and plan.ball is not None
    share_shortened = r.share_shortened if is_weighted else None
    if reasons_against:
        # Where the curvature isn't known, nothing is taken to the end by it.
        unknown = np.full(len(u), np.nan)
        return Errors(
            u=r.u,
            sampling=unknown,
            privacy=unknown,
            bias=unknown,
            quality="no",
            reasons=reasons_against,
            is_full=is_full,
            n_unseen=n_unseen,
            share_shortened=share_shortened,
        )
    seen_drift = drift - tuned.DEVIATIONS_OF_CLIPPING * unseen
    seen_lost = r.lost - tuned.DEVIATIONS_OF_CLIPPING * r.lost_noise
    are_rare = _are_rare(tuned.SHARE_OF_RARE_DIRECTION * leverages, r)
    reasons = _which(
        {
            DRIFT: (seen_drift > tuned.LARGEST_DRIFT * total).any(),
            THIN: seen_lost * leverages.max() > tuned.LARGEST_CLIPPED_SHARE,
            UNSURE: weakest < tuned.SURE_DIRECTION * radius,
            BLURRED: blur > tuned.LARGEST_MATRIX_NOISE,
            RARE: r.lost_noise > 0.0 and are_rare.any(),
            UNSEEN: is_thin_hidden or (unseen > tuned.LARGEST_DEVIATION_OF_DRIFT * total).any(),
            SHAKEN: jitter > tuned.SHARE_OF_LARGEST_JITTER * largest_jitter,
        }
    )
    bias = np.zeros(len(u))
    if DRIFT in reasons or THIN in reasons:
        sampling, bias = _bounds_of_clipping(r, to_rows @ inverse, plan, model)
    else:
        # A bias that was measured, and what is hidden of it where that isn't little.
        hidden = np.square(largest_factor) - (UNSEEN not in reasons)
        privacy = np.sqrt(privacy**2 + np.square(largest_factor * drift) + hidden * unseen**2)
    if problem.bias and is_private:
        last_step = r.mean_u - u
        bend = model.bend * (r.spread + last_step @ mapped.moment @ last_step) / problem.bias
        privacy[-1] = math.hypot(privacy[-1], bend)
    # The mean of the inverse square of what is known with a relative error: 1 + 3 its variance.
    relative = math.hypot(moment_noise / weakest, jitter / largest_jitter)
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
    """Return the leverage and the axis of each eigenvector of the map; axes are in columns.

    The leverage is n times the largest share that a row may have of the mean square of all rows
    along the axis.
    """
    stretch, axes = np.linalg.eigh(r.white.A)
    known = np.einsum("ji,jk,ki->i", axes, mapped.moment, axes)
    # The intercept's column is known, and the rest of a row has a bound of its own.
    rest = math.sqrt(problem.row_norm**2 - problem.bias**2)
    ones = np.abs(axes[-1]) if problem.bias else np.zeros(len(stretch))
    reach = stretch * (rest * np.sqrt(np.maximum(1.0 - ones**2, 0.0)) + problem.bias * ones)
    known = np.maximum(known - r.taken.seen - r.taken.hidden, tuned.SMALLEST_MEAN_SQUARE)
    return np.square(np.minimum(reach, r.longest)) / known, axes


def _drifts(r, out, leverages, axes, problem, model):
    """Return what clipping takes from coefficients, its noise, and by how much it can be larger.

    The first is for a loss that points one way. What is lost of a row points along the row, so that
    a direction has its share of the length. The second is the standard deviation of the first. The
    third is a factor: the intercept, and directions of few rows, can lose more if errors are large
    there. `out` maps gradients to coefficients; for leverages and axes see `_leverages`.
    """
    largest_factor = np.ones(len(out))
    if r.lost_noise == 0.0:
        return np.zeros(len(out)), np.zeros(len(out)), largest_factor
    length, counted = math.sqrt(r.columns), tuned.LOSS_OVER_COUNTED_LOSS * LOST * r.clip
    # These rows are the longest along a direction, and as long as others across it.
    along = np.maximum(1.0, tuned.SHARE_OF_RARE_DIRECTION * leverages)
    lengths = np.sqrt(along + max(r.columns - 1.0, 0.0))
    parts = (out @ axes) * (np.sqrt(along) / lengths)
    each = counted * np.linalg.norm(parts, axis=1)
    worst = np.maximum(1.0, (model.steepest * lengths - r.clip) / counted)
    of_few = parts * np.where(_are_rare(along, r), worst, 1.0)
    largest_factor = counted * np.linalg.norm(of_few, axis=1) / each
    if problem.bias:
        of_intercept = (model.steepest * length - r.clip) / counted
        largest_factor[-1] = max(largest_factor[-1], of_intercept)
    return r.lost * each, r.lost_noise * each, largest_factor


def _bounds_of_clipping(r, out, plan, model):
    """Return bounds of the sampling error and of what clipping takes, whatever the errors are.

    `out` maps gradients of mapped rows to coefficients. doc/theory/inference.rst has the proof.
    """
    problem = plan.problem
    out = out / (1.0 - min(r.taken.seen + r.taken.hidden, tuned.LARGEST_SHARE_MADE_UP_FOR))
    moment = map_moment(r.white, problem, with_hidden=True).moment
    spread = np.sqrt(np.einsum("ij,jk,ik->i", out, moment, out))
    length = np.linalg.norm(out, axis=1)
    lost = min(r.lost + tuned.DEVIATIONS_OF_UNSEEN_ROWS * r.lost_noise, 1.0)
    # Rows that lose more than is counted of one are at most as many as are counted.
    bias = lost * LOST * r.clip * length + model.steepest * math.sqrt(lost) * spread
    longest = max(LOST * r.clip, model.steepest * r.longest - r.clip)
    bias = np.minimum(bias, lost * longest * length)
    return model.steepest * spread / math.sqrt(plan.n_records), bias


def _are_rare(along, r):
    return along > r.columns + tuned.RARE_DIRECTION


def _covariance_of_hessian(step, noise, to_mapped):
    """Return the covariance of the error of a noisy Hessian, times a step, in mapped coordinates.

    `noise` is the standard deviation of a diagonal entry, and the symmetric `to_mapped` maps the
    noise from both sides.
    """
    step = to_mapped @ step
    of_step = step @ step * np.eye(len(step)) + np.outer(step, step)
    return 0.5 * np.square(noise) * (to_mapped @ of_step @ to_mapped)


def _which(conditions):
    return tuple(reason for reason, holds in conditions.items() if holds)
