"""Two models on the same private records."""

from dataclasses import dataclass
from numbers import Real

import numpy as np

from skdp._rows.bounds import clip_scores
from skdp._sklearn import StrOptions, validate_params
from skdp.accountant import PrivacyReport
from skdp.metrics import _statistics as statistics
from skdp.metrics._plan import caption_of
from skdp.metrics._release import CONSTRAINTS, count_records, plan_counting
from skdp.metrics._scorings import SCORES, Options, check_kind
from skdp.metrics._solver import Axis

# Scores that are means over rows, by which models can be compared row by row.
BY_ROW = tuple(name for name, score in SCORES.items() if score.losses is not None)


@dataclass(frozen=True, repr=False)
class PrivateComparison:
    """By how much one model scores higher than another on the same private records.

    Parameters
    ----------
    difference : float
        The score of the first model less that of the second, which is also ``float(comparison)``:
        above 0 the first is better.
    low, high : float
        Interval for the difference in the population that the records were drawn from. It covers
        the sampling and the noise.
    report : skdp.accountant.PrivacyReport
        The guarantee of this comparison.
    level : float, default=0.95
        Approximate share of such intervals that cover the difference in the population.
    scoring : str, default="score"
        Name of the score.
    average_over : str, default="rows"
        What counts alike: "rows", or "groups", of each of which one row was counted.
    rows_per_group : int, default=None
        Of rows of groups, how many of a group were counted at most. With None all were.

    Raises
    ------
    TypeError
        If `difference`, `low` or `high` isn't a number.

    See Also
    --------
    private_compare : Make one.

    Examples
    --------
    >>> from skdp.accountant import LaplaceEvent, PrivacyReport
    >>> fields = {"adjacency": "zero_out", "clipping": 1.0, "accountant": "pld"}
    >>> report = PrivacyReport(epsilon=0.5, delta=0.0, events=[LaplaceEvent(2.0)], **fields)
    >>> from skdp.metrics import PrivateComparison
    >>> found = PrivateComparison(0.012, 0.004, 0.02, report, scoring="accuracy")
    >>> found
    accuracy, first minus second: 0.012 (95 % interval 0.004 to 0.020), (0.5, 0)-DP
    >>> found.better
    'first'
    """

    difference: float
    low: float
    high: float
    report: PrivacyReport
    level: float = 0.95
    scoring: str = "score"
    average_over: str = "rows"
    rows_per_group: int | None = None

    def __post_init__(self):
        for name in ("difference", "low", "high"):
            if not isinstance(getattr(self, name), Real):
                raise TypeError(f"{name} must be a number.")

    def __float__(self):
        return float(self.difference)

    @property
    def better(self):
        """The model that the interval says is better, "first" or "second"; else None."""
        if self.low > 0.0:
            return "first"
        return "second" if self.high < 0.0 else None

    def __repr__(self):
        # Two digits of the interval's width mean something.
        width = self.high - self.low
        digits = (
            3 if not 0.0 < width < np.inf else int(np.clip(1 - np.floor(np.log10(width)), 0, 9))
        )
        # A number that rounds to 0 has no sign.
        difference, low, high = (
            f"{round(number, digits) + 0.0:.{digits}f}"
            for number in (self.difference, self.low, self.high)
        )
        counted = caption_of(self)
        over = "" if counted is None else f" over {counted}"
        interval = f"({100 * self.level:g} % interval {low} to {high})"
        return f"{self.scoring}, first minus second: {difference} {interval}{over}, {self.report!r}"


def _losses_by_row(estimator, X, y, scoring, options):
    """Return rows' losses over the largest, and that one; what isn't a number is the largest."""
    losses, largest = SCORES[scoring].losses(estimator, X, y, options)
    return clip_scores(np.nan_to_num(losses, nan=largest), 0.0, largest), largest


