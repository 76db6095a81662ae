"""Predictions by look-up are what all columns times their coefficients are, and to the last bit a
row's own, whatever is beside it."""

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from tests._loops import for_each
from tests.door import (
    Basis,
    BasisWithProducts,
    BoundedCurve,
    Frame,
    HatsTerm,
    LineTerm,
    LookUp,
    PairTerm,
    ProductTerm,
    Words,
    WordsTerm,
    count_up_to,
    fused_module,
    look_up_module,
    products_by_column,
    read_rows_of_table,
)

KNOTS = np.array([-1.0, 0.25, 2.0, 2.5, 90.0])
WAYS = [False, pytest.param(True, marks=pytest.mark.skipif(not find_spec("numba"), reason="numba"))]
N_ROWS = 300


def numbers(rng):
    """Entries on knots, beyond them, on a spike, gaps, and others."""
    special = np.array([-1e308, -1.0, 0.0, -0.0, 5e-324, 0.25, 1.0, 2.5, 90.0, 1e300, np.nan, 7.0])
    return np.where(rng.random(N_ROWS) < 0.3, rng.choice(special, N_ROWS), rng.normal(1, 2, N_ROWS))


def frame_of(rng):
    x, z = numbers(rng), numbers(rng)
    words = Words(rng.integers(0, 5, N_ROWS), ("a", np.nan, "new", "1", "b"))
    return Frame(("x", "z", "w"), (), (), (x, z, words), N_ROWS)


def terms():
    """Terms of all kinds; words are known as numbers or as booleans."""
    x, z = {"name": "x", "feature": 0}, {"name": "z", "feature": 1}
    categories = np.array(["a", np.nan, "True"], dtype=object)
    hats = HatsTerm(**x, knots=KNOTS, spike=0.0, has_gap=True)
    words = WordsTerm(name="w", feature=2, categories=categories)
    line = LineTerm(**z, knots=KNOTS[:2], spike=7.0, has_gap=True, bounds=(-9.0, 7.0))
    many = HatsTerm(**z, knots=np.linspace(-3.0, 5.0, 99))
    own = (
        hats,
        line,
        words,
        many,
        HatsTerm(**x, knots=KNOTS),
        HatsTerm(**x, knots=KNOTS, spike=7.0, bounds=(0.0, 7.0)),
        HatsTerm(**z, knots=KNOTS[:1], spike=0.0, has_gap=True),
        HatsTerm(**z, knots=KNOTS[:1]),
        HatsTerm(**z, knots=KNOTS[:2], has_gap=True),
        LineTerm(**x, knots=KNOTS[[0, -1]]),
    )
    return (*own, PairTerm(hats, words), PairTerm(words, line), PairTerm(own[6], many))


