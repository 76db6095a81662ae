import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.metrics import d2_tweedie_score, mean_poisson_deviance

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from skdp.inspection import preview
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression
from skdp.model_selection import DPGridSearch
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import BoundsScaler, DPSimpleImputer, DPTableVectorizer
from tests.door import (
    LineTerm,
    PairTerm,
    Shape,
    WordsTerm,
    all_noise,
    gaussian_mu,
    monotone,
    null_records,
)

LOUD = {"epsilon": 20.0, "random_state": 0}


def table(n_rows=3000, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(18, 90, n_rows).astype(float)})
    frame["income"] = np.where(rng.random(n_rows) < 0.4, 0.0, rng.lognormal(10.0, 1.0, n_rows))
    frame["job"] = rng.choice(["nurse", "clerk", "smith"], n_rows, p=[0.5, 0.3, 0.2])
    frame.loc[rng.random(n_rows) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "job"] = None
    age = frame.age.fillna(40.0)
    score = np.sin(age / 10.0) + (frame.job == "nurse") + (frame.income == 0.0)
    return frame, score.to_numpy(), rng


def labelled(**others):
    X, score, rng = table(**others)
    return X, (rng.random(len(X)) < 1.0 / (1.0 + np.exp(1.0 - 2.0 * score))).astype(int)


def with_targets(**others):
    X, score, rng = table(**others)
    return X, 500.0 + 10.0 * score + rng.standard_normal(len(X))


CASES = [(DPAdditiveClassifier(classes=[0, 1]), labelled), (DPAdditiveRegressor(), with_targets)]
IDS = ["classifier", "regressor"]


def decisions(model, X):
    return model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)


@pytest.mark.long
@pytest.mark.parametrize(("model", "data"), CASES, ids=IDS)
def test_contributions_add_up_to_the_prediction(model, data):
    X, y = data()
    model = clone(model).set_params(interactions=[("age", "job")], **LOUD).fit(X, y)
    parts = model.explain(X)
    assert parts.shape == (len(X), 4)
    total = parts.sum(axis=1) + model.intercept_
    if not hasattr(model, "classes_"):
        total = np.clip(total, *model.target_bounds_)
    np.testing.assert_allclose(total, decisions(model, X), rtol=1e-10, atol=1e-10)
    assert [term.name for term in model.terms_] == ["age", "income", "job", "age x job"]
    assert [term.kind for term in model.terms_] == ["hats", "hats", "words", "pair"]
    assert model.terms_[3].features == ("age", "job")


@pytest.mark.parametrize(("model", "data"), CASES, ids=IDS)
def test_values_are_what_rows_at_their_places_get(model, data):
    X, y = data()
    model = clone(model).set_params(interactions=None, **LOUD).fit(X, y)
    age, income, job = model.terms_
    rows = X.iloc[:1].loc[[0] * age.knots.size].copy()
    rows["age"] = age.knots
    np.testing.assert_allclose(model.explain(rows)[:, 0], age.values[: age.knots.size], rtol=1e-9)
    rows = X.iloc[:1].loc[[0] * len(job.categories)].copy()
    rows["job"] = [None if word != word else word for word in job.categories]
    np.testing.assert_allclose(model.explain(rows)[:, 2], job.values[:-1], rtol=1e-9)
    rows = X.iloc[:1].copy()
    rows["income"] = 0.0
    place = next(j for j, label in enumerate(income.labels) if label == "income_is_0")
    assert model.explain(rows)[0, 1] == pytest.approx(income.values[place])
    for term in model.terms_:
        assert len(term.labels) == len(term.values) == len(term.std) == len(term.weights)
        assert term.weights.sum() == pytest.approx(1.0)
        assert term.weights @ term.values == pytest.approx(0.0, abs=1e-8)
    assert (model.feature_importances_ > 0.0).all()
    np.testing.assert_array_equal(model.feature_importances_, model.term_importances_)
    assert not any(term.is_noise for term in model.terms_)


