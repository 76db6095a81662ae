"""What bends of curves and odd words cost, as far as noise hides them."""

import numpy as np

from skdp.additive import _tuned as tuned
from skdp.additive._shapes import Shape


def roughness(basis, rest, n_rows):
    """Return the matrix P of a penalty ``coef P coef / 2`` on bends of curves and on odd words.

    Its strength follows the noise of a mean of `n_rows` numbers for which the budget `rest` is
    spent. It is None without noise.
    """
    if not rest.is_private:
        return None
    strength = min(tuned.PENALTY_PER_NOISE * rest.calibrate() / n_rows, tuned.LARGEST_PENALTY)
    matrix = np.zeros((basis.n_columns, basis.n_columns))
    for term, part in zip(basis.terms, basis.slices, strict=True):
        if term.kind == "hats":
            of_term = bends(term.knots)
        elif term.kind == "words":
            of_term = _contrasts(term)
        else:
            continue
        columns = slice(part.start, part.start + of_term.shape[1])
        matrix[columns, columns] = strength * (of_term.T @ of_term)
    return matrix


def _contrasts(term):
    """Return how far the values of words are from their mean, as a matrix of weights."""
    return np.eye(term.n_columns) - Shape.of(term).mean


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
