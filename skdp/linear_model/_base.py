"""What linear models share: predictions, labels, and how coefficients are published."""

from collections.abc import Callable
from numbers import Integral, Real

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skdp._checks import (
    check_bounds,
    check_finite,
)
from skdp._estimator import BUDGET_CONSTRAINTS, is_private
from skdp._families.family import Family
from skdp._families.labels import LabelFamily
from skdp._families.losses import INVERSE_LINKS, LOSSES, as_probabilities
from skdp._families.means import MeanFamily
from skdp._families.weights import WEIGHTS_STATED
from skdp._rows.numbers import validate_numbers
from skdp._rows.rows_in_ball import by_row
from skdp._sklearn import Interval, StrOptions, quietly

# Numbers whose squares and products stay far from the ends of double precision.
POSITIVE = Interval(Real, 1e-30, 1e30, closed="both")

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


def checked_target_bounds(bounds):
    """Return the pair that a parameter `target_bounds` stands for, or None."""
    return None if bounds is None else check_bounds(bounds, "target_bounds")


def weights_public(public_weight):
    """Return what weights of rows add to what a fit assumes public."""
    return () if public_weight is None else (WEIGHTS_STATED,)


def publish(model, attributes, *, sometimes=()):
    """Set attributes of a fit by their names, and forget those that only an earlier fit has.

    `sometimes` are the names of those that not every fit has.
    """
    for name in sometimes:
        vars(model).pop(name, None)
    for name, value in attributes.items():
        setattr(model, name, value)


def publish_linear(model, family, linear, units):
    """Publish a `LinearModel` that was learnt of targets in such units, and what these tell."""
    model.coef_, model.intercept_ = linear.coef, linear.intercept
    publish(model, family.attributes(linear, units))


def publish_coefs(model, family, coefs, bias, units):
    """Publish coefficients of shape (k, d) as users have them: return them as a `LinearModel`.

    The intercept's column is the last, where there is one, and its constant is `bias`.
    """
    check_finite(coefs)
    linear = family.linear_model(coefs, bias, units, model.n_features_in_)
    publish_linear(model, family, linear, units)
    return linear


def mean_family(model, *, has_exposure=False):
    """Return the `MeanFamily` of squared errors that a regressor's parameters ask for."""
    return MeanFamily(
        own_loss=LOSSES["squared_error"],
        bounds=checked_target_bounds(model.target_bounds),
        centred=model.fit_intercept,
        may_learn=model._method().share_of_ball != 0,
        is_private=is_private(model),
        has_exposure=has_exposure,
    )


class LinearRegressorMixin:
    """Targets, weights and predictions of a linear regressor."""

    # Parameters of the constructors of subclasses, and the method that these make of them.
    target_bounds: object
    fit_intercept: bool
    _method: Callable
    _takes_sparse: Callable

    def _family(self, *, has_exposure=False) -> Family:
        """Return what the loss is to a fit, as a `Family`: here that of squared errors."""
        return mean_family(self, has_exposure=has_exposure)

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
        return targets_at(linear_predictions(self, X), "identity", self.target_bounds_)

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
    if not estimator._family().has_probabilities:
        raise AttributeError("predict_proba is available for loss='log_loss' only.")
    return True


class LinearClassifierMixin:
    """Weights, decision values, predictions and probabilities of a linear classifier."""

    # A parameter of the constructors of subclasses.
    classes: object
    _takes_sparse: Callable
    # Estimators without this parameter weigh all classes alike.
    class_weight = None

    def _family(self, *, has_exposure=False) -> Family:
        """Return what the loss is to a fit, as a `Family`: each class against others."""
        return LabelFamily(
            classes=self.classes,
            class_weight=self.class_weight,
            is_private=is_private(self),
            has_exposure=has_exposure,
        )

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
        return as_scores(linear_predictions(self, X))

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


def targets_at(values, link, ends):
    """Return predictions, between ends, where linear functions of rows have such values."""
    inverse = INVERSE_LINKS[link]
    with np.errstate(over="ignore"):
        return np.clip(inverse(values), *ends)


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


def linear_predictions(estimator, X):
    """Return the linear functions of rows that a fit published."""
    check_is_fitted(estimator)
    # Sparse, whatever its fit takes.
    X = validate_numbers(estimator, X, accept_sparse="csr", reset=False)
    # A matrix product would give a row other last bits where others come before it. Where records
    # are groups of rows, a row that one of them has more would move predictions of others.
    with np.errstate(all="ignore"):
        products = [by_row(X, np.ascontiguousarray(w)) for w in np.atleast_2d(estimator.coef_)]
        products = products[0] if estimator.coef_.ndim == 1 else np.column_stack(products)
        return products + estimator.intercept_
