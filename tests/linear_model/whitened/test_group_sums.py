import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import diags_array

from skdp.linear_model import DPLogisticRegression
from tests.door import (
    LOSSES,
    GaussianMechanism,
    GroupedRows,
    Multinomial,
    SecondMoment,
    SumOfSlopes,
    as_vector,
    blocks_module as _blocks,
    clip_rows,
    cut_parts,
    fused_module,
    group_rounding_slack,
    grouped_rows_module as _group_sums,
    map_by,
    null_records,
    parts_of_groups,
    slope_queries_module as _queries,
)

BIAS = 0.4
ROW = 1.0 + BIAS**2
LONGEST = 2.0 * ROW
BOUND = 0.7
NULL = [3, 11, 200]

# Of as many groups as any of these tests has; sums then lie on no grid.
NO_NOISE = GaussianMechanism(1.0, 0.0, 1, 2**20)


def certified(X, fit_intercept=True, null=()):
    with null_records(null):
        return clip_rows(X, data_norm=1.0, fit_intercept=fit_intercept, bias=BIAS)


def labelled(rng, n_rows, n_outputs):
    if n_outputs == 1:
        return np.sign(rng.standard_normal((n_rows, 1))), LOSSES["log_loss"]
    Y = np.where(np.arange(n_outputs) == rng.integers(0, n_outputs, (n_rows, 1)), 1.0, -1.0)
    return Y, Multinomial(n_outputs)


def mapping(rng, n_columns, stretch=30.0):
    Q = np.linalg.qr(rng.standard_normal((n_columns, n_columns)))[0]
    A = (Q * np.geomspace(1.0, stretch, n_columns)) @ Q.T
    return 0.5 * (A + A.T)


def people(rng, n_rows):
    """Ids of long-tailed groups: many of one row, and one of a third of all rows."""
    ids = rng.zipf(1.6, n_rows)
    ids[rng.random(n_rows) < 0.3] = 0
    return np.unique(ids, return_inverse=True)[1]


def mechanism(size, n_groups, bound=BOUND):
    return GaussianMechanism(bound, 1.0, size, n_groups, group_rounding_slack(n_groups, size, 1))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """So that few rows have several blocks, and a group may be longer than one."""
    monkeypatch.setattr(_group_sums, "block_rows", lambda _: 16)
    monkeypatch.setattr(_group_sums, "_JOB", 2)


def sums_of(rows, Y, loss, codes, n_jobs=None):
    return GroupedRows(rows, Y, loss, n_jobs, codes=codes)


def both(sums, A, w, made):
    with sums.at_work():
        # Without noise there is no grid: whole numbers are seen as they were added.
        moment = sums.ask(SecondMoment(replace(made, noise_multiplier=0.0), LONGEST))
        sums.bound_slopes(A, BOUND)
        return moment, sums.ask(SumOfSlopes(w, made))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("null", [(), NULL])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_sums_are_those_of_the_groups_one_by_one(fit_intercept, null, n_outputs, dtype, rng):
    X = (rng.standard_normal((211, 4)) * rng.choice([0.02, 3.0], (211, 1))).astype(dtype)
    rows, codes = certified(X, fit_intercept, null), people(rng, 211)
    Y, loss = labelled(rng, 211, n_outputs)
    full = rows.augmented(np.arange(211))
    p = full.shape[1]
    A, w = mapping(rng, p), rng.standard_normal((p, n_outputs))
    moment, slopes, n_cut = np.zeros((p, p)), np.zeros((p, n_outputs)), [0, 0]
    for group in range(codes.max() + 1):
        mine = codes == group
        z, y = full[mine], Y[mine]
        trace = max((z**2).sum(), 1e-300)
        moment += z.T @ z * min(1.0, LONGEST / trace)
        c = loss.gradient(
            y[:, 0] if n_outputs == 1 else y, (z @ (A @ w)).reshape(y.shape).squeeze()
        )
        part = A @ z.T @ c.reshape(y.shape)
        length = max(np.linalg.norm(part), 1e-300)
        slopes += part * min(1.0, BOUND / length)
        n_cut[0] += trace > LONGEST
        n_cut[1] += length > BOUND
    assert min(n_cut) > 3
    made = mechanism(p * n_outputs, codes.max() + 1)
    found = both(sums_of(rows, Y, loss, codes), A, w, made)
    np.testing.assert_allclose(found[0], as_vector(moment), atol=1e-4 * len(moment))
    np.testing.assert_allclose(found[1], slopes, atol=made.grid * (codes.max() + 1))


