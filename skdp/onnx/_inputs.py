"""What a converted model takes: names and types of its inputs, and rows in these."""

import re

import numpy as np
from skl2onnx.common import data_types as tensors
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils.validation import check_is_fitted

from skdp._rows.frames import read_frame, warn_of_unread
from skdp._rows.kinds import WORD, holds_numbers
from skdp._rows.naming import make_unique
from skdp._sklearn import validate_data
from skdp.additive._base import BaseAdditive
from skdp.calibration import DPCalibratedClassifier
from skdp.model_selection import DPGridSearch, DPRandomizedSearch
from skdp.onnx._tables import GAPS
from skdp.preprocessing import DPOneHotEncoder, DPTableVectorizer

_TABLES = (BaseAdditive, DPTableVectorizer)
_MIXED = (ColumnTransformer, FeatureUnion, DPOneHotEncoder)
_NO_TYPES = (
    "{} may take columns of several types, which its fit doesn't say: give initial_types of your "
    "own, or one row, to to_onnx."
)
_SEARCH = "A search isn't converted, but its model is: best_estimator_."
_NO_GAP = (
    "column {!r} has both '' and 'nan' as categories beside one of missing entries, and ONNX has "
    "no other text for these: put a word in their place, before the fit."
)
_TEXT_AMONG_NUMBERS = (
    "column {!r} holds numbers, and has a text among its categories, which an input of numbers "
    "doesn't."
)
_TRUTH = {"False": 0.0, "True": 1.0}
# The input of a model that takes a matrix, as skl2onnx calls it.
_MATRIX = "X"


def initial_types(model):
    """Return names and types of the inputs of a converted model, for ``skl2onnx.to_onnx``.

    Parameters
    ----------
    model : estimator
        A fitted estimator that is converted, or a pipeline of such. What its first step read in the
        fit decides.

    Returns
    -------
    initial_types : list of (str, type)
        For a model of a raw table one input a column: a tensor of strings for words, and one of
        doubles for numbers, dates and booleans. Any letter in a name that ONNX doesn't have becomes
        an underscore. For a model of numbers one matrix of doubles, with the name "X". With
        doubles, a classifier needs ``options={"zipmap": False}``.

    Raises
    ------
    NotFittedError
        If the estimator isn't fitted.
    TypeError
        If the first step takes columns of several types and isn't of a table: a
        `ColumnTransformer`, a `FeatureUnion` or a `DPOneHotEncoder`.

    See Also
    --------
    inputs : Rows for these types.

    Examples
    --------
    >>> import pandas as pd
    >>> from skdp.additive import DPAdditiveRegressor
    >>> from skdp.onnx import initial_types
    >>> table = pd.DataFrame({"age": [20.0, 30.0] * 500, "day of visit": ["mon", "tue"] * 500})
    >>> model = DPAdditiveRegressor(target_bounds=(0, 90)).fit(table, table["age"])
    >>> for name, kind in initial_types(model):
    ...     print(name, kind)
    age DoubleTensorType(shape=[None, 1])
    day_of_visit StringTensorType(shape=[None, 1])
    """
    step = _first_step(model)
    if not isinstance(step, _TABLES):
        return [(_MATRIX, tensors.DoubleTensorType([None, step.n_features_in_]))]
    types = [
        tensors.StringTensorType if kind == WORD else tensors.DoubleTensorType
        for kind in step._kinds
    ]
    return [(name, kind([None, 1])) for name, kind in zip(_names(step), types, strict=True)]


