r"""Losses: frozen and stateless. `Loss` and `DualLoss` say what solvers and plans may ask of one.

Conventions: `m` is the prediction x.w of a row, `y` its target (any real number for regression, -1
or 1 for classification), `a` its dual variable and `c >= 0` the curvature that a batch gives to it.
All are arrays that broadcast. The dual problem is that of Damaskinos et al. (2021), eq. 3; with
:math:`\ell^*` the convex conjugate, a dual step minimises their eq. 8 over z,

.. math:: \ell^*(-a - z) + m z + c z^2 / 2.

Numbers may overflow and be divided by 0: callers ignore NumPy's warnings.

`Multinomial` couples the outputs of a row: its `m` and `y` have a last axis of classes, `y` being 1
for the class and -1 for the others, and its constants are those of the vector of derivatives.
"""

from dataclasses import dataclass
from math import inf, log, sqrt
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.special import entr, expit, logsumexp, softmax

# In `LogLoss.dual_step` the error of expit(t) goes from 0.2 at the start to 5e-3 and 1.2e-7.
_HALLEY_STEPS = 2
# A constant prediction is for no rarer class than this.
_RAREST = 1e-6
# NumPy takes longer to turn a number into an array than to multiply 50 numbers.
_ZERO, _QUARTER, _HALF, _ONE, _MINUS_HALF, _MINUS_TWO = map(
    np.array, (0.0, 0.25, 0.5, 1.0, -0.5, -2.0)
)


@runtime_checkable
class Loss(Protocol):
    """What DP-SGD asks.

    Attributes
    ----------
    name : str
        What users call it.
    smoothness, lipschitz : float
        Bounds on the derivative's slope and size; `inf` is no bound.
    typical_prediction : float
        Size of the predictions that training aims at: some way beyond targets in [-1, 1]; beyond
        the hinge's corner; for the logistic losses, where the slope has fallen to 1 %.
    noise_reach : float
        Length that gradient descent lets the noise of w have, times that of a row.
    clip_decay : float
        How fast its clip falls with the noise; 0 where clipping would only shrink all slopes.
    loss_at_zero : float
        The loss of a prediction of 0; `inf` where targets have no bound.
    """

    name: str
    smoothness: float
    lipschitz: float
    typical_prediction: float
    noise_reach: float
    clip_decay: float
    loss_at_zero: float

    def value(self, y, m):
        """Return the loss."""

    def gradient(self, y, m):
        """Return the derivative in `m`, or a subgradient."""


@runtime_checkable
class SmoothLoss(Loss, Protocol):
    """What DP-CD asks."""

    def constant(self, slope, error):
        """Return the best prediction that is the same for all rows, and the curvature there.

        `slope` is the released mean derivative at 0, an array over outputs, and `error` twice the
        standard deviation of its noise: what may be noise isn't followed.
        """

    def largest_slope(self, m):
        """Return the size of the derivative in `m` of the target for which it is largest."""


@runtime_checkable
class DualLoss(Loss, Protocol):
    """What DP-SCD and the duality gap ask."""

    def conjugate(self, y, a):
        """Return the conjugate at `-a`, `inf` where `a` isn't feasible."""

    def feasible(self, y, a):
        """Return the nearest dual variable of finite conjugate."""

    def dual_step(self, y, m, a, c):
        """Return the minimising z."""


class _UnitInterval:
    """Losses whose dual variables satisfy ``0 <= y a <= 1``."""

    def feasible(self, y, a):
        """Return the nearest dual variable of finite conjugate."""
        return y * np.clip(y * a, 0.0, 1.0)


