"""Searches that choose a private model by private scores, within one budget."""

import math
from numbers import Integral, Real

import numpy as np
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import MetaEstimatorMixin, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_bounds
from skdp._estimator import PrivateEstimator, is_private
from skdp._plans._base import CLASSES_READ
from skdp._plans._selection import SearchBudget, plan_selection
from skdp.exceptions import warn_user
from skdp.linear_model._base import COMMON_CONSTRAINTS, NO_TARGET_BOUNDS, encode_labels
from skdp.metrics._scorings import ROW_SPREAD, SCORINGS, check_scoring, n_releases
from skdp.model_selection._candidates import last_step, make_candidates
from skdp.model_selection._metadata import refuse_metadata
from skdp.model_selection._trials import Records, check_outcome, run_composed, run_repeated
from skdp.utils._sklearn import (
    HasMethods,
    Interval,
    StrOptions,
    _fit_context,
    take_rows,
    validate_data,
)

_DTYPES = [np.float64, np.float32]
_RUN = {"repeat": run_repeated, "compose": run_composed}
CONSTRAINTS = {
    **{
        name: COMMON_CONSTRAINTS[name]
        for name in ("epsilon", "delta", "adjacency", "ledger", "random_state")
    },
    "estimator": [HasMethods(["fit", "predict"])],
    "scoring": [StrOptions(set(SCORINGS)), None],
    "validation_size": [Interval(Real, 0, 1, closed="neither")],
    "n_trials": [Interval(Real, 1, None, closed="left"), StrOptions({"auto"})],
    "method": [StrOptions({"auto", "repeat", "compose"})],
    "n_jobs": [Integral, None],
}


def _has(name):
    """Return a check that the model, or the estimator before there is one, has a method."""

    def check(search):
        # Its error is the one to be seen.
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return check


