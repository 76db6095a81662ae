"""DP-SGD: differentially private stochastic gradient descent."""

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from skdp._docs import shared_docs
from skdp._families.losses import LOSSES, Huber, Multinomial
from skdp._families.targets import encode_labels
from skdp._release.plan import CLASSES_READ
from skdp._sklearn import StrOptions, _fit_context
from skdp.linear_model._base import (
    MARGIN_CONSTRAINTS,
    POSITIVE,
    LinearClassifierMixin,
    LinearRegressorMixin,
    weights_public,
)
from skdp.linear_model.dpsgd._base import CONSTRAINTS, BaseDPSGD, takes_streams


@shared_docs
class DPSGDRegressor(LinearRegressorMixin, RegressorMixin, BaseDPSGD):
    r"""Linear regression by differentially private stochastic gradient descent (DP-SGD).

    Minimises, over rows :math:`x_i` in the units of a learnt ball (see `ball_budget`), or clipped
    to `data_norm` where none is learnt,

    .. math:: \frac{1}{n} \sum_i \ell(y_i - x_i^\top w) + \alpha\, \mathrm{penalty}(w)

    with :math:`\ell(r) = r^2 / 2` (``"squared_error"``), or for ``"huber"`` the same up to
    ``|r| = huber_threshold`` and linear beyond it.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its targets) under `adjacency`, for any data, whatever the other parameters;
    with ``mechanism="laplace"`` they are (`epsilon`, 0)-differentially private. ``privacy_report_``
    lists what is assumed public and what is not covered.

    Parameters
    ----------
    loss : {"squared_error", "huber"}, default="squared_error"
        Squared error, or Huber's loss, which bounds the influence of far targets.
    {penalty}
    alpha : float, default=1e-4
        Strength of the penalty, as in SGDRegressor.
    {l1_ratio}
    huber_threshold : float, default=1.35
        Size of the error, in the units of y, above which ``loss="huber"`` is linear.
    {fit_intercept, epsilon}
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 /
        n_samples`` where that is less. Ignored for ``mechanism="laplace"``, where the guarantee has
        delta = 0.
    {adjacency, accountant:dpsgd, mechanism:dpsgd, data_norm:regression}
    {ball_budget:dpsgd, target_bounds}
    max_iter : int or "auto", default="auto"
        Passes over the data, all of which are taken. "auto" is 10 for Gaussian noise and 1 for
        Laplace noise.
    {batch_size:dpsgd}
    clipping_norm : float or "auto", default="auto"
        Clipping bound on the L2 norm of a row's gradient, for all outputs together. "auto" is a
        share of the norm of a row at its bound. The share depends on the noise, and is near 1 with
        little noise; in `partial_fit` it is 0.3.
    average : bool, default=True
        Whether to return the mean of the second half of the iterates; in `partial_fit`, an average
        of all iterates in which late ones count more. It costs no privacy.
    learning_rate : {"constant", "invscaling", "inv_alpha"}, default="constant"
        Step sizes: `eta0`, ``eta0 / t ** power_t`` or ``1 / (alpha * t)`` at the step t = 1, 2, ...
    {eta0}
    power_t : float, default=0.5
        Exponent of ``learning_rate="invscaling"``.
    {n_jobs, ledger, random_state:dpsgd}

    {Attributes: coef_, intercept_, target_bounds_}
    n_iter_ : int
        Passes taken; after `partial_fit` the number of calls.
    batch_size_ : int
        Rows per step, of the largest batch where sizes differ; see `batch_size`.
    clipping_norm_ : float
        Bound to which a gradient was clipped; see `clipping_norm`.
    eta0_ : float
        First step size, after `partial_fit` that of the last call; see `eta0`.
    {ball, privacy_report_, n_features_in_, feature_names_in_}

    See Also
    --------
    DPSGDClassifier : Private classification by the same algorithm.
    DPSCDRegressor : Private ridge regression by dual coordinate descent.

    Notes
    -----
    The method is that of [1]_ (Laplace noise) and [2]_ (Gaussian noise), with proximal steps for
    the penalty, which are stable for every step size. The sum over a Poisson batch is divided by
    its expected size, which is public. The iterates are projected onto a ball that contains the
    minimum, of radius 1 / alpha for rows in the unit ball and a loss of slope 1 under the L2
    penalty, as in [1]_. Several outputs share batches, and are clipped and released together.

    {References: papers:dpsgd}

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from skdp.linear_model import DPSGDRegressor
    >>> X, y = make_regression(n_samples=1000, n_features=3, random_state=0)
    >>> model = DPSGDRegressor(epsilon=1.0, data_norm=3.0, target_bounds=(-300, 300))
    >>> model.fit(X, y).privacy_report_
    (1, 1e-05)-DP
    """

    _parameter_constraints = {  # noqa: RUF012
        **CONSTRAINTS,
        "loss": [StrOptions({"squared_error", "huber"})],
        "huber_threshold": [POSITIVE],
        "target_bounds": ["array-like", None],
    }

    def __init__(
        self,
        *,
        loss="squared_error",
        penalty="l2",
        alpha=1e-4,
        l1_ratio=0.5,
        huber_threshold=1.35,
        fit_intercept=True,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        accountant="pld",
        mechanism="gaussian",
        data_norm=1.0,
        ball_budget="auto",
        target_bounds=None,
        max_iter="auto",
        batch_size="auto",
        clipping_norm="auto",
        average=True,
        learning_rate="constant",
        eta0="auto",
        power_t=0.5,
        n_jobs=None,
        ledger=None,
        random_state=None,
    ):
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.huber_threshold = huber_threshold
        self.fit_intercept = fit_intercept
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.accountant = accountant
        self.mechanism = mechanism
        self.data_norm = data_norm
        self.ball_budget = ball_budget
        self.target_bounds = target_bounds
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.clipping_norm = clipping_norm
        self.average = average
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.n_jobs = n_jobs
        self.ledger = ledger
        self.random_state = random_state

    @available_if(takes_streams)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y, public_weight=None):
        """Take one private step on records that were not used before.

        {stream}

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            New rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets.
        public_weight : array-like of shape (n_samples,), default=None
            Weight of each record of the call, see `fit`. Weights are divided by their mean over the
            call, so only ratios within a call matter; not all may be 0.

        {Returns: self}

        {Raises: BudgetExceededError}
        ValueError
            If a parameter or the input is invalid, or a parameter that fixes the units changed
            since the first call; no message quotes an entry of the data.
        """
        # 1. scikit-learn's contract; its decorator checks parameters in the first call only
        self._validate_params()
        X, y = self._read(X, y, order="C", reset=self._stream is None)
        self._check_options(X.shape[0])
        targets, units, weights = self._read_targets(y, public_weight)

        # 2. bound the data
        rows = weights.without_zero_weights(self._certified_rows(X))

        # 3. plan from public numbers, 4. solve and 5. publish
        also_public = weights_public(public_weight) + self._assumed()
        coefs = self._take_in(rows, targets, weights, units[:2], also_public)
        self._set_ball(None)
        self._set_coefs(coefs, rows.bias, units)
        return self

    def _has_share_for_targets(self):
        # Steps that follow from numbers in the units of y are planned before a range is learnt.
        in_units_of_y = self.loss == "huber" or self._penalty().l1 > 0.0
        return not in_units_of_y and super()._has_share_for_targets()

    def _loss(self, n_outputs):
        if self.loss == "huber":
            return Huber(self.huber_threshold / self._half_width())
        return LOSSES["squared_error"]


