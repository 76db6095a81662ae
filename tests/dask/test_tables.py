"""Raw tables in partitions: what vectorizers and additive models learn is as in memory."""

import math
from datetime import date, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from tests._runs import NO_NOISE
from tests.door import CountsByBin, CountsByWord

pytest.importorskip("distributed", reason="needs the extra dask")

import dask.array
import dask.dataframe

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from skdp.dask import DaskDPAdditiveClassifier, DaskDPAdditiveRegressor, fit, transform
from skdp.ledger import PrivacyLedger
from skdp.preprocessing import DPTableVectorizer, NormClipper
from tests.door import Basis, Frame, Words, additive_tuned, fused_module, null_records
from tests.door_dask import (
    CHANGED,
    KeyedDigest,
    PartitionSpec,
    RawTable,
    TableReader,
    own_part,
    partitioned_module as _sums,
    pinned_module as _pinned,
)
from tests.statistical._transcripts import recorded_releases

N, SIZE = 4000, 900
INF = float("inf")
BOUNDS, KNOTS = {"feature_bounds": {"age": (0, 100)}}, {"knots": {"pay": [0, 1e3, 1e4]}}
TABLES = {
    "learnt": {},
    "pairs of records": {"adjacency": "replace_one"},
    "given": {**BOUNDS, **KNOTS, "categories": {"job": ["cook", "nurse"]}},
    "lines": {"basis": "linear"},
    "words of numbers": {"categorical_features": ["rooms"]},
    "no noise": {"epsilon": INF},
}
CLASSES = {"classes": ["ill", "well"]}
MODELS = {
    "binary": (DPAdditiveClassifier, CLASSES),
    "pairs of records": (DPAdditiveClassifier, {"adjacency": "replace_one", **CLASSES}),
    "three classes": (DPAdditiveClassifier, {"classes": [0, 1, 2]}),
    "given": (DPAdditiveClassifier, {**BOUNDS, **KNOTS, **CLASSES}),
    "pairs": (DPAdditiveRegressor, {"interactions": [("age", "job")]}),
    "products": (DPAdditiveRegressor, {"interactions": "auto", "epsilon": 20.0}),
    "rising": (DPAdditiveRegressor, {"monotonic_cst": {"age": 1}}),
    "two targets": (DPAdditiveRegressor, {}),
    "counts": (DPAdditiveRegressor, {"loss": "poisson"}),
    "amounts": (DPAdditiveRegressor, {"loss": "gamma"}),
    "no noise": (DPAdditiveRegressor, {"epsilon": INF}),
}
# What the short tier has of them, and whether in groups.
SHORT = {
    ("binary", True),
    ("three classes", False),
    ("pairs", False),
    ("products", True),
    ("counts", False),
}
TWINS = {
    DPAdditiveClassifier: DaskDPAdditiveClassifier,
    DPAdditiveRegressor: DaskDPAdditiveRegressor,
}
COLUMNS = ["age", "pay", "job", "smokes", "rooms"]
# Where copies lie: what fits into memory, and what of memory or temporary files rows may take.
PLACES = {"memory": (2**27, 0.5), "file": (0, 0.5), "nowhere": (0, 0.0)}


