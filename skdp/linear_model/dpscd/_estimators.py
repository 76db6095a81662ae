"""DP-SCD: differentially private stochastic dual coordinate descent."""

from numbers import Integral, Real

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin, RegressorMixin

from skdp._bounds import augmented_norm, bound_columns
from skdp._checks import check_count
from skdp._estimator import is_private
from skdp._losses import LOSSES
from skdp._sklearn import Interval, StrOptions, _fit_context
from skdp._targets import encode_labels
from skdp.linear_model._base import (
    BATCH_CONSTRAINTS,
    MARGIN_CONSTRAINTS,
    LinearClassifierMixin,
    LinearRegressorMixin,
    SteppedEstimator,
    public_feature_bounds,
)
from skdp.linear_model.dpscd._plan import PLANS, DPSCDProblem
from skdp.linear_model.dpscd._solver import solve_dpscd, solve_dpscd_primal, solve_dpscd_sequential

_CONSTRAINTS = {
    **BATCH_CONSTRAINTS,
    "noisy_dual": ["boolean"],
    "feature_bounds": ["array-like", None],
    "max_iter": [Interval(Integral, 1, 10**9, closed="both")],
    "proximal": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
    "solver": [StrOptions({"dual", "sequential", "primal"})],
}


class _BaseDPSCD(SteppedEstimator):
    """What the DP-SCD estimators share."""

    def _takes_sparse(self):
        return str(self.solver) == "dual"

    def _order(self, X):
        """Return the order in memory that the solver reads X in; "primal" copies it by columns.

        Sparse X is for one of the solvers.
        """
        if issparse(X) and not self._takes_sparse():
            raise TypeError(
                f"Sparse data was passed for X, which solver={self.solver!r} doesn't take: use "
                "solver='dual', or X.toarray()."
            )
        return None if self.solver == "primal" else "C"

    def _check_options(self, loss):
        self._check_n_jobs()
        if self.solver != "dual" and self.noisy_dual:
            raise ValueError("noisy_dual=True needs solver='dual': others release what they keep.")
        if self.solver != "dual" and self.proximal not in ("auto", 0):
            raise ValueError("proximal is for solver='dual'; the other solvers have no centre.")
        if self.solver != "primal" and self.feature_bounds is not None:
            raise ValueError("feature_bounds is for solver='primal'; clip features beforehand.")
        if self.solver == "primal" and not np.isfinite(loss.smoothness):
            raise ValueError(f"solver='primal' needs a smooth loss, and loss={loss.name!r} isn't.")

    @property
    def _uses_feature_bounds(self):
        return self.solver == "primal"

    def _plan(self, n_rows, n_features, n_outputs, *, scale=None):
        self._check_options(self._loss(n_outputs))
        row_norm = augmented_norm(float(self.data_norm), self.fit_intercept)
        numbers = self._numbers(n_rows, n_features, n_outputs, scale)
        problem = DPSCDProblem(row_norm=row_norm, alpha=float(self.alpha), **numbers)
        max_iter = check_count(self.max_iter, "max_iter")
        options = {"batch_size": self.batch_size, "clipping_norm": self.clipping_norm}
        if self.solver == "dual":
            options |= {"noisy_dual": self.noisy_dual, "proximal": self.proximal}
        return PLANS[self.solver](problem, self._budget(), max_iter=max_iter, **options)

    def _solve(self, plan, rows, targets, stream, weights):
        coins, noise = stream.spawn(2)
        run = {"plan": plan, "average": self.average, "coins": coins, "noise": noise}
        loss, alpha = self._loss(targets.shape[1]), float(self.alpha)
        options = {"loss": loss, "alpha": alpha, "weights": weights.of_rows, **run}
        if self.solver == "sequential":
            return solve_dpscd_sequential(rows, targets, **options)
        if self.solver == "primal":
            low, high = public_feature_bounds(self, rows.X.shape[1])
            columns = bound_columns(rows, low=low, high=high, clip=is_private(self))
            return solve_dpscd_primal(columns, targets, **options)
        return solve_dpscd(rows, targets, n_jobs=self.n_jobs, **options)

    def _set_report(self, plan, report):
        self.n_iter_ = self.max_iter
        self.batch_size_ = plan.batch_size
        self.clipping_norm_ = plan.clipping_norm
        self.proximal_ = plan.proximal
        self.privacy_report_ = report


