"""Stochastic dual coordinate descent with a released shared vector and a hidden dual variable."""

from functools import partial

import numpy as np

from skdp._bounds import clip_contributions
from skdp._solvers._parallel import BLOCK_ROWS, block_mapper


# A warning about an overflow would tell of the data. Threads need the context of their own.
@np.errstate(all="ignore")
def solve_dual_cd(rows, targets, *, loss, alpha, sampler, mechanism, average, n_jobs, coins, noise):
    r"""Run Algorithm 1 of Damaskinos et al. (2021) with an exact dual variable.

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
        Its `contribution_bound` is what a row's update is clipped to.
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
    bound = mechanism.contribution_bound
    dual = np.zeros((n_rows, n_outputs))
    shared = np.zeros((n_outputs, rows.n_columns))
    first_averaged = sampler.n_steps // 2 if average else sampler.n_steps - 1
    total = np.zeros_like(shared)

    with block_mapper(n_jobs, sampler.rate * n_rows * n_features) as (map_blocks, n_workers):
        buffers = [np.empty((min(BLOCK_ROWS, n_rows), n_features)) for _ in range(n_workers)]

        def update(batch, theta, start, stop, worker):
            indices = batch[start:stop]
            increment = np.empty_like(theta)
            with np.errstate(all="ignore"):
                x = rows.take(indices, buffers[worker][: stop - start])
                margins = x @ theta[:, :n_features].T
                a = dual.take(indices, axis=0)
                if rows.bias:
                    margins += rows.bias * theta[:, n_features]
                zeta = loss.dual_step(
                    targets.take(indices, axis=0),
                    margins,
                    a,
                    curvature.take(indices)[:, np.newaxis],
                )
                clip_contributions(zeta, rows.norm.take(indices), bound)
                dual[indices] = a + zeta
                increment[:, :n_features] = zeta.T @ x
                if rows.bias:
                    increment[:, n_features] = rows.bias * zeta.sum(axis=0)
            return increment

        for step, batch in enumerate(sampler.batches(coins)):
            increment = np.zeros_like(shared)
            for part in map_blocks(partial(update, batch, shared * per_theta), batch.size):
                increment += part
            shared += mechanism.release(increment, noise)
            if step >= first_averaged:
                total += shared
    return total * (per_theta / (sampler.n_steps - first_averaged))
