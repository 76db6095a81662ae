import dataclasses
import functools
import math
import sys
import time

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr, ndtri
from sklearn.base import BaseEstimator

from skdp.accountant import GaussianEvent, LaplaceEvent, PrivacyReport, calibrate, compose
from skdp.audit import AuditResult
from skdp.inspection import predicted_noise
from skdp.linear_model import DPLogisticRegression, DPRidge
from skdp.plotting import (
    PredictedNoiseDisplay,
    PrivacyDisplay,
    PrivacyProfileDisplay,
    PrivacyUtilityDisplay,
    TradeoffDisplay,
)

pytest.importorskip("matplotlib", reason="displays draw with matplotlib, the extra [plot]")
import matplotlib as mpl
import matplotlib.pyplot as plt

INFINITE = float("inf")


@pytest.fixture(autouse=True)
def closed_figures():
    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before


def make_report(epsilon=1.0, rate=0.01, n_steps=200, adjacency="zero_out"):
    noise = calibrate(epsilon, 1e-5, sampling_rate=rate, n_steps=n_steps, adjacency=adjacency)
    return PrivacyReport(
        epsilon=epsilon,
        delta=1e-5,
        adjacency=adjacency,
        events=(GaussianEvent(noise, rate, n_steps, pairwise=adjacency == "replace_label"),),
        clipping=1.0,
        accountant="pld",
    )


PURE = PrivacyReport(
    epsilon=1.0,
    delta=0.0,
    adjacency="zero_out",
    events=(LaplaceEvent(1.0),),
    clipping=1.0,
    accountant="pld",
)
REPORTS = {
    "poisson": make_report,
    "replace_one": functools.partial(make_report, adjacency="replace_one"),
    "replace_label": functools.partial(make_report, rate=1.0, n_steps=1, adjacency="replace_label"),
    "pure": lambda: PURE,
    "composed": lambda: compose([make_report(), make_report(), PURE]),
    "infinite": functools.partial(make_report, INFINITE),
    "strong": functools.partial(make_report, 1e-3),
    "weak": functools.partial(make_report, 60.0, rate=1.0),
    "many_steps": functools.partial(make_report, rate=0.001, n_steps=100_000),
    "two_kinds": lambda: compose([make_report(3.0, n_steps=1000), PURE]),
}


@functools.cache
def report_of(kind):
    """Return a report, which is made for the first test that asks for it."""
    return REPORTS[kind]()


def make_audit(**changes):
    fields = {
        "epsilon_lower_bound": 0.3,
        "epsilon": 1.0,
        "largest_bound": 3.0,
        "delta": 1e-5,
        "confidence": 0.95,
        "adjacency": "zero_out",
        "method": "threshold",
        "n_fits": 1000,
        "n_canaries": 1,
        "positives": 300,
        "true_positives": 120,
        "negatives": 400,
        "false_positives": 80,
        "threshold": 0.1,
    }
    return AuditResult(**(fields | changes))


def legend_texts(display):
    legend = display.ax_.get_legend()
    return [legend.get_title().get_text(), *(text.get_text() for text in legend.get_texts())]


@pytest.mark.parametrize("kind", ["tradeoff", "profile"])
def test_without_matplotlib(kind, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"\[plot\]"):
        PrivacyDisplay.from_report(PURE, kind=kind)


@pytest.mark.long
@pytest.mark.parametrize("kind", REPORTS)
def test_tradeoff_is_what_the_report_says(kind):
    report = report_of(kind)
    display = PrivacyDisplay.from_report(report)
    for rate, missed in zip(display.x[::9], display.y[::9], strict=True):
        assert missed == 1.0 - report.tpr_at(rate)
    assert display.x[0] == 0.0
    assert display.x[-1] == 1.0
    assert np.all(np.diff(display.y) <= 0)
    drawn = {tuple(point) for point in display.line_.get_xydata()}
    assert drawn >= set(zip(display.x, display.y, strict=True))
    check_below(display, report)
    assert legend_texts(display) == [
        "No attack is below its line",
        f"{report!r}, {report.adjacency}",
        "blind guess",
    ]
    assert display.audit_ is None
    display.figure_.canvas.draw()


