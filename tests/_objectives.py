"""Every loss with its numbers set, and what a loss or a penalty says of targets and weights."""

from math import inf, isfinite

import numpy as np

from tests.door import LOSSES, DualLoss, Huber, Multinomial

# Of one output; tests that ask for these run on a new loss by themselves.
EACH = {**LOSSES, "huber": Huber(0.6)}
DUAL = {name: loss for name, loss in EACH.items() if isinstance(loss, DualLoss)}
EVERY = {**EACH, "multinomial": Multinomial(3)}


def labels(loss):
    return [-1.0, 1.0] if isfinite(loss.loss_at_zero) else [-1.7, 0.0, 0.4]


def dual_range(loss, y):
    """The interval of feasible dual variables."""
    return float(loss.feasible(y, -inf)), float(loss.feasible(y, inf))


def penalty_value(penalty, w):
    """The penalty of all entries of `w`, an array whose last axis is the coefficients."""
    if ((w < penalty.low) | (w > penalty.high)).any():
        return inf
    return (penalty.l1 * np.abs(w) + 0.5 * penalty.l2 * w**2).sum()
