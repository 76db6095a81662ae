"""The four sensitivities that carry every guarantee, in whole numbers over all small cases.

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

Rows have two entries, eighths. A data set of one or two records has any entries from -1 to 1: 290
records, the null one among them, so 84,100 data sets. One of three has entries from -1/4 to 1/4: 26
records, so 17,576 data sets. Every pair of data sets is compared that differs in one record, in
each place: 49 million of two records, and 1.4 million of three. Compiled sums, and those over
sparse rows, are asked with the fewer entries alone.

A mechanism rounds an answer to a grid before it adds noise. So answers are whole numbers of steps,
and squares of their distances are compared with that of the mechanism's sensitivity as whole
numbers: nothing is rounded here. To ask so many data sets takes a minute because one question is
about all of them, with a block of rows for each; that a data set says the same if it is asked alone
is checked, too.
"""

import itertools
import math
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests._runs import HandRun
from tests.door import (
    EVEN,
    LOSSES,
    Ball,
    CertifiedRows,
    CountsBetween,
    CountsByColumn,
    CountsBySide,
    CountsOfLengths,
    GaussianMechanism,
    GroupedRows,
    RawRows,
    SecondMoment,
    SingleCoordinateSampler,
    SumOfCutRows,
    SumOfSlopes,
    SumOfSquares,
    ball_plan_module,
    blocks_module,
    clip_columns,
    clip_rows,
    divide_columns,
    fused_module,
    group_rounding_slack,
    make_penalty,
    make_stream,
    null_records,
    rounding_slack,
    rows_in_ball,
    shares_of,
    solve_dpcd,
    stretch_of,
    summation_slack,
)

# From -1 to 1, to a half, and to a quarter.
EIGHTHS, MORE, FEW = (np.arange(-most, most + 1) / 8.0 for most in (8, 4, 2))
N_COLUMNS, N_COUNTED = 2, 3
CENTRE, UNIT, RADIUS = np.array([0.125, -0.125]), np.array([1.0, 0.5]), 0.25
# The ways to take sums over rows, and how many records there are of which entries.
CASES = [
    ("dense", 3, FEW),
    ("dense", 2, EIGHTHS),
    ("compiled", 3, FEW),
    ("compiled", 2, FEW),
    ("sparse", 2, FEW),
]
on_all_data_sets = pytest.mark.parametrize(
    ("way", "n_records", "entries"),
    CASES,
    ids=[f"{way}-{n_records}-{len(entries)}" for way, n_records, entries in CASES],
)


@dataclass(frozen=True)
class Rounding(GaussianMechanism):
    """A mechanism that keeps what it rounds, in whole numbers of steps."""

    steps: list = field(default_factory=list, compare=False)

    def rounded(self, value):
        on_grid = super().rounded(value)
        self.steps.append(on_grid / self.grid)
        return on_grid

    @property
    def largest_square(self):
        """The square of its sensitivity in steps."""
        return (Fraction(self.sensitivity) / Fraction(self.grid)) ** 2


def mechanism_for(bound, size, slack=0.0):
    return Rounding(bound, 1.0, size, N_COUNTED, slack)


def records_of(entries):
    """Return all rows of these entries, and last a null record, and which that is."""
    rows = np.array([*itertools.product(entries, repeat=N_COLUMNS), (0.0, 0.0)])
    return rows, np.arange(len(rows)) == len(rows) - 1