@pytest.mark.parametrize("n_outputs", [1, 4])
@pytest.mark.parametrize("n_features", [1, 2, 7, 30])
def test_a_groups_part_hangs_on_its_own_rows_alone(n_features, n_outputs, rng):
    """Not on how many rows others have or where its own lie, to the last bit.

    So the sum over all is that of fits on each alone, whatever the order, and added in any.
    """
    X = rng.standard_normal((300, n_features)) * rng.choice([0.02, 3.0], (300, 1))
    codes = people(rng, 300)
    n_groups = codes.max() + 1
    Y, loss = labelled(rng, 300, n_outputs)
    p = n_features + 1
    A, w = mapping(rng, p), rng.standard_normal((p, n_outputs))
    made = mechanism(p * n_outputs, n_groups)
    whole = both(sums_of(certified(X), Y, loss, codes), A, w, made)
    total = [0.0, 0.0]
    for group in rng.permutation(n_groups):
        mine = codes == group
        alone = sums_of(certified(X[mine]), Y[mine], loss, np.zeros(mine.sum(), dtype=int))
        for i, part in enumerate(both(alone, A, w, made)):
            total[i] = total[i] + part
    # The moment's whole numbers are rounded once, when they become a vector.
    np.testing.assert_allclose(total[0], whole[0], rtol=1e-13, atol=1e-13 * n_groups)
    np.testing.assert_array_equal(total[1], whole[1])
    order = np.argsort(rng.permutation(n_groups)[codes], kind="stable")
    moved = both(sums_of(certified(X[order]), Y[order], loss, codes[order]), A, w, made)
    for one, other in zip(whole, moved, strict=True):
        np.testing.assert_array_equal(one, other)


def moments_of_long_rows(rng, n_groups, size, monkeypatch):
    """The moment of rows in one column, each of nearly the largest trace, in blocks of a size."""
    monkeypatch.setattr(_group_sums, "block_rows", lambda _: size)
    X = rng.uniform(0.95, 0.99, (n_groups, 1))
    made = replace(mechanism(1, n_groups), noise_multiplier=0.0)
    Y, loss = np.ones((n_groups, 1)), LOSSES["log_loss"]

    def of(order):
        rows = certified(X[order], fit_intercept=False)
        sums = GroupedRows(rows, Y, loss, None, codes=np.arange(n_groups))
        with sums.at_work():
            return sums.ask(SecondMoment(made, 0.9999))[0]

    return X, of


@pytest.mark.long
def test_whole_numbers_of_a_block_add_up_exactly_in_any_order(rng, monkeypatch):
    """Sums beyond 53 bits would be rounded, by the order that BLAS adds in."""
    for _ in range(20):
        _, moment = moments_of_long_rows(rng, 8, 8, monkeypatch)
        assert len({moment(rng.permutation(8)) for _ in range(20)}) == 1


@pytest.mark.long
def test_whole_numbers_of_all_groups_do_not_overflow(rng, monkeypatch):
    X, moment = moments_of_long_rows(rng, 4096, 1, monkeypatch)
    assert moment(np.arange(4096)) == pytest.approx((X**2).sum(), rel=1e-6)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_nor_does_it_before_it_is_rounded(n_outputs, rng, monkeypatch):
    """Where rounding would hide it but once in a million: of large blocks, of many columns."""
    monkeypatch.setattr(_group_sums, "block_rows", lambda _: 512)
    X, codes = rng.standard_normal((2000, 50)), people(rng, 2000)
    Y, loss = labelled(rng, 2000, n_outputs)
    weights = np.ascontiguousarray(rng.standard_normal((n_outputs, 51)))
    sums = sums_of(certified(X), Y, loss, codes)
    A = mapping(rng, 51)
    sums.bound_slopes(A, BOUND)
    for first, last in [block for job in sums.jobs_of_groups() for block in job]:
        whole = parts_of_groups(sums, first, last, weights)
        parts = cut_parts(whole.copy(), BOUND)
        for group in range(first, min(first + 40, last)):
            mine = codes == group
            alone = sums_of(certified(X[mine]), Y[mine], loss, np.zeros(mine.sum(), dtype=int))
            alone.bound_slopes(A, BOUND)
            own = parts_of_groups(alone, 0, 1, weights)
            np.testing.assert_array_equal(own[0], whole[group - first])
            np.testing.assert_array_equal(cut_parts(own, BOUND)[0], parts[group - first])


