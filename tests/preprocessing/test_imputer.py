"""What an imputer fills with, what it promises of its output, and what it must not read."""

import itertools
import math
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.impute import SimpleImputer

from skdp.accountant import get_epsilon
from skdp.ledger import PrivacyLedger
from skdp.preprocessing import DPOneHotEncoder, DPSimpleImputer
from tests.door import GaussianMechanism, default_fills

STRATEGIES = ("mean", "median", "most_frequent", "constant")
INF = float("inf")
REFUSED = r"column 'x0' holds entries of type \w+: "


@pytest.fixture
def table(rng):
    """Whole numbers around 30, a fifth of them missing, and a column without entries."""
    X = np.round(rng.normal(30.0, 10.0, (20_000, 4)))
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 3] = np.nan
    return X


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("missing_values", [np.nan, -1.0])
@pytest.mark.parametrize("add_indicator", [False, True])
def test_without_noise_it_is_scikit_learns(table, strategy, missing_values, add_indicator):
    X = np.where(np.isnan(table), missing_values, table)
    asked = {"strategy": strategy, "missing_values": missing_values}
    X = X[:300, :3]
    ours = DPSimpleImputer(**asked, add_indicator=add_indicator, epsilon=INF)
    theirs = SimpleImputer(**asked, add_indicator=add_indicator)
    np.testing.assert_allclose(ours.fit_transform(X), theirs.fit_transform(X), rtol=1e-12)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())


@pytest.mark.parametrize("strategy", ["mean", "median"])
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_fills_are_useful_with_bounds_ten_times_too_wide(table, strategy, adjacency):
    """Deviations are some 5 standard deviations of the noise; those of medians a halving or two."""
    asked = {"strategy": strategy, "feature_bounds": (0.0, 1000.0), "adjacency": adjacency}
    fitted = DPSimpleImputer(**asked, epsilon=1.0, random_state=0).fit(table)
    assert np.abs(fitted.statistics_[:3] - 30.0).max() < 5.0
    poor = DPSimpleImputer(**asked, epsilon=0.1, random_state=0).fit(table)
    assert np.abs(poor.statistics_[:3] - 30.0).max() < (5.0 if strategy == "median" else 50.0)
    assert fitted.transform(table).shape == table.shape


@pytest.mark.parametrize("given", ["auto", [["x", "y", "z"], [1, 2]], ["auto", [2.0, 1.0]]])
@pytest.mark.parametrize("epsilon", [1.0, INF])
def test_the_most_frequent_of_strings_and_numbers(given, epsilon):
    frame = pd.DataFrame(
        {"word": ["x", None, "y", "y", pd.NA] * 4000, "number": [1, 2, np.nan, 2, 1] * 4000}
    )
    imputer = DPSimpleImputer(
        strategy="most_frequent", categories=given, add_indicator=["number"], epsilon=epsilon
    ).set_output(transform="pandas")
    filled = imputer.fit_transform(frame)
    assert imputer.statistics_[0] == "y"
    assert imputer.statistics_[1] in (1.0, 2.0)
    assert list(filled.columns) == ["word", "number", "missingindicator_number"]
    assert filled["word"].tolist()[:5] == ["x", "y", "y", "y", "y"]
    assert filled["missingindicator_number"].tolist()[:5] == [0, 0, 1, 0, 0]


def test_a_category_too_rare_to_tell_is_not_the_fill():
    X = np.array([["a"]] * 5 + [[None]] * 995, dtype=object)
    rare = DPSimpleImputer(strategy="most_frequent", fill_value="?", random_state=0).fit(X)
    assert rare.statistics_.tolist() == ["?"]
    numbers = np.where(X == "a", 1.0, np.nan).astype(float)
    assert rare.fit(numbers).statistics_.tolist() == ["?"]
    assert rare.set_params(fill_value=3).fit(numbers).statistics_.tolist() == [3.0]