@dataclass(frozen=True)
class SquaredError:
    """Half the squared error, ``(m - y)^2 / 2``."""

    name: str = "squared_error"
    smoothness: float = 1.0
    lipschitz: float = inf
    typical_prediction: float = 1.2
    noise_reach: float = 4.0
    clip_decay: float = 800.0
    loss_at_zero: float = inf
    link: str = "identity"

    def value(self, y, m):
        """Return the loss."""
        return 0.5 * (m - y) ** 2

    def gradient(self, y, m):
        """Return the derivative in `m`."""
        return m - y

    def constant(self, slope, error):
        """Return the best constant less `error`, and the curvature, which is 1 everywhere."""
        best = np.sign(slope) * np.minimum(error - np.abs(slope), 0.0)
        return best, np.ones_like(slope)

    def largest_slope(self, m):
        """Return infinity, as targets have no bound."""
        return np.full_like(m, inf)

    def conjugate(self, y, a):
        """Return the conjugate at `-a`."""
        return 0.5 * a**2 - a * y

    def feasible(self, y, a):
        """Return `a`: every dual variable has a finite conjugate."""
        return a

    def dual_step(self, y, m, a, c):
        """Return the minimising z, exact."""
        return (y - m - a) / (_ONE + c)


@dataclass(frozen=True)
class Hinge(_UnitInterval):
    """The hinge loss, ``max(0, 1 - y m)``."""

    name: str = "hinge"
    smoothness: float = inf
    lipschitz: float = 1.0
    typical_prediction: float = 2.5
    noise_reach: float = 25.0
    clip_decay: float = 0.0
    loss_at_zero: float = 1.0

    def value(self, y, m):
        """Return the loss."""
        return np.maximum(0.0, 1.0 - y * m)

    def gradient(self, y, m):
        """Return a subgradient in `m`: -y below the margin, else 0."""
        slope = np.asarray(y * m)
        np.less(slope, _ONE, out=slope)
        slope *= -y
        return slope

    def conjugate(self, y, a):
        """Return the conjugate at `-a`: infinite unless ``0 <= y a <= 1``."""
        b = y * a
        return np.where((b >= 0.0) & (b <= 1.0), -b, inf)

    def dual_step(self, y, m, a, c):
        """Return the minimising z, exact; without meaning where ``c = 0``, for a row of zeros."""
        z = (_ONE - y * m) / c + y * a
        np.maximum(z, _ZERO, out=z)
        np.minimum(z, _ONE, out=z)
        z *= y
        z -= a
        return z


@dataclass(frozen=True)
class LogLoss(_UnitInterval):
    """The logistic loss, ``log(1 + exp(-y m))``."""

    name: str = "log_loss"
    smoothness: float = 0.25
    lipschitz: float = 1.0
    typical_prediction: float = 5.0
    noise_reach: float = 16.0
    clip_decay: float = 16.0
    loss_at_zero: float = log(2.0)

    def value(self, y, m):
        """Return the loss."""
        return np.logaddexp(0.0, -y * m)

    def gradient(self, y, m):
        """Return the derivative in `m`, ``-y expit(-y m)``."""
        slope = np.tanh(_HALF * m)
        slope = slope - y
        slope *= _HALF
        return slope

    def constant(self, slope, error):
        """Return the best constant and the curvature there.

        The slope is half less the share of positive labels. A share within `error` of 0 or 1 is
        moved away from there; an error of a quarter or more leaves a half.
        """
        rarest = max(error, _RAREST) if error < 0.25 else 0.5
        share = np.clip(0.5 - slope, rarest, 1.0 - rarest)
        return np.log(share / (1.0 - share)), share * (1.0 - share)

    def largest_slope(self, m):
        """Return the size of the derivative in `m` of the label that is less likely."""
        slope = np.tanh(_HALF * np.abs(m))
        slope += _ONE
        slope *= _HALF
        return slope

    def conjugate(self, y, a):
        """Return the conjugate at `-a`: a negative entropy, infinite unless ``0 <= y a <= 1``."""
        b = y * a
        return -(entr(b) + entr(1.0 - b))

    def dual_step(self, y, m, a, c):
        r"""Return the minimising z to within about 1e-7 of the dual variable's range.

        With t the logit of the new y a, the minimiser is the root of the increasing function
        ``t + c expit(t) + y m - c y a``. In terms of u = -t / 2 that is ``u + h tanh(u) = k`` with
        ``h = c / 4`` and ``k = (y m + c (1 / 2 - y a)) / 2``. The left side is odd, so the equation
        is solved for ``|k|`` and u gets the sign of k.
        """
        middle = _HALF - y * a
        k = _HALF * (y * m + c * middle)
        h = _QUARTER * c
        size = np.abs(k)
        u = _start(size, h, c)
        for _ in range(_HALLEY_STEPS):
            tanh = np.tanh(u)
            bent = h * tanh
            excess = u + bent
            excess -= size
            bend = bent * tanh
            np.subtract(h, bend, out=bend)
            slope = _ONE + bend
            bend *= excess
            bend *= tanh
            excess *= slope
            slope *= slope
            slope += bend
            excess /= slope
            u -= excess
        z = np.tanh(u, out=u)
        np.copysign(z, k, out=z)
        z *= _MINUS_HALF
        z += middle
        z *= y
        return z