@shared_docs
class DPSGDClassifier(LinearClassifierMixin, ClassifierMixin, BaseDPSGD):
    r"""Logistic regression and SVM by differentially private stochastic gradient descent (DP-SGD).

    Minimises, over rows :math:`x_i` in the units of a learnt ball (see `ball_budget`), or clipped
    to `data_norm` where none is learnt, and labels :math:`y_i \in \{-1, 1\}`,

    .. math:: \frac{1}{n} \sum_i \ell(y_i\, x_i^\top w) + \alpha\, \mathrm{penalty}(w)

    with :math:`\ell(z) = \log(1 + e^{-z})` (``"log_loss"``) or
    :math:`\ell(z) = \max(0, 1 - z)` (``"hinge"``).
    With several classes, ``"log_loss"`` is the multinomial logistic loss, and ``"hinge"`` solves
    one such problem for each class against the rest.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its label) under `adjacency`, for any data, whatever the other parameters;
    with ``mechanism="laplace"`` they are (`epsilon`, 0)-differentially private. With
    ``classes=None`` the set of classes is read from y and assumed public. ``privacy_report_`` lists
    what is assumed public and what is not covered.

    Parameters
    ----------
    loss : {"log_loss", "hinge"}, default="log_loss"
        Logistic regression or linear support vector machine.
    {penalty}
    alpha : float, default=1e-4
        Strength of the penalty, as in SGDClassifier.
    {l1_ratio, fit_intercept:classification, classes, class_weight, epsilon}
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 /
        n_samples`` where that is less. Ignored for ``mechanism="laplace"``, where the guarantee has
        delta = 0.
    {adjacency, accountant:dpsgd, mechanism:dpsgd, data_norm:classification}
    {ball_budget:dpsgd}
    max_iter : int or "auto", default="auto"
        Passes over the data, all of which are taken. "auto" is 10 for Gaussian noise and 1 for
        Laplace noise.
    {batch_size:dpsgd}
    clipping_norm : float or "auto", default="auto"
        Clipping bound on the L2 norm of a row's gradient, for all outputs together. "auto" is the
        norm of a row at its bound for "hinge". For "log_loss" it is a share of that norm. The share
        depends on the noise, and is near 1 with little noise, so rare classes aren't clipped; in
        `partial_fit` it is 0.3.
    average : bool, default=True
        Whether to return the mean of the second half of the iterates; in `partial_fit`, an average
        of all iterates in which late ones count more. It costs no privacy.
    learning_rate : {"constant", "invscaling", "inv_alpha"}, default="constant"
        Step sizes: `eta0`, ``eta0 / t ** power_t`` or ``1 / (alpha * t)`` at the step t = 1, 2, ...
    {eta0}
    power_t : float, default=0.5
        Exponent of ``learning_rate="invscaling"``.
    {n_jobs, ledger, random_state:dpsgd}

    {Attributes: classes_, coef_:classification, intercept_:classification}
    n_iter_ : int
        Passes taken; after `partial_fit` the number of calls.
    batch_size_ : int
        Rows per step, of the largest batch where sizes differ; see `batch_size`.
    clipping_norm_ : float
        Bound to which a gradient was clipped; see `clipping_norm`.
    eta0_ : float
        First step size, after `partial_fit` that of the last call; see `eta0`.
    {ball, privacy_report_, n_features_in_, feature_names_in_}

    See Also
    --------
    DPSGDRegressor : Private regression by the same algorithm.
    DPSCDClassifier : Private classification by dual coordinate descent.

    Notes
    -----
    The method is that of [1]_ (Laplace noise) and [2]_ (Gaussian noise), with proximal steps for
    the penalty, which are stable for every step size. The sum over a Poisson batch is divided by
    its expected size, which is public. The iterates are projected onto a ball that contains the
    minimum, of radius 1 / alpha for rows in the unit ball and a loss of slope 1 under the L2
    penalty, as in [1]_. The classes share batches, and are clipped and released together: each adds
    noise, but none takes a share of the budget.

    {References: papers:dpsgd}

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from skdp.linear_model import DPSGDClassifier
    >>> X, y = make_classification(n_samples=1000, n_features=5, random_state=0)
    >>> model = DPSGDClassifier(epsilon=1.0, data_norm=3.0, classes=[0, 1])
    >>> model.fit(X, y).privacy_report_
    (1, 1e-05)-DP
    >>> model.set_params(mechanism="laplace").fit(X, y).privacy_report_
    (1, 0)-DP
    """

    # Whether the classes of the last fit were read from y, which they were if nobody recorded it.
    _classes_read = True

    _parameter_constraints = {**CONSTRAINTS, **MARGIN_CONSTRAINTS}  # noqa: RUF012

    def __init__(
        self,
        *,
        loss="log_loss",
        penalty="l2",
        alpha=1e-4,
        l1_ratio=0.5,
        fit_intercept=True,
        classes=None,
        class_weight=None,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        accountant="pld",
        mechanism="gaussian",
        data_norm=1.0,
        ball_budget="auto",
        max_iter="auto",
        batch_size="auto",
        clipping_norm="auto",
        average=True,
        learning_rate="constant",
        eta0="auto",
        power_t=0.5,
        n_jobs=None,
        ledger=None,
        random_state=None,
    ):
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.classes = classes
        self.class_weight = class_weight
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.accountant = accountant
        self.mechanism = mechanism
        self.data_norm = data_norm
        self.ball_budget = ball_budget
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.clipping_norm = clipping_norm
        self.average = average
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.n_jobs = n_jobs
        self.ledger = ledger
        self.random_state = random_state

    @available_if(takes_streams)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y, classes=None, public_weight=None):
        """Take one private step on records that were not used before.

        {stream}

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            New rows.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like, default=None
            All classes that may occur. Needed in the first call, unless the estimator has them.
        public_weight : array-like of shape (n_samples,), default=None
            Weight of each record of the call, see `fit`. Weights are divided by their mean over the
            call, so only ratios within a call matter; not all may be 0.

        {Returns: self}

        {Raises: BudgetExceededError}
        ValueError
            If a parameter or the input is invalid, the classes are missing or differ from earlier
            calls, or a parameter that fixes the units changed since the first call; no message
            quotes an entry of the data.
        """
        # 1. scikit-learn's contract; its decorator checks parameters in the first call only
        self._validate_params()
        first = self._stream is None
        X, y = self._read(X, y, order="C", reset=first)
        classes, read_from_y = self._declared(classes, first)
        classes, targets = encode_labels(y, classes)
        self._check_options(X.shape[0])
        weights = self._weigh(public_weight, X.shape[0], classes, targets)

        # 2. bound the data
        rows = weights.without_zero_weights(self._certified_rows(X))
        also_public = (CLASSES_READ,) if read_from_y else ()
        also_public += weights_public(public_weight)

        # 3. plan from public numbers, 4. solve and 5. publish
        coefs = self._take_in(rows, targets, weights, (), also_public)
        self._set_ball(None)
        self._set_coefs(coefs, rows.bias, classes)
        self._classes_read = read_from_y
        return self

    def _set_coefs(self, coefs, bias, classes):
        super()._set_coefs(coefs, bias, classes)
        self._classes_read = self.classes is None

    def _declared(self, classes, first):
        """Return the classes of a stream, and whether a fit before it read them from y."""
        known = self.classes if first else self.classes_
        given = known if classes is None else classes
        both = known is not None and classes is not None
        if both and set(np.ravel(given).tolist()) != set(np.ravel(known).tolist()):
            raise ValueError("classes must be the same in every call of partial_fit.")
        if given is None and not hasattr(self, "classes_"):
            raise ValueError("classes must be given to the first call of partial_fit.")
        report = getattr(self, "privacy_report_", None)
        was_read = report is not None and self._classes_read
        if given is None:
            return self.classes_, was_read
        return given, was_read and not first

    def _loss(self, n_outputs):
        if self.loss == "log_loss" and n_outputs > 1:
            return Multinomial(n_outputs)
        return LOSSES[self.loss]
