"""Stochastic dual coordinate descent with a released shared vector."""

from functools import partial

import numpy as np

from skdp._bounds import clip_contributions
from skdp._solvers._average import TailAverage
from skdp._solvers._joint import joint_reach, release_jointly
from skdp._solvers._parallel import BLOCK_ROWS, block_mapper, single_threaded_blas


# A warning about an overflow would tell of the data. Threads need the context of their own.
@np.errstate(all="ignore")
def solve_dual_cd(
    rows,
    targets,
    *,
    loss,
    alpha,
    sampler,
    mechanism,
    clipping_norm,
    noisy_dual,
    average,
    n_jobs,
    coins,
    noise,
):
    r"""Run Algorithm 1 of Damaskinos et al. (2021), by default with an exact dual variable.

    With theta = v / (alpha n), each step draws a Poisson batch, minimises eq. 8 for each of its
    rows from the last *released* v, clips each row's update, and releases the sum. The dual
    variable is updated without noise and never leaves this function; the guarantee rests on every
    update of a batch being computed from the same released v.

    Parameters
    ----------
    rows : BoundedRows
        n certified rows of d columns, the intercept's included.
    targets : ndarray of shape (n, k)
        One column an output.
    loss : object of `skdp._losses`
    alpha : float
        Regularisation: the objective is mean loss + alpha ||theta||^2 / 2.
    sampler : PoissonSampler
    mechanism : GaussianMechanism
    clipping_norm : float
        What a row's update is clipped to.
    noisy_dual : bool
        Whether the updates of the dual variable go through the release too, as published. They
        are then clipped as well as what they add to v.
    average : bool
        Return the mean of the second half of the iterates.
    n_jobs : int or None
    coins, noise : streams of `skdp._random`

    Returns
    -------
    ndarray of shape (k, d)
        theta.
    """
    n_rows, n_outputs = targets.shape
    n_features = rows.X.shape[1]
    per_theta = 1.0 / (alpha * n_rows)
    curvature = rows.norm**2 * (sampler.rate / alpha)
    reach = joint_reach(rows.norm) if noisy_dual else rows.norm
    dual = np.zeros((n_rows, n_outputs))
    shared = np.zeros((n_outputs, rows.n_columns))
    mean = TailAverage(shared.shape, sampler.n_steps, average)

    with block_mapper(n_jobs, sampler.rate * n_rows * n_features) as (map_blocks, n_workers):
        buffers = [np.empty((min(BLOCK_ROWS, n_rows), n_features)) for _ in range(n_workers)]

        def update(batch, theta, start, stop, worker):
            indices = batch[start:stop]
            increment = np.empty_like(theta)
            with np.errstate(all="ignore"):
                x = rows.take(indices, buffers[worker][: stop - start])
                margins = x @ theta[:, :n_features].T
                y = targets.take(indices, axis=0)
                a = dual.take(indices, axis=0)
                if noisy_dual:
                    a = loss.feasible(y, a)
                if rows.bias:
                    margins += rows.bias * theta[:, n_features]
                zeta = loss.dual_step(y, margins, a, curvature.take(indices)[:, np.newaxis])
                clip_contributions(zeta, reach.take(indices), clipping_norm)
                dual[indices] = a if noisy_dual else a + zeta
                increment[:, :n_features] = zeta.T @ x
                if rows.bias:
                    increment[:, n_features] = rows.bias * zeta.sum(axis=0)
            return increment, zeta

        for batch in sampler.batches(coins):
            increment = np.zeros_like(shared)
            updates = map_blocks(partial(update, batch, shared * per_theta), batch.size)
            for part, _ in updates:
                increment += part
            if noisy_dual:
                zeta = [np.empty((0, n_outputs)), *(part for _, part in updates)]
                increment, zeta = release_jointly(mechanism, increment, np.concatenate(zeta), noise)
                dual[batch] += zeta
                shared += increment
            else:
                shared += mechanism.release(increment, noise)
            mean.add(shared)
    return mean.value() * per_theta


@np.errstate(all="ignore")
def solve_sequential_cd(
    rows, targets, *, loss, alpha, sampler, mechanism, clipping_norm, average, coins, noise
):
    """Run Algorithm 3 of Damaskinos et al. (2021), in which an update sees those before it.

    The dual variable is released with v after each batch: an exact one would carry what the later
    updates of a batch saw of a record into releases that record takes no part in.

    Parameters
    ----------
    rows, targets, loss, alpha, mechanism, clipping_norm, average, coins, noise
        As in `solve_dual_cd`.
    sampler : PartitionSampler

    Returns
    -------
    ndarray of shape (k, d)
        theta.
    """
    n_rows, n_outputs = targets.shape
    per_theta = 1.0 / (alpha * n_rows)
    curvature = rows.norm**2 * per_theta
    reach = joint_reach(rows.norm)
    dual = np.zeros((n_rows, n_outputs))
    shared = np.zeros((n_outputs, rows.n_columns))
    mean = TailAverage(shared.shape, sampler.n_steps, average)
    with single_threaded_blas:
        for batch in sampler.batches(coins):
            x = rows.augmented(batch)
            y = targets[batch]
            a = loss.feasible(y, dual[batch])
            zetas = np.empty_like(a)
            increment = np.zeros_like(shared)
            for i, row in enumerate(batch):
                margin = per_theta * ((shared + increment) @ x[i])
                zeta = loss.dual_step(y[i], margin, a[i], curvature[row, np.newaxis])
                zetas[i] = clip_contributions(
                    zeta[np.newaxis], reach[row, np.newaxis], clipping_norm
                )
                increment += np.outer(zetas[i], x[i])
            increment, zetas = release_jointly(mechanism, increment, zetas, noise)
            shared += increment
            dual[batch] = a + zetas
            mean.add(shared)
    return mean.value() * per_theta
