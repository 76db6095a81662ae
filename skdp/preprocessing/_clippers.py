"""Transformers that learn privately where the numbers of columns and rows are."""

import math
from numbers import Real

import numpy as np
from sklearn.base import OneToOneFeatureMixin

from skdp._checks import check_bounds, check_feature_bounds, check_positive, check_real
from skdp._estimator import BUDGET_CONSTRAINTS
from skdp._release.plan import NORM_KEY, QUANTILE_KEY
from skdp._rows.bounds import row_norms
from skdp._rows.numbers import validate_numbers
from skdp._sklearn import Interval, StrOptions, _fit_context
from skdp.preprocessing._base import NumberTransformer
from skdp.preprocessing._bounded import same_bounds, shorten_rows, type_that_holds
from skdp.preprocessing._plan import (
    geometric_edges,
    linear_edges,
    logarithmic_edges,
    plan_quantiles,
    plan_scaler,
)
from skdp.preprocessing._solver import find_quantiles, scale_columns

_GRIDS = {"linear": linear_edges, "log": logarithmic_edges}


class DPQuantileClipper(OneToOneFeatureMixin, NumberTransformer):
    r"""Clip features to a low and a high quantile of each, learnt privately.

    A value x of column j becomes

    .. math:: \min\bigl(h_j, \max(l_j, x)\bigr)

    in its own units, with :math:`l_j` and :math:`h_j` about the two quantiles.
    :class:`BoundsScaler` or another step may take them as the range of its input.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    under `adjacency`, for any data, whatever the other parameters. ``privacy_report_`` lists what
    is assumed public and what is not covered. The output of `transform` for private rows is as
    private as these rows: pass it to a private estimator, whose guarantee composes with this one.

    Parameters
    ----------
    feature_bounds : pair (low, high), default=(-1.0, 1.0)
        Public range of the features: two numbers for all features, or two array-likes of shape
        (n_features,): (lows, highs). For two features a list of two pairs is refused, because it
        can be read in two ways, and a tuple of two lists isn't. Choose them by the meaning of the
        features, never from the data. A range ten times too wide costs little. A range that is too
        narrow hides the values beyond it.
    quantiles : pair of floats (low, high), default=(0.01, 0.99)
        Target shares of the records below the ends. Shares that noise would hide move inwards.
    scale : {"linear", "log"}, default="linear"
        Spacing of the 1,023 thresholds. "linear" spaces them evenly. "log" makes them denser
        towards the low bound, each about 1.03 times as far from it as the last. It is for amounts,
        whose quantiles may be a millionth of the high bound.
    epsilon : float, default=1.0
        Privacy loss, above 0. ``float("inf")`` runs the same code without noise or bounds.
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 / n``
        where that is less; n is the number of records, or of people where groups are given.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
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
    norm_bound_ : float
        L2 norm that no row of the output exceeds, up to rounding.
    feature_bounds_ : tuple of two ndarrays of shape (n_features,)
        Range of each column of the output, up to rounding: the quantiles.
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
    BoundsScaler : Map features from public ranges to a common one, at no cost.
    DPStandardScaler : Standardise features by private means and variances.

    Notes
    -----
    There is one release: the distribution functions of the columns at all thresholds, by the square
    root of the matrix of a running sum [1]_. Its noise grows only with the logarithm of the number
    of thresholds. The functions are made increasing, and quantiles are read off.
    doc/theory/preprocessing.rst has the proofs.

    References
    ----------
    .. [1] Fichtenberger, Henzinger and Upadhyay (2023). Constant matters:
       fine-grained error bound on differentially private continual observation. ICML. Section 1.1.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.preprocessing import DPQuantileClipper
    >>> incomes = np.random.default_rng(0).lognormal(10.0, 0.5, (5000, 1))
    >>> clipper = DPQuantileClipper(feature_bounds=(0, 1e9), scale="log", random_state=0)
    >>> low, high = clipper.fit(incomes).feature_bounds_
    >>> bool(4_000 < low < 9_000), bool(50_000 < high < 100_000)
    (True, True)
    >>> clipper.privacy_report_
    (1, 1e-05)-DP while the seed stays secret
    """

    _parameter_constraints = {  # noqa: RUF012
        "feature_bounds": ["array-like"],
        "quantiles": ["array-like"],
        "scale": [StrOptions(set(_GRIDS))],
        **BUDGET_CONSTRAINTS,
    }

    def __init__(
        self,
        feature_bounds=(-1.0, 1.0),
        *,
        quantiles=(0.01, 0.99),
        scale="linear",
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        ledger=None,
        random_state=None,
    ):
        self.feature_bounds = feature_bounds
        self.quantiles = quantiles
        self.scale = scale
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.ledger = ledger
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, groups=None):
        """Learn the quantiles privately.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, without missing values.
        y : None
            Ignored.
        groups : array-like of shape (n_samples,), default=None
            The person, household, ... of each row, as hashable ids. The guarantee is then for one
            group, with all its rows. One row of each group counts, drawn at random. The number of
            groups is public. A Series must have the index of X. With None each row is a record.

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
            If X is sparse.
        """
        X = validate_numbers(self, X)
        return self._learn_rows(X, groups)

    def _learn(self, start, n_features, *, also_public=(), also_not_covered=()):
        # A value counts by the thresholds that it is below, so that nothing is clipped before.
        quantiles = check_bounds(self.quantiles, "quantiles")
        if not (quantiles[0] >= 0.0 and quantiles[1] <= 1.0):
            raise ValueError("quantiles must be within 0 and 1.")
        plan, run, columns = start()

        low, high = find_quantiles(columns, plan=plan, quantiles=quantiles, run=run)

        # A column may have one value only, and ranges have a width.
        self.feature_bounds_ = low, np.maximum(high, np.nextafter(low, np.inf))
        self.norm_bound_ = float(np.linalg.norm(np.abs(self.feature_bounds_).max(axis=0)))
        self.privacy_report_ = self._report(
            plan, run, also_public=also_public, also_not_covered=also_not_covered
        )
        return self

    def transform(self, X):
        """Clip the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_clipped : ndarray of shape (n_samples, n_features)
            A new array, float32 if X is and can hold the ranges.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X has another number of features than in `fit`, or isn't a finite array of numbers.
        """
        X = self._numbers(X)
        with np.errstate(all="ignore"):
            clipped = np.clip(X, *self.feature_bounds_)
        return clipped.astype(type_that_holds(X.dtype, *self.feature_bounds_), copy=False)

    def _plan(self, n_records, n_features, *, by_group=False):
        bounds = check_feature_bounds(self.feature_bounds, n_features)
        if self.scale not in _GRIDS:
            raise ValueError("scale must be 'linear' or 'log'.")
        grid = _GRIDS[self.scale]
        return plan_quantiles(
            self._budget(n_records, by_group),
            n_records=n_records,
            grid=grid,
            bounds=bounds,
            key=QUANTILE_KEY,
        )


