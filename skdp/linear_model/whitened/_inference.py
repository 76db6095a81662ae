"""Newton's steps on whitened rows, and the releases that standard errors are made of."""

import math

import numpy as np

from skdp._ball._plan import fine_bins_below
from skdp._ball._solver import share_beyond
from skdp._release.mechanisms import as_symmetric
from skdp._rows.inference_queries import CountsOfMappedLengths, SharesAndLosses, SumOfCurvatures
from skdp._rows.rows import Rows
from skdp._rows.slope_queries import SecondMoment, SumOfSlopes
from skdp.linear_model.whitened import _tuned as tuned
from skdp.linear_model.whitened._plan import (
    FIRST_MEAN,
    KEPT,
    MAPPED_LENGTHS,
    MATRIX,
    MEANS,
    MOMENT,
    SETTLING,
)
from skdp.linear_model.whitened._solver import WhitenedSteps, whiten
from skdp.linear_model.whitened._standard_errors import (
    Releases,
    Taken,
    estimate,
    inverse_of,
    map_moment,
    normal_curvature,
    psi,
)


class SandwichCovariance:
    """Weights whose matrix is the covariance of gradients: squares of clipped slopes."""

    rules = tuned.INFERENCE_RULES["squared_error"]
    # No slope is larger where predictions are as targets are, in [-1, 1].
    steepest = 2.0
    # Gradients at predictions that spread by a mean square of 1 move the intercept by no more.
    bend = 0.0

    def weights(self, slopes, predictions, counted):
        """Return a weight for each row, given its slope after clipping, and what rows count."""
        return slopes**2

    def shares(self, weights, lengths, clip):
        """Return what share of the largest possible a row's weight times its squared length is."""
        return weights * (lengths / clip) ** 2

    def curvature(self, mapped, u, correction):
        """Return the curvature of the loss that steps are taken with."""
        return mapped.moment

    def correction(self, share, mapped, u):
        """Return by which factor the curvature of normal scores is off."""
        return 1.0

    def next_clip(self, clip, share, jitter, noise, rows_a_column):
        """Return the clip for the steps that are kept, from that before and the mean share at it.

        `jitter` is what the noise of the weights adds to the mean square of what is clipped, and
        `noise` that of the result, if the clip and the number of rows were 1.
        """
        seen = share * clip**2
        root = math.sqrt(max(seen - jitter, tuned.SMALLEST_SHARE_WITHOUT_JITTER * seen))
        calm = math.sqrt(rows_a_column) / noise
        factor = max(tuned.SMALLEST_CLIP_IN_RESIDUALS, tuned.NOISE_OVER_SAMPLING_ERROR * calm)
        factor = min(tuned.LARGEST_CLIP_IN_RESIDUALS, factor)
        return root * max(factor, math.sqrt(tuned.LARGEST_ADDED_VARIANCE) * calm)

    def matrix_bound(self, clip, share, columns, longest):
        """Return what traces of rows' matrices are cut to."""
        return clip**2 * min(1.0, tuned.MATRIX_CLIP * share)

    def expected(self, mapped, u, share, clip):
        """Return the matrix of weights if they don't depend on rows."""
        return share * clip**2 / np.trace(mapped.moment) * mapped.moment

    def hessian(self, mapped, matrix, white, moment_noise, matrix_noise):
        """Return the loss's curvature, the deviation of a diagonal entry's noise, and its map."""
        return mapped.moment, moment_noise, white.A


class Logistic:
    """Weights whose matrix is the curvature, and the covariance of gradients where the model holds.

    For attributes and methods see `SandwichCovariance`.
    """

    rules = tuned.INFERENCE_RULES["log_loss"]
    steepest = 1.0
    bend = 0.5

    def weights(self, slopes, predictions, counted):
        """Return the slope of the loss's derivative for each row, times what it counts."""
        return counted * psi(predictions)

    def shares(self, weights, lengths, clip):
        """Return what share of its largest value, 1/4, a row's weight is."""
        return 4.0 * weights

    def curvature(self, mapped, u, correction):
        """Return the curvature for normal scores, times what it is off by."""
        curvature, mean = normal_curvature(mapped, u)
        missing = max(0.0, tuned.SMALLEST_MEAN_CURVATURE - mean)
        return correction * (curvature + missing * mapped.moment)

    def correction(self, share, mapped, u):
        """Return by which factor the curvature of normal scores is off."""
        mean = max(normal_curvature(mapped, u)[1], tuned.SMALLEST_MEAN_CURVATURE)
        largest = tuned.LARGEST_CORRECTION
        return min(max(0.25 * share / mean, 1.0 / largest), largest)

    def next_clip(self, clip, share, jitter, noise, rows_a_column):
        """Return the clip as it was: slopes near 1 are those of a rare class."""
        return clip

    def matrix_bound(self, clip, share, columns, longest):
        """Return what traces of rows' matrices are cut to, for rows of unequal length."""
        return min(2.0 * columns * min(0.25, 0.5 * share), 0.25 * longest**2)

    def expected(self, mapped, u, share, clip):
        """Return the curvature for normal scores."""
        return self.curvature(mapped, u, self.correction(share, mapped, u))

    def hessian(self, mapped, matrix, white, moment_noise, matrix_noise):
        """Return the loss's curvature, the deviation of a diagonal entry's noise, and its map."""
        return matrix, matrix_noise, np.eye(len(matrix))


