import math
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from tests._loops import for_each
from tests._objectives import DUAL
from tests._runs import HandRun
from tests.door import (
    BoundedRows,
    CoordinateSampler,
    GatheredRows,
    GaussianMechanism,
    PartitionSampler,
    PoissonSampler,
    bound_columns,
    clip_rows,
    make_stream,
    solve_dpscd,
    solve_dpscd_primal,
    solve_dpscd_sequential,
    squeezed,
    threads_module as _threads,
)


@dataclass(frozen=True)
class FixedBatches:
    """A sampler that gives the batches it is told."""

    rate: float
    given: tuple

    @property
    def n_steps(self):
        return len(self.given)

    def batches(self, stream):
        return (np.array(batch, dtype=np.int64) for batch in self.given)


def plain_dpscd(X, Y, loss, alpha, rate, batches, bound, average, pull):
    """Algorithm 1 with an exact dual variable, written out row by row, without noise.

    `pull` has the strength of the pull to the centre for each column.
    """
    n_rows, n_outputs = Y.shape
    dual, shared = np.zeros((n_rows, n_outputs)), np.zeros((n_outputs, X.shape[1]))
    theta, centre = np.zeros_like(shared), np.zeros_like(shared)
    iterates = []
    for batch in batches:
        for i in batch:
            size = np.linalg.norm(X[i])
            if size == 0.0:
                continue
            margin = theta @ X[i]
            curvature = rate * np.sum(X[i] ** 2 / (alpha + pull))
            zeta = loss.dual_step(Y[i], margin, dual[i], np.full(n_outputs, curvature))
            zeta = zeta * bound / max(bound, np.linalg.norm(zeta) * size)
            shared += np.outer(zeta, X[i])
            dual[i] += zeta
        theta = (shared / n_rows + pull * centre) / (alpha + pull)
        centre += rate * (theta - centre)
        iterates.append(theta)
    first = math.floor((0.75 if pull.any() else 0.5) * len(iterates))
    return np.mean(iterates[first:], axis=0) if average else iterates[-1]


@pytest.mark.long
@for_each("pull", [0.0, 0.3])
@for_each("average", [False, True])
@for_each("n_outputs", [1, 3])
@for_each("fit_intercept", [False, True])
@for_each("name", sorted(DUAL))
def test_the_loop_is_the_algorithm(name, fit_intercept, n_outputs, average, pull, rng):
    n_rows, n_features = 23, 4
    X = rng.standard_normal((n_rows, n_features))
    X[5] = 0.0
    Y = np.sign(rng.standard_normal((n_rows, n_outputs)))
    sampler = FixedBatches(0.3, ([1, 5, 7], [], range(23), [0], [2, 7, 22]))
    rows = clip_rows(X, data_norm=1.2, fit_intercept=fit_intercept)
    mechanism = GaussianMechanism(math.inf, 0.0, n_outputs * rows.n_columns, n_rows)
    found = solve_dpscd(
        rows,
        Y,
        loss=DUAL[name],
        alpha=0.02,
        plan=SimpleNamespace(
            sampler=sampler,
            mechanism=mechanism,
            clipping_norm=0.05,
            noisy_dual=False,
            proximal=pull,
            intercept_proximal=pull / 3.0,
        ),
        average=average,
        n_jobs=None,
        run=HandRun(mechanism),
    )
    clipped = X * np.minimum(1.0, 1.2 / np.maximum(np.linalg.norm(X, axis=1), 1e-9))[:, np.newaxis]
    if fit_intercept:
        clipped = np.hstack([clipped, np.full((n_rows, 1), 0.4)])
    pulls = np.full(clipped.shape[1], pull)
    if fit_intercept:
        pulls[-1] = pull / 3.0
    expected = plain_dpscd(clipped, Y, DUAL[name], 0.02, 0.3, sampler.given, 0.05, average, pulls)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_blocks_change_rounding_only(rng, monkeypatch):
    """Batches larger than a block give the same sums, in a fixed order."""
    n_rows = 500
    X, Y = rng.standard_normal((n_rows, 3)), rng.standard_normal((n_rows, 1))
    found = []
    for block in (7, 64, 10_000):
        monkeypatch.setattr(_threads, "BLOCK_ROWS", block)
        coins, noise = make_stream(0).spawn(2)
        found.append(
            solve_dpscd(
                clip_rows(X, data_norm=1.0, fit_intercept=True),
                Y,
                loss=DUAL["squared_error"],
                alpha=1e-2,
                plan=SimpleNamespace(
                    sampler=PoissonSampler(n_rows, 0.3, 20),
                    mechanism=GaussianMechanism(math.inf, 0.0, 4, n_rows),
                    clipping_norm=math.inf,
                    noisy_dual=False,
                    proximal=0.1,
                    intercept_proximal=0.05,
                ),
                average=True,
                n_jobs=None,
                run=HandRun(GaussianMechanism(math.inf, 0.0, 4, n_rows), coins=coins, noise=noise),
            )
        )
    np.testing.assert_allclose(found[0], found[2], rtol=1e-10)
    np.testing.assert_allclose(found[1], found[2], rtol=1e-10)