@pytest.fixture(scope="module")
def table():
    """Columns with gaps, a spike and rare words; and people, in order, of one to 60 rows."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.integers(18, 90, N).astype(float)})
    frame["pay"] = np.where(rng.random(N) < 0.4, 0.0, rng.lognormal(8.0, 1.0, N))
    frame["job"] = rng.choice(["cook", "nurse", "clerk", "nan"], N, p=[0.5, 0.3, 0.19, 0.01])
    frame["smokes"] = rng.random(N) < 0.3
    frame["rooms"] = rng.integers(1, 4, N)
    frame.loc[rng.random(N) < 0.2, "age"] = np.nan
    frame.loc[rng.random(N) < 0.2, "job"] = None
    score = 0.03 * (frame.age.fillna(50.0) - 50.0) + (frame.job == "nurse") + rng.normal(size=N)
    frame["score"] = score
    frame["person"] = np.sort(rng.integers(0, 60, N) * rng.integers(1, 20, N))
    return frame


def targets_of(kind, frame):
    score = frame.score
    if kind == "three classes":
        return np.digitize(score, [-0.5, 0.8])
    if MODELS[kind][0] is DPAdditiveClassifier:
        return np.where(score > 0.5, "ill", "well")
    if kind == "two targets":
        return np.stack([score, -score], axis=1)
    if kind in ("counts", "amounts"):
        return np.floor(np.exp(np.minimum(score, 4.0))) + (kind == "amounts")
    return score.to_numpy()


def cuts_of(table):
    """Return rows at which no person is cut."""
    return np.searchsorted(table.person, [100, 300, 301, 600])


def in_parts(frame, divisions=None):
    """Return a collection of a frame's rows, cut at given rows or every so many."""
    stops = [*range(SIZE, len(frame), SIZE)] if divisions is None else divisions
    pieces = np.split(np.arange(len(frame)), stops)
    parts = [frame.iloc[piece] for piece in pieces]
    return dask.dataframe.from_delayed([dask.delayed(part) for part in parts], meta=frame.iloc[:0])


def parts_of(frame, y, **how):
    """Return collections of the columns and of targets."""
    y = pd.DataFrame(y, index=frame.index) if y.ndim == 2 else pd.Series(y, frame.index, name="y")
    return in_parts(frame[COLUMNS], **how), in_parts(y, **how)


def twin_of(kind, **others):
    made, how = MODELS[kind]
    given = {**how, "random_state": 7, "epsilon": how.get("epsilon", 20.0)}
    return made(**given), TWINS[made](**given, compute_chunk_sizes=True, **others)


def put(monkeypatch, place):
    most, share = PLACES[place]
    monkeypatch.setattr(_sums, "_memory_for_rows", lambda: most)
    monkeypatch.setattr(_sums, "_SHARE", share)
    monkeypatch.setattr(_pinned, "_SHARE", share)


def assert_same_columns(found, expected):
    assert list(found.get_feature_names_out()) == list(expected.get_feature_names_out())
    for name in ("knots_", "categories_"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        assert list(ours) == list(theirs)
        for column in ours:
            # NaN in an array of objects equals none.
            assert ours[column].astype(str).tolist() == theirs[column].astype(str).tolist()


@pytest.mark.long
@pytest.mark.parametrize("kind", TABLES)
def test_vectorizers_learn_the_same_to_the_last_bit(kind, table):
    frame = table[COLUMNS]
    made = {name: DPTableVectorizer(random_state=5, **TABLES[kind]) for name in ("here", "parts")}
    with recorded_releases() as expected:
        made["here"].fit(frame)
    rows = in_parts(frame)
    with recorded_releases() as found:
        assert fit(made["parts"], rows, compute_chunk_sizes=True) is made["parts"]
    assert_same_columns(made["parts"], made["here"])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.value, other.value)
    report, of_parts = (made[name].privacy_report_ for name in ("here", "parts"))
    assert (of_parts.events, of_parts.unit) == (report.events, report.unit)
    assert set(report.assumed_public) < set(of_parts.assumed_public)
    assert set(report.not_covered) < set(of_parts.not_covered)
    mapped = transform(made["parts"], rows).compute()
    np.testing.assert_array_equal(mapped, made["here"].transform(frame))


# Entries of all classes, each in a type of its own or as text.
OBJECTS = [1, 2.5, True, "007", "3", "cook", "?", None, np.nan, Decimal("0.5"), date(2024, 1, 31)]
OBJECTS += ["2024-02-29", pd.Timestamp("2024-03-01 06:00"), timedelta(2), "\ud83d", "a\0", " 7 "]


