"""Rows of parts are bounded by the settings that their noise is planned by, as those in memory."""

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the extra dask")

import dask.array

from skdp.dask import (
    DaskDPAdditiveClassifier,
    DaskDPAdditiveRegressor,
    DaskDPLogisticRegression,
    DaskDPPoissonRegressor,
    DaskDPQuantileRegressor,
    DaskDPRidge,
)

IN_A_NORM = {"data_norm": 100.0, "ball_budget": 0}
MODELS = {
    DaskDPLogisticRegression: {"classes": [0, 1], **IN_A_NORM},
    DaskDPRidge: {"target_bounds": (0, 1), **IN_A_NORM},
    DaskDPPoissonRegressor: {"target_bounds": (0, 1), **IN_A_NORM},
    DaskDPQuantileRegressor: {"target_bounds": (0, 1), **IN_A_NORM},
}
TABLES = {
    DaskDPAdditiveClassifier: {"classes": [0, 1]},
    DaskDPAdditiveRegressor: {"target_bounds": (0, 1)},
}


def made_up(kind, **parameters):
    """Return a model of a kind, rows and targets in parts."""
    rng = np.random.default_rng(0)
    X = 50.0 * rng.standard_normal((300, 3))
    model = kind(random_state=0, **{**MODELS, **TABLES}[kind]).set_params(**parameters)
    y = (X[:, 0] > 0).astype(int)
    return model, dask.array.from_array(X, (150, 3)), dask.array.from_array(y, 150)


def changing(X, model, **parameters):
    """Return rows that change a model's parameters when they are computed."""

    def change(block):
        model.set_params(**parameters)
        return block

    return X.map_blocks(change, meta=X)


@pytest.mark.every
@pytest.mark.parametrize("kind", MODELS)
def test_rows_are_bounded_as_the_plan_says(kind):
    model, X, y = made_up(kind)
    expected = made_up(kind)[0].fit(X, y)
    model.fit(changing(X, model, data_norm=1.0), y)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert model.data_norm == 1.0


@pytest.mark.every
@pytest.mark.parametrize(("before", "after"), [(np.inf, 1.0), (1.0, np.inf)])
@pytest.mark.parametrize("kind", [*MODELS, *TABLES])
def test_privacy_is_neither_asked_for_nor_dropped_while_rows_are_read(kind, before, after):
    model, X, y = made_up(kind, epsilon=before)
    with pytest.raises(ValueError, match="epsilon was changed while the rows were read"):
        model.fit(changing(X, model, epsilon=after), y)
    assert not hasattr(model, "privacy_report_")