def _start(k, h, c):
    """Return a number at most 0.42 below the root u of ``u + h tanh(u) = k``, where c is 4 h.

    With ``t = 2 u`` and ``r = 2 (k - h)`` the equation is ``t - r = c expit(-t)``, so t is at least
    r. As ``expit(-t) < exp(-t)`` and Lambert's function is below log1p, t is at most
    ``s + log1p(c exp(-s))`` with ``s = max(r, 0)``. There the left side is too large, and so t is
    at least what expit takes to it over c.
    """
    r = k - h
    above = np.maximum(r, _ZERO)
    right = _MINUS_TWO * above
    np.exp(right, out=right)
    right *= c
    np.log1p(right, out=right)
    np.subtract(above, r, out=r)
    r *= _MINUS_TWO
    right -= r
    np.divide(c, right, out=right)
    right -= _ONE
    u = np.log(right, out=right)
    u *= _HALF
    # No number comes out of a logarithm where that says nothing.
    np.fmax(u, above, out=u)
    return np.minimum(u, k, out=u)


@dataclass(frozen=True)
class Huber:
    """Half the squared error up to a threshold, linear beyond it."""

    threshold: float
    name: str = "huber"
    smoothness: float = 1.0
    typical_prediction: float = 1.2
    noise_reach: float = 4.0
    clip_decay: float = 800.0
    loss_at_zero: float = inf
    link: str = "identity"

    @property
    def lipschitz(self):
        """The threshold."""
        return self.threshold

    def value(self, y, m):
        """Return the loss."""
        size = np.abs(m - y)
        inner = np.minimum(size, self.threshold)
        return inner * (size - 0.5 * inner)

    def gradient(self, y, m):
        """Return the derivative in `m`."""
        return np.clip(m - y, -self.threshold, self.threshold)


@dataclass(frozen=True)
class SmoothPinball:
    """The pinball loss of a quantile, smoothed: its slope is a logistic function of so wide a step.

    It is ``quantile r`` for errors ``r = y - m`` above 0 and ``(quantile - 1) r`` below, but for
    errors of a few widths.
    """

    quantile: float
    width: float
    name: str = "pinball"
    link: str = "identity"

    @property
    def smoothness(self):
        """A quarter over the width."""
        return 0.25 / self.width

    @property
    def lipschitz(self):
        """The steeper side."""
        return max(self.quantile, 1.0 - self.quantile)

    def value(self, y, m):
        """Return the loss."""
        error = y - m
        return self.quantile * error + self.width * np.logaddexp(0.0, -error / self.width)

    def gradient(self, y, m):
        """Return the derivative in `m`."""
        return expit((m - y) / self.width) - self.quantile


