"""Products of curves: columns of a second fit that follow from a row and what was released."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from skdp.ledger import PrivacyLedger
from tests.door import (
    Basis,
    Fitted,
    HatsTerm,
    LineTerm,
    Shape,
    WordsTerm,
    additive_tuned,
    second_fit_module,
    second_view,
    shape_of,
)

AUTO = {"interactions": "auto", "epsilon": 20.0, "random_state": 0}
RULES = additive_tuned.PRODUCT_RULES["squared_error"]


def rows(n_rows=1500, seed=0):
    """Numbers with gaps and a spike, and words."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.uniform(-1.0, 1.0, n_rows), "z": rng.uniform(-1.0, 1.0, n_rows)})
    frame["w"] = rng.choice(["a", "b", "c"], n_rows)
    is_a = (frame.w == "a").to_numpy()
    score = 3.0 * frame.x * frame.z + is_a * (frame.x + 1.0) + frame.z
    frame.loc[rng.random(n_rows) < 0.1, "x"] = np.nan
    frame.loc[rng.random(n_rows) < 0.3, "z"] = 0.0
    return frame, score.to_numpy() + 0.3 * rng.standard_normal(n_rows)


def with_labels(**others):
    X, score = rows(**others)
    return X, (score > 0.0).astype(int)


CASES = [(DPAdditiveRegressor(), rows), (DPAdditiveClassifier(classes=[0, 1]), with_labels)]
IDS = ["regressor", "classifier"]


def terms():
    """Terms with counts, one of which has a value that hardly anybody has."""
    curve = HatsTerm(
        name="x",
        feature=0,
        knots=np.array([-1.0, 0.0, 2.0]),
        has_gap=True,
        points=np.array([-1.0, 0.5, 2.0, np.nan]),
        counts=np.array([40.0, 30.0, 29.0, 1.0]),
    )
    line = LineTerm(
        name="z",
        feature=1,
        knots=np.array([0.0, 4.0]),
        points=np.array([0.0, 1.0, 4.0]),
        counts=np.array([50.0, 25.0, 25.0]),
    )
    words = WordsTerm(
        name="w",
        feature=2,
        categories=np.array(["a", "b"], dtype=object),
        counts=np.array([60.0, 39.0, 1.0]),
    )
    return Basis((curve, line, words))


COEFS = np.array([1.0, -2.0, 0.5, 30.0, 0.7, 0.3, -0.4, 0.001, 0.25])


def view_of(basis, *, room=100.0, rules=RULES, is_free=(True, True, True)):
    shapes = [Shape.of(term) for term in basis.terms]
    return second_view(basis, shapes, COEFS, rules, room, is_free)


def spreads_by_hand():
    """Standard deviations of curves, by Python's arithmetic alone."""
    return by_hand(np.zeros(8))[1]


def by_hand(row):
    """Columns of a row of the basis, by Python's arithmetic alone, and spreads of curves."""
    parts = [slice(0, 4), slice(4, 5), slice(5, 8)]
    # Columns of the bins that were counted, and their shares.
    bins = [
        ([[1, 0, 0, 0], [0, 0.75, 0.25, 0], [0, 0, 1, 0], [0, 0, 0, 1]], [0.4, 0.3, 0.29, 0.01]),
        ([[-1.0], [-0.5], [1.0]], [0.5, 0.25, 0.25]),
        (np.eye(3), [0.6, 0.39, 0.01]),
    ]
    places = [np.eye(4), [[-1.0], [1.0]], np.eye(3)]
    curves, spreads, largest = [], [], []
    for part, (points, shares), nodes in zip(parts, bins, places, strict=True):
        values = [sum(c * p for c, p in zip(COEFS[part], point, strict=True)) for point in points]
        mean = sum(s * v for s, v in zip(shares, values, strict=True))
        spreads.append(sum(s * (v - mean) ** 2 for s, v in zip(shares, values, strict=True)) ** 0.5)
        at = [sum(c * p for c, p in zip(COEFS[part], node, strict=True)) for node in nodes]
        largest.append(max(abs(value - mean) for value in at))
        curves.append(sum(c * x for c, x in zip(COEFS[part], row[part], strict=True)) - mean)
    units = [max(s, h / 5.0, 0.02 * max(spreads)) for s, h in zip(spreads, largest, strict=True)]
    bent = [2.5 * math.tanh(f / (2.0 * s)) for f, s in zip(curves, spreads, strict=True)]
    alone = [f / u for f, u in zip(curves, units, strict=True)]
    return [*alone, bent[0] * bent[1], bent[0] * bent[2], bent[1] * bent[2]], spreads


