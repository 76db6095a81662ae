"""A slope and an offset from noisy counts. Nothing here sees a record."""

import math

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

# Standard deviations of what is thought beforehand of the slope's logarithm and of the offset: a
# classifier is about right. Where noise drowns the counts, it is left as it is.
_SLOPE_SPREAD, _OFFSET_SPREAD = 1.0, 0.5
_LARGEST = 12.0
# From where the search starts: the surface may have a valley beside that of 0.
_STARTS = ((0.0, 0.0), (-1.5, 0.0), (1.0, 0.0))
# A cell of no records has no variance of its own.
_LEAST_VARIANCE = 1e-3


def fit_sigmoid(negative, positive, values, noise_std):
    r"""Return the slope and offset that turn decision values into log-odds.

    In a cell of decision value v, :math:`r = a (1 - p) - c p` has the mean 0 where :math:`p =
    \sigma(s v + o)` is true, of the counts a of the positive and c of the negative class, and also
    with noise on them; its variance is :math:`(a + c) p (1 - p)` of the sample and
    :math:`((1 - p)^2 + p^2)` times that of the noise. The most likely s and o are those of normal
    r, and of the spread that they are thought to have beforehand.

    Parameters
    ----------
    negative, positive : ndarray of shape (n_cells,)
        Noisy counts.
    values : ndarray of shape (n_cells,)
        Decision value that stands for each cell.
    noise_std : float
        Of each count.

    Returns
    -------
    slope, offset : float
        The slope is positive: the order of records stays.
    """
    total = np.maximum(negative + positive, 0.0)

    def cost(parameters):
        p = expit(math.exp(parameters[0]) * values + parameters[1])
        residual = positive * (1.0 - p) - negative * p
        variance = total * np.maximum(p * (1.0 - p), _LEAST_VARIANCE) + _LEAST_VARIANCE
        variance += noise_std**2 * ((1.0 - p) ** 2 + p**2)
        thought = (parameters[0] / _SLOPE_SPREAD) ** 2 + (parameters[1] / _OFFSET_SPREAD) ** 2
        return 0.5 * (np.sum(residual**2 / variance + np.log(variance)) + thought)

    limits = 2 * [(-_LARGEST, _LARGEST)]
    found = [minimize(cost, start, method="L-BFGS-B", bounds=limits) for start in _STARTS]
    log_slope, offset = min(found, key=lambda one: one.fun).x
    return math.exp(log_slope), float(offset)
