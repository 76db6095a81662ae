"""WALR: logistic regression under label differential privacy."""

import math
from numbers import Integral

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from skdp._bounds import clip_rows, row_norms, summation_slack
from skdp._checks import check_count, check_positive, read_numbers
from skdp._plans._base import resolve_batch_size
from skdp._plans._walr import LabelBudget, plan_walr, public_coins
from skdp._random import random_name
from skdp._solvers._parallel import single_threaded_blas
from skdp._solvers._walr import (
    BLOCK,
    PublicRows,
    consistent_means,
    solve_descent,
    solve_lbfgs,
    stable_step,
    start_of,
)
from skdp._solvers._walr_alpha import best_alpha, expected_losses
from skdp._solvers._walr_noise import adapted_coordinates, spherical_coordinates
from skdp.exceptions import PrivacyWarning, warn_user
from skdp.linear_model._base import (
    COMMON_CONSTRAINTS,
    POSITIVE,
    LinearClassifierMixin,
    PrivateEstimator,
    ProbabilityMixin,
    check_finite,
    encode_labels,
)
from skdp.linear_model._label_aggregate import LabelAggregate
from skdp.utils._sklearn import Interval, StrOptions, _fit_context, validate_data

# Columns up to which noise is adapted by default: that takes some cubes of their number.
_ADAPTED_COLUMNS = 500
# How far sums of the same features may lie apart for rounding, relative to their sizes.
_SAME_SUMS = 1e-6
_AUTO_BATCH = 256
# Factor by which a second look may change the automatic regularisation.
_CORRECTION = 4.0
# A path is this many times the automatic strength long, to both sides.
_AROUND = 1e3
_LESS_PRIVATE = (
    "the aggregate was made with a larger epsilon or delta than this estimator has; what counts is "
    "the aggregate's, which privacy_report_ tells."
)
_AUTO_PASSES = {"lbfgs": 1000, "gd": 1000, "hybrid": 20}


