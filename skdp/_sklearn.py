"""The single door to scikit-learn's private names, and to its input validation."""

import re
from functools import partial, wraps
from inspect import signature
from numbers import Integral, Real

import numpy as np
from scipy.sparse import issparse
from sklearn import base, config_context, get_config
from sklearn.exceptions import NotFittedError
from sklearn.utils import _param_validation, _safe_indexing, get_tags, validation
from sklearn.utils._metadata_requests import SIMPLE_METHODS
from sklearn.utils._param_validation import HasMethods, RealNotInt, StrOptions

from skdp._callbacks import CallbackDisplay, has_callbacks
from skdp._progress import showing
from skdp._rows.containers import (
    RefusedInput,
    RefusedTypeError,
    RefusedValueError,
    WordOrGapError,
    refuse_columns,
    refuse_foreign,
    refuse_rows,
    refuse_unreadable,
)
from skdp._rows.private_rows import private_rows
from skdp._rows.sparse import canonical

# scikit-learn's own, which others take from here.
__all__ = ["HasMethods", "RealNotInt", "StrOptions"]
take_rows, read_feature_names = _safe_indexing, validation._check_feature_names_in

# Messages of other libraries that tell of shapes, types and names only. One that isn't known is
# withheld: numpy, pandas and scikit-learn quote entries in several, and may in more tomorrow. They
# raise all as ValueError or TypeError, so that nothing but its words tells one error from another.
_TELL_NO_VALUE = re.compile(
    r"Input (\w+ )?contains (NaN|infinity)"
    r"|Found array with |Found input variables with inconsistent numbers of samples"
    r"|X has \d+ features, but |The feature names should match|Feature names "
    r"|y should be a 1d array, got an array of shape "
    r"|(This )?[\w()=., ']+ requires y to be passed"
    r"|[\w()=., ']+ expected <= 2"
    r"|Unknown label type: |Expected a 2-dimensional container "
    r"|Sparse data was passed for |A sparse (matrix|container|array) was passed"
    r"|Expected sequence or array-like, got <class "
    r"|setting an array element with a sequence"
    r"|dtype='numeric' is not compatible with "
    r"|(float\(\) )?argument must be a string or a (real )?number, not "
    r"|Classification metrics can't handle a mix of [\w-]+ and [\w-]+ targets$"
)
_WITHHELD = "X or y can't be read as numbers (the message is withheld, it may quote an entry)."
# Readers of numbers alone say this of text.
NUMBERS_ALONE = (
    "X of a model of numbers, and y of any regression, must be numeric (the entry is withheld). "
    "Labels that are words are for classifiers. Tables that hold words are for skdp.additive, or "
    "for skdp.preprocessing.DPTableVectorizer before a linear model in "
    "skdp.pipeline.make_private_pipeline. Words can also be encoded with "
    "sklearn.preprocessing.OneHotEncoder(categories=[...], sparse_output=False), or by "
    "skdp.preprocessing.DPOneHotEncoder, which finds categories privately."
)
# They begin as messages of other libraries do, and are told in their place.
_WORDS_AND_GAPS_REPLACED = {
    "could not convert string to float: ": f"could not convert string to float: {NUMBERS_ALONE}",
    # scikit-learn's advice is to learn from the data what to fill in, or another model.
    "Input X contains NaN": "Input X contains NaN. Fill gaps with what is known without the data, "
    "for example by sklearn.impute.SimpleImputer(strategy='constant', fill_value=..., "
    "keep_empty_features=True), or privately by skdp.preprocessing.DPSimpleImputer.",
}
_REPLACED = {
    **_WORDS_AND_GAPS_REPLACED,
    "Complex data not supported\n": "Complex data not supported.",
    "Expected 2D array, got 1D array instead": "Expected 2D array, got 1D array instead. Reshape "
    "your data with reshape(-1, 1) for a single feature or reshape(1, -1) for a single row.",
    "Expected 2D array, got scalar array instead:\n": "Expected 2D array, got scalar array "
    "instead.",
    "Sparse data was passed for X, but dense": "Sparse data was passed for X, but dense data is "
    "required: give X.toarray(), of a data frame X.sparse.to_dense().",
    # For labels that are words scikit-learn doesn't name y, nor say that one is None or NA.
    "Input contains NaN": "Input y contains NaN.",
    "boolean value of NA is ambiguous": "Input y contains NaN.",
    "'<' not supported between": "labels and categories can't be missing or of several kinds.",
    "Unknown label type: unknown": "Unknown label type: Input y contains NaN or several kinds.",
    # NumPy names types alone.
    "The DType <class 'numpy.dtypes.": "columns of dates or of spans of time, and columns of other "
    "types, can't be one array: have the steps that are joined make data frames, by "
    "set_output(transform='pandas').",
}