def test_blas_is_held_to_one_thread_and_let_go():
    from threadpoolctl import threadpool_info

    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = threads()
    with _threads.single_threaded_blas:
        assert set(threads()) == {1}
        with _threads.single_threaded_blas:
            pass
        assert set(threads()) == {1}
    assert threads() == before


def mapper(n_jobs, expected_size, new_buffers, n_features=10**6, n_rows=10**5):
    """The mapper of blocks for rows that nobody looks at."""
    X = np.lib.stride_tricks.as_strided(np.zeros(1), (n_rows, n_features), (0, 0))
    rows = BoundedRows(X, None, 0.0, np.zeros(1))
    return _threads.block_mapper(n_jobs, expected_size, rows, new_buffers)


@pytest.mark.parametrize("n_items", [0, 1, 2048, 2049, 10_000])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_blocks_come_back_in_order(n_items, n_jobs):
    def gather(worker, indices, offset):
        assert np.geterr()["over"] == "ignore"
        used.add(worker)
        return offset + indices

    buffers, used = iter("abc"), set()
    with (
        np.errstate(all="ignore"),
        mapper(n_jobs, n_items, lambda rows, size: next(buffers)) as map_blocks,
    ):
        blocks = map_blocks(gather, np.arange(n_items), 5)
    assert [len(block) for block in blocks[:-1]] == [2048] * (max(0, n_items - 1) // 2048)
    np.testing.assert_array_equal(np.concatenate(blocks), 5 + np.arange(n_items))
    assert len(used) == min(n_jobs, len(blocks))


@pytest.mark.parametrize(
    ("n_jobs", "expected_size", "n_features", "n_threads"),
    [(2, 10_000, 104, 1), (2, 10_000, 105, 2), (2, 2048, 10_000, 1), (99, 5000, 1000, 3)],
)
def test_little_work_is_not_shared_and_nobody_is_idle(n_jobs, expected_size, n_features, n_threads):
    made = []
    with mapper(n_jobs, expected_size, lambda rows, size: made.append(size), n_features):
        assert made == [2048] * n_threads


def test_buffers_are_no_larger_than_the_data():
    made = []
    with mapper(1, 60, lambda rows, size: made.append(size), n_rows=60):
        assert made == [60]


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_gathered_rows_are_the_certified_rows(fit_intercept, dtype, n_outputs, rng):
    X = (rng.standard_normal((50, 4)) * 10.0 ** rng.uniform(-3, 3, (50, 1))).astype(dtype)
    X[3], X[7, 0] = 0.0, 1e30
    rows = clip_rows(X, data_norm=1.2, fit_intercept=fit_intercept)
    gathered = GatheredRows(rows, 20)
    w = squeezed(rng.standard_normal((rows.n_columns, n_outputs))).T
    for indices in (np.array([3, 7, 8, 31]), np.array([], dtype=np.int64), np.arange(20)):
        z = squeezed(rng.standard_normal((indices.size, n_outputs)))
        full = np.empty((indices.size, rows.n_columns))
        full[:, 4:] = rows.bias
        full[:, :4] = rows.take(indices, np.empty((indices.size, 4)))
        np.testing.assert_array_equal(gathered.load(indices), rows.norm[indices])
        np.testing.assert_allclose(gathered.predict(w), full @ w.T, atol=1e-13)
        np.testing.assert_allclose(gathered.sum(z), z.T @ full, atol=1e-12)


def plain_sequential_cd(X, Y, loss, alpha, batches, bound):
    """Algorithm 3, written out, without noise; returns the last iterate."""
    n_rows, n_outputs = Y.shape
    dual, shared = np.zeros((n_rows, n_outputs)), np.zeros((n_outputs, X.shape[1]))
    for batch in batches:
        for i in batch:
            size = np.linalg.norm(X[i])
            if size == 0.0:
                continue
            margin = shared @ X[i] / (alpha * n_rows)
            curvature = np.full(n_outputs, size**2 / (alpha * n_rows))
            zeta = loss.dual_step(Y[i], margin, dual[i], curvature)
            zeta = zeta * bound / max(bound, np.linalg.norm(zeta) * max(1.0, size))
            shared += np.outer(zeta, X[i])
            dual[i] += zeta
    return shared / (alpha * n_rows)


@pytest.mark.parametrize("bound", [0.05, 1e6])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("name", sorted(DUAL))
def test_the_sequential_loop_is_the_algorithm(name, n_outputs, bound, rng):
    X = rng.standard_normal((23, 4))
    X[5] = 0.0
    Y = np.sign(rng.standard_normal((23, n_outputs)))
    batches = ([1, 5, 7, 3], range(8, 23), [0, 2, 4, 6], [7, 1, 0])
    found = solve_dpscd_sequential(
        clip_rows(X, data_norm=9.0, fit_intercept=False),
        Y,
        loss=DUAL[name],
        alpha=0.02,
        plan=SimpleNamespace(
            sampler=FixedBatches(1.0, batches),
            mechanism=GaussianMechanism(math.inf, 0.0, 1, 23),
            clipping_norm=bound,
        ),
        average=False,
        run=HandRun(GaussianMechanism(math.inf, 0.0, 1, 23)),
    )
    expected = plain_sequential_cd(X, Y, DUAL[name], 0.02, batches, bound)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["log_loss", "squared_error"])
