"""Proximal coordinate descent with released coordinates of the gradient."""

from itertools import islice

import numpy as np
from scipy.linalg.blas import daxpy

from skdp._bounds import clip_entries
from skdp._solvers._average import CoordinateMean
from skdp._solvers._parallel import single_threaded_blas

# Weights within this range keep predictions finite, so that a null record's stay 0.
_LARGEST_WEIGHT = 1e100
# NumPy adds up numbers that lie side by side in blocks of at most this many, and then the blocks.
SUM_BLOCK = 128


@np.errstate(all="ignore")
def solve_dpcd(
    columns, targets, *, loss, penalty, step, period, average, sampler, mechanism, coins, noise
):
    r"""Run Algorithm 1 of Mangold et al. (2022).

    Works on columns divided by units u_j, so on coordinates u_j w_j. In units of the thresholds C_j
    one record's part of every release has the bound 1 and every coordinate has the same step. The
    predictions follow each update, and are computed afresh at the end of a period, when the iterate
    may be replaced by the mean of the period's iterates.

    Parameters
    ----------
    columns : BoundedColumns
    targets : ndarray of shape (n, k)
    loss : Loss
        Smooth.
    penalty : Penalty
        Of the coefficients w, the intercept's included.
    step : float
        Step size in the units' coordinates, for the gradient of the mean loss.
    period : int
        Steps of a period; what remains for the last may be less.
    average : bool
        Whether to average each period.
    sampler : SingleCoordinateSampler
    mechanism : GaussianMechanism
        Of sums over records of k-vectors, each clipped to its contribution bound.
    coins, noise : streams of `skdp._random`

    Returns
    -------
    ndarray of shape (k, d)
        w, the mean of the last period or its last iterate.
    """
    X, unit = columns
    n_rows, n_outputs = targets.shape
    # NumPy is faster on one axis than on two of which one has length 1.
    shape = (n_rows,) if n_outputs == 1 else (n_outputs, n_rows)
    targets = np.ascontiguousarray(targets.T).reshape(shape)
    scaled = penalty.in_units(unit).within(_LARGEST_WEIGHT)
    penalties = [scaled.of_coefficient(j) for j in range(unit.size)]
    x = list(X.T)
    per_row = step / n_rows
    bound = mechanism.contribution_bound
    coordinates = sampler.coordinates(coins)
    buffer = np.empty(shape)
    w = [[alone.prox_of_number(0.0, 0.0) for alone in penalties] for _ in range(n_outputs)]

    with single_threaded_blas:
        predictions = np.empty(shape)
        of_output = list(predictions.reshape(n_outputs, n_rows))
        predictions[...] = _predictions(X, w, shape)
        for first in range(0, sampler.n_steps, period):
            mean = CoordinateMean(n_outputs, unit.size)
            for done, j in enumerate(islice(coordinates, period)):
                np.multiply(loss.gradient(targets, predictions), x[j], out=buffer)
                clip_entries(buffer, bound)
                slope = mechanism.release(np.add.reduce(buffer, axis=-1), noise)
                times, prox = mean.uncounted(j, done), penalties[j].prox_of_number
                for output, slope_of_output in enumerate(_listed(slope)):
                    old = w[output][j]
                    new = prox(old - per_row * slope_of_output, step)
                    mean.total[output][j] += times * old
                    w[output][j] = new
                    # Under an L1 penalty most coordinates stay where they are.
                    if new != old:
                        daxpy(x[j], of_output[output], a=new - old)
            if average:
                averaged = mean.value(w, min(period, sampler.n_steps - first))
                # The mean of numbers within an interval may leave it by rounding.
                w = np.clip(averaged, scaled.low, scaled.high).tolist()
            predictions[...] = _predictions(X, w, shape)
    return np.clip(np.array(w) / unit, penalty.low, penalty.high)


def mean_squares(X, reach, mechanism, noise):
    """Release the mean square of each column in units of ``reach ** 2``.

    Parameters
    ----------
    X : ndarray of shape (n, d), Fortran-contiguous
    reach : ndarray of shape (d,)
        What no entry of a column exceeds in size: each record adds a vector of [0, 1]^d.
    mechanism : GaussianMechanism
        Of the sum over records.
    noise : stream of `skdp._random`
    """
    total = np.empty(X.shape[1])
    with np.errstate(all="ignore"):
        for j, column in enumerate(X.T):
            total[j] = np.add.reduce(np.square(column / reach[j]))
    return mechanism.release(total, noise) / X.shape[0]


def _predictions(X, w, shape):
    return (X @ np.array(w).T).T.reshape(shape)


def _listed(slopes):
    """Return a number or an array over outputs as a list."""
    return slopes.tolist() if slopes.ndim else [float(slopes)]
