"""Compiled sums against those of NumPy, and what they owe to privacy by themselves."""

import math
import pickle
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression, DPPoissonRegressor, DPRidge
from tests._loops import for_each
from tests.door import (
    LOSSES,
    UNIT_BINS,
    Ball,
    CertifiedRows,
    CountsByColumn,
    CountsOfLengths,
    GaussianMechanism,
    RawRows,
    RowsInUnits,
    SecondMoment,
    SumOfCutRows,
    SumOfSlopes,
    bins_about,
    blocks_module as _blocks,
    certified_rows_module as _certified,
    clip_rows,
    fused_module as _fused,
    in_units,
    null_records,
    rounding_slack,
    row_norms,
    rows_in_ball,
    slope_queries_module as _queries,
    some_bounded_rows,
    threads_module,
)
from tests.linear_model.ball.test_sums import HARD
from tests.linear_model.whitened.test_row_sums import mapping, small_blocks

pytest.importorskip("numba")
N, D, BIAS = 1013, 13, 0.4
NULL = [0, 16, 500, 1012]
NO_NOISE = GaussianMechanism(math.inf, 0.0, 1, 1)


@pytest.fixture
def choose(monkeypatch):
    """Have sums compiled, or not, whatever their size is."""
    return lambda wanted: monkeypatch.setattr(
        _fused, "WORTHWHILE_ENTRIES", 0 if wanted else math.inf
    )


def _kernels():
    return _fused.import_module("skdp._rows.kernels")


def in_double(monkeypatch):
    """Have lengths of mapped rows measured by products in double precision."""
    monkeypatch.setattr(_certified, "_LARGEST_SINGLE_SLACK", 0.0)


def certified(X, **options):
    with null_records(NULL):
        return clip_rows(X, data_norm=4.0, fit_intercept=True, bias=BIAS, **options)


def in_ball(X, is_copied=False):
    """Rows in the units of a ball about them, some of them longer than its radius."""
    ball = Ball(np.full(X.shape[1], 5.0), np.geomspace(0.01, 100.0, X.shape[1]), 0.8 * D**0.5)
    is_null = np.isin(np.arange(len(X)), NULL)
    return rows_in_ball(X, ball, is_null, fit_intercept=True, is_copied=is_copied)


def about(rng, dtype=np.float64):
    """Rows about the centre of `in_ball`."""
    return (5.0 + np.geomspace(0.01, 100.0, D) * rng.standard_normal((N, D))).astype(dtype)


def both(choose, make, ask):
    """What is asked of sums of NumPy and of compiled ones, a few rows a block."""
    found = []
    for wanted in (False, True):
        choose(wanted)
        sums = make()
        assert (sums.kernels is not None) == wanted
        with sums.at_work():
            found.append(ask(sums))
    return found


@pytest.mark.long
def test_rows_that_may_not_be_written_to_are_compiled_as_others(rng):
    """Rows from another process are such, and to compile takes longer than most sums."""
    kernels, lengths = _kernels(), np.empty(N)
    rows = about(rng)
    for is_writeable in (True, False):
        rows.flags.writeable = is_writeable
        kernels.set_lengths((rows, None, np.empty(0), None), lengths)
        assert rows.flags.writeable == is_writeable
    taken = [units[0] for units, _ in kernels.set_lengths.__wrapped__.signatures]
    assert taken
    assert not any(one.mutable for one in taken)


# To compile it takes seconds, but the oldest versions are to compile sums over dense rows, too.
@pytest.mark.long
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("loss", ["log_loss", "squared_error"])
def test_sums_of_slopes_are_those_of_numpy(loss, clip, weighted, dtype, rng, choose, monkeypatch):
    small_blocks(monkeypatch)
    in_double(monkeypatch)
    rows = certified(rng.standard_normal((N, D)).astype(dtype), clip=clip)
    targets = np.sign(rng.standard_normal((N, 1)))
    weights = rng.uniform(0.0, 3.0, N) if weighted else None
    A, w = mapping(rng, D + 1), 3.0 * rng.standard_normal((D + 1, 1))

    def ask(sums):
        sums.bound_slopes(A, 2.0)
        return sums.ask(SumOfSlopes(w, NO_NOISE))

    make = lambda: CertifiedRows(rows, targets, LOSSES[loss], None, weights)  # noqa: E731
    plain, fused = both(choose, make, ask)
    np.testing.assert_allclose(fused, plain, rtol=0.0, atol=1e-12 * np.abs(plain).max())


