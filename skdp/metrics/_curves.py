"""Private curves and tables of a classifier."""

from dataclasses import dataclass
from inspect import signature
from numbers import Integral

import numpy as np
from scipy.optimize import isotonic_regression
from sklearn.calibration import CalibrationDisplay
from sklearn.metrics import ConfusionMatrixDisplay, RocCurveDisplay

from skdp._rows.bounds import clip_scores
from skdp._sklearn import Interval, validate_params
from skdp.accountant import PrivacyReport
from skdp.metrics import _scorings as scorings, _statistics as statistics, _tuned as tuned
from skdp.metrics._plan import caption_of
from skdp.metrics._release import BINS, CONSTRAINTS, count_records, plan_counting
from skdp.metrics._score import PrivateScore
from skdp.metrics._solver import Axis
from skdp.metrics._thresholds import thresholds_at

# scikit-learn 1.6 has another name for it.
_ROC_NAME = "name" if "name" in signature(RocCurveDisplay).parameters else "estimator_name"


def _legend(curve):
    """Return what a curve counts of groups in lines that fit into a figure, or None."""
    counted = caption_of(curve)
    return None if counted is None else ",\n".join(counted.rsplit(", ", 1))


def _check_lengths(*arrays):
    """Refuse arrays of a curve of different lengths."""
    if len({np.shape(array) for array in arrays}) != 1:
        raise ValueError("the arrays of a curve must be of one length.")


def _figure_of(display):
    """Return the figure of a display, which no window shows."""
    # Only pages need it.
    from matplotlib.figure import Figure

    figure = Figure()
    display.plot(ax=figure.add_subplot())
    return figure


@dataclass(frozen=True, eq=False)
class PrivateRocCurve:
    """A private ROC curve.

    Parameters
    ----------
    fpr, tpr : ndarray of shape (n_thresholds,)
        Shares of both classes at or above each threshold, made increasing.
    thresholds : ndarray of shape (n_thresholds,)
        Public thresholds of the probability, or of the decision value where there is no
        probability, in decreasing order.
    roc_auc : PrivateScore
        The area under the curve, with its interval. It is computed from the unmodified counts, not
        from the increasing curve.
    report : skdp.accountant.PrivacyReport
        The guarantee of curve and area together.
    average_over : str, default="rows"
        What counts alike: "rows", or "groups", of each of which one row was counted.
    rows_per_group : int, default=None
        Of rows of groups, how many of a group were counted at most. With None all were.

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
    average_over: str = "rows"
    rows_per_group: int | None = None

    def __post_init__(self):
        _check_lengths(self.fpr, self.tpr, self.thresholds)

    def _page_parts(self):
        """Return what a page shows: a figure."""
        return (_figure_of(self.display()),)

    def display(self):
        """Return the curve as a display of scikit-learn.

        Returns
        -------
        display : sklearn.metrics.RocCurveDisplay
            Its `plot` draws the curve, and needs matplotlib.

        Raises
        ------
        TypeError
            If the area isn't a number.
        """
        name = {_ROC_NAME: _legend(self)}
        return RocCurveDisplay(fpr=self.fpr, tpr=self.tpr, roc_auc=float(self.roc_auc), **name)


@validate_params(CONSTRAINTS | {"bins": BINS}, prefer_skip_nested_validation=True)
def private_roc_curve(
    estimator,
    X,
    y,
    *,
    epsilon,
    delta="auto",
    adjacency="zero_out",
    mechanism="auto",
    groups=None,
    average_over="rows",
    rows_per_group="auto",
    bins="auto",
    level=0.95,
    random_state=None,
    ledger=None,
):
    """Draw a ROC curve from private records.

    **Guarantee.** As for :func:`private_score`: curve and area come from one release.

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
    delta : float or "auto", default="auto"
        Probability, in [0, 1), that the loss may exceed `epsilon`. With 0 the guarantee is pure,
        and for a single release the noise is mostly the smallest. "auto" is 0 without a ledger.
        With one, whose charge for 0 is mostly far more than `epsilon`, it is the delta of the
        ledger's budget; it stays 0 for ``mechanism="laplace"``, and where the pure release costs
        the ledger less, as it does for large deltas. The report states the delta that was used.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring; see :func:`private_score`.
    mechanism : {"auto", "laplace", "gaussian"}, default="auto"
        Noise; see :func:`private_score`.
    groups : array-like of shape (n_samples,), default=None
        See :func:`private_score`.
    average_over : {"rows", "groups"}, default="rows"
        What counts alike: "rows", as in a fit with `groups`, up to `rows_per_group` of a group, or
        "groups", of each of which one row is counted, drawn at random; see :func:`private_score`.
    rows_per_group : int or "auto", default="auto"
        Largest number of rows of a group that are counted; see :func:`private_score`.
    bins : int or "auto", default="auto"
        Bins of the score, whose ends are the thresholds; "auto" follows from public numbers.
    level : float, default=0.95
        Level of the interval of the area.
    random_state : int, RandomState instance or None, default=None
        See :func:`private_score`.
    ledger : str, PathLike, PrivacyLedger or None, default=None
        Ledger to which the release is charged; see :mod:`skdp.ledger`.

    Returns
    -------
    curve : PrivateRocCurve
        With the fields fpr, tpr, thresholds, roc_auc and report.

    Raises
    ------
    ValueError
        If a parameter or the input is invalid, or the estimator doesn't fit them; no message quotes
        an entry of the data.
    TypeError
        If X or y is of a kind that can't be read, or an id can't be hashed.
    skdp.exceptions.LedgerError
        If there is a ledger, and it refuses this release.

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
    counting = plan_counting(
        "private_roc_curve",
        epsilon,
        delta,
        adjacency,
        mechanism,
        design={"bins": bins, "level": level},
        groups=groups,
        average_over=average_over,
        rows_per_group=rows_per_group,
        ledger=ledger,
    )
    options = scorings.Options(
        bins=bins, noise_std=counting.noise_std, n_records=counting.n_records
    )
    axes = scorings.roc_axes(estimator, X, y, options)
    (released,) = count_records([axes], counting, random_state)
    shares, n_bins = released.shares, axes[1].size
    area = statistics.roc_auc(shares, level=level)
    fpr, tpr = (_rising(share) for share in shares.values)
    thresholds = thresholds_at(np.arange(n_bins, -1, -1) / n_bins, estimator)
    averaged, counted = counting.average_over, counting.rows_counted
    score = PrivateScore(
        *area, released.report, level, "roc_auc", average_over=averaged, rows_per_group=counted
    )
    return PrivateRocCurve(
        fpr,
        tpr,
        thresholds,
        score,
        released.report,
        average_over=averaged,
        rows_per_group=counted,
    )


