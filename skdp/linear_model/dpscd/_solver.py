"""Stochastic primal coordinate descent with released coordinates and predictions."""

import numpy as np

from skdp._rows.batches import TailAverage, gathered_rows, squeezed
from skdp._rows.clipping import clip_contributions, joint_reach
from skdp._rows.threads import block_mapper, single_threaded_blas, sum_in_order
from skdp.linear_model._plan import STEPS
from skdp.linear_model.dpscd import _tuned as tuned


# A warning about an overflow would reveal something of the data.
@np.errstate(all="ignore")
def solve_dpscd(rows, targets, *, plan, loss, alpha, average, n_jobs, run, weights=None):
    r"""Run Algorithm 1 of Damaskinos et al. (2021), by default with an exact dual variable.

    With theta = v / (alpha n), each step draws a Poisson batch, minimises eq. 8 for each of its
    rows from the last *released* v, clips each row's update, and releases the sum. The dual
    variable is updated without noise and never leaves this function; the guarantee rests on every
    update of a batch being computed from the same released v.

    With a proximal strength, the objective has kappa ||theta - centre||^2 / 2 in addition, so that
    ``theta = (v / n + kappa centre) / (alpha + kappa)``, and the centre follows theta by a pass's
    share at each step (an inexact proximal point method, as in Shalev-Shwartz and Zhang 2014).
    Both are functions of what was released.

    With `plan.noisy_dual` the updates of the dual variable go through the release too, as
    published; they are then clipped as well as what they add to v. `average` asks for the mean of
    the second half of the iterates, or of the last quarter where there is a centre.

    Weights of shape (n,) are above 0. The dual variable of a loss times w is w times that of the
    loss, which is what is kept; its minimisation is that of the loss at the curvature w c, and its
    update w times as long.

    Takes certified rows (n, d) and targets (n, k), and returns theta of shape (k, d).
    """
    sampler, noisy_dual = plan.sampler, plan.noisy_dual
    coins, release = run.coins(), run.steps(STEPS)
    n_rows, n_outputs = targets.shape
    pull = np.full(rows.n_columns, plan.proximal)
    if rows.bias:
        pull[-1] = plan.intercept_proximal
    strength = alpha + pull
    per_theta, kept = 1.0 / (strength * n_rows), pull / strength
    curvature_of_unit = np.array(sampler.rate / (alpha + plan.proximal))
    curvature_of_bias = rows.bias**2 * (sampler.rate / strength[-1] - curvature_of_unit)
    targets = squeezed(targets)
    if weights is not None:
        # Null records may have the weight 0, which nothing could be divided by. They add nothing.
        weights = np.where(rows.norm > 0.0, weights, 1.0)
    dual = np.zeros(targets.shape)
    shared = np.zeros((*targets.shape[1:], rows.n_columns))
    theta, centre = np.zeros(shared.shape), np.zeros(shared.shape)
    skipped = tuned.SKIPPED_SHARE_WITH_CENTRE if plan.proximal else tuned.SKIPPED_SHARE
    mean = TailAverage(shared.shape, sampler.n_steps, average, skipped)
    bound = np.array(plan.clipping_norm)

    def update(gathered, indices, theta):
        norm = gathered.load(indices)
        y = targets.take(indices, axis=0)
        a = dual.take(indices, axis=0)
        if noisy_dual:
            a = loss.feasible(y, a)
        c = np.square(norm)
        c *= curvature_of_unit
        c += curvature_of_bias
        w = None if weights is None else weights.take(indices)
        if w is not None:
            c *= w
        zeta = loss.dual_step(y, gathered.predict(theta), a, c if y.ndim == 1 else c[:, np.newaxis])
        clip_contributions(zeta, joint_reach(norm) if noisy_dual else norm, bound, w)
        dual[indices] = a if noisy_dual else a + per_weight(zeta, w)
        return gathered.sum(zeta), zeta

    with block_mapper(n_jobs, sampler.rate * n_rows, rows, gathered_rows) as map_blocks:
        for batch in sampler.batches(coins):
            updates = map_blocks(update, batch, theta)
            increment = sum_in_order([part for part, _ in updates])
            if noisy_dual:
                zeta = np.concatenate([part for _, part in updates])
                increment, zeta = release.jointly(increment, zeta)
                dual[batch] += per_weight(zeta, None if weights is None else weights[batch])
                shared += increment
            else:
                shared += release(increment)
            theta = shared * per_theta + kept * centre
            centre += sampler.rate * (theta - centre)
            mean.add(theta)
    return mean.value().reshape(n_outputs, -1)