class DPNormClipper(OneToOneFeatureMixin, NumberTransformer):
    r"""Clip rows to a length that is learnt privately and that most rows do not exceed.

    A row x becomes

    .. math:: x \min(1, R / \|x\|)

    with R about the given quantile of the lengths of rows. Put it before a private estimator that
    needs a `data_norm`: R suits it. It costs little, because there is one number per row, whatever
    the number of features.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    under `adjacency`, for any data, whatever the other parameters. ``privacy_report_`` lists what
    is assumed public and what is not covered. The output of `transform` for private rows is as
    private as these rows: pass it to a private estimator, whose guarantee composes with this one.

    Parameters
    ----------
    quantile : float, default=0.75
        Target share of shorter rows. A share that noise would hide moves towards the middle.
    norm_bounds : pair of floats (low, high), default=(0.001, 1000.0)
        Public range of R, above 0. A range a million times too wide costs little.
    epsilon : float, default=1.0
        Privacy loss, above 0. ``float("inf")`` runs the same code without noise or bounds.
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 / n``
        where that is less; n is the number of records, or of people where groups are given.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
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
    norm_bound_ : float
        L2 norm that no row of the output exceeds (up to rounding): R.
    feature_bounds_ : tuple of two ndarrays of shape (n_features,)
        Range of each column of the output (up to rounding): R to both sides of 0.
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
    NormClipper : Scale down rows that are longer than a public bound, at no cost.
    DPStandardScaler : Standardise features by private means and variances.

    Notes
    -----
    There is one release: the distribution function of the lengths of rows at 1,023 thresholds, each
    about 1.01 times the last, by the square root of the matrix of a running sum [1]_.
    doc/theory/preprocessing.rst has the proofs.

    References
    ----------
    .. [1] Fichtenberger, Henzinger and Upadhyay (2023). Constant matters:
       fine-grained error bound on differentially private continual observation. ICML. Section 1.1.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.preprocessing import DPNormClipper
    >>> X = np.random.default_rng(0).normal(size=(5000, 9))
    >>> clipper = DPNormClipper(random_state=0).fit(X)
    >>> bool(3.0 < clipper.norm_bound_ < 3.8)
    True
    >>> clipper.privacy_report_
    (1, 1e-05)-DP while the seed stays secret
    """

    _parameter_constraints = {  # noqa: RUF012
        "quantile": [Interval(Real, 0, 1, closed="neither")],
        "norm_bounds": ["array-like"],
        **BUDGET_CONSTRAINTS,
    }

    def __init__(
        self,
        quantile=0.75,
        *,
        norm_bounds=(1e-3, 1e3),
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        ledger=None,
        random_state=None,
    ):
        self.quantile = quantile
        self.norm_bounds = norm_bounds
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.ledger = ledger
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, groups=None):
        """Learn a length of rows privately.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, without missing values.
        y : None
            Ignored.
        groups : array-like of shape (n_samples,), default=None
            The person, household, ... of each row, as hashable ids. The guarantee is then for one
            group, with all its rows. One row of each group counts, drawn at random. The number of
            groups is public. A Series must have the index of X. With None each row is a record.

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
            If X is sparse.
        """
        X = validate_numbers(self, X)
        return self._learn_rows(X, groups)

    def _learn(self, start, n_features, *, also_public=(), also_not_covered=()):
        # A row counts by its length, and by the thresholds that this is below.
        quantile = check_real(self.quantile, "quantile")
        if not 0.0 < quantile < 1.0:
            raise ValueError("quantile must be within 0 and 1.")
        plan, run, columns = start()

        quantiles = quantile, quantile
        _, longest = find_quantiles(columns, plan=plan, quantiles=quantiles, run=run)

        self.norm_bound_ = max(float(longest[0]), float(plan.bounds[0][0]))
        self.feature_bounds_ = same_bounds(-self.norm_bound_, self.norm_bound_, n_features)
        self.privacy_report_ = self._report(
            plan, run, also_public=also_public, also_not_covered=also_not_covered
        )
        return self

    def _counted(self, X):
        return row_norms(X)[:, np.newaxis]

    def transform(self, X):
        """Scale down the rows that are too long.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_clipped : ndarray of shape (n_samples, n_features)
            A new array, float32 if X is.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X has another number of features than in `fit`, or isn't a finite array of numbers.
        """
        return shorten_rows(self._numbers(X), self.norm_bound_)

    def _plan(self, n_records, n_features, *, by_group=False):
        bounds = check_bounds(self.norm_bounds, "norm_bounds")
        bounds = tuple(np.array([check_positive(end, "norm_bounds")]) for end in bounds)
        return plan_quantiles(
            self._budget(n_records, by_group),
            n_records=n_records,
            grid=geometric_edges,
            bounds=bounds,
            key=NORM_KEY,
        )


