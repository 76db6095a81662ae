"""Records into the cells of a public grid, and the release of the cells' counts.

Every record is in one cell. Where a record lies between two nodes of an axis, a coin of its own
decides, with odds that keep the mean: no grid, however coarse, then biases a sum over nodes, and
what the coins add is sampling noise like any other.
"""

import math
from typing import NamedTuple

import numpy as np

from skdp._rows.queries import Cells, CountsByCell


class Axis(NamedTuple):
    """Where each record lies on one axis of the grid.

    Attributes
    ----------
    position : ndarray of shape (n,)
        In units of nodes.
    size : int
        Number of nodes.
    rounding : {"down", "linear", "quadratic"}
        "down" takes the last node at or below a position. "linear" and "quadratic" are random: the
        mean of the nodes is the position, and the mean of their squares under "quadratic" is
        the position's square and a quarter.
    """

    position: np.ndarray
    size: int
    rounding: str = "down"


def release_histogram(axes, steps, coins, rows, rows_of_record=1):
    """Release how many rows are in each cell of a grid of `Axis`; `rows` tells which count.

    `steps` add the noise: they are what a run gives. A record has `rows_of_record` at most that
    count.

    A row's cell follows from its own positions and coins alone, and it has one: it moves one
    count by one.
    """
    shape = tuple(axis.size for axis in axes)
    cells = np.zeros(axes[0].position.size, dtype=np.int64)
    for axis in axes:
        node = _ROUNDINGS[axis.rounding](axis.position, coins)
        cells = cells * axis.size + np.clip(node, 0, axis.size - 1).astype(np.int64)
    query = CountsByCell((math.prod(shape),), steps.mechanism, rows_of_record)
    return steps.ask(Cells((cells[rows],)), query).reshape(shape)


def _down(position, coins):
    return np.floor(position)


def _linear(position, coins):
    return np.ceil(position - coins.uniform(position.size))


def _quadratic(position, coins):
    """Take one of the three nodes around, by the weights of a quadratic B-spline."""
    middle = np.rint(position)
    offset = position - middle
    uniform = coins.uniform(position.size)
    below, above = 0.5 * (0.5 - offset) ** 2, 0.5 * (0.5 + offset) ** 2
    return middle + (uniform > 1.0 - above) - (uniform <= below)


_ROUNDINGS = {"down": _down, "linear": _linear, "quadratic": _quadratic}