def check_below(display, report):
    """What is said to be out of reach is, between the points too; `tpr_at` is a search's result."""
    x, y = display.line_.get_data()
    for rate in np.union1d(np.linspace(0.003, 0.997, 60), np.geomspace(2e-6, 0.03, 15)):
        left = np.interp(rate, x, y)
        assert left <= 1.0 - report.tpr_at(float(rate)) + 1e-4


@pytest.mark.long
@pytest.mark.parametrize("fpr", [[0.0, 1.0], [0.0, 0.5, 1.0], [0.0, 0.01, 0.2, 1.0]])
@pytest.mark.parametrize("kind", ["poisson", "pure", "replace_label"])
def test_few_points_of_a_tradeoff_are_no_overstatement(kind, fpr):
    check_below(PrivacyDisplay.from_report(report_of(kind), at=fpr), report_of(kind))


@pytest.mark.long
@pytest.mark.parametrize("delta", [None, [1e-9, 0.3], [1e-8, 1e-6, 1e-3, 0.9]])
@pytest.mark.parametrize("kind", ["poisson", "pure", "replace_label"])
def test_a_profile_is_guaranteed_between_its_points_too(kind, delta):
    report = report_of(kind)
    display = PrivacyDisplay.from_report(report, kind="profile", at=delta)
    x, y = (values[::-1] for values in display.line_.get_data())
    for epsilon in np.linspace(x[0], x[-1], 80):
        drawn = np.exp(np.interp(epsilon, x, np.log(y)))
        assert drawn >= report.delta_at(float(epsilon)) * (1 - 1e-6)


def test_tradeoff_of_full_batches_is_exact():
    report = report_of("replace_label")
    display = PrivacyDisplay.from_report(report, at=[0.1, 0.2, 0.7])
    expected = 1.0 - ndtr(ndtri([0.1, 0.2, 0.7]) + report.mu)
    assert display.y == pytest.approx(expected, rel=1e-9)


@pytest.mark.long
def test_tradeoffs_share_axes_and_differ_by_more_than_colour():
    first = PrivacyDisplay.from_report(report_of("poisson"), name="one")
    second = PrivacyDisplay.from_report(report_of("pure"), ax=first.ax_, color="black")
    third = PrivacyDisplay.from_report(report_of("composed"), ax=first.ax_, ls="--")
    assert second.ax_ is first.ax_
    assert second.figure_ is first.figure_
    assert second.chance_level_ is first.chance_level_
    assert first.line_.is_dashed() is False
    assert second.line_.is_dashed()
    assert second.line_.get_color() == "black"
    assert third.line_.get_linestyle() == "--"
    assert legend_texts(third).count("blind guess") == 1
    assert "one" in legend_texts(third)


@pytest.mark.long
def test_the_attack_of_an_audit_is_a_point_with_intervals():
    display = PrivacyDisplay.from_report(report_of("poisson"), audit=make_audit())
    point, _, bars = display.audit_.lines
    assert point.get_xydata() == pytest.approx(np.array([[0.2, 0.6]]))
    (low, high) = bars[0].get_segments()[0][:, 0]
    # Clopper and Pearson: 80 or fewer of 400 have a probability of 2.5 % at the upper end.
    assert 0.155 < low < 0.165
    assert 0.235 < high < 0.25
    assert "an attack (95% intervals)" in legend_texts(display)
    perfect = make_audit(true_positives=300, false_positives=0)
    drawn = PrivacyDisplay.from_report(report_of("poisson"), audit=perfect).audit_.lines[0]
    assert drawn.get_xydata() == pytest.approx(np.array([[0.0, 0.0]]))


@pytest.mark.parametrize(
    ("audit", "error", "match"),
    [
        (make_audit(method="one_run", threshold=None), ValueError, "one run"),
        (make_audit(adjacency="replace_one"), ValueError, "adjacency"),
        ((0.1, 0.2), TypeError, "AuditResult"),
    ],
)
def test_audits_that_dont_fit_are_refused(audit, error, match):
    with pytest.raises(error, match=match):
        PrivacyDisplay.from_report(report_of("poisson"), audit=audit)


@pytest.mark.parametrize("fpr", [[0.5], [0.2, 0.1], [-0.1, 0.5], [0.5, 1.1], [[0, 1]], "ab", 0.5])
def test_bad_rates_are_refused(fpr):
    with pytest.raises(ValueError, match="at must be"):
        PrivacyDisplay.from_report(PURE, at=fpr)


