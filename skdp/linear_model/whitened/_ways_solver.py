"""Ways from one iterate to the next, by gradients that were released: all is post-processing.

The derivation is in the documentation, "theory/whitening", "Steps that follow the curvature".
"""

import math

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import expit

from skdp.linear_model.whitened import _tuned as tuned

_NODES, _WEIGHTS = hermegauss(tuned.NODES_OF_PREDICTIONS)
_SHARES = _WEIGHTS / _WEIGHTS.sum()


class GradientSteps:
    """Steps along gradients with momentum: ``v <- momentum v + gradient``, ``w <- w - size v``."""

    def __init__(self, size, momentum):
        self._size, self._momentum, self._v = size, momentum, 0.0

    def moved(self, w, slopes, pull):
        """Return the next weights, by the noisy mean of slopes at `w` and the penalty's pull."""
        self._v = self._momentum * self._v + slopes + pull
        return w - self._size * self._v

    def change_rows(self, noise_std):
        """See `CurvatureSteps.change_rows`: no step follows from how loud noise is."""


class CautiousSteps(GradientSteps):
    """Such steps that go back, and are half as large from there, where gradients have become large.

    They go back to the weights whose gradient was the smallest. They serve fits without privacy: an
    exponential bends without a bound, and nothing cuts slopes.
    """

    def __init__(self, size, momentum):
        super().__init__(size, momentum)
        self._smallest = math.inf
        self._weights_there = self._gradient_there = None

    def moved(self, w, slopes, pull):
        """Return the next weights, by the mean of slopes at `w` and the penalty's pull."""
        gradient = slopes + pull
        length = float(np.linalg.norm(gradient))
        # A length that is no number isn't small either.
        is_small = length <= tuned.LARGEST_GROWTH_OF_GRADIENT * self._smallest
        if not is_small and self._weights_there is not None:
            self._size, self._v = 0.5 * self._size, 0.0
            return super().moved(self._weights_there, self._gradient_there, 0.0)
        if length < self._smallest:
            self._smallest, self._weights_there, self._gradient_there = length, w, gradient
        return super().moved(w, slopes, pull)


class CurvatureSteps:
    r"""Steps by the curvature of the objective: ``w <- w - B^-1 gradient``, of one output.

    B begins as the curvature at w of rows that are normal with this `moment` and `mean`, in the
    coordinates of w. Every pair of weights and gradients so far then corrects it along the way
    between them (BFGS). A pair counts as far as its first gradient g stands out of its noise, whose
    standard deviation `noise_std` is known: with the differences d of the weights and y of the
    gradients, y is taken to be

    .. math:: k y + (1 - k) B d, \quad
              k = \max(0, 1 - \sigma^2 \operatorname{tr} B^{-1} / (g^\top B^{-1} g))^2 ,

    and then damped (Powell 1978), so that B stays positive definite.

    Where `longest_move` isn't infinite, the loss is logistic, and predictions move by no more in a
    step, as a root mean square. Otherwise it is the squared loss, whose curvature is the moment.
    """

    def __init__(self, *, moment, mean, penalty, noise_std, longest_move):
        self._moment, self._mean, self._penalty = moment, mean, penalty
        self._noise_std, self._longest_move = noise_std, longest_move
        # The last weights and gradient, and how much of the gradient isn't noise.
        self._last = None
        self._pairs = []

    def change_rows(self, noise_std):
        """Have the next gradients be means over other rows, with this noise.

        What the last one and the next differ by is no curvature: they make no pair.
        """
        self._noise_std, self._last = noise_std, None

    def moved(self, w, slopes, pull):
        """Return the next weights, by the noisy mean of slopes at `w` and the penalty's pull."""
        w, gradient = w[:, 0], (slopes + pull)[:, 0]
        if self._last is not None:
            w_before, g_before, known = self._last
            self._pairs.append((w - w_before, gradient - g_before, known))
        inverse = np.linalg.inv(self._curvature(w))
        move = -inverse @ gradient
        noise = self._noise_std**2 * np.trace(inverse)
        known = max(0.0, 1.0 - float(noise / max(-float(gradient @ move), 1e-300))) ** 2
        self._last = w, gradient, known
        if not math.isinf(self._longest_move):
            length = math.sqrt(max(float(move @ self._moment @ move), 0.0))
            move = move * (self._longest_move / max(length, self._longest_move))
        return (w + move)[:, np.newaxis]

    def _curvature(self, w):
        B = self._moment
        if not math.isinf(self._longest_move):
            B = logistic_curvature(w, self._moment, self._mean)
        B = B + self._penalty
        for moved, changed, known in self._pairs:
            B = _corrected(B, moved, changed, known)
        return B


def logistic_curvature(w, moment, mean):
    r"""Return :math:`E[p (1 - p) z z^\top]` of normal rows z, with p the probability by w.

    Rows are split into what follows from their prediction and the rest, which is independent of it.
    """
    spread = moment - np.multiply.outer(mean, mean)
    along = spread @ w
    farthest = tuned.FARTHEST_LOG_ODDS
    at_mean = np.clip(w @ mean, -farthest, farthest)
    # The smallest number keeps a direction of no length from dividing by 0.
    variance = np.clip(w @ along, 1e-12, farthest**2)
    about_mean = np.sqrt(variance) * _NODES
    predictions = at_mean + about_mean
    slopes = _SHARES * expit(predictions) * expit(-predictions)
    a, b, c = (float(slopes @ about_mean**power) for power in range(3))
    along = along / variance
    crossed = np.multiply.outer(mean, along)
    rest = moment - variance * np.multiply.outer(along, along)
    return a * rest + b * (crossed + crossed.T) + c * np.multiply.outer(along, along)


def _corrected(B, moved, changed, known):
    """Return a curvature after the correction by one pair of weights and gradients."""
    expected = B @ moved
    of_B = float(moved @ expected)
    if not of_B > 0.0:
        # Nothing moved.
        return B
    changed = known * changed + (1.0 - known) * expected
    measured = float(moved @ changed)
    if measured < tuned.LEAST_MEASURED_CURVATURE * of_B:
        damped = (1.0 - tuned.LEAST_MEASURED_CURVATURE) * of_B / (of_B - measured)
        changed = damped * changed + (1.0 - damped) * expected
        measured = tuned.LEAST_MEASURED_CURVATURE * of_B
    taken_off = np.multiply.outer(expected, expected) / of_B
    return B - taken_off + np.multiply.outer(changed, changed) / measured
