"""The duality gap: a bound on the distance of a fitted model from the optimum of its objective."""

import numpy as np
from scipy.optimize import minimize
from sklearn.utils.validation import check_is_fitted

from skdp._ball._solver import inside
from skdp._checks import check_bounds
from skdp._estimator import is_private
from skdp._families.losses import LOSSES
from skdp._families.targets import as_targets, clip_targets, encode_labels
from skdp._families.weights import joint_weights
from skdp._rows.bounds import clip_rows
from skdp._rows.numbers import validate_numbers
from skdp._sklearn import in_order_of_rows
from skdp.linear_model import DPSCDClassifier, DPSCDRegressor
from skdp.linear_model._fit import published_ball
from skdp.linear_model._row_bounds import public_feature_bounds

_BLOCK_ROWS = 4096
_OVERFLOWED = "The gap overflowed: scale the features and targets to moderate size."
# Steps that look for a better dual variable where the loss has a corner. Each takes two products
# with the rows; every one gives a valid bound, so stopping early makes it looser and no less true.
_CORNER_STEPS = 500
# On both sides of a dual variable, for the slope of its conjugate.
_NEAR = 1e-4


@in_order_of_rows
def duality_gap(estimator, X, y, public_weight=None):
    r"""Bound the suboptimality of a fitted DP-SCD model; **not private**.

    **The result is computed from the data without noise**: no guarantee of the estimator covers it.
    Publishing it, or using it to choose anything that is published, spends privacy that no report
    counts. Use it for public data and tests, or if you may see the data anyway.

    The gap is for the objective that `fit` minimises, on the rows that `fit` used: clipped to
    `data_norm` (unless ``epsilon=inf``), with the intercept's penalised column, and with targets in
    the units that `target_bounds` gives them, or about their mean if ``epsilon=inf`` and the fit
    would learn these bounds otherwise. Given the training data, the suboptimality of the
    model is between 0 and the gap, and both are 0 at the optimum.

    Parameters
    ----------
    estimator : DPSCDClassifier or DPSCDRegressor
        A fitted estimator whose parameters are those of its fit.
    X : array-like of shape (n_samples, n_features)
        Rows of the objective, usually the training rows.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Their labels or targets.
    public_weight : array-like of shape (n_samples,), default=None
        The weights that were given to `fit`; weights of classes are those of the estimator.

    Returns
    -------
    gap_not_private : float or ndarray of shape (n_outputs,)
        One gap for each row of ``coef_``: a float for one target or two classes, an array for
        several targets or classes. Never negative.

    Raises
    ------
    TypeError
        If the estimator is of another class.
    NotFittedError
        If the estimator isn't fitted.
    ValueError
        If X or y don't fit the estimator, or the gap is too large for a number.

    See Also
    --------
    skdp.linear_model.DPSCDClassifier : Private classification.
    skdp.linear_model.DPSCDRegressor : Private ridge regression.

    Notes
    -----
    Equation 4 of [1]_. With :math:`v = \sum_i a_i x_i`, for any dual variable a,

    .. math::

        P(\theta) &= \frac{1}{n} \sum_i \ell_i(x_i^\top \theta)
                     + \frac{\alpha}{2} \|\theta\|^2 , \\
        D(a) &= -\frac{1}{n} \sum_i \ell_i^*(-a_i) - \frac{\|v\|^2}{2 \alpha n^2}
                \le \min_\theta P , \\
        P(\theta) - D(a) &= \frac{1}{n} \sum_i \left[ \ell_i(x_i^\top \theta)
                \!+\! \ell_i^*(-a_i) \!+\! a_i x_i^\top \theta \right]
                + \frac{\alpha}{2} \left\| \theta - \frac{v}{\alpha n} \right\|^2 .

    The last form is computed, because none of its terms is negative. The dual variable of the fit
    is not kept, because it would be private. The one used here is :math:`a_i = -\ell_i'(x_i^\top
    \theta)`, for which the bracket is 0 and the gap is the squared norm of the gradient over
    :math:`2 \alpha`. For the hinge loss it is the start of a search, because rows at the corner may
    have any a between the two slopes: a quasi-Newton method over the box of feasible a makes the
    gap smaller.

    References
    ----------
    .. [1] Damaskinos, Mendler-Dunner, Guerraoui, Papandreou and Parnell (2021). Differentially
       private stochastic coordinate descent. AAAI. Equation 4.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from skdp.inspection import duality_gap
    >>> from skdp.linear_model import DPSCDClassifier
    >>> X, y = make_classification(n_samples=1000, n_features=5, random_state=0)
    >>> model = DPSCDClassifier(epsilon=float("inf"), alpha=0.01, max_iter=50, average=False)
    >>> duality_gap(model.fit(X, y), X, y) < 1e-6
    True
    """
    rows, targets, loss, coefs, counted = _internal_problem(estimator, X, y, public_weight)
    with np.errstate(all="ignore"):
        gaps = [
            _gap(rows, target, loss, theta, estimator.alpha, counted)
            for target, theta in zip(targets.T, coefs, strict=True)
        ]
    if not np.isfinite(gaps).all():
        raise ValueError(_OVERFLOWED)
    return gaps[0] if len(gaps) == 1 else np.array(gaps)


