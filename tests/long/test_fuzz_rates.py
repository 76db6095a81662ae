"""Rates with any exposures, weights and groups: refused, or as a brute force has them, and private.

SKDP_FUZZ=long runs more cases, other ones each time, as of tests/long/test_fuzz.py.
"""

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.metrics import d2_tweedie_score, mean_tweedie_deviance

from skdp.additive import DPAdditiveRegressor
from skdp.linear_model import DPGammaRegressor, DPPoissonRegressor, DPTweedieRegressor
from skdp.metrics import private_score
from tests._fuzzing import attempt, check_model, check_neighbour, fuzzed
from tests._strategies import any_value
from tests.statistical._transcripts import recorded_releases

pytestmark = pytest.mark.filterwarnings("ignore")
MODELS = {
    1.0: DPPoissonRegressor(),
    1.5: DPTweedieRegressor(power=1.5),
    2.0: DPGammaRegressor(),
}
N_ROWS = 40
# What users hand in is one of these.
FORMS = [
    lambda column: column,
    lambda column: column.tolist(),
    lambda column: pd.Series(column),
    lambda column: column.astype(np.float32),
    lambda column: column[:, None][:, 0],
    lambda column: np.repeat(column, 2)[::2],
]


@st.composite
def policies(draw):
    """Rows, amounts, and what a fit takes besides, with weights and exposures of 0 among others."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.uniform(-1.0, 1.0, (N_ROWS, draw(st.integers(1, 3))))
    unit = 10.0 ** draw(st.integers(-3, 3))
    # The same in single precision, which a form has.
    exposure = rng.choice([0.125, 0.5, 1.0, 1.75, 3.0], N_ROWS) * unit
    y = exposure / unit * np.exp(X[:, 0]) * rng.uniform(0.5, 1.5, N_ROWS)
    given = {}
    if draw(st.booleans()):
        exposure[: draw(st.integers(0, 5))] = 0.0
        given["exposure"] = exposure
    if draw(st.booleans()):
        weights = rng.choice([0.25, 1.0, 4.0], N_ROWS)
        weights[-draw(st.integers(1, 5)) :] = 0.0
        given["public_weight"] = weights
    elif draw(st.booleans()):
        given["groups"] = rng.integers(0, N_ROWS // 2, N_ROWS)
    return X, y, given


def counted(y, given):
    """Return exposures and weights of all rows, and which of these say anything."""
    exposure = given.get("exposure", np.ones(len(y)))
    weights = given.get("public_weight", np.ones(len(y)))
    return exposure, weights, (exposure > 0.0) & (weights > 0.0)


def brute_force(X, y, given, power):
    """Return the coefficients of least deviance of rates, by a minimiser that knows nothing."""
    exposure, weights, says = counted(y, given)
    A = np.column_stack([X, np.ones(len(X))])[says]
    rates, times = y[says] / exposure[says], (exposure * weights)[says]
    # The unit of a rate adds to the intercept.
    unit = np.average(rates, weights=times)

    def loss(w):
        predicted = np.exp(np.clip(A @ w, -50.0, 50.0))
        return mean_tweedie_deviance(rates / unit, predicted, sample_weight=times, power=power)

    found = minimize(loss, np.zeros(A.shape[1]), method="BFGS", options={"gtol": 1e-8})
    return np.append(found.x[:-1], found.x[-1] + math.log(unit))


def test_rates_are_those_of_a_brute_force():
    @fuzzed(12)
    @given(policies(), st.sampled_from(sorted(MODELS)), st.sampled_from(FORMS))
    def run(records, power, form):
        X, y, given = records
        model = clone(MODELS[power])
        model.set_params(epsilon=math.inf, alpha=1e-10, max_iter=3000, random_state=0)
        model.fit(X, form(y), **{name: form(column) for name, column in given.items()})
        best = brute_force(X, y, given, power)
        rates = np.exp(np.column_stack([X, np.ones(len(X))]) @ best)
        np.testing.assert_allclose(model.predict(X), rates, rtol=2e-3)
        exposure, weights, says = counted(y, given)
        seen = {"exposure": form(exposure)} if "exposure" in given else {}
        np.testing.assert_allclose(
            model.predict(X, **seen), model.predict(X) * exposure, rtol=1e-12, atol=0.0
        )
        of_rates = d2_tweedie_score(
            (y / np.where(says, exposure, 1.0))[says],
            model.predict(X)[says],
            sample_weight=(exposure * weights)[says],
            power=power,
        )
        weighted = [form(weights)] if "public_weight" in given else []
        assert model.score(X, form(y), *weighted, **seen) == pytest.approx(of_rates, abs=1e-6)
        # In another order rows are the same records.
        order = np.random.default_rng(0).permutation(len(X))
        model.fit(X[order], y[order], **{name: column[order] for name, column in given.items()})
        np.testing.assert_allclose(model.predict(X), rates, rtol=2e-3)

    run()


def test_any_exposures():
    """What is no exposure is refused by its name, and of what is one the report is true."""
    outcomes = Counter()
    usual = [np.ones(N_ROWS), np.full(N_ROWS, 1e-9), np.geomspace(1e-6, 1e6, N_ROWS).tolist()]
    models = [*MODELS.values(), DPAdditiveRegressor(loss="poisson")]

    @fuzzed(60)
    @given(policies(), st.sampled_from(models), st.data())
    def run(records, kind, data):
        X, y, given = records
        entry = data.draw(st.sampled_from([0.0, 1e300, -1.0, math.nan, math.inf, 5e-324]))
        exposure = np.full(N_ROWS, 0.5)
        exposure[7] = entry
        is_usual = data.draw(st.booleans())
        anything = st.sampled_from([*usual, *6 * [exposure]]) if is_usual else any_value(usual)
        asked = data.draw(anything, label="exposure")
        model = clone(kind).set_params(random_state=0)
        given = {name: column for name, column in given.items() if name == "groups"}
        with recorded_releases() as made:
            fitted, refusal = attempt(model.fit, X, y, exposure=asked, **given)
        outcomes[fitted is not None] += 1
        if fitted is None:
            # Exposures are refused by name before any noise is drawn, or made the fit overflow.
            assert "exposure" in str(refusal) or "y " in str(refusal), refusal
            assert not made
        else:
            check_model(fitted, made)

    run()
    assert min(outcomes.values()) > sum(outcomes.values()) // 6, outcomes


def test_a_neighbour_with_any_exposure():
    """No release moves further than its noise is for, whatever rows the record or person has."""

    @fuzzed(25)
    @given(
        policies(),
        st.sampled_from([*MODELS.values(), DPAdditiveRegressor(loss="poisson")]),
        st.sampled_from(["zero_out", "replace_one"]),
        st.sampled_from([1.0, 25.0]),
        st.sampled_from([0.0, 1e-12, 1.0, 1e12]),
    )
    def run(records, kind, adjacency, epsilon, exposure):
        X, y, given = records
        model = clone(kind)
        model.set_params(random_state=0, adjacency=adjacency, epsilon=epsilon)
        with recorded_releases() as made:
            fitted, _ = attempt(model.fit, X, y, **given)
        assert fitted is not None
        check_neighbour(model, X, y, made, exposure_of_record=exposure, **given)

    run()


def test_scores_of_rates():
    """Private ones without noise are means over records of what is off for their exposures."""

    @fuzzed(12)
    @given(policies())
    def run(records):
        X, y, given = records
        exposure = given.get("exposure", np.ones(N_ROWS))
        model = DPPoissonRegressor(epsilon=math.inf, random_state=0).fit(X, y, exposure=exposure)
        predicted, (low, high) = model.predict(X, exposure=exposure), (0.0, 2.0 * y.max())
        options = {"scoring": "neg_mean_absolute_error", "target_bounds": (low, high)}
        found = private_score(
            model, X, y, exposure=exposure, epsilon=math.inf, random_state=0, **options
        )
        exact = -np.abs(y - np.clip(predicted, low, high)).mean()
        assert found.value == pytest.approx(exact, rel=0.03, abs=1e-3 * high)

    run()