@pytest.fixture(scope="module")
def untyped(table):
    """Columns without types: of numbers, of words, of dates, and of everything."""
    rng = np.random.default_rng(4)
    frame = table[["age", "job", "rooms"]].astype(object)
    frame["age"] = frame.age.where(frame.age.notna(), "?")
    frame["day"] = [date.fromordinal(day) for day in rng.integers(738_000, 738_300, N).tolist()]
    frame["all"] = pd.Series(rng.permutation(np.resize(np.array(OBJECTS, dtype=object), N)))
    frame["all"] = frame["all"].astype(object)
    return frame


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [1.0, INF])
@pytest.mark.parametrize("place", PLACES)
def test_columns_without_types_are_read_as_in_memory(place, epsilon, untyped, monkeypatch):
    put(monkeypatch, place)
    made = {name: DPTableVectorizer(random_state=5, epsilon=epsilon) for name in ("here", "parts")}
    with recorded_releases() as expected:
        made["here"].fit(untyped)
    with dask.config.set({"dataframe.convert-string": False}), recorded_releases() as found:
        fit(made["parts"], in_parts(untyped), compute_chunk_sizes=True)
    assert list(made["here"].categories_) == ["job", "all"]
    assert_same_columns(made["parts"], made["here"])
    for one, other in zip(found, expected, strict=True):
        # Words are counted in the order in which parts have them.
        np.testing.assert_array_equal(np.sort(one.value.ravel()), np.sort(other.value.ravel()))
    report, of_parts = (made[name].privacy_report_ for name in ("here", "parts"))
    assert of_parts.events == report.events
    np.testing.assert_array_equal(made["parts"].transform(untyped), made["here"].transform(untyped))


@pytest.mark.long
@pytest.mark.parametrize("by_group", [False, True])
def test_models_of_columns_without_types_are_those_of_one_machine(by_group, untyped, table):
    here, there = twin_of("binary")
    y = targets_of("binary", table)
    cuts = cuts_of(table) if by_group else None
    with dask.config.set({"dataframe.convert-string": False}):
        X_parts, y_parts = in_parts(untyped, cuts), in_parts(pd.Series(y, name="y"), cuts)
    ids = in_parts(table.person, cuts) if by_group else None
    here.fit(untyped, y, groups=table.person if by_group else None)
    there.fit(X_parts, y_parts, groups=ids)
    np.testing.assert_allclose(there.explain(untyped), here.explain(untyped), atol=1e-6)
    assert there.privacy_report_.events == here.privacy_report_.events
    assert "learnt" in "".join(there.privacy_report_.assumed_public)
    assert "learnt" in "".join(there.to_local()._assumed())


@pytest.mark.long
def test_numbers_far_from_zero_are_counted_alike(table):
    """Their bins of three sizes are those of one machine."""
    frame = pd.DataFrame({"far": 1.6e7 + table["age"], "pay": table["pay"]})
    here, there = (DPTableVectorizer(epsilon=20.0, random_state=5) for _ in range(2))
    fit(there, in_parts(frame), compute_chunk_sizes=True)
    assert_same_columns(there, here.fit(frame))
    assert 1.6e7 < here.knots_["far"].min() < here.knots_["far"].max() < 1.6e7 + 100


