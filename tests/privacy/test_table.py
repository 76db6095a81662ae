"""A raw table on neighbouring data: what a record moves, and what else it may change."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone

from skdp.preprocessing import DPTableVectorizer
from tests.door import WORDS, read_frame, read_specs
from tests.privacy._corners import (
    ENTRIES,
    ENTRIES_FAR_OFF,
    ENTRIES_OF_PEOPLE,
    pairs_of,
)
from tests.privacy._recipes import NUMERIC, VECTORIZERS
from tests.privacy._recorded import record
from tests.privacy.test_fills_and_categories import published

pytestmark = pytest.mark.filterwarnings("ignore::skdp.exceptions.PrivacyWarning")
ADJACENCIES = ("zero_out", "replace_one")
NAN = np.nan
OTHERS = pd.DataFrame({"x": [0.0, 1.5, -3.0, NAN, 1e9], "z": [1.0, 1.0, 2.0, 3.0, 1900.0]})


def with_row(*row):
    """The others and a record, in columns of objects, as one word makes them."""
    return pd.DataFrame([*OTHERS.itertuples(index=False), row], columns=["x", "z"], dtype=object)


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", VECTORIZERS)
def test_no_record_moves_counts_further_than_their_bound_and_some_as_far(name, adjacency):
    """Of numbers, against each other and against none; given the releases all is the same."""
    estimator = clone(VECTORIZERS[name]).set_params(adjacency=adjacency)
    rows = [(entry, 1.0) for entry in ENTRIES] + [(2.0, entry) for entry in ENTRIES]
    base, *rest = record(estimator, with_row(*rows[0]))
    runs = [record(estimator, with_row(*row), script=rest[1]) for row in rows]
    runs.append(record(estimator, with_row(*rows[0]), script=rest[1], null=len(OTHERS)))
    reach = np.zeros(len(rest[0]))
    for (one, values, _, mechanisms), (other, moved, _, _) in pairs_of(runs, adjacency):
        assert published(one) == published(other)
        assert len(values) == len(moved) == reach.size
        distances = [np.linalg.norm(a - b) for a, b in zip(values, moved, strict=True)]
        bounds = [mechanism.contribution_bound for mechanism in mechanisms]
        reach = np.maximum(reach, np.divide(distances, bounds))
    np.testing.assert_allclose(reach, 1.0, rtol=1e-12)
    assert len(base.privacy_report_.events) == reach.size


class OfPeople(DPTableVectorizer):
    """Takes the ids of people from the table's last column."""

    def fit(self, X):
        return super().fit(X.iloc[:, :-1], groups=X.iloc[:, -1])


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_no_person_moves_counts_further_than_their_bound_and_some_as_far(adjacency):
    estimator = OfPeople(adjacency=adjacency, **NUMERIC)
    others = [(*row, j) for j, row in enumerate(OTHERS.itertuples(index=False))]

    def with_person(entries):
        rows = [*others, *((entry, 1.0, 99) for entry in entries)]
        return pd.DataFrame(rows, columns=["x", "z", "person"], dtype=object)

    _, *rest = record(estimator, with_person(ENTRIES_OF_PEOPLE[0]))
    runs = [
        record(estimator, with_person(entries), script=rest[1]) for entries in ENTRIES_OF_PEOPLE
    ]
    runs.append(record(estimator, with_person([0.0]), script=rest[1], null=len(OTHERS)))
    reach = np.zeros(3)
    for (one, values, _, mechanisms), (other, moved, _, _) in pairs_of(runs, adjacency):
        assert published(one) == published(other)
        assert one.privacy_report_.unit == "one group"
        distances = [np.linalg.norm(a - b) for a, b in zip(values, moved, strict=True)]
        bounds = [mechanism.contribution_bound for mechanism in mechanisms]
        reach = np.maximum(reach, np.divide(distances, bounds))
        for value, mechanism in zip(values, mechanisms, strict=True):
            np.testing.assert_array_equal(value, mechanism.rounded(value))
    # Of two people "z" is the same.
    most = {"zero_out": 1.0, "replace_one": math.sqrt(0.5)}[adjacency]
    np.testing.assert_allclose(reach, most, rtol=1e-12)
    assert (reach <= most).all()


# Numbers far from 0 over their width, which are counted in bins of three sizes at last.
FAR = pd.DataFrame({"x": 1.6e7 + np.arange(3000) % 72, "z": np.tile([1.0, NAN, 3.0], 1000)})


