import math
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array, diags_array

from skdp.linear_model import DPPoissonRegressor
from tests.door import (
    LOSSES,
    BlockRows,
    CertifiedRows,
    GaussianMechanism,
    MemoryRows,
    Multinomial,
    RateUnits,
    SecondMoment,
    SumOfSlopes,
    as_vector,
    block_rows,
    blocks_module as _blocks,
    clip_rows,
    null_records,
    rounding_slack,
    slope_queries_module as _queries,
    squeezed,
)

BIAS = 0.4
NO_NOISE = GaussianMechanism(math.inf, 0.0, 1, 1)
NULL = [3, 11, 200]


def certified(X, fit_intercept=True, null=()):
    """Rows for the sums, and the same rows in full."""
    with null_records(null):
        rows = clip_rows(X, data_norm=1.0, fit_intercept=fit_intercept, bias=BIAS)
    full = X * np.minimum(1.0, 1.0 / np.linalg.norm(X.astype(float), axis=1))[:, np.newaxis]
    if fit_intercept:
        full = np.column_stack([full, np.full(len(X), BIAS)])
    full[list(null)] = 0.0
    return rows, full


def labelled(rng, n_rows, n_outputs):
    if n_outputs == 1:
        return np.sign(rng.standard_normal((n_rows, 1))), LOSSES["log_loss"]
    Y = np.where(np.arange(n_outputs) == rng.integers(0, n_outputs, (n_rows, 1)), 1.0, -1.0)
    return Y, Multinomial(n_outputs)


def mapping(rng, n_columns, stretch=30.0):
    """A symmetric map whose longest direction is so many times as long as its shortest."""
    Q = np.linalg.qr(rng.standard_normal((n_columns, n_columns)))[0]
    A = (Q * np.geomspace(1.0, stretch, n_columns)) @ Q.T
    return 0.5 * (A + A.T)


def small_blocks(patch):
    """So that few rows have several groups."""
    patch.setattr(_blocks, "_MOST_ROWS", 16)
    patch.setattr(_blocks, "_LEAST_ROWS", 16)
    patch.setattr(_blocks, "_CHUNK", 3)
    patch.setattr(_blocks, "_ROWS_PER_COLUMN", 0)


@pytest.mark.parametrize("n_columns", [1, 50, 363, 700, 3000, 60_000])
@pytest.mark.parametrize("kind", [np.empty, csr_array])
def test_the_slack_counts_all_rows_of_a_group(kind, n_columns):
    """And the blocks and the map that they go through."""
    X = csr_array((300_000, n_columns))
    if kind is np.empty:
        X = np.broadcast_to(0.0, X.shape)
    sums = BlockRows(X, n_columns)
    errors = sums.rows_of_block + sums._chunk / sums.rows_of_block + n_columns**1.5
    assert rounding_slack(300_000, n_columns, 1) >= 2.0**-52 * errors * sums._chunk
    assert sums._chunk % sums.rows_of_block == 0
    # The map is p numbers for each number of the sum.
    assert sums._chunk >= min(4 * n_columns, 2**13)


