"""What standard errors ask of a loss. Weights alone are of rows; all else is of releases."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from skdp._solvers._curvature import normal_curvature

# Slopes are clipped at so many times their root mean square at most and at least, and in between
# where noise is this many times the sampling error; and at more where it adds no more than a share
# to the variance of the result.
_CLIP, _LEAST_CLIP, _LOUD, _ADDED = 5.25, 3.75, 1.5, 0.03
# Of a mean square, what isn't taken to be jitter at least.
_LEAST_SEEN = 0.25
# A row's part of the matrix is cut at this many times the mean.
_MATRIX_CUT = 16.0
# The curvature of normal scores may be off by this factor, and the least mean that is believed.
_MOST_OFF, _LEAST_MEAN = 2.0, 1e-3


@dataclass(frozen=True)
class Squares:
    """Weights whose matrix is the covariance of gradients: squares of clipped slopes.

    Attributes
    ----------
    clip : float
        Of steps that settle, over the root of the number of columns that rows fill.
    reach : float
        No step moves predictions by more, as a root mean square.
    calm : float
        Variance of predictions that noise may cause from step to step.
    most_jitter : float
        The largest noise of predictions, as a root mean square, that leaves the curvature as it is.
    least_share : float
        Of what was expected of the matrix, that it is raised to. Rows that were cut make it small
        where it stands for errors; where it is the curvature, to raise it makes errors small.
    steepest : float
        No slope is larger where predictions are as targets are, in [-1, 1].
    bend : float
        Gradients at predictions that spread by a mean square of 1 move the intercept by no more.
    """

    clip: float = 1.6
    reach: float = math.inf
    calm: float = math.inf
    most_jitter: float = math.inf
    least_share: float = 1.0
    steepest: float = 2.0
    bend: float = 0.0

    def weights(self, slopes, predictions):
        """Return a weight for each row, given its slope after clipping."""
        return slopes**2

    def shares(self, weights, lengths, clip):
        """Return what share of the largest possible a row's weight times its squared length is."""
        return weights * (lengths / clip) ** 2

    def curvature(self, mapped, u, correction):
        """Return the curvature of the loss that steps are taken with."""
        return mapped.moment

    def correction(self, share, mapped, u):
        """Return by which factor the curvature of normal scores is off."""
        return 1.0

    def next_clip(self, clip, share, jitter, noise, rows_a_column):
        """Return the clip for the steps that are kept.

        Parameters
        ----------
        clip : float
            Of those before.
        share : float
            The mean share at that clip.
        jitter : float
            What the noise of the weights adds to the mean square of what is clipped.
        noise : float
            Of the result, if the clip and the number of rows were 1.
        rows_a_column : float
            Number of rows over the number of columns that they fill.
        """
        seen = share * clip**2
        root = math.sqrt(max(seen - jitter, _LEAST_SEEN * seen))
        calm = math.sqrt(rows_a_column) / noise
        factor = min(_CLIP, max(_LEAST_CLIP, _LOUD * calm))
        return root * max(factor, math.sqrt(_ADDED) * calm)

    def matrix_bound(self, clip, share, columns, longest):
        """Return what traces of rows' matrices are cut to."""
        return clip**2 * min(1.0, _MATRIX_CUT * share)

    def expected(self, mapped, u, share, clip):
        """Return the matrix of weights if they don't depend on rows."""
        return share * clip**2 / np.trace(mapped.moment) * mapped.moment

    def hessian(self, mapped, matrix):
        """Return the curvature of the loss."""
        return mapped.moment

    def hessian_noise(self, white, moment_noise, matrix_noise):
        """Return the deviation of a diagonal entry's noise, and the map that it is under."""
        return moment_noise, white.A


@dataclass(frozen=True)
class Logistic:
    """Weights whose matrix is the curvature, and the covariance of gradients where the model holds.

    For attributes and methods see `Squares`.
    """

    clip: float = 2.0
    reach: float = 2.0
    calm: float = 0.01
    most_jitter: float = 1.0
    least_share: float = 0.25
    steepest: float = 1.0
    bend: float = 0.5

    def weights(self, slopes, predictions):
        """Return the slope of the loss's derivative for each row."""
        return expit(predictions) * expit(-predictions)

    def shares(self, weights, lengths, clip):
        """Return what share of its largest value, 1/4, a row's weight is."""
        return 4.0 * weights

    def curvature(self, mapped, u, correction):
        """Return the curvature for normal scores, times what it is off by."""
        curvature, mean = normal_curvature(mapped, u)
        return correction * (curvature + max(0.0, _LEAST_MEAN - mean) * mapped.moment)

    def correction(self, share, mapped, u):
        """Return by which factor the curvature of normal scores is off."""
        mean = max(normal_curvature(mapped, u)[1], _LEAST_MEAN)
        return min(max(0.25 * share / mean, 1.0 / _MOST_OFF), _MOST_OFF)

    def next_clip(self, clip, share, jitter, noise, rows_a_column):
        """Return the clip as it was: slopes near 1 are those of a rare class."""
        return clip

    def matrix_bound(self, clip, share, columns, longest):
        """Return what traces of rows' matrices are cut to, for rows of unequal length."""
        return min(2.0 * columns * min(0.25, 0.5 * share), 0.25 * longest**2)

    def expected(self, mapped, u, share, clip):
        """Return the curvature for normal scores."""
        return self.curvature(mapped, u, self.correction(share, mapped, u))

    def hessian(self, mapped, matrix):
        """Return the curvature of the loss."""
        return matrix

    def hessian_noise(self, white, moment_noise, matrix_noise):
        """Return the deviation of a diagonal entry's noise, and the map that it is under."""
        return matrix_noise, np.eye(len(white.A))


MODELS = {"squared_error": Squares(), "log_loss": Logistic()}
