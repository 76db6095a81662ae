"""Logistic and linear regression of diffprivlib, with pure epsilon (delta isn't used).

Its logistic regression is an optimum of a perturbed objective, its linear regression that of a
perturbed polynomial, with the bounds that rows and targets have.
"""

import numpy as np
from _weights import run
from diffprivlib.models import LinearRegression, LogisticRegression


def fit(X, y, epsilon, delta, row_norm, seed, C=1.0):
    if set(np.unique(y)) == {-1.0, 1.0}:
        model = LogisticRegression(
            epsilon=epsilon, data_norm=row_norm, C=C, max_iter=1000, random_state=seed
        )
    else:
        # Of all columns: rows are in the ball, so columns are within its radius, and within 1.
        high = min(row_norm, 1.0)
        model = LinearRegression(
            epsilon=epsilon, bounds_X=(-high, high), bounds_y=(-1.0, 1.0), random_state=seed
        )
    model.fit(X, y)
    return np.atleast_2d(model.coef_).T, np.atleast_1d(model.intercept_)


if __name__ == "__main__":
    run(fit)