def test_columns_are_what_python_makes_of_a_row(rng):
    basis = terms()
    x, z = rng.uniform(-3, 3, 50), rng.uniform(-3, 9, 50)
    x[:10] = np.nan
    words = np.eye(3)[rng.integers(0, 3, 50)]
    columns = np.column_stack([basis.terms[0].block(x), basis.terms[1].block(z), words])
    view = view_of(basis)
    found = view.of_columns(columns)
    assert found.shape == (50, view.n_columns) == (50, 6)
    np.testing.assert_allclose(found, [by_hand(row)[0] for row in columns], rtol=1e-12)
    lengths = np.linalg.norm(found, axis=1)
    assert lengths.max() <= view.norm_bound
    # A gap is far from the mean, and the bound isn't much longer than it.
    assert lengths.max() > 0.4 * view.norm_bound
    assert view.norm_bound == pytest.approx(
        math.sqrt((view.largest**2).sum() + 3.0 * 2.5**4), rel=1e-12
    )
    assert view.largest.max() <= 5.0 * (1.0 + 1e-12)
    # Of the curves under the counts of bins.
    assert view.variance == pytest.approx(sum(s**2 for s in spreads_by_hand()))


def test_a_row_has_the_same_columns_wherever_it_lies(rng):
    basis, view = terms(), view_of(terms())
    columns = rng.uniform(-1.0, 1.0, (77, basis.n_columns))
    together = view.of_columns(columns)
    np.testing.assert_array_equal(view.of_columns(columns[5:][::-1])[::-1], together[5:])
    for place in (0, 40, 76):
        np.testing.assert_array_equal(view.of_columns(columns[[place]])[0], together[place])


def test_the_start_is_the_first_fit(rng):
    basis = terms()
    columns = rng.uniform(-1.0, 1.0, (20, basis.n_columns))
    view = view_of(basis)
    first = columns @ COEFS[:-1] + COEFS[-1]
    found = view.of_columns(columns) @ view.start[0, :-1] + view.start[0, -1]
    np.testing.assert_allclose(found, first, rtol=1e-10)
    np.testing.assert_allclose(view.of_basis(view.start[0])[: COEFS.size - 1], COEFS[:-1])
    coefs = rng.standard_normal(view.n_columns + 1)
    whole = view.of_basis(coefs)
    both = np.column_stack([columns, view.of_columns(columns)[:, 3:]])
    expected = view.of_columns(columns) @ coefs[:-1] + coefs[-1]
    np.testing.assert_allclose(both @ whole[:-1] + whole[-1], expected, rtol=1e-9)


def test_pairs_are_of_strong_curves_that_are_free_as_far_as_there_is_room():
    basis = terms()

    def pairs(**settings):
        return [term.name for term in view_of(basis, **settings).products]

    assert pairs() == ["x x z", "x x w", "z x w"]
    assert pairs(is_free=(True, False, True)) == ["x x w"]
    # The two strongest have one product, which is a fourth column.
    assert pairs(room=4.0) == ["x x z"]
    assert pairs(room=3.9) == pairs(is_free=(True, False, False)) == []
    strongest_alone = RULES._replace(strong=0.9)
    assert pairs(rules=strongest_alone) == []
    assert pairs(rules=RULES._replace(most_in_little_room=2)) == ["x x z"]
    assert len(pairs(room=1e9, rules=RULES._replace(most_in_little_room=2))) == 3


