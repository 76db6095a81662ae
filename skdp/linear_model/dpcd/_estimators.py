"""DP-CD: differentially private proximal coordinate descent."""

from numbers import Real

from sklearn.base import ClassifierMixin, RegressorMixin

from skdp._docs import shared_docs
from skdp._families.losses import LOSSES
from skdp._sklearn import Interval, StrOptions
from skdp.linear_model._base import CLASS_CONSTRAINTS, LinearClassifierMixin, LinearRegressorMixin
from skdp.linear_model.dpcd._base import CONSTRAINTS, BaseDPCD

_SHARE = Interval(Real, 0, 1, closed="both")
_REGRESSION = {**CONSTRAINTS, "positive": ["boolean"], "target_bounds": ["array-like", None]}


@shared_docs
class DPCDElasticNet(LinearRegressorMixin, RegressorMixin, BaseDPCD):
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
    {fit_intercept:dpcd, epsilon, delta, adjacency, accountant, smoothness_budget, data_norm}
    {ball_budget:dpcd, feature_bounds, target_bounds:dpcd}
    {selection}
    max_iter : int or "auto", default="auto"
        Number of passes, all of which are taken. A pass has as many updates as there are columns,
        including that of the intercept. "auto" is 10 to 50, more with less noise, and 100 without
        privacy. With ``selection="greedy"`` it is the number of updates, and "auto" follows from
        the sizes and the privacy parameters.
    {clipping_norm, clip_by, step_size, smoothness, average_every, shrinkage, ledger, random_state}

    Attributes
    ----------
    {coef_, intercept_, target_bounds_, n_iter_, clipping_norm_, step_size_}
    {ball, privacy_report_, n_features_in_, feature_names_in_}

    See Also
    --------
    DPCDLasso : The L1 penalty alone.
    DPSCDRegressor : Private ridge regression by dual coordinate descent.

    Notes
    -----
    {method:dpcd}
    Several outputs are clipped and released
    together.

    {References: papers:dpcd}

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from skdp.linear_model import DPCDElasticNet
    >>> X, y = make_regression(n_samples=1000, n_features=3, random_state=0)
    >>> model = DPCDElasticNet(feature_bounds=(-3, 3), target_bounds=(-300, 300))
    >>> model.fit(X, y).privacy_report_
    (1, 1e-05)-DP
    """

    # The L1 penalty is in units of y.
    _one_width = True
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
        self.ledger = ledger
        self.random_state = random_state

    def _loss(self, n_outputs):
        return LOSSES["squared_error"]


@shared_docs
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
    {fit_intercept:dpcd, epsilon, delta, adjacency, accountant, smoothness_budget, data_norm}
    {ball_budget:dpcd, feature_bounds, target_bounds:dpcd}
    {selection}
    max_iter : int or "auto", default="auto"
        Number of passes, all of which are taken. A pass has as many updates as there are columns,
        including that of the intercept. "auto" is 10 to 50, more with less noise, and 100 without
        privacy. With ``selection="greedy"`` it is the number of updates, and "auto" follows from
        the sizes and the privacy parameters.
    {clipping_norm, clip_by, step_size, smoothness, average_every, shrinkage, ledger, random_state}

    Attributes
    ----------
    {coef_, intercept_, target_bounds_, n_iter_, clipping_norm_, step_size_}
    {ball, privacy_report_, n_features_in_, feature_names_in_}

    See Also
    --------
    DPCDElasticNet : With an L2 part in the penalty.
    DPSCDRegressor : Private ridge regression by dual coordinate descent.

    Notes
    -----
    {method:dpcd}
    Several outputs are clipped and released
    together.

    {References: papers:dpcd}

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
        self.ledger = ledger
        self.random_state = random_state


@shared_docs
class DPCDClassifier(LinearClassifierMixin, ClassifierMixin, BaseDPCD):
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

    {Parameters: penalty}
    alpha : float, default=1e-4
        Strength of the penalty; scikit-learn's LogisticRegression has
        ``C = 1 / (n_samples * alpha)``.
    {l1_ratio}
    coef_bounds : pair (low, high), default=None
        Interval of the coefficients, two numbers or two array-likes of shape (n_features,), which
        for two features must be a tuple of lists or arrays. Ends may be infinite.
    fit_intercept : bool, default=True
        Whether to fit an intercept. It is penalised like the coefficients, as in LinearSVC. It
        belongs to a constant column, equal to a third of the ball's radius, or of `data_norm` where
        no ball is learnt (1 / 3 without it). `coef_bounds` leave it free.
    {classes, class_weight, epsilon, delta, adjacency, accountant, smoothness_budget, data_norm}
    {ball_budget:dpcd, feature_bounds}
    {selection}
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
    {clip_by, step_size}
    smoothness : {"private", "bounds"} or array-like of shape (n_features,), default="private"
        Where the smoothness constants ``M_j = beta * mean(x_j ** 2)`` come from, beta being 1/4.
        "private" spends `smoothness_budget` on the means. "bounds" replaces the mean by the largest
        square that `feature_bounds` allow, and learns slowly where values are mostly far inside
        them. An array holds public guesses of ``mean(x_j ** 2)``, positive, in squared units of the
        features. With ``epsilon=inf`` the first two are the exact means. With an intercept
        "private" also releases the means of the features, and trains on centred features. This is
        the same model except for the penalty on the intercept; M is then that of the centred
        features.
    {average_every, shrinkage, ledger, random_state}

    Attributes
    ----------
    {classes_, coef_:classification, intercept_:classification, n_iter_, clipping_norm_, step_size_}
    {ball, privacy_report_, n_features_in_, feature_names_in_}

    See Also
    --------
    DPSCDClassifier : Private classification by dual coordinate descent.
    DPCDLasso : Private regression by the same algorithm.

    Notes
    -----
    {method:dpcd}
    The classes are clipped and released together: each adds noise, but none takes a share of the
    budget.

    {References: papers:dpcd}

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
        self.ledger = ledger
        self.random_state = random_state

    def _loss(self, n_outputs):
        return LOSSES["log_loss"]
