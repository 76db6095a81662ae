"""WALR: logistic regression under label differential privacy."""

from numbers import Integral

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from skdp._checks import check_count, check_finite, read_numbers
from skdp._estimator import PrivateEstimator, captioned_box
from skdp._release.plan import resolve_batch_size, resolve_delta
from skdp._rows.numbers import validate_numbers
from skdp._rows.threads import single_threaded_blas
from skdp._sklearn import (
    Interval,
    StrOptions,
    _fit_context,
    in_order_of_rows,
    validate_arrays,
)
from skdp.exceptions import PrivacyWarning, warn_user
from skdp.linear_model._base import POSITIVE, LinearClassifierMixin, publish_coefs
from skdp.linear_model.walr import _tuned as tuned
from skdp.linear_model.walr._plan import public_coins
from skdp.linear_model.walr._release import CONSTRAINTS, Options, prepared_rows, release_labels
from skdp.linear_model.walr._solver import (
    automatic_alpha,
    consistent_means,
    expected_losses,
    solve_descent,
    solve_lbfgs,
    stable_step,
    start_of,
)

_LESS_PRIVATE = (
    "the aggregate has a larger epsilon or delta than the estimator: the guarantee is that of the "
    "aggregate, which privacy_report_ states."
)
_STOPPED = "The solver took all max_iter={} iterations; raise max_iter or alpha."


