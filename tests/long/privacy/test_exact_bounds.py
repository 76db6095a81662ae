"""The four sensitivities that carry every guarantee, in exact arithmetic over all small cases.

Everything else is composition and post-processing. Statements, each proved on the page that it
names; a record r is one row, or all rows of a person, and a null record adds nothing:

1. Counts (doc/theory/ball.rst): a record is in one bin of each of k columns. Alone it has the
   length sqrt(k), and two records are at most sqrt(2 k) apart.
2. Rows in a ball (doc/theory/ball.rst): times ``min(1, radius / length)`` no row is longer than the
   radius. So a sum of them moves by a radius if a record becomes null, and by two if it becomes
   another one. A row's part in the second moment is at most the square of the radius, with that of
   the intercept's column, and two records are as far apart as orthogonal ones at most.
3. People (doc/theory/people.rst): what all rows of a person add is cut together to a bound.
4. Passes (doc/theory/passes.rst): with slopes cut to c over the length of ``x_j / w_j``, what a
   record adds to the sums of all columns j, each over its unit w_j, has together a length of c.

Each is checked for both adjacencies: a record that becomes null, and one that becomes any other. A
data set has up to three records of two columns, whose entries are eighths: one record has any from
-1 to 1, and of two and of three records all ways are tried in which these have a few of them.
Answers are floats, which are whole multiples of powers of 2, so that lengths of their differences
are compared with bounds as fractions: nothing is rounded here. What rounding may add is what plans
account for.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from tests.door import (
    LOSSES,
    CertifiedRows,
    CountsByColumn,
    CountsBySide,
    CountsOfLengths,
    GaussianMechanism,
    GroupedRows,
    RawRows,
    SecondMoment,
    SumOfCutRows,
    SumOfSlopes,
    ball_plan_module as _plan,
    clip_contributions,
    clip_rows,
    group_rounding_slack,
    null_records,
    rounding_slack,
)

EIGHTHS = [number / 8.0 for number in range(-8, 9)]
ALL_ROWS = list(itertools.product(EIGHTHS, repeat=2))
# Of two records: all ways for these entries, and of three for a few rows that differ in length and
# direction.
ENTRIES = (-1.0, -0.125, 0.0, 0.375, 1.0)
ROWS = list(itertools.product(ENTRIES, repeat=2))
FEW = [(0.0, 0.0), (1.0, 1.0), (-1.0, 0.375), (-0.125, 0.0)]
CENTRE, UNIT, RADIUS = np.array([0.125, -0.25]), np.array([1.0, 0.5]), 0.5
N_COLUMNS = 2


def data_sets():
    """All data sets of one record, and of two and three of a few entries and rows."""
    for n_rows, rows in ((1, ALL_ROWS), (2, ROWS), (3, FEW)):
        for chosen in itertools.product(rows, repeat=n_rows):
            yield np.array(chosen)


def squared(values):
    """Return the exact squared length of an array of floats."""
    return sum((Fraction(value) ** 2 for value in np.ravel(values).tolist()), Fraction(0))


def apart(one, other):
    """Return the exact squared distance of two arrays of floats."""
    pairs = zip(np.ravel(one).tolist(), np.ravel(other).tolist(), strict=True)
    return sum((abs(Fraction(a) - Fraction(b)) ** 2 for a, b in pairs), Fraction(0))


def answers(ask):
    """Give what is answered for each data set, and with each of its records null."""
    for X in data_sets():
        whole = ask(X, np.zeros(len(X), dtype=bool))
        for k in range(len(X)):
            yield X, k, whole, ask(X, np.arange(len(X)) == k)


def check(ask, bound, *, pair_bound, slack):
    """Check that no null record, and no other record, moves an answer by more than bounds.

    Return the largest distances over the bounds: a bound that nothing reaches may be a loose one.
    """
    allowed, of_pair = (Fraction(b) ** 2 * Fraction(1.0 + slack) ** 2 for b in (bound, pair_bound))
    without, reached, reached_by_pairs = {}, Fraction(0), Fraction(0)
    for X, k, whole, null in answers(ask):
        moved = apart(whole, null)
        assert moved <= allowed
        reached = max(reached, moved / allowed)
        # The same other records, with each record that occurs in the k-th place.
        others = k, np.delete(X, k, axis=0).tobytes()
        for one in without.setdefault(others, []):
            moved = apart(whole, one)
            assert moved <= of_pair
            reached_by_pairs = max(reached_by_pairs, moved / of_pair)
        without[others].append(whole)
    return float(reached), float(reached_by_pairs)


def exact(bound, size):
    """Return a mechanism without noise: its answers lie on no grid."""
    return GaussianMechanism(bound, 0.0, size, 3)


def raw(query):
    def ask(X, is_null):
        with RawRows(X, is_null).at_work() as rows:
            return rows.ask(query)

    return ask


@pytest.mark.every
@pytest.mark.parametrize(
    ("kind", "n_counted"), [(CountsOfLengths, 1), (CountsByColumn, 2), (CountsBySide, 2)]
)
def test_counts(kind, n_counted):
    bins = _plan.bins_below(2.0)
    size = n_counted * bins.n_bins * (2 if kind is CountsBySide else 1)
    ask = raw(kind(bins, CENTRE, UNIT, exact(math.sqrt(n_counted), size)))
    alone = {row: ask(np.array([row]), np.zeros(1, dtype=bool)) for row in ALL_ROWS}
    for X in data_sets():
        for is_null in itertools.product((False, True), repeat=len(X)):
            there = [alone[tuple(row)] for row, null in zip(X, is_null, strict=True) if not null]
            # Whole numbers: sums of them are exact, and a record is in the same bins in each.
            whole = ask(X, np.array(is_null))
            np.testing.assert_array_equal(whole, sum(there, np.zeros_like(whole)))
    counts = np.unique(list(alone.values()), axis=0)
    # Of whole numbers squares and sums are exact.
    np.testing.assert_array_equal(counts, np.rint(counts))
    np.testing.assert_array_equal(np.square(counts).reshape(len(counts), -1).sum(axis=1), n_counted)
    for one in counts:
        pairs = np.square(counts - one).reshape(len(counts), -1).sum(axis=1)
        assert pairs.max() <= 2 * n_counted


def test_rows_that_are_cut_to_a_radius():
    query = SumOfCutRows(CENTRE, UNIT, RADIUS, exact(RADIUS, N_COLUMNS))
    slack = rounding_slack(3, N_COLUMNS, 1)
    reached = check(raw(query), RADIUS, pair_bound=2.0 * RADIUS, slack=slack)
    assert min(reached) > 0.99


BIAS = 0.25


def certified(X, is_null):
    with null_records(np.flatnonzero(is_null)):
        return clip_rows(X, data_norm=RADIUS, fit_intercept=True, bias=BIAS)


def signs(X):
    return np.where(X[:, :1] > 0.0, 1.0, -1.0)


def test_second_moments():
    """The moment as a vector has entries off the diagonal times the root of 2: its length."""
    largest = RADIUS**2 + BIAS**2
    query = SecondMoment(exact(largest, 6))

    def ask(X, is_null):
        rows = certified(X, is_null)
        with CertifiedRows(rows, signs(X), LOSSES["log_loss"]).at_work() as placed:
            return placed.ask(query)

    slack = rounding_slack(3, N_COLUMNS + 1, 1)
    reached, _ = check(ask, largest, pair_bound=math.sqrt(2.0) * largest, slack=slack)
    assert reached > 0.99


MAP = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.25], [0.0, -0.25, 1.5]])
CLIP = 0.375
WEIGHTS = np.array([[0.5], [-1.0], [0.25]])


def asked_for_slopes(kind, X, is_null, **options):
    rows = kind(certified(X, is_null), signs(X), LOSSES["log_loss"], **options)
    with rows.at_work() as placed:
        placed.bound_slopes(MAP, CLIP)
        return placed.ask(SumOfSlopes(WEIGHTS, exact(CLIP, 3)))


def test_slopes_of_mapped_rows():
    # The map makes one direction longer than another, and rounding errors with it.
    values = np.linalg.eigvalsh(MAP)
    slack = rounding_slack(3, N_COLUMNS + 1, 1) * values[-1] / values[0]
    ask = lambda X, is_null: asked_for_slopes(CertifiedRows, X, is_null)  # noqa: E731
    reached, _ = check(ask, CLIP, pair_bound=2.0 * CLIP, slack=slack)
    assert reached > 0.99


def test_a_person_is_cut_as_a_whole():
    """Of three rows, in all ways that these belong to people."""
    slack, reached = group_rounding_slack(3, N_COLUMNS + 1, 1), 0.0
    allowed = Fraction(CLIP) ** 2 * Fraction(1.0 + slack) ** 2
    # The same rows of others, with all rows that one person has.
    without = {}
    for codes in ([0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2]):
        codes = np.array(codes)
        for chosen in itertools.product(FEW, repeat=3):
            X = np.array(chosen)
            none = np.zeros(3, dtype=bool)
            whole = asked_for_slopes(GroupedRows, X, none, codes=codes)
            for person in range(codes.max() + 1):
                null = asked_for_slopes(GroupedRows, X, codes == person, codes=codes)
                moved = apart(whole, null)
                assert moved <= allowed
                reached = max(reached, float(moved / allowed))
                others = codes.tobytes(), person, X[codes != person].tobytes()
                # One person is as far from another as two bounds.
                for one in without.setdefault(others, []):
                    assert apart(whole, one) <= 4 * allowed
                without[others].append(whole)
    assert reached > 0.99
    assert max(map(len, without.values())) == len(FEW) ** 3


@pytest.mark.parametrize("units", [(1.0, 1.0), (0.125, 2.0), (3.0, 0.375)])
def test_a_pass_over_columns(units):
    """Slopes are cut by the length of a row over the units, and each column is a release."""
    units, slopes = np.array(units), np.array([-3.0, -0.125, 0.0, 0.25, 1.0])
    slack, reached = rounding_slack(1, N_COLUMNS, 1), Fraction(0)
    allowed = Fraction(CLIP) ** 2 * Fraction(1.0 + slack) ** 2
    parts = set()
    for row in ALL_ROWS:
        x = np.array(row) / units
        cut = slopes.copy()
        clip_contributions(cut, np.full(slopes.size, np.linalg.norm(x)), np.array(CLIP))
        for slope in cut:
            # What the record adds to the column's sum, over the column's unit.
            length = squared(slope) * squared(x)
            assert length <= allowed
            reached = max(reached, length / allowed)
            # Slopes of the columns' steps differ, and so may that of each.
            parts.add(tuple(Fraction(value) * Fraction(slope) for value in x.tolist()))
    assert reached > Fraction(99, 100)
    # Two records are as far apart as two bounds at most.
    longest = sorted(parts, key=lambda part: -sum(value**2 for value in part))[:200]
    for one, other in itertools.combinations(longest, 2):
        square = sum((a - b) ** 2 for a, b in zip(one, other, strict=True))
        assert square <= 4 * allowed
