"""Shares of classes, or means of targets, where they are all that is released."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import leggauss

from skdp._families.weights import Weights, weights_of_classes
from skdp._release.mechanisms import GaussianMechanism
from skdp._rows.frames import Frame
from skdp._rows.queries import TARGETS, BoundedQuery
from skdp.additive import _tuned as tuned
from skdp.additive._fitted import Fitted

# A mean over shares has so many nodes, within so many deviations of the noise: what lies beyond is
# no part of it in double precision.
_NODES, _WEIGHTS = leggauss(64)
_FARTHEST = 9.0


class WeighedTargets(NamedTuple):
    """Targets of a table's rows in memory, and public weights, of mean 1."""

    targets: np.ndarray
    weights: Weights
    # It knows null records.
    frame: Frame

    def ask(self, query):
        """Return the answer to a `Query`."""
        return query.total(self)


@dataclass(frozen=True, eq=False)
class SumOfConstants(BoundedQuery):
    """The sum of targets as numbers in [0, 1], less `centre`, each times its share of the weight.

    Of the largest weight that share is 1. The answer has the shape (k,). Of several classes one
    number of a record is 1, and the others are 0.
    """

    centre: float
    n_outputs: int
    of_classes: bool
    mechanism: GaussianMechanism

    view = TARGETS

    def record_bound(self, place):
        if self.of_classes and self.n_outputs > 1:
            return math.sqrt(1.0 - 1.0 / self.n_outputs)
        return 0.5 * math.sqrt(self.n_outputs)

    def pair_bound(self, place):
        has_several = self.of_classes and self.n_outputs > 1
        return math.sqrt(2.0) if has_several else math.sqrt(self.n_outputs)

    def total(self, weighed):
        parts = 0.5 * np.clip(weighed.targets, -1.0, 1.0) + (0.5 - self.centre)
        weights = weighed.weights
        parts = parts * (weights.expand(len(parts)) / weights.scale.largest)[:, np.newaxis]
        return weighed.frame.counted(parts).sum(axis=0)


def release_constants(targets, weights, frame, plan, run):
    """Return means of targets as numbers in [0, 1], of which noise is taken off, of shape (k,).

    Parameters
    ----------
    targets : ndarray of shape (n, k)
        Targets from -1 to 1; or 1 for a row's class and -1 for others, in one column for two.
    weights : Weights
        Public ones of rows, whose mean is 1.
    frame : Frame
        The table, which knows null records.
    plan : ConstantPlan
    run : Run
    """
    unit, mechanism = weights.scale.largest / len(targets), run.mechanism(plan.name)
    query = SumOfConstants(plan.centre, targets.shape[1], plan.of_classes, mechanism)
    released = unit * run.ask(plan.name, WeighedTargets(targets, weights, frame), query)
    return expected_shares(released + plan.centre, mechanism.noise_std * unit)


def expected_shares(released, noise):
    """Return the means of shares in [0, 1], all alike before, of which these were released.

    Each is the mean of a normal law about what was released, cut to [0, 1]: so none is 0 or 1,
    however far noise moved it.
    """
    nearest = np.clip(released, 0.0, 1.0)[:, np.newaxis]
    low = np.maximum(nearest - _FARTHEST * noise, 0.0)
    half = 0.5 * (np.minimum(nearest + _FARTHEST * noise, 1.0) - low)
    shares = low + half * (1.0 + _NODES)
    centre = released[:, np.newaxis]
    logs = ((nearest - centre) ** 2 - (shares - centre) ** 2) / (2.0 * noise**2)
    density = _WEIGHTS * np.exp(logs)
    return (density * shares).sum(axis=1) / density.sum(axis=1)


def logs_of_shares(means, class_weight, classes):
    """Return intercepts, of shape (k,), of shares of classes that have such weights or None."""
    shares = np.append(1.0 - means, means) if means.size == 1 else means / means.sum()
    if class_weight is not None:
        shares = shares * weights_of_classes(class_weight, classes)
    logs = np.log(np.maximum(shares, tuned.SMALLEST_SHARE_OF_CLASS))
    return logs[1:] - logs[0] if logs.size == 2 else logs - logs.mean()


def of_constants(constants, basis):
    """Return a model whose terms are all 0, with such intercepts."""
    coefs = np.zeros((constants.size, basis.n_columns + 1))
    coefs[:, -1] = constants
    covariance = np.zeros((basis.n_columns, basis.n_columns))
    return Fitted(coefs, covariance, basis, reports=())
