"""Newton's steps on whitened rows, and the releases that standard errors are made of."""

import math
from dataclasses import dataclass

import numpy as np

from skdp._mechanisms import as_symmetric
from skdp._solvers._curvature import inverse_of, map_moment
from skdp._solvers._errors import Errors, Releases, estimate
from skdp._solvers._whitening import whiten

# What the mapped rows are taken to fill at least, in columns.
_LEAST_COLUMNS = 0.01
# Of steps that are kept, once there are some.
_LARGEST_GAIN = 0.5
# Shares below this are taken to be noise.
_LEAST_SHARE = 1e-6


@dataclass(frozen=True)
class InferenceSteps:
    """The steps that were taken, and what is known of their result; see `Steps`."""

    n_steps: int
    size: float
    momentum: float
    clip: float
    errors: Errors


# A warning about an overflow would tell of the data.
@np.errstate(all="ignore")
def solve_inference(sums, *, plan, model, stream):
    r"""Minimise mean loss + alpha ||w||^2 / 2 by Newton's steps, and say how sure the result is.

    In the coordinates u of ``w = A u``, with A as in `solve_whitened` and :math:`H_t` a curvature
    made of releases, :math:`u_{t+1} = u_t - \gamma_t H_t^{-1} g_t` with gains of 1 while steps
    settle, and falling ones afterwards.

    Parameters
    ----------
    sums : InferenceSums
    plan : InferencePlan
    model : Squares or Logistic
    stream : stream of `skdp._random`

    Returns
    -------
    w : ndarray of shape (1, p)
    steps : InferenceSteps
    """
    problem, n_rows = plan.problem, plan.n_rows
    released = plan.moment_mechanism.release(sums.moment(plan.moment_mechanism), stream)
    moment = as_symmetric(released, problem.n_columns) / n_rows
    if not np.isfinite(moment).all():
        return np.full((1, problem.n_columns), np.nan), None
    white = whiten(moment, plan)
    mapped = map_moment(white, problem, with_hidden=True)
    columns = max(white.effective_columns, float(bool(problem.bias)), _LEAST_COLUMNS)
    longest = problem.row_norm / math.sqrt(white.scale.min())
    # No row's slope is longer.
    largest = model.steepest * longest if problem.bounded_targets else math.inf
    if plan.clipping_norm == "auto":
        clip = min(model.clip * math.sqrt(columns), largest)
    else:
        clip = plan.clipping_norm

    def gradient(u, mechanism):
        released = mechanism.release(sums.slopes(u[:, np.newaxis], mechanism), stream)
        return released[:, 0] / n_rows + mapped.penalty @ u

    def newton(u, g, correction):
        step = inverse_of(model.curvature(mapped, u, correction) + mapped.penalty) @ g
        moves = math.sqrt(max(float(step @ mapped.moment @ step), 0.0))
        return step * min(1.0, model.reach / max(moves, 1e-300))

    def share(mechanism, u):
        total = mechanism.release(sums.means(u[:, np.newaxis], mechanism), stream)
        return total / n_rows

    def believed(share, mechanism):
        return max(float(share), mechanism.noise_std / n_rows, _LEAST_SHARE)

    u = np.zeros(problem.n_columns)
    sums.bound_slopes(white.A, clip)
    mechanism = plan.step_mechanism(clip, plan.n_steps, white.stretch)
    for _ in range(plan.n_settling):
        u = u - newton(u, gradient(u, mechanism), 1.0)
    scale_mechanism, means_mechanism = plan.scale_mechanism(), plan.means_mechanism()
    first_share = believed(*share(scale_mechanism, u), scale_mechanism)
    correction = model.correction(first_share, mapped, u)
    if plan.clipping_norm == "auto" and plan.budget.is_private:
        n_kept = plan.n_steps - plan.n_settling
        noise = plan.steps_multiplier * math.sqrt(plan.n_steps / n_kept)
        jitter = np.square(columns * mechanism.noise_std / n_rows)
        clip = min(model.next_clip(clip, first_share, jitter, noise, n_rows / columns), largest)
        sums.bound_slopes(white.A, clip)
        mechanism = plan.step_mechanism(clip, plan.n_steps, white.stretch)
    kept = []
    curvature = model.curvature(mapped, u, correction) + mapped.penalty
    least_gain = _least_gain(model.calm, mechanism.noise_std / n_rows, mapped.moment, curvature)
    for _ in range(plan.n_steps - plan.n_settling):
        g = gradient(u, mechanism)
        kept.append((u, g))
        # Without noise there is nothing to average.
        gain = max(1.0 / len(kept), least_gain) if plan.budget.is_private else 1.0
        u = u - gain * newton(u, g, correction)
    mean_u = np.mean([u for u, _ in kept], axis=0)
    spread = np.mean([(u - mean_u) @ mapped.moment @ (u - mean_u) for u, _ in kept])
    last_share, lost = share(means_mechanism, u)
    last_share = believed(last_share, means_mechanism)
    is_cut = plan.budget.is_private and clip < largest
    bound = math.inf
    if plan.budget.is_private:
        bound = model.matrix_bound(clip, last_share, columns, longest)
    matrix_mechanism = plan.matrix_mechanism(bound)
    released = matrix_mechanism.release(
        sums.matrix(u[:, np.newaxis], bound, matrix_mechanism), stream
    )
    if not all(np.isfinite(part).all() for part in (u, released)):
        return np.full((1, problem.n_columns), np.nan), None
    found = estimate(
        Releases(
            white=white,
            least=float(np.linalg.eigvalsh(moment)[0]),
            filled=_filled(moment, problem),
            u=u,
            mean_u=mean_u,
            mean_gradient=np.mean([g for _, g in kept], axis=0),
            gradient_noise=mechanism.noise_std / (n_rows * math.sqrt(len(kept))),
            share=last_share,
            columns=columns,
            lost=max(float(lost), 0.0) if is_cut else 0.0,
            lost_noise=means_mechanism.noise_std / n_rows if is_cut else 0.0,
            clip=clip,
            matrix=as_symmetric(released, problem.n_columns) / n_rows,
            matrix_noise=matrix_mechanism.noise_std / n_rows,
            spread=float(spread),
        ),
        plan,
        model,
    )
    steps = InferenceSteps(plan.n_steps, 1.0, 0.0, clip, found)
    return (white.A @ found.u)[np.newaxis], steps


def _filled(moment, problem):
    rest = problem.bias**2
    return float((np.trace(moment) - rest) / (problem.row_norm**2 - rest))


def _least_gain(calm, noise, moment, curvature):
    """Return the smallest gain of steps, up to a half, under which noise moves weights by little.

    With a gain of x, errors that follow each other vary by x / (2 - x) of what one step makes.

    Parameters
    ----------
    calm : float
        Allowed variance of predictions.
    noise : float
        Standard deviation of the noise of an entry of a gradient.
    moment, curvature : ndarray of shape (p, p)
    """
    inverse = inverse_of(curvature)
    made = np.square(noise) * np.trace(inverse @ moment @ inverse)
    return 2.0 / (1.0 + max(made / calm, 2.0 / _LARGEST_GAIN - 1.0))
