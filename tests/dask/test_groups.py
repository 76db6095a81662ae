"""Groups of rows in partitions: a fit is that in memory, and no group is in two partitions."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

pytest.importorskip("distributed", reason="needs the extra dask")

import dask.array
import dask.dataframe
from distributed import Client, LocalCluster

from skdp.dask import (
    DaskDPGammaRegressor,
    DaskDPLogisticRegression,
    DaskDPPoissonRegressor,
    DaskDPQuantileRegressor,
    DaskDPRidge,
    DaskDPTweedieRegressor,
)
from skdp.ledger import PrivacyLedger
from tests.door import (
    CountsByColumn,
    CountsOfLengths,
    RawRows,
    SecondMoment,
    SumOfCutRows,
    SumOfSlopes,
    SumOfSquares,
    bins_about,
    blocks_module as _blocks,
    clip_rows,
    fused_module as _fused,
    grouped_rows_module as _group_sums,
    null_records,
    shares_of,
)
from tests.door_dask import (
    CHANGED,
    Beside,
    KeyedDigest,
    PartitionSpec,
    RejectedPartition,
    own_part,
    passes,
    pinned_module as _pinned,
    read_groups,
    read_table,
    reader_of,
)

N, D, SIZE = 1500, 4, 400
SEED = {"random_state": 7}
BINARY = {"classes": [0, 1], "epsilon": 20.0, **SEED}
KINDS = {
    "binary": (DaskDPLogisticRegression, BINARY),
    "five classes": (DaskDPLogisticRegression, {**BINARY, "classes": range(5)}),
    "pairs": (DaskDPLogisticRegression, {"adjacency": "replace_one", **BINARY}),
    "no ball": (DaskDPLogisticRegression, {"ball_budget": 0, "data_norm": 30.0, **BINARY}),
    "no intercept": (DaskDPLogisticRegression, {"fit_intercept": False, **BINARY}),
    "rows per group": (DaskDPLogisticRegression, {"rows_per_group": 9.0, **BINARY}),
    "no noise": (DaskDPLogisticRegression, {**BINARY, "epsilon": float("inf")}),
    "targets learnt": (DaskDPRidge, {"epsilon": 20.0, **SEED}),
    "two targets": (DaskDPRidge, {"target_bounds": (-3.0, 3.0), **SEED}),
    "no moment": (DaskDPRidge, {"moment_budget": 0.0, "target_bounds": (-3.0, 3.0), **SEED}),
    "counts": (DaskDPPoissonRegressor, {"epsilon": 20.0, **SEED}),
    "counts, no noise": (DaskDPPoissonRegressor, {"epsilon": float("inf"), **SEED}),
    "amounts": (DaskDPGammaRegressor, {"epsilon": 20.0, **SEED}),
    "a quantile": (DaskDPQuantileRegressor, {"quantile": 0.8, "epsilon": 20.0, **SEED}),
    "counts, power 1.5": (DaskDPTweedieRegressor, {"power": 1.5, "epsilon": 20.0, **SEED}),
}


@pytest.fixture(scope="module")
def data():
    """Rows of people one after another, as many as 200 of one, and in no order within them."""
    generator = np.random.default_rng(3)
    ids = np.sort(np.minimum(generator.zipf(1.5, N), 400) + generator.integers(0, 300, N))
    ids[:150] = ids[0]
    X = generator.normal(size=(N, D)) + 0.3 * generator.normal(size=(ids.max() + 1, D))[ids]
    scores = X @ generator.normal(size=(D, 2)) + 0.3 * generator.normal(size=(N, 2))
    return X * [1.0, 30.0, 0.1, 5.0] + [3.0, 0.0, 1.0, -20.0], scores, ids


def targets_of(kind, scores):
    estimator = KINDS[kind][0]
    if kind == "five classes":
        return np.digitize(scores[:, 0], [-1.0, -0.3, 0.3, 1.0])
    if estimator is DaskDPLogisticRegression:
        return (scores[:, 0] > 0.0).astype(int)
    if estimator is DaskDPRidge:
        return scores if kind == "two targets" else scores[:, 0]
    return np.floor(np.exp(np.minimum(scores[:, 0], 3.0))) + (kind == "amounts")


def cuts_of(ids, size=SIZE):
    """Return sizes of partitions of about so many rows, none of which cuts through a person."""
    starts = np.flatnonzero(np.diff(ids, prepend=-1))
    wanted = np.searchsorted(starts, np.arange(size, len(ids), size))
    places = np.unique(starts[np.minimum(wanted, len(starts) - 1)])
    return tuple(np.diff(np.concatenate([[0], places, [len(ids)]])).tolist())


def in_parts(X, y, ids, sizes=None, as_kind=np.array):
    sizes = cuts_of(ids) if sizes is None else sizes
    rows = dask.array.from_array(X, chunks=(sizes, -1)).map_blocks(as_kind, dtype=X.dtype)
    others = (dask.array.from_array(a, chunks=(sizes, *a.shape[1:])) for a in (y, ids))
    return rows, *others


def fitted(model, X, y, groups):
    return model.fit(X, y, groups=groups)


def learnt(model):
    found = [model.coef_, model.intercept_]
    if hasattr(model, "radius_"):
        found += [model.center_, model.scale_, model.radius_]
    return np.concatenate([np.ravel(value) for value in found])


@pytest.fixture(scope="module")
def client():
    options = {"threads_per_worker": 2, "dashboard_address": ":0", "processes": False}
    with (
        LocalCluster(n_workers=2, **options) as cluster,
        Client(cluster, set_as_default=False) as made,
    ):
        yield made


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "as_kind"),
    [*((kind, np.array) for kind in KINDS), ("binary", csr_array), ("two targets", np.float32)],
)
def test_parts_give_the_fit_of_one_machine(kind, as_kind, data):
    estimator, parameters = KINDS[kind]
    X, y, ids = data[0], targets_of(kind, data[1]), data[2]
    if as_kind is np.float32:
        X, as_kind = X.astype(np.float32), np.array
    model = fitted(estimator(**parameters), *in_parts(X, y, ids, as_kind=as_kind))
    local = fitted(estimator._local(**parameters), X, y, ids)
    np.testing.assert_allclose(learnt(model), learnt(local), rtol=2e-6, atol=1e-6)
    report, expected = model.privacy_report_, local.privacy_report_
    assert (report.events, report.unit) == (expected.events, "one group")
    assert model.n_iter_ == local.n_iter_
    assert set(expected.not_covered) <= set(report.not_covered)


def frame_of(data):
    frame = pd.DataFrame(data[0], columns=list("abcd")).assign(y=data[1][:, 0])
    return frame.assign(person=[f"person {one}" for one in data[2]])


def fitted_frames(model, parts, y=None, groups=None):
    y, groups = (parts if other is None else other for other in (y, groups))
    return model.fit(parts[list("abcd")], y["y"], groups=groups["person"])


# Of Dask, which tells pandas to.
@pytest.mark.long
@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_frames_with_words_for_ids(data, tmp_path):
    frame = dask.dataframe.from_pandas(frame_of(data), npartitions=3, sort=False)
    frame.shuffle(on="person").to_parquet(tmp_path)
    parts = dask.dataframe.read_parquet(tmp_path)
    assert parts.npartitions > 1
    model = DaskDPRidge(compute_chunk_sizes=True, epsilon=4.0, **SEED)
    fitted_frames(model, parts)
    local = fitted_frames(DaskDPRidge._local(epsilon=4.0, **SEED), parts.compute())
    np.testing.assert_allclose(learnt(model), learnt(local), rtol=2e-6, atol=1e-6)
    assert model.privacy_report_.unit == "one group"


@pytest.mark.long
@pytest.mark.parametrize("which", ["y", "groups"])
def test_parts_in_another_order_are_refused(which, data):
    """Rows would be another person's, or have another's target."""
    frame = frame_of(data)
    parts, other = (
        dask.dataframe.from_pandas(one, npartitions=1, sort=False) for one in (frame, frame[::-1])
    )
    model = DaskDPRidge(compute_chunk_sizes=True, epsilon=4.0, **SEED)
    with pytest.raises(ValueError, match="their indexes differ"):
        fitted_frames(model, parts, **{which: other})
    fitted_frames(model, other)


@pytest.mark.long
def test_targets_in_another_order_are_refused_without_groups_too(data, tmp_path):
    """As shuffles of X and y may return them: a record would be in two rows."""
    ledger = PrivacyLedger(tmp_path / "one.db", epsilon=9.0, delta=1e-2, allow_seeds=True)
    parts, other = (
        dask.dataframe.from_pandas(one, npartitions=1, sort=False)
        for one in (frame_of(data), frame_of(data)[::-1])
    )
    model = DaskDPRidge(compute_chunk_sizes=True, epsilon=4.0, ledger=ledger, **SEED)
    with pytest.raises(ValueError, match="their indexes differ"):
        model.fit(parts[list("abcd")], other["y"])
    assert len(ledger.to_frame()) == 0
    model.fit(other[list("abcd")], other["y"])


def cut_through(ids):
    """Return sizes of which one cuts through a person, and only one."""
    sizes = list(cuts_of(ids))
    starts = np.flatnonzero(np.diff(ids, prepend=-1))
    long = starts[np.flatnonzero(np.diff(starts, append=len(ids)) > 2)]
    place = long[long > sum(sizes[:2])][0] + 1
    inside = np.searchsorted(np.cumsum(sizes), place)
    before = place - sum(sizes[:inside])
    return (*sizes[:inside], before, sizes[inside] - before, *sizes[inside + 1 :])


def refuse(told, X, y, ids, tmp_path, model=None, **how):
    ledger = PrivacyLedger(
        tmp_path / "one.db", epsilon=9.0, delta=1e-2, allow_seeds=True, unit="one group"
    )
    model = DaskDPRidge(ledger=ledger, target_bounds=(-3.0, 3.0), **SEED, **how)
    with pytest.raises((TypeError, ValueError), match=told) as raised:
        fitted(model, X, y, ids)
    assert not re.search(r"\d{2}", str(raised.value).replace("_", ""))
    assert len(ledger.to_frame()) == 0
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("where", ["here", "cluster"])
@pytest.mark.parametrize(
    "as_ids", [np.array, lambda ids: ids.astype(str), lambda ids: ids.astype("M8[s]"), np.float64]
)
def test_a_person_in_two_partitions_is_refused_before_anything_is_charged(
    as_ids, where, data, tmp_path, request
):
    X, y, ids = data[0], data[1][:, 0], as_ids(data[2])
    how = {"client": request.getfixturevalue("client")} if where == "cluster" else {}
    refuse("rows in two partitions", *in_parts(X, y, ids, cut_through(data[2])), tmp_path, **how)


def of_part(change):
    """Return a change of the ids of all partitions but the first."""

    def changed(ids, block_info=None):
        return ids if block_info[0]["chunk-location"] == (0,) else change(ids)

    return changed


@pytest.mark.parametrize(
    "change",
    [
        lambda ids: ids.astype(float),
        lambda ids: ids.astype(str),
        lambda ids: ids.astype("M8[s]"),
        lambda ids: ids.astype(str).astype("S"),
    ],
)
def test_ids_of_two_types_are_refused(change, data, tmp_path):
    """Whether they are equal nobody could tell: 7 is 7.0, and is it the word?"""
    X, y, ids = in_parts(data[0], data[1][:, 0], data[2])
    refuse("of one type", X, y, ids.map_blocks(of_part(change), dtype=int), tmp_path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda ids: np.array([*ids[1:].tolist(), "x"], dtype=object), "of one type"),
        (lambda ids: np.array([*ids[1:].tolist(), True], dtype=object), "of one type"),
        (lambda ids: np.array([(one, 1) for one in ids.tolist()] + [0], object)[:-1], "one type"),
        (lambda ids: np.array([*ids[1:].tolist(), None], dtype=object), "missing"),
        (lambda ids: np.where(ids == ids.max(), np.nan, ids), "missing"),
        (lambda ids: np.array([[one] for one in ids.tolist()] + [0], object)[:-1], "hashable"),
        (lambda ids: np.c_[ids, ids], "one dimension"),
        (lambda ids: ids[1:], "one id for each row"),
    ],
)
def test_ids_that_tell_no_group_are_refused(change, told, data, tmp_path):
    X, y, ids = in_parts(data[0], data[1][:, 0], data[2])
    changed = ids.map_blocks(of_part(change), dtype=int, meta=np.empty(0, dtype=int))
    refuse(told, X, y, changed, tmp_path)


def test_collections_of_groups_that_do_not_fit_are_refused(data, tmp_path):
    X, y, ids = in_parts(data[0], data[1][:, 0], data[2])
    refuse("groups have other numbers", X, y, ids.rechunk(500), tmp_path)
    refuse("one dimension", X, y, X, tmp_path)
    refuse("groups must be a Dask", X, y, data[2], tmp_path)
    refuse("inference=True takes", X, y, ids, tmp_path, inference=True)


KEY = b"sixteen bytes..."


def hashes_of(ids, key=KEY):
    return read_groups(ids, len(ids), key)


@pytest.mark.parametrize(
    "alike",
    [
        (np.array([3, 1, 3]), np.array([3, 1, 3], np.int8), np.array([3, 1, 3], object)),
        (np.array([0.0, 2.5]), np.array([-0.0, 2.5]), np.array([0.0, 2.5], np.float32)),
        (np.array(["ä", "b"]), np.array(["ä", "b"], object), pd.Series(["ä", "b"], dtype="string")),
        (pd.Series(["x", "y", "x"]), pd.Series(["x", "y", "x"], dtype="category")),
        (np.array(["2020", "2021"], "M8[s]"), np.array(["2020", "2021"], "M8[s]").astype(">M8[s]")),
    ],
)
def test_equal_ids_have_equal_hashes_whatever_holds_them(alike):
    first, *others = map(hashes_of, alike)
    assert len(first.hashes) == len(set(np.asarray(alike[0]).tolist()))
    for other in others:
        by_id = [
            dict(zip(np.asarray(a).tolist(), f.hashes[f.codes].tolist(), strict=True))
            for a, f in ((alike[0], first), (alike[0], other))
        ]
        assert by_id[0] == by_id[1]
    assert hashes_of(alike[0], b"another").hashes.tolist() != first.hashes.tolist()


def test_other_ids_have_other_hashes():
    ids = np.array([f"{number:x}" for number in range(20_000)] + ["\udc80"])
    assert len(set(hashes_of(ids).hashes.tolist())) == len(ids)


def kept_of(X, y, ids, compiled=False):
    model = DaskDPRidge(target_bounds=(-3.0, 3.0))
    reader = reader_of(model)
    stated = PartitionSpec(*X.shape, None, None, None, compiled)
    return own_part(reader, stated, KeyedDigest(KEY), X, Beside(y, ids))[1]


def test_the_digest_of_a_part_is_of_its_groups_too(data):
    X, y, ids = data[0], data[1][:, 0], data[2]
    first = kept_of(X, y, ids)
    assert first.digest == kept_of(X, y, ids.copy()).digest
    moved = ids.copy()
    moved[-1] = ids[0]
    # The same rows are together, but they are another's.
    for others in (moved, ids + 1, ids[::-1]):
        assert kept_of(X, y, others).digest != first.digest
    assert isinstance(kept_of(X, y, ids[1:]), RejectedPartition)


def test_no_number_of_rows_changes_who_computes_the_lengths_of_others(data, monkeypatch):
    """How many there are is private, and compiled lengths have other last bits."""
    pytest.importorskip("numba")
    monkeypatch.setattr(_fused, "WORTHWHILE_ENTRIES", 0)
    X, y, ids = data[0], data[1][:, 0], data[2]
    plain, asked = (kept_of(X, y, ids, compiled=told) for told in (False, True))
    np.testing.assert_array_equal(plain.norm, asked.norm)
    assert not asked.compiled


@pytest.mark.long
def test_groups_that_change_while_they_are_loaded_are_refused(data, client, monkeypatch):
    X, y, ids = data[0], data[1][:, 0], data[2].copy()
    sent = _pinned.PinnedRows._load

    def of_now(block):
        return ids[block[0] : block[-1] + 1].copy()

    def then_written(self, *args, **how):
        made = sent(self, *args, **how)
        ids[-1] = ids[0]
        return made

    monkeypatch.setattr(_pinned.PinnedRows, "_load", then_written)
    places = dask.array.arange(N, chunks=(cuts_of(data[2]),)).map_blocks(of_now, dtype=int)
    rows, targets, _ = in_parts(X, y, ids)
    with pytest.raises(ValueError, match=CHANGED[:40]):
        fitted(DaskDPRidge(client=client, target_bounds=(-3.0, 3.0), **SEED), rows, targets, places)


def sums_in_parts(X, y, ids, model, A, w, mechanisms, largest):
    """Return the sums that a fit asks of parts."""
    reader = reader_of(model)
    bins, centre, unit = bins_about(1.0), np.full(D, 0.3), np.ones(D)
    counts, moved, moment, slopes = mechanisms
    with passes(read_table(*in_parts(X, y, ids)), reader) as sums:
        yield sums.ask(CountsOfLengths(bins, centre, unit, counts))
        yield sums.ask(CountsByColumn(bins, centre, unit, counts))
        yield sums.ask(SumOfCutRows(centre, unit, 2.0, moved))
        yield sums.ask(SumOfSquares(centre, unit, 2.0, moved))
        sums.place(None)
        yield sums.ask(SecondMoment(moment, largest))
        sums.bound_slopes(A, 0.1)
        yield sums.ask(SumOfSlopes(w, slopes))


def sums_in_memory(X, y, ids, model, A, w, mechanisms, largest):
    codes = np.unique(ids, return_inverse=True)[1]
    bins, centre, unit = bins_about(1.0), np.full(D, 0.3), np.ones(D)
    counts, moved, moment, slopes = mechanisms
    with RawRows(X, np.zeros(len(X), bool), shares=shares_of(codes)).at_work() as sums:
        yield sums.ask(CountsOfLengths(bins, centre, unit, counts))
        yield sums.ask(CountsByColumn(bins, centre, unit, counts))
        yield sums.ask(SumOfCutRows(centre, unit, 2.0, moved))
        yield sums.ask(SumOfSquares(centre, unit, 2.0, moved))
    rows = clip_rows(X, data_norm=1.5, fit_intercept=True)
    with (
        model._method()
        .treatment(model._family())
        .answering(rows, np.where(y, 1.0, -1.0)[:, np.newaxis], 1, codes=codes)
        .at_work() as sums
    ):
        yield sums.ask(SecondMoment(moment, largest))
        sums.bound_slopes(A, 0.1)
        yield sums.ask(SumOfSlopes(w, slopes))


@pytest.fixture
def asked():
    """Give a model, a map, weights, and a plan's mechanisms for counts, means, moment, slopes."""

    def of(n_people, adjacency="zero_out"):
        options = {"adjacency": adjacency, "data_norm": 1.5, **BINARY}
        model = DaskDPLogisticRegression(**options)
        plan = model._plan(n_people, D, 1, by_group=True)
        generator = np.random.default_rng(0)
        A, w = np.diag(generator.uniform(0.5, 2.0, D + 1)), generator.normal(size=(D + 1, 1))
        ball, size = plan.ball, D + 1
        largest = 2.0 * (1.5**2 + 0.5**2)
        moment = plan.moment.bounded(plan.moment.bound * largest / plan.problem.row_norm**2)
        releases = ball.scales, ball.recentre.bounded(2.0), moment
        step = plan.steps.split(5).bounded(0.1, stretch=4.0)
        assert step.mechanism.size == size
        return model, A, w, (*releases, step), largest

    return of


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(_group_sums, "block_rows", lambda _: 64)
    monkeypatch.setattr(_blocks, "_BLOCK_BYTES", 0)


