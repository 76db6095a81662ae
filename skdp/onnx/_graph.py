"""What converters share: rows as they come in, and constants."""

import numpy as np
from skl2onnx.algebra.onnx_ops import OnnxCast, OnnxConcat
from skl2onnx.common.data_types import (
    BooleanTensorType,
    DoubleTensorType,
    FloatTensorType,
    Int64TensorType,
)
from skl2onnx.common.utils import check_input_and_output_numbers
from skl2onnx.proto import onnx_proto

NUMBERS = (FloatTensorType, DoubleTensorType, Int64TensorType, BooleanTensorType)
_FLOATS = {
    np.float32: (FloatTensorType, onnx_proto.TensorProto.FLOAT),
    np.float64: (DoubleTensorType, onnx_proto.TensorProto.DOUBLE),
}


def float_type(operator):
    """Return what an operator's rows are in: float64 where an input needs it, else float32."""
    return float_type_of(operator.inputs)


def float_type_of(variables):
    """Return float64 if one of some variables is, or of integers, else float32."""
    wide = (DoubleTensorType, Int64TensorType)
    return np.float64 if any(isinstance(one.type, wide) for one in variables) else np.float32


def numeric_rows(operator, dtype, opset):
    """Return the rows that an operator gets, as one matrix of a type of floats.

    Raises
    ------
    TypeError
        If an input is no tensor of numbers.
    """
    if not all(isinstance(part.type, NUMBERS) for part in operator.inputs):
        name = type(operator.raw_operator).__name__
        raise TypeError(f"{name} takes tensors of floats, integers or booleans here.")
    return join([as_floats(part, dtype, opset) for part in operator.inputs], opset)


def join(parts, opset):
    """Return matrices side by side."""
    return parts[0] if len(parts) == 1 else OnnxConcat(*parts, axis=1, op_version=opset)


def as_floats(part, dtype, opset):
    """Return a matrix as one of a type of floats."""
    kind, code = _FLOATS[dtype]
    if isinstance(getattr(part, "type", None), kind):
        return part
    return OnnxCast(part, to=code, op_version=opset)


def constant(values, dtype):
    """Return public or released numbers as a constant.

    Raises
    ------
    ValueError
        If one of them is too large or too small for the type.
    """
    values = np.asarray(values, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        kept = values.astype(dtype)
    if (np.isfinite(kept) != np.isfinite(values)).any() or ((kept == 0.0) != (values == 0.0)).any():
        raise ValueError(
            "A number of the model is too large or too small for float32; convert it for double "
            "precision, with an initial type of DoubleTensorType."
        )
    return kept


def transformer_shape(operator):
    """Set the type and shape of a transformer's output."""
    low, _ = operator.raw_operator.feature_bounds_
    _set_floats(operator, low.size)


def regressor_shape(operator):
    """Set the type and shape of predictions."""
    _set_floats(operator, len(np.atleast_2d(operator.raw_operator.coef_)))


def _set_floats(operator, width):
    check_input_and_output_numbers(operator, input_count_range=[1, None], output_count_range=1)
    kind, _ = _FLOATS[float_type(operator)]
    operator.outputs[0].set_type(kind([operator.inputs[0].get_first_dimension(), width]))
