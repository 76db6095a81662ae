"""What steps of a pipeline refuse, found before the pipeline is charged.

The first steps that learn are tried on the rows that they will get, up to where they would be
charged. What they will make of these is known beforehand only in part. So later steps are tried on
rows that stand for theirs, with the same columns and made-up values, as long as the number and the
names of the columns follow from public facts: what learns categories or knots ends that.
"""

import contextlib
import copy
import warnings
from dataclasses import dataclass

import narwhals as nw
import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.compose import ColumnTransformer

from skdp._estimator import rehearse
from skdp._release.plan import Budget
from skdp._sklearn import quietly, take_columns, take_rows
from skdp.pipeline._budget import with_norm
from skdp.pipeline._leaks import why_refused
from skdp.pipeline._steps import private_leaves
from skdp.preprocessing import BoundsScaler, DPSimpleImputer

# A number of which steps make numbers, as few take all.
_MADE_UP = 0.5
_N_ROWS = 4
# Parameters with which scikit-learn's steps refuse single values, and what refuses none instead.
_REFUSING = {
    "OneHotEncoder": ({"handle_unknown": "error"}, {"handle_unknown": "ignore"}),
    "OrdinalEncoder": (
        {"handle_unknown": "error", "unknown_value": None},
        {"handle_unknown": "use_encoded_value", "unknown_value": -1, "dtype": np.float64},
    ),
    "SplineTransformer": ({"extrapolation": "error"}, {"extrapolation": "constant"}),
}


def check_parameters(steps):
    """Refuse parameters of steps and containers that no fit of theirs takes, whatever it gets."""
    if get_config()["skip_parameter_validation"]:
        return
    for step in (inside for top in steps for inside in top.all_steps()):
        if not step.is_frozen and hasattr(step.estimator, "_parameter_constraints"):
            step.estimator._validate_params()


@dataclass(frozen=True)
class Rehearsal:
    """What steps are tried with besides rows: y, the group of each row, and a budget."""

    y: object
    groups: object
    budget: Budget | None
    n_rows: int

    def of_all(self, steps, X):
        """Try steps one after the other, of which the first gets X."""
        for place, step in enumerate(steps):
            X = self._of(step, X, is_first=place == 0)

    def _of(self, step, X, *, is_first=False):
        """Try a step; return rows that stand for what it makes, None if that isn't known."""
        if X is None or step.estimator is None or isinstance(step.estimator, str):
            return X
        if step.is_frozen:
            if not hasattr(step.estimator, "transform"):
                return None
            # Its refusals may follow from values, which are made up here.
            with contextlib.suppress(TypeError, ValueError):
                return _made_up(quietly(step.estimator.transform, _few(X)))
            return None
        if step.is_chain:
            for inside in step.inner:
                X = self._of(inside, X)
            return X
        if step.inner:
            made = {name: self._of(*part) for name, part in _parts(step, X).items()}
            return None if any(rows is None for rows in made.values()) else _joined(step, X, made)
        if private_leaves([step]) and step.estimator._learns():
            self._try(step.estimator if is_first else with_norm(step.estimator), X)
            is_known = isinstance(step.estimator, (OneToOneFeatureMixin, DPSimpleImputer))
            return _stand_in(step, X) if is_known else None
        # Steps that only `allow` lets pass may do anything, and one that predicts comes last.
        is_known = why_refused(step.estimator, False, False) is None
        return _stand_in(step, X) if is_known else None

    def _try(self, estimator, X):
        if np.shape(X)[0] != self.n_rows:
            X = _repeated(X, self.n_rows)
        estimator = clone(estimator).set_params(adjacency=self.budget.adjacency)
        rehearse(estimator, X, self.y, self.groups, budget=self.budget)


def _repeated(X, n_rows):
    """Return as many rows as are fitted, all equal to the first."""
    if isinstance(X, np.ndarray):
        return np.broadcast_to(X[:1], (n_rows, *X.shape[1:]))
    return take_rows(X, np.zeros(n_rows, dtype=int))


def _parts(step, X):
    """Return by name the steps within a container that doesn't chain them, and what each gets."""
    used = {inside.name: inside for inside in step.inner if inside.estimator != "drop"}
    if not isinstance(step.estimator, ColumnTransformer):
        return {name: (inside, X) for name, inside in used.items()}
    # It only chooses, as columns of several types can't be put together.
    named = [(inside.name, "drop", inside.columns) for inside in step.inner[:-1]]
    chooser = ColumnTransformer(named)
    quietly(chooser.fit, _few(X))
    # scikit-learn 1.6 warns where the columns of the remainder are looked at.
    with warnings.catch_warnings(action="ignore", category=FutureWarning):
        return {
            name: (used[name], take_columns(X, columns))
            for name, _, columns in chooser.transformers_
            if name in used and np.size(columns)
        }


class _Makes(TransformerMixin, BaseEstimator):
    """A step that makes rows which are known, whatever it gets."""

    def __init__(self, rows):
        self.rows = rows

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return self.rows


def _joined(step, X, made):
    """Return rows as a container joins them that its steps, by name, make."""
    container = clone(step.estimator)
    container.set_params(**{name: _Makes(_made_up(_few(rows))) for name, rows in made.items()})
    return _made_up(quietly(container.fit_transform, _few(X)))


def _stand_in(step, X):
    """Return rows with the columns of those that a step makes of X, and values made up."""
    twin = _public_twin(step) if private_leaves([step]) else _tolerant(clone(step.estimator))
    if getattr(twin, "random_state", 0) is None:
        # Random draws make no column, and would move NumPy's global state for the fit.
        twin.set_params(random_state=0)
    return _made_up(quietly(twin.fit_transform, _few(X)))


def _few(X):
    return take_rows(X, np.arange(min(_N_ROWS, np.shape(X)[0])))


def _made_up(rows):
    """Return rows of which all are alike, with floats made up: few steps take all of them.

    Others stay what they are in the first row, so that each column holds values of one kind.
    """
    rows = take_rows(rows, np.zeros(np.shape(rows)[0], dtype=int))
    if isinstance(rows, np.ndarray):
        return np.full_like(rows, _MADE_UP) if rows.dtype.kind == "f" else rows
    frame = nw.from_native(rows, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return rows
    floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
    frame = frame.with_columns(*(nw.lit(_MADE_UP).alias(name) for name in floats))
    return nw.maybe_reset_index(frame).to_native()


def _public_twin(leaf):
    """Return a step that learns nothing and makes the same columns as a private one."""
    if not leaf.estimator._learns():
        return clone(leaf.estimator)
    if isinstance(leaf.estimator, DPSimpleImputer):
        return clone(leaf.estimator).set_params(strategy="constant")
    scaler = BoundsScaler()
    if hasattr(leaf.estimator, "_sklearn_output_config"):
        scaler._sklearn_output_config = copy.deepcopy(leaf.estimator._sklearn_output_config)
    return scaler


def _tolerant(step):
    """Return a step that refuses no value; what else was chosen has rules of its own, and stays."""
    refusing, changes = _REFUSING.get(type(step).__name__, ({}, {}))
    refuses = all(getattr(step, name) == value for name, value in refusing.items())
    return step.set_params(**changes) if refuses else step
