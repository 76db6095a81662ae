"""Proximal stochastic gradient descent with released gradients."""

import math

import numpy as np

from skdp._bounds import clip_contributions
from skdp._solvers._average import TailAverage
from skdp._solvers._gathered import GatheredRows, squeezed
from skdp._solvers._parallel import block_mapper, sum_in_order


# A warning about an overflow would tell of the data.
@np.errstate(all="ignore")
def solve_dpsgd(
    rows,
    targets,
    *,
    loss,
    penalty,
    sampler,
    mechanism,
    noise_multipliers=None,
    full_step_noise=math.inf,
    clipping_norm,
    eta0,
    power,
    radius,
    average,
    n_jobs,
    coins,
    noise,
    start=None,
):
    r"""Run the stochastic gradient descent of Song et al. (2013) and Abadi et al. (2016).

    Each step draws a batch, clips the gradient of each of its rows, releases their sum and makes a
    proximal step, with L the batch's public or expected size:

    .. math:: w \leftarrow \mathrm{Proj}\bigl(\mathrm{prox}_{\eta_t}(w - \eta_t g / L)\bigr),
              \quad \eta_t = \eta_0 t^{-p} .

    The gradient of a row is the outer product of its k derivatives and the row, so its length is
    the product of two lengths and the gradients themselves are never built. All that is kept from
    step to step is made of releases.

    Parameters
    ----------
    rows : BoundedRows
        n certified rows of d columns, the intercept's included.
    targets : ndarray of shape (n, k)
        One column an output.
    loss : Loss
    penalty : Penalty
    sampler : PoissonSampler, PartitionSampler or SortedPartitionSampler
    mechanism : GaussianMechanism or LaplaceMechanism
    noise_multipliers : ndarray of shape (n,), default=None
        Public noise multipliers that the records ask for; a batch's release serves them all. None
        means that of the mechanism. With disjoint batches only.
    full_step_noise : float, default=inf
        Batches whose noise multiplier over size is larger take steps that are shorter by the square
        of the ratio. With `noise_multipliers` only.
    clipping_norm : float
        What a row's gradient is clipped to.
    eta0, power : float
        First step size and the exponent p.
    radius : float
        Length that w is cut to.
    average : bool
        Return the mean of the second half of the iterates.
    n_jobs : int or None
    coins, noise : streams of `skdp._random`
    start : ndarray of shape (k, d), default=None
        First w, public; None means zero.

    Returns
    -------
    ndarray of shape (k, d)
        w.
    """
    n_outputs = targets.shape[1]
    targets = squeezed(targets)
    shape = (*targets.shape[1:], rows.n_columns)
    w = np.zeros(shape) if start is None else start.reshape(shape)
    mean = TailAverage(shape, sampler.n_steps, average)
    bound = np.array(clipping_norm)

    def gradient(gathered, indices, w):
        norm = gathered.load(indices)
        slopes = loss.gradient(targets.take(indices, axis=0), gathered.predict(w))
        clip_contributions(slopes, norm, bound)
        return gathered.sum(slopes)

    with block_mapper(n_jobs, sampler.expected_size, rows, GatheredRows) as map_blocks:
        for t, batch in enumerate(sampler.batches(coins), start=1):
            total = sum_in_order(map_blocks(gradient, batch, w))
            eta = eta0 * float(t) ** -power
            if noise_multipliers is None:
                released = mechanism.release(total, noise)
            else:
                serving = mechanism.serving(noise_multipliers[batch])
                released = serving.release(total, noise)
                quiet = full_step_noise * batch.size / serving.noise_multiplier
                eta *= min(1.0, quiet) ** 2
            w = w - (eta / sampler.divisor(batch)) * released
            w = penalty.prox(w, eta)
            length = math.sqrt(np.vdot(w, w))
            if length > radius:
                w *= radius / length
            mean.add(w)
    return mean.value().reshape(n_outputs, -1)