@pytest.mark.long
def test_arrays_are_tables_too(table):
    X = table[["age", "pay"]].to_numpy()
    here = DPTableVectorizer(random_state=5).fit(X)
    rows = dask.array.from_array(X, chunks=(SIZE, 1))
    there = fit(DPTableVectorizer(random_state=5), rows)
    assert_same_columns(there, here)
    words = table[["job", "smokes"]].to_numpy()
    rows = dask.array.from_array(words, chunks=(SIZE, 2))
    here = DPTableVectorizer(random_state=5).fit(words)
    assert_same_columns(fit(DPTableVectorizer(random_state=5), rows), here)


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "by_group"),
    [
        pytest.param(kind, by_group, marks=[] if (kind, by_group) in SHORT else pytest.mark.long)
        for kind in MODELS
        for by_group in (False, True)
    ],
)
def test_additive_models_are_those_of_one_machine(kind, by_group, table):
    here, there = twin_of(kind)
    y = targets_of(kind, table)
    cuts = cuts_of(table) if by_group else None
    X_parts, y_parts = parts_of(table, y, divisions=cuts)
    ids = in_parts(table.person, cuts) if by_group else None
    with recorded_releases() as expected:
        here.fit(table[COLUMNS], y, groups=table.person if by_group else None)
    with recorded_releases() as found:
        there.fit(X_parts, y_parts, groups=ids)
    for one, other in zip(found, expected, strict=True):
        steps = 64.0 * other.mechanism.grid
        np.testing.assert_allclose(one.value, other.value, rtol=1e-6, atol=max(steps, 1e-6))
    X = table[COLUMNS]
    assert [term.name for term in there.terms_] == [term.name for term in here.terms_]
    np.testing.assert_allclose(there.explain(X), here.explain(X), atol=1e-6)
    np.testing.assert_allclose(there.intercept_, here.intercept_, atol=1e-6)
    assert there.privacy_report_.events == here.privacy_report_.events
    np.testing.assert_array_equal(there.to_local().predict(X), there.predict(X))
    # By parts BLAS may add up in another order.
    scores = getattr(there, "decision_function", there.predict)
    np.testing.assert_allclose(scores(X_parts).compute(), scores(X), rtol=1e-12, atol=1e-12)
    if kind == "three classes":
        found = there.predict_proba(X_parts).compute()
        np.testing.assert_allclose(found, here.predict_proba(X), atol=1e-6)
        found = there.decision_function(X_parts).compute()
        np.testing.assert_allclose(found, here.decision_function(X), atol=1e-5)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["products", pytest.param("counts", marks=pytest.mark.long)])
def test_rows_of_partitions_are_codes_as_in_memory(kind, table, monkeypatch):
    pytest.importorskip("numba")
    # Each column of the table is foreseen to become several.
    foreseen = additive_tuned.COLUMNS_OF_EACH * len(table) * len(COLUMNS)
    monkeypatch.setattr(fused_module, "WORTHWHILE_ENTRIES", foreseen)
    monkeypatch.setattr(additive_tuned, "SHARE_OF_ENTRIES", 1.0)
    here, there = twin_of(kind)
    y = targets_of(kind, table)
    made, real = [], Basis.coded_rows
    monkeypatch.setattr(Basis, "coded_rows", lambda *args: made.append(args) or real(*args))
    with recorded_releases() as expected, fused_module.sums_compiled(True):
        here.fit(table[COLUMNS], y)
    assert len(made) == 1
    with recorded_releases() as found:
        there.fit(*parts_of(table, y))
    assert len(made) == 1 + math.ceil(N / SIZE)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        steps = 64.0 * other.mechanism.grid
        np.testing.assert_allclose(one.value, other.value, rtol=1e-6, atol=max(steps, 1e-6))
        # Slack for what cancels is in the bounds of both.
        slack = getattr(other.mechanism, "rounding_slack", 0.0)
        assert getattr(one.mechanism, "rounding_slack", 0.0) == pytest.approx(slack, rel=1e-6)
    monkeypatch.setattr(_sums, "_memory_for_rows", lambda: 0)
    again = twin_of(kind)[1].fit(*parts_of(table, y))
    np.testing.assert_array_equal(again.predict(table[COLUMNS]), there.predict(table[COLUMNS]))
    # Rows of people are written out.
    cuts = cuts_of(table)
    there.fit(*parts_of(table, y, divisions=cuts), groups=in_parts(table.person, cuts))
    monkeypatch.setattr(fused_module, "WORTHWHILE_ENTRIES", foreseen + 1)
    twin_of(kind)[1].set_params(epsilon=INF).fit(*parts_of(table, y))
    assert len(made) == 1 + 2 * math.ceil(N / SIZE)


@pytest.mark.long
def test_rows_without_room_are_read_as_at_first(table, monkeypatch):
    """The second fit of a model knows bounds of targets, within which its reader would cut them."""
    frame = table[: SIZE + 100]
    X, y = (
        part[["age", "pay"]] if part.ndim == 2 else part
        for part in parts_of(frame, targets_of("products", frame))
    )
    models = []
    for place in ("memory", "nowhere"):
        put(monkeypatch, place)
        models.append(twin_of("products")[1].fit(X, y))
    assert len(models[0].terms_) == 3
    np.testing.assert_array_equal(*(model.predict(frame[["age", "pay"]]) for model in models))


