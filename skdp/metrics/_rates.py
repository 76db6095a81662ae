"""Scores of models of rates, by what they predict of the exposures of rows."""

from inspect import signature
from typing import NamedTuple

import numpy as np

from skdp._checks import check_exposure

_NO_SCORE_OF_RATES = (
    "exposure goes with means of errors and of deviances, whose names begin with neg_mean: an "
    "explained share compares with one rate for all rows, which isn't released."
)


class _During(NamedTuple):
    """A model of rates whose predictions are of an exposure of each row."""

    estimator: object
    exposure: np.ndarray

    def predict(self, X):
        """Return predictions for rows of these exposures."""
        return self.estimator.predict(X, exposure=self.exposure)


def during(estimator, exposure, names, *, n_rows):
    """Return a model whose predictions are of such exposures, for scores of these names."""
    if not all(name.startswith("neg_mean_") for name in names):
        raise ValueError(_NO_SCORE_OF_RATES)
    if "exposure" not in signature(estimator.predict).parameters:
        raise ValueError(f"predict of a {type(estimator).__name__} takes no exposure.")
    return _During(estimator, check_exposure(exposure, n_rows))
