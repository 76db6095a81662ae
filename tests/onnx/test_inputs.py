"""Inputs of converted models: what a table becomes, so that a graph predicts as its model does."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from skdp.calibration import DPCalibratedClassifier
from skdp.exceptions import LostDataWarning
from skdp.linear_model import DPLogisticRegression, DPRidge
from skdp.model_selection import DPGridSearch
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import DPOneHotEncoder, DPStandardScaler, DPTableVectorizer

REASON = "skl2onnx and onnxruntime aren't installed"
skl2onnx = pytest.importorskip("skl2onnx", reason=REASON)
onnxruntime = pytest.importorskip("onnxruntime", reason=REASON)

from skdp.onnx import initial_types, inputs  # noqa: E402

N = 2000
DECLARED = {"categorical_features": ["code", "2nd code"]}


@pytest.fixture(scope="module")
def table():
    """Columns of all kinds, with gaps, and names that ONNX doesn't have."""
    rng = np.random.default_rng(0)
    day = pd.Timestamp("2024-01-01 06:30") + pd.to_timedelta(rng.integers(0, 99, N), "D")
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, N),
            "pay-per day": np.where(rng.random(N) < 0.2, np.nan, rng.integers(0, 9, N) / 10),
            "pay_per_day": rng.normal(0, 1, N).astype(np.float32),
            "admitted": day.where(rng.random(N) < 0.8),
            "day": day.strftime("%Y-%m-%d"),
            "job": rng.choice(["nurse", "clerk"], N),
            "word": rng.choice(["", "nan", "red"], N),
            "gap": rng.choice(["", "red"], N),
            "flag": rng.random(N) < 0.5,
            "maybe": pd.array(rng.choice([True, False, None], N), dtype="boolean"),
            "code": rng.integers(0, 4, N) / 10,
            "2nd code": np.where(rng.random(N) < 0.3, np.nan, rng.integers(0, 3, N)),
        }
    ).astype({"day": object, "job": object, "word": object, "gap": object})
    frame.loc[::4, "job"] = frame.loc[::5, "gap"] = None
    frame.loc[::7, "day"] = "?"
    return frame, (frame["age"] > 50).astype(int)


@pytest.fixture(scope="module")
def later(table):
    """Rows with entries that the fit didn't see, or that aren't what their columns held."""
    rows = table[0][:40].astype(object)
    rows.loc[:2, "job"] = ["", "nan", "(infrequent)"]
    rows.loc[:1, "gap"] = ["nan", None]
    rows.loc[:3, "word"] = [None, "infrequent", "", "nan"]
    rows.loc[:3, "flag"] = ["maybe", None, 1, "False"]
    rows.loc[:2, "age"] = ["old", None, "30"]
    rows.loc[:3, "code"] = ["x", None, "0.1", 7]
    rows.loc[:1, "maybe"] = ["unknown", 5]
    rows.loc[:1, "2nd code"] = [7, "x"]
    rows.loc[:1, "admitted"] = ["2024-02-01", pd.Timestamp("2024-02-01", tz="Asia/Tokyo")]
    return rows


def outputs(model, rows, **options):
    converted = skl2onnx.to_onnx(model, initial_types=initial_types(model), **options)
    session = onnxruntime.InferenceSession(
        converted.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    arrays = inputs(rows, model)
    assert [one.name for one in session.get_inputs()] == list(arrays)
    return session.run(None, arrays)


@pytest.mark.long
@pytest.mark.parametrize(
    "model",
    [
        DPAdditiveClassifier(**DECLARED, epsilon=5.0, random_state=0),
        make_private_pipeline(
            DPTableVectorizer(**DECLARED), DPLogisticRegression(), epsilon=5.0, random_state=0
        ),
        DPCalibratedClassifier(DPAdditiveClassifier(**DECLARED), epsilon=5.0, random_state=0),
    ],
    ids=["model", "pipeline", "calibrated"],
)
def test_a_graph_predicts_as_its_model_whatever_columns_hold(model, table, later):
    model.fit(*table)
    _, probabilities = outputs(model, table[0], options={"zipmap": False})
    assert np.abs(probabilities - model.predict_proba(table[0])).max() < 1e-10
    with pytest.warns(LostDataWarning, match="'age' .1 that are no numbers"):
        _, probabilities = outputs(model, later, options={"zipmap": False})
    with pytest.warns(LostDataWarning):
        assert np.abs(probabilities - model.predict_proba(later)).max() < 1e-10


def test_names_differ_and_types_follow_from_what_the_fit_read(table):
    model = DPAdditiveClassifier(**DECLARED, random_state=0).fit(*table)
    types = dict(initial_types(model))
    assert list(types)[1:3] == ["pay_per_day", "pay_per_day_"]
    words = {name for name, kind in types.items() if isinstance(kind, type(types["job"]))}
    assert words == {"job", "word", "gap"}
    assert list(types)[-1] == "_2nd_code"


def test_rows_without_names_are_read_by_place():
    rng = np.random.default_rng(0)
    rows = np.array([[float(j % 50), "a" if j % 3 else None] for j in range(N)], dtype=object)
    model = DPAdditiveRegressor(target_bounds=(0, 1), random_state=0).fit(rows, rng.random(N))
    assert [name for name, _ in initial_types(model)] == ["x0", "x1"]
    assert np.allclose(outputs(model, rows)[0][:, 0], model.predict(rows), atol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        DPRidge(target_bounds=(0, 1), random_state=0),
        make_pipeline(DPStandardScaler(random_state=0), DPRidge(target_bounds=(0, 1))),
    ],
)
@pytest.mark.every
def test_models_of_numbers_take_one_matrix(model):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b c"])
    model.fit(rows, rng.random(300))
    assert np.allclose(outputs(model, rows)[0][:, 0], model.predict(rows), atol=1e-12)


def test_what_cannot_be_said_is_refused(table):
    X, y = table
    side_by_side = ColumnTransformer([("all", DPTableVectorizer(random_state=0), ["age"])])
    for step in (side_by_side, DPOneHotEncoder(random_state=0)):
        pipeline = make_pipeline(step, DPLogisticRegression()).fit(X[["age"]], y)
        for function in (initial_types, lambda model: inputs(X[["age"]], model)):
            with pytest.raises(TypeError, match=f"{type(step).__name__} may take columns"):
                function(pipeline)
    with pytest.raises(TypeError, match="best_estimator_"):
        initial_types(DPGridSearch(DPAdditiveClassifier(), {"alpha": [1.0]}))
    with pytest.raises(NotFittedError):
        initial_types(DPAdditiveClassifier())
    frame = pd.DataFrame({"a": np.array(["", "nan", None] * 500, dtype=object)})
    full = DPTableVectorizer(categories={"a": ["", "nan", np.nan]}, random_state=0).fit(frame)
    with pytest.raises(ValueError, match="no other text"):
        inputs(frame, full)
    mixed = {"categories": {"a": ["x", 1]}, "categorical_features": ["a"], "random_state": 0}
    numbers = pd.DataFrame({"a": [1.0, 2.0] * 500})
    with pytest.raises(ValueError, match="has a text among its categories"):
        inputs(numbers, DPTableVectorizer(**mixed).fit(numbers))
