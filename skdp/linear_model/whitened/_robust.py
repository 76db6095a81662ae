"""Regression with slopes that are bounded, of quantiles and of means with outliers."""

from numbers import Real

from sklearn.base import RegressorMixin

from skdp._checks import check_positive
from skdp._families import _tuned as tuned
from skdp._families.losses import Huber, SmoothPinball
from skdp._families.robust import RobustFamily
from skdp._sklearn import Interval
from skdp.linear_model._base import (
    POSITIVE,
    LinearRegressorMixin,
    checked_target_bounds,
    is_private,
)
from skdp.linear_model.whitened._base import REGRESSION_CONSTRAINTS, BaseWhitened


def _family_of(model, loss, *, quantile, has_exposure):
    """Return the `RobustFamily` of a model's loss; see there for the quantile."""
    return RobustFamily(
        own_loss=loss,
        quantile=quantile,
        bounds=checked_target_bounds(model.target_bounds),
        centred=model.fit_intercept,
        may_learn=model._method().share_of_ball != 0,
        is_private=is_private(model),
        has_exposure=has_exposure,
    )


class DPHuberRegressor(LinearRegressorMixin, RegressorMixin, BaseWhitened):
    r"""Regression that is robust to outliers, by private whitening.

    Minimises, over rows :math:`x_i` in the units of a learnt ball and targets :math:`y_i`, with a
    released middle :math:`c` and a released spread :math:`s`,

    .. math:: \frac{1}{n} \sum_i h\Bigl(\frac{y_i - c}{s} - x_i^\top w\Bigr)
              + \frac{\alpha}{2} \|w\|^2 ,

    where Huber's loss h is half the squared error up to `huber_threshold`, and linear beyond it.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its target) under `adjacency`, for any data, whatever the other parameters;
    for a fit with `groups`, for one group, which is all rows of a person. ``privacy_report_`` lists
    what is assumed public and what is not covered.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the L2 penalty, for a loss of targets in units of their spread.
    huber_threshold : float, default=1.35
        Size of the error above which the loss is linear, in spreads of the targets. The spread is
        the distance between the quartiles of y divided by 1.349, which is the standard deviation of
        a normal distribution. It is that of y, not that of the errors, which scikit-learn's
        HuberRegressor estimates.
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
    moment_budget : float or "auto", default="auto"
        Share of the budget, in [0, 1) and in terms of the squared parameter of Gaussian
        differential privacy, for releasing the second moment of the rows. "auto" is 0.1, and 0
        above 2,000 columns, where computing the eigenvectors of the moment would take longer than
        the rest of the fit. With 0 rows aren't whitened, which is less accurate wherever columns
        are correlated or of uneven scale.
    public_moment : array-like of shape (n_features + 1, n_features + 1), default=None
        Second moment of public rows, in place of a released one: the mean of ``np.outer(z, z)``
        over rows ``z = (1, x)``, in the units of X, or ``moment_`` of an earlier model. With groups
        it is the mean over people of the sums over their rows. No budget is then spent on a moment.
        It is assumed public; a wrong one costs only accuracy. With ``epsilon=inf`` it is not
        needed: rows are whitened by their own moment.
    data_norm : float or None, default=None
        Public bound on the L2 norm of a row. None sets no bound: a ball that contains the rows is
        learnt, see `ball_budget`. A bound makes this cheaper. Where there is too much noise to
        learn a ball, rows are clipped to the bound in `fit` (not in `predict`).
    ball_budget : float or "auto", default="auto"
        Share of the budget (of the squared Gaussian-DP parameter), in [0, 1), for learning the ball
        that contains the rows: a centre, a scale for each column, and a radius. `alpha` penalises
        the scaled columns, as after a StandardScaler, and rows beyond the radius count less. For a
        regressor without `target_bounds`, a quarter of the share learns these. With 0 no ball is
        learnt, and public bounds clip the rows about 0. "auto" is 0.12, more for targets and where
        the records are few, and 0 where noise would hide the ball or where another setting refers
        to rows that are not scaled: see :doc:`/theory/ball`.
    target_bounds : pair of floats (low, high), default=None
        Public range of y, which may be far too wide. Targets and predictions beyond it are clipped
        to it. None takes twice the range of most targets, wherever they lie. That range is learnt
        from a share of the budget: see `ball_budget`. Where this share is 0, y is used unchanged,
        with a warning where there are no bounds. The fit is then still private, but accurate only
        if the bounds are narrow, or most targets are in [-1, 1].
    max_iter : int or "auto", default="auto"
        Number of steps, all of which are taken. Each reads all rows once, after up to eleven passes
        over the rows before the first step. "auto" follows from the released moment and public
        numbers.
    clipping_norm : float or "auto", default="auto"
        Clipping bound on the contribution of one row to a step: its slope, for targets in units of
        their spread, times the length of the whitened row. "auto" follows from the released moment
        and public numbers.
    step_size : float or "auto", default="auto"
        Length of the steps in whitened coordinates. "auto" is 1 divided by the curvature of a
        typical mean over rows.
    momentum : float or "auto", default="auto"
        Share of the last step, in [0, 1), that each step repeats.
    average : bool, default=True
        Whether to return the mean of the later iterates. It costs no privacy.
    rows_per_group : float or "auto", default="auto"
        For fits with `groups`: bound on the contribution of a group to the second moment, as a
        number of rows of full length, at least 1. Groups with more are clipped to it there; the
        steps use all rows. "auto" is 2 to 16, larger with less noise, and follows from public
        numbers.
    n_jobs : int, default=None
        Threads that share a sum over all rows, as in joblib. They are used only where a sum has
        enough work to pay for them, and at most two where sums aren't compiled (the extra ``fast``
        of the package), because more would take longer. The result is the same to the last bit for
        every value.
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
    coef_ : ndarray of shape (n_features,)
        Coefficients, in the units of y.
    intercept_ : float
        Intercept.
    target_bounds_ : tuple (low, high)
        Bounds to which predictions are clipped: those of the target, given or learnt. Infinite
        where there are none, and without privacy.
    n_iter_ : int
        Steps taken.
    clipping_norm_ : float
        Bound to which a row's contribution to a step was clipped; see `clipping_norm`.
    step_size_ : float
        Length of the steps; see `step_size`.
    momentum_ : float
        Share of the last step that each step repeated.
    center_ : ndarray of shape (n_features,)
        Learnt centre of the rows; 0 without an intercept. This attribute and the next two exist
        only if a ball was learnt.
    scale_ : ndarray of shape (n_features,)
        Divisors of the columns: about the size of most of their entries that are not 0. Without
        privacy, their standard deviations.
    radius_ : float
        Radius of the ball. Rows ``(x - center_) / scale_`` that are longer count less, by the
        radius over their length.
    moment_ : ndarray of shape (n_features + 1, n_features + 1)
        Second moment of the rows (1, x) by which rows were whitened: the released moment, shrunk,
        plus what noise may hide. Rows beyond the ball, or `data_norm`, count in it as they did in
        the fit. It exists where a moment was released, with an intercept; see `public_moment`.
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
    DPQuantileRegressor : Quantiles, such as the median.
    DPRidge : The mean, where there are no outliers.

    Notes
    -----
    A range of most targets is learnt first, even with `target_bounds`. Then a histogram of targets
    gives their middle and spread, for 3 % of what range and ball leave of the budget. Slopes are at
    most `huber_threshold`, or 1, for any target. So outliers move the model little, including those
    that are clipped for privacy.

    References
    ----------
    .. [1] Dong, Roth and Su (2022). Gaussian differential privacy. Journal of
       the Royal Statistical Society B. Corollary 3.3, on composition.
    .. [2] Bun, Allez, Bouchaud and Potters (2016). Rotational invariant estimator for general noisy
       matrices. IEEE Transactions on Information Theory. On shrinking eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.linear_model import DPHuberRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 3))
    >>> y = X @ [1.0, -1.0, 0.0] + rng.standard_t(1.5, 20_000)
    >>> model = DPHuberRegressor(epsilon=1.0, random_state=0).fit(X, y)
    >>> model.coef_[:2].round(1)
    array([ 1., -1.])
    """

    _parameter_constraints = {  # noqa: RUF012
        "huber_threshold": [POSITIVE],
        **REGRESSION_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        alpha=1e-4,
        huber_threshold=1.35,
        fit_intercept=True,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        moment_budget="auto",
        public_moment=None,
        data_norm=None,
        ball_budget="auto",
        target_bounds=None,
        max_iter="auto",
        clipping_norm="auto",
        step_size="auto",
        momentum="auto",
        average=True,
        rows_per_group="auto",
        n_jobs=None,
        verbose=0,
        ledger=None,
        random_state=None,
    ):
        self.alpha = alpha
        self.huber_threshold = huber_threshold
        self.fit_intercept = fit_intercept
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.moment_budget = moment_budget
        self.public_moment = public_moment
        self.data_norm = data_norm
        self.ball_budget = ball_budget
        self.target_bounds = target_bounds
        self.max_iter = max_iter
        self.clipping_norm = clipping_norm
        self.step_size = step_size
        self.momentum = momentum
        self.average = average
        self.rows_per_group = rows_per_group
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.ledger = ledger
        self.random_state = random_state

    def _family(self, *, has_exposure=False):
        loss = Huber(check_positive(self.huber_threshold, "huber_threshold"))
        return _family_of(self, loss, quantile=None, has_exposure=has_exposure)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