@pytest.mark.long
def test_profiles_share_axes_that_grow():
    first = PrivacyDisplay.from_report(report_of("poisson"), kind="profile", at=[1e-6, 1e-3])
    assert first.y.tolist() == [1e-6, 1e-3]
    second = PrivacyDisplay.from_report(
        report_of("poisson"), kind="profile", group_size=5, ax=first.ax_, name="five", linewidth=3
    )
    assert first.ax_.get_xlim()[0] == 0.0
    assert first.ax_.get_xlim()[1] > second.x.max()
    assert second.line_.is_dashed()
    assert second.line_.get_linewidth() == 3
    assert legend_texts(second)[-1] == "five"


def test_profile_leaves_out_what_is_not_guaranteed():
    display = PrivacyDisplay.from_report(
        report_of("poisson"), kind="profile", at=[1e-18, 1e-5, 0.9, 0.99]
    )
    assert display.y.tolist() == [1e-5, 0.9]
    assert display.x[-1] == 0.0


@pytest.mark.parametrize("delta", [[1e-5], [1e-3, 1e-5], [0.0, 0.1], [0.5, 1.0], ["a", "b"], None])
def test_bad_deltas_and_groups_are_refused(delta):
    changes = {"group_size": 0} if delta is None else {"at": delta}
    with pytest.raises(ValueError, match=f"{next(iter(changes))} must be"):
        PrivacyDisplay.from_report(PURE, kind="profile", **changes)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"kind": "roc"}, "kind must be one of 'tradeoff', 'profile'"),
        ({"kind": ["profile"]}, "kind must be"),
        ({"group_size": 2}, "group_size must be 1 for kind='tradeoff'"),
        ({"kind": "profile", "audit": make_audit()}, "audit must be None for kind='profile'"),
    ],
)
def test_what_a_kind_of_curve_does_not_have_is_refused(changes, match):
    with pytest.raises(ValueError, match=match):
        PrivacyDisplay.from_report(PURE, **changes)


def test_a_display_of_no_kind_is_not_drawn():
    with pytest.raises(ValueError, match="kind must be"):
        PrivacyDisplay(kind="roc", x=[0.0, 1.0], y=[1.0, 0.0]).plot()


@pytest.mark.long
def test_what_a_kind_does_not_draw_is_none():
    profile = PrivacyDisplay.from_report(PURE, kind="profile")
    assert profile.fill_ is profile.chance_level_ is profile.audit_ is None
    tradeoff = PrivacyDisplay.from_report(PURE)
    assert tradeoff.point is tradeoff.point_ is None


@pytest.mark.long
def test_names_of_before_draw_the_same_and_warn():
    report = report_of("poisson")
    with pytest.warns(FutureWarning, match="PrivacyDisplay, with kind='tradeoff'") as caught:
        old = TradeoffDisplay.from_report(report, fpr=[0.1, 0.2, 0.7], audit=make_audit())
    assert caught[0].filename == __file__
    new = PrivacyDisplay.from_report(report, at=[0.1, 0.2, 0.7], audit=make_audit())
    assert (old.fpr.tolist(), old.fnr.tolist()) == (new.x.tolist(), new.y.tolist())
    np.testing.assert_array_equal(old.line_.get_xydata(), new.line_.get_xydata())
    assert legend_texts(old) == legend_texts(new)
    with pytest.warns(FutureWarning, match="PrivacyDisplay, with kind='profile'"):
        old = PrivacyProfileDisplay.from_report(report, group_size=2, delta=[1e-6, 1e-3], lw=3)
    new = PrivacyDisplay.from_report(report, kind="profile", group_size=2, at=[1e-6, 1e-3])
    assert (old.epsilon.tolist(), old.delta.tolist()) == (new.x.tolist(), new.y.tolist())
    assert old.point == new.point
    assert legend_texts(old) == legend_texts(new)
    assert old.line_.get_linewidth() == 3