@pytest.mark.long
def test_empty_partitions_have_no_predictions(table):
    _, model = twin_of("binary")
    X, y = parts_of(table, targets_of("binary", table), divisions=[0, 700, 700])
    model.fit(X, y)
    np.testing.assert_array_equal(model.predict(X).compute(), model.predict(table[COLUMNS]))
    rows = dask.array.from_array(np.eye(8), chunks=(4, -1))
    mapped = transform(NormClipper(data_norm=0.5), rows.map_blocks(csr_array))
    np.testing.assert_array_equal(mapped.blocks[0].compute().toarray(), 0.5 * np.eye(8)[:4])


@pytest.mark.long
@pytest.mark.parametrize("by_group", [False, True])
def test_null_records_are_in_no_count_and_no_sum(by_group, table):
    """Whatever they hold: what is released is to the last bit what it is of other rows."""
    null = [0, 5, SIZE - 1, SIZE, N - 1]
    changed = table.copy()
    changed.loc[null, ["age", "pay"]] = 1e30
    changed.loc[null, "job"] = "spy"
    changed["score"] = changed.score.where(~changed.index.isin(null), 9.0)
    cuts = cuts_of(table)
    released = []
    for frame in (table, changed):
        _, model = twin_of("binary")
        X, y = parts_of(frame, targets_of("binary", frame), divisions=cuts)
        ids = in_parts(frame.person, cuts) if by_group else None
        with null_records(null) as asked, recorded_releases() as found:
            model.fit(X, y, groups=ids)
            if not by_group:
                fit(DPTableVectorizer(random_state=5), X, compute_chunk_sizes=True)
        assert asked.consulted
        released.append(found)
    for one, other in zip(*released, strict=True):
        np.testing.assert_array_equal(one.value, other.value)


@pytest.mark.long
@pytest.mark.parametrize("by_group", [False, True])
def test_a_record_moves_no_release_by_more_than_its_sensitivity(by_group, table):
    """Given all other releases: as one record, a row, or a person with all rows, is left out."""
    _, model = twin_of("binary")
    frame = table.copy()
    frame.loc[[17, SIZE + 3], "age"] = 1e20
    X, y = parts_of(frame, targets_of("binary", table), divisions=(cuts := cuts_of(table)))
    ids = in_parts(table.person, cuts) if by_group else None
    people = [np.flatnonzero(table.person == person) for person in (0, 40)]
    records = people if by_group else [[17], [SIZE + 3], [N - 1]]
    with recorded_releases() as base:
        model.fit(X, y, groups=ids)
    script = [made.released for made in base]
    for record in records:
        with null_records(list(record)), recorded_releases(script) as others:
            model.fit(X, y, groups=ids)
        for before, after in zip(base, others, strict=True):
            moved = np.linalg.norm(np.ravel(after.value - before.value))
            assert moved <= before.mechanism.sensitivity * (1.0 + 1e-9)


def changed(frame, column, entry):
    made = frame.copy()
    made[column] = made[column].astype(object)
    made.at[SIZE + 2, column] = entry
    return made


@pytest.mark.long
@pytest.mark.parametrize(
    ("column", "entry", "message"),
    [
        ("job", {"a": 77}, "entries of type dict"),
        ("job", [77], "entries of type list"),
        ("y", None, "not among the declared classes"),
    ],
)
def test_what_is_refused_is_not_charged_and_not_quoted(column, entry, message, table, tmp_path):
    ledger = PrivacyLedger(tmp_path / "one.db", epsilon=99.0, delta=1e-2, allow_seeds=True)
    _, model = twin_of("binary", ledger=ledger)
    whole = table.assign(y=targets_of("binary", table))
    broken = changed(whole, column, entry)
    meta = whole.iloc[:0]
    parts = [dask.delayed(broken.iloc[:SIZE]), dask.delayed(broken.iloc[SIZE:])]
    with dask.config.set({"dataframe.convert-string": False}):
        rows = dask.dataframe.from_delayed(parts, meta=meta, verify_meta=False)
    with pytest.raises(ValueError, match=message) as refused:
        model.fit(rows[COLUMNS], rows["y"])
    assert "77" not in str(refused.value)
    if column != "y":
        vectorizer = DPTableVectorizer(ledger=ledger)
        with pytest.raises(ValueError, match=message):
            fit(vectorizer, rows[COLUMNS], compute_chunk_sizes=True)
        assert not hasattr(vectorizer, "knots_")
    assert len(ledger.to_frame()) == 0
    assert not hasattr(model, "terms_")


