"""Graphs of transformers."""

import numpy as np
from skl2onnx.algebra.onnx_ops import (
    OnnxAbs,
    OnnxAdd,
    OnnxDiv,
    OnnxEqual,
    OnnxGather,
    OnnxIdentity,
    OnnxIsNaN,
    OnnxMatMul,
    OnnxMax,
    OnnxMin,
    OnnxMul,
    OnnxSqrt,
    OnnxSub,
    OnnxWhere,
)

from skdp.onnx._graph import as_floats, constant, float_type, join, numeric_rows


def _clip(rows, low, high, opset):
    return OnnxMin(OnnxMax(rows, low, op_version=opset), high, op_version=opset)


def _publish(rows, scope, operator, container):
    named = {"op_version": container.target_opset, "output_names": operator.outputs[:1]}
    OnnxIdentity(rows, **named).add_to(scope, container)


def convert_bounds_scaler(scope, operator, container):
    """Add the graph of BoundsScaler."""
    opset, dtype = container.target_opset, float_type(operator)
    mapped = operator.raw_operator._map
    slope = (mapped.stop - mapped.start) / (mapped.high - mapped.low)
    rows = numeric_rows(operator, np.float64, opset)
    # float32 may not tell apart what is far from 0.
    rows = OnnxSub(rows, mapped.low, op_version=opset)
    rows = OnnxMul(rows, slope, op_version=opset)
    rows = OnnxAdd(rows, np.array([mapped.start]), op_version=opset)
    start, stop = (constant([end], dtype) for end in (mapped.start, mapped.stop))
    rows = _clip(as_floats(rows, dtype, opset), start, stop, opset)
    _publish(rows, scope, operator, container)


def convert_norm_clipper(scope, operator, container):
    """Add the graph of a transformer that scales down rows longer than its `norm_bound_`."""
    opset, dtype = container.target_opset, float_type(operator)
    model = operator.raw_operator
    ones = np.ones((model.n_features_in_, 1))
    bound = np.array([model.norm_bound_])
    rows = numeric_rows(operator, np.float64, opset)
    # Half of the mean can't overflow, and what is divided by it has squares that don't.
    half = ones / (2.0 * model.n_features_in_)
    mean = OnnxMatMul(OnnxAbs(rows, op_version=opset), half, op_version=opset)
    size = OnnxMax(mean, bound, op_version=opset)
    rows = OnnxDiv(rows, size, op_version=opset)
    squares = OnnxMatMul(OnnxMul(rows, rows, op_version=opset), ones, op_version=opset)
    length = OnnxSqrt(squares, op_version=opset)
    longest = OnnxMax(length, OnnxDiv(bound, size, op_version=opset), op_version=opset)
    scale = OnnxDiv(bound, longest, op_version=opset)
    rows = as_floats(OnnxMul(rows, scale, op_version=opset), dtype, opset)
    _publish(rows, scope, operator, container)


def convert_standard_scaler(scope, operator, container):
    """Add the graph of DPStandardScaler."""
    opset, dtype = container.target_opset, float_type(operator)
    model = operator.raw_operator
    rows = numeric_rows(operator, np.float64, opset)
    rows = OnnxSub(rows, model.mean_, op_version=opset)
    rows = OnnxDiv(rows, model.scale_, op_version=opset)
    low, high = (constant(ends, dtype) for ends in model.feature_bounds_)
    rows = _clip(as_floats(rows, dtype, opset), low, high, opset)
    _publish(rows, scope, operator, container)


def convert_quantile_clipper(scope, operator, container):
    """Add the graph of DPQuantileClipper."""
    opset, dtype = container.target_opset, float_type(operator)
    low, high = (constant(ends, dtype) for ends in operator.raw_operator.feature_bounds_)
    rows = _clip(numeric_rows(operator, dtype, opset), low, high, opset)
    _publish(rows, scope, operator, container)


def convert_imputer(scope, operator, container):
    """Add the graph of DPSimpleImputer, where what it fills are numbers."""
    opset, dtype = container.target_opset, float_type(operator)
    model = operator.raw_operator
    if model.statistics_.dtype == object:
        raise TypeError(
            "ONNX has no missing values among strings: DPSimpleImputer is converted where it fills "
            "numbers. DPOneHotEncoder takes strings with a category of their own for missing ones."
        )
    rows = numeric_rows(operator, dtype, opset)
    gaps = _gaps(rows, model._missing_values, dtype, opset)
    low, high = (constant(ends[: model.n_features_in_], dtype) for ends in model.feature_bounds_)
    filled = OnnxWhere(gaps, constant(model.statistics_, dtype), rows, op_version=opset)
    parts = [_clip(filled, low, high, opset)]
    if model.indicator_features_.size:
        shown = OnnxGather(
            gaps, model.indicator_features_.astype(np.int64), axis=1, op_version=opset
        )
        parts.append(as_floats(shown, dtype, opset))
    _publish(join(parts, opset), scope, operator, container)


def _gaps(rows, missing_values, dtype, opset):
    if missing_values is None or missing_values != missing_values:
        return OnnxIsNaN(rows, op_version=opset)
    return OnnxEqual(rows, constant([missing_values], dtype), op_version=opset)
