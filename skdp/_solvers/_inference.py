"""Newton's steps on whitened rows, and the releases that standard errors are made of."""

import math
from dataclasses import dataclass

import numpy as np

from skdp._mechanisms import as_symmetric
from skdp._solvers._curvature import map_moment
from skdp._solvers._errors import Errors, Releases, estimate
from skdp._solvers._whitening import whiten

# What the mapped rows are taken to fill at least, in columns.
_LEAST_COLUMNS = 0.01
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
    made of releases, :math:`u_{t+1} = u_t - H_t^{-1} g_t` while steps settle; afterwards
    :math:`u_{t+1}` is the mean of all :math:`u_s - H_s^{-1} g_s` that are kept.

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
    clip = model.clip * math.sqrt(columns) if plan.clipping_norm == "auto" else plan.clipping_norm

    def gradient(u, mechanism):
        released = mechanism.release(sums.slopes(u[:, np.newaxis], mechanism), stream)
        return released[:, 0] / n_rows + mapped.penalty @ u

    def newton(u, g, correction):
        step = np.linalg.solve(model.curvature(mapped, u, correction) + mapped.penalty, g)
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
        jitter = (columns * mechanism.noise_std / n_rows) ** 2
        clip = model.next_clip(clip, first_share, jitter, noise, n_rows / columns)
        sums.bound_slopes(white.A, clip)
        mechanism = plan.step_mechanism(clip, plan.n_steps, white.stretch)
    kept, targets = [], []
    for _ in range(plan.n_steps - plan.n_settling):
        g = gradient(u, mechanism)
        kept.append((u, g))
        targets.append(u - newton(u, g, correction))
        # Without noise there is nothing to average.
        u = np.mean(targets, axis=0) if plan.budget.is_private else targets[-1]
    last_share, cut = share(means_mechanism, u)
    last_share = believed(last_share, means_mechanism)
    bound = model.matrix_bound(clip, last_share, columns) if plan.budget.is_private else math.inf
    matrix_mechanism = plan.matrix_mechanism(bound)
    released = matrix_mechanism.release(
        sums.matrix(u[:, np.newaxis], bound, matrix_mechanism), stream
    )
    found = estimate(
        Releases(
            white=white,
            u=u,
            mean_u=np.mean([u for u, _ in kept], axis=0),
            mean_gradient=np.mean([g for _, g in kept], axis=0),
            gradient_noise=mechanism.noise_std / (n_rows * math.sqrt(len(kept))),
            share=last_share,
            cut=float(cut),
            cut_noise=means_mechanism.noise_std / n_rows,
            clip=clip,
            matrix=as_symmetric(released, problem.n_columns) / n_rows,
            matrix_noise=matrix_mechanism.noise_std / n_rows,
        ),
        plan,
        model,
    )
    steps = InferenceSteps(plan.n_steps, 1.0, 0.0, clip, found)
    return (white.A @ found.u)[np.newaxis], steps