# Arguments with an entry for each row, which say for whom a guarantee is, or how much of it.
_FOR_EACH_ROW = ("groups", "public_weight", "sample_epsilon", "exposure")
_PUBLIC_WEIGHT = (
    ": weights must be public, such as those of a survey's design, and are given as public_weight. "
    "Weights that follow from records would tell of them."
)
_NO_WEIGHTS = ": rows have no weights here."
_NO_EXPOSURES = (
    ": exposures are of counts and amounts, as DPPoissonRegressor, DPGammaRegressor, "
    "DPTweedieRegressor and additive models with such a loss take them."
)
_OF_RECORDS = {"sample_weight", "public_weight", "exposure"}
_ROWS_ALONE = ": this estimator protects rows, and can't protect groups of them, such as people."
_OTHER_INDEX = (
    "{name} is a Series whose index differs from that of {rows}, and its entries are taken in "
    "their order: give {name}.loc[{rows}.index], or {name}.to_numpy() where they are already in "
    "the order of the rows."
)


def take_columns(X, columns):
    """Return the columns of an array or a data frame that a ColumnTransformer chose."""
    return _safe_indexing(X, columns, axis=1)


class Interval(_param_validation.Interval):
    """scikit-learn's constraint, for real numbers of any type."""

    def __contains__(self, val):
        # Ends may be beyond the range of a value's own type, and numpy takes no fractions.
        is_real = isinstance(val, Real) and not isinstance(val, Integral)
        return super().__contains__(float(val) if is_real else val)


def quietly(function, *args, **kwargs):
    """Call a function that reads the data; no error or warning of arithmetic tells of an entry.

    An error that may quote one is raised anew, with nothing of it in its context.
    """
    try:
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)
    except (NotFittedError, RefusedInput):
        raise
    except Exception as error:
        message = str(error)
        replaced = [text for start, text in _REPLACED.items() if message.startswith(start)]
        if not replaced and _TELL_NO_VALUE.match(message):
            raise
        if isinstance(error, TypeError):
            refusal = RefusedTypeError
        else:
            is_word_or_gap = message.startswith(tuple(_WORDS_AND_GAPS_REPLACED))
            refusal = WordOrGapError if is_word_or_gap else RefusedValueError
    raise refusal(replaced[0] if replaced else _WITHHELD)


def _fit_context(*, prefer_skip_nested_validation):
    """Return scikit-learn's decorator of fits, with which these check what they are given.

    They refuse entries in another order, see `in_order_of_rows`, and arguments that they haven't,
    by the name of the estimator's class: Python names the one that defines the method.
    """
    context = base._fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation)

    def decorated(fit):
        of_fit, refuse_order = signature(fit), _order_check(fit)

        @wraps(fit)
        def checked(estimator, *args, **kwargs):
            if refuse_order is not None:
                refuse_order(estimator, *args, **kwargs)
            _refuse_arguments(estimator, fit.__name__, of_fit, args, kwargs)
            callbacks = [partial(CallbackDisplay, estimator)] if has_callbacks(estimator) else []
            name = type(estimator).__name__
            with private_rows(), showing(name, estimator.verbose, callbacks):
                return fit(estimator, *args, **kwargs)

        return context(checked)

    return decorated


def _refuse_arguments(estimator, method, of_fit, args, kwargs):
    """Refuse arguments of a fit that it hasn't, and say of weights what there is instead."""
    try:
        of_fit.bind(estimator, *args, **kwargs)
        return
    except TypeError as error:
        # It names parameters alone.
        text = f"{type(estimator).__name__}.{method}() {error}"
    if not kwargs.keys().isdisjoint({"sample_weight", "public_weight"}):
        text += _PUBLIC_WEIGHT if "public_weight" in of_fit.parameters else _NO_WEIGHTS
    elif "groups" in kwargs and "groups" not in of_fit.parameters:
        text += _ROWS_ALONE
    elif "exposure" in kwargs and "exposure" not in of_fit.parameters:
        text += _NO_EXPOSURES
    if not kwargs.keys().isdisjoint(_OF_RECORDS):
        text += getattr(estimator, "_instead_of_arguments", "")
    raise TypeError(text)


def validate_params(constraints, *, prefer_skip_nested_validation):
    """Return scikit-learn's decorator of functions, with which these refuse what fits do."""
    validated = _param_validation.validate_params(
        constraints, prefer_skip_nested_validation=prefer_skip_nested_validation
    )
    return lambda function: validated(in_order_of_rows(function))


def in_order_of_rows(function):
    """Return a function that refuses entries for rows whose index isn't that of the rows.

    They are matched by place, so that a person's rows would be protected as another's. The rows are
    X, or y where X has no index. What has no index, such as an array, is in the order of the rows.
    """
    check = _order_check(function)
    if check is None:
        return function

    @wraps(function)
    def checked(*args, **kwargs):
        check(*args, **kwargs)
        return function(*args, **kwargs)

    return checked


def _order_check(function):
    """Return what refuses arguments of a function whose entries are in another order than rows.

    None where it has no argument with an entry for each row.
    """
    names = tuple(signature(function).parameters)
    for_each_row = [name for name in _FOR_EACH_ROW if name in names]
    if not for_each_row:
        return None

    def check(*args, **kwargs):
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        indexes = {name: _index_of(given.get(name)) for name in ("X", "y", *for_each_row)}
        rows = next((name for name in ("X", "y") if indexes[name] is not None), None)
        for name in for_each_row:
            if rows is not None and _differ(indexes[name], indexes[rows]):
                raise ValueError(_OTHER_INDEX.format(name=name, rows=rows))

    return check


