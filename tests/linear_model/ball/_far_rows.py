"""Rows far from 0, in columns of very different units, and what is to be told of them."""

import numpy as np
from sklearn.base import is_classifier

CENTRE, UNIT = np.array([300.0, 0.0, -2.0]), np.array([20.0, 1.0, 0.01])


def far_rows(rng):
    """Return rows of heavy tails, and the same in their units; one column is mostly constant."""
    Z = rng.standard_t(4.0, (3000, 3))
    Z[:, 1] *= rng.random(3000) < 0.3
    return CENTRE + UNIT * Z, Z


def target(model, Z):
    """Return labels, or targets of a regressor."""
    score = Z @ [1.0, -2.0, 0.5]
    return (score > 0.0).astype(int) if is_classifier(model) else score
