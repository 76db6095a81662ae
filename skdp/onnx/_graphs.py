"""Graphs of linear models and transformers."""

import numpy as np
from skl2onnx.algebra import onnx_ops
from skl2onnx.common import data_types as tensors
from skl2onnx.common.utils import check_input_and_output_numbers
from skl2onnx.common.utils_classifier import get_label_classes
from skl2onnx.proto import onnx_proto

from skdp.onnx._tables import NUMBERS, TYPES, terms_of

_FLOATS = {
    np.float32: (tensors.FloatTensorType, onnx_proto.TensorProto.FLOAT),
    np.float64: (tensors.DoubleTensorType, onnx_proto.TensorProto.DOUBLE),
}
_NOT_CALIBRATED = (
    "A calibrated classifier is converted if it has two classes and no pipeline inside: put it "
    "last in a DPPipeline, or convert its estimator_, which isn't calibrated."
)


class Graph:
    """The graph of one operator; `dtype` is that of its rows."""

    def __init__(self, scope, operator, container):
        self._scope, self._container = scope, container
        self.operator, self.model = operator, operator.raw_operator
        self.dtype = float_type_of(operator.inputs)

    def add(self, name, *inputs, **attributes):
        """Return a node by the name of its ONNX operator."""
        attributes.setdefault("op_version", self._container.target_opset)
        return getattr(onnx_ops, f"Onnx{name}")(*inputs, **attributes)

    def rows(self, dtype=None):
        """Return the rows that come in as one matrix, of `self.dtype` or another type of floats."""
        parts = self.operator.inputs
        if not all(isinstance(part.type, NUMBERS) for part in parts):
            name = type(self.model).__name__
            raise TypeError(f"{name} takes tensors of floats, integers or booleans here.")
        return self.join([self.floats(part, dtype) for part in parts])

    def columns(self, n_columns):
        """Return each column of the inputs, of shape (N, 1), with the type of tensors it is in."""
        name, parts = type(self.model).__name__, self.operator.inputs
        if not all(type(part.type) in TYPES for part in parts):
            raise TypeError(f"{name} takes tensors of strings, floats, integers or booleans here.")
        columns = [
            (self.add("Gather", part, np.array([place]), axis=1), type(part.type))
            for part in parts
            for place in range(part.type.shape[1] or 0)
        ]
        if len(columns) != n_columns:
            raise ValueError(
                f"{name} takes {n_columns} columns here: the initial types say how many an input "
                "has, as in FloatTensorType([None, 1])."
            )
        return columns

    def join(self, parts):
        """Return matrices side by side."""
        return parts[0] if len(parts) == 1 else self.add("Concat", *parts, axis=1)

    def floats(self, part, dtype=None):
        """Return a matrix as one of `self.dtype`, or of another type of floats."""
        kind, code = _FLOATS[dtype or self.dtype]
        if isinstance(getattr(part, "type", None), kind):
            return part
        return self.add("Cast", part, to=code)

    def constant(self, values):
        """Return public or released numbers as a constant, or raise a ValueError if they don't fit.

        Numbers don't fit that are too large or too small for the type.
        """
        values = np.asarray(values, dtype=np.float64)
        with np.errstate(over="ignore", under="ignore"):
            kept = values.astype(self.dtype)
        is_lost = np.isfinite(kept) != np.isfinite(values)
        if (is_lost | ((kept == 0.0) != (values == 0.0))).any():
            raise ValueError(
                "A number of the model is too large or too small for float32; convert it for "
                "double precision, with an initial type of DoubleTensorType."
            )
        return kept

    def clip(self, rows, ends):
        """Return rows of `self.dtype` within a pair of ends."""
        return self.cut(rows, *map(self.constant, ends))

    def cut(self, rows, low, high):
        """Return rows within two ends of their type."""
        return self.add("Min", self.add("Max", rows, low), high)

    def option(self, name):
        """Return an option of the conversion, False where it isn't given."""
        return self._container.get_options(self.model, {name: False})[name]

    def label_classes(self):
        """Return the class labels, as the conversion's options have them."""
        return get_label_classes(self._scope, self.model)

    def publish(self, node, place=0):
        """Make an output of a node."""
        output = self.add("Identity", node, output_names=[self.operator.outputs[place]])
        output.add_to(self._scope, self._container)