@contextmanager
def data_sets_apart(n_records):
    """Have each block of rows be a data set: sums over blocks are rounded one by one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks_module, "block_rows", lambda n_columns: n_records)
        patch.setattr(blocks_module, "_blocks_of_chunk", lambda n_columns, size: 1)
        yield


def answers(ask, mechanism, entries, n_records, way="dense"):
    """Return what is answered for all data sets, in steps: a place for each record, then numbers.

    ``ask(X, is_null)`` returns the answer for one table, which the mechanism has rounded.
    """
    rows, is_null = records_of(entries)
    shape = (len(rows),) * n_records
    chosen = np.indices(shape).reshape(n_records, -1).T

    def asked(places):
        X = rows[places]
        return (
            np.ravel(ask(csr_array(X) if way == "sparse" else X, is_null[places])) / mechanism.grid
        )

    with fused_module.sums_compiled(way == "compiled"):
        if way == "sparse":
            # Some sums over sparse rows have no blocks.
            steps = np.array([asked(places) for places in chosen])
            return steps.reshape(*shape, -1)
        mechanism.steps.clear()
        with data_sets_apart(n_records):
            total = asked(chosen.ravel())
        steps = np.array(mechanism.steps).reshape(len(chosen), -1)
        np.testing.assert_array_equal(total, steps.sum(axis=0))
        # By itself a data set has the same answer.
        for place in range(0, len(chosen), len(chosen) // 50):
            np.testing.assert_array_equal(asked(chosen[place]), steps[place])
    return steps.reshape(*shape, -1)


def check(steps, mechanism, *, times):
    """Check that no record moves an answer by more than the mechanism's sensitivity.

    Nor by `times` the square of it, where it becomes another record. Return both largest distances
    over what is allowed: a bound that nothing reaches may be a loose one.
    """
    n_letters = len(steps)
    # Sums of squares and products are whole numbers that floats have.
    assert (steps == np.rint(steps)).all()
    assert 4 * steps.shape[-1] * np.abs(steps).max() ** 2 < 2**53
    steps = steps[..., steps.reshape(-1, steps.shape[-1]).any(axis=0)]
    from_null = from_other = 0
    for place in range(steps.ndim - 1):
        others_alike = np.moveaxis(steps, place, -2).reshape(-1, n_letters, steps.shape[-1])
        for one_each in others_alike:
            products = one_each @ one_each.T
            squares = products.diagonal()
            apart = squares[:, np.newaxis] + squares - 2.0 * products
            from_null = max(from_null, int(apart[-1].max()))
            from_other = max(from_other, int(apart.max()))
    allowed = mechanism.largest_square
    assert from_null <= allowed
    assert from_other <= times * allowed
    return math.sqrt(from_null / allowed), math.sqrt(from_other / (times * allowed))


# Counts.


FINE = ball_plan_module.bins_below(2.0)
# The last ones: shorter lengths are in the first of these.
COARSE = replace(FINE, first=FINE.first + FINE.n_bins - 12, n_bins=12)
COUNTS = {
    "lengths": (CountsOfLengths, 1, COARSE.n_bins),
    "columns": (CountsByColumn, 2, 2 * COARSE.n_bins),
    "sides": (CountsBySide, 2, 4 * COARSE.n_bins),
}


def raw(query, **options):
    def ask(X, is_null):
        with RawRows(X, is_null, **options).at_work() as rows:
            return rows.ask(query)

    return ask


@pytest.mark.parametrize("kind", COUNTS)
@on_all_data_sets
def test_counts(kind, way, n_records, entries):
    if kind == "sides" and way == "sparse":
        pytest.skip("it is asked of dense rows alone")
    kind, n_histograms, size = COUNTS[kind]
    mechanism = mechanism_for(math.sqrt(n_histograms), size)
    query = kind(COARSE, CENTRE, UNIT, mechanism)
    assert query.record_bound(None) == mechanism.contribution_bound
    steps = answers(raw(query), mechanism, entries, n_records, way)
    counts = steps * mechanism.grid
    np.testing.assert_array_equal(counts, np.rint(counts))
    reached = check(steps, mechanism, times=2)
    assert min(reached) > 0.9999


@pytest.mark.parametrize("n_records", [2, 3])
def test_counts_between_edges(n_records):
    """Of one column, the first: records that differ in the second alone are in the same bin."""
    mechanism = mechanism_for(1.0, 4)
    query = CountsBetween(np.array([-0.125, 0.0, 0.25]), mechanism)
    ask = lambda X, is_null: raw(query)(X[:, :1], is_null)  # noqa: E731
    steps = answers(ask, mechanism, FEW, n_records)
    reached = check(steps, mechanism, times=2)
    assert min(reached) > 0.9999


# Rows in a ball.


def slack_of(way, n_columns=N_COLUMNS):
    # What sparse rows have their centre taken off of is longer.
    stretch = stretch_of(CENTRE / UNIT, RADIUS) if way == "sparse" else 1.0
    return stretch * rounding_slack(N_COUNTED, n_columns, 1)


@on_all_data_sets
def test_rows_that_are_cut_to_a_radius(way, n_records, entries):
    mechanism = mechanism_for(RADIUS, N_COLUMNS, slack_of(way))
    query = SumOfCutRows(CENTRE, UNIT, RADIUS, mechanism)
    steps = answers(raw(query), mechanism, entries, n_records, way)
    reached = check(steps, mechanism, times=4)
    assert min(reached) > 0.99


@on_all_data_sets
def test_squares_of_such_rows(way, n_records, entries):
    mechanism = mechanism_for(RADIUS**2, N_COLUMNS, slack_of(way))
    query = SumOfSquares(CENTRE, UNIT, RADIUS, mechanism)
    steps = answers(raw(query), mechanism, entries, n_records, way)
    # Squares have no sign: two records are as far apart as orthogonal ones, within two radii.
    reached = check(steps, mechanism, times=2)
    assert min(reached) > 0.99


BIAS = RADIUS / 3.0
LARGEST = RADIUS**2 + BIAS**2
BALL = SimpleNamespace(center=CENTRE, scale=UNIT, radius=RADIUS)
HEAVY, LIGHT = 1.5, 0.5


def clipped(X, is_null):
    with null_records(np.flatnonzero(is_null)):
        return clip_rows(X, data_norm=RADIUS, fit_intercept=True)


def in_ball(X, is_null):
    return rows_in_ball(X, Ball(**vars(BALL)), is_null, fit_intercept=True)


def labels(X):
    return np.where(X[:, :1].toarray() if hasattr(X, "tocsr") else X[:, :1], 1.0, -1.0)


def certified(bounded, X, is_null, kind=CertifiedRows, **options):
    """Rows with labels and weights that follow from these; a heavy row isn't cut less."""
    y = labels(X)
    if kind is CertifiedRows:
        options["weights"] = np.where(y[:, 0] > 0.0, HEAVY, LIGHT)
    return kind(bounded(X, is_null), y, LOSSES["log_loss"], **options)