@pytest.mark.long
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", ["log_loss", "squared_error"])
def test_sums_over_rows_in_a_ball_are_those_over_a_copy(
    loss, weighted, dtype, rng, choose, monkeypatch
):
    small_blocks(monkeypatch)
    in_double(monkeypatch)
    X, targets = about(rng, dtype), np.sign(rng.standard_normal((N, 1)))
    weights = rng.uniform(0.0, 3.0, N) if weighted else None
    A, w = mapping(rng, D + 1), 3.0 * rng.standard_normal((D + 1, 1))

    def ask(sums):
        assert isinstance(sums.X, RowsInUnits) == (sums.kernels is not None)
        lengths = sums.bound_slopes(A, 2.0).copy()
        assert 0 < np.count_nonzero(lengths == 0.0) < N
        return sums.ask(SecondMoment(NO_NOISE)), lengths, sums.ask(SumOfSlopes(w, NO_NOISE))

    make = lambda: CertifiedRows(in_ball(X), targets, LOSSES[loss], None, weights)  # noqa: E731
    names = "moment", "lengths", "slopes"
    for name, plain, fused in zip(names, *both(choose, make, ask), strict=True):
        # Predictions of compiled sums are of rows before they are rounded to single precision.
        is_exact = name != "slopes" or dtype is np.float64
        atol = 1e-12 if is_exact else 1e-6
        np.testing.assert_allclose(fused, plain, rtol=0.0, atol=atol * np.abs(plain).max())


@pytest.mark.long
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@np.errstate(all="ignore")
def test_rows_in_units_have_the_bits_of_their_copies_in_every_sum(dtype, rng, choose):
    """What certifies the length of a row is of the numbers that are added."""
    choose(True)
    X = np.concatenate([make(rng) for make in HARD.values()]).astype(dtype)
    X = X[np.isfinite(X).all(axis=1)]
    d = X.shape[1]
    ball = Ball(rng.standard_normal(d), rng.uniform(0.1, 3.0, d), 1.0)
    is_void = rng.random(len(X)) < 0.2
    copy, rows = in_units(X, ball, is_void)[0], RowsInUnits(X, ball, is_void)
    assert rows[:].tobytes() == copy.tobytes()
    choose(False)
    lengths = row_norms(copy)
    choose(True)
    np.testing.assert_allclose(row_norms(rows), lengths, rtol=1e-15, atol=1e-300)
    one, nothing = np.ones(1), np.zeros(d)
    for i in range(len(X)):
        units, moved, added = rows.units(slice(i, i + 1)), np.zeros(d), np.zeros(d + 1)
        _kernels().add_moved(1, units, one, moved)
        # Predictions of 0 of targets of -1 have slopes of 1.
        none = np.empty(0)
        _kernels().add_slopes(1, 1, units, none, -one, one, none, 2.0, nothing, 0.0, added)
        for found in (moved, added[:d]):
            np.testing.assert_array_equal(found, copy[i].astype(np.float64))


@pytest.mark.long
def test_rows_whose_sums_are_not_compiled_are_copied(rng, choose, tmp_path):
    choose(True)
    X = about(rng)
    several, loss = np.sign(rng.standard_normal((N, 2))), LOSSES["squared_error"]
    np.testing.assert_array_equal(CertifiedRows(in_ball(X), several, loss).X, in_ball(X, True).X)
    np.save(tmp_path / "X.npy", X)
    in_file = in_ball(np.load(tmp_path / "X.npy", mmap_mode="r"))
    assert CertifiedRows(in_file, several, loss).X is in_file.X


