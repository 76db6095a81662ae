"""The ball that rows in partitions lie in: it is that of rows in memory, and so is the fit."""

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from tests.door import CountsByColumn, CountsOfLengths, SumOfCutRows

pytest.importorskip("distributed", reason="needs the extra dask")

import dask.array

from skdp.dask import DaskDPLogisticRegression, DaskDPRidge
from tests.door import (
    Ball,
    SecondMoment,
    SumOfSlopes,
    bins_about,
    blocks_module as _blocks,
    null_records,
    rows_in_ball,
)
from tests.door_dask import (
    CHANGED,
    KeyedDigest,
    PartitionSpec,
    _rows,
    answer,
    own_part,
    partitioned_module as _sums,
    passes,
    place_part,
    read_table,
    reader_of,
)

N, D = 3000, 4
CENTRE, SCALE = np.array([3.0, 0.0, 1.0, -20.0]), np.array([1.0, 30.0, 0.1, 5.0])
BINARY = {"classes": [0, 1], "random_state": 7}
RIDGE = {"target_bounds": (-3.0, 3.0), "random_state": 7}
ALL = {"units", "reach", "centre", "distance", "recentre", "scales", "radius"}
# What is bought of the ball, by what is asked for.
KINDS = {
    "all": (DaskDPLogisticRegression, {"epsilon": 4.0, **BINARY}, ALL),
    "pairs": (
        DaskDPLogisticRegression,
        {"epsilon": 8.0, "adjacency": "replace_one", "ball_budget": 0.3, **BINARY},
        ALL,
    ),
    "five classes": (
        DaskDPLogisticRegression,
        {**BINARY, "epsilon": 4.0, "classes": range(5)},
        ALL,
    ),
    "two targets": (DaskDPRidge, {"epsilon": 4.0, **RIDGE}, ALL),
    "a bound": (DaskDPRidge, {"epsilon": 4.0, "data_norm": 90.0, **RIDGE}, ALL),
    "no intercept": (
        DaskDPRidge,
        {"epsilon": 4.0, "fit_intercept": False, **RIDGE},
        {"units", "reach", "scales", "radius"},
    ),
    "targets learnt": (DaskDPRidge, {"epsilon": 4.0, "random_state": 7}, ALL),
    "targets learnt, two": (DaskDPRidge, {"epsilon": 4.0, "random_state": 7}, ALL),
    "a radius alone": (DaskDPRidge, {"epsilon": 0.3, **RIDGE}, {"coarse", "reach"}),
    "nothing": (DaskDPRidge, {"epsilon": 0.01, "data_norm": 40.0, **RIDGE}, None),
    "off": (DaskDPRidge, {"ball_budget": 0, "data_norm": 40.0, **RIDGE}, None),
    "no noise": (DaskDPRidge, {"epsilon": float("inf"), **RIDGE}, {"centre", "squares"}),
}
STAGES = {"coarse", "squares", *ALL}


@pytest.fixture(scope="module")
def data():
    """Rows far from 0 in columns of unlike units, one in ten of them long, and two targets."""
    generator = np.random.default_rng(3)
    X = generator.normal(size=(N, D))
    scores = X @ generator.normal(size=(D, 2)) + 0.3 * generator.normal(size=(N, 2))
    X[::10] *= 8.0
    return X * SCALE + CENTRE, scores


def targets_of(kind, scores):
    if kind == "five classes":
        return np.digitize(scores[:, 0], [-1.0, -0.3, 0.3, 1.0])
    if KINDS[kind][0] is DaskDPLogisticRegression:
        return (scores[:, 0] > 0.0).astype(int)
    return scores if "two" in kind else scores[:, 0]


def in_parts(X, y, size=700, as_kind=np.array):
    rows = dask.array.from_array(X, chunks=(size, -1)).map_blocks(as_kind, dtype=X.dtype)
    return rows, dask.array.from_array(y, chunks=(size, *y.shape[1:]))


def learnt(fitted):
    """Return all that a fit found, one number after another."""
    found = [fitted.coef_, fitted.intercept_]
    if hasattr(fitted, "radius_"):
        found += [fitted.center_, fitted.scale_, fitted.radius_]
    return np.concatenate([np.ravel(value) for value in found])


def assert_alike(one, other):
    np.testing.assert_allclose(learnt(one), learnt(other), rtol=1e-6, atol=1e-7)


def with_zeros(X):
    return X * (X > 0.0)