@pytest.mark.long
@pytest.mark.parametrize("by_person", [False, True])
@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_no_record_moves_counts_further_where_numbers_are_far_from_zero(adjacency, by_person):
    estimator = DPTableVectorizer(adjacency=adjacency, epsilon=8.0)
    groups = {}
    if by_person:
        estimator = OfPeople(adjacency=adjacency, epsilon=8.0)
        groups = {"person": np.arange(3000)}

    def with_last(entries):
        rows = pd.DataFrame({"x": entries, "z": 1.0})
        table = pd.concat([FAR.iloc[:-1], rows], ignore_index=True)
        persons = np.minimum(np.arange(len(table)), 2999)
        return table.assign(**dict.fromkeys(groups, persons))

    entries = [[entry] for entry in ENTRIES_FAR_OFF]
    entries += [ENTRIES_FAR_OFF[:3], ENTRIES_FAR_OFF[:1] * 3, ENTRIES_FAR_OFF[:7]] * by_person
    base, *rest = record(estimator, with_last(entries[0]))
    assert base.knots_["x"].size > 3
    runs = [record(estimator, with_last(entry), script=rest[1]) for entry in entries]
    runs.append(record(estimator, with_last([0.0]), script=rest[1], null=2999))
    assert [value.size > 2**18 for value in rest[0]] == [False, False, True]
    reach = np.zeros(3)
    for (one, values, _, mechanisms), (other, moved, _, _) in pairs_of(runs, adjacency):
        assert published(one) == published(other)
        distances = [np.linalg.norm(a - b) for a, b in zip(values, moved, strict=True)]
        bounds = [mechanism.contribution_bound for mechanism in mechanisms]
        reach = np.maximum(reach, np.divide(distances, bounds))
        for value, mechanism in zip(values, mechanisms, strict=True):
            np.testing.assert_array_equal(value, mechanism.rounded(value))
    assert (reach <= 1.0 + 1e-12).all()
    assert reach.min() > 0.69


@pytest.mark.long
def test_all_that_is_published_of_numbers_follows_from_releases():
    """Whatever the records are: other tables have the same bins, knots and gaps."""
    others = [
        FAR.assign(x=np.linspace(-3.0, 1e-3, 3000)),
        FAR.assign(z=FAR["x"], x=np.where(np.arange(3000) < 900, NAN, 0.1)),
    ]
    for estimator in (DPTableVectorizer(epsilon=8.0), DPTableVectorizer(epsilon=0.5)):
        fitted, values, script, _ = record(estimator, FAR)
        for table in others:
            other, theirs, _, _ = record(estimator, table, script=script)
            assert [value.size for value in theirs] == [value.size for value in values]
            assert published(other) == published(fitted)


@pytest.mark.parametrize(
    "words", [["b", "a"], ["b", "a", "b", "a"], ["new", "a", "b"], ["b", None]]
)
def test_a_person_has_one_word_a_column_that_their_rows_alone_choose(words):
    """The most frequent, and of several the first by text, whatever others have."""

    def counts(others, words):
        rows = [(word, j) for j, word in enumerate(others)] + [(word, 99) for word in words]
        X = pd.DataFrame(rows, columns=["w", "person"])
        (value,) = record(OfPeople(categorical_features=["w"]), X)[1]
        return value

    first = "a" if "a" in words else "b"
    for others in (["b", "a", "b"], ["a", "b", "b"], ["b", "b", "a"]):
        np.testing.assert_array_equal(counts(others, words), counts(others, [first]))
        np.testing.assert_array_equal(counts(others, words[::-1]), counts(others, [first]))


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_no_record_moves_counts_of_words_further_than_their_bound_and_some_as_far(adjacency):
    estimator = DPTableVectorizer(categorical_features=["w", "v"], adjacency=adjacency)
    words = ["a", "b", 3.5, None]
    others = list(itertools.product(words, words))

    def counts(row, null=None):
        X = pd.DataFrame([*others, row], columns=["w", "v"], dtype=object)
        return record(estimator, X, null=null)

    runs = [counts(row) for row in others] + [counts(others[0], null=len(others))]
    (mechanism,) = runs[0][3]
    reach = [
        np.linalg.norm(one[1][0] - other[1][0]) / mechanism.contribution_bound
        for one, other in pairs_of(runs, adjacency)
    ]
    assert max(reach) == pytest.approx(1.0, rel=1e-12)


def test_a_record_is_in_one_bin_of_each_column_and_nulls_in_none():
    _, values, _, _ = record(VECTORIZERS["learnt"], OTHERS)
    assert [value.sum() for value in values] == [10.0] * 3
    _, values, _, _ = record(VECTORIZERS["learnt"], OTHERS, null=0)
    assert [value.sum() for value in values] == [8.0] * 3


# The same records by all types that one record's entry may give a column.
RECORD = {"x": 1.0, "w": "a"}
LAST = {
    "the only gap among whole numbers": {"x": NAN},
    "a gap of pandas": {"x": pd.NA},
    "the only word among numbers": {"x": "many"},
    "the only fraction": {"x": 0.5},
    "the only gap among words": {"w": None},
    "the only number among words": {"w": 3},
    "a new word": {"w": "new"},
    "a boolean": {"w": True},
    "a long word": {"w": "long" * 99},
    "words that look alike": {"w": "a\u0301"},
}


