"""The private estimators of the package, by what they do."""

import numpy as np
from sklearn.utils import get_tags

from skdp.utils.discovery import all_estimators

PRIVATE = [estimator for _, estimator in all_estimators("private")]
TRANSFORMERS = [estimator for estimator in PRIVATE if hasattr(estimator, "transform")]
PREDICTORS = [estimator for estimator in PRIVATE if estimator not in TRANSFORMERS]
# Linear ones, which bound rows of numbers.
LINEAR = [estimator for estimator in PREDICTORS if "skdp.linear_model" in estimator.__module__]
# Those of targets that may have any sign. An attack by coefficients tells less of the others.
OF_ANY_SIGN = [one for one in LINEAR if not get_tags(one()).target_tags.positive_only]


def suited(estimator, y):
    """Return targets in the range of an estimator: positive ones, and one column, if it must be."""
    tags = get_tags(estimator).target_tags
    if tags.positive_only:
        y = np.abs(y) + 0.1
    return y if tags.multi_output or np.ndim(y) < 2 else y[:, 0]
