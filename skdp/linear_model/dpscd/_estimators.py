"""DP-SCD: differentially private stochastic dual coordinate descent."""

from dataclasses import replace
from numbers import Integral, Real

from sklearn.base import ClassifierMixin, RegressorMixin

from skdp._sklearn import Interval, StrOptions
from skdp.linear_model._base import (
    BALL_CONSTRAINTS,
    BATCH_CONSTRAINTS,
    MARGIN_CONSTRAINTS,
    LinearClassifierMixin,
    LinearRegressorMixin,
    is_private,
)
from skdp.linear_model._fit import BaseLinear
from skdp.linear_model.dpscd._method import DPSCD

_CONSTRAINTS = {
    **BATCH_CONSTRAINTS,
    **BALL_CONSTRAINTS,
    "noisy_dual": ["boolean"],
    "feature_bounds": ["array-like", None],
    "max_iter": [Interval(Integral, 1, 10**9, closed="both")],
    "proximal": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
    "solver": [StrOptions({"dual", "sequential", "primal"})],
}


def _method_of(model):
    """Return the `DPSCD` that a model's parameters ask for."""
    return DPSCD(
        alpha=model.alpha,
        fit_intercept=model.fit_intercept,
        data_norm=model.data_norm,
        ball_budget=model.ball_budget,
        max_iter=model.max_iter,
        clipping_norm=model.clipping_norm,
        is_private=is_private(model),
        n_jobs=model.n_jobs,
        solver=model.solver,
        batch_size=model.batch_size,
        noisy_dual=model.noisy_dual,
        feature_bounds=model.feature_bounds,
        average=model.average,
        proximal=model.proximal,
    )


