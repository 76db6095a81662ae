"""Sums of slopes along a column that are compiled; see `skdp._rows.kernels`."""

import numpy as np

from skdp._rows.kernels import LOSSES, _called_by_python, _compiled, _set_log_loss

__all__ = ["LOSSES", "sum_slopes"]
# Numbers that are added up before their sum is added: as many as NumPy takes, for the same slack.
_BLOCK = 128


@_compiled(fastmath={"reassoc", "contract"})
def _product(slopes, x):
    total = 0.0
    for i in range(len(x)):
        total += slopes[i] * x[i]
    return total


@_compiled()
def _cut(scales, weights, lengths, bound, slopes):
    """Cut slopes; first scale those of the logistic loss, where they are to be."""
    if weights is not None:
        for i in range(len(slopes)):
            size = abs(slopes[i])
            # That of the worse label, which isn't known here.
            largest_slope = max(size, 1.0 - size) * lengths[i] * weights[i] if scales else 0.0
            slopes[i] *= weights[i] * (bound / max(largest_slope, bound))
    elif scales:
        for i in range(len(slopes)):
            size = abs(slopes[i])
            slopes[i] *= bound / max(max(size, 1.0 - size) * lengths[i], bound)
    for i in range(len(slopes)):
        slope = slopes[i] * (bound / max(abs(slopes[i]) * lengths[i], bound))
        is_there = (abs(slope) < np.inf) & (lengths[i] > 0.0)
        slopes[i] = slope if is_there else 0.0


@_called_by_python(n_written=0)
@_compiled()
def sum_slopes(loss, scales, targets, predictions, x, lengths, weights, bound):
    """Return the sum of slopes, times their weights, times the entries of a column.

    Each is cut so that times its length it is within the bound. Where they are to be scaled, the
    logistic loss's are first divided by how far that of the worse label is beyond the bound.
    """
    buffer, total = np.empty(_BLOCK), 0.0
    for first in range(0, len(x), _BLOCK):
        stop = min(first + _BLOCK, len(x))
        slopes, of_rows = buffer[: stop - first], targets[first:stop]
        slopes[:] = predictions[first:stop]
        if loss == 0:
            _set_log_loss(of_rows, slopes)
        else:
            for i in range(len(slopes)):
                slopes[i] -= of_rows[i]
        heavy = None if weights is None else weights[first:stop]
        _cut(scales, heavy, lengths[first:stop], bound, slopes)
        total += _product(slopes, x[first:stop])
    return total
