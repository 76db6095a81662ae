"""Steps fitted one after the other, on numbers as floats, each told what its rows are promised."""

import contextlib
import functools
import inspect
import math
import warnings
from typing import NamedTuple

import numpy as np
from sklearn import config_context
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.metaestimators import available_if

from skdp._checks import LARGEST_BOUND
from skdp._estimator import PrivateEstimator, RecordPrivateEstimator, is_default
from skdp._rows.containers import refuse_rows
from skdp._rows.private_rows import new_rows
from skdp._rows.step_tables import as_floats
from skdp._sklearn import quietly
from skdp.exceptions import warn_user
from skdp.preprocessing import DPSimpleImputer

_LONGEST, _SHORTEST = 1e30, 1e-30

_FURTHER = (
    "fit of a private pipeline takes X, y and groups alone: what a step would learn from {!r} "
    "isn't planned for. Fit the steps one after the other, each with a budget of its own."
)
_GROUPS = "groups are given to the pipeline, which passes them to all steps: fit(X, y, groups=ids)."

_UNBOUNDED = (
    "no step bounds the rows that step {!r} ({}) gets, and it learns no ball of them (see its "
    "ball_budget): scale columns by public ranges before it, by BoundsScaler(feature_bounds=...), "
    "or give the step a data_norm that suits the rows. Much may be clipped, or hidden by noise."
)


def refuse_further(params):
    """Refuse what `fit` is given besides X and y, and tell of groups what to do instead."""
    if params:
        name = sorted(params)[0]
        raise ValueError(_GROUPS if name.endswith("groups") else _FURTHER.format(name))


class PassedNorm(float):
    """A `data_norm` that nobody gave: the step before promised it."""


class PassedBounds(tuple):
    """A pair of `feature_bounds` that nobody gave: the step before promised it."""


class OutputBounds(NamedTuple):
    """What rows are known to be, whatever the records are; None where nothing is."""

    # L2 norm that no row exceeds.
    norm: float | None = None
    # Ranges of the columns.
    low: np.ndarray | None = None
    high: np.ndarray | None = None


NOTHING = OutputBounds()


class BoundsPassingPipeline(Pipeline):
    """What a Pipeline inside a private one is while it is fitted: it passes bounds on."""

    def fit_transform(self, X, y=None, groups=None):
        """Fit all steps, and return what they make of X."""
        self._validate_steps()
        return fit_chain(self.steps, X, y, groups=groups)[0]

    def fit(self, X, y=None, groups=None):
        """Fit all steps."""
        self.fit_transform(X, y, groups)
        return self


def fit_chain(steps, X, y, bounds=NOTHING, groups=None, begin=None):
    """Fit transformers one after the other, on rows of such bounds and groups.

    Before each, `begin` is called with its name.

    Returns
    -------
    X : array-like
        What the steps make of it.
    bounds : OutputBounds
        Of what is returned.
    """
    for name, step in steps:
        if begin is not None:
            begin(name)
        if step is None or step == "passthrough":
            continue
        pass_bounds(step, bounds)
        with _handing_on(step, groups) as arguments:
            X = _fit_transform(step, X, y, arguments)
        bounds = output_bounds(step)
    return X, bounds


def fit_last(step, X, y, groups=None):
    """Fit the last step, a name and an estimator, where it isn't a private model."""
    if step[1] is None or hasattr(step[1], "transform") or step[1] == "passthrough":
        fit_chain([step], X, y, groups=groups)
    else:
        _quietly(step[1].fit, X, y)


def ask_for_groups(steps):
    """Have private steps ask for groups, as whatever they are in is to hand them on."""
    with config_context(enable_metadata_routing=True):
        for step in steps:
            step.set_fit_request(groups=True)


@contextlib.contextmanager
def _handing_on(step, groups):
    """Give the arguments with which a step is fitted: groups, where it or what is in it asks."""
    if groups is None:
        yield {}
        return
    with config_context(enable_metadata_routing=True):
        asked = get_routing_for_object(step).consumes("fit_transform", ["groups"])
        yield dict.fromkeys(asked, groups)


def pass_bounds(step, bounds):
    """Set a private step's bounds, those of the rows that it gets, where nobody gave them.

    Of a Pipeline the first step is meant, and of other containers none.
    """
    if type(step) is BoundsPassingPipeline:
        pass_bounds(step.steps[0][1], bounds)
    if not isinstance(step, RecordPrivateEstimator):
        return
    # An estimator that is calibrated gets the same rows.
    step = getattr(step, "estimator", step)
    norm, low, high = bounds
    if norm is not None and _SHORTEST <= norm <= _LONGEST and is_default(step, "data_norm"):
        step.set_params(data_norm=PassedNorm(norm))
    has_use = step._uses_feature_bounds and is_default(step, "feature_bounds")
    if has_use and low is not None and _are_bounds(low, high):
        step.set_params(feature_bounds=PassedBounds((low, high)))


def warn_unbounded(name, step, bounds):
    """Warn if nothing bounds the rows that a fitted private model got: nobody said how long.

    That follows from parameters and from what was released.
    """
    step = getattr(step, "estimator_", step)
    parameters = [key for key in ("data_norm", "feature_bounds") if hasattr(step, key)]
    # Others, such as additive models, bound rows by what they learn of the table.
    is_silent = "data_norm" in parameters and all(is_default(step, key) for key in parameters)
    is_silent = is_silent and hasattr(step, "predict")
    # radius_ is that of a learnt ball.
    if is_silent and bounds.norm is None and not hasattr(step, "radius_"):
        warn_user(_UNBOUNDED.format(name, type(step).__name__))