@pytest.mark.parametrize("bounded", [in_ball, clipped])
@on_all_data_sets
def test_second_moments(bounded, way, n_records, entries):
    """The moment as a vector has entries off the diagonal times the root of 2: its length."""
    mechanism = mechanism_for(LARGEST, 6, slack_of(way, N_COLUMNS + 1))
    query = SecondMoment(mechanism, LARGEST)

    def ask(X, is_null):
        with certified(bounded, X, is_null).at_work() as rows:
            return rows.ask(query)

    steps = answers(ask, mechanism, entries, n_records, way)
    reached, _ = check(steps, mechanism, times=2)
    assert reached > 0.99


MAP = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.25], [0.0, -0.25, 1.5]])
CLIP = 0.125
WEIGHTS = np.array([[0.5], [-1.0], [0.25]])


def slopes_of(mechanism, bounded, X, is_null, kind=CertifiedRows, **options):
    with certified(bounded, X, is_null, kind, **options).at_work() as rows:
        rows.bound_slopes(MAP, CLIP)
        assert rows.slope_bound == mechanism.contribution_bound
        return rows.ask(SumOfSlopes(WEIGHTS, mechanism))


@pytest.mark.parametrize("bounded", [in_ball, clipped])
@on_all_data_sets
def test_slopes_of_mapped_rows(bounded, way, n_records, entries):
    # The map makes one direction longer than another, and rounding errors with it.
    values = np.linalg.eigvalsh(MAP)
    slack = slack_of(way, N_COLUMNS + 1) * values[-1] / values[0]
    mechanism = mechanism_for(CLIP, N_COLUMNS + 1, slack)
    ask = lambda X, is_null: slopes_of(mechanism, bounded, X, is_null)  # noqa: E731
    steps = answers(ask, mechanism, entries, n_records, way)
    reached, _ = check(steps, mechanism, times=4)
    assert reached > 0.99


# People.


def people_of(entries, n_rows):
    """Return all people of so many rows, in any order, some of them null rows: a row for each."""
    rows, is_null = records_of(entries)
    chosen = np.array([*itertools.combinations_with_replacement(range(len(rows)), n_rows)])
    return rows[chosen], is_null[chosen]


