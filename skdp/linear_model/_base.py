"""What linear models share: predictions, labels, and the check of what is published."""

from collections.abc import Callable
from numbers import Integral, Real

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skdp._ball._plan import plan_targets
from skdp._ball._solver import hardly_tells, learn_targets
from skdp._checks import (
    check_bounds,
    check_feature_bounds,
    check_finite,
    check_positive,
    check_public_weight,
)
from skdp._estimator import BUDGET_CONSTRAINTS, CaptionMixin, RecordPrivateEstimator, is_private
from skdp._families.losses import INVERSE_LINKS, as_probabilities
from skdp._families.targets import (
    TargetUnits,
    as_targets,
    clip_targets,
    encode_labels,
    target_scale,
)
from skdp._families.weights import WEIGHTS_STATED, class_scale, weigh, weights_of_classes
from skdp._release.plan import CLASSES_READ
from skdp._rows.blocks import rounding_slack
from skdp._rows.numbers import validate_numbers
from skdp._rows.rows_in_ball import by_row
from skdp._sklearn import Interval, StrOptions, quietly
from skdp.exceptions import warn_user

# Numbers whose squares and products stay far from the ends of double precision.
POSITIVE = Interval(Real, 1e-30, 1e30, closed="both")

FEW_FOR_TARGETS = (
    "target_bounds=None learns a range of the targets, for which the records are too few at this "
    "epsilon: predictions may be far off. Give public bounds, target_bounds=(low, high)."
)
NO_TARGET_BOUNDS = (
    "target_bounds=None assumes that the targets are within about [-1, 1], without looking; where "
    "they aren't, predictions are far off. Give public bounds, target_bounds=(low, high)."
)
_UNIT_TARGETS = (
    "the scale of the targets: [-1, 1], as target_bounds=None takes it (it only affects accuracy)"
)

# Every private estimator has these parameters.
COMMON_CONSTRAINTS = {
    "alpha": [POSITIVE],
    "fit_intercept": ["boolean"],
    "accountant": [StrOptions({"pld", "rdp"})],
    **BUDGET_CONSTRAINTS,
    "verbose": ["verbose"],
}
# No result depends on these.
EXECUTION_CONSTRAINTS = {"n_jobs": [Integral, None], "verbose": ["verbose"]}
# Those that may learn a ball have this one.
BALL_CONSTRAINTS = {"ball_budget": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})]}
# Estimators that take batches of rows have these.
BATCH_CONSTRAINTS = {
    **COMMON_CONSTRAINTS,
    "data_norm": [POSITIVE],
    "batch_size": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    "clipping_norm": [POSITIVE, StrOptions({"auto"})],
    "average": ["boolean"],
    **EXECUTION_CONSTRAINTS,
}

# Texts are refused later, with the remedy.
CLASS_WEIGHT = [dict, str, None]
CLASS_CONSTRAINTS = {"classes": ["array-like", None], "class_weight": CLASS_WEIGHT}
MARGIN_CONSTRAINTS = {**CLASS_CONSTRAINTS, "loss": [StrOptions({"log_loss", "hinge"})]}


class RowPrivateEstimator(RecordPrivateEstimator):
    """What the parameters of linear models that protect rows say in the same way everywhere."""

    # Parameters of the constructors of subclasses; those that lack `classes` are regressors.
    alpha: float
    fit_intercept: bool
    epsilon: float
    adjacency: str
    data_norm: float | None
    classes: object
    # A fit publishes this.
    n_features_in_: int
    # The mixins of regressors and of classifiers give these.
    _loss: Callable
    _in_units: Callable
    _half_width: Callable
    _has_given_bounds: Callable
    _set_coefs: Callable

    def _preview(self, n_rows, n_features, n_outputs=1, *, by_group=False):
        return super()._preview(n_rows, n_features, n_outputs, by_group=by_group)

    def _has_share_for_targets(self):
        """Return whether a fit may spend a share of its budget on where the targets lie."""
        return False

    def _learns_targets(self):
        """Return whether a fit learns where the targets lie."""
        return False

    def _read_targets(self, y, public_weight):
        """Return targets as training takes them, their units, and what records count."""
        targets, units = self._in_units(y)
        return targets, units, self._weigh(public_weight, len(targets), units, targets)

    def _weigh(self, public_weight, n_rows, classes=None, targets=None):
        """Return what records count, from the weights of rows and those of their classes."""
        of_rows, of_classes = check_public_weight(public_weight, n_rows), self._class_weight()
        return weigh(of_rows, class_weight=of_classes, classes=classes, targets=targets)

    def _class_weight(self):
        """Return the parameter `class_weight`, None for regressors, which have none."""
        return None

    def _weight_scale(self, n_outputs):
        """Return the public `WeightScale` of the weights of classes."""
        class_weight = self._class_weight()
        if class_weight is not None and self.classes is not None:
            weights_of_classes(class_weight, np.unique(np.asarray(self.classes)))
        return class_scale(class_weight, max(2, n_outputs))

    def _n_columns(self, n_features):
        """Return the number of columns of certified rows."""
        return n_features + bool(self.fit_intercept)


