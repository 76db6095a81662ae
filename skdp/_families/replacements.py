"""What takes the place of targets once coefficients are released, row by row."""

from dataclasses import dataclass

import numpy as np

from skdp._families.losses import Tweedie
from skdp._rows.rows_in_ball import by_row


@dataclass(frozen=True, eq=False)
class _Predictions:
    """Linear predictions of rows as they are, by coefficients of shape (1, d)."""

    coefs: np.ndarray
    bias: float

    def _of_rows(self, X):
        return by_row(X, self.coefs[0, : X.shape[1]]) + self.bias * self.coefs[0, -1]


@dataclass(frozen=True, eq=False)
class Errors(_Predictions):
    """How far targets are from predictions."""

    def of(self, X, targets):
        """Return the errors of rows, of shape (n, 1)."""
        return np.nan_to_num(targets[:, 0] - self._of_rows(X))[:, np.newaxis]


@dataclass(frozen=True, eq=False)
class Sides(_Predictions):
    """Both sides of a loss with a log link: what amounts add, and what is expected of them."""

    loss: Tweedie

    def of(self, X, targets):
        """Return both of rows, of shape (n, 2); see `Tweedie.sides`."""
        targets = targets[:, 0] if targets.shape[1] == 1 else targets
        sides = np.column_stack(self.loss.sides(targets, self._of_rows(X)))
        # The bound of a pair holds for rows without negative entries, whatever targets are.
        return np.maximum(np.nan_to_num(sides), 0.0)