def reset_bounds(step):
    """Set a private step's bounds back where an earlier fit handed them on."""
    step = getattr(step, "estimator", step)
    parameters = inspect.signature(type(step)).parameters
    handed = {
        name: parameters[name].default
        for name, value in step.get_params(deep=False).items()
        if isinstance(value, (PassedNorm, PassedBounds))
    }
    step.set_params(**handed)


def output_bounds(step):
    """Return what a fitted step promises of its output."""
    if hasattr(step, "norm_bound_") or hasattr(step, "feature_bounds_"):
        low, high = getattr(step, "feature_bounds_", (None, None))
        return OutputBounds(getattr(step, "norm_bound_", None), low, high)
    rule = _BOUNDS_OF.get(type(step))
    return NOTHING if rule is None else rule(step)


def _of_ones(step):
    """Return what a row promises that has at most one 1 for each feature, and else 0."""
    n_outputs = len(step.get_feature_names_out())
    return OutputBounds(math.sqrt(step.n_features_in_), np.zeros(n_outputs), np.ones(n_outputs))


def _of_normalizer(normalizer):
    n_outputs = normalizer.n_features_in_
    norm = math.sqrt(n_outputs) if normalizer.norm == "max" else 1.0
    return OutputBounds(norm, -np.ones(n_outputs), np.ones(n_outputs))


def _of_chain(pipeline):
    steps = [step for _, step in pipeline.steps if step is not None and step != "passthrough"]
    return output_bounds(steps[-1]) if steps else NOTHING


def _of_columns(transformer):
    if transformer.transformer_weights:
        return NOTHING
    slices = transformer.output_indices_
    parts = {
        slices[name].start: step
        for name, step, _ in transformer.transformers_
        if slices[name].start != slices[name].stop
    }
    # In the order of the output.
    return _side_by_side(parts[start] for start in sorted(parts))


def _of_union(union):
    if union.transformer_weights:
        return NOTHING
    return _side_by_side(step for _, step in union.transformer_list if step != "drop")


def _side_by_side(steps):
    all_bounds = [output_bounds(step) for step in steps]
    norms = [bounds.norm for bounds in all_bounds]
    norm = None if not norms or None in norms else math.hypot(*norms)
    if not all_bounds or any(bounds.low is None for bounds in all_bounds):
        return OutputBounds(norm)
    low, high = (np.concatenate([bounds[end] for bounds in all_bounds]) for end in (1, 2))
    return OutputBounds(norm, low, high)


_BOUNDS_OF = {
    OneHotEncoder: _of_ones,
    MissingIndicator: _of_ones,
    Normalizer: _of_normalizer,
    Pipeline: _of_chain,
    BoundsPassingPipeline: _of_chain,
    ColumnTransformer: _of_columns,
    FeatureUnion: _of_union,
}


def _are_bounds(low, high):
    ends = np.concatenate([np.ravel(low), np.ravel(high)])
    return bool(np.all(np.abs(ends) <= LARGEST_BOUND) and np.all(np.less(low, high)))


def _fit_transform(step, X, y, arguments):
    """Fit a step and return what it makes of X; of what isn't ours, no error or warning tells."""
    if isinstance(step, PrivateEstimator):
        return step.fit(X, y, **arguments).transform(X)
    if hasattr(step, "fit_transform"):
        return _quietly(step.fit_transform, X, y, **arguments)
    return _quietly(lambda X, y: step.fit(X, y).transform(X), X, y)


def _quietly(fit, X, y, **arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return quietly(fit, X, y, **arguments)


def _reads_table(step):
    """Return whether what looks at the rows first is a reader of raw tables."""
    if isinstance(step, Pipeline):
        return _reads_table(next(_in_order(step.steps), None))
    # An estimator that is calibrated or frozen gets the same rows.
    inner = getattr(step, "estimator", None)
    return hasattr(step, "_check_table") or (inner is not None and _reads_table(inner))


def _begin_with_function(steps):
    """Return whether a function of numbers is called on all columns, as they come.

    NumPy's functions take no objects.
    """
    for step in _in_order(steps):
        if isinstance(step, FeatureUnion):
            return any(map(_begin_with_function, ([branch] for branch in step.transformer_list)))
        if isinstance(step, FunctionTransformer) and step.func is not None:
            return True
        if not isinstance(step, (FunctionTransformer, SimpleImputer, DPSimpleImputer)):
            return False
    return False


def _in_order(steps):
    """Yield steps, of a Pipeline those within, that do something."""
    for _, step in steps:
        if isinstance(step, Pipeline):
            yield from _in_order(step.steps)
        elif step is not None and not isinstance(step, str):
            yield step


def _of_floats(name):
    """Return a method of scikit-learn's Pipeline that gets numbers as steps got them in a fit."""

    def inherited(pipeline):
        return getattr(super(PipelineOfFloats, pipeline), name)

    @available_if(inherited)
    @functools.wraps(getattr(Pipeline, name))
    def method(self, X, *args, **params):
        # Rows that are transformed may be those of a fit that follows.
        with contextlib.nullcontext() if name == "transform" else new_rows():
            return inherited(self)(self._as_read(X), *args, **params)

    return method


class PipelineOfFloats(Pipeline):
    """A Pipeline that reads numbers as floats wherever it uses what was fitted.

    Where the first step reads a raw table itself, it gets that: there types tell what columns hold.
    Objects stay objects, see `as_floats`.
    """

    def _as_read(self, X):
        refuse_rows(X)
        if _reads_table(self):
            return X
        return as_floats(X, numbers_alone=_begin_with_function(self.steps))

    transform = _of_floats("transform")
    predict = _of_floats("predict")
    predict_proba = _of_floats("predict_proba")
    predict_log_proba = _of_floats("predict_log_proba")
    decision_function = _of_floats("decision_function")
    score_samples = _of_floats("score_samples")
    score = _of_floats("score")
