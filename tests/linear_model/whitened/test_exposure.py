"""Rates: counts and amounts of rows that were seen for unequal times."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.linear_model import PoissonRegressor, TweedieRegressor
from sklearn.metrics import d2_tweedie_score
from sklearn.model_selection import cross_validate

from skdp.additive import DPAdditiveRegressor
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPGammaRegressor, DPPoissonRegressor, DPRidge, DPTweedieRegressor
from skdp.pipeline import DPPipeline
from skdp.utils.discovery import all_estimators
from tests._loops import for_each
from tests.door import RateUnits, Tweedie, TweedieRate, null_records

COEF = np.array([0.5, -0.4, 0.3])
EXACT = {"epsilon": np.inf, "random_state": 0}


def policies(n_rows, rate=0.5, seed=0):
    """Rows, how often something happened in the time that they were seen, and that time."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n_rows, 3))
    exposure = rng.beta(0.8, 0.6, n_rows)
    counts = rng.poisson(exposure * rate * np.exp(Z @ COEF - 0.25))
    return 3.0 + Z * [1.0, 10.0, 0.1], counts.astype(float), exposure


def models():
    """With little noise, of which no fit warns."""
    yield DPPoissonRegressor(epsilon=20.0, random_state=0)
    yield DPTweedieRegressor(power=1.5, epsilon=20.0, random_state=0)
    yield DPAdditiveRegressor(loss="poisson", epsilon=20.0, random_state=0)


def coefficients(model):
    """What two fits of the same kind have in common if they are the same fit."""
    of_terms = [term.values for term in getattr(model, "terms_", ())]
    return np.concatenate([np.ravel(getattr(model, "coef_", ())), *map(np.ravel, of_terms)])


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0, 3.0])
def test_the_loss_is_the_exposure_times_that_of_the_rate(power):
    rng = np.random.default_rng(0)
    amounts, exposures, m = rng.uniform(0.1, 3.0, 9), rng.uniform(0.1, 3.0, 9), rng.normal(size=9)
    loss, of_rates = TweedieRate(power, reach=7.0), Tweedie(power, reach=7.0)
    y = np.column_stack([amounts, exposures])
    rates = amounts / exposures
    np.testing.assert_allclose(loss.value(y, m), exposures * of_rates.value(rates, m))
    np.testing.assert_allclose(loss.gradient(y, m), exposures * of_rates.gradient(rates, m))


@pytest.mark.long
@for_each(
    "model, peer, power",
    [
        (DPPoissonRegressor(**EXACT), PoissonRegressor(), 1.0),
        (DPTweedieRegressor(power=1.5, **EXACT), TweedieRegressor(power=1.5, link="log"), 1.5),
    ],
)
def test_without_privacy_it_is_scikit_learns_fit_of_rates_weighted_by_exposure(model, peer, power):
    X, y, exposure = policies(2000)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    ours = model.set_params(alpha=1e-9, max_iter=2000).fit(X, y, exposure=exposure)
    theirs = peer.set_params(alpha=0.0, tol=1e-9, max_iter=10_000)
    theirs.fit(Z, y / exposure, sample_weight=exposure)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(Z), rtol=1e-4)
    score = d2_tweedie_score(y / exposure, ours.predict(X), sample_weight=exposure, power=power)
    assert ours.score(X, y, exposure=exposure) == pytest.approx(score)
    weights = np.arange(1.0, 2001.0)
    score = d2_tweedie_score(
        y / exposure, ours.predict(X), sample_weight=weights * exposure, power=power
    )
    assert ours.score(X, y, weights, exposure) == pytest.approx(score)


@pytest.mark.long
@for_each("model", models())
def test_equal_exposures_are_a_unit_of_the_rate(model):
    X, y, _ = policies(3000)
    ones = model.set_params(epsilon=np.inf).fit(X, y, exposure=np.ones(len(y))).predict(X)
    np.testing.assert_allclose(ones, model.fit(X, y).predict(X), rtol=1e-9)
    model.fit(X, y, exposure=np.full(len(y), 12.0))
    np.testing.assert_allclose(model.predict(X, exposure=np.full(len(y), 12.0)), ones, rtol=1e-9)


@pytest.mark.long
def test_predictions_are_those_of_an_exposure():
    X, y, exposure = policies(3000)
    for model in models():
        model.fit(X, y, exposure=exposure)
        rates = model.predict(X)
        np.testing.assert_array_equal(model.predict(X, exposure=exposure), rates * exposure)
        np.testing.assert_array_equal(model.predict(X, exposure=np.zeros(len(y))), 0.0)


def test_a_count_is_cut_together_with_its_exposure():
    """Cutting the exposure alone would raise the rate."""
    units = RateUnits(mean=0.1, exposure=0.5, longest=2.0, has_exposure=True)
    amounts, exposures = units.move(np.array([[1.0, 0.5], [6.0, 8.0], [3.0, 2.0]])).T
    np.testing.assert_allclose(amounts, np.array([1.0, 1.5, 3.0]) / 0.05)
    np.testing.assert_allclose(exposures, [1.0, 4.0, 4.0])


