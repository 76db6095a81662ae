"""One private score of a model."""

from dataclasses import dataclass
from itertools import chain, islice
from numbers import Real

import numpy as np

from skdp._sklearn import StrOptions, validate_params
from skdp.accountant import PrivacyReport
from skdp.metrics._plan import caption_of
from skdp.metrics._rates import during
from skdp.metrics._release import BINS, CONSTRAINTS, count_records, plan_counting
from skdp.metrics._scorings import (
    SCORES,
    Options,
    check_kind,
    is_of_labels,
    n_releases,
    reader_of_labels,
)


@dataclass(frozen=True, repr=False)
class PrivateScore:
    """A noisy score of a model on private records.

    Parameters
    ----------
    value : float
        The score, which is also ``float(score)``.
    low, high : float
        Interval for the score of the model in the population that the records were drawn from. It
        covers the sampling, the noise and the error of bins.
    report : skdp.accountant.PrivacyReport
        The guarantee of this release.
    level : float, default=0.95
        Approximate share of such intervals that cover the value of the population.
    scoring : str, default="score"
        Name of the score.
    average_over : str, default="rows"
        What counts alike: "rows", or "groups", of each of which one row was counted.
    rows_per_group : int, default=None
        Of rows of groups, how many of a group were counted at most. With None all were.

    Raises
    ------
    TypeError
        If `value`, `low` or `high` isn't a number.

    See Also
    --------
    private_score : Make one.

    Examples
    --------
    >>> from skdp.accountant import LaplaceEvent, PrivacyReport
    >>> fields = {"adjacency": "zero_out", "clipping": 1.0, "accountant": "pld"}
    >>> report = PrivacyReport(epsilon=0.5, delta=0.0, events=[LaplaceEvent(2.0)], **fields)
    >>> from skdp.metrics import PrivateScore
    >>> PrivateScore(0.912, 0.9, 0.923, report, scoring="accuracy")
    accuracy 0.912 (95 % interval 0.900 to 0.923), (0.5, 0)-DP
    """

    value: float
    low: float
    high: float
    report: PrivacyReport
    level: float = 0.95
    scoring: str = "score"
    average_over: str = "rows"
    rows_per_group: int | None = None

    def __post_init__(self):
        for name in ("value", "low", "high"):
            if not isinstance(getattr(self, name), Real):
                raise TypeError(f"{name} must be a number.")

    def __float__(self):
        return float(self.value)

    def __repr__(self):
        # More digits would mean nothing.
        width = self.high - self.low
        digits = 3 if not 0.0 < width < 0.01 else 4
        ends = f"{self.low:.{digits}f} to {self.high:.{digits}f}"
        interval = f"({100 * self.level:g} % interval {ends})"
        counted = caption_of(self)
        over = "" if counted is None else f" over {counted}"
        return f"{self.scoring} {self.value:.{digits}f} {interval}{over}, {self.report!r}"


_SCORING = {
    "scoring": [StrOptions(set(SCORES)), list, tuple],
    "target_bounds": ["array-like", None],
}