def _rising(share):
    """Return shares at or above each bin, from the last one on, as part of all; rising."""
    above = np.concatenate([[0.0], np.cumsum(share[::-1])])
    above = isotonic_regression(above).x
    above -= above[0]
    return above / above[-1] if above[-1] > 0.0 else np.linspace(0.0, 1.0, above.size)


@dataclass(frozen=True, eq=False)
class PrivateConfusionMatrix:
    """A private confusion matrix.

    Parameters
    ----------
    matrix : ndarray of shape (n_classes, n_classes)
        Noisy counts, with a row for each true class. They are unbiased integers, and sometimes
        below 0, so sums of them are unbiased, too. The display has no counts below 0.
    labels : ndarray of shape (n_classes,)
        Classes in the order of rows and columns.
    noise_std : float
        Standard deviation of the noise of each count.
    report : skdp.accountant.PrivacyReport
        The guarantee.
    average_over : str, default="rows"
        What counts alike: "rows", or "groups", of each of which one row was counted.
    rows_per_group : int, default=None
        Of rows of groups, how many of a group were counted at most. With None all were.

    Raises
    ------
    ValueError
        If the matrix isn't square, with a row for each label.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skdp.metrics import private_confusion_matrix
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X[::2], y[::2])
    >>> found = private_confusion_matrix(model, X[1::2], y[1::2], epsilon=2.0, random_state=0)
    >>> found.matrix.shape, f"{found.noise_std:.2f}"
    ((3, 3), '0.60')
    """

    matrix: np.ndarray
    labels: np.ndarray
    noise_std: float
    report: PrivacyReport
    average_over: str = "rows"
    rows_per_group: int | None = None

    def __post_init__(self):
        n_labels = len(self.labels)
        if np.shape(self.matrix) != (n_labels, n_labels):
            raise ValueError("matrix must be square, with a row for each label.")

    def _page_parts(self):
        """Return what a page shows: a figure."""
        return (_figure_of(self.display()),)

    def display(self):
        """Return the matrix as a display of scikit-learn, with counts of at least 0.

        Returns
        -------
        display : sklearn.metrics.ConfusionMatrixDisplay
            Its `plot` draws the matrix, and needs matplotlib.

        Raises
        ------
        TypeError
            If the matrix doesn't hold numbers.
        """
        shown = np.maximum(np.rint(self.matrix), 0.0).astype(np.int64)
        return ConfusionMatrixDisplay(shown, display_labels=self.labels)