@pytest.mark.long
def test_what_cannot_be_read_is_refused_before_anything_is_read(table):
    X, y = parts_of(table, targets_of("binary", table))
    model = DaskDPAdditiveClassifier(compute_chunk_sizes=True)
    with pytest.raises(ValueError, match="declare the class set"):
        model.fit(X, y)
    model.set_params(**CLASSES)
    with pytest.raises(TypeError, match="X must be a Dask"):
        model.fit(table[COLUMNS], y)
    with pytest.raises(TypeError, match="y must be a Dask"):
        model.fit(X, None)
    complex_numbers = in_parts(table[COLUMNS].assign(age=1j))
    with pytest.raises(ValueError, match="Complex data not supported"):
        model.fit(complex_numbers, y)
    model.set_params(monotonic_cst={"age": 1}, classes=["a", "b", "c"])
    with pytest.raises(ValueError, match="is for two classes"):
        model.fit(X, y)
    with pytest.raises(TypeError, match="class_weight"):
        DaskDPAdditiveClassifier(class_weight="balanced")
    sparse = dask.array.from_array(np.eye(8), chunks=(4, -1)).map_blocks(csr_array)
    with pytest.raises(ValueError, match=r"[Ss]parse data was passed"):
        fit(DPTableVectorizer(), sparse)


def test_tables_of_other_words_are_other_tables(table):
    """Whatever the places of the words: a part that is read again has its digest by both."""
    reads = DPTableVectorizer().fit(table[["age", "job"]])
    stated = PartitionSpec(3, 2, ["age", "job"], None, None)
    seen = set()
    for words in (["a", "b", "a"], ["b", "a", "b"], ["a", "b", "c"], ["nan"] * 3, [None] * 3):
        X = pd.DataFrame({"age": [1.0, 2.0, np.nan], "job": words})
        how = TableReader(reads), stated, KeyedDigest(b"sixteen bytes...")
        digests = {own_part(*how, X, np.zeros(3))[1].digest for _ in range(2)}
        assert len(digests) == 1
        seen |= digests
    assert len(seen) == 5


def test_entries_without_a_type_are_in_the_digest_by_all_that_they_may_be_read_as():
    """A text and a boolean of the same word are one entry; a number and a text of two classes."""
    reads = DPTableVectorizer().fit(pd.DataFrame({"x": ["a", "b"] * 50}))
    reads._kinds = ("untyped",)
    seen = set()
    for entries in (["1", "a"], [1.0, "a"], [True, "a"], ["True", "a"], ["007", "a"], ["?", "a"]):
        X = pd.DataFrame({"x": pd.Series(entries, dtype=object)})
        how = TableReader(reads), PartitionSpec(2, 1, ["x"], None, None), KeyedDigest(b"sixteen..")
        seen.add(own_part(*how, X, np.zeros(2))[1].digest)
    # "1" and 1.0, and True and its text, are the same in all readings.
    assert len(seen) == 4


@pytest.mark.long
def test_words_that_change_are_noticed(table, monkeypatch):
    put(monkeypatch, "nowhere")
    names = {"now": "cook"}

    def renamed(part):
        return part.assign(job=part.job.replace("cook", names["now"]))

    X, y = parts_of(table, targets_of("binary", table))
    X = X.map_partitions(renamed, meta=table[COLUMNS].iloc[:0])
    ask = _sums.PartitionedRows.ask

    def then_changed(self, query):
        if isinstance(query, CountsByBin):
            names["now"] = "chef"
        return ask(self, query)

    monkeypatch.setattr(_sums.PartitionedRows, "ask", then_changed)
    with pytest.raises(ValueError, match=CHANGED[:40]):
        twin_of("binary")[1].fit(X, y)