@pytest.mark.parametrize(
    ("kind", "as_kind", "size"), product(KINDS, [np.array, csr_array, np.float32], [N, 700])
)
def test_parts_give_the_ball_and_the_fit_of_one_machine(kind, as_kind, size, data):
    estimator, parameters, bought = KINDS[kind]
    X, y = data[0], targets_of(kind, data[1])
    if as_kind is csr_array:
        X = with_zeros(X)
    if as_kind is np.float32:
        X, as_kind = X.astype(np.float32), np.array
    model = estimator(**parameters).fit(*in_parts(X, y, size, as_kind))
    local = estimator._local(**parameters).fit(as_kind(X), y)
    assert_alike(model, local)
    if size == N:
        np.testing.assert_array_equal(learnt(model), learnt(local))
    assert model.privacy_report_.events == local.privacy_report_.events
    assert hasattr(model, "radius_") == (bought is not None)
    if kind.startswith("targets learnt"):
        np.testing.assert_allclose(model.target_bounds_, local.target_bounds_, rtol=1e-6)
        np.testing.assert_allclose(model.predict(X), local.predict(X), rtol=1e-6, atol=1e-5)
        assert np.isfinite(model.target_bounds_).all()
    plan = model._plan(N, D, 1).ball
    found = {name for name in STAGES if getattr(plan, name, None) is not None}
    assert found == (bought or set())


@pytest.mark.long
def test_the_model_stays_linear_and_a_fit_without_a_ball_forgets_it(data):
    X, y = data[0], targets_of("all", data[1])
    model = DaskDPLogisticRegression(epsilon=4.0, **BINARY).fit(*in_parts(X, y))
    local = model.to_local()
    assert local.radius_ == model.radius_
    scores = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(local.decision_function(X), scores[:, 0], rtol=1e-9)
    model.set_params(ball_budget=0, data_norm=40.0).fit(*in_parts(X, y))
    assert not any(hasattr(model, name) for name in ("center_", "scale_", "radius_"))
    with pytest.raises(ValueError, match="data_norm=None needs a learnt ball"):
        model.set_params(data_norm=None).fit(*in_parts(X, y))


@pytest.mark.long
def test_parts_of_two_kinds(data):
    X, y = with_zeros(data[0]), data[1][:, 0]
    sparse, labels = in_parts(X, y, 750, csr_array)
    dense = in_parts(X, y, 750)[0]
    mixed = dask.array.concatenate([sparse.blocks[:2], dense.blocks[2:]])
    model = DaskDPRidge(epsilon=4.0, **RIDGE)
    assert_alike(model.fit(mixed, labels), model.to_local().fit(csr_array(X), y))


@pytest.mark.parametrize("as_kind", [np.array, csr_array])
def test_rows_beyond_all_others_add_nothing(as_kind, data):
    X, y = with_zeros(data[0]), data[1][:, 0]
    # The lengths of the last two overflow.
    X[[5, 1005, 2005]] = np.array([1e155, 1e200, -1e308])[:, np.newaxis]
    model = DaskDPRidge(epsilon=4.0, **RIDGE).fit(*in_parts(X, y, as_kind=as_kind))
    assert_alike(model, model.to_local().fit(as_kind(X), y))
    assert model.radius_ * model.scale_.max() < 1e4


@pytest.mark.parametrize("as_kind", [np.array, csr_array])
def test_what_is_kept_of_blocks_is_what_is_kept_of_all_rows(as_kind, data, monkeypatch):
    monkeypatch.setattr(_blocks, "_BLOCK_BYTES", 8 * (D + 1) * 700)
    # No row of the first block is beyond the radius.
    X, y = data[0].copy(), data[1][:, 0]
    X[:700] = CENTRE
    X[2900] = 1e300
    reader, ball = reader_of(DaskDPRidge(**RIDGE)), Ball(CENTRE, SCALE, 3.0)
    stated, null = PartitionSpec(*X.shape, None, None, [3, 701]), np.isin(np.arange(N), [3, 701])
    _, kept = own_part(reader, stated, KeyedDigest(b"sixteen bytes..."), as_kind(X), y)
    placed = place_part(reader, 1, as_kind(X), kept, ball)
    whole = rows_in_ball(as_kind(X), ball, null, fit_intercept=True)
    assert 0 < np.count_nonzero(whole.weight < 1.0) < N
    assert whole.norm[2900] == 0.0
    np.testing.assert_array_equal(placed.weight, whole.weight)
    np.testing.assert_array_equal(placed.norm, whole.norm)
    assert placed.bias == whole.bias
    assert placed.scale is None
    made = _rows(as_kind(X), placed).X
    rows, expected = made[:N], whole.X
    if issparse(rows):
        rows, expected = rows.toarray(), expected.toarray()
    np.testing.assert_array_equal(rows, expected)
    mechanism = DaskDPRidge(**RIDGE)._plan(N, D, 1).moment.mechanism
    with reader.asked(whole, kept.targets, 1).at_work() as sums:
        expected = sums.ask(SecondMoment(mechanism))
    query = SecondMoment(mechanism)
    found = answer(reader, 1, as_kind(X), placed, query, query.view, None)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=2.0 * mechanism.grid)


