"""Numbers as floats: of integers and booleans one gap makes another type, which steps publish."""

import functools
from numbers import Real

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from skdp._sklearn import quietly, refuse_foreign
from skdp.preprocessing._columns import find_gaps

_WHOLE = "biu"
# Objects and strings: each entry has a type of its own, or a length.
_VALUES = "OSU"


def as_floats(X):
    """Return rows whose numbers are floats, as an array, a sparse array or a data frame.

    So what steps keep of types (scikit-learn's do) follows from which columns hold numbers, and
    not from whether there is a gap among them. Floats stay as they are.

    Parameters
    ----------
    X : array-like
    """
    refuse_foreign(X, "X")
    if hasattr(X, "to_pandas"):
        # polars and pyarrow.
        X = quietly(X.to_pandas)
    if hasattr(X, "isetitem"):
        return quietly(_read_frame, X)
    if not hasattr(X, "dtype") or (isinstance(X, np.ndarray) and X.dtype.kind in _VALUES):
        return quietly(_read_values, X)
    return X.astype(np.float64) if X.dtype.kind in _WHOLE else X


def _read_frame(X):
    read = [(place, _read_column(X.iloc[:, place])) for place in range(X.shape[1])]
    read = [(place, numbers) for place, numbers in read if numbers is not None]
    if read:
        X = X.copy(deep=False)
    for place, numbers in read:
        # By place: names may occur twice.
        X.isetitem(place, numbers)
    return X


def _read_column(column):
    """Return a column as an array of floats, None if it stays as it is."""
    if _needs_float(column.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if column.dtype != object:
        return None
    values = _read_values(column)
    return None if values.dtype == object else values


def _needs_float(dtype):
    categories = getattr(dtype, "categories", None)
    if categories is not None:
        return categories.dtype.kind in f"{_WHOLE}f"
    # pandas has floats of its own, too.
    return dtype.kind in _WHOLE or (dtype.kind == "f" and not isinstance(dtype, np.dtype))


def _read_values(X):
    """Return an array of floats, or of objects if there is something else than numbers and gaps.

    NumPy alone would make numbers beside words words.
    """
    array = np.asarray(X, dtype=object)
    gaps = find_gaps(array)
    kinds = {type(value) for value in array[~gaps]}
    if all(issubclass(kind, (Real, np.bool_)) for kind in kinds):
        return np.where(gaps, np.nan, array).astype(np.float64)
    return array


def _of_floats(name):
    """Return a method of scikit-learn's Pipeline that gets numbers as steps got them in a fit."""

    def inherited(pipeline):
        return getattr(super(PipelineOfFloats, pipeline), name)

    @available_if(inherited)
    @functools.wraps(getattr(Pipeline, name))
    def method(self, X, *args, **params):
        return inherited(self)(as_floats(X), *args, **params)

    return method


class PipelineOfFloats(Pipeline):
    """A Pipeline that reads numbers as floats wherever it uses what was fitted."""

    transform = _of_floats("transform")
    predict = _of_floats("predict")
    predict_proba = _of_floats("predict_proba")
    predict_log_proba = _of_floats("predict_log_proba")
    decision_function = _of_floats("decision_function")
    score_samples = _of_floats("score_samples")
    score = _of_floats("score")
