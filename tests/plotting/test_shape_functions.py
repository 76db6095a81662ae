from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from skdp.additive import DPAdditiveClassifier
from skdp.linear_model import DPRidge
from skdp.plotting import ShapeFunctionDisplay

plt = pytest.importorskip("matplotlib.pyplot", reason="needs the extra [plot]")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.uniform(18, 90, 3000)})
    frame["gain"] = np.where(rng.random(3000) < 0.6, 0.0, rng.exponential(100.0, 3000))
    frame["job"] = rng.choice(["nurse", "clerk", None], 3000)
    score = np.sin(frame.age / 10.0) + (frame.job == "nurse") - (frame.gain > 0.0)
    return frame, (rng.random(3000) < 1.0 / (1.0 + np.exp(-2.0 * score))).astype(int)


@pytest.fixture(scope="module")
def model(table):
    pairs = [("age", "job")]
    options = {"epsilon": 20.0, "random_state": 0, "interactions": pairs}
    return DPAdditiveClassifier(classes=[0, 1], **options).fit(*table)


def test_all_terms_are_drawn_at_their_values(model):
    display = ShapeFunctionDisplay.from_estimator(model)
    assert [ax.get_title() for ax in display.axes_] == ["age", "gain", "job", "age x job"]
    age, gain, job, pair = display.axes_
    curve, term = age.lines[0], model.terms_[0]
    np.testing.assert_array_equal(curve.get_xdata(), term.knots)
    np.testing.assert_array_equal(curve.get_ydata(), term.values[: term.knots.size])
    band = age.collections[0].get_paths()[0].vertices
    high = (term.values + 2.0 * term.std)[: term.knots.size]
    assert np.isin(high, band[:, 1]).all()
    assert [text.get_text() for text in gain.texts] == ["is 0"]
    dots = job.lines[0]
    np.testing.assert_array_equal(dots.get_ydata(), model.terms_[2].values)
    values = model.terms_[3].values
    image = pair.images[0].get_array()
    np.testing.assert_array_equal(image.T.ravel(), values)
    assert "added for privacy" in display.figure_.get_suptitle()


def test_a_product_is_drawn_as_one_number(table):
    X, y = table
    settings = {"epsilon": 20.0, "random_state": 0, "interactions": "auto"}
    model = DPAdditiveClassifier(classes=[0, 1], **settings).fit(X, y)
    display = ShapeFunctionDisplay.from_estimator(model, terms=["age x gain"])
    (term,) = display.terms
    (ax,) = display.axes_
    assert ax.lines[0].get_ydata().tolist() == term.values.tolist()
    (bar,) = ax.collections[0].get_segments()
    np.testing.assert_allclose(np.diff(bar[:, 1]), 4.0 * term.std)


def test_a_knot_that_stands_alone_has_its_noise(table):
    X = pd.DataFrame({"visits": np.random.default_rng(0).poisson(0.25, 3000)})
    model = DPAdditiveClassifier(classes=[0, 1], random_state=0).fit(X, table[1])
    (ax,) = ShapeFunctionDisplay.from_estimator(model).axes_
    (term,) = model.terms_
    assert term.labels == ("visits_is_not_0", "visits_is_0")
    ends = [one.get_segments()[0][:, 1] for one in ax.collections if hasattr(one, "get_segments")]
    np.testing.assert_allclose(ends[0], term.values[0] + np.array([-2, 2]) * term.std[0])
    assert ax.get_xticks().tolist() == [1.0]


def test_chosen_terms_in_given_axes(model):
    figure, (_, right) = plt.subplots(1, 2)
    display = ShapeFunctionDisplay.from_estimator(model, ["job", 0], ax=right)
    assert display.figure_ is figure
    assert [ax.get_title() for ax in display.axes_] == ["job", "age"]
    assert all(ax.get_position().x0 > 0.5 for ax in display.axes_)


@pytest.mark.long
def test_several_classes_have_a_legend(table):
    X, y = table
    model = DPAdditiveClassifier(classes=[0, 1, 2], epsilon=20.0, random_state=0)
    display = ShapeFunctionDisplay.from_estimator(model.fit(X, y + (X.job == "clerk")))
    names = [text.get_text() for text in display.axes_[0].get_legend().get_texts()]
    assert names == ["0", "1", "2"]


@pytest.mark.long
def test_no_name_or_word_is_taken_for_a_formula(table):
    X, y = table
    X = X.rename(columns={"age": "$^$"})
    X["job"] = X["job"].replace({"clerk": "$_{$"})
    options = {"epsilon": 20.0, "interactions": [("$^$", "job")], "random_state": 0}
    labels = np.where(y == 1, "$^1$", "$^0$")
    labels[:100] = "$^2$"
    model = DPAdditiveClassifier(classes=["$^0$", "$^1$", "$^2$"], **options).fit(X, labels)
    display = ShapeFunctionDisplay.from_estimator(model)
    # It would be an error of what reads formulas.
    display.figure_.canvas.draw()
    assert r"\$_{\$" in [text.get_text() for text in display.axes_[2].get_xticklabels()]


@pytest.mark.long
def test_a_pair_of_several_classes_alone_has_no_legend(table):
    X, y = table
    model = DPAdditiveClassifier(
        classes=[0, 1, 2], epsilon=20.0, interactions=[tuple(X.columns[:2])]
    )
    model.set_params(random_state=0).fit(X, y)
    display = ShapeFunctionDisplay.from_estimator(model, terms=[len(model.terms_) - 1])
    assert display.axes_[0].get_legend() is None


def test_noise_is_said():
    rng = np.random.default_rng(0)
    model = DPAdditiveClassifier(classes=[0, 1], epsilon=0.1, random_state=0)
    model.fit(rng.random((100, 2)), rng.integers(0, 2, 100))
    display = ShapeFunctionDisplay.from_estimator(model)
    assert [ax.get_title() for ax in display.axes_] == ["x0 (noise)", "x1 (noise)"]
    assert display.figure_.get_suptitle().startswith("The noise hides")


def test_weak_terms_that_keep_their_values_are_not_said_to_be_hidden(model):
    weak = tuple(replace(term, is_noise=True) for term in model.terms_)
    display = ShapeFunctionDisplay(terms=weak, outputs=("contribution",)).plot()
    assert display.axes_[0].get_title().endswith("(noise)")
    assert display.figure_.get_suptitle().startswith("Bands")


def test_what_can_be_drawn(model):
    with pytest.raises(NotFittedError):
        ShapeFunctionDisplay.from_estimator(DPAdditiveClassifier())
    with pytest.raises(TypeError, match="additive"):
        ShapeFunctionDisplay.from_estimator(DPRidge())
    for terms in ([], ["nobody"], [4], [0.5]):
        with pytest.raises(ValueError, match="terms must be"):
            ShapeFunctionDisplay.from_estimator(model, terms)
    with pytest.raises(TypeError, match="ax"):
        ShapeFunctionDisplay.from_estimator(model, ax="here")