@pytest.mark.parametrize("scale", [1e-40, 1.0, 1e40])
def test_curves_of_rounding_errors_are_in_no_product(scale):
    """Curves are alike everywhere but for errors of sums, whatever the coefficients' scale is."""
    basis = terms()
    flat = np.array([0.7, 0.7, 0.7, 0.7, 1e-17, 0.3, 0.3, 0.3, 0.25])
    shapes = [Shape.of(term) for term in basis.terms]
    view = second_view(basis, shapes, scale * flat, RULES, 100.0, (True,) * 3)
    assert view.products == ()
    assert np.isfinite(view.of_columns(np.eye(8))).all()
    bent = scale * np.where(np.isin(np.arange(9), [1, 6]), flat + 1e-9, flat)
    view = second_view(basis, shapes, bent, RULES, 100.0, (True,) * 3)
    assert [term.name for term in view.products] == ["x x w"]


@pytest.mark.long
@pytest.mark.parametrize(("model", "data"), CASES, ids=IDS)
def test_contributions_add_up_to_the_prediction(model, data):
    X, y = data()
    model = clone(model).set_params(**AUTO).fit(X, y)
    names = ["x", "z", "w", "x x z", "x x w", "z x w"]
    assert [term.name for term in model.terms_] == names
    assert [term.kind for term in model.terms_[3:]] == ["product"] * 3
    assert model.terms_[3].features == ("x", "z")
    parts = model.explain(X)
    assert parts.shape == (len(X), 6)
    total = parts.sum(axis=1) + model.intercept_
    if hasattr(model, "classes_"):
        expected = model.decision_function(X)
    else:
        total, expected = np.clip(total, *model.target_bounds_), model.predict(X)
    np.testing.assert_allclose(total, expected, rtol=1e-9, atol=1e-9)
    # One number a product, and that of what isn't there is told from that of what is.
    first = model.terms_[3]
    assert first.values.shape == first.std.shape == (1,)
    assert first.values[0] > 4.0 * first.std[0]
    assert not first.is_noise
    alone = clone(model).set_params(interactions=None).fit(X, y)
    assert model.score(X, y) > alone.score(X, y) + (0.005 if hasattr(model, "classes_") else 0.05)
    features = model.feature_importances_
    assert features.sum() == pytest.approx(model.term_importances_.sum())
    table = model.to_frame()
    assert table[table.kind == "product"].term.tolist() == names[3:]
    assert set(table[table.kind == "product"].label) == {"product"}
    assert "x x z" in model.to_markdown()


def test_a_product_of_nothing_is_noise():
    X, _ = rows()
    y = X.x.fillna(0.0) + X.z + 0.1 * np.random.default_rng(1).standard_normal(len(X))
    model = DPAdditiveRegressor(**AUTO | {"epsilon": 4.0}).fit(X, y)
    (product,) = [term for term in model.terms_ if term.name == "x x z"]
    assert abs(product.values[0]) < 5.0 * product.std[0]


def test_the_importance_of_a_product_is_its_mean_size_over_pairs_of_bins():
    basis = terms()
    view = view_of(basis)
    for product in view.products:
        parts = [Shape.of(part) for part in (product.first, product.second)]
        curves = zip(product.curves, parts, strict=True)
        at_bins = np.multiply.outer(*[curve.of_columns(part.points) for curve, part in curves])
        shares = np.multiply.outer(*[part.shares for part in parts])
        mean = (shares * at_bins).sum()
        shape = shape_of(product)
        assert shape.mean[0] == pytest.approx(mean, abs=1e-15)
        read = shape.read(np.array([[-2.0]]), np.zeros((1, 1)), ["x", "z", "w"])
        assert read.importance == pytest.approx(2.0 * (shares * np.abs(at_bins - mean)).sum())


