"""Additive models of raw tables: what they share, and classification."""

from dataclasses import replace
from functools import partial
from numbers import Integral, Real

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from skdp._checks import check_finite, check_n_jobs
from skdp._docs import shared_docs
from skdp._estimator import CaptionMixin, is_private
from skdp._families.targets import unit_of
from skdp._rows.frames import read_frame, warn_of_unread
from skdp._rows.fused import sums_of
from skdp._rows.kinds import NUMERIC
from skdp._rows.private_rows import rows_are_private
from skdp._sklearn import Interval, StrOptions, _fit_context, quietly, validate_data
from skdp.additive._chosen import chosen_signs
from skdp.additive._plan import plan_additive
from skdp.additive._reading import ALL_NOISE, as_frame, as_markdown
from skdp.additive._shapes import Shape, bent, monotone
from skdp.exceptions import warn_user
from skdp.linear_model import DPLogisticRegression
from skdp.linear_model._base import (
    CLASS_CONSTRAINTS,
    COMMON_CONSTRAINTS,
    RowPrivateEstimator,
    weights_public,
)
from skdp.linear_model.ball._solver import outside
from skdp.linear_model.whitened._estimators import Solved
from skdp.linear_model.whitened._solver import noise_covariance
from skdp.preprocessing.table._given import check_n_knots, chosen_pairs, given_to, nothing_given
from skdp.preprocessing.table._kinds import settle_kinds
from skdp.preprocessing.table._plan_kinds import learnt_names
from skdp.preprocessing.table._solver import learn_table
from skdp.preprocessing.table._terms import Basis, PairTerm
from skdp.preprocessing.table._vectorizer import TABLE_CONSTRAINTS, assumed_kinds

CONSTRAINTS = {
    **{name: COMMON_CONSTRAINTS[name] for name in ("alpha", "epsilon", "delta", "adjacency")},
    **{name: COMMON_CONSTRAINTS[name] for name in ("ledger", "random_state")},
    **TABLE_CONSTRAINTS,
    "interactions": ["array-like", None],
    "monotonic_cst": ["array-like", dict, None],
    "features_budget": [Interval(Real, 0, 1, closed="neither"), StrOptions({"auto"})],
    "n_jobs": [Integral, None],
}