@pytest.mark.long
@pytest.mark.parametrize("model", [DPRidge(random_state=0), DPLogisticRegression(random_state=0)])
def test_a_fit_in_a_ball_takes_no_copy_of_the_rows(model, rng, choose):
    choose(True)
    X = rng.standard_normal((50_000, 50))
    y = (X[:, 0] > 0.0).astype(float)
    model.fit(X[:1000], y[:1000])
    tracemalloc.start()
    try:
        model.fit(X, y)
        assert tracemalloc.get_traced_memory()[1] < 0.7 * X.nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.long
@pytest.mark.parametrize("loss", ["log_loss", "squared_error"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@np.errstate(all="ignore")
def test_no_row_of_a_ball_adds_more_than_the_bound(dtype, loss, rng, choose):
    """Also rows of single precision along what the map makes short, and long ones."""
    choose(True)
    stretch, bound = 1e6, 0.5
    A = mapping(rng, D + 1, stretch)
    slack = rounding_slack(1, D + 1, 1) * stretch
    axes = np.ascontiguousarray(np.linalg.eigh(A)[1].T[:, :D])
    for size in (1e-160, 1e-30, 1.0, 1e4, 1e30):
        X = (5.0 + np.geomspace(0.01, 100.0, D) * size * axes).astype(dtype)
        for i in np.flatnonzero(np.isfinite(X).all(axis=1)):
            # None of them is a null record.
            rows = in_ball(np.concatenate([X[i : i + 1]] * 2))
            rows = rows._replace(X=RowsInUnits(X[i : i + 1], rows.X._ball, np.zeros(1, bool)))
            rows = rows._replace(norm=rows.norm[1:], weight=rows.weight[1:])
            targets = rng.choice([-1.0, 1.0, 1e300], (1, 1))
            with CertifiedRows(rows, targets, LOSSES[loss]).at_work() as sums:
                assert sums.kernels is not None
                largest = 0.64 * D * (1.0 + 1.0 / 9.0)
                assert np.linalg.norm(sums.ask(SecondMoment(NO_NOISE))) <= largest * (1.0 + slack)
                sums.bound_slopes(A, bound)
                w = rng.choice([1.0, 1e308]) * rng.standard_normal((D + 1, 1))
                total = sums.ask(SumOfSlopes(w, NO_NOISE))
            assert np.linalg.norm(total) <= bound * (1.0 + slack)


@pytest.mark.long
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("stretch", [1e3, 1.0, 1e6])
@np.errstate(all="ignore")
def test_lengths_in_single_precision_are_too_long_by_their_slack_at_most(
    stretch, dtype, rng, choose, monkeypatch
):
    """Also of rows along what the map makes short, where all digits are lost, and of long ones."""
    choose(True)
    monkeypatch.setattr(_certified, "_LARGEST_SINGLE_SLACK", math.inf)
    A = mapping(rng, D + 1, stretch)
    axes = np.linalg.eigh(A)[1].T[:, :D]
    axes = np.concatenate([axes * factor for factor in rng.uniform(0.5, 2.0, 40)])
    sizes = 1e-160, 1e-30, 1.0, 1e4, 1e30
    X = np.concatenate([axes * size for size in sizes] + [rng.standard_normal((N, D))])
    X = (5.0 + np.geomspace(0.01, 100.0, D) * X).astype(dtype)
    for rows in (in_ball(X), certified(X)):
        targets = np.ones((len(X), 1))
        with CertifiedRows(rows, targets, LOSSES["log_loss"]).at_work() as sums:
            z = np.asarray(rows.X[:]).astype(np.longdouble)
            z = z if rows.scale is None else z * rows.scale[:, np.newaxis]
            z = np.append(z, np.full((len(X), 1), rows.bias), axis=1)
            exact = np.sqrt(np.square(z @ A).sum(axis=1)).astype(float)
            found = sums.bound_slopes(A, 1.0)
        there = rows.norm > 0.0
        assert (found[~there] == 0.0).all()
        longest = exact + 2.0 * rows.norm * np.linalg.norm(A) * _certified.single_slack(D + 1)
        rounding = 1e-13 * stretch * exact
        assert (found >= exact - rounding)[there].all()
        assert (found <= longest + rounding)[there].all()


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "is_single"),
    [({}, True), ({"stretch": 1e6}, False), ({"inference": True}, False), ({"bias": 0.0}, False)],
    ids=str,
)
def test_where_lengths_are_in_single_precision(change, is_single, rng, choose, monkeypatch):
    choose(True)
    calls, real = [], CertifiedRows._measure_in_single
    monkeypatch.setattr(
        CertifiedRows, "_measure_in_single", lambda *args: calls.append(args) or real(*args)
    )
    rows = clip_rows(rng.standard_normal((N, D)), data_norm=4.0, fit_intercept="bias" not in change)
    A, targets = mapping(rng, rows.n_columns, change.get("stretch", 2.0)), np.ones((N, 1))
    inference = change.get("inference", False)
    made = CertifiedRows(rows, targets, LOSSES["log_loss"], inference=inference)
    with made.at_work() as sums:
        sums.bound_slopes(A, 1.0)
    assert bool(calls) == is_single