def test_without_noise_products_of_columns_of_many_values_fit_into_memory(rng):
    """Each value is a bin then: pairs of bins of two columns would be 10 ** 10."""
    n = 10**5
    curve = terms().terms[1]
    many = replace(curve, points=rng.uniform(0.0, 4.0, n), counts=np.ones(n))
    (product,) = [one for one in view_of(terms()).products if one.name == "x x z"]
    both = replace(product, first=many, second=many, curves=(product.curves[1],) * 2)
    shape = shape_of(both)
    values = product.curves[1].of_columns(Shape.of(many).points)
    drawn = rng.permutation(values) * values
    read = shape.read(np.ones((1, 1)), np.zeros((1, 1)), ["x", "z", "w"])
    assert read.importance == pytest.approx(np.abs(drawn - drawn.mean()).mean(), rel=0.02)


@pytest.mark.filterwarnings("ignore:Noise is as large as the effects")
@pytest.mark.parametrize(("model", "data"), CASES, ids=IDS)
def test_few_records_have_the_fit_without_products(model, data):
    X, y = data(n_rows=400)
    settings = {"epsilon": 0.5, "random_state": 0}
    if not hasattr(model, "classes"):
        settings["target_bounds"] = (-5.0, 5.0)
    found = clone(model).set_params(interactions="auto", **settings).fit(X, y)
    alone = clone(model).set_params(interactions=None, **settings).fit(X, y)
    np.testing.assert_array_equal(found.explain(X), alone.explain(X))
    assert found.privacy_report_.events == alone.privacy_report_.events
    assert found.privacy_report_.names == alone.privacy_report_.names


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize(("model", "data"), CASES, ids=IDS)
def test_both_fits_spend_what_one_does(model, data, adjacency):
    X, y = data(n_rows=800)
    settings = {"adjacency": adjacency, "features_budget": 0.3, "numeric_features": ["x", "z"]}
    model = clone(model).set_params(**AUTO | settings | {"epsilon": 40.0}).fit(X, y)
    report = model.privacy_report_
    # Each release has a name of its own, by which a reader knows its part.
    of_first = [name for name in report.names if f"{name} of products" in report.names]
    assert {"second moment", "steps", "lengths of rows"} <= set(of_first)
    ends = [name for name in report.names if name.endswith(" of products")]
    assert ends == [f"{name} of products" for name in of_first]
    assert all(report.names.count(name) == 1 for name in (*of_first, *ends))
    gaussian = [event for event in report.events if type(event).__name__ == "GaussianEvent"]
    squares = np.array([event.mu(adjacency) ** 2 for event in gaussian])
    last = report.names.index("steps") + 1
    assert squares[last:].sum() / squares.sum() == pytest.approx(0.7 * 0.4, rel=1e-6)
    assert report.epsilon_at(report.delta) == pytest.approx(40.0, rel=1e-3)


def test_it_is_planned_and_charged_before_the_data(tmp_path):
    """By a preview's plan, a fit's and a ledger's alike, for each number of rows."""
    X, y = rows(n_rows=600)
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=30.0, delta=1e-4)
    model = DPAdditiveRegressor(**AUTO | {"random_state": None}, ledger=ledger)
    planned = model._plan(600, 3)
    assert [one.name for one in planned.releases[-2:]] == [
        "linear model",
        "linear model of products",
    ]
    model.fit(X, y)
    assert len(ledger.to_frame()) == 1
    assert model.privacy_report_.epsilon == 20.0


def test_a_second_fit_that_is_not_made_is_refused(monkeypatch):
    """A report that has one would be of a fit that never was."""
    X, y = rows(n_rows=600)
    monkeypatch.setattr(second_fit_module, "fit_second", lambda *_: None)
    monkeypatch.setattr(Fitted, "followed_by", lambda self, *_: self)
    with pytest.raises(RuntimeError, match="of products' was planned"):
        DPAdditiveRegressor(**AUTO).fit(X, y)


