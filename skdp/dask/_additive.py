"""Additive models of raw tables on Dask collections."""

from dataclasses import dataclass, replace
from functools import partial

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from skdp.additive._fit import TermsFit, fit_terms, frame_and_settings, publish_terms
from skdp.additive._second_fit import TargetSizes
from skdp.additive._tuned import COLUMNS_OF_EACH
from skdp.dask._estimators import Reader, columns_and_units
from skdp.dask._passes import NOT_COVERED, PARTITIONS, passes
from skdp.dask._table import set_columns, typed_row
from skdp.dask._tables import TableReader
from skdp.dask._twins import DaskClassifierMixin, DaskRatesMixin, DaskTwin, constraints_of_twin
from skdp.linear_model._fit import budget_by
from skdp.preprocessing.table._given import specs_of


@dataclass(frozen=True)
class _Reader(Reader, TableReader):  # type: ignore[override]
    """What workers get to know of an additive model: what reads its table, and a linear model."""

    name, checked = TableReader.name, TableReader.checked
    certified_rows = TableReader.certified_rows
    columns_of_each = COLUMNS_OF_EACH

    def mapped_rows(self, X):
        return self.treatment.bounds.read(X)


class DaskAdditive(DaskTwin):
    """Fits of additive models whose queries are answered where the rows are."""

    _learnt_too = (
        "_kinds",
        "_kinds_assumed",
        "_basis",
        "_model",
        "_offsets",
        "_n_there",
        "_is_of_rates",
    )

    def _fit_parts(self, X, y, groups, exposure=None):
        """Fit the model; rows of exposure 0 count as null records from the start."""
        parameters = self._parameters()
        family = parameters.predicted.family(has_exposure=exposure is not None)
        client, table = self._opened(X, y, groups, exposure)
        frame, settings = frame_and_settings(self, typed_row(X), parameters)
        n_targets, units = columns_and_units(family, table)
        n_outputs = family.n_outputs(n_targets)
        method = parameters.predicted.linear()._method()
        parameters.check_curves(settings.signs, n_outputs)
        reads = self._reading()
        set_columns(reads, table)
        reads._kinds = frame.kinds
        reader = _Reader(
            estimator_name=self._local.__name__,
            treatment=method.treatment(family),
            takes_sparse=False,
            table=reads,
        )
        with passes(table, reader, client=client) as rows:
            rows.count_records(groups)
            n_records = rows.n_records
            budget = budget_by(self, method, family, n_records, rows.are_grouped)
            plan = parameters.plan(budget, settings.specs, n_records, n_outputs)
            fit = TermsFit(
                parameters=parameters,
                settings=settings,
                family=family,
                units=units,
                sizes=TargetSizes(n_targets),
                # The number of rows that say something is as private as exposures.
                n_there=n_records if exposure is None else None,
                plan=plan,
                run=plan.start(self.random_state),
            )
            found = fit_terms(rows, fit, partial(specs_of, parameters))
            return publish_terms(self, found, (PARTITIONS,), (NOT_COVERED,))

    def _parameters(self):
        return replace(super()._parameters(), may_be_constant=False)


