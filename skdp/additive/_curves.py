"""How stiff curves are: what bending costs, as far as noise hides bends."""

import numpy as np

from skdp.additive import _tuned as tuned


def roughness(basis, rest, n_rows):
    """Return the matrix P of a penalty ``coef P coef / 2`` on bends of a basis's curves.

    Its strength follows the noise of a mean of `n_rows` numbers for which the budget `rest` is
    spent. It is None without noise.
    """
    if not rest.is_private:
        return None
    strength = min(tuned.STIFFNESS_PER_NOISE * rest.calibrate() / n_rows, tuned.LARGEST_STIFFNESS)
    matrix = np.zeros((basis.n_columns, basis.n_columns))
    for term, part in zip(basis.terms, basis.slices, strict=True):
        if term.kind == "hats":
            curve = slice(part.start, part.start + term.knots.size)
            of_knots = bends(term.knots)
            matrix[curve, curve] = strength * (of_knots.T @ of_knots)
    return matrix


def bends(knots):
    """Return how far a curve's values at inner knots are from lines, as a matrix of weights.

    A row, for each knot but the outermost, takes the value there twice off the two by which the
    neighbours' line meets it. Of even knots that is the second difference. It has the curve's unit,
    whatever that of the knots is.
    """
    inner = np.arange(1, knots.size - 1)
    matrix = np.zeros((inner.size, knots.size))
    # Halves, because the difference of the largest numbers may be none.
    steps = 0.5 * knots[1:] - 0.5 * knots[:-1]
    total = 0.5 * knots[2:] - 0.5 * knots[:-2]
    # Halves of the smallest numbers may be alike.
    share = steps[1:] / np.where(total > 0.0, total, 1.0)
    matrix[inner - 1, inner - 1] = 2.0 * share
    matrix[inner - 1, inner] = -2.0
    matrix[inner - 1, inner + 1] = 2.0 * (1.0 - share)
    return matrix
