r"""Losses: frozen and stateless.

Conventions: `m` is the prediction x.w of a row, `y` its target (any real number for the squared
loss, -1 or 1 for the others), `a` its dual variable and `c >= 0` the curvature that a batch gives
to it. All are arrays that broadcast. The dual problem is that of Damaskinos et al. (2021), eq. 3;
with :math:`\ell^*` the convex conjugate, a dual step minimises their eq. 8 over z,

.. math:: \ell^*(-a - z) + m z + c z^2 / 2.

`smoothness` and `lipschitz` bound the derivative's slope and size (`inf`: no bound). `margin` is
the size of the predictions that training aims at: some way beyond targets in [-1, 1]; beyond the
hinge's corner; for the logistic loss, where its slope has fallen to 1 %. `reach` is what gradient
descent, which forgets less of its noise, lets the noise add to a prediction. `at_zero` is the loss
of a prediction of 0 (`inf`: targets have no bound).

`Multinomial` couples the outputs of a row: its `m` and `y` have a last axis of classes, `y` being 1
for the class and -1 for the others, and its constants are those of the vector of derivatives.
"""

from dataclasses import dataclass
from math import inf, log, sqrt

import numpy as np
from scipy.special import expit, logsumexp, softmax, xlogy

# From the starting point of `LogLoss.dual_step`, whose error is below 1, Newton's error squares
# and halves: 1 -> 1/2 -> 1/8 -> 1/128 -> 3e-5 -> 5e-10.
_NEWTON_STEPS = 5


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
    margin: float = 1.2
    reach: float = 1.0
    at_zero: float = inf

    def value(self, y, m):
        """Return the loss."""
        return 0.5 * (m - y) ** 2

    def gradient(self, y, m):
        """Return the derivative in `m`."""
        return m - y

    def conjugate(self, y, a):
        """Return the conjugate at `-a`."""
        return 0.5 * a**2 - a * y

    def feasible(self, y, a):
        """Return `a`: every dual variable has a finite conjugate."""
        return a

    def dual_step(self, y, m, a, c):
        """Return the minimising z, exact."""
        return (y - m - a) / (1.0 + c)


@dataclass(frozen=True)
class Hinge(_UnitInterval):
    """The hinge loss, ``max(0, 1 - y m)``."""

    name: str = "hinge"
    smoothness: float = inf
    lipschitz: float = 1.0
    margin: float = 2.5
    reach: float = 5.0
    at_zero: float = 1.0

    def value(self, y, m):
        """Return the loss."""
        return np.maximum(0.0, 1.0 - y * m)

    def gradient(self, y, m):
        """Return a subgradient in `m`: -y below the margin, else 0."""
        return np.where(y * m < 1.0, -y, 0.0)

    def conjugate(self, y, a):
        """Return the conjugate at `-a`: infinite unless ``0 <= y a <= 1``."""
        b = y * a
        return np.where((b >= 0.0) & (b <= 1.0), -b, inf)

    def dual_step(self, y, m, a, c):
        """Return the minimising z, exact; 0 where ``c = 0``."""
        room = np.divide(1.0 - y * m, c, out=np.zeros(np.broadcast(y, m, c).shape), where=c > 0.0)
        return y * np.clip(y * a + room, 0.0, 1.0) - a


@dataclass(frozen=True)
class LogLoss(_UnitInterval):
    """The logistic loss, ``log(1 + exp(-y m))``."""

    name: str = "log_loss"
    smoothness: float = 0.25
    lipschitz: float = 1.0
    margin: float = 5.0
    reach: float = 3.0
    at_zero: float = log(2.0)

    def value(self, y, m):
        """Return the loss."""
        return np.logaddexp(0.0, -y * m)

    def gradient(self, y, m):
        """Return the derivative in `m`."""
        sign = -y
        return sign * expit(sign * m)

    def conjugate(self, y, a):
        """Return the conjugate at `-a`: a negative entropy, infinite unless ``0 <= y a <= 1``."""
        b = np.asarray(y * a)
        inside = (b >= 0.0) & (b <= 1.0)
        b = np.where(inside, b, 0.5)
        return np.where(inside, xlogy(b, b) + xlogy(1.0 - b, 1.0 - b), inf)

    def dual_step(self, y, m, a, c):
        r"""Return the minimising z to within about 1e-9 of the dual variable's range.

        With b = y a and t the logit of the new b, the minimiser is the root of the increasing
        function ``t + c expit(t) + k``, ``k = y m - c b``. The root has the sign of
        ``-(k + c / 2)``; by symmetry only t <= 0 is solved, where the function is convex, so
        Newton's method from the right of the root goes down to it and needs no safeguard.
        """
        b = y * a
        k = y * m - c * b
        upper = k + 0.5 * c < 0.0
        k = np.where(upper, -c - k, k)
        # Solve s = k + c expit(-s) for s = -t >= 0 from an s below the root: expit(-s) < exp(-s)
        # gives an upper bound, and putting that back gives a lower one.
        above = np.maximum(k, 0.0)
        excess = np.log1p(c * np.exp(-above)) + above - k
        s = np.log(
            np.maximum(np.divide(c, excess, out=np.ones_like(k), where=excess > 0.0) - 1.0, 1.0)
        )
        s = np.maximum(s, above)
        for _ in range(_NEWTON_STEPS):
            p = expit(-s)
            s -= (s - k - c * p) / (1.0 + c * p * (1.0 - p))
        p = expit(-s)
        return y * (np.where(upper, 1.0 - p, p) - b)


@dataclass(frozen=True)
class Huber:
    """Half the squared error up to a threshold, linear beyond it."""

    threshold: float
    name: str = "huber"
    smoothness: float = 1.0
    reach: float = 1.0
    at_zero: float = inf

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
class Multinomial:
    """The multinomial logistic loss, ``log(sum(exp(m))) - m[class]``.

    The derivative is a difference of two probability vectors, so its length is at most sqrt(2). Its
    slope is a covariance matrix ``diag(p) - p p^T``, whose eigenvalues are at most 1/2.
    """

    n_classes: int
    name: str = "multinomial"
    smoothness: float = 0.5
    lipschitz: float = sqrt(2.0)
    reach: float = 3.0

    @property
    def at_zero(self):
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