class DPSCDRegressor(LinearRegressorMixin, RegressorMixin, _BaseDPSCD):
    r"""Ridge regression by differentially private dual coordinate descent (DP-SCD).

    Minimises, over rows :math:`x_i` clipped to `data_norm`,

    .. math:: \frac{1}{n} \sum_i \frac{1}{2} (y_i - x_i^\top w)^2 + \frac{\alpha}{2} \|w\|^2 .

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its targets) under `adjacency`, for any data, whatever the other parameters.
    What is assumed public and what is not covered is listed in ``privacy_report_``.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the L2 penalty; scikit-learn's Ridge has ``n_samples * alpha``.

    fit_intercept : bool, default=True
        Whether to fit an intercept. It is penalised like the rest, as the distance from the middle
        of `target_bounds` (from 0 without them), through a column equal to a third of `data_norm`.

    epsilon : float, default=1.0
        Privacy loss, above 0. ``float("inf")`` runs the same code without noise and bounds.

    delta : float, default=1e-5
        Probability, in (0, 1), that the loss may exceed `epsilon`. Take ``0.1 / n_samples`` or
        less.

    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        What the guarantee compares: data sets in which one record is a null record that contributes
        nothing, or in which one record is any other. The second needs about twice the noise.

    accountant : {"pld", "rdp"}, default="pld"
        How the privacy of many steps is added up: privacy loss distributions (tight) or Renyi
        differential privacy (for comparison; zero_out only).

    noisy_dual : bool, default=False
        Whether the dual variable gets noise of its own, as in the paper's Algorithm 1, which
        makes the noise on the model sqrt(2) times larger. For comparison: the dual variable is not
        published here either, and the guarantee is that of the fitted attributes alone.

    data_norm : float, default=1.0
        Public bound on the L2 norm of a row; longer rows are scaled down to it in `fit`, and not in
        `predict`: put ``skdp.preprocessing.NormClipper(data_norm)`` before the estimator, or
        predictions for long rows are far off. Take about the length of a typical row:
        ``sqrt(0.2 * a + b)`` for `a` numbers in [-1, 1] and `b` one-hot coded columns, counted
        before coding. Ten times too wide can cost everything.
        `skdp.preprocessing.BoundsScaler` gives features public ranges.

    feature_bounds : pair (low, high), default=None
        Public range of the features, two numbers or two array-likes of shape (n_features,), for
        ``solver="primal"`` only, which clips values to it after rows are clipped to `data_norm`.
        None means ``(-data_norm, data_norm)``.

    target_bounds : pair of floats (low, high), default=None
        Public range of y. Targets beyond it are moved to it, and training works on targets mapped
        to [-1, 1] (without an intercept: divided by the larger absolute bound). None takes y as it
        is, with a warning: private all the same, but good only if the targets are about that small.

    max_iter : int, default=10
        Passes over the data (for ``solver="primal"``: over the columns), all of which are taken.

    batch_size : int or "auto", default="auto"
        Expected rows a step. "auto" is a function of n_samples, n_features and the parameters: a
        quarter of the square root of n_samples, at least 8, or more where small batches would cost
        noise (for ``solver="dual"``).

    clipping_norm : float or "auto", default="auto"
        Bound on what one row contributes to a release, in the units of its dual variable times its
        norm (for ``solver="primal"``: on the update of a coefficient times its column's norm
        bound). With a centre, "auto" lets all passes together take a dual variable through its
        range, or through 0.6 of it where the noise is large. Without, it balances the noise that
        a fit adds to a prediction against how far its rows can move it. Both are functions of
        n_samples and of the parameters.

    average : bool, default=True
        Whether to return the mean of the second half of the iterates, or of the last quarter with
        a centre (`proximal`). It costs no privacy.

    proximal : float or "auto", default="auto"
        Strength of a pull to a centre that follows the model as it is released (for
        ``solver="dual"``): the objective has
        :math:`\frac{\kappa}{2} \|w - \text{centre}\|^2` in addition, which damps noise
        and, as the centre moves, hardly the model. It costs no privacy. 0 is the paper's
        algorithm. "auto" is 0 for the squared loss and otherwise a function of n_samples,
        n_features and the parameters. The intercept's pull is a public share of it, between a
        ninth and all.

    solver : {"dual", "sequential", "primal"}, default="dual"
        The paper's Algorithm 1, or for comparison its two baselines, which need far more noise:
        "sequential" (Algorithm 3, updates see those before them in a batch) and "primal"
        (Algorithm 2, coordinates of the model; smooth losses only; `batch_size` then counts
        columns, "auto" being 1). Both are accounted without amplification by sampling, and every
        release has the pairwise sensitivity ``2 C sqrt(L (L + 1))`` with C the clipping norm and L
        the batch size, under either adjacency. `n_jobs` has no work there.

    n_jobs : int, default=None
        Threads that share a step, as in joblib. They are used only where a step has enough work to
        pay for them; the result is the same to the last bit for every value.

    ledger : str, path or PrivacyLedger, default=None
        Budget of the study that a fit is charged to before its noise is drawn, see
        :class:`skdp.ledger.PrivacyLedger`. None takes the one that the environment variable
        ``SKDP_LEDGER`` names, and without it records nothing.

    random_state : int, RandomState instance or None, default=None
        None draws all randomness from the operating system. A seed makes the fit reproducible, also
        for whoever learns it and subtracts the noise, and fits with an equal seed share their
        noise (so do the folds of a cross-validation, which clones the seed): their guarantees
        don't add up. The report says that there was one.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Coefficients, in the units of y.

    intercept_ : float or ndarray of shape (n_outputs,)
        Intercept.

    n_iter_ : int
        Passes taken.

    batch_size_ : int
        Expected rows a step; columns for ``solver="primal"``.

    clipping_norm_ : float
        What one update was clipped to; see `clipping_norm`.

    proximal_ : float
        Strength of the pull to a centre; see `proximal`. 0 for the other solvers.

    privacy_report_ : skdp.accountant.PrivacyReport
        The guarantee of this fit.

    n_features_in_ : int
        Number of features seen in `fit`.

    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string column names.

    See Also
    --------
    DPSCDClassifier : Private classification by the same algorithm.

    Notes
    -----
    Algorithm 1 of [1]_ with Poisson batches, accounted as such, and with an exact dual variable
    that is never released, which makes the sensitivity `clipping_norm` and not ``sqrt(2)`` times
    that.
    Several outputs share batches, and are clipped and released together.

    References
    ----------
    .. [1] Damaskinos, Mendler-Dunner, Guerraoui, Papandreou and Parnell (2021). Differentially
       private stochastic coordinate descent. AAAI. Algorithm 1, equations 3 and 8.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from skdp.linear_model import DPSCDRegressor
    >>> X, y = make_regression(n_samples=1000, n_features=3, random_state=0)
    >>> model = DPSCDRegressor(epsilon=1.0, data_norm=3.0, target_bounds=(-300, 300))
    >>> model.fit(X, y).privacy_report_
    (1, 1e-05)-DP
    """

    _parameter_constraints = {**_CONSTRAINTS, "target_bounds": ["array-like", None]}  # noqa: RUF012

    def __init__(
        self,
        alpha=1e-4,
        *,
        fit_intercept=True,
        epsilon=1.0,
        delta=1e-5,
        adjacency="zero_out",
        accountant="pld",
        noisy_dual=False,
        data_norm=1.0,
        feature_bounds=None,
        target_bounds=None,
        max_iter=10,
        batch_size="auto",
        clipping_norm="auto",
        average=True,
        proximal="auto",
        solver="dual",
        n_jobs=None,
        ledger=None,
        random_state=None,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.accountant = accountant
        self.noisy_dual = noisy_dual
        self.data_norm = data_norm
        self.feature_bounds = feature_bounds
        self.target_bounds = target_bounds
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.clipping_norm = clipping_norm
        self.average = average
        self.proximal = proximal
        self.solver = solver
        self.n_jobs = n_jobs
        self.ledger = ledger
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, public_weight=None):
        """Fit the model privately.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Training rows, dense or CSR; float32 and float64 are used without a copy.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        public_weight : array-like of shape (n_samples,), default=None
            How much each record counts, 0 or more: 2 is as if it were there twice. The loss is the
            weighted mean, so that ratios alone matter. What a record adds to a release is cut to
            the same bound whatever its weight is. Weights are taken as public, and aren't
            published: they must not depend on the records, and stay in their places if a record
            changes. In a meta-estimator they need metadata routing, see ``set_fit_request``.
            Without them all records count alike.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        BudgetExceededError
            If there is a ledger, and too little is left in it.
        ValueError
            If a parameter or the input is invalid; no message quotes an entry of the data.
        TypeError
            If y is sparse, or X is and `solver` isn't "dual".
        """
        # 1. scikit-learn's contract
        X, y = self._read(X, y, order=self._order(X))
        weights = self._weigh(public_weight, X.shape[0])

        # 2. bound the data
        rows = weights.without_zero_weights(self._certified_rows(X))
        targets, units = self._bounded_targets(y)

        # 3. plan from public numbers
        plan = self._plan(*X.shape, targets.shape[1], scale=weights.scale)
        stream = plan.start(self.random_state)

        # 4. solve
        coefs = self._solve(plan, rows, targets, stream, weights)

        # 5. publish
        self._set_weights(coefs, rows.bias, units)
        self._set_report(plan, self._report(plan, stream, public_weight))
        return self

    def _loss(self, n_outputs):
        return LOSSES["squared_error"]