@pytest.mark.parametrize(("model", "data"), CASES, ids=IDS)
def test_without_noise_it_is_the_optimum_of_centred_columns(model, data):
    """By scikit-learn, with our column of ones, as the penalty reaches the intercept."""
    X, y = data(n_rows=400)
    settings = {"epsilon": math.inf, "alpha": 1e-2, "interactions": None}
    model = clone(model).set_params(**settings).fit(X, y)
    columns = DPTableVectorizer(epsilon=math.inf).fit(X).transform(X)
    assert columns.shape[1] == model._basis.n_columns
    # alpha is of columns that aren't scaled, as it is with noise.
    Z = columns - columns.mean(axis=0)
    bias = np.linalg.norm(Z, axis=1).max() / 3.0
    Z = np.column_stack([Z, np.full(len(Z), bias)])
    if hasattr(model, "classes_"):
        exact = LogisticRegression(C=1.0 / 4.0, fit_intercept=False, tol=1e-10, max_iter=10**4)
        expected = exact.fit(Z, y).decision_function(Z)
    else:
        # Targets are taken about their mean.
        ridge = Ridge(alpha=4.0, fit_intercept=False).fit(Z, y - y.mean())
        expected = y.mean() + ridge.predict(Z)
    np.testing.assert_allclose(decisions(model, X), expected, rtol=1e-4, atol=1e-4)
    assert all((term.std == 0.0).all() for term in model.terms_)


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [1.0, math.inf])
@pytest.mark.parametrize(("model", "data"), CASES, ids=IDS)
def test_the_penalty_falls_with_the_number_of_records(model, data, epsilon):
    X, y = data(n_rows=6000)
    groups = np.arange(6000) // 2
    for ids, n_records in ((None, 6000), (groups, 3000)):
        settings = {"epsilon": epsilon, "random_state": 0}
        fitted = [
            clone(model).set_params(alpha=alpha, **settings).fit(X, y, groups=ids)
            for alpha in ("auto", 3.0 / n_records, 0.1)
        ]
        found = [decisions(one, X) for one in fitted]
        np.testing.assert_array_equal(found[0], found[1])
        assert not np.array_equal(found[0], found[2])
    assert clone(model).get_params()["alpha"] == "auto"


@pytest.mark.long
def test_many_targets_have_many_knots_and_pairs_take_half_of_them(rng):
    X = pd.DataFrame({"x": rng.normal(size=12_000), "z": rng.normal(size=12_000)})
    y = X["x"] * X["z"]
    given = {"x": np.linspace(-2.0, 2.0, 9)}
    model = DPAdditiveRegressor(epsilon=math.inf, interactions=[("x", "z")]).fit(X, y)
    first, second, pair = model._basis.terms
    # Many targets tell more of a curve than labels do.
    assert (first.knots.size, second.knots.size) == (24, 24)
    assert pair.n_columns == 144
    assert pair.first.knots[[0, -1]].tolist() == first.knots[[0, -1]].tolist()
    assert model.score(X, y) > 0.9
    known = clone(model).set_params(knots=given).fit(X, y)
    assert known._basis.terms[-1].first.knots.tolist() == given["x"].tolist()
    assert clone(model).fit(X[:3000], y[:3000])._basis.terms[0].knots.size == 12


@pytest.mark.long
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("model", "data"), CASES, ids=IDS)
def test_constrained_curves_rise_or_fall_everywhere(model, data, sign):
    X, y = data()
    signs = {"age": sign, "income": sign}
    model = clone(model).set_params(monotonic_cst=signs, **LOUD).fit(X, y)
    free = clone(model).set_params(monotonic_cst=None).fit(X, y)
    grids = {
        "age": np.linspace(-50.0, 200.0, 999),
        "income": np.r_[-5.0, 0.0, np.geomspace(1, 1e9)],
    }
    for j, (name, grid) in enumerate(grids.items()):
        rows = X.iloc[:1].loc[[0] * len(grid)].copy()
        rows[name] = grid
        moves = sign * np.diff(model.explain(rows)[:, j])
        assert (moves >= -1e-9).all()
        assert (sign * np.diff(free.explain(rows)[:, j]) < -1e-3).any()


def test_what_may_be_constrained():
    X, y = labelled(n_rows=300)
    twice = {"age": 1, 0: -1}
    X["job"] = X["job"].astype("category")
    for signs in ({"job": 1}, {"nobody": 1}, {"age": 2}, [0, 0], [0, 0, 1], 3, twice):
        with pytest.raises(ValueError, match="monotonic_cst"):
            DPAdditiveClassifier(classes=[0, 1], monotonic_cst=signs).fit(X, y)
    with pytest.raises(ValueError, match="monotonic_cst names 'agee', which X does not have"):
        DPAdditiveClassifier(classes=[0, 1], monotonic_cst={"agee": 1}).fit(X, y)
    both = {"monotonic_cst": {"age": 1}, "interactions": [("age", "job")]}
    with pytest.raises(ValueError, match="interactions"):
        DPAdditiveClassifier(classes=[0, 1], **both).fit(X, y)
    with pytest.raises(ValueError, match="two classes"):
        DPAdditiveClassifier(classes=[0, 1, 2], monotonic_cst={"age": 1}).fit(X, y)
    for pairs in (
        [("age",)],
        [("age", "age")],
        [("age", 0)],
        [("age", "x")],
        ["ab"],
        [(0, 1), (1, 0)],
    ):
        with pytest.raises(ValueError, match="interactions"):
            DPAdditiveClassifier(classes=[0, 1], interactions=pairs).fit(X, y)


