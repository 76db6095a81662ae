"""A scorecard's points are contributions in whole points, and its scale is the one asked for."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from tests.door import Bins, LineTerm, Shape, bin_places

N = 4000


def rows(seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.integers(18, 90, N).astype(float)})
    X["debt"] = np.where(rng.random(N) < 0.4, 0.0, rng.lognormal(8.0, 1.0, N))
    X["home"] = rng.choice(["owns", "rents"], N)
    X["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, N), "D")
    X.loc[rng.random(N) < 0.1, "age"] = np.nan
    score = np.sin(X.age.fillna(40.0) / 15.0) + (X.home == "rents") - (X.debt == 0.0)
    score += (X.home == "rents") * (X.age.fillna(50.0) - 50.0) / 20.0
    return X, (rng.random(N) < 1.0 / (1.0 + np.exp(2.0 - score))).astype(int)


@pytest.fixture(scope="module", params=[None, [("age", "home")], "auto"], ids=str)
def fitted(request):
    X, y = rows()
    settings = {"epsilon": 20.0, "interactions": request.param, "random_state": 0}
    return DPAdditiveClassifier(classes=[0, 1], **settings).fit(X, y)


@pytest.mark.long
def test_points_are_log_odds(fitted):
    X, y = rows(seed=1)
    card = fitted.to_points(base=600, odds=50, double=2000)
    # With points so small only bins are left of the error.
    as_log_odds = -((card.points(X) - 600) / 2000 * np.log(2.0) + np.log(50.0))
    by_model = fitted.decision_function(X)
    assert np.corrcoef(as_log_odds, by_model)[0, 1] > 0.98
    assert abs((as_log_odds - by_model).mean()) < 0.1
    by_points, by_model = (roc_auc_score(y, score) for score in (as_log_odds, by_model))
    assert by_points > by_model - 0.01


def test_scales(fitted):
    X, _ = rows()
    card = fitted.to_points()
    assert card.points(X).dtype == np.int64
    # Each term is rounded for itself, and the base.
    most = 0.5 * (len(card.terms) + 1) + 0.5
    shifted = fitted.to_points(base=500).points(X)
    np.testing.assert_array_equal(shifted + 100, card.points(X))
    twice = fitted.to_points(double=40).points(X) - 600
    assert np.abs(twice - 2 * (card.points(X) - 600)).max() <= 3 * most
    even = fitted.to_points(odds=1.0, double=20).points(X)
    assert np.abs(even - card.points(X) - 20 * np.log2(50.0)).max() <= 1.0


def test_frames(fitted):
    card = fitted.to_points()
    frame = card.to_frame()
    assert list(frame) == ["term", "label", "points", "share", "n"]
    assert frame.loc[0, ["term", "label", "points", "n"]].tolist() == [
        "base points",
        "",
        card.base_points,
        N,
    ]
    home = frame[frame.term == "home"].set_index("label")
    assert home.points["owns"] > home.points["rents"]
    assert list(home.index) == ["owns", "rents", "infrequent"]
    ages = frame[frame.term == "age"]
    assert ages.label.iloc[0].startswith("up to ")
    assert ages.label.iloc[-1] == "missing"
    assert abs(ages.share.sum() - 1.0) < 1e-9
    assert "is 0" in frame[frame.term == "debt"].label.tolist()
    assert "2024-" in frame[frame.term == "day"].label.iloc[0]
    n_bins = sum(len(term.labels) for term in card.terms)
    assert len(frame) == 1 + n_bins
    assert repr(card).startswith(f"Scorecard of {len(card.terms)} terms with {n_bins} bins: 600")
    assert all(len(t.labels) == t.points.size == t.shares.size for t in card.terms)


def test_bins_of_lines_are_even_and_those_beside_them_are_told():
    fields = {"has_gap": True, "spike": 7.0, "points": None, "counts": None}
    line = LineTerm(name="x", feature=0, knots=np.array([0.0, 6.0]), **fields)
    bins = Bins.of(line, Shape.of(line))
    assert bins.labels[:2] == ("up to 1", "above 1 to 2")
    assert bins.labels[-3:] == ("above 5", "is 7", "missing")
    np.testing.assert_allclose(bins.columns[:6, 0], np.arange(-5.0, 6.0, 2.0) / 6.0)
    x = np.array([-9.0, 0.5, 1.0, 1.5, 5.5, 99.0, 7.0, np.nan])
    assert bin_places(line, line.block(x)).tolist() == [0, 0, 0, 1, 5, 5, 6, 7]
    assert np.isnan(bins.shares).all()


def test_knots_without_counts_have_points():
    X, y = rows()
    model = DPAdditiveClassifier(classes=[0, 1], knots={"age": [20, 40, 60]}, random_state=0)
    frame = model.fit(X[["age"]], y).to_points().to_frame()
    assert frame.label.tolist()[1:4] == ["up to 30", "above 30 to 50", "above 50"]
    assert frame.n.iloc[1:].isna().all()


def test_what_has_no_scale_is_refused():
    X, y = rows()
    three = DPAdditiveClassifier(classes=[0, 1, 2], random_state=0).fit(X[["home"]], y)
    with pytest.raises(ValueError, match="two classes"):
        three.to_points()
    two = DPAdditiveClassifier(classes=[0, 1], random_state=0).fit(X[["home"]], y)
    for wrong in {"odds": 0.0}, {"double": -1.0}, {"base": np.nan}:
        with pytest.raises(ValueError, match=next(iter(wrong))):
            two.to_points(**wrong)
    assert not hasattr(DPAdditiveRegressor(), "to_points")
