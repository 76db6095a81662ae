"""A threshold of a classifier, chosen on private records."""

from dataclasses import dataclass
from numbers import Real

import numpy as np

from skdp._checks import check_within
from skdp._sklearn import Interval, validate_params
from skdp.accountant import PrivacyReport
from skdp.exceptions import warn_user
from skdp.metrics import _scorings as scorings, _thresholds as statistics
from skdp.metrics._release import BINS, CONSTRAINTS, count_records, plan_counting
from skdp.metrics._score import PrivateScore

_MISTAKES = ("false_positive", "false_negative")
# Larger costs would overflow where they are squared.
_LARGEST_COST = 1e12
_NOT_TOLD = (
    "No threshold has an interval that begins at precision={:g} or above. This is the one whose "
    "interval begins highest. Take more records, a larger epsilon, or a lower precision."
)


@dataclass(frozen=True, eq=False, repr=False)
class PrivateThreshold:
    """A threshold that was chosen on private records, and what it costs.

    Parameters
    ----------
    threshold : float
        Rows whose probability, or decision value where there are no probabilities, is at least this
        are taken for the second class. ``inf`` takes none.
    score : PrivateScore
        The mean cost of a row, or the precision, at this threshold. Its interval holds however the
        threshold was chosen by the same counts.
    recall : PrivateScore
        The share of the second class that is found, with an interval of the same kind.
    report : skdp.accountant.PrivacyReport
        The guarantee of all of it together.
    thresholds : ndarray of shape (n_thresholds,)
        All that were compared, which are public, in increasing order.
    values, low, high : ndarray of shape (n_thresholds,)
        Their costs or precisions, with intervals that cover all of them at once.

    Raises
    ------
    ValueError
        If the arrays of thresholds differ in length.

    See Also
    --------
    private_threshold : Make one.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skdp.model_selection import private_threshold
    >>> X, y = make_classification(n_samples=9000, weights=[0.9], random_state=0)
    >>> model = LogisticRegression().fit(X[:2000], y[:2000])
    >>> costs = {"false_positive": 1.0, "false_negative": 10.0}
    >>> found = private_threshold(model, X[2000:], y[2000:], costs=costs, epsilon=1.0)
    >>> bool(0.02 < found.threshold < 0.3), found.thresholds.shape == found.low.shape
    (True, True)
    """

    threshold: float
    score: PrivateScore
    recall: PrivateScore
    report: PrivacyReport
    thresholds: np.ndarray
    values: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def __post_init__(self):
        arrays = self.thresholds, self.values, self.low, self.high
        if len({np.shape(array) for array in arrays}) != 1:
            raise ValueError("the arrays of thresholds must be of one length.")

    def __float__(self):
        return float(self.threshold)

    def __repr__(self):
        # The report stands once, at the end.
        score, recall = (
            repr(one).removesuffix(f", {self.report!r}") for one in (self.score, self.recall)
        )
        return f"threshold {self.threshold:.3g}: {score}, {recall}, {self.report!r}"


_CHOICE = {
    "bins": BINS,
    "costs": [dict, None],
    "precision": [Interval(Real, 0, 1, closed="neither"), None],
}


