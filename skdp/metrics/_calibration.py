"""Private calibration curves."""

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from sklearn.calibration import CalibrationDisplay

from skdp._bounds import clip_scores
from skdp._solvers._histogram import Axis
from skdp.accountant import PrivacyReport
from skdp.metrics import _statistics as statistics
from skdp.metrics._release import (
    CONSTRAINTS,
    Request,
    check_lengths,
    probabilities,
    read_labels,
    two_classes,
)
from skdp.utils._sklearn import Interval, validate_params

# A bin is shown where it has more records than so many standard deviations of its noise.
_SEEN = 3.0


@dataclass(frozen=True, eq=False)
class PrivateCalibrationCurve:
    """A private calibration curve.

    Parameters
    ----------
    prob_true : ndarray of shape (n_bins,)
        Share of the second class in each bin that has enough records to be seen.
    prob_pred : ndarray of shape (n_bins,)
        Middles of these bins, which are public.
    low, high : ndarray of shape (n_bins,)
        Intervals for the share in the population, of each bin by itself.
    report : skdp.accountant.PrivacyReport
        The guarantee.

    Raises
    ------
    ValueError
        If the arrays differ in length.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skdp.metrics import private_calibration_curve
    >>> X, y = make_classification(n_samples=2000, random_state=0)
    >>> model = LogisticRegression().fit(X[:1000], y[:1000])
    >>> curve = private_calibration_curve(model, X[1000:], y[1000:], epsilon=1.0, random_state=0)
    >>> curve.prob_pred[:3]
    array([0.05, 0.15, 0.25])
    """

    prob_true: np.ndarray
    prob_pred: np.ndarray
    low: np.ndarray
    high: np.ndarray
    report: PrivacyReport

    def __post_init__(self):
        check_lengths(self.prob_true, self.prob_pred, self.low, self.high)

    def display(self):
        """Give the curve to scikit-learn.

        Returns
        -------
        display : sklearn.calibration.CalibrationDisplay
            Its `plot` draws the curve, and needs matplotlib. It knows no single probabilities,
            so that its `y_prob` is `prob_pred`.

        Raises
        ------
        TypeError
            If the arrays are none.
        """
        return CalibrationDisplay(self.prob_true, self.prob_pred, self.prob_pred)


@validate_params(
    CONSTRAINTS | {"n_bins": [Interval(Integral, 1, 1000, closed="both")]},
    prefer_skip_nested_validation=True,
)
def private_calibration_curve(
    estimator,
    X,
    y,
    *,
    epsilon,
    delta=0.0,
    adjacency="zero_out",
    mechanism="auto",
    groups=None,
    n_bins=10,
    level=0.95,
    random_state=None,
    ledger=None,
):
    """Compare predicted probabilities of private records with what came true.

    **Guarantee.** As of :func:`private_score`.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier of two classes that predicts each row by itself, with `predict_proba`.
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
    n_bins : int, default=10
        Bins of equal width of the probability of the second class.
    level : float, default=0.95
        Level of the interval of each bin.
    random_state : int, RandomState instance or None, default=None
        See :func:`private_score`.
    ledger : str, PathLike, PrivacyLedger or None, default=None
        Where the release is charged; see :mod:`skdp.ledger`.

    Returns
    -------
    curve : PrivateCalibrationCurve
        With the fields prob_true, prob_pred, low, high and report. Bins that have hardly more
        records than noise are left out.

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
    >>> from skdp.metrics import private_calibration_curve
    >>> X, y = make_classification(n_samples=2000, random_state=0)
    >>> model = LogisticRegression().fit(X[:1000], y[:1000])
    >>> curve = private_calibration_curve(model, X[1000:], y[1000:], epsilon=1.0, random_state=0)
    >>> bool((curve.low <= curve.prob_true).all() and (curve.prob_true <= curve.high).all())
    True
    """
    name, design = "private_calibration_curve", {"n_bins": n_bins, "level": level}
    how = {"design": design, "groups": groups}
    request = Request(name, epsilon, delta, adjacency, mechanism, random_state, ledger, **how)
    classes, codes = read_labels(estimator, X, y)
    two_classes(classes, "a calibration curve")
    predicted = clip_scores(probabilities(estimator, X, 2)[:, 1], 0.0, 1.0)
    axes = [Axis(codes, 2, "down"), Axis(n_bins * predicted, n_bins, "down")]
    (released,) = request.count(axes)
    negative, positive = released.counts.astype(np.float64)
    totals, noise = negative + positive, released.noise_std
    seen = totals > max(_SEEN * np.sqrt(2.0) * noise, 0.5)
    share = np.clip(positive[seen] / totals[seen], 0.0, 1.0)
    ends = [
        # The noise of both counts, where the share is p, is that of (1 - p) and p times them.
        statistics.proportion_interval(
            p, total, ((1.0 - p) ** 2 + p**2) * (noise / total) ** 2, level
        )
        for p, total in zip(share, totals[seen], strict=True)
    ]
    low, high = np.array(ends).reshape(-1, 2).T
    middles = (np.arange(n_bins)[seen] + 0.5) / n_bins
    return PrivateCalibrationCurve(share, middles, low, high, released.report)
