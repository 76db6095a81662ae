"""Compiled sums over rows of codes, against those over the same rows written out, and what they owe
to privacy."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from tests._loops import for_each
from tests.door import (
    LOSSES,
    Ball,
    CertifiedRows,
    CodedRows,
    CountsByColumn,
    CountsOfLengths,
    GaussianMechanism,
    Multinomial,
    RawRows,
    SecondMoment,
    SumOfCutRows,
    SumOfSlopes,
    SumOfSquares,
    bins_about,
    blocks_module,
    clip_rows,
    coded_rows_module,
    fused_module,
    null_records,
    rounding_slack,
    rows_in_ball,
    stretch_of,
)
from tests.linear_model.whitened.test_row_sums import mapping

pytest.importorskip("numba")
N, NULL = 700, [0, 16, 500, 699]
NO_NOISE = GaussianMechanism(math.inf, 0.0, 1, 1)
# The form of each part, how many entries it has, and how many columns.
PARTS = [("hats", 2, 4), ("ones", 1, 3), ("others", 4, 6), ("hats", 2, 5), ("ones", 1, 1)]
# So many hats and ones that some are left where several are taken at once.
PARTS += [("hats", 2, 2), ("ones", 1, 2), ("ones", 1, 2), ("ones", 1, 1)]
D = sum(width for *_, width in PARTS)


def coded(rng, n_rows=N):
    """Rows of all forms; of some hats one of the two entries is 0."""
    rows, room = CodedRows.empty(n_rows, D, [part[:2] for part in PARTS])
    start = 0
    for (form, size, width), (columns, numbers) in zip(PARTS, room, strict=True):
        if form == "others":
            drawn = rng.permuted(np.tile(np.arange(width), (n_rows, 1)), axis=1)
            columns[:] = start + np.sort(drawn[:, :size], axis=1)
            numbers[:] = rng.uniform(-1.0, 1.0, numbers.shape)
        else:
            columns[:] = start + rng.integers(0, width - (form == "hats"), columns.shape)
        if form == "hats":
            whole = rng.integers(0, 2, numbers.shape)
            numbers[:] = np.where(rng.random(numbers.shape) < 0.3, whole, rng.random(numbers.shape))
        start += width
    return rows


def in_ball(X, centre):
    """Rows in a ball, some of them longer than its radius."""
    ball = Ball(np.full(D, centre), np.ones(D), 2.0)
    return rows_in_ball(X, ball, np.isin(np.arange(N), NULL), fit_intercept=True)


def clipped(X, centre):
    with null_records(NULL):
        return clip_rows(X, data_norm=2.2, fit_intercept=bool(centre))


def small_blocks(monkeypatch):
    """So that there are several blocks, and several of them in a chunk."""
    monkeypatch.setattr(blocks_module, "LEAST_SPARSE_ROWS", 0)
    monkeypatch.setattr(blocks_module, "_LEAST_ROWS", 16)
    monkeypatch.setattr(blocks_module, "_BLOCK_BYTES", 8 * (D + 1) * 16)


def assert_alike(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.long
@for_each("n_jobs", [None, 2])
@for_each("weighted", [False, True])
@pytest.mark.parametrize("is_compiled", [True, False])
@pytest.mark.parametrize("place", [in_ball, clipped])
def test_sums_are_those_of_rows_written_out(place, is_compiled, weighted, n_jobs, monkeypatch):
    rng = np.random.default_rng(0)
    small_blocks(monkeypatch)
    X = coded(rng)
    weights = rng.uniform(0.0, 3.0, N) if weighted else None
    for loss, n_outputs, centre in (
        (LOSSES["log_loss"], 1, 0.0),
        (LOSSES["squared_error"], 1, 0.3),
        (Multinomial(3), 3, 0.3),
    ):
        targets = np.sign(rng.standard_normal((N, n_outputs)))
        found = []
        for rows in (place(X[:].toarray(), centre), place(X, centre)):
            A = mapping(np.random.default_rng(1), rows.n_columns)
            w = 3.0 * np.random.default_rng(2).standard_normal((rows.n_columns, n_outputs))
            is_coded = rows.X is X
            with fused_module.sums_compiled(is_compiled and is_coded):
                sums = CertifiedRows(rows, targets, loss, n_jobs, weights)
            # The rows of several outputs have compiled sums, too, and their slopes have none.
            assert (sums.kernels is not None) == (is_compiled and is_coded)
            assert sums.slopes_are_compiled == (is_compiled and is_coded and n_outputs == 1)
            with sums.at_work():
                moment = sums.ask(SecondMoment(NO_NOISE))
                lengths = sums.bound_slopes(A, 2.0).copy()
                found.append((rows.norm, moment, lengths, sums.ask(SumOfSlopes(w, NO_NOISE))))
        assert np.count_nonzero(lengths == 0.0) == len(NULL)
        for of_columns, of_codes in zip(*found, strict=True):
            assert_alike(of_codes, of_columns)


@pytest.mark.long
@for_each("n_jobs", [None, 2])
@pytest.mark.parametrize("is_compiled", [True, False])
def test_a_ball_is_that_of_rows_written_out(is_compiled, n_jobs, monkeypatch):
    rng = np.random.default_rng(0)
    small_blocks(monkeypatch)
    X, is_null = coded(rng), np.isin(np.arange(N), NULL)
    for centre, unit in (
        (np.zeros(D), np.ones(D)),
        (rng.uniform(0.0, 0.5, D), np.ones(D)),
        # Other units than its own have no compiled sums.
        (rng.uniform(0.0, 0.5, D), rng.uniform(0.5, 2.0, D)),
    ):
        found = []
        for rows in (X[:].toarray(), X):
            with fused_module.sums_compiled(is_compiled and rows is X):
                raw = RawRows(rows, is_null, n_jobs)
            assert (raw.kernels is not None) == (is_compiled and rows is X)
            with raw.at_work():
                about = bins_about(2.0), centre, unit
                found.append(
                    [
                        raw.ask(CountsOfLengths(*about, NO_NOISE)),
                        raw.ask(CountsByColumn(*about, NO_NOISE)),
                        raw.ask(SumOfCutRows(centre, unit, 1.5, NO_NOISE)),
                        raw.ask(SumOfSquares(centre, unit, 1.5, NO_NOISE)),
                    ]
                )
        assert found[0][0].sum() == N - len(NULL)
        for of_columns, of_codes in zip(*found, strict=True):
            assert_alike(of_codes, of_columns)


@pytest.mark.long
@for_each("loss", ["log_loss", "squared_error"])
@np.errstate(all="ignore")
def test_no_row_adds_more_than_the_bound(loss):
    """Also rows along what the map makes long, and short, about a centre far from them."""
    rng = np.random.default_rng(0)
    X, stretch, bound = coded(rng, 60), 1e6, 0.5
    for radius, centre in ((0.8, np.zeros(D)), (5.0, rng.uniform(-2.0, 2.0, D))):
        ball, bias = Ball(centre, np.ones(D), radius), radius / 3.0
        slack = rounding_slack(1, D + 1, 1) * stretch * stretch_of(centre, bias)
        assert slack < 1e-4
        A, largest = mapping(rng, D + 1, stretch), radius**2 + bias**2
        for i in range(X.shape[0]):
            row = CodedRows(
                D, *(array[i : i + 1] for array in X.arrays), X.places, X.parts, X.n_parts
            )
            rows = rows_in_ball(row, ball, np.zeros(1, bool), fit_intercept=True)
            targets = rng.choice([-1.0, 1.0, 1e300], (1, 1))
            with (
                fused_module.sums_compiled(True),
                CertifiedRows(rows, targets, LOSSES[loss]).at_work() as sums,
            ):
                assert sums.slopes_are_compiled
                assert np.linalg.norm(sums.ask(SecondMoment(NO_NOISE))) <= largest * (1.0 + slack)
                sums.bound_slopes(A, bound)
                w = rng.choice([1.0, 1e308]) * rng.standard_normal((D + 1, 1))
                total = sums.ask(SumOfSlopes(w, NO_NOISE))
                raw = RawRows(row, np.zeros(1, bool))
                cut = raw.ask(SumOfCutRows(centre, np.ones(D), radius, NO_NOISE))
            assert np.linalg.norm(total) <= bound * (1.0 + slack)
            assert np.linalg.norm(cut) <= radius * (1.0 + slack)


def test_blocks_are_those_that_the_slack_allows_for():
    sizes, rows = [], in_ball(coded(np.random.default_rng(0)), 0.3)
    with fused_module.sums_compiled(True):
        sums = CertifiedRows(rows, np.ones((N, 1)), LOSSES["log_loss"])
        raw = RawRows(rows.X, rows.norm == 0.0)
    sums.bound_slopes(np.eye(D + 1), 1.0)
    sums.kernels = raw.kernels = SimpleNamespace(
        LOSSES=sums.kernels.LOSSES,
        add_slopes=lambda loss, size, *others: sizes.append(size),
        add_outer_products=lambda size, *others: sizes.append(size),
        add_rows=lambda size, *others: sizes.append(size),
    )
    sums.ask(SumOfSlopes(np.ones((D + 1, 1)), NO_NOISE))
    sums.ask(SecondMoment(NO_NOISE))
    raw.ask(SumOfCutRows(np.zeros(D), np.ones(D), 1.0, NO_NOISE))
    assert sizes == 3 * [blocks_module.LEAST_SPARSE_ROWS] == 3 * [2048]


def test_rows_of_more_entries_than_short_indices_count_are_written_out(monkeypatch):
    rows = coded(np.random.default_rng(0), 20)
    short = rows[:]
    monkeypatch.setattr(coded_rows_module, "_MOST_ENTRIES", short.nnz - 1)
    long = rows[:]
    assert (short.indptr.dtype, long.indptr.dtype) == (np.int32, np.int64)
    assert long.indices.dtype == np.int64
    np.testing.assert_array_equal(long.toarray(), short.toarray())


def test_rows_in_other_units_are_written_out():
    rng = np.random.default_rng(0)
    X, ball = coded(rng), Ball(rng.uniform(0.0, 0.5, D), rng.uniform(0.5, 2.0, D), 2.0)
    found = rows_in_ball(X, ball, np.zeros(N, bool), fit_intercept=True)
    expected = rows_in_ball(X[:], ball, np.zeros(N, bool), fit_intercept=True)
    np.testing.assert_array_equal(found.X.toarray(), expected.X.toarray())
    np.testing.assert_array_equal(found.norm, expected.norm)
    np.testing.assert_array_equal(found.shift, expected.shift)