def test_delta_is_needed():
    X, y = labelled(n_rows=300)
    with pytest.raises(ValueError, match="delta must be positive"):
        DPAdditiveClassifier(classes=[0, 1], delta=0.0).fit(X, y)


@pytest.mark.parametrize(("model", "data"), CASES, ids=IDS)
def test_a_fit_spends_its_epsilon_and_is_charged_once(model, data, tmp_path):
    X, y = data(n_rows=600)
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=3.0, delta=1e-4)
    model = clone(model).set_params(ledger=ledger).fit(X, y)
    assert len(ledger.to_frame()) == 1
    report = model.privacy_report_
    assert report.epsilon == 1.0
    assert 0.99 < report.epsilon_at(1e-5) <= 1.0
    kinds = [type(event).__name__ for event in report.events]
    assert kinds.count("ErasureEvent") == 1
    said = " ".join(report.assumed_public)
    assert "the types of 'age', 'income'" in said
    assert "kind of 'job': learnt" in said


@pytest.mark.filterwarnings("ignore:Noise is as large")
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_shares_add_up(adjacency):
    X, y = labelled(n_rows=600)
    settings = {"classes": [0, 1], "adjacency": adjacency, "features_budget": 0.3}
    model = DPAdditiveClassifier(categorical_features=["job"], **settings)
    events = model.fit(X, y).privacy_report_.events
    gaussian = [event for event in events if type(event).__name__ == "GaussianEvent"]
    squares = np.array([event.mu(adjacency) ** 2 for event in gaussian])
    # Coarse, middle and fine counts, and words.
    assert squares[:4].sum() / squares.sum() == pytest.approx(0.3, rel=1e-6)


@pytest.mark.parametrize("n_features", [4, 19])
@pytest.mark.parametrize("n_rows", [200, 1000, 4000, 20_000, 10**7])
def test_the_share_of_the_table_follows_from_public_numbers(n_rows, n_features):
    """A fifth, more of few records, and a fifth again where even a half would find no column."""
    # Counts have a model however few the records are.
    model = DPAdditiveRegressor(loss="poisson", delta=1e-6, target_bounds=(0, 1))
    noise = math.sqrt(n_features) / gaussian_mu(1.0, 1e-6) / n_rows
    expected = 0.2 if noise > 0.0316 else min(0.2 + 20.0 * noise, 0.5)
    given = clone(model).set_params(features_budget=expected)
    found, wanted = (
        [getattr(event, "noise_multiplier", 0.0) for event in one._plan(n_rows, n_features).events]
        for one in (model, given)
    )
    assert found == pytest.approx(wanted, rel=1e-3)


def test_a_given_share_is_taken():
    first = [
        DPAdditiveClassifier(classes=[0, 1], features_budget=share)._plan(1000, 5).events[0]
        for share in (0.1, 0.9)
    ]
    ratio = first[0].noise_multiplier / first[1].noise_multiplier
    assert ratio == pytest.approx(3.0, rel=1e-6)


def test_given_knots_and_words_cost_nothing():
    X, y = labelled(n_rows=600)
    given = {
        "knots": {"age": [18, 40, 90], "income": [0, 1e4, 1e5]},
        "categories": {"job": ["nurse", "clerk"]},
    }
    model = DPAdditiveClassifier(classes=[0, 1], **given, **LOUD).fit(X, y)
    kinds = {type(event).__name__ for event in model.privacy_report_.events}
    assert kinds == {"GaussianEvent"}
    np.testing.assert_array_equal(model.terms_[0].knots, [18, 40, 90])
    total = sum(e.mu("zero_out") ** 2 for e in model.privacy_report_.events)
    assert total == pytest.approx(model.privacy_report_.mu**2, rel=1e-9)


@pytest.mark.long
def test_the_predicted_noise_is_that_of_fits():
    """Or less, as the curvature of the loss is taken to be a tenth."""
    X, y = labelled(n_rows=2000)
    given = {"knots": {"age": [18, 90]}, "categories": {"job": ["nurse", "clerk", "smith"]}}
    X, values, stds = X[["age", "job"]], [], []
    for seed in range(40):
        model = DPAdditiveClassifier(classes=[0, 1], random_state=seed, **given).fit(X, y)
        values.append(np.concatenate([term.values for term in model.terms_]))
        stds.append(np.concatenate([term.std for term in model.terms_]))
    ratio = np.std(values, axis=0) / np.sqrt(np.mean(np.square(stds), axis=0))
    assert 0.2 < np.median(ratio) < 1.2