def test_primal_updates_minimise_along_a_coordinate(name, rng):
    """One coordinate at a time and the squared loss: each update is the exact minimum."""
    n_rows, alpha = 40, 0.1
    X = rng.uniform(-1.0, 1.0, (n_rows, 3))
    y = np.sign(rng.standard_normal((n_rows, 1)))
    rows = clip_rows(X, data_norm=2.0, fit_intercept=False)
    columns = bound_columns(rows, low=np.full(3, -1.0), high=np.full(3, 1.0))
    assert np.linalg.norm(columns.X, axis=0).max() <= 1.0

    def solve(batches):
        return solve_dpscd_primal(
            columns,
            y,
            loss=DUAL[name],
            alpha=alpha,
            plan=SimpleNamespace(
                sampler=_Coordinates(batches),
                mechanism=GaussianMechanism(math.inf, 0.0, 1, n_rows),
                clipping_norm=math.inf,
            ),
            average=False,
            run=HandRun(GaussianMechanism(math.inf, 0.0, 1, n_rows)),
        )[0]

    def objective(w):
        return DUAL[name].value(y[:, 0], X @ w).mean() + 0.5 * alpha * w @ w

    first = solve([[1]])
    assert np.flatnonzero(first).tolist() == [1]
    assert objective(first) < objective(np.zeros(3))
    if name == "squared_error":
        for step in (-1e-3, 1e-3):
            assert objective(first) <= objective(first + step * np.eye(3)[1])
    both = solve([[0, 1, 2]] * 400)
    gradient = X.T @ DUAL[name].gradient(y[:, 0], X @ both) / n_rows + alpha * both
    np.testing.assert_allclose(gradient, 0.0, atol=1e-6)