@pytest.mark.parametrize(("n_columns", "n_outputs"), [(9000, 1), (3000, 3), (4097, 2), (900, 10)])
def test_nor_does_it_in_wide_rows(n_columns, n_outputs, rng):
    """Of more entries than NumPy's buffers have: places of rows in these would show."""
    codes = rng.permutation(np.repeat(np.arange(5), [1, 40, 3, 64, 1]))
    X, Y = rng.standard_normal((109, n_columns)), rng.standard_normal((109, n_outputs))
    loss, A = LOSSES["squared_error"], diags_array(rng.uniform(0.1, 1.0, n_columns))
    weights = rng.standard_normal((n_outputs, n_columns))

    def parts_of(mine):
        chosen = certified(X[mine], fit_intercept=False)
        sums = sums_of(chosen, Y[mine], loss, np.unique(codes[mine], return_inverse=True)[1])
        sums.block_size = 64
        sums.bound_slopes(A, BOUND)
        blocks = [block for job in sums.jobs_of_groups() for block in job]
        made = [parts_of_groups(sums, *block, weights) for block in blocks]
        return np.concatenate(made), cut_parts(np.concatenate(made), BOUND)

    together = parts_of(codes >= 0)
    for group in range(5):
        for own, found in zip(parts_of(codes == group), together, strict=True):
            np.testing.assert_array_equal(own[0], found[group])


@pytest.mark.parametrize("n_outputs", [1, 4])
@pytest.mark.parametrize("n_rows", [1, 15, 17, 1000])
@pytest.mark.parametrize("length", [1e-3, 1.0, 1e6])
def test_no_group_moves_a_sum_beyond_its_bound(length, n_rows, n_outputs, rng):
    """By its rows, which are alike or all kinds, as a null group adds nothing."""
    X = rng.standard_normal((120, 3))
    codes = np.append(people(rng, 120), np.full(n_rows, 0))
    codes = np.unique(codes, return_inverse=True)[1]
    mine = np.flatnonzero(codes == 0)
    A, w = mapping(rng, 4), rng.standard_normal((4, n_outputs))
    made = mechanism(10, codes.max() + 1, bound=BOUND)
    for more in (np.ones((n_rows, 3)), rng.standard_normal((n_rows, 3))):
        Z = np.vstack([X, length * more])
        Y, loss = labelled(rng, len(Z), n_outputs)
        Y[120:] = Y[0]
        used = both(sums_of(certified(Z), Y, loss, codes), A, w, made)
        null = both(sums_of(certified(Z, null=mine), Y, loss, codes), A, w, made)
        slack = 1.0 + made.rounding_slack
        assert np.linalg.norm(used[0] - null[0]) <= LONGEST * slack
        reach = made.grid * math.sqrt(4 * n_outputs) / 2.0
        assert np.linalg.norm(used[1] - null[1]) <= BOUND * slack + reach


def test_the_bounds_are_reached(rng):
    X = np.tile([1.0, 0.0, 0.0], (50, 1))
    rows, Y, loss = certified(X), np.ones((50, 1)), LOSSES["log_loss"]
    made = mechanism(10, 1)
    sums = sums_of(rows, Y, loss, np.zeros(50, dtype=int))
    moment, slopes = both(sums, np.eye(4), np.zeros((4, 1)), made)
    assert np.linalg.norm(moment) == pytest.approx(LONGEST, rel=1e-4)
    assert np.linalg.norm(slopes) == pytest.approx(BOUND, rel=1e-4)


@pytest.mark.long
def test_threads_change_no_bit(rng, monkeypatch):
    monkeypatch.setattr(_blocks, "WORTHWHILE_ENTRIES", 0)
    monkeypatch.setattr(_blocks, "_BLOCK_BYTES", 8 * 64 * 5)
    X, codes = rng.standard_normal((3000, 4)), people(rng, 3000)
    Y, loss = labelled(rng, 3000, 3)
    A, w = mapping(rng, 5), rng.standard_normal((5, 3))
    made = mechanism(15, codes.max() + 1)
    found, workers = set(), set()
    for n_jobs in (None, 2, 3):
        sums = sums_of(certified(X), Y, loss, codes, n_jobs)
        workers.add(sums._n_workers)
        found.add(pickle.dumps([np.ascontiguousarray(part) for part in both(sums, A, w, made)]))
    assert len(found) == 1
    assert workers == {1, 2}


@pytest.mark.parametrize("is_diagonal", [False, True])
@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 1e308])
def test_what_overflows_makes_its_group_void(value, is_diagonal, rng):
    """And no other's."""
    X, codes = rng.standard_normal((60, 3)), np.arange(60) // 3
    Y, loss = rng.uniform(-1, 1, (60, 1)), LOSSES["squared_error"]
    A, w, made = mapping(rng, 4), rng.standard_normal((4, 1)), mechanism(10, 20)
    A = diags_array(A.diagonal()) if is_diagonal else A
    null = both(sums_of(certified(X, null=[3, 4, 5]), Y, loss, codes), A, w, made)[1]
    Y[3] = value
    found = both(sums_of(certified(X), Y, loss, codes), A, w, made)[1]
    if value == 1e308:
        assert np.linalg.norm(found - null) <= BOUND * (1 + 1e-5)
    else:
        np.testing.assert_array_equal(found, null)


