"""DP-CD: differentially private proximal coordinate descent."""

from dataclasses import replace
from numbers import Real

from sklearn.base import ClassifierMixin, RegressorMixin

from skdp._sklearn import Interval, StrOptions
from skdp.linear_model._base import CLASS_CONSTRAINTS, LinearClassifierMixin, LinearRegressorMixin
from skdp.linear_model._fit import BaseLinear
from skdp.linear_model.dpcd._base import CONSTRAINTS, method_of

_SHARE = Interval(Real, 0, 1, closed="both")
_REGRESSION = {**CONSTRAINTS, "positive": ["boolean"], "target_bounds": ["array-like", None]}


class DPCDElasticNet(LinearRegressorMixin, RegressorMixin, BaseLinear):
    r"""Elastic-net regression by differentially private coordinate descent (DP-CD).

    Minimises, over rows :math:`x_i` in the units of a learnt ball (see `ball_budget`), or whose
    values are clipped to `feature_bounds` where none is learnt,

    .. math:: \frac{1}{n} \sum_i \frac{1}{2} (y_i - x_i^\top w)^2 + \alpha \rho \|w\|_1
              + \frac{\alpha (1 - \rho)}{2} \|w\|^2

    with :math:`\rho` the `l1_ratio`: the objective of scikit-learn's ElasticNet, optionally with
    coefficients in an interval.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its targets) under `adjacency`, for any data, whatever the other parameters.
    ``privacy_report_`` lists what is assumed public and what is not covered.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the penalty, as in scikit-learn's ElasticNet.
    l1_ratio : float, default=0.5
        Share of the L1 part: 1 is the LASSO, 0 is ridge regression.
    positive : bool, default=False
        Whether to allow no negative coefficient.
    coef_bounds : pair (low, high), default=None
        Interval of the coefficients, two numbers or two array-likes of shape (n_features,), which
        for two features must be a tuple of lists or arrays. Ends may be infinite. With
        ``positive=True`` negative bounds become 0.
    fit_intercept : bool, default=True
        Whether to fit an intercept. It is penalised like the coefficients, by its distance from the
        middle of the bounds of the targets, given or learnt (from 0 without them). It belongs to a
        constant column, equal to a third of the ball's radius, or of `data_norm` where no ball is
        learnt (1 / 3 without it). `positive` and `coef_bounds` leave it free.
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
        How the privacy of all releases is composed. Batches are full, so "pld" is a closed form,
        which is exact; "rdp" uses Renyi differential privacy (for comparison; zero_out only).
    smoothness_budget : float, default=0.1
        Share of the budget, in (0, 1) and in terms of the squared parameter of Gaussian
        differential privacy, that ``smoothness="private"`` spends. It is a share of what a learnt
        ball leaves.
    data_norm : float, default=None
        Public bound on the L2 norm of a row. Where no ball is learnt (see `ball_budget`), longer
        rows are clipped to it in `fit`, but not in `predict`: put
        ``skdp.preprocessing.NormClipper(data_norm)`` before the estimator. None clips no row: the
        guarantee doesn't need it. Where rows are known to be short, the bound lets
        ``clipping_norm="auto"`` choose a smaller one.
    ball_budget : float or "auto", default="auto"
        Share of the budget (of the squared Gaussian-DP parameter), in [0, 1), for learning the ball
        that contains the rows: a centre, a scale for each column, and a radius. `alpha` penalises
        the scaled columns, as after a StandardScaler, and rows beyond the radius count less. For a
        regressor without `target_bounds`, a quarter of the share learns these. With 0 no ball is
        learnt, and public bounds clip the rows about 0. "auto" is 0.12, more for targets and where
        the records are few, and 0 where noise would hide the ball or where another setting refers
        to rows that are not scaled: see :doc:`/theory/ball`.
    feature_bounds : pair (low, high), default=None
        Public range of the features, two numbers or two array-likes of shape (n_features,): (lows,
        highs). For two features a list of two pairs is refused, because it can be read in two ways,
        and a tuple of two lists isn't. Where no ball is learnt (see `ball_budget`), values beyond
        the range are clipped to it in `fit`, but not in `predict`: where there are many,
        predictions are far off. None means ``(-data_norm, data_norm)``, or ``(-1, 1)`` without a
        `data_norm`, which suits features scaled by `skdp.preprocessing.BoundsScaler`; raw ones need
        bounds of their own.
    target_bounds : pair of floats (low, high), default=None
        Public range of y. Targets beyond it are clipped to it, and training works on targets mapped
        to [-1, 1] (without an intercept: divided by the larger absolute bound). None learns a range
        of most targets where a ball is learnt: see `ball_budget`; the ranges of several targets are
        equally wide. Elsewhere y is used unchanged, with a warning: the fit is still private, but
        accurate only if the targets are within about [-1, 1]. The objective is that of the targets
        in their own units. Where a range would be learnt, a fit with ``epsilon=float("inf")`` and
        an intercept subtracts the mean of y first.
    selection : {"cyclic", "greedy"}, default="cyclic"
        How coordinates are selected. "cyclic" updates all of them in each pass. "greedy" [2]_ is
        for thousands of columns of which few matter: each update is along one coordinate, which is
        privately selected among the steepest. Coordinates that aren't selected keep the coefficient
        0. Columns are measured in units of `feature_bounds`, which should be tight. No ball is
        learnt, and the mean square of a column is released with its slope. `clipping_norm` is then
        the bound to which the slope of one row is clipped. Parameters of passes (`smoothness`,
        `smoothness_budget`, `clip_by`, `average_every` and `shrinkage`) must be left out.
    max_iter : int or "auto", default="auto"
        Number of passes, all of which are taken. A pass has as many updates as there are columns,
        including that of the intercept. "auto" is 10 to 50, more with less noise, and 100 without
        privacy. With ``selection="greedy"`` it is the number of updates, and "auto" follows from
        the sizes and the privacy parameters.
    clipping_norm : float or "auto", default="auto"
        Factor C of the clipping thresholds ``C_j = sqrt(M_j / sum(M)) C``, where M is the
        smoothness. They bound what one row contributes to the j-th entry of the gradient; see
        `clip_by`. "auto" follows from M, the sizes and the privacy parameters: the less noise, the
        less clipping. It gives the intercept a bound of its own, so the slopes of a rare class are
        not clipped.
    clip_by : {"row", "entry"}, default="row"
        What is clipped. "entry", as in the paper, clips the j-th entry of a row's contribution to
        C_j. "row" clips the slope of a row, so that over a pass the squares of its entries divided
        by C_j add up to at most the number of features. The noise is the same, and less is clipped.
    step_size : float or "auto", default="auto"
        Factor of the steps ``step_size / M_j``. "auto" is 1, and 1.5 for two classes whose slopes
        are scaled with ``selection="greedy"``.
    smoothness : {"private", "bounds"} or array-like of shape (n_features,), default="private"
        Where the smoothness constants ``M_j = beta * mean(x_j ** 2)`` come from, beta being 1.
        "private" spends `smoothness_budget` on the means. "bounds" replaces the mean by the largest
        square that `feature_bounds` allow, and learns slowly where values are mostly far inside
        them. An array holds public guesses of ``mean(x_j ** 2)``, positive, in squared units of the
        features. With ``epsilon=inf`` the first two are the exact means. With an intercept
        "private" also releases the means of the features, and trains on centred features. This is
        the same model except for the penalty on the intercept; M is then that of the centred
        features.
    average_every : int, "auto" or None, default="auto"
        Passes between averagings. Each averaging replaces the iterate by the mean of the iterates
        since the last one. It costs no privacy. None averages nothing. "auto" averages the second
        half of the passes once, before the penalty is applied, so a coefficient that is 0 on
        average stays 0 exactly. It also adds nine steps of the intercept alone, at the start and
        at the end. Without privacy it averages nothing.
    shrinkage : float or "auto", default="auto"
        Strength s of a penalty ``s / 2 * mean(x_j ** 2) * w_j ** 2`` on each coefficient, which
        reduces the noise and is added to the penalty of the model. "auto" follows from the sizes
        and the privacy parameters. Under an L1 penalty, and with ``average_every="auto"``, it also
        sets to 0 the coefficients that noise alone would explain. It is 0 without privacy.
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
    target_bounds_ : tuple (low, high)
        Bounds to which predictions are clipped: those of the targets, given or learnt, with an
        entry for each of several learnt targets. Infinite where there are none, and without
        privacy.
    n_iter_ : int
        Passes taken.
    clipping_norm_ : float or None
        The factor C of the clipping bounds; None where it follows from privately released
        smoothness constants, and so isn't public.
    step_size_ : float
        The factor of the steps.
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
    DPCDLasso : The L1 penalty alone.
    DPSCDRegressor : Private ridge regression by dual coordinate descent.

    Notes
    -----
    Algorithm 1 of [1]_: each step releases one coordinate of the gradient over all rows, and takes
    a proximal step along it. The coordinates of a pass come in random order, while the paper draws
    each independently. Coordinates whose features are small have small bounds, little noise and
    long steps, so features need not have the same scale. With ``clip_by="row"`` a pass over the
    features is one Gaussian release. The noise is that of the exact composition of Gaussian
    mechanisms.
    Several outputs are clipped and released
    together.

    References
    ----------
    .. [1] Mangold, Bellet, Salmon and Tommasi (2022). Differentially private
       coordinate descent for composite empirical risk minimization. ICML. Algorithm 1, sections 5.1
       and 5.2.
    .. [2] Mangold, Bellet, Salmon and Tommasi (2023). High-dimensional private empirical risk
       minimization by greedy coordinate descent. AISTATS.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from skdp.linear_model import DPCDElasticNet
    >>> X, y = make_regression(n_samples=1000, n_features=3, random_state=0)
    >>> model = DPCDElasticNet(feature_bounds=(-3, 3), target_bounds=(-300, 300))
    >>> model.fit(X, y).privacy_report_
    (1, 1e-05)-DP
    """

    _parameter_constraints = {**_REGRESSION, "l1_ratio": [_SHARE]}  # noqa: RUF012

    def __init__(
        self,
        alpha=1e-4,
        *,
        l1_ratio=0.5,
        positive=False,
        coef_bounds=None,
        fit_intercept=True,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        accountant="pld",
        smoothness_budget=0.1,
        data_norm=None,
        ball_budget="auto",
        feature_bounds=None,
        target_bounds=None,
        selection="cyclic",
        max_iter="auto",
        clipping_norm="auto",
        clip_by="row",
        step_size="auto",
        smoothness="private",
        average_every="auto",
        shrinkage="auto",
        verbose=0,
        ledger=None,
        random_state=None,
    ):
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.positive = positive
        self.coef_bounds = coef_bounds
        self.fit_intercept = fit_intercept
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.accountant = accountant
        self.smoothness_budget = smoothness_budget
        self.data_norm = data_norm
        self.ball_budget = ball_budget
        self.feature_bounds = feature_bounds
        self.target_bounds = target_bounds
        self.selection = selection
        self.max_iter = max_iter
        self.clipping_norm = clipping_norm
        self.clip_by = clip_by
        self.step_size = step_size
        self.smoothness = smoothness
        self.average_every = average_every
        self.shrinkage = shrinkage
        self.verbose = verbose
        self.ledger = ledger
        self.random_state = random_state

    def _family(self, *, has_exposure=False):
        # The penalty has one strength for all targets.
        return replace(super()._family(has_exposure=has_exposure), of_one_width=True)

    def _method(self):
        return method_of(self, l1_ratio=self.l1_ratio, positive=self.positive)