def columns_of(term, frame):
    """The columns of a term, each by its definition alone."""
    if term.kind == "pair":
        first, second = (columns_of(side, frame) for side in (term.first, term.second))
        return np.einsum("ia,ib->iab", first, second).reshape(len(first), -1)
    if term.kind == "words":
        column = frame.columns[term.feature]
        texts = [str(column.known[code]) for code in column.codes]
        texts = [{"1": "True"}.get(text, text) for text in texts]
        known = [str(word) for word in term.categories]
        return np.array([[*(text == word for word in known), text not in known] for text in texts])
    x = frame.columns[term.feature]
    is_gap = np.isnan(x)
    filled = np.where(is_gap, term.knots[term.knots.size // 2], x)
    heights = np.eye(term.knots.size) if term.kind == "hats" else [[-1.0, 1.0]]
    out = [np.interp(filled, term.knots, height) for height in heights]
    cut = x if term.bounds is None else np.clip(x, *term.bounds)
    apart = [] if term.spike is None else [cut == term.spike]
    apart += [is_gap] if term.has_gap else []
    for flag in apart:
        out = [np.where(flag, 0.0, column) for column in out]
    return np.column_stack([*out, *apart])


@pytest.mark.parametrize("is_compiled", WAYS)
@for_each("n_outputs", [1, 3])
def test_values_are_those_of_columns(is_compiled, n_outputs):
    rng = np.random.default_rng(0)
    frame, basis = frame_of(rng), Basis(terms())
    coefs = rng.normal(size=(n_outputs, basis.n_columns))
    with fused_module.sums_compiled(is_compiled):
        looked_up = LookUp(basis, coefs, frame)
        by_term, sums = looked_up.by_term(), looked_up.sums()
    for j, (term, part) in enumerate(zip(basis.terms, basis.slices, strict=True)):
        expected = columns_of(term, frame) @ coefs[:, part].T
        np.testing.assert_allclose(by_term[:, j], expected, rtol=0.0, atol=4e-15)
    np.testing.assert_allclose(sums, by_term.sum(axis=1), rtol=0.0, atol=2e-14)
    np.testing.assert_allclose(sums, basis.matrix(frame) @ coefs.T, rtol=0.0, atol=2e-14)


@for_each("term", terms())
def test_columns_are_as_they_are_defined(term):
    frame = frame_of(np.random.default_rng(1))
    np.testing.assert_allclose(term.columns(frame), columns_of(term, frame), rtol=0.0, atol=1e-15)


def with_products(rng):
    own = terms()[:4]
    curves = [BoundedCurve(rng.normal(size=term.n_columns), 0.3) for term in own]
    places = [(0, 1), (0, 2), (1, 3)]
    products = [ProductTerm(own[a], own[b], (curves[a], curves[b])) for a, b in places]
    # Terms of products are found among the first by the places of their columns.
    columns = (*frame_of(rng).columns, numbers(rng))
    return BasisWithProducts((*own, *products), len(own)), Frame((), (), (), columns, N_ROWS)


@pytest.mark.parametrize("is_compiled", WAYS)
def test_products_are_those_of_curves(is_compiled, monkeypatch):
    rng = np.random.default_rng(0)
    basis, frame = with_products(rng)
    monkeypatch.setattr(ProductTerm, "features", property(lambda term: PLACES[term.name]))
    coefs = rng.normal(size=(1, basis.n_columns))
    with fused_module.sums_compiled(is_compiled):
        found = LookUp(basis, coefs, frame).sums()
    np.testing.assert_allclose(found, basis.matrix(frame) @ coefs.T, rtol=0.0, atol=1e-14)


PLACES = {"x x z": (0, 1), "x x w": (0, 2), "z x z": (1, 3)}


@pytest.mark.parametrize("is_compiled", WAYS)
def test_a_row_has_the_same_bits_wherever_it_lies_and_whatever_computes_it(
    is_compiled, monkeypatch
):
    rng = np.random.default_rng(0)
    frame, basis = frame_of(rng), Basis(terms())
    coefs = rng.normal(size=(2, basis.n_columns))
    with fused_module.sums_compiled(False):
        expected = LookUp(basis, coefs, frame).sums()
    order = rng.permutation(N_ROWS)
    columns = [c[order] if isinstance(c, np.ndarray) else c for c in frame.columns[:2]]
    words = Words(frame.columns[2].codes[order], frame.columns[2].known)
    moved = Frame((), (), (), (*columns, words), N_ROWS)
    for n_rows in (7, N_ROWS):
        monkeypatch.setattr(look_up_module, "_ROWS", n_rows)
        with fused_module.sums_compiled(is_compiled):
            found = LookUp(basis, coefs, moved).sums()
            terms_found = LookUp(basis, coefs, moved).by_term()
        np.testing.assert_array_equal(found, expected[order])
        in_order = sum(terms_found[:, j] for j in range(terms_found.shape[1]))
        np.testing.assert_array_equal(found, in_order)


def test_many_predictions_are_compiled(monkeypatch):
    asked = []
    monkeypatch.setattr(fused_module, "_compiled", asked.append)
    assert fused_module.kernels_for_terms(fused_module.WORTHWHILE_PLACES - 1) is None
    assert asked == []
    # Without numba NumPy does it.
    assert fused_module.kernels_for_terms(fused_module.WORTHWHILE_PLACES) is None
    assert asked == ["kernels_terms"]


@for_each("n_numbers", [0, 1, 64, 65, 200])
def test_numbers_are_counted_as_a_search_finds_them(n_numbers):
    rng = np.random.default_rng(0)
    given = np.sort(rng.integers(-9, 9, n_numbers).astype(float))
    x = np.append(rng.integers(-11, 11, 200), [-1e308, 1e308]).astype(float)
    found = count_up_to(given, x)
    np.testing.assert_array_equal(found, np.searchsorted(given, x, side="right"))
    assert found.dtype == np.intp


def table(rng, n_rows=1500):
    frame = pd.DataFrame({"age": rng.integers(18, 90, n_rows).astype(float)})
    frame["income"] = np.where(rng.random(n_rows) < 0.4, 0.0, rng.lognormal(10.0, 1.0, n_rows))
    frame["job"] = rng.choice(["nurse", "clerk", "smith"], n_rows, p=[0.5, 0.3, 0.2])
    frame.loc[rng.random(n_rows) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "job"] = None
    return frame


LOUD = {"epsilon": 20.0, "random_state": 0}
# Each with the number of its values, and the kinds of its terms.
MODELS = {
    "products": (DPAdditiveClassifier(classes=[0, 1]), 2, "hats hats words" + 3 * " product"),
    "one rises": (DPAdditiveClassifier(classes=[0, 1], monotonic_cst={"age": 1}), 2, None),
    "three classes": (
        DPAdditiveClassifier(classes=[0, 1, 2], interactions=[("age", "job")]),
        3,
        "hats hats words pair",
    ),
    "targets": (DPAdditiveRegressor(target_bounds=(0, 1), interactions=None), 2, "hats hats words"),
    "counts": (DPAdditiveRegressor(loss="poisson", target_bounds=(0, 2)), 2, "hats hats words"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", MODELS)
def test_models_predict_as_linear_models_of_all_columns(name, rng, monkeypatch):
    model, n_values, kinds = MODELS[name]
    X = table(rng)
    y = 0 + (X["age"] > 50) + (X["job"] == "nurse") + (X["income"] == 0.0)
    y = np.minimum(y, 2) if n_values > 2 else (y > 1).astype(int)
    model = clone(model).set_params(**LOUD)
    groups = np.arange(len(X)) // 2 if name == "targets" else None
    model.fit(X, y, groups=groups)
    assert kinds in (None, " ".join(term.kind for term in model._basis.terms))
    new = table(rng, 200)
    new.loc[:5, "job"] = "a new word"
    new.loc[6:9, "age"] = [-1e9, 1e9, 0.0, 18.0]
    columns = model._basis.matrix(read_rows_of_table(model, new))

    def no_matrix(*args):
        raise AssertionError("a prediction made all columns")

    monkeypatch.setattr(Basis, "matrix", no_matrix)
    monkeypatch.setattr(BasisWithProducts, "matrix", no_matrix)
    close = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(model.predict(new), model._model.predict(columns), **close)
    parts = [columns[:, part] @ model._model.coef_.T[part] for part in model._basis.slices]
    expected = np.squeeze(np.stack(parts, axis=1)) - np.squeeze(model._offsets)
    np.testing.assert_allclose(model.explain(new), expected, **close)
    if hasattr(model, "classes_"):
        scores = model._model.decision_function(columns)
        np.testing.assert_allclose(model.decision_function(new), scores, **close)
        odds = model._model.predict_proba(columns)
        np.testing.assert_allclose(model.predict_proba(new), odds, **close)
        np.testing.assert_allclose(model.predict_log_proba(new), np.log(odds), **close)
    assert_rows_stand_alone(model, new)


def assert_rows_stand_alone(model, X):
    together = model.predict(X)
    np.testing.assert_array_equal(model.predict(X[::-1])[::-1], together)
    np.testing.assert_array_equal(model.predict(X[3:4]), together[3:4])
    with pytest.raises(ValueError, match="at least one row"):
        model.predict(X[:0])
    narrow = X.assign(age=X["age"].astype(np.float32))
    np.testing.assert_array_equal(model.predict(narrow), together)


def test_sparse_rows_are_refused_as_in_a_fit(rng):
    X = rng.normal(size=(400, 2))
    model = DPAdditiveClassifier(classes=[0, 1], random_state=0).fit(X, (X[:, 0] > 0).astype(int))
    with pytest.raises(TypeError, match="sparse"):
        model.predict(csr_array(X))


def test_a_frame_of_floats_is_read_without_a_copy(rng):
    X = pd.DataFrame({"x": rng.normal(size=400), "z": rng.normal(size=400)})
    y = (X["x"] > 0).astype(int)
    model = DPAdditiveClassifier(classes=[0, 1], random_state=0).fit(X, y)
    before = X.copy()
    columns = read_rows_of_table(model, X).columns
    assert all(np.shares_memory(column, X[name]) for column, name in zip(columns, X, strict=True))
    model.explain(X)
    pd.testing.assert_frame_equal(X, before)


@pytest.mark.long
@pytest.mark.skipif(not find_spec("numba"), reason="numba")
@for_each("n_rows", [1, N_ROWS])
def test_rows_of_codes_are_those_of_columns(n_rows):
    frame = frame_of(np.random.default_rng(0))
    frame = frame.take(np.arange(N_ROWS) < n_rows)
    for basis in (Basis(terms()), Basis(terms()[3:4]), Basis(terms()[7:8]), Basis(terms()[10:])):
        expected = basis.matrix(frame)
        for kernels in (None, fused_module.kernels_of_codes()[1]):
            rows = basis.coded_rows(frame, kernels)
            assert rows.shape == expected.shape
            found = rows[:]
            np.testing.assert_array_equal(found.toarray(), expected)
            assert found.has_canonical_format
            # How many entries a row has tells nothing of it.
            np.testing.assert_array_equal(np.diff(found.indptr), basis.n_entries)
        np.testing.assert_array_equal(rows[3:5].toarray(), expected[3:5])
        assert basis.n_entries == sum(term.n_entries for term in basis.terms)
        check_products(rows, basis, expected)


def check_products(rows, basis, columns):
    rng = np.random.default_rng(1)
    weights = rng.normal(size=basis.n_columns)
    close = {"rtol": 0.0, "atol": 1e-13}
    np.testing.assert_allclose(rows @ weights, columns @ weights, **close)
    by_part = [products_by_column(columns[:, part], weights[part]) for part in basis.slices]
    np.testing.assert_array_equal(rows.sums_by_part(weights), np.transpose(by_part))
    lengths = np.linalg.norm(columns, axis=1)
    np.testing.assert_allclose(rows.lengths_from(np.zeros(basis.n_columns)), lengths, **close)
    distances = np.linalg.norm(columns - weights, axis=1)
    found = rows.lengths_from(weights)
    np.testing.assert_allclose(found, distances, rtol=0.0, atol=1e-9)
    # What is certified is never too short.
    assert (found >= distances * (1.0 - 1e-15)).all()


@pytest.mark.long
@pytest.mark.skipif(not find_spec("numba"), reason="numba")
@pytest.mark.parametrize("name", ["products", "counts", "three classes"])
def test_a_fit_by_codes_is_that_by_columns(name, rng, monkeypatch):
    model, n_values, _ = MODELS[name]
    X = table(rng)
    y = 0 + (X["age"] > 50) + (X["job"] == "nurse") + (X["income"] == 0.0)
    y = np.minimum(y, 2) if n_values > 2 else (y > 1).astype(int)
    asked, found = [], []
    real = Basis.coded_rows
    monkeypatch.setattr(Basis, "coded_rows", lambda *args: asked.append(args) or real(*args))
    for is_compiled in (False, True):
        with fused_module.sums_compiled(is_compiled):
            found.append(clone(model).set_params(**LOUD).fit(X, y, public_weight=np.arange(1500)))
        assert len(asked) == is_compiled
    # The noise is the same but for what rounding adds to bounds.
    np.testing.assert_allclose(found[1].predict(X), found[0].predict(X), rtol=1e-4, atol=1e-4)
    assert [t.kind for t in found[0].terms_] == [t.kind for t in found[1].terms_]
    with fused_module.sums_compiled(True):
        clone(model).set_params(**LOUD).fit(X, y, groups=np.arange(1500) // 2)
    assert len(asked) == 1