@pytest.mark.long
@pytest.mark.parametrize("is_far", [False, True])
def test_one_row_decides_nothing_about_precision(is_far, rng, choose, monkeypatch):
    choose(True)
    calls, real = [], CertifiedRows._measure_in_single
    monkeypatch.setattr(
        CertifiedRows, "_measure_in_single", lambda *args: calls.append(args) or real(*args)
    )
    X = rng.standard_normal((N, D))
    X[0] *= 1e6 if is_far else 1.0
    A = mapping(rng, D + 1, 2.0)
    with CertifiedRows(in_ball(X), np.ones((N, 1)), LOSSES["log_loss"]).at_work() as sums:
        sums.bound_slopes(A, 1.0)
    assert calls


@pytest.mark.long
@pytest.mark.parametrize("n_columns", [1, 51, 4096])
def test_the_slack_of_single_precision_holds_its_three_parts(n_columns):
    """See "Mapped lengths in single precision" of the documentation."""
    u = 2.0**-24
    of_product = n_columns * u / (1.0 - n_columns * u) * (1.0 + u) ** 2
    assert _certified.single_slack(n_columns) >= of_product + 2.0 * u + u**2


@pytest.mark.long
def test_predictions_of_all_sizes_have_their_slopes():
    sizes = np.geomspace(1e-300, 1e300, 4001)
    m = np.concatenate([-sizes, [0.0, math.inf, -math.inf], sizes])
    for y in (-1.0, 1.0):
        targets, ones, found = np.full(m.size, y), np.ones(m.size), m.copy()
        _kernels()._set_slopes(0, targets, ones, np.empty(0), 1e308, found)
        expected = LOSSES["log_loss"].gradient(y, m)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
        m_near = np.linspace(-45.0, 45.0, 9001)
        targets, ones, found = np.full(m_near.size, y), np.ones(m_near.size), m_near.copy()
        _kernels()._set_slopes(0, targets, ones, np.empty(0), 1e308, found)
        expected = LOSSES["log_loss"].gradient(y, m_near)
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=2e-14)


@pytest.mark.long
@pytest.mark.parametrize("loss", ["log_loss", "squared_error"])
@pytest.mark.parametrize("kind", HARD)
@pytest.mark.filterwarnings("ignore:overflow")
def test_no_row_adds_more_than_the_bound(kind, loss, rng, choose):
    """Also rows whose products overflow, along whatever the map makes long."""
    choose(True)
    X = np.concatenate([HARD[kind](rng), HARD[kind](rng).astype(np.float32)])
    A, bound = mapping(rng, X.shape[1] + 1, 1e6), 0.5
    slack = rounding_slack(1, X.shape[1] + 1, 1) * 1e6
    for x in X:
        for dtype in (np.float32, np.float64):
            with np.errstate(over="ignore"):
                one = x.astype(dtype)[np.newaxis]
            if not np.isfinite(one).all():
                continue
            rows = clip_rows(one, data_norm=1.0, fit_intercept=True, bias=BIAS)
            targets = rng.choice([-1.0, 1.0, 1e300], (1, 1))
            with CertifiedRows(
                rows, targets, LOSSES[loss], None, rng.choice([1.0, 1e9], 1)
            ).at_work() as sums:
                sums.bound_slopes(A, bound)
                size = rng.choice([1.0, 1e308])
                with np.errstate(all="ignore"):
                    total = sums.ask(SumOfSlopes(size * rng.standard_normal((len(A), 1)), NO_NOISE))
            assert np.linalg.norm(total) <= bound * (1.0 + slack)