def test_names_of_before_take_what_they_took():
    with pytest.warns(FutureWarning):
        tradeoff = TradeoffDisplay(fpr=[0.0, 1.0], fnr=[1.0, 0.0], audit=make_audit(), name="one")
    assert tradeoff.plot().audit_ is not None
    with pytest.warns(FutureWarning):
        profile = PrivacyProfileDisplay(epsilon=[1.0, 0.5], delta=[0.1, 0.2], point=(1.0, 0.1))
    assert profile.plot(name="two").point_ is not None
    assert "two" in legend_texts(profile)


class Untouchable(BaseEstimator):
    """An estimator that may not be fitted, nor asked for anything it learnt."""

    def fit(self, X, y):
        raise AssertionError("fit was called")

    @property
    def privacy_report_(self):
        raise AssertionError("the report was read")

    @property
    def coef_(self):
        raise AssertionError("the weights were read")


@pytest.mark.parametrize("kind", ["tradeoff", "profile"])
@pytest.mark.parametrize("value", [Untouchable(), None, 1.0, "(1, 1e-05)-DP"])
def test_only_reports_are_drawn(kind, value):
    with pytest.raises(TypeError, match="PrivacyReport"):
        PrivacyDisplay.from_report(value, kind=kind)
    with pytest.raises(TypeError, match="ax must be"):
        PrivacyDisplay.from_report(PURE, kind=kind, ax=np.empty(2))


@pytest.mark.long
@pytest.mark.parametrize("which", ["many_steps", "two_kinds"])
def test_displays_are_drawn_in_seconds(which):
    """At most a second each where it was measured; the limit is for slow machines."""
    report = report_of(which)
    for kind in ("tradeoff", "profile"):
        start = time.process_time()
        PrivacyDisplay.from_report(report, kind=kind)
        assert time.process_time() - start < 10.0


RESULTS = {
    "epsilon": [1.0, 0.1, 1.0, 0.1, 1.0, 0.1, INFINITE, INFINITE],
    "seed": [0, 0, 1, 1, 2, 2, 0, 1],
    "score": [0.8, 0.5, 0.9, 0.7, 0.85, 0.6, 0.95, 0.93],
}
ROWS = list(zip(*RESULTS.values(), strict=True))


@pytest.mark.long
@pytest.mark.parametrize(
    "results",
    [
        RESULTS,
        ROWS,
        pd.DataFrame(RESULTS | {"method": "DP-SCD"}).sample(frac=1.0, random_state=0),
        np.array(ROWS, dtype=[("epsilon", float), ("seed", int), ("score", float)]),
        iter(ROWS),
    ],
    ids=["dict", "rows", "frame", "structured", "iterator"],
)
def test_utility_summarises_the_table(results):
    display = PrivacyUtilityDisplay.from_results(results, band=0.5, baseline=0.4)
    assert display.epsilon.tolist() == [0.1, 1.0]
    assert display.score == pytest.approx([0.6, 0.85])
    assert display.low == pytest.approx([0.55, 0.825])
    assert display.high == pytest.approx([0.65, 0.875])
    assert display.non_private == pytest.approx(0.94)
    assert display.non_private_.get_ydata() == pytest.approx([0.94, 0.94])
    assert display.baseline_.get_ydata() == pytest.approx([0.4, 0.4])
    assert display.ax_.get_xscale() == "log"
    assert display.band_.get_paths()[0].get_extents().ymin == pytest.approx(0.55)
    assert legend_texts(display) == [
        "Mean; band: middle 50 % of the fits",
        "private",
        "no privacy",
        "baseline",
    ]
    display.figure_.canvas.draw()
    assert "0.5" in [label.get_text() for label in display.ax_.get_xticklabels()]


def test_utility_with_standard_deviations_and_without_lines():
    display = PrivacyUtilityDisplay.from_results([*ROWS[:6], (3.0, 0, 0.9)], band="std")
    assert display.high - display.score == pytest.approx([0.1, 0.05, 0.0])
    assert display.score - display.low == pytest.approx([0.1, 0.05, 0.0])
    assert display.non_private is display.non_private_ is display.baseline_ is None
    assert legend_texts(display)[0] == "Mean; band: one standard deviation"


