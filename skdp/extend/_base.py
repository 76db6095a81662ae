"""The base class of estimators of one's own: a fit in the order that keeps its guarantee."""

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_finite_input
from skdp._estimator import (
    BUDGET_CONSTRAINTS,
    NO_GROUPS,
    RecordPrivateEstimator,
    captioned_box,
    is_private,
)
from skdp._families.targets import as_targets, encode_labels
from skdp._release.plan import CLASSES_READ
from skdp._rows.bounds import null_records, present_records
from skdp._rows.numbers import validate_numbers
from skdp._rows.threads import single_threaded_blas
from skdp._sklearn import _fit_context, quietly
from skdp.extend._plan import Sizes, plan_own
from skdp.extend._run import FitRun

_MISSING = "the constructor of {} lacks the parameters that every private estimator has: {}."


class DPBaseEstimator(RecordPrivateEstimator):
    """Base class of a differentially private estimator of your own.

    You write the constructor, :meth:`plan_releases`, :meth:`learn` and what predicts or transforms.
    ``fit`` is here: it reads X and y, plans, charges the ledger if there is one, has ``learn`` make
    the releases, and publishes the report as ``privacy_report_``. For a classifier or a regressor
    take :class:`DPBaseClassifier` or :class:`DPBaseRegressor`. Mixins of scikit-learn stand on the
    left, as in ``class DPScaler(TransformerMixin, DPBaseEstimator)``.

    The constructor must have the parameters `epsilon`, `delta`, `adjacency`, `ledger` and
    `random_state`, with the defaults below.

    **Guarantee.** What ``run`` returns in :meth:`learn` is as private as the report says, if the
    bounds that you state hold. A :class:`Sum` holds to its bound by construction, where the part of
    a record follows from that record alone. That nothing else of the data is published, nobody can
    prove for you: :func:`skdp.utils.estimator_checks.check_private_estimator` looks for what breaks
    it.

    Attributes
    ----------
    privacy_report_ : skdp.accountant.PrivacyReport
        The guarantee of this fit.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string column names.

    See Also
    --------
    skdp.utils.estimator_checks.check_private_estimator : Checks an estimator.

    Examples
    --------
    The mean of rows, each shortened to a public length:

    >>> import numpy as np
    >>> from skdp.extend import DPBaseEstimator, Sum
    >>> class DPMean(DPBaseEstimator):
    ...     def __init__(self, *, data_norm=1.0, epsilon=1.0, delta="auto", adjacency="zero_out",
    ...                  ledger=None, random_state=None):
    ...         self.data_norm = data_norm
    ...         self.epsilon = epsilon
    ...         self.delta = delta
    ...         self.adjacency = adjacency
    ...         self.ledger = ledger
    ...         self.random_state = random_state
    ...
    ...     def plan_releases(self, sizes):
    ...         return [Sum("sum of rows", shape=sizes.n_features, bound=self.data_norm)]
    ...
    ...     def learn(self, X, y, run):
    ...         self.mean_ = run.sum("sum of rows", lambda X: X, X) / run.n_records
    >>> fitted = DPMean(random_state=0).fit(np.full((10_000, 2), 0.5))
    >>> fitted.mean_.round(2), fitted.privacy_report_.names
    (array([0.5, 0.5]), ('sum of rows',))
    """

    _parameter_constraints = BUDGET_CONSTRAINTS

    def plan_releases(self, sizes):
        """Return what a fit releases, in any order.

        Parameters
        ----------
        sizes : Sizes
            Public sizes. Parameters are public, too, and there is nothing else to follow from.

        Returns
        -------
        releases : list
            Of :class:`Sum`, :class:`Value` and :class:`Choice`. ``learn`` must make all of them.

        Raises
        ------
        NotImplementedError
            If a class has no plan of its own.
        """
        raise NotImplementedError(f"{type(self).__name__} must have a method plan_releases(sizes).")

    def learn(self, X, y, run):
        """Make the releases, and publish what follows from them as attributes.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
            Records as finite floats.
        y : ndarray of shape (n,) or None
            For a classifier the places of labels in ``classes_``, for a regressor the targets as
            finite floats. None for others.
        run : FitRun
            Makes the releases.

        Raises
        ------
        NotImplementedError
            If a class has no such method of its own.
        """
        raise NotImplementedError(f"{type(self).__name__} must have a method learn(X, y, run).")

    def read_rows(self, X):
        """Return rows that are predicted or transformed, as finite floats.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            The rows; no message of an error quotes an entry.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator.
        """
        check_is_fitted(self)
        return validate_numbers(self, X, reset=False).astype(np.float64, copy=False)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Fit to records: plan, charge, release, publish.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Records.
        y : array-like of shape (n_samples,), default=None
            Labels of a classifier, or targets of a regressor; other estimators ignore it.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        RuntimeError
            If ``learn`` makes a release that isn't planned, or leaves one out.
        TypeError
            If the constructor lacks a parameter that every private estimator has.
        ValueError
            If a parameter, X or y is invalid.
        """
        self._check_constructor()
        X, y, n_outputs = self._read(X, y)
        plan = self._plan(X.shape[0], X.shape[1], n_outputs)
        # In tests and audits null records aren't there; a stage of the fit that looked for them
        # once more would look among others.
        X, y = present_records(X), None if y is None else present_records(y)
        run = plan.start(self.random_state)
        with (
            single_threaded_blas,
            np.errstate(all="ignore"),
            null_records([]),
            FitRun(run, plan, n_entries=len(X)) as own,
        ):
            self.learn(X, y, own)
        run.finish()
        self.privacy_report_ = plan.report(
            reproducible=run.reproducible, also_public=self._assumed()
        )
        return self

    def _read(self, X, y):
        """Return X, y as `learn` gets it, and the number of outputs as `preview` has it."""
        return _numbers(validate_numbers(self, X)), None, 1

    def _n_classes(self, n_outputs):
        """Return the number of classes, 0 where this is no classifier."""
        return 0

    def _check_constructor(self):
        lacking = [name for name in BUDGET_CONSTRAINTS if name not in self.get_params(deep=False)]
        if lacking:
            raise TypeError(_MISSING.format(type(self).__name__, ", ".join(lacking)))

    def _plan(self, n_records, n_features, n_outputs=1, *, by_group=False):
        # Also for a preview, which reads no records.
        self._check_constructor()
        if by_group:
            raise ValueError(NO_GROUPS.format("estimator", type(self).__name__))
        return plan_own(
            self._budget(n_records),
            self.plan_releases(Sizes(n_records, n_features, self._n_classes(n_outputs))),
            n_records=n_records,
            kind=f"{type(self).__module__}.{type(self).__qualname__}",
        )

    def _sk_visual_block_(self):
        return captioned_box(self)

    def _takes_sparse(self):
        return False


class DPBaseClassifier(ClassifierMixin, DPBaseEstimator):
    """Base class of a differentially private classifier of your own.

    You write the methods of :class:`DPBaseEstimator`. There are labels, and the constructor should
    have a parameter `classes` besides: the class set, which is public. Where that is None, the set
    is read from y, and the report says so.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    privacy_report_ : skdp.accountant.PrivacyReport
        The guarantee of this fit.

    Examples
    --------
    A classifier that predicts the most frequent class:

    >>> import numpy as np
    >>> from skdp.extend import DPBaseClassifier, Sum
    >>> class DPMajority(DPBaseClassifier):
    ...     def __init__(self, *, classes=None, epsilon=1.0, delta="auto", adjacency="zero_out",
    ...                  ledger=None, random_state=None):
    ...         self.classes = classes
    ...         self.epsilon = epsilon
    ...         self.delta = delta
    ...         self.adjacency = adjacency
    ...         self.ledger = ledger
    ...         self.random_state = random_state
    ...
    ...     def plan_releases(self, sizes):
    ...         return [Sum("counts of classes", shape=sizes.n_classes, bound=1.0)]
    ...
    ...     def learn(self, X, y, run):
    ...         is_class = np.eye(len(self.classes_))
    ...         self.counts_ = run.sum("counts of classes", lambda y: is_class[y], y)
    ...
    ...     def predict(self, X):
    ...         return np.full(len(self.read_rows(X)), self.classes_[self.counts_.argmax()])
    >>> X, y = np.zeros((300, 1)), np.repeat(["a", "b"], [100, 200])
    >>> DPMajority(classes=["a", "b"]).fit(X, y).predict(X[:1])
    array(['b'], dtype='<U1')
    """

    # Classes without such a parameter read the class set from y.
    classes: object = None

    def _read(self, X, y):
        X, y = validate_numbers(self, X, y)
        self.classes_, targets = encode_labels(y, self.classes)
        is_of_two = targets.shape[1] == 1
        places = targets[:, 0] > 0.0 if is_of_two else targets.argmax(axis=1)
        return _numbers(X), places.astype(np.intp), targets.shape[1]

    def _n_classes(self, n_outputs):
        return max(2, n_outputs)

    def _assumed(self):
        return (CLASSES_READ,) if self.classes is None else ()

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
        return tags


class DPBaseRegressor(RegressorMixin, DPBaseEstimator):
    """Base class of a differentially private regressor of your own.

    You write the methods of :class:`DPBaseEstimator`. Targets are floats, one number for each
    record, which has no bound until you give it one.

    Attributes
    ----------
    privacy_report_ : skdp.accountant.PrivacyReport
        The guarantee of this fit.

    Examples
    --------
    A regressor that predicts the mean of targets in a public range:

    >>> import numpy as np
    >>> from skdp.extend import DPBaseRegressor, Sum
    >>> class DPMean(DPBaseRegressor):
    ...     def __init__(self, *, reach=1.0, epsilon=1.0, delta="auto", adjacency="zero_out",
    ...                  ledger=None, random_state=None):
    ...         self.reach = reach
    ...         self.epsilon = epsilon
    ...         self.delta = delta
    ...         self.adjacency = adjacency
    ...         self.ledger = ledger
    ...         self.random_state = random_state
    ...
    ...     def plan_releases(self, sizes):
    ...         return [Sum("sum of targets", shape=(), bound=self.reach)]
    ...
    ...     def learn(self, X, y, run):
    ...         self.mean_ = run.sum("sum of targets", lambda y: y, y) / run.n_records
    ...
    ...     def predict(self, X):
    ...         return np.full(len(self.read_rows(X)), self.mean_)
    >>> fitted = DPMean(random_state=0).fit(np.zeros((10_000, 1)), np.full(10_000, 0.5))
    >>> round(fitted.mean_, 2)
    0.5
    """

    def _read(self, X, y):
        X, y = validate_numbers(self, X, y, y_numeric=True)
        return _numbers(X), as_targets(y)[:, 0], 1

    def score(self, X, y, sample_weight=None):
        """Return the coefficient of determination R2. Computed without noise: not private.

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
            R2 of the predictions.

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
        tags.regressor_tags.poor_score = is_private(self)
        return tags


def _numbers(X):
    """Return records as float64, none of which has an entry that isn't finite."""
    check_finite_input(X, "X")
    return X.astype(np.float64, copy=False)