class BaseSearch(MetaEstimatorMixin, PrivateEstimator):
    """What searches share; subclasses have `_settings`, the candidates."""

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y=None, **params):
        """Choose a model, and fit it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, dense. A data frame is handed on as one.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Labels or targets.
        **params
            Arguments of the candidates' fits, by metadata routing or without. Every one is
            refused, before there is noise: `groups`, because a score on the rows of a person has
            no bound that is worth it; `sample_epsilon`, because a search spends the whole epsilon
            on each record; and others, because they may change what a fit releases.

        Returns
        -------
        self : object
            The fitted search.

        Raises
        ------
        BudgetExceededError
            If there is a ledger, and too little is left in it.
        ValueError
            If a parameter of the search or of a candidate, or the input is invalid, or if the fit
            that was chosen failed, which is told as a release; no message quotes an entry of the
            data.
        TypeError
            If a candidate is no estimator that a search can make private, or X is sparse and a
            candidate doesn't take it.
        """
        # 1. scikit-learn's contract
        refuse_metadata(self, params)
        classifies = is_classifier(self.estimator)
        frame = X
        several = get_tags(self).target_tags.multi_output
        checks = {"y_numeric": not classifies, "multi_output": several}
        # What a fit refuses in a trial would be told as a release.
        with config_context(assume_finite=False):
            X, y = validate_data(self, X, y, dtype=_DTYPES, **checks)
        if self.n_jobs == 0:
            raise ValueError("The 'n_jobs' parameter must not be 0.")
        n_rows, n_validation = len(y), self._n_validation(len(y))

        # 2. candidates from public parameters
        candidates = make_candidates(self, self._settings(), lambda: encode_labels(y, None)[0])
        if issparse(X) and not all(get_tags(m).input_tags.sparse for m in candidates.models):
            raise TypeError("Sparse data was passed for X, and a candidate takes dense X only.")
        n_outputs = 1 if y.ndim == 1 else y.shape[1]
        if classifies:
            self.classes_, targets = encode_labels(y, last_step(candidates.models[0]).classes)
            n_outputs = targets.shape[1]

        # 3. plan from public numbers
        rows = frame if hasattr(frame, "columns") else X
        scoring = self._scoring(classifies)
        for model in candidates.models:
            check_scoring(model, scoring, self.classes_ if classifies else None, n_outputs)
        scored = {"scoring": scoring, "target_bounds": self._target_bounds(classifies)}
        plan = plan_selection(
            SearchBudget(self.epsilon, self.delta, self.adjacency, account=self._account()),
            n_rows=n_rows,
            n_validation=n_validation,
            n_candidates=len(candidates.settings),
            method=self.method,
            n_trials=self.n_trials,
            fits=candidates.fits(take_rows(rows, [0]), n_rows - n_validation, n_outputs),
            row_spread=ROW_SPREAD.get(scoring),
            n_releases=n_releases(scoring, self.classes_ if classifies else None),
        )
        stream = plan.start(self.random_state)

        # 4. split, fit, score and choose
        split, trials = stream.spawn(2)
        records = Records.split(rows, y, n_validation, split, **scored)
        run = _RUN[plan.method]
        best = check_outcome(run(plan, candidates.models, records, trials, self.n_jobs))

        # 5. publish
        assumed = candidates.assumed() + (CLASSES_READ,) * candidates.classes_were_read
        report = plan.report(reproducible=stream.reproducible, also_public=assumed)
        self._publish(plan, candidates, best, report)
        return self

    def _n_validation(self, n_rows):
        """Return the number of rows to score on, both parts having one at least."""
        if n_rows < 2:
            raise ValueError(f"a search needs at least 2 records, got n_samples = {n_rows}.")
        return min(math.ceil(self.validation_size * n_rows), n_rows - 1)

    def _scoring(self, classifies):
        if self.scoring is not None:
            return self.scoring
        return "accuracy" if classifies else "neg_mean_squared_error"

    def _target_bounds(self, classifies):
        """Return the range that targets are scored in, that of the estimator as it was given."""
        if classifies:
            return None
        bounds = last_step(self.estimator).target_bounds
        if bounds is None and is_private(self):
            warn_user(NO_TARGET_BOUNDS)
        return (-1.0, 1.0) if bounds is None else check_bounds(bounds, "target_bounds")

    def _publish(self, plan, candidates, best, report):
        model = last_step(best.model)
        # What this fit cost is told by the search alone; another fit of it charges as any other.
        model.set_params(ledger=self.ledger)
        model.privacy_report_ = report
        self.best_estimator_ = best.model
        self.best_index_ = best.candidate
        self.best_params_ = dict(candidates.settings[best.candidate])
        self.method_ = plan.method
        self.privacy_report_ = report
        if plan.method == "repeat":
            self.best_score_ = best.score
            self.n_trials_ = plan.law.mean

    @available_if(_has("predict"))
    def predict(self, X):
        """Predict by the chosen model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted labels or targets.

        Raises
        ------
        NotFittedError
            If the search isn't fitted.
        ValueError
            If X doesn't fit the model; no message quotes an entry of the data.
        """
        return self._best().predict(X)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X):
        """Estimate class probabilities by the chosen model, if it has them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column a class, in the order of ``classes_``.

        Raises
        ------
        AttributeError
            If the model has no probabilities.
        NotFittedError
            If the search isn't fitted.
        ValueError
            If X doesn't fit the model; no message quotes an entry of the data.
        """
        return self._best().predict_proba(X)

    @available_if(_has("predict_log_proba"))
    def predict_log_proba(self, X):
        """Estimate logarithms of class probabilities by the chosen model, if it has them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            One column a class, in the order of ``classes_``.

        Raises
        ------
        AttributeError
            If the model has no probabilities.
        NotFittedError
            If the search isn't fitted.
        ValueError
            If X doesn't fit the model; no message quotes an entry of the data.
        """
        return self._best().predict_log_proba(X)

    @available_if(_has("decision_function"))
    def decision_function(self, X):
        """Compute decision values by the chosen model, if it has them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes, a positive value means ``classes_[1]``.

        Raises
        ------
        AttributeError
            If the model has no decision values.
        NotFittedError
            If the search isn't fitted.
        ValueError
            If X doesn't fit the model; no message quotes an entry of the data.
        """
        return self._best().decision_function(X)

    @available_if(_has("score"))
    def score(self, X, y):
        """Return the accuracy, or R2 of a regression. Computed without noise: not private.

        `skdp.metrics.private_score` gives a private one, on records that the search hasn't seen.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,)
            True labels or targets.

        Returns
        -------
        score : float
            Of the chosen model.

        Raises
        ------
        NotFittedError
            If the search isn't fitted.
        ValueError
            If X or y don't fit the model; no message quotes an entry of the data.
        """
        return self._best().score(X, y)

    def _best(self):
        check_is_fitted(self)
        return self.best_estimator_

    def get_metadata_routing(self):
        """Say how arguments of `fit` are routed: to the estimator's.

        Returns
        -------
        router : sklearn.utils.metadata_routing.MetadataRouter
            As scikit-learn's searches have it. What is routed is refused, see `fit`.

        Raises
        ------
        TypeError
            If the estimator has no metadata routing.
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=type(self).__name__)
        return router.add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.target_tags.required = True
        tags.target_tags.multi_output = inner.target_tags.multi_output
        tags.input_tags.sparse = inner.input_tags.sparse
        kind = tags.classifier_tags or tags.regressor_tags
        if kind is not None:
            kind.poor_score = is_private(self)
        return tags