def inputs(X, model):
    """Return rows as the inputs of a converted model, for ``onnxruntime.InferenceSession.run``.

    They are read as the model reads them: a date, also as text, becomes a number of days, a boolean
    0 or 1, a missing number NaN and a missing word a text that stands for it.

    Parameters
    ----------
    X : data frame or array-like of shape (n_samples, n_features)
        Rows that the model predicts for.
    model : estimator
        The fitted model, as in :func:`initial_types`.

    Returns
    -------
    inputs : dict of str to ndarray
        By the names that :func:`initial_types` gives, with arrays of its types.

    Raises
    ------
    NotFittedError
        If the estimator isn't fitted.
    TypeError
        As :func:`initial_types`; or if X has entries that can't be read.
    ValueError
        If X doesn't fit the model; or if a column has no text left for missing entries, because ""
        and "nan" are categories.

    See Also
    --------
    initial_types : Names and types of the inputs.

    Examples
    --------
    >>> import pandas as pd
    >>> from skdp.additive import DPAdditiveRegressor
    >>> from skdp.onnx import inputs
    >>> table = pd.DataFrame({"age": [20.0, 30.0] * 500, "day of visit": ["mon", None] * 500})
    >>> model = DPAdditiveRegressor(target_bounds=(0, 90)).fit(table, table["age"])
    >>> inputs(table[:2], model)
    {'age': array([[20.],
           [30.]]), 'day_of_visit': array([['mon'],
           ['']], dtype=object)}
    """
    step = _first_step(model)
    if not isinstance(step, _TABLES):
        rows = validate_data(step, X, reset=False, dtype=np.float64, ensure_all_finite=False)
        return {_MATRIX: rows}
    frame = read_frame(step, X, reset=False)
    warn_of_unread(frame)
    known = {term.feature: term.categories.tolist() for term in _terms_of_words(step)}
    arrays = {}
    for place, (name, kind) in enumerate(zip(_names(step), frame.kinds, strict=True)):
        column = frame.columns[place]
        if not holds_numbers(kind):
            texts = kind == WORD
            as_entry = _texts_for if texts else _numbers_for
            entries = as_entry(column.known, known[place], frame.names[place])
            column = np.array(entries, dtype=object if texts else np.float64)[column.codes]
        arrays[name] = column[:, np.newaxis]
    return arrays


def _first_step(model):
    """Return what reads the rows of a fitted model."""
    if isinstance(model, Pipeline):
        return _first_step(model.steps[0][1])
    if isinstance(model, DPCalibratedClassifier):
        check_is_fitted(model)
        return _first_step(model.estimator_)
    if isinstance(model, (DPGridSearch, DPRandomizedSearch)):
        raise TypeError(_SEARCH)
    if isinstance(model, _MIXED):
        raise TypeError(_NO_TYPES.format(type(model).__name__))
    check_is_fitted(model)
    return model


def _names(step):
    """Return names of the columns of a table that skl2onnx writes as they are."""
    n_features = step.n_features_in_
    names = getattr(step, "feature_names_in_", [f"x{place}" for place in range(n_features)])
    plain = (re.sub(r"[^A-Za-z0-9_]", "_", str(name)) for name in names)
    return make_unique(f"_{name}" if name[:1].isdigit() else name for name in plain)


def _terms_of_words(step):
    return (term for term in step._basis.terms if term.kind == "words")


def _texts_for(words, categories, name):
    """Return texts in which a graph finds what the model finds in words."""
    rare = "infrequent"
    while rare in categories:
        rare = f"({rare})"
    free = [text for text in GAPS if text not in categories]
    if not free and any(category != category for category in categories):
        raise ValueError(_NO_GAP.format(name))
    gap = free[0] if free else rare
    # A graph would take these for gaps.
    return [gap if word != word else rare if word in free else word for word in words]


def _numbers_for(words, categories, name):
    """Return numbers in which a graph finds what the model finds in booleans or numbers."""
    number_of = {word: _TRUTH.get(word) for word in categories}
    for word in categories:
        if word == word and word not in _TRUTH:
            try:
                number_of[word] = float(word)
            except ValueError:
                raise ValueError(_TEXT_AMONG_NUMBERS.format(name)) from None
    # It is that of no category, and not a gap.
    rare = 2.0 + max((abs(number) for number in number_of.values() if number), default=0.0)
    return [np.nan if word != word else number_of.get(word, rare) for word in words]
