"""Graphs of transformers."""

import numpy as np
from skl2onnx.algebra.onnx_ops import (
    OnnxAbs,
    OnnxAdd,
    OnnxAnd,
    OnnxDiv,
    OnnxEqual,
    OnnxGather,
    OnnxIdentity,
    OnnxIsNaN,
    OnnxLabelEncoder,
    OnnxMatMul,
    OnnxMax,
    OnnxMin,
    OnnxMul,
    OnnxOr,
    OnnxSqrt,
    OnnxSub,
    OnnxWhere,
)
from skl2onnx.common.data_types import StringTensorType

from skdp.onnx._graph import NUMBERS, as_floats, constant, float_type, join, numeric_rows

# Of the domain "ai.onnx.ml", since which keys may be strings and values integers.
_LABEL_ENCODER = 2


def convert_encoder(scope, operator, container):
    """Add the graph of DPOneHotEncoder; each column has the type of the input that it is in."""
    opset, dtype = container.target_opset, float_type(operator)
    model = operator.raw_operator
    columns = list(_columns(operator, opset))
    if len(columns) != model.n_features_in_:
        raise ValueError(f"DPOneHotEncoder takes {model.n_features_in_} columns here.")
    parts = []
    for (column, kind), known in zip(columns, model.categories_, strict=True):
        hits = _HITS[kind](column, known.tolist(), opset)
        # A row of no category is in the last column, where there is one.
        width = known.size + model._n_last
        spread = np.eye(max(known.size, 1), width, dtype=dtype)
        unknown = np.zeros(width, dtype=dtype)
        if model._n_last:
            spread[:, -1], unknown[-1] = -1.0, 1.0
        if width:
            product = OnnxMatMul(as_floats(hits, dtype, opset), spread, op_version=opset)
            parts.append(OnnxAdd(product, unknown, op_version=opset))
    if not parts:
        raise ValueError("This DPOneHotEncoder found no category: its output has no columns.")
    named = {"op_version": opset, "output_names": operator.outputs[:1]}
    OnnxIdentity(join(parts, opset), **named).add_to(scope, container)


def _columns(operator, opset):
    """Yield each column of the inputs, of shape (N, 1), with the type of tensors it is in."""
    for part in operator.inputs:
        for place in range(part.type.shape[1]):
            yield OnnxGather(part, np.array([place]), axis=1, op_version=opset), type(part.type)


def _number_hits(column, known, opset):
    """Return where numbers are equal to categories; where there are none, in a column of false."""
    # As in Python: .1 in float32 isn't the category .1.
    column = as_floats(column, np.float64, opset)
    is_gap = np.array([value != value for value in known], dtype=bool)
    numbers = [value if isinstance(value, float) else np.nan for value in known] or [np.nan]
    hits = OnnxEqual(column, np.array([numbers]), op_version=opset)
    if is_gap.any():
        missing = OnnxIsNaN(column, op_version=opset)
        missing = OnnxAnd(missing, is_gap[np.newaxis], op_version=opset)
        hits = OnnxOr(hits, missing, op_version=opset)
    return hits


def _string_hits(column, known, opset):
    if any(value != value for value in known):
        raise ValueError(
            "ONNX has no missing values among strings, and this DPOneHotEncoder a category for "
            "them: put a word in their place, before the fit."
        )
    places = {value: place for place, value in enumerate(known) if isinstance(value, str)}
    # No string is at the place of a number.
    places = places or {"": -1}
    found = OnnxLabelEncoder(
        column,
        keys_strings=list(places),
        values_int64s=list(places.values()),
        default_int64=-1,
        op_version=_LABEL_ENCODER,
    )
    numbers = np.arange(max(len(known), 1))[np.newaxis]
    return OnnxEqual(found, numbers, op_version=opset)


_HITS = {StringTensorType: _string_hits, **dict.fromkeys(NUMBERS, _number_hits)}


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