def test_sparse_rows_are_read_where_they_lie():
    X = csr_array(np.arange(12.0).reshape(4, 3))
    sums = BlockRows(X, 3)
    rows = sums.read(slice(1, 3))
    np.testing.assert_array_equal(rows.toarray(), X.toarray()[1:3])
    assert np.shares_memory(rows.data, X.data)
    assert sums.read(slice(1, 3)).data is rows.data
    np.testing.assert_array_equal(sums.read(slice(None)).toarray(), X.toarray())
    of_32_bits = BlockRows(X.astype(np.float32), 3).read(slice(1, 3))
    assert of_32_bits.dtype == np.float64


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("null", [(), NULL])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("clipped", [False, True])
def test_sums_are_those_of_the_rows_one_by_one(
    clipped, fit_intercept, null, n_outputs, dtype, rng, monkeypatch
):
    small_blocks(monkeypatch)
    X = rng.standard_normal((211, 4)) * rng.choice(
        [0.02, 3.0] if clipped else [0.02, 0.1], (211, 1)
    )
    X[11] = 7.0 if clipped else 0.1
    X = X.astype(dtype)
    rows, full = certified(X, fit_intercept, null)
    assert (rows.scale < 1.0).any() == clipped
    Y, loss = labelled(rng, 211, n_outputs)
    p = full.shape[1]
    A, w = mapping(rng, p), rng.standard_normal((p, n_outputs))
    moment, slopes = np.zeros((p, p)), np.zeros((p, n_outputs))
    for i, z in enumerate(full):
        moment += np.outer(z, z)
        c = loss.gradient(Y[i], (A @ z) @ w)
        length = np.linalg.norm(A @ z) * np.linalg.norm(c)
        slopes += np.outer(A @ z, c) * min(1.0, 0.7 / max(length, 1e-300))
    with CertifiedRows(rows, Y, loss).at_work() as sums:
        found = sums.ask(SecondMoment(NO_NOISE))
        sums.bound_slopes(A, 0.7)
        steps = sums.ask(SumOfSlopes(w, NO_NOISE))
    np.testing.assert_allclose(found, as_vector(moment), rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(steps, slopes, rtol=1e-10, atol=1e-11 * np.abs(slopes).max())


def test_without_a_bound_nothing_is_cut_but_null_records(rng):
    X = rng.standard_normal((20, 3))
    with null_records([4]):
        rows = clip_rows(X, data_norm=1.0, fit_intercept=True, clip=False, bias=BIAS)
    full = np.column_stack([X, np.full(20, BIAS)])
    full[4] = 0.0
    Y = 1e6 * rng.standard_normal((20, 1))
    with CertifiedRows(rows, Y, LOSSES["squared_error"]).at_work() as sums:
        sums.bound_slopes(np.eye(4), math.inf)
        found = sums.ask(SumOfSlopes(np.ones((4, 1)), NO_NOISE))
    np.testing.assert_allclose(found, full.T @ (full.sum(axis=1, keepdims=True) - Y), rtol=1e-12)


def test_under_a_diagonal_map_each_row_is_cut_to_the_bound(rng):
    A, Y = diags_array([5.0, 1.0, 0.1]), np.full((1, 1), 1e6)
    for row in np.eye(3):
        rows, _ = certified(row[np.newaxis], fit_intercept=False)
        with CertifiedRows(rows, Y, LOSSES["squared_error"]).at_work() as sums:
            sums.bound_slopes(A, 0.7)
            assert np.linalg.norm(sums.ask(SumOfSlopes(np.zeros((3, 1)), NO_NOISE))) <= 0.7 * (
                1 + 1e-12
            )


def test_weights_move_no_moment_beyond_its_bound(rng):
    rows, full = certified(rng.standard_normal((20, 3)))
    weights = rng.choice([0.5, 40.0], 20)
    noisy = GaussianMechanism(1.0 + BIAS**2, 1.0, 10, 20)
    for mechanism, counted in ((noisy, np.minimum(weights, 1.0)), (NO_NOISE, weights)):
        with CertifiedRows(rows, np.ones((20, 1)), None, weights=weights).at_work() as sums:
            found = sums.ask(SecondMoment(mechanism))
        expected = as_vector(full.T @ (counted[:, np.newaxis] * full))
        np.testing.assert_allclose(found, expected, atol=1e-9 + 10.0 * mechanism.grid)


def mapped(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    return np.load(tmp_path / "X.npy", mmap_mode="r")


FORMS = {
    "C": lambda X, _: X,
    "Fortran": lambda X, _: np.asfortranarray(X),
    "float32": lambda X, _: X.astype(np.float32),
    "memory map": mapped,
    "memory map of float32": lambda X, path: mapped(X.astype(np.float32), path),
    "every second": lambda X, _: np.repeat(X, 2, axis=0)[::2],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_threads_are_used_and_change_no_bit(form, n_outputs, rng, tmp_path, monkeypatch):
    small_blocks(monkeypatch)
    monkeypatch.setattr(_blocks, "WORTHWHILE_ENTRIES", 0)
    threads = []

    class Spy(_blocks.ThreadPoolExecutor):
        def __init__(self, n_workers, **options):
            threads.append(n_workers)
            super().__init__(n_workers, **options)

    monkeypatch.setattr(_blocks, "ThreadPoolExecutor", Spy)
    X = rng.standard_normal((1011, 5)) * rng.choice([0.01, 3.0], (1011, 1))
    rows, _ = certified(FORMS[form](X, tmp_path), null=NULL)
    Y, loss = labelled(rng, 1011, n_outputs)
    A, w = mapping(rng, 6), rng.standard_normal((6, n_outputs))
    mechanism = GaussianMechanism(2.0, 1.0, 21, 1011)
    found = set()
    for n_jobs in (None, 1, 2, 3, 64):
        with CertifiedRows(rows, Y, loss, n_jobs).at_work() as sums:
            moment = sums.ask(SecondMoment(mechanism))
            sums.bound_slopes(A, 0.5)
            found.add(pickle.dumps([moment, sums.ask(SumOfSlopes(w, mechanism))]))
    assert len(found) == 1
    assert threads == [2, 2, 2]


def test_one_thread_is_enough_for_little_work(rng, monkeypatch):
    def never(*args, **options):
        raise AssertionError("threads were started")

    monkeypatch.setattr(_blocks, "ThreadPoolExecutor", never)
    rows, _ = certified(rng.standard_normal((1000, 5)))
    Y, loss = labelled(rng, 1000, 1)
    with CertifiedRows(rows, Y, loss, 4).at_work() as sums:
        sums.ask(SecondMoment(NO_NOISE))


def test_groups_add_up_exactly_in_any_order(rng, monkeypatch):
    """Each is on the grid, and so is every sum of some of them, to the last bit."""
    small_blocks(monkeypatch)
    X = rng.standard_normal((1000, 4))
    rows, _ = certified(X)
    Y, loss = labelled(rng, 1000, 1)
    A, w = mapping(rng, 5), rng.standard_normal((5, 1))
    mechanism = GaussianMechanism(1.3, 0.7, 15, 1000)
    totals, parts = [], []

    def in_order(order):
        def add(groups):
            groups = list(groups)
            parts.append(groups)
            return sum(groups[i] for i in order(len(groups)))

        return add

    orders = [range, lambda n: range(n)[::-1], rng.permutation, rng.permutation]
    for order in orders:
        monkeypatch.setattr(_blocks, "sum_in_order", in_order(order))
        with CertifiedRows(rows, Y, loss).at_work() as sums:
            sums.bound_slopes(A, 1.3)
            totals.append((sums.ask(SecondMoment(mechanism)), sums.ask(SumOfSlopes(w, mechanism))))
    for moment, slopes in totals[1:]:
        np.testing.assert_array_equal(moment, totals[0][0])
        np.testing.assert_array_equal(slopes, totals[0][1])
    for group in [group for groups in parts for group in groups if np.size(group) > 1]:
        np.testing.assert_array_equal(group / mechanism.grid, np.rint(group / mechanism.grid))
    for total in totals[0]:
        np.testing.assert_array_equal(mechanism.rounded(total), total)


def test_a_record_changes_the_sum_of_its_group_only(rng, monkeypatch):
    """So that what rounding adds doesn't grow with the number of rows."""
    small_blocks(monkeypatch)
    X = rng.standard_normal((1000, 4))
    Y, loss = labelled(rng, 1000, 1)
    A, w = mapping(rng, 5), rng.standard_normal((5, 1))
    seen = []
    monkeypatch.setattr(
        _blocks, "sum_in_order", lambda groups: seen.append(list(groups)) or sum(seen[-1])
    )
    mechanism = GaussianMechanism(0.7, 1.0, 5, 1000)
    for null in ((), [500]):
        rows, _ = certified(X, null=null)
        with CertifiedRows(rows, Y, loss).at_work() as sums:
            sums.bound_slopes(A, 0.7)
            sums.ask(SumOfSlopes(w, mechanism))
    one, other = seen[1], seen[3]
    assert len(one) == 21
    differ = [i for i in range(21) if not np.array_equal(one[i], other[i])]
    assert differ == [500 // 48]
    assert np.linalg.norm(one[10] - other[10]) <= mechanism.sensitivity


@pytest.mark.parametrize("stretch", [1.0, 1e3, 1e6])
@pytest.mark.parametrize(
    ("n_features", "n_outputs"),
    [(3, 1), (40, 1), pytest.param(150, 4, marks=pytest.mark.long)],
)
def test_rounding_is_within_the_slack(n_features, n_outputs, stretch, rng):
    """Of a group's sum, and of every row's length, against sums in extended precision."""
    if np.finfo(np.longdouble).eps > 2.0**-60:
        pytest.skip("no extended precision")
    size = 8 * block_rows(n_features + 1)
    n_rows = min(size, 12_000)
    X = rng.standard_normal((n_rows, n_features))
    rows, _ = certified(X)
    Y, loss = labelled(rng, n_rows, n_outputs)
    p, bound = n_features + 1, 0.7
    A = mapping(rng, p, stretch)
    w = rng.standard_normal((p, n_outputs))
    seen = []
    with pytest.MonkeyPatch.context() as patch, CertifiedRows(rows, Y, loss).at_work() as sums:
        moment = sums.ask(SecondMoment(NO_NOISE))
        clip = _queries.clip_contributions

        def spy(slopes, lengths, bound, weights):
            seen.append(clip(slopes, lengths, bound, weights).reshape(-1, n_outputs).copy())

        patch.setattr(_queries, "clip_contributions", spy)
        sums.bound_slopes(A, bound)
        total = sums.ask(SumOfSlopes(w, NO_NOISE))
    slopes = np.concatenate(seen).astype(np.longdouble)
    z = np.column_stack(
        [X.astype(np.longdouble) * rows.scale[:, np.newaxis], np.full(n_rows, BIAS)]
    )
    exact = A.astype(np.longdouble) @ (z.T @ slopes)
    slack = rounding_slack(n_rows, p, n_outputs)
    off = float(np.linalg.norm((total - exact).astype(float)))
    # Two sums are compared, and a record may be longer than its bound besides.
    lengths = np.sqrt(((z @ A.astype(np.longdouble)) ** 2).sum(axis=1))
    longest = float((lengths * np.sqrt((slopes**2).sum(axis=1))).max())
    assert 2.0 * off + longest - bound <= slack * stretch * bound
    square = z.T @ z
    off = float(np.linalg.norm(moment - as_vector(square.astype(np.longdouble)).astype(float)))
    longest = float((z**2).sum(axis=1).max())
    assert 2.0 * off + longest - (1.0 + BIAS**2) <= slack * (1.0 + BIAS**2)
    # It is a small number for all that: noise grows by less than one in 10,000.
    assert slack * stretch < 1e-4 or stretch > 1e3


@pytest.mark.parametrize("n_rows", [1, 2, 10**4, 10**9])
def test_the_slack_does_not_grow_with_many_rows(n_rows):
    assert rounding_slack(n_rows, 50, 1) <= rounding_slack(10**5, 50, 1) < 2e-8
    assert rounding_slack(n_rows, 50, 1) > 0.0


LAYOUTS = {
    "C": lambda X: np.ascontiguousarray(X),
    "Fortran": lambda X: np.asfortranarray(X),
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "columns reversed": lambda X: np.ascontiguousarray(X[:, ::-1])[:, ::-1],
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "float32": lambda X: X.astype(np.float32),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_record_changes_the_sum_of_its_own_group_alone(layout, rng, monkeypatch):
    """Whether it is clipped or null decides whether the others' rows are copied, not their sums."""
    monkeypatch.setattr(_blocks, "_BLOCK_BYTES", 8 * 16 * 64)
    X = rng.standard_normal((5 * 8 * 64, 16)) / 8.0
    Y = np.where(rng.random((len(X), 1)) < 0.5, -1.0, 1.0)
    mechanism = GaussianMechanism(1.0, 1.0, 17 * 18 // 2, len(X))
    w = rng.standard_normal((17, 1))
    found = []
    for last in (1.0, 1e3, None):
        changed = X.copy()
        changed[-1] *= last or 1.0
        with null_records([] if last else [-1]):
            rows = clip_rows(
                LAYOUTS[layout](changed), data_norm=2.0, fit_intercept=True, bias=2.0 / 3.0
            )
        groups = []
        monkeypatch.setattr(
            GaussianMechanism,
            "rounded",
            lambda self, value, groups=groups: groups.append(value.copy()) or value,
        )
        with CertifiedRows(rows, Y, LOSSES["log_loss"]).at_work() as sums:
            sums.ask(SecondMoment(mechanism))
            sums.bound_slopes(np.eye(17), 0.5)
            sums.ask(SumOfSlopes(w, mechanism))
        found.append(groups)
    for others in found[1:]:
        same = [np.array_equal(a, b) for a, b in zip(found[0], others, strict=True)]
        assert same == 2 * [True, True, True, True, False]


def test_an_error_in_a_thread_reaches_the_caller(rng, monkeypatch):
    monkeypatch.setattr(_blocks, "WORTHWHILE_ENTRIES", 0)
    monkeypatch.setattr(_blocks, "_BLOCK_BYTES", 8 * 4 * 64)
    X = rng.standard_normal((20 * 8 * 64, 3))
    rows = clip_rows(X, data_norm=1.0, fit_intercept=True)

    def fail(*_):
        raise MemoryError

    sums = CertifiedRows(rows, np.ones((len(X), 1)), LOSSES["log_loss"], n_jobs=2)
    monkeypatch.setattr(_queries, "_add_products", fail)
    with pytest.raises(MemoryError), sums.at_work():
        sums.ask(SecondMoment(GaussianMechanism(math.inf, 0.0, 10, len(X))))
    assert sums._helpers is None


@pytest.mark.long
@pytest.mark.parametrize(
    ("n_features", "n_outputs"), [(40, 1), pytest.param(300, 3, marks=pytest.mark.long)]
)
def test_sums_of_sparse_rows_are_within_the_slack(n_features, n_outputs, rng):
    """Of those of dense rows, in extended precision, with blocks that have other sizes."""
    if np.finfo(np.longdouble).eps > 2.0**-60:
        pytest.skip("no extended precision")
    p, n_rows, bound = n_features + 1, min(6000, 600_000 // n_features), 0.7
    X = rng.standard_normal((n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.1)
    rows, full = certified_sparse(X)
    Y, loss = labelled(rng, n_rows, n_outputs)
    A, w = mapping(rng, p), rng.standard_normal((p, n_outputs))
    with CertifiedRows(rows, Y, loss).at_work() as sums:
        moment = sums.ask(SecondMoment(NO_NOISE))
        sums.bound_slopes(A, bound)
        total = sums.ask(SumOfSlopes(w, NO_NOISE))
    slopes = loss.gradient(squeezed(Y), squeezed(full @ (A @ w))).reshape(n_rows, n_outputs)
    lengths = np.linalg.norm(full @ A, axis=1) * np.linalg.norm(slopes, axis=1)
    slopes *= np.minimum(1.0, bound / np.maximum(lengths, 1e-300))[:, np.newaxis]
    z = full.astype(np.longdouble)
    slack = rounding_slack(n_rows, p, n_outputs)
    off = np.linalg.norm((total - A.astype(np.longdouble) @ (z.T @ slopes)).astype(float))
    assert 2.0 * off <= 30.0 * slack * bound
    off = np.linalg.norm((moment - as_vector(z.T @ z)).astype(float))
    assert 2.0 * off <= slack * (1.0 + BIAS**2)


def certified_sparse(X):
    """Sparse rows for the sums, and the same rows in full."""
    rows = clip_rows(csr_array(X), data_norm=1.0, fit_intercept=True, bias=BIAS)
    norms = np.maximum(np.linalg.norm(X, axis=1), 1.0)
    return rows, np.column_stack([X / norms[:, np.newaxis], np.full(len(X), BIAS)])


def test_slopes_follow_targets_that_move_once_more():
    model = DPPoissonRegressor(ball_budget=0, data_norm=9.0, epsilon=math.inf, fit_intercept=False)
    X, y = np.eye(3), np.array([[1.0], [2.0], [3.0]])
    rows, slopes = MemoryRows(model._method().treatment(model._family()), X, y), []
    with rows.at_work():
        for mean in (1.0, 2.0):
            rows.move_targets(RateUnits(mean))
            rows.bound_slopes(np.eye(3), math.inf)
            slopes.append(rows.ask(SumOfSlopes(np.zeros((3, 1)), NO_NOISE)))
    np.testing.assert_allclose(slopes, [1.0 - y, 1.0 - y / 2.0])


def test_another_bound_on_slopes_is_as_if_it_were_the_first(rng):
    X = rng.standard_normal((60, 4))
    rows, _ = certified_sparse(X)
    Y, loss = labelled(rng, 60, 1)
    A, query = mapping(rng, 5), SumOfSlopes(rng.standard_normal((5, 1)), NO_NOISE)
    answers = []
    for bounds in ((0.1,), (0.7, 0.1)):
        with CertifiedRows(rows, Y, loss).at_work() as sums:
            sums.bound_slopes(A, bounds[0])
            for bound in bounds[1:]:
                sums.rebound_slopes(bound)
            answers.append(sums.ask(query))
            with pytest.raises(ValueError, match="for the whole of a fit"):
                sums.rebound_slopes(math.inf)
            assert sums.slope_bound == bounds[-1]
            sums.bound_slopes(A, math.inf)
            with pytest.raises(ValueError, match="for the whole of a fit"):
                sums.rebound_slopes(0.1)
    np.testing.assert_array_equal(*answers)
