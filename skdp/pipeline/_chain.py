"""Steps fitted one after the other, each told what the rows that it gets are promised to be."""

import inspect
import math
import warnings
from typing import NamedTuple

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import Normalizer, OneHotEncoder

from skdp._checks import LARGEST_BOUND
from skdp._estimator import PrivateEstimator, RecordPrivateEstimator, is_default
from skdp._sklearn import quietly

_LONGEST, _SHORTEST = 1e30, 1e-30

_FURTHER = (
    "fit of a private pipeline takes X and y alone: what a step would learn from {!r} isn't "
    "planned for."
)
_GROUPS = (
    "fit of a private pipeline has no groups: its steps protect rows. Either keep one row of each "
    "person, so that a row is a person; or use a pipeline of scikit-learn with steps that learn "
    "nothing, such as BoundsScaler and DPOneHotEncoder(categories=[...]), and give groups to its "
    "last step, as in fit(X, y, dplogisticregression__groups=ids)."
)


def refuse_further(params):
    """Refuse what `fit` is given besides X and y, and tell of groups what to do instead.

    Parameters
    ----------
    params : dict
    """
    if params:
        name = sorted(params)[0]
        raise ValueError(_GROUPS if name.endswith("groups") else _FURTHER.format(name))


class PassedNorm(float):
    """A `data_norm` that nobody gave: the step before promised it."""


class PassedBounds(tuple):
    """A pair of `feature_bounds` that nobody gave: the step before promised it."""


class OutputBounds(NamedTuple):
    """What rows are known to be, whatever the records are.

    Parameters
    ----------
    norm : float or None
        L2 norm that no row exceeds.
    low, high : ndarray of shape (n_columns,) or None
        Ranges of the columns.
    """

    norm: float | None = None
    low: np.ndarray | None = None
    high: np.ndarray | None = None


NOTHING = OutputBounds()


class BoundsPassingPipeline(Pipeline):
    """What a Pipeline inside a private one is while it is fitted: it passes bounds on."""

    def fit_transform(self, X, y=None):
        """Fit all steps, and return what they make of X."""
        self._validate_steps()
        return fit_chain(self.steps, X, y)[0]

    def fit(self, X, y=None):
        """Fit all steps."""
        self.fit_transform(X, y)
        return self


def fit_chain(steps, X, y, bounds=NOTHING):
    """Fit transformers one after the other.

    Parameters
    ----------
    steps : list of (str, estimator)
    X, y : array-like
    bounds : OutputBounds, default=NOTHING
        Of X.

    Returns
    -------
    X : array-like
        What the steps make of it.
    bounds : OutputBounds
        Of what is returned.
    """
    for _, step in steps:
        if step is None or step == "passthrough":
            continue
        pass_bounds(step, bounds)
        X = _fit_transform(step, X, y)
        bounds = output_bounds(step)
    return X, bounds


def fit_last(step, X, y):
    """Fit the last step where it isn't a private model.

    Parameters
    ----------
    step : (str, estimator)
    X, y : array-like
    """
    if step[1] is None or hasattr(step[1], "transform") or step[1] == "passthrough":
        fit_chain([step], X, y)
    else:
        _quietly(step[1].fit, X, y)


def pass_bounds(step, bounds):
    """Set a private step's bounds where nobody gave them.

    Parameters
    ----------
    step : estimator
        Of a Pipeline the first step is meant, and of other containers none.
    bounds : OutputBounds
        Of the rows that it gets.
    """
    if type(step) is BoundsPassingPipeline:
        pass_bounds(step.steps[0][1], bounds)
    if not isinstance(step, RecordPrivateEstimator):
        return
    norm, low, high = bounds
    if norm is not None and _SHORTEST <= norm <= _LONGEST and is_default(step, "data_norm"):
        step.set_params(data_norm=PassedNorm(norm))
    has_use = step._uses_feature_bounds and is_default(step, "feature_bounds")
    if has_use and low is not None and _are_bounds(low, high):
        step.set_params(feature_bounds=PassedBounds((low, high)))


def reset_bounds(step):
    """Set a private step's bounds back where an earlier fit handed them on."""
    parameters = inspect.signature(type(step)).parameters
    handed = {
        name: parameters[name].default
        for name, value in step.get_params(deep=False).items()
        if isinstance(value, (PassedNorm, PassedBounds))
    }
    step.set_params(**handed)


def output_bounds(step):
    """Return what a fitted step promises of its output.

    Parameters
    ----------
    step : estimator
    """
    if hasattr(step, "norm_bound_") or hasattr(step, "feature_bounds_"):
        low, high = getattr(step, "feature_bounds_", (None, None))
        return OutputBounds(getattr(step, "norm_bound_", None), low, high)
    rule = _BOUNDS_OF.get(type(step))
    return NOTHING if rule is None else rule(step)


def _of_one_hot(encoder):
    n_outputs = len(encoder.get_feature_names_out())
    norm = math.sqrt(encoder.n_features_in_)
    return OutputBounds(norm, np.zeros(n_outputs), np.ones(n_outputs))


def _of_indicator(indicator):
    n_outputs = indicator.n_features_in_
    return OutputBounds(math.sqrt(n_outputs), np.zeros(n_outputs), np.ones(n_outputs))


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
    # In the order of the output.
    slices = transformer.output_indices_
    parts = [
        (slices[name].start, step)
        for name, step, _ in transformer.transformers_
        if slices[name].start != slices[name].stop
    ]
    return _side_by_side(step for _, step in sorted(parts, key=lambda part: part[0]))


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
    OneHotEncoder: _of_one_hot,
    MissingIndicator: _of_indicator,
    Normalizer: _of_normalizer,
    Pipeline: _of_chain,
    BoundsPassingPipeline: _of_chain,
    ColumnTransformer: _of_columns,
    FeatureUnion: _of_union,
}


def _are_bounds(low, high):
    ends = np.concatenate([np.ravel(low), np.ravel(high)])
    return bool(np.all(np.abs(ends) <= LARGEST_BOUND) and np.all(np.less(low, high)))


def _fit_transform(step, X, y):
    """Fit a step and return what it makes of X; of what isn't ours, no error or warning tells."""
    if isinstance(step, PrivateEstimator):
        return step.fit(X, y).transform(X)
    if hasattr(step, "fit_transform"):
        return _quietly(step.fit_transform, X, y)
    return _quietly(lambda X, y: step.fit(X, y).transform(X), X, y)


def _quietly(fit, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return quietly(fit, X, y)
