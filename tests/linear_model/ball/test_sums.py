import math

import numpy as np
import pytest
from scipy.sparse import csr_array, dia_array, issparse

from tests.door import (
    LOSSES,
    Ball,
    CertifiedRows,
    CountsByColumn,
    CountsOfLengths,
    GaussianMechanism,
    LongestLength,
    RawRows,
    SecondMoment,
    SumOfCutRows,
    SumOfSlopes,
    SumOfSquares,
    as_symmetric,
    bins_about,
    blocks_module as _blocks,
    places,
    rounding_slack,
    rows_in_ball,
    rows_in_ball_module as _rows_in_ball,
)

D, NULL = 3, [2, 130, 299]
CENTRE, UNIT, RADIUS = np.array([5.0, 0.0, -2.0]), np.array([2.0, 0.5, 1.0]), 1.5
BINS = bins_about(1.0)
# Rows that are hard to hold to a bound.
HARD = {
    "Cauchy": lambda rng: 10.0 * rng.standard_cauchy((300, D)),
    "offset": lambda rng: 1e9 + rng.standard_normal((300, D)),
    "units": lambda rng: rng.standard_normal((300, D)) * [1e-30, 1.0, 1e30],
    "1e154": lambda rng: rng.choice([1e153, 1e154, -1e155], (300, D)),
    "1e-320": lambda rng: rng.choice([1e-320, -1e-310, 0.0], (300, D)),
    "1e308": lambda rng: rng.choice([1e308, -1e308], (300, D)),
    "1e149": lambda rng: rng.choice([1e149, -1e150, 1.0], (300, D)),
}


def mechanism(size, bound=1.0, n_records=300):
    """Little noise, so that the grid is fine."""
    return GaussianMechanism(bound, 1.0, size, n_records, rounding_slack(n_records, D, 1))


def data(rng, n_rows=300):
    X = CENTRE + UNIT * rng.standard_t(2.0, (n_rows, D))
    return X * (rng.random(X.shape) < 0.7)


def nulls(n_rows, chosen=NULL):
    found = np.zeros(n_rows, dtype=bool)
    found[[k for k in chosen if k < n_rows]] = True
    return found


def bin_of(length, bins=BINS):
    return next((k for k in range(bins.n_bins) if length < bins.end(k)), bins.n_bins - 1)


def kinds(X):
    return {"dense": X, "sparse": csr_array(X), "single": X.astype(np.float32)}


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.mark.parametrize(
    ("kind", "grouped"),
    [("dense", False), ("sparse", False), ("single", False), ("dense", True), ("single", True)],
)
def test_sums_are_those_of_rows_one_by_one(kind, grouped, rng):
    X, is_null = kinds(data(rng))[kind], nulls(300)
    full = X.toarray() if issparse(X) else X.astype(float)
    shares = np.repeat([0.25, 0.5, 1.0], [100, 100, 100]) if grouped else None
    counted = np.where(is_null, 0.0, 1.0 if shares is None else shares)
    z = (full - CENTRE) / UNIT
    lengths = np.linalg.norm(z, axis=1)
    cut = z * np.minimum(1.0, RADIUS / lengths)[:, np.newaxis]
    by_length, by_column = np.zeros(BINS.n_bins), np.zeros((D, BINS.n_bins))
    for i, share in enumerate(counted):
        by_length[bin_of(lengths[i])] += share
        for j in range(D):
            by_column[j, bin_of(abs(z[i, j])) if full[i, j] else 0] += share
    with RawRows(X, is_null, shares=shares).at_work() as sums:
        found = sums.ask(CountsOfLengths(BINS, CENTRE, UNIT, mechanism(BINS.n_bins)))
        np.testing.assert_allclose(found, by_length, atol=1e-4 * grouped)
        found = sums.ask(CountsByColumn(BINS, CENTRE, UNIT, mechanism(D * BINS.n_bins, 3.0**0.5)))
        np.testing.assert_allclose(found, by_column, atol=1e-4 * grouped)
        found = sums.ask(SumOfCutRows(CENTRE, UNIT, RADIUS, mechanism(D, RADIUS)))
        np.testing.assert_allclose(found, counted @ cut, atol=1e-3 if grouped else 1e-5)
        found = sums.ask(SumOfSquares(CENTRE, UNIT, RADIUS, mechanism(D, RADIUS**2)))
        np.testing.assert_allclose(found, counted @ cut**2, atol=1e-3 if grouped else 1e-5)
        assert sums.ask(LongestLength(CENTRE, UNIT)) == pytest.approx(lengths[~is_null].max())


