"""Pure differential privacy: its profile, alone or beside Gaussian releases, and calibration."""

import math
import numbers

import numpy as np
from scipy.special import expit

from skdp._checks import check_count, check_real, read_numbers
from skdp.accountant._divergences import TabledProfile, bisected
from skdp.accountant._events import RandomizedResponseEvent, pure_factor

_LARGEST_NOISE = 1e9
_LARGEST_EPSILON = 1e6
_SMALLEST_RESPONSE = 1e-6
# A response is decided by a word of 64 bits, and no probability is finer.
_COIN = 2.0**-64
_ONE_COIN = 64.0


class PureProfile(TabledProfile):
    """Profile of a release that is pure_epsilon-private together with others of known profile.

    Randomised response dominates whatever is e-private (Kairouz, Oh and Viswanath 2015, theorem
    3.1): its loss is e with probability ``exp(e) / (1 + exp(e))``, else -e. Composed with releases
    of profile delta, the mean over this loss remains:
    ``p delta(x - e) + (1 - p) delta(x + e)``.
    """

    def __init__(self, pure_epsilon, others):
        self._pure = pure_epsilon
        self._others = others
        self._first_epsilons = (0.0, min(pure_epsilon, 700.0))

    def delta(self, epsilon):
        far = expit(self._pure) * self._others.delta(epsilon - self._pure)
        near = expit(-self._pure) * self._others.delta(epsilon + self._pure)
        return min(float(far + near) * (1 + 1e-12), 1.0)

    def epsilon(self, delta):
        if self.delta(0.0) <= delta:
            return 0.0
        # Basic composition is an upper bound.
        above = self._others.epsilon(delta) + self._pure
        return bisected(lambda epsilon: self.delta(epsilon) <= delta, 0.0, above)


def calibrate_pure(epsilon, *, n_steps=1, adjacency="zero_out"):
    """Smallest noise that makes repeated spherical Laplace releases epsilon-private, delta = 0.

    Parameters
    ----------
    epsilon : float or ndarray
        Target, positive. ``inf`` means no privacy and gives 0. An array holds public targets of
        single records.
    n_steps : int, default=1
        Number of releases that a record takes part in; their epsilons add up.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        How neighbouring data sets differ.

    Returns
    -------
    noise_multiplier : float or ndarray
        Scale of the noise divided by the bound on one record's contribution.

    Raises
    ------
    ValueError
        If an argument is invalid.

    References
    ----------
    .. [1] Song, Chaudhuri and Sarwate (2013). Stochastic gradient descent with differentially
       private updates. GlobalSIP. Theorem 1.

    Examples
    --------
    >>> from skdp.accountant import calibrate_pure
    >>> calibrate_pure(0.5), calibrate_pure(0.5, n_steps=4, adjacency="replace_one")
    (2.0, 16.0)
    """
    if isinstance(epsilon, numbers.Real):
        check_real(epsilon, "epsilon")
    check_count(n_steps, "n_steps")
    target = read_numbers(epsilon, "epsilon must be a number or an array of numbers.")
    if not ((target > 0) & ((target <= _LARGEST_EPSILON) | (target == math.inf))).all():
        raise ValueError(
            f"epsilon must be in (0, {_LARGEST_EPSILON:g}], or infinite for no privacy."
        )
    one = pure_factor(adjacency) * n_steps
    if (one > _LARGEST_NOISE * target).any():
        raise ValueError(
            f"epsilon is so small that noise of more than {_LARGEST_NOISE:g} times a record's "
            "contribution is needed; use a larger epsilon or fewer steps (n_steps)."
        )
    noise = one / target
    with np.errstate(divide="ignore"):
        noise = np.where(one / noise > target, np.nextafter(noise, math.inf), noise)
    return float(noise) if isinstance(epsilon, numbers.Real) else noise


def calibrate_response(epsilon, *, n_classes=2):
    """Smallest probability of flips that makes published labels epsilon-private, delta = 0.

    Parameters
    ----------
    epsilon : float
        Target, at least 1e-6. ``inf`` means no privacy and gives 0.
    n_classes : int, default=2
        Number of classes.

    Returns
    -------
    flip_probability : float
        Probability of each of the other classes, a multiple of ``2**-64``: ``1 / (exp(epsilon) +
        n_classes - 1)`` rounded up, so random numbers of 64 bits have it exactly.

    Raises
    ------
    ValueError
        If an argument is invalid.

    References
    ----------
    .. [1] Kairouz, Oh and Viswanath (2016). Extremal mechanisms for local differential privacy.
       JMLR.

    Examples
    --------
    >>> from skdp.accountant import calibrate_response
    >>> round(calibrate_response(1.0), 4)
    0.2689
    """
    epsilon, n_classes = check_real(epsilon, "epsilon"), check_count(n_classes, "n_classes")
    if n_classes < 2:
        raise ValueError("n_classes must be at least 2.")
    if not epsilon >= _SMALLEST_RESPONSE:
        raise ValueError(
            f"epsilon must be at least {_SMALLEST_RESPONSE:g} for randomised response."
        )
    if math.isinf(epsilon):
        return 0.0
    exact = 1.0 / (n_classes + math.expm1(min(epsilon, _ONE_COIN)))
    flip = math.ceil(exact / _COIN) * _COIN
    while RandomizedResponseEvent(flip, n_classes).epsilon("replace_label") > epsilon:
        flip += max(_COIN, math.ulp(flip))
    return flip
