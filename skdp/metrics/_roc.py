"""Private ROC curves."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import logit
from sklearn.metrics import RocCurveDisplay

from skdp.accountant import PrivacyReport
from skdp.metrics import _statistics as statistics
from skdp.metrics._release import (
    BINS,
    CONSTRAINTS,
    Request,
    check_lengths,
    ranks_by_probability,
    ungrade,
)
from skdp.metrics._score import PrivateScore
from skdp.metrics._scorings import roc_axes
from skdp.utils._sklearn import validate_params


@dataclass(frozen=True, eq=False)
class PrivateRocCurve:
    """A private ROC curve.

    Parameters
    ----------
    fpr, tpr : ndarray of shape (n_thresholds,)
        Shares of both classes at or above each threshold, made to rise as they must.
    thresholds : ndarray of shape (n_thresholds,)
        Public thresholds of the probability, or without one of the decision value, falling.
    roc_auc : PrivateScore
        The area under the curve, with its interval. It comes from the counts as they are, and not
        from the curve that was made to rise.
    report : skdp.accountant.PrivacyReport
        The guarantee of curve and area together.

    Raises
    ------
    ValueError
        If the arrays differ in length.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skdp.metrics import private_roc_curve
    >>> X, y = make_classification(n_samples=2000, random_state=0)
    >>> model = LogisticRegression().fit(X[:1000], y[:1000])
    >>> curve = private_roc_curve(model, X[1000:], y[1000:], epsilon=1.0, random_state=0)
    >>> type(curve.display()).__name__
    'RocCurveDisplay'
    """

    fpr: np.ndarray
    tpr: np.ndarray
    thresholds: np.ndarray
    roc_auc: PrivateScore
    report: PrivacyReport

    def __post_init__(self):
        check_lengths(self.fpr, self.tpr, self.thresholds)

    def display(self):
        """Give the curve to scikit-learn.

        Returns
        -------
        display : sklearn.metrics.RocCurveDisplay
            Its `plot` draws the curve, and needs matplotlib.

        Raises
        ------
        TypeError
            If the area is no number.
        """
        return RocCurveDisplay(fpr=self.fpr, tpr=self.tpr, roc_auc=float(self.roc_auc))


@validate_params(CONSTRAINTS | {"bins": BINS}, prefer_skip_nested_validation=True)
def private_roc_curve(
    estimator,
    X,
    y,
    *,
    epsilon,
    delta=0.0,
    adjacency="zero_out",
    mechanism="auto",
    groups=None,
    bins="auto",
    level=0.95,
    random_state=None,
    ledger=None,
):
    """Draw a ROC curve from private records.

    **Guarantee.** As of :func:`private_score`: curve and area come from one release.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier of two classes that predicts each row by itself, with `predict_proba` or
        `decision_function`.
    X : array-like of shape (n_samples, n_features)
        Rows, as the estimator takes them.
    y : array-like of shape (n_samples,)
        Their labels, which must be among ``estimator.classes_``.
    epsilon : float
        Privacy loss, above 0. ``float("inf")`` adds no noise.
    delta : float, default=0.0
        Probability, in [0, 1), that the loss may exceed `epsilon`.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        What the guarantee compares; see :func:`private_score`.
    mechanism : {"auto", "laplace", "gaussian"}, default="auto"
        Noise; see :func:`private_score`.
    groups : array-like of shape (n_samples,), default=None
        See :func:`private_score`.
    bins : int or "auto", default="auto"
        Bins of the score, whose ends are the thresholds; "auto" follows from public numbers.
    level : float, default=0.95
        Level of the interval of the area.
    random_state : int, RandomState instance or None, default=None
        See :func:`private_score`.
    ledger : str, PathLike, PrivacyLedger or None, default=None
        Where the release is charged; see :mod:`skdp.ledger`.

    Returns
    -------
    curve : PrivateRocCurve
        With the fields fpr, tpr, thresholds, roc_auc and report.

    Raises
    ------
    ValueError
        If a parameter or the input is invalid, or the estimator doesn't fit them; no message quotes
        an entry of the data. If a group has several rows.
    TypeError
        If X or y is of a kind that can't be read, or an id can't be hashed.
    skdp.exceptions.LedgerError
        If there is a ledger, and it doesn't take this release.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skdp.metrics import private_roc_curve
    >>> X, y = make_classification(n_samples=2000, random_state=0)
    >>> model = LogisticRegression().fit(X[:1000], y[:1000])
    >>> curve = private_roc_curve(model, X[1000:], y[1000:], epsilon=1.0, random_state=0)
    >>> float(curve.fpr[0]), float(curve.tpr[-1])
    (0.0, 1.0)
    """
    name, design = "private_roc_curve", {"bins": bins, "level": level}
    how = {"design": design, "groups": groups}
    request = Request(name, epsilon, delta, adjacency, mechanism, random_state, ledger, **how)
    axes = roc_axes(estimator, X, y, bins, request.noise_std)
    (released,) = request.count(axes)
    shares, n_bins = released.shares, axes[1].size
    area = statistics.RocAuc((2, n_bins)).interval(shares, level)
    fpr, tpr = (_rising(share) for share in shares.values)
    thresholds = ungrade(np.arange(n_bins, -1, -1) / n_bins)
    if not ranks_by_probability(estimator):
        with np.errstate(divide="ignore"):
            thresholds = logit(thresholds)
    score = PrivateScore(*area, released.report, level, "roc_auc")
    return PrivateRocCurve(fpr, tpr, thresholds, score, released.report)


def _rising(share):
    """Return shares at or above each bin, from the last one on, as part of all; rising."""
    above = np.concatenate([[0.0], np.cumsum(share[::-1])])
    above = isotonic_regression(above).x
    above -= above[0]
    return above / above[-1] if above[-1] > 0.0 else np.linspace(0.0, 1.0, above.size)