class _Coordinates(FixedBatches):
    """A coordinate sampler that gives the batches it is told."""

    def __init__(self, given):
        super().__init__(1.0, tuple(given))

    @property
    def batch_size(self):
        return len(self.given[0])


class ScriptedMechanism:
    """Records what is asked for; releases it with noise, or releases what a script says."""

    def __init__(self, script=None):
        self.values, self.released = [], []
        self._script = script
        self._rng = np.random.default_rng(3)

    def release(self, value, stream):
        out = value + self._rng.standard_normal(value.shape)
        if self._script is not None:
            out = self._script[len(self.values)]
        self.values.append(value.copy())
        self.released.append(out.copy())
        return out.copy()


@pytest.mark.long
@for_each("replaced", [False, True])
@for_each("n_outputs", [1, 2])
@for_each("name", sorted(DUAL))
@for_each("solver", ["sequential", "primal"])
def test_a_record_shows_only_where_it_takes_part_and_all_state_is_released(
    solver, name, n_outputs, replaced, rng
):
    """Neighbours on one script of releases: equal models, and equal values in batches without it.

    An exact dual variable would carry what later rows of a batch saw of the record into releases
    that it takes no part in.
    """
    if solver == "primal" and math.isinf(DUAL[name].smoothness):
        pytest.skip("not smooth")
    n_rows, record, bound, batch_size = 19, 4, 0.3, 5
    X = rng.standard_normal((n_rows, 3))
    Y = np.sign(rng.standard_normal((n_rows, n_outputs)))
    rows = clip_rows(X, data_norm=1.5, fit_intercept=True)
    neighbour_X, neighbour_Y = X.copy(), Y.copy()
    if replaced:
        neighbour_X[record], neighbour_Y[record] = 0.5 - X[record], -Y[record]
    neighbour = clip_rows(neighbour_X, data_norm=1.5, fit_intercept=True)
    if not replaced:
        neighbour.norm[record] = 0.0
    sampler = PartitionSampler(n_rows, batch_size, 3)
    run = solve_dpscd_sequential
    if solver == "primal":
        batch_size = 2
        sampler, run = CoordinateSampler(4, batch_size, 12), solve_dpscd_primal
        low, high = np.full(3, -1.5), np.full(3, 1.5)
        rows, neighbour = (bound_columns(one, low=low, high=high) for one in (rows, neighbour))
    batches = list(sampler.batches(make_stream(0)))

    def fit(data, targets, mechanism):
        return run(
            data,
            targets,
            loss=DUAL[name],
            alpha=0.05,
            plan=SimpleNamespace(
                sampler=sampler,
                mechanism=mechanism,
                clipping_norm=bound,
            ),
            average=True,
            run=HandRun(mechanism, coins=make_stream(0)),
        )

    one = ScriptedMechanism()
    model = fit(rows, Y, one)
    other = ScriptedMechanism(one.released)
    np.testing.assert_array_equal(fit(neighbour, neighbour_Y, other), model)
    distances = [
        np.linalg.norm(mine - yours) for mine, yours in zip(one.values, other.values, strict=True)
    ]
    assert max(distances) <= 2.0 * bound * math.sqrt(batch_size * (batch_size + 1))
    assert max(distances) > 0.0
    if solver == "sequential":
        for batch, distance in zip(batches, distances, strict=True):
            assert record in batch or distance == 0.0