@validate_params(CONSTRAINTS | _CHOICE, prefer_skip_nested_validation=True)
def private_threshold(
    estimator,
    X,
    y,
    *,
    costs=None,
    precision=None,
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
    """Choose the threshold of a classifier of two classes on private records.

    **Guarantee.** As for :func:`skdp.metrics.private_score`: one release of counts of records by
    score and class, of which a row changes one by one. The threshold, its cost or precision and
    their intervals follow from it. The training of the estimator is not covered.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier of two classes, with `predict_proba` or `decision_function`, that
        predicts each row by itself.
    X : array-like of shape (n_samples, n_features)
        Rows, as the estimator takes them.
    y : array-like of shape (n_samples,)
        Their labels, which must be among ``estimator.classes_``.
    costs : dict, default=None
        Costs of the two mistakes, ``{"false_positive": 1, "false_negative": 10}``, the positive
        class being the second: the threshold is the one of the smallest mean cost. Public numbers
        of at least 0.
    precision : float, default=None
        The precision that is asked for, in (0, 1): the threshold is the lowest, hence that of the
        largest recall, of which the interval says that it has this precision in the population. If
        none is told to, it is the one whose interval begins highest, and a warning says so. Give
        `costs` or `precision`.
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
        Bins of the score, whose ends are the thresholds that are compared; "auto" follows from
        public numbers.
    level : float, default=0.95
        Level of the intervals, which cover all thresholds at once.
    random_state : int, RandomState instance or None, default=None
        See :func:`private_score`.
    ledger : str, PathLike, PrivacyLedger or None, default=None
        Ledger to which the release is charged; see :mod:`skdp.ledger`.

    Returns
    -------
    found : PrivateThreshold
        With the fields threshold, score, recall and report.

    Raises
    ------
    ValueError
        If a parameter or the input is invalid, or the estimator doesn't fit them; no message quotes
        an entry of the data.
    TypeError
        If X or y is of a kind that can't be read, or an id can't be hashed.
    skdp.exceptions.LedgerError
        If there is a ledger, and it refuses this release.

    See Also
    --------
    skdp.metrics.private_roc_curve : All that can be reached.

    Notes
    -----
    ``FixedThresholdClassifier(model, threshold=found.threshold)`` of scikit-learn predicts by it.
    Its own ``TunedThresholdClassifierCV`` chooses by exact scores, which are private.

    The smallest of many noisy costs is smaller than that threshold's cost. The intervals cover all
    thresholds at once (Bonferroni), so that of the chosen one allows for the choice.
    doc/theory/scores.rst has the derivation.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import FixedThresholdClassifier
    >>> from skdp.model_selection import private_threshold
    >>> X, y = make_classification(n_samples=9000, weights=[0.9], random_state=0)
    >>> model = LogisticRegression().fit(X[:2000], y[:2000])
    >>> options = {"epsilon": 1.0, "random_state": 0}
    >>> found = private_threshold(model, X[2000:], y[2000:], precision=0.7, **options)
    >>> found.score.low >= 0.7, found.report
    (True, (1, 0)-DP while the seed stays secret)
    >>> chosen = FixedThresholdClassifier(model, threshold=found.threshold)
    >>> chosen.predict(X[:3]).shape
    (3,)
    """
    if (costs is None) == (precision is None):
        raise ValueError("give costs=..., or precision=..., and not both.")
    if costs is not None:
        costs = _check_costs(costs)
    counting = plan_counting(
        "private_threshold",
        epsilon,
        delta,
        adjacency,
        mechanism,
        design={"costs": costs, "precision": precision, "bins": bins, "level": level},
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
    thresholds = statistics.thresholds_at(np.arange(n_bins) / n_bins, estimator)
    if costs is not None:
        name, (values, low, high) = "cost", statistics.costs(shares, *costs, level)
        thresholds = np.append(thresholds, np.inf)
        place = int(values.argmin())
    else:
        name, (values, low, high) = "precision", statistics.precisions(shares, level)
        is_told = low >= precision
        place = int(is_told.argmax() if is_told.any() else low.argmax())
        if not is_told.any():
            warn_user(_NOT_TOLD.format(precision), depth=5)
    of_thresholds = {name: (values, low, high), "recall": statistics.recalls(shares, level)}
    score, recall = (
        PrivateScore(
            *(float(end[place]) for end in ends),
            released.report,
            level,
            scoring,
            average_over=counting.average_over,
            rows_per_group=counting.rows_counted,
        )
        for scoring, ends in of_thresholds.items()
    )
    return PrivateThreshold(
        threshold=float(thresholds[place]),
        score=score,
        recall=recall,
        report=released.report,
        thresholds=thresholds,
        values=values,
        low=low,
        high=high,
    )


def _check_costs(costs):
    """Return the costs of a false positive and of a false negative."""
    if set(costs) != set(_MISTAKES):
        raise ValueError(f"costs must have the two keys {_MISTAKES}.")
    numbers = [
        check_within(costs[name], f"costs[{name!r}]", 0.0, _LARGEST_COST) for name in _MISTAKES
    ]
    if not any(numbers):
        raise ValueError("one of the costs must be above 0.")
    return numbers