def weights_public(public_weight):
    """Return what weights of rows add to what a fit assumes public."""
    return () if public_weight is None else (WEIGHTS_STATED,)


class LinearRegressorMixin(CaptionMixin):
    """Targets, weights and predictions of a linear regressor."""

    # Rows may have several targets.
    _takes_several = True

    def _read(self, X, y, **checks):
        """Return X and y as scikit-learn's contract has them."""
        checks = {"multi_output": self._takes_several, "y_numeric": True, **checks}
        return validate_numbers(self, X, y, **checks)

    def _has_given_bounds(self):
        """Return whether targets are in a range that the caller gave."""
        return self.target_bounds is not None

    def _read_targets(self, y, public_weight):
        self._warn_of_targets()
        return super()._read_targets(y, public_weight)

    def _warn_of_targets(self):
        """Warn where nothing tells of the targets' scale, whatever they are."""
        if _UNIT_TARGETS in self._assumed():
            warn_user(NO_TARGET_BOUNDS)

    def _in_units(self, y):
        """Return targets of shape (n, k) as training takes them, and the units that they are in."""
        return self._within(as_targets(y), self._checked_bounds(), y.ndim == 1)

    def _within(self, targets, bounds, one_axis):
        """Return targets moved to bounds, or None's, as training takes them, and their units."""
        center, clip = self.fit_intercept, is_private(self)
        targets, *units = clip_targets(targets, bounds, center=center, clip=clip)
        moved = bounds is not None and clip
        return targets, TargetUnits(*units, one_axis, *([bounds] if moved else []))

    def _learns_targets(self):
        return self.target_bounds is None and is_private(self) and self._has_share_for_targets()

    def _planned_targets(self, budget, share, n_records, n_outputs):
        """Return the plan of ranges of targets, or None, and its share of mu^2."""
        if not self._learns_targets():
            return None, 0.0
        slack = rounding_slack(n_records, n_outputs, 1)
        ranges, spent = plan_targets(
            budget, share, n_rows=n_records, n_targets=n_outputs, slack=slack
        )
        if self.target_bounds is None and hardly_tells(ranges):
            warn_user(FEW_FOR_TARGETS)
        return ranges, spent

    def _learn_targets(self, rows, units, plan, run):
        """Move targets into the ranges that a plan learns, if any; return their units and the plan.

        See `BaseLinear`.
        """
        if plan.ranges is None:
            return units, plan
        bounds = self._learn_ranges(rows.of_targets(), plan.ranges, run)
        units = self._within(np.zeros((1, 1)), bounds, units.one_axis)[1]
        rows.move_targets(units)
        return units, plan

    def _learn_ranges(self, targets, plan, run):
        """Return the ends of the ranges that the releases of a `TargetsPlan` tell of."""
        return learn_targets(targets, plan=plan, run=run)

    def _half_width(self):
        """Return what targets are divided by."""
        return target_scale(self._checked_bounds(), center=self.fit_intercept)[1]

    def _checked_bounds(self):
        bounds = self.target_bounds
        return None if bounds is None else check_bounds(bounds, "target_bounds")

    def _assumed(self):
        """Return what the report says of the targets' scale."""
        assumed = super()._assumed()
        if self.target_bounds is None and is_private(self) and not self._learns_targets():
            assumed = (_UNIT_TARGETS, *assumed)
        return assumed

    def _set_coefs(self, coefs, bias, units):
        """Publish coefficients of shape (k, d) that were learnt from targets in units."""
        check_finite(coefs)
        coef = np.reshape(units.half_width, (-1, 1)) * coefs[:, : self.n_features_in_]
        # A column is one target, as for scikit-learn's Ridge, which has an array of one intercept.
        self.coef_ = coef[0] if len(coef) == 1 else coef
        self.intercept_ = 0.0
        if self.fit_intercept:
            intercept = units.midpoint + units.half_width * bias * coefs[:, -1]
            self.intercept_ = float(intercept[0]) if units.one_axis else intercept
        self.target_bounds_ = units.bounds

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = is_private(self)
        tags.input_tags.sparse = self._takes_sparse()
        tags.target_tags.multi_output = True
        return tags

    def predict(self, X):
        """Predict targets, clipped to ``target_bounds_``. Rows are not clipped.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predicted targets, in the units of the training targets.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        return self._targets_at(_linear(self, X))

    def _targets_at(self, values):
        """Return the predictions where linear functions of rows, with intercepts, are such."""
        inverse = INVERSE_LINKS[self._loss(1).link]
        with np.errstate(over="ignore"):
            return np.clip(inverse(values), *self.target_bounds_)

    def score(self, X, y, sample_weight=None):
        """Return the coefficient of determination R2. Computed without noise: not private.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            True targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights in the score.

        Returns
        -------
        score : float
            R2 of the predictions.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X or y don't fit the estimator; no message quotes an entry of the data.
        """
        return quietly(super().score, X, y, sample_weight)


def _estimates_probabilities(estimator):
    if not estimator._has_log_loss():
        raise AttributeError("predict_proba is available for loss='log_loss' only.")
    return True


class LinearClassifierMixin(CaptionMixin):
    """Weights, decision values, predictions and probabilities of a linear classifier."""

    def _read(self, X, y, **checks):
        """Return X and y as scikit-learn's contract has them."""
        return validate_numbers(self, X, y, **checks)

    def _class_weight(self):
        return self.class_weight

    def _has_given_bounds(self):
        """Return whether targets are in a range: labels are."""
        return True

    def _has_log_loss(self):
        """Return whether scores are logarithms of odds, as those of estimators of one loss are."""
        return True

    def _in_units(self, y):
        """Return labels as training takes them, and the classes in the place of units."""
        classes, targets = encode_labels(y, self.classes)
        return targets, classes

    def _set_coefs(self, coefs, bias, classes):
        """Publish coefficients of shape (k, d), the intercept's column last where there is one."""
        check_finite(coefs)
        self.classes_ = classes
        self.coef_ = coefs[:, : self.n_features_in_].copy()
        self.intercept_ = np.zeros(coefs.shape[0])
        if bias:
            self.intercept_ = bias * coefs[:, -1]

    def _half_width(self):
        """Return what labels are divided by."""
        return 1.0

    def _assumed(self):
        """Return what the report says of the class set."""
        assumed = super()._assumed()
        return (CLASSES_READ, *assumed) if self.classes is None else assumed

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = is_private(self)
        tags.input_tags.sparse = self._takes_sparse()
        return tags

    def decision_function(self, X):
        """Compute the signed decision value of each class. Rows are not clipped.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            ``X @ coef_.T + intercept_``; with two classes, a positive value means ``classes_[1]``.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        return as_scores(_linear(self, X))

    def predict(self, X):
        """Predict class labels. Rows are not clipped.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted labels.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        return labels_of(self.decision_function(X), self.classes_)

    def score(self, X, y, sample_weight=None):
        """Return the accuracy. Computed without noise: not private.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights in the score.

        Returns
        -------
        score : float
            Share of correct predictions.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X or y don't fit the estimator; no message quotes an entry of the data.
        """
        return quietly(super().score, X, y, sample_weight)

    @available_if(_estimates_probabilities)
    def predict_proba(self, X):
        """Estimate class probabilities; for the logistic loss only.

        With several classes they are the softmax of the decision values.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.

        Raises
        ------
        AttributeError
            If the loss is another one.
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        return as_probabilities(self.decision_function(X))

    @available_if(_estimates_probabilities)
    def predict_log_proba(self, X):
        """Estimate logarithms of class probabilities; for the logistic loss only.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.

        Raises
        ------
        AttributeError
            If the loss is another one.
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        return logarithms_of(self.predict_proba(X))


