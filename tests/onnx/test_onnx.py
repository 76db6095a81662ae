"""Converted models against the models: the same labels, probabilities and rows."""

import importlib
import re
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import skdp
from skdp import linear_model, preprocessing
from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from skdp.calibration import DPCalibratedClassifier, DPConformalClassifier
from skdp.exceptions import LostDataWarning, PrivacyWarning
from skdp.model_selection import DPGridSearch
from skdp.pipeline import DPPipeline
from skdp.utils.discovery import all_estimators
from tests._listed import LINEAR, suited

REASON = "skl2onnx and onnxruntime aren't installed"
skl2onnx = pytest.importorskip("skl2onnx", reason=REASON)
onnxruntime = pytest.importorskip("onnxruntime", reason=REASON)

from skl2onnx.common.data_types import (  # noqa: E402
    BooleanTensorType,
    Complex64TensorType,
    DoubleTensorType,
    FloatTensorType,
    Int64TensorType,
    StringTensorType,
)

from skdp.onnx import attach_report, read_report  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")

RNG = np.random.default_rng(8)
X = RNG.normal(0.0, 2.0, (400, 4))
TWO = (X[:, 0] > 0.0).astype(int)
THREE = np.digitize(X[:, 0], [-1.0, 1.0])
TOLERANCE = {np.float32: 1e-5, np.float64: 1e-12}
PLAIN = {"zipmap": False}
RAW = {"zipmap": False, "raw_scores": True}
CLASSIFIERS = [kind for kind in LINEAR if is_classifier(kind())]
REGRESSORS = [kind for kind in LINEAR if kind not in CLASSIFIERS]


def run(model, rows, **options):
    """Return the outputs of a converted model on rows; a frame has one input a column."""
    converted = skl2onnx.to_onnx(model, rows[:1], **options)
    return run_converted(converted, rows)