def _index_of(rows):
    """Return the index of a data frame or series of pandas, or of what is like one, or None."""
    index = getattr(rows, "index", None) if hasattr(rows, "iloc") else None
    return index if hasattr(index, "equals") else None


def _differ(index, of_rows):
    # Where one is longer, an error tells of the lengths.
    return index is not None and len(index) == len(of_rows) and not index.equals(of_rows)


def validate_data(estimator, X, y="no_validation", **kwargs):
    """Call `sklearn.utils.validation.validate_data` quietly, on arrays in memory only.

    Sparse X is taken where the estimator's tags say so, and given as CSR, each place once.
    """
    # scikit-learn's word for no X at all.
    if not (isinstance(X, str) and X == "no_validation"):
        refuse_unreadable(X, **kwargs)
    refuse_foreign(y, "y")
    y = quietly(read_list, y)
    if get_tags(estimator).input_tags.sparse and not isinstance(X, str):
        kwargs.setdefault("accept_sparse", "csr")
    checked = quietly(validation.validate_data, estimator, X, y, **kwargs)
    if isinstance(checked, tuple):
        return _in_order(checked[0]), *checked[1:]
    return _in_order(checked)


def validate_table(estimator, X, *y, reset=True, **checks):
    """Check a raw table, of which `validate_data` would make one array, and y if there is one."""
    refuse_rows(X)
    if not hasattr(X, "columns"):
        refuse_columns(X)
        # Rows that are none would be quoted where they are used.
        check = partial(
            validation.check_array, accept_sparse=True, dtype=None, ensure_all_finite=False
        )
        quietly(check, X)
    read = [validate_data(estimator, "no_validation", one, **checks) for one in y]
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    quietly(validation.check_consistent_length, X, *read)
    return (X, *read) if read else X


# Types that NumPy holds together; booleans are integers to Python.
_ALIKE = (bool, np.bool_), Integral, float, str


def read_list(y):
    """Return labels or targets in a list as an array that holds each entry as it is by itself.

    NumPy takes a type that suits all: one float makes floats of all integers, and one word makes
    words of all numbers. Entries of several types stay objects; what is no list is returned.
    """
    if not isinstance(y, list | tuple):
        return y
    entries = np.asarray(y, dtype=object)
    kinds = {_kind_of(entry_type) for entry_type in set(map(type, entries.flat))}
    if len(kinds) != 1:
        return entries
    typed = np.asarray(y)
    if typed.dtype.kind == "M":
        is_kept = all(entry.dtype == typed.dtype for entry in entries.flat)
    else:
        # NumPy makes floats of 64-bit integers if only some have a sign; texts lose a last null.
        is_kept = typed.tolist() == entries.tolist()
        is_kept &= typed.dtype.kind != "f" or Integral not in kinds
    return typed if is_kept else entries


def _kind_of(entry_type):
    return next((alike for alike in _ALIKE if issubclass(entry_type, alike)), entry_type)


def _in_order(X):
    return canonical(X) if issparse(X) else X


def validate_arrays(function, X, *y, **checks):
    """Return X, y if there is one, and the names of X's columns or None.

    They are checked as `validate_data` does it, for a function of the given name.
    """
    refuse_unreadable(X)
    for one in y:
        refuse_foreign(one, "y")
    names = quietly(validation._get_feature_names, X)
    if y:
        y = quietly(read_list, *y)
        X, y = quietly(validation.check_X_y, X, y, estimator=function, **checks)
        return _in_order(X), y, names
    X = quietly(validation.check_array, X, input_name="X", estimator=function, **checks)
    return _in_order(X), names


def forget_owner(estimator):
    """Have what an estimator asks for name its class alone.

    In a clone scikit-learn names the estimator that was cloned, with all that its fits left.
    """
    if (asked := getattr(estimator, "_metadata_request", None)) is not None:
        for request in (asked, *(getattr(asked, method) for method in SIMPLE_METHODS)):
            request.owner = type(estimator).__name__


def diagram_box(estimator, caption):
    """Return scikit-learn's box for an estimator in a diagram, with a caption under its name.

    Where a version has neither of these modules, it draws boxes without a caption.
    """
    try:
        from sklearn.utils._repr_html.estimator import _VisualBlock
    except ImportError:
        # Before 1.7.
        from sklearn.utils._estimator_html_repr import _VisualBlock
    return _VisualBlock(
        "single",
        estimator,
        names=type(estimator).__name__,
        name_details=str(estimator),
        name_caption=caption,
    )


def set_remainder(transformer, remainder):
    """Set what a ColumnTransformer does with other columns, also where a fit has noted it."""
    transformer.remainder = remainder
    if hasattr(transformer, "_remainder"):
        name, _, columns = transformer._remainder
        transformer._remainder = (name, remainder, columns)


def as_configured_here(function):
    """Return a function that finds scikit-learn configured as it is here, in whichever thread."""
    config = get_config()

    @wraps(function)
    def call(*args):
        with config_context(**config):
            return function(*args)

    return call