def difference_axes(first, second, X, y, scoring, options):
    """Return what rows score higher by the first, as an axis, and the largest that it may be.

    Losses of a row are within a public range, and so is their difference.
    """
    losses, largest = _losses_by_row(first, X, y, scoring, options)
    others, _ = _losses_by_row(second, X, y, scoring, options)
    nodes = statistics.auto_nodes(options.n_records(losses.size), options.noise_std)
    # Differences of labels are on three nodes, of which the middle one is 0.
    half = 1 if scoring == "accuracy" else max(nodes // 2, 1)
    apart = others - losses
    position = half + np.sign(apart) * statistics.graded_positions(np.abs(apart), half + 1)
    return [Axis(position, 2 * half + 1, "linear")], largest


_COMPARED = {
    "scoring": [StrOptions(set(BY_ROW))],
    "target_bounds": ["array-like", None],
}


@validate_params(CONSTRAINTS | _COMPARED, prefer_skip_nested_validation=True)
def private_compare(
    model_a,
    model_b,
    X,
    y,
    *,
    scoring="accuracy",
    epsilon,
    delta="auto",
    adjacency="zero_out",
    mechanism="auto",
    groups=None,
    average_over="rows",
    rows_per_group="auto",
    target_bounds=None,
    level=0.95,
    random_state=None,
    ledger=None,
):
    """Say by how much one model scores higher than another on the same private records.

    **Guarantee.** As for :func:`private_score`: one release of counts, of which a row changes one
    by one, whatever the two models are. The training of neither model is covered.

    Parameters
    ----------
    model_a, model_b : estimator
        Two fitted estimators, from skdp or not, that predict each row by itself. Classifiers must
        have the same classes.
    X : array-like of shape (n_samples, n_features)
        Rows, as the estimator takes them.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Their labels, which must be among ``estimator.classes_``, or targets. With several targets,
        errors are means over them.
    scoring : str, default="accuracy"
        A score that is a mean over rows, by scikit-learn's name: "accuracy", "neg_log_loss" (a
        probability of the true class below 1e-4 counts as 1e-4), "neg_brier_score",
        "neg_mean_squared_error", "neg_mean_absolute_error", "neg_mean_poisson_deviance" or
        "neg_mean_gamma_deviance", clipped as for :func:`private_score`.
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
    target_bounds : tuple of two floats, default=None
        Range (low, high) of the targets of a regression, which needs it: a public one, or the
        ``target_bounds_`` of a private fit, which are far too wide for losses with a log link.
        Targets beyond it are clipped to it, and errors are clipped to its width.
    level : float, default=0.95
        Level of the interval for the difference.
    random_state : int, RandomState instance or None, default=None
        See :func:`private_score`.
    ledger : str, PathLike, PrivacyLedger or None, default=None
        Ledger to which the release is charged; see :mod:`skdp.ledger`.

    Returns
    -------
    comparison : PrivateComparison
        With the fields difference, low, high and report; its property ``better`` is the model that
        the interval says is better, or None.

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
    private_score : The score of one model.

    Notes
    -----
    Two scores of one epsilon each cost twice as much, and the interval of their difference has the
    sampling error of both. Here each row is compared with itself: where models mostly agree, most
    of that error is gone. Differences are rounded at random to nodes that lie close together around
    0, in a way that preserves their mean. doc/theory/scores.rst has proofs.

    Comparing many models and taking the best isn't covered by one report: add up all of them, or
    take :class:`skdp.model_selection.DPGridSearch`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skdp.metrics import private_compare
    >>> X, y = make_classification(n_samples=6000, n_features=5, random_state=0)
    >>> one = LogisticRegression().fit(X[:2000], y[:2000])
    >>> other = LogisticRegression(C=1e-4).fit(X[:2000], y[:2000])
    >>> options = {"scoring": "neg_log_loss", "epsilon": 0.5, "random_state": 0}
    >>> found = private_compare(one, other, X[2000:], y[2000:], **options)
    >>> found.better, found.report
    ('first', (0.5, 0)-DP while the seed stays secret)
    """
    for model in (model_a, model_b):
        check_kind(model, scoring)
    if hasattr(model_a, "classes_") and not np.array_equal(model_a.classes_, model_b.classes_):
        raise ValueError("model_a and model_b must have the same classes_.")
    counting = plan_counting(
        "private_compare",
        epsilon,
        delta,
        adjacency,
        mechanism,
        design={"scoring": scoring, "level": level},
        groups=groups,
        average_over=average_over,
        rows_per_group=rows_per_group,
        ledger=ledger,
    )
    options = Options(
        bins="auto",
        noise_std=counting.noise_std,
        target_bounds=target_bounds,
        n_records=counting.n_records,
    )
    axes, largest = difference_axes(model_a, model_b, X, y, scoring, options)
    (released,) = count_records([axes], counting, random_state)
    # Squares overflow where bounds are near the ends of double precision.
    with np.errstate(all="ignore"):
        value = statistics.mean_difference(released.shares, largest=largest, level=level)
    return PrivateComparison(
        *value,
        released.report,
        level,
        scoring,
        average_over=counting.average_over,
        rows_per_group=counting.rows_counted,
    )
