"""Generalized linear models with a log link, by private whitening."""

import math
from numbers import Real

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import d2_tweedie_score
from sklearn.utils.validation import check_consistent_length

from skdp._checks import check_bounds, check_exposure
from skdp._families.rates import RateFamily
from skdp._families.targets import as_targets
from skdp._sklearn import Interval, _fit_context, in_order_of_rows, quietly
from skdp.exceptions import warn_user
from skdp.linear_model._base import (
    checked_target_bounds,
    is_private,
    linear_predictions,
    mean_family,
    targets_at,
    weights_public,
)
from skdp.linear_model._fit import fit_to, read_rows
from skdp.linear_model.whitened._base import REGRESSION_CONSTRAINTS, BaseWhitened

CONSTRAINTS = {**REGRESSION_CONSTRAINTS, "exposure_bounds": ["array-like", None]}


_NO_EXPOSURE_TO_SCORE = (
    "score was given no exposure, and the model was fitted with exposures: y is taken for rates. "
    "For counts and amounts give score(X, y, exposure=...), in a meta-estimator of scikit-learn by "
    "set_score_request(exposure=True)."
)


def score_of_means(means, y, sample_weight, exposure, *, power, is_of_rates):
    """Return D2 of predicted means, or of rates where rows have exposures.

    A model of rates `is_of_rates`: without exposures the score is one of other targets.
    """
    if exposure is None and is_of_rates:
        warn_user(_NO_EXPOSURE_TO_SCORE, depth=5)
    if exposure is not None:
        exposure = check_exposure(exposure, len(means))
        quietly(check_consistent_length, means, y, sample_weight)
        is_seen = exposure > 0.0
        weights = np.ones(len(means)) if sample_weight is None else np.asarray(sample_weight)
        sample_weight = (weights * exposure)[is_seen]
        means, y = means[is_seen], as_targets(y)[is_seen, 0] / exposure[is_seen]
    return quietly(d2_tweedie_score, y, means, sample_weight=sample_weight, power=power)


def _longest_exposure(model):
    """Return the public bound on exposures of a model's rows, infinite where none is given."""
    if model.exposure_bounds is None:
        return math.inf
    low, high = check_bounds(model.exposure_bounds, "exposure_bounds")
    if low < 0.0 or high <= 0.0:
        raise ValueError("exposure_bounds must have a low of 0 or more, and a high above 0.")
    return high if is_private(model) else math.inf


