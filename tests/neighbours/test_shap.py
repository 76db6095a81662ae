"""SHAP: an explanation holds means of its background rows, and an explainer the rows themselves."""

import numpy as np
import pandas as pd
import pytest

from tests.site._edges import covers, make_classifier, make_records, sizes

shap = pytest.importorskip("shap")

NAMES = list("abcd")


@pytest.fixture
def data():
    X, y = make_records()
    return pd.DataFrame(X, columns=NAMES), y


@covers("shap.LinearExplainer", "shap.Explainer")
def test_background_rows_can_be_read_off(data):
    X, y = data
    model = make_classifier().fit(X, y)
    rows = X.iloc[:60]
    explainer = shap.LinearExplainer(model, rows)
    np.testing.assert_array_equal(explainer.masker.data, rows)
    made_up = pd.DataFrame([[0.5, -0.5, 1.0, 0.0]], columns=NAMES)
    told = explainer(made_up)
    assert told.feature_names == NAMES
    # Who has the coefficients reads the exact means from the explanation of a made-up row.
    found = made_up.to_numpy() - told.values / model.coef_
    np.testing.assert_allclose(found[0], rows.mean(), rtol=0, atol=1e-12)
    # 100 of more rows are drawn, and kept.
    of_many = shap.Explainer(model, X)
    kept = of_many.masker.data
    assert kept.shape == (100, 4)
    assert all((X.to_numpy() == row).all(axis=1).any() for row in kept)
    assert sizes() == [120]


@pytest.mark.parametrize("kind", ["LinearExplainer", "Explainer"])
def test_a_made_up_background_tells_nothing_but_the_model(kind, data):
    X, y = data
    model = make_classifier().fit(X, y)
    middle = np.zeros((1, 4))
    told = getattr(shap, kind)(model, middle)(X.iloc[:3])
    np.testing.assert_allclose(told.values, model.coef_ * X.iloc[:3].to_numpy(), atol=1e-12)
    np.testing.assert_allclose(told.base_values, model.intercept_[0])
    # The rows that are explained are in it.
    np.testing.assert_array_equal(told.data, X.iloc[:3])
