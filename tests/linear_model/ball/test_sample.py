"""A public sample of the rows, whose lengths tell where the ball is."""

import importlib
import math
from itertools import pairwise

import numpy as np
import pytest

from skdp.linear_model import DPLogisticRegression, DPRidge
from tests.door import (
    BlockSampler,
    Budget,
    GroupBudget,
    SeededStream,
    ball_tuned as tuned,
    plan_ball,
    whitened_tuned,
)

SIZES = {"n_records": 10**6, "n_columns": 50, "slack": 1e-9}
HOW = {"ball_budget": "auto", "data_norm": None, "centred": True}


def planned(budget=None, **options):
    budget = Budget(1.0, 1e-7, "zero_out", "pld") if budget is None else budget
    return plan_ball(budget, **HOW | SIZES | options)[0]


def sample_few(monkeypatch):
    """Have samples be half as large, and hold fewer of those outside, than is taken for enough."""
    monkeypatch.setattr(tuned, "LARGEST_NOISE_OF_THOSE_OUTSIDE", 0.15)
    monkeypatch.setattr(tuned, "LEAST_BLOCKS_OUTSIDE", 0)


def test_a_sample_changes_no_event_and_no_bound():
    """Whether there is one follows from public numbers; a record of it moves as much as ever."""
    few, many = planned(n_records=90_000), planned()
    assert few.sample is None
    assert many.sample is not None
    assert [e.noise_multiplier for e in few.events] == [e.noise_multiplier for e in many.events]
    for name in ("reach", "centre", "distance", "recentre", "radius"):
        one, other = getattr(few, name), getattr(many, name)
        assert (one.bound, one.pairwise) == (other.bound, other.pairwise)
    assert many.n_sampled == many.sample.n_drawn <= 0.5 * many.n_records


def test_a_sample_is_as_large_as_its_counts_need():
    for epsilon in (0.5, 1.0, 4.0):
        for n_records in (10**6, 10**7, 10**9):
            ball = planned(Budget(epsilon, 1e-9, "zero_out", "pld"), n_records=n_records)
            # Noise has a little more for rounding, which follows from the number of rows.
            noise = 0.99 * ball.radius.mechanism.noise_std / ball.n_sampled
            assert ball.n_sampled >= 50_000
            assert noise <= 1e-3
            assert noise <= 0.075 * (1.0 - ball.quantile)
            assert ball.n_sampled * (1.0 - ball.quantile) >= 20 * ball.sample.block_size


@pytest.mark.parametrize(
    "options",
    [
        {"n_records": 90_000},
        {"alike": True},
        {"share_within": 0.99},
        {"budget": GroupBudget(1.0, 1e-7, "zero_out", "pld")},
        {"budget": Budget(math.inf, 1e-7, "zero_out", "pld")},
    ],
    ids=str,
)
def test_where_there_is_none(options):
    """Of groups the number of rows is private."""
    assert planned(**options).sample is None