@pytest.mark.long
def test_of_columns_that_say_the_same_more_noise_is_left_than_predicted():
    """Noise hides what tells them apart, and there it adds up from step to step."""
    rng, words = np.random.default_rng(0), list("abcdefghij")
    one, *others = rng.choice(words, (13, 8000))
    X = pd.DataFrame({"one": one, "same": one, **dict(enumerate(others))}).rename(columns=str)
    y, values, stds = rng.uniform(-1.0, 1.0, len(X)), [], []
    given = {"target_bounds": (-1.0, 1.0), "categories": dict.fromkeys(X, words)}
    for seed in range(6):
        terms = DPAdditiveRegressor(random_state=seed, **given).fit(X, y).terms_[:2]
        values.append(np.concatenate([term.values for term in terms]))
        stds.append(np.concatenate([term.std for term in terms]))
    ratio = np.std(values, axis=0, ddof=1) / np.sqrt(np.mean(np.square(stds), axis=0))
    assert 1.5 < np.median(ratio) < 3.0
    for cls in (DPAdditiveRegressor, DPAdditiveClassifier):
        assert "columns that say the same" in cls.__doc__


def test_what_is_noise_is_marked_and_kept():
    """To leave it out would cost more than it saves: weak effects look like noise, too."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.random(2000), "b": rng.choice(["x", "y"], 2000)})
    y = rng.integers(0, 2, 2000)
    model = DPAdditiveClassifier(classes=[0, 1], epsilon=0.5, random_state=0)
    with pytest.warns(UserWarning, match="no term can be told from noise"):
        model.fit(X, y)
    assert all(term.is_noise for term in model.terms_)
    assert np.ptp(model.predict_proba(X)[:, 1]) > 0.0
    assert model.to_markdown().count("(noise)") == sum(len(term.labels) for term in model.terms_)


def test_many_weak_terms_are_more_than_noise_together():
    """Each of 40 terms of mean square 1.1 may be noise of mean square 1; their sum isn't."""

    def term(value, n_values=50):
        values = np.tile([value, -value], n_values // 2)
        labels = tuple("ab" * (n_values // 2))
        return SimpleNamespace(values=values, is_noise=True, labels=labels)

    # Fifty values of variance 1, each with a fiftieth of the records.
    shape = SimpleNamespace(
        weights=np.full(50, 0.02), squares_of_noise=lambda covariance, n_outputs: (1.0, 0.04)
    )

    def are_noise(*terms):
        return all_noise(terms, [shape] * len(terms), [None] * len(terms))

    assert are_noise(term(math.sqrt(1.1)))
    assert not are_noise(*[term(math.sqrt(1.1))] * 40)
    assert are_noise(*[term(1.0)] * 40)
    one = SimpleNamespace(**{**vars(term(0.1)), "is_noise": False})
    assert not are_noise(term(0.1), one)


@pytest.mark.long
def test_scorecards():
    X, y = labelled()
    model = DPAdditiveClassifier(classes=[0, 1], **LOUD).fit(X, y)
    frame = model.to_frame()
    columns = ["term", "kind", "label", "value", "odds_ratio", "std", "share", "n", "is_noise"]
    assert list(frame) == columns
    assert frame.columns.name == "log-odds of 1"
    assert len(frame) == sum(len(term.labels) for term in model.terms_)
    assert frame[frame.term == "job"].label.tolist() == [
        "clerk",
        "nurse",
        "smith",
        "missing",
        "infrequent",
    ]
    assert frame[frame.term == "income"].label.tolist()[-1] == "is 0"
    X["job"] = X["job"].replace({"nurse": "is_not_said"})
    words = clone(model).fit(X, y).to_frame()
    assert "is_not_said" in words[words.term == "job"].label.tolist()
    np.testing.assert_allclose(frame.odds_ratio, np.exp(frame.value))
    np.testing.assert_allclose(frame.n, frame.share * len(X), atol=0.5)
    text = model.to_markdown()
    assert "| log-odds of 1 | odds ratio |" in text.splitlines()[0]
    assert text.splitlines()[2].startswith("| intercept |")
    assert len(text.splitlines()) == 3 + len(frame)
    assert repr(model.terms_[2]) == "job (words): 5 values"


def test_a_word_of_several_lines_stands_in_one_cell():
    X, y = labelled(n_rows=2000)
    X["job"] = X["job"].replace({"nurse": "a|b\nc"})
    lines = DPAdditiveClassifier(classes=[0, 1], **LOUD).fit(X, y).to_markdown().splitlines()
    assert all(line.startswith("| ") and line.endswith(" |") for line in lines)
    assert any("| a\\|b c |" in line for line in lines)


@pytest.mark.long
def test_several_classes_and_targets():
    X, y = labelled()
    three = DPAdditiveClassifier(classes=[0, 1, 2], **LOUD).fit(X, y + (X.job == "smith"))
    parts = three.explain(X)
    assert parts.shape == (len(X), 3, 3)
    total = parts.sum(axis=1) + three.intercept_
    np.testing.assert_allclose(total, three.decision_function(X), rtol=1e-9, atol=1e-9)
    assert list(three.to_frame())[3:7] == ["value_0", "value_1", "value_2", "std"]
    assert three.to_frame().columns.name == "score"
    X, y = with_targets()
    two = DPAdditiveRegressor(**LOUD).fit(X, np.column_stack([y, -y]))
    assert two.explain(X).shape == (len(X), 3, 2)
    column = DPAdditiveRegressor(**LOUD).fit(X, y.reshape(-1, 1))
    total = np.clip(column.explain(X).sum(axis=1) + column.intercept_, *column.target_bounds_)
    np.testing.assert_allclose(total, column.predict(X), rtol=1e-9, atol=1e-9)
    assert two.score(X, np.column_stack([y, -y])) > 0.8
    np.testing.assert_array_equal(
        two.to_frame()[["value_0", "value_1"]], np.vstack([term.values for term in two.terms_])
    )
    assert (
        two.to_markdown()
        .splitlines()[0]
        .startswith(
            "| term | label | value_0: units of the target | value_1: units of the target | std |"
        )
    )


@pytest.mark.long
def test_groups_and_weights():
    X, y = labelled()
    model = DPAdditiveClassifier(classes=[0, 1], **LOUD)
    groups = np.arange(len(X)) // 3
    report = clone(model).fit(X, y, groups=groups).privacy_report_
    assert report.unit == "one group"
    weights = np.where(np.arange(len(X)) < 1500, 0.0, 1.0)
    # Records of weight 0 are not there, whatever they hold.
    others = X.copy()
    others.loc[:1499, ["age", "income"]] = 1e12
    others.loc[:1499, "job"] = "spy"
    one = clone(model).fit(X, y, public_weight=weights)
    other = clone(model).fit(others, y, public_weight=weights)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    with pytest.raises(ValueError, match="groups go without"):
        clone(model).fit(X, y, groups=groups, public_weight=weights)


def test_null_records_are_those_of_all_rows_where_some_have_no_weight():
    X, y = labelled()
    X, y = X.iloc[:900], y[:900]
    weights = np.where(np.arange(900) < 300, 0.0, 1.0)
    model = DPAdditiveClassifier(classes=[0, 1], epsilon=5.0, random_state=0)
    others = X.copy()
    others.iloc[[500, -1]] = X.iloc[[20, 21]].to_numpy()
    with null_records([500, -1]) as request:
        one = clone(model).fit(X, y, public_weight=weights)
        other = clone(model).fit(others, y, public_weight=weights)
    assert request.consulted
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


@pytest.mark.long
def test_rare_words_are_counted_among_the_records_that_have_a_weight():
    """And not at all where that is the number of records of some class, which is secret."""
    X, y = labelled()
    weights = np.arange(len(X)) % 2 + 0.0
    model = DPAdditiveClassifier(classes=[0, 1], **LOUD)
    assert clone(model).fit(X, y, public_weight=weights).terms_[2].weights[-1] == 0.0
    X.loc[::3, "job"] = [f"word {j}" for j in range(len(X.loc[::3]))]
    for classes, of_rare in ({1: 2.0}, 1.0 / 3.0), ({0: 0.0}, 0.0):
        fitted = clone(model).set_params(class_weight=classes).fit(X, y)
        assert fitted.terms_[2].weights[-1] == pytest.approx(of_rare, abs=0.02)


def test_a_line_is_read_at_both_ends():
    ends = np.array([2.0, 6.0])
    points, counts = np.array([2.0, 4.0, 6.0, np.nan]), np.array([1.0, 2.0, 5.0, 2.0])
    fields = {"knots": ends, "has_gap": True, "points": points, "counts": counts}
    line = LineTerm(name="x", feature=0, **fields)
    shape = Shape.of(line)
    assert shape.labels == ("x_2", "x_6", "x_missing")
    np.testing.assert_array_equal(shape.nodes, line.block(np.array([2.0, 6.0, np.nan])))
    term = shape.read(np.array([[3.0, 1.0]]), np.diag([0.04, 0.0]), ["x"])
    mean = (-3.0 * 1.0 + 3.0 * 5.0 + 1.0 * 2.0) / 10.0
    np.testing.assert_allclose(term.values, np.array([-3.0, 3.0, 1.0]) - mean)
    np.testing.assert_allclose(term.std, 0.2 * np.abs(np.array([-1.0, 1.0, 0.0]) - 0.4))
    assert term.weights.sum() == pytest.approx(1.0)
    absolute = np.abs(np.array([-3.0, 0.0, 3.0, 1.0]) - mean)
    assert term.importance == pytest.approx(absolute @ counts / 10.0)
    # A line that may only fall is flat.
    assert monotone(shape, np.array([3.0, 1.0]), -1)[0] == 0.0


@pytest.mark.parametrize("sign", [1, -1])
def test_lines_beside_a_spike_are_constrained_with_it(sign):
    """Where few records make a column a line, and the spike lies against the sign."""
    rng = np.random.default_rng(0)
    x = np.where(rng.random(3000) < 0.5, 0.0, rng.normal(3.0, 2.0, 3000))
    y, X = ((x == 0.0) | (x > 4.0)).astype(int), pd.DataFrame({"x": x})
    free = DPAdditiveClassifier(classes=[0, 1], epsilon=0.3, random_state=0).fit(X, y)
    assert (free.terms_[0].kind, free._basis.terms[0].spike) == ("line", 0.0)
    model = clone(free).set_params(monotonic_cst={"x": sign}).fit(X, y)
    rows = pd.DataFrame({"x": np.sort(np.append(np.linspace(-10.0, 20.0, 999), 0.0))})
    assert (sign * np.diff(model.decision_function(rows)) >= -1e-9).all()


GIVEN = {"knots": {0: [-1, 1], 1: [-1, 1]}}


@pytest.mark.parametrize("settings", [{}, {"numeric_features": [0, 1]}, GIVEN])
@pytest.mark.parametrize(
    "steps", [(), (DPSimpleImputer(),), (BoundsScaler(feature_bounds=(-3.0, 3.0)),)]
)
def test_a_pipeline_is_charged_what_a_table_without_words_costs(steps, settings, tmp_path):
    """Though it can't know that there are none when it is charged."""
    X = np.random.default_rng(0).normal(size=(600, 2))
    y = (X[:, 0] > 0.0).astype(int)
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=3.0, delta=1e-4)
    model = DPAdditiveClassifier(classes=[0, 1], **settings)
    pipeline = make_private_pipeline(*steps, model, epsilon=1.0, delta=1e-5, ledger=ledger)
    events = pipeline.fit(X, y).privacy_report_.events
    ran = math.hypot(*(event.mu("zero_out") for event in events if hasattr(event, "mu")))
    (charged,) = ledger.to_frame()["mu"]
    assert charged * (1.0 - 1e-4) <= ran <= charged * (1.0 + 1e-9)


@pytest.mark.long
def test_a_search_takes_tables_of_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    y = X[:, 0] + rng.normal(size=3000)
    for model, targets in (
        (DPAdditiveClassifier(classes=[0, 1], numeric_features=[0, 1]), (y > 0.0).astype(int)),
        (DPAdditiveRegressor(numeric_features=[0, 1], target_bounds=(-5, 5)), y),
    ):
        search = DPGridSearch(model, {"alpha": [1e-4, 1e-2]}, random_state=0).fit(X, targets)
        assert len(search.best_estimator_.terms_) == 2
        assert search.privacy_report_.epsilon_at(1e-5) <= 1.0
    with pytest.raises(ValueError, match="target_bounds"):
        DPGridSearch(DPAdditiveRegressor(numeric_features=[0, 1]), {"alpha": [1e-4]}).fit(X, y)


@pytest.mark.long
def test_the_report_of_a_pipeline_and_a_preview_say_what_was_read():
    """Classes and kinds of columns, which aren't declared, by the model or by a step before."""
    X, y = labelled(n_rows=300)
    kinds, classes = "the types of 'age', 'income'", "the set of classes"
    part = ColumnTransformer([("table", DPTableVectorizer(), ["age", "income", "job"])])
    model = DPLogisticRegression()
    for steps in ((DPAdditiveClassifier(),), (DPTableVectorizer(), model), (part, model)):
        said = "\n".join(make_private_pipeline(*steps).fit(X, y).privacy_report_.assumed_public)
        assert said.count(kinds) == said.count(classes) == said.count("of 'job': learnt") == 1
    assert classes in "\n".join(preview(DPAdditiveClassifier(), 300, 3).assumed_public)
    declared = {"numeric_features": ["age", "income"], "categorical_features": ["job"]}
    model = make_private_pipeline(DPAdditiveClassifier(classes=[0, 1], **declared)).fit(X, y)
    said = "\n".join(model.privacy_report_.assumed_public)
    assert "the types of" not in said
    assert classes not in said


def test_what_is_refused_is_not_charged(tmp_path):
    X, y = labelled(n_rows=300)
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=3.0, delta=1e-4)
    for settings in ({"n_jobs": 0}, {"alpha": 0.0}, {"alpha": 1e99}):
        model = DPAdditiveClassifier(classes=[0, 1], ledger=ledger, **settings)
        with pytest.raises(ValueError, match="must"):
            model.fit(X, y)
    assert len(ledger.to_frame()) == 0


@pytest.mark.parametrize("model", [DPAdditiveClassifier(), DPLogisticRegression()])
@pytest.mark.parametrize("kind", [None, object, "string", "category"])
@pytest.mark.parametrize("gap", [None, np.nan, pd.NA])
def test_gaps_in_labels_of_words_are_named(model, gap, kind):
    y = pd.Series([gap] + ["a", "b"] * 20, dtype=kind)
    with pytest.raises((ValueError, TypeError), match="Input y contains NaN"):
        model.fit(np.zeros((41, 1)), y)


def test_labels_that_cannot_be_sorted_are_named():
    with pytest.raises(TypeError, match="labels and categories can't be missing or of several"):
        DPAdditiveClassifier().fit(np.zeros((4, 1)), np.array(["a", None, "b", "a"], dtype=object))


def test_a_pair_of_a_column_that_is_not_there_is_named():
    X, y = labelled(n_rows=300)
    with pytest.raises(ValueError, match="interactions names 'nowhere', which X does not have"):
        DPAdditiveClassifier(interactions=[("age", "nowhere")]).fit(X, y)


@pytest.mark.long
def test_bands_of_given_terms_are_about_as_wide_as_their_noise():
    """Gaps and new words that nobody has don't move the values of others."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=4000), "w": rng.choice(["a", "b", "c"], 4000)})
    y = np.sin(X["x"]) + 0.3 * (X["w"] == "a") + 0.3 * rng.normal(size=4000)
    given = {"knots": {"x": [-2, -1, 0, 1, 2]}, "categories": {"w": ["a", "b", "c"]}}
    fits = [
        DPAdditiveRegressor(epsilon=0.5, target_bounds=(-2, 2), random_state=k, **given).fit(X, y)
        for k in range(20)
    ]
    for place, n_values in ((0, 5), (1, 3)):
        terms = [fitted.terms_[place] for fitted in fits]
        seen = np.std([term.values[:n_values] for term in terms], axis=0)
        told = np.mean([term.std[:n_values] for term in terms], axis=0)
        assert ((told > 0.7 * seen) & (told < 5.0 * seen)).all()
        # Nobody counted them.
        assert np.isnan(terms[0].weights).all()


def test_a_line_in_a_pair_is_read_at_its_ends():
    ends = np.array([2.0, 6.0])
    line = LineTerm(name="x", feature=0, knots=ends)
    words = WordsTerm(name="w", feature=1, categories=np.array(["a"], dtype=object))
    shape = Shape.of(PairTerm(line, words))
    assert shape.labels == ("x_2 x w_a", "x_2 x w_infrequent", "x_6 x w_a", "x_6 x w_infrequent")
    term = shape.read(np.array([[3.0, 1.0]]), np.zeros((2, 2)), ["x", "w"])
    np.testing.assert_allclose(term.values, [-3.0, -1.0, 3.0, 1.0])
    # Where nothing was counted, nobody knows shares.
    assert np.isnan(term.weights).all()
    assert repr(term) == "x x w (pair): 4 values, shares unknown"
    assert term.sides == (("x_2", "x_6"), ("w_a", "w_infrequent"))


@pytest.mark.parametrize(("model", "data"), CASES, ids=IDS)
def test_words_that_nobody_has_add_the_mean_and_not_noise(model, data):
    X, y = data()
    new = X.iloc[:50].assign(job="new")
    fitted = clone(model).set_params(epsilon=2.0, random_state=0).fit(X, y)
    job = fitted.terms_[2]
    assert job.labels[-1] == "job_infrequent"
    assert job.values[-1] == job.std[-1] == job.weights[-1] == 0.0
    np.testing.assert_allclose(fitted.explain(new)[:, 2], 0.0, atol=1e-9)
    # Where they are many, something is known of them.
    many = X.assign(job=np.where(X.job == "clerk", [f"j{k}" for k in range(len(X))], X.job))
    fitted = clone(model).set_params(epsilon=2.0, random_state=0).fit(many, y)
    assert fitted.terms_[2].weights[-1] == pytest.approx((X.job == "clerk").mean(), abs=0.05)
    assert abs(fitted.explain(new)[0, 2]) > 0.1


@pytest.mark.long
@pytest.mark.parametrize(("model", "data"), CASES, ids=IDS)
def test_importances_of_features_and_of_terms(model, data):
    """There is one for each feature, also with pairs, so that scikit-learn's tools can choose."""
    X, y = data()
    pairs = {"interactions": [("income", "age"), ("age", "job")]}
    select = SelectFromModel(clone(model).set_params(**LOUD, **pairs), threshold="median")
    chosen = select.fit(X, y).transform(X)
    fitted = select.estimator_
    own, first, second = *[fitted.term_importances_[:3]], *fitted.term_importances_[3:]
    assert fitted.term_importances_.shape == (len(fitted.terms_),) == (5,)
    assert fitted.feature_importances_.shape == (X.shape[1],) == (3,)
    age, income, job = own + np.array([0.5 * (first + second), 0.5 * first, 0.5 * second])
    np.testing.assert_allclose(fitted.feature_importances_, [age, income, job], rtol=1e-12)
    assert fitted.feature_importances_.sum() == pytest.approx(fitted.term_importances_.sum())
    assert chosen.shape == (len(X), 2)


def counted(n_rows, seed=0):
    """Rates that bend with a number and jump with a word."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"x": rng.uniform(0.0, 10.0, n_rows), "w": rng.choice(["a", "b"], n_rows)})
    return X, np.exp(np.sin(X.x) + 0.7 * (X.w == "b")).to_numpy(), rng


@pytest.mark.long
@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_terms_of_counts_and_amounts_multiply(loss):
    X, rate, rng = counted(20_000)
    y = rng.poisson(rate) if loss == "poisson" else rng.gamma(2.0, rate / 2.0)
    model = DPAdditiveRegressor(loss=loss, epsilon=2.0, random_state=0).fit(X, y)
    np.testing.assert_allclose(np.log(model.predict(X) / rate), 0.0, atol=0.5)
    told = model.explain(X).sum(axis=1) + model.intercept_
    np.testing.assert_allclose(np.log(model.predict(X)), told, atol=1e-9)
    power = {"poisson": 1.0, "gamma": 2.0}[loss]
    assert model.score(X, y) == pytest.approx(d2_tweedie_score(y, model.predict(X), power=power))
    word = model.terms_[1]
    a, b = (word.values[word.labels.index(f"w_{one}")] for one in "ab")
    assert b - a == pytest.approx(0.7, abs=0.15)
    assert model.privacy_report_.epsilon <= 2.0


def test_without_privacy_counts_are_poisson_regression():
    X, rate, rng = counted(3000)
    y = rng.poisson(rate)
    model = DPAdditiveRegressor(loss="poisson", epsilon=np.inf, alpha=1e-3).fit(X, y)
    peer = PoissonRegressor(alpha=1e-3, max_iter=10_000, tol=1e-8)
    columns = DPTableVectorizer(epsilon=np.inf).fit(X).transform(X)
    found = model.predict(X), peer.fit(columns, y).predict(columns)
    ours, theirs = (mean_poisson_deviance(y, one) for one in found)
    assert ours == pytest.approx(theirs, rel=1e-3)


def test_what_does_not_go_with_counts_is_refused():
    X, rate, _ = counted(200)
    model = DPAdditiveRegressor(loss="poisson", ledger=None)
    with pytest.raises(ValueError, match="out of the range"):
        model.fit(X, rate - 10.0)
    with pytest.raises(ValueError, match="out of the range"):
        model.set_params(loss="gamma").fit(X, np.zeros(200))
    with pytest.raises(ValueError, match="1d"):
        model.fit(X, np.column_stack([rate, rate]))
    with pytest.raises(ValueError, match="loss"):
        model.set_params(loss="huber").fit(X, rate)


WITHOUT_PRIVACY = {"epsilon": np.inf, "random_state": 0}


@pytest.mark.parametrize("interactions", [None, "auto"])
@pytest.mark.parametrize("n_columns", [1, 2])
def test_without_privacy_targets_may_be_far_from_0(n_columns, interactions, rng):
    x = rng.normal(size=(2000, n_columns))
    X = pd.DataFrame(x).add_prefix("x")
    y = x.sum(axis=1) + 0.1 * rng.normal(size=2000)
    model = DPAdditiveRegressor(interactions=interactions, **WITHOUT_PRIVACY)
    near, far = model.fit(X, y).predict(X), model.fit(X, 1e5 + y).predict(X)
    np.testing.assert_allclose(far - 1e5, near, atol=1e-6)
    assert np.square(near - y).mean() < 0.03 * y.var()


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_without_privacy_amounts_of_words_are_their_means(loss, rng):
    """Effects of a common word that are many times those of others bend an exponential much."""
    words = rng.choice(["a", "b", "c", "d"], 4000, p=[0.5, 0.3, 0.19, 0.01])
    means = pd.Series({"a": 0.2, "b": 1.0, "c": 2.0, "d": 60.0})
    y = rng.poisson(means[words]) + (loss == "gamma") * 0.1
    X = pd.DataFrame({"word": pd.Categorical(words)})
    model = DPAdditiveRegressor(loss=loss, alpha=1e-9, **WITHOUT_PRIVACY).fit(X, y)
    expected = pd.Series(y).groupby(words).transform("mean")
    np.testing.assert_allclose(model.predict(X), expected, rtol=0.01)