@pytest.mark.long
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_same_bits_for_every_number_of_threads(kind, rng, monkeypatch):
    monkeypatch.setattr(_blocks, "WORTHWHILE_ENTRIES", 1)
    n_rows = 3 * 8 * 8192 + 17
    X, is_null = kinds(data(rng, n_rows))[kind], nulls(n_rows)
    found = []
    for n_jobs in (1, 2):
        with RawRows(X, is_null, n_jobs).at_work() as sums:
            assert (sums._helpers is None) == (n_jobs == 1)
            made = mechanism(D, RADIUS, n_rows), mechanism(BINS.n_bins, 1.0, n_rows)
            moved = sums.ask(SumOfCutRows(CENTRE, UNIT, RADIUS, made[0]))
            found.append([*moved, *sums.ask(CountsOfLengths(BINS, CENTRE, UNIT, made[1]))])
    np.testing.assert_array_equal(*found)
    assert sum(found[0][D:]) == n_rows - len(NULL)


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("offset", [0.0, 5.0, 1e8])
@np.errstate(all="ignore")
def test_no_row_moves_a_stage_by_more_than_its_bound(name, kind, offset, rng):
    X, centre = HARD[name](rng)[:60], np.full(D, offset)
    for i in range(60):
        row = X[i : i + 1] if kind == "dense" else csr_array(X[i : i + 1])
        sums = RawRows(row, np.zeros(1, dtype=bool))
        counts = sums.ask(CountsOfLengths(BINS, centre, UNIT, mechanism(BINS.n_bins)))
        assert sorted(counts)[-2:] == [0.0, 1.0]
        by_column = sums.ask(CountsByColumn(BINS, centre, UNIT, mechanism(D * BINS.n_bins, 2.0)))
        np.testing.assert_array_equal(np.sort(by_column)[:, -2:], [[0.0, 1.0]] * D)
        part = mechanism(D, RADIUS)
        moved = sums.ask(SumOfCutRows(centre, UNIT, RADIUS, part))
        slack = 1.0 + part.rounding_slack * sums.stretch(centre / UNIT, RADIUS)
        reach = RADIUS * slack + part.grid * math.sqrt(D)
        assert np.linalg.norm(moved) <= reach


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("stretch", [1.0, 1e-12, 1e30])
@np.errstate(all="ignore")
def test_rows_too_short_to_be_measured_add_nothing(stretch, kind):
    """Squares of their entries underflow, and slopes may be as long as targets are."""
    X = np.full((1, 100), 1.5e-162)
    X[0, 0] = 2.3e-162
    ball, exact = Ball(np.zeros(100), np.ones(100), 1.0), GaussianMechanism(math.inf, 0.0, 1, 1)
    for length in (1.0, 1e10, 1e14):
        rows = rows_in_ball(kind(length * X), ball, np.zeros(1, dtype=bool), fit_intercept=False)
        for A in (stretch * np.eye(100), dia_array(stretch * np.eye(100))):
            sums = CertifiedRows(rows, np.array([[1e300]]), LOSSES["squared_error"])
            sums.bound_slopes(A, 0.5)
            slopes = sums.ask(SumOfSlopes(np.zeros((100, 1)), exact))
            assert np.linalg.norm(slopes) <= 0.5 * (1.0 + 1e-12)


@np.errstate(all="ignore")
def test_the_moment_of_a_row_of_a_denormal_squared_weight(monkeypatch):
    """Without the limit of 1e150 radii: squares of weights would lose the bound by 1.6 times."""
    monkeypatch.setattr(_rows_in_ball, "_FAR", 1e300)
    ball = Ball(np.zeros(2), np.ones(2), 1e-30)
    X = np.array([[1.5e131, 0.3e131], [1.1e131, 0.2e131]])
    rows = rows_in_ball(X, ball, np.zeros(2, dtype=bool), fit_intercept=True)
    assert 0.0 < rows.weight.max() < 1e-160
    exact = GaussianMechanism(math.inf, 0.0, 1, 1)
    for i in range(2):
        one = rows._replace(
            X=X[i : i + 1], norm=rows.norm[i : i + 1], weight=rows.weight[i : i + 1]
        )
        found = CertifiedRows(one, np.ones((1, 1)), LOSSES["squared_error"]).ask(
            SecondMoment(exact)
        )
        assert np.linalg.norm(found) == pytest.approx(1e-60, rel=1e-9)