@pytest.mark.long
@for_each("adjacency", ["zero_out", "replace_one"])
def test_rates_are_right_where_few_rows_are_seen_for_long(adjacency):
    """The mean is off by at most 5 %; its standard deviation over seeds is at most 1.3 %."""
    rng = np.random.default_rng(3)
    exposure = np.where(rng.random(40_000) < 0.1, 20.0, 1.0)
    X, y = rng.uniform(-1.0, 1.0, (40_000, 2)), rng.poisson(0.1 * exposure)
    for bounds in (None, (0.0, 2.0)):
        model = DPPoissonRegressor(exposure_bounds=bounds, adjacency=adjacency, random_state=0)
        rates = model.set_params(epsilon=4.0).fit(X, y, exposure=exposure).predict(X)
        assert rates.mean() == pytest.approx(0.1, rel=0.05)


@pytest.mark.long
@for_each("groups", [None, np.arange(600) // 3])
@for_each("model", models())
def test_a_row_without_exposure_is_a_null_record(model, groups):
    X, y, exposure = policies(600)
    void = np.array([0, 7, 8, 300, 599])
    exposure[void] = 0.0
    other_X, other_y = X.copy(), y.copy()
    other_X[void], other_y[void] = 1e6, 1e9
    fits = [
        coefficients(model.fit(rows, counts, groups, exposure=exposure))
        for rows, counts in ((X, y), (other_X, other_y))
    ]
    np.testing.assert_array_equal(*fits)
    exposure[void] = 3.0
    with null_records(void):
        null = coefficients(model.fit(X, y, groups, exposure=exposure))
    if "terms_" not in vars(model):
        # To the words of a table, null records are known to be there.
        np.testing.assert_array_equal(null, fits[0])


def test_rows_without_exposure_are_null_beside_those_without_weight():
    X, y, exposure = policies(600)
    exposure[[200, 599]], weights = 0.0, np.r_[np.zeros(100), np.ones(500)]
    model, other = DPAdditiveRegressor(loss="poisson", epsilon=20.0, random_state=0), X.copy()
    other[[200, 599]] = 1e6
    fits = [
        coefficients(model.fit(rows, y, public_weight=weights, exposure=exposure))
        for rows in (X, other)
    ]
    np.testing.assert_array_equal(*fits)


def test_rows_without_exposure_are_null_beside_those_that_are():
    X, y, exposure = policies(300)
    model = DPPoissonRegressor(epsilon=20.0, random_state=0)
    exposure[[3, 4]] = 0.0
    with null_records([-1, 4]) as request:
        one = model.fit(X, y, exposure=exposure).coef_
    assert request.consulted
    exposure[[3, 4]] = 1.0
    with null_records([3, 4, 299]):
        np.testing.assert_array_equal(model.fit(X, y, exposure=exposure).coef_, one)


@pytest.mark.long
@for_each("entry", [-1e-9, np.nan, np.inf, None])
@for_each("model", models())
def test_exposures_that_are_none_are_refused_before_a_charge(model, entry, tmp_path):
    X, y, exposure = policies(60)
    ledger = PrivacyLedger(tmp_path / "ledger.sqlite", epsilon=99.0, delta=1e-2)
    before, wrong = ledger.to_dict(), exposure.astype(object)
    wrong[17] = entry
    model.set_params(ledger=ledger)
    for given in (wrong, exposure[:-1], np.column_stack([exposure, exposure])):
        with pytest.raises(ValueError, match="exposure must") as caught:
            model.fit(X, y, exposure=given)
        assert "1e-09" not in str(caught.value)
    assert ledger.to_dict() == before


@for_each(
    "model",
    [
        DPRidge(target_bounds=(0, 9)),
        DPTweedieRegressor(power=0, target_bounds=(0, 9)),
        DPAdditiveRegressor(target_bounds=(0, 9), epsilon=20.0),
    ],
)
def test_models_without_a_log_link_take_no_exposure(model):
    X, y, exposure = policies(60)
    error = TypeError if isinstance(model, DPRidge) else ValueError
    with pytest.raises(error, match="exposure"):
        model.fit(X, y, exposure=exposure)
    model.fit(X, y)
    with pytest.raises(error, match="exposure"):
        model.predict(X, exposure=exposure)
    with pytest.raises(error, match="exposure"):
        model.score(X, y, exposure=exposure)


@pytest.mark.long
def test_a_model_of_rates_warns_of_a_score_of_counts():
    X, y, exposure = policies(60)
    for model in models():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y, exposure=exposure)
        with pytest.warns(UserWarning, match="given no exposure, and the model was fitted with"):
            model.score(X, y)
        model.score(X, y, exposure=exposure)
        # A fit without exposures is one of counts again.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        model.score(X, y)


def test_bounds_of_exposures_that_no_fit_has_are_refused():
    X, y, exposure = policies(60)
    for model in models():
        model.set_params(exposure_bounds=(0.0, 1.0))
        with pytest.raises(ValueError, match="was given no exposure"):
            model.fit(X, y)
        # What the message says to do has to work: this one takes none.
        model.set_params(epsilon=1.0, random_state=None)
        with pytest.raises(ValueError, match="meta-estimators take no exposure: leave exposure_bo"):
            DPPipeline([("model", model)], epsilon=20.0).fit(X, y)
        with pytest.raises(ValueError, match="takes X, y and groups alone"):
            DPPipeline([("model", model)], epsilon=20.0).fit(X, y, exposure=exposure)
        for wrong in ((-1.0, 1.0), (1.0, 1.0), (0.0, np.inf)):
            with pytest.raises(ValueError, match="exposure_bounds must"):
                model.set_params(exposure_bounds=wrong).fit(X, y, exposure=exposure)
    for model in (DPAdditiveRegressor(), DPTweedieRegressor(power=0, target_bounds=(0, 9))):
        with pytest.raises(ValueError, match="exposure is for counts"):
            model.set_params(exposure_bounds=(0.0, 1.0)).fit(X, y)


def test_bounds_that_are_given_cut_rows():
    X, y, exposure = policies(2000)
    model = DPGammaRegressor(exposure_bounds=(0.0, 0.5), epsilon=1e4, random_state=0)
    longer = np.where(exposure > 0.5, 2.0 * exposure, exposure)
    amounts = (y + 1.0) * exposure
    fits = [
        model.fit(X, amounts * seen / exposure, exposure=seen).coef_ for seen in (exposure, longer)
    ]
    # Counts of sizes alone tell both apart, which steps and moments don't.
    np.testing.assert_allclose(*fits, atol=0.05)


@pytest.mark.long
def test_frames_lists_and_sparse_rows():
    X, y, exposure = policies(300)
    model = DPPoissonRegressor(epsilon=20.0, random_state=0)
    expected = model.fit(X, y, exposure=exposure).coef_
    frame = pd.DataFrame(X).assign(y=y, exposure=exposure).set_index(np.arange(300)[::-1])
    model.fit(frame[[0, 1, 2]].to_numpy(), frame["y"], exposure=frame["exposure"])
    np.testing.assert_array_equal(model.coef_, expected)
    model.fit(X.tolist(), y.tolist(), exposure=exposure.tolist())
    np.testing.assert_array_equal(model.coef_, expected)
    model.fit(csr_array(X), y, exposure=exposure)
    np.testing.assert_allclose(model.coef_, expected, atol=1e-6)
    for method in (model.fit, model.score):
        with pytest.raises(ValueError, match="index differs"):
            method(X, frame["y"], exposure=frame["exposure"][::-1])
    with pytest.raises(ValueError, match="index differs"):
        model.predict(frame[[0, 1, 2]], exposure=frame["exposure"][::-1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.score(X, y[:-1], exposure=exposure)


def test_metadata_is_routed():
    X, y, exposure = policies(900)
    with sklearn.config_context(enable_metadata_routing=True):
        model = DPPoissonRegressor(random_state=0, exposure_bounds=(0, 1))
        model.set_fit_request(exposure=True).set_score_request(exposure=True)
        found = cross_validate(model, X, y, params={"exposure": exposure}, cv=3)
    assert len(found["test_score"]) == 3
    first = np.arange(900) < 300
    fitted = DPPoissonRegressor(random_state=0, exposure_bounds=(0, 1))
    fitted.fit(X[~first], y[~first], exposure=exposure[~first])
    assert found["test_score"][0] == fitted.score(X[first], y[first], exposure=exposure[first])


def test_these_models_alone_take_exposures():
    takes = {
        name
        for name, kind in all_estimators()
        if hasattr(kind, "set_fit_request") and "exposure_bounds" in kind().get_params()
    }
    in_memory = {name for name in takes if not name.startswith("Dask")}
    assert in_memory == {
        "DPPoissonRegressor",
        "DPGammaRegressor",
        "DPTweedieRegressor",
        "DPAdditiveRegressor",
    }


def test_few_rows_with_an_exposure_are_warned_of():
    X, y, exposure = policies(6000)
    unseen = np.random.default_rng(1).random(6000) < 0.95
    model = DPPoissonRegressor(random_state=0)
    with warnings.catch_warnings(action="error"):
        model.fit(X, y, exposure=exposure)
    with pytest.warns(UserWarning, match="few rows with an exposure"):
        model.fit(X, np.where(unseen, 0.0, y), exposure=np.where(unseen, 0.0, exposure))