class DPCDLasso(DPCDElasticNet):
    r"""Sparse linear regression (LASSO) by differentially private coordinate descent (DP-CD).

    Minimises, over rows :math:`x_i` in the units of a learnt ball (see `ball_budget`), or whose
    values are clipped to `feature_bounds` where none is learnt,

    .. math:: \frac{1}{n} \sum_i \frac{1}{2} (y_i - x_i^\top w)^2 + \alpha \|w\|_1 ,

    the objective of scikit-learn's Lasso, optionally with coefficients in an interval.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its targets) under `adjacency`, for any data, whatever the other parameters.
    ``privacy_report_`` lists what is assumed public and what is not covered.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the L1 penalty, in units of y times units of X, as in scikit-learn's Lasso.
    positive : bool, default=False
        Whether to allow no negative coefficient.
    coef_bounds : pair (low, high), default=None
        Interval of the coefficients, two numbers or two array-likes of shape (n_features,), which
        for two features must be a tuple of lists or arrays. Ends may be infinite. With
        ``positive=True`` negative bounds become 0.
    fit_intercept : bool, default=True
        Whether to fit an intercept. It is penalised like the coefficients, by its distance from the
        middle of the bounds of the targets, given or learnt (from 0 without them). It belongs to a
        constant column, equal to a third of the ball's radius, or of `data_norm` where no ball is
        learnt (1 / 3 without it). `positive` and `coef_bounds` leave it free.
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
        How the privacy of all releases is composed. Batches are full, so "pld" is a closed form,
        which is exact; "rdp" uses Renyi differential privacy (for comparison; zero_out only).
    smoothness_budget : float, default=0.1
        Share of the budget, in (0, 1) and in terms of the squared parameter of Gaussian
        differential privacy, that ``smoothness="private"`` spends. It is a share of what a learnt
        ball leaves.
    data_norm : float, default=None
        Public bound on the L2 norm of a row. Where no ball is learnt (see `ball_budget`), longer
        rows are clipped to it in `fit`, but not in `predict`: put
        ``skdp.preprocessing.NormClipper(data_norm)`` before the estimator. None clips no row: the
        guarantee doesn't need it. Where rows are known to be short, the bound lets
        ``clipping_norm="auto"`` choose a smaller one.
    ball_budget : float or "auto", default="auto"
        Share of the budget (of the squared Gaussian-DP parameter), in [0, 1), for learning the ball
        that contains the rows: a centre, a scale for each column, and a radius. `alpha` penalises
        the scaled columns, as after a StandardScaler, and rows beyond the radius count less. For a
        regressor without `target_bounds`, a quarter of the share learns these. With 0 no ball is
        learnt, and public bounds clip the rows about 0. "auto" is 0.12, more for targets and where
        the records are few, and 0 where noise would hide the ball or where another setting refers
        to rows that are not scaled: see :doc:`/theory/ball`.
    feature_bounds : pair (low, high), default=None
        Public range of the features, two numbers or two array-likes of shape (n_features,): (lows,
        highs). For two features a list of two pairs is refused, because it can be read in two ways,
        and a tuple of two lists isn't. Where no ball is learnt (see `ball_budget`), values beyond
        the range are clipped to it in `fit`, but not in `predict`: where there are many,
        predictions are far off. None means ``(-data_norm, data_norm)``, or ``(-1, 1)`` without a
        `data_norm`, which suits features scaled by `skdp.preprocessing.BoundsScaler`; raw ones need
        bounds of their own.
    target_bounds : pair of floats (low, high), default=None
        Public range of y. Targets beyond it are clipped to it, and training works on targets mapped
        to [-1, 1] (without an intercept: divided by the larger absolute bound). None learns a range
        of most targets where a ball is learnt: see `ball_budget`; the ranges of several targets are
        equally wide. Elsewhere y is used unchanged, with a warning: the fit is still private, but
        accurate only if the targets are within about [-1, 1]. The objective is that of the targets
        in their own units. Where a range would be learnt, a fit with ``epsilon=float("inf")`` and
        an intercept subtracts the mean of y first.
    selection : {"cyclic", "greedy"}, default="cyclic"
        How coordinates are selected. "cyclic" updates all of them in each pass. "greedy" [2]_ is
        for thousands of columns of which few matter: each update is along one coordinate, which is
        privately selected among the steepest. Coordinates that aren't selected keep the coefficient
        0. Columns are measured in units of `feature_bounds`, which should be tight. No ball is
        learnt, and the mean square of a column is released with its slope. `clipping_norm` is then
        the bound to which the slope of one row is clipped. Parameters of passes (`smoothness`,
        `smoothness_budget`, `clip_by`, `average_every` and `shrinkage`) must be left out.
    max_iter : int or "auto", default="auto"
        Number of passes, all of which are taken. A pass has as many updates as there are columns,
        including that of the intercept. "auto" is 10 to 50, more with less noise, and 100 without
        privacy. With ``selection="greedy"`` it is the number of updates, and "auto" follows from
        the sizes and the privacy parameters.
    clipping_norm : float or "auto", default="auto"
        Factor C of the clipping thresholds ``C_j = sqrt(M_j / sum(M)) C``, where M is the
        smoothness. They bound what one row contributes to the j-th entry of the gradient; see
        `clip_by`. "auto" follows from M, the sizes and the privacy parameters: the less noise, the
        less clipping. It gives the intercept a bound of its own, so the slopes of a rare class are
        not clipped.
    clip_by : {"row", "entry"}, default="row"
        What is clipped. "entry", as in the paper, clips the j-th entry of a row's contribution to
        C_j. "row" clips the slope of a row, so that over a pass the squares of its entries divided
        by C_j add up to at most the number of features. The noise is the same, and less is clipped.
    step_size : float or "auto", default="auto"
        Factor of the steps ``step_size / M_j``. "auto" is 1, and 1.5 for two classes whose slopes
        are scaled with ``selection="greedy"``.
    smoothness : {"private", "bounds"} or array-like of shape (n_features,), default="private"
        Where the smoothness constants ``M_j = beta * mean(x_j ** 2)`` come from, beta being 1.
        "private" spends `smoothness_budget` on the means. "bounds" replaces the mean by the largest
        square that `feature_bounds` allow, and learns slowly where values are mostly far inside
        them. An array holds public guesses of ``mean(x_j ** 2)``, positive, in squared units of the
        features. With ``epsilon=inf`` the first two are the exact means. With an intercept
        "private" also releases the means of the features, and trains on centred features. This is
        the same model except for the penalty on the intercept; M is then that of the centred
        features.
    average_every : int, "auto" or None, default="auto"
        Passes between averagings. Each averaging replaces the iterate by the mean of the iterates
        since the last one. It costs no privacy. None averages nothing. "auto" averages the second
        half of the passes once, before the penalty is applied, so a coefficient that is 0 on
        average stays 0 exactly. It also adds nine steps of the intercept alone, at the start and
        at the end. Without privacy it averages nothing.
    shrinkage : float or "auto", default="auto"
        Strength s of a penalty ``s / 2 * mean(x_j ** 2) * w_j ** 2`` on each coefficient, which
        reduces the noise and is added to the penalty of the model. "auto" follows from the sizes
        and the privacy parameters. Under an L1 penalty, and with ``average_every="auto"``, it also
        sets to 0 the coefficients that noise alone would explain. It is 0 without privacy.
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
    target_bounds_ : tuple (low, high)
        Bounds to which predictions are clipped: those of the targets, given or learnt, with an
        entry for each of several learnt targets. Infinite where there are none, and without
        privacy.
    n_iter_ : int
        Passes taken.
    clipping_norm_ : float or None
        The factor C of the clipping bounds; None where it follows from privately released
        smoothness constants, and so isn't public.
    step_size_ : float
        The factor of the steps.
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
    DPCDElasticNet : With an L2 part in the penalty.
    DPSCDRegressor : Private ridge regression by dual coordinate descent.

    Notes
    -----
    Algorithm 1 of [1]_: each step releases one coordinate of the gradient over all rows, and takes
    a proximal step along it. The coordinates of a pass come in random order, while the paper draws
    each independently. Coordinates whose features are small have small bounds, little noise and
    long steps, so features need not have the same scale. With ``clip_by="row"`` a pass over the
    features is one Gaussian release. The noise is that of the exact composition of Gaussian
    mechanisms.
    Several outputs are clipped and released
    together.

    References
    ----------
    .. [1] Mangold, Bellet, Salmon and Tommasi (2022). Differentially private
       coordinate descent for composite empirical risk minimization. ICML. Algorithm 1, sections 5.1
       and 5.2.
    .. [2] Mangold, Bellet, Salmon and Tommasi (2023). High-dimensional private empirical risk
       minimization by greedy coordinate descent. AISTATS.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from skdp.linear_model import DPCDLasso
    >>> X, y = make_regression(n_samples=1000, n_features=3, random_state=0)
    >>> model = DPCDLasso(alpha=1.0, feature_bounds=(-3, 3), target_bounds=(-300, 300))
    >>> model.fit(X, y).privacy_report_
    (1, 1e-05)-DP
    """

    l1_ratio = 1.0
    _parameter_constraints = _REGRESSION

    def __init__(
        self,
        alpha=1e-4,
        *,
        positive=False,
        coef_bounds=None,
        fit_intercept=True,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        accountant="pld",
        smoothness_budget=0.1,
        data_norm=None,
        ball_budget="auto",
        feature_bounds=None,
        target_bounds=None,
        selection="cyclic",
        max_iter="auto",
        clipping_norm="auto",
        clip_by="row",
        step_size="auto",
        smoothness="private",
        average_every="auto",
        shrinkage="auto",
        verbose=0,
        ledger=None,
        random_state=None,
    ):
        self.alpha = alpha
        self.positive = positive
        self.coef_bounds = coef_bounds
        self.fit_intercept = fit_intercept
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.accountant = accountant
        self.smoothness_budget = smoothness_budget
        self.data_norm = data_norm
        self.ball_budget = ball_budget
        self.feature_bounds = feature_bounds
        self.target_bounds = target_bounds
        self.selection = selection
        self.max_iter = max_iter
        self.clipping_norm = clipping_norm
        self.clip_by = clip_by
        self.step_size = step_size
        self.smoothness = smoothness
        self.average_every = average_every
        self.shrinkage = shrinkage
        self.verbose = verbose
        self.ledger = ledger
        self.random_state = random_state


