"""Words of a description that models take: with gaps and counts, which aren't released again."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel

from skdp.additive import DPAdditiveClassifier
from skdp.plotting import ShapeFunctionDisplay
from skdp.preprocessing import DPOneHotEncoder, DPTableVectorizer
from skdp.statistics import describe

N = 20_000


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"job": rng.choice(["nurse", "clerk", "cook"], N, p=[0.6, 0.3, 0.1])})
    X["grade"] = rng.choice(["a", "b"], N)
    X.loc[rng.random(N) < 0.83, "grade"] = None
    X["smokes"] = rng.random(N) < 0.2
    X["id"] = [f"id{j}" if j % 4 else "none" for j in range(N)]
    X["empty"] = pd.Series([None] * N, dtype=object)
    return X


@pytest.fixture(scope="module")
def handed_on(table):
    found = describe(table, epsilon=2.0, random_state=0)
    before = found.privacy_report_.to_text()
    words = found.categories()
    assert found.privacy_report_.to_text() == before
    return words


@pytest.fixture(scope="module")
def labels(table):
    risk = 0.1 + 0.4 * (table["job"] == "clerk") + 0.2 * table["grade"].isna()
    return (np.random.default_rng(1).random(N) < risk).astype(int)


def shares_of(table, words, name):
    """The shares of words, gaps among them, and of all others."""
    column = table[name].map(lambda x: str(x) if isinstance(x, bool) else x)
    shares = [(column.isna() if w != w else column == w).mean() for w in words]
    return np.append(shares, 1.0 - sum(shares))


@pytest.mark.long
def test_words_and_gaps_are_handed_on_with_their_counts(table, handed_on):
    assert list(handed_on) == list(table)
    assert handed_on["job"] == ["clerk", "cook", "nurse"]
    assert handed_on["grade"][:2] == ["a", "b"]
    assert np.isnan(handed_on["grade"][2])
    assert len(handed_on["empty"]) == 1
    for name, words in handed_on.items():
        found = np.array(words.counts) / N
        np.testing.assert_allclose(found, shares_of(table, words, name), atol=0.01)


@pytest.mark.long
def test_a_model_that_gets_them_knows_shares_and_spends_nothing_on_words(table, handed_on, labels):
    settings = {"classes": [0, 1], "interactions": None, "random_state": 0}
    model = DPAdditiveClassifier(categories=handed_on, **settings)
    model.fit(table, labels)
    plain = DPAdditiveClassifier(
        categories={k: list(v) for k, v in handed_on.items()}, **settings
    ).fit(table, labels)
    assert model.privacy_report_.events == plain.privacy_report_.events
    for term, name in zip(model.terms_, table, strict=True):
        shares = shares_of(table, handed_on[name], name)
        np.testing.assert_allclose(term.weights, shares, atol=0.015)
        assert term.weights @ term.values == pytest.approx(0.0, abs=1e-9)
        assert term.importance == pytest.approx(term.weights @ np.abs(term.values), abs=1e-9)
    # 83 % of the grades are gaps, and not a word that nobody knows.
    gaps = model.terms_[1]
    assert gaps.labels[2] == "grade_missing"
    assert gaps.weights[2] == pytest.approx(0.83, abs=0.02)
    assert gaps.weights[3] == 0.0
    # Words shrink to a mean of theirs that knows the shares: nearly the same model.
    found, expected = (one.decision_function(table) for one in (model, plain))
    np.testing.assert_allclose(found, expected, atol=0.02)


@pytest.mark.long
def test_shares_that_nobody_knows_are_unknown_and_importances_are_finite(table, handed_on, labels):
    X = table[["job", "grade"]].assign(age=np.random.default_rng(2).normal(50.0, 9.0, N))
    given = {"job": list(handed_on["job"]), "grade": list(handed_on["grade"])}
    model = DPAdditiveClassifier(
        classes=[0, 1], categories=given, interactions=[(0, 2), (0, 1)], random_state=0
    ).fit(X, labels)
    is_known = [not np.isnan(term.weights).any() for term in model.terms_]
    assert is_known == [False, False, True, False, False]
    assert ["shares unknown" in repr(term) for term in model.terms_] == [not k for k in is_known]
    assert np.isfinite(model.feature_importances_).all()
    assert np.isfinite(model.intercept_).all()
    rows = model.to_frame()
    assert rows.loc[rows["term"] == "job", "share"].isna().all()
    assert "| unknown |" in model.to_markdown()
    assert "nan" not in model.to_markdown()
    display = ShapeFunctionDisplay.from_estimator(model, [0, 2])
    texts = [[text.get_text() for text in ax.texts] for ax in display.axes_]
    assert [("shares unknown" in of_ax) for of_ax in texts] == [True, False]
    select = SelectFromModel(DPAdditiveClassifier(classes=[0, 1], categories=given))
    assert select.fit(X[["job", "grade"]], labels).transform(X[["job", "grade"]]).shape[0] == N


def test_knots_that_were_given_have_no_shares(labels):
    X = pd.DataFrame({"age": np.random.default_rng(2).normal(50.0, 9.0, N)})
    model = DPAdditiveClassifier(classes=[0, 1], knots={"age": [30, 50, 70]}, random_state=0)
    (term,) = model.fit(X, labels).terms_
    assert np.isnan(term.weights).all()
    assert np.isfinite(term.values).all()


def test_other_transformers_take_them_as_lists(table, handed_on):
    names = ["job", "grade", "smokes"]
    given = {name: handed_on[name] for name in names}
    vectorizer = DPTableVectorizer(categories=given).fit(table[names])
    assert vectorizer.privacy_report_ is None
    assert vectorizer.categories_["grade"].tolist()[:2] == ["a", "b"]
    assert "grade_missing" in vectorizer.get_feature_names_out()
    encoder = DPOneHotEncoder(categories=[handed_on["job"]]).fit(table[["job"]])
    assert encoder.categories_[0].tolist() == handed_on["job"]


def test_counts_follow_copies_and_not_changes(handed_on):
    words = handed_on["grade"]
    model = clone(DPAdditiveClassifier(categories=handed_on))
    for copied in (model.categories["grade"], pickle.loads(pickle.dumps(words))):
        assert copied.counts == words.counts
    for change in (
        lambda one: one.append("c"),
        lambda one: one.reverse(),
        lambda one: one.pop(),
        lambda one: one.__setitem__(0, "c"),
    ):
        copied = pickle.loads(pickle.dumps(words))
        change(copied)
        assert copied.counts is None
        assert type(pickle.loads(pickle.dumps(copied))) is list
        model = DPTableVectorizer(categories={"grade": copied})
        model.fit(pd.DataFrame({"grade": ["a", "b"] * 10}))
        assert model._basis.terms[0].counts is None