class WALRClassifier(ProbabilityMixin, LinearClassifierMixin, ClassifierMixin, PrivateEstimator):
    r"""Logistic regression under label differential privacy (WALR).

    For records whose features everybody may know and whose labels are private. All that is taken
    from the labels is one noisy sum of rows for each class.

    Minimises, over rows :math:`x_i` clipped to `data_norm` and the noisy sums over n
    :math:`\tilde{s_k}`,

    .. math:: \frac{1}{n} \sum_i \log \sum_k e^{x_i^\top w_k + b_k}
              - \sum_k (\tilde{s_k}^\top w_k + \tilde{c_k} b_k) + \frac{\alpha}{2} \|W\|^2

    where :math:`\tilde{c_k}` is the noisy share of class k. Without noise that is penalised
    multinomial logistic regression. Of two classes the first has w = 0 and b = 0.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for the
    *label* of one row: the adjacency is "replace_label". Features are NOT protected, and neither is
    who took part; they, the number of rows and the set of classes are taken as public. What else is
    assumed and what is not covered is listed in ``privacy_report_``.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Strength of the L2 penalty; scikit-learn's LogisticRegression has
        ``C = 1 / (n_samples * alpha)``. "auto" is what the public rows, the noise and the released
        sums let expect the smallest loss from; it reads no label. Intercepts are not penalised. A
        penalty wants columns of like size: scale them before, for instance by a StandardScaler,
        which costs no privacy here because X is public.

    fit_intercept : bool, default=True
        Whether to fit intercepts.

    classes : array-like, default=None
        The class set. None reads it from y, which tells whether a rare class occurs; declare it
        where that is not public. Labels outside it are refused, classes without a row are kept.

    epsilon : float, default=1.0
        Privacy loss, above 0. ``float("inf")`` runs the same code without noise and bounds.

    delta : float, default=1e-5
        Probability, in (0, 1), that the loss may exceed `epsilon`. Take ``0.1 / n_samples`` or
        less.

    mechanism : {"analytic", "classic"}, default="analytic"
        How the noise is calibrated: exactly, or by the note's classic formula, which adds more and
        whose theorem ends at epsilon 1: it is refused above.

    noise_shape : {"auto", "adapted", "spherical"}, default="auto"
        "spherical" noise is the same for every column. "adapted" noise is small where the
        regression needs it to be, by an optimal design for the public rows; it takes time
        proportional to the cube of the number of columns. "auto" adapts up to 500 columns.

    data_norm : float, default=None
        Bound on the L2 norm of a row; longer rows are scaled down to it, which lets noise be small
        where few rows are long. None reads the largest norm from X, which is public here, so that
        no row is scaled.

    max_iter : int or "auto", default="auto"
        Most iterations of ``solver="lbfgs"``, passes over the data of the others, which are all
        taken. "auto" is 1000, and 20 for ``solver="hybrid"``.

    batch_size : int or "auto", default="auto"
        Rows a step of ``solver="hybrid"``. "auto" is 256.

    average : bool, default=True
        Whether ``solver="hybrid"`` and ``"gd"`` return the mean of the second half of the iterates.

    solver : {"lbfgs", "gd", "hybrid"}, default="lbfgs"
        "lbfgs" solves the problem to its optimum. "gd" is the note's gradient descent with all rows
        in each step, "hybrid" the note's with mini-batches; both may end far from the optimum where
        columns are of uneven scale.

    eta0 : float or "auto", default="auto"
        Step size of ``solver="gd"`` and ``"hybrid"``. "auto" is the reciprocal of the largest
        curvature.

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

    alpha_ : float
        Strength of the penalty; see `alpha`.

    n_iter_ : int
        Iterations or passes taken. They follow from the release, as everything else.

    aggregate_ : LabelAggregate
        The release that the model was made of. More models can be made of it at no further cost in
        privacy, see `fit_aggregate` and `walr_path`.

    privacy_report_ : skdp.accountant.PrivacyReport
        The guarantee of this fit.

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
    [1]_ with less noise: calibrated exactly, for the longest row that there is, in coordinates that
    suit the problem, and with a problem that is solved to its optimum. doc/theory/walr.rst has the
    mathematics and what each part gains.

    References
    ----------
    .. [1] Yuan and Lazarsfeld. Weighted aggregate logistic regression. Technical note, sections
       "Label differential privacy" and "Hybrid minibatch GD".
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

    _parameter_constraints = {
        name: COMMON_CONSTRAINTS[name]
        for name in ("fit_intercept", "epsilon", "delta", "random_state")
    } | {
        "alpha": [POSITIVE, StrOptions({"auto"})],
        "classes": ["array-like", None],
        "mechanism": [StrOptions({"analytic", "classic"})],
        "noise_shape": [StrOptions({"auto", "adapted", "spherical"})],
        "data_norm": [POSITIVE, None],
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
        delta=1e-5,
        mechanism="analytic",
        noise_shape="auto",
        data_norm=None,
        max_iter="auto",
        batch_size="auto",
        average=True,
        solver="lbfgs",
        eta0="auto",
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
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Fit the model with private labels: release their noisy sums, and train on those.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, dense and public; float32 and float64 are used without a copy.
        y : array-like of shape (n_samples,)
            Labels of any type that can be sorted.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the input is invalid, if y has one class, or a class that isn't among
            those declared; no message quotes an entry of the data.
        TypeError
            If X is sparse.
        """
        # 1. scikit-learn's contract, 2. bound the data, 3. plan from public numbers; and release
        X, aggregate = _read_and_release(self, X, y)

        # 4. solve, 5. publish
        return _train(self, X, aggregate)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_aggregate(self, X, aggregate):
        """Fit the model without labels, from a release that a holder of them made.

        Privacy was spent by :func:`label_aggregate`, whose `epsilon`, `delta`, `mechanism` and
        `noise_shape` count; this estimator's are without effect. The model is the one that `fit`
        gives for the same parameters and an equal int as seed. Whatever is done to features before
        must be done by holder and trainer alike::

            X = scaler.fit_transform(X)
            aggregate = label_aggregate(X, y)
            model = WALRClassifier().fit_aggregate(X, aggregate)

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows that the aggregate was made of, in any order.
        aggregate : LabelAggregate
            Of these rows' labels.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If X has another number of rows or columns, other names or other sums than the rows that
            the aggregate was made of, or if `fit_intercept`, `data_norm` or `classes` ask for
            something else than was prepared.
        TypeError
            If `aggregate` isn't a LabelAggregate.

        Warns
        -----
        PrivacyWarning
            If the aggregate's epsilon or delta is larger than this estimator's.
        """
        X = _read_prepared(self, X, aggregate)
        _check_parameters(self, aggregate)
        if aggregate.epsilon > self.epsilon or aggregate.delta > self.delta:
            warn_user(_LESS_PRIVATE, PrivacyWarning)
        return _train(self, X, aggregate)