MODELS = {"squared_error": SandwichCovariance(), "log_loss": Logistic()}


# Smaller shares are taken to be noise. What is divided by them stays finite.
_SMALLEST_SHARE = 1e-6


# A warning about an overflow would reveal something of the data.
@np.errstate(all="ignore")
def solve_inference(rows: Rows, *, plan, model, run):
    r"""Minimise mean loss + alpha ||w||^2 / 2 by Newton's steps, and say how sure the result is.

    In the coordinates u of ``w = A u``, with A as in `solve_whitened` and :math:`H_t` a curvature
    made of releases, :math:`u_{t+1} = u_t - \gamma_t H_t^{-1} g_t` with gains of 1 while steps
    settle, and falling ones afterwards. Returns the weights, of shape (1, p), and `WhitenedSteps`.
    """
    problem, n_records = plan.problem, plan.n_records
    query = SecondMoment(run.mechanism(MOMENT), largest_trace=problem.row_norm**2)
    released = run.ask(MOMENT, rows, query)
    moment = as_symmetric(released, problem.n_columns) / n_records
    nothing = np.full((1, problem.n_columns), np.nan)
    if not np.isfinite(moment).all():
        return nothing, None
    white = whiten(moment, plan)
    mapped = map_moment(white, problem, with_hidden=True)
    columns = max(white.effective_columns, tuned.SMALLEST_EFFECTIVE_COLUMNS)
    if problem.bias:
        # The intercept's direction is always there.
        columns = max(columns, 1.0)
    longest = problem.row_norm / math.sqrt(white.scale.min())
    clip = plan.clipping_norm
    if clip == "auto":
        clip = model.rules.settling_clip * math.sqrt(columns)
    rows.bound_slopes(white.A, clip)
    taken, share_shortened = Taken(0.0, 0.0), 0.0
    if plan.lengths is not None:
        mechanism, bins = run.mechanism(MAPPED_LENGTHS), fine_bins_below(longest)
        counts = run.ask(MAPPED_LENGTHS, rows, CountsOfMappedLengths(bins, mechanism))
        longest, taken = shorter(counts, mechanism.noise_std, bins, n_records)
        share_shortened = share_beyond(counts, bins, longest, n_records)
        rows.shorten(longest)
    # No row's slope is longer.
    largest = model.steepest * longest if problem.bounded_targets else math.inf
    if plan.clipping_norm == "auto":
        clip = min(clip, largest)
        rows.rebound_slopes(clip)

    def gradient(u, steps):
        released = steps.ask(rows, SumOfSlopes(u[:, np.newaxis], steps.mechanism))
        return released[:, 0] / n_records + mapped.penalty @ u

    def newton(u, g, correction):
        step = inverse_of(model.curvature(mapped, u, correction) + mapped.penalty) @ g
        moves = math.sqrt(max(float(step @ mapped.moment @ step), 0.0))
        return step * min(1.0, model.rules.largest_move / max(moves, 1e-300))

    def means(name, u):
        mechanism = run.mechanism(name)
        total = run.ask(name, rows, SharesAndLosses(model, u[:, np.newaxis], mechanism))
        share, *lost = total / n_records
        return max(float(share), mechanism.noise_std / n_records, _SMALLEST_SHARE), *lost

    u = np.zeros(problem.n_columns)
    stretch, n_kept = white.stretch * plan.stretch, plan.n_steps - plan.n_settling
    mechanism = run.bound(SETTLING, clip, stretch=stretch)
    settling = run.steps(SETTLING, plan.n_settling)
    for _ in range(plan.n_settling):
        u = u - newton(u, gradient(u, settling), 1.0)
    (first_share,) = means(FIRST_MEAN, u)
    correction = model.correction(first_share, mapped, u)
    if plan.clipping_norm == "auto" and plan.budget.is_private:
        noise = plan.steps.noise_multiplier * math.sqrt(plan.n_steps / n_kept)
        jitter = np.square(columns * mechanism.noise_std / n_records)
        clip = min(model.next_clip(clip, first_share, jitter, noise, n_records / columns), largest)
        rows.rebound_slopes(clip)
    mechanism = run.bound(KEPT, clip, stretch=stretch)
    steps, kept = run.steps(KEPT, n_kept), []
    curvature = model.curvature(mapped, u, correction) + mapped.penalty
    noise_of_gradient = mechanism.noise_std / n_records
    least_gain = _least_gain(model.rules.calm, noise_of_gradient, mapped.moment, curvature)
    for _ in range(n_kept):
        g = gradient(u, steps)
        kept.append((u, g))
        # Without noise there is nothing to average.
        gain = max(1.0 / len(kept), least_gain) if plan.budget.is_private else 1.0
        u = u - gain * newton(u, g, correction)
    mean_u = np.mean([u for u, _ in kept], axis=0)
    spread = np.mean([(u - mean_u) @ mapped.moment @ (u - mean_u) for u, _ in kept])
    last_share, lost = means(MEANS, u)
    is_cut = plan.budget.is_private and clip < largest
    bound = math.inf
    if plan.budget.is_private:
        bound = model.matrix_bound(clip, last_share, columns, longest)
    of_matrix = run.bound(MATRIX, bound)
    curvatures = SumOfCurvatures(model, u[:, np.newaxis], bound, of_matrix)
    released = run.ask(MATRIX, rows, curvatures)
    if not all(np.isfinite(part).all() for part in (u, released)):
        return nothing, None
    rest = problem.bias**2
    errors = estimate(
        Releases(
            white=white,
            least=float(np.linalg.eigvalsh(moment)[0]),
            filled=float((np.trace(moment) - rest) / (problem.row_norm**2 - rest)),
            u=u,
            mean_u=mean_u,
            mean_gradient=np.mean([g for _, g in kept], axis=0),
            gradient_noise=mechanism.noise_std / (n_records * math.sqrt(len(kept))),
            share=last_share,
            columns=columns,
            lost=max(float(lost), 0.0) if is_cut else 0.0,
            lost_noise=plan.means.mechanism.noise_std / n_records if is_cut else 0.0,
            clip=clip,
            matrix=as_symmetric(released, problem.n_columns) / n_records,
            matrix_noise=of_matrix.noise_std / n_records,
            spread=float(spread),
            longest=longest,
            taken=taken,
            share_shortened=share_shortened,
        ),
        plan,
        model,
    )
    steps = WhitenedSteps(
        n_steps=plan.n_steps,
        size=1.0,
        momentum=0.0,
        first=plan.n_settling,
        clip=clip,
        errors=errors,
        white=white,
    )
    return (white.A @ errors.u)[np.newaxis], steps


