"""Second moments of rows as users have them: the constant first, and then columns as they are."""

import numpy as np

from skdp._checks import read_numbers

# A matrix may be so far from symmetric and positive semidefinite, in units of its diagonal, by
# column: sums in single precision are.
_TOLERANCE = 1e-6
# Eigenvectors of a matrix that has smaller numbers beside the reciprocal of this may be no numbers,
# or never come. Smaller ones are 0, and longer columns are cut: rows aren't so long.
_SMALLEST = 1e-100


def check_moment(moment, n_features):
    """Return a public second moment as an array of float64.

    Raises
    ------
    ValueError
        If it isn't a finite, symmetric and positive semidefinite matrix of a row and a column for
        the constant and for each feature.
    """
    moment = read_numbers(moment, "public_moment must be a matrix of numbers.")
    size = n_features + 1
    if moment.shape != (size, size):
        raise ValueError(
            f"public_moment must have the shape ({size}, {size}): a row and a column for the "
            "constant 1, first, and for each feature. It is the mean of np.outer(z, z) over rows "
            "z = (1, x)."
        )
    with np.errstate(all="ignore"):
        unit = np.sqrt(moment.diagonal())
        unit = np.where(unit > 0.0, unit, 1.0)
        scaled = moment / unit / unit[:, np.newaxis]
    is_symmetric = np.isfinite(scaled).all() and np.abs(scaled - scaled.T).max() <= _TOLERANCE
    if not is_symmetric or np.linalg.eigvalsh(scaled)[0] < -_TOLERANCE * size:
        raise ValueError("public_moment must be finite, symmetric and positive semidefinite.")
    if not moment[0, 0] > 0.0:
        raise ValueError("The first entry of public_moment, of the constant, must be above 0.")
    return moment


def as_training_has_it(moment, problem, outside):
    """Return a moment of (1, x) as one of rows as training takes them, the constant's column last.

    The function `outside` makes of coefficients of those rows coefficients of rows as they are. A
    prediction is the same by both, which gives the map of rows.
    """
    order = np.append(np.arange(1, len(moment)), 0)
    moment = moment[np.ix_(order, order)]
    if problem.bias:
        moment[-1] *= problem.bias
        moment[:, -1] *= problem.bias
    else:
        moment = moment[:-1, :-1]
    to_rows = np.eye(problem.n_columns)
    to_rows = to_rows if outside is None else outside(to_rows)
    moment = to_rows @ moment @ to_rows.T
    if not np.isfinite(moment).all():
        # It tells nothing.
        return np.zeros_like(moment)
    shorter = np.fmin(1.0, (_SMALLEST * moment.diagonal()) ** -0.5)
    moment *= shorter * shorter[:, np.newaxis]
    return np.where(np.abs(moment) < _SMALLEST, 0.0, moment)


@np.errstate(all="ignore")
def as_users_have_it(moment, inside, bias):
    """Return a moment of rows as training takes them as one of (1, x).

    The function `inside` makes of coefficients of rows as they are coefficients of those rows.
    """
    to_rows = inside(np.eye(len(moment)))
    moment = to_rows @ moment @ to_rows.T
    moment[-1] /= bias
    moment[:, -1] /= bias
    order = np.append(len(moment) - 1, np.arange(len(moment) - 1))
    return moment[np.ix_(order, order)]
