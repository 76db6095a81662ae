"""What is asked of columns in memory before steps are taken on them."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from skdp._release.mechanisms import GaussianMechanism
from skdp._rows.queries import COLUMNS, BoundedQuery


class BallColumns(NamedTuple):
    """Columns of certified rows in memory, those of features first.

    A row has a weight, and a factor by which it is shortened in a ball, each None if all are 1.
    Weights change what a record adds: they count where there is no bound.
    """

    X: Any
    weights: np.ndarray | None
    factors: np.ndarray | None

    def ask(self, query):
        """Return the answer to a `Query`."""
        return query.total(self)


@dataclass(frozen=True, eq=False)
class ColumnMoments(BoundedQuery):
    """The sums of squares of columns, and those of the columns themselves times a weight.

    Columns are in units of `reach`, of shape (d,), which no value exceeds in size. In these units
    no row is longer than `longest`. With a weight of 0 for them sums of columns are left out.
    """

    mechanism: GaussianMechanism
    reach: np.ndarray
    longest: float
    weight_of_sums: float

    view = COLUMNS

    def record_bound(self, place):
        return self._bound(of_squares=1.0, of_sums=1.0)

    def pair_bound(self, place):
        # Squares have no sign, so that those of two rows are closer than twice what one has.
        return self._bound(of_squares=math.sqrt(2.0), of_sums=2.0)

    def _bound(self, *, of_squares, of_sums):
        """Return a bound on so many times the squares of a row, together with the row itself.

        No square exceeds 1, nor do they together the row's length.
        """
        squares = of_squares * self.longest * min(self.longest, 1.0)
        squares = min(squares, math.sqrt(self.reach.size))
        if self.weight_of_sums == 0.0:
            return squares
        return math.hypot(squares, of_sums * self.weight_of_sums * self.longest)

    @np.errstate(all="ignore")
    def total(self, columns):
        d = self.reach.size
        weights = 1.0
        if columns.weights is not None and math.isinf(self.mechanism.contribution_bound):
            weights = columns.weights
        total = np.zeros(self.mechanism.size)
        for j, column in zip(range(d), columns.X.T, strict=False):
            scaled = column / self.reach[j]
            if columns.factors is not None:
                scaled *= columns.factors
            total[j] = np.add.reduce(weights * np.square(scaled))
            if self.weight_of_sums:
                total[d + j] = self.weight_of_sums * np.add.reduce(scaled)
        return total