def test_default_fills_follow_from_listed_categories_alone():
    """The noise of so small an epsilon is the same, so that no record decides."""
    asked = {"strategy": "most_frequent", "categories": [["x"], [1, 2], "auto"]}
    for column in (["x", None], [None, None]):
        X = np.array([[word, None, word] for word in column], dtype=object)
        imputer = DPSimpleImputer(**asked, epsilon=1e-3, random_state=0)
        assert default_fills(None, imputer._listed(3)) == ["missing_value", 0.0, 0.0]
        assert imputer.fit(X).statistics_[2] == 0.0
        constant = DPSimpleImputer(strategy="constant").fit(X)
        assert constant.statistics_.tolist() == [0.0] * 3
        assert constant.statistics_.dtype == float


# Of equal entries but for a gap, which changes the type that NumPy and pandas infer.
GAPPED = [
    lambda gap: [[1.0], [2], [2]] * 300 + [[gap]],
    lambda gap: np.array([[1], [2], [2]] * 300 + [[2 if gap is None else gap]], dtype=object),
    lambda gap: pd.DataFrame({"a": [True, False, True] * 300 + [True if gap == 2 else gap]}),
    lambda gap: pd.DataFrame({"a": pd.array([1, 2, 2] * 300 + [gap], dtype="Int64")}),
    lambda gap: pd.DataFrame({"a": [1, 2, 2] * 300 + [gap], "b": True}),
    lambda gap: pd.DataFrame({"a": [1, 2, 2] * 300 + [gap], "b": "word"}),
    lambda gap: pd.DataFrame({"a": pd.Categorical([1, 2, 2] * 300 + [gap])}),
]


@pytest.mark.parametrize("make", GAPPED)
@pytest.mark.parametrize("strategy", ["most_frequent", "constant"])
def test_a_gap_changes_no_type_of_what_is_published(make, strategy):
    imputer = DPSimpleImputer(strategy=strategy, epsilon=20.0, random_state=0)
    published = []
    for X in (make(2), make(None)):
        fitted = imputer.fit(X)
        state = {name: value for name, value in vars(fitted).items() if name != "privacy_report_"}
        published.append(pickle.dumps(state))
        filled = fitted.transform(X)
        types = pd.DataFrame(X).dtypes
        are_numbers = not isinstance(X, list) and all(kind.kind in "if" for kind in types)
        assert filled.dtype == (float if are_numbers else object)
        published[-1] += filled.dtype.char.encode()
    assert published[0] == published[1]


def test_of_numbers_and_words_each_has_its_type():
    X = pd.DataFrame(
        {"n": [1, None, 2] * 300, "w": ["x", "y", None] * 300, "b": [True, None, True] * 300}
    )
    imputer = DPSimpleImputer(strategy="most_frequent", add_indicator=True, random_state=0).fit(X)
    filled = imputer.transform(X)
    assert filled.dtype == object
    assert [{type(entry) for entry in column} for column in filled.T] == [
        {float},
        {str},
        {float},
        {float},
        {float},
        {float},
    ]
    assert filled[1, 3:].tolist() == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("fill", [True, 10**400, 1j])
def test_a_fill_that_is_none_is_refused_by_name(fill):
    with (
        pytest.raises(ValueError, match="fill_value"),
        sklearn.config_context(skip_parameter_validation=True),
    ):
        DPSimpleImputer(strategy="constant", fill_value=fill).fit([[1.0]])


@pytest.mark.parametrize("missing", [np.nan, -1, "?", None])
def test_a_gap_is_no_category_to_fill_with(missing):
    listed = [["?", "a"]] if missing == "?" else [[-1, np.nan, 2.0]]
    imputer = DPSimpleImputer(strategy="most_frequent", missing_values=missing, categories=listed)
    with pytest.raises(ValueError, match="stands for a missing value"):
        imputer.fit([[1.0]] if missing != "?" else [["a"]])


WRONG = [
    ({"categories": [iter([1.0, 2.0])]}, [[1.0]]),
    ({"categories": iter([[1.0, 2.0]])}, [[1.0]]),
    ({"fill_value": True}, [[1.0]]),
    ({"add_indicator": ["q"]}, [[1.0]]),
    ({"categories": [[math.nan, 1.0]]}, [[1.0]]),
    ({}, np.array([["a"], [b"a"]], dtype=object)),
    ({}, np.array([[1j], [None]], dtype=object)),
    ({}, np.array([[np.inf], ["a"]], dtype=object)),
]