def float_type_of(variables):
    """Return float64 if one of some variables is, or of integers, else float32."""
    wide = (tensors.DoubleTensorType, tensors.Int64TensorType)
    return np.float64 if any(isinstance(one.type, wide) for one in variables) else np.float32


def transformer_shape(operator):
    """Set the type and shape of a transformer's output."""
    _set_floats(operator, operator.raw_operator.feature_bounds_[0].size)


def regressor_shape(operator):
    """Set the type and shape of predictions."""
    _set_floats(operator, len(np.atleast_2d(_linear_model(operator.raw_operator).coef_)))


def _set_floats(operator, width):
    check_input_and_output_numbers(operator, input_count_range=[1, None], output_count_range=1)
    kind, _ = _FLOATS[float_type_of(operator.inputs)]
    operator.outputs[0].set_type(kind([operator.inputs[0].get_first_dimension(), width]))


def classifier_shape(operator):
    """Set the types and shapes of labels and of what tells them apart."""
    check_input_and_output_numbers(operator, input_count_range=[1, None], output_count_range=2)
    labels = _labels(get_label_classes(operator.scope_inst, operator.raw_operator))
    is_text = labels.dtype.kind == "U"
    kind = tensors.StringTensorType if is_text else tensors.Int64TensorType
    n_rows = operator.inputs[0].get_first_dimension()
    operator.outputs[0].set_type(kind([n_rows]))
    operator.outputs[1].type.shape = [n_rows, labels.size]


def _labels(classes):
    """Return class labels as ONNX has them: strings or integers."""
    if all(isinstance(label, str) for label in classes):
        return np.array([str(label) for label in classes])
    labels = classes.astype(np.int64)
    if (labels != classes).any():
        raise ValueError("ONNX has labels that are strings or whole numbers, and no others.")
    return labels


def convert_regressor(graph):
    """Add the graph of a linear regressor; targets are columns, also a single one."""
    linear = _linear_model(graph.model)
    predictions = _scores(graph, _features(graph, graph.model), linear.coef_, linear.intercept_)
    if linear._family().loss(1).link == "log":
        predictions = graph.add("Exp", predictions)
    ends = graph.model.target_bounds_
    graph.publish(graph.clip(predictions, ends) if np.isfinite(ends).all() else predictions)


def convert_classifier(graph):
    """Add the graph of a linear classifier."""
    linear = _linear_model(graph.model)
    _classify(graph, _features(graph, graph.model), linear.coef_, linear.intercept_)


def convert_calibrated(graph):
    """Add the graph of a calibrated classifier, which is a linear one."""
    model = graph.model
    linear, slope = _linear_model(model.estimator_), model.slope_
    if np.ndim(slope) or not hasattr(linear, "coef_"):
        raise TypeError(_NOT_CALIBRATED)
    offset = slope * linear.intercept_ + model.offset_
    _classify(graph, _features(graph, model.estimator_), slope * linear.coef_, offset)


def _linear_model(model):
    """Return the linear model that a model is, or that an additive one has of its columns."""
    return getattr(model, "_model", model)


def _features(graph, model):
    """Return the rows that a model is linear in: those that come in, or what terms make of them."""
    return terms_of(graph, model) if hasattr(model, "_basis") else graph.rows()


def _scores(graph, rows, coef, intercept):
    """Return decision values of shape (N, k)."""
    coef = np.atleast_2d(coef)
    product = graph.add("MatMul", rows, graph.constant(coef.T))
    return graph.add("Add", product, graph.constant(np.broadcast_to(intercept, coef.shape[0])))