@pytest.mark.parametrize("kind", ["dense", "sparse", "single"])
def test_sums_over_weighted_rows_are_those_of_rows_one_by_one(kind, rng):
    X = kinds(data(rng))[kind]
    full = X.toarray() if issparse(X) else X.astype(float)
    ball, bias = Ball(CENTRE, UNIT, RADIUS), RADIUS / 3.0
    rows = rows_in_ball(X, ball, nulls(300), fit_intercept=True)
    z = (full - CENTRE) / UNIT
    w = np.minimum(1.0, RADIUS / np.linalg.norm(z, axis=1))
    assert 50 < np.count_nonzero(w < 1.0) < 280
    z = np.column_stack([z, np.full(300, bias)])
    w[NULL] = 0.0
    y = rng.choice([-1.0, 1.0], (300, 1))
    public = rng.choice([0.2, 1.0, 4.0], 300)
    sums = CertifiedRows(rows, y, LOSSES["log_loss"], weights=public)
    made = GaussianMechanism(RADIUS**2 * 10 / 9, 1.0, 10, 300)
    found = as_symmetric(sums.ask(SecondMoment(made)), D + 1)
    v = z * w[:, np.newaxis]
    moment = v.T @ (v * np.minimum(public, 1.0)[:, np.newaxis])
    tolerance = {"rtol": 1e-4 if kind == "single" else 1e-9, "atol": 1e-4}
    np.testing.assert_allclose(found, moment, **tolerance)
    A = np.diag([1.0, 2.0, 0.5, 1.0])
    sums.bound_slopes(A, 0.3)
    at = np.array([[0.3], [-0.2], [0.1], [0.4]])
    made = GaussianMechanism(0.3, 1.0, 4, 300)
    slopes = -y[:, 0] / (1.0 + np.exp(y[:, 0] * (z @ A @ at)[:, 0]))
    slopes *= w * public
    lengths = np.linalg.norm(z @ A, axis=1)
    slopes *= 0.3 / np.maximum(0.3, np.abs(slopes) * lengths)
    np.testing.assert_allclose(sums.ask(SumOfSlopes(at, made))[:, 0], A @ z.T @ slopes, **tolerance)


def test_inference_weighs_slopes_as_the_moment_does(rng):
    X = data(rng)
    rows = rows_in_ball(X, Ball(CENTRE, UNIT, RADIUS), nulls(300), fit_intercept=True)
    sums = CertifiedRows(rows, np.ones((300, 1)), LOSSES["log_loss"], inference=True)
    np.testing.assert_array_equal(sums.slope_weights, rows.weight**2)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_without_privacy_no_row_counts_less(kind, rng):
    X = kinds(data(rng))[kind]
    ball = Ball(CENTRE, UNIT, 1e-3)
    rows = rows_in_ball(X, ball, nulls(300, []), fit_intercept=True, clip=False)
    assert set(rows.weight) == {1.0}
    rows = rows_in_ball(X, ball, nulls(300), fit_intercept=True, clip=False)
    np.testing.assert_array_equal(rows.weight == 0.0, nulls(300))
    assert set(rows.weight) == {0.0, 1.0}


def test_sparse_lengths_are_never_too_short(rng):
    """Cancellation takes all digits of rows that are near a centre far from 0."""
    centre = np.array([1e8, -3e7, 2e8])
    X = centre + rng.standard_normal((300, D)) * 10.0 ** rng.uniform(-9, 3, (300, 1))
    exact = np.linalg.norm((X - centre) / UNIT, axis=1)
    lengths = _rows_in_ball.moved_rows(csr_array(X), centre, UNIT)[1]
    assert (lengths >= exact * (1.0 - 1e-12)).all()
    far = exact > 100.0
    assert far.any()
    np.testing.assert_allclose(lengths[far], exact[far], rtol=0.05)


@pytest.mark.parametrize("n_own", [1, 3, 1000])
def test_a_group_counts_as_one_however_many_rows_it_has(n_own, rng):
    X = np.full((n_own, D), 1e9) if n_own > 3 else data(rng, n_own)
    sums = RawRows(X, np.zeros(n_own, dtype=bool), shares=np.full(n_own, 1.0 / n_own))
    part = mechanism(BINS.n_bins)
    counts = sums.ask(CountsOfLengths(BINS, CENTRE, UNIT, part))
    assert 1.0 - n_own * part.grid <= counts.sum() <= 1.0
    part = mechanism(D * BINS.n_bins, 2.0)
    by_column = sums.ask(CountsByColumn(BINS, CENTRE, UNIT, part)).sum(axis=1)
    assert (by_column <= 1.0).all()
    part = mechanism(D, RADIUS)
    assert np.linalg.norm(sums.ask(SumOfCutRows(CENTRE, UNIT, RADIUS, part))) <= RADIUS * (
        1.0 + 1e-14
    )