def _internal_problem(estimator, X, y, public_weight):
    """Return rows, targets (n, k), loss, coefficients (k, d) and weights (n,) of the solver."""
    if not isinstance(estimator, DPSCDClassifier | DPSCDRegressor):
        kind = type(estimator).__name__
        raise TypeError(f"duality_gap supports DPSCDClassifier and DPSCDRegressor, got {kind}.")
    check_is_fitted(estimator)
    X, targets, midpoint, half_width = _read(estimator, X, y)
    loss = LOSSES[getattr(estimator, "loss", "squared_error")]
    private = is_private(estimator)
    ball = published_ball(estimator)
    rows = estimator._method().row_bounds.place(ball, X, np.zeros(X.shape[0], dtype=bool))
    if ball is not None and not rows.weight.all():
        raise ValueError(_OVERFLOWED)
    if estimator.solver == "primal" and private:
        # That solver clips values too.
        n_rows, n_features = X.shape
        low, high = public_feature_bounds(estimator, n_features)
        X = np.clip(rows.augmented(np.arange(n_rows))[:, :n_features], low, high)
        rows = clip_rows(
            X, data_norm=estimator.data_norm, fit_intercept=estimator.fit_intercept, clip=False
        )
    classes = getattr(estimator, "classes_", None)
    family = estimator._family()
    weights = family.weigh(public_weight, X.shape[0], classes, targets)
    if family.takes_means_off:
        midpoint = np.average(targets, axis=0, weights=weights.expand(X.shape[0]))
        targets = targets - midpoint
    # The solver's are in the units of the scaled targets and of the intercept's column.
    coefs = np.atleast_2d(estimator.coef_) / np.reshape(half_width, (-1, 1))
    if rows.bias:
        intercept = (np.atleast_1d(estimator.intercept_) - midpoint) / (half_width * rows.bias)
        coefs = np.column_stack([coefs, intercept])
    if targets.shape[1] != coefs.shape[0]:
        raise ValueError(f"y has {targets.shape[1]} outputs, but the fit had {coefs.shape[0]}.")
    counted = joint_weights(weights.expand(X.shape[0]), rows.weight)
    return rows, targets, loss, inside(ball, coefs, rows.bias), counted


def _read(estimator, X, y):
    """Return X and the targets (n, k) with the midpoint and half width that they are scaled by."""
    regression = isinstance(estimator, DPSCDRegressor)
    X, y = validate_numbers(
        estimator, X, y, order="C", multi_output=regression, y_numeric=regression, reset=False
    )
    if not regression:
        return X, encode_labels(y, estimator.classes_)[1], 0.0, 1.0
    bounds = estimator.target_bounds
    if bounds is not None:
        bounds = check_bounds(bounds, "target_bounds")
    elif np.isfinite(estimator.target_bounds_).all():
        bounds = estimator.target_bounds_
    clip = is_private(estimator)
    return X, *clip_targets(as_targets(y), bounds, center=estimator.fit_intercept, clip=clip)


def _gap(rows, y, loss, theta, alpha, counted):
    """Return the gap of one output, smallest over the dual variables that are looked at.

    A loss times w has w times the dual variable of the loss, which is what is looked at.
    """
    n = y.size
    predictions = _predictions(rows, theta)
    value = loss.value(y, predictions)

    def gap_and_residual(dual):
        v = sum((counted * dual)[block] @ x for block, x in _blocks(rows))
        residual = theta - v / (alpha * n)
        # Rounding may make a bracket negative.
        brackets = np.maximum(value + loss.conjugate(y, dual) + dual * predictions, 0.0)
        return (counted * brackets).mean() + 0.5 * alpha * residual @ residual, residual

    start = -loss.gradient(y, predictions)
    smallest, _ = gap_and_residual(start)
    if smallest == 0.0 or np.isfinite(loss.smoothness):
        return float(smallest)
    low, high = (loss.feasible(y, np.full(n, end)) for end in (-np.inf, np.inf))

    def relative(dual):
        gap, residual = gap_and_residual(dual)
        below, above = np.maximum(dual - _NEAR, low), np.minimum(dual + _NEAR, high)
        slope = (loss.conjugate(y, above) - loss.conjugate(y, below)) / (above - below)
        slope += predictions - _predictions(rows, residual)
        return gap / smallest, counted * slope / (n * smallest)

    box = np.column_stack([low, high])
    options = {"maxiter": _CORNER_STEPS, "maxfun": 2 * _CORNER_STEPS, "ftol": 0.0, "gtol": 0.0}
    minimum = minimize(relative, start, jac=True, method="L-BFGS-B", bounds=box, options=options)
    gap, _ = gap_and_residual(loss.feasible(y, minimum.x))
    return float(min(gap, smallest))


def _blocks(rows):
    """Yield the indices of some rows and their certified values, the intercept's included."""
    indices = np.arange(rows.X.shape[0])
    for start in range(0, indices.size, _BLOCK_ROWS):
        block = indices[start : start + _BLOCK_ROWS]
        yield block, rows.augmented(block)


def _predictions(rows, theta):
    """Return x_i . theta for every row."""
    return np.concatenate([x @ theta for _, x in _blocks(rows)])
