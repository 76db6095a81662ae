"""Additive models of labels."""

from functools import partial

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from skdp._estimator import is_private
from skdp._families.losses import as_probabilities
from skdp._sklearn import quietly
from skdp.additive._base import CONSTRAINTS, BaseAdditive
from skdp.additive._parameters import parameters_of
from skdp.additive._points import Scale, bins_of, make_scorecard
from skdp.additive._predicted import PredictedLabels
from skdp.additive._reading import linear_values
from skdp.linear_model._base import (
    CLASS_CONSTRAINTS,
    as_scores,
    labels_of,
    logarithms_of,
)


class DPAdditiveClassifier(ClassifierMixin, BaseAdditive):
    r"""Additive logistic regression of a raw table.

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
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skdp.additive import DPAdditiveClassifier
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"age": rng.integers(18, 90, 5000)})
    >>> table["smokes"] = rng.choice(["yes", "no"], 5000)
    >>> risk = 0.1 + 0.3 * (table.age > 60) + 0.3 * (table.smokes == "yes")
    >>> model = DPAdditiveClassifier(classes=[0, 1], random_state=0)
    >>> model.fit(table, rng.random(5000) < risk).terms_
    (age (hats): 9 values, smokes (words): 3 values)
    """

    _parameter_constraints = {**CONSTRAINTS, **CLASS_CONSTRAINTS}  # noqa: RUF012

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
        class_weight=None,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        features_budget="auto",
        feature_bounds=None,
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
        self.classes = classes
        self.class_weight = class_weight
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.features_budget = features_budget
        self.feature_bounds = feature_bounds
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.ledger = ledger
        self.random_state = random_state

    def _parameters(self):
        """Return parameters as a plan and a fit go by them."""
        predicted = PredictedLabels(
            classes=self.classes,
            class_weight=self.class_weight,
            epsilon=self.epsilon,
            delta=self.delta,
            adjacency=self.adjacency,
            n_jobs=self.n_jobs,
        )
        return parameters_of(self, predicted)

    def decision_function(self, X):
        """Compute the signed decision value of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Sums of terms and the intercept; `explain` returns the terms one by one.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        return as_scores(linear_values(self, X))

    def predict(self, X):
        """Predict class labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted labels.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        return labels_of(self.decision_function(X), self.classes_)

    def predict_proba(self, X):
        """Estimate class probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        return as_probabilities(self.decision_function(X))

    def predict_log_proba(self, X):
        """Estimate logarithms of class probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        return logarithms_of(self.predict_proba(X))

    def score(self, X, y, sample_weight=None):
        """Return the accuracy. Computed without noise: not private.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights in the score.

        Returns
        -------
        score : float
            Share of correct predictions.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X or y don't fit the estimator; no message quotes an entry of the data.
        """
        return quietly(super().score, X, y, sample_weight)

    def to_points(self, base=600, odds=50, double=20):
        """Return a scorecard of whole points, of a model of two classes.

        The second class is the bad one: points fall with its log-odds. Contributions are rounded to
        whole points, one for each bin of a column. It follows from what the fit released, and costs
        nothing.

        Parameters
        ----------
        base : float, default=600
            Points that stand for odds of good to bad of `odds` to 1.
        odds : float, default=50
            These odds, above 0.
        double : float, default=20
            So many more points, above 0, double the odds.

        Returns
        -------
        card : Scorecard
            Its ``to_frame()`` has the points of all bins, and ``points(X)`` gives those of rows.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If there are more than two classes, or a number is out of range.
        """
        check_is_fitted(self)
        if len(self.classes_) != 2:
            raise ValueError("to_points is of two classes: fit one class against the others.")
        scale = Scale(base, odds, double)
        return make_scorecard(
            self._basis,
            np.ravel(self._model.coef_),
            float(self.intercept_[0]),
            scale,
            [term.features for term in self.terms_],
            n_records=self._n_there,
            bins_of=partial(bins_of, self),
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = is_private(self)
        return tags