_WITHOUT_LEVEL = {name: CONSTRAINTS[name] for name in CONSTRAINTS if name != "level"}


@validate_params(_WITHOUT_LEVEL, prefer_skip_nested_validation=True)
def private_confusion_matrix(
    estimator,
    X,
    y,
    *,
    epsilon,
    delta="auto",
    adjacency="zero_out",
    mechanism="auto",
    groups=None,
    average_over="rows",
    rows_per_group="auto",
    random_state=None,
    ledger=None,
):
    """Count how often private records of each class are predicted as each class.

    **Guarantee.** As for :func:`private_score`.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier that predicts each row by itself.
    X : array-like of shape (n_samples, n_features)
        Rows, as the estimator takes them.
    y : array-like of shape (n_samples,)
        Their labels, which must be among ``estimator.classes_``.
    epsilon : float
        Privacy loss, above 0. ``float("inf")`` adds no noise.
    delta : float or "auto", default="auto"
        Probability, in [0, 1), that the loss may exceed `epsilon`. With 0 the guarantee is pure,
        and for a single release the noise is mostly the smallest. "auto" is 0 without a ledger.
        With one, whose charge for 0 is mostly far more than `epsilon`, it is the delta of the
        ledger's budget; it stays 0 for ``mechanism="laplace"``, and where the pure release costs
        the ledger less, as it does for large deltas. The report states the delta that was used.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring; see :func:`private_score`.
    mechanism : {"auto", "laplace", "gaussian"}, default="auto"
        Noise; see :func:`private_score`.
    groups : array-like of shape (n_samples,), default=None
        See :func:`private_score`.
    average_over : {"rows", "groups"}, default="rows"
        What counts alike: "rows", as in a fit with `groups`, up to `rows_per_group` of a group, or
        "groups", of each of which one row is counted, drawn at random; see :func:`private_score`.
    rows_per_group : int or "auto", default="auto"
        Largest number of rows of a group that are counted; see :func:`private_score`.
    random_state : int, RandomState instance or None, default=None
        See :func:`private_score`.
    ledger : str, PathLike, PrivacyLedger or None, default=None
        Ledger to which the release is charged; see :mod:`skdp.ledger`.

    Returns
    -------
    matrix : PrivateConfusionMatrix
        With the fields matrix, labels, noise_std and report.

    Raises
    ------
    ValueError
        If a parameter or the input is invalid, or the estimator doesn't fit them; no message quotes
        an entry of the data.
    TypeError
        If X or y is of a kind that can't be read, or an id can't be hashed.
    skdp.exceptions.LedgerError
        If there is a ledger, and it refuses this release.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skdp.metrics import private_confusion_matrix
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X[::2], y[::2])
    >>> found = private_confusion_matrix(model, X[1::2], y[1::2], epsilon=2.0, random_state=0)
    >>> found.labels.tolist(), found.report
    ([0, 1, 2], (2, 0)-DP while the seed stays secret)
    """
    counting = plan_counting(
        "private_confusion_matrix",
        epsilon,
        delta,
        adjacency,
        mechanism,
        design={},
        groups=groups,
        average_over=average_over,
        rows_per_group=rows_per_group,
        ledger=ledger,
    )
    classes, axes, _ = scorings.label_axes(estimator, X, y)
    (released,) = count_records([axes], counting, random_state)
    return PrivateConfusionMatrix(
        released.counts,
        classes,
        released.noise_std,
        released.report,
        average_over=counting.average_over,
        rows_per_group=counting.rows_counted,
    )


