from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from skdp.linear_model import DPRidge
from skdp.plotting import ShapeFunctionDisplay
from tests._loops import for_each
from tests.door import date_ticks, log_ratio_ticks, ratio_text

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


def ticks(axis):
    return [tick.get_text().strip() for tick in axis.get_ticklabels()]


@pytest.mark.long
def test_terms_are_drawn_at_their_values_the_strongest_first(model):
    display = ShapeFunctionDisplay.from_estimator(model)
    by_strength = sorted(model.terms_, key=lambda term: -term.importance)
    assert [ax.get_title() for ax in display.axes_] == [term.name for term in by_strength]
    axes = dict(zip([term.name for term in display.terms], display.axes_, strict=True))
    age, gain, job, pair = (axes[term.name] for term in model.terms_)
    (curve,) = [line for line in age.lines if line.get_marker() == "."]
    term = model.terms_[0]
    np.testing.assert_array_equal(curve.get_xdata(), term.knots)
    np.testing.assert_array_equal(curve.get_ydata(), term.values[: term.knots.size])
    band = age.collections[0].get_paths()[0].vertices
    high = (term.values + 2.0 * term.std)[: term.knots.size]
    assert np.isin(high, band[:, 1]).all()
    assert "= 0" in ticks(gain.xaxis)
    dots = [line for line in job.lines if line.get_marker() == "o"]
    np.testing.assert_array_equal(dots[0].get_ydata(), np.sort(model.terms_[2].values[:3]))
    assert ticks(job.xaxis) == [
        model.terms_[2].labels[j].removeprefix("job_")
        for j in np.argsort(model.terms_[2].values[:3])
    ]
    (dot,) = [line for line in pair.lines if line.get_marker() == "D"]
    assert dot.get_ydata() == [model.terms_[3].importance]
    assert "added for privacy" in display.note_
    assert display.figure_.get_supxlabel().replace("\n", " ") == display.note_
    assert "Left out" not in display.note_


@pytest.mark.long
def test_all_panels_share_an_axis_of_odds_ratios(model):
    display = ShapeFunctionDisplay.from_estimator(model)
    low, high = display.axes_[0].get_ylim()
    assert all(ax.get_ylim() == (low, high) for ax in display.axes_)
    values = np.concatenate([term.values for term in display.terms[:3]])
    assert low < values.min()
    assert values.max() < high
    display.figure_.canvas.draw()
    texts = ticks(display.axes_[0].yaxis)
    places = dict(zip(texts, display.axes_[0].get_yticks(), strict=True))
    assert places["1"] == 0.0
    for text, ratio in (("1/2", 0.5), ("2", 2.0), ("1/4", 0.25), ("4", 4.0), ("10", 10.0)):
        assert places.get(text, np.log(ratio)) == pytest.approx(np.log(ratio))
    assert len(texts) >= 3
    assert display.figure_.get_supylabel() == "odds ratio of class 1"
    labelled = [ax.yaxis.get_tick_params()["labelleft"] for ax in display.axes_]
    # Of two panels side by side the left one has the ticks.
    assert labelled == [True, False, True, False]


@pytest.mark.long
def test_shares_of_records_are_bars_of_one_height_at_the_bottom(model):
    display = ShapeFunctionDisplay.from_estimator(model, ["gain"])
    (ax,), (term,) = display.axes_, display.terms
    bars = ax.patches
    heights = np.array([bar.get_height() for bar in bars])
    np.testing.assert_allclose(heights / heights.max(), term.weights / term.weights.max())
    assert len({bar.get_facecolor() for bar in bars}) == 1
    # They end below all values and bands.
    low, high = ax.get_ylim()
    top = low + heights.max() * (high - low)
    assert top < (term.values - 2.0 * term.std).min()