class WALRClassifier(LinearClassifierMixin, ClassifierMixin, PrivateEstimator):
    r"""Logistic regression under label differential privacy (WALR).

    For records with public features and private labels. The fit uses the labels only for one noisy
    sum of rows for each class, or for sums by randomly flipped labels.

    Minimises, over rows :math:`x_i` clipped to `data_norm` and the noisy sums over n
    :math:`\tilde{s_k}`,

    .. math:: \frac{1}{n} \sum_i \log \sum_k e^{x_i^\top w_k + b_k}
              - \sum_k (\tilde{s_k}^\top w_k + \tilde{c_k} b_k) + \frac{\alpha}{2} \|W\|^2

    where :math:`\tilde{c_k}` is the noisy share of class k. Without noise this is penalised
    multinomial logistic regression. With two classes the first has w = 0 and b = 0.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for the
    *label* of one row: the adjacency is "replace_label". Features are NOT protected, and neither is
    participation; features, the number of rows and the set of classes are assumed public.
    ``privacy_report_`` lists what else is assumed and what is not covered.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Strength of the L2 penalty; scikit-learn's LogisticRegression has ``C = 1 / (n_samples *
        alpha)``. "auto" has the smallest loss expected from the public rows, the noise and the
        released sums; it reads no label. Intercepts are not penalised. A penalty suits columns of
        similar size: scale them first, for instance by a StandardScaler, which costs no privacy
        here because X is public.
    fit_intercept : bool, default=True
        Whether to fit intercepts.
    classes : array-like, default=None
        The class set. None reads it from y, which reveals whether a rare class occurs; declare it
        if that is not public. Labels outside it are refused, classes without a row are kept.
    epsilon : float, default=1.0
        Privacy loss, above 0. ``float("inf")`` runs the same code without noise or bounds.
    delta : float or "auto", default="auto"
        Probability, in [0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 /
        n_samples`` where that is less. 0 means a pure guarantee, which only flipped labels give.
    mechanism : {"auto", "analytic", "classic", "randomized_response"}, default="auto"
        "analytic" adds Gaussian noise to the sums, calibrated exactly, "classic" calibrated by the
        formula of the note, which adds more noise. The theorem of this formula ends at epsilon 1,
        so it is refused above. "randomized_response" flips labels and adds up rows by the flipped
        labels, without bias; its guarantee has delta = 0, and its noise falls exponentially in
        epsilon, but not with more rows. "auto" is "analytic" or "randomized_response", whichever is
        expected to cost less accuracy on the public rows; it reads no label. Above 500 columns it
        doesn't compare, and is "analytic" if delta isn't 0.
    noise_shape : {"auto", "adapted", "spherical"}, default="auto"
        "spherical" noise is the same for every column. "adapted" noise is small in the directions
        that matter to the regression, by an optimal design for the public rows; it takes time
        proportional to the cube of the number of columns. "auto" adapts up to 500 columns. With
        flipped labels, the rows determine the shape of the noise.
    data_norm : float, default=None
        Bound on the L2 norm of a row; longer rows are clipped to it, which reduces the noise where
        few rows are long. None reads the largest norm from X, which is public here, so no row is
        clipped.
    max_iter : int or "auto", default="auto"
        Largest number of iterations of ``solver="lbfgs"``; number of passes over the data of the
        other solvers, which are all taken. "auto" is 1000, and 20 for ``solver="hybrid"``.
    batch_size : int or "auto", default="auto"
        Rows per step of ``solver="hybrid"``. "auto" is 256.
    average : bool, default=True
        Whether ``solver="hybrid"`` and ``"gd"`` return the mean of the second half of the iterates.
    solver : {"lbfgs", "gd", "hybrid"}, default="lbfgs"
        "lbfgs" solves the problem to its optimum. "gd" is the gradient descent of the note with all
        rows in each step, "hybrid" that with mini-batches; both may end far from the optimum where
        columns are of uneven scale.
    eta0 : float or "auto", default="auto"
        Step size of ``solver="gd"`` and ``"hybrid"``. "auto" is the reciprocal of the largest
        curvature.
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
    alpha_ : float
        Strength of the penalty; see `alpha`.
    n_iter_ : int
        Iterations or passes taken. They follow from the release, like everything else.
    aggregate_ : LabelAggregate
        The release that the model was computed from. More models can be computed from it at no
        further privacy cost, by post-processing; see `fit_aggregate` and `walr_path`.
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
    label_aggregate : The release alone, for a holder of labels who doesn't train.
    walr_path : Models of many strengths of regularisation from one release.
    DPSGDClassifier : Classification that protects features too.

    Notes
    -----
    The method is that of [1]_ with less noise. The noise is calibrated exactly, for the longest row
    in the data, in coordinates that suit the problem, and the problem is solved to its optimum; or
    labels are flipped, where this costs less. doc/theory/walr.rst has the mathematics and the gain
    of each part.

    References
    ----------
    .. [1] Yuan and Lazarsfeld. Weighted aggregate logistic regression. Technical note, sections
       "Label differential privacy" and "Hybrid minibatch GD".
       Warner (1965). Randomized response: a survey technique for eliminating evasive answer bias.
       Journal of the American Statistical Association.
       Balle and Wang (2018). Improving the Gaussian mechanism for differential privacy. ICML.
       Theorem 8.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from skdp.linear_model import WALRClassifier
    >>> X, y = make_classification(n_samples=1000, n_features=5, random_state=0)
    >>> model = WALRClassifier(epsilon=1.0, classes=[0, 1]).fit(X, y)
    >>> model.privacy_report_
    (1, 1e-05)-DP
    >>> model.privacy_report_.unit
    'the label of one row'
    """

    _parameter_constraints = CONSTRAINTS | {
        "alpha": [POSITIVE, StrOptions({"auto"})],
        "max_iter": [Interval(Integral, 1, 10**9, closed="both"), StrOptions({"auto"})],
        "batch_size": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "average": ["boolean"],
        "solver": [StrOptions({"lbfgs", "gd", "hybrid"})],
        "eta0": [POSITIVE, StrOptions({"auto"})],
    }

    def __init__(
        self,
        *,
        alpha="auto",
        fit_intercept=True,
        classes=None,
        epsilon=1.0,
        delta="auto",
        mechanism="auto",
        noise_shape="auto",
        data_norm=None,
        max_iter="auto",
        batch_size="auto",
        average=True,
        solver="lbfgs",
        eta0="auto",
        ledger=None,
        random_state=None,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.classes = classes
        self.epsilon = epsilon
        self.delta = delta
        self.mechanism = mechanism
        self.noise_shape = noise_shape
        self.data_norm = data_norm
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.average = average
        self.solver = solver
        self.eta0 = eta0
        self.ledger = ledger
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, public_weight=None):
        """Fit the model with private labels: release noisy sums by label, and train on these.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Training rows, dense or CSR, and public; float32 and float64 are used without a copy.
        y : array-like of shape (n_samples,)
            Labels of any type that can be sorted.
        public_weight : array-like of shape (n_samples,), default=None
            Weight of each record, 0 or more: a weight of 2 is as if the record occurred twice. The
            loss is the weighted mean, so only ratios matter; the noise must hide the longest row
            times its weight. Weights are assumed public: they must not depend on the labels. In a
            meta-estimator they need metadata routing, see ``set_fit_request``. Without weights all
            records count equally.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        BudgetExceededError
            If there is a ledger, and too little is left in it.
        ValueError
            If a parameter or the input is invalid, if labels have one class, or a class that isn't
            among those declared; no message quotes an entry of the data.
        TypeError
            If X is of a kind that can't be read.
        """
        X, y = validate_numbers(self, X, y, order="C")

        names = getattr(self, "feature_names_in_", None)
        options = Options(
            fit_intercept=self.fit_intercept,
            epsilon=self.epsilon,
            delta=self.delta,
            ledger=self.ledger,
            random_state=self.random_state,
            classes=self.classes,
            mechanism=self.mechanism,
            noise_shape=self.noise_shape,
            data_norm=self.data_norm,
        )
        account = self._account()
        public, aggregate = release_labels(X, y, names, options, account, public_weight)

        return self._train(public, aggregate)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_aggregate(self, X, aggregate, public_weight=None):
        """Fit the model without labels, from a release by the holder of the labels.

        Privacy was spent by :func:`label_aggregate`, whose `epsilon`, `delta`, `mechanism` and
        `noise_shape` count; those of this estimator have no effect. The model is the one that `fit`
        gives for the same parameters and an equal int as seed. Holder and trainer must prepare the
        features in the same way::

            X = scaler.fit_transform(X)
            aggregate = label_aggregate(X, y)
            model = WALRClassifier().fit_aggregate(X, aggregate)

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows from which the aggregate was computed, in any order.
        aggregate : LabelAggregate
            The aggregate of the labels of these rows.
        public_weight : array-like of shape (n_samples,), default=None
            The weights of the aggregate, in the order of X. The weights of each holder were divided
            by their mean, so for a sum of two aggregates these are ``np.concatenate([one /
            np.mean(one), two / np.mean(two)])``.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If X has another number of rows or columns, other names or other sums than the rows of
            the aggregate, or if `fit_intercept`, `data_norm` or `classes` don't match the
            aggregate.
        TypeError
            If `aggregate` isn't a LabelAggregate.

        Warns
        -----
        PrivacyWarning
            If the aggregate's epsilon or delta is larger than this estimator's.
        """
        X = validate_numbers(self, X, order="C")
        names = getattr(self, "feature_names_in_", None)
        public = prepared_rows(X, aggregate, names, public_weight)
        classes = aggregate.classes if self.classes is None else self.classes
        for name, alike in (
            ("fit_intercept", self.fit_intercept == (aggregate.bias > 0.0)),
            ("data_norm", self.data_norm in (None, aggregate.data_norm)),
            ("classes", np.array_equal(np.unique(np.asarray(classes)), aggregate.classes)),
        ):
            if not alike:
                raise ValueError(f"{name} differs from what the aggregate was made with.")
        # Each part of a sum may have the delta of its own rows.
        n_rows = min(part.n_rows for part in aggregate.parts or (aggregate,))
        largest_delta = resolve_delta(self.delta, n_rows)
        if aggregate.epsilon > self.epsilon or aggregate.delta > largest_delta:
            warn_user(_LESS_PRIVATE, PrivacyWarning)
        return self._train(public, aggregate)

    def _sk_visual_block_(self):
        return captioned_box(self)

    def _train(self, public, aggregate):
        """Fit to an aggregate of these rows; nothing from here on knows a label."""
        with single_threaded_blas, np.errstate(all="ignore"):
            weights, alpha, n_iter = self._solve(public, *consistent_means(aggregate))

        publish_coefs(self, self._family(), weights, aggregate.bias, aggregate.classes.copy())
        self.alpha_, self.n_iter_ = alpha, n_iter
        self.aggregate_, self.privacy_report_ = aggregate, aggregate.report
        return self

    def _solve(self, public, means, noise_cov):
        """Return weights, the strength of the penalty and the number of iterations."""
        alpha, w = self.alpha, start_of(means, public.bias)
        if alpha == "auto":
            alpha, w = automatic_alpha(public, means, noise_cov, w)
        max_iter = tuned.PASSES[self.solver] if self.max_iter == "auto" else self.max_iter
        alpha = float(alpha)
        if self.solver == "lbfgs":
            w, n_iter = _optimum(public, means, alpha=alpha, max_iter=max_iter, start=w)
            return w, alpha, n_iter
        batch_size = public.n_rows
        if self.solver == "hybrid":
            batch_size = min(tuned.BATCH_SIZE, public.n_rows)
            if self.batch_size != "auto":
                batch_size = resolve_batch_size(self.batch_size, public.n_rows)
        w = solve_descent(
            public,
            means,
            alpha=alpha,
            max_iter=max_iter,
            eta0=stable_step(public, len(means)) if self.eta0 == "auto" else float(self.eta0),
            batch_size=batch_size,
            average=self.average,
            stream=public_coins(self.random_state),
        )
        return w, alpha, max_iter