class DPCDClassifier(LinearClassifierMixin, ClassifierMixin, BaseLinear):
    r"""Logistic regression by differentially private coordinate descent (DP-CD).

    Minimises, over rows :math:`x_i` in the units of a learnt ball (see `ball_budget`), or whose
    values are clipped to `feature_bounds` where none is learnt, and labels
    :math:`y_i \in \{-1, 1\}`,

    .. math:: \frac{1}{n} \sum_i \log(1 + e^{-y_i\, x_i^\top w}) + \alpha\, \Omega(w)

    with :math:`\Omega(w) = \|w\|^2 / 2` (``"l2"``), :math:`\|w\|_1` (``"l1"``) or
    :math:`\rho \|w\|_1 + (1 - \rho) \|w\|^2 / 2` (``"elasticnet"``, :math:`\rho` the `l1_ratio`),
    optionally with coefficients in an interval.
    With several classes, one such problem is solved for each class against the rest.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its label) under `adjacency`, for any data, whatever the other parameters.
    With ``classes=None`` the set of classes is read from y and assumed public. ``privacy_report_``
    lists what is assumed public and what is not covered.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"}, default="l2"
        ``||w||^2 / 2``, ``||w||_1``, or ``l1_ratio`` of the second and the rest of the first.
    alpha : float, default=1e-4
        Strength of the penalty; scikit-learn's LogisticRegression has
        ``C = 1 / (n_samples * alpha)``.
    l1_ratio : float, default=0.5
        Share of the L1 penalty for ``penalty="elasticnet"``.
    coef_bounds : pair (low, high), default=None
        Interval of the coefficients, two numbers or two array-likes of shape (n_features,), which
        for two features must be a tuple of lists or arrays. Ends may be infinite.
    fit_intercept : bool, default=True
        Whether to fit an intercept. It is penalised like the coefficients, as in LinearSVC. It
        belongs to a constant column, equal to a third of the ball's radius, or of `data_norm` where
        no ball is learnt (1 / 3 without it). `coef_bounds` leave it free.
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
        How the privacy of all releases is composed. Batches are full, so "pld" is a closed form,
        which is exact; "rdp" uses Renyi differential privacy (for comparison; zero_out only).
    smoothness_budget : float, default=0.1
        Share of the budget, in (0, 1) and in terms of the squared parameter of Gaussian
        differential privacy, that ``smoothness="private"`` spends. It is a share of what a learnt
        ball leaves.
    data_norm : float, default=None
        Public bound on the L2 norm of a row. Where no ball is learnt (see `ball_budget`), longer
        rows are clipped to it in `fit`, but not in `predict`: put
        ``skdp.preprocessing.NormClipper(data_norm)`` before the estimator. None clips no row: the
        guarantee doesn't need it. Where rows are known to be short, the bound lets
        ``clipping_norm="auto"`` choose a smaller one.
    ball_budget : float or "auto", default="auto"
        Share of the budget (of the squared Gaussian-DP parameter), in [0, 1), for learning the ball
        that contains the rows: a centre, a scale for each column, and a radius. `alpha` penalises
        the scaled columns, as after a StandardScaler, and rows beyond the radius count less. For a
        regressor without `target_bounds`, a quarter of the share learns these. With 0 no ball is
        learnt, and public bounds clip the rows about 0. "auto" is 0.12, more for targets and where
        the records are few, and 0 where noise would hide the ball or where another setting refers
        to rows that are not scaled: see :doc:`/theory/ball`.
    feature_bounds : pair (low, high), default=None
        Public range of the features, two numbers or two array-likes of shape (n_features,): (lows,
        highs). For two features a list of two pairs is refused, because it can be read in two ways,
        and a tuple of two lists isn't. Where no ball is learnt (see `ball_budget`), values beyond
        the range are clipped to it in `fit`, but not in `predict`: where there are many,
        predictions are far off. None means ``(-data_norm, data_norm)``, or ``(-1, 1)`` without a
        `data_norm`, which suits features scaled by `skdp.preprocessing.BoundsScaler`; raw ones need
        bounds of their own.
    selection : {"cyclic", "greedy"}, default="cyclic"
        How coordinates are selected. "cyclic" updates all of them in each pass. "greedy" [2]_ is
        for thousands of columns of which few matter: each update is along one coordinate, which is
        privately selected among the steepest. Coordinates that aren't selected keep the coefficient
        0. Columns are measured in units of `feature_bounds`, which should be tight. No ball is
        learnt, and the mean square of a column is released with its slope. `clipping_norm` is then
        the bound to which the slope of one row is clipped. Parameters of passes (`smoothness`,
        `smoothness_budget`, `clip_by`, `average_every` and `shrinkage`) must be left out.
    max_iter : int or "auto", default="auto"
        Number of passes, all of which are taken. A pass has as many updates as there are columns,
        including that of the intercept. "auto" is 5 to 50, more with less noise, and 100 without
        privacy. With ``selection="greedy"`` it is the number of updates, and "auto" follows from
        the sizes and the privacy parameters.
    clipping_norm : float or "auto", default="auto"
        Factor C of the clipping thresholds ``C_j = sqrt(M_j / sum(M)) C``, where M is the
        smoothness. They bound what one row contributes to the j-th entry of the gradient; see
        `clip_by`. "auto" follows from M, the sizes and the privacy parameters: the less noise, the
        less clipping. It gives the intercept a bound of its own, so the slopes of a rare class are
        not clipped. With two classes and little noise, slopes are scaled by a factor that doesn't
        depend on the label, rather than clipped, so rare words don't seem rarer in a rare class.
    clip_by : {"row", "entry"}, default="row"
        What is clipped. "entry", as in the paper, clips the j-th entry of a row's contribution to
        C_j. "row" clips the slope of a row, so that over a pass the squares of its entries divided
        by C_j add up to at most the number of features. The noise is the same, and less is clipped.
    step_size : float or "auto", default="auto"
        Factor of the steps ``step_size / M_j``. "auto" is 1, and 1.5 for two classes whose slopes
        are scaled with ``selection="greedy"``.
    smoothness : {"private", "bounds"} or array-like of shape (n_features,), default="private"
        Where the smoothness constants ``M_j = beta * mean(x_j ** 2)`` come from, beta being 1/4.
        "private" spends `smoothness_budget` on the means. "bounds" replaces the mean by the largest
        square that `feature_bounds` allow, and learns slowly where values are mostly far inside
        them. An array holds public guesses of ``mean(x_j ** 2)``, positive, in squared units of the
        features. With ``epsilon=inf`` the first two are the exact means. With an intercept
        "private" also releases the means of the features, and trains on centred features. This is
        the same model except for the penalty on the intercept; M is then that of the centred
        features.
    average_every : int, "auto" or None, default="auto"
        Passes between averagings. Each averaging replaces the iterate by the mean of the iterates
        since the last one. It costs no privacy. None averages nothing. "auto" averages the second
        half of the passes once, before the penalty is applied, so a coefficient that is 0 on
        average stays 0 exactly. It also adds nine steps of the intercept alone, at the start and
        at the end. Without privacy it averages nothing.
    shrinkage : float or "auto", default="auto"
        Strength s of a penalty ``s / 2 * mean(x_j ** 2) * w_j ** 2`` on each coefficient, which
        reduces the noise and is added to the penalty of the model. "auto" follows from the sizes
        and the privacy parameters. Under an L1 penalty, and with ``average_every="auto"``, it also
        sets to 0 the coefficients that noise alone would explain. It is 0 without privacy.
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
    clipping_norm_ : float or None
        The factor C of the clipping bounds; None where it follows from privately released
        smoothness constants, and so isn't public.
    step_size_ : float
        The factor of the steps.
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
    DPSCDClassifier : Private classification by dual coordinate descent.
    DPCDLasso : Private regression by the same algorithm.

    Notes
    -----
    Algorithm 1 of [1]_: each step releases one coordinate of the gradient over all rows, and takes
    a proximal step along it. The coordinates of a pass come in random order, while the paper draws
    each independently. Coordinates whose features are small have small bounds, little noise and
    long steps, so features need not have the same scale. With ``clip_by="row"`` a pass over the
    features is one Gaussian release. The noise is that of the exact composition of Gaussian
    mechanisms.
    The classes are clipped and released together: each adds noise, but none takes a share of the
    budget.

    References
    ----------
    .. [1] Mangold, Bellet, Salmon and Tommasi (2022). Differentially private
       coordinate descent for composite empirical risk minimization. ICML. Algorithm 1, sections 5.1
       and 5.2.
    .. [2] Mangold, Bellet, Salmon and Tommasi (2023). High-dimensional private empirical risk
       minimization by greedy coordinate descent. AISTATS.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from skdp.linear_model import DPCDClassifier
    >>> X, y = make_classification(n_samples=1000, n_features=5, random_state=0)
    >>> model = DPCDClassifier(epsilon=1.0, feature_bounds=(-3, 3), classes=[0, 1])
    >>> model.fit(X, y).privacy_report_
    (1, 1e-05)-DP
    """

    _parameter_constraints = {  # noqa: RUF012
        **CONSTRAINTS,
        "penalty": [StrOptions({"l2", "l1", "elasticnet"})],
        "l1_ratio": [_SHARE],
        **CLASS_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        penalty="l2",
        alpha=1e-4,
        l1_ratio=0.5,
        coef_bounds=None,
        fit_intercept=True,
        classes=None,
        class_weight=None,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        accountant="pld",
        smoothness_budget=0.1,
        data_norm=None,
        ball_budget="auto",
        feature_bounds=None,
        selection="cyclic",
        max_iter="auto",
        clipping_norm="auto",
        clip_by="row",
        step_size="auto",
        smoothness="private",
        average_every="auto",
        shrinkage="auto",
        verbose=0,
        ledger=None,
        random_state=None,
    ):
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.coef_bounds = coef_bounds
        self.fit_intercept = fit_intercept
        self.classes = classes
        self.class_weight = class_weight
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.accountant = accountant
        self.smoothness_budget = smoothness_budget
        self.data_norm = data_norm
        self.ball_budget = ball_budget
        self.feature_bounds = feature_bounds
        self.selection = selection
        self.max_iter = max_iter
        self.clipping_norm = clipping_norm
        self.clip_by = clip_by
        self.step_size = step_size
        self.smoothness = smoothness
        self.average_every = average_every
        self.shrinkage = shrinkage
        self.verbose = verbose
        self.ledger = ledger
        self.random_state = random_state

    def _method(self):
        return method_of(self, l1_ratio=self.l1_ratio, penalty=self.penalty)
