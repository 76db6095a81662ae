r"""Penalties: frozen, and separable over coefficients.

A penalty is :math:`\lambda_1 |w| + \lambda_2 w^2 / 2` for each coefficient w, infinite outside an
interval. Its proximal operator with step t is

.. math:: \mathrm{prox}(w) = \arg\min_z \frac{(z - w)^2}{2 t} + \lambda_1 |z|
          + \frac{\lambda_2}{2} z^2 ,

which soft-thresholds, shrinks, and cuts to the interval: the objective is convex in one variable,
so its minimum over an interval is the nearest point to its minimum.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import numpy as np


@dataclass(frozen=True, eq=False)
class Penalty:
    """An elastic net on an interval; `l1` and `l2` are factors of ``|w|`` and ``w ** 2 / 2``."""

    l1: float | np.ndarray = 0.0
    l2: float | np.ndarray = 0.0
    low: float | np.ndarray = -inf
    high: float | np.ndarray = inf

    def prox(self, w, step):
        """Return the proximal operator's value at `w`, a new array; `step` broadcasts."""
        if self._selects:
            w = np.sign(w) * np.maximum(np.abs(w) - step * self.l1, 0.0)
        w = w / (1.0 + step * self.l2)
        return np.clip(w, self.low, self.high) if self._cuts else w

    @cached_property
    def _selects(self):
        return np.any(self.l1)

    @cached_property
    def _cuts(self):
        return np.any(np.isfinite(self.low)) or np.any(np.isfinite(self.high))

    def prox_of_number(self, w, step):
        """Return what `prox` returns, for one coefficient and many times faster."""
        threshold = step * self.l1
        if -threshold <= w <= threshold:
            w = 0.0
        else:
            w = (w - threshold if w > threshold else w + threshold) / (1.0 + step * self.l2)
        return self.low if w < self.low else self.high if w > self.high else w

    def of_coefficient(self, j):
        """Return the penalty of coefficient `j` alone."""
        return Penalty(*(_entry(factor, j) for factor in (self.l1, self.l2, self.low, self.high)))

    def in_units(self, unit):
        """Return the same penalty as one of ``unit * w``; `unit` is a positive array."""
        return Penalty(self.l1 / unit, self.l2 / unit**2, self.low * unit, self.high * unit)

    def within(self, largest):
        """Return the penalty on the part of the interval that is within ``+-largest``."""
        low, high = (np.clip(bound, -largest, largest) for bound in (self.low, self.high))
        return replace(self, low=low, high=high)


def _entry(values, j):
    return values if np.ndim(values) == 0 else float(values[j])


def make_penalty(name, alpha, l1_ratio=0.5, *, low=-inf, high=inf):
    """Return ``alpha`` times a penalty by its name, on an interval of the coefficients.

    "l2" is ``w ** 2 / 2``, "l1" is ``|w|``, and "elasticnet" has ``l1_ratio`` of the second.
    """
    share = {"l2": 0.0, "l1": 1.0, "elasticnet": l1_ratio}[name]
    return Penalty(l1=alpha * share, l2=alpha * (1.0 - share), low=low, high=high)