class DPQuantileRegressor(LinearRegressorMixin, RegressorMixin, BaseWhitened):
    r"""Regression of a quantile, such as the median, by private whitening.

    Minimises the pinball loss, over rows :math:`x_i` in the units of a learnt ball and targets
    :math:`y_i`, with their released quantile :math:`c` and a released spread :math:`s`,

    .. math:: \frac{1}{n} \sum_i \rho_q\Bigl(\frac{y_i - c}{s} - x_i^\top w\Bigr)
              + \frac{\alpha}{2} \|w\|^2 , \qquad \rho_q(r) = \max(q r, (q - 1) r) ,

    smoothed within about a tenth of a spread. Then the intercept is moved so that, by a released
    count, the share q of the targets lies below the predictions.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its target) under `adjacency`, for any data, whatever the other parameters;
    for a fit with `groups`, for one group, which is all rows of a person. ``privacy_report_`` lists
    what is assumed public and what is not covered.

    Parameters
    ----------
    quantile : float, default=0.5
        The quantile q, above 0 and below 1. Values near 0 or 1 need many rows.
    alpha : float, default=1e-4
        Strength of the L2 penalty, for a loss of targets in units of their spread.
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
    moment_budget : float or "auto", default="auto"
        Share of the budget, in [0, 1) and in terms of the squared parameter of Gaussian
        differential privacy, for releasing the second moment of the rows. "auto" is 0.1, and 0
        above 2,000 columns, where computing the eigenvectors of the moment would take longer than
        the rest of the fit. With 0 rows aren't whitened, which is less accurate wherever columns
        are correlated or of uneven scale.
    public_moment : array-like of shape (n_features + 1, n_features + 1), default=None
        Second moment of public rows, in place of a released one: the mean of ``np.outer(z, z)``
        over rows ``z = (1, x)``, in the units of X, or ``moment_`` of an earlier model. With groups
        it is the mean over people of the sums over their rows. No budget is then spent on a moment.
        It is assumed public; a wrong one costs only accuracy. With ``epsilon=inf`` it is not
        needed: rows are whitened by their own moment.
    data_norm : float or None, default=None
        Public bound on the L2 norm of a row. None sets no bound: a ball that contains the rows is
        learnt, see `ball_budget`. A bound makes this cheaper. Where there is too much noise to
        learn a ball, rows are clipped to the bound in `fit` (not in `predict`).
    ball_budget : float or "auto", default="auto"
        Share of the budget (of the squared Gaussian-DP parameter), in [0, 1), for learning the ball
        that contains the rows: a centre, a scale for each column, and a radius. `alpha` penalises
        the scaled columns, as after a StandardScaler, and rows beyond the radius count less. For a
        regressor without `target_bounds`, a quarter of the share learns these. With 0 no ball is
        learnt, and public bounds clip the rows about 0. "auto" is 0.12, more for targets and where
        the records are few, and 0 where noise would hide the ball or where another setting refers
        to rows that are not scaled: see :doc:`/theory/ball`.
    target_bounds : pair of floats (low, high), default=None
        Public range of y, which may be far too wide. Targets and predictions beyond it are clipped
        to it. None takes twice the range of most targets, wherever they lie. That range is learnt
        from a share of the budget: see `ball_budget`. Where this share is 0, y is used unchanged,
        with a warning where there are no bounds. The fit is then still private, but accurate only
        if the bounds are narrow, or most targets are in [-1, 1].
    max_iter : int or "auto", default="auto"
        Number of steps, all of which are taken. Each reads all rows once, after up to eleven passes
        over the rows before the first step. "auto" follows from the released moment and public
        numbers.
    clipping_norm : float or "auto", default="auto"
        Clipping bound on the contribution of one row to a step: its slope, for targets in units of
        their spread, times the length of the whitened row. "auto" follows from the released moment
        and public numbers.
    step_size : float or "auto", default="auto"
        Length of the steps in whitened coordinates. "auto" is 1 divided by the curvature of a
        typical mean over rows.
    momentum : float or "auto", default="auto"
        Share of the last step, in [0, 1), that each step repeats.
    average : bool, default=True
        Whether to return the mean of the later iterates. It costs no privacy.
    rows_per_group : float or "auto", default="auto"
        For fits with `groups`: bound on the contribution of a group to the second moment, as a
        number of rows of full length, at least 1. Groups with more are clipped to it there; the
        steps use all rows. "auto" is 2 to 16, larger with less noise, and follows from public
        numbers.
    n_jobs : int, default=None
        Threads that share a sum over all rows, as in joblib. They are used only where a sum has
        enough work to pay for them, and at most two where sums aren't compiled (the extra ``fast``
        of the package), because more would take longer. The result is the same to the last bit for
        every value.
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
    coef_ : ndarray of shape (n_features,)
        Coefficients, in the units of y.
    intercept_ : float
        Intercept.
    target_bounds_ : tuple (low, high)
        Bounds to which predictions are clipped: those of the target, given or learnt. Infinite
        where there are none, and without privacy.
    n_iter_ : int
        Steps taken.
    clipping_norm_ : float
        Bound to which a row's contribution to a step was clipped; see `clipping_norm`.
    step_size_ : float
        Length of the steps; see `step_size`.
    momentum_ : float
        Share of the last step that each step repeated.
    center_ : ndarray of shape (n_features,)
        Learnt centre of the rows; 0 without an intercept. This attribute and the next two exist
        only if a ball was learnt.
    scale_ : ndarray of shape (n_features,)
        Divisors of the columns: about the size of most of their entries that are not 0. Without
        privacy, their standard deviations.
    radius_ : float
        Radius of the ball. Rows ``(x - center_) / scale_`` that are longer count less, by the
        radius over their length.
    moment_ : ndarray of shape (n_features + 1, n_features + 1)
        Second moment of the rows (1, x) by which rows were whitened: the released moment, shrunk,
        plus what noise may hide. Rows beyond the ball, or `data_norm`, count in it as they did in
        the fit. It exists where a moment was released, with an intercept; see `public_moment`.
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
    DPHuberRegressor : A mean that is robust to outliers.
    DPRidge : The mean.

    Notes
    -----
    A range of most targets is learnt first, even with `target_bounds`. Then a histogram of targets
    gives their middle and spread, for 3 % of what range and ball leave of the budget. Slopes are at
    most `huber_threshold`, or 1, for any target. So outliers move the model little, including those
    that are clipped for privacy.

    References
    ----------
    .. [1] Dong, Roth and Su (2022). Gaussian differential privacy. Journal of
       the Royal Statistical Society B. Corollary 3.3, on composition.
    .. [2] Bun, Allez, Bouchaud and Potters (2016). Rotational invariant estimator for general noisy
       matrices. IEEE Transactions on Information Theory. On shrinking eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.linear_model import DPQuantileRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 3))
    >>> y = X[:, 0] + (2.0 + X[:, 1]) * rng.standard_normal(20_000)
    >>> model = DPQuantileRegressor(quantile=0.9, epsilon=1.0, random_state=0).fit(X, y)
    >>> float(np.mean(y <= model.predict(X)).round(2))
    0.9
    """

    _parameter_constraints = {  # noqa: RUF012
        "quantile": [Interval(Real, 0, 1, closed="neither")],
        **REGRESSION_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        quantile=0.5,
        alpha=1e-4,
        fit_intercept=True,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        moment_budget="auto",
        public_moment=None,
        data_norm=None,
        ball_budget="auto",
        target_bounds=None,
        max_iter="auto",
        clipping_norm="auto",
        step_size="auto",
        momentum="auto",
        average=True,
        rows_per_group="auto",
        n_jobs=None,
        verbose=0,
        ledger=None,
        random_state=None,
    ):
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.moment_budget = moment_budget
        self.public_moment = public_moment
        self.data_norm = data_norm
        self.ball_budget = ball_budget
        self.target_bounds = target_bounds
        self.max_iter = max_iter
        self.clipping_norm = clipping_norm
        self.step_size = step_size
        self.momentum = momentum
        self.average = average
        self.rows_per_group = rows_per_group
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.ledger = ledger
        self.random_state = random_state

    def _family(self, *, has_exposure=False):
        loss = SmoothPinball(self.quantile, tuned.PINBALL_WIDTH)
        return _family_of(self, loss, quantile=self.quantile, has_exposure=has_exposure)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags
