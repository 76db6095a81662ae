"""What records count: public weights of rows, and public weights of classes.

A record contributes its weight times what it would contribute, cut to the bound after that. So a
weight moves no bound, and it may follow from the record itself, as that of its label does:
doc/theory/weights.rst has the proof.
"""

import math
from typing import NamedTuple

import numpy as np

from skdp._checks import check_class_weight

WEIGHTS_STATED = "the weights of the rows (public_weight)"


class WeightScale(NamedTuple):
    """Public numbers that plans follow.

    Attributes
    ----------
    largest : float
        What no weight exceeds.
    typical : float
        Root mean square of the weights of rows, times the geometric mean of those of classes: of
        two classes that weights balance, that is the root mean square, too.
    wanted : float
        The same with the largest weight of classes: clips by it cut rare classes no more than
        others.
    of_classes : bool
        Whether a class has a weight other than 1: then the mean of all weights isn't known.
    steepest : float
        The geometric mean of the weights of classes, or 1 if that is less. Where the mean slope
        is 0, the weighted curvature of two classes is at most that times the loss's.
    """

    largest: float = 1.0
    typical: float = 1.0
    wanted: float = 1.0
    of_classes: bool = False
    steepest: float = 1.0

    def times(self, other):
        """Return the scale of products of weights."""
        products = WeightScale(*(one * two for one, two in zip(self, other, strict=True)))
        return products._replace(of_classes=self.of_classes or other.of_classes)


EVEN = WeightScale()


class Weights(NamedTuple):
    """What records count: weights above 0, or None if all are 1, and which weights are 0.

    Of a record of weight 0 `of_rows` is 1, as it is made a null record.
    """

    of_rows: np.ndarray | None = None
    is_zero: np.ndarray | None = None
    scale: WeightScale = EVEN

    def expand(self, n_rows):
        """Return all weights, 0 and 1 included, as an array of shape (n_rows,)."""
        if self.of_rows is None:
            return np.ones(n_rows)
        return np.where(self.is_zero, 0.0, self.of_rows)

    def without_zero_weights(self, rows):
        """Return certified rows in which records of weight 0 are null records."""
        if self.is_zero is None:
            return rows
        return rows._replace(norm=np.where(self.is_zero, 0.0, rows.norm))


def joint_weights(one, other):
    """Return products of weights of rows; None stands for weights of 1."""
    if one is None or other is None:
        return other if one is None else one
    return one * other


def class_scale(class_weight, n_classes):
    """Return the scale of the weights of so many classes; those without one have 1."""
    if class_weight is None:
        return EVEN
    weights = list(check_class_weight(class_weight).values())
    weights += [1.0] * max(0, n_classes - len(weights))
    logs = [math.log(weight) for weight in weights if weight > 0.0]
    if not logs:
        raise ValueError("class_weight must leave a class a weight above 0.")
    several = any(weight != 1.0 for weight in weights)
    typical = math.exp(sum(logs) / len(logs))
    return WeightScale(max(weights), typical, max(weights), several, max(typical, 1.0))


def weigh(public_weight=None, *, class_weight=None, classes=None, targets=None):
    """Return the weights of records.

    Those of rows are divided by their mean, which is public: the mean loss is then that of rows
    that are repeated so many times. Those of classes are taken as they are: their mean would depend
    on labels. Targets are those of `encode_labels`.
    """
    of_rows, scale = None, EVEN
    if public_weight is not None and public_weight.min() < public_weight.max():
        of_rows = public_weight * (public_weight.size / public_weight.sum())
        typical = math.sqrt(np.mean(of_rows[of_rows > 0.0] ** 2))
        scale = WeightScale(float(of_rows.max()), typical, typical)
    if class_weight is not None:
        of_classes = weights_of_classes(class_weight, classes)
        if (of_classes != 1.0).any():
            scale = scale.times(class_scale(class_weight, classes.size))
            codes = (targets[:, 0] > 0.0) if targets.shape[1] == 1 else targets.argmax(axis=1)
            of_labels = of_classes[codes.astype(int)]
            of_rows = of_labels if of_rows is None else of_labels * of_rows
    if of_rows is None:
        return Weights()
    is_zero = of_rows == 0.0
    return Weights(np.where(is_zero, 1.0, of_rows), is_zero, scale)


def weights_of_classes(class_weight, classes):
    """Return the weight of each class, 1 where none is given."""
    given = check_class_weight(class_weight)
    weights = [given.pop(label, 1.0) for label in classes.tolist()]
    if given:
        raise ValueError("class_weight has a key that is none of the classes.")
    return np.array(weights)
