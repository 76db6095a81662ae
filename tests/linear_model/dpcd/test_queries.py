"""By how much a record moves the moments of columns: no more than is stated, and nearly that."""

import itertools
import math

import numpy as np
import pytest

from tests._loops import for_each
from tests.door import BallColumns, ColumnMoments, GaussianMechanism

D = 3
REACH = np.array([2.0, 1.0, 0.5])


def rows_within(longest):
    """Return rows, in units of `REACH`, with no entry above 1 that are no longer than `longest`."""
    corners = np.array(list(itertools.product([-1.0, 0.0, 1.0], repeat=D)))
    norms = np.maximum(np.linalg.norm(corners, axis=1, keepdims=True), 1e-300)
    return corners * np.minimum(longest / norms, 1.0)


@pytest.mark.every
@for_each("longest", [0.4, 1.0, 1.3, math.sqrt(D)])
@for_each("weight_of_sums", [0.0, 0.5])
def test_no_record_moves_moments_by_more_than_is_stated(longest, weight_of_sums):
    mechanism = GaussianMechanism(1e3, 1.0, (2 if weight_of_sums else 1) * D, 2)
    query = ColumnMoments(mechanism, REACH, longest, weight_of_sums)

    def moments(row):
        X = np.asfortranarray([row * REACH, 0.3 * REACH])
        return BallColumns(X, None, None).ask(query)

    answers = [moments(row) for row in rows_within(longest)]
    nothing = moments(np.zeros(D))
    moved = max(np.linalg.norm(one - nothing) for one in answers)
    apart = max(np.linalg.norm(one - other) for one, other in itertools.combinations(answers, 2))
    record, pair = query.record_bound(None), query.pair_bound(None)
    assert 0.7 * record < moved <= record * (1.0 + 1e-12)
    assert 0.6 * pair < apart <= pair * (1.0 + 1e-12)


@pytest.mark.every
def test_a_row_counts_by_its_factor_and_without_a_bound_by_its_weight():
    X, weights, factors = np.asfortranarray([REACH, REACH]), np.array([3.0, 1.0]), np.full(2, 0.5)
    bounded, free = (
        ColumnMoments(GaussianMechanism(bound, noise, D, 2), REACH, math.sqrt(D), 0.0)
        for bound, noise in ((1e3, 1.0), (math.inf, 0.0))
    )
    np.testing.assert_array_equal(BallColumns(X, weights, factors).ask(bounded), 0.5)
    np.testing.assert_array_equal(BallColumns(X, weights, factors).ask(free), 1.0)
