"""DP-SCD: differentially private stochastic dual coordinate descent."""

from numbers import Integral, Real

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin, RegressorMixin

from skdp._checks import check_count, check_n_jobs, check_positive, check_word
from skdp._docs import shared_docs
from skdp._estimator import is_private
from skdp._families.losses import LOSSES
from skdp._families.weights import joint_weights
from skdp._rows.bounds import augmented_norm, bound_columns
from skdp._sklearn import Interval, StrOptions, _fit_context
from skdp.linear_model._base import (
    BATCH_CONSTRAINTS,
    MARGIN_CONSTRAINTS,
    LinearClassifierMixin,
    LinearRegressorMixin,
    SteppedEstimator,
    public_feature_bounds,
)
from skdp.linear_model.ball._mixin import BALL_CONSTRAINTS, BallMixin
from skdp.linear_model.ball._solver import outside
from skdp.linear_model.dpscd._plan import PLANS, DPSCDProblem
from skdp.linear_model.dpscd._solver import solve_dpscd, solve_dpscd_primal, solve_dpscd_sequential

_CONSTRAINTS = {
    **BATCH_CONSTRAINTS,
    **BALL_CONSTRAINTS,
    "noisy_dual": ["boolean"],
    "feature_bounds": ["array-like", None],
    "max_iter": [Interval(Integral, 1, 10**9, closed="both")],
    "proximal": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
    "solver": [StrOptions({"dual", "sequential", "primal"})],
}


@shared_docs
class _BaseDPSCD(BallMixin, SteppedEstimator):
    """What the DP-SCD estimators share."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, public_weight=None):
        """Fit the model privately.

        {Parameters: X:training, y:either, public_weight}

        {Returns: self}

        {Raises: BudgetExceededError, ValueError:either}
        TypeError
            If y is sparse, or X is and `solver` isn't "dual".
        """
        # 1. scikit-learn's contract
        X, y = self._read(X, y, order=self._order(X))
        targets, told, weights = self._read_targets(y, public_weight)

        # 2. bound the data
        rows = weights.without_zero_weights(self._certified_rows(X))

        # 3. plan from public numbers
        plan = self._plan(*X.shape, targets.shape[1], scale=weights.scale)
        stream = plan.start(self.random_state)

        # 4. solve
        targets, told, plan = self._learnt(targets, told, plan, stream, rows.norm == 0.0)
        rows, plan, ball = self._placed(rows, plan, stream)
        coefs = self._solve(plan, rows, targets, stream, weights)

        # 5. publish
        report = self._report(plan, stream, public_weight)
        self._set_ball(ball)
        self._set_coefs(outside(ball, coefs, rows.bias), rows.bias, told)
        self._set_report(plan, report)
        return self

    def _without_ball(self):
        if self.solver != "dual":
            return f"solver={self.solver!r}"
        return "noisy_dual=True" if self.noisy_dual else None

    def _ball_budget(self):
        # A clip that was given was chosen for rows as they are.
        is_clip_given = self.clipping_norm != "auto" and self.ball_budget == "auto"
        return 0 if is_clip_given else super()._ball_budget()

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
        check_n_jobs(self.n_jobs)
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
        if self.solver == "primal":
            # Refused here, before the fit is charged.
            public_feature_bounds(self, n_features)
        row_norm = augmented_norm(float(self.data_norm), self.fit_intercept)
        numbers = self._numbers(n_rows, n_features, n_outputs, scale)
        problem = DPSCDProblem(row_norm=row_norm, alpha=float(self.alpha), **numbers)
        max_iter, budget = check_count(self.max_iter, "max_iter"), self._budget(n_rows)
        data_norm = check_positive(self.data_norm, "data_norm")
        learning = self._planned_learning(budget, n_rows, (n_features, n_outputs), data_norm)
        options = {"batch_size": self.batch_size, "clipping_norm": self.clipping_norm}
        if self.solver == "dual":
            options |= {"noisy_dual": self.noisy_dual, "proximal": self.proximal}
            options["ranges"], options["ball"], _ = learning
        make = PLANS[check_word(self.solver, "solver", PLANS)]
        return make(problem, budget, max_iter=max_iter, **options)

    def _solve(self, plan, rows, targets, stream, weights):
        coins, noise = stream.spawn(2)
        run = {"plan": plan, "average": self.average, "coins": coins, "noise": noise}
        loss, alpha = self._loss(targets.shape[1]), float(self.alpha)
        counted = joint_weights(weights.of_rows, rows.weight)
        options = {"loss": loss, "alpha": alpha, "weights": counted, **run}
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


@shared_docs
class DPSCDRegressor(LinearRegressorMixin, RegressorMixin, _BaseDPSCD):
    r"""Ridge regression by differentially private dual coordinate descent (DP-SCD).

    Minimises, over rows :math:`x_i` in the units of a learnt ball (see `ball_budget`), or clipped
    to `data_norm` where none is learnt,

    .. math:: \frac{1}{n} \sum_i \frac{1}{2} (y_i - x_i^\top w)^2 + \frac{\alpha}{2} \|w\|^2 .

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its targets) under `adjacency`, for any data, whatever the other parameters.
    ``privacy_report_`` lists what is assumed public and what is not covered.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the L2 penalty; scikit-learn's Ridge has ``n_samples * alpha``.
    {fit_intercept, epsilon, delta, adjacency}
    accountant : {"pld", "rdp"}, default="pld"
        How the privacy of many steps is composed: privacy loss distributions (tight) or Renyi
        differential privacy (for comparison; zero_out only).
    {noisy_dual, data_norm:regression}
    {ball_budget:dpscd, feature_bounds:dpscd, target_bounds}
    max_iter : int, default=10
        Passes over the data (for ``solver="primal"``: over the columns), all of which are taken.
    {batch_size, clipping_norm:dpscd}
    average : bool, default=True
        Whether to return the mean of the second half of the iterates, or of the last quarter with
        a centre (`proximal`). It costs no privacy.
    {proximal, solver, n_jobs, ledger, random_state}

    {Attributes: coef_, intercept_, n_iter_, target_bounds_}
    batch_size_ : int
        Expected rows per step; columns for ``solver="primal"``.
    clipping_norm_ : float
        Bound to which one update was clipped; see `clipping_norm`.
    proximal_ : float
        Strength of the proximal term; see `proximal`. 0 for the other solvers.
    {ball, privacy_report_, n_features_in_, feature_names_in_}

    See Also
    --------
    DPSCDClassifier : Private classification by the same algorithm.

    Notes
    -----
    The method is Algorithm 1 of [1]_ with Poisson batches, accounted as such. The dual variable is
    exact and never released, so the sensitivity is `clipping_norm` and not ``sqrt(2)`` times that.
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
        delta="auto",
        adjacency="zero_out",
        accountant="pld",
        noisy_dual=False,
        data_norm=1.0,
        ball_budget="auto",
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
        self.ball_budget = ball_budget
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

    def _loss(self, n_outputs):
        return LOSSES["squared_error"]


