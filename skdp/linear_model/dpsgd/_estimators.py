"""DP-SGD: differentially private stochastic gradient descent."""

from dataclasses import replace

from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from skdp._families.losses import Huber
from skdp._families.penalties import make_penalty
from skdp._release.plan import CLASSES_READ
from skdp._sklearn import StrOptions, _fit_context
from skdp.linear_model._base import (
    MARGIN_CONSTRAINTS,
    POSITIVE,
    LinearClassifierMixin,
    LinearRegressorMixin,
    weights_public,
)
from skdp.linear_model._fit import read_numbers_of
from skdp.linear_model._memory import MemoryRows
from skdp.linear_model.dpsgd._base import (
    CONSTRAINTS,
    BaseDPSGD,
    declared_classes,
    take_in,
    takes_streams,
)


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
    penalty : {"l2", "l1", "elasticnet"}, default="l2"
        ``||w||^2 / 2``, ``||w||_1``, or ``l1_ratio`` of the second and the rest of the first.
    alpha : float, default=1e-4
        Strength of the penalty, as in SGDRegressor.
    l1_ratio : float, default=0.5
        Share of the L1 penalty for ``penalty="elasticnet"``.
    huber_threshold : float, default=1.35
        Size of the error, in the units of y, above which ``loss="huber"`` is linear.
    fit_intercept : bool, default=True
        Whether to fit an intercept. It is penalised like the coefficients, by its distance from the
        middle of the bounds of the targets, given or learnt (from 0 without them). It belongs to a
        constant column, equal to a third of the ball's radius, or of `data_norm` where no ball is
        learnt.
    epsilon : float, default=1.0
        Privacy loss, above 0. ``float("inf")`` runs the same code without noise or bounds.
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 /
        n_samples`` where that is less. Ignored for ``mechanism="laplace"``, where the guarantee has
        delta = 0.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
    accountant : {"pld", "rdp"}, default="pld"
        How the privacy of many steps is composed: privacy loss distributions (tight) or Renyi
        differential privacy (for comparison; zero_out only). Without effect for
        ``mechanism="laplace"``, where epsilons are added.
    mechanism : {"gaussian", "laplace"}, default="gaussian"
        "gaussian" draws Poisson batches, which amplify privacy. "laplace" gives the pure guarantee
        (delta = 0) of the paper, by spherical noise on disjoint batches. These are drawn without
        looking at the data, so a record takes part in one release per pass. Several passes share
        `epsilon`. It allows personal budgets (see `fit`) and streams (`partial_fit`).
    data_norm : float, default=1.0
        Public bound on the L2 norm of a row. Where a ball is learnt (see `ball_budget`), it may be
        far too wide. Otherwise longer rows are clipped to it in `fit`, but not in `predict`: put
        ``skdp.preprocessing.NormClipper(data_norm)`` before the estimator, or predictions for long
        rows are far off. In that case take the length of a typical row: ``sqrt(0.2 * a + b)`` for
        `a` numbers in [-1, 1] and `b` one-hot coded columns, counted before coding. A bound ten
        times too wide can cost all accuracy. `skdp.preprocessing.BoundsScaler` gives features
        public ranges.
    ball_budget : float or "auto", default="auto"
        Share of the budget (of the squared Gaussian-DP parameter), in [0, 1), for learning the ball
        that contains the rows: a centre, a scale for each column, and a radius. `alpha` penalises
        the scaled columns, as after a StandardScaler, and rows beyond the radius count less. For a
        regressor without `target_bounds`, a quarter of the share learns these. With 0 no ball is
        learnt, and public bounds clip the rows about 0. "auto" is 0.12, more for targets and where
        the records are few, and 0 where noise would hide the ball or where another setting refers
        to rows that are not scaled: see :doc:`/theory/ball`.
    target_bounds : pair of floats (low, high), default=None
        Public range of y. Targets beyond it are clipped to it, and training works on targets mapped
        to [-1, 1] (without an intercept: divided by the larger absolute bound). None learns a range
        of most targets where a ball is learnt (see `ball_budget`) and the objective has no number
        in the units of y, such as the strength of an L1 penalty or the threshold of Huber's loss.
        Elsewhere y is used unchanged, with a warning: the fit is still private, but accurate only
        if the targets are within about [-1, 1]. Where a range would be learnt, a fit with
        ``epsilon=float("inf")`` and an intercept subtracts the mean of y first.
    max_iter : int or "auto", default="auto"
        Passes over the data, all of which are taken. "auto" is 10 for Gaussian noise and 1 for
        Laplace noise.
    batch_size : int or "auto", default="auto"
        Rows per step: the expected number for Gaussian noise, the largest number for Laplace noise.
        "auto" is a function of public numbers: half the square root of n_samples, at least 8, or
        more for Gaussian noise where a smaller batch would gain no further amplification. With
        personal budgets, records of a smaller epsilon have larger batches.
    clipping_norm : float or "auto", default="auto"
        Clipping bound on the L2 norm of a row's gradient, for all outputs together. "auto" is a
        share of the norm of a row at its bound. The share depends on the noise, and is near 1 with
        little noise; in `partial_fit` it is 0.3.
    average : bool, default=True
        Whether to return the mean of the second half of the iterates; in `partial_fit`, an average
        of all iterates in which late ones count more. It costs no privacy.
    learning_rate : {"constant", "invscaling", "inv_alpha"}, default="constant"
        Step sizes: `eta0`, ``eta0 / t ** power_t`` or ``1 / (alpha * t)`` at the step t = 1, 2, ...
    eta0 : float or "auto", default="auto"
        First step size. "auto" balances the noise that a fit adds to the weights against how far
        its rows can move them; it is a function of the numbers of rows and columns and of the
        parameters. Where steps would be too long to be stable, "auto" also uses momentum. In
        `partial_fit`, where the number of later calls is unknown, it falls with the number of
        calls. Ignored for ``learning_rate="inv_alpha"``.
    power_t : float, default=0.5
        Exponent of ``learning_rate="invscaling"``.
    n_jobs : int, default=None
        Threads that share a step, as in joblib. They are used only where a step has enough work to
        pay for them; the result is the same to the last bit for every value.
    verbose : int, default=0
        Above 0, a fit shows how far it is: the releases of its plan that are made, and nothing of
        the data (:ref:`progress`). 1 moves a bar where tqdm is installed and a terminal or notebook
        shows it, and prints lines elsewhere. 2 always prints lines.
    ledger : str, path or PrivacyLedger, default=None
        Budget of the study, to which a fit is charged before its noise is drawn; see
        :class:`skdp.ledger.PrivacyLedger`. None uses the ledger that the environment variable
        ``SKDP_LEDGER`` names; without it nothing is recorded.
    random_state : int, RandomState instance or None, default=None
        None draws all randomness from the operating system. A seed makes the fit reproducible, also
        for anyone who learns it and subtracts the noise. Fits with an equal seed share their noise
        (so do the folds of a cross-validation, which clones the seed), and their guarantees don't
        compose. The report says that there was a seed. Within a stream each call of `partial_fit`
        has noise of its own; streams of one seed share it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Coefficients, in the units of y. A table of one target has the shape of a flat y here and in
        predictions, as for scikit-learn's Ridge; `intercept_` is an array then.
    intercept_ : float or ndarray of shape (n_outputs,)
        Intercept.
    target_bounds_ : tuple (low, high)
        Bounds to which predictions are clipped: those of the targets, given or learnt, with an
        entry for each of several learnt targets. Infinite where there are none, and without
        privacy.
    n_iter_ : int
        Passes taken; after `partial_fit` the number of calls.
    batch_size_ : int
        Rows per step, of the largest batch where sizes differ; see `batch_size`.
    clipping_norm_ : float
        Bound to which a gradient was clipped; see `clipping_norm`.
    eta0_ : float
        First step size, after `partial_fit` that of the last call; see `eta0`.
    center_ : ndarray of shape (n_features,)
        Learnt centre of the rows; 0 without an intercept. This attribute and the next two exist
        only if a ball was learnt.
    scale_ : ndarray of shape (n_features,)
        Divisors of the columns: about the size of most of their entries that are not 0. Without
        privacy, their standard deviations.
    radius_ : float
        Radius of the ball. Rows ``(x - center_) / scale_`` that are longer count less, by the
        radius over their length.
    privacy_report_ : skdp.accountant.PrivacyReport
        The guarantee of this fit.
    delta_ : float
        The delta of that guarantee; see `delta`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string column names.

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

    References
    ----------
    .. [1] Song, Chaudhuri and Sarwate (2013). Stochastic gradient descent with
       differentially private updates. GlobalSIP. Equations 5 and 6, theorem 1.
    .. [2] Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar and Zhang (2016). Deep learning with
       differential privacy. CCS. Algorithm 1.

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
        verbose=0,
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
        self.verbose = verbose
        self.ledger = ledger
        self.random_state = random_state

    @available_if(takes_streams)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y, public_weight=None):
        """Take one private step on records that were not used before.

        Available for ``mechanism="laplace"``. All rows of a call form one batch, used once. Records
        of different calls belong to different people, so the guarantee of all calls together is
        that of the least private one: the report's epsilon doesn't grow. A record in several calls
        breaks this assumption, and has the sum of their epsilons. So does a call that is repeated
        from a copy (a checkpoint, a pickle): a ledger charges it again, and without a ledger
        nothing detects it. All state between calls is computed from releases. `fit` starts afresh,
        and so does the first call after it.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            New rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets.
        public_weight : array-like of shape (n_samples,), default=None
            Weight of each record of the call, see `fit`. Weights are divided by their mean over the
            call, so only ratios within a call matter; not all may be 0.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        BudgetExceededError
            If there is a ledger, and too little is left in it.
        ValueError
            If a parameter or the input is invalid, or a parameter that fixes the units changed
            since the first call; no message quotes an entry of the data.
        """
        # scikit-learn's decorator checks parameters in the first call only.
        self._validate_params()
        method, family = self._method(), self._family()
        X, y = read_numbers_of(self, family, X, y, order="C", reset=self._stream is None)
        family.check_settings()
        targets, units = family.read(y)
        method.check((*X.shape, targets.shape[1]), family)
        weights = family.weigh(public_weight, len(targets))

        rows = MemoryRows(method.treatment(family), X, targets, weights)
        take_in(
            self,
            method,
            rows,
            units,
            fixed_units=(units.midpoint, units.half_width),
            also_public=weights_public(public_weight) + self._assumed(),
        )
        return self

    def _family(self, *, has_exposure=False):
        family = super()._family(has_exposure=has_exposure)
        penalty = make_penalty(self.penalty, float(self.alpha), float(self.l1_ratio))
        if self.loss == "huber":
            loss = Huber(self.huber_threshold / family.half_width)
            return replace(family, own_loss=loss, may_learn=False)
        # Steps that follow from numbers in the units of y are planned before a range is learnt.
        return replace(family, may_learn=False) if penalty.l1 > 0.0 else family


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
    penalty : {"l2", "l1", "elasticnet"}, default="l2"
        ``||w||^2 / 2``, ``||w||_1``, or ``l1_ratio`` of the second and the rest of the first.
    alpha : float, default=1e-4
        Strength of the penalty, as in SGDClassifier.
    l1_ratio : float, default=0.5
        Share of the L1 penalty for ``penalty="elasticnet"``.
    fit_intercept : bool, default=True
        Whether to fit an intercept. It is penalised like the coefficients, as in LinearSVC. It
        belongs to a constant column, equal to a third of the ball's radius, or of `data_norm` where
        no ball is learnt.
    classes : array-like, default=None
        The class set. None reads it from y, which reveals whether a rare class occurs; declare it
        if that is not public. Labels outside it are refused, classes without a row are kept.
    class_weight : dict, default=None
        Public weights of the classes, by label; a class without one has 1. A record counts as many
        times as the weight of its label, and is clipped to the same bound as all others, so the
        label stays private. Weights that balance classes are ``1 / (n_classes * share)``, with
        shares that are known or guessed without the data. "balanced" would read the shares from the
        data, and is refused. None gives all classes the weight 1.
    epsilon : float, default=1.0
        Privacy loss, above 0. ``float("inf")`` runs the same code without noise or bounds.
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 /
        n_samples`` where that is less. Ignored for ``mechanism="laplace"``, where the guarantee has
        delta = 0.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
    accountant : {"pld", "rdp"}, default="pld"
        How the privacy of many steps is composed: privacy loss distributions (tight) or Renyi
        differential privacy (for comparison; zero_out only). Without effect for
        ``mechanism="laplace"``, where epsilons are added.
    mechanism : {"gaussian", "laplace"}, default="gaussian"
        "gaussian" draws Poisson batches, which amplify privacy. "laplace" gives the pure guarantee
        (delta = 0) of the paper, by spherical noise on disjoint batches. These are drawn without
        looking at the data, so a record takes part in one release per pass. Several passes share
        `epsilon`. It allows personal budgets (see `fit`) and streams (`partial_fit`).
    data_norm : float, default=1.0
        Public bound on the L2 norm of a row. Where a ball is learnt (see `ball_budget`), it may be
        far too wide. Otherwise longer rows are clipped to it in `fit`, but not in `predict`: put
        ``skdp.preprocessing.NormClipper(data_norm)`` before the estimator, or probabilities of long
        rows are overconfident. In that case take the length of a typical row: ``sqrt(0.2 * a + b)``
        for `a` numbers in [-1, 1] and `b` one-hot coded columns, counted before coding. A bound ten
        times too wide can cost all accuracy. `skdp.preprocessing.BoundsScaler` gives features
        public ranges.
    ball_budget : float or "auto", default="auto"
        Share of the budget (of the squared Gaussian-DP parameter), in [0, 1), for learning the ball
        that contains the rows: a centre, a scale for each column, and a radius. `alpha` penalises
        the scaled columns, as after a StandardScaler, and rows beyond the radius count less. For a
        regressor without `target_bounds`, a quarter of the share learns these. With 0 no ball is
        learnt, and public bounds clip the rows about 0. "auto" is 0.12, more for targets and where
        the records are few, and 0 where noise would hide the ball or where another setting refers
        to rows that are not scaled: see :doc:`/theory/ball`.
    max_iter : int or "auto", default="auto"
        Passes over the data, all of which are taken. "auto" is 10 for Gaussian noise and 1 for
        Laplace noise.
    batch_size : int or "auto", default="auto"
        Rows per step: the expected number for Gaussian noise, the largest number for Laplace noise.
        "auto" is a function of public numbers: half the square root of n_samples, at least 8, or
        more for Gaussian noise where a smaller batch would gain no further amplification. With
        personal budgets, records of a smaller epsilon have larger batches.
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
    eta0 : float or "auto", default="auto"
        First step size. "auto" balances the noise that a fit adds to the weights against how far
        its rows can move them; it is a function of the numbers of rows and columns and of the
        parameters. Where steps would be too long to be stable, "auto" also uses momentum. In
        `partial_fit`, where the number of later calls is unknown, it falls with the number of
        calls. Ignored for ``learning_rate="inv_alpha"``.
    power_t : float, default=0.5
        Exponent of ``learning_rate="invscaling"``.
    n_jobs : int, default=None
        Threads that share a step, as in joblib. They are used only where a step has enough work to
        pay for them; the result is the same to the last bit for every value.
    verbose : int, default=0
        Above 0, a fit shows how far it is: the releases of its plan that are made, and nothing of
        the data (:ref:`progress`). 1 moves a bar where tqdm is installed and a terminal or notebook
        shows it, and prints lines elsewhere. 2 always prints lines.
    ledger : str, path or PrivacyLedger, default=None
        Budget of the study, to which a fit is charged before its noise is drawn; see
        :class:`skdp.ledger.PrivacyLedger`. None uses the ledger that the environment variable
        ``SKDP_LEDGER`` names; without it nothing is recorded.
    random_state : int, RandomState instance or None, default=None
        None draws all randomness from the operating system. A seed makes the fit reproducible, also
        for anyone who learns it and subtracts the noise. Fits with an equal seed share their noise
        (so do the folds of a cross-validation, which clones the seed), and their guarantees don't
        compose. The report says that there was a seed. Within a stream each call of `partial_fit`
        has noise of its own; streams of one seed share it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients; one row if there are two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    n_iter_ : int
        Passes taken; after `partial_fit` the number of calls.
    batch_size_ : int
        Rows per step, of the largest batch where sizes differ; see `batch_size`.
    clipping_norm_ : float
        Bound to which a gradient was clipped; see `clipping_norm`.
    eta0_ : float
        First step size, after `partial_fit` that of the last call; see `eta0`.
    center_ : ndarray of shape (n_features,)
        Learnt centre of the rows; 0 without an intercept. This attribute and the next two exist
        only if a ball was learnt.
    scale_ : ndarray of shape (n_features,)
        Divisors of the columns: about the size of most of their entries that are not 0. Without
        privacy, their standard deviations.
    radius_ : float
        Radius of the ball. Rows ``(x - center_) / scale_`` that are longer count less, by the
        radius over their length.
    privacy_report_ : skdp.accountant.PrivacyReport
        The guarantee of this fit.
    delta_ : float
        The delta of that guarantee; see `delta`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string column names.

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

    References
    ----------
    .. [1] Song, Chaudhuri and Sarwate (2013). Stochastic gradient descent with
       differentially private updates. GlobalSIP. Equations 5 and 6, theorem 1.
    .. [2] Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar and Zhang (2016). Deep learning with
       differential privacy. CCS. Algorithm 1.

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

    # Classes count as read from y where the last fit recorded nothing of them.
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
        verbose=0,
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
        self.verbose = verbose
        self.ledger = ledger
        self.random_state = random_state

    @available_if(takes_streams)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y, classes=None, public_weight=None):
        """Take one private step on records that were not used before.

        Available for ``mechanism="laplace"``. All rows of a call form one batch, used once. Records
        of different calls belong to different people, so the guarantee of all calls together is
        that of the least private one: the report's epsilon doesn't grow. A record in several calls
        breaks this assumption, and has the sum of their epsilons. So does a call that is repeated
        from a copy (a checkpoint, a pickle): a ledger charges it again, and without a ledger
        nothing detects it. All state between calls is computed from releases. `fit` starts afresh,
        and so does the first call after it.

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

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        BudgetExceededError
            If there is a ledger, and too little is left in it.
        ValueError
            If a parameter or the input is invalid, the classes are missing or differ from earlier
            calls, or a parameter that fixes the units changed since the first call; no message
            quotes an entry of the data.
        """
        # scikit-learn's decorator checks parameters in the first call only.
        self._validate_params()
        method, family = self._method(), self._family()
        X, y = read_numbers_of(self, family, X, y, order="C", reset=self._stream is None)
        classes, read_from_y = declared_classes(self, classes)
        family = replace(family, classes=classes)
        targets, classes = family.read(y)
        method.check((*X.shape, targets.shape[1]), family)
        weights = family.weigh(public_weight, X.shape[0], classes, targets)

        rows = MemoryRows(method.treatment(family), X, targets, weights)
        also_public = (CLASSES_READ,) if read_from_y else ()
        also_public += weights_public(public_weight)
        take_in(self, method, rows, classes, fixed_units=(), also_public=also_public)
        self._classes_read = read_from_y
        return self

    def _family(self, *, has_exposure=False):
        family = super()._family(has_exposure=has_exposure)
        return replace(family, loss_name=self.loss, multinomial=True)