def test_sums_over_parts_are_those_of_all_groups_to_the_last_bit(data, asked, small_blocks):
    """But for the moment, of which those of parts are rounded."""
    X, y, ids = 0.1 * data[0], data[1][:, 0] > 0.0, data[2]
    model, A, w, releases, largest = asked(len(np.unique(ids)))
    mechanisms = [release.mechanism for release in releases]
    how = X, y.astype(int), ids, model, A, w, mechanisms, largest
    found, expected = list(sums_in_parts(*how)), list(sums_in_memory(*how))
    for place in (0, 1, 2, 3, 5):
        np.testing.assert_array_equal(found[place], expected[place])
    most = mechanisms[2].grid * len(cuts_of(ids))
    np.testing.assert_allclose(found[4], expected[4], rtol=0.0, atol=most)
    assert np.array_equal(found[4], mechanisms[2].rounded(found[4]))


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_a_person_moves_sums_by_their_bounds(adjacency, data, asked, small_blocks):
    """Whatever rows they have, and however many: the rows of others then lie elsewhere."""
    X, y, ids = 0.1 * data[0], (data[1][:, 0] > 0.0).astype(int), data[2]
    model, A, w, releases, largest = asked(len(np.unique(ids)), adjacency)
    mechanisms = [release.mechanism for release in releases]
    person = ids[700]
    generator, seen = np.random.default_rng(1), []
    mine, place = ids == person, np.flatnonzero(ids == person)[0]
    for n_rows, length in ((1, 0.0), (1, 1e3), (3, 1e300), (400, 1e2), (40, 0.1)):
        rows = length * generator.choice([-1.0, 1.0], (1, D)) * np.ones((n_rows, 1))
        tables = (X, rows), (y, np.full(n_rows, len(seen) % 2)), (ids, np.full(n_rows, person))
        table = (np.insert(old[~mine], place, new, axis=0) for old, new in tables)
        seen.append(list(sums_in_parts(*table, model, A, w, mechanisms, largest)))
    null = list(_null_of(X, y, ids, mine, model, A, w, mechanisms, largest))
    of_sums = [releases[0]] * 2 + [releases[1]] * 2 + [*releases[2:]]
    for place, release in enumerate(of_sums):
        values, others = [found[place] for found in seen], [null[place]]
        limit = release.mechanism.sensitivity
        if adjacency == "replace_one":
            others, limit = values, limit * (1.0 if release.pairwise else 2.0)
        moves = [np.linalg.norm(one - other) for one in values for other in others]
        # Squares, and counts in any bins, aren't all as far apart as they could be.
        assert (0.3 if place in (0, 1, 3) else 0.6) * limit < max(moves) <= limit
        for value in values:
            assert np.array_equal(value, release.mechanism.rounded(value))


def _null_of(X, y, ids, mine, *how):
    with null_records(np.flatnonzero(mine)) as asked:
        yield from sums_in_parts(X, y, ids, *how)
    assert asked.consulted