@dataclass(frozen=True)
class Tweedie:
    """Half the deviance of a Tweedie distribution with a log link, of targets that aren't negative.

    But for what doesn't depend on the prediction m: with the power p it is
    ``exp((2 - p) m) / (2 - p) - y exp((1 - p) m) / (1 - p)``, and a limit for 1 (Poisson) and 2
    (Gamma). Predictions beyond `reach` have the derivative of one at it, so that no step overflows.
    Targets are over their mean: the derivative's slope is about 1 near a prediction of 0. The
    smoothness is no bound on it, but what a mean over rows, whose predictions vary by a few, hardly
    exceeds.
    """

    power: float
    reach: float = inf
    name: str = "tweedie"
    link: str = "log"
    smoothness: float = 2.5
    lipschitz: float = inf

    def value(self, y, m):
        """Return the loss."""
        m = np.clip(m, -self.reach, self.reach)
        return _power_integral(2.0 - self.power, m) - y * _power_integral(1.0 - self.power, m)

    def gradient(self, y, m):
        """Return the derivative in `m`."""
        amounts, expected = self.sides(y, m)
        return expected - amounts

    def sides(self, y, m):
        """Return what an amount adds to the derivative, and what is expected of it.

        Added up over rows, their quotient is by what all predictions are to be multiplied so that
        the derivatives add up to 0: both are multiplied by powers of a common factor.
        """
        m = np.clip(m, -self.reach, self.reach)
        return y * np.exp((1.0 - self.power) * m), np.exp((2.0 - self.power) * m)


@dataclass(frozen=True)
class TweedieRate(Tweedie):
    """The same for amounts over exposures: half the deviance of a rate, times the exposure.

    Targets have two columns, an amount y and an exposure e, in units of their means. Of the rate
    ``y / e`` the loss is ``e exp((2 - p) m) / (2 - p) - y exp((1 - p) m) / (1 - p)``, in which
    nothing is divided by an exposure.
    """

    def value(self, y, m):
        """Return the loss."""
        m = np.clip(m, -self.reach, self.reach)
        seen = y[..., 1] * _power_integral(2.0 - self.power, m)
        return seen - y[..., 0] * _power_integral(1.0 - self.power, m)

    def sides(self, y, m):
        """Return what an amount adds to the derivative, and what is expected of its exposure."""
        amounts, expected = super().sides(y[..., 0], m)
        return amounts, y[..., 1] * expected


def _power_integral(rate, m):
    """Return an integral of ``exp(rate m)``."""
    return m if rate == 0.0 else np.exp(rate * m) / rate


# They make predictions of the target's mean of linear predictors.
INVERSE_LINKS = {"identity": np.asarray, "log": np.exp}


@dataclass(frozen=True)
class Multinomial:
    """The multinomial logistic loss, ``log(sum(exp(m))) - m[class]``.

    The derivative is a difference of two probability vectors, so its length is at most sqrt(2). Its
    slope is a covariance matrix ``diag(p) - p p^T``, whose eigenvalues are at most 1/2.
    """

    n_classes: int
    name: str = "multinomial"
    smoothness: float = 0.5
    lipschitz: float = sqrt(2.0)
    typical_prediction: float = 5.0
    noise_reach: float = 16.0
    clip_decay: float = 16.0

    @property
    def loss_at_zero(self):
        """The logarithm of the number of classes."""
        return log(self.n_classes)

    def value(self, y, m):
        """Return the loss, without the axis of classes."""
        return logsumexp(m, axis=-1) - np.where(y > 0.0, m, 0.0).sum(axis=-1)

    def gradient(self, y, m):
        """Return the derivatives in `m`."""
        return softmax(m, axis=-1) - (y > 0.0)


LOSSES = {loss.name: loss for loss in (SquaredError(), Hinge(), LogLoss())}


def log_partition(m):
    """Return the logistic loss without its label's part, for scores of shape (n, k).

    One column stands for two classes, the first of which scores 0.
    """
    return np.logaddexp(0.0, m[:, 0]) if m.shape[1] == 1 else logsumexp(m, axis=1)


def class_probabilities(m):
    """Return the derivative of `log_partition`: probabilities of shape (n, k)."""
    return expit(m) if m.shape[1] == 1 else softmax(m, axis=1)


def as_probabilities(scores):
    """Turn decision values into probabilities: a sigmoid, or for several classes a softmax."""
    with np.errstate(all="ignore"):
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return softmax(scores, axis=1)