def test_gaps_are_gaps_after_they_were_sent():
    """A text has another NaN, which no dict finds by identity."""
    entries, raw = RawTable.of(frame_of([np.nan, "nan", "a"]))
    places = raw.frame(entries).ask(CountsByWord([None], 0.0, NO_NOISE, [1]))[0]
    assert places[np.nan] == 1
    assert places["nan"] == 1


def frame_of(words):
    columns = np.array([1.0, 2.0, np.nan]), Words(np.arange(3), tuple(words))
    return Frame(("x", "y"), ("numeric", "word"), (), columns, 3)


# Texts that some way of writing words makes one: code units and the letter that they stand for, a
# null character at the end, two ways to write an accent, a gap and its name, bytes and their text.
ALIKE = [
    ("\U0001f600", "\ud83d\ude00"),
    ("\ud83d", "\ude00"),
    ("a", "a\0"),
    ("\u00e9", "e\u0301"),
    ("\u00e9", "\u00c3\u00a9"),
    ("nan", None),
    ("None", None),
    ("", "\0"),
    ("null", '"null"'),
    ("\\ud83d", "\ud83d"),
    ("1", "1.0"),
    ("true", "True"),
]


@pytest.mark.long
@pytest.mark.parametrize("n_chunks", [1, 4])
def test_a_word_takes_the_count_of_no_other(n_chunks):
    """Words that look alike are counted apart, as in memory, wherever in a column they stand."""

    def counts(first, second, place):
        X = np.array([first] * 99 + ["no"] * 21, dtype=object)[:, np.newaxis]
        X[place] = second
        vectorizer = DPTableVectorizer(epsilon=INF, categorical_features=[0])
        with recorded_releases() as in_memory:
            vectorizer.fit(X)
        with recorded_releases() as in_parts:
            fit(vectorizer, dask.array.from_array(X, chunks=(120 // n_chunks, 1)))
        return [[sorted(one.value.tolist()) for one in made] for made in (in_memory, in_parts)]

    for first, second in ALIKE:
        for place in (0, 98, 119):
            in_memory, in_parts = counts(first, second, place)
            expected = [[1, 20, 99] if place == 119 else [1, 21, 98]]
            assert in_memory == in_parts == expected


def test_words_of_groups_are_the_same_after_they_were_sent():
    words = CountsByWord([None], 0.0, NO_NOISE, [1])
    for known in ALIKE:
        columns = (
            np.ones(4),
            Words(np.array([0, 1, 0, 1]), tuple(np.nan if w is None else w for w in known)),
        )
        frame = Frame(("x", "y"), ("numeric", "word"), (), columns, 4, np.array([0, 1, 2, 2]))
        entries, raw = RawTable.of(frame)
        assert raw.frame(entries, frame.groups).ask(words) == frame.ask(words)
        assert sum(frame.ask(words)[0].values()) == 3


def test_counts_of_one_word_add_up():
    """Whatever made a word of two entries one, the records of neither are lost."""
    columns = (np.ones(3), Words(np.array([0, 1, 1]), ("a", "a")))
    frame = Frame(("x", "y"), ("numeric", "word"), (), columns, 3)
    words = CountsByWord([None], 0.0, NO_NOISE, [1])
    assert frame.ask(words) == [{"a": 3}]
    nans = [{float("nan"): 1, "b": 2}, {float("nan"): 3}]
    assert words.join([[table] for table in nans])[0][np.nan] == 4
    assert words.join([[{float("nan"): 1, float("nan"): 3}]])[0][np.nan] == 4


def test_copies_and_clones_have_all_parameters(table):
    model = DaskDPAdditiveRegressor(loss="poisson", knots=5, client=None, verbose=1)
    assert clone(model).get_params() == model.get_params()
    assert "class_weight" not in DaskDPAdditiveClassifier().get_params()