def check_people(parts, mechanism):
    """Check that no person's part is longer than the mechanism's sensitivity; return the longest.

    So two are no farther apart than twice as much.
    """
    assert (parts == np.rint(parts)).all()
    assert parts.shape[-1] * np.abs(parts).max() ** 2 < 2**53
    longest = int(np.square(parts).sum(axis=-1).max())
    assert longest <= mechanism.largest_square
    return math.sqrt(longest / mechanism.largest_square)


def mechanism_for_people(bound, size):
    slack = group_rounding_slack(N_COUNTED, N_COLUMNS + 1, 1)
    return mechanism_for(bound, size, slack)


@pytest.mark.parametrize("bounded", [in_ball, clipped])
@pytest.mark.parametrize(("n_rows", "entries"), [(3, FEW), (1, EIGHTHS), (2, EIGHTHS), (3, MORE)])
def test_a_person_is_cut_as_a_whole(bounded, n_rows, entries):
    X, is_null = people_of(entries, n_rows)
    mechanism = mechanism_for_people(CLIP, N_COLUMNS + 1)

    def parts_of(X, is_null, codes):
        mechanism.steps.clear()
        X = X.reshape(-1, N_COLUMNS)
        kind = {"kind": GroupedRows, "codes": codes}
        total = slopes_of(mechanism, bounded, X, is_null.ravel(), **kind)
        parts = np.concatenate(mechanism.steps)
        # Whole numbers: what people add is their parts' sum, with nothing of one another's.
        np.testing.assert_array_equal(np.ravel(total) / mechanism.grid, parts.sum(axis=0))
        return parts

    parts = parts_of(X, is_null, np.repeat(np.arange(len(X)), n_rows))
    assert check_people(parts, mechanism) > 0.99
    # A person has the same part in any company, wherever the rows are.
    generator = np.random.default_rng(0)
    kept = generator.permutation(len(X))[: len(X) // 2]
    codes = generator.permutation(np.repeat(np.arange(len(kept)), n_rows))
    where = np.argsort(np.argsort(codes, kind="stable"))
    rows, are_null = X[kept].reshape(-1, N_COLUMNS)[where], is_null[kept].ravel()[where]
    np.testing.assert_array_equal(parts_of(rows, are_null, codes), parts[kept])


@pytest.mark.parametrize("bounded", [in_ball, clipped])
@pytest.mark.parametrize("codes", [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2]])
def test_data_of_three_rows_are_what_people_add(codes, bounded):
    """In all ways that three rows belong to people, of some rows that differ in direction."""
    rows, is_null = records_of(np.array([-0.375, 0.0, 0.25]))
    codes, mechanism = np.array(codes), mechanism_for_people(CLIP, N_COLUMNS + 1)

    def asked(chosen, codes):
        kind = {"kind": GroupedRows, "codes": codes}
        total = slopes_of(mechanism, bounded, rows[chosen], is_null[chosen], **kind)
        return np.ravel(total) / mechanism.grid

    alone = {}
    for chosen in itertools.product(range(len(rows)), repeat=3):
        whole = asked(list(chosen), codes)
        for person in range(codes.max() + 1):
            of_person = tuple(np.array(chosen)[codes == person])
            if of_person not in alone:
                alone[of_person] = asked(list(of_person), np.zeros(len(of_person), dtype=int))
            whole = whole - alone[of_person]
        assert not whole.any()
    check_people(np.array(list(alone.values())), mechanism)


@pytest.mark.parametrize("bounded", [in_ball, clipped])
@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_second_moments_of_people(n_rows, bounded):
    """All people of rows of few entries, and all pairs of them."""
    X, is_null = people_of(FEW, n_rows)
    largest = 1.5 * LARGEST
    mechanism = mechanism_for_people(largest, 6)
    query, codes = SecondMoment(mechanism, largest), np.zeros(n_rows, dtype=int)
    parts = []
    for of_person, null_rows in zip(X, is_null, strict=True):
        with certified(bounded, of_person, null_rows, GroupedRows, codes=codes).at_work() as rows:
            parts.append(rows.ask(query) / mechanism.grid)
    # As places of one record: each person in place of each other.
    reached = check(np.array(parts), mechanism, times=2)
    assert max(reached) > (0.99 if n_rows > 1 else 0.6)