@shared_docs
class DPSCDClassifier(LinearClassifierMixin, ClassifierMixin, _BaseDPSCD):
    r"""Logistic regression and SVM by differentially private dual coordinate descent (DP-SCD).

    Minimises, over rows :math:`x_i` in the units of a learnt ball (see `ball_budget`), or clipped
    to `data_norm` where none is learnt, and labels :math:`y_i \in \{-1, 1\}`,

    .. math:: \frac{1}{n} \sum_i \ell(y_i\, x_i^\top w) + \frac{\alpha}{2} \|w\|^2

    with :math:`\ell(z) = \log(1 + e^{-z})` (``"log_loss"``) or
    :math:`\ell(z) = \max(0, 1 - z)` (``"hinge"``).
    With several classes, one such problem is solved for each class against the rest.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its label) under `adjacency`, for any data, whatever the other parameters.
    With ``classes=None`` the set of classes is read from y and assumed public. ``privacy_report_``
    lists what is assumed public and what is not covered.

    Parameters
    ----------
    loss : {"log_loss", "hinge"}, default="log_loss"
        Logistic regression or linear support vector machine.
    alpha : float, default=1e-4
        Strength of the L2 penalty; scikit-learn's LogisticRegression and LinearSVC have
        ``C = 1 / (n_samples * alpha)``.
    {fit_intercept:classification, classes, class_weight, epsilon, delta, adjacency}
    accountant : {"pld", "rdp"}, default="pld"
        How the privacy of many steps is composed: privacy loss distributions (tight) or Renyi
        differential privacy (for comparison; zero_out only).
    {noisy_dual, data_norm:classification}
    {ball_budget:dpscd, feature_bounds:dpscd}
    max_iter : int, default=10
        Passes over the data (for ``solver="primal"``: over the columns), all of which are taken.
    {batch_size, clipping_norm:dpscd}
    average : bool, default=True
        Whether to return the mean of the second half of the iterates, or of the last quarter with
        a centre (`proximal`). It costs no privacy.
    {proximal, solver, n_jobs, ledger, random_state}

    {Attributes: classes_, coef_:classification, intercept_:classification, n_iter_}
    batch_size_ : int
        Expected rows per step; columns for ``solver="primal"``.
    clipping_norm_ : float
        Bound to which one update was clipped; see `clipping_norm`.
    proximal_ : float
        Strength of the proximal term; see `proximal`. 0 for the other solvers.
    {ball, privacy_report_, n_features_in_, feature_names_in_}

    See Also
    --------
    DPSCDRegressor : Private ridge regression by the same algorithm.

    Notes
    -----
    The method is Algorithm 1 of [1]_ with Poisson batches, accounted as such. The dual variable is
    exact and never released, so the sensitivity is `clipping_norm` and not ``sqrt(2)`` times that.
    The dual step of the logistic loss is solved to convergence, while the paper takes one Newton
    step. The classes share batches, and are clipped and released together: each adds noise, but
    none takes a share of the budget.

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
        delta="auto",
        adjacency="zero_out",
        accountant="pld",
        noisy_dual=False,
        data_norm=1.0,
        ball_budget="auto",
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
        self.ball_budget = ball_budget
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

    def _loss(self, n_outputs):
        return LOSSES[self.loss]
