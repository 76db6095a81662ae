"""Additive models of targets."""

from sklearn.base import RegressorMixin

from skdp._estimator import is_private
from skdp._sklearn import StrOptions, _fit_context, in_order_of_rows, quietly
from skdp.additive._base import CONSTRAINTS, BaseAdditive
from skdp.additive._fit import fit_table
from skdp.additive._parameters import parameters_of
from skdp.additive._predicted import LOSSES_OF_TARGETS, PredictedTargets
from skdp.additive._reading import linear_values
from skdp.linear_model._base import targets_at
from skdp.linear_model.whitened._generalized import score_of_means


class DPAdditiveRegressor(RegressorMixin, BaseAdditive):
    r"""Additive ridge regression of a raw table.

    Predicts

    .. math:: \beta_0 + \sum_j f_j(x_j) ,

    in which a term :math:`f_j` is a curve for a column of numbers, and a value for each word of a
    column of words; or with another `loss` than the first, the exponential of this sum. Minimises
    half the mean squared error, or deviance, with `alpha` times half the squared coefficients.
    Curves are straight between knots. The more of their bends the noise hides, the stiffer they
    are: in the end they are lines. Knots, words, missing entries and the range of y are learnt from
    the records within the budget, so no ranges, categories or fill values need to be given. The
    model is `DPRidge`, `DPPoissonRegressor` or `DPGammaRegressor` on the columns of a
    `DPTableVectorizer`.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its targets) under `adjacency`, for any data, whatever the other parameters;
    of a fit with `groups` for one group, which is all rows of a person.
    What is assumed public and what is not covered is listed in ``privacy_report_``.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Strength of the L2 penalty on the values of hats and words, each about the mean of its
        column. "auto" is ``3 / n``, which weighs as much however many records there are; n is
        their number, or that of people where groups are given. The intercept is
        penalised, too: a large `alpha` moves the mean prediction to even chances, or to the middle
        of the targets' range.
    interactions : "auto", list of pairs or None, default="auto"
        Effects of two columns together. With "auto", the strongest curves are multiplied with each
        other, and each product has one coefficient. Two fifths of the model's part of the budget
        are spent on it. No products are made, and nothing is spent on them, where public numbers
        tell that records are too few, with fewer than two columns that `monotonic_cst` leaves free,
        and for anything but two classes, or one target and squared errors. Curves of counts and
        amounts are fitted a second time instead, each as a whole, with three tenths of that part. A
        list has pairs of columns, by name or position, that get a surface in addition to their
        curves. Choose them by the meaning of the columns, not by looking at the records. None is
        curves alone, fitted once.
    monotonic_cst : dict by column or array-like of int of shape (n_features,), default=None
        1 for an increasing curve, -1 for a decreasing one, 0 for any. Only for columns of numbers,
        and for one output. The constraint is applied after the fit, by post-processing, which costs
        nothing.
    knots : "auto", int or dict, default="auto"
        Largest number of knots of a column of numbers; "auto" is 4 to 24,
        depending on its noise, and to 12 with a deviance. A dict by column has lists of knots,
        which cost nothing; columns that it doesn't name have "auto".
    categories : "auto" or dict, default="auto"
        A dict by column has lists of the categories to distinguish, with NaN for missing entries,
        which costs nothing. In all other columns of words, the categories are learnt privately.
    numeric_features, categorical_features : list, default=None
        Columns of numbers and of words, by name or position. Of all others the types say what they
        hold, which the report names as assumed public: numbers, booleans, dates, or words, if it is
        categories. What columns of objects or text hold, or those of lists, is learnt within the
        budget. In a column of numbers, an entry that is not a number is missing. doc/reading.rst
        has the rules.
    loss : {"squared_error", "poisson", "gamma"}, default="squared_error"
        Squared error, or the deviance of counts and of amounts that may be 0, or of amounts above
        0. With a deviance, the terms multiply predictions: terms, intercept and `explain` are on
        the scale of logarithms.
    epsilon : float, default=1.0
        Privacy loss, above 0. ``float("inf")`` runs the same code without noise or bounds.
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 / n``
        where that is less; n is the number of records, or of people where groups are given.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
    features_budget : float or "auto", default="auto"
        Share of the squared mu of Gaussian DP, in (0, 1), for learning kinds, knots and categories;
        "auto" is 0.2, and up to 0.5 where records are few. It is 0.2 again where they are so few
        that even half would hardly find a column. The rest goes to the model. Nothing is spent on
        them where both are given for all columns.
    feature_bounds : pair (low, high) or dict, default=None
        Public range of the columns of numbers, or, if its ends are dates, of those of dates; or a
        dict of ranges by column. Numbers beyond it are clipped to it in `fit`. It saves the release
        that learns the range of the numbers.
    target_bounds : pair of floats (low, high), default=None
        Public range of y. Targets beyond it are clipped to it. None learns a range of most targets,
        wherever they lie, from a share of the model's part of the budget; for counts and amounts it
        learns their mean and size. With ``epsilon=float("inf")`` the exact mean of y is subtracted,
        and counts and amounts are divided by it.
    exposure_bounds : pair of floats (low, high), default=None
        Public range of the exposures, where a fit has some. A row that was seen for longer than
        `high` counts as one of that exposure, with its target reduced by the same factor; `low` is
        0 or more, and cuts nothing. None learns how long most rows were seen, from the share of the
        budget that tells of the targets.
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
    target_bounds_ : tuple (low, high)
        Bounds to which predictions are clipped: those of the targets, given or learnt, with an
        entry for each of several learnt targets. Infinite where there are none, and without
        privacy.
    terms_ : tuple of objects
        One for each column, in their order, and then one for each pair or product. Each has
        ``name``, ``kind`` ("hats", "line", "words", "pair" or "product"), ``features``, ``knots``,
        ``categories``, ``labels`` of the places that have values, ``values``, ``std`` of the noise
        that privacy added to them, ``weights``, the share of the records at each (NaN where none
        was released, as of knots and categories that were given without counts), and ``is_noise``:
        whether noise alone makes values as large. A product has one value, its coefficient: above
        0 where two curves strengthen each other. Its `std` is that of these curves as they are.
        `std` is not a sampling error. It is a prediction, mostly right to within a factor of 2
        where there are records. For a classifier with given knots it is up to five times too small,
        and of columns that say the same, such as education in words and in years, up to three
        times: `is_noise`, which goes by it, is too seldom True there. Where there are almost no
        records, the noise is larger. Words that the released counts don't show, such as new ones,
        have the value 0.
    intercept_ : float or ndarray of shape (n_outputs,)
        The mean of the sum of all terms and the constant under the released counts.
    feature_importances_ : ndarray of shape (n_features,)
        For each column the `term_importances_` of its own term, and half of those of each pair that
        it is in.
    term_importances_ : ndarray of shape (n_terms,)
        Mean absolute value of each of ``terms_`` under the released counts, in units of its values.
        Where shares of the records aren't known, it is the plain mean over the term's knots or
        words.
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
    DPAdditiveClassifier : The same for labels.
    skdp.preprocessing.DPTableVectorizer : The columns alone.

    Notes
    -----
    See the notes of `DPAdditiveClassifier`.

    References
    ----------
    .. [1] Hastie and Tibshirani (1986). Generalized additive models. Statistical Science 1 (3).

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.additive import DPAdditiveRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (5000, 1))
    >>> y = 100 + 20 * np.sin(X[:, 0]) + rng.standard_normal(5000)
    >>> model = DPAdditiveRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    # It is whether the last fit had exposures.
    _is_of_rates = False
    _parameter_constraints = {  # noqa: RUF012
        **CONSTRAINTS,
        "loss": [StrOptions(set(LOSSES_OF_TARGETS))],
        "target_bounds": ["array-like", None],
        "exposure_bounds": ["array-like", None],
    }

    def __init__(
        self,
        alpha="auto",
        *,
        interactions="auto",
        monotonic_cst=None,
        knots="auto",
        categories="auto",
        numeric_features=None,
        categorical_features=None,
        loss="squared_error",
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        features_budget="auto",
        feature_bounds=None,
        target_bounds=None,
        exposure_bounds=None,
        n_jobs=None,
        verbose=0,
        ledger=None,
        random_state=None,
    ):
        self.alpha = alpha
        self.interactions = interactions
        self.monotonic_cst = monotonic_cst
        self.knots = knots
        self.categories = categories
        self.numeric_features = numeric_features
        self.categorical_features = categorical_features
        self.loss = loss
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.features_budget = features_budget
        self.feature_bounds = feature_bounds
        self.target_bounds = target_bounds
        self.exposure_bounds = exposure_bounds
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.ledger = ledger
        self.random_state = random_state

    def _parameters(self):
        """Return parameters as a plan and a fit go by them."""
        predicted = PredictedTargets(
            loss=self.loss,
            target_bounds=self.target_bounds,
            exposure_bounds=self.exposure_bounds,
            epsilon=self.epsilon,
            delta=self.delta,
            adjacency=self.adjacency,
            n_jobs=self.n_jobs,
        )
        return parameters_of(self, predicted)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, groups=None, public_weight=None, exposure=None):
        """Learn the table and fit the terms privately.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Raw rows: numbers, words, booleans, categories, missing entries.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets, one or more of each row.
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
            has an exposure of 1. Squared errors take none.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        BudgetExceededError
            If there is a ledger, and too little is left in it.
        ValueError
            If a parameter or the input is invalid, an exposure is negative or missing, or an id of
            a group is missing; no message quotes an entry.
        TypeError
            If a column is of a kind that can't be read.
        """
        fit_table(self, X, y, groups, public_weight, exposure)
        self._is_of_rates = exposure is not None
        return self

    @in_order_of_rows
    def predict(self, X, exposure=None):
        """Predict targets, clipped to ``target_bounds_``; rates after a fit to exposures.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        exposure : array-like of shape (n_samples,), default=None
            How much of each row is seen, 0 or more, in the units of the fit's exposures:
            predictions are then the rate times the exposure.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predicted targets, in the units of the training targets; over an exposure of 1 if none
            is given.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        values = linear_values(self, X)
        link = self._model._family().loss(1).link
        means = targets_at(values, link, self.target_bounds_)
        if exposure is None:
            return means
        return self._family(has_exposure=True).during(means, exposure)

    @in_order_of_rows
    def score(self, X, y, sample_weight=None, exposure=None):
        """Return R2, or D2 of the deviance that is minimised. Computed without noise: not private.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
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
            R2 of the predictions, or D2 with another `loss` than squared errors.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X or y don't fit the estimator; no message quotes an entry of the data.
        """
        if not self._parameters().predicted.is_linear:
            means = self.predict(X)
            power = self._family().power
            return score_of_means(
                means, y, sample_weight, exposure, power=power, is_of_rates=self._is_of_rates
            )
        # It refuses exposures.
        self._family(has_exposure=exposure is not None)
        return quietly(super().score, X, y, sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = is_private(self)
        is_linear = self._parameters().predicted.is_linear
        tags.target_tags.multi_output = is_linear
        tags.target_tags.positive_only = not is_linear
        return tags