@shared_docs
class BaseAdditive(CaptionMixin, RowPrivateEstimator):
    """What additive models share: a table is learnt, and a linear model of its columns."""

    _reads_raw = True
    # Bounds that a step before promises are of columns by place: here they are of names.
    _uses_feature_bounds = False

    def _takes_sparse(self):
        return False

    def _half_width(self):
        """Return what targets are divided by, by what is public of them."""
        return 1.0 if self._learns_targets() else self._linear()._half_width()

    def _learns_targets(self):
        return self._linear()._learns_targets()

    def _plan(self, n_rows, n_features, n_outputs=1, *, by_group=False):
        return self._plan_of(nothing_given(self, n_features), n_rows, by_group)

    def _plan_of(self, given, n_records, by_group):
        check_n_jobs(self.n_jobs)
        settings = {"features_budget": self.features_budget, "n_knots": check_n_knots(self.knots)}
        budget = self._budget(n_records, by_group)
        return plan_additive(budget, given, n_rows=n_records, **settings)

    def _assumed(self):
        # An unfitted estimator has read nothing but classes.
        said = assumed_kinds(getattr(self, "_read", ()), getattr(self, "_untyped", ()))
        return said + self._linear()._assumed()

    def _read_table(self, X):
        """Return the table, and what is given of it, of pairs and of signs."""
        frame = read_frame(self, X, reset=True)
        pairs = chosen_pairs(self.interactions, frame.names, "interactions")
        signs = chosen_signs(self.monotonic_cst, frame, pairs)
        frame = frame.decided({place: NUMERIC for place in frame.untyped if signs[place]})
        return frame, given_to(self, frame.names, frame.kinds), pairs, signs

    def _check_table(self, X):
        """Refuse what a fit would; return what it assumes public of the table."""
        frame = self._read_table(X)[0]
        return assumed_kinds(frame.read, [frame.names[place] for place in frame.untyped])

    def _of_linear(self):
        """Return what the linear model is given as it is."""
        names = "alpha", "epsilon", "delta", "adjacency", "n_jobs"
        return {name: getattr(self, name) for name in names}

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, groups=None, public_weight=None):
        """Learn the table and fit the terms privately.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Raw rows: numbers, words, booleans, categories, missing entries.
        {y:either, groups:whitened, public_weight}

        {Returns: self}

        {Raises: BudgetExceededError}
        ValueError
            If a parameter or the input is invalid, or an id of a group is missing; no message
            quotes an entry.
        TypeError
            If a column is of a kind that can't be read.
        """
        # 1. scikit-learn's contract
        y = validate_data(self, "no_validation", y, **self._checks_of_targets())
        frame, given, pairs, signs = self._read_table(X)
        quietly(check_consistent_length, y, range(frame.n_rows))
        model = self._linear()
        targets, told, weights = model._read_targets(y, public_weight)
        self._check_curves(signs, targets.shape[1] > 1)

        # 2. bound the data
        codes, n_records = model._records(groups, targets, weights)
        frame = replace(frame, groups=codes)

        # 3. plan from public numbers
        plan = self._plan_of(given, n_records, codes is not None)
        stream = plan.start(self.random_state)

        # 4. solve
        counted, n_there = self._there(frame, weights, n_records)
        frame, counted, given, plan = settle_kinds(
            frame, counted, given, partial(given_to, self), plan=plan, noise=stream
        )
        basis = self._learn_basis(counted, n_there, given, pairs, signs, plan, stream)
        with sums_of(groups):
            found = self._solve(model, basis, frame, targets, told, weights, plan, stream)

        # 5. publish
        public = weights_public(public_weight)
        return self._publish(found, found.told, model, basis, frame, signs, plan, stream, public)

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

    def _learn_basis(self, counted, n_there, given, pairs, signs, plan, stream):
        """Return the terms of a table, pairs last; see `learn_table`."""
        terms = learn_table(counted, given, plan=plan.table, noise=stream, n_there=n_there)
        terms = tuple(bent(term) if signs[j] else term for j, term in enumerate(terms))
        return Basis((*terms, *[PairTerm(terms[a], terms[b]) for a, b in pairs]))

    def _plan_model(self, model, basis, plan, n_outputs, **how):
        """Return the plan of a linear model of the columns of a basis."""
        model.data_norm, model.n_features_in_ = basis.norm_bound, basis.n_columns
        # All are up to 1. Sizes that are learnt could be those of a hat's foot.
        model._alike_columns = True
        return model._plan(plan.n_rows, basis.n_columns, n_outputs, budget=plan.rest, **how)

    def _solve(self, model, basis, frame, targets, told, weights, plan, stream):
        """Fit a linear model to the columns of a basis."""
        X, codes = basis.matrix(frame), frame.groups
        how = {"by_group": codes is not None, "scale": weights.scale}
        of_model = self._plan_model(model, basis, plan, targets.shape[1], **how)
        rows = weights.without_zero_weights(model._certified_rows(X))
        is_null = rows.norm == 0.0
        targets, told, of_model = model._learnt(targets, told, of_model, stream, is_null, codes)
        rows, of_model, ball = model._placed(rows, of_model, stream, codes)
        solved = model._solve(of_model, rows, targets, stream, weights, codes)
        return Solved(*solved, of_model, ball, told)

    def _publish(self, found, told, model, basis, frame, signs, plan, stream, also_public, **facts):
        """Publish what a fit found, and its report; what is told of y is as of `_set_coefs`."""
        bias, ball, width = found.plan.problem.bias, found.ball, basis.n_columns
        coefs = outside(ball, found.coefs, bias)
        check_finite(coefs)
        covariance = noise_covariance(found.steps)[:width, :width]
        if ball is not None:
            covariance = covariance / np.multiply.outer(ball.scale, ball.scale)
        self._read, self._untyped = frame.read, learnt_names(plan)
        self.privacy_report_ = plan.report(
            of_model=found.plan.report(n_steps=found.steps.n_steps, reproducible=False).events,
            reproducible=stream.reproducible,
            also_public=self._assumed() + also_public,
            **facts,
        )
        model._set_coefs(coefs, bias, told)
        self._set_told(model, told)
        self._set_terms(model, basis, frame, signs, np.max(unit_of(told)) ** 2 * covariance)
        return self

    def _set_terms(self, model, basis, frame, signs, covariance):
        """Publish the terms of a linear model of a basis, their means taken off."""
        coefs, shapes = np.atleast_2d(model.coef_).copy(), []
        intercept = np.atleast_1d(np.array(model.intercept_, dtype=np.float64))
        for j, (term, part) in enumerate(zip(basis.terms, basis.slices, strict=True)):
            shape = Shape.of(term)
            if is_private(self):
                coefs[:, part] = shape.known(coefs[:, part])
            if j < len(signs) and signs[j]:
                coefs[0, part] = monotone(shape, coefs[0, part], signs[j])
            shapes.append(shape)

        def read():
            parts = zip(shapes, basis.slices, strict=True)
            return tuple(s.read(coefs[:, p], covariance[p, p], frame.names) for s, p in parts)

        terms = read()
        if is_private(self) and all(term.is_noise for term in terms):
            warn_user(ALL_NOISE)
            intercept += _means(shapes, basis, coefs).sum(axis=0)
            coefs[:] = 0.0
            terms = read()
        model.coef_ = coefs if model.coef_.ndim == 2 else coefs[0]
        model.intercept_ = float(intercept[0]) if np.ndim(model.intercept_) == 0 else intercept
        offsets = _means(shapes, basis, coefs)
        self._kinds, self._basis, self._model, self._offsets = frame.kinds, basis, model, offsets
        self.terms_ = terms
        of_means = intercept + offsets.sum(axis=0)
        self.intercept_ = float(of_means[0]) if np.ndim(model.intercept_) == 0 else of_means
        self.term_importances_ = np.array([term.importance for term in terms])
        self.feature_importances_ = np.zeros(len(frame.names))
        for term, importance in zip(basis.terms, self.term_importances_, strict=True):
            # Features share alike what only all of them together do, as by Shapley values.
            self.feature_importances_[list(term.features)] += importance / len(term.features)

    def _matrix(self, X):
        check_is_fitted(self)
        frame = read_frame(self, X, reset=False)
        if not rows_are_private():
            warn_of_unread(frame)
        return self._basis.matrix(frame)

    def explain(self, X):
        """Return the contribution of each term to the prediction of each row.

        Their sum and ``intercept_`` are the decision value of a classifier, or the prediction of a
        regressor before it is clipped to ``target_bounds_``. For counts and amounts it is the
        logarithm of the prediction.

        {Parameters: X:rows}

        Returns
        -------
        contributions : ndarray of shape (n_samples, n_terms) or (n_samples, n_terms, n_outputs)
            In the order of ``terms_``.

        {Raises: NotFittedError, ValueError:X}
        """
        matrix, coefs = self._matrix(X), np.atleast_2d(self._model.coef_)
        parts = [matrix[:, part] @ coefs[:, part].T for part in self._basis.slices]
        found = np.stack(parts, axis=1) - self._offsets
        return found[:, :, 0] if len(coefs) == 1 else found

    def to_frame(self):
        """Return all values of all terms as a data frame of pandas, one row each.

        Returns
        -------
        scorecard : DataFrame
            Columns term, kind, label, value, std, share, is_noise; with several outputs, one value
            column for each.

        {Raises: NotFittedError}
        ImportError
            If pandas isn't installed.
        """
        check_is_fitted(self)
        return as_frame(self.terms_, self._outputs())

    def to_markdown(self):
        """Return the intercept and all values of all terms as a table in Markdown.

        Returns
        -------
        text : str
            The table, with a line for each value.

        {Raises: NotFittedError}
        """
        check_is_fitted(self)
        return as_markdown(self.terms_, self.intercept_, self._outputs())

    def _outputs(self):
        n_outputs = np.size(self.intercept_)
        return ["value"] if n_outputs == 1 else [f"value_{j}" for j in range(n_outputs)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        return tags


def _means(shapes, basis, coefs):
    """Return the mean of each term, of shape (n_terms, k)."""
    parts = zip(shapes, basis.slices, strict=True)
    return np.array([shape.mean @ coefs[:, part].T for shape, part in parts])


@shared_docs
class DPAdditiveClassifier(ClassifierMixin, BaseAdditive):
    r"""Additive logistic regression of a raw table.

    Predicts

    .. math:: \operatorname{logit} P(y = 1) = \beta_0 + \sum_j f_j(x_j) ,

    in which a term :math:`f_j` is a curve for a column of numbers, and a value for each word of a
    column of words. Minimises the log loss with `alpha` times half the squared coefficients. Curves
    are straight between knots. Knots, words and missing entries are learnt from the records within
    the budget, so no ranges, categories or fill values need to be given. The model is
    `DPLogisticRegression` on the columns of a `DPTableVectorizer`.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its label) under `adjacency`, for any data, whatever the other parameters; for
    a fit with `groups`, for one group, which is all rows of a person. With ``classes=None`` the set
    of classes is read from y and assumed public. ``privacy_report_`` lists what is assumed public
    and what is not covered.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the L2 penalty, on columns centred and scaled; see `DPLogisticRegression`.
    {interactions, monotonic_cst, knots:table, categories:table, kinds:table, classes, class_weight}
    {epsilon, delta, adjacency, features_budget, feature_bounds:table, n_jobs:whitened, ledger}
    {random_state}

    {Attributes: classes_}
    {terms_}
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The mean decision value under the released counts.
    {feature_importances_, term_importances_, privacy_report_, n_features_in_, feature_names_in_}

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
        alpha=1e-4,
        *,
        interactions=None,
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
        self.ledger = ledger
        self.random_state = random_state

    def _set_told(self, model, classes):
        """Publish what a linear model was told of y, and return the unit of its coefficients."""
        self.classes_ = classes

    def _checks_of_targets(self):
        return {}

    def _linear(self):
        of_classes = {"classes": self.classes, "class_weight": self._class_weight()}
        return DPLogisticRegression(**of_classes, **self._of_linear())

    def _outputs(self):
        return ["value"] if len(self.classes_) == 2 else [f"value_{c}" for c in self.classes_]

    def decision_function(self, X):
        """Compute the signed decision value of each class.

        {Parameters: X:rows}

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Sums of terms and the intercept; `explain` returns the terms one by one.

        {Raises: NotFittedError, ValueError:X}
        """
        matrix = self._matrix(X)
        return self._model.decision_function(matrix)

    def predict(self, X):
        """Predict class labels.

        {Parameters: X:rows}

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted labels.

        {Raises: NotFittedError, ValueError:X}
        """
        matrix = self._matrix(X)
        return self._model.predict(matrix)

    def predict_proba(self, X):
        """Estimate class probabilities.

        {Parameters: X:rows}

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.

        {Raises: NotFittedError, ValueError:X}
        """
        matrix = self._matrix(X)
        return self._model.predict_proba(matrix)

    def predict_log_proba(self, X):
        """Estimate logarithms of class probabilities.

        {Parameters: X:rows}

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.

        {Raises: NotFittedError, ValueError:X}
        """
        matrix = self._matrix(X)
        return self._model.predict_log_proba(matrix)

    def score(self, X, y, sample_weight=None):
        """Return the accuracy. Computed without noise: not private.

        {Parameters: X:rows}
        y : array-like of shape (n_samples,)
            True labels.
        {sample_weight}

        Returns
        -------
        score : float
            Share of correct predictions.

        {Raises: NotFittedError, ValueError:X_y}
        """
        return quietly(super().score, X, y, sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = is_private(self)
        return tags
