"""Long tests beside the quick ones of `tests/neighbours/test_shap.py`."""

import numpy as np
import pandas as pd
import pytest

from skdp.linear_model import DPLogisticRegression
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import NormClipper
from tests.neighbours.test_shap import NAMES, data, shap


def test_pipelines_are_explained_by_what_they_predict(data):
    X, y = data
    model = make_private_pipeline(NormClipper(), DPLogisticRegression(classes=[0, 1])).fit(X, y)
    middle = pd.DataFrame(np.zeros((1, 4)), columns=NAMES)
    explainer = shap.Explainer(model.predict_proba, middle)
    rows = X.iloc[:2]
    told = explainer(rows)
    total = told.base_values + told.values.sum(axis=1)
    np.testing.assert_allclose(total, model.predict_proba(rows), atol=1e-9)
    with pytest.raises(AttributeError, match="no setter"):
        shap.KernelExplainer(model.predict_proba, middle)
    kernel = shap.KernelExplainer(
        lambda array: model.predict_proba(pd.DataFrame(array, columns=NAMES)), middle
    )
    np.testing.assert_allclose(kernel.shap_values(rows, silent=True), told.values, atol=1e-6)