@pytest.mark.parametrize(("parameters", "X"), WRONG)
def test_an_error_comes_before_a_charge(parameters, X, tmp_path):
    ledger = PrivacyLedger(tmp_path / "one.db", epsilon=10.0, delta=1e-3)
    kinds = [DPSimpleImputer(strategy="most_frequent", ledger=ledger)]
    if parameters.keys() <= {"categories"} and "nan" not in str(parameters):
        kinds.append(DPOneHotEncoder(ledger=ledger))
    for estimator in kinds:
        with pytest.raises((ValueError, TypeError)):
            estimator.set_params(**parameters).fit(X)
    assert len(ledger.to_frame()) == 0


@pytest.mark.parametrize("kind", ["M8[ns]", "M8[D]", "m8[ns]", "m8[s]"])
@pytest.mark.parametrize("strategy", STRATEGIES[2:])
def test_times_are_read_alike_whatever_their_unit(kind, strategy):
    """Dates are strings, and spans of time are numbers of days."""
    X = np.array([[0], [2], [0], ["NaT"]], dtype=kind[:2] + "[D]").astype(kind)
    frame = pd.DataFrame(X, columns=["a"])
    one, other = ("1970-01-01", "1970-01-03") if kind[0] == "M" else (0.0, 2.0)
    imputer = DPSimpleImputer(strategy=strategy, fill_value="none", epsilon=INF)
    last = "none" if strategy == "constant" else one
    for given in (X, frame, frame.assign(b="x"), frame.astype(object)):
        filled = imputer.fit(given).transform(given)
        assert filled[:, 0].tolist() == [one, other, one, last]
        assert DPOneHotEncoder(epsilon=INF).fit(given).categories_[0].tolist()[:2] == [one, other]


def test_strategies_of_one_seed_share_no_noise(monkeypatch):
    noises = []

    def release(self, value, stream, original=GaussianMechanism.release):
        out = original(self, value, stream)
        noises.append(((out - np.rint(value / self.grid) * self.grid) / self.noise_scale).ravel())
        return out

    monkeypatch.setattr(GaussianMechanism, "release", release)
    for strategy in STRATEGIES[:3]:
        DPSimpleImputer(strategy=strategy, random_state=0).fit(np.ones((200, 4)))
    firsts = [noises[0], noises[1], noises[-1]]
    for one, other in itertools.combinations(firsts, 2):
        assert np.abs(one[:, np.newaxis] - other).min() > 1e-6


def test_parameters_that_are_set_later_wait_for_the_next_fit(table):
    later = {"strategy": "constant", "missing_values": -1.0, "feature_bounds": (0, 5)}
    imputer = DPSimpleImputer(random_state=0).fit(table)
    filled = imputer.transform(100.0 * table)
    np.testing.assert_array_equal(imputer.set_params(**later).transform(100.0 * table), filled)
    assert np.abs(filled).max() <= 1.0


@pytest.mark.parametrize("strategy", ["mean", "constant", "most_frequent"])
def test_what_float32_cannot_hold_is_float64(strategy):
    X = np.array([[1.0], [np.nan]] * 50, dtype=np.float32)
    asked = {"feature_bounds": (1e50, 1e60), "fill_value": 1e50, "random_state": 0}
    imputer = DPSimpleImputer(strategy=strategy, **asked, categories=[[1e50]]).fit(X)
    filled = imputer.transform(X)
    low, high = imputer.feature_bounds_
    assert filled.dtype == np.float64
    assert np.isfinite(filled).all()
    assert ((low <= filled) & (filled <= high)).all()
    assert DPSimpleImputer().fit(X).transform(X).dtype == np.float32