def test_utilities_share_axes():
    first = PrivacyUtilityDisplay.from_results(RESULTS, name="DP-SCD", baseline=0.4)
    second = PrivacyUtilityDisplay.from_results(
        RESULTS, name="DP-SGD", baseline=0.4, ax=first.ax_, score_name="accuracy"
    )
    assert first.line_.get_marker() != second.line_.get_marker()
    assert first.line_.get_color() != second.line_.get_color()
    assert second.ax_.get_ylabel() == "accuracy"
    labels = legend_texts(second)
    assert labels.count("baseline") == 1
    assert {"DP-SCD", "DP-SCD, no privacy", "DP-SGD", "DP-SGD, no privacy"} < set(labels)


@pytest.mark.parametrize(
    ("results", "error", "match"),
    [
        ({"epsilon": [1.0], "score": [0.5]}, ValueError, "seed"),
        (pd.DataFrame({"eps": [1.0]}), ValueError, "epsilon"),
        ([], ValueError, "rows"),
        ([(1.0, 0.5)], ValueError, "rows"),
        (3, TypeError, "table"),
        (Untouchable(), TypeError, "table"),
        ([(0.0, 0, 0.5)], ValueError, "positive"),
        ([(math.nan, 0, 0.5)], ValueError, "positive"),
        ([(1.0, 0, math.nan)], ValueError, "finite"),
        ([("one", 0, 0.5)], ValueError, "numbers"),
        ([(INFINITE, 0, 0.5)], ValueError, "finite epsilon"),
        ([(1.0, 0, 0.5), (1.0, 0, 0.6)], ValueError, "one row"),
        ({"epsilon": [1.0, 2.0], "seed": [0], "score": [0.5]}, ValueError, "length"),
        ({"epsilon": [[1.0]], "seed": [0], "score": [0.5]}, ValueError, "columns"),
    ],
)
def test_bad_tables_are_refused(results, error, match):
    with pytest.raises(error, match=match):
        PrivacyUtilityDisplay.from_results(results)


@pytest.mark.parametrize("band", [0.0, 1.0, 80, -0.5, math.nan, True, "iqr", None])
def test_bad_bands_are_refused(band):
    with pytest.raises(ValueError, match="band"):
        PrivacyUtilityDisplay.from_results(RESULTS, band=band)


@pytest.mark.parametrize("baseline", [math.nan, INFINITE, "0.5"])
def test_bad_baselines_are_refused(baseline):
    with pytest.raises(ValueError, match="baseline"):
        PrivacyUtilityDisplay.from_results(RESULTS, baseline=baseline)


@pytest.mark.long
def test_displays_can_be_drawn_again_and_are_the_same():
    for display in (
        PrivacyDisplay.from_report(PURE, audit=make_audit()),
        PrivacyDisplay.from_report(PURE, kind="profile"),
        PrivacyUtilityDisplay.from_results(RESULTS),
    ):
        before = display.ax_, display.line_.get_xydata()
        assert display.plot(name="again") is display
        assert display.ax_ is not before[0]
        assert "again" in legend_texts(display)
        np.testing.assert_array_equal(display.line_.get_xydata(), before[1])


def test_a_claim_beyond_what_was_released_is_marked_where_it_is():
    report = dataclasses.replace(make_report(), epsilon=1.5)
    display = PrivacyDisplay.from_report(report, kind="profile")
    assert display.point == (1.5, 1e-5)
    assert display.point_.get_xydata() == pytest.approx(np.array([[1.5, 1e-5]]))


def test_predicted_noise_is_drawn_as_it_is_foreseen():
    frame = predicted_noise(DPLogisticRegression(), 2000, 30, epsilons=[2.0, 0.5])
    display = PredictedNoiseDisplay.from_frame(frame)
    assert display.epsilon.tolist() == [0.5, 2.0]
    frame = frame.sort_index()
    for line, name in zip(display.lines_, ("prediction", "term", "effect"), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), frame[name])
    assert [text.get_text() for text in display.texts_] == [str(n) for n in frame["most_features"]]
    assert display.ax_.get_ylabel() == "log-odds"
    assert display.plot(display.ax_).figure_ is display.figure_


def test_what_is_no_table_of_noise_is_not_drawn():
    with pytest.raises(TypeError, match="frame must be a table"):
        PredictedNoiseDisplay.from_frame([1.0])
    with pytest.raises(ValueError, match="must have rows and the columns"):
        PredictedNoiseDisplay.from_frame(predicted_noise(DPRidge(), 2000, 3).iloc[:0])