@dataclass(frozen=True, eq=False)
class PrivateCalibrationCurve:
    """A private calibration curve.

    Parameters
    ----------
    prob_true : ndarray of shape (n_bins,)
        Share of the second class in each bin that has enough records to stand out from the noise.
    prob_pred : ndarray of shape (n_bins,)
        Middles of these bins, which are public.
    low, high : ndarray of shape (n_bins,)
        Intervals for the share in the population, for each bin separately.
    report : skdp.accountant.PrivacyReport
        The guarantee.
    average_over : str, default="rows"
        What counts alike: "rows", or "groups", of each of which one row was counted.
    rows_per_group : int, default=None
        Of rows of groups, how many of a group were counted at most. With None all were.

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
    average_over: str = "rows"
    rows_per_group: int | None = None

    def __post_init__(self):
        _check_lengths(self.prob_true, self.prob_pred, self.low, self.high)

    def _page_parts(self):
        """Return what a page shows: a figure."""
        return (_figure_of(self.display()),)

    def display(self):
        """Return the curve as a display of scikit-learn.

        Returns
        -------
        display : sklearn.calibration.CalibrationDisplay
            Its `plot` draws the curve, and needs matplotlib. It has no single probabilities, so its
            `y_prob` is `prob_pred`.

        Raises
        ------
        TypeError
            If a field isn't an array.
        """
        curve = self.prob_true, self.prob_pred, self.prob_pred
        return CalibrationDisplay(*curve, estimator_name=_legend(self))


_N_BINS = {"n_bins": [Interval(Integral, 1, 1000, closed="both")]}


@validate_params(CONSTRAINTS | _N_BINS, prefer_skip_nested_validation=True)
def private_calibration_curve(
    estimator,
    X,
    y,
    *,
    epsilon,
    delta="auto",
    adjacency="zero_out",
    mechanism="auto",
    groups=None,
    average_over="rows",
    rows_per_group="auto",
    n_bins=10,
    level=0.95,
    random_state=None,
    ledger=None,
):
    """Compare predicted probabilities of private records with the observed frequencies.

    **Guarantee.** As for :func:`private_score`.

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
    delta : float or "auto", default="auto"
        Probability, in [0, 1), that the loss may exceed `epsilon`. With 0 the guarantee is pure,
        and for a single release the noise is mostly the smallest. "auto" is 0 without a ledger.
        With one, whose charge for 0 is mostly far more than `epsilon`, it is the delta of the
        ledger's budget; it stays 0 for ``mechanism="laplace"``, and where the pure release costs
        the ledger less, as it does for large deltas. The report states the delta that was used.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring; see :func:`private_score`.
    mechanism : {"auto", "laplace", "gaussian"}, default="auto"
        Noise; see :func:`private_score`.
    groups : array-like of shape (n_samples,), default=None
        See :func:`private_score`.
    average_over : {"rows", "groups"}, default="rows"
        What counts alike: "rows", as in a fit with `groups`, up to `rows_per_group` of a group, or
        "groups", of each of which one row is counted, drawn at random; see :func:`private_score`.
    rows_per_group : int or "auto", default="auto"
        Largest number of rows of a group that are counted; see :func:`private_score`.
    n_bins : int, default=10
        Bins of equal width of the probability of the second class.
    level : float, default=0.95
        Level of the interval of each bin.
    random_state : int, RandomState instance or None, default=None
        See :func:`private_score`.
    ledger : str, PathLike, PrivacyLedger or None, default=None
        Ledger to which the release is charged; see :mod:`skdp.ledger`.

    Returns
    -------
    curve : PrivateCalibrationCurve
        With the fields prob_true, prob_pred, low, high and report. Bins whose counts hardly exceed
        the noise are left out.

    Raises
    ------
    ValueError
        If a parameter or the input is invalid, or the estimator doesn't fit them; no message quotes
        an entry of the data.
    TypeError
        If X or y is of a kind that can't be read, or an id can't be hashed.
    skdp.exceptions.LedgerError
        If there is a ledger, and it refuses this release.

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
    counting = plan_counting(
        "private_calibration_curve",
        epsilon,
        delta,
        adjacency,
        mechanism,
        design={"n_bins": n_bins, "level": level},
        groups=groups,
        average_over=average_over,
        rows_per_group=rows_per_group,
        ledger=ledger,
    )
    classes, codes = scorings.read_labels(estimator, X, y)
    scorings.two_classes(classes, "a calibration curve")
    predicted = clip_scores(scorings.probabilities(estimator, X, 2)[:, 1], 0.0, 1.0)
    axes = [Axis(codes, 2), Axis(n_bins * predicted, n_bins)]
    (released,) = count_records([axes], counting, random_state)
    negative, positive = released.counts.astype(np.float64)
    totals, noise = negative + positive, released.noise_std
    seen = totals > max(tuned.SHOWN_DEVIATIONS * np.sqrt(2.0) * noise, 0.5)
    share = np.clip(positive[seen] / totals[seen], 0.0, 1.0)
    # The noise of both counts, where the share is p, is that of (1 - p) and p times them.
    variances = ((1.0 - share) ** 2 + share**2) * (noise / totals[seen]) ** 2
    # Rows of a group may be all alike.
    bins = zip(share, totals[seen] / released.rows_per_group, variances, strict=True)
    ends = [statistics.proportion_interval(*values, level) for values in bins]
    low, high = np.array(ends).reshape(-1, 2).T
    middles = (np.arange(n_bins)[seen] + 0.5) / n_bins
    return PrivateCalibrationCurve(
        share,
        middles,
        low,
        high,
        released.report,
        average_over=counting.average_over,
        rows_per_group=counting.rows_counted,
    )
