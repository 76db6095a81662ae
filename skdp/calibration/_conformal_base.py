"""A model of some records, and noisy counts of the others by how wrong it is there."""

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import ClassVar, NamedTuple

import numpy as np
from sklearn.base import (
    MetaEstimatorMixin,
    clone,
)
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from skdp._estimator import (
    BUDGET_CONSTRAINTS,
    RecordPrivateEstimator,
    fit_groups,
    is_of_skdp,
    model_of,
    refuse_settings,
    rehearse,
    require_groups,
)
from skdp._release.plan import CLASSES_READ
from skdp._rows.bounds import counted_rows, null_records_among
from skdp._rows.groups import encode_groups
from skdp._sklearn import HasMethods, Interval, StrOptions, _fit_context, quietly, take_rows
from skdp.calibration._around import AroundPrivate, refuse_partitions
from skdp.calibration._calibrated import DPCalibratedClassifier
from skdp.calibration._plan_conformal import (
    n_needed,
    plan_conformal,
    score_budget,
)
from skdp.calibration._solver import find_quantile
from skdp.exceptions import warn_user
from skdp.ledger._account import ALREADY_CHARGED

_NOT_OURS = (
    "estimator must be skdp's private {kind} that protects rows, or a DPPipeline that ends in one, "
    "got {got}. A pipeline or a search of scikit-learn goes around this one. A model that was "
    "fitted elsewhere, on other records, is given as sklearn.frozen.FrozenEstimator(model)."
)
_FROZEN_INSTEAD = (
    ", or give what was fitted to other records as sklearn.frozen.FrozenEstimator(model)"
)
_OTHER_KIND = "estimator must be a {kind}, got {got}."
_SIZE_OF_FROZEN = (
    "calibration_size is for an estimator that is fitted here: all rows calibrate a frozen one. "
    "Leave it at its default."
)
_TOO_FEW = (
    "{n} calibration records may be too few for confidence_level={level:g} and this epsilon: "
    "{results}. It takes about {needed} where scores are alike, and more the further apart they "
    "lie. With a larger epsilon or a smaller confidence_level fewer are enough."
)
_FROM_FROZEN = ("n_features_in_", "feature_names_in_")


class Outcomes(NamedTuple):
    """Targets, or codes of labels and their classes, which are None of targets."""

    values: np.ndarray
    classes: np.ndarray | None = None

    @property
    def n_outputs(self):
        """Number of outputs that a model of these has."""
        return 1 if self.classes is None or self.classes.size == 2 else self.classes.size