def run_converted(converted, rows):
    session = onnxruntime.InferenceSession(
        converted.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    if isinstance(rows, pd.DataFrame):
        return session.run(None, {name: rows[[name]].to_numpy() for name in rows})
    return session.run(None, {session.get_inputs()[0].name: rows})


def test_a_file_has_no_value_of_the_row_that_gives_its_types():
    words = np.array(["red", "green"])[TWO]
    model = DPAdditiveClassifier(epsilon=4.0).fit(pd.DataFrame({"a": X[:, 0], "b": words}), TWO)
    files = [
        skl2onnx.to_onnx(model, pd.DataFrame(row), options=PLAIN).SerializeToString()
        for row in ({"a": [98765.4321], "b": ["secret"]}, {"a": [0.0], "b": [""]})
    ]
    assert files[0] == files[1]


@pytest.mark.parametrize("labels", [TWO, THREE, np.array(["a", "b", "c"])[THREE]])
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_classifiers(kind, labels):
    model = kind().fit(X, labels)
    for dtype, tolerance in TOLERANCE.items():
        rows = X.astype(dtype)
        label, probabilities = run(model, rows, options=PLAIN)
        assert probabilities.dtype == dtype
        expected = model.predict_proba(rows)
        np.testing.assert_allclose(probabilities, expected, rtol=0, atol=tolerance)
        certain = np.sort(expected, axis=1)[:, -1] > np.sort(expected, axis=1)[:, -2] + 1e-5
        assert certain.mean() > 0.9
        np.testing.assert_array_equal(label[certain], model.predict(rows)[certain])


@pytest.mark.parametrize(
    ("kind", "columns", "fit_intercept"),
    product(REGRESSORS, [np.s_[:, 0], np.s_[:, :3], np.s_[:, :1]], [True, False]),
    ids=repr,
)
def test_regressors(kind, columns, fit_intercept):
    model = kind(fit_intercept=fit_intercept)
    model.fit(X, suited(model, X[columns]))
    for dtype, tolerance in TOLERANCE.items():
        rows = X.astype(dtype)
        (predicted,) = run(model, rows)
        assert predicted.dtype == dtype
        expected = model.predict(rows).reshape(len(rows), -1)
        np.testing.assert_allclose(predicted, expected, rtol=1e-5, atol=10 * tolerance)


@pytest.mark.long
@pytest.mark.parametrize("labels", [TWO, THREE])
def test_decision_values_of_the_hinge_loss(labels):
    model = linear_model.DPSCDClassifier(loss="hinge").fit(X, labels)
    with pytest.raises(RuntimeError, match=r"DPSCDClassifier has no probabilities.*raw_scores"):
        run(model, X)
    label, scores = run(model, X, options={linear_model.DPSCDClassifier: RAW})
    expected = model.decision_function(X)
    if expected.ndim == 1:
        expected = np.column_stack([-expected, expected])
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
    np.testing.assert_array_equal(label, model.predict(X))


def test_a_tie_goes_to_the_same_class():
    model = linear_model.DPLogisticRegression(fit_intercept=False).fit(X, TWO)
    zeros = np.zeros((1, 4), dtype=np.float32)
    label, probabilities = run(model, zeros, options=PLAIN)
    assert label.tolist() == model.predict(zeros).tolist() == [0]
    assert probabilities.tolist() == [[0.5, 0.5]]


OPTIONS = [
    {},
    {"zipmap": "columns"},
    PLAIN,
    RAW,
    {"zipmap": False, "output_class_labels": True},
    {"nocl": True},
    {"nocl": True, "zipmap": False},
]


@pytest.mark.parametrize(
    ("option", "labels"),
    product(OPTIONS, [[False, True], [0, 1], [2.0, 5.0], ["a", "b"], [3, 4, 7]]),
    ids=str,
)
def test_options_do_what_they_do_for_logistic_regression(option, labels):
    """Names, types and shapes of outputs, and for equal weights also the values."""
    if "output_class_labels" in option and type(labels[0]) in (bool, float):
        pytest.skip("skl2onnx fails on these, for its own models too")
    rows = X.astype(np.float32)
    y = np.array(labels)[TWO if len(labels) == 2 else THREE]
    theirs = LogisticRegression().fit(rows, y)
    ours = linear_model.DPLogisticRegression().fit(rows, y)
    ours.coef_, ours.intercept_ = theirs.coef_, theirs.intercept_
    converted = [
        skl2onnx.to_onnx(model, rows[:1], options={id(model): option} if option else None)
        for model in (theirs, ours)
    ]
    names = [[(out.name, out.type) for out in one.graph.output] for one in converted]
    assert names[0] == names[1]
    for mine, other in zip(*(run_converted(one, rows) for one in converted), strict=True):
        if isinstance(mine, list):
            mine, other = pd.DataFrame(mine).to_numpy(), pd.DataFrame(other).to_numpy()
        if np.asarray(mine).dtype.kind == "f":
            np.testing.assert_allclose(mine, other, atol=2e-6)
        else:
            np.testing.assert_array_equal(mine, other)


def test_labels_that_onnx_lacks_are_refused():
    labels = [0.5, 1.0]
    model = linear_model.DPLogisticRegression(classes=labels).fit(X, np.array(labels)[TWO])
    with pytest.raises(ValueError, match="strings or whole numbers"):
        run(model, X, options=PLAIN)
    assert run(model, X, options={"nocl": True, "zipmap": False})[0].max() == 1


@pytest.mark.long
def test_calibrated_probabilities():
    hinge = linear_model.DPSCDClassifier(loss="hinge", classes=["no", "yes"])
    model = DPCalibratedClassifier(hinge).fit(X, np.array(["no", "yes"])[TWO])
    label, probabilities = run(model, X, options=PLAIN)
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(label, model.predict(X))


TRANSFORMERS = [
    preprocessing.BoundsScaler((-2.0, [1.0, 2.0, 3.0, 4.0]), feature_range=(0, 3)),
    preprocessing.NormClipper(0.5),
    preprocessing.NormClipper(4.0),
    preprocessing.DPNormClipper(),
    preprocessing.DPQuantileClipper((-9, 9)),
    preprocessing.DPStandardScaler((-9, 9)),
    preprocessing.DPSimpleImputer(feature_bounds=(-9, 9)),
    preprocessing.DPSimpleImputer(strategy="median", feature_bounds=(-9, 9), add_indicator=True),
    preprocessing.DPSimpleImputer(strategy="constant", fill_value=-1, add_indicator=[0, 2]),
]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("model", TRANSFORMERS, ids=repr)
def test_transformers(model, dtype):
    rows = (X * 10.0 ** RNG.integers(-3, 4, (400, 1))).astype(dtype)
    rows[0] = 0.0
    if isinstance(model, preprocessing.DPSimpleImputer):
        rows[::7, 1] = rows[::3, 2] = np.nan
    model = clone(model).fit(rows)
    for given in (rows, pd.DataFrame(rows, columns=list("abcd"))):
        (converted,) = run(model, given)
        assert converted.dtype == dtype
        rtol = 2e-6 if dtype is np.float32 else 1e-12
        np.testing.assert_allclose(converted, model.transform(rows), rtol=rtol, atol=1e-6)


def test_gaps_that_are_numbers():
    rows = np.where(X > 2.0, -99.0, X)
    model = preprocessing.DPSimpleImputer(missing_values=-99.0, feature_bounds=(-9, 9)).fit(rows)
    np.testing.assert_array_equal(run(model, rows)[0], model.transform(rows))


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("norm", [1e-30, 1.0, 1e30])
def test_long_rows_keep_their_direction(norm, dtype):
    signs = np.array([[1, -1, 1, -1], [1, 0, 0, 0], [-1, 1, 0, 0]], dtype=dtype)
    expected = norm * signs / np.sqrt([[4.0], [1.0], [2.0]])
    for size in (np.finfo(dtype).max, 1e31):
        rows = signs * dtype(size)
        model = preprocessing.NormClipper(norm).fit(rows)
        for found in (run(model, rows)[0], model.transform(rows)):
            np.testing.assert_allclose(found, expected, rtol=10 * np.finfo(dtype).eps)


FAR = [(1_700_000_050, 1_700_001_050), (20_200_101, 20_201_231), (100_000.3, 100_001.3)]


@pytest.mark.parametrize(
    ("kind", "bounds", "dtype"),
    product(
        [preprocessing.BoundsScaler, preprocessing.DPStandardScaler],
        FAR,
        [np.int64, np.float32, np.float64],
    ),
)
def test_columns_far_from_0(kind, bounds, dtype):
    """Where float32 has few digits for what the scaler keeps."""
    low, high = bounds
    rows = np.linspace(low, high, 999)[RNG.permutation(999), np.newaxis].astype(dtype)
    labels = rows[:, 0] > (low + high) / 2
    steps = [("scaler", kind(bounds)), ("model", linear_model.DPLogisticRegression(classes=[0, 1]))]
    model = DPPipeline(steps, epsilon=100.0).fit(rows, labels)
    label, probabilities = run(model, rows, options=PLAIN)
    expected = model.predict_proba(rows)
    np.testing.assert_allclose(probabilities, expected, rtol=0, atol=2e-6)
    certain = np.abs(expected[:, 0] - 0.5) > 2e-6
    np.testing.assert_array_equal(label[certain], model.predict(rows)[certain])
    (scaled,) = run(model[0], rows)
    np.testing.assert_allclose(scaled, model[0].transform(rows), rtol=1e-6, atol=1e-9)


def test_integers_keep_their_digits():
    """Of which float32 keeps multiples of 2, and of 2**17."""
    near = 16_777_216 + RNG.integers(-9, 9, (999, 1))
    clipper = preprocessing.DPQuantileClipper((16_777_206, 16_777_226), epsilon=100.0).fit(near)
    imputer = preprocessing.DPSimpleImputer(feature_bounds=(0, 2**25)).fit(near)
    for model in (clipper, imputer):
        (converted,) = run(model, near)
        np.testing.assert_array_equal(converted, model.transform(near))
        assert len(np.unique(converted)) > 10
    large = 2**40 + near
    ridge = linear_model.DPRidge(data_norm=1e8).fit(near, near[:, 0] / 1e8)
    (predicted,) = run(ridge, large)
    np.testing.assert_allclose(predicted[:, 0], ridge.predict(large), rtol=1e-11)
    classifier = linear_model.DPLogisticRegression(data_norm=1e8).fit(near, near[:, 0] > 2**24)
    label, probabilities = run(classifier, near)
    expected = classifier.predict_proba(near)
    np.testing.assert_allclose(pd.DataFrame(probabilities).to_numpy(), expected, rtol=1e-6)
    np.testing.assert_array_equal(label, classifier.predict(near))


@pytest.mark.parametrize(
    ("epsilon", "kind", "handle_unknown"),
    product(
        [5.0, 1e-3],
        [StringTensorType, FloatTensorType, DoubleTensorType],
        ["infrequent", "ignore"],
    ),
)
def test_categories(kind, handle_unknown, epsilon):
    """At the small epsilon none is found."""
    values = ["a", "b", "", "d"] if kind is StringTensorType else [0.1, np.nan, -2.0, 1e6]
    chosen = RNG.choice(4, (2000, 2), p=[0.6, 0.3, 0.09, 0.01])
    dtype = {StringTensorType: object, FloatTensorType: np.float32}.get(kind, np.float64)
    rows = np.array(values, dtype=dtype)[chosen]
    options = {"handle_unknown": handle_unknown, "epsilon": epsilon}
    model = preprocessing.DPOneHotEncoder(**options).fit(rows)
    types = [("rows", kind([None, 2]))]
    if not sum(model._widths()):
        with pytest.raises(ValueError, match="found no category"):
            skl2onnx.convert_sklearn(model, initial_types=types)
        return
    (converted,) = run_converted(skl2onnx.convert_sklearn(model, initial_types=types), rows)
    np.testing.assert_array_equal(converted, model.transform(rows))


def test_categories_that_are_fractions_are_not_those_of_float32():
    model = preprocessing.DPOneHotEncoder(categories=[[0.1, 0.5]]).fit(np.array([[0.1], [0.5]]))
    for dtype, hits in ((np.float32, [0, 1]), (np.float64, [1, 1])):
        rows = np.array([[0.1], [0.5]], dtype=dtype)
        (converted,) = run(model, rows)
        np.testing.assert_array_equal(converted, model.transform(rows))
        np.testing.assert_array_equal(converted[:, :2].sum(axis=1), hits)


def test_categories_that_are_integers():
    """Beyond what float32 tells apart."""
    rows = 16_777_216 + RNG.integers(0, 3, (2000, 1))
    model = preprocessing.DPOneHotEncoder(epsilon=5.0, categories=[[16777216, 16777217]]).fit(rows)
    types = [("rows", Int64TensorType([None, 1]))]
    (converted,) = run_converted(skl2onnx.convert_sklearn(model, initial_types=types), rows)
    np.testing.assert_array_equal(converted, model.transform(rows))
    rows = rows.astype(np.float32)
    np.testing.assert_array_equal(run(model, rows)[0], model.transform(rows))


def test_what_onnx_strings_lack_is_refused():
    rows = np.array([["a"], [None]] * 500, dtype=object)
    types = [("rows", StringTensorType([None, 1]))]
    encoder = preprocessing.DPOneHotEncoder().fit(rows)
    with pytest.raises(ValueError, match="no missing values among strings"):
        skl2onnx.convert_sklearn(encoder, initial_types=types)
    imputer = preprocessing.DPSimpleImputer(strategy="most_frequent").fit(rows)
    with pytest.raises(TypeError, match="no missing values among strings"):
        skl2onnx.convert_sklearn(imputer, initial_types=types)
    scaler = preprocessing.BoundsScaler().fit(X)
    with pytest.raises(TypeError, match="BoundsScaler takes tensors of"):
        skl2onnx.convert_sklearn(scaler, initial_types=[("rows", StringTensorType([None, 4]))])


def test_numbers_that_float32_lacks_are_refused():
    wide = preprocessing.BoundsScaler((-1e60, 1e60)).fit(X)
    np.testing.assert_array_equal(run(wide, X)[0], wide.transform(X))
    rows = X.astype(np.float32)
    np.testing.assert_allclose(run(wide, rows)[0], wide.transform(rows), rtol=1e-6)
    scaler = preprocessing.BoundsScaler(feature_range=(-1e60, 1e60)).fit(X)
    ridge = linear_model.DPRidge().fit(X, X[:, 0])
    ridge.coef_ = 1e60 * ridge.coef_
    for model in (scaler, ridge):
        with pytest.raises(ValueError, match="DoubleTensorType"):
            run(model, rows)
    np.testing.assert_array_equal(run(scaler, X)[0], scaler.transform(X))


def steps():
    return [preprocessing.BoundsScaler((-9, 9)), preprocessing.NormClipper(0.7)]


@pytest.mark.long
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("private", [False, True])
def test_pipelines_with_public_bounds(private, dtype):
    model = make_pipeline(*steps(), linear_model.DPLogisticRegression(data_norm=0.7))
    if private:
        model = DPPipeline(model.steps)
    model.fit(X, THREE)
    rows = X.astype(dtype)
    for options in (PLAIN, {id(model): PLAIN}, {id(model[-1]): PLAIN}):
        _, probabilities = run(model, rows, options=options)
        expected = model.predict_proba(rows)
        np.testing.assert_allclose(probabilities, expected, rtol=0, atol=TOLERANCE[dtype])
    (regression,) = run(
        DPPipeline([("a", steps()[0]), ("b", linear_model.DPRidge())]).fit(X, X[:, :2]), rows
    )
    assert regression.shape == (400, 2)


@pytest.mark.parametrize("opset", [11, 17])
def test_older_runtimes(opset):
    model = DPPipeline(
        [("gaps", preprocessing.DPSimpleImputer(feature_bounds=(-9, 9), add_indicator=True))]
        + [(type(step).__name__, step) for step in steps()]
        + [("model", linear_model.DPLogisticRegression())]
    )
    model.fit(X, THREE)
    converted = skl2onnx.to_onnx(model, X[:1], options=PLAIN, target_opset=opset)
    assert {one.version for one in converted.opset_import if not one.domain} <= {opset}
    np.testing.assert_allclose(run_converted(converted, X)[1], model.predict_proba(X), atol=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_a_table_of_numbers_gaps_and_words(dtype):
    frame = pd.DataFrame(X[:, :2].astype(dtype), columns=["x", "gap"])
    frame.loc[::5, "gap"] = np.nan
    frame["job"] = np.array(["nurse", "clerk"])[TWO]
    frame["children"] = RNG.integers(0, 5, 400)
    numbers = make_pipeline(
        preprocessing.DPSimpleImputer(feature_bounds=(-9, 9)), preprocessing.BoundsScaler((-9, 9))
    )
    columns = ColumnTransformer(
        [
            ("words", preprocessing.DPOneHotEncoder(), ["job"]),
            ("numbers", numbers, ["x", "gap", "children"]),
        ]
    )
    model = linear_model.DPLogisticRegression(classes=[0, 1])
    model = DPPipeline([("columns", columns), ("model", model)], epsilon=5.0).fit(frame, TWO)
    label, probabilities = run(model, frame, options=PLAIN)
    np.testing.assert_allclose(probabilities, model.predict_proba(frame), rtol=0, atol=1e-5)
    np.testing.assert_array_equal(label, model.predict(frame))
    assert list(run(model, frame)[1][0]) == [0, 1]


@pytest.mark.long
def test_a_frame_with_a_column_of_large_integers():
    """In a step of its own, or beside float64."""
    rows = RNG.integers(*FAR[0], 999)
    frame = pd.DataFrame({"time": rows, "x": RNG.uniform(-1, 1, 999).astype(np.float32)})
    columns = ColumnTransformer(
        [
            ("time", preprocessing.BoundsScaler(FAR[0]), ["time"]),
            ("x", preprocessing.BoundsScaler(), ["x"]),
        ]
    )
    both = preprocessing.BoundsScaler(([FAR[0][0], -1.0], [FAR[0][1], 1.0]))
    together = ColumnTransformer([("both", both, ["time", "x"])])
    wide = frame.astype({"x": np.float64})
    for given, step in ((frame, columns), (wide, columns), (wide, together), (frame, both)):
        classifier = linear_model.DPLogisticRegression(classes=[0, 1])
        model = DPPipeline([("columns", step), ("model", classifier)], epsilon=5.0)
        model.fit(given, rows > np.median(rows))
        _, probabilities = run(model, given, options=PLAIN)
        expected = model.predict_proba(given)
        np.testing.assert_allclose(probabilities, expected, rtol=0, atol=1e-6)


FRAMES = [
    {"x": np.float32, "y": np.float32, "z": np.float32},
    {"x": np.float64, "y": np.float64, "z": np.float64},
    {"x": np.float32, "y": np.float64, "z": np.int64},
    {"x": np.int64, "y": np.bool_, "z": np.float32},
]


@pytest.mark.long
@pytest.mark.parametrize("types", FRAMES, ids=str)
def test_models_without_a_pipeline_take_frames(types):
    frame = pd.DataFrame(X[:, :3], columns=list("xyz")).astype(types)
    hinge = linear_model.DPSCDClassifier(loss="hinge", classes=["no", "yes"])
    for model, labels in (
        (linear_model.DPLogisticRegression(), TWO),
        (linear_model.DPLogisticRegression(), np.array(["a", "b", "c"])[THREE]),
        (DPCalibratedClassifier(hinge), np.array(["no", "yes"])[TWO]),
    ):
        label, probabilities = run(model.fit(frame, labels), frame, options=PLAIN)
        expected = model.predict_proba(frame)
        np.testing.assert_allclose(probabilities, expected, rtol=0, atol=1e-5)
        certain = np.sort(expected, axis=1)[:, -1] > np.sort(expected, axis=1)[:, -2] + 1e-5
        np.testing.assert_array_equal(label[certain], model.predict(frame)[certain])
    if types["x"] is not np.float64:
        assert list(run(model, frame)[1][0]) == ["no", "yes"]
    for targets in (X[:, 0], X[:, :2]):
        ridge = linear_model.DPRidge().fit(frame, targets)
        (predicted,) = run(ridge, frame)
        expected = ridge.predict(frame).reshape(len(frame), -1)
        np.testing.assert_allclose(predicted, expected, rtol=1e-5, atol=1e-5)


def raw_table(seed, n_rows=4000):
    """Return columns of numbers with a spike, gaps or neither, and of words, with gaps or not."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(18, 90, n_rows), "new": rng.random(n_rows) < 0.4})
    frame["hours"] = np.where(rng.random(n_rows) < 0.5, 40.0, rng.normal(35.0, 9.0, n_rows))
    frame["capped"] = rng.uniform(0.0, 2.0, n_rows)
    frame["gain"] = rng.exponential(1000.0, n_rows)
    frame.loc[rng.random(n_rows) < 0.2, "gain"] = np.nan
    frame["height"] = rng.normal(170.0, 8.0, n_rows)
    frame["zip"] = rng.choice([10.5, 20.0, 30.0, np.nan], n_rows)
    frame["job"] = rng.choice(np.array(["nurse", "clerk", "ceo"], dtype=object), n_rows)
    frame["town"] = rng.choice(np.array(["a", "b", np.nan], dtype=object), n_rows)
    return frame


TABLE = raw_table(0)
TELLING = TABLE.age + 30.0 * (TABLE.job == "nurse") + 20.0 * (TABLE.hours == 40.0)
TABLE_PARAMETERS = {
    "categorical_features": ["zip"],
    "feature_bounds": {"capped": (0.0, 1.0)},
    "epsilon": 20.0,
    "random_state": 0,
}
EDGES = {"age": [-1, 10**6], "zip": [np.inf, 77.0], "job": ["judge", ""], "town": ["", "nan"]}


def new_rows(model, dtype):
    """Return rows of which some are at knots, spikes and edges, beyond them, and unknown."""
    floats = ["hours", "capped", "gain", "height", "zip"]
    rows = raw_table(1, 600).astype(dict.fromkeys(floats, dtype))
    rows["job"] = rows["job"].where(rows.index % 7 > 0, "astronaut")
    rows["town"] = rows["town"].where(rows.index % 11 > 0, "atlantis")
    for term in model._basis.terms:
        if term.name in floats[:-1]:
            at = [*term.knots, np.inf, -np.inf, np.nan, 1e30, -1e30]
            rows.loc[: len(at) - 1, term.name] = np.array(at, dtype=dtype)
    rows.loc[50:51, list(EDGES)] = pd.DataFrame(EDGES, index=[50, 51])
    return rows


def run_table(model, rows, **options):
    """Return the outputs on a frame, whose first row, which says the types, has no gap."""
    shown = rows[rows.notna().all(axis=1) & (rows["town"] != "")]
    converted = skl2onnx.to_onnx(model, shown[:1], **options)
    return run_converted(converted, rows)


def as_python_has_gaps(rows):
    """Return rows with NaN where ONNX has an empty string, or "nan", in a column with gaps."""
    return rows.assign(town=rows["town"].replace({"": np.nan, "nan": np.nan}))


@pytest.mark.long
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("basis", ["hats", "linear"])
def test_columns_of_a_raw_table(basis, dtype):
    model = preprocessing.DPTableVectorizer(basis=basis, **TABLE_PARAMETERS).fit(TABLE)
    numbers = {term.name: term for term in model._basis.terms if term.kind != "words"}
    assert {term.kind for term in numbers.values()} == {"hats" if basis == "hats" else "line"}
    assert (numbers["hours"].spike, numbers["capped"].spike) == (40.0, 1.0)
    assert [name for name, term in numbers.items() if term.has_gap] == ["gain"]
    sizes = {name: known.size for name, known in model.categories_.items()}
    assert sizes == {"new": 2, "zip": 4, "job": 3, "town": 3}
    rows = new_rows(model, dtype)
    (converted,) = run_table(model, rows)
    expected = model.transform(as_python_has_gaps(rows))
    # Integers are among the columns.
    assert converted.dtype == np.float64
    np.testing.assert_allclose(converted, expected, rtol=0, atol=1e-14)
    unseen = model.get_feature_names_out()[~(expected != 0.0).any(axis=0)]
    assert unseen.tolist() == ["new_infrequent"]


@pytest.mark.long
@pytest.mark.parametrize(("cuts", "dtype"), product([[70.0], [60.0, 90.0]], TOLERANCE))
def test_additive_classifiers(cuts, dtype):
    labels = np.array(["low", "middle", "high"])[np.digitize(TELLING, cuts)]
    options = {"interactions": [("age", "gain"), ("hours", "job")]}
    options["monotonic_cst"] = {"height": 1} if len(cuts) == 1 else None
    model = DPAdditiveClassifier(**options, **TABLE_PARAMETERS).fit(TABLE, labels)
    rows = new_rows(model, dtype)
    label, probabilities = run_table(model, rows, options=PLAIN)
    expected = model.predict_proba(as_python_has_gaps(rows))
    assert np.ptp(expected, axis=0).min() > 0.5
    np.testing.assert_allclose(probabilities, expected, rtol=0, atol=1e-6)
    certain = np.sort(expected, axis=1)[:, -1] > np.sort(expected, axis=1)[:, -2] + 1e-5
    names = model.predict(as_python_has_gaps(rows))
    np.testing.assert_array_equal(label[certain], names[certain])
    _, scores = run_table(model, rows, options=RAW)
    values = model.decision_function(as_python_has_gaps(rows))
    values = values if values.ndim == 2 else np.column_stack([-values, values])
    np.testing.assert_allclose(scores, values, rtol=0, atol=1e-5)


@pytest.mark.long
@pytest.mark.parametrize("targets", [TELLING, np.column_stack([TELLING, TABLE.age])])
def test_additive_regressors(targets):
    monotonic = {"age": 1, "hours": -1} if targets.ndim == 1 else None
    parameters = {"monotonic_cst": monotonic, "knots": 2, **TABLE_PARAMETERS}
    model = DPAdditiveRegressor(target_bounds=(20, 120), **parameters).fit(TABLE, targets)
    rows = new_rows(model, np.float64)
    (predicted,) = run_table(model, rows)
    expected = model.predict(as_python_has_gaps(rows)).reshape(len(rows), -1)
    assert np.ptp(expected, axis=0).min() > 40.0
    np.testing.assert_allclose(predicted, expected, rtol=1e-12)


@pytest.mark.long
def test_additive_models_with_products():
    options = {"interactions": "auto", **TABLE_PARAMETERS, "epsilon": 100.0}
    for model, y in (
        (DPAdditiveRegressor(target_bounds=(20, 120)), TELLING),
        (DPAdditiveClassifier(classes=[0, 1]), (TELLING > 70.0).astype(int)),
    ):
        model.set_params(**options).fit(TABLE, y)
        assert model.terms_[-1].kind == "product"
        rows = new_rows(model, np.float64)
        named = as_python_has_gaps(rows)
        is_labels = hasattr(model, "classes_")
        predicted = run_table(model, rows, options=PLAIN if is_labels else None)[-1]
        expected = model.predict_proba(named) if is_labels else model.predict(named)[:, np.newaxis]
        np.testing.assert_allclose(predicted, expected, rtol=0, atol=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_additive_counts_and_amounts_are_means(loss):
    model = DPAdditiveRegressor(loss=loss, **TABLE_PARAMETERS).fit(TABLE, TELLING)
    rows = new_rows(model, np.float64)
    (predicted,) = run_table(model, rows)
    expected = model.predict(as_python_has_gaps(rows)).reshape(-1, 1)
    assert expected.min() > 0.0
    np.testing.assert_allclose(predicted, expected, rtol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("opset", [11, 17])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_raw_arrays(dtype, opset):
    """Knots of which some coincide in float32, gaps, and pairs; also for older runtimes."""
    rows = X.astype(dtype)
    rows[::9, 1] = np.nan
    rows[:5, 0] = -1.0, 0.0, 3.0, 100.0, 100.0 + 1e-9
    knots = {0: [-1.0, 0.0, 3.0], 1: [-2.0, 2.0], 2: [0.0, 1.0, 1.0 + 1e-9], 3: [0.5, 0.75]}
    options = {"interactions": [(0, 1)], "knots": knots, "epsilon": 50.0, "random_state": 0}
    classifier = DPAdditiveClassifier(**options).fit(rows, THREE)
    regressor = DPAdditiveRegressor(**options).fit(rows, X[:, :1])
    _, found = run(classifier, rows, options=PLAIN, target_opset=opset)
    np.testing.assert_allclose(found, classifier.predict_proba(rows), atol=TOLERANCE[dtype])
    assert found.dtype == dtype
    (found,) = run(regressor, rows, target_opset=opset)
    np.testing.assert_allclose(
        found, regressor.predict(rows)[:, np.newaxis], rtol=0, atol=10 * TOLERANCE[dtype]
    )
    assert found.dtype == dtype


def test_raw_columns_of_one_number_or_none():
    rows = np.column_stack([np.full(3000, 5.0), np.full(3000, np.nan)])
    model = preprocessing.DPTableVectorizer(epsilon=20.0, random_state=0)
    with pytest.warns(LostDataWarning, match="'x1'"):
        model.fit(rows)
    assert [knots.size for knots in model.knots_.values()] == [1, 1]
    rows[:3] = [[4.0, 0.0], [6.0, 1.0], [np.nan, np.inf]]
    np.testing.assert_array_equal(run(model, rows)[0], model.transform(rows))


@pytest.mark.long
def test_a_calibrated_additive_model():
    model = DPCalibratedClassifier(DPAdditiveClassifier(), epsilon=20.0, random_state=0).fit(X, TWO)
    _, probabilities = run(model, X, options=PLAIN)
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("last", [linear_model.DPRidge(), linear_model.DPLogisticRegression()])
def test_a_raw_table_in_a_pipeline(last):
    is_classifying = is_classifier(last)
    parameters = {key: TABLE_PARAMETERS[key] for key in ("categorical_features", "feature_bounds")}
    steps = [("table", preprocessing.DPTableVectorizer(**parameters)), ("model", last)]
    model = DPPipeline(steps, epsilon=20.0, random_state=0)
    model.fit(TABLE, TELLING > 70.0 if is_classifying else TELLING)
    rows = new_rows(model[0], np.float64)
    found = run_table(model, rows, **({"options": PLAIN} if is_classifying else {}))[-1]
    predict = model.predict_proba if is_classifying else model.predict
    expected = predict(as_python_has_gaps(rows)).reshape(len(rows), -1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


@pytest.mark.long
def test_an_additive_model_that_ends_a_pipeline():
    steps = [("gaps", preprocessing.DPSimpleImputer(feature_bounds=(-9, 9)))]
    steps.append(("model", DPAdditiveClassifier(classes=[0, 1])))
    model = DPPipeline(steps, epsilon=20.0, random_state=0).fit(X, TWO)
    _, found = run(model, X, options=PLAIN)
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-12)


def test_words_are_those_of_the_tensors_that_come_in():
    """A number is the word that Python writes for it; in float32 .1 is another."""
    words = pd.DataFrame({"word": ["True", "False", "0.1", "2", "2.0", "inf", "nan", ""] * 300})
    options = {"categorical_features": ["word"], "epsilon": 50.0, "random_state": 0}
    model = preprocessing.DPTableVectorizer(**options).fit(words)
    assert model.categories_["word"].size == 8
    for kind, values in (
        (BooleanTensorType, np.array([True, False])),
        (DoubleTensorType, np.array([0.1, 2.0, np.nan, np.inf, 1.0])),
        (FloatTensorType, np.array([0.1, 2.0, 0.5], dtype=np.float32)),
        (Int64TensorType, np.array([2, 1, 3])),
        (StringTensorType, np.array(["True", "0.1", "2", "2.0", "nan", "", "x"], dtype=object)),
    ):
        rows = pd.DataFrame({"word": values})
        converted = skl2onnx.to_onnx(model, initial_types=[("word", kind([None, 1]))])
        np.testing.assert_array_equal(run_converted(converted, rows)[0], model.transform(rows))


TENSORS = [
    (BooleanTensorType, np.array([True, False])),
    (DoubleTensorType, np.array([0.0, 1.0, 2.0, 0.5, np.nan, np.inf])),
    (FloatTensorType, np.array([0.0, 1.0, 2.0, 0.5], dtype=np.float32)),
    (Int64TensorType, np.array([0, 1, 2, 3])),
    (StringTensorType, np.array(["True", "False", "1", "0", "2", "2.0", "x"], dtype=object)),
]
# What columns held in the fit, by which entries are read later.
HELD = {
    "booleans": np.array([True, False] * 600),
    "integers": np.array([0, 1, 2, 3] * 300),
    "numbers": np.array([0.0, 1.0, 2.0, 0.5] * 300),
    "texts of booleans": np.array(["True", "False", "x"] * 400, dtype=object),
    "texts of numbers": np.array(["1", "0", "2"] * 400, dtype=object),
    "texts of both": np.array(["True", "1", "0", "2.0"] * 300, dtype=object),
    "mixture": np.array([True, 0, "1", "x"] * 300, dtype=object),
}


@pytest.mark.long
@pytest.mark.every
@pytest.mark.parametrize("reader", ["table", "encoder"])
@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize(("kind", "values"), TENSORS)
def test_tensors_give_what_frames_of_their_type_give(kind, values, held, reader):
    if reader == "table":
        model = preprocessing.DPTableVectorizer(
            categorical_features=["a"], epsilon=50.0, random_state=0
        )
    else:
        model = preprocessing.DPOneHotEncoder(epsilon=50.0, random_state=0)
    model.fit(pd.DataFrame({"a": HELD[held]}))
    assert model.transform(pd.DataFrame({"a": HELD[held]}))[:, -1].sum() == 0
    rows, types = pd.DataFrame({"a": values}), [("a", kind([None, 1]))]
    are_numbers = held in ("booleans", "integers", "numbers")
    are_numbers |= (held, reader) == ("mixture", "encoder")
    if kind is StringTensorType and are_numbers:
        with pytest.raises(TypeError, match="an input of its own"):
            skl2onnx.to_onnx(model, initial_types=types)
        return
    converted = skl2onnx.to_onnx(model, initial_types=types)
    np.testing.assert_array_equal(run_converted(converted, rows)[0], model.transform(rows))


def test_dates_come_in_as_days():
    days = RNG.integers(0, 20_000, 3000)
    dates = pd.DataFrame({"when": pd.to_datetime(days, unit="D")})
    model = preprocessing.DPTableVectorizer(epsilon=20.0, random_state=0).fit(dates)
    converted = skl2onnx.to_onnx(model, initial_types=[("when", Int64TensorType([None, 1]))])
    found = run_converted(converted, pd.DataFrame({"when": days}))[0]
    np.testing.assert_array_equal(found, model.transform(dates))
    with pytest.raises(TypeError, match=r"'when' is one of dates.*days since 1970-01-01"):
        skl2onnx.to_onnx(model, initial_types=[("when", StringTensorType([None, 1]))])


@pytest.mark.long
def test_words_that_nobody_learnt_are_not_in_the_file():
    table = TABLE.assign(job=np.where(TABLE.index % 1000, TABLE["job"], "submariner"))
    model = DPAdditiveClassifier(**TABLE_PARAMETERS).fit(table, TELLING > 70.0)
    kept = skl2onnx.to_onnx(model, TABLE.dropna()[:1]).SerializeToString()
    assert b"nurse" in kept
    assert b"submariner" not in kept


def test_raw_columns_of_other_types_are_refused():
    model = preprocessing.DPTableVectorizer(**TABLE_PARAMETERS).fit(TABLE)
    text = [(name, StringTensorType([None, 1])) for name in TABLE]
    for types, error, message in (
        (text, TypeError, "column 'age' is one of numbers.*an input of its own"),
        ([("all", StringTensorType([None, 9]))], TypeError, "column 'age' is one of numbers"),
        (text[1:], ValueError, "DPTableVectorizer takes 9 columns here"),
        ([("all", FloatTensorType([None, None]))], ValueError, "takes 9 columns here"),
        ([("all", Complex64TensorType([None, 9]))], TypeError, "takes tensors of strings, floats"),
    ):
        with pytest.raises(error, match=message):
            skl2onnx.to_onnx(model, initial_types=types)


@pytest.mark.long
def test_predictions_are_cut_to_the_bounds_of_targets():
    far = 100.0 * X
    for targets in (X[:, 0], X[:, :2]):
        for parameters in ({}, {"target_bounds": (-0.5, 0.2)}, {"epsilon": np.inf}):
            ridge = linear_model.DPRidge(**parameters).fit(X, targets)
            expected = ridge.predict(far).reshape(len(far), -1)
            is_cut = np.isfinite(ridge.target_bounds_[0]).all()
            linear = (far @ ridge.coef_.T + ridge.intercept_).reshape(expected.shape)
            assert np.allclose(linear, expected, rtol=1e-9) != is_cut
            np.testing.assert_allclose(run(ridge, far)[0], expected, rtol=1e-9)


def test_searches_are_refused_and_their_model_is_not():
    model = linear_model.DPLogisticRegression(classes=[0, 1])
    search = DPGridSearch(model, {"alpha": [1e-3, 1e-2]}, delta=1e-3).fit(X, TWO)
    with pytest.raises(TypeError, match=r"DPGridSearch isn't converted.*best_estimator_"):
        run(search, X)
    _, probabilities = run(search.best_estimator_, X, options=PLAIN)
    np.testing.assert_allclose(probabilities, search.predict_proba(X), atol=1e-12)


@pytest.mark.long
def test_sets_are_refused_and_their_model_is_not():
    model = linear_model.DPLogisticRegression(classes=[0, 1])
    sets = DPConformalClassifier(model, epsilon=50.0).fit(X, TWO)
    with pytest.raises(TypeError, match=r"DPConformalClassifier isn't converted.*estimator_"):
        run(sets, X)
    _, probabilities = run(sets.estimator_, X, options=PLAIN)
    np.testing.assert_allclose(probabilities, sets.predict_proba(X), atol=1e-12)


def test_dask_models_through_their_local_form():
    da = pytest.importorskip("dask.array", reason="Dask isn't installed")
    from skdp.dask import DaskDPRidge

    model = DaskDPRidge().fit(da.from_array(X, chunks=100), da.from_array(X[:, 0], chunks=100))
    np.testing.assert_allclose(run(model.to_local(), X)[0][:, 0], model.predict(X), rtol=1e-12)


CONVERTED = [kind for _, kind in all_estimators()]


@pytest.mark.parametrize("kind", CONVERTED, ids=lambda kind: kind.__name__)
def test_a_file_holds_what_was_released_and_nothing_else(kind):
    """No seed, report, parameter or row: neither as text nor as bytes of numbers."""
    seed = 918_273_645
    rows = X.copy()
    seeded = "random_state" in kind().get_params()
    model = kind(random_state=seed) if seeded else kind()
    model.fit(rows, TWO if is_classifier(model) else suited(model, X[:, 0]))
    options = {"options": PLAIN} if is_classifier(model) else {}
    for dtype in TOLERANCE:
        kept = skl2onnx.to_onnx(model, rows[:1].astype(dtype), **options).SerializeToString()
        for number in (seed, *rows[:5].ravel().tolist()):
            for form in (str(number).encode(), np.float64(number).tobytes()):
                assert form not in kept
            if not isinstance(number, int):
                assert np.float32(number).tobytes() not in kept
        assert seed.to_bytes(8, "little") not in kept
        assert np.int32(seed).tobytes() not in kept
        for word in (b"privacy", b"epsilon", b"seed", b"random_state", b"delta", b"ledger"):
            assert word not in kept


def test_a_conversion_warns_of_nothing(recwarn):
    """It makes no copy of the seed."""
    model = linear_model.DPRidge(random_state=0).fit(X, X[:, 0])
    recwarn.clear()
    run(model, X)
    assert not [one for one in recwarn if issubclass(one.category, PrivacyWarning)]


def test_the_guarantee_goes_along_when_asked():
    import onnx

    first, second = (linear_model.DPRidge(epsilon=e).fit(X, X[:, 0]) for e in (1.0, 2.0))
    converted = skl2onnx.to_onnx(first, X[:1])
    with pytest.raises(ValueError, match="nothing of its privacy"):
        read_report(converted)
    with pytest.raises(TypeError, match="PrivacyReport"):
        attach_report(converted, {"epsilon": 1.0})
    for model in (first, second):
        assert attach_report(converted, model.privacy_report_) is converted
        loaded = onnx.load_model_from_string(converted.SerializeToString())
        assert read_report(loaded) == model.privacy_report_
        told = {entry.key: entry.value for entry in loaded.metadata_props}
        is_private = model.differentially_private_
        assert told.pop("differentially_private") == {True: "true", False: "false"}[is_private]
        assert list(told) == ["skdp.privacy_report"]
    onnx.checker.check_model(loaded)
    np.testing.assert_allclose(run_converted(loaded, X)[0][:, 0], first.predict(X), rtol=1e-12)


def test_without_skl2onnx_it_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("skdp.onnx")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(ImportError, match=r"needs skl2onnx.*pip install '\.\[onnx\]'"):
        importlib.import_module("skdp.onnx")


def test_nothing_else_imports_it():
    package = Path(skdp.__file__).parent
    for path in package.rglob("*.py"):
        if path.parent != package / "onnx":
            assert not re.search(r"(?m)^\s*(from|import) (skdp\.onnx|\w*onnx)", path.read_text())


@pytest.mark.parametrize(
    "inner",
    [
        linear_model.DPLogisticRegression(classes=[0, 1, 2]),
        DPPipeline([("model", linear_model.DPLogisticRegression(classes=[0, 1]))]),
    ],
)
def test_what_is_calibrated_otherwise_is_refused_with_what_works(inner):
    X = np.linspace(-1.0, 1.0, 300).reshape(100, 3).astype(np.float32)
    y = np.arange(100) % len(getattr(inner, "classes", [0, 1]))
    model = DPCalibratedClassifier(inner, delta=1e-3).fit(X, y)
    with pytest.raises(TypeError, match="last in a DPPipeline"):
        run(model, X)


def test_a_calibrated_last_step_is_converted():
    X = np.random.default_rng(0).uniform(-1, 1, (500, 3)).astype(np.float32)
    last = DPCalibratedClassifier(linear_model.DPLogisticRegression(classes=[0, 1]))
    model = DPPipeline([("scale", preprocessing.DPStandardScaler()), ("model", last)])
    model.fit(X, (X[:, 0] > 0).astype(int))
    labels, probabilities = run(model, X, options={id(model): {"zipmap": False}})
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-5)