@pytest.mark.parametrize(("n_records", "entries"), [(3, FEW), (1, EIGHTHS), (2, EIGHTHS)])
def test_rows_of_people_count_by_shares(n_records, entries):
    """Balls are learnt of a person's rows with the weight of one record together."""
    codes = np.zeros(n_records, dtype=int)
    for kind, bound, size, add in (
        (SumOfCutRows, RADIUS, N_COLUMNS, (CENTRE, UNIT, RADIUS)),
        (SumOfSquares, RADIUS**2, N_COLUMNS, (CENTRE, UNIT, RADIUS)),
        (CountsByColumn, math.sqrt(2.0), 2 * COARSE.n_bins, (COARSE, CENTRE, UNIT)),
    ):
        mechanism = mechanism_for_people(bound, size)
        query = kind(*add, mechanism)

        def ask(X, is_null, query=query):
            shares = np.tile(shares_of(codes), len(X) // n_records)
            return raw(query, shares=shares)(X, is_null)

        parts = answers(ask, mechanism, entries, n_records)
        assert check_people(parts, mechanism) > 0.99
        if kind is not SumOfCutRows:
            # Without negative numbers two are no farther apart than orthogonal ones.
            assert (parts >= 0.0).all()


# Passes.


class Listed:
    """A mechanism of which each release is a number from a list, and which keeps its values."""

    def __init__(self, mechanism, releases):
        self._mechanism, self._releases, self.values = mechanism, releases, []
        self.contribution_bound, self.noise_std = mechanism.contribution_bound, mechanism.noise_std

    def release(self, value, stream):
        released = self._releases[len(self.values)]
        self.values.append(np.ravel(self._mechanism.rounded(np.asarray(value))))
        return np.full(np.shape(value), released)


LABELS = np.array([-1.0, 1.0])
UNITS = [(0.5, 0.25), (0.125, 2.0), (3.0, 0.375)]


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("scales", [False, True])
@pytest.mark.parametrize(("n_records", "entries"), [(1, EIGHTHS), (2, FEW), (3, FEW[::4])])
def test_passes_over_columns(n_records, entries, scales, units):
    """The solver's own sums in three passes of two columns, with the same releases for all data.

    A record is a row with either label, or null. With the same releases its slopes follow from
    itself alone; but that isn't assumed: all data sets are asked.
    """
    rows, is_null = records_of(entries)
    records = [*itertools.product(range(len(rows) - 1), LABELS), (len(rows) - 1, 1.0)]
    n_passes, n_columns = 3, N_COLUMNS
    sampler = SingleCoordinateSampler(n_columns, n_passes * n_columns)
    bound = math.sqrt(n_columns)
    slack = summation_slack(N_COUNTED, n_columns, 1, 128)
    mechanism = mechanism_for(bound, n_columns, slack)
    plan = SimpleNamespace(
        sampler=sampler,
        tail=False,
        average=False,
        period=1,
        scales=scales,
        by_row=True,
        problem=SimpleNamespace(n_features=n_columns, scale=EVEN),
    )
    steps = []
    for chosen in itertools.product(records, repeat=n_records):
        places, y = [place for place, _ in chosen], np.array([[label] for _, label in chosen])
        with null_records(np.flatnonzero(is_null[places])):
            bounded = clip_rows(rows[places], data_norm=1.0, fit_intercept=False)
        X, _ = clip_columns(bounded, low=np.full(2, -1.0), high=np.full(2, 1.0))
        listed = Listed(mechanism, [1.5, -0.75, -3.0, 0.5, 2.0, -1.0])
        solve_dpcd(
            divide_columns(X, np.array(units), np.zeros(n_columns), 0.0),
            y,
            plan=plan,
            loss=LOSSES["log_loss"],
            penalty=make_penalty("l2", 0.1),
            steps=np.array([3.0, 1.0]),
            coins=make_stream(1),
            run=AloneRun(listed),
        )
        steps.append(np.ravel(listed.values) / mechanism.grid)
    shape = (len(records),) * n_records
    passes = np.array(steps).reshape(*shape, n_passes, n_columns)
    reached = [check(passes[..., n, :], mechanism, times=4) for n in range(n_passes)]
    # Rows that are long in these units, and whose slopes are cut and not scaled, use up the bound.
    if n_records == 1 and not scales and min(units) < 0.3:
        assert max(from_null for from_null, _ in reached) > 0.99


class AloneRun(HandRun):
    """A run in which the intercept has no releases of its own."""

    def plans(self, name):
        return False