@pytest.mark.long
def test_noise_and_weak_terms_are_left_out_and_counted(model, monkeypatch):
    first, *others = model.terms_
    monkeypatch.setattr(model, "terms_", (replace(first, is_noise=True), *others))
    display = ShapeFunctionDisplay.from_estimator(model, max_terms=2)
    assert len(display.terms) == 2
    assert (display.n_noise, display.n_weak) == (1, 1)
    assert "1 term that is no larger than noise alone would make it, and 1 weaker" in display.note_
    assert "age" not in [ax.get_title() for ax in display.axes_]
    assert repr(display).endswith("and 1 weaker term)")
    assert len(ShapeFunctionDisplay.from_estimator(model, max_terms=None).axes_) == 3
    # Whoever names a term gets it.
    assert ShapeFunctionDisplay.from_estimator(model, ["age"]).axes_[0].get_title() == "age (noise)"


@pytest.mark.long
@pytest.mark.parametrize("pairs", ["number", "surface"])
def test_a_product_is_one_number_or_a_surface(table, pairs):
    X, y = table
    settings = {"epsilon": 20.0, "random_state": 0, "interactions": "auto"}
    model = DPAdditiveClassifier(classes=[0, 1], **settings).fit(X, y)
    display = ShapeFunctionDisplay.from_estimator(model, terms=["age x gain"], pairs=pairs)
    (term,) = display.terms
    (ax,) = display.axes_
    if pairs == "number":
        (dot,) = [line for line in ax.lines if line.get_marker() == "D"]
        assert dot.get_ydata().tolist() == term.values.tolist()
        (bar,) = ax.collections[0].get_segments()
        np.testing.assert_allclose(np.diff(bar[:, 1]), 4.0 * term.std)
        return
    image = ax.images[0].get_array().T
    # It is what the model adds there, whatever else a row has.
    x = pd.DataFrame({"age": np.repeat(model.terms_[0].knots, 2), "gain": 0.0, "job": "nurse"})
    x.loc[1::2, "gain"] = model.terms_[1].knots[-1]
    added = model.explain(x)[:, [one.name for one in model.terms_].index("age x gain")]
    n_knots, place = len(model.terms_[0].knots), len(model.terms_[1].knots) - 1
    spike = model.terms_[1].labels.index("gain_is_0")
    np.testing.assert_allclose(image[:n_knots, spike], added[::2])
    np.testing.assert_allclose(image[:n_knots, place], added[1::2])


@pytest.mark.long
def test_cells_that_noise_hides_are_hatched(model):
    term = model.terms_[3]
    display = ShapeFunctionDisplay.from_estimator(model, [3], pairs="surface")
    (ax,) = display.axes_
    np.testing.assert_array_equal(ax.images[0].get_array().T.ravel(), term.values)
    (hatched,) = [one for one in ax.collections if one.get_hatch()]
    # What is learnt of words that nobody has, by the counts, is noise.
    empty = term.weights == 0.0
    assert empty.any()
    hidden = empty | (np.abs(term.values) <= 2.0 * term.std)
    assert empty.sum() < hidden.sum() < hidden.size
    assert len(hatched.get_paths()) == hidden.sum()
    first = np.argwhere(hidden.reshape([len(side) for side in term.sides]))[0]
    corner = hatched.get_paths()[0].vertices.min(axis=0)
    np.testing.assert_allclose(corner, first - 0.5)
    assert "Hatched" in display.note_


@pytest.mark.long
def test_few_numbers_are_points(table):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"stays": rng.poisson(0.8, 3000).clip(max=4), "flag": rng.integers(0, 2, 3000)}
    )
    X["age"] = table[0]["age"]
    settings = {"classes": [0, 1], "epsilon": 20.0, "random_state": 0, "interactions": None}
    model = DPAdditiveClassifier(**settings).fit(X, table[1])
    stays, flag, age = ShapeFunctionDisplay.from_estimator(model, [0, 1, 2]).axes_
    texts = ticks(stays.xaxis)
    assert texts[:3] == ["0", "1", "2"]
    assert texts[-1].replace("\n", " ") == f"{len(texts) - 1} or more"
    assert ticks(flag.xaxis) == ["0", "1"]
    assert not [line for line in stays.lines if line.get_marker() == "."]
    assert [line for line in age.lines if line.get_marker() == "."]
    (dots,) = [line for line in stays.lines if line.get_marker() == "o"]
    term = model.terms_[0]
    numbers = term.knots if term.spike is None else np.append(term.knots, term.spike)
    assert dots.get_ydata().tolist() == term.values[np.argsort(numbers)].tolist()