@validate_params(CONSTRAINTS | _SCORING | {"bins": BINS}, prefer_skip_nested_validation=True)
def private_score(
    estimator,
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
    bins="auto",
    target_bounds=None,
    exposure=None,
    level=0.95,
    random_state=None,
    ledger=None,
):
    """Score a model on private records.

    **Guarantee.** The result is (`epsilon`, `delta`)-differentially private for one row of (X, y)
    under `adjacency`, by one release of counts: a row changes one of them by one. (For
    "roc_auc_ovr" there are as many histograms as classes, and for several scores as many as they
    need.) The training of the estimator is not covered. It must have used other records, or its
    report must be composed with that of the score, by :func:`skdp.accountant.compose`.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator, from skdp or not, that predicts each row by itself.
    X : array-like of shape (n_samples, n_features)
        Rows, as the estimator takes them.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Their labels, which must be among ``estimator.classes_``, or targets. With several targets,
        errors are means over them.
    scoring : str or list of str, default="accuracy"
        The score, by scikit-learn's names; larger is better: "accuracy", "balanced_accuracy", "f1",
        "precision" and "recall" (of two classes: of the second), "f1_macro", "precision_macro" and
        "recall_macro" (means over classes), "roc_auc" (of two classes), "roc_auc_ovr" (the mean of
        each class against the others, whose noise grows with their number), "neg_log_loss" (a
        probability of the true class below 1e-4 counts as 1e-4), "neg_brier_score", "r2" (of one
        target), "neg_mean_squared_error", "neg_mean_absolute_error", "neg_mean_poisson_deviance"
        (clipped for each record to twice the upper bound of the targets), "neg_mean_gamma_deviance"
        (clipped to 8), or the explained shares "d2_poisson" and "d2_gamma" of the deviance of a
        constant. Several scores share the budget: those of labels (all up to "recall_macro") have
        one part of it together, and each other score has its own.
    epsilon : float
        Privacy loss, above 0. ``float("inf")`` adds no noise.
    delta : float or "auto", default="auto"
        Probability, in [0, 1), that the loss may exceed `epsilon`. With 0 the guarantee is pure,
        and for a single release the noise is mostly the smallest. "auto" is 0 without a ledger.
        With one, whose charge for 0 is mostly far more than `epsilon`, it is the delta of the
        ledger's budget; it stays 0 for ``mechanism="laplace"``, and where the pure release costs
        the ledger less, as it does for large deltas. The report states the delta that was used.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
    mechanism : {"auto", "laplace", "gaussian"}, default="auto"
        Noise: discrete Laplace, or Gaussian, which needs a delta. "auto" is Gaussian where there is
        a delta and a ledger, as there is by default with a ledger, because many Gaussian releases
        together cost less than half, whatever was charged there before. Otherwise it is the one
        with less noise, nearly always discrete Laplace.
    groups : array-like of shape (n_samples,), default=None
        The person, household, ... of each row, as hashable ids: the guarantee is then for one
        group, including its rows that aren't here, and composes with that of a fit with `groups`.
        With None each row is a record.
    average_over : {"rows", "groups"}, default="rows"
        What the score is a mean over. "rows" is what a fit with `groups` optimises: people with
        many rows count more, up to `rows_per_group`. With "groups" each person counts once, by one
        of their rows, drawn at random; it needs `groups`.
    rows_per_group : int or "auto", default="auto"
        For "rows" with `groups`: so many rows of a person are counted at most, drawn at random, and
        the noise grows with the number. A person with more counts less than by all of their rows,
        which biases the score towards those with few. "auto" is 2 to 16, larger with less noise,
        and follows from public numbers.
    bins : int or "auto", default="auto"
        Bins of the score for "roc_auc", nodes of the loss for means of losses; "auto" follows from
        public numbers.
    target_bounds : tuple of two floats, default=None
        Range (low, high) of the targets of a regression, which needs it: a public one, or the
        ``target_bounds_`` of a private fit, which are far too wide for losses with a log link.
        Targets beyond it are clipped to it, and errors are clipped to its width.
    exposure : array-like of shape (n_samples,), default=None
        How much of each row was seen, for models of rates: what is scored are predictions of such
        an exposure. It is as private as y. For means of errors and of deviances alone.
    level : float, default=0.95
        Level of the interval.
    random_state : int, RandomState instance or None, default=None
        None draws all randomness from the operating system. A seed makes the score reproducible,
        also for anyone who learns it and subtracts the noise. The report says that there was one.
    ledger : str, PathLike, PrivacyLedger or None, default=None
        Ledger to which the release is charged; see :mod:`skdp.ledger`.

    Returns
    -------
    score : PrivateScore or dict of PrivateScore
        With the fields value, low, high and report. For a list of scores, one for each, by name.
        All have the report of the one call, which must not be composed with itself.

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
    private_roc_curve : The whole curve.
    private_calibration_curve : Whether probabilities are true.
    private_confusion_matrix : Which classes are predicted as which.

    Notes
    -----
    Discrete Laplace noise consists of integers that are added to integer counts [1]_, and is exact
    to the last bit. Losses are rounded at random to the nodes of a public range, in a way that
    preserves their mean, so a few nodes are enough. doc/theory/scores.rst has proofs.

    The interval is for the population that the records were drawn from, independently. It is
    approximate, because it uses the normal distribution. It needs more than a few dozen records in
    each class (for precision and F1 also in each predicted class), and epsilon times their number
    in the hundreds. For "roc_auc" the scores must lie in more than two or three of the bins: where
    the second class is rare, give more `bins`.

    References
    ----------
    .. [1] Ghosh, Roughgarden and Sundararajan (2012). Universally utility-maximizing privacy
       mechanisms. SIAM Journal on Computing.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from skdp.linear_model import DPLogisticRegression
    >>> from skdp.metrics import private_score
    >>> X, y = make_classification(n_samples=4000, n_features=5, random_state=0)
    >>> model = DPLogisticRegression(data_norm=3.0, classes=[0, 1], random_state=0)
    >>> model.fit(X[:2000], y[:2000]).privacy_report_.epsilon
    1.0
    >>> score = private_score(model, X[2000:], y[2000:], epsilon=0.5, random_state=0)
    >>> score.report
    (0.5, 0)-DP while the seed stays secret
    >>> bool(score.low < score.value < score.high), score.high - score.low < 0.05
    (True, True)
    """
    names = (scoring,) if isinstance(scoring, str) else _distinct(scoring)
    for name in names:
        check_kind(estimator, name)
    if exposure is not None:
        estimator = during(estimator, exposure, names, n_rows=len(y))
    n_grids = n_releases(names, getattr(estimator, "classes_", None))
    counting = plan_counting(
        "private_score",
        epsilon,
        delta,
        adjacency,
        mechanism,
        design={"scoring": ", ".join(names), "bins": bins, "level": level},
        groups=groups,
        average_over=average_over,
        rows_per_group=rows_per_group,
        ledger=ledger,
        n_releases=n_grids,
    )
    options = Options(
        bins=bins,
        noise_std=counting.noise_std,
        target_bounds=target_bounds,
        n_records=counting.n_records,
        labels=reader_of_labels(names, estimator, X, y),
    )
    asked = {name: SCORES[name].axes(estimator, X, y, options) for name in names}
    # Scores of labels share a grid.
    keys = {name: "labels" if is_of_labels(name) else name for name in names}
    grids = {keys[name]: axes for name, (_, *axes) in asked.items()}
    released = count_records([*chain(*grids.values())], counting, random_state)
    left, report = iter(released), released[0].report
    shares = {key: [one.shares for one in islice(left, len(axes))] for key, axes in grids.items()}
    scores = {}
    for name, (statistic, *_) in asked.items():
        # Squares overflow where bounds are near the ends of double precision.
        with np.errstate(all="ignore"):
            value = statistic(*shares[keys[name]], level=level)
        scores[name] = PrivateScore(
            *value,
            report,
            level,
            name,
            average_over=counting.average_over,
            rows_per_group=counting.rows_counted,
        )
    return scores[scoring] if isinstance(scoring, str) else scores


def _distinct(scoring):
    """Return the names of scores, of which there is one at least, and each once."""
    known = all(isinstance(name, str) and name in SCORES for name in scoring)
    if not known or not 0 < len(set(scoring)) == len(scoring):
        raise ValueError(f"scoring must be a list of different names of {sorted(SCORES)}.")
    return tuple(scoring)
