"""Additive models of raw tables: what they share, and classification."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Real

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_consistent_length

from skdp._checks import check_finite, check_n_jobs
from skdp._estimator import BUDGET_CONSTRAINTS, CaptionMixin, is_private
from skdp._families.losses import as_probabilities
from skdp._families.targets import unit_of
from skdp._rows.bounds import void_records
from skdp._rows.frames import read_frame
from skdp._rows.kinds import NUMERIC
from skdp._sklearn import Interval, StrOptions, _fit_context, quietly, validate_data
from skdp.additive import _tuned as tuned
from skdp.additive._chosen import chosen_signs, with_choices
from skdp.additive._constant import ConstantMixin, logs_of_shares
from skdp.additive._curves import roughness
from skdp.additive._expected_noise import ExpectedNoiseMixin
from skdp.additive._plan import Alone, ConstantPlan, plan_additive, strength_of
from skdp.additive._points import PointsMixin
from skdp.additive._reading import ReadingMixin
from skdp.additive._second_fit import SecondFitMixin
from skdp.additive._shapes import all_noise, bent, means_of, monotone, shape_of
from skdp.linear_model import DPLogisticRegression
from skdp.linear_model._base import (
    CLASS_CONSTRAINTS,
    EXECUTION_CONSTRAINTS,
    POSITIVE,
    RowPrivateEstimator,
    as_scores,
    labels_of,
    logarithms_of,
    weights_public,
)
from skdp.linear_model._memory import MemoryRows
from skdp.preprocessing.table._given import (
    check_n_knots,
    chosen_pairs,
    specs_before_fit,
    specs_of,
)
from skdp.preprocessing.table._kinds import settle_kinds
from skdp.preprocessing.table._plan_kinds import learnt_names
from skdp.preprocessing.table._solver import learn_table
from skdp.preprocessing.table._terms import Basis, PairTerm, on_fewer_knots
from skdp.preprocessing.table._tuned import MOST_KNOTS
from skdp.preprocessing.table._vectorizer import TABLE_CONSTRAINTS, assumed_kinds

CONSTRAINTS = {
    "alpha": [POSITIVE, StrOptions({"auto"})],
    **BUDGET_CONSTRAINTS,
    **TABLE_CONSTRAINTS,
    "interactions": ["array-like", StrOptions({"auto"}), None],
    "monotonic_cst": ["array-like", dict, None],
    "features_budget": [Interval(Real, 0, 1, closed="neither"), StrOptions({"auto"})],
    **EXECUTION_CONSTRAINTS,
}


class BaseAdditive(
    ReadingMixin,
    ExpectedNoiseMixin,
    SecondFitMixin,
    ConstantMixin,
    CaptionMixin,
    RowPrivateEstimator,
):
    """What additive models share: a table is learnt, and a linear model of its columns."""

    # Parameters of the constructors of subclasses.
    features_budget: float | str
    interactions: object
    knots: object
    monotonic_cst: object
    n_jobs: int | None
    # Subclasses give these for their targets, and for the linear model that is fitted to the basis.
    _linear: Callable
    _one_curve: str
    _set_target_units: Callable
    _validated_y: Callable

    _reads_raw, _most_knots = True, MOST_KNOTS
    # Bounds that a step before promises are of columns by place: here they are of names.
    _uses_feature_bounds = False
    # Before a fit nothing but classes was read: no kind of a column, and no column without a type.
    _read = _untyped = ()

    def _takes_sparse(self):
        return False

    def _half_width(self):
        """Return what targets are divided by, by what is public of them."""
        return 1.0 if self._learns_targets() else self._linear()._half_width()

    def _learns_targets(self):
        return self._linear()._learns_targets()

    def _plan(self, n_rows, n_features, n_outputs=1, *, by_group=False):
        return self._plan_of(specs_before_fit(self, n_features), n_rows, n_outputs, by_group)

    def _plan_of(self, specs, n_records, n_outputs, by_group):
        check_n_jobs(self.n_jobs)
        budget = self._budget(n_records, by_group)
        return self._plan_table(budget, specs, n_records, n_outputs)

    def _plan_table(self, budget, specs, n_records, n_outputs):
        """Return the plan of a table whose columns have such specs, and of its models."""
        return plan_additive(
            budget,
            specs,
            features_budget=self.features_budget,
            n_rows=n_records,
            n_knots=check_n_knots(self.knots),
            products=self._rules_for(n_outputs, len(specs.names)),
            most_of_auto=self._most_knots,
            alone=None if budget.of_groups else self._alone(n_outputs),
        )

    def _assumed(self):
        return assumed_kinds(self._read, self._untyped) + self._linear()._assumed()

    def _read_table(self, X):
        """Return the table, and what is given of it, of pairs and of signs."""
        frame = read_frame(self, X, reset=True)
        pairs = chosen_pairs(self._named_pairs(), frame.names, "interactions")
        signs = chosen_signs(self.monotonic_cst, frame, pairs)
        frame = frame.decided({place: NUMERIC for place in frame.untyped if signs[place]})
        specs = specs_of(self, frame.names, frame.kinds)
        return frame, with_choices(specs, pairs, signs), pairs, signs

    def _check_table(self, X):
        """Refuse what a fit would; return what it assumes public of the table."""
        frame = self._read_table(X)[0]
        return assumed_kinds(frame.typed, [frame.names[place] for place in frame.untyped])

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, groups=None, public_weight=None):
        """Learn the table and fit the terms privately.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Raw rows: numbers, words, booleans, categories, missing entries.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets of a regression, one or more of each row; or labels of any type that can be
            sorted.
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

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        BudgetExceededError
            If there is a ledger, and too little is left in it.
        ValueError
            If a parameter or the input is invalid, or an id of a group is missing; no message
            quotes an entry.
        TypeError
            If a column is of a kind that can't be read.
        """
        return self._fit_table(X, y, groups, public_weight)

    def _fit_table(self, X, y, groups, public_weight, exposure=None):
        """Fit the model; rows of exposure 0 count as null records from the start."""
        # 1. scikit-learn's contract
        y = self._validated_y(y)
        frame, specs, pairs, signs = self._read_table(X)
        quietly(check_consistent_length, y, range(frame.n_rows))
        model = self._linear()
        targets, target_units, weights = model._read_targets(y, public_weight)
        targets = model._with_exposure(targets, exposure)
        is_void = model._void_rows(targets)
        self._check_curves(signs, model._n_outputs(targets.shape[1]) > 1)

        # 2. bound the data
        codes, n_records = model._records(groups, targets, weights)
        frame = replace(frame, groups=codes)

        # 3. plan from public numbers
        n_outputs = model._n_outputs(targets.shape[1])
        plan = self._plan_of(specs, n_records, n_outputs, codes is not None)
        run = plan.start(self.random_state)

        # 4. solve
        if isinstance(plan, ConstantPlan):
            return self._fit_constant(
                targets, target_units, public_weight, model, frame, specs, pairs, signs, plan, run
            )

        def rows_for(model):
            return MemoryRows(model, basis.matrix(frame), targets, weights, codes)

        with void_records(is_void):
            counted, n_there = self._there(frame, weights, n_records)
            # How many rows say something is as private as these.
            n_there = n_there if exposure is None else None
            frame, counted, specs, plan = settle_kinds(
                frame, counted, specs, partial(specs_of, self), plan=plan, run=run
            )
            basis = self._learn_basis(counted, n_there, specs, pairs, signs, plan, run)
        fitted, target_units = self._fit_models(
            rows_for,
            model,
            basis,
            target_units,
            signs,
            plan,
            run,
            n_targets=targets.shape[1],
            by_group=codes is not None,
            scale=weights.scale,
        )

        # 5. publish
        return self._publish(
            fitted,
            target_units,
            model,
            frame,
            signs,
            plan,
            run,
            n_there=n_there,
            also_public=weights_public(public_weight),
        )

    def _check_curves(self, signs, has_several):
        if any(signs) and has_several:
            raise ValueError(self._one_curve)

    def _there(self, frame, weights, n_records):
        """Return the table without rows of weight 0, and how many records it has, if public."""
        if weights.is_zero is None:
            return frame, n_records
        frame = frame.take(~weights.is_zero)
        # The number of records of a class is private.
        is_secret = 0.0 in (self._class_weight() or {}).values()
        return frame, None if is_secret else frame.n_rows

    def _learn_basis(self, counted, n_there, specs, pairs, signs, plan, run):
        """Return the terms of a table, pairs last; see `learn_table`."""
        terms = learn_table(counted, specs, plan=plan.table, run=run, n_there=n_there)
        terms = tuple(bent(term) if signs[j] else term for j, term in enumerate(terms))
        sides = [on_fewer_knots(term, tuned.KNOTS_OF_PAIR) for term in terms]
        return Basis((*terms, *[PairTerm(sides[a], sides[b]) for a, b in pairs]))

    def _of_known_places(self, fitted):
        """Return a first fit without what noise alone tells of words."""
        return fitted.of_known_places() if is_private(self) else fitted

    def _plan_first(self, model, basis, plan, n_targets, *, by_group, scale=None):
        """Return the plan of a linear model of the columns of a basis."""
        model.alpha = strength_of(self.alpha, plan.n_rows)
        return self._plan_model(
            model,
            basis,
            plan.rest,
            plan.n_rows,
            n_targets,
            by_group=by_group,
            scale=scale,
            roughness=roughness(basis, plan.rest, plan.n_rows),
        )

    def _publish(
        self,
        fitted,
        target_units,
        model,
        frame,
        signs,
        plan,
        run,
        *,
        n_there,
        also_public,
        also_not_covered=(),
    ):
        """Publish what a fit found, and its report; for `target_units` see `_set_coefs`.

        `n_there` is the number of records with a weight, None where that isn't public.
        """
        check_finite(fitted.coefs)
        self._n_there = float("nan") if n_there is None else n_there
        self._read, self._untyped = frame.typed, learnt_names(plan)
        run.finish()
        self.privacy_report_ = plan.report(
            of_models=fitted.reports,
            reproducible=run.reproducible,
            also_public=self._assumed() + also_public,
            not_covered=(*plan.budget.not_covered, *also_not_covered),
        )
        model.n_features_in_ = fitted.basis.n_columns
        model._set_coefs(fitted.coefs, 1.0, target_units)
        self._set_target_units(model, target_units)
        covariance = np.max(unit_of(target_units)) ** 2 * fitted.covariance
        are_noise = self._set_terms(model, fitted.basis, frame, signs, covariance)
        if is_private(self):
            self._warn_of_noise(plan, len(frame.names), len(fitted.coefs), are_noise=are_noise)
        return self

    def _set_terms(self, model, basis, frame, signs, covariance):
        """Publish the terms of a linear model of a basis, their means taken off.

        Return whether all of them are noise, even together.
        """
        coefs, shapes = np.atleast_2d(model.coef_).copy(), []
        intercept = np.atleast_1d(np.array(model.intercept_, dtype=np.float64))
        covariances = [covariance[part, part] for part in basis.slices]
        for j, (term, part) in enumerate(zip(basis.terms, basis.slices, strict=True)):
            shape = shape_of(term)
            if j < len(signs) and signs[j]:
                coefs[0, part] = monotone(shape, coefs[0, part], signs[j])
            shapes.append(shape)

        parts = list(zip(shapes, basis.slices, covariances, strict=True))
        terms = tuple(shape.read(coefs[:, part], c, frame.names) for shape, part, c in parts)
        model.coef_ = coefs if model.coef_.ndim == 2 else coefs[0]
        model.intercept_ = float(intercept[0]) if np.ndim(model.intercept_) == 0 else intercept
        offsets = means_of(shapes, basis, coefs)
        self._kinds, self._basis, self._model, self._offsets = frame.kinds, basis, model, offsets
        self.terms_ = terms
        of_means = intercept + offsets.sum(axis=0)
        self.intercept_ = float(of_means[0]) if np.ndim(model.intercept_) == 0 else of_means
        self.term_importances_ = np.array([term.importance for term in terms])
        self.feature_importances_ = np.zeros(len(frame.names))
        for term, importance in zip(basis.terms, self.term_importances_, strict=True):
            # Features share alike what only all of them together do, as by Shapley values.
            self.feature_importances_[list(term.features)] += importance / len(term.features)
        # Nothing is hidden by noise where nothing was learnt.
        return bool(coefs.any()) and all_noise(terms, shapes, covariances)

    def _outputs(self):
        n_outputs = np.size(self.intercept_)
        return ["value"] if n_outputs == 1 else [f"value_{j}" for j in range(n_outputs)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        return tags


class DPAdditiveClassifier(PointsMixin, ClassifierMixin, BaseAdditive):
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
        and for anything but two classes, or one target and squared errors. A list has pairs of
        columns, by name or position, that get a surface in addition to their curves. Choose them by
        the meaning of the columns, not by looking at the records. None is curves alone.
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
        where there are records. For a classifier with given knots it is up to five times too small.
        Where there are almost no records, the noise is larger. Words that the released counts don't
        show, such as new ones, have the value 0.
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

    _one_curve = "monotonic_cst is for two classes: fit one class against the others."
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

    def _set_target_units(self, model, classes):
        """Publish the classes, in whose order scores are."""
        self.classes_ = classes

    def _class_weight(self):
        return self.class_weight

    def _product_rules(self):
        return tuned.PRODUCT_RULES["log_loss"]

    def _alone(self, n_outputs):
        return Alone(n_outputs, of_classes=True)

    def _constants(self, means, classes):
        """Return intercepts of released shares of classes, of shape (k,)."""
        return logs_of_shares(means, self._class_weight(), classes)

    def _validated_y(self, y):
        return validate_data(self, "no_validation", y)

    def _linear(self):
        return DPLogisticRegression(
            classes=self.classes,
            class_weight=self._class_weight(),
            epsilon=self.epsilon,
            delta=self.delta,
            adjacency=self.adjacency,
            n_jobs=self.n_jobs,
        )

    def _outputs(self):
        return ["value"] if len(self.classes_) == 2 else [f"value_{c}" for c in self.classes_]

    def _heading(self):
        if len(self.classes_) == 2:
            return f"log-odds of {self.classes_[1:].tolist()[0]!r}", "odds_ratio"
        return "score", None

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
        return as_scores(self._linear_values(X))

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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = is_private(self)
        return tags