def label_aggregate(
    X,
    y,
    *,
    fit_intercept=True,
    classes=None,
    epsilon=1.0,
    delta=1e-5,
    mechanism="analytic",
    noise_shape="auto",
    data_norm=None,
    random_state=None,
):
    """Release noisy sums of rows by label, from which others train without seeing a label.

    The sums are (`epsilon`, `delta`)-differentially private for the label of one row. The features
    are public, and not protected. See :class:`WALRClassifier`, whose parameters these are.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Public rows.
    y : array-like of shape (n_samples,)
        Private labels.
    fit_intercept : bool, default=True
        Whether models will have intercepts.
    classes : array-like, default=None
        The class set; None reads it from y.
    epsilon : float, default=1.0
        Privacy loss, above 0; ``float("inf")`` adds no noise.
    delta : float, default=1e-5
        Probability, in (0, 1), that the loss may exceed `epsilon`.
    mechanism : {"analytic", "classic"}, default="analytic"
        How the noise is calibrated.
    noise_shape : {"auto", "adapted", "spherical"}, default="auto"
        Whether the noise suits the rows or is the same for every column.
    data_norm : float, default=None
        Bound on the L2 norm of a row; None reads the largest from X. Holders whose aggregates are
        to be added must all give the same number.
    random_state : int, RandomState instance or None, default=None
        A seed makes the noise reproducible, and removable by whoever learns it.

    Returns
    -------
    aggregate : LabelAggregate
        The release.

    Raises
    ------
    ValueError
        If a parameter or the input is invalid; no message quotes an entry of the data.
    TypeError
        If X is sparse.

    References
    ----------
    .. [1] Yuan and Lazarsfeld. Weighted aggregate logistic regression. Technical note, section
       "Label differential privacy".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skdp.linear_model import label_aggregate
    >>> X, y = load_iris(return_X_y=True)
    >>> label_aggregate(X, y, epsilon=2.0, classes=[0, 1, 2])
    LabelAggregate(150 rows, 3 classes, (2, 1e-05)-DP for the label of one row)
    """
    holder = WALRClassifier(
        fit_intercept=fit_intercept,
        classes=classes,
        epsilon=epsilon,
        delta=delta,
        mechanism=mechanism,
        noise_shape=noise_shape,
        data_norm=data_norm,
        random_state=random_state,
    )
    return _checked_release(holder, X, y)[1]


