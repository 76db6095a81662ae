"""Stochastic primal coordinate descent with released coordinates and predictions."""

import numpy as np

from skdp._clipping import clip_contributions
from skdp._mechanisms import release_jointly
from skdp._solvers._average import TailAverage
from skdp._solvers._parallel import single_threaded_blas


@np.errstate(all="ignore")
def solve_dpscd_primal(columns, targets, *, plan, loss, alpha, average, coins, noise, weights=None):
    r"""Run Algorithm 2 of Damaskinos et al. (2021).

    Works on columns divided by public bounds b_j of their norms, so on coordinates w_j = b_j
    theta_j. Each step minimises, for every coordinate of a batch of L, the quadratic bound of the
    objective with the L-fold curvature that makes parallel updates safe, clips the update, and
    releases the updates together with what they add to the n predictions.

    Parameters
    ----------
    columns : BoundedColumns
    targets : ndarray of shape (n, k)
    plan : DPSCDPlan
        With a CoordinateSampler; the clipping norm bounds a coordinate's update in units of w_j.
    loss : Loss
        Smooth.
    alpha, average, coins, noise, weights
        As in `solve_dpscd`.

    Returns
    -------
    ndarray of shape (k, d)
        theta.
    """
    n_rows, n_outputs = targets.shape
    penalty = alpha / columns.unit**2
    counted = np.ones((n_rows, 1)) if weights is None else weights[:, np.newaxis]
    squares = np.einsum("ij,ij->j", columns.X, counted * columns.X)
    curvature = plan.sampler.batch_size * loss.smoothness * squares / n_rows
    w = np.zeros((columns.X.shape[1], n_outputs))
    predictions = np.zeros((n_rows, n_outputs))
    sampler = plan.sampler
    mean = TailAverage(w.shape, sampler.n_steps, average)
    with single_threaded_blas:
        for batch in sampler.batches(coins):
            x = columns.X[:, batch]
            slope = x.T @ (counted * loss.gradient(targets, predictions)) / n_rows
            slope += penalty[batch, np.newaxis] * w[batch]
            zeta = -slope / (curvature + penalty)[batch, np.newaxis]
            clip_contributions(zeta, np.ones(batch.size), plan.clipping_norm)
            moved, zeta = release_jointly(plan.mechanism, x @ zeta, zeta, noise)
            predictions += moved
            w[batch] += zeta
            mean.add(w)
    return (mean.value() / columns.unit[:, np.newaxis]).T