class DPStandardScaler(OneToOneFeatureMixin, NumberTransformer):
    r"""Remove the mean and scale to unit variance, both learnt privately; then clip.

    A value x of column j becomes

    .. math:: \min\bigl(c, \max\bigl(-c, (x - m_j) / s_j\bigr)\bigr)

    with c the parameter `clip`, :math:`m_j` about the mean and :math:`s_j` about the standard
    deviation of the bulk of the column. The bounds may be generous: the bulk of the records is
    located first, and the mean and deviation are computed there.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    under `adjacency`, for any data, whatever the other parameters. ``privacy_report_`` lists what
    is assumed public and what is not covered. The output of `transform` for private rows is as
    private as these rows: pass it to a private estimator, whose guarantee composes with this one.

    Parameters
    ----------
    feature_bounds : pair (low, high), default=(-1.0, 1.0)
        Public range of the features: two numbers for all features, or two array-likes of shape
        (n_features,): (lows, highs). For two features a list of two pairs is refused, because it
        can be read in two ways, and a tuple of two lists isn't. Choose them by the meaning of the
        features, never from the data. A range ten times too wide costs little. A range that is too
        narrow hides the values beyond it.
    clip : float, default=3.0
        Public bound on the output, in standard deviations from the mean. It applies for
        ``epsilon=inf`` too.
    epsilon : float, default=1.0
        Privacy loss, above 0. ``float("inf")`` runs the same code without noise or bounds.
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 / n``
        where that is less; n is the number of records, or of people where groups are given.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
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
    mean_ : ndarray of shape (n_features,)
        Subtracted from the columns.
    scale_ : ndarray of shape (n_features,)
        Divisors of the columns; never 0, even for a column of one value.
    norm_bound_ : float
        L2 norm that no row of the output exceeds, up to rounding: ``clip * sqrt(n_features)``. Most
        rows are about ``sqrt(n_features)`` long, which suits as `data_norm` of an estimator, with a
        :class:`NormClipper` of the same bound in between.
    feature_bounds_ : tuple of two ndarrays of shape (n_features,)
        Range of each column of the output, up to rounding: `clip` to both sides of 0.
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
    BoundsScaler : Map features from public ranges to a common one, at no cost.
    DPQuantileClipper : Find where most values of each feature are.

    Notes
    -----
    There are two releases. The first is of the distribution functions of the columns at 1,023
    public thresholds, by the square root of the matrix of a running sum [1]_. Its noise grows only
    with the logarithm of the number of thresholds. It gives a range that contains all but about a
    hundredth of the records on each side, more where the noise is larger. The second is of means
    and mean squares of the values clipped to that range. doc/theory/preprocessing.rst has the
    proofs.

    References
    ----------
    .. [1] Fichtenberger, Henzinger and Upadhyay (2023). Constant matters:
       fine-grained error bound on differentially private continual observation. ICML. Section 1.1.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.preprocessing import DPStandardScaler
    >>> X = np.random.default_rng(0).normal(38.0, 10.0, (5000, 1))
    >>> scaler = DPStandardScaler(feature_bounds=(0, 1000), random_state=0).fit(X)
    >>> scaler.mean_.round(), scaler.scale_.round()
    (array([38.]), array([10.]))
    >>> scaler.privacy_report_
    (1, 1e-05)-DP while the seed stays secret
    """

    _parameter_constraints = {  # noqa: RUF012
        "feature_bounds": ["array-like"],
        "clip": [Interval(Real, 1e-30, 1e30, closed="both")],
        **BUDGET_CONSTRAINTS,
    }

    def __init__(
        self,
        feature_bounds=(-1.0, 1.0),
        *,
        clip=3.0,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        ledger=None,
        random_state=None,
    ):
        self.feature_bounds = feature_bounds
        self.clip = clip
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.ledger = ledger
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, groups=None):
        """Learn means and standard deviations privately.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, without missing values.
        y : None
            Ignored.
        groups : array-like of shape (n_samples,), default=None
            The person, household, ... of each row, as hashable ids. The guarantee is then for one
            group, with all its rows. One row of each group counts, drawn at random. The number of
            groups is public. A Series must have the index of X. With None each row is a record.

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
            If X is sparse.
        """
        X = validate_numbers(self, X)
        return self._learn_rows(X, groups)

    def _learn(self, start, n_features, *, also_public=(), also_not_covered=()):
        # Queries cut numbers to the ranges of the plan.
        clip = check_positive(self.clip, "clip")
        plan, run, columns = start()

        mean, scale = scale_columns(columns, plan=plan, run=run)

        self.mean_, self.scale_ = mean, scale
        self.norm_bound_ = clip * math.sqrt(n_features)
        self.feature_bounds_ = same_bounds(-clip, clip, n_features)
        self.privacy_report_ = self._report(
            plan, run, also_public=also_public, also_not_covered=also_not_covered
        )
        return self

    def transform(self, X):
        """Standardise and clip the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_scaled : ndarray of shape (n_samples, n_features)
            A new array, float32 if X is.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X has another number of features than in `fit`, or isn't a finite array of numbers.
        """
        X = self._numbers(X)
        with np.errstate(all="ignore"):
            standard = (X - self.mean_) / self.scale_
        return np.clip(standard, *self.feature_bounds_).astype(X.dtype, copy=False)

    def _plan(self, n_records, n_features, *, by_group=False):
        bounds = check_feature_bounds(self.feature_bounds, n_features)
        return plan_scaler(
            self._budget(n_records, by_group), n_records=n_records, grid=linear_edges, bounds=bounds
        )