def walr_path(X, aggregate, *, alphas=20, max_iter=1000):
    """Solve WALR for many strengths of regularisation, at no cost in privacy.

    Everything follows from the release and from public rows. The strength that `alpha="auto"` of
    :class:`WALRClassifier` takes is about that of the smallest expected loss.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows that the aggregate was made of, in any order.
    aggregate : LabelAggregate
        Of their labels.
    alphas : int or array-like, default=20
        Strengths; or their number, from a thousand times the automatic one to a thousandth.
    max_iter : int, default=1000
        Most iterations for each.

    Returns
    -------
    alphas : ndarray of shape (n_alphas,)
        Strengths, falling.
    coefs : ndarray of shape (n_alphas, 1 or n_classes, n_features)
        Coefficients.
    intercepts : ndarray of shape (n_alphas, 1 or n_classes)
        Intercepts.
    expected_losses : ndarray of shape (n_alphas,)
        What each strength is expected to cost in log loss, up to a constant: a criterion that reads
        no label.

    Raises
    ------
    ValueError
        If `alphas` aren't positive, or X isn't what the aggregate was made of.

    References
    ----------
    .. [1] Yuan and Lazarsfeld. Weighted aggregate logistic regression. Technical note, section
       "Label differential privacy".

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
    X = _read_prepared(WALRClassifier(), X, aggregate)
    alphas, max_iter, path = _read_alphas(alphas), check_count(max_iter, "max_iter"), []
    with single_threaded_blas, np.errstate(all="ignore"):
        public, means, noise_cov = _prepare(X, aggregate)
        w = start_of(public, means)
        best, likely = _look_twice(public, means, noise_cov, w)
        alphas = _around(best, alphas)
        _, losses = expected_losses(public, means, noise_cov, likely, alphas)
        for alpha in alphas:
            w, _, converged = solve_lbfgs(public, means, alpha=alpha, max_iter=max_iter, start=w)
            _warn_unless(converged, max_iter)
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
        return check_count(alphas, "alphas")
    problem = "alphas must be numbers within 1e-30 and 1e30, at least one, or their number."
    alphas = read_numbers(alphas, problem).ravel()
    if not (alphas.size and ((alphas >= 1e-30) & (alphas <= 1e30)).all()):
        raise ValueError(problem)
    return np.sort(alphas)[::-1]


def _around(best, alphas):
    """Return strengths that fall: those given, or so many around the best."""
    if isinstance(alphas, int):
        return np.geomspace(_AROUND * best, best / _AROUND, alphas)
    return alphas


def _read_and_release(holder, X, y):
    """Return rows as an array, and the aggregate of them and their labels."""
    # 1. scikit-learn's contract
    X, y = validate_data(holder, X, y, dtype=[np.float64, np.float32], order="C")
    classes, targets = encode_labels(y, holder.classes)
    return X, _release(holder, X, classes, targets)


_checked_release = _fit_context(prefer_skip_nested_validation=True)(_read_and_release)


def _release(holder, X, classes, targets):
    """Return the aggregate of rows and their labels, which are columns of -1 and 1."""
    # 2. bound the data
    data_norm = holder.data_norm
    data_norm = _largest_norm(X) if data_norm is None else check_positive(data_norm, "data_norm")
    # With this constant the intercept's noise and the others' cost about the same.
    bias = data_norm / X.shape[1] ** 0.25 if holder.fit_intercept else 0.0
    budget = LabelBudget(holder.epsilon, holder.delta)
    public = PublicRows(_bounded(X, data_norm, bias, budget.epsilon))

    # 3. plan from public numbers
    plan = plan_walr(
        budget,
        mechanism=holder.mechanism,
        n_rows=public.n_rows,
        n_columns=public.n_columns,
        n_classes=classes.size,
        rounding_slack=summation_slack(*X.shape, targets.shape[1], BLOCK),
    )
    stream = plan.start(holder.random_state)
    with single_threaded_blas, np.errstate(all="ignore"):
        coordinates = _coordinates(holder, public, plan.noise_multiplier)
        stretch = float(np.linalg.norm(coordinates.transform))
        stretch *= 1.0 + public.n_columns / min(public.n_rows, BLOCK)
        mechanism = plan.mechanism(coordinates.longest, stretch)
        totals = public.sums((targets > 0.0).astype(np.float64)) @ coordinates.transform.T
        sums = mechanism.release(totals, stream) @ coordinates.inverse.T
        noise_cov = mechanism.noise_std**2 * coordinates.inverse @ coordinates.inverse.T
        feature_sums = public.total
    return LabelAggregate(
        sums=sums,
        noise_cov=noise_cov,
        n_rows=public.n_rows,
        classes=classes,
        data_norm=data_norm,
        bias=bias,
        part_sums=feature_sums[np.newaxis],
        feature_names=_names(holder),
        epsilon=budget.epsilon,
        delta=budget.delta,
        noise_multiplier=plan.noise_multiplier,
        sensitivity=mechanism.sensitivity,
        names=(random_name(),),
        reproducible=stream.reproducible,
        classes_read=holder.classes is None,
        norm_read=holder.data_norm is None,
    )


def _largest_norm(X):
    norm = float(row_norms(X).max())
    if norm != 0.0 and not 1e-30 <= norm <= 1e30:
        raise ValueError("X has rows too long or too short; scale them, or give data_norm.")
    return norm or 1.0


def _bounded(X, data_norm, bias, epsilon):
    private = not math.isinf(epsilon)
    return clip_rows(X, data_norm=data_norm, fit_intercept=bias > 0.0, clip=private, bias=bias)


def _coordinates(holder, public, noise_multiplier):
    adapts = holder.noise_shape == "adapted" or (
        holder.noise_shape == "auto" and public.n_columns <= _ADAPTED_COLUMNS
    )
    if not adapts or noise_multiplier == 0.0:
        return spherical_coordinates(public)
    return adapted_coordinates(public, noise_multiplier)


def _prepare(X, aggregate):
    """Return the rows as they were prepared, and the released means with their noise."""
    public = PublicRows(_bounded(X, aggregate.data_norm, aggregate.bias, aggregate.epsilon))
    reach = _SAME_SUMS * public.n_rows * max(aggregate.data_norm, aggregate.bias)
    if (np.abs(public.total - aggregate.feature_sums) > reach).any():
        raise ValueError(
            "X has other rows than those that the aggregate was made of, or rows that were scaled "
            "otherwise."
        )
    return public, *consistent_means(public, aggregate.sums, aggregate.noise_cov)


def _read_prepared(estimator, X, aggregate):
    """Return rows as an array; refuse what an aggregate can't have been made of."""
    if not isinstance(aggregate, LabelAggregate):
        raise TypeError("aggregate must be a LabelAggregate, as made by label_aggregate.")
    X = validate_data(estimator, X, dtype=[np.float64, np.float32], order="C")
    if X.shape != (aggregate.n_rows, aggregate.n_features):
        raise ValueError(
            f"X has the shape {X.shape}, but the aggregate was made of "
            f"{(aggregate.n_rows, aggregate.n_features)}."
        )
    names = _names(estimator)
    if None not in (names, aggregate.feature_names) and names != aggregate.feature_names:
        raise ValueError("X has other feature names than those that the aggregate was made of.")
    return X