def as_scores(values):
    """Return linear functions of rows, of shape (n, k), as scores: of two classes there is one."""
    return values[:, 0] if values.shape[1] == 1 else values


def labels_of(scores, classes):
    """Return the labels that decision values tell."""
    indices = (scores > 0.0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
    return classes[indices]


@np.errstate(divide="ignore")
def logarithms_of(probabilities):
    """Return the logarithms of probabilities, which may be 0."""
    return np.log(probabilities)


def _linear(estimator, X):
    check_is_fitted(estimator)
    # Sparse, whatever its fit takes.
    X = validate_numbers(estimator, X, accept_sparse="csr", reset=False)
    # A matrix product would give a row other last bits where others come before it. Where records
    # are groups of rows, a row that one of them has more would move predictions of others.
    with np.errstate(all="ignore"):
        products = [by_row(X, np.ascontiguousarray(w)) for w in np.atleast_2d(estimator.coef_)]
        products = products[0] if estimator.coef_.ndim == 1 else np.column_stack(products)
        return products + estimator.intercept_


def public_feature_bounds(estimator, n_features):
    """Return the ranges (low, high) that an estimator's `feature_bounds` stands for."""
    bounds = estimator.feature_bounds
    if bounds is None:
        norm = estimator.data_norm
        reach = 1.0 if norm is None else check_positive(norm, "data_norm")
        bounds = (-reach, reach)
    return check_feature_bounds(bounds, n_features)