@pytest.mark.filterwarnings("error")
def test_any_span_of_dates_has_few_ticks_and_no_warning():
    for span in np.geomspace(0.05, 9000.0, 60):
        ticks, texts, _ = date_ticks(19310.7, 19310.7 + span)
        assert 1 <= len(ticks) == len(texts) <= 7


def test_a_pair_that_stands_alone_is_whole_and_has_no_shares(table):
    X, y = table
    model = DPAdditiveClassifier(classes=[0, 1], interactions=[("age", "job")], random_state=0)
    display = ShapeFunctionDisplay.from_estimator(model.fit(X, y), ["age x job"])
    (ax,) = display.axes_
    (bars,) = [one.get_segments() for one in ax.collections if hasattr(one, "get_segments")]
    low, high = ax.get_ylim()
    assert low < np.min(bars) <= np.max(bars[0][:, 1]) < high
    assert "shares" not in display.note_


def test_a_knot_that_stands_alone_has_its_noise(table):
    X = pd.DataFrame({"visits": np.random.default_rng(0).poisson(0.25, 3000)})
    model = DPAdditiveClassifier(classes=[0, 1], random_state=0).fit(X, table[1])
    (ax,) = ShapeFunctionDisplay.from_estimator(model, [0]).axes_
    (term,) = model.terms_
    assert term.labels == ("visits_is_not_0", "visits_is_0")
    (bars,) = [one.get_segments() for one in ax.collections if hasattr(one, "get_segments")]
    np.testing.assert_allclose(bars[1][:, 1], term.values[0] + np.array([-2, 2]) * term.std[0])
    assert ticks(ax.xaxis) == ["0", "not 0"]


@pytest.mark.long
def test_labels_are_whole(table):
    X, y = table
    name = "Discharged/transferred to home with home health service"
    X = X.assign(job=X["job"].replace({"nurse": name}))
    model = DPAdditiveClassifier(classes=["on time", "late"], epsilon=20.0, random_state=0)
    model.fit(X, np.where(y, "on time", "late"))
    display = ShapeFunctionDisplay.from_estimator(model, ["job", "age"])
    assert name in [
        text.replace("\n", " ").replace("/ ", "/") for text in ticks(display.axes_[0].xaxis)
    ]
    assert display.figure_.get_supylabel() == "odds ratio of 'on time'"
    # The labels have room below their panel.
    display.figure_.canvas.draw()
    lowest = min(t.get_window_extent().y0 for t in display.axes_[0].get_xticklabels())
    assert lowest > 0


@pytest.mark.long
def test_many_words_are_those_that_do_most(table):
    words = [f"w{j:02d}" for j in range(20)]
    X = pd.DataFrame({"w": np.random.default_rng(0).choice(words, 3000), "age": table[0]["age"]})
    model = DPAdditiveClassifier(classes=[0, 1], epsilon=float("inf"), random_state=0)
    model.fit(X, table[1])
    several = ShapeFunctionDisplay.from_estimator(model, ["w", "age"]).axes_[0]
    assert len(ticks(several.xaxis)) == 12
    assert "8 more words do less" in [text.get_text() for text in several.texts]
    (alone,) = ShapeFunctionDisplay.from_estimator(model, ["w"]).axes_
    assert len(ticks(alone.xaxis)) == 20
    assert not alone.texts


@pytest.mark.long
def test_sizes_follow_the_number_of_panels(model):
    sizes = {}
    for n in (1, 2, 4, 12):
        terms = (model.terms_ * 3)[:n]
        display = ShapeFunctionDisplay(terms=terms, outputs=("effect",)).plot()
        sizes[n] = display.figure_.get_size_inches()
        places = {ax.get_subplotspec().get_geometry()[1] for ax in display.axes_}
        assert places == {{1: 1, 2: 2, 4: 2, 12: 4}[n]}
    assert sizes[1][0] < sizes[4][0] < sizes[12][0]
    assert sizes[2][1] < sizes[4][1] < sizes[12][1]