class DaskDPAdditiveClassifier(DaskClassifierMixin, DaskAdditive, DPAdditiveClassifier):
    r"""Additive logistic regression of a raw table, on Dask collections.

    Predicts

    .. math:: \operatorname{logit} P(y = 1) = \beta_0 + \sum_j f_j(x_j) ,

    in which a term :math:`f_j` is a curve for a column of numbers, and a value for each word of a
    column of words. Minimises the log loss with `alpha` times half the squared coefficients. Curves
    are straight between knots. The more of their bends the noise hides, the stiffer they are: in
    the end they are lines. Knots, words and missing entries are learnt from the records within the
    budget, so no ranges, categories or fill values need to be given. The model is
    `DPLogisticRegression` on the columns of a `DPTableVectorizer`.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its label) under `adjacency`, for any data, whatever the other parameters; for
    a fit with `groups`, for one group, which is all rows of a person. With ``classes=None`` the set
    of classes is read from y and assumed public. ``privacy_report_`` lists what is assumed public
    and what is not covered.

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
        Largest number of knots of a column of numbers; "auto" is 4 to 12, depending on its noise. A
        dict by column has lists of knots, which cost nothing; columns that it doesn't name have
        "auto".
    categories : "auto" or dict, default="auto"
        A dict by column has lists of the categories to distinguish, with NaN for missing entries,
        which costs nothing. In all other columns of words, the categories are learnt privately.
    numeric_features, categorical_features : list, default=None
        Columns of numbers and of words, by name or position. Of all others the types say what they
        hold, which the report names as assumed public: numbers, booleans, dates, or words, if it is
        categories. What columns of objects or text hold, or those of lists, is learnt within the
        budget. In a column of numbers, an entry that is not a number is missing. doc/reading.rst
        has the rules.
    classes : array-like, default=None
        The class set. None reads it from y, which reveals whether a rare class occurs; declare it
        if that is not public. Labels outside it are refused, classes without a row are kept.
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
    n_jobs : int, default=None
        Threads that share a sum over all rows, as in joblib. They are used only where a sum has
        enough work to pay for them, and at most two where sums aren't compiled (the extra ``fast``
        of the package), because more would take longer. The result is the same to the last bit for
        every value.
    client : distributed.Client, default=None
        Whose workers compute the sums. None takes the current client, and without any reads one
        partition after another in this process. Memory doesn't grow with the rows: copies of many
        are in a temporary file.
    compute_chunk_sizes : bool, default=False
        Whether to count the rows of partitions whose number isn't known, such as a data frame's.
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
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The mean decision value under the released counts.
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
    DPAdditiveRegressor : The same for targets.
    skdp.preprocessing.DPTableVectorizer : The columns alone.
    skdp.plotting.ShapeFunctionDisplay : All terms in one picture.

    Notes
    -----
    A share of the squared mu of Gaussian DP is spent on the table, kinds of columns included
    (doc/theory/table.rst), and the rest on the model (doc/theory/whitening.rst,
    doc/theory/ball.rst). All releases have Gaussian noise on full batches, in addition to an
    erasure for words, so the shares add up exactly.

    References
    ----------
    .. [1] Hastie and Tibshirani (1986). Generalized additive models. Statistical Science 1 (3).
    .. [2] Nori, Caruana, Bu, Shen and Kulkarni (2021). Accuracy, interpretability, and differential
       privacy via explainable boosting. ICML. Boosted trees instead of curves.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skdp.dask import DaskDPAdditiveClassifier
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"age": rng.integers(18, 90, 5000)})
    >>> table["smokes"] = rng.choice(["yes", "no"], 5000)
    >>> table["ill"] = rng.random(5000) < 0.1 + 0.3 * (table.age > 60)
    >>> rows = dd.from_pandas(table, npartitions=4)
    >>> model = DaskDPAdditiveClassifier(classes=[False, True], compute_chunk_sizes=True)
    >>> model.fit(rows[["age", "smokes"]], rows["ill"]).privacy_report_
    (1, 1e-05)-DP
    """

    _local = DPAdditiveClassifier
    _parameter_constraints = constraints_of_twin(DPAdditiveClassifier)

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
        classes=None,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        features_budget="auto",
        feature_bounds=None,
        n_jobs=None,
        client=None,
        compute_chunk_sizes=False,
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
        self.classes = classes
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.features_budget = features_budget
        self.feature_bounds = feature_bounds
        self.n_jobs = n_jobs
        self.client = client
        self.compute_chunk_sizes = compute_chunk_sizes
        self.verbose = verbose
        self.ledger = ledger
        self.random_state = random_state


class DaskDPAdditiveRegressor(DaskRatesMixin, DaskAdditive, DPAdditiveRegressor):
    r"""Additive regression of a raw table, on Dask collections.

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
    client : distributed.Client, default=None
        Whose workers compute the sums. None takes the current client, and without any reads one
        partition after another in this process. Memory doesn't grow with the rows: copies of many
        are in a temporary file.
    compute_chunk_sizes : bool, default=False
        Whether to count the rows of partitions whose number isn't known, such as a data frame's.
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
    >>> import dask.array as da
    >>> from skdp.dask import DaskDPAdditiveRegressor
    >>> X = da.random.default_rng(0).uniform(0, 10, (10_000, 2), chunks=(2_500, 2))
    >>> DaskDPAdditiveRegressor().fit(X, 100 + 20 * da.sin(X[:, 0])).privacy_report_
    (1, 1e-05)-DP
    """

    _local = DPAdditiveRegressor
    _parameter_constraints = constraints_of_twin(DPAdditiveRegressor)

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
        client=None,
        compute_chunk_sizes=False,
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
        self.client = client
        self.compute_chunk_sizes = compute_chunk_sizes
        self.verbose = verbose
        self.ledger = ledger
        self.random_state = random_state
