"""Explanations of one prediction: as a frame, and as a waterfall."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import expit
from sklearn.exceptions import NotFittedError

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from skdp.calibration import DPCalibratedClassifier
from skdp.linear_model import DPRidge
from skdp.model_selection import DPGridSearch
from skdp.plotting import ExplanationDisplay, ShapeFunctionDisplay

plt = pytest.importorskip("matplotlib.pyplot", reason="needs the extra [plot]")

SETTINGS = {"epsilon": 20.0, "random_state": 0}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.uniform(18, 90, 2000).round()})
    frame["since"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 2000), "D")
    frame["job"] = rng.choice(["nurse", "clerk", None], 2000)
    score = np.sin(frame.age / 10.0) + (frame.job == "nurse")
    late = rng.random(2000) < 1.0 / (1.0 + np.exp(-2.0 * score))
    return frame, np.where(late, "late", "in time")


@pytest.fixture(scope="module")
def model(table):
    pairs = [("age", "job")]
    model = DPAdditiveClassifier(classes=["in time", "late"], interactions=pairs, **SETTINGS)
    return model.fit(*table)


@pytest.fixture(scope="module")
def calibrated(table):
    inner = DPAdditiveClassifier(classes=["in time", "late"])
    return DPCalibratedClassifier(inner, **SETTINGS).fit(*table)


def test_an_explanation_is_a_frame_with_what_rows_hold(model, table):
    X = table[0].iloc[[7, 3]]
    found = model.explain(X, as_frame=True)
    assert list(found.columns) == ["row", "term", "value", "contribution"]
    assert found["row"].tolist() == [7] * 4 + [3] * 4
    assert found["term"].tolist() == [term.name for term in model.terms_] * 2
    np.testing.assert_array_equal(found["contribution"], model.explain(X).ravel())
    assert found["value"].tolist()[:2] == [X.iloc[0, 0], X.iloc[0, 1]]
    job = "missing" if pd.isna(X.iloc[1, 2]) else X.iloc[1, 2]
    assert found["value"].tolist()[7] == f"{X.iloc[1, 0]:g} x {job}"


def test_frames_of_other_libraries_and_lists(model, table):
    X = table[0].iloc[:3]
    expected = model.explain(X, as_frame=True)
    of_polars = model.explain(pl.from_pandas(X), as_frame=True)
    assert isinstance(of_polars, pl.DataFrame)
    assert of_polars.columns == list(expected.columns)
    assert of_polars["contribution"].to_list() == expected["contribution"].tolist()
    assert of_polars["value"].to_list()[:2] == [str(X.iloc[0, 0]), str(X.iloc[0, 1])]
    of_arrow = model.explain(pl.from_pandas(X).to_arrow(), as_frame=True)
    assert of_arrow["contribution"].tolist() == expected["contribution"].tolist()
    rows = [[1.0, "a"], [2.0, "b"], [3.0, None]] * 20
    of_lists = DPAdditiveRegressor(epsilon=float("inf"), interactions=None).fit(rows, range(60))
    found = of_lists.explain(rows[1:3], as_frame=True)
    assert found["row"].tolist() == [0, 0, 1, 1]
    assert found["value"].tolist() == [2.0, "b", 3.0, None]


@pytest.mark.long
def test_several_outputs_have_a_column_each(table):
    X, y = table
    model = DPAdditiveClassifier(classes=["in time", "late", "never"], **SETTINGS)
    model.fit(X[["age"]], y)
    found = model.explain(X[["age"]][:2], as_frame=True)
    names = [f"contribution_{name}" for name in ("in time", "late", "never")]
    assert list(found.columns[3:]) == names
    np.testing.assert_array_equal(found[names], model.explain(X[["age"]][:2])[:, 0])
    display = ExplanationDisplay.from_estimator(model, X[["age"]][:1], target="late")
    assert display.base == model.intercept_[1]
    with pytest.raises(ValueError, match="target"):
        ExplanationDisplay.from_estimator(model, X[["age"]][:1])


@pytest.mark.long
def test_calibrated_contributions_add_up(calibrated, table):
    X = table[0].iloc[:50]
    found = calibrated.explain(X)
    scores = calibrated.decision_function(X)
    np.testing.assert_allclose(found.sum(axis=1) + calibrated.intercept_, scores)
    inner = calibrated.estimator_
    np.testing.assert_allclose(found, calibrated.slope_ * inner.explain(X))
    assert calibrated.slope_ != 1.0
    for frame in (X, pl.from_pandas(X)):
        listed = calibrated.explain(frame, as_frame=True)["contribution"]
        np.testing.assert_allclose(np.asarray(listed), found.ravel())
    for ours, theirs in zip(calibrated.terms_, inner.terms_, strict=True):
        np.testing.assert_allclose(ours.values, calibrated.slope_ * theirs.values)
        np.testing.assert_allclose(ours.std, calibrated.slope_ * theirs.std)
        assert ours.importance == pytest.approx(calibrated.slope_ * theirs.importance)
    values = np.concatenate([term.values for term in calibrated.terms_])
    np.testing.assert_allclose(calibrated.to_frame()["value"], values)


def test_only_additive_classifiers_of_two_classes_have_terms_after_calibration(calibrated, table):
    assert hasattr(calibrated, "explain")
    unfitted = DPCalibratedClassifier(DPAdditiveClassifier())
    assert not hasattr(unfitted, "terms_")
    with pytest.raises(NotFittedError):
        unfitted.explain(table[0])
    linear = DPCalibratedClassifier(DPRidge())
    assert not any(hasattr(linear, name) for name in ("explain", "to_frame", "terms_"))


@pytest.mark.long
def test_calibrated_log_odds_of_several_classes_are_no_sums(table):
    X, y = table
    inner = DPAdditiveClassifier(classes=["in time", "late", "never"])
    model = DPCalibratedClassifier(inner, **SETTINGS).fit(X[["age"]], y)
    assert not any(hasattr(model, name) for name in ("explain", "to_frame", "terms_", "intercept_"))


@pytest.mark.long
def test_a_search_explains_what_it_chose(table):
    X, y = table[0][["age"]], table[1]
    inner = DPAdditiveClassifier(classes=["in time", "late"])
    search = DPGridSearch(inner, {"alpha": [0.1, 0.01]}, **SETTINGS)
    assert not hasattr(search, "terms_")
    search.fit(X, y)
    best = search.best_estimator_
    np.testing.assert_array_equal(search.explain(X[:5]), best.explain(X[:5]))
    assert search.explain(X[:5], as_frame=True).equals(best.explain(X[:5], as_frame=True))
    assert search.to_frame().equals(best.to_frame())
    assert [term.name for term in search.terms_] == ["age"]
    assert ShapeFunctionDisplay.from_estimator(search).figure_.get_supylabel().endswith("'late'")
    display = ExplanationDisplay.from_estimator(search, X[:1])
    assert display.base == best.intercept_[0]


@pytest.mark.long
def test_a_waterfall_leads_from_the_base_rate_to_the_risk(model, table):
    row = table[0].iloc[[3]]
    display = ExplanationDisplay.from_estimator(model, row)
    bars = display.ax_.patches
    parts = model.explain(row)[0]
    order = np.argsort(-np.abs(parts))
    np.testing.assert_allclose([bar.get_width() for bar in bars], parts[order])
    assert bars[0].get_x() == model.intercept_[0]
    for one, other in itertools.pairwise(bars):
        assert other.get_x() == pytest.approx(one.get_x() + one.get_width())
    end = bars[-1].get_x() + bars[-1].get_width()
    assert expit(end) == pytest.approx(model.predict_proba(row)[0, 1])
    names = [text.get_text().replace("\n", " ") for text in display.ax_.get_yticklabels()]
    job = "missing" if pd.isna(row.iloc[0, 2]) else row.iloc[0, 2]
    assert names[0] == "base"
    assert names[-1] == "this row"
    assert {f"age = {row.iloc[0, 0]:g}", f"job = {job}"} <= set(names)
    said = [text.get_text() for text in display.ax_.texts]
    assert said[0] == f"x {np.exp(parts[order[0]]):.2f}"
    assert said[-1] == f"{100.0 * expit(end):.3g} %"
    assert display.ax_.get_xlabel() == "probability of 'late'"
    display.figure_.canvas.draw()
    ticks = {
        t.get_text(): x
        for t, x in zip(display.ax_.get_xticklabels(), display.ax_.get_xticks(), strict=True)
    }
    assert len(ticks) >= 2
    for text, place in ticks.items():
        assert 100.0 * expit(place) == pytest.approx(float(text.removesuffix(" %")), rel=1e-3)


def test_the_weakest_terms_are_one_bar(model, table):
    row = table[0].iloc[[3]]
    display = ExplanationDisplay.from_estimator(model, row, max_terms=2)
    parts = model.explain(row)[0]
    weakest = np.argsort(np.abs(parts))[:2]
    assert display.ax_.patches[-1].get_width() == pytest.approx(parts[weakest].sum())
    assert "2 other terms" in [text.get_text() for text in display.ax_.get_yticklabels()]
    assert repr(display) == (
        "ExplanationDisplay of the probability of 'late': 2 terms and the sum of 2 others"
    )
    whole = ExplanationDisplay.from_estimator(model, row, max_terms=None)
    assert len(whole.ax_.patches) == 4
    assert repr(whole).endswith("'late': 4 terms")


def test_terms_that_are_noise_are_grey():
    display = ExplanationDisplay(
        terms=("a = 1", "b = 2"), contributions=[1.0, -0.5], base=0.0, are_noise=[False, True]
    ).plot()
    first, second = (bar.get_facecolor()[:3] for bar in display.ax_.patches)
    assert len(set(second)) == 1 < len(set(first))
    assert "noise alone" in display.figure_.get_supxlabel()


@pytest.mark.parametrize(("loss", "axis"), [("squared_error", "linear"), ("poisson", "ratio")])
def test_predictions_have_their_units(table, loss, axis):
    X = table[0][["age"]]
    model = DPAdditiveRegressor(loss=loss, **SETTINGS).fit(X, X["age"] > 40)
    display = ExplanationDisplay.from_estimator(model, X[:1])
    assert display.axis == axis
    said = [text.get_text() for text in display.ax_.texts]
    assert float(said[-1]) == pytest.approx(model.predict(X[:1])[0], rel=0.01)
    assert said[0].startswith("x " if loss == "poisson" else ("+", "-"))


def test_it_draws_on_given_axes_and_refuses_what_it_cannot_draw(model, table):
    X = table[0]
    _, ax = plt.subplots()
    assert ExplanationDisplay.from_estimator(model, X[:1], ax=ax).ax_ is ax
    for settings in ({"row": X[:2]}, {"max_terms": 0}, {"target": "in time"}):
        with pytest.raises(ValueError, match=next(iter(settings))):
            ExplanationDisplay.from_estimator(model, **({"row": X[:1]} | settings))
    with pytest.raises(TypeError, match="additive"):
        ExplanationDisplay.from_estimator(DPRidge(), X[:1])
    with pytest.raises(NotFittedError):
        ExplanationDisplay.from_estimator(DPAdditiveClassifier(), X[:1])
