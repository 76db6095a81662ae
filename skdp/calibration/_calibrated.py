"""A private classifier whose probabilities are recalibrated within its budget."""

import math
from dataclasses import replace
from numbers import Real

import numpy as np
from scipy.special import log_expit, logsumexp, softmax
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_is_object
from skdp._estimator import (
    BUDGET_CONSTRAINTS,
    RecordPrivateEstimator,
    fit_groups,
    is_of_skdp,
    is_private,
    model_of,
    refuse_settings,
    rehearse,
    require_groups,
)
from skdp._families.losses import as_probabilities
from skdp._families.targets import encode_labels
from skdp._rows.bounds import counted_rows
from skdp._rows.groups import encode_groups
from skdp._sklearn import HasMethods, Interval, _fit_context, quietly
from skdp.additive._points import Scale
from skdp.calibration import _tuned as tuned
from skdp.calibration._around import AroundPrivate, refuse_partitions
from skdp.calibration._plan import (
    SCORES,
    classifier_epsilon,
    noise_of_counts,
    plan_calibration,
)
from skdp.calibration._sigmoid import (
    CountsAndPlaces,
    fit_sigmoid,
    place_scores,
    typical_values,
)
from skdp.ledger._account import ALREADY_CHARGED
from skdp.linear_model._fit import BaseLinear
from skdp.metrics._plan import check_counted, resolve_rows_counted
from skdp.metrics._release import COUNTED

_NOT_OURS = (
    "estimator must be skdp's private classifier that protects rows, or a DPPipeline that ends in "
    "one, got {}. A pipeline of scikit-learn goes around this one; of a search, search over the "
    "calibrated classifier: DPGridSearch(DPCalibratedClassifier(...), {{'estimator__...': ...}})."
)


_NO_TERMS = (
    "only an additive classifier of two classes has terms after calibration: with more classes, "
    "calibrated log-odds are no sums."
)


def _has_terms(calibrated):
    """Return whether the calibrated values are sums of terms."""
    inner = getattr(calibrated, "estimator_", calibrated.estimator)
    return hasattr(inner, "explain") and len(getattr(calibrated, "classes_", ())) <= 2


def _has_points(calibrated):
    """Return whether the calibrated values are sums of terms that have points."""
    inner = getattr(calibrated, "estimator_", calibrated.estimator)
    return _has_terms(calibrated) and hasattr(inner, "to_points")