@np.errstate(all="ignore")
def solve_dpscd_sequential(rows, targets, *, plan, loss, alpha, average, run, weights=None):
    """Run Algorithm 3 of Damaskinos et al. (2021), in which an update sees those before it.

    The dual variable is released with v after each batch: an exact one would carry what the later
    updates of a batch saw of a record into releases that record takes no part in. Shapes are those
    of `solve_dpscd`.
    """
    n_rows, n_outputs = targets.shape
    per_theta = 1.0 / (alpha * n_rows)
    counted = np.ones(n_rows) if weights is None else weights
    curvature = counted * rows.norm**2 * per_theta
    reach = joint_reach(rows.norm)
    coins, release = run.coins(), run.steps(STEPS)
    dual = np.zeros((n_rows, n_outputs))
    shared = np.zeros((n_outputs, rows.n_columns))
    mean = TailAverage(shared.shape, plan.sampler.n_steps, average)
    with single_threaded_blas:
        for batch in plan.sampler.batches(coins):
            x = rows.augmented(batch)
            y = targets[batch]
            a = loss.feasible(y, dual[batch])
            zetas = np.empty_like(a)
            increment = np.zeros_like(shared)
            for i, row in enumerate(batch):
                margin = per_theta * ((shared + increment) @ x[i])
                zeta = loss.dual_step(y[i], margin, a[i], curvature[row, np.newaxis])
                one = slice(row, row + 1)
                zeta = zeta[np.newaxis]
                zetas[i] = clip_contributions(zeta, reach[one], plan.clipping_norm, counted[one])
                increment += np.outer(zetas[i], x[i])
            increment, zetas = release.jointly(increment, zetas)
            shared += increment
            dual[batch] = a + per_weight(zetas, counted[batch])
            mean.add(shared)
    return mean.value() * per_theta


def per_weight(zeta, weights):
    """Return what updates of dual variables, or of vectors over outputs, are of the losses'."""
    if weights is None:
        return zeta
    return zeta / (weights if zeta.ndim == 1 else weights[:, np.newaxis])


@np.errstate(all="ignore")
def solve_dpscd_primal(columns, targets, *, plan, loss, alpha, average, run, weights=None):
    r"""Run Algorithm 2 of Damaskinos et al. (2021).

    Works on columns divided by public bounds b_j of their norms, so on coordinates w_j = b_j
    theta_j. Each step minimises, for every coordinate of a batch of L, the quadratic bound of the
    objective with the L-fold curvature that makes parallel updates safe, clips the update, and
    releases the updates together with what they add to the n predictions. The clipping norm bounds
    a coordinate's update in units of w_j. Shapes are those of `solve_dpscd`.
    """
    n_rows, n_outputs = targets.shape
    penalty = alpha / columns.unit**2
    counted = np.ones((n_rows, 1)) if weights is None else weights[:, np.newaxis]
    squares = np.einsum("ij,ij->j", columns.X, counted * columns.X)
    coins, release = run.coins(), run.steps(STEPS)
    curvature = plan.sampler.batch_size * loss.smoothness * squares / n_rows
    w = np.zeros((columns.X.shape[1], n_outputs))
    predictions = np.zeros((n_rows, n_outputs))
    mean = TailAverage(w.shape, plan.sampler.n_steps, average)
    with single_threaded_blas:
        for batch in plan.sampler.batches(coins):
            x = columns.X[:, batch]
            slope = x.T @ (counted * loss.gradient(targets, predictions)) / n_rows
            slope += penalty[batch, np.newaxis] * w[batch]
            zeta = -slope / (curvature + penalty)[batch, np.newaxis]
            clip_contributions(zeta, np.ones(batch.size), plan.clipping_norm)
            moved, zeta = release.jointly(x @ zeta, zeta)
            predictions += moved
            w[batch] += zeta
            mean.add(w)
    return (mean.value() / columns.unit[:, np.newaxis]).T