def test_whether_there_are_products_follows_from_public_numbers():
    for n_rows, n_features, epsilon, there in (
        (10_000, 10, 1.0, True),
        (10_000, 10, 0.05, False),
        (500, 10, 1.0, False),
        (10_000, 200, 1.0, False),
        (10_000, 200, math.inf, True),
    ):
        model = DPAdditiveRegressor(interactions="auto", epsilon=epsilon)
        assert (model._plan(n_rows, n_features).second is not None) is there


def test_nothing_is_kept_for_products_of_fewer_than_two_free_curves():
    def has_part(n_features, monotonic_cst=None):
        model = DPAdditiveRegressor(monotonic_cst=monotonic_cst)
        return model._plan(10_000, n_features).second is not None

    assert not has_part(1)
    assert has_part(2)
    assert not has_part(3, {"a": 1, 2: -1})
    assert has_part(3, {"a": 1, "b": 0})
    assert not has_part(3, [0, 1, 1])
    assert has_part(3, np.array([0, 1, 0]))


WITHOUT_PRODUCTS = {
    "three classes": (DPAdditiveClassifier(classes=[0, 1, 2]), lambda y: np.arange(len(y)) % 3),
    "two targets": (DPAdditiveRegressor(), lambda y: np.column_stack([y, y])),
    "counts": (DPAdditiveRegressor(loss="poisson"), np.abs),
    "amounts": (DPAdditiveRegressor(loss="gamma"), lambda y: np.abs(y) + 0.1),
}


@pytest.mark.parametrize("case", WITHOUT_PRODUCTS)
def test_where_products_cannot_be_made_the_fit_is_that_without(case):
    model, made_of = WITHOUT_PRODUCTS[case]
    X, y = rows(n_rows=300)
    y = made_of(y)
    found = clone(model).set_params(**AUTO).fit(X, y)
    alone = clone(model).set_params(**AUTO | {"interactions": None}).fit(X, y)
    np.testing.assert_array_equal(found.explain(X), alone.explain(X))
    assert found.privacy_report_.events == alone.privacy_report_.events
    assert [term.kind for term in found.terms_] == [term.kind for term in alone.terms_]
    # As it is planned, where a pipeline or a search charges for it.
    n_outputs = {"three classes": 3, "two targets": 2}.get(case, 1)
    assert found._plan(300, 3, n_outputs).second is None


def test_no_other_word_is_taken(tmp_path):
    X, y = rows(n_rows=300)
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=30.0, delta=1e-4)
    with pytest.raises(ValueError, match="interactions"):
        DPAdditiveRegressor(interactions="all", ledger=ledger).fit(X, y)
    assert len(ledger.to_frame()) == 0


def test_it_is_the_default():
    for model in (DPAdditiveRegressor(), DPAdditiveClassifier()):
        assert model.interactions == "auto"


@pytest.mark.parametrize("sign", [1, -1])
def test_constrained_curves_are_in_no_product_and_stay_monotone(sign):
    X, y = rows()
    model = DPAdditiveRegressor(monotonic_cst={"z": sign}, **AUTO).fit(X, y)
    assert [term.name for term in model.terms_[3:]] == ["x x w"]
    z = model.terms_[1]
    steps = sign * np.diff(z.values[: len(z.knots)])
    assert (steps >= -1e-12).all()


def test_a_curve_that_would_be_turned_round_is_flat():
    basis = terms()
    view = view_of(basis)
    coefs = np.append(-np.ones(view.n_columns), 0.0)
    first = Fitted(COEFS[np.newaxis], np.eye(8), basis, ())
    second = Fitted(coefs[np.newaxis], np.eye(view.n_columns), view, ())
    turned = first.followed_by(second, view, [1, 0, 0])
    np.testing.assert_array_equal(turned.coefs[0, :4], 0.0)
    assert (turned.coefs[0, 4:] != 0.0).all()


def test_without_privacy_products_are_found():
    X, y = rows()
    settings = {"epsilon": math.inf}
    model = DPAdditiveRegressor(interactions="auto", **settings).fit(X, y)
    alone = DPAdditiveRegressor(interactions=None, **settings).fit(X, y)
    assert model.score(X, y) > alone.score(X, y) + 0.1
    assert model.privacy_report_.epsilon == math.inf


