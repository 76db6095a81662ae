"""Private scores of models of rates."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_poisson_deviance

from skdp.linear_model import DPPoissonRegressor
from skdp.metrics import private_score

BOUNDS = (0.0, 40.0)


@pytest.fixture
def policies():
    rng = np.random.default_rng(0)
    X, exposure = rng.uniform(-1.0, 1.0, (4000, 2)), rng.uniform(0.1, 2.0, 4000)
    return X, rng.poisson(2.0 * exposure * np.exp(X[:, 0])).astype(float), exposure


def fitted(X, y, exposure):
    return DPPoissonRegressor(epsilon=5.0, random_state=0).fit(X, y, exposure=exposure)


def test_counts_are_scored_by_what_is_predicted_of_their_exposures(policies):
    X, y, exposure = policies
    model = fitted(*policies)
    predicted = model.predict(X, exposure=exposure)
    names = ["neg_mean_poisson_deviance", "neg_mean_absolute_error"]
    options = {"epsilon": np.inf, "target_bounds": BOUNDS, "random_state": 0}
    scores = private_score(model, X, y, scoring=names, exposure=exposure, **options)
    assert scores[names[0]].value == pytest.approx(-mean_poisson_deviance(y, predicted), rel=0.02)
    assert scores[names[1]].value == pytest.approx(-np.abs(y - predicted).mean(), rel=0.02)
    # Rates of a year are other numbers.
    assert private_score(model, X, y, scoring=names[1], **options).value < scores[names[1]].value


def test_one_exposure_moves_the_loss_of_its_record_alone(policies):
    """Of records in nodes, so that a score that another exposure moves by more is no mean."""
    X, y, exposure = policies
    model = fitted(*policies)
    options = {"epsilon": np.inf, "target_bounds": BOUNDS, "random_state": 0}
    options["scoring"] = "neg_mean_absolute_error"
    other = exposure.copy()
    other[17] = 1e300
    one, two = (private_score(model, X, y, exposure=seen, **options) for seen in (exposure, other))
    assert abs(one.value - two.value) <= (BOUNDS[1] - BOUNDS[0]) / len(y) + 1e-12


def test_what_does_not_fit_is_refused(policies):
    X, y, exposure = policies
    model = fitted(*policies)
    options = {"epsilon": 1.0, "target_bounds": BOUNDS}
    for scoring in ("d2_poisson", ["neg_mean_absolute_error", "r2"]):
        with pytest.raises(ValueError, match="exposure goes with means"):
            private_score(model, X, y, scoring=scoring, exposure=exposure, **options)
    options["scoring"] = "neg_mean_absolute_error"
    with pytest.raises(ValueError, match="takes no exposure"):
        private_score(Ridge().fit(X, y), X, y, exposure=exposure, **options)
    for wrong in (-exposure, exposure[:-1], exposure * np.nan):
        with pytest.raises(ValueError, match="exposure must"):
            private_score(model, X, y, exposure=wrong, **options)
    frame = pd.DataFrame(X).assign(y=y, exposure=exposure)
    with pytest.raises(ValueError, match="index differs"):
        private_score(model, X, frame["y"], exposure=frame["exposure"][::-1], **options)
