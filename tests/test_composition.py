"""Part by part: each outer part around each inner one works with one epsilon, or says what does.

`TABLE` is the whole answer. A pair that works is fitted on rows, on a raw table and on people, and
its report has its epsilon and unit; of the others the error names the alternative.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skdp.additive import DPAdditiveClassifier
from skdp.calibration import DPCalibratedClassifier, DPConformalClassifier
from skdp.linear_model import DPLogisticRegression, DPSGDClassifier
from skdp.model_selection import DPGridSearch
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import DPStandardScaler, DPTableVectorizer

TWO = {"classes": [0, 1]}
# By name: what is inside, and what it takes.
INNER = {
    "model": (DPLogisticRegression(**TWO), {"rows", "people"}),
    "model of rows": (DPSGDClassifier(max_iter=1, **TWO), {"rows"}),
    "additive": (DPAdditiveClassifier(**TWO), {"rows", "table", "people"}),
    "pipeline": (
        make_private_pipeline(DPStandardScaler(), DPLogisticRegression(**TWO)),
        {"rows", "people"},
    ),
    "pipeline of a table": (
        make_private_pipeline(DPTableVectorizer(), DPLogisticRegression(**TWO)),
        {"rows", "table", "people"},
    ),
    "calibrated": (DPCalibratedClassifier(DPLogisticRegression(**TWO)), {"rows", "people"}),
    "search": (DPGridSearch(DPLogisticRegression(**TWO), {}), {"rows", "people"}),
    "sets": (DPConformalClassifier(DPLogisticRegression(**TWO)), {"rows", "people"}),
}
OUTER = {
    "in a pipeline": lambda inner: make_private_pipeline(DPStandardScaler(), inner),
    "in a pipeline of a table": lambda inner: make_private_pipeline(DPTableVectorizer(), inner),
    "calibrated": DPCalibratedClassifier,
    "in sets": DPConformalClassifier,
    "searched": lambda inner: DPGridSearch(inner, {}),
}
# What isn't "works": the exception, and what its message names.
TABLE = {
    ("in a pipeline", "pipeline"): "put its steps in its place",
    ("in a pipeline", "pipeline of a table"): "put its steps in its place",
    ("in a pipeline", "search"): "search over the pipeline",
    ("in a pipeline of a table", "pipeline"): "put its steps in its place",
    ("in a pipeline of a table", "pipeline of a table"): "put its steps in its place",
    ("in a pipeline of a table", "search"): "search over the pipeline",
    ("calibrated", "calibrated"): "private classifier that protects rows, or a DPPipeline",
    ("calibrated", "search"): "search over the calibrated classifier",
    ("searched", "search"): "estimators of skdp that protect rows",
    ("in a pipeline", "sets"): r"put it around: DPConformalClassifier\(DPPipeline",
    ("in a pipeline of a table", "sets"): r"put it around: DPConformalClassifier\(DPPipeline",
    ("calibrated", "sets"): "implementing .fit. and .decision_function.",
    ("in sets", "sets"): "private classifier that protects rows, or a DPPipeline",
    ("in sets", "search"): "private classifier that protects rows, or a DPPipeline",
    (
        "searched",
        "sets",
    ): "calibrate the search on other records, as DPConformal",
}


def data(kind, n_rows=1200):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.uniform(-1.0, 1.0, n_rows), "pay": rng.normal(size=n_rows)})
    y = (X.age + 0.3 * rng.normal(size=n_rows) > 0.0).to_numpy().astype(int)
    if kind == "table":
        X["job"] = rng.choice(["nurse", "clerk", None], n_rows)
        X.loc[::7, "pay"] = np.nan
    return X, y, {"groups": np.arange(n_rows) // 2} if kind == "people" else {}


def taken(outer, inner):
    """What a pair takes: a vectorizer before anything reads tables, and a scaler reads numbers."""
    kinds = INNER[inner][1]
    if outer == "in a pipeline of a table":
        return kinds | {"table"}
    return kinds - {"table"} if outer == "in a pipeline" else kinds


@pytest.mark.parametrize(
    ("outer", "inner", "kind"), product(OUTER, INNER, ["rows", "table", "people"])
)
@pytest.mark.filterwarnings("ignore:no step bounds")
def test_parts_go_together_or_say_what_does(outer, inner, kind):
    X, y, given = data(kind)
    model = OUTER[outer](clone(INNER[inner][0])).set_params(epsilon=6.0, random_state=0)
    if (outer, inner) in TABLE:
        with pytest.raises((TypeError, ValueError), match=TABLE[outer, inner]):
            model.fit(X, y, **given)
        return
    if kind not in taken(outer, inner):
        with pytest.raises(ValueError, match=r"takes no groups|NaN|numeric|numbers"):
            model.fit(X, y, **given)
        return
    report = model.fit(X, y, **given).privacy_report_
    assert report.epsilon == 6.0
    assert 0.85 * 6.0 <= report.epsilon_at(report.delta) <= 6.0 * (1.0 + 1e-9)
    assert report.unit == ("one group" if given else "one row")
    assert model.score(X, y) > 0.7
