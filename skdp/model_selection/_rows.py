"""What the models of a search get of the rows: exactly what was checked before there was noise.

A model that reads a raw table itself gets the rows as they came, and all others get numbers. Both
were read as a whole before the plan, and reading is of single entries and of public types: what was
read as a whole is read in every part, so that no trial fails because of a record.
"""

import narwhals as nw
import numpy as np
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from skdp._rows.entry_types import NUMBER_LETTERS
from skdp._rows.numbers import numbers_of, with_columns
from skdp._sklearn import quietly

# Booleans, integers and floats.


def has_steps(model):
    """Return whether a model is a pipeline of scikit-learn with steps before the last."""
    return type(model) is Pipeline and len(model.steps) > 1


def last_step(model):
    """Return the estimator of a pipeline, or a model itself."""
    return model.steps[-1][1] if type(model) is Pipeline else model


def reader_of(model):
    """Return what reads a raw table first in a model, None where that takes numbers."""
    if hasattr(model, "_check_table"):
        return model
    if hasattr(model, "steps"):
        return reader_of(model.steps[0][1])
    return reader_of(model.estimator) if hasattr(model, "estimator") else None


def takes_numbers(model):
    """Return whether a model gets the rows as numbers, and not as they came."""
    return reader_of(model) is None and not has_steps(model)


def rows_for_last(model, X, table, *, reset):
    """Return what the last step of a model gets of rows, of which X are numbers.

    With `reset` steps before it, which learn nothing, are fitted.
    """
    if not has_steps(model):
        return X if takes_numbers(model) else table
    before = model[:-1]
    made = before.fit_transform(table) if reset else before.transform(table)
    numbers = quietly(check_array, numbers_of(made), accept_sparse="csr", input_name="X")
    return made if reader_of(last_step(model)) is not None else in_frame_of(made, numbers)


def in_frame_of(X, numbers):
    """Return numbers that were read from X: in a data frame of its kind, if it is one.

    Columns that hold numbers by their type stay, so that choices by type mean what they did.
    """
    if not hasattr(X, "columns"):
        return numbers
    if issparse(numbers):
        numbers = numbers.toarray()
    is_kept = quietly(_keep_types, X)
    if is_kept is None:
        return numbers
    replaced = {place: numbers[:, place] for place, kept in enumerate(is_kept) if not kept}
    return quietly(with_columns, X, replaced)


def types_are_kept(X):
    """Return whether all columns of a data frame hold numbers by their types."""
    is_kept = _keep_types(X)
    return is_kept is not None and all(is_kept)


def _keep_types(X):
    """Return for each column of a data frame whether its type is of numbers, None of others."""
    if hasattr(X, "isetitem"):
        return [
            isinstance(dtype, np.dtype) and dtype.kind in f"b{NUMBER_LETTERS}" for dtype in X.dtypes
        ]
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    dtypes = frame.schema.values()
    return [dtype.is_float() or dtype.is_integer() or dtype == nw.Boolean for dtype in dtypes]
