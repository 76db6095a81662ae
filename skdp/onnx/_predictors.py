"""Graphs of linear models."""

import numpy as np
from skl2onnx.algebra.onnx_ops import (
    OnnxAdd,
    OnnxArgMax,
    OnnxConcat,
    OnnxGather,
    OnnxIdentity,
    OnnxMatMul,
    OnnxNeg,
    OnnxSigmoid,
    OnnxSoftmax,
)
from skl2onnx.common.data_types import Int64TensorType, StringTensorType
from skl2onnx.common.utils import check_input_and_output_numbers
from skl2onnx.common.utils_classifier import get_label_classes

from skdp.onnx._graph import as_floats, constant, float_type, float_type_of, numeric_rows


def classifier_shape(operator):
    """Set the types and shapes of labels and of what tells them apart."""
    check_input_and_output_numbers(operator, input_count_range=[1, None], output_count_range=2)
    labels = _labels(get_label_classes(operator.scope_inst, operator.raw_operator))
    kind = StringTensorType if labels.dtype.kind == "U" else Int64TensorType
    n_rows = operator.inputs[0].get_first_dimension()
    operator.outputs[0].set_type(kind([n_rows]))
    operator.outputs[1].type.shape = [n_rows, labels.size]


def convert_regressor(scope, operator, container):
    """Add the graph of a linear regressor; targets are columns, also a single one."""
    model = operator.raw_operator
    scores = _scores(operator, container, model.coef_, model.intercept_)
    _publish(scores, 0, scope, operator, container)


def convert_classifier(scope, operator, container):
    """Add the graph of a linear classifier."""
    model = operator.raw_operator
    _classify(scope, operator, container, model.coef_, model.intercept_)


def convert_calibrated(scope, operator, container):
    """Add the graph of a calibrated classifier, which is a linear one."""
    model = operator.raw_operator
    linear, slope = model.estimator_, model.slope_
    offset = slope * linear.intercept_ + model.offset_
    _classify(scope, operator, container, slope * linear.coef_, offset)


def _scores(operator, container, coef, intercept):
    """Return decision values of shape (N, k)."""
    opset, dtype = container.target_opset, float_type(operator)
    coef = np.atleast_2d(coef)
    rows = numeric_rows(operator, dtype, opset)
    product = OnnxMatMul(rows, constant(coef.T, dtype), op_version=opset)
    offsets = np.broadcast_to(intercept, coef.shape[0])
    return OnnxAdd(product, constant(offsets, dtype), op_version=opset)


def _classify(scope, operator, container, coef, intercept):
    opset, model = container.target_opset, operator.raw_operator
    raw = container.get_options(model, {"raw_scores": False})["raw_scores"]
    if not raw and not hasattr(model, "predict_proba"):
        name = type(model).__name__
        raise RuntimeError(
            f"This {name} has no probabilities: ask for decision values, with "
            f"options={{{name}: {{'raw_scores': True}}}}."
        )
    scores = _scores(operator, container, coef, intercept)
    if len(coef) == 1:
        # One column a class, as skl2onnx gives scores of two classes.
        scores = OnnxConcat(OnnxNeg(scores, op_version=opset), scores, axis=1, op_version=opset)
    # Of equal ones the first is taken, here and in scikit-learn.
    place = OnnxArgMax(scores, axis=1, keepdims=0, op_version=opset)
    classes = _labels(get_label_classes(scope, model))
    _publish(OnnxGather(classes, place, axis=0, op_version=opset), 0, scope, operator, container)
    if not raw and len(coef) == 1:
        scores = OnnxSigmoid(scores, op_version=opset)
    elif not raw:
        scores = OnnxSoftmax(scores, axis=1, op_version=opset)
    # Columns of other types may have been decided on before it was known what they are made into.
    declared = float_type_of(operator.outputs[1:])
    if declared is not float_type(operator):
        scores = as_floats(scores, declared, opset)
    _publish(scores, 1, scope, operator, container)


def _publish(found, place, scope, operator, container):
    named = {"op_version": container.target_opset, "output_names": [operator.outputs[place]]}
    OnnxIdentity(found, **named).add_to(scope, container)


def _labels(classes):
    """Return class labels as ONNX has them: strings or integers."""
    if all(isinstance(label, str) for label in classes):
        return np.array([str(label) for label in classes])
    labels = classes.astype(np.int64)
    if (labels != classes).any():
        raise ValueError("ONNX has labels that are strings or whole numbers, and no others.")
    return labels