def shorter(counts, noise, bins, n_records):
    """Return what mapped rows are shortened to, and how much of a direction that takes at most.

    From counts of rows by their length. A direction has a mean square of about 1, of which rows as
    long as a bin have no more than the square of its end. The length with the least leverage is
    taken, or where too much may be lost, the longest.
    """
    ends = np.square([bins.end(place) for place in range(bins.n_bins)])
    taken = np.maximum(ends - ends[:, np.newaxis], 0.0) / n_records
    lost = np.maximum(taken @ counts, 0.0)
    hidden = noise * np.linalg.norm(taken, axis=1)
    is_fair = lost + hidden <= tuned.LARGEST_SHARE_TAKEN
    best = int(np.argmin(np.where(is_fair, ends / (1.0 - 3.0 * lost - hidden), math.inf)))
    return math.sqrt(ends[best]), Taken(float(lost[best]), float(hidden[best]))


def _least_gain(calm, noise, moment, curvature):
    """Return the smallest gain of steps, up to a half, under which noise moves weights by little.

    With a gain of x, errors that follow each other vary by x / (2 - x) of what one step makes.
    `calm` is the allowed variance of predictions, `noise` the deviation of a gradient's entry.
    """
    inverse = inverse_of(curvature)
    made = np.square(noise) * np.trace(inverse @ moment @ inverse)
    return 2.0 / (1.0 + max(made / calm, 2.0 / tuned.LARGEST_GAIN - 1.0))