class _GeneralizedLinear(RegressorMixin, BaseWhitened):
    """A mean that is the exponential of a linear predictor; `_power` is that of its variance."""

    # Subclasses have a number, or a property that follows from a parameter.
    _power: float

    # It is whether the last fit had exposures.
    _is_of_rates = False

    _parameter_constraints = CONSTRAINTS

    def __init__(
        self,
        alpha=1e-4,
        *,
        fit_intercept=True,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        moment_budget="auto",
        public_moment=None,
        data_norm=None,
        ball_budget="auto",
        target_bounds=None,
        exposure_bounds=None,
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
        self.fit_intercept = fit_intercept
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.moment_budget = moment_budget
        self.public_moment = public_moment
        self.data_norm = data_norm
        self.ball_budget = ball_budget
        self.target_bounds = target_bounds
        self.exposure_bounds = exposure_bounds
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

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, groups=None, public_weight=None, exposure=None):
        """Fit the model privately.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Training rows, dense or CSR; float32 and float64 are kept in their precision, in order.
        y : array-like of shape (n_samples,)
            Targets: counts or amounts, 0 or more.
        groups : array-like of shape (n_samples,), default=None
            The person, household, ... of each row, as hashable ids. The guarantee is then for one
            group, with all its rows. The number of groups is public; the number of rows of each
            group is not. The number of groups sets `delta`, and divides the sum over all rows in
            the objective. Under "zero_out" a part of a group, such as one of its rows, has the
            guarantee of ``privacy_report_.epsilon_at(delta, group_size=2)``. A Series must have the
            index of X, as ids are matched with rows by their place. With None each row is a record.
        public_weight : array-like of shape (n_samples,), default=None
            Weight of each record, 0 or more: a weight of 2 is as if the record occurred twice. The
            loss is the weighted mean, so only ratios matter. The contribution of a record to a
            release is clipped to the same bound, whatever its weight. Weights are assumed public,
            and are not published. They must not depend on the records, and keep their positions if
            a record changes. A Series must have the index of X. In a meta-estimator they need
            metadata routing, see ``set_fit_request``. Without weights all records count equally.
        exposure : array-like of shape (n_samples,), default=None
            How much of each row was seen, 0 or more: years of a policy, or of a person under
            observation. The model is then of the rate ``y / exposure``, in which a row counts by
            its exposure. Exposures are as private as y. A row whose exposure is 0 says nothing, and
            adds nothing to any release. One that is longer than `exposure_bounds`, given or learnt,
            counts as long as these, with its target reduced by the same factor. With None, each row
            has an exposure of 1.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        BudgetExceededError
            If there is a ledger, and too little is left in it.
        ValueError
            If a parameter or the input is invalid, or a target outside the range of the loss, an
            exposure is negative or missing, or an id of a group is missing; no message quotes an
            entry of the data.
        TypeError
            If X or y is of a kind that can't be read, or an id can't be hashed.
        """
        method, family = self._method(), self._family(has_exposure=exposure is not None)
        rows, units = read_rows(self, method, family, X, y, public_weight, groups, exposure)
        fit_to(self, method, rows, units, weights_public(public_weight))
        self._is_of_rates = exposure is not None
        return self

    def _family(self, *, has_exposure=False):
        return RateFamily(
            power=self._power,
            has_exposure=has_exposure,
            expects_exposure=self.exposure_bounds is not None,
            longest=_longest_exposure(self),
            bounds=checked_target_bounds(self.target_bounds),
            centred=self.fit_intercept,
            may_learn=True,
            is_private=is_private(self),
        )

    @in_order_of_rows
    def predict(self, X, exposure=None):
        """Predict means of targets, as rates where the model was fitted to exposures.

        They are clipped to ``target_bounds_``. Rows are not clipped.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Rows to predict.
        exposure : array-like of shape (n_samples,), default=None
            How much of each row is seen, 0 or more, in the units of the fit's exposures:
            predictions are then the rate times the exposure.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted targets, in the units of the training targets; over an exposure of 1 if none
            is given.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        link = "identity" if self._power == 0 else "log"
        means = targets_at(linear_predictions(self, X), link, self.target_bounds_)
        if exposure is None:
            return means
        return self._family(has_exposure=True).during(means, exposure)

    @in_order_of_rows
    def score(self, X, y, sample_weight=None, exposure=None):
        """Return D2, the share of the deviance that is explained. Without noise: not private.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,)
            True targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights in the score.
        exposure : array-like of shape (n_samples,), default=None
            How much of each row was seen. The score is then that of rates, in which a row counts by
            its weight times its exposure. Without it a model that was fitted with exposures warns,
            and takes y for rates.

        Returns
        -------
        score : float
            D2 of the predictions, 1 at best, and 0 of a prediction of the mean of y.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X or y don't fit the estimator; no message quotes an entry of the data.
        """
        return score_of_means(
            self.predict(X),
            y,
            sample_weight,
            exposure,
            power=self._power,
            is_of_rates=self._is_of_rates,
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = is_private(self)
        tags.input_tags.sparse = self._takes_sparse()
        tags.target_tags.positive_only = self._power != 0
        tags.target_tags.multi_output = self._power == 0
        return tags


class DPPoissonRegressor(_GeneralizedLinear):
    r"""Poisson regression by private whitening: counts and rates, with a log link.

    Minimises, over rows :math:`x_i` in the units of a learnt ball and counts :math:`y_i` over a
    released mean :math:`m`,

    .. math:: \frac{1}{n} \sum_i \Bigl(e^{x_i^\top w} - \frac{y_i}{m} x_i^\top w\Bigr)
              + \frac{\alpha}{2} \|w\|^2 ,

    half the mean Poisson deviance up to a constant, and predicts :math:`m e^{x^\top w}`.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its target) under `adjacency`, for any data, whatever the other parameters;
    for a fit with `groups`, for one group, which is all rows of a person. ``privacy_report_`` lists
    what is assumed public and what is not covered.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the L2 penalty, for a deviance of targets divided by their mean.
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
        Public range of y, if there is one. Targets and predictions beyond it are clipped to it.
        None clips nothing. Predicted rates, of a fit with exposures, are not clipped to it.
    exposure_bounds : pair of floats (low, high), default=None
        Public range of the exposures, where a fit has some. A row that was seen for longer than
        `high` counts as one of that exposure, with its target reduced by the same factor; `low` is
        0 or more, and cuts nothing. None learns how long most rows were seen, from the share of the
        budget that tells of the targets.
    max_iter : int or "auto", default="auto"
        Number of steps, all of which are taken. Each reads all rows once, after up to eleven passes
        over the rows before the first step. "auto" follows from the released moment and public
        numbers.
    clipping_norm : float or "auto", default="auto"
        Clipping bound on the contribution of one row to a step: its slope, for targets divided by
        their mean, times the length of the whitened row. "auto" follows from releases and public
        numbers.
    step_size : float or "auto", default="auto"
        Length of the steps in whitened coordinates. "auto" is 0.4 divided by the curvature of a
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
        Coefficients of the linear predictor, whose exponential is the prediction.
    intercept_ : float
        Intercept of the linear predictor.
    target_bounds_ : tuple (low, high)
        Bounds to which predictions are clipped.
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
    DPGammaRegressor : Amounts above 0, whose spread is proportional to the mean.
    DPTweedieRegressor : Other variances, such as that of amounts that are often 0.
    DPRidge : A mean that is linear in the features.

    Notes
    -----
    The method is that of `DPRidge`, with one difference. Counts of targets by size are released
    first, from a share of the budget. The mean follows from them, and so does the clipping bound of
    slopes: clipping fewer would add noise to all, and clipping more would bias the mean. The linear
    predictor is clipped to seven on both sides of the logarithm of the mean (without an intercept,
    of 0), so no step overflows. A wrong mean costs accuracy, not privacy. Because slopes are
    clipped, they need no bound (doc/theory/whitening.rst).

    References
    ----------
    .. [1] Dong, Roth and Su (2022). Gaussian differential privacy. Journal of
       the Royal Statistical Society B. Corollary 3.3, on composition.
    .. [2] Bun, Allez, Bouchaud and Potters (2016). Rotational invariant estimator for general noisy
       matrices. IEEE Transactions on Information Theory. On shrinking eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.linear_model import DPPoissonRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 3))
    >>> visits = rng.poisson(np.exp(X @ [0.5, -0.5, 0.0]))
    >>> model = DPPoissonRegressor(epsilon=1.0, random_state=0).fit(X, visits)
    >>> model.predict(X[:2]).round(1)
    array([1.5, 0.5])
    """

    _power = 1.0


class DPGammaRegressor(_GeneralizedLinear):
    r"""Gamma regression by private whitening: amounts above 0, with a log link.

    Minimises, over rows :math:`x_i` in the units of a learnt ball and amounts :math:`y_i` over a
    released mean :math:`m`,

    .. math:: \frac{1}{n} \sum_i \Bigl(x_i^\top w + \frac{y_i}{m} e^{-x_i^\top w}\Bigr)
              + \frac{\alpha}{2} \|w\|^2 ,

    half the mean gamma deviance up to a constant, and predicts :math:`m e^{x^\top w}`.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its target) under `adjacency`, for any data, whatever the other parameters;
    for a fit with `groups`, for one group, which is all rows of a person. ``privacy_report_`` lists
    what is assumed public and what is not covered.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the L2 penalty, for a deviance of targets divided by their mean.
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
        Public range of y, if there is one. Targets and predictions beyond it are clipped to it.
        None clips nothing. Predicted rates, of a fit with exposures, are not clipped to it.
    exposure_bounds : pair of floats (low, high), default=None
        Public range of the exposures, where a fit has some. A row that was seen for longer than
        `high` counts as one of that exposure, with its target reduced by the same factor; `low` is
        0 or more, and cuts nothing. None learns how long most rows were seen, from the share of the
        budget that tells of the targets.
    max_iter : int or "auto", default="auto"
        Number of steps, all of which are taken. Each reads all rows once, after up to eleven passes
        over the rows before the first step. "auto" follows from the released moment and public
        numbers.
    clipping_norm : float or "auto", default="auto"
        Clipping bound on the contribution of one row to a step: its slope, for targets divided by
        their mean, times the length of the whitened row. "auto" follows from releases and public
        numbers.
    step_size : float or "auto", default="auto"
        Length of the steps in whitened coordinates. "auto" is 0.4 divided by the curvature of a
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
        Coefficients of the linear predictor, whose exponential is the prediction.
    intercept_ : float
        Intercept of the linear predictor.
    target_bounds_ : tuple (low, high)
        Bounds to which predictions are clipped.
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
    DPPoissonRegressor : Counts.
    DPTweedieRegressor : Other variances, such as that of amounts that are often 0.
    DPRidge : A mean that is linear in the features.

    Notes
    -----
    The method is that of `DPRidge`, with one difference. Counts of targets by size are released
    first, from a share of the budget. The mean follows from them, and so does the clipping bound of
    slopes: clipping fewer would add noise to all, and clipping more would bias the mean. The linear
    predictor is clipped to seven on both sides of the logarithm of the mean (without an intercept,
    of 0), so no step overflows. A wrong mean costs accuracy, not privacy. Because slopes are
    clipped, they need no bound (doc/theory/whitening.rst).

    References
    ----------
    .. [1] Dong, Roth and Su (2022). Gaussian differential privacy. Journal of
       the Royal Statistical Society B. Corollary 3.3, on composition.
    .. [2] Bun, Allez, Bouchaud and Potters (2016). Rotational invariant estimator for general noisy
       matrices. IEEE Transactions on Information Theory. On shrinking eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.linear_model import DPGammaRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 3))
    >>> cost = rng.gamma(2.0, 600.0 * np.exp(X @ [0.5, -0.5, 0.0]))
    >>> model = DPGammaRegressor(epsilon=1.0, random_state=0).fit(X, cost)
    >>> bool(model.score(X, cost) > 0.1)
    True
    """

    _power = 2.0


class DPTweedieRegressor(_GeneralizedLinear):
    r"""Tweedie regression by private whitening: a variance that is a power of the mean.

    Minimises, over rows :math:`x_i` in the units of a learnt ball and targets :math:`y_i` over a
    released mean :math:`m`, half the mean deviance :math:`d_p` of the power :math:`p` up to a
    constant,

    .. math:: \frac{1}{2n} \sum_i d_p\Bigl(\frac{y_i}{m}, e^{x_i^\top w}\Bigr)
              + \frac{\alpha}{2} \|w\|^2 ,

    and predicts :math:`m e^{x^\top w}`. With the power 0 it is `DPRidge`: the mean is linear, and
    without `target_bounds` targets are clipped to a learnt range.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its target) under `adjacency`, for any data, whatever the other parameters;
    for a fit with `groups`, for one group, which is all rows of a person. ``privacy_report_`` lists
    what is assumed public and what is not covered.

    Parameters
    ----------
    power : float, default=0.0
        Power of the mean to which the variance is proportional: 0 for the normal distribution, 1
        for counts, between 1 and 2 for amounts that are often 0, 2 for amounts above 0, 3 for the
        inverse Gaussian. No distribution has a power between 0 and 1.
    alpha : float, default=1e-4
        Strength of the L2 penalty, for a deviance of targets divided by their mean.
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
        Public range of y, if there is one. Targets and predictions beyond it are clipped to it.
        None clips nothing. Predicted rates, of a fit with exposures, are not clipped to it.
    exposure_bounds : pair of floats (low, high), default=None
        Public range of the exposures, where a fit has some. A row that was seen for longer than
        `high` counts as one of that exposure, with its target reduced by the same factor; `low` is
        0 or more, and cuts nothing. None learns how long most rows were seen, from the share of the
        budget that tells of the targets.
    max_iter : int or "auto", default="auto"
        Number of steps, all of which are taken. Each reads all rows once, after up to eleven passes
        over the rows before the first step. "auto" follows from the released moment and public
        numbers.
    clipping_norm : float or "auto", default="auto"
        Clipping bound on the contribution of one row to a step: its slope, for targets divided by
        their mean, times the length of the whitened row. "auto" follows from releases and public
        numbers.
    step_size : float or "auto", default="auto"
        Length of the steps in whitened coordinates. "auto" is 0.4 divided by the curvature of a
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
        Coefficients of the linear predictor, whose exponential is the prediction.
    intercept_ : float
        Intercept of the linear predictor.
    target_bounds_ : tuple (low, high)
        Bounds to which predictions are clipped.
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
    DPPoissonRegressor : The power 1.
    DPGammaRegressor : The power 2.
    DPRidge : The power 0.

    Notes
    -----
    The method is that of `DPRidge`, with one difference. Counts of targets by size are released
    first, from a share of the budget. The mean follows from them, and so does the clipping bound of
    slopes: clipping fewer would add noise to all, and clipping more would bias the mean. The linear
    predictor is clipped to seven on both sides of the logarithm of the mean (without an intercept,
    of 0), so no step overflows. A wrong mean costs accuracy, not privacy. Because slopes are
    clipped, they need no bound (doc/theory/whitening.rst).

    References
    ----------
    .. [1] Dong, Roth and Su (2022). Gaussian differential privacy. Journal of
       the Royal Statistical Society B. Corollary 3.3, on composition.
    .. [2] Bun, Allez, Bouchaud and Potters (2016). Rotational invariant estimator for general noisy
       matrices. IEEE Transactions on Information Theory. On shrinking eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.linear_model import DPTweedieRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 3))
    >>> claims = rng.poisson(0.2 * np.exp(X[:, 0]))
    >>> cost = claims * rng.gamma(2.0, 600.0, len(X))
    >>> model = DPTweedieRegressor(power=1.5, epsilon=1.0, random_state=0).fit(X, cost)
    >>> bool(0.0 < model.score(X, cost) < 0.1)
    True
    """

    _parameter_constraints = {  # noqa: RUF012
        "power": [Interval(Real, 0, 100, closed="both")],
        **_GeneralizedLinear._parameter_constraints,
    }

    def __init__(
        self,
        *,
        power=0.0,
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
        exposure_bounds=None,
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
        self.power = power
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
        self.exposure_bounds = exposure_bounds
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

    @property
    def _power(self):
        return self.power

    def _family(self, *, has_exposure=False):
        if self.power != 0:
            return super()._family(has_exposure=has_exposure)
        has_exposure = has_exposure or self.exposure_bounds is not None
        return mean_family(self, has_exposure=has_exposure)

    @in_order_of_rows
    def score(self, X, y, sample_weight=None, exposure=None):
        """Return D2, the share of the deviance that is explained. Without noise: not private.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,)
            True targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights in the score.
        exposure : array-like of shape (n_samples,), default=None
            How much of each row was seen. The score is then that of rates, in which a row counts by
            its weight times its exposure. Without it a model that was fitted with exposures warns,
            and takes y for rates.

        Returns
        -------
        score : float
            D2 of the predictions, 1 at best, and 0 of a prediction of the mean of y. With a power
            of 0 it is R2.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X or y don't fit the estimator; no message quotes an entry of the data.
        """
        if self.power != 0:
            return super().score(X, y, sample_weight, exposure)
        # It refuses exposures.
        self._family(has_exposure=exposure is not None)
        return quietly(RegressorMixin.score, self, X, y, sample_weight)