@pytest.mark.long
@pytest.mark.parametrize("loss", [0, 1])
def test_predictions_that_are_no_number_have_no_slope(loss):
    m, ones = np.array([np.nan, 1.0, np.nan]), np.ones(3)
    _kernels()._set_slopes(loss, ones, ones, np.empty(0), 1.0, m)
    assert (m == 0.0).tolist() == [True, loss == 1, True]


@pytest.mark.long
@pytest.mark.parametrize("lost", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_adds_nothing(lost, rng, choose):
    choose(True)
    rows = certified(rng.standard_normal((N, D)))
    targets = rng.standard_normal((N, 1))
    for place in ("targets", "lengths", "predictions"):
        with CertifiedRows(rows, targets.copy(), LOSSES["squared_error"]).at_work() as sums:
            sums.bound_slopes(np.eye(D + 1), 1.0)
            w = rng.standard_normal((D + 1, 1))
            plain = sums.ask(SumOfSlopes(w, NO_NOISE))
            alone = np.zeros_like(plain)
            if place == "targets":
                sums.targets[7] = lost
            elif place == "lengths":
                sums.lengths[7] = lost
            else:
                w[3] = lost
            with np.errstate(all="ignore"):
                found = sums.ask(SumOfSlopes(w, NO_NOISE))
        if place == "predictions":
            np.testing.assert_array_equal(found, alone)
        else:
            assert np.isfinite(found).all()
            assert not np.array_equal(found, plain)


@pytest.mark.long
def test_null_records_add_nothing(rng, choose):
    choose(True)
    X, targets = rng.standard_normal((N, D)), rng.standard_normal((N, 1))
    found = []
    for _ in range(2):
        with CertifiedRows(certified(X), targets, LOSSES["squared_error"]).at_work() as sums:
            sums.bound_slopes(np.eye(D + 1), 1.0)
            slopes = sums.ask(SumOfSlopes(np.ones((D + 1, 1)), NO_NOISE))
            found.append(np.append(slopes, sums.ask(SecondMoment(NO_NOISE))))
        X[NULL], targets[NULL] = 1e6, -1e6
    np.testing.assert_array_equal(*found)


@pytest.mark.long
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", ["array", "memory map", "ball"])
def test_threads_change_no_bit_and_there_may_be_many(
    form, dtype, rng, tmp_path, choose, monkeypatch
):
    small_blocks(monkeypatch)
    monkeypatch.setattr(_blocks, "WORTHWHILE_ENTRIES", 0)
    choose(True)
    X = rng.standard_normal((N, D)).astype(dtype)
    if form == "memory map":
        np.save(tmp_path / "X.npy", X)
        X = np.load(tmp_path / "X.npy", mmap_mode="r")
    rows = in_ball(X) if form == "ball" else certified(X)
    targets = np.sign(rng.standard_normal((N, 1)))
    A, w = mapping(rng, D + 1), rng.standard_normal((D + 1, 1))
    mechanism = GaussianMechanism(2.0, 1.0, D + 1, N)
    found, workers = set(), []
    for n_jobs in (None, 2, 3, 5):
        with CertifiedRows(rows, targets, LOSSES["log_loss"], n_jobs).at_work() as sums:
            sums.bound_slopes(A, 0.5)
            found.add(pickle.dumps(sums.ask(SumOfSlopes(w, mechanism))))
            workers.append(sums._n_workers)
    assert len(found) == 1
    assert workers == [1, 2, 3, 5]


@pytest.mark.long
@pytest.mark.parametrize("bound_rows", [certified, in_ball])
def test_a_record_moves_the_rounding_of_no_other_group(bound_rows, rng, choose, monkeypatch):
    small_blocks(monkeypatch)
    choose(True)
    X, targets = rng.standard_normal((N, D)), np.sign(rng.standard_normal((N, 1)))
    mechanism, parts = GaussianMechanism(2.0, 1.0, D + 1, N), []
    for changed in (X, np.where(np.arange(N)[:, np.newaxis] == 100, 9.0, X)):
        with CertifiedRows(bound_rows(changed), targets, LOSSES["log_loss"]).at_work() as sums:
            sums.bound_slopes(np.eye(D + 1), 0.5)
            kept = []
            sums.sum_over = lambda add, jobs, kept=kept: kept.extend(map(add, jobs)) or kept[0]
            sums.ask(SumOfSlopes(np.full((D + 1, 1), 0.3), mechanism))
            parts.append(np.array(kept))
    of_groups = (parts[0] != parts[1]).any(axis=1)
    # Groups are of three blocks of 16 rows.
    np.testing.assert_array_equal(np.flatnonzero(of_groups), [100 // 48])


@pytest.mark.long
@pytest.mark.parametrize("n_columns", [1, 3, 40, 1000])
def test_rounding_is_within_the_slack(n_columns, rng, choose):
    """Of the sum of a group whose slopes are known: those of squared errors of predictions of 0."""
    if np.finfo(np.longdouble).eps > 2.0**-60:
        pytest.skip("no extended precision")
    choose(True)
    n_rows = min(8 * _blocks.block_rows(n_columns), 6_000)
    X = rng.standard_normal((n_rows, n_columns))
    rows = clip_rows(X, data_norm=1.0, fit_intercept=False, clip=False)
    targets, bound = rng.standard_normal((n_rows, 1)), 0.7
    with CertifiedRows(rows, targets, LOSSES["squared_error"]).at_work() as sums:
        sums.bound_slopes(np.eye(n_columns), bound)
        total = sums.ask(SumOfSlopes(np.zeros((n_columns, 1)), NO_NOISE))[:, 0]
    exact = X.astype(np.longdouble)
    lengths = np.sqrt((exact**2).sum(axis=1))
    slopes = -targets[:, 0].astype(np.longdouble)
    slopes *= bound / np.maximum(np.abs(slopes) * lengths, bound)
    off = float(np.linalg.norm((total - exact.T @ slopes).astype(float)))
    assert 0.0 < 2.0 * off <= rounding_slack(n_rows, n_columns, 1) * bound


@pytest.mark.long
def test_rounding_of_moved_rows_is_within_the_slack(choose):
    """Also where each sum of one more row is rounded down: blocks are added up by themselves."""
    choose(True)
    entry = 1.0 - 0.625 * 2.0**-37
    X = np.full((8 * _blocks.block_rows(1), 1), entry)
    with RawRows(X, np.zeros(len(X), dtype=bool)).at_work() as sums:
        total = sums.ask(SumOfCutRows(np.zeros(1), np.ones(1), 1.0, NO_NOISE))[0]
    off = abs(float(Fraction(float(total)) - len(X) * Fraction(entry)))
    assert 2.0 * off <= rounding_slack(len(X), 1, 1)


@pytest.mark.long
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [0.0, 5.0])
def test_what_a_ball_is_learnt_from_is_what_numpy_finds(offset, dtype, rng, choose, monkeypatch):
    small_blocks(monkeypatch)
    X = offset + rng.standard_normal((N, D)) * np.geomspace(0.01, 100.0, D)
    X = (X * (rng.random(X.shape) < 0.8)).astype(dtype)
    is_null = np.isin(np.arange(N), NULL)
    centre, unit = np.full(D, offset), np.geomspace(0.01, 100.0, D)

    def ask(sums):
        return [
            sums.ask(CountsOfLengths(bins_about(math.sqrt(D)), centre, unit, NO_NOISE)),
            sums.ask(CountsByColumn(UNIT_BINS, centre, unit, NO_NOISE)),
            sums.ask(SumOfCutRows(centre, unit, 2.0, NO_NOISE)),
            # What was measured from one centre says nothing of another, or of other units.
            sums.ask(SumOfCutRows(centre, 2.0 * unit, 2.0, NO_NOISE)),
            sums.ask(SumOfCutRows(centre, unit, 2.0, NO_NOISE)),
            sums.ask(SumOfCutRows(centre + 1.0, unit, 2.0, NO_NOISE)),
            sums.ask(SumOfCutRows(centre, unit, math.inf, NO_NOISE)),
        ]

    plain, fused = both(choose, lambda: RawRows(X, is_null), ask)
    np.testing.assert_array_equal(fused[0], plain[0])
    np.testing.assert_array_equal(fused[1], plain[1])
    for k in (2, 3, 4, 5):
        np.testing.assert_allclose(fused[k], plain[k], rtol=1e-12, atol=1e-12)
    # What isn't cut is added by NumPy.
    np.testing.assert_array_equal(fused[6], plain[6])


@pytest.mark.long
@pytest.mark.parametrize("changed", ["centre", "unit"])
def test_lengths_from_a_centre_that_is_changed_in_place_are_measured_again(changed, rng, choose):
    choose(True)
    X, values = rng.standard_normal((N, D)), {"centre": np.zeros(D), "unit": np.ones(D)}
    with RawRows(X, np.zeros(N, dtype=bool)).at_work() as sums:
        sums.ask(SumOfCutRows(**values, radius=2.0, mechanism=NO_NOISE))
        values[changed] += 1e-6
        values[changed] *= 3.0
        found = sums.ask(SumOfCutRows(**values, radius=2.0, mechanism=NO_NOISE))
    with RawRows(X, np.zeros(N, dtype=bool)).at_work() as sums:
        expected = sums.ask(SumOfCutRows(**values, radius=2.0, mechanism=NO_NOISE))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.long
@pytest.mark.parametrize(
    ("model", "is_fused"),
    [
        (DPLogisticRegression(random_state=0), True),
        (DPLogisticRegression(random_state=0, inference=True), True),
        (DPRidge(random_state=0, target_bounds=(-3, 3)), True),
        (DPPoissonRegressor(random_state=0), False),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fits_are_those_of_numpy(model, is_fused, dtype, rng, choose, monkeypatch):
    in_double(monkeypatch)
    X = (3.0 + rng.standard_normal((4000, 6))).astype(dtype)
    y = (X[:, 0] > 3.0).astype(float)
    calls, real = [], _queries._compiled_adder
    monkeypatch.setattr(
        _queries, "_compiled_adder", lambda *args: calls.append(args) or real(*args)
    )
    coefs = []
    for wanted in (False, True):
        choose(wanted)
        model.fit(X, y)
        coefs.append(np.append(np.ravel(model.coef_), model.intercept_))
    assert bool(calls) == is_fused
    np.testing.assert_allclose(coefs[1], coefs[0], rtol=1e-7, atol=1e-7)


@pytest.mark.long
def test_steps_over_the_columns_of_a_frame_are_compiled(rng, choose, monkeypatch):
    """They lie side by side; rows in a ball's units are a copy, in which rows do."""
    choose(True)
    calls, real = [], _queries._compiled_adder
    monkeypatch.setattr(
        _queries, "_compiled_adder", lambda *args: calls.append(args) or real(*args)
    )
    X, model = rng.standard_normal((4000, 6)), DPLogisticRegression(random_state=0)
    coefs = [model.fit(one, X[:, 0] > 0.0).coef_ for one in (X, np.asfortranarray(X))]
    assert len(calls) == 2 * model.n_iter_
    np.testing.assert_allclose(*coefs, rtol=1e-7, atol=1e-7)


@pytest.mark.long
def test_rows_that_are_not_taken_are_summed_by_numpy(rng, choose, monkeypatch):
    choose(True)
    X = rng.standard_normal((50, 4))
    assert _fused.kernels_for(np.asfortranarray(X)) is None
    assert _fused.kernels_for(X[:, ::2]) is None
    assert _fused.kernels_for(X) is not None

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(_fused, "import_module", missing)
    assert _fused.kernels_for(X) is None


@pytest.mark.long
def test_what_is_not_cut_is_summed_by_numpy(rng, choose):
    """So that without privacy no slope is lost, however large."""
    choose(True)
    rows, targets = certified(rng.standard_normal((N, D)), clip=False), np.full((N, 1), 1e305)
    with CertifiedRows(rows, targets, LOSSES["squared_error"]).at_work() as sums:
        sums.bound_slopes(np.eye(D + 1), math.inf)
        sums.kernels = None
        plain = sums.ask(SumOfSlopes(np.ones((D + 1, 1)), NO_NOISE))
        sums.kernels = _kernels()
        np.testing.assert_array_equal(sums.ask(SumOfSlopes(np.ones((D + 1, 1)), NO_NOISE)), plain)


@pytest.mark.long
@for_each("wanted", [True, False])
def test_some_rows_have_the_entries_and_bounds_that_they_have_among_all(wanted, rng, choose):
    choose(wanted)
    rows, numbers = in_ball(about(rng)), np.array([2, 3, 16, 17, 500, 1012])
    some = some_bounded_rows(rows, numbers, 2)
    assert isinstance(some.X, RowsInUnits) == wanted
    np.testing.assert_array_equal(some.X[:], rows.X[:][numbers])
    np.testing.assert_array_equal(some.norm, rows.norm[numbers])
    np.testing.assert_array_equal(some.weight, rows.weight[numbers])
    assert (some.norm[[2, 4, 5]] == 0.0).all()
    clipped = certified(about(rng))
    np.testing.assert_array_equal(some_bounded_rows(clipped, numbers).scale, clipped.scale[numbers])


@pytest.mark.long
@pytest.mark.parametrize("estimator", [DPLogisticRegression, DPRidge])
@pytest.mark.parametrize("entry", [math.nan, math.inf])
def test_norms_of_many_rows_tell_whether_they_are_finite(estimator, entry, rng, choose, tmp_path):
    """Nobody else reads them for that; nothing is charged, and no entry is quoted."""
    choose(True)
    X, y = rng.standard_normal((N, D)), np.arange(N) % 2
    X[700, 3] = entry
    ledger = PrivacyLedger(tmp_path / "study.db", dataset="rows", epsilon=2.0, delta=1e-5)
    model = estimator(epsilon=1.0, delta=1e-6, ledger=ledger)
    with pytest.raises(ValueError, match=r"Input X contains NaN or infinity: no bound holds"):
        model.fit(X, y)
    assert ledger.spent.epsilon == 0.0


@pytest.mark.long
@pytest.mark.parametrize("choice", [True, False])
def test_how_people_are_read_does_not_follow_from_their_rows(choice, rng, choose):
    choose(choice)
    X, y = rng.standard_normal((N, D)), np.arange(N) % 2
    X[700, 3] = math.nan
    with pytest.raises(ValueError, match=r"Input X contains NaN\. Fill gaps"):
        DPLogisticRegression(epsilon=1.0).fit(X, y, groups=np.arange(N) // 2)


@pytest.mark.long
@pytest.mark.parametrize("groups", [None, np.arange(N) // 2])
def test_threads_change_no_bit_of_rows_and_none_work_on_those_of_people(
    groups, rng, choose, monkeypatch
):
    """Rows, their norms and weights are made by blocks; of people one thread makes them."""
    choose(True)
    asked = []
    for module in (_blocks, threads_module):
        monkeypatch.setattr(module, "WORTHWHILE_ENTRIES", 0)
    monkeypatch.setattr(threads_module, "_ROWS_AT_A_TIME", 100)
    in_order = threads_module.map_in_order
    spy = lambda *args: asked.append(args[2]) or in_order(*args)  # noqa: E731
    monkeypatch.setattr(threads_module, "map_in_order", spy)
    X, y = about(rng), np.arange(N) % 2
    fits = [
        DPLogisticRegression(epsilon=1.0, random_state=0, n_jobs=n_jobs).fit(X, y, groups=groups)
        for n_jobs in (1, 3)
    ]
    assert len({pickle.dumps((fit.coef_, fit.intercept_, fit.radius_)) for fit in fits}) == 1
    assert set(asked) == ({1} if groups is not None else {1, 3})