def sums_of(X, y, model, plan, ball):
    """Return each sum that is released, and its release, for a ball as it is given."""
    releases, bins, followed = plan.ball, bins_about(1.0), plan.following(ball.radius, 1.0, None)
    cut, moment = releases.recentre.bounded(ball.radius), followed.moment
    with passes(read_table(*in_parts(X, y)), reader_of(model)) as sums:
        for query, release, args in (
            (CountsOfLengths, releases.radius, (bins, ball.center, ball.scale)),
            (CountsByColumn, releases.scales, (bins, ball.center, ball.scale)),
            (SumOfCutRows, cut, (ball.center, ball.scale, ball.radius)),
        ):
            yield sums.ask(query(*args, release.mechanism)), release
        sums.place(ball)
        yield sums.ask(SecondMoment(moment.mechanism)), moment
        sums.bound_slopes(np.diag([0.5, 2.0, 1.0, 1.0, 1.0]), 0.1)
        step = followed.steps.split(5).bounded(0.1, stretch=4.0)
        yield sums.ask(SumOfSlopes(np.ones((D + 1, 1)), step.mechanism)), step


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_a_record_moves_sums_by_their_bounds(adjacency, data):
    X, y = data[0].copy(), data[1][:, 0]
    model = DaskDPRidge(epsilon=8.0, adjacency=adjacency, **RIDGE)
    plan, ball = model._plan(N, D, 1), Ball(CENTRE, SCALE, 2.0)
    far = 1e6 * SCALE
    rows = [X[1234].copy(), np.zeros(D), CENTRE + far, CENTRE - far, np.full(D, 1e300)]
    seen = []
    for row in rows:
        X[1234] = row
        seen.append(list(sums_of(X, y, model, plan, ball)))
    with null_records([1234]):
        null = list(sums_of(X, y, model, plan, ball))
    for place, (of_null, release) in enumerate(null):
        values = [found[place][0] for found in seen]
        others, limit = [of_null], release.mechanism.sensitivity
        if adjacency == "replace_one":
            others, limit = values, limit * (1.0 if release.pairwise else 2.0)
        moves = [np.linalg.norm(one - other) for one in values for other in others]
        assert 0.6 * limit < max(moves) <= limit
        for value in values:
            assert np.array_equal(value, release.mechanism.rounded(value))


@pytest.mark.parametrize("when", [CountsOfLengths, SumOfCutRows, "place"])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("has_room", [True, False])
def test_rows_that_are_others_in_one_pass_alone(
    has_room, when, n_jobs, data, tmp_path, monkeypatch
):
    """They are noticed where that pass reads them, and nowhere else."""
    monkeypatch.setattr(_sums, "_memory_for_rows", lambda: 0)
    if not has_room:
        monkeypatch.setattr(_sums, "_SHARE", 0.0)
    path = tmp_path / "rows"
    data[0].tofile(path)
    # Without numpy.load: threads of CPython 3.11 may fail where they parse its header at once.
    file = np.memmap(path, data[0].dtype, "r+", shape=data[0].shape)
    rows = dask.delayed(lambda: np.memmap(path, file.dtype, "r", shape=file.shape), pure=False)()
    X = dask.array.from_delayed(rows, data[0].shape, data[0].dtype)
    y = dask.array.from_array(data[1][:, 0], chunks=N)
    name = when if when == "place" else "ask"
    method = getattr(_sums.PartitionedRows, name)

    def of_others(self, asked):
        file[15] = 1e6 if when == "place" or isinstance(asked, when) else data[0][15]
        try:
            return method(self, asked)
        finally:
            file[15] = data[0][15]

    model = DaskDPRidge(epsilon=4.0, n_jobs=n_jobs, **RIDGE)
    expected = learnt(model.fit(X, y))
    monkeypatch.setattr(_sums.PartitionedRows, name, of_others)
    if has_room:
        np.testing.assert_array_equal(learnt(model.fit(X, y)), expected)
        return
    with pytest.raises(ValueError, match=CHANGED[:40]):
        model.fit(X, y)


def test_a_part_that_is_of_another_kind_later_is_another(data):
    reader, stated = reader_of(DaskDPRidge(**RIDGE)), PartitionSpec(N, D, None, None, None)
    digests = set()
    for as_kind in (np.array, csr_array):
        X = as_kind(data[0])
        digests |= {own_part(reader, stated, KeyedDigest(b"key"), X, data[1][:, 0])[1].digest}
    assert len(digests) == 2