@pytest.mark.long
def test_each_block_is_as_likely_as_others():
    """The counts of 4,000 draws are within six deviations: by chance they aren't in 3e-8."""
    sampler, stream = BlockSampler(8 * 12 + 3, 3), SeededStream(np.random.SeedSequence(0))
    counts = np.zeros(12)
    for _ in range(4000):
        rows = sampler.draw(stream).rows(0, sampler.n_rows)
        assert rows.size == sampler.n_drawn == 24
        blocks, sizes = np.unique(rows // 8, return_counts=True)
        assert (sizes == 8).all()
        assert (blocks // 4 == [0, 1, 2]).all()
        counts[blocks] += 1
    assert np.abs(counts - 1000.0).max() < 6.0 * math.sqrt(4000 * 0.25 * 0.75)


@pytest.mark.parametrize("n_records", [16, 103, 4096, 99_999])
def test_parts_of_a_table_draw_what_the_whole_draws(n_records, rng):
    for n_blocks in (1, n_records // 19 + 1, n_records // 8):
        drawn = BlockSampler(n_records, n_blocks).draw(SeededStream(np.random.SeedSequence(1)))
        rows = drawn.rows(0, n_records)
        assert rows.size == 8 * n_blocks
        assert (np.diff(rows) > 0).all()
        ends = [0, *np.sort(rng.integers(0, n_records + 1, size=9)), n_records]
        parts = [drawn.rows(int(first), int(last)) for first, last in pairwise(ends)]
        np.testing.assert_array_equal(np.concatenate(parts), rows)


@pytest.mark.long
def test_a_run_of_far_rows_decides_nothing(monkeypatch):
    """Seeded. In blocks of 64 without strata, one ball in eight was hundreds of times wider."""
    sample_few(monkeypatch)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600_000, 4))
    X[300_000:300_128] *= 1000.0
    y = (X[:, 0] > 0.0).astype(int)
    settings = {"epsilon": 8.0, "delta": 1e-7, "classes": [0, 1]}
    for seed in range(12):
        model = DPLogisticRegression(max_iter=2, random_state=seed, **settings).fit(X, y)
        assert any("of a sample" in name for name in model.privacy_report_.names)
        assert model.radius_ < 12.0


@pytest.mark.long
@pytest.mark.parametrize("form", ["array", "single", "columns"])
def test_a_ball_of_a_sample_is_about_that_of_all_rows(form, rng, monkeypatch):
    sample_few(monkeypatch)
    X = 5.0 + np.geomspace(0.1, 10.0, 6) * rng.standard_normal((200_000, 6))
    X = {"array": X, "single": X.astype(np.float32), "columns": np.asfortranarray(X)}[form]
    y = (X[:, 0] > 5.0).astype(int)
    balls = []
    for least in (0.5, 0.0):
        monkeypatch.setattr(tuned, "LARGEST_SAMPLE", least)
        model = DPLogisticRegression(epsilon=8.0, classes=[0, 1], random_state=0).fit(X, y)
        is_of_sample = any("of a sample" in name for name in model.privacy_report_.names)
        assert is_of_sample == (least > 0.0)
        balls.append(model)
    one, other = balls
    assert (np.abs(np.log2(one.scale_ / other.scale_)) < 1.0).all()
    assert (np.abs(one.center_ - other.center_) < 0.05 * one.scale_).all()
    assert 0.6 < one.radius_ / other.radius_ < 1.7


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [8.0, 1e5])
def test_a_fit_to_parts_draws_the_same_rows_as_in_memory(epsilon, rng, monkeypatch):
    """With little noise the first steps are of a sample, too."""
    da = pytest.importorskip("dask.array")
    dask_module = pytest.importorskip("skdp.dask")
    of_parts = importlib.import_module("tests.door_dask").partitioned_module.PartitionedRows
    monkeypatch.setattr(tuned, "LEAST_ROWS_OF_SAMPLE", 100)
    monkeypatch.setattr(tuned, "LARGEST_NOISE_IN_SAMPLE", math.inf)
    monkeypatch.setattr(tuned, "LARGEST_NOISE_OF_THOSE_OUTSIDE", math.inf)
    monkeypatch.setattr(tuned, "LEAST_BLOCKS_OUTSIDE", 0)
    X = rng.standard_normal((6000, 4))
    y = np.clip(X[:, 0], -1.0, 1.0)
    monkeypatch.setattr(whitened_tuned, "LEAST_SAMPLED_ROWS_OF_COLUMN", 0.0)
    asked = []
    sampled_slopes = of_parts.sampled_slopes
    spy = lambda rows, drawn: asked.append(drawn) or sampled_slopes(rows, drawn)  # noqa: E731
    monkeypatch.setattr(of_parts, "sampled_slopes", spy)
    settings = {"target_bounds": (-1.0, 1.0), "epsilon": epsilon, "random_state": 0}
    model = DPRidge(**settings).fit(X, y)
    assert any("of a sample" in name for name in model.privacy_report_.names)
    # Some parts have no row of the sample.
    chunks = (1, 2000, 40, 3959)
    parts = da.from_array(X, (chunks, 4)), da.from_array(y, (chunks,))
    other = dask_module.DaskDPRidge(**settings).fit(*parts)
    np.testing.assert_array_equal(model.scale_, other.scale_)
    assert model.radius_ == other.radius_
    np.testing.assert_allclose(model.center_, other.center_, rtol=1e-6)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-6)
    assert model.n_iter_ == other.n_iter_
    assert len(asked) == (epsilon > 8.0)