@pytest.mark.long
def test_groups_and_weights():
    X, y = with_labels(n_rows=900)
    model = DPAdditiveClassifier(classes=[0, 1], **AUTO | {"epsilon": 60.0})
    by_person = clone(model).fit(X, y, groups=np.arange(len(X)) // 2)
    assert by_person.terms_[-1].kind == "product"
    assert by_person.privacy_report_.unit == "one group"
    weights = np.ones(len(X))
    once = clone(model).fit(X, y, public_weight=weights)
    weights[:100] = 0.0
    without = clone(model).fit(X, y, public_weight=weights)
    assert once.terms_[-1].kind == without.terms_[-1].kind == "product"
    weighed = clone(model).set_params(class_weight={0: 1.0, 1: 3.0}).fit(X, y)
    shift = weighed.predict_proba(X)[:, 1].mean() - once.predict_proba(X)[:, 1].mean()
    assert shift > 0.05


def test_columns_alike_in_all_rows_have_no_strength():
    """Nothing is divided by a spread of 0."""
    X = np.column_stack([np.zeros(600), np.ones(600)])
    model = DPAdditiveRegressor(**AUTO).fit(X, np.ones(600))
    assert np.isfinite(model.explain(X)).all()


def test_the_penalty_follows_noise_and_what_curves_tell():
    view = view_of(terms())
    for rules in additive_tuned.PRODUCT_RULES.values():
        noise = 1e-3
        of_noise = (rules.clip * 7 * noise / rules.curvature) ** 2
        expected = rules.penalty * noise + rules.curvature * of_noise / (0.3 * view.variance)
        assert view.penalty(rules, noise) == pytest.approx(expected)
        assert view.penalty(rules, 0.0) == 0.0
        assert view.penalty(rules, 1e9) == 100.0


@pytest.mark.long
def test_rows_of_weight_0_are_in_neither_fit():
    X, y = rows(n_rows=600)
    weights = np.where(np.arange(600) < 50, 0.0, 1.0)
    other = X.copy()
    other.loc[:49, "x"] = 1e6
    other.loc[:49, "w"] = "spy"
    model = DPAdditiveRegressor(**AUTO)
    first = clone(model).fit(X, y, public_weight=weights)
    second = clone(model).fit(other, y, public_weight=weights)
    np.testing.assert_array_equal(first.explain(X), second.explain(X))


@pytest.mark.long
def test_a_strong_penalty_leaves_the_first_fit(monkeypatch):
    """It is of the distance from there, where steps begin."""
    X, y = rows()
    alone = DPAdditiveRegressor(**AUTO | {"interactions": None}).fit(X, y)
    strong = RULES._replace(penalty=1e9)
    monkeypatch.setitem(additive_tuned.PRODUCT_RULES, "squared_error", strong)
    model = DPAdditiveRegressor(**AUTO).fit(X, y)
    assert max(abs(term.values[0]) for term in model.terms_[3:]) < 0.02
    assert abs(model.score(X, y) - alone.score(X, y)) < 0.02
    spread = [np.std(one.explain(X)[:, 1]) for one in (model, alone)]
    assert spread[0] == pytest.approx(spread[1], rel=0.1)


@pytest.mark.long
@pytest.mark.parametrize(("model", "data"), CASES, ids=IDS)
def test_the_noise_of_a_product_is_about_what_is_said(model, data):
    """It is said of the curves as they are: those of a weak product change it by little."""
    X, y = data()
    settings = {} if hasattr(model, "classes") else {"target_bounds": (-6.0, 6.0)}
    values, said = [], []
    for seed in range(40):
        settings |= AUTO | {"random_state": seed}
        (product,) = [
            term
            for term in clone(model).set_params(**settings).fit(X, y).terms_
            if term.name == "x x w"
        ]
        values.append(product.values[0])
        said.append(product.std[0])
    assert 0.5 < np.std(values) / np.sqrt(np.mean(np.square(said))) < 2.0