@pytest.mark.parametrize(("loss", "name"), [("squared_error", "effect"), ("poisson", "ratio")])
def test_targets_have_units_or_ratios(table, loss, name):
    X, y = table
    model = DPAdditiveRegressor(epsilon=20.0, loss=loss, random_state=0).fit(X[["age"]], y)
    display = ShapeFunctionDisplay.from_estimator(model, ["age"])
    assert display.figure_.get_supylabel().startswith(name)
    assert display.ratios == (loss == "poisson")


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (-1.0, 1.0, ["1/2", "2/3", "1", "1.5", "2"]),
        (-2.0, 2.0, ["1/4", "1/2", "1", "2", "4"]),
        (-8.0, 8.0, ["1/1000", "1/100", "1/10", "1", "10", "100", "1000"]),
        (-0.2, 0.1, ["0.85", "0.9", "0.95", "1", "1.05", "1.1"]),
        (-1e-4, 1e-4, ["1"]),
    ],
)
def test_ratios_have_few_digits(low, high, texts):
    assert [ratio_text(tick) for tick in log_ratio_ticks(low, high)] == texts


@for_each("reach", [2.0**k for k in range(-30, 40)])
def test_every_axis_of_ratios_has_a_tick(reach):
    ticks = log_ratio_ticks(-reach, reach)
    assert 1 <= len(ticks) <= 7
    assert 0.0 in ticks


@pytest.mark.long
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
    legends = [ax.get_legend() for ax in display.axes_ if ax.get_legend()]
    names = [text.get_text() for text in legends[0].get_texts()]
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
    texts = [text.get_text() for ax in display.axes_ for text in ax.get_xticklabels()]
    assert r"\$_{\$" in texts


@pytest.mark.long
def test_a_pair_of_several_classes_alone_has_no_legend(table):
    X, y = table
    model = DPAdditiveClassifier(
        classes=[0, 1, 2], epsilon=20.0, interactions=[tuple(X.columns[:2])]
    )
    model.set_params(random_state=0).fit(X, y)
    place = len(model.terms_) - 1
    display = ShapeFunctionDisplay.from_estimator(model, terms=[place], pairs="surface")
    assert display.axes_[0].get_legend() is None


def test_noise_is_said():
    rng = np.random.default_rng(0)
    model = DPAdditiveClassifier(classes=[0, 1], epsilon=0.1, random_state=0)
    model.fit(rng.random((100, 2)), rng.integers(0, 2, 100))
    display = ShapeFunctionDisplay.from_estimator(model)
    assert {ax.get_title() for ax in display.axes_} == {"x0 (noise)", "x1 (noise)"}
    assert "The noise hides" in display.note_
    assert (display.n_noise, display.n_weak) == (0, 0)


@pytest.mark.long
def test_weak_terms_that_keep_their_values_are_not_said_to_be_hidden(model):
    weak = tuple(replace(term, is_noise=True) for term in model.terms_)
    display = ShapeFunctionDisplay(terms=weak, outputs=("contribution",)).plot()
    assert display.axes_[0].get_title().endswith("(noise)")
    assert display.note_.startswith("Bands")
    assert "Grey" in display.note_
    assert "The noise hides" not in display.note_


def test_what_can_be_drawn(model):
    with pytest.raises(NotFittedError):
        ShapeFunctionDisplay.from_estimator(DPAdditiveClassifier())
    with pytest.raises(TypeError, match="additive"):
        ShapeFunctionDisplay.from_estimator(DPRidge())
    for terms in ([], ["nobody"], [4], [0.5]):
        with pytest.raises(ValueError, match="terms must be"):
            ShapeFunctionDisplay.from_estimator(model, terms)
    for settings in ({"max_terms": 0}, {"max_terms": 1.5}, {"pairs": "both"}):
        with pytest.raises(ValueError, match=next(iter(settings))):
            ShapeFunctionDisplay.from_estimator(model, **settings)
    with pytest.raises(TypeError, match="ax"):
        ShapeFunctionDisplay.from_estimator(model, ax="here")