class BaseConformal(AroundPrivate):
    """What regression and classification share; subclasses say what a score is.

    A score is a number of at least 0, larger the worse a prediction is.
    """

    _is_outermost = True
    # A fit says this of weights and exposures, which it doesn't take.
    _instead_of_arguments = (
        " Coverage is of records as they are drawn, each counted once. An estimator that takes "
        "weights or exposures is fitted to other records, and given as "
        "sklearn.frozen.FrozenEstimator(model); targets are rates then where it predicts rates."
    )
    # Subclasses have these: words, and methods on outcomes.
    _kind: ClassVar[str]
    _is_kind: ClassVar[Callable]
    _endless: ClassVar[str]
    _wide: ClassVar[str]
    _read_with_y: Callable
    _outcomes: Callable
    _outcomes_for: Callable
    _scores: Callable
    _publish: Callable

    _parameter_constraints = {  # noqa: RUF012
        "estimator": [HasMethods(["fit", "predict"])],
        # Closer to 0 or 1, a level and its complement have no digits in common.
        "confidence_level": [Interval(Real, 1e-6, 1 - 1e-9, closed="both")],
        "calibration_size": [Interval(Real, 0, 1, closed="neither"), StrOptions({"auto"})],
        **BUDGET_CONSTRAINTS,
    }

    def __init__(
        self,
        estimator,
        *,
        confidence_level=0.9,
        calibration_size="auto",
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        random_state=None,
        ledger=None,
    ):
        self.estimator = estimator
        self.confidence_level = confidence_level
        self.calibration_size = calibration_size
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.random_state = random_state
        self.ledger = ledger

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, groups=None):
        """Fit the estimator to some of the records, and calibrate it on the others, privately.

        A frozen estimator is calibrated on all records.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, as the estimator takes them.
        y : array-like of shape (n_samples,)
            Targets or labels.
        groups : array-like of shape (n_samples,), default=None
            The person, household, ... of each row, as hashable ids, where the estimator takes them.
            The guarantee is then for one group, with all its rows, and all rows of a group are in
            one part. Of each calibration group one row counts, drawn at random. With None each row
            is a record.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the input is invalid, or the estimator is neither private nor frozen;
            no message quotes an entry of the data.
        TypeError
            If X is sparse, and the estimator doesn't take it.
        skdp.exceptions.LedgerError
            If there is a ledger, and it refuses this fit.
        """
        self._check_estimator()
        calibrated = self._calibrate if self._is_frozen() else self._fit_and_calibrate
        plan, found = calibrated(X, y, groups)
        self.n_calibration_ = plan.n_calibration
        if found.is_far:
            needed = n_needed(plan.level, plan.counts.mechanism.noise_std)
            results = self._endless if math.isinf(found.value) else self._wide
            warn_user(
                _TOO_FEW.format(
                    n=plan.n_calibration, level=plan.level, results=results, needed=needed
                )
            )
        return self

    def _fit_and_calibrate(self, X, y, groups):
        X, y = self._read_with_y(X, y)
        codes, n_records = encode_groups(groups, len(y))
        outcomes = self._outcomes(y)

        # The estimator bounds the rows.
        sizes = n_records, self.n_features_in_, outcomes.n_outputs
        plan = self._plan(*sizes, by_group=codes is not None)
        # Who has charged for this fit has rehearsed it.
        if self.ledger is not ALREADY_CHARGED:
            rehearse(self._part(plan.budget), X, y, codes)
        run = plan.start(self.random_state)
        coins, fit = run.spawn(3, noise=1)

        rest, held = _parted(y, codes, n_records, plan.n_calibration, coins)
        # Rows can't be taken of what only becomes an array.
        X = quietly(np.asarray, X) if hasattr(X, "__array__") and not hasattr(X, "shape") else X
        estimator = self._part(plan.budget, outcomes.classes)
        estimator.set_params(random_state=fit.as_random_state())
        people = None if codes is None else codes[rest]
        with null_records_among(rest, len(y)):
            fit_groups(estimator, take_rows(X, rest), y[rest], people)
        run.made_within(*plan.fit.names)
        scores = quietly(self._scores, estimator, take_rows(X, held), outcomes, held)
        found = find_quantile(scores, plan, run, coins)
        run.finish()

        if outcomes.classes is not None and model_of(self.estimator).classes is None:
            report = estimator.privacy_report_
            assumed = (CLASSES_READ, *report.assumed_public)
            estimator._restate(replace(report, assumed_public=assumed))
        # The published estimator holds no seed, and another fit of it is charged like any other.
        self.estimator_ = estimator.set_params(random_state=None, ledger=self.ledger)
        self._publish(found.value, outcomes.classes)
        self.privacy_report_ = plan.report(
            reproducible=run.reproducible,
            also_public=self.estimator._assumed(),
            open_parts=self.estimator._open_parts(),
        )
        return plan, found

    def _calibrate(self, X, y, groups):
        """Calibrate a frozen estimator, which reads rows in its own way."""
        model = _unfrozen(self.estimator)
        quietly(check_is_fitted, model)
        outcomes = self._outcomes_for(model, X, y)
        codes, n_records = encode_groups(groups, len(outcomes.values))
        # Rows that can't be predicted are refused before anything is charged.
        scores = quietly(self._scores, model, X, outcomes, slice(None))
        n_features = getattr(model, "n_features_in_", 1)
        plan = self._plan(n_records, n_features, by_group=codes is not None)
        run = plan.start(self.random_state)
        coins = run.coins()
        counted = counted_rows(scores, codes, coins)
        found = find_quantile(scores[counted], plan, run, coins)
        run.finish()
        self.estimator_ = self.estimator
        for name in _FROM_FROZEN:
            vars(self).pop(name, None)
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
        self._publish(found.value, outcomes.classes)
        self.privacy_report_ = plan.report(reproducible=run.reproducible)
        return plan, found

    def _is_frozen(self):
        return type(self.estimator) is FrozenEstimator

    def _check_estimator(self):
        inner, kind = _unfrozen(self.estimator), self._kind
        if not self._is_kind(inner):
            raise ValueError(_OTHER_KIND.format(kind=kind, got=type(inner).__name__))
        if self._is_frozen():
            if self.calibration_size != "auto":
                raise ValueError(_SIZE_OF_FROZEN)
            return
        is_around = isinstance(inner, MetaEstimatorMixin)
        is_ours = isinstance(inner, RecordPrivateEstimator) and is_of_skdp(inner)
        if not is_ours or (is_around and not isinstance(inner, DPCalibratedClassifier)):
            raise ValueError(_NOT_OURS.format(kind=kind, got=type(inner).__name__))
        refuse_partitions(inner, self, _FROZEN_INSTEAD)
        refuse_settings(inner, self, "estimator")

    def _plan(self, n_records, n_features, n_outputs=1, *, by_group=False):
        self._check_estimator()
        budget = self._budget(n_records, by_group)
        arguments = {"level": self.confidence_level, "n_records": n_records, "by_group": by_group}
        if self._is_frozen():
            size = {"calibration_size": 1.0}
            return plan_conformal(score_budget(budget), **arguments, **size)
        if by_group:
            require_groups(self.estimator, "estimator")

        def report_of_fit(n_fitted):
            part = self._part(budget)
            # The fit itself warns.
            with warnings.catch_warnings(action="ignore"):
                return part._preview(n_fitted, n_features, n_outputs, by_group=by_group)

        return plan_conformal(
            budget,
            level=self.confidence_level,
            n_records=n_records,
            calibration_size=self.calibration_size,
            fit_report=report_of_fit,
            by_group=by_group,
        )

    def _part(self, budget, classes=None):
        """Return the estimator with the budget, which its records spend on nothing else.

        Classes that are read from labels are those of all records, and not of a part.
        """
        # The ledger knows the seed of all; a plain fit with it must have noise of its own.
        part = clone(self.estimator).set_params(
            epsilon=budget.epsilon,
            delta=budget.delta,
            adjacency=self.adjacency,
            random_state=None,
            ledger=ALREADY_CHARGED,
        )
        model = model_of(part)
        if classes is not None and model.classes is None:
            model.set_params(classes=classes)
        return part

    def _assumed(self):
        return () if self._is_frozen() else self.estimator._assumed()

    def _open_parts(self):
        return () if self._is_frozen() else super()._open_parts()

    def _refitted(self):
        return () if self._is_frozen() else super()._refitted()

    def _rows(self, X):
        """Return rows to predict as the estimator takes them."""
        check_is_fitted(self)
        return X if self._is_frozen() else self._read(X, reset=False)

    def predict(self, X):
        """Predict by the estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Its predictions, each one number or label.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        X = self._rows(X)
        return self.estimator_.predict(X)


def _parted(y, codes, n_records, n_held, coins):
    """Return the places of rows to fit, and of those that are counted of the records kept apart.

    Chance alone parts records: nothing is read, so that no row moves another. All rows of a group
    are in one part, and one of them is counted, drawn at random.
    """
    is_held = np.zeros(n_records, dtype=bool)
    is_held[np.argsort(coins.uniform(n_records))[:n_held]] = True
    record = np.arange(n_records) if codes is None else codes
    counted = np.arange(len(y))[counted_rows(y, codes, coins)]
    return np.flatnonzero(~is_held[record]), counted[is_held[record[counted]]]


def _unfrozen(estimator):
    """Return the model inside a frozen one, or an estimator itself."""
    return _unfrozen(estimator.estimator) if type(estimator) is FrozenEstimator else estimator
