"""Proximal stochastic gradient descent with released gradients."""

import math

import numpy as np

from skdp._rows.batches import TailAverage, gathered_rows, squeezed
from skdp._rows.clipping import clip_contributions
from skdp._rows.threads import block_mapper, sum_in_order
from skdp.linear_model._plan import STEPS


# A warning about an overflow would tell of the data.
@np.errstate(all="ignore")
def solve_dpsgd(
    rows, targets, *, plan, loss, penalty, average, n_jobs, run, start=None, weights=None
):
    r"""Run the stochastic gradient descent of Song et al. (2013) and Abadi et al. (2016).

    Each step draws a batch, clips the gradient of each of its rows, releases their sum and makes a
    proximal step, with L the batch's public or expected size:

    .. math:: v \leftarrow m v + (1 - m)\, \eta_t g / L, \quad
              w \leftarrow \mathrm{Proj}\bigl(\mathrm{prox}_{\eta_t}(w - v)\bigr),
              \quad \eta_t = \eta_0 t^{-p} .

    The gradient of a row is the outer product of its k derivatives and the row, so its length is
    the product of two lengths and the gradients themselves are never built. All that is kept from
    step to step is made of releases.

    Where the plan has `noise_multipliers`, a batch's release serves all that its records ask for,
    and batches of more noise than `full_step_noise` take steps that are shorter by the square of
    the ratio. `average` asks for the mean of the second half of the iterates.

    Takes certified rows (n, d), targets (n, k), a public first w of shape (k, d), None being zero,
    and weights of shape (n,), and returns w.
    """
    sampler, coins = plan.sampler, run.coins()
    release = run.steps(STEPS)
    n_outputs = targets.shape[1]
    targets = squeezed(targets)
    shape = (*targets.shape[1:], rows.n_columns)
    w = np.zeros(shape) if start is None else start.reshape(shape)
    mean = TailAverage(shape, sampler.n_steps, average)
    bound = np.array(plan.clipping_norm)
    last_move = np.zeros(shape)

    def gradient(gathered, indices, w):
        norm = gathered.load(indices)
        slopes = loss.gradient(targets.take(indices, axis=0), gathered.predict(w))
        counted = None if weights is None else weights.take(indices)
        clip_contributions(slopes, norm, bound, counted)
        return gathered.sum(slopes)

    with block_mapper(n_jobs, sampler.expected_size, rows, gathered_rows) as map_blocks:
        for t, batch in enumerate(sampler.batches(coins), start=1):
            total = sum_in_order(map_blocks(gradient, batch, w))
            eta = plan.eta0 * float(t) ** -plan.power
            if plan.noise_multipliers is None:
                released = release(total)
            else:
                asked = plan.noise_multipliers[batch]
                released = release.serve(total, asked)
                quiet = plan.full_step_noise * batch.size / float(asked.max())
                eta *= min(1.0, quiet) ** 2
            move = (eta / sampler.divisor(batch)) * released
            if plan.momentum > 0.0:
                move *= 1.0 - plan.momentum
                move += plan.momentum * last_move
                last_move = move
            w = penalty.prox(w - move, eta)
            length = math.sqrt(np.vdot(w, w))
            if length > plan.radius:
                w *= plan.radius / length
            mean.add(w)
    return mean.value().reshape(n_outputs, -1)
