"""Intervals and sets of labels that cover a new record's outcome with a stated probability."""

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier, is_regressor
from sklearn.utils import get_tags

from skdp._estimator import is_private, model_of
from skdp._families.targets import encode_labels
from skdp._rows.containers import RefusedValueError
from skdp._sklearn import quietly
from skdp.calibration._conformal_base import BaseConformal, Outcomes
from skdp.linear_model._fit import BaseLinear
from skdp.metrics._scorings import predict, probabilities, read_labels, read_targets

_NO_PROBABILITIES = (
    "estimator has no predict_proba, which sets of labels need: put a private classifier without "
    "probabilities into a DPCalibratedClassifier, and one that was fitted before into a "
    "CalibratedClassifierCV of scikit-learn."
)
_ONE_TARGET = (
    "y must have one dimension: intervals are for one target. Take a DPConformalRegressor for each "
    "target, with a share of epsilon and delta, and of 1 - confidence_level where all targets of a "
    "record are to be covered together."
)
_ONE_PREDICTION = "predict must give one number for each row."


class DPConformalRegressor(RegressorMixin, BaseConformal):
    r"""Predict intervals that hold a new record's target with a stated probability.

    Some of the records are kept apart by chance, and the estimator is fitted to the others. Noisy
    counts of the errors on the records kept apart give a width q, so that for a new record

    .. math:: P(\hat y(x) - q \le y \le \hat y(x) + q) \ge \text{confidence\_level},

    whatever the estimator and the distribution of the records are. The probability is over the new
    record, the calibration records and the noise. It needs records that are drawn alike, the new
    one included.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its target) under `adjacency`, or for a fit with `groups`, for one group. A
    record is in one part only, and costs what that part costs: both parts have the whole budget.
    Around a frozen estimator the guarantee is that of the counts alone. ``privacy_report_`` lists
    what is assumed public and what is not covered.

    Parameters
    ----------
    estimator : estimator
        A private regressor of :mod:`skdp.linear_model` or :mod:`skdp.additive`, or a
        :class:`skdp.pipeline.DPPipeline` that ends in one, which is fitted here. Its `epsilon`,
        `delta`, `adjacency`, `random_state` and `ledger` are set here: leave them at their
        defaults, which count as not given. Or any fitted regressor that predicts each row by
        itself, such as scikit-learn's, as ``sklearn.frozen.FrozenEstimator(model)``: it must have
        been fitted to other records.
    confidence_level : float, default=0.9
        Probability, within 1e-6 and 1 - 1e-9, that the target of a new record is in its interval,
        at least.
    calibration_size : float or "auto", default="auto"
        Share of the records, or groups, that are kept apart, in (0, 1). "auto" is 0.2 to 0.5, and
        as small as leaves the mean coverage close to the level; it follows from public numbers. All
        records calibrate a frozen estimator.
    epsilon : float, default=1.0
        Total privacy loss, above 0. ``float("inf")`` adds no noise.
    delta : float or "auto", default="auto"
        Probability, in [0, 1), that the loss may exceed `epsilon`; "auto" is 1e-5, and ``0.1 / n``
        for more than 10,000 records.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
    random_state : int, RandomState instance or None, default=None
        None draws all randomness from the operating system. A seed makes the fit reproducible, also
        for anyone who learns it and subtracts the noise. The report says that there was one.
    ledger : str, path or PrivacyLedger, default=None
        Budget of the study, to which the fit and the counts are charged once, before any noise is
        drawn; see :class:`skdp.ledger.PrivacyLedger`. None uses the ledger that the environment
        variable ``SKDP_LEDGER`` names; without it nothing is recorded.

    Attributes
    ----------
    estimator_ : estimator
        The fitted regressor, with a report of its own part; a frozen one as it was given.
    quantile_ : float
        Half the width of all intervals. It is infinite, with a warning, where the calibration
        records are too few for the level, the noise and how far apart their scores lie.
    n_calibration_ : int
        Number of records, or groups, that were kept apart.
    privacy_report_ : skdp.accountant.PrivacyReport
        The guarantee of this fit, including the regressor.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string column names.

    See Also
    --------
    DPConformalClassifier : Sets of labels with a stated coverage.
    skdp.linear_model.DPQuantileRegressor : Predictions of quantiles, without a stated coverage.

    Notes
    -----
    Split conformal prediction [1]_ takes the error of a rank as q. Here noisy counts stand for the
    order of errors: q is the end of the first bin up to which enough records are counted, by a band
    that the noise of all bins leaves in a small part of the cases only. That part, and what the new
    record adds, are taken off 1 - `confidence_level` beforehand. A quarter of the budget
    tells where fine bins are worth their noise, so that nothing has to be known of the targets'
    range. doc/theory/conformal.rst has the proof.

    With `groups`, what is covered is a row of a new group that is drawn at random.

    Intervals of all rows have one width, and cover more of the rows of one kind than of another.

    References
    ----------
    .. [1] Vovk, Gammerman and Shafer (2005). Algorithmic learning in a random world. Springer.
       Papadopoulos, Proedrou, Vovk and Gammerman (2002). Inductive confidence machines for
       regression. ECML.
    .. [2] Angelopoulos, Bates, Zrnic and Jordan (2022). Private prediction sets. Harvard Data
       Science Review.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.calibration import DPConformalRegressor
    >>> from skdp.linear_model import DPRidge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1.0, 1.0, (6000, 3))
    >>> y = X @ [1.0, -2.0, 0.5] + rng.normal(0.0, 0.3, 6000)
    >>> model = DPConformalRegressor(DPRidge(), random_state=0).fit(X[:4000], y[:4000])
    >>> low, high = model.predict_interval(X[4000:]).T
    >>> bool(0.88 < np.mean((low <= y[4000:]) & (y[4000:] <= high)) < 0.96)
    True
    """

    _kind = "regressor"
    _is_kind = staticmethod(is_regressor)
    _endless = "intervals are infinite"
    _wide = "intervals may be many times too wide"

    def predict_interval(self, X):
        """Predict an interval for the target of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2)
            Their lower and upper ends: the prediction less and plus ``quantile_``.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        predicted = np.asarray(self.predict(X), dtype=np.float64).reshape(-1, 1)
        return predicted + np.array([-self.quantile_, self.quantile_])

    def score(self, X, y, sample_weight=None):
        """Return R2 of the predictions. Computed without noise: not private.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,)
            True targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights in the score.

        Returns
        -------
        score : float
            R2.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X or y don't fit the estimator; no message quotes an entry of the data.
        """
        return quietly(super().score, X, y, sample_weight)

    def _read_with_y(self, X, y):
        if getattr(y, "ndim", 1) == 2 and y.shape[1] > 1:
            raise ValueError(_ONE_TARGET)
        return self._read(X, y, y_numeric=True)

    def _outcomes(self, y):
        return Outcomes(quietly(np.asarray, y, dtype=np.float64))

    def _outcomes_for(self, model, X, y):
        targets = read_targets(X, y)
        if targets.ndim > 1:
            raise ValueError(_ONE_TARGET)
        return Outcomes(targets)

    def _scores(self, estimator, X, outcomes, rows):
        targets = outcomes.values[rows]
        predicted = np.asarray(predict(estimator, X), dtype=np.float64)
        if predicted.shape != targets.shape:
            raise RefusedValueError(_ONE_PREDICTION)
        return np.abs(targets - predicted)

    def _publish(self, quantile, classes):
        self.quantile_ = quantile

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = is_private(self)
        tags.input_tags.sparse = _takes_sparse(self.estimator)
        return tags


class DPConformalClassifier(ClassifierMixin, BaseConformal):
    r"""Predict sets of labels that hold a new record's label with a stated probability.

    Some of the records are kept apart by chance, and the estimator is fitted to the others. Noisy
    counts of the probabilities of the true classes of the records kept apart give a threshold. The
    set of a row has all classes that are likelier than that, so that for a new record

    .. math:: P(y \in \text{set}(x)) \ge \text{confidence\_level},

    whatever the estimator and the distribution of the records are. The probability is over the new
    record, the calibration records and the noise. It needs records that are drawn alike, the new
    one included, and labels among the classes. Where these are read from y, the probability that a
    new label is none of them is to be taken off: declare the estimator's `classes`. Of a frozen
    estimator, records with labels that it knows are covered.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its label) under `adjacency`, or for a fit with `groups`, for one group. A
    record is in one part only, and costs what that part costs: both parts have the whole budget.
    Around a frozen estimator the guarantee is that of the counts alone. ``privacy_report_`` lists
    what is assumed public and what is not covered.

    Parameters
    ----------
    estimator : estimator
        A private classifier with probabilities of :mod:`skdp.linear_model` or :mod:`skdp.additive`,
        a :class:`skdp.pipeline.DPPipeline` that ends in one, or a :class:`DPCalibratedClassifier`,
        which is fitted here. Its `epsilon`, `delta`, `adjacency`, `random_state` and `ledger` are
        set here: leave them at their defaults, which count as not given. Declare its `classes`. Or
        any fitted classifier that predicts each row by itself, such as scikit-learn's, as
        ``sklearn.frozen.FrozenEstimator(model)``: it must have been fitted to other records.
    confidence_level : float, default=0.9
        Probability, within 1e-6 and 1 - 1e-9, that the label of a new record is in its set, at
        least.
    calibration_size : float or "auto", default="auto"
        Share of the records, or groups, that are kept apart, in (0, 1). "auto" is 0.2 to 0.5, and
        as small as leaves the mean coverage close to the level; it follows from public numbers. All
        records calibrate a frozen estimator.
    epsilon : float, default=1.0
        Total privacy loss, above 0. ``float("inf")`` adds no noise.
    delta : float or "auto", default="auto"
        Probability, in [0, 1), that the loss may exceed `epsilon`; "auto" is 1e-5, and ``0.1 / n``
        for more than 10,000 records.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
    random_state : int, RandomState instance or None, default=None
        None draws all randomness from the operating system. A seed makes the fit reproducible, also
        for anyone who learns it and subtracts the noise. The report says that there was one.
    ledger : str, path or PrivacyLedger, default=None
        Budget of the study, to which the fit and the counts are charged once, before any noise is
        drawn; see :class:`skdp.ledger.PrivacyLedger`. None uses the ledger that the environment
        variable ``SKDP_LEDGER`` names; without it nothing is recorded.

    Attributes
    ----------
    estimator_ : estimator
        The fitted classifier, with a report of its own part; a frozen one as it was given.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    quantile_ : float
        Largest odds against a class in a set: its probability is at least 1 / (1 + ``quantile_``).
        It is infinite, with a warning, where the calibration records are too few for the level,
        the noise and how far apart their scores lie: all sets then have all classes.
    n_calibration_ : int
        Number of records, or groups, that were kept apart.
    privacy_report_ : skdp.accountant.PrivacyReport
        The guarantee of this fit, including the classifier.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string column names.

    See Also
    --------
    DPConformalRegressor : Intervals with a stated coverage.
    DPCalibratedClassifier : Probabilities that are true frequencies.

    Notes
    -----
    The sets are those of least ambiguity [1]_ with a noisy quantile; see
    :class:`DPConformalRegressor` for how it allows for noise. A set may be empty, where no class is
    likely enough, and have several classes where the model is unsure. Coverage is over all records
    together: that of a rare class may be lower.

    With `groups`, what is covered is a row of a new group that is drawn at random.

    References
    ----------
    .. [1] Sadinle, Lei and Wasserman (2019). Least ambiguous set-valued classifiers with bounded
       error levels. Journal of the American Statistical Association.
    .. [2] Angelopoulos, Bates, Zrnic and Jordan (2022). Private prediction sets. Harvard Data
       Science Review.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from skdp.calibration import DPConformalClassifier
    >>> from skdp.linear_model import DPLogisticRegression
    >>> X, y = make_classification(n_samples=6000, n_features=5, random_state=0)
    >>> logistic = DPLogisticRegression(classes=[0, 1])
    >>> model = DPConformalClassifier(logistic, random_state=0).fit(X[:4000], y[:4000])
    >>> sets = model.predict_set(X[4000:])
    >>> bool(0.88 < sets[range(2000), y[4000:]].mean() < 0.96)
    True
    """

    _kind = "classifier"
    _is_kind = staticmethod(is_classifier)
    _endless = "sets have all classes"
    _wide = "sets may have many classes too many"

    def predict_set(self, X):
        """Predict a set of labels for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        sets : ndarray of shape (n_samples, n_classes) of bool
            Whether each class, in the order of ``classes_``, is in the set.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        # A probability that isn't a number excludes no class.
        return ~(_odds_against(self.predict_proba(X)) > self.quantile_)

    def predict_proba(self, X):
        """Estimate probabilities by the estimator.

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
        X = self._rows(X)
        return self.estimator_.predict_proba(X)

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

    def _check_estimator(self):
        super()._check_estimator()
        if not hasattr(self.estimator, "predict_proba"):
            raise ValueError(_NO_PROBABILITIES)

    def _read_with_y(self, X, y):
        return self._read(X, y)

    def _outcomes(self, y):
        classes, targets = encode_labels(y, model_of(self.estimator).classes)
        codes = targets.argmax(axis=1) if classes.size > 2 else (targets[:, 0] > 0.0)
        return Outcomes(codes.astype(np.int64), classes)

    def _outcomes_for(self, model, X, y):
        classes, codes = read_labels(model, X, y)
        return Outcomes(codes, classes)

    def _scores(self, estimator, X, outcomes, rows):
        codes = outcomes.values[rows]
        of_classes = probabilities(estimator, X, outcomes.classes.size)
        return _odds_against(of_classes)[np.arange(codes.size), codes]

    def _publish(self, quantile, classes):
        self.quantile_, self.classes_ = quantile, classes

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = is_private(self)
        tags.input_tags.sparse = _takes_sparse(self.estimator)
        return tags


def _takes_sparse(estimator):
    is_ours = isinstance(estimator, BaseLinear)
    return is_ours and get_tags(estimator).input_tags.sparse


@np.errstate(all="ignore")
def _odds_against(probability):
    """Return the odds against classes, infinite for a probability of 0."""
    probability = np.asarray(probability, dtype=np.float64)
    return np.maximum(1.0 - probability, 0.0) / probability
