"""Logistic and ridge regression by private whitening."""

from dataclasses import replace
from numbers import Real

from sklearn.base import ClassifierMixin, RegressorMixin

from skdp._sklearn import Interval
from skdp.linear_model._base import (
    CLASS_WEIGHT,
    LinearClassifierMixin,
    LinearRegressorMixin,
)
from skdp.linear_model.whitened._base import AUTO, CONSTRAINTS, BaseWhitened
from skdp.linear_model.whitened._summary import InferenceMixin


class DPRidge(InferenceMixin, LinearRegressorMixin, RegressorMixin, BaseWhitened):
    r"""Ridge regression by private whitening, the recommended regressor.

    Minimises, over rows :math:`x_i` in the units of a learnt ball,

    .. math:: \frac{1}{n} \sum_i \frac{1}{2} (y_i - x_i^\top w)^2 + \frac{\alpha}{2} \|w\|^2 .

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its targets) under `adjacency`, for any data, whatever the other parameters;
    for a fit with `groups`, for one group, which is all rows of a person. ``privacy_report_`` lists
    what is assumed public and what is not covered.

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
        Public range of y. Targets beyond it are clipped to it, and training works on targets mapped
        to [-1, 1] (without an intercept: divided by the larger absolute bound). None learns a range
        of most targets, wherever they lie, from a share of the budget: see `ball_budget`. Where
        this share is 0, y is used unchanged, with a warning: the fit is still private, but accurate
        only if the targets are within about [-1, 1]. Where a range would be learnt, a fit with
        ``epsilon=float("inf")`` and an intercept subtracts the mean of y first.
    max_iter : int or "auto", default="auto"
        Number of steps, all of which are taken. Each reads all rows once, after up to eleven passes
        over the rows before the first step. "auto" follows from the released moment and public
        numbers: 10, 20 or 40, most where noise is small, and 100 where no moment is released.
    clipping_norm : float or "auto", default="auto"
        Clipping bound on the contribution of one row to a step: the length of its slopes times that
        of the whitened row. "auto" follows from the released moment and public numbers.
    step_size : float or "auto", default="auto"
        Length of the steps in whitened coordinates. "auto" is 1, the reciprocal of the largest
        curvature of the loss, with which steps don't diverge.
    average : bool, default=True
        Whether to return the mean of the later iterates. It costs no privacy.
    rows_per_group : float or "auto", default="auto"
        For fits with `groups`: bound on the contribution of a group to the second moment, as a
        number of rows of full length, at least 1. Groups with more are clipped to it there; the
        steps use all rows. "auto" is 2 to 16, larger with less noise, and follows from public
        numbers.
    inference : bool, default=False
        Whether to also release what standard errors and confidence intervals need, within the same
        budget: see `conf_int` and `summary`. It supports one target, or two classes. The
        coefficients then come from other steps, for which `step_size`, `average` and, where there
        is one, `momentum` must keep their defaults. "auto" then means a `moment_budget` of 0.3, and
        a `max_iter` of 32; `max_iter` must be at least 12. With a `data_norm` no ball is learnt
        (`ball_budget` must be "auto" or 0), and every row within it counts whole: take one that no
        row exceeds, as longer rows count less. Without it rows beyond the learnt radius count less,
        and intervals are of that weighted regression, not of the unweighted coefficient: see
        ``inference_quality_``. `DPRidge` has no intervals without bounds of targets, given or
        learnt. doc/theory/inference.rst derives them.
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
        Steps taken.
    clipping_norm_ : float
        Bound to which a row's contribution to a step was clipped; see `clipping_norm`.
    step_size_ : float
        Length of the steps; see `step_size`.
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
    coef_std_error_ : ndarray of the shape of `coef_`
        Standard errors, for sampling and privacy noise together; nan where there is none. This
        attribute and the next four exist only with ``inference=True``.
    intercept_std_error_ : float or ndarray of the shape of `intercept_`
        Standard error of the intercept.
    inference_quality_ : {"yes", "wide", "weighted", "no"}
        Whether intervals have their stated coverage of the coefficients, have at least that, are of
        the weighted regression instead, or can't be given. "weighted" is that of fits without
        `data_norm`: rows longer than ``radius_`` count less, and the coverage is at least that
        stated, of the weighted coefficients and not of the unweighted ones. No quality can detect
        large errors in few rows; `summary` says in how few.
    inference_reasons_ : tuple of str
        Why the quality isn't "yes".
    weighted_share_ : float
        Estimated share of the rows that count less, from released counts. It exists only where the
        quality may be "weighted". However small it is, weighted and unweighted coefficients may be
        far apart.
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
    DPLogisticRegression : Private classification by the same algorithm.
    DPCDLasso : Private regression with coefficients of zero.
    DPSGDRegressor : Private regression on streams, with pure epsilon, or with outliers.

    Notes
    -----
    The fit releases one noisy second moment of the rows, and then takes noisy gradient steps over
    all rows in the coordinates in which that moment is about the identity. All batches are full, so
    the releases compose to one Gaussian exactly [1]_, and ``privacy_report_.mu`` is exact.
    Eigenvalues of the moment are shrunk according to the noise [2]_. doc/theory/whitening.rst has
    the proofs and the reasons for the automatic settings. Several targets are clipped and released
    together: each adds noise, but none takes a share of the budget.

    References
    ----------
    .. [1] Dong, Roth and Su (2022). Gaussian differential privacy. Journal of
       the Royal Statistical Society B. Corollary 3.3, on composition.
    .. [2] Bun, Allez, Bouchaud and Potters (2016). Rotational invariant estimator for general noisy
       matrices. IEEE Transactions on Information Theory. On shrinking eigenvalues.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from skdp.linear_model import DPRidge
    >>> X, y = make_regression(n_samples=1000, n_features=3, random_state=0)
    >>> model = DPRidge(epsilon=1.0, data_norm=3.0, target_bounds=(-300, 300))
    >>> model.fit(X, y).privacy_report_
    (1, 1e-05)-DP
    """

    _parameter_constraints = {**CONSTRAINTS, "target_bounds": ["array-like", None]}  # noqa: RUF012

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
        max_iter="auto",
        clipping_norm="auto",
        step_size="auto",
        average=True,
        rows_per_group="auto",
        inference=False,
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
        self.max_iter = max_iter
        self.clipping_norm = clipping_norm
        self.step_size = step_size
        self.average = average
        self.rows_per_group = rows_per_group
        self.inference = inference
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.ledger = ledger
        self.random_state = random_state


