"""Canaries: records that an attack is about, and what stands in their place next door."""

import math
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import get_tags

from skdp._checks import check_bounds
from skdp._families.targets import encode_labels
from skdp._rows.bounds import row_norms
from skdp._rows.entry_types import is_of_numbers
from skdp.linear_model._row_bounds import public_feature_bounds

# Targets without bounds: far from any prediction, so that what a record contributes is clipped.
_FAR = 1e6


@dataclass(frozen=True, eq=False)
class World:
    """A data set, with the indices of its null records."""

    X: np.ndarray
    y: np.ndarray
    null: tuple = ()


@dataclass(frozen=True, eq=False)
class Canaries:
    """Records, each with the one that replaces it where a guarantee is about replacement."""

    X: np.ndarray
    y: np.ndarray
    other_X: np.ndarray
    other_y: np.ndarray

    def __len__(self):
        return len(self.X)

    def world(self, X, y, adjacency, present):
        """Return the rows (X, y) followed by the canaries, as far as they are present.

        What a null record holds doesn't matter by definition: it is a row of zeros with the other
        label or target, so that a leak around the bounds of rows shows.
        """
        null, other_X = (), self.other_X
        if adjacency == "zero_out":
            null = tuple((len(X) + np.flatnonzero(~present)).tolist())
            other_X = np.zeros_like(self.X)
        canaries_X = np.where(present[:, np.newaxis], self.X, other_X)
        chosen = present if y.ndim == 1 else present[:, np.newaxis]
        canaries_y = np.where(chosen, self.y, self.other_y)
        return World(np.vstack([X, canaries_X]), np.concatenate([y, canaries_y]), null)

    def contrasts(self, estimator, classes, adjacency):
        """Return in which direction each canary moves coefficients and intercepts, a row each.

        That is, the negative gradient of a linear loss of its decision value, less that of the
        record in its place.
        """
        moves = _moves(estimator, self.X, self.y, classes)
        if adjacency != "zero_out":
            moves = moves - _moves(estimator, self.other_X, self.other_y, classes)
        return moves


def _moves(estimator, X, y, classes):
    if classes is not None:
        signs = encode_labels(y, classes)[1]
    else:
        low, high = _target_ends(estimator)
        signs = np.sign(y.reshape(len(y), -1) - (0.5 * low + 0.5 * high))
    by_coef = signs[:, :, np.newaxis] * X[:, np.newaxis, :]
    return np.column_stack([by_coef.reshape(len(X), -1), signs])


def _target_ends(estimator):
    bounds = getattr(estimator, "target_bounds", None)
    low, high = (-_FAR, _FAR) if bounds is None else check_bounds(bounds, "target_bounds")
    if get_tags(estimator).target_tags.positive_only:
        low = max(low, high / _FAR**2)
    return low, high


def class_set(estimator, y):
    """Return the classes that an estimator declares, or those in y; None for regression."""
    if not is_classifier(estimator):
        return None
    declared = getattr(estimator, "classes", None)
    return np.unique(y if declared is None else np.asarray(declared))


def default_canaries(estimator, X, y, *, stream=None):
    """Return strong canaries: rows at their bound, with a label or target at the end of its range.

    Without a stream there is one, in the direction that other rows have least of. Otherwise there
    are as many as features, in orthogonal random directions (where values are bounded, and not
    rows: at random corners), and with the ends of the range by turns.
    """
    n_features = X.shape[1]
    if stream is None:
        _, vectors = np.linalg.eigh(X.T.astype(np.float64) @ X)
        directions = vectors[:, :1].T
        directions = directions * (-1.0 if directions.sum() < 0.0 else 1.0)
    else:
        square = 2.0 * stream.uniform(n_features**2).reshape(n_features, n_features) - 1.0
        directions = np.linalg.qr(square)[0]
    classes = class_set(estimator, y)
    ends = _target_ends(estimator) if classes is None else (classes[0], classes[-1])
    ends = np.array(ends, dtype=np.float64 if classes is None else classes.dtype)
    by_turns = ends[1 - np.arange(len(directions)) % 2]
    labels = np.repeat(by_turns, math.prod(y.shape[1:])).reshape(len(directions), *y.shape[1:])
    return with_opposites(estimator, _at_the_bound(estimator, directions, X), labels, classes)


def _at_the_bound(estimator, directions, X):
    parameters = estimator.get_params()
    data_norm = parameters.get("data_norm")
    if data_norm is None and {"data_norm", "feature_bounds"} <= parameters.keys():
        low, high = public_feature_bounds(estimator, X.shape[1])
        far = np.where(np.abs(high) >= np.abs(low), high, low)
        ends = np.where(directions >= 0.0, high, low)
        return np.where((low < 0.0) & (high > 0.0), ends, far)
    if data_norm is None:
        data_norm = row_norms(X).max() or 1.0
    return data_norm * directions


def given_canaries(estimator, X, y, canary, *, several):
    """Return what a user gave: one canary, or arrays of `several`."""
    if not isinstance(canary, tuple) or len(canary) not in (2, 4):
        raise ValueError("canary must be a tuple (x, y) or (x, y, other_x, other_y).")
    parts = [np.asarray(part) if several else np.asarray(part)[np.newaxis] for part in canary]
    for rows, labels in zip(parts[::2], parts[1::2], strict=True):
        shape, label_shape = (len(parts[0]), X.shape[1]), (len(parts[0]), *y.shape[1:])
        if rows.shape != shape or labels.shape != label_shape or not len(rows):
            raise ValueError(
                "canary must have x and y of the shapes of a row of X and of y"
                + (", one for each canary." if several else ".")
            )
        if not is_of_numbers(rows.dtype) or not np.isfinite(rows).all():
            raise ValueError("canary must have finite real numbers as x.")
    classes = class_set(estimator, np.concatenate([y, *parts[1::2]]))
    canaries = with_opposites(estimator, *parts[:2], classes)
    if len(parts) == 4:
        canaries = replace(canaries, other_X=parts[2], other_y=parts[3])
    return canaries


def with_opposites(estimator, X, y, classes):
    """Return canaries whose opposites have the same row and the label or target farthest away."""
    if classes is not None:
        opposite = np.where(y == classes[0], classes[-1], classes[0])
    else:
        low, high = _target_ends(estimator)
        opposite = low + (high - y)
    return Canaries(X, y, X, opposite)


def check_replaceable(canaries, adjacency):
    """Refuse canaries that don't differ from what replaces them as the guarantee has it."""
    if adjacency == "zero_out":
        return
    same_X = (canaries.other_X == canaries.X).all(axis=1)
    same_y = (canaries.y == canaries.other_y).reshape(len(canaries), -1).all(axis=1)
    if (same_X & same_y).any():
        raise ValueError("canary must differ from its opposite; give (x, y, other_x, other_y).")
    if adjacency == "replace_label" and not same_X.all():
        raise ValueError("canary must have other_x equal to x where labels alone are private.")