def test_parts_of_a_group_of_very_many_rows_are_cut_towards_zero():
    """Each part is 2.6 steps of the grid, and would be 3 if it were rounded to the nearest."""
    part = mechanism(D, RADIUS)
    size = int(RADIUS / (2.6 * part.grid))
    X = np.tile([1e9, 0.0, 0.0], (size, 1))
    sums = RawRows(X, np.zeros(size, dtype=bool), shares=np.full(size, 1.0 / size))
    moved = sums.ask(SumOfCutRows(np.zeros(D), np.ones(D), RADIUS, part))
    assert 0.0 < np.linalg.norm(moved) <= RADIUS
    part = mechanism(BINS.n_bins)
    size = int(1.0 / (2.6 * part.grid))
    sums = RawRows(X[:size], np.zeros(size, dtype=bool), shares=np.full(size, 1.0 / size))
    assert 0.0 < sums.ask(CountsOfLengths(BINS, np.zeros(D), np.ones(D), part)).max() <= 1.0


def test_what_is_void_adds_nothing_and_takes_nothing_from_others(rng):
    X, is_null = data(rng), nulls(300, [])
    part = mechanism(D, RADIUS)
    others = np.delete(X, 5, axis=0)
    expected = RawRows(others, nulls(299, [])).ask(SumOfCutRows(CENTRE, UNIT, RADIUS, part))
    # Whose squares overflow, whose weight would have few digits, and who is cut.
    for entry, is_void in ((1e200, True), (1e151, True), (1e149, False)):
        X[5] = entry
        for rows in (X, csr_array(X)):
            moved = RawRows(rows, is_null).ask(SumOfCutRows(CENTRE, UNIT, RADIUS, part))
            apart = np.linalg.norm(moved - expected)
            assert apart <= 1e-5 if is_void else apart == pytest.approx(RADIUS, rel=1e-4)
        found = rows_in_ball(X, Ball(CENTRE, UNIT, RADIUS), is_null, fit_intercept=True)
        assert (found.norm[5] == 0.0) == is_void
        assert is_void != found.X[5].any()
        assert found.weight[5] <= RADIUS / 1e149


def test_rows_of_the_caller_stay_as_they_are(rng):
    for X in kinds(data(rng)).values():
        kept = X.copy()
        with RawRows(X, nulls(300)).at_work() as sums:
            sums.ask(SumOfCutRows(CENTRE, UNIT, RADIUS, mechanism(D, RADIUS)))
            sums.ask(CountsByColumn(BINS, CENTRE, UNIT, mechanism(D * BINS.n_bins)))
        rows_in_ball(X, Ball(CENTRE, UNIT, RADIUS), nulls(300), fit_intercept=True)
        difference = X - kept
        assert (difference.nnz if issparse(X) else np.count_nonzero(difference)) == 0


def test_places_are_half_open_and_take_all_numbers():
    ends = np.array([BINS.end(k) for k in range(BINS.n_bins)])
    below = np.nextafter(ends, 0.0)
    np.testing.assert_array_equal(places(BINS, below), np.arange(BINS.n_bins))
    np.testing.assert_array_equal(places(BINS, ends[:-1]), np.arange(1, BINS.n_bins))
    extremes = np.array([0.0, -0.0, 5e-324, 1e308, np.inf, -np.inf, np.nan])
    last = BINS.n_bins - 1
    np.testing.assert_array_equal(places(BINS, extremes), [0, 0, 0, last, last, last, last])


def test_moments_of_sparse_rows_far_from_zero_stay_within_their_slack(rng):
    centre = np.array([1e3, -2e3, 5e2])
    X = centre + rng.standard_normal((300, D))
    ball = Ball(centre, np.ones(D), 1.5)
    y, loss = np.ones((300, 1)), LOSSES["log_loss"]
    exact = GaussianMechanism(math.inf, 0.0, 1, 1)
    dense, sparse = (
        rows_in_ball(rows, ball, nulls(300), fit_intercept=True) for rows in (X, csr_array(X))
    )
    assert dense.stretch == 1.0
    assert sparse.stretch == pytest.approx(1.0 + 2.0 * np.linalg.norm(centre) / 0.5)
    one, other = (CertifiedRows(rows, y, loss).ask(SecondMoment(exact)) for rows in (dense, sparse))
    slack = rounding_slack(300, D + 1, 1) * sparse.stretch**2
    apart = np.linalg.norm(one - other)
    assert 0.0 < apart <= slack * 2.5
    assert apart > rounding_slack(300, D + 1, 1) * 2.5