@pytest.mark.parametrize("size", [1, 2, 30, 300])
@pytest.mark.parametrize("stretch", [1.0, 1e4])
def test_the_map_of_a_vector_hangs_on_no_other(stretch, size, rng):
    A = mapping(rng, size, stretch) if size > 1 else np.array([[3.7]])
    lengths = 10.0 ** rng.integers(-200, 200, (50, 1))
    vectors = rng.standard_normal((50, size)) * lengths
    mapped = map_by(A)
    found = mapped(vectors)
    off = np.abs(found - vectors @ A).max(axis=1, keepdims=True)
    assert (off <= 1e-13 * size * np.abs(A).max() * lengths).all()
    order = rng.permutation(50)
    np.testing.assert_array_equal(mapped(vectors[order]), found[order])
    for i in range(50):
        np.testing.assert_array_equal(mapped(vectors[i : i + 1])[0], found[i])
        np.testing.assert_array_equal(mapped(vectors[: i + 1]), found[: i + 1])


def whole_moment(X, largest_trace):
    """Return the moment of groups of one row."""
    rows, codes = certified(X, fit_intercept=False), np.arange(len(X))
    made = GroupedRows(rows, np.ones((len(X), 1)), None, codes=codes)
    with made.at_work():
        return made.ask(SecondMoment(NO_NOISE, largest_trace))


def test_moments_of_rows_that_fill_their_bound_add_up_exactly(rng, monkeypatch):
    """As no order of them, in one block, tells: its sum is as large as one may be."""
    monkeypatch.setattr(_group_sums, "block_rows", lambda _: 32)
    X = np.column_stack([rng.uniform(0.99, 0.999, 32), rng.uniform(0.0, 0.04, (32, 3))])
    expected = whole_moment(X, 1.0 - 1e-12)
    for _ in range(100):
        np.testing.assert_array_equal(whole_moment(rng.permutation(X), 1.0 - 1e-12), expected)


def test_moments_of_many_groups_fit_into_integers():
    X = np.ones((2**16, 1))
    assert whole_moment(X, 1.0 - 1e-12) == pytest.approx(len(X), rel=1e-5)


def test_traces_of_groups_are_rounded_up(monkeypatch):
    """Their parts may be so coarse that rounding to the nearest would let a group exceed them."""
    monkeypatch.setattr(_queries, "_TRACE_PARTS", 8.0)
    X = np.full((50, 1), math.sqrt(1.4 / 8.0))
    rows = certified(X, fit_intercept=False)
    with GroupedRows(rows, np.ones((50, 1)), None, codes=np.zeros(50, dtype=int)).at_work() as sums:
        assert sums.ask(SecondMoment(NO_NOISE, 1.0))[0] <= 1.0


def test_the_slack_knows_groups_and_no_rows():
    assert group_rounding_slack(10**6, 50, 1) < 1e-8
    assert group_rounding_slack(10**6, 50, 1) > group_rounding_slack(10, 50, 1) > 0.0


@pytest.mark.long
@pytest.mark.parametrize("parameters", [{"ball_budget": 0, "data_norm": 1.0}, {"data_norm": None}])
def test_no_number_of_rows_changes_who_computes_the_lengths_of_others(parameters, monkeypatch, rng):
    """Compiled lengths have other last bits, and from so many entries on sums are compiled."""
    pytest.importorskip("numba")
    ids, seen = np.sort(people(rng, 600)), []
    X, y = rng.standard_normal((600, 5)), rng.integers(0, 2, 600)
    kept = GroupedRows.__init__

    def spied(self, rows, *args, **others):
        seen.append((rows.norm, rows.scale if rows.weight is None else rows.weight))
        kept(self, rows, *args, **others)

    monkeypatch.setattr(GroupedRows, "__init__", spied)
    for most in (0, math.inf):
        monkeypatch.setattr(fused_module, "WORTHWHILE_ENTRIES", most)
        model = DPLogisticRegression(classes=[0, 1], epsilon=9.0, random_state=0, **parameters)
        model.fit(X, y, groups=ids)
    (one, first), (other, second) = seen
    assert (first < 1.0).any()
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(first, second)