class DPSCDClassifier(LinearClassifierMixin, ClassifierMixin, _BaseDPSCD):
    r"""Logistic regression and SVM by differentially private dual coordinate descent (DP-SCD).

    Minimises, over rows :math:`x_i` clipped to `data_norm` and labels :math:`y_i \in \{-1, 1\}`,

    .. math:: \frac{1}{n} \sum_i \ell(y_i\, x_i^\top w) + \frac{\alpha}{2} \|w\|^2

    with :math:`\ell(z) = \log(1 + e^{-z})` (``"log_loss"``) or
    :math:`\ell(z) = \max(0, 1 - z)` (``"hinge"``).
    With several classes, one such problem is solved for each class against the rest.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its label) under `adjacency`, for any data, whatever the other parameters.
    With ``classes=None`` the set of classes is read from y and assumed public. What is assumed
    public and what is not covered is listed in ``privacy_report_``.

    Parameters
    ----------
    loss : {"log_loss", "hinge"}, default="log_loss"
        Logistic regression or linear support vector machine.

    alpha : float, default=1e-4
        Strength of the L2 penalty; scikit-learn's LogisticRegression and LinearSVC have
        ``C = 1 / (n_samples * alpha)``.

    fit_intercept : bool, default=True
        Whether to fit an intercept. It is penalised like the rest, as in LinearSVC, through a
        column equal to a third of `data_norm`.

    classes : array-like, default=None
        The class set. None reads it from y, which tells whether a rare class occurs; declare it
        where that is not public. Labels outside it are refused, classes without a row are kept.

    class_weight : dict, default=None
        Public weights of the classes, by label; a class without one has 1. A record counts as many
        times as its label says, and is cut to the same bound as all, so that the label stays
        private. Weights that balance classes are ``1 / (n_classes * share)``, by shares that are
        known or guessed without the data: "balanced" would read them, and is refused. None is 1
        for all.

    epsilon : float, default=1.0
        Privacy loss, above 0. ``float("inf")`` runs the same code without noise and bounds.

    delta : float, default=1e-5
        Probability, in (0, 1), that the loss may exceed `epsilon`. Take ``0.1 / n_samples`` or
        less.

    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        What the guarantee compares: data sets in which one record is a null record that contributes
        nothing, or in which one record is any other. The second needs about twice the noise.

    accountant : {"pld", "rdp"}, default="pld"
        How the privacy of many steps is added up: privacy loss distributions (tight) or Renyi
        differential privacy (for comparison; zero_out only).

    noisy_dual : bool, default=False
        Whether the dual variable gets noise of its own, as in the paper's Algorithm 1, which
        makes the noise on the model sqrt(2) times larger. For comparison: the dual variable is not
        published here either, and the guarantee is that of the fitted attributes alone.

    data_norm : float, default=1.0
        Public bound on the L2 norm of a row; longer rows are scaled down to it in `fit`, and not in
        `predict`: put ``skdp.preprocessing.NormClipper(data_norm)`` before the estimator, or
        probabilities of long rows are too sure. Take about the length of a typical row:
        ``sqrt(0.2 * a + b)`` for `a` numbers in [-1, 1] and `b` one-hot coded columns, counted
        before coding. Ten times too wide can cost everything.
        `skdp.preprocessing.BoundsScaler` gives features public ranges.

    feature_bounds : pair (low, high), default=None
        Public range of the features, two numbers or two array-likes of shape (n_features,), for
        ``solver="primal"`` only, which clips values to it after rows are clipped to `data_norm`.
        None means ``(-data_norm, data_norm)``.

    max_iter : int, default=10
        Passes over the data (for ``solver="primal"``: over the columns), all of which are taken.

    batch_size : int or "auto", default="auto"
        Expected rows a step. "auto" is a function of n_samples, n_features and the parameters: a
        quarter of the square root of n_samples, at least 8, or more where small batches would cost
        noise (for ``solver="dual"``).

    clipping_norm : float or "auto", default="auto"
        Bound on what one row contributes to a release, in the units of its dual variable times its
        norm (for ``solver="primal"``: on the update of a coefficient times its column's norm
        bound). With a centre, "auto" lets all passes together take a dual variable through its
        range, or through 0.6 of it where the noise is large. Without, it balances the noise that
        a fit adds to a prediction against how far its rows can move it. Both are functions of
        n_samples and of the parameters.

    average : bool, default=True
        Whether to return the mean of the second half of the iterates, or of the last quarter with
        a centre (`proximal`). It costs no privacy.

    proximal : float or "auto", default="auto"
        Strength of a pull to a centre that follows the model as it is released (for
        ``solver="dual"``): the objective has
        :math:`\frac{\kappa}{2} \|w - \text{centre}\|^2` in addition, which damps noise
        and, as the centre moves, hardly the model. It costs no privacy. 0 is the paper's
        algorithm. "auto" is 0 for the squared loss and otherwise a function of n_samples,
        n_features and the parameters. The intercept's pull is a public share of it, between a
        ninth and all.

    solver : {"dual", "sequential", "primal"}, default="dual"
        The paper's Algorithm 1, or for comparison its two baselines, which need far more noise:
        "sequential" (Algorithm 3, updates see those before them in a batch) and "primal"
        (Algorithm 2, coordinates of the model; smooth losses only; `batch_size` then counts
        columns, "auto" being 1). Both are accounted without amplification by sampling, and every
        release has the pairwise sensitivity ``2 C sqrt(L (L + 1))`` with C the clipping norm and L
        the batch size, under either adjacency. `n_jobs` has no work there.

    n_jobs : int, default=None
        Threads that share a step, as in joblib. They are used only where a step has enough work to
        pay for them; the result is the same to the last bit for every value.

    ledger : str, path or PrivacyLedger, default=None
        Budget of the study that a fit is charged to before its noise is drawn, see
        :class:`skdp.ledger.PrivacyLedger`. None takes the one that the environment variable
        ``SKDP_LEDGER`` names, and without it records nothing.

    random_state : int, RandomState instance or None, default=None
        None draws all randomness from the operating system. A seed makes the fit reproducible, also
        for whoever learns it and subtracts the noise, and fits with an equal seed share their
        noise (so do the folds of a cross-validation, which clones the seed): their guarantees
        don't add up. The report says that there was one.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.

    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients; one row if there are two classes.

    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.

    n_iter_ : int
        Passes taken.

    batch_size_ : int
        Expected rows a step; columns for ``solver="primal"``.

    clipping_norm_ : float
        What one update was clipped to; see `clipping_norm`.

    proximal_ : float
        Strength of the pull to a centre; see `proximal`. 0 for the other solvers.

    privacy_report_ : skdp.accountant.PrivacyReport
        The guarantee of this fit.

    n_features_in_ : int
        Number of features seen in `fit`.

    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string column names.

    See Also
    --------
    DPSCDRegressor : Private ridge regression by the same algorithm.

    Notes
    -----
    Algorithm 1 of [1]_ with Poisson batches, accounted as such, and with an exact dual variable
    that is never released, which makes the sensitivity `clipping_norm` and not ``sqrt(2)`` times
    that.
    The dual step of the logistic loss is solved to convergence where the paper takes one Newton
    step. The classes share batches, and are clipped and released together: each costs noise, none
    costs a share of the budget.

    References
    ----------
    .. [1] Damaskinos, Mendler-Dunner, Guerraoui, Papandreou and Parnell (2021). Differentially
       private stochastic coordinate descent. AAAI. Algorithm 1, equations 3 and 8.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from skdp.linear_model import DPSCDClassifier
    >>> X, y = make_classification(n_samples=1000, n_features=5, random_state=0)
    >>> model = DPSCDClassifier(epsilon=1.0, data_norm=3.0, classes=[0, 1])
    >>> model.fit(X, y).privacy_report_
    (1, 1e-05)-DP
    """

    _parameter_constraints = {**_CONSTRAINTS, **MARGIN_CONSTRAINTS}  # noqa: RUF012

    def __init__(
        self,
        *,
        loss="log_loss",
        alpha=1e-4,
        fit_intercept=True,
        classes=None,
        class_weight=None,
        epsilon=1.0,
        delta=1e-5,
        adjacency="zero_out",
        accountant="pld",
        noisy_dual=False,
        data_norm=1.0,
        feature_bounds=None,
        max_iter=10,
        batch_size="auto",
        clipping_norm="auto",
        average=True,
        proximal="auto",
        solver="dual",
        n_jobs=None,
        ledger=None,
        random_state=None,
    ):
        self.loss = loss
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.classes = classes
        self.class_weight = class_weight
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.accountant = accountant
        self.noisy_dual = noisy_dual
        self.data_norm = data_norm
        self.feature_bounds = feature_bounds
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.clipping_norm = clipping_norm
        self.average = average
        self.proximal = proximal
        self.solver = solver
        self.n_jobs = n_jobs
        self.ledger = ledger
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, public_weight=None):
        """Fit the model privately.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Training rows, dense or CSR; float32 and float64 are used without a copy.
        y : array-like of shape (n_samples,)
            Labels of any type that can be sorted.
        public_weight : array-like of shape (n_samples,), default=None
            How much each record counts, 0 or more: 2 is as if it were there twice. The loss is the
            weighted mean, so that ratios alone matter. What a record adds to a release is cut to
            the same bound whatever its weight is. Weights are taken as public, and aren't
            published: they must not depend on the records, and stay in their places if a record
            changes. In a meta-estimator they need metadata routing, see ``set_fit_request``.
            Without them all records count alike.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        BudgetExceededError
            If there is a ledger, and too little is left in it.
        ValueError
            If a parameter or the input is invalid, if y has one class, or a class that isn't among
            those declared; no message quotes an entry of the data.
        TypeError
            If X is sparse and `solver` isn't "dual".
        """
        # 1. scikit-learn's contract
        X, y = self._read(X, y, order=self._order(X))
        classes, targets = encode_labels(y, self.classes)
        weights = self._weigh(public_weight, y.size, classes, targets)

        # 2. bound the data
        rows = weights.without_zero_weights(self._certified_rows(X))

        # 3. plan from public numbers
        plan = self._plan(*X.shape, targets.shape[1], scale=weights.scale)
        stream = plan.start(self.random_state)

        # 4. solve
        coefs = self._solve(plan, rows, targets, stream, weights)

        # 5. publish
        self._set_weights(coefs, rows.bias, classes)
        self._set_report(plan, self._report(plan, stream, public_weight))
        return self

    def _loss(self, n_outputs):
        return LOSSES[self.loss]
