"""Compiled sums over the entries of sparse rows, against NumPy's, and what they owe to privacy."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.door import (
    LOSSES,
    Ball,
    CertifiedRows,
    GaussianMechanism,
    SecondMoment,
    SumOfSlopes,
    blocks_module,
    clip_rows,
    fused_module,
    null_records,
    rounding_slack,
    rows_in_ball,
    stretch_of,
)
from tests.linear_model.whitened.test_row_sums import mapping

pytest.importorskip("numba")
N, D = 700, 13
NULL = [0, 16, 500, 699]
NO_NOISE = GaussianMechanism(math.inf, 0.0, 1, 1)
UNIT = np.geomspace(0.01, 100.0, D)


def entries(rng, dtype):
    """Rows of which some have no entry, and some one that is 0."""
    X = (UNIT * rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.3)).astype(dtype)
    X[5] = 0.0
    X = csr_array(X)
    X.data[::50] = 0.0
    return X


def in_ball(X, centre):
    """Rows in the units of a ball, some of them longer than its radius."""
    ball = Ball(np.full(D, centre) * UNIT, UNIT, 0.5 * D**0.5)
    return rows_in_ball(X, ball, np.isin(np.arange(N), NULL), fit_intercept=True)


def clipped(X, centre):
    with null_records(NULL):
        return clip_rows(X, data_norm=30.0, fit_intercept=bool(centre))


@pytest.mark.every
@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("place", [in_ball, clipped])
def test_sums_are_those_of_numpy(place, dtype, weighted, n_jobs, rng, monkeypatch):
    # So that there are several blocks, and several of them in a chunk.
    monkeypatch.setattr(blocks_module, "LEAST_SPARSE_ROWS", 0)
    monkeypatch.setattr(blocks_module, "_LEAST_ROWS", 16)
    monkeypatch.setattr(blocks_module, "_BLOCK_BYTES", 8 * 14 * 16)
    X = entries(rng, dtype)
    weights = rng.uniform(0.0, 3.0, N) if weighted else None
    targets = np.sign(rng.standard_normal((N, 1)))
    for loss, centre in (("log_loss", 0.0), ("squared_error", 0.3)):
        found, rows = [], place(X, centre)
        A, w = mapping(rng, rows.n_columns), 3.0 * rng.standard_normal((rows.n_columns, 1))
        for is_compiled in (False, True):
            with fused_module.sums_compiled(is_compiled):
                sums = CertifiedRows(rows, targets, LOSSES[loss], n_jobs, weights)
            assert (sums.kernels is not None) == is_compiled
            with sums.at_work():
                moment = sums.ask(SecondMoment(NO_NOISE))
                lengths = sums.bound_slopes(A, 2.0).copy()
                found.append((moment, lengths, sums.ask(SumOfSlopes(w, NO_NOISE))))
        assert np.count_nonzero(lengths == 0.0) >= len(NULL)
        for plain, fused in zip(*found, strict=True):
            np.testing.assert_allclose(fused, plain, rtol=0.0, atol=1e-12 * np.abs(plain).max())


@pytest.mark.long
@pytest.mark.parametrize("loss", ["log_loss", "squared_error"])
@np.errstate(all="ignore")
def test_no_row_adds_more_than_the_bound(loss, rng):
    """Also rows along what the map makes short, and long ones, about a centre far from 0."""
    stretch, bound, centre = 1e6, 0.5, rng.uniform(-3.0, 3.0, D)
    ball = Ball(centre * UNIT, UNIT, 0.8 * D**0.5)
    A = mapping(rng, D + 1, stretch)
    bias = ball.radius / 3.0
    slack = rounding_slack(1, D + 1, 1) * stretch * stretch_of(centre, bias)
    assert slack < 1e-4
    axes = np.linalg.eigh(A)[1].T[:, :D]
    some = (rng.random((20, D)) < 0.3) * rng.standard_normal((20, D))
    for size in (1e-160, 1e-30, 1.0, 1e4, 1e30):
        for row in UNIT * np.concatenate([centre + size * axes, size * some]):
            rows = rows_in_ball(
                csr_array(row[np.newaxis]), ball, np.zeros(1, bool), fit_intercept=True
            )
            targets = rng.choice([-1.0, 1.0, 1e300], (1, 1))
            with (
                fused_module.sums_compiled(True),
                CertifiedRows(rows, targets, LOSSES[loss]).at_work() as sums,
            ):
                assert sums.kernels is not None
                largest = 0.64 * D * (1.0 + 1.0 / 9.0)
                assert np.linalg.norm(sums.ask(SecondMoment(NO_NOISE))) <= largest * (1.0 + slack)
                sums.bound_slopes(A, bound)
                w = rng.choice([1.0, 1e308]) * rng.standard_normal((D + 1, 1))
                total = sums.ask(SumOfSlopes(w, NO_NOISE))
            assert np.linalg.norm(total) <= bound * (1.0 + slack)


def test_blocks_are_those_that_the_slack_allows_for(rng):
    sizes, rows = [], in_ball(entries(rng, np.float64), 0.3)
    with fused_module.sums_compiled(True):
        sums = CertifiedRows(rows, np.ones((N, 1)), LOSSES["log_loss"])
    sums.bound_slopes(np.eye(D + 1), 1.0)
    sums.kernels = SimpleNamespace(
        LOSSES=sums.kernels.LOSSES, add_slopes=lambda loss, size, *others: sizes.append(size)
    )
    sums.ask(SumOfSlopes(np.ones((D + 1, 1)), NO_NOISE))
    assert sizes == [sums.rows_of_block]
    assert sums.rows_of_block == blocks_module.LEAST_SPARSE_ROWS == 2048


def test_whether_sums_are_compiled_follows_from_the_shape_alone(monkeypatch):
    monkeypatch.setattr(fused_module, "WORTHWHILE_ENTRIES", 100)
    empty, full = csr_array((10, 10)), csr_array(np.ones((10, 10)))
    assert fused_module.kernels_for_entries(empty) is not None
    assert fused_module.kernels_for_entries(full) is not None
    assert fused_module.kernels_for_entries(full[:9]) is None
    assert fused_module.kernels_for_entries(full.tocsc()) is None