@in_order_of_rows
def walr_path(X, aggregate, *, public_weight=None, alphas=20, max_iter=1000):
    """Solve WALR for many strengths of regularisation, at no cost in privacy.

    Everything follows from the release and from public rows. The strength that
    :class:`WALRClassifier` takes for `alpha="auto"` is about that of the smallest expected loss.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows from which the aggregate was computed, in any order.
    aggregate : LabelAggregate
        The aggregate of their labels.
    public_weight : array-like of shape (n_samples,), default=None
        The weights of the aggregate, in the order of X.
    alphas : int or array-like, default=20
        Strengths; or their number, which are then from a thousand times the automatic strength to a
        thousandth of it.
    max_iter : int, default=1000
        Largest number of iterations for each.

    Returns
    -------
    alphas : ndarray of shape (n_alphas,)
        Strengths, in decreasing order.
    coefs : ndarray of shape (n_alphas, 1 or n_classes, n_features)
        Coefficients.
    intercepts : ndarray of shape (n_alphas, 1 or n_classes)
        Intercepts.
    expected_losses : ndarray of shape (n_alphas,)
        Expected log loss for each strength, up to a constant. This criterion reads no label.

    Raises
    ------
    ValueError
        If `alphas` aren't positive, or X doesn't match the aggregate.

    References
    ----------
    .. [1] Yuan and Lazarsfeld. Weighted aggregate logistic regression.
       Technical note, section "Label differential privacy".

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skdp.linear_model import label_aggregate, walr_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> aggregate = label_aggregate(X, y, classes=[0, 1], random_state=0)
    >>> alphas, coefs, intercepts, losses = walr_path(X, aggregate, alphas=[1.0, 0.1])
    >>> coefs.shape
    (2, 1, 30)
    """
    X, names = validate_arrays(
        "walr_path", X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C"
    )
    public = prepared_rows(X, aggregate, names, public_weight)
    alphas, max_iter, path = _read_alphas(alphas), check_count(max_iter, "max_iter"), []
    with single_threaded_blas, np.errstate(all="ignore"):
        means, noise_cov = consistent_means(aggregate)
        w = start_of(means, public.bias)
        best, likely = automatic_alpha(public, means, noise_cov, w)
        if isinstance(alphas, int):
            alphas = np.geomspace(tuned.PATH_FACTOR * best, best / tuned.PATH_FACTOR, alphas)
        _, losses = expected_losses(public, means, noise_cov, likely, alphas)
        for alpha in alphas:
            w, _ = _optimum(public, means, alpha=alpha, max_iter=max_iter, start=w)
            path.append(w)
    path = np.array(path)
    check_finite(path)
    coefs, intercepts = path[:, :, : X.shape[1]], np.zeros(path.shape[:2])
    if public.bias:
        intercepts = public.bias * path[:, :, -1]
    return alphas, coefs, intercepts, losses


def _read_alphas(alphas):
    """Return how many strengths are asked for, as an int, or strengths that fall, as an array."""
    if isinstance(alphas, Integral):
        if alphas > tuned.LARGEST_N_ALPHAS:
            raise ValueError(f"alphas must be at most {tuned.LARGEST_N_ALPHAS}.")
        return check_count(alphas, "alphas")
    problem = "alphas must be numbers within 1e-30 and 1e30, at least one, or their number."
    alphas = read_numbers(alphas, problem).ravel()
    if not (alphas.size and ((alphas >= 1e-30) & (alphas <= 1e30)).all()):
        raise ValueError(problem)
    return np.sort(alphas)[::-1]


def _optimum(public, means, *, alpha, max_iter, start):
    """Return the weights of `solve_lbfgs` and its iterations, and warn if they weren't enough."""
    w, n_iter, converged = solve_lbfgs(public, means, alpha=alpha, max_iter=max_iter, start=start)
    if not converged:
        warn_user(_STOPPED.format(max_iter), ConvergenceWarning)
    return w, n_iter