class DPSCDRegressor(LinearRegressorMixin, RegressorMixin, BaseLinear):
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
    fit_intercept : bool, default=True
        Whether to fit an intercept. It is penalised like the coefficients, by its distance from the
        middle of the bounds of the targets, given or learnt (from 0 without them). It belongs to a
        constant column, equal to a third of the ball's radius, or of `data_norm` where no ball is
        learnt.
    epsilon : float, default=1.0
        Privacy loss, above 0. ``float("inf")`` runs the same code without noise or bounds.
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 / n``
        where that is less; n is the number of records, or of people where groups are given.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
    accountant : {"pld", "rdp"}, default="pld"
        How the privacy of many steps is composed: privacy loss distributions (tight) or Renyi
        differential privacy (for comparison; zero_out only).
    noisy_dual : bool, default=False
        Whether the dual variable gets noise of its own, as in the paper's Algorithm 1, which makes
        the noise on the model sqrt(2) times larger. For comparison: the dual variable is not
        published here either, and the guarantee is that of the fitted attributes alone.
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
    feature_bounds : pair (low, high), default=None
        Public range of the features, two numbers or two array-likes of shape (n_features,), which
        for two features must be a tuple of lists or arrays. It is for ``solver="primal"`` only,
        which clips values to it after rows are clipped to `data_norm`. None means ``(-data_norm,
        data_norm)``.
    target_bounds : pair of floats (low, high), default=None
        Public range of y. Targets beyond it are clipped to it, and training works on targets mapped
        to [-1, 1] (without an intercept: divided by the larger absolute bound). None learns a range
        of most targets where a ball is learnt (see `ball_budget`) and the objective has no number
        in the units of y, such as the strength of an L1 penalty or the threshold of Huber's loss.
        Elsewhere y is used unchanged, with a warning: the fit is still private, but accurate only
        if the targets are within about [-1, 1]. Where a range would be learnt, a fit with
        ``epsilon=float("inf")`` and an intercept subtracts the mean of y first.
    max_iter : int, default=10
        Passes over the data (for ``solver="primal"``: over the columns), all of which are taken.
    batch_size : int or "auto", default="auto"
        Expected number of rows per step. "auto" is a function of n_samples, n_features and the
        parameters: a quarter of the square root of n_samples, at least 8, or more where small
        batches would add noise (for ``solver="dual"``).
    clipping_norm : float or "auto", default="auto"
        Clipping bound on the contribution of one row to a release, in the units of its dual
        variable times its norm (for ``solver="primal"``: on the update of a coefficient times its
        column's norm bound). With a centre, "auto" is so large that all passes together can move a
        dual variable through its range, or through 0.6 of it where the noise is large. Without a
        centre, "auto" balances the noise in a prediction against how far the rows can move it. Both
        are functions of n_samples and the parameters.
    average : bool, default=True
        Whether to return the mean of the second half of the iterates, or of the last quarter with
        a centre (`proximal`). It costs no privacy.
    proximal : float or "auto", default="auto"
        Strength of a proximal term (for ``solver="dual"``): :math:`\frac{\kappa}{2} \|w -
        \text{centre}\|^2` is added to the objective, with a centre that follows the released model.
        It damps noise and, as the centre moves, hardly the model. It costs no privacy. 0 is the
        paper's algorithm. "auto" is 0 for the squared loss and where a `clipping_norm` is given,
        and otherwise a function of n_samples, n_features and the parameters. The strength for the
        intercept is a public share of it, between a ninth and all.
    solver : {"dual", "sequential", "primal"}, default="dual"
        The paper's Algorithm 1, or for comparison its two baselines, which need far more noise:
        "sequential" (Algorithm 3, updates see those before them in a batch) and "primal" (Algorithm
        2, coordinates of the model; smooth losses only; `batch_size` then counts columns, "auto"
        being 1). Both are accounted without amplification by sampling, and every release has the
        pairwise sensitivity ``2 C sqrt(L (L + 1))`` with C the clipping norm and L the batch size,
        under either adjacency. `n_jobs` has no effect there.
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
        compose. The report says that there was a seed.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Coefficients, in the units of y. A table of one target has the shape of a flat y here and in
        predictions, as for scikit-learn's Ridge; `intercept_` is an array then.
    intercept_ : float or ndarray of shape (n_outputs,)
        Intercept.
    n_iter_ : int
        Passes taken.
    target_bounds_ : tuple (low, high)
        Bounds to which predictions are clipped: those of the targets, given or learnt, with an
        entry for each of several learnt targets. Infinite where there are none, and without
        privacy.
    batch_size_ : int
        Expected rows per step; columns for ``solver="primal"``.
    clipping_norm_ : float
        Bound to which one update was clipped; see `clipping_norm`.
    proximal_ : float
        Strength of the proximal term; see `proximal`. 0 for the other solvers.
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
        verbose=0,
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
        self.verbose = verbose
        self.ledger = ledger
        self.random_state = random_state

    def _method(self):
        return _method_of(self)


class DPSCDClassifier(LinearClassifierMixin, ClassifierMixin, BaseLinear):
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
        Probability, in (0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 / n``
        where that is less; n is the number of records, or of people where groups are given.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
    accountant : {"pld", "rdp"}, default="pld"
        How the privacy of many steps is composed: privacy loss distributions (tight) or Renyi
        differential privacy (for comparison; zero_out only).
    noisy_dual : bool, default=False
        Whether the dual variable gets noise of its own, as in the paper's Algorithm 1, which makes
        the noise on the model sqrt(2) times larger. For comparison: the dual variable is not
        published here either, and the guarantee is that of the fitted attributes alone.
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
    feature_bounds : pair (low, high), default=None
        Public range of the features, two numbers or two array-likes of shape (n_features,), which
        for two features must be a tuple of lists or arrays. It is for ``solver="primal"`` only,
        which clips values to it after rows are clipped to `data_norm`. None means ``(-data_norm,
        data_norm)``.
    max_iter : int, default=10
        Passes over the data (for ``solver="primal"``: over the columns), all of which are taken.
    batch_size : int or "auto", default="auto"
        Expected number of rows per step. "auto" is a function of n_samples, n_features and the
        parameters: a quarter of the square root of n_samples, at least 8, or more where small
        batches would add noise (for ``solver="dual"``).
    clipping_norm : float or "auto", default="auto"
        Clipping bound on the contribution of one row to a release, in the units of its dual
        variable times its norm (for ``solver="primal"``: on the update of a coefficient times its
        column's norm bound). With a centre, "auto" is so large that all passes together can move a
        dual variable through its range, or through 0.6 of it where the noise is large. Without a
        centre, "auto" balances the noise in a prediction against how far the rows can move it. Both
        are functions of n_samples and the parameters.
    average : bool, default=True
        Whether to return the mean of the second half of the iterates, or of the last quarter with
        a centre (`proximal`). It costs no privacy.
    proximal : float or "auto", default="auto"
        Strength of a proximal term (for ``solver="dual"``): :math:`\frac{\kappa}{2} \|w -
        \text{centre}\|^2` is added to the objective, with a centre that follows the released model.
        It damps noise and, as the centre moves, hardly the model. It costs no privacy. 0 is the
        paper's algorithm. "auto" is 0 for the squared loss and where a `clipping_norm` is given,
        and otherwise a function of n_samples, n_features and the parameters. The strength for the
        intercept is a public share of it, between a ninth and all.
    solver : {"dual", "sequential", "primal"}, default="dual"
        The paper's Algorithm 1, or for comparison its two baselines, which need far more noise:
        "sequential" (Algorithm 3, updates see those before them in a batch) and "primal" (Algorithm
        2, coordinates of the model; smooth losses only; `batch_size` then counts columns, "auto"
        being 1). Both are accounted without amplification by sampling, and every release has the
        pairwise sensitivity ``2 C sqrt(L (L + 1))`` with C the clipping norm and L the batch size,
        under either adjacency. `n_jobs` has no effect there.
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
        compose. The report says that there was a seed.

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
        Expected rows per step; columns for ``solver="primal"``.
    clipping_norm_ : float
        Bound to which one update was clipped; see `clipping_norm`.
    proximal_ : float
        Strength of the proximal term; see `proximal`. 0 for the other solvers.
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
        verbose=0,
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
        self.verbose = verbose
        self.ledger = ledger
        self.random_state = random_state

    def _family(self, *, has_exposure=False):
        return replace(super()._family(has_exposure=has_exposure), loss_name=self.loss)

    def _method(self):
        return _method_of(self)