@pytest.mark.parametrize("given", [["a"], [["a"], ["a", "a"]], "a", [["a"], 3], [[], ["a"]]])
def test_malformed_categories_are_refused(given):
    imputer = DPSimpleImputer(strategy="most_frequent", categories=given)
    with pytest.raises(ValueError, match="categories"):
        imputer.fit([["a", "b"]])


@pytest.mark.parametrize("entry", [(), b"secret", object()])
def test_other_entries_are_refused_without_a_value(entry):
    X = np.array([["secret"], [None]], dtype=object)
    X[1, 0] = entry
    with pytest.raises(TypeError, match=REFUSED) as caught:
        DPSimpleImputer(strategy="most_frequent").fit(X)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("strategy", STRATEGIES[:3])
def test_the_report_is_that_of_the_plan_and_the_budget_is_used(table, strategy, adjacency):
    asked = {"strategy": strategy, "adjacency": adjacency, "categories": "auto"}
    imputer = DPSimpleImputer(**asked).fit(table[:2000])
    report = imputer.privacy_report_
    assert report.events == imputer._preview(2000, 4).events
    assert report.events == imputer._plan(2000, 4).events
    assert 0.999 < report.epsilon_at(1e-5) <= 1.0
    if strategy != "most_frequent":
        (event,) = report.events
        noise = event.noise_multiplier
        spent = get_epsilon(noise, 1e-5, n_steps=event.n_steps, adjacency=adjacency)
        assert 0.999 < spent <= 1.0


def test_a_constant_costs_nothing(table, tmp_path):
    no_ledger = tmp_path / "none"
    imputer = DPSimpleImputer(strategy="constant", fill_value=7, delta=0.0)
    assert imputer.fit(table).privacy_report_ is None
    assert imputer._plan(3, 2).events == ()
    assert imputer._preview(3, 2) is None
    assert imputer.transform(table)[0, 3] == 7.0
    assert not no_ledger.exists()


@pytest.mark.parametrize("strategy", ["mean", "median"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_promises_hold_of_any_row(table, strategy, dtype):
    low, high = np.array([0.0, -5.0, 10.0, 1.0]), np.array([50.0, 5.0, 20.0, 2.0])
    asked = {"feature_bounds": (low, high), "add_indicator": [1, 3], "random_state": 0}
    imputer = DPSimpleImputer(strategy=strategy, **asked).fit(table)
    assert imputer.indicator_features_.tolist() == [1, 3]
    extremes = [-1e30, 1e30, np.nan, 0.0]
    X = np.array(list(itertools.product(extremes, repeat=4)), dtype=dtype)
    filled = imputer.transform(X)
    assert filled.dtype == dtype
    lows, highs = imputer.feature_bounds_
    assert lows.shape == highs.shape == (6,)
    assert ((lows <= filled) & (filled <= highs)).all()
    assert np.linalg.norm(filled.astype(float), axis=1).max() <= imputer.norm_bound_ * (1 + 1e-6)
    assert imputer.norm_bound_ == pytest.approx(math.sqrt(2500 + 25 + 400 + 4 + 2))


def test_without_bounds_nothing_is_promised(table):
    median = {"epsilon": INF, "strategy": "median"}
    for unbound in ({"strategy": "constant"}, {"epsilon": INF}, median):
        imputer = DPSimpleImputer(**unbound).fit(table)
        assert imputer.norm_bound_ == INF
        assert np.isinf(imputer.feature_bounds_).all()


def test_wrong_indicators_are_refused(table):
    for wrong in ([4], [-1], ["a"], [True], [0.0]):
        with pytest.raises(ValueError, match="add_indicator"):
            DPSimpleImputer(add_indicator=wrong).fit(table)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("missing", [-99.1, 1e300])
def test_a_gap_is_found_whatever_digits_rows_have(missing, dtype):
    X = np.array([[1.0], [3.0], [missing if missing < 0.0 else 2.0]], dtype=dtype)
    how = {"missing_values": missing, "feature_bounds": (-9, 9), "epsilon": np.inf}
    found = DPSimpleImputer(**how).fit_transform(X)
    np.testing.assert_array_equal(found.ravel(), [1.0, 3.0, 2.0])