class DPCalibratedClassifier(ClassifierMixin, AroundPrivate):
    r"""Fit a private classifier, and calibrate its probabilities.

    Noise makes a classifier overconfident, and the hinge loss has no probabilities at all. A tenth
    of the budget pays for counts of the training records by decision value and class, and for where
    in their bins they are. They determine a slope s and an offset o, so that

    .. math:: P(y = 1 \mid x) = \sigma(s\, f(x) + o) .

    With several classes, each has its own slope and offset against all others, and the
    probabilities are normalised by their sum.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its label) under `adjacency`, or for a fit with `groups`, for one group. It
    covers the composition of the classifier's releases and that of the counts. ``privacy_report_``
    lists what is assumed public and what is not covered.

    Parameters
    ----------
    estimator : estimator
        A private classifier of :mod:`skdp.linear_model` whose unit is one row, one of
        :mod:`skdp.additive`, or a :class:`skdp.pipeline.DPPipeline` that ends in one. Its
        `epsilon`, `delta`, `adjacency`, `random_state` and `ledger` are set here: leave them at
        their defaults, which count as not given. Values that differ from those here are an error.
        Declare its `classes`.
    epsilon : float, default=1.0
        Total privacy loss, above 0. ``float("inf")`` adds no noise.
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`; "auto" is 1e-5, and ``0.1 / n``
        for more than 10,000 records.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
    calibration_share : float, default=0.1
        Share of the budget, in (0, 1) and in terms of the squared parameter of Gaussian
        differential privacy, that is spent on the counts.
    average_over : {"rows", "groups"}, default="rows"
        Of what the probabilities are to be the frequencies. "rows" is what a fit with `groups`
        optimises: people with many rows count more, up to `rows_per_group`. With "groups" each
        person counts once, by one of their rows, drawn at random; it needs a fit with `groups`.
    rows_per_group : int or "auto", default="auto"
        For "rows" in a fit with `groups`: so many rows of a person are counted at most, drawn at
        random, and the noise grows with the number. "auto" is 2 to 16, larger with less noise, and
        follows from public numbers.
    random_state : int, RandomState instance or None, default=None
        None draws all randomness from the operating system. A seed makes the fit reproducible, also
        for anyone who learns it and subtracts the noise. The report says that there was one.
    ledger : str, path or PrivacyLedger, default=None
        Budget of the study, to which the classifier and the counts are charged once, before any
        noise is drawn; see :class:`skdp.ledger.PrivacyLedger`. None uses the ledger that the
        environment variable ``SKDP_LEDGER`` names; without it nothing is recorded.

    Attributes
    ----------
    estimator_ : estimator
        The fitted classifier, with a report of its own part.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    slope_, offset_ : float or ndarray of shape (n_classes,)
        Factor of the decision values, and constant added to them. With several classes there is one
        for each, and the values are log-odds of the softmax of the classifier's values.
    rows_per_group_ : int or None
        How many rows of a group were counted at most; None of a fit without `groups`, or without
        privacy, where all rows were.
    privacy_report_ : skdp.accountant.PrivacyReport
        The guarantee of this fit, including the classifier.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string column names.

    See Also
    --------
    skdp.metrics.private_calibration_curve : Check whether probabilities are true.

    Notes
    -----
    The same rows train and calibrate the classifier. A public split of the rows was worse in most
    of the cases tried, because all rows are worth more than a tenth of the budget. Slope and offset
    are post-processing. They are the most likely ones given the noisy counts and the prior
    assumption that the classifier is about right; where noise hides the counts, the classifier is
    left nearly unchanged. The slope is positive, so the order of records stays the same [1]_.

    References
    ----------
    .. [1] Platt (1999). Probabilistic outputs for support vector machines and comparisons to
       regularized likelihood methods. Advances in Large Margin Classifiers.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from skdp.calibration import DPCalibratedClassifier
    >>> from skdp.linear_model import DPSCDClassifier
    >>> X, y = make_classification(n_samples=2000, n_features=5, random_state=0)
    >>> hinge = DPSCDClassifier(loss="hinge", data_norm=3.0, classes=[0, 1])
    >>> model = DPCalibratedClassifier(hinge, epsilon=1.0).fit(X, y)
    >>> model.predict_proba(X[:2]).shape, model.privacy_report_
    ((2, 2), (1, 1e-05)-DP)
    """

    _parameter_constraints = {  # noqa: RUF012
        "estimator": [HasMethods(["fit", "decision_function"])],
        **BUDGET_CONSTRAINTS,
        "calibration_share": [Interval(Real, 0, 1, closed="neither")],
        **COUNTED,
    }

    def __init__(
        self,
        estimator,
        *,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        calibration_share=0.1,
        average_over="rows",
        rows_per_group="auto",
        random_state=None,
        ledger=None,
    ):
        self.estimator = estimator
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.calibration_share = calibration_share
        self.average_over = average_over
        self.rows_per_group = rows_per_group
        self.random_state = random_state
        self.ledger = ledger

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, groups=None):
        """Fit the classifier and calibrate it, privately.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, as the classifier takes them.
        y : array-like of shape (n_samples,)
            Labels.
        groups : array-like of shape (n_samples,), default=None
            The person, household, ... of each row, as hashable ids, where the classifier takes
            them. The guarantee is then for one group, with all its rows. What is counted of a group
            is said by `average_over`. With None each row is a record.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the input is invalid, or the estimator doesn't protect rows; no
            message quotes an entry of the data.
        TypeError
            If X is sparse, and the classifier doesn't take it.
        skdp.exceptions.LedgerError
            If there is a ledger, and it refuses this fit.
        """
        # First, as a pipeline would take words, which are refused below.
        self._check_estimator()
        X, y = self._read(X, y)
        n_rows = y.size
        codes, n_records = encode_groups(groups, n_rows)
        model = model_of(self.estimator)
        classes, targets = encode_labels(y, model.classes)
        # A weight of no class is refused before anything is charged.
        model._family().weigh(None, n_rows, classes, targets)

        # The classifier bounds the rows.
        sizes = n_records, self.n_features_in_, targets.shape[1]
        plan = self._plan(*sizes, by_group=codes is not None)
        # Who has charged for this fit has rehearsed it.
        if self.ledger is not ALREADY_CHARGED:
            rehearse(self._part(plan.budget), X, y, codes)
        run = plan.start(self.random_state)
        coins, fit = run.spawn(3, noise=1)

        estimator = self._part(plan.budget).set_params(random_state=fit.as_random_state())
        fit_groups(estimator, X, y, codes)
        run.made_within(*plan.classifier.names)
        steps = run.steps(SCORES)
        values = _log_odds(estimator, X)
        rows = counted_rows(y, codes, coins, plan.rows_per_group)
        lines = np.array(
            [
                _fit_class(value, target > 0.0, rows, plan, steps)
                for value, target in zip(values.T, targets.T, strict=True)
            ]
        )

        run.finish()

        # The published estimator holds no seed, and another fit of it is charged like any other.
        estimator.set_params(random_state=None, ledger=self.ledger)
        self.estimator_, self.classes_ = estimator, classes
        self.slope_, self.offset_ = lines[0].tolist() if len(lines) == 1 else lines.T
        is_capped = codes is not None and not math.isinf(plan.rows_per_group)
        self.rows_per_group_ = plan.rows_per_group if is_capped else None
        report = estimator.privacy_report_
        self.privacy_report_ = plan.joint_report(report, reproducible=run.reproducible)
        return self

    def _check_estimator(self):
        inner = self.estimator
        check_is_object(inner, "estimator")
        is_ours = isinstance(inner, RecordPrivateEstimator) and is_classifier(inner)
        if not is_ours or not is_of_skdp(inner) or isinstance(inner, MetaEstimatorMixin):
            raise ValueError(_NOT_OURS.format(type(inner).__name__))
        refuse_partitions(inner, self)
        refuse_settings(inner, self, "estimator")

    def _plan(self, n_records, n_features, n_outputs=1, *, by_group=False):
        self._check_estimator()
        # Here, so that a search refuses it before it spends anything.
        check_counted(by_group, self.average_over, self.rows_per_group)
        if by_group:
            require_groups(self.estimator, "estimator")
        budget = self._budget(n_records, by_group)
        cost = self._part(budget)._preview(n_records, n_features, n_outputs, by_group=by_group)
        share, rows_per_group = self.calibration_share, 1
        if by_group:
            rows_per_group = resolve_rows_counted(
                self.average_over,
                self.rows_per_group,
                budget,
                n_records,
                noise_of_counts(budget, share, n_outputs),
                tuned.QUIET_SHARE,
            )
        noise = noise_of_counts(budget, share, n_outputs, rows_per_group)
        return plan_calibration(
            budget,
            cost,
            share,
            n_records=n_records,
            n_bins=_bins(n_records, noise),
            n_steps=n_outputs,
            average_over=self.average_over,
            rows_per_group=rows_per_group,
        )

    def _part(self, budget):
        """Return the classifier with its part of a budget, which is charged with the counts."""
        # The ledger knows the seed of all; a plain fit with it must have noise of its own.
        return clone(self.estimator).set_params(
            epsilon=classifier_epsilon(budget, self.calibration_share),
            delta=budget.delta,
            adjacency=self.adjacency,
            random_state=None,
            ledger=ALREADY_CHARGED,
        )

    def decision_function(self, X):
        """Compute log-odds of the second class, or of each of several classes against all others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            ``slope_`` times the classifier's value, plus ``offset_``.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        check_is_fitted(self)
        X = self._read(X, reset=False)
        with np.errstate(all="ignore"):
            scores = self.slope_ * _log_odds(self.estimator_, X) + self.offset_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X):
        """Estimate calibrated probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return as_probabilities(scores)
        # Their logarithms, as all may be too small for a number.
        return softmax(log_expit(scores), axis=1)

    def predict(self, X):
        """Predict class labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The more likely class of each row.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        scores = self.decision_function(X)
        places = (scores > 0.0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[places]

    @available_if(_has_terms)
    def explain(self, X, *, as_frame=False):
        """Return the contribution of each term to the calibrated log-odds of each row.

        Their sum and ``intercept_`` are the decision value.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        as_frame : bool, default=False
            Whether to return a data frame that also names terms, and has what each row holds.

        Returns
        -------
        contributions : ndarray of shape (n_samples, n_terms)
            In the order of ``terms_``: ``slope_`` times those of the classifier. With `as_frame` a
            data frame, as the classifier returns it.

        Raises
        ------
        AttributeError
            If the classifier has no terms, or there are more than two classes, whose calibrated
            log-odds are no sums.
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        check_is_fitted(self)
        contributions = self.estimator_.explain(X, as_frame=as_frame)
        if not as_frame:
            return self.slope_ * contributions
        scaled = self.slope_ * contributions["contribution"]
        if hasattr(contributions, "with_columns"):
            # A data frame of polars.
            return contributions.with_columns(scaled)
        return contributions.assign(contribution=scaled)

    @available_if(_has_terms)
    def to_frame(self):
        """Return all values of all terms as a data frame of pandas, one row each.

        Returns
        -------
        scorecard : DataFrame
            As the classifier returns it, with calibrated values.

        Raises
        ------
        AttributeError
            If the classifier has no terms, or there are more than two classes.
        NotFittedError
            If the estimator isn't fitted.
        ImportError
            If pandas isn't installed.
        """
        check_is_fitted(self)
        frame = self.estimator_.to_frame()
        value, std = self.slope_ * frame["value"], self.slope_ * frame["std"]
        return frame.assign(value=value, odds_ratio=np.exp(value), std=std)

    @available_if(_has_points)
    def to_points(self, base=600, odds=50, double=20):
        """Return a scorecard of whole points of calibrated log-odds.

        Points fall with the log-odds of the second class, the bad one. They are those of an
        additive classifier, in a scale that calibration stretches and moves.

        Parameters
        ----------
        base : float, default=600
            Points that stand for odds of good to bad of `odds` to 1.
        odds : float, default=50
            These odds, above 0.
        double : float, default=20
            So many more points, above 0, double the odds.

        Returns
        -------
        card : Scorecard
            Its ``to_frame()`` has the points of all bins, and ``points(X)`` gives those of rows.

        Raises
        ------
        AttributeError
            If the classifier has no terms, or there are more than two classes.
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If a number is out of range.
        """
        check_is_fitted(self)
        scale = Scale(base, odds, double)
        card = self.estimator_.to_points(*scale.of_line(self.slope_, self.offset_))
        return replace(card, base=scale.base, odds=scale.odds, double=scale.double)

    @property
    def terms_(self):
        """Terms of an additive classifier of two classes, with values of calibrated log-odds."""
        if not _has_terms(self):
            raise AttributeError(_NO_TERMS)
        check_is_fitted(self)
        return tuple(
            replace(
                term,
                values=self.slope_ * term.values,
                std=self.slope_ * term.std,
                importance=self.slope_ * term.importance,
            )
            for term in self.estimator_.terms_
        )

    @property
    def intercept_(self):
        """Calibrated log-odds where all terms have their mean, for an additive classifier."""
        if not _has_terms(self):
            raise AttributeError(_NO_TERMS)
        check_is_fitted(self)
        return self.slope_ * self.estimator_.intercept_ + self.offset_

    def score(self, X, y, sample_weight=None):
        """Return the accuracy. Computed without noise: not private.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = is_private(self)
        if isinstance(self.estimator, BaseLinear):
            tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags


def _log_odds(estimator, X):
    """Return decision values, or of several classes those of each against all others.

    The latter are log-odds of the softmax of decision values.
    """
    values = np.asarray(estimator.decision_function(X), dtype=np.float64)
    if values.ndim == 1:
        return values[:, np.newaxis]
    others = [logsumexp(np.delete(values, k, axis=1), axis=1) for k in range(values.shape[1])]
    return values - np.transpose(others)


def _fit_class(values, is_positive, rows, plan, steps):
    """Return slope and offset of a class from noisy counts of records by decision value."""
    query = CountsAndPlaces(plan.n_bins, steps.mechanism, plan.most_rows_of_record)
    placed = place_scores(values[rows], is_positive[rows], plan.n_bins)
    scores, noise_std = query.by_bin(steps.ask(placed, query)), plan.mechanism.noise_std
    typical = typical_values(scores, noise_std)
    return fit_sigmoid(scores.negative, scores.positive, typical, noise_std)


def _bins(n_records, noise):
    """Return a number of bins that is large where noise is small."""
    if noise == 0.0:
        return 256
    return round(min(max((n_records / noise) ** 0.4, 8), 64))