@pytest.mark.parametrize("name", LAST)
def test_the_only_gap_word_or_value_changes_nothing_else(name):
    """Not shapes, names, kinds or types, given what was released of the others."""

    def answer(value):
        """All histograms alike, and of words those of more than two records in their order."""
        if value.size > 20:
            return np.linspace(0.0, 900.0, value.size)
        return np.where(value > 2, 500.0, 0.9)

    def fit(last):
        rows = [{"x": 1.0, "w": "a"}] * 30 + [{"x": 2.0, "w": "b"}] * 30 + [last]
        frame = pd.DataFrame(rows)
        vectorizer = DPTableVectorizer(numeric_features=["x"], categorical_features=["w"])
        return record(vectorizer, frame, answer=answer)[0]

    usual, unusual = fit(RECORD), fit(RECORD | LAST[name])
    assert published(usual) == published(unusual)
    rows = pd.DataFrame({"x": [1.0, NAN], "w": ["a", None]})
    names = usual.get_feature_names_out().tolist()
    assert names == unusual.get_feature_names_out().tolist()
    np.testing.assert_array_equal(usual.transform(rows), unusual.transform(rows))


def test_words_of_null_records_are_never_published_however_large_the_noise():
    X = pd.DataFrame({"w": ["a"] * 40 + ["secret"]})
    vectorizer = DPTableVectorizer(categorical_features=["w"])
    for null, is_there in ((40, False), (0, True)):
        fitted, *_ = record(vectorizer, X, answer=lambda value: 1000.0 + value, null=null)
        assert (b"secret" in published(fitted)) == is_there


@pytest.mark.parametrize("n_words", [1, 2, 7])
def test_words_of_one_record_stay_below_the_threshold_but_for_the_erasure(n_words):
    vectorizer = DPTableVectorizer(delta=1e-3, epsilon=0.5)
    frame = pd.DataFrame({f"w{j}": pd.Categorical(["a"]) for j in range(n_words)} | {"x": [1.0]})
    frame = read_frame(vectorizer, frame, reset=True)
    plan = vectorizer._table_plan(vectorizer._budget(1), 1, read_specs(frame.names, frame.kinds))
    each = stats.norm.sf((plan.threshold - 1.0) / plan.mechanisms[WORDS].noise_std)
    (erasure,) = [event.probability for event in plan.events if hasattr(event, "probability")]
    assert 0.5 * erasure < 1.0 - (1.0 - each) ** n_words <= erasure


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize(("n_numeric", "n_words"), [(1, 0), (0, 1), (5, 3), (2, 20)])
def test_shares_add_up_to_the_budget(adjacency, n_numeric, n_words):
    """The squared mu of all counts, from what a record moves and their noise."""
    names = [f"c{j}" for j in range(n_numeric + n_words)]
    vectorizer = DPTableVectorizer(adjacency=adjacency, delta=1e-6)
    kinds = ["numeric"] * n_numeric + ["word"] * n_words
    plan = vectorizer._table_plan(vectorizer._budget(1000), 1000, read_specs(names, kinds))
    change = {"zero_out": 1, "replace_one": 2}[adjacency]
    columns = {WORDS: n_words}
    squares = [
        change * columns.get(name, n_numeric) / mechanism.noise_std**2
        for name, mechanism in plan.mechanisms.items()
    ]
    rest = 1e-6 * (1 - 1e-3)
    mu = math.sqrt(sum(squares))
    delta = stats.norm.cdf(mu / 2 - 1 / mu) - math.e * stats.norm.cdf(-mu / 2 - 1 / mu)
    assert 0.99 * rest < delta <= rest * (1 + 1e-6)


@pytest.mark.long
def test_the_noise_is_the_one_reported_and_fresh_for_every_entry():
    """Of 60 unseeded fits; a p-value below 1e-9 is chance in one of a million suites."""
    X = pd.DataFrame({"x": [1.0, 2.0], "w": ["a", "b"]})
    noises = []
    for _ in range(60):
        _, values, released, mechanisms = record(DPTableVectorizer(), X, random_state=None)
        for value, out, mechanism in zip(values, released, mechanisms, strict=True):
            assert mechanism.noise_scale >= mechanism.noise_multiplier * mechanism.sensitivity
            noises.append((out - value) / mechanism.noise_scale)
    first = np.array([noise[:2] for noise in noises])
    assert stats.kstest(np.concatenate(noises), "norm").pvalue > 1e-9
    assert stats.spearmanr(first[:, 0], first[:, 1]).pvalue > 1e-9
    assert stats.spearmanr(first[:-1, 0], first[1:, 0]).pvalue > 1e-9