def _classify(graph, rows, coef, intercept):
    model = graph.model
    raw = graph.option("raw_scores")
    if not raw and not hasattr(model, "predict_proba"):
        name = type(model).__name__
        raise RuntimeError(
            f"This {name} has no probabilities: ask for decision values, with "
            f"options={{{name}: {{'raw_scores': True}}}}."
        )
    scores = _scores(graph, rows, coef, intercept)
    if len(coef) == 1:
        # One column a class, as skl2onnx gives scores of two classes.
        scores = graph.join([graph.add("Neg", scores), scores])
    # The first of equal scores is taken, here and in scikit-learn.
    place = graph.add("ArgMax", scores, axis=1, keepdims=0)
    classes = _labels(graph.label_classes())
    graph.publish(graph.add("Gather", classes, place, axis=0))
    if not raw:
        two = len(coef) == 1
        scores = graph.add("Sigmoid", scores) if two else graph.add("Softmax", scores, axis=1)
    # Columns of other types may have been decided on before it was known what they are made into.
    declared = float_type_of(graph.operator.outputs[1:])
    if declared is not graph.dtype:
        scores = graph.floats(scores, declared)
    graph.publish(scores, 1)


def convert_bounds_scaler(graph):
    """Add the graph of BoundsScaler."""
    mapped = graph.model._map
    slope = (mapped.stop - mapped.start) / (mapped.high - mapped.low)
    # float32 may not tell apart what is far from 0.
    rows = graph.add("Mul", graph.add("Sub", graph.rows(np.float64), mapped.low), slope)
    rows = graph.floats(graph.add("Add", rows, np.array([mapped.start])))
    graph.publish(graph.clip(rows, ([mapped.start], [mapped.stop])))


def convert_norm_clipper(graph):
    """Add the graph of a transformer that scales down rows longer than its `norm_bound_`."""
    ones = np.ones((graph.model.n_features_in_, 1))
    bound = np.array([graph.model.norm_bound_])
    rows = graph.rows(np.float64)
    # Half of the mean can't overflow, and what is divided by it has squares that don't.
    mean = graph.add("MatMul", graph.add("Abs", rows), ones / (2.0 * ones.size))
    size = graph.add("Max", mean, bound)
    rows = graph.add("Div", rows, size)
    length = graph.add("Sqrt", graph.add("MatMul", graph.add("Mul", rows, rows), ones))
    scale = graph.add("Div", bound, graph.add("Max", length, graph.add("Div", bound, size)))
    graph.publish(graph.floats(graph.add("Mul", rows, scale)))


def convert_standard_scaler(graph):
    """Add the graph of DPStandardScaler."""
    rows = graph.add("Sub", graph.rows(np.float64), graph.model.mean_)
    rows = graph.floats(graph.add("Div", rows, graph.model.scale_))
    graph.publish(graph.clip(rows, graph.model.feature_bounds_))


def convert_quantile_clipper(graph):
    """Add the graph of DPQuantileClipper."""
    graph.publish(graph.clip(graph.rows(), graph.model.feature_bounds_))


def convert_imputer(graph):
    """Add the graph of DPSimpleImputer, where what it fills are numbers."""
    model = graph.model
    if model.statistics_.dtype == object:
        raise TypeError(
            "ONNX has no missing values among strings: DPSimpleImputer is converted where it fills "
            "numbers. DPOneHotEncoder takes strings with a category of their own for missing ones."
        )
    rows, missing = graph.rows(), model._missing_values
    if missing is None or missing != missing:
        gaps = graph.add("IsNaN", rows)
    else:
        gaps = graph.add("Equal", rows, graph.constant([missing]))
    filled = graph.add("Where", gaps, graph.constant(model.statistics_), rows)
    ends = [end[: model.n_features_in_] for end in model.feature_bounds_]
    parts = [graph.clip(filled, ends)]
    if model.indicator_features_.size:
        shown = graph.add("Gather", gaps, model.indicator_features_.astype(np.int64), axis=1)
        parts.append(graph.floats(shown))
    graph.publish(graph.join(parts))