def _check_parameters(estimator, aggregate):
    """Refuse parameters that an aggregate wasn't made with."""
    if estimator.fit_intercept != (aggregate.bias > 0.0):
        raise ValueError("fit_intercept differs from what the aggregate was made with.")
    if estimator.data_norm is not None and estimator.data_norm != aggregate.data_norm:
        raise ValueError("data_norm differs from what the aggregate was made with.")
    if estimator.classes is not None and not np.array_equal(
        np.unique(np.asarray(estimator.classes)), aggregate.classes
    ):
        raise ValueError("classes differ from those that the aggregate was made with.")


def _names(estimator):
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else tuple(names.tolist())


def _train(estimator, X, aggregate):
    """Fit an estimator to an aggregate; nothing from here on knows a label."""
    # 4. solve
    with single_threaded_blas, np.errstate(all="ignore"):
        weights, alpha, n_iter = _solve(estimator, *_prepare(X, aggregate))

    # 5. publish
    estimator._set_weights(weights, aggregate.bias, aggregate.classes.copy())
    estimator.alpha_ = alpha
    estimator.n_iter_ = n_iter
    estimator.aggregate_ = aggregate
    estimator.privacy_report_ = aggregate.report
    return estimator


def _solve(estimator, public, means, noise_cov):
    """Return weights, the strength of the penalty and the number of iterations."""
    max_iter, start = estimator.max_iter, start_of(public, means)
    if max_iter == "auto":
        max_iter = _AUTO_PASSES[estimator.solver]
    alpha, w = estimator.alpha, start
    if alpha == "auto":
        alpha, w = _look_twice(public, means, noise_cov, start)
    alpha = float(alpha)
    if estimator.solver == "lbfgs":
        w, n_iter, converged = solve_lbfgs(public, means, alpha=alpha, max_iter=max_iter, start=w)
        _warn_unless(converged, max_iter)
        return w, alpha, n_iter
    batch_size = public.n_rows
    if estimator.solver == "hybrid":
        batch_size = min(_AUTO_BATCH, public.n_rows)
        if estimator.batch_size != "auto":
            batch_size = resolve_batch_size(estimator.batch_size, public.n_rows)
    eta0 = estimator.eta0
    if eta0 == "auto":
        eta0 = stable_step(public, len(means))
    w = solve_descent(
        public,
        means,
        alpha=alpha,
        max_iter=max_iter,
        eta0=float(eta0),
        batch_size=batch_size,
        average=estimator.average,
        stream=public_coins(estimator.random_state),
    )
    return w, alpha, max_iter


def _look_twice(public, means, noise_cov, start):
    """Return the automatic strength of the penalty, and weights near its optimum.

    Curvature falls where the model is sure, so it is looked at once more with weights; within
    bounds, because weights that fit the noise are sure of everything.
    """
    first = best_alpha(public, means, noise_cov, start)
    w, _, _ = solve_lbfgs(public, means, alpha=first, max_iter=_AUTO_PASSES["lbfgs"], start=start)
    second = best_alpha(public, means, noise_cov, w)
    return min(max(second, first / _CORRECTION), first * _CORRECTION), w


def _warn_unless(converged, max_iter):
    if not converged:
        warn_user(
            f"The solver took all max_iter={max_iter} iterations; raise max_iter or alpha.",
            ConvergenceWarning,
        )
