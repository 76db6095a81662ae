"""Graph of the encoder of categories."""

import numpy as np
from skl2onnx.algebra.onnx_ops import (
    OnnxAdd,
    OnnxAnd,
    OnnxEqual,
    OnnxGather,
    OnnxIdentity,
    OnnxIsNaN,
    OnnxLabelEncoder,
    OnnxMatMul,
    OnnxOr,
)
from skl2onnx.common.data_types import StringTensorType

from skdp.onnx._graph import NUMBERS, as_floats, float_type, join

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