class DPLogisticRegression(InferenceMixin, LinearClassifierMixin, ClassifierMixin, BaseWhitened):
    r"""Logistic regression by private whitening, the recommended classifier.

    Minimises, over rows :math:`x_i` in the units of a learnt ball and labels
    :math:`y_i \in \{-1, 1\}`,

    .. math:: \frac{1}{n} \sum_i \log(1 + e^{-y_i x_i^\top w}) + \frac{\alpha}{2} \|w\|^2 ,

    and with several classes the multinomial logistic loss,

    .. math:: \frac{1}{n} \sum_i \Bigl(\log \sum_k e^{x_i^\top w_k} - x_i^\top w_{y_i}\Bigr)
              + \frac{\alpha}{2} \|W\|^2 .

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its label) under `adjacency`, for any data, whatever the other parameters; for
    a fit with `groups`, for one group, which is all rows of a person. With ``classes=None`` the set
    of classes is read from y and assumed public. ``privacy_report_`` lists what is assumed public
    and what is not covered.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the L2 penalty; scikit-learn's LogisticRegression has
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
        ``step_size="auto"`` is divided by the geometric mean of the weights where that is above 1
        and there is noise.
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
    max_iter : int or "auto", default="auto"
        Number of steps, all of which are taken. Each reads all rows once, after up to eleven passes
        over the rows before the first step. "auto" follows from the released moment and public
        numbers: 10, 20 or 40, fewer where noise is large, and 100 where no moment is released.
    clipping_norm : float or "auto", default="auto"
        Clipping bound on the contribution of one row to a step: the length of its slopes times that
        of the whitened row. "auto" follows from the released moment and public numbers.
    step_size : float or "auto", default="auto"
        Length of the steps in whitened coordinates. "auto" is the reciprocal of the largest
        curvature of the loss, 4 for two classes and 2 for more, with which steps don't diverge.
    momentum : float or "auto", default="auto"
        Share of the last step, in [0, 1), that each step repeats. "auto" follows from the released
        moment and public numbers: none where noise is large.
    average : bool, default=True
        Whether to return the mean of the later iterates. It costs no privacy.
    rows_per_group : float or "auto", default="auto"
        For fits with `groups`: bound on the contribution of a group to the second moment, as a
        number of rows of full length, at least 1. Groups with more are clipped to it there; the
        steps use all rows. "auto" is 2 to 16, larger with less noise, and follows from public
        numbers.
    inference : bool, default=False
        Whether to also release what standard errors and confidence intervals need, within the same
        budget: see `conf_int` and `summary`. It supports one target, or two classes. The
        coefficients then come from other steps, for which `step_size`, `average` and, where there
        is one, `momentum` must keep their defaults. "auto" then means a `moment_budget` of 0.3, and
        a `max_iter` of 32; `max_iter` must be at least 12. With a `data_norm` no ball is learnt
        (`ball_budget` must be "auto" or 0), and every row within it counts whole: take one that no
        row exceeds, as longer rows count less. Without it rows beyond the learnt radius count less,
        and intervals are of that weighted regression, not of the unweighted coefficient: see
        ``inference_quality_``. `DPRidge` has no intervals without bounds of targets, given or
        learnt. doc/theory/inference.rst derives them.
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
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients; one row if there are two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    n_iter_ : int
        Steps taken.
    clipping_norm_ : float
        Bound to which a row's contribution to a step was clipped; see `clipping_norm`.
    step_size_ : float
        Length of the steps; see `step_size`.
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
    momentum_ : float
        Share of the last step that each step repeated; see `momentum`.
    coef_std_error_ : ndarray of the shape of `coef_`
        Standard errors, for sampling and privacy noise together; nan where there is none. This
        attribute and the next four exist only with ``inference=True``.
    intercept_std_error_ : float or ndarray of the shape of `intercept_`
        Standard error of the intercept.
    inference_quality_ : {"yes", "wide", "weighted", "no"}
        Whether intervals have their stated coverage of the coefficients, have at least that, are of
        the weighted regression instead, or can't be given. "weighted" is that of fits without
        `data_norm`: rows longer than ``radius_`` count less, and the coverage is at least that
        stated, of the weighted coefficients and not of the unweighted ones. No quality can detect
        large errors in few rows; `summary` says in how few.
    inference_reasons_ : tuple of str
        Why the quality isn't "yes".
    weighted_share_ : float
        Estimated share of the rows that count less, from released counts. It exists only where the
        quality may be "weighted". However small it is, weighted and unweighted coefficients may be
        far apart.
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
    DPRidge : Private regression by the same algorithm.
    DPCDClassifier : Private classification with coefficients of zero.
    DPSGDClassifier : Private classification on streams, with pure epsilon, or by the hinge loss.
    WALRClassifier : Logistic regression where only labels are private.

    Notes
    -----
    The fit releases one noisy second moment of the rows, and then takes noisy gradient steps over
    all rows in the coordinates in which that moment is about the identity. All batches are full, so
    the releases compose to one Gaussian exactly [1]_, and ``privacy_report_.mu`` is exact.
    Eigenvalues of the moment are shrunk according to the noise [2]_. doc/theory/whitening.rst has
    the proofs and the reasons for the automatic settings. The classes are clipped and released
    together: each adds noise, but none takes a share of the budget.

    Clipping lowers the risk of a rare class. The intercept of two classes is moved at the end to
    make up for that, from what was released, unless `clipping_norm`, `max_iter` or `step_size` is
    given, or rows have weights or are grouped.

    References
    ----------
    .. [1] Dong, Roth and Su (2022). Gaussian differential privacy. Journal of
       the Royal Statistical Society B. Corollary 3.3, on composition.
    .. [2] Bun, Allez, Bouchaud and Potters (2016). Rotational invariant estimator for general noisy
       matrices. IEEE Transactions on Information Theory. On shrinking eigenvalues.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from skdp.linear_model import DPLogisticRegression
    >>> X, y = make_classification(n_samples=1000, n_features=5, random_state=0)
    >>> model = DPLogisticRegression(epsilon=1.0, data_norm=3.0, classes=[0, 1])
    >>> model.fit(X, y).privacy_report_
    (1, 1e-05)-DP
    """

    _parameter_constraints = {  # noqa: RUF012
        **CONSTRAINTS,
        "classes": ["array-like", None],
        "class_weight": CLASS_WEIGHT,
        "momentum": [Interval(Real, 0, 1, closed="left"), AUTO],
    }

    def __init__(
        self,
        alpha=1e-4,
        *,
        fit_intercept=True,
        classes=None,
        class_weight=None,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        moment_budget="auto",
        public_moment=None,
        data_norm=None,
        ball_budget="auto",
        max_iter="auto",
        clipping_norm="auto",
        step_size="auto",
        momentum="auto",
        average=True,
        rows_per_group="auto",
        inference=False,
        n_jobs=None,
        verbose=0,
        ledger=None,
        random_state=None,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.classes = classes
        self.class_weight = class_weight
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.moment_budget = moment_budget
        self.public_moment = public_moment
        self.data_norm = data_norm
        self.ball_budget = ball_budget
        self.max_iter = max_iter
        self.clipping_norm = clipping_norm
        self.step_size = step_size
        self.momentum = momentum
        self.average = average
        self.rows_per_group = rows_per_group
        self.inference = inference
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.ledger = ledger
        self.random_state = random_state

    def _family(self, *, has_exposure=False):
        return replace(super()._family(has_exposure=has_exposure), multinomial=True)
